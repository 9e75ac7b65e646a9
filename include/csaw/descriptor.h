/* SPDX-License-Identifier: MIT */
/* csaw/descriptor.h - what a compiled sampler file exports, and what the library reads of it. The engine's own, but for
 * the flags and csaw_bounds. */
#ifndef CSAW_DESCRIPTOR_H
#define CSAW_DESCRIPTOR_H

#include "types.h"

/* Of edge_bias: lo <= factor <= hi on every arc but the one back to prev, lo <= factor <= back on that. */
typedef struct csaw_bounds {
    float lo, hi, back;
} csaw_bounds;

/* What a sampler says of itself. */
enum {
    CSAW_MAX_USER_BYTES = 32,
    CSAW_SECOND_ORDER = 1,   /* a hook calls csaw_adjacent(), or bounds treats the arc back to prev apart; in samples
                                also: a hook calls csaw_prev() */
    CSAW_LAYER = 2,          /* one pick of fanout arcs among those of the whole frontier, not one per vertex */
    CSAW_LAYER_DISTINCT = 4, /* with CSAW_LAYER: picks vertices, each by the sum of its arcs' biases; all arcs from the
                                frontier to them are part of the sample */
    CSAW_REPLACE_POOL = 8,   /* the update takes the place of its vertex in the pool, a list; fanout is then 1.
                                Otherwise the next pool is made of the updates alone, an ordered set */
    CSAW_KEEP_POOL = 16,     /* the updates join the pool, behind what is there */
    CSAW_VISITED = 32,       /* a hook calls csaw_visited() */
    CSAW_WITH_REPLACEMENT = 64 /* picks of one vertex are independent of each other, so arcs may repeat */
};

#define CSAW__ABI 13u

struct csaw__job;
struct csaw__walker;
struct csaw__fault;
struct csaw__frontier;
struct csaw__scratch;

typedef struct csaw__device_sampler { /* what nvcc makes of a sampler file; returns a cudaError_t */
    int (*launch)(int kernel, unsigned blocks, unsigned threads, void *stream, const struct csaw__job *job);
} csaw__device_sampler;

typedef struct csaw_sampler {
    uint32_t abi; /* CSAW__ABI of the headers it was compiled with */
    uint32_t params_size, num_params;
    const csaw_param *params; /* [num_params] */
    const char *name;
    uint32_t (*traits)(void); /* csaw__trait bits */
    csaw_bounds (*bounds)(const void *params);
    /* static biases of rows first .. first + count - 1, one per arc, to out */
    void (*tabulate)(const struct csaw__job *job, csaw_vertex first, csaw_vertex count, float *out);
    /* whole walks first .. first + count - 1 of the job; keeps the lowest fault */
    void (*walk)(const struct csaw__job *job, uint64_t first, uint64_t count, struct csaw__fault *fault);
    /* one step of one walker where only one partition is in sight; see runtime/engine/step.h */
    int (*step)(const struct csaw__job *job, struct csaw__walker *walker, const uint8_t *answer,
                struct csaw__fault *fault);
    /* compare hooks with traits on the row that the walker stands at */
    int (*check)(const struct csaw__job *job, const struct csaw__walker *walker, struct csaw__fault *fault);
    /* runtime/base/frontier.h: samples of more than one arc a step */
    uint32_t (*frontier_size)(const void *params); /* CSAW_ALL: the whole pool */
    void (*vertex_biases)(const struct csaw__job *job, const csaw_vertex *vertex, uint64_t count, float *out);
    void (*fanouts)(const struct csaw__job *job, struct csaw__frontier *frontier, struct csaw__fault *fault);
    void (*expand)(const struct csaw__job *job, struct csaw__frontier *frontier, const uint64_t *entry, uint64_t count,
                   struct csaw__scratch *scratch, struct csaw__fault *fault);
    void (*layer_biases)(const struct csaw__job *job, const struct csaw__frontier *frontier, const uint64_t *entry,
                         uint64_t count, struct csaw__fault *fault);
    void (*layer_updates)(const struct csaw__job *job, struct csaw__frontier *frontier, uint64_t picks,
                          struct csaw__fault *fault);
    const csaw__device_sampler *device; /* kernels compiled by nvcc; NULL = none */
} csaw_sampler;

#endif
