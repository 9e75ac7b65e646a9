/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cu - dx of MAX and MIN on a GPU over the transpose, a plan's or one made here: who won, then the
 * units of dx, and the chunks of long rows merged, as many slices of columns at a time as work memory holds words of.
 */
#include "spmm/device_winners.cuh"

#include "spmm/device_private.cuh"

bool csaw__device_gathers_winners(const csaw_sparse *a) { return a->num_edges / CSAW__WON_DEGREE < a->rows; }

static csaw_status launch(const place &where, const csaw__winners *w) {
    const unsigned slices = (unsigned)w->matrix.slices;
    if (w->matrix.blocks)
        CSAW_TRY(csaw__device_launch(where.stream, slices * (unsigned)w->matrix.blocks, CSAW__THREADS,
                                     csaw__find_winners_at(w), w->matrix, w->order.place, w->order.won));
    if (w->turned.blocks)
        CSAW_TRY(csaw__device_launch(where.stream, slices * (unsigned)w->turned.blocks, CSAW__THREADS,
                                     csaw__winners_kernel_at(w), w->turned, w->order));
    if (w->turned.split.most_rows)
        CSAW__LAUNCH(where, w->turned.slices * w->turned.split.most_rows * CSAW__MERGE_LANES, csaw__merge, w->turned);
    return CSAW_OK;
}

csaw_status csaw__device_edge_places(const place &where, const csaw_edge *edge, uint64_t edges, uint64_t *place) {
    CSAW__LAUNCH(where, edges, csaw__find_places, edge, edges, place);
    return CSAW_OK;
}

csaw_status csaw__device_winners(const place &where, const csaw_sparse *a, const csaw_spmm_plan *plan,
                                 const csaw__device_transpose *t, uint32_t heads, const csaw_edge *arg,
                                 const csaw_dense *dy, const csaw_dense *dx) {
    const csaw__device_plan *const d = plan ? plan->device : nullptr;
    work<uint32_t> won;
    work<uint64_t> edge_place;
    work<float> partial;
    csaw__device_split of_matrix, of_transpose;
    csaw__winners w = {};
    if (!dy->cols || !a->cols) return CSAW_OK;
    if (!a->weight) heads = 1;
    w.matrix.rowptr = a->rowptr, w.matrix.rows = a->rows, w.matrix.num_edges = a->num_edges;
    w.matrix.arg = (csaw_edge *)arg; /* read alone */
    w.matrix.heads = heads;
    w.matrix.y.cols = dy->cols;
    w.turned.rowptr = t->rowptr, w.turned.col = t->row;
    w.turned.rows = a->cols, w.turned.num_edges = a->num_edges;
    w.turned.x = *dy, w.turned.y = *dx, w.turned.heads = heads;
    const float *const fixed = d ? csaw__fixed_weights(d, a, heads) : nullptr;
    w.turned.weight = fixed ? fixed : a->weight;
    CSAW_TRY(of_matrix.open(where, d ? &d->matrix : nullptr, &w.matrix));
    CSAW_TRY(of_transpose.open(where, d ? &d->transposed : nullptr, &w.turned));
    if (d) w.turned.units = d->transposed.units;
    csaw__winners_lay_out(&w);
    const uint64_t slices = w.turned.slices_of_head * heads;
    const uint64_t blocks = w.matrix.blocks > w.turned.blocks ? w.matrix.blocks : w.turned.blocks;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows and %llu columns take %llu blocks, but a launch has at most 2^31 - 1; split the matrix",
                 (unsigned long long)a->rows, (unsigned long long)a->cols, (unsigned long long)blocks);
    if (w.at_once * blocks > 0x7fffffffu) w.at_once = 0x7fffffffu / blocks;
    CSAW_TRY(won.take(where, w.at_once * a->num_edges * w.order.words, "which edges won"));
    CSAW_TRY(
        partial.take(where, w.at_once * w.turned.split.most_chunks * w.turned.width, "partial results of long rows"));
    const bool by_place = csaw__won_by_place(&w);
    uint64_t *const known = d ? d->place : nullptr;
    if (by_place && !known) CSAW_TRY(edge_place.take(where, a->num_edges, "places of edges in the transpose"));
    if (where.counted) return CSAW_OK;
    CSAW_TRY(of_matrix.find(where, w.matrix));
    CSAW_TRY(of_transpose.find(where, w.turned));
    w.turned.partial = partial.get();
    w.order.won = won.get();
    w.order.edge = t->edge, w.order.weights = fixed != nullptr;
    w.order.place = by_place && known ? known : edge_place.get();
    if (edge_place.get()) CSAW_TRY(csaw__device_edge_places(where, t->edge, a->num_edges, edge_place.get()));
    if (by_place && (fixed || !a->weight)) w.order.edge = nullptr;
    for (uint64_t first = 0; first < slices; first += w.at_once) {
        const uint64_t left = slices - first, here = left < w.at_once ? left : w.at_once;
        for (csaw__product *p : {&w.matrix, &w.turned}) p->first_slice = first, p->slices = here;
        CSAW_TRY(launch(where, &w));
    }
    return CSAW_OK;
}
