/* SPDX-License-Identifier: MIT */
/* spmm/device_batch.cu - a batch of small graphs whose arrays are on a GPU: its descriptors go there, its arrays are
 * checked there, and its entries are copied by row and by column, sorted by CUB. Waits for the stream. */
#include "spmm/device_batch.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "spmm/device_private.cuh"
#include "spmm/device_transpose.cuh"

csaw_status csaw__device_read(const csaw__where *of, const void *from, uint64_t bytes, void *to) {
    place where;
    if (!bytes) return CSAW_OK;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    CSAW_CUDA(csaw__copy_async(to, from, bytes, cudaMemcpyDeviceToHost, where.stream));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    return CSAW_OK;
}

/* Memory of the batch's, filled from the host if `from` is not NULL. */
template <typename T>
static csaw_status keep(const place &where, const T *from, uint64_t count, const char *what, T **out) {
    work<T> memory;
    CSAW_TRY(memory.take(where, count, what));
    if (from && count)
        CSAW_CUDA(csaw__copy_async(memory.get(), from, count * sizeof(T), cudaMemcpyHostToDevice, where.stream));
    *out = memory.leave();
    return CSAW_OK;
}

static csaw_status check(const place &where, const csaw_batch *batch, bool from_zero, uint64_t *bad,
                         csaw__small_fault *fault) {
    work<unsigned long long> bad_there;
    work<csaw__small_fault> fault_there;
    unsigned long long first = ~0ull;
    CSAW_TRY(bad_there.take(where, 1, "a check of a batch"));
    CSAW_TRY(fault_there.take(where, 1, "a check of a batch"));
    CSAW_CUDA(cudaMemsetAsync(bad_there.get(), 0xff, sizeof first, where.stream));
    CSAW__LAUNCH(where, batch->total.graphs * 32, csaw__batch_check, batch->device->graph, batch->total.graphs,
                 from_zero, bad_there.get());
    CSAW_CUDA(cudaMemcpyAsync(&first, bad_there.get(), sizeof first, cudaMemcpyDeviceToHost, where.stream));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    *bad = first;
    if (first == ~0ull) return CSAW_OK;
    CSAW_CUDA(cudaMemsetAsync(fault_there.get(), 0, sizeof *fault, where.stream)); /* what pads it, too */
    CSAW__LAUNCH(where, 1, csaw__batch_tell, batch->device->graph + first, from_zero, fault_there.get());
    CSAW_CUDA(cudaMemcpyAsync(fault, fault_there.get(), sizeof *fault, cudaMemcpyDeviceToHost, where.stream));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    return CSAW_OK;
}

/* A stable sort: `sorted` and `order` are the keys, and which each was. limit: more than any key. */
static csaw_status sort(const place &where, const uint32_t *key, uint64_t edges, uint64_t limit, uint32_t *sorted,
                        uint64_t *order) {
    const int bits = limit > 1 ? 64 - __builtin_clzll(limit - 1) : 1;
    work<uint64_t> number;
    work<char> room;
    size_t bytes = 0;
    CSAW_TRY(number.take(where, edges, "entries being sorted"));
    CSAW__LAUNCH(where, edges, csaw__count_up, number.get(), edges);
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, sorted, number.get(), order, (int64_t)edges, 0, bits,
                                              where.stream));
    CSAW_TRY(room.take(where, bytes, "entries being sorted"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, key, sorted, number.get(), order, (int64_t)edges, 0,
                                              bits, where.stream));
    return CSAW_OK;
}

static csaw_status take_side(const place &where, uint64_t outputs, uint64_t edges, csaw__batched_side *side) {
    CSAW_TRY(keep(where, (const csaw__batched_row *)nullptr, outputs, "rows of a batch", &side->row));
    CSAW_TRY(keep(where, (const csaw__batched_named *)nullptr, edges, "entries of a batch", &side->named));
    return keep(where, (const csaw__batched_entry *)nullptr, edges, "entries of a batch", &side->entry);
}

