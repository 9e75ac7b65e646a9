/* SPDX-License-Identifier: MIT */
/* partition/schedule.h - which partition of a graph to bring to a device, which to run, when to let one go (C-SAW,
 * SC'20, section V-B): by how many entries wait at each, until none waits that is worth it.
 *
 * The scheduler knows partitions, slots of device memory and streams by number alone. What they are is the device's
 * (partition/part_device.h). */
#ifndef CSAW_PARTITION_SCHEDULE_H
#define CSAW_PARTITION_SCHEDULE_H

#include "partition/part_device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CSAW__NONE_AT_ALL = -1 };

typedef struct csaw__slot {
    int64_t part;   /* that is there, or on its way; or CSAW__NONE_AT_ALL */
    int64_t stream; /* that copies or runs it; or CSAW__NONE_AT_ALL */
    uint64_t since; /* the transfer that brought it */
    bool fresh;     /* it has not run since */
} csaw__slot;

typedef struct csaw__schedule {
    uint32_t parts, resident, streams; /* resident: slots */
    uint32_t blocks;                   /* thread blocks of the device, dealt to the launches under way */
    uint64_t worth;                    /* entries that are worth a transfer at least; 0: any are */
    bool in_turn; /* transfers in cyclic order; default: most entries first (WS), of many partitions in turn, too */
    bool equal_shares; /* of the blocks, whatever a launch has to do; default: what its entries need (BAL) */

    csaw__slot *slot; /* [resident] */
    int64_t *slot_of; /* [parts]: the slot where it is, or to which it is on its way; or CSAW__NONE_AT_ALL */
    int64_t *busy;    /* [streams]: the slot it is at work for, or CSAW__NONE_AT_ALL */
    uint64_t *active; /* [parts] entries that wait */
    uint32_t next;    /* in turn: where the search for the next partition begins */
    uint64_t transfers, launches; /* so far */
} csaw__schedule;

/* Partitions are many where more than four times as many as slots are: then few arcs lead to a resident one, and a
 * launch that reads slots other than its own keeps transfers to them waiting for little. */
static inline bool csaw__parts_are_many(uint32_t parts, uint32_t resident) { return parts / 4.0 > resident; }

/* schedule: the first group of fields is set, the rest 0. Takes the device's memory. */
csaw_status csaw__schedule_start(csaw__schedule *schedule, const csaw__part_device *device);
/* Until nothing waits anywhere but fewer than `worth` entries at each partition that is not resident. Partitions stay
 * where they are for the next run. After a failure nothing is under way on the device, and its slots hold nothing. */
csaw_status csaw__schedule_run(csaw__schedule *schedule, const csaw__part_device *device);
void csaw__schedule_forget(csaw__schedule *schedule); /* what is resident is out of date */
void csaw__schedule_end(csaw__schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
