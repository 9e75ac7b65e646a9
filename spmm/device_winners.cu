/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cu - dx of MAX and MIN on a GPU over a plan's transpose: who won, then rows and long rows of dx,
 * as many slices of columns at a time as work memory holds words of. */
#include "spmm/device_winners.cuh"

#include "spmm/device_private.cuh"

bool csaw__device_gathers_winners(const csaw_sparse *a) { return a->num_edges / CSAW__WON_DEGREE < a->rows; }

static csaw_status launch(const place &where, const csaw__winners *w) {
    bool beside = false;
    const unsigned slices = (unsigned)w->matrix.slices;
    cudaLaunchConfig_t rows = {};
    cudaLaunchAttribute early = {};
    if (w->matrix.blocks)
        CSAW_TRY(csaw__device_launch(where.stream, slices * (unsigned)w->matrix.blocks, CSAW__THREADS,
                                     csaw__find_winners_at(w), w->matrix, w->order.place, w->order.won));
    if (w->hubs.blocks)
        CSAW_TRY(csaw__device_launch(where.stream, slices * w->order.words * (unsigned)w->hubs.blocks,
                                     csaw__hub_winners_threads(w->hubs_by_columns), csaw__hub_winners_kernel_at(w),
                                     w->hubs, w->order, w->longest));
    CSAW_TRY(csaw__waits_for_last((const void *)csaw__winners_kernel_at(w), &beside));
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    rows.gridDim = dim3(slices * (unsigned)w->turned.blocks), rows.blockDim = dim3(CSAW__THREADS);
    rows.stream = where.stream;
    if (beside && w->hubs.blocks) rows.attrs = &early, rows.numAttrs = 1;
    CSAW_CUDA(cudaLaunchKernelEx(&rows, csaw__winners_kernel_at(w), w->turned, w->order, w->longest));
    return CSAW_OK;
}

csaw_status csaw__device_edge_places(const place &where, const csaw_edge *edge, uint64_t edges, uint64_t *place) {
    CSAW__LAUNCH(where, edges, csaw__find_places, edge, edges, place);
    return CSAW_OK;
}

csaw_status csaw__device_winners(const place &where, const csaw_sparse *a, const csaw_spmm_plan *plan, uint32_t heads,
                                 const csaw_edge *arg, const csaw_dense *dy, const csaw_dense *dx) {
    const csaw__device_plan *const d = plan->device;
    work<uint32_t> won;
    work<uint64_t> edge_place;
    csaw__winners w = {};
    if (!dy->cols || !a->cols) return CSAW_OK;
    if (!a->weight) heads = 1;
    w.matrix.rowptr = a->rowptr, w.matrix.rows = a->rows, w.matrix.num_edges = a->num_edges;
    w.matrix.arg = (csaw_edge *)arg; /* read alone */
    w.matrix.heads = heads, w.matrix.split = d->matrix.split;
    w.matrix.y.cols = dy->cols;
    w.turned.rowptr = d->transpose.rowptr, w.turned.col = d->transpose.row;
    w.turned.rows = a->cols, w.turned.num_edges = a->num_edges;
    w.turned.x = *dy, w.turned.y = *dx, w.turned.heads = heads;
    const float *const fixed = csaw__fixed_weights(d, a, heads);
    w.turned.weight = fixed ? fixed : a->weight;
    w.hubs = w.turned;
    w.hubs.split = d->transposed.split;
    csaw__winners_lay_out(&w);
    const uint64_t slices = w.turned.slices_of_head * heads;
    const uint64_t blocks = w.matrix.blocks > w.turned.blocks ? w.matrix.blocks : w.turned.blocks;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows and %llu columns take %llu blocks, but a launch has at most 2^31 - 1; split the matrix",
                 (unsigned long long)a->rows, (unsigned long long)a->cols, (unsigned long long)blocks);
    if (w.at_once * blocks > 0x7fffffffu) w.at_once = 0x7fffffffu / blocks;
    CSAW_TRY(won.take(where, w.at_once * a->num_edges * w.order.words, "which edges won"));
    const bool by_place = csaw__won_by_place(&w);
    if (by_place && !d->place) CSAW_TRY(edge_place.take(where, a->num_edges, "places of edges in the transpose"));
    if (where.counted) return CSAW_OK;
    w.order.won = won.get();
    w.order.edge = d->transpose.edge, w.order.weights = fixed != nullptr;
    w.order.place = by_place && d->place ? d->place : edge_place.get();
    if (edge_place.get()) CSAW_TRY(csaw__device_edge_places(where, d->transpose.edge, a->num_edges, edge_place.get()));
    if (by_place && (fixed || !a->weight)) w.order.edge = nullptr;
    for (uint64_t first = 0; first < slices; first += w.at_once) {
        const uint64_t left = slices - first, here = left < w.at_once ? left : w.at_once;
        for (csaw__product *p : {&w.matrix, &w.turned, &w.hubs}) p->first_slice = first, p->slices = here;
        CSAW_TRY(launch(where, &w));
    }
    return CSAW_OK;
}
