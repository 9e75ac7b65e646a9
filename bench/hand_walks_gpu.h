/* SPDX-License-Identifier: MIT */
/* bench/hand_walks_gpu.h - GPU kernels written by hand for one walk each, what csaw's are measured against, and the
 * verification of paths that stay in device memory. */
#ifndef CSAW_BENCH_HAND_WALKS_GPU_H
#define CSAW_BENCH_HAND_WALKS_GPU_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hand_gpu hand_gpu; /* a graph in device memory; it prints and exits where something fails */

typedef enum hand_walk {
    HAND_UNIFORM,
    HAND_UNIFORM_CLASSES, /* for vertices by falling degree */
    HAND_WEIGHTED,
    HAND_NODE2VEC,
    HAND_NODE2VEC_WEIGHTED
} hand_walk;

typedef struct hand_run {
    hand_walk walk;
    float p, q;         /* node2vec */
    uint64_t num_walks; /* walk i starts at vertex i % num_seeds */
    uint64_t num_seeds;
    uint32_t length, seed, repeat;
} hand_run;

/* device as csaw's: "cuda:0". The graph is symmetric, without parallel arcs and isolated vertices, and stays the
 * caller's. NULL if the device is not a GPU. */
hand_gpu *hand_gpu_open(const csaw_csr *csr, const char *device);
void hand_gpu_close(hand_gpu *gpu); /* NULL is fine */
/* seconds: [repeat], of the kernel alone, after one warm-up. Returns how many steps of the last run follow no arc. */
uint64_t hand_gpu_run(hand_gpu *gpu, const hand_run *run, double *seconds);
/* Of walks in device memory, how many steps follow no arc. */
uint64_t hand_gpu_wrong_steps(const hand_gpu *gpu, const csaw_walks *walks);
/* The first walks of walks in device memory; path: [count, length + 1] row-major, host. */
void hand_gpu_fetch(const csaw_walks *walks, uint64_t count, csaw_vertex *path);

#ifdef __cplusplus
}
#endif

#endif
