/* SPDX-License-Identifier: MIT */
/* tests/edge_sampled_cases.h - matrices, features and calls for the tests of edge-sampled aggregation. */
#ifndef CSAW_EDGE_SAMPLED_CASES_H
#define CSAW_EDGE_SAMPLED_CASES_H

#include "tests/norm_bound.h"
#include "tests/reference/edge_sampled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

extern "C" {
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
}

namespace edge_sampled {

inline const csaw_edges_method methods[] = {CSAW_EDGES_STRATIFIED, CSAW_EDGES_BUCKET, CSAW_EDGES_FASTRAND};
inline const csaw_dtype dtypes[] = {CSAW_F32, CSAW_F16, CSAW_BF16};
inline const uint64_t padding = 3; // elements between cols and stride

inline const char *name_of(csaw_edges_method m) {
    return m == CSAW_EDGES_STRATIFIED ? "stratified" : m == CSAW_EDGES_BUCKET ? "bucket" : "fastrand";
}

struct Matrix {
    uint64_t cols = 0;
    std::vector<uint64_t> rowptr{0};
    std::vector<csaw_vertex> col;
    std::vector<float> weight; // empty: none
    csaw_sparse view() const {
        return {rowptr.size() - 1, cols,       rowptr.back(),
                rowptr.data(),     col.data(), weight.empty() ? nullptr : weight.data()};
    }
};

// Rows of the given lengths. Columns at random, so that they repeat; a tenth of the entries is in column 0, a hub.
inline Matrix matrix(const std::vector<uint64_t> &lengths, uint64_t cols, bool weighted, uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    Matrix m;
    m.cols = cols;
    for (uint64_t n : lengths) {
        for (uint64_t i = 0; i < n; i++) {
            m.col.push_back(random() % 10 == 0 ? 0 : static_cast<csaw_vertex>(random() % cols));
            if (weighted) m.weight.push_back(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 512.0f);
        }
        m.rowptr.push_back(m.col.size());
    }
    return m;
}

// Empty rows, rows about S, the lengths where FastRand degenerates, one hub.
inline Matrix mixed(bool weighted) {
    return matrix({0, 1, 2, 15, 16, 17, 0, 31, 33, 64, 65, 130, 192, 288, 576, 577, 578, 1154, 2304, 2305, 5000, 0, 3},
                  300, weighted);
}

// Many rows, for several threads: short ones, now and then a longer one.
inline Matrix many(bool weighted) {
    std::vector<uint64_t> lengths;
    for (uint64_t r = 0; r < 3000; r++) lengths.push_back(r % 100 == 7 ? 700 : r % 7);
    return matrix(lengths, 500, weighted);
}

// A dense matrix with padding, everything poisoned.
class Dense {
  public:
    Dense(uint64_t rows, uint64_t cols, csaw_dtype dtype, uint64_t pad = padding)
        : memory(rows * (cols + pad) * (dtype == CSAW_F32 ? 4 : 2) + 8, 0xff), // all ones: NaN in every format
          m{rows, cols, cols + pad, dtype, memory.data()} {}
    void fill(uint64_t seed, bool spread = false) { // sixteenths in [-4, 4], which every format has; spread: F32 alone
        std::mt19937_64 random(seed);
        for (uint64_t r = 0; r < m.rows; r++)
            for (uint64_t c = 0; c < m.cols; c++) {
                const float value = static_cast<float>(static_cast<int>(random() % 129) - 64) / 16.0f;
                set(r, c, spread ? std::ldexp(value * 1.1f, static_cast<int>(random() % 8)) : value);
            }
    }
    void set(uint64_t r, uint64_t c, float value) { // exact in the format
        const uint64_t at = r * m.stride + c;
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        if (m.dtype == CSAW_F32) std::memcpy(memory.data() + at * 4, &bits, 4);
        uint16_t half = static_cast<uint16_t>(bits >> 16);
        if (m.dtype == CSAW_F16) { // normal numbers, zero, infinity and NaN
            const uint32_t exponent = bits >> 23 & 255, sign = bits >> 16 & 0x8000;
            half = static_cast<uint16_t>(sign | (exponent == 255 ? 0x7c00 | (bits & 0x7fffff ? 1 : 0)
                                                 : exponent == 0 ? 0
                                                                 : (exponent - 112) << 10 | (bits >> 13 & 0x3ff)));
        }
        if (m.dtype != CSAW_F32) std::memcpy(memory.data() + at * 2, &half, 2);
    }
    double at(uint64_t r, uint64_t c) const { return reference::read_element(m, r, c); }
    std::vector<double> values() const { // [rows, cols]
        std::vector<double> v;
        for (uint64_t r = 0; r < m.rows; r++)
            for (uint64_t c = 0; c < m.cols; c++) v.push_back(at(r, c));
        return v;
    }
    bool padding_is_let_alone() const {
        const uint64_t bytes = m.dtype == CSAW_F32 ? 4 : 2;
        for (uint64_t r = 0; r < m.rows; r++)
            for (uint64_t b = (r * m.stride + m.cols) * bytes; b < (r + 1) * m.stride * bytes; b++)
                if (memory[b] != 0xff) return false;
        return true;
    }
    std::vector<unsigned char> memory;
    csaw_dense m;
};

inline csaw_es_options options_of(const reference::EdgeRule &rule, bool exact = false) {
    csaw_es_options o = {};
    o.size = sizeof o;
    o.method = rule.method;
    o.width = rule.width;
    o.reduce = rule.mean ? CSAW_MEAN : CSAW_SUM;
    o.exact = exact;
    o.seed = rule.seed;
    o.epoch = rule.epoch;
    return o;
}

struct Sampled {
    std::vector<uint64_t> rowptr;
    std::vector<csaw_edge> edge;
    std::vector<float> weight;
};
inline Sampled sample(const csaw_sparse &a, const reference::EdgeRule &rule) {
    const csaw_es_options o = options_of(rule);
    Sampled s;
    s.rowptr.assign(a.rows + 1, ~uint64_t{0});
    EXPECT_EQ(csaw_edge_sample(&a, &o, s.rowptr.data(), nullptr, nullptr), CSAW_OK) << csaw_last_error();
    s.edge.assign(s.rowptr.back() + 1, ~uint64_t{0});
    s.weight.assign(s.rowptr.back() + 1, NAN);
    EXPECT_EQ(csaw_edge_sample(&a, &o, s.rowptr.data(), s.edge.data(), s.weight.data()), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(s.edge.back() == ~uint64_t{0} && std::isnan(s.weight.back())) << "wrote past the end";
    s.edge.pop_back();
    s.weight.pop_back();
    return s;
}

// |got - expected| within 2 n 2^-24 sum|terms|, and one rounding of the format. With exact sums a little for sums in
// double, and the one rounding: so little that a second one is seen.
inline void expect_near(const Dense &got, const reference::Product &expected, bool exact, const std::string &what) {
    NormBound norm;
    for (uint64_t r = 0; r < got.m.rows; r++)
        for (uint64_t c = 0; c < got.m.cols; c++) {
            const uint64_t i = r * got.m.cols + c;
            const double unit = exact ? 0x1p-53 : 0x1p-24;
            const double sums = 2 * static_cast<double>(expected.terms[i]) * unit * expected.size[i];
            const double largest = std::fabs(expected.value[i]) + sums;
            const double bound = sums + reference::rounding_of(got.m.dtype, largest);
            ASSERT_LE(std::fabs(got.at(r, c) - expected.value[i]), bound) << what << ", row " << r << ", column " << c;
            norm.add(got.at(r, c), expected.value[i], expected.size[i], static_cast<double>(expected.terms[i]),
                     reference::rounding_of(got.m.dtype, std::fabs(expected.value[i])));
        }
    ASSERT_TRUE(norm.holds()) << what << ", the norm of the errors";
}

} // namespace edge_sampled

#endif
