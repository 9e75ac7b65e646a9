/* SPDX-License-Identifier: MIT */
/* runtime/base/largest.c - see largest.h. A share at a time, which a core's cache holds: what is copied is read from
 * memory once. */
#include "runtime/base/largest.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/base/copy.h"
#include "runtime/base/each_cpu.h"
#include "runtime/base/hands.h"
#include "runtime/base/parallel.h"

static const uint64_t share = 1 << 16; /* vertices of a thread at a time: 256 KiB */
enum { MOST_THREADS = 8 };             /* they have all of the bandwidth */

CSAW__EACH_CPU static csaw_vertex largest_in(const csaw_vertex *vertex, uint64_t count) {
    csaw_vertex largest = 0;
    for (uint64_t i = 0; i < count; i++) largest = vertex[i] > largest ? vertex[i] : largest;
    return largest;
}

typedef struct looking {
    const csaw_vertex *vertex;
    uint64_t count;
    csaw_vertex *to;
    _Atomic(csaw_vertex) largest;
} looking;

static void look_at_share(void *user, uint32_t i) {
    looking *const l = user;
    const uint64_t first = i * share, left = l->count - first, here = left < share ? left : share;
    const csaw_vertex of_share = largest_in(l->vertex + first, here);
    csaw_vertex so_far = atomic_load(&l->largest);
    if (l->to) memcpy(l->to + first, l->vertex + first, here * sizeof *l->to);
    while (of_share > so_far && !atomic_compare_exchange_weak(&l->largest, &so_far, of_share)) {}
}

csaw_vertex csaw__largest(const csaw_vertex *vertex, uint64_t count, csaw_vertex *to) {
    looking l = {vertex, count, to, 0};
    const uint64_t shares = (count + share - 1) / share;
    const int most = count * sizeof *vertex < CSAW__WORTH_THREADS ? 1 : MOST_THREADS, there = csaw__max_threads(),
              threads = most < there ? most : there;
    (void)threads; /* not read without OpenMP */
    if (csaw__hands_mine() && shares <= UINT32_MAX) {
        csaw__hands_share(csaw__hands_mine(), (uint32_t)shares, look_at_share, &l);
        return l.largest;
    }
    CSAW__OMP(parallel for num_threads(threads) schedule(static))
    for (int64_t i = 0; i < (int64_t)shares; i++) look_at_share(&l, (uint32_t)i);
    return l.largest;
}
