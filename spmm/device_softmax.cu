/* SPDX-License-Identifier: MIT */
/* spmm/device_softmax.cu - softmax over the edges of each row, and its gradient, on a GPU. */
#include "spmm/device_softmax.cuh"

#include "spmm/device_long.cuh"
#include "spmm/device_private.cuh"

template <csaw__pass PASS> static csaw_status pass(const place &where, const csaw__device_softmax_job &j) {
    CSAW__LAUNCH(where, j.split.most_chunks * j.of.heads, csaw__softmax_chunks<PASS>, j);
    if constexpr (PASS != CSAW__DIVIDE && PASS != CSAW__GRADIENTS)
        CSAW__LAUNCH(where, j.split.most_rows * j.of.heads, csaw__softmax_merge<PASS>, j);
    return CSAW_OK;
}

static csaw_status long_rows(const place &where, const csaw__device_softmax_job &j) {
    CSAW_CUDA(cudaMemsetAsync(j.split.count, 0, 2 * sizeof *j.split.count, where.stream));
    CSAW__LAUNCH(where, j.rows, csaw__find_long, j.rowptr, j.rows, j.split);
    CSAW__LAUNCH(where, j.split.most_rows * j.of.heads, csaw__softmax_begin, j);
    if (j.of.dout) {
        CSAW_TRY(pass<CSAW__PRODUCTS>(where, j));
        return pass<CSAW__GRADIENTS>(where, j);
    }
    CSAW_TRY(pass<CSAW__LARGEST>(where, j));
    CSAW_TRY(pass<CSAW__EXPONENTIALS>(where, j));
    return pass<CSAW__DIVIDE>(where, j);
}

csaw_status csaw__device_softmax(const csaw_sparse *a, int ordinal, const csaw__softmax *of, void *stream) {
    csaw__device_softmax_job j = {};
    place where;
    work<uint64_t> count;
    work<csaw__chunk> chunk;
    work<csaw__long_row> row;
    work<double> partial;
    work<csaw__softmax_row> state;
    j.rowptr = a->rowptr;
    j.rows = a->rows;
    j.of = *of;
    CSAW_TRY(where.enter(ordinal, stream, nullptr));
    j.split.most_rows = csaw__most_long_rows(a->num_edges, a->rows);
    if (j.split.most_rows) {
        j.split.most_chunks = csaw__most_chunks(a->num_edges, a->rows);
        CSAW_TRY(count.take(where, 2, "the number of long rows"));
        CSAW_TRY(chunk.take(where, j.split.most_chunks, "the chunks of long rows"));
        CSAW_TRY(row.take(where, j.split.most_rows, "a list of long rows"));
        CSAW_TRY(partial.take(where, j.split.most_chunks * of->heads, "sums of long rows"));
        CSAW_TRY(state.take(where, j.split.most_rows * of->heads, "sums of long rows"));
        j.split.count = count.get(), j.split.chunk = chunk.get(), j.split.row = row.get();
        j.partial = partial.get(), j.state = state.get();
    }
    CSAW__LAUNCH(where, a->rows * of->heads, csaw__softmax_rows, j);
    return j.split.most_rows ? long_rows(where, j) : CSAW_OK;
}
