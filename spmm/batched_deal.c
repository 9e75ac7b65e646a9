/* SPDX-License-Identifier: MIT */
/* spmm/batched_deal.c - pieces of a batch, and the threads that take them.
 *
 * Method: work is counted in entries, rows and columns of a graph, as it is known beforehand. Small graphs in a row
 * make a piece, so that a thread that asks for more work does so rarely; threads take the next piece when they are
 * done. Large graphs come first, in slices of columns, since the rest can fill what they leave. */
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "spmm/batched.h"

enum { PIECE = 1024, LARGE = 8192, PER_GRAPH = 16 };

static uint64_t work_of(const csaw__small *g) { return (uint64_t)g->num_edges + g->rows + g->cols + PER_GRAPH; }

static bool is_large(const csaw__small *g) { return work_of(g) >= LARGE; }

/* Fills piece, unless it is NULL, with the small graphs' pieces; how many there are. */
static uint64_t group_small(const csaw_batch *batch, csaw__piece *piece) {
    uint64_t count = 0, work = PIECE; /* of the last piece, or full */
    for (uint64_t g = 0; g < batch->total.graphs; g++) {
        const bool large = is_large(&batch->graph[g]);
        if (large) work = PIECE; /* pieces are graphs that follow each other */
        if (large) continue;
        if (work >= PIECE) {
            if (piece) piece[count].first = g;
            count++;
            work = 0;
        }
        if (piece) piece[count - 1].end = g + 1;
        work += work_of(&batch->graph[g]);
    }
    return count;
}

csaw_status csaw__batch_deal(csaw_batch *batch) {
    batch->num_large = 0;
    for (uint64_t g = 0; g < batch->total.graphs; g++) batch->num_large += is_large(&batch->graph[g]);
    batch->num_pieces = batch->num_large + group_small(batch, NULL);
    CSAW_TRY(csaw__alloc(&batch->piece, batch->num_pieces, "pieces of a batch"));
    uint64_t large = 0;
    for (uint64_t g = 0; g < batch->total.graphs; g++)
        if (is_large(&batch->graph[g])) batch->piece[large++] = (csaw__piece){g, g + 1};
    group_small(batch, batch->piece + large);
    return CSAW_OK;
}

/* 4-byte elements that a thread takes of the scratch memory, in whole cache lines. */
static uint64_t scratch_size(const csaw_batch *batch, csaw__needs needs) {
    const uint64_t slices = 2 * (uint64_t)needs.sum + needs.in + needs.out + needs.arg;
    return slices * csaw__slice_most(batch) + (needs.count ? ((uint64_t)batch->most + 15) / 16 * 16 : 0);
}

static csaw__scratch scratch_of(const csaw_batch *batch, csaw__needs needs, uint32_t *memory) {
    const uint64_t slice = csaw__slice_most(batch);
    csaw__scratch s = {NULL, NULL, NULL, NULL, NULL};
    if (needs.sum) s.sum = (double *)(void *)memory, memory += 2 * slice; /* first, at a multiple of 8 bytes */
    if (needs.in) s.in = (float *)memory, memory += slice;
    if (needs.out) s.out = (float *)memory, memory += slice;
    if (needs.arg) s.arg = memory, memory += slice;
    if (needs.count) s.count = memory;
    return s;
}

/* Slices of the large graph that has most, at least 1: how many parts each large graph is dealt out in. */
static uint64_t parts_of(const csaw_batch *batch, uint64_t cols) {
    uint64_t parts = 1;
    for (uint64_t i = 0; cols && i < batch->num_large; i++) {
        const uint64_t width = csaw__slice_width(&batch->graph[batch->piece[i].first], cols);
        const uint64_t slices = (cols + width - 1) / width;
        parts = slices > parts ? slices : parts;
    }
    return parts;
}

csaw_status csaw__batch_run(const csaw_batch *batch, uint64_t cols, csaw__needs needs, csaw__batch_work *work,
                            const void *job) {
    const uint64_t size = scratch_size(batch, needs), parts = parts_of(batch, cols);
    const uint64_t all = batch->total.edges + batch->total.rows + batch->total.cols;
    const int threads = csaw__is_long(all) || csaw__is_long(all * cols) ? csaw__max_threads() : 1;
    uint32_t *memory;
    CSAW_TRY(csaw__alloc(&memory, size * (uint64_t)threads, "scratch memory of a batched product"));
    CSAW__OMP(parallel num_threads(threads)) {
        const csaw__scratch scratch = scratch_of(batch, needs, memory + csaw__thread() * size);
        CSAW__OMP(for schedule(dynamic, 1) nowait)
        for (uint64_t i = 0; i < batch->num_large * parts; i++)
            work(job, batch->piece[i / parts].first, i % parts, parts, &scratch);
        CSAW__OMP(for schedule(dynamic, 1))
        for (uint64_t i = batch->num_large; i < batch->num_pieces; i++)
            for (uint64_t g = batch->piece[i].first; g < batch->piece[i].end; g++) work(job, g, 0, 1, &scratch);
    }
    csaw__free(memory);
    return CSAW_OK;
}
