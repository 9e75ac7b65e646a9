/* SPDX-License-Identifier: MIT */
/* runtime/engine/nvrtc.h - kernels of a sampler that was compiled at run time, each by itself. Only in builds with
 * CUDA.
 */
#ifndef CSAW_ENGINE_NVRTC_H
#define CSAW_ENGINE_NVRTC_H

#include "runtime/engine/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a sampler file's text around one of the engine's kernels (enum csaw__kernel) for sm_<architecture>; path is
 * what messages call it, and where its own #include "..." look. *cubin: that kernel and no other; release with
 * csaw__free(). Needs no GPU. */
csaw_status csaw__nvrtc_compile(const char *path, const char *text, int kernel, int architecture, char **cubin,
                                size_t *size);

/* The same of a sampler from csaw_sampler_compile(), out of the cache if it is there; borrowed until the sampler is
 * unloaded. */
csaw_status csaw__nvrtc_cubin(const csaw_sampler *sampler, int kernel, int architecture, const void **cubin,
                              size_t *size);

#ifdef __cplusplus
}
#endif
#endif
