/* SPDX-License-Identifier: MIT */
/* spmm/device_softmax.cu - softmax over the edges of each row, and its gradient, on a GPU. */
#include "spmm/device_softmax.cuh"

#include "spmm/device_long.cuh"
#include "spmm/device_private.cuh"

template <csaw__pass PASS> static csaw_status over_chunks(const place &where, const csaw__device_softmax_job &j) {
    return csaw__device_launch(where.stream, j.chunk_blocks, CSAW__SOFTMAX_THREADS, csaw__softmax_chunks<PASS>, j);
}

template <csaw__pass PASS> static csaw_status merged(const place &where, const csaw__device_softmax_job &j) {
    CSAW__LAUNCH(where, 32 * j.split.most_rows * j.of.heads, csaw__softmax_merge<PASS>, j);
    return CSAW_OK;
}

/* What is left of long rows after the first pass. */
static csaw_status long_rows(const place &where, const csaw__device_softmax_job &j) {
    if (j.of.dout) {
        CSAW_TRY(merged<CSAW__PRODUCTS>(where, j));
        return over_chunks<CSAW__GRADIENTS>(where, j);
    }
    CSAW_TRY(merged<CSAW__LARGEST>(where, j));
    CSAW_TRY(over_chunks<CSAW__EXPONENTIALS>(where, j));
    CSAW_TRY(merged<CSAW__EXPONENTIALS>(where, j));
    return over_chunks<CSAW__DIVIDE>(where, j);
}

csaw_status csaw__device_softmax(const csaw_sparse *a, int ordinal, const csaw__softmax *of, void *stream) {
    csaw__device_softmax_job j = {};
    place where;
    work<uint64_t> count;
    work<csaw__chunk> chunk;
    work<csaw__long_row> row;
    work<double> partial, before;
    uint64_t row_blocks = 0;
    unsigned blocks = 0;
    j.rowptr = a->rowptr;
    j.rows = a->rows;
    j.of = *of;
    csaw__softmax_kernel *const rows = csaw__softmax_rows_at(&j, a->num_edges, &row_blocks);
    CSAW_TRY(where.enter(ordinal, stream, nullptr));
    j.split.most_rows = csaw__most_long_rows(a->num_edges, a->rows);
    if (j.split.most_rows) {
        j.split.most_chunks = csaw__most_chunks(a->num_edges, a->rows);
        CSAW_TRY(count.take(where, 2, "the number of long rows"));
        CSAW_TRY(chunk.take(where, j.split.most_chunks, "the chunks of long rows"));
        CSAW_TRY(row.take(where, j.split.most_rows, "a list of long rows"));
        CSAW_TRY(partial.take(where, j.split.most_chunks * of->heads, "sums of long rows"));
        CSAW_TRY(before.take(where, j.split.most_rows * of->heads, "sums of long rows"));
        j.split.count = count.get(), j.split.chunk = chunk.get(), j.split.row = row.get();
        j.partial = partial.get(), j.before = before.get();
        CSAW_TRY(blocks_for(32 * j.split.most_chunks * of->heads, CSAW__SOFTMAX_THREADS, &j.chunk_blocks));
        CSAW_CUDA(cudaMemsetAsync(count.get(), 0, 2 * sizeof *count.get(), where.stream));
        CSAW__LAUNCH(where, j.rows, csaw__find_long, j.rowptr, j.rows, j.split);
    }
    CSAW_TRY(blocks_for((j.chunk_blocks + row_blocks) * CSAW__SOFTMAX_THREADS, CSAW__SOFTMAX_THREADS, &blocks));
    if (blocks) CSAW_TRY(csaw__device_launch(where.stream, blocks, CSAW__SOFTMAX_THREADS, rows, j));
    return j.split.most_rows ? long_rows(where, j) : CSAW_OK;
}
