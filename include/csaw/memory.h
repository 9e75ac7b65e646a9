/* SPDX-License-Identifier: MIT */
/* csaw/memory.h - arrays in the memory of the device that a call runs on, for programs that bring no CUDA of their own.
 *
 *   csaw_memory_alloc("cuda:0", bytes, &there);
 *   csaw_memory_write("cuda:0", there, here, bytes);
 *   ...                                                   csaw_spmm() and its like with .device = "cuda:0"
 *   csaw_memory_read("cuda:0", here, there, bytes);
 *   csaw_memory_free("cuda:0", there);
 *
 * device: NULL or "cpu", then all of it is memory of the host and nothing waits; or "cuda:N". So one program serves
 * both. Memory is of the device that it was taken from, and is given back to it; a program with CUDA of its own may
 * use cudaMalloc() and cudaFree() instead. Errors as in csaw.h: CSAW_EUNSUPPORTED in a build without CUDA. */
#ifndef CSAW_MEMORY_H
#define CSAW_MEMORY_H

#include "csaw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Not cleared; begins at a multiple of 64 bytes, of 0 bytes too. CSAW_ENOMEM, CSAW_EDEVMEM: there is not so much. */
CSAW_API csaw_status csaw_memory_alloc(const char *device, uint64_t bytes, void **out);
CSAW_API void csaw_memory_free(const char *device, void *memory); /* NULL is fine */

/* Copy bytes from the host to the device, and back: after all that the device was given to do, and done on return. */
CSAW_API csaw_status csaw_memory_write(const char *device, void *there, const void *here, uint64_t bytes);
CSAW_API csaw_status csaw_memory_read(const char *device, void *here, const void *there, uint64_t bytes);

/* Until the device has done all that it was given to do, in all of its streams. */
CSAW_API csaw_status csaw_memory_wait(const char *device);

#ifdef __cplusplus
}
#endif
#endif
