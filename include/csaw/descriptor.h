/* SPDX-License-Identifier: MIT */
/* csaw/descriptor.h - what a compiled sampler file exports, and what the library reads of it. The engine's own, but for
 * csaw_bounds. */
#ifndef CSAW_DESCRIPTOR_H
#define CSAW_DESCRIPTOR_H

#include "types.h"

/* Of edge_bias: lo <= factor <= hi on every arc but the one back to prev, lo <= factor <= back on that. */
typedef struct csaw_bounds {
    float lo, hi, back;
} csaw_bounds;

#define CSAW__ABI 1u

struct csaw__job;
struct csaw__walker;
struct csaw__fault;

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
    const csaw__device_sampler *device; /* kernels compiled by nvcc; NULL = none */
} csaw_sampler;

#endif
