// SPDX-License-Identifier: MIT
// tests/reference/maxk.cc - see maxk.h.
#include "tests/reference/maxk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace reference {

// sign, exponent of `exponent_bits` bits with this bias, fraction of `fraction_bits`: IEEE 754, section 3.4.
static double decode(uint16_t bits, int exponent_bits, int bias, int fraction_bits) {
    const int all = (1 << exponent_bits) - 1, exponent = bits >> fraction_bits & all;
    const double fraction = bits & ((1 << fraction_bits) - 1), whole = 1 << fraction_bits;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == all) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction / whole, 1 - bias);
    return sign * std::ldexp(1 + fraction / whole, exponent - bias);
}

double element(csaw_dtype dtype, const void *data, uint64_t at) {
    if (dtype == CSAW_F32) return static_cast<const float *>(data)[at];
    const uint16_t bits = static_cast<const uint16_t *>(data)[at];
    return dtype == CSAW_F16 ? decode(bits, 5, 15, 10) : decode(bits, 8, 127, 7);
}

std::vector<uint16_t> largest(const std::vector<double> &row, uint64_t k) {
    std::vector<uint16_t> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint16_t a, uint16_t b) {
        if (std::isnan(row[a]) || std::isnan(row[b])) return std::isnan(row[a]) && !std::isnan(row[b]);
        return row[a] > row[b];
    });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return order;
}

std::vector<uint16_t> largest_by_halving(const std::vector<double> &row, uint64_t k, int halvings) {
    double low = *std::min_element(row.begin(), row.end()), high = *std::max_element(row.begin(), row.end());
    double pivot = low;
    for (int i = 0; i < halvings; i++) {
        pivot = (low + high) / 2;
        const auto count = static_cast<uint64_t>(
            std::count_if(row.begin(), row.end(), [&](double element) { return element >= pivot; }));
        if (count == k) break;
        (count > k ? low : high) = pivot;
    }
    std::vector<uint16_t> kept;
    for (int pass = 0; pass < 2; pass++)
        for (size_t c = 0; c < row.size() && kept.size() < k; c++)
            if ((row[c] >= pivot) == (pass == 0)) kept.push_back(static_cast<uint16_t>(c));
    std::sort(kept.begin(), kept.end());
    return kept;
}

Matrix dense(const csaw_dense &m) {
    Matrix out(m.rows, m.cols);
    for (uint64_t r = 0; r < m.rows; r++)
        for (uint64_t c = 0; c < m.cols; c++)
            out(r, c) = element(m.dtype, m.data, r * (m.stride ? m.stride : m.cols) + c);
    return out;
}

Matrix dense(const csaw_cbsr &m) {
    Matrix out(m.rows, m.cols);
    for (uint64_t r = 0; r < m.rows; r++)
        for (uint64_t t = 0; t < m.k; t++) {
            const uint64_t at = r * m.k + t;
            const uint64_t c =
                m.cols <= 256 ? static_cast<uint8_t *>(m.index)[at] : static_cast<uint16_t *>(m.index)[at];
            out(r, c) = element(m.dtype, m.values, at);
        }
    return out;
}

static void add(Sums &sums, uint64_t r, uint64_t c, double term) {
    sums.value(r, c) += term;
    sums.size(r, c) += std::abs(term);
    sums.terms(r, c) += 1;
}

// f(edge, row, column, weight, divided by the row's edges if that is wanted)
template <typename F> static void each_edge(const csaw_sparse &a, bool mean, F f) {
    for (uint64_t i = 0; i < a.rows; i++)
        for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++) {
            const double share = mean ? static_cast<double>(a.rowptr[i + 1] - a.rowptr[i]) : 1;
            f(e, i, a.col[e], (a.weight ? a.weight[e] : 1.0) / share, share);
        }
}

Sums product(const csaw_sparse &a, const Matrix &x, bool mean) {
    Sums out(a.rows, x.cols);
    each_edge(a, mean, [&](uint64_t, uint64_t i, uint64_t j, double weight, double) {
        for (uint64_t c = 0; c < x.cols; c++) add(out, i, c, weight * x(j, c));
    });
    return out;
}

Sums transposed_product(const csaw_sparse &a, const Matrix &y, bool mean) {
    Sums out(a.cols, y.cols);
    each_edge(a, mean, [&](uint64_t, uint64_t i, uint64_t j, double weight, double) {
        for (uint64_t c = 0; c < y.cols; c++) add(out, j, c, weight * y(i, c));
    });
    return out;
}

Sums edge_products(const csaw_sparse &a, const Matrix &dy, const Matrix &x, bool mean) {
    Sums out(a.num_edges, 1);
    each_edge(a, mean, [&](uint64_t e, uint64_t i, uint64_t j, double, double share) {
        for (uint64_t c = 0; c < x.cols; c++) add(out, e, 0, dy(i, c) * x(j, c) / share);
    });
    return out;
}

} // namespace reference
