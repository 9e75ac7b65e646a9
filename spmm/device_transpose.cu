/* SPDX-License-Identifier: MIT */
/* spmm/device_transpose.cu - the transpose of a sparse matrix by a stable radix sort of its edges by column (CUB), so
 * that each row of it holds its edges in the order of spmm/transpose.c. */
#include "spmm/device_transpose.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "spmm/device_private.cuh"

csaw_status csaw__device_transpose_fill(const place &where, const csaw_sparse *a, const csaw__device_transpose *out) {
    const int64_t edges = (int64_t)a->num_edges;
    const int bits = a->cols > 1 ? 64 - __builtin_clzll(a->cols - 1) : 1;
    work<csaw_vertex> sorted;
    work<uint64_t> number;
    work<char> room;
    size_t bytes = 0;
    CSAW_TRY(sorted.take(where, a->num_edges, "columns being sorted"));
    if (edges) {
        CSAW_TRY(number.take(where, a->num_edges, "edges being sorted"));
        CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, a->col, sorted.get(), number.get(), out->edge, edges,
                                                  0, bits, where.stream));
        CSAW_TRY(room.take(where, bytes, "edges being sorted"));
    }
    if (where.counted) return CSAW_OK;
    if (edges) {
        CSAW__LAUNCH(where, a->num_edges, csaw__count_up, number.get(), a->num_edges);
        CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, a->col, sorted.get(), number.get(), out->edge,
                                                  edges, 0, bits, where.stream));
        CSAW__LAUNCH(where, a->num_edges, csaw__find_rows, *a, out->edge, out->row);
    }
    CSAW__LAUNCH(where, a->cols + 1, csaw__find_starts, sorted.get(), a->num_edges, a->cols, out->rowptr);
    return CSAW_OK;
}

csaw_status csaw__device_transpose_weights(const place &where, const csaw_sparse *a, const csaw__device_transpose *t,
                                           uint32_t heads, bool mean, const float *kept, const float *divisor,
                                           float *out) {
    CSAW__LAUNCH(where, a->num_edges * heads, csaw__weigh, *a, t->edge, t->row, heads, mean, kept, divisor, out);
    return CSAW_OK;
}

csaw_status csaw__device_divisors(const place &where, const csaw_sparse *a, float *out) {
    CSAW__LAUNCH(where, a->rows, csaw__count_edges_of_rows, a->rowptr, a->rows, out);
    return CSAW_OK;
}

csaw_status csaw__device_turned::open(const place &where, const csaw_sparse *a, const csaw_sparse *given,
                                      const csaw_spmm_plan *plan, uint32_t heads, bool mean, csaw__product *p) {
    const csaw__device_plan *const d = plan ? plan->device : nullptr;
    a_ = *a, heads_ = a->weight ? heads : 1, mean_ = mean, made_ = !given && !d;
    CSAW_REQUIRE(a->rows <= 0xffffffffu, CSAW_EINVAL,
                 "a has %llu rows, but its transpose numbers them by 32 bits, up to 2^32 - 1; split a by rows",
                 (unsigned long long)a->rows);
    if (given) { /* read alone; the place of an edge in a is not asked for, since it has weights of its own */
        t_ = {(uint64_t *)given->rowptr, (csaw_vertex *)given->col, nullptr};
        kept_ = given->weight;
    } else if (d) {
        t_ = d->transpose;
        const float *const means = mean ? csaw__mean_weights(d, a, heads_) : nullptr;
        kept_ = means ? means : csaw__fixed_weights(d, a, heads_);
        divisor_ = d->divisor;
        mean_ = mean && !means;
    } else {
        CSAW_TRY(rowptr_.take(where, a->cols + 1, "the rows of a transpose"));
        CSAW_TRY(row_.take(where, a->num_edges, "the edges of a transpose"));
        CSAW_TRY(edge_.take(where, a->num_edges, "the edges of a transpose"));
        t_ = {rowptr_.get(), row_.get(), edge_.get()};
    }
    if (mean_ || (a->weight && !kept_)) CSAW_TRY(weight_.take(where, a->num_edges * heads_, "weights of a transpose"));
    p->rowptr = t_.rowptr, p->col = t_.row, p->weight = weight_.get() ? weight_.get() : kept_;
    return CSAW_OK;
}

csaw_status csaw__device_turned::fill(const place &where) const {
    if (made_) CSAW_TRY(csaw__device_transpose_fill(where, &a_, &t_));
    if (!weight_.get()) return CSAW_OK; /* none, or counted alone */
    return csaw__device_transpose_weights(where, &a_, &t_, heads_, mean_, kept_, divisor_, weight_.get());
}
