/* SPDX-License-Identifier: MIT */
/* runtime/base/copy.c - a copy of many bytes, a share a thread. */
#include "runtime/base/copy.h"

#include <string.h>

#include "runtime/base/parallel.h"

static const uint64_t share = (uint64_t)256 << 10; /* bytes of a thread at a time */
enum { MOST_THREADS = 8 };                         /* they have all of the bandwidth */

void csaw__copy(void *to, const void *from, uint64_t bytes) {
    const int64_t shares = (int64_t)((bytes + share - 1) / share);
    const int most = bytes < CSAW__WORTH_THREADS ? 1 : MOST_THREADS, there = csaw__max_threads(),
              threads = most < there ? most : there;
    (void)threads; /* not read without OpenMP */
    CSAW__OMP(parallel for num_threads(threads) schedule(static))
    for (int64_t i = 0; i < shares; i++) {
        const uint64_t first = (uint64_t)i * share, left = bytes - first;
        memcpy((char *)to + first, (const char *)from + first, left < share ? left : share);
    }
}
