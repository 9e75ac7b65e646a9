/* SPDX-License-Identifier: MIT */
/* runtime/base/largest.c - see largest.h. What is copied is read from memory once. */
#include "runtime/base/largest.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "runtime/base/copy.h"
#include "runtime/base/each_cpu.h"
#include "runtime/base/parallel.h"

static const uint64_t share = 1 << 16;  /* vertices of a thread at a time */
static const uint64_t cached = 1 << 10; /* of which so many are looked at, and then copied out of the first cache */
enum { MOST_THREADS = 8 };              /* they have all of the bandwidth */

CSAW__EACH_CPU static csaw_vertex largest_in(const csaw_vertex *vertex, uint64_t count) {
    csaw_vertex largest = 0;
    for (uint64_t i = 0; i < count; i++) largest = vertex[i] > largest ? vertex[i] : largest;
    return largest;
}

/* Past the caches, since a device reads it next, and no CPU. */
static void put(csaw_vertex *to, const csaw_vertex *from, uint64_t count) {
    uint64_t i = 0;
#ifdef __SSE2__
    const uint64_t at_once = sizeof(__m128i) / sizeof *to, end = (uintptr_t)to % sizeof(__m128i) ? 0 : count;
    for (; i + at_once <= end; i += at_once)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    _mm_sfence();
#endif
    memcpy(to + i, from + i, (count - i) * sizeof *to);
}

static csaw_vertex largest_copied(const csaw_vertex *vertex, uint64_t count, csaw_vertex *to) {
    csaw_vertex largest = 0;
    for (uint64_t first = 0; first < count; first += cached) {
        const uint64_t left = count - first, here = left < cached ? left : cached;
        const csaw_vertex of_these = largest_in(vertex + first, here);
        put(to + first, vertex + first, here);
        largest = of_these > largest ? of_these : largest;
    }
    return largest;
}

csaw_vertex csaw__largest(const csaw_vertex *vertex, uint64_t count, csaw_vertex *to) {
    const int most = count * sizeof *vertex < CSAW__WORTH_THREADS ? 1 : MOST_THREADS, there = csaw__max_threads(),
              threads = most < there ? most : there;
    csaw_vertex largest = 0;
    (void)threads; /* not read without OpenMP */
    CSAW__OMP(parallel for num_threads(threads) schedule(static) reduction(max : largest))
    for (uint64_t first = 0; first < count; first += share) {
        const uint64_t left = count - first, here = left < share ? left : share;
        const csaw_vertex of_share =
            to ? largest_copied(vertex + first, here, to + first) : largest_in(vertex + first, here);
        largest = of_share > largest ? of_share : largest;
    }
    return largest;
}
