/* SPDX-License-Identifier: MIT */
/* spmm/room.c - the memory that kernels work in, taken before any of them runs: a call that runs two of them takes both
 * pieces first, and so fails before an output is written. */
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "spmm/dots.h"
#include "spmm/reduce.h"
#include "spmm/scatter.h"

static size_t real_bytes(bool exact) { return exact ? sizeof(double) : sizeof(float); }

csaw_status csaw__reduce_room(csaw__reduction *r, bool exact) {
    const bool extreme = r->reduce == CSAW_MAX || r->reduce == CSAW_MIN;
    const size_t bytes = real_bytes(exact) + (extreme ? sizeof(uint32_t) : 0);
    if (!r->rows.num_hubs) return CSAW_OK;
    return csaw__alloc_bytes(&r->room, csaw__num_chunks(r->rows.longest) * r->y.cols, bytes,
                             "partial results of a long row");
}

csaw_status csaw__dots_room(csaw__dots *d, bool exact) {
    d->threads = d->a.num_edges > CSAW__STRETCH ? (uint64_t)csaw__max_threads() : 1;
    return csaw__alloc_bytes(&d->room, d->threads * 2 * d->x.cols, real_bytes(exact), "rows of features");
}

csaw_status csaw__scatter_room(csaw__scatter *s, bool features, bool weights, bool exact) {
    const uint64_t width = CSAW__SCATTER_WIDTH, tasks = (s->dy.cols + width - 1) / width;
    s->threads = (uint64_t)csaw__max_threads();
    if (s->threads > tasks) s->threads = tasks;
    if (!s->threads || !csaw__is_long(s->a.rows * s->dy.cols)) s->threads = 1;
    if (features)
        CSAW_TRY(csaw__alloc_bytes(&s->features_room, s->threads * s->a.cols * width, real_bytes(exact),
                                   "gradients of some columns"));
    if (weights && exact) /* float32 is summed where it stays */
        CSAW_TRY(
            csaw__alloc_bytes(&s->weights_room, s->a.num_edges * s->heads, sizeof(double), "gradients of weights"));
    return CSAW_OK;
}
