/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cu - dx of MAX and MIN on a GPU over the transpose, a plan's or one made here: who won, then the
 * stretches of dx, and the chunks of long rows merged, as many slices of columns at a time as work memory holds words
 * of.
 */
#include "spmm/device_winners.cuh"

#include "spmm/device_private.cuh"

bool csaw__device_gathers_winners(const csaw_sparse *a, const csaw_dense *dy) {
    csaw__product turned = {};
    turned.rows = a->cols, turned.x = *dy;
    return a->num_edges / CSAW__WON_DEGREE < a->rows && csaw__takes_stretches(&turned);
}

static csaw_status launch(const place &where, const csaw__winners *w) {
    const csaw__product *const p = &w->turned;
    const unsigned slices = (unsigned)p->slices;
    CSAW_TRY(csaw__launch_early(where, slices * (unsigned)w->find_blocks, CSAW__THREADS, csaw__find_winners_at(w), *w));
    CSAW_TRY(
        csaw__launch_early(where, slices * (unsigned)p->blocks, CSAW__STRETCH_THREADS, csaw__winners_kernel_at(w), *w));
    return csaw__launch_stretch_merge(where, p, &w->deal);
}

csaw_status csaw__device_winners(const place &where, const csaw_sparse *a, const csaw_spmm_plan *plan,
                                 const csaw__device_turned &turned, uint32_t heads, const csaw_edge *arg,
                                 const csaw_dense *dy, const csaw_dense *dx) {
    const csaw__device_plan *const d = plan ? plan->device : nullptr;
    const csaw__device_transpose &t = turned.transpose();
    work<char> won;
    work<float> partial;
    csaw__winners w = {};
    csaw__product *const p = &w.turned;
    if (!a->weight) heads = 1;
    w.rowptr = a->rowptr, w.rows = a->rows, w.arg = arg;
    p->rowptr = t.rowptr, p->col = t.row;
    p->rows = a->cols, p->num_edges = a->num_edges;
    p->x = *dy, p->y = *dx, p->heads = heads;
    const float *const fixed = d ? csaw__fixed_weights(d, a, heads) : nullptr;
    p->weight = fixed ? fixed : a->weight;
    w.weights = fixed != nullptr;
    const csaw__long_rows *known = nullptr;
    if (d) {
        const csaw__stretch_rows &of = d->transposed.stretches;
        known = of.moved ? &of.split : &d->transposed.split;
        w.deal.first_rows = of.first_rows, w.deal.moved = of.moved;
        if (of.moved) p->rowptr = of.rowptr, p->col = of.col;
    }
    int multiprocessors = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, where.ordinal));
    w.deal.multiprocessors = (uint32_t)multiprocessors;
    csaw__winners_lay_out(&w, known);
    const uint64_t slices = p->slices_of_head * heads, merging = csaw__stretch_merging_blocks(p, 1);
    uint64_t blocks = w.find_blocks > p->blocks ? w.find_blocks : p->blocks;
    if (merging > blocks) blocks = merging;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows and %llu columns take %llu blocks, but a launch has at most 2^31 - 1; split the matrix",
                 (unsigned long long)a->rows, (unsigned long long)a->cols, (unsigned long long)blocks);
    if (w.at_once * blocks > 0x7fffffffu) w.at_once = 0x7fffffffu / blocks;
    CSAW_TRY(won.take(where, w.at_once * a->num_edges * w.bytes, "which edges won"));
    CSAW_TRY(partial.take(where, w.at_once * p->split.most_chunks * p->width, "partial results of long rows"));
    CSAW_TRY(turned.fill(where));
    if (where.counted) return CSAW_OK;
    p->partial = partial.get();
    w.won = won.get();
    w.edge = t.edge;
    for (p->first_slice = 0; p->first_slice < slices; p->first_slice += w.at_once) {
        const uint64_t left = slices - p->first_slice;
        p->slices = left < w.at_once ? left : w.at_once;
        CSAW_TRY(launch(where, &w));
    }
    return CSAW_OK;
}
