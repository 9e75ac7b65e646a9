/* SPDX-License-Identifier: MIT */
/* samplers/select/far_rounds.h - k of n candidates whose masses are elsewhere: the rounds of rounds.h, all numbers of a
 * round at once. Who has the masses says on which candidates the numbers fall.
 *
 * Method: candidates are stretches of the sum of all masses, side by side. Of those that are taken the stretches are
 * kept, so a trial that falls on one draws beside it without asking anybody, and what is left after the rounds is known
 * by the gaps between them. A round asks once; after the rounds, every pick once. The picks are those of
 * csaw__pick_by_mass(). */
#ifndef CSAW_SELECT_FAR_ROUNDS_H
#define CSAW_SELECT_FAR_ROUNDS_H

#include "samplers/select/choice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number, and the candidate on whose mass it falls. */
typedef struct csaw__hit {
    uint64_t x;         /* below the sum of all masses */
    uint64_t low, mass; /* answer: low <= x < low + mass */
    uint64_t entry;     /* answer: whose row holds the candidate, and where */
    uint32_t rank;
    uint32_t slot;
} csaw__hit;

typedef struct csaw__stretch {
    uint64_t low, mass;
} csaw__stretch;

typedef struct csaw__far_choice {
    csaw__choice choice; /* its numbers, and the sum of all masses; no masses */
    uint32_t k, num_open, num_hits, got, round;
    bool replace;
    csaw__hit *hit;       /* [k], num_hits of this round, ascending by x */
    csaw__hit *pick;      /* [k], got of them, in their order */
    csaw__stretch *taken; /* [k], got of them, ascending; not with replacement */
    uint32_t *open;       /* [k] slots without a pick, ascending */
} csaw__far_choice;

/* Nothing is picked. k: at most CSAW__MAX_SLOTS; without replacement less than there are candidates. */
void csaw__far_begin(csaw__far_choice *c);
/* The numbers of the next round, to c->hit; how many, 0: all is picked. */
uint32_t csaw__far_ask(csaw__far_choice *c);
/* They have their answers. */
void csaw__far_take(csaw__far_choice *c);

#ifdef __cplusplus
}
#endif

#endif
