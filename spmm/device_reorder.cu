/* SPDX-License-Identifier: MIT */
/* spmm/device_reorder.cu - a plan's rows brought near to those that name the same columns: labels by kernels of ours,
 * the sort and the sums by CUB. */
#include "spmm/device_reorder.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "spmm/device_private.cuh"

namespace {
/* Of rows, or of columns: those of the first and of the last round. */
struct labels {
    work<uint32_t> first, last;
    csaw_status take(const place &where, uint64_t rows) {
        CSAW_TRY(first.take(where, rows, "labels of rows"));
        return last.take(where, rows, "labels of rows");
    }
};
} // namespace

static csaw_status pass_labels(const place &where, const csaw_sparse *a, const csaw__device_transpose *t,
                               const labels &rows, const labels &columns) {
    const uint32_t *known = nullptr; /* of the columns */
    for (int round = 0; round < CSAW__REORDER_ROUNDS; round++) {
        uint32_t *const of_rows = (round ? rows.last : rows.first).get();
        uint32_t *const of_columns = (round ? columns.last : columns.first).get();
        CSAW__LAUNCH(where, a->rows * 32, csaw__pass_labels, a->rowptr, a->rows, a->col, known, of_rows);
        CSAW__LAUNCH(where, a->cols * 32, csaw__pass_labels, t->rowptr, a->cols, t->row, of_rows, of_columns);
        known = of_columns;
    }
    return CSAW_OK;
}

/* order: [rows] */
static csaw_status sort(const place &where, const labels &of, uint64_t rows, uint32_t *order) {
    work<uint64_t> key, sorted;
    work<uint32_t> number;
    work<char> room;
    size_t bytes = 0;
    CSAW_TRY(key.take(where, rows, "rows being sorted"));
    CSAW_TRY(sorted.take(where, rows, "rows being sorted"));
    CSAW_TRY(number.take(where, rows, "rows being sorted"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key.get(), sorted.get(), number.get(), order,
                                              (int64_t)rows, 0, 64, where.stream));
    CSAW_TRY(room.take(where, bytes, "rows being sorted"));
    CSAW__LAUNCH(where, rows, csaw__reorder_keys, of.first.get(), of.last.get(), rows, key.get(), number.get());
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, key.get(), sorted.get(), number.get(), order,
                                              (int64_t)rows, 0, 64, where.stream));
    return CSAW_OK;
}

/* rowptr: [rows + 1] in the new order */
static csaw_status add_up_lengths(const place &where, const uint64_t *rowptr, uint64_t rows, const uint32_t *order,
                                  uint64_t *out) {
    work<char> room;
    size_t bytes = 0;
    CSAW_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, out, (int64_t)(rows + 1), where.stream));
    CSAW_TRY(room.take(where, bytes, "lengths of rows being added up"));
    CSAW__LAUNCH(where, rows + 1, csaw__reorder_lengths, rowptr, rows, order, out);
    CSAW_CUDA(cub::DeviceScan::ExclusiveSum(room.get(), bytes, out, (int64_t)(rows + 1), where.stream));
    return CSAW_OK;
}

/* serves: whether edges in the order `then` name columns again so much more often than in the order `now`. */
static csaw_status compare(const place &where, const csaw_vertex *now, const csaw_vertex *then, uint64_t edges,
                           bool *serves) {
    enum { OF_BLOCK = 256 /* threads, of CSAW__LAUNCH(): a block a window */ };
    const uint64_t windows = (edges + CSAW__REORDER_WINDOW - 1) / CSAW__REORDER_WINDOW;
    work<unsigned long long> different;
    unsigned long long count[2];
    CSAW_TRY(different.take(where, 2, "a count of columns"));
    CSAW_CUDA(cudaMemsetAsync(different.get(), 0, sizeof count, where.stream));
    CSAW__LAUNCH(where, windows * OF_BLOCK, csaw__count_different, now, edges, different.get());
    CSAW__LAUNCH(where, windows * OF_BLOCK, csaw__count_different, then, edges, different.get() + 1);
    CSAW_CUDA(csaw__copy_async(count, different.get(), sizeof count, cudaMemcpyDeviceToHost, where.stream));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    *serves = csaw__reorder_serves(count[0], count[1]);
    return CSAW_OK;
}

/* Nothing where another order does not serve. */
static csaw_status move_rows(const place &where, const uint64_t *rowptr, uint64_t rows, const csaw_vertex *col,
                             uint64_t edges, const labels &of, csaw__stretch_rows *out) {
    work<uint32_t> order;
    work<uint64_t> new_rowptr;
    work<csaw_vertex> new_col;
    work<csaw__reordered_row> moved;
    CSAW_TRY(order.take(where, rows, "the order of rows"));
    CSAW_TRY(new_rowptr.take(where, rows + 1, "rows in another order"));
    CSAW_TRY(new_col.take(where, edges, "the edges of rows in another order"));
    CSAW_TRY(moved.take(where, rows, "rows in another order"));
    CSAW_TRY(sort(where, of, rows, order.get()));
    CSAW_TRY(add_up_lengths(where, rowptr, rows, order.get(), new_rowptr.get()));
    CSAW__LAUNCH(where, rows, csaw__note_reordered, rowptr, rows, order.get(), moved.get());
    CSAW__LAUNCH(where, edges, csaw__reorder_edges<csaw_vertex>, col, new_rowptr.get(), rows, moved.get(), edges, 1u,
                 new_col.get());
    bool serves = false;
    CSAW_TRY(compare(where, col, new_col.get(), edges, &serves));
    if (!serves) return CSAW_OK;
    out->rowptr = new_rowptr.leave(), out->col = new_col.leave(), out->moved = moved.leave();
    return CSAW_OK;
}

csaw_status csaw__device_reorder(const place &where, const csaw_sparse *a, const csaw__device_transpose *t,
                                 csaw__stretch_rows *of_matrix, csaw__stretch_rows *of_transpose) {
    labels rows, columns;
    if (!csaw__reorders(a->rows, a->cols, a->num_edges)) return CSAW_OK;
    CSAW_TRY(rows.take(where, a->rows));
    CSAW_TRY(columns.take(where, a->cols));
    CSAW_TRY(pass_labels(where, a, t, rows, columns));
    CSAW_TRY(move_rows(where, a->rowptr, a->rows, a->col, a->num_edges, rows, of_matrix));
    return move_rows(where, t->rowptr, a->cols, t->row, a->num_edges, columns, of_transpose);
}

csaw_status csaw__device_reorder_weights(const place &where, const float *weight, uint64_t rows, uint64_t edges,
                                         uint32_t heads, csaw__stretch_rows *of) {
    work<float> moved;
    if (!of->moved) return CSAW_OK;
    CSAW_TRY(moved.take(where, edges * heads, "weights of rows in another order"));
    CSAW__LAUNCH(where, edges * heads, csaw__reorder_edges<float>, weight, of->rowptr, rows, of->moved, edges, heads,
                 moved.get());
    of->weight = moved.leave(), of->weight_of = weight, of->heads = heads;
    return CSAW_OK;
}
