/* SPDX-License-Identifier: MIT */
/* spmm/room.c - the memory that kernels work in, taken before any of them runs: a call that runs two of them takes both
 * pieces first, and so fails before an output is written. Sizes are worked out here alone, for csaw_spmm_work_bytes()
 * too. */
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "spmm/dots.h"
#include "spmm/reduce.h"
#include "spmm/scatter.h"

static uint64_t real_bytes(bool exact) { return exact ? sizeof(double) : sizeof(float); }

uint64_t csaw__reduce_bytes(const csaw__reduction *r, bool exact) {
    const bool extreme = r->reduce == CSAW_MAX || r->reduce == CSAW_MIN;
    const uint64_t of_chunk = r->y.cols * (real_bytes(exact) + (extreme ? sizeof(uint32_t) : 0));
    return r->rows.num_hubs ? csaw__num_chunks(r->rows.longest) * of_chunk : 0;
}

csaw_status csaw__reduce_room(csaw__reduction *r, bool exact) {
    const uint64_t bytes = csaw__reduce_bytes(r, exact);
    return bytes ? csaw__alloc_bytes(&r->room, bytes, 1, "partial results of a long row") : CSAW_OK;
}

static uint64_t dots_threads(const csaw__dots *d) {
    return d->a.num_edges > CSAW__STRETCH ? (uint64_t)csaw__max_threads() : 1;
}

uint64_t csaw__dots_bytes(const csaw__dots *d, bool exact) {
    return dots_threads(d) * 2 * d->x.cols * real_bytes(exact);
}

csaw_status csaw__dots_room(csaw__dots *d, bool exact) {
    d->threads = dots_threads(d);
    return csaw__alloc_bytes(&d->room, csaw__dots_bytes(d, exact), 1, "rows of features");
}

static uint64_t scatter_threads(const csaw__scatter *s) {
    const uint64_t tasks = (s->dy.cols + CSAW__SCATTER_WIDTH - 1) / CSAW__SCATTER_WIDTH;
    const uint64_t most = (uint64_t)csaw__max_threads(), threads = most < tasks ? most : tasks;
    return threads && csaw__is_long(s->a.rows * s->dy.cols) ? threads : 1;
}

static uint64_t features_bytes(const csaw__scatter *s, bool exact) { /* float32 in float32 is summed where it stays */
    const uint64_t of_thread = s->a.cols * CSAW__SCATTER_WIDTH * real_bytes(exact);
    return s->dy.cols && (exact || s->dx.dtype != CSAW_F32) ? scatter_threads(s) * of_thread : 0;
}

static uint64_t chunks_bytes(const csaw__scatter *s, bool exact) {
    const uint64_t places = scatter_threads(s) * s->num_chunks * CSAW__SCATTER_WIDTH;
    return s->dy.cols ? places * (real_bytes(exact) + sizeof(uint32_t)) : 0;
}

static uint64_t weights_bytes(const csaw__scatter *s, bool exact) { /* float32 is summed where it stays */
    return exact ? s->a.num_edges * s->heads * sizeof(double) : 0;
}

uint64_t csaw__scatter_bytes(const csaw__scatter *s, bool features, bool weights, bool exact) {
    return (features ? features_bytes(s, exact) + chunks_bytes(s, exact) : 0) + (weights ? weights_bytes(s, exact) : 0);
}

csaw_status csaw__scatter_room(csaw__scatter *s, bool features, bool weights, bool exact) {
    s->threads = scatter_threads(s);
    if (features && features_bytes(s, exact))
        CSAW_TRY(csaw__alloc_bytes(&s->features_room, features_bytes(s, exact), 1, "sums of gradients"));
    if (features && chunks_bytes(s, exact))
        CSAW_TRY(csaw__alloc_bytes(&s->chunks_room, chunks_bytes(s, exact), 1, "sums of chunks of gradients"));
    if (weights && exact)
        CSAW_TRY(csaw__alloc_bytes(&s->weights_room, weights_bytes(s, exact), 1, "gradients of weights"));
    return CSAW_OK;
}
