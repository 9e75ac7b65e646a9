// SPDX-License-Identifier: MIT
// tests/reference/maxk.h - MaxK and its products as their definitions read: sorting, loops over edges, double.
#ifndef CSAW_TESTS_REFERENCE_MAXK_H
#define CSAW_TESTS_REFERENCE_MAXK_H

#include <csaw/maxk.h>

#include <cstdint>
#include <vector>

namespace reference {

// Element `at` of an array of this storage.
double element(csaw_dtype dtype, const void *data, uint64_t at);

// The columns of the k largest of row [n], ascending: NaN first, then by value, of equals the lowest columns.
std::vector<uint16_t> largest(const std::vector<double> &row, uint64_t k);

// What the code that came with the paper does: so many halvings between the least and the largest, to a pivot with as
// many as k at or above it if one is met, and then the first k of these, whether they are the largest or not. Fewer
// than k are filled up with the first columns that are left.
std::vector<uint16_t> largest_by_halving(const std::vector<double> &row, uint64_t k, int halvings);

struct Matrix { // row-major
    uint64_t rows = 0, cols = 0;
    std::vector<double> at;
    Matrix(uint64_t r, uint64_t c) : rows(r), cols(c), at(r * c) {}
    double &operator()(uint64_t r, uint64_t c) { return at[r * cols + c]; }
    double operator()(uint64_t r, uint64_t c) const { return at[r * cols + c]; }
};

Matrix dense(const csaw_dense &m);
Matrix dense(const csaw_cbsr &m); // 0 beside the entries

// A sum and the sum of the sizes of its terms, by which its error is bounded; terms: how many.
struct Sums {
    Matrix value, size, terms;
    Sums(uint64_t r, uint64_t c) : value(r, c), size(r, c), terms(r, c) {}
};

Sums product(const csaw_sparse &a, const Matrix &x, bool mean);            // A x
Sums transposed_product(const csaw_sparse &a, const Matrix &y, bool mean); // A^T y
// [num_edges, 1]: <dy[row of e], x[column of e]>
Sums edge_products(const csaw_sparse &a, const Matrix &dy, const Matrix &x, bool mean);

} // namespace reference

#endif
