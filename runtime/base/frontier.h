/* SPDX-License-Identifier: MIT */
/* runtime/base/frontier.h - the vertices that a batch of instances stands at, all at one depth, and what is picked from
 * their rows: what the engine hands to the functions that are compiled with a sampler. */
#ifndef CSAW_BASE_FRONTIER_H
#define CSAW_BASE_FRONTIER_H

#include "runtime/base/job.h"
#include "runtime/base/vertex_set.h"

enum {
    CSAW__ROUNDS = 8,          /* of selection without replacement, before sums are rebuilt */
    CSAW__REJECT_ROUNDS = 16,  /* the same where a trial is an attempt of REJECT */
    CSAW__SLOT_DRAWS = 16,     /* draws of a slot: 0 .. 15 its rounds, CSAW__ROUNDS the one after sums were rebuilt */
    CSAW__MAX_SLOTS = 1 << 23, /* picks of one selection, unless it takes all */
    CSAW__PICK_WORDS = 5       /* GPU: words of memory a pick, enough for any selection that does not take all */
};
enum { CSAW__POOL_DRAWS = 1 << 27 }; /* first draw of the selection of a frontier from its pool */

typedef struct csaw__entry {
    csaw_vertex at, prev; /* prev: the vertex that at was first reached from; CSAW_NONE at a seed */
    uint32_t owner;       /* instance, counted from the batch's first */
    uint32_t place;       /* in its pool */
} csaw__entry;

typedef struct csaw__frontier {
    uint32_t depth;
    uint64_t first;                  /* instance of owner 0 */
    uint64_t count, ahead;           /* entries; how many more stand behind them and come next */
    const csaw__entry *entry;        /* [count + ahead], by owner; on partitions in any order */
    const csaw_vertex *root;         /* [owners] */
    uint64_t (*user)[4];             /* [owners], NULL without user bytes */
    const csaw__vertex_set *visited; /* NULL without CSAW_VISITED */
    const uint8_t *const *answer;    /* [count]: for every arc of the row whether it leads to a neighbour of prev; NULL
                                        where prev's row is in sight */
    uint32_t *degree, *fanout;       /* [count], by csaw__fanouts() */
    uint64_t *offset;                /* [count + 1]: picks of entry i stand at offset[i] .. offset[i] + got[i] - 1 */
    uint32_t *got;                   /* [count] */
    csaw_vertex *src, *dst;          /* [offset[count]]: the arcs picked */
    csaw_edge *edge;                 /* the same */
    csaw_vertex *next;               /* the same: where update leads; dst itself without that hook */
    csaw_vertex *dead_end;           /* [count]: where the dead_end hook leads */
    /* CSAW_LAYER */
    uint64_t *arc;        /* [count + 1]: first candidate of each entry */
    double *bias;         /* [arc[count]] */
    uint64_t *pick_entry; /* [picks]: the entry whose arc was picked */
    uint32_t *pick_rank;  /* [picks]: its place in the row */
} csaw__frontier;

/* Memory of one thread for selections, zeroed by nobody. n: largest degree, k: most picks, of the entries at hand. */
typedef struct csaw__scratch {
    uint64_t *upto;  /* [n] inclusive sums of masses; RACE: places */
    uint64_t *tree;  /* [n + 1] Fenwick tree; RACE: arrivals */
    uint64_t *taken; /* [taken_mask + 1] set of candidates */
    uint64_t taken_mask;
    uint64_t *pick; /* [k] */
    uint32_t *open; /* [k] slots without a pick */
    uint32_t num_open;
    uint32_t got, before; /* picks so far; those of earlier rounds */
} csaw__scratch;

#endif
