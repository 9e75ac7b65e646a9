/* SPDX-License-Identifier: MIT */
/* runtime/ranks/link.h - what carries the meetings: MPI, or nothing in a build without. */
#ifndef CSAW_RANKS_LINK_H
#define CSAW_RANKS_LINK_H

#include "runtime/ranks/ranks.h"

enum { CSAW__MESSAGE_BYTES = 2048 };

typedef struct csaw__rank_word { /* what a rank says at a meeting */
    uint32_t place, status;
    uint64_t message; /* its hash, of a failure */
    uint64_t value[CSAW__RANK_VALUES];
} csaw__rank_word;

struct csaw__ranks {
    uint32_t rank, size, local_rank, local_size;
    void *link;           /* the transport's */
    csaw__rank_word word; /* this rank's, and [size] of all, of the last meeting; MPI may hold on to both */
    csaw__rank_word *words;
    bool (*go_on)(void *user);
    void *user;
    bool stopped, lost; /* stopped: until the next thing begins; lost: for ever, since something is still under way */
    csaw_status status; /* of what stopped */
    char message[CSAW__MESSAGE_BYTES];
};

/* Collective over the communicator. */
csaw_status csaw__link_open(const void *communicator, csaw__ranks **out);
/* All of these wait, and ask go_on. bytes of every rank, in order of rank, to all: [size * bytes]. */
csaw_status csaw__link_gather(csaw__ranks *ranks, const void *mine, uint64_t bytes, void *all);
csaw_status csaw__link_broadcast(csaw__ranks *ranks, uint32_t root, void *data, uint64_t bytes);
csaw_status csaw__link_send(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes);
csaw_status csaw__link_receive(csaw__ranks *ranks, uint32_t from, void *to, uint64_t bytes);
csaw_status csaw__link_sum(csaw__ranks *ranks, uint64_t *values, uint64_t count);
csaw_status csaw__link_swap(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes, uint32_t source,
                            void *into, uint64_t source_bytes);

#endif