/* Everything that products read but the descriptors. */
static csaw_status arrange(const place &where, const csaw_batch_totals *t, csaw__device_batch *d) {
    work<uint32_t> row, col, sorted;
    work<float> weight;
    work<uint64_t> order;
    work<csaw__batched_row> cols;
    work<uint32_t> moved;
    uint32_t by_row_moved = 0;
    CSAW_TRY(take_side(where, t->rows, t->edges, &d->by_row));
    CSAW_TRY(take_side(where, t->cols, t->edges, &d->by_col));
    CSAW_TRY(keep(where, (const uint32_t *)nullptr, t->cols, "columns of a batch", &d->by_col.output));
    CSAW_TRY(keep(where, (const csaw__batched_entry *)nullptr, t->edges, "entries of a batch", &d->mean));
    CSAW_TRY(keep(where, (const csaw__batched_divided *)nullptr, t->edges, "entries of a batch", &d->divided));
    CSAW_TRY(keep(where, (const uint32_t *)nullptr, t->edges, "entries of a batch", &d->row_of));
    CSAW_TRY(row.take(where, t->edges, "rows of entries"));
    CSAW_TRY(col.take(where, t->edges, "columns of entries"));
    CSAW_TRY(sorted.take(where, t->edges, "columns being sorted"));
    CSAW_TRY(weight.take(where, t->edges, "weights of entries"));
    CSAW_TRY(order.take(where, t->edges, "entries being sorted"));
    CSAW_TRY(cols.take(where, t->cols, "columns of a batch"));
    CSAW_TRY(moved.take(where, 2, "the order of entries"));
    CSAW_CUDA(cudaMemsetAsync(moved.get(), 0, 2 * sizeof *moved.get(), where.stream));
    CSAW__LAUNCH(where, t->edges, csaw__batch_spread, d->graph, t->graphs, t->edges, row.get(), col.get(),
                 weight.get());
    if (t->edges) CSAW_TRY(sort(where, row.get(), t->edges, t->rows, d->row_of, order.get()));
    CSAW__LAUNCH(where, t->rows, csaw__batch_rows<CSAW__BY_ROW>, d->graph, t->graphs, d->row_of, t->edges, t->rows,
                 d->by_row.row);
    CSAW__LAUNCH(where, t->edges, csaw__batch_entries, order.get(), col.get(), weight.get(), t->edges, d->by_row.entry,
                 d->by_row.named, moved.get());
    CSAW_CUDA(cudaMemcpyAsync(&by_row_moved, moved.get(), sizeof by_row_moved, cudaMemcpyDeviceToHost, where.stream));
    if (t->edges) CSAW_TRY(sort(where, col.get(), t->edges, t->cols, sorted.get(), order.get()));
    CSAW__LAUNCH(where, t->cols, csaw__batch_rows<CSAW__BY_COL>, d->graph, t->graphs, sorted.get(), t->edges, t->cols,
                 cols.get());
    CSAW__LAUNCH(where, t->cols, csaw__batch_level, cols.get(), t->cols, d->by_col.row, d->by_col.output);
    CSAW__LAUNCH(where, t->edges, csaw__batch_entries, order.get(), row.get(), weight.get(), t->edges, d->by_col.entry,
                 d->by_col.named, moved.get() + 1);
    CSAW__LAUNCH(where, t->edges, csaw__batch_means, d->by_col.entry, d->by_col.named, d->by_row.row, t->edges, d->mean,
                 d->divided);
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    d->in_order = !by_row_moved;
    return CSAW_OK;
}

csaw_status csaw__device_batch_create(csaw_batch *batch, const csaw__where *of, bool from_zero, uint64_t *bad,
                                      csaw__small_fault *fault) {
    const csaw_batch_totals *const t = &batch->total;
    place where;
    const uint64_t most = CSAW__BATCHED_MOST;
    CSAW_REQUIRE(t->rows <= most && t->cols <= most && t->edges <= most, CSAW_EINVAL,
                 "a batch of %llu rows, %llu columns and %llu entries, but a GPU takes %llu of each at most; "
                 "make several batches",
                 (unsigned long long)t->rows, (unsigned long long)t->cols, (unsigned long long)t->edges,
                 (unsigned long long)most);
    CSAW_TRY(csaw__alloc_zero(&batch->device, 1, "a batch"));
    csaw__device_batch *const d = batch->device;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    CSAW_TRY(keep(where, batch->graph, t->graphs, "descriptors of a batch", &d->graph));
    CSAW_TRY(check(where, batch, from_zero, bad, fault));
    if (*bad != UINT64_MAX) return CSAW_OK;
    return arrange(where, t, d);
}

void csaw__device_batch_free(csaw_batch *batch) {
    csaw__device_batch *const d = batch->device;
    place where;
    if (!d) return;
    if (where.enter(batch->ordinal, nullptr, nullptr) == CSAW_OK) {
        void *const memory[] = {d->graph,  d->by_row.row, d->by_row.entry, d->by_row.named,
                                d->mean,   d->by_col.row, d->by_col.entry, d->by_col.named,
                                d->row_of, d->divided,    d->by_col.output};
        cudaDeviceSynchronize(); /* products with this batch may still run */
        for (void *m : memory) cudaFree(m);
    }
    csaw__free(d);
}
