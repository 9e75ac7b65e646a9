// SPDX-License-Identifier: MIT
// tests/spmm_cases.h - sparse and dense matrices for the tests of aggregation, and the bound that results must keep.
#ifndef CSAW_TESTS_SPMM_CASES_H
#define CSAW_TESTS_SPMM_CASES_H

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "spmm/element.h"
#include "tests/graph_cases.h"
#include "tests/norm_bound.h"
#include "tests/reference/spmm.h"

namespace spmm_cases {

using graph_cases::use_threads;
using reference::Matrix;

struct Sparse {
    std::string name;
    uint64_t rows = 0, cols = 0;
    std::vector<uint64_t> rowptr = {0};
    std::vector<csaw_vertex> col;
    std::vector<float> weight; // [num_edges, heads], empty = none
    csaw_sparse view() const {
        return {rows, cols, col.size(), rowptr.data(), col.data(), weight.empty() ? nullptr : weight.data()};
    }
};

inline void give_weights(Sparse *a, uint32_t heads, uint64_t seed) { // of both signs
    std::mt19937_64 random(seed);
    a->weight.resize(a->col.size() * heads);
    for (float &w : a->weight) w = std::uniform_real_distribution<float>(-2, 2)(random);
}

// Rows of the given lengths, columns at random: loops and duplicates among them.
inline Sparse random_sparse(const std::string &name, const std::vector<uint64_t> &lengths, uint64_t cols, bool weighted,
                            uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    Sparse a;
    a.name = name;
    a.rows = lengths.size();
    a.cols = cols;
    for (uint64_t length : lengths) {
        for (uint64_t k = 0; k < length; k++) a.col.push_back(static_cast<csaw_vertex>(random() % cols));
        a.rowptr.push_back(a.col.size());
    }
    if (weighted) give_weights(&a, 1, seed + 1);
    return a;
}

inline Sparse power_law(bool weighted) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = 8;
    options.edge_factor = 8;
    options.seed = 3;
    options.directed = options.keep_isolated = true; // with empty rows and empty columns
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_OK);
    const csaw_sparse look = csaw_graph_sparse(graph);
    Sparse a;
    a.name = weighted ? "power law, weights" : "power law";
    a.rows = look.rows;
    a.cols = look.cols;
    a.rowptr.assign(look.rowptr, look.rowptr + look.rows + 1);
    a.col.assign(look.col, look.col + look.num_edges);
    csaw_graph_free(graph);
    if (weighted) give_weights(&a, 1, 5);
    return a;
}

inline Sparse into_hub() { // row 0 receives from all
    Sparse a = random_sparse("into a hub", std::vector<uint64_t>(200, 1), 200, true);
    for (csaw_vertex &j : a.col) j = 0; // and all others from vertex 0
    for (csaw_vertex j = 0; j < 1500; j++) a.col.insert(a.col.begin(), j % 200);
    for (uint64_t r = 1; r < a.rowptr.size(); r++) a.rowptr[r] += 1500;
    give_weights(&a, 1, 9);
    return a;
}

inline std::vector<Sparse> sparse_list() {
    std::vector<uint64_t> sparse_rows(60, 0), chunk_ends;
    for (size_t r = 0; r < sparse_rows.size(); r += 7) sparse_rows[r] = r % 5;
    for (uint64_t length : {255, 256, 257, 511, 512, 513, 4, 5}) chunk_ends.push_back(length);
    return {power_law(false),
            power_law(true),
            into_hub(),
            random_sparse("empty rows", sparse_rows, 50, true),
            random_sparse("ends of chunks", chunk_ends, 40, true),
            random_sparse("one row", {900}, 77, true),
            random_sparse("one column", std::vector<uint64_t>(100, 3), 1, true),
            random_sparse("one edge", {1}, 1, false),
            random_sparse("no edges", {0, 0, 0}, 4, false),
            random_sparse("no rows", {}, 4, false),
            random_sparse("no columns", {0, 0}, 0, false)};
}

