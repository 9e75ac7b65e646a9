/* SPDX-License-Identifier: MIT */
/* partition/fit.h - how a graph is worked on in a given amount of device memory: into how many partitions it is cut,
 * how many of them are resident, on how many streams, and what is left for queues and for instances under way. A
 * function of the numbers below alone, so that it can be asked for a machine that is not there. */
#ifndef CSAW_PARTITION_FIT_H
#define CSAW_PARTITION_FIT_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CSAW__MOST_PARTS = 65536, CSAW__MOST_RESIDENT = 4 /* chosen by itself */, CSAW__ENTRY_BYTES = 16 };
/* What a transfer costs beside its own bytes, in bytes: the copy's start and the launches that it leads to. On an H200
 * each takes 50 to 100 us, in which a copy moves 3 to 5 MB. */
#define CSAW__TRANSFER_COST ((uint64_t)4 << 20)

typedef struct csaw__fit_request {
    uint64_t rows, arcs, longest_row;  /* of the graph; longest_row: arcs */
    uint32_t row_bytes, arc_bytes;     /* that travel with each row and arc */
    uint64_t memory;                   /* bytes that may be used; 0 = no limit */
    uint32_t parts, resident, streams; /* as asked for; 0 = chosen */
    uint32_t table_bytes;              /* of a partition beside its slot: to find it by */
    uint64_t one;                      /* bytes that an instance takes while it is under way; 0 = none in this memory */
    uint64_t one_step;                 /* of these, for each step */
    uint64_t wanted;                   /* that all instances take which may be under way together: those of a batch */
    uint64_t all;                      /* that those of all batches take; 0 = there is one */
    uint32_t steps;                    /* that each makes */
    bool asks;                         /* those but the first, at the partition of the vertex before */
    uint32_t step_cost; /* bytes that a copy moves in the time of a step that reads the graph in place, in
                           the host's memory; 0 = it cannot */
    bool no_queues;     /* entries wait in the memory of their instances: none is set apart for queues */
    bool stays;         /* the graph stays in the host's memory, and is read there, whatever that costs */
    bool described;     /* memory is what a GPU leaves, whose own memory refusals name */
} csaw__fit_request;

typedef struct csaw__fit {
    uint32_t parts, resident, streams;
    uint64_t graph;                  /* bytes of all rows and arcs */
    uint64_t part;                   /* of a partition, at most: a slot of device memory */
    uint64_t degrees;                /* of all vertices' degrees, which stay; 0 where the graph is whole */
    uint64_t tables;                 /* to find partitions by; 0 where the graph is whole */
    uint64_t queues;                 /* of the queues in device memory */
    uint64_t spills;                 /* of what overflows them, all streams */
    uint64_t instances;              /* left for instances under way, at least one; UINT64_MAX without a limit */
    uint64_t queue_room, spill_room; /* entries of one */
    bool whole;                      /* the graph is in memory as it is */
    bool in_place;                   /* it stays on the host, and is read there: one partition that takes no memory */
} csaw__fit;

/* CSAW_EDEVMEM says how much would do: that is accepted. */
csaw_status csaw__fit_memory(const csaw__fit_request *request, csaw__fit *out);
/* Partitions that instances under way together ask for in turn in so many steps, if every arc may lead anywhere: all of
 * them once; and, since a partition comes round half a turn after an entry asks for it, as many as are not resident
 * every two steps. Where few are not resident entries wait there for one another, and fewer partitions are asked for:
 * two thirds of these with 6 of 8 resident. Where steps but the first ask at the partition of prev, that and the way
 * back are a whole turn more; with 6 of 8 resident a quarter of these are asked for. */
double csaw__fit_transfers(const csaw__fit *fit, uint32_t steps, bool asks);
/* Rounds of all instances, as many under way at a time as their memory and a batch hold. */
uint64_t csaw__fit_rounds(const csaw__fit_request *request, const csaw__fit *fit);
/* Bytes that a GPU of so many leaves: its driver and context take about a tenth. */
uint64_t csaw__fit_usable(uint64_t gpu_memory);

#ifdef __cplusplus
}
#endif

#endif
