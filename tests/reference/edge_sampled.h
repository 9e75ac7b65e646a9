/* SPDX-License-Identifier: MIT */
/* tests/reference/edge_sampled.h - aggregation over sampled entries, plainly and in double.
 *
 * Method: Bucket and FastRand from Lin, Luo, Ceze (ES-SpMM), algorithm 1, section IV-D and equation 2; the strata and
 * their numbers from docs/stream.md, "Edge-sampled aggregation"; the mean from csaw/edge_sampled.h. */
#ifndef CSAW_REFERENCE_EDGE_SAMPLED_H
#define CSAW_REFERENCE_EDGE_SAMPLED_H

#include <csaw/edge_sampled.h>

#include <vector>

namespace reference {

struct EdgeRule {
    csaw_edges_method method;
    uint32_t width; // S
    bool mean;
    uint64_t seed, epoch;
};

struct Taken {
    uint64_t edge; // position in the matrix
    double factor; // of its weight
};
std::vector<Taken> taken_of_row(const csaw_sparse &a, const EdgeRule &rule, uint64_t row);

struct Product { // row-major
    std::vector<double> value;
    std::vector<double> size;    // the same with absolute values everywhere
    std::vector<uint64_t> terms; // in the sum
};
// x: [a.cols, n], dy: [a.rows, n]
Product sampled_forward(const csaw_sparse &a, const EdgeRule &rule, const std::vector<double> &x, uint64_t n);
Product sampled_backward(const csaw_sparse &a, const EdgeRule &rule, const std::vector<double> &dy, uint64_t n);
Product sampled_weights(const csaw_sparse &a, const EdgeRule &rule, const std::vector<double> &x,
                        const std::vector<double> &dy, uint64_t n);

// One element of a dense matrix.
double read_element(const csaw_dense &m, uint64_t row, uint64_t col);
// The largest error of rounding value to dtype: to nearest, once.
double rounding_of(csaw_dtype dtype, double value);

} // namespace reference

#endif
