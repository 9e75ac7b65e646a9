/* SPDX-License-Identifier: MIT */
/* bench/hand_device.h - two-hop neighbour sampling by hand on a GPU, from one seed an instance: what csaw's engine is
 * compared with. hand_device.cu holds the graph and the room, hand_uniform.cuh and hand_weighted.cuh the kernels.
 * Functions end the program with a message where something fails, as must() does. */
#ifndef CSAW_BENCH_HAND_DEVICE_H
#define CSAW_BENCH_HAND_DEVICE_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hand_device hand_device; /* a graph on a GPU, seeds, and room for what is sampled from them */

typedef enum hand_way {
    HAND_UNIFORM, /* distinct arcs of each row, all alike */
    HAND_WEIGHTED /* distinct arcs, successively by weight, from the weights alone: no tables */
} hand_way;

typedef struct hand_totals {
    uint64_t arcs;    /* sampled */
    uint64_t scanned; /* bytes of weights of the rows that HAND_WEIGHTED draws from, each row counted once a visit */
} hand_totals;

/* device: "cuda:N". Fewer than 2^32 arcs; weights, if any, are positive. Its own copy of the graph. */
hand_device *hand_device_open(const csaw_csr *csr, const char *device);
void hand_device_close(hand_device *hand);
/* fanout: [2], 15, 10 or 2, 2: the kernels are compiled for these. */
bool hand_device_has(const uint32_t *fanout);
void hand_device_seeds(hand_device *hand, const csaw_vertex *seed, uint64_t count, const uint32_t *fanout);
/* Samples once and waits for it. Equal numbers give equal samples. */
void hand_device_run(hand_device *hand, hand_way way, uint64_t number);
/* The same and all else that csaw_sample() does: seeds come from host memory, and arcs are brought side by side. The
 * view, of arrays in device memory without seeds, is hand's until the next call. Nothing is allocated. */
csaw_arcs hand_device_deliver(hand_device *hand, hand_way way, uint64_t number, const csaw_vertex *seed);
/* Of the last run. */
hand_totals hand_device_totals(hand_device *hand, hand_way way);
/* Instances first .. first + count - 1 of the last run, as csaw_samples_arcs() would hand them out (seeds apart);
 * arrays belong to hand until the next call. */
csaw_arcs hand_device_get(hand_device *hand, hand_way way, uint64_t first, uint64_t count);

void hand_device_to_host(void *to, const void *from, uint64_t bytes); /* from: device memory */
double hand_device_copy_rate(void); /* bytes a second, read and written, of a copy of 1 GiB within device memory */

#ifdef __cplusplus
}
#endif
#endif
