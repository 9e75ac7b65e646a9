/* SPDX-License-Identifier: MIT */
/* tests/reference/spmm.h - aggregation by its definition, in float64, one loop after the other. */
#ifndef CSAW_REFERENCE_SPMM_H
#define CSAW_REFERENCE_SPMM_H

#include <csaw/spmm.h>

#include <vector>

namespace reference {

struct Matrix { // row-major
    uint64_t rows = 0, cols = 0;
    std::vector<double> value;
    Matrix() = default;
    Matrix(uint64_t rows, uint64_t cols) : rows(rows), cols(cols), value(rows * cols, 0.0) {}
    double &at(uint64_t r, uint64_t c) { return value[r * cols + c]; }
    double at(uint64_t r, uint64_t c) const { return value[r * cols + c]; }
};

struct Product {
    Matrix y;
    Matrix size;                // the same with all magnitudes: what rounding errors are proportional to
    std::vector<csaw_edge> arg; // [rows, cols] of MAX and MIN
};

// a.weight: [num_edges, heads] or NULL.
Product spmm(const csaw_sparse &a, const Matrix &x, csaw_reduce reduce, uint32_t heads);

struct Gradients {
    Matrix dx, dx_size;
    std::vector<double> dweight, dweight_size; // [num_edges, heads]
    std::vector<uint64_t> dx_terms;            // [cols of a]: addends of a row of dx at most
};

// arg: of MAX and MIN, as spmm() gave it.
Gradients spmm_backward(const csaw_sparse &a, const Matrix &x, const Matrix &dy, csaw_reduce reduce, uint32_t heads,
                        const std::vector<csaw_edge> &arg);

struct Dots {
    std::vector<double> out, size; // [num_edges, heads]
};
Dots sddmm(const csaw_sparse &a, const Matrix &x, const Matrix &y, uint32_t heads);

// All [num_edges, heads].
std::vector<double> edge_softmax(const csaw_sparse &a, const std::vector<double> &score, uint32_t heads);
std::vector<double> edge_softmax_backward(const csaw_sparse &a, const std::vector<double> &out,
                                          const std::vector<double> &dout, uint32_t heads);

// The number that these bits mean, by the formats' definition.
double value_of_half(uint16_t bits, csaw_dtype dtype);

} // namespace reference

#endif
