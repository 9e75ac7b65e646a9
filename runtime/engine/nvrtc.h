/* SPDX-License-Identifier: MIT */
/* runtime/engine/nvrtc.h - kernels of a sampler or reducer that was compiled at run time, each by itself. Only in
 * builds with CUDA. */
#ifndef CSAW_ENGINE_NVRTC_H
#define CSAW_ENGINE_NVRTC_H

#include <csaw/descriptor.h>

#include "runtime/engine/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is compiled after a file's text, to make one kernel and no other: a sampler's (enum csaw__kernel), a reducer's
 * (spmm/device_reducer.h). */
const char *csaw__sampler_ending(int kernel);
const char *csaw__reducer_ending(int kernel);

/* Compiles a file's text with that ending for sm_<architecture>; path is what messages call it, and where its own
 * #include "..." look. *cubin: release with csaw__free(). Needs no GPU. */
csaw_status csaw__nvrtc_compile(const char *path, const char *text, const char *ending, int architecture, char **cubin,
                                size_t *size);

/* The same, out of the cache if it is there; borrowed until the source is freed. */
csaw_status csaw__nvrtc_make(csaw__source *source, const char *ending, int architecture, const void **cubin,
                             size_t *size);

/* The same of a sampler from csaw_sampler_compile(); borrowed until it is unloaded. */
csaw_status csaw__nvrtc_cubin(const csaw_sampler *sampler, int kernel, int architecture, const void **cubin,
                              size_t *size);

#ifdef __cplusplus
}
#endif
#endif
