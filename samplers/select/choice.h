/* SPDX-License-Identifier: MIT */
/* samplers/select/choice.h - one selection among n candidates: where its random numbers stand, and the candidates'
 * masses. docs/stream.md, "Selection of k among n candidates". */
#ifndef CSAW_SELECT_CHOICE_H
#define CSAW_SELECT_CHOICE_H

#include <csaw/philox.h>

#include "runtime/base/frontier.h"

#define CSAW__NO_CANDIDATE 0xffffffffffffffffull

typedef struct csaw__choice {
    uint64_t seed, instance;
    uint32_t depth, key, first_draw;
    uint64_t n;           /* candidates */
    const uint64_t *upto; /* [n] inclusive sums of masses; NULL, as tree: all alike, for UNIFORM */
    const uint64_t *tree; /* [n + 1] masses as a tree; NULL = upto */
    const uint64_t *mass; /* [n], with tree */
    uint64_t sum;         /* of all masses; n where all are alike */
} csaw__choice;

CSAW_FN csaw_block csaw__choice_block(const csaw__choice *c, uint32_t slot, uint32_t draw) {
    return csaw_draw(c->seed, c->instance, c->depth, c->key, CSAW_DRAW_PICK,
                     c->first_draw + slot * CSAW__SLOT_DRAWS + draw);
}

/* The slot's number of round 0, or of its only trial: slots 2 i and 2 i + 1 share a block. */
CSAW_FN uint64_t csaw__choice_number(const csaw__choice *c, uint32_t slot) {
    const csaw_block block = csaw__choice_block(c, slot & ~1u, 0);
    return csaw_half(&block, slot & 1);
}

#endif
