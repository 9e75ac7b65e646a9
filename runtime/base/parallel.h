/* SPDX-License-Identifier: MIT */
/* runtime/base/parallel.h - OpenMP where the build has it, the same loops on one thread where it has not. */
#ifndef CSAW_BASE_PARALLEL_H
#define CSAW_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#if defined(_OPENMP)
#include <omp.h>
#define CSAW__PRAGMA(TEXT) _Pragma(#TEXT)
#define CSAW__OMP(...) CSAW__PRAGMA(omp __VA_ARGS__)
static inline int csaw__max_threads(void) { return omp_get_max_threads(); }
static inline uint64_t csaw__thread(void) { return (uint64_t)omp_get_thread_num(); }
#else
#define CSAW__OMP(...)
static inline int csaw__max_threads(void) { return 1; }
static inline uint64_t csaw__thread(void) { return 0; }
#endif

/* Is a loop over so many vertices and arcs worth several threads? A shorter one ends before the others are awake. */
static inline bool csaw__is_long(uint64_t items) { return items >= 1 << 13; }

#endif
