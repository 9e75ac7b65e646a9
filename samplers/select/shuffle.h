/* SPDX-License-Identifier: MIT */
/* samplers/select/shuffle.h - UNIFORM: k of n equal candidates, on the CPU.
 *
 * Method: the first k places of a shuffle of 0 .. n-1 (Fisher, Yates 1938; Durstenfeld, CACM 1964), without the array:
 * slot s swaps places s and s + j. A place beyond s holds its own number, unless an earlier slot swapped with it: then
 * what stood at that slot's place. k numbers decide everything, and a number is 32 bits (Lemire, "Fast random integer
 * generation in an interval", 2019): the few words that would make it inexact are replaced by 64 bits. */
#ifndef CSAW_SELECT_SHUFFLE_H
#define CSAW_SELECT_SHUFFLE_H

#include "runtime/base/mass.h"
#include "samplers/select/choice.h"

/* short() of docs/stream.md: uniform on 0 .. n-1. word: the slot's. */
CSAW_FN uint64_t csaw__short(const csaw__choice *c, uint32_t slot, uint32_t word, uint64_t n) {
    const uint32_t bound = (uint32_t)n;
    const uint64_t product = (uint64_t)word * bound;
    if (n >> 32 == 0 && ((uint32_t)product >= bound || (uint32_t)product >= (0u - bound) % bound)) return product >> 32;
    const csaw_block block = csaw__choice_block(c, slot, 1);
    return csaw_below(csaw_half(&block, 0), n);
}

/* The place that each slot swaps with, to place[k]. */
CSAW_FN void csaw__shuffle_places(const csaw__choice *c, uint32_t k, uint64_t *place) {
    for (uint32_t slot = 0; slot < k; slot += 4) {
        const csaw_block four = csaw__choice_block(c, slot, 0);
        for (uint32_t s = slot; s < k && s < slot + 4; s++)
            place[s] = s + csaw__short(c, s, four.x[s - slot], c->n - s);
    }
}

/* The picks of few slots from the places that they swap with. All [k]; left: what a slot left where it went. */
CSAW_FN void csaw__shuffle_few(uint32_t k, const uint32_t *place, uint32_t *left, uint32_t *pick) {
    for (uint32_t s = 0; s < k; s++) {
        pick[s] = place[s];
        left[s] = s;
        for (uint32_t t = 0; t < s; t++) { /* the last one counts */
            if (place[t] == place[s]) pick[s] = left[t];
            if (place[t] == s) left[s] = left[t];
        }
    }
}

/* Where a table has the last slot that swapped with a place. */
CSAW_FN uint32_t *csaw__shuffle_cell(const uint64_t *place, uint32_t *last, uint32_t mask, uint64_t wanted) {
    uint32_t cell = (uint32_t)((wanted * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (last[cell] && place[last[cell] - 1] != wanted) cell = (cell + 1) & mask;
    return last + cell;
}

/* k of c->n, k < c->n, to scratch->pick. */
CSAW_FN uint32_t csaw__shuffle(const csaw__choice *c, csaw__scratch *scratch, uint32_t k) {
    const uint32_t mask = (uint32_t)((uint64_t)2 << csaw__ceil_log2(k)) - 1;
    uint64_t *const place = scratch->taken; /* [k] */
    uint32_t *const last = (uint32_t *)(place + k), *const left =
                                                        scratch->open; /* last: [mask + 1] slot + 1, 0 = free */
    csaw__shuffle_places(c, k, place);
    for (uint32_t i = 0; i <= mask; i++) last[i] = 0;
    for (uint32_t s = 0; s < k; s++) {
        uint32_t *there = csaw__shuffle_cell(place, last, mask, place[s]),
                 *here = csaw__shuffle_cell(place, last, mask, s);
        left[s] = *here ? left[*here - 1] : s;
        scratch->pick[s] = *there ? left[*there - 1] : place[s];
        *there = s + 1;
    }
    return k;
}

/* k picks, with replacement or k < c->n, to scratch->pick; returns k. */
CSAW_FN uint32_t csaw__pick_uniform(const csaw__choice *c, csaw__scratch *scratch, uint32_t k, bool replace) {
    if (!replace) return csaw__shuffle(c, scratch, k);
    for (uint32_t slot = 0; slot < k; slot += 4) {
        const csaw_block four = csaw__choice_block(c, slot, 0);
        for (uint32_t s = slot; s < k && s < slot + 4; s++)
            scratch->pick[s] = csaw__short(c, s, four.x[s - slot], c->n);
    }
    return k;
}

#endif