// A dense matrix in memory full of NaN; a stride larger than cols leaves NaN between rows.
class Dense {
  public:
    Dense(uint64_t rows, uint64_t cols, csaw_dtype dtype, uint64_t gap = 0)
        : m{rows, cols, gap ? cols + gap : 0, dtype, nullptr}, bytes((rows * (cols + gap)) * csaw__dtype_bytes(dtype)) {
        data.assign(bytes + 1, 0xff);
    }
    Dense(const Matrix &values, csaw_dtype dtype, uint64_t gap = 0) : Dense(values.rows, values.cols, dtype, gap) {
        for (uint64_t r = 0; r < m.rows; r++)
            for (uint64_t c = 0; c < m.cols; c++) set(r, c, values.at(r, c));
    }
    const csaw_dense *view() {
        m.data = data.data();
        return &m;
    }
    void set(uint64_t r, uint64_t c, double value) {
        const auto single = static_cast<float>(value);
        const uint16_t half = m.dtype == CSAW_F16 ? csaw__to_f16(single) : csaw__to_bf16(single);
        if (m.dtype == CSAW_F32)
            memcpy(place(r, c), &single, 4);
        else
            memcpy(place(r, c), &half, 2);
    }
    double get(uint64_t r, uint64_t c) {
        float single = 0;
        uint16_t half = 0;
        memcpy(m.dtype == CSAW_F32 ? static_cast<void *>(&single) : &half, place(r, c), csaw__dtype_bytes(m.dtype));
        return m.dtype == CSAW_F32 ? static_cast<double>(single) : reference::value_of_half(half, m.dtype);
    }
    Matrix values() { // as stored
        Matrix out(m.rows, m.cols);
        for (uint64_t r = 0; r < m.rows; r++)
            for (uint64_t c = 0; c < m.cols; c++) out.at(r, c) = get(r, c);
        return out;
    }
    bool gaps_untouched() {
        const uint64_t size = csaw__dtype_bytes(m.dtype), stride = csaw__stride(&m);
        for (uint64_t r = 0; r < m.rows; r++)
            for (uint64_t b = m.cols * size; b < stride * size; b++)
                if (data[r * stride * size + b] != 0xff) return false;
        return data[bytes] == 0xff;
    }
    const std::vector<unsigned char> &raw() const { return data; }

  private:
    unsigned char *place(uint64_t r, uint64_t c) {
        return data.data() + (r * csaw__stride(&m) + c) * csaw__dtype_bytes(m.dtype);
    }
    csaw_dense m;
    uint64_t bytes;
    std::vector<unsigned char> data;
};

inline Matrix random_matrix(uint64_t rows, uint64_t cols, uint64_t seed) {
    std::mt19937_64 random(seed);
    Matrix out(rows, cols);
    for (double &v : out.value) v = std::uniform_real_distribution<>(-3, 3)(random);
    return out;
}

// Half a unit in the last place of what is stored, at x.
inline double storage_error(double x, csaw_dtype dtype) {
    if (dtype == CSAW_F32) return 0; // in the bound already
    if (dtype == CSAW_F16) return std::fmax(std::fabs(x) * 0x1p-11, 0x1p-25);
    return std::fabs(x) * 0x1p-8;
}

// |got - exact| <= 2 terms 2^-24 size, and the rounding of the storage.
inline bool within_bound(double got, double exact, double size, uint64_t terms, csaw_dtype dtype) {
    const double sum = 2.0 * static_cast<double>(terms) * 0x1p-24 * size;
    return std::fabs(got - exact) <= sum + storage_error(std::fabs(exact) + sum, dtype); // false for NaN
}

template <typename Terms>
bool norm_within_bound(Dense *got, const Matrix &exact, const Matrix &size, csaw_dtype dtype, Terms terms) {
    NormBound norm;
    for (uint64_t r = 0; r < exact.rows; r++)
        for (uint64_t c = 0; c < exact.cols; c++)
            norm.add(got->get(r, c), exact.at(r, c), size.at(r, c), static_cast<double>(terms(r)),
                     storage_error(exact.at(r, c), dtype));
    return norm.holds();
}

// How many elements are out of bound; terms of row r: terms(r).
template <typename Terms>
uint64_t count_wrong(Dense *got, const Matrix &exact, const Matrix &size, csaw_dtype dtype, Terms terms) {
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < exact.rows; r++)
        for (uint64_t c = 0; c < exact.cols; c++)
            wrong += !within_bound(got->get(r, c), exact.at(r, c), size.at(r, c), terms(r), dtype);
    return wrong;
}

inline uint64_t row_length(const Sparse &a, uint64_t r) { return a.rowptr[r + 1] - a.rowptr[r]; }

inline csaw_spmm_options options_of(csaw_reduce reduce, uint32_t heads = 0, csaw_edge *arg = nullptr,
                                    const csaw_spmm_plan *plan = nullptr) {
    csaw_spmm_options options = {};
    options.size = sizeof options;
    options.reduce = reduce;
    options.heads = heads;
    options.arg = arg;
    options.plan = plan;
    return options;
}

const csaw_reduce reduces[] = {CSAW_SUM, CSAW_MEAN, CSAW_MAX, CSAW_MIN};
const csaw_dtype dtypes[] = {CSAW_F32, CSAW_F16, CSAW_BF16};
const uint64_t widths[] = {1, 2, 3, 7, 8, 31, 32, 33, 64, 100, 256, 1000};

} // namespace spmm_cases

#endif
