/* SPDX-License-Identifier: MIT */
/* runtime/engine/step_numbers.h - the numbers of O(1) steps for a group of walks: a block holds those of two steps, so
 * the blocks of this pair of steps and of the next are at hand. */
#ifndef CSAW_ENGINE_STEP_NUMBERS_H
#define CSAW_ENGINE_STEP_NUMBERS_H

#include "runtime/base/job.h"

enum { CSAW__MOST_STEP_NUMBERS = 64 };

typedef struct csaw__step_numbers {
    uint64_t number[4][CSAW__MOST_STEP_NUMBERS]; /* of depth & 3 */
    uint32_t low[CSAW__MOST_STEP_NUMBERS], high[CSAW__MOST_STEP_NUMBERS], zero[CSAW__MOST_STEP_NUMBERS];
    const csaw__job *job;
    uint64_t first; /* instance of walk 0 */
    uint32_t count;
} csaw__step_numbers;

/* The numbers of depth, an even one, and depth + 1. */
CSAW_FN void csaw__step_numbers_draw(csaw__step_numbers *n, uint32_t depth) {
    const uint32_t *const word[4] = {n->low, n->high, n->zero, n->zero};
    for (uint32_t i = 0; i < n->count; i++) n->high[i] = (uint32_t)((n->first + i) >> 32) << 24 | depth >> 1;
    n->job->numbers(n->job->seed, word, n->count, n->number[depth & 2], n->number[(depth & 2) + 1]);
}

CSAW_FN void csaw__step_numbers_start(csaw__step_numbers *n, const csaw__job *job, uint64_t first, uint32_t count) {
    n->job = job;
    n->first = first;
    n->count = count;
    for (uint32_t i = 0; i < count; i++) {
        n->low[i] = (uint32_t)(first + i);
        n->zero[i] = 0;
    }
    csaw__step_numbers_draw(n, 0);
}

/* Depths are needed in turn; the one before stays. */
CSAW_FN void csaw__step_numbers_need(csaw__step_numbers *n, uint32_t depth) {
    if (!(depth & 1)) csaw__step_numbers_draw(n, depth);
}

CSAW_FN const uint64_t *csaw__step_numbers_at(const csaw__step_numbers *n, uint32_t depth) {
    return n->number[depth & 3];
}

CSAW_FN uint64_t csaw__step_number(const csaw__step_numbers *n, uint32_t depth, uint32_t walk) {
    return n->number[depth & 3][walk];
}

#endif
