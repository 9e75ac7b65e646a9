/* SPDX-License-Identifier: MIT */
/* partition/simulated.h - a device that is simulated on the CPU, for one thread: memory with a budget, slots into which
 * partitions of a graph are copied, streams on which copies and launches advance a little at a time in an order that a
 * seed decides. What the scheduler and the work on it do wrong shows here, with no GPU:
 *   - what a slot holds is written over when a copy to it begins, and its rows are handed out only once the copy has
 *     ended, as arrays of their exact length, so that reading beyond them is an error a sanitizer sees;
 *   - memory beyond the budget is refused; any allocation and any copy can be made to fail;
 *   - launches on different streams take turns, entry by entry, and end in any order. */
#ifndef CSAW_PARTITION_SIMULATED_H
#define CSAW_PARTITION_SIMULATED_H

#include "partition/queues.h"
#include "partition/schedule.h"
#include "runtime/base/job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the work on entries puts new ones: csaw__queues_push(). */
typedef struct csaw__outlet {
    csaw__queues *queues;
    csaw__spill *spill;
} csaw__outlet;

/* What a launch does with the entries of a partition. */
typedef struct csaw__part_work {
    void *self;
    /* rows: the partition's. Each of the n entries is changed into what it is next: finished, or waiting again at its
     * vertex's partition. More may be pushed; one whose entries find no room waits again and is taken up later. */
    csaw_status (*run)(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n, const csaw__outlet *outlet);
} csaw__part_work;

enum { CSAW__AT_ONCE = 128 /* entries handed to the work together, at most */, CSAW__PART_ARRAYS = 7 };

typedef struct csaw__part_array { /* of a slot: one of the graph's arrays, from a partition's first row or arc on */
    void *to;
    const void *from;
    uint64_t bytes;
} csaw__part_array;

typedef struct csaw__simulated_slot {
    int64_t part; /* that was copied in full; or CSAW__NONE_AT_ALL */
    csaw__part_array array[CSAW__PART_ARRAYS];
    csaw__rows rows;
} csaw__simulated_slot;

typedef struct csaw__simulated_stream {
    enum { CSAW__STREAM_IDLE, CSAW__STREAM_COPIES, CSAW__STREAM_RUNS } does;
    uint32_t part, slot, blocks;
    uint64_t copied; /* bytes */
    csaw__spill spill;
} csaw__simulated_stream;

typedef struct csaw__simulated {
    csaw_csr csr;               /* the graph, on the host */
    const csaw__alias *alias;   /* [num_edges] that travel with the arcs; NULL: none do */
    const csaw__row_bias *bias; /* [num_vertices], with alias */
    const csaw__ranges *ranges;
    csaw__queues *queues;
    csaw__part_work work;
    uint64_t slot_bytes, spill_room;

    uint64_t seed;      /* of the order in which copies and launches advance */
    uint64_t memory;    /* bytes there are; 0 = no limit */
    uint64_t fail_copy; /* the so manieth copy fails, counted from 1; 0 = none */

    uint64_t used, peak;           /* bytes of memory */
    uint64_t copies, copied_bytes; /* of partitions, so far */

    csaw__simulated_slot *slot;     /* [slots] */
    csaw__simulated_stream *stream; /* [streams] */
    uint32_t slots, streams;
} csaw__simulated;

/* The scheduler's view of it. The first group of its fields is set, the rest 0. */
csaw__part_device csaw__simulated_device(csaw__simulated *device);
/* Other memory of the device: what waits, what is under way. CSAW_EDEVMEM beyond the budget. */
csaw_status csaw__simulated_alloc(csaw__simulated *device, uint64_t bytes, const char *what, void **out);
void csaw__simulated_free(csaw__simulated *device, void *memory, uint64_t bytes); /* NULL is fine */
void csaw__simulated_close(csaw__simulated *device);                              /* frees slots and spills */

#ifdef __cplusplus
}
#endif

#endif
