/* SPDX-License-Identifier: MIT */
/* runtime/base/memory.h - the one place that takes host memory, so that a test can make the Nth request fail. */
#ifndef CSAW_BASE_MEMORY_H
#define CSAW_BASE_MEMORY_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* count * size bytes, 64-byte aligned, not cleared; CSAW_ENOMEM with a message that names what and how much. Zero bytes
 * give a valid pointer. Release with csaw__free(). */
csaw_status csaw__alloc_bytes(void **out, uint64_t count, uint64_t size, const char *what);
void csaw__free(void *memory); /* NULL is fine */

/* csaw__alloc(&pointer, count, "what"): sized by what pointer points to. */
#define csaw__alloc(OUT, COUNT, WHAT) csaw__alloc_bytes((void **)(OUT), (COUNT), sizeof(**(OUT)), (WHAT))
#define csaw__alloc_zero(OUT, COUNT, WHAT) csaw__alloc_zero_bytes((void **)(OUT), (COUNT), sizeof(**(OUT)), (WHAT))
csaw_status csaw__alloc_zero_bytes(void **out, uint64_t count, uint64_t size, const char *what);

/* For tests. Requests fail from the Nth on, counted from 1 (0 = never); how many there were since. Device memory
 * is counted in the same sequence: csaw__alloc_allowed() is asked by whoever takes memory elsewhere. */
void csaw__fail_allocations_from(uint64_t n);
uint64_t csaw__allocations_counted(void);
uint64_t csaw__bytes_counted(void); /* that were given since: of host memory, and what others say they gave */
void csaw__count_bytes(uint64_t bytes);
bool csaw__alloc_allowed(void);

#ifdef __cplusplus
}
#endif

#endif
