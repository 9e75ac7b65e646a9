/* SPDX-License-Identifier: MIT */
/* spmm/device_winners.cu - dx of MAX and MIN on a GPU over a plan's transpose: who won, then dx, as many slices of
 * columns at a time as work memory holds words of. */
#include "spmm/device_winners.cuh"

#include "spmm/device_private.cuh"

bool csaw__device_gathers_winners(const csaw_spmm_plan *plan) { return plan && plan->device->transpose.place; }

static csaw_status launch(const place &where, const csaw__winners *w) {
    const unsigned slices = (unsigned)w->matrix.slices;
    const uint32_t *const won = w->won;
    if (w->matrix.blocks)
        CSAW_TRY(csaw__device_launch(where.stream, slices * (unsigned)w->matrix.blocks, CSAW__THREADS,
                                     csaw__find_winners_at(w), w->matrix, w->place, w->won));
    return csaw__device_launch(where.stream, slices * (unsigned)csaw__winners_blocks(w), CSAW__THREADS,
                               csaw__winners_kernel_at(w), w->turned, w->hubs,
                               slices * (unsigned)csaw__hub_winners_blocks(w), won, w->words);
}

csaw_status csaw__device_winners(const place &where, const csaw_sparse *a, const csaw_spmm_plan *plan, uint32_t heads,
                                 const csaw_edge *arg, const csaw_dense *dy, const csaw_dense *dx) {
    const csaw__device_plan *const d = plan->device;
    csaw__device_turned turned;
    work<uint32_t> won;
    csaw__winners w = {};
    if (!dy->cols || !a->cols) return CSAW_OK;
    if (!a->weight) heads = 1;
    w.matrix.rowptr = a->rowptr, w.matrix.rows = a->rows, w.matrix.num_edges = a->num_edges;
    w.matrix.arg = (csaw_edge *)arg; /* read alone */
    w.matrix.heads = heads, w.matrix.split = d->matrix.split;
    w.matrix.y.cols = dy->cols;
    CSAW_TRY(turned.open(where, a, nullptr, plan, heads, false, &w.turned));
    w.turned.rows = a->cols, w.turned.num_edges = a->num_edges;
    w.turned.x = *dy, w.turned.y = *dx, w.turned.heads = heads;
    w.hubs = d->transposed.split;
    w.place = d->transpose.place;
    csaw__winners_lay_out(&w);
    const uint64_t slices = w.turned.slices_of_head * heads, of_dx = csaw__winners_blocks(&w);
    const uint64_t blocks = w.matrix.blocks > of_dx ? w.matrix.blocks : of_dx;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu rows and %llu columns take %llu blocks, but a launch has at most 2^31 - 1; split the matrix",
                 (unsigned long long)a->rows, (unsigned long long)a->cols, (unsigned long long)blocks);
    if (w.at_once * blocks > 0x7fffffffu) w.at_once = 0x7fffffffu / blocks;
    CSAW_TRY(won.take(where, w.at_once * a->num_edges * w.words, "which edges won"));
    CSAW_TRY(turned.fill(where));
    if (where.counted) return CSAW_OK;
    w.won = won.get();
    for (uint64_t first = 0; first < slices; first += w.at_once) {
        const uint64_t left = slices - first, here = left < w.at_once ? left : w.at_once;
        for (csaw__product *p : {&w.matrix, &w.turned}) p->first_slice = first, p->slices = here;
        CSAW_TRY(launch(where, &w));
    }
    return CSAW_OK;
}
