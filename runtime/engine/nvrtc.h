/* SPDX-License-Identifier: MIT */
/* runtime/engine/nvrtc.h - kernels of a sampler that was compiled at run time. Only in builds with CUDA. */
#ifndef CSAW_ENGINE_NVRTC_H
#define CSAW_ENGINE_NVRTC_H

#include "runtime/engine/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a sampler file's text around the engine's kernels for sm_<architecture>; path is what messages call it, and
 * where its own #include "..." look. *cubin: release with csaw__free(). Needs no GPU. */
csaw_status csaw__nvrtc_compile(const char *path, const char *text, int architecture, char **cubin, size_t *size);

/* The kernels of a sampler from csaw_sampler_compile(), out of the cache if they are there; borrowed until it is
 * unloaded. */
csaw_status csaw__nvrtc_cubin(const csaw_sampler *sampler, int architecture, const void **cubin, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
