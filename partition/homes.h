/* SPDX-License-Identifier: MIT */
/* partition/homes.h - which rank delivers an instance of a batch: its home. Of n instances each of R ranks is home to
 * n / R in order of rank, the first n % R ranks to one more. */
#ifndef CSAW_PARTITION_HOMES_H
#define CSAW_PARTITION_HOMES_H

#include <csaw/types.h>

typedef struct csaw__homes {
    uint64_t each, more; /* instances of a home; of the first `more` homes one more */
} csaw__homes;

static inline csaw__homes csaw__homes_of(uint64_t instances, uint32_t ranks) {
    const csaw__homes homes = {instances / ranks, instances % ranks};
    return homes;
}

/* The first instance that is at home at a rank; of rank + 1, where they end. */
static inline uint64_t csaw__home_first(const csaw__homes *homes, uint32_t rank) {
    return homes->each * rank + (rank < homes->more ? rank : homes->more);
}

/* instance: one of them. Kernels ask it, too. */
CSAW_FN uint32_t csaw__home_of(const csaw__homes *homes, uint64_t instance) {
    const uint64_t longer = homes->more * (homes->each + 1); /* instances of homes with one more */
    return (uint32_t)(instance < longer ? instance / (homes->each + 1)
                                        : homes->more + (instance - longer) / homes->each);
}

#endif
