/* SPDX-License-Identifier: MIT */
/* tests/reference/edge_sampled.cc - see edge_sampled.h. */
#include "tests/reference/edge_sampled.h"

#include "tests/reference/philox.h"

#include <cmath>
#include <cstring>

namespace reference {

__extension__ typedef unsigned __int128 Wide;

static uint64_t number_of(const EdgeRule &rule, uint64_t row, uint64_t slot) {
    const uint32_t high = static_cast<uint32_t>(rule.epoch >> 32), low = static_cast<uint32_t>(rule.epoch);
    return half(draw(rule.seed, row, high, low, 0, static_cast<uint32_t>(1 + slot / 2)), slot % 2);
}

std::vector<Taken> taken_of_row(const csaw_sparse &a, const EdgeRule &rule, uint64_t row) {
    const uint64_t begin = a.rowptr[row], row_nnz = a.rowptr[row + 1] - begin;
    const uint64_t S = row_nnz < rule.width ? row_nnz : rule.width; // algorithm 1, line 6
    std::vector<Taken> taken;
    for (uint64_t shmem_idx = 0; shmem_idx < S; shmem_idx++) {
        uint64_t sample_idx = shmem_idx, size = 1, divisor = S;
        if (rule.method == CSAW_EDGES_FASTRAND) sample_idx = (shmem_idx * 577) % row_nnz; // equation 2
        if (rule.method == CSAW_EDGES_STRATIFIED) {
            divisor = row_nnz;
            const uint64_t first = static_cast<uint64_t>(Wide{shmem_idx} * row_nnz / S);
            size = static_cast<uint64_t>(Wide{shmem_idx + 1} * row_nnz / S) - first;
            sample_idx = first + (row_nnz > S ? below(number_of(rule, row, shmem_idx), size) : 0);
        }
        const double factor = static_cast<double>(size) / static_cast<double>(rule.mean ? divisor : 1);
        taken.push_back({begin + sample_idx, factor});
    }
    return taken;
}

// Of A': rounded to float32.
static double weight_of(const csaw_sparse &a, const Taken &t) {
    return static_cast<float>((a.weight ? a.weight[t.edge] : 1) * t.factor);
}

static Product zeros(uint64_t rows, uint64_t n) {
    return {std::vector<double>(rows * n), std::vector<double>(rows * n), std::vector<uint64_t>(rows * n)};
}

static void add(Product &to, uint64_t at, double term) {
    to.value[at] += term;
    to.size[at] += std::fabs(term);
    to.terms[at]++;
}

Product sampled_forward(const csaw_sparse &a, const EdgeRule &rule, const std::vector<double> &x, uint64_t n) {
    Product y = zeros(a.rows, n);
    for (uint64_t r = 0; r < a.rows; r++)
        for (const Taken &t : taken_of_row(a, rule, r))
            for (uint64_t j = 0; j < n; j++) add(y, r * n + j, weight_of(a, t) * x[a.col[t.edge] * n + j]);
    return y;
}

Product sampled_backward(const csaw_sparse &a, const EdgeRule &rule, const std::vector<double> &dy, uint64_t n) {
    Product dx = zeros(a.cols, n);
    for (uint64_t r = 0; r < a.rows; r++)
        for (const Taken &t : taken_of_row(a, rule, r))
            for (uint64_t j = 0; j < n; j++) add(dx, a.col[t.edge] * n + j, weight_of(a, t) * dy[r * n + j]);
    return dx;
}

Product sampled_weights(const csaw_sparse &a, const EdgeRule &rule, const std::vector<double> &x,
                        const std::vector<double> &dy, uint64_t n) {
    Product dw = zeros(a.num_edges, 1);
    for (uint64_t r = 0; r < a.rows; r++)
        for (const Taken &t : taken_of_row(a, rule, r))
            for (uint64_t j = 0; j < n; j++) add(dw, t.edge, t.factor * dy[r * n + j] * x[a.col[t.edge] * n + j]);
    return dw;
}

double read_element(const csaw_dense &m, uint64_t row, uint64_t col) {
    const uint64_t at = row * (m.stride ? m.stride : m.cols) + col;
    if (m.dtype == CSAW_F32) return static_cast<const float *>(m.data)[at];
    const uint16_t bits = static_cast<const uint16_t *>(m.data)[at];
    const int fraction_bits = m.dtype == CSAW_F16 ? 10 : 7, bias = m.dtype == CSAW_F16 ? 15 : 127;
    const int exponent = (bits & 0x7fff) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 2 * bias + 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
    return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

double rounding_of(csaw_dtype dtype, double value) {
    const int digits = dtype == CSAW_F32 ? 24 : dtype == CSAW_F16 ? 11 : 8;
    const double least = dtype == CSAW_F16 ? 0x1p-25 : 0x1p-149; // half the spacing of subnormals, or more
    int exponent = 0;
    std::frexp(value, &exponent); // |value| is below 2^exponent
    return std::fmax(std::ldexp(0.5, exponent - digits), least);
}

} // namespace reference
