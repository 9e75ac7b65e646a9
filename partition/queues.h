/* SPDX-License-Identifier: MIT */
/* partition/queues.h - what waits at each partition (C-SAW, SC'20, sections V-B and V-C): entries of all instances and
 * depths in one queue per partition, bounded in device memory and unbounded on the host.
 *
 * Overflow without loss: each stream has a spill. An entry that finds its queue full goes to the spill of the stream
 * that made it, and after the launch from there to the host, which fills the queue before the next launch. Of a spill,
 * one place is kept for every entry in hand, so that what cannot be finished can always be put down. */
#ifndef CSAW_PARTITION_QUEUES_H
#define CSAW_PARTITION_QUEUES_H

#include "partition/ranges.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CSAW__DEPTH_BITS = 24 };

/* Something to do at the partition of a vertex. */
typedef struct csaw__active {
    uint64_t instance_depth; /* instance << 24 | depth */
    csaw_vertex vertex;      /* it waits at the partition that holds this one */
    uint32_t state;          /* how far it came: the work's own, 0 at first; CSAW__FINISHED ends it */
} csaw__active;
#define CSAW__FINISHED UINT32_MAX

typedef struct csaw__spill {
    csaw__active *entry; /* [room], device */
    uint64_t count, room;
    uint64_t in_hand; /* entries under way, a place kept for each */
} csaw__spill;

typedef struct csaw__queue {
    uint64_t head, count;           /* of its ring */
    csaw__active *host;             /* [host_count] */
    uint64_t host_count, host_room; /* entries that wait on the host */
} csaw__queue;

typedef struct csaw__queues {
    const csaw__ranges *ranges;
    csaw__active *ring;   /* [ranges->count, room], device */
    uint64_t room;        /* at least 1 */
    csaw__queue *queue;   /* [ranges->count] */
    uint64_t num_spilled; /* entries that went through a spill */
} csaw__queues;

/* ring: [ranges->count, room], and it outlives the queues, as ranges does. */
csaw_status csaw__queues_create(const csaw__ranges *ranges, csaw__active *ring, uint64_t room, csaw__queues *out);
void csaw__queues_clear(csaw__queues *queues); /* drops all entries */
void csaw__queues_free(csaw__queues *queues);

/* The host's side. */
csaw_status csaw__queues_add(csaw__queues *queues, csaw__active entry);    /* on the host */
void csaw__queues_fill(csaw__queues *queues, uint32_t part);               /* from the host, while there is room */
csaw_status csaw__queues_unload(csaw__queues *queues, csaw__spill *spill); /* to the host; empties the spill */
uint64_t csaw__queues_waiting(const csaw__queues *queues, uint32_t part);  /* on both sides */

/* The device's side. take: up to n entries of a partition, in hand from then on; how many. No more than the spill can
 * take back, with as many new ones: 0 where the spill must be unloaded first. */
uint64_t csaw__queues_take(csaw__queues *queues, uint32_t part, csaw__spill *spill, csaw__active *entry, uint64_t n);
/* A new entry; false: there is no room for it now. */
bool csaw__queues_push(csaw__queues *queues, csaw__spill *spill, csaw__active entry);
/* An entry in hand is put down: it is finished, or waits again, at its vertex's partition. */
void csaw__queues_put(csaw__queues *queues, csaw__spill *spill, csaw__active entry);

#ifdef __cplusplus
}
#endif

#endif
