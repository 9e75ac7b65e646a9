/* SPDX-License-Identifier: MIT */
/* tests/emulated_reorder.h - a matrix with its rows brought near to those that name the same columns, by the kernels of
 * spmm/device_reorder.cuh on the emulated GPU, in the order of csaw__device_reorder(). */
#ifndef CSAW_TESTS_EMULATED_REORDER_H
#define CSAW_TESTS_EMULATED_REORDER_H

#include "tests/emulated_gpu.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "spmm/device_reorder.cuh"

namespace emulated_reorder {

constexpr uint32_t kThreads = 64;

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t threads, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks((threads + kThreads - 1) / kThreads, kThreads, [&] { kernel(arguments...); });
}

struct Transpose {
    explicit Transpose(const csaw_sparse &a) : rowptr(a.cols + 1), row(a.num_edges) {
        for (uint64_t e = 0; e < a.num_edges; e++) rowptr[a.col[e] + 1]++;
        std::partial_sum(rowptr.begin(), rowptr.end(), rowptr.begin());
        std::vector<uint64_t> next = rowptr;
        for (uint64_t r = 0; r < a.rows; r++)
            for (uint64_t e = a.rowptr[r]; e < a.rowptr[r + 1]; e++)
                row[next[a.col[e]]++] = static_cast<csaw_vertex>(r);
    }
    std::vector<uint64_t> rowptr;
    std::vector<csaw_vertex> row;
};

// The labels of rows after so many rounds.
inline std::vector<uint32_t> Labels(const csaw_sparse &a, int rounds) {
    const Transpose t(a);
    std::vector<uint32_t> rows(a.rows), columns(a.cols);
    for (int i = 0; i < rounds; i++) {
        const uint32_t *const known = i ? columns.data() : nullptr;
        Launch(a.rows * 32, csaw__pass_labels, a.rowptr, a.rows, a.col, known, rows.data());
        Launch(a.cols * 32, csaw__pass_labels, t.rowptr.data(), a.cols, t.row.data(),
               static_cast<const uint32_t *>(rows.data()), columns.data());
    }
    return rows;
}

// Of edges in this order, as csaw__count_different() counts.
inline uint64_t Different(const std::vector<csaw_vertex> &col) {
    unsigned long long count = 0;
    Launch((col.size() + CSAW__REORDER_WINDOW - 1) / CSAW__REORDER_WINDOW * kThreads, csaw__count_different, col.data(),
           static_cast<uint64_t>(col.size()), &count);
    return count;
}

struct ReorderedRows {
    explicit ReorderedRows(const csaw_sparse &a) : order(a.rows), rowptr(a.rows + 1), col(a.num_edges), moved(a.rows) {
        const std::vector<uint32_t> first = Labels(a, 1), last = Labels(a, CSAW__REORDER_ROUNDS);
        std::vector<uint64_t> key(a.rows);
        Launch(a.rows, csaw__reorder_keys, first.data(), last.data(), a.rows, key.data(), order.data());
        std::stable_sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return key[i] < key[j]; });
        Launch(a.rows + 1, csaw__reorder_lengths, a.rowptr, a.rows, order.data(), rowptr.data());
        std::exclusive_scan(rowptr.begin(), rowptr.end(), rowptr.begin(), uint64_t{0});
        Launch(a.rows, csaw__note_reordered, a.rowptr, a.rows, order.data(), moved.data());
        Launch(a.num_edges, csaw__reorder_edges<csaw_vertex>, a.col, rowptr.data(), a.rows, moved.data(), a.num_edges,
               1u, col.data());
    }
    // Weights, [num_edges, heads] of the matrix, in the new order.
    std::vector<float> Weights(const float *weight, uint32_t heads) const {
        std::vector<float> out(col.size() * heads);
        Launch(out.size(), csaw__reorder_edges<float>, weight, rowptr.data(), moved.size(), moved.data(), col.size(),
               heads, out.data());
        return out;
    }
    std::vector<uint32_t> order;
    std::vector<uint64_t> rowptr;
    std::vector<csaw_vertex> col;
    std::vector<csaw__reordered_row> moved;
};

} // namespace emulated_reorder

#endif
