/* SPDX-License-Identifier: MIT */
/* runtime/base/copy.c - a copy of many bytes, a share a thread. */
#include "runtime/base/copy.h"

#include <string.h>

#include "runtime/base/hands.h"
#include "runtime/base/parallel.h"

static const uint64_t share = (uint64_t)256 << 10; /* bytes of a thread at a time */
enum { MOST_THREADS = 8 };                         /* they have all of the bandwidth */

typedef struct copying {
    char *to;
    const char *from;
    uint64_t bytes;
} copying;

static void copy_share(void *user, uint32_t i) {
    const copying *const c = user;
    const uint64_t first = i * share, left = c->bytes - first;
    memcpy(c->to + first, c->from + first, left < share ? left : share);
}

void csaw__copy(void *to, const void *from, uint64_t bytes) {
    copying c = {to, from, bytes};
    const uint64_t shares = (bytes + share - 1) / share;
    const int most = bytes < CSAW__WORTH_THREADS ? 1 : MOST_THREADS, there = csaw__max_threads(),
              threads = most < there ? most : there;
    (void)threads; /* not read without OpenMP */
    if (csaw__hands_mine() && shares <= UINT32_MAX) {
        csaw__hands_share(csaw__hands_mine(), (uint32_t)shares, copy_share, &c);
        return;
    }
    CSAW__OMP(parallel for num_threads(threads) schedule(static))
    for (int64_t i = 0; i < (int64_t)shares; i++) copy_share(&c, (uint32_t)i);
}
