/* SPDX-License-Identifier: MIT */
/* tests/reference/spmm.cc - aggregation by its definition. */
#include "tests/reference/spmm.h"

#include <cmath>

namespace reference {

namespace {

double weight_of(const csaw_sparse &a, uint64_t e, uint32_t heads, uint64_t head) {
    return a.weight ? static_cast<double>(a.weight[e * heads + head]) : 1.0;
}

double degree(const csaw_sparse &a, uint64_t row) { return static_cast<double>(a.rowptr[row + 1] - a.rowptr[row]); }

// Whether a value that comes later takes the place of the best so far.
bool better(double value, double best, csaw_reduce reduce) {
    if (std::isnan(best)) return false;
    if (std::isnan(value)) return true;
    return reduce == CSAW_MAX ? value > best : value < best;
}

} // namespace

Product spmm(const csaw_sparse &a, const Matrix &x, csaw_reduce reduce, uint32_t heads) {
    Product out;
    out.y = out.size = Matrix(a.rows, x.cols);
    out.arg.assign(a.rows * x.cols, CSAW_NO_EDGE);
    for (uint64_t i = 0; i < a.rows; i++)
        for (uint64_t c = 0; c < x.cols; c++) {
            double sum = 0, size = 0, best = 0;
            for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++) {
                const double product = weight_of(a, e, heads, c / (x.cols / heads)) * x.at(a.col[e], c);
                sum += product;
                size += std::fabs(product);
                if (e == a.rowptr[i] || better(product, best, reduce)) {
                    best = product;
                    out.arg[i * x.cols + c] = e;
                }
            }
            if (reduce == CSAW_MEAN && degree(a, i) > 0) sum /= degree(a, i), size /= degree(a, i);
            const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
            out.y.at(i, c) = picks ? best : sum;
            out.size.at(i, c) = picks ? std::fabs(best) : size;
        }
    return out;
}

Gradients spmm_backward(const csaw_sparse &a, const Matrix &x, const Matrix &dy, csaw_reduce reduce, uint32_t heads,
                        const std::vector<csaw_edge> &arg) {
    Gradients out;
    out.dx = out.dx_size = Matrix(a.cols, dy.cols);
    out.dweight.assign(a.num_edges * heads, 0.0);
    out.dweight_size = out.dweight;
    out.dx_terms.assign(a.cols, 0);
    for (uint64_t i = 0; i < a.rows; i++)
        for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++) {
            const uint64_t j = a.col[e];
            out.dx_terms[j]++;
            for (uint64_t c = 0; c < dy.cols; c++) {
                const uint64_t head = c / (dy.cols / heads);
                double share = reduce == CSAW_MEAN ? 1 / degree(a, i) : 1;
                if ((reduce == CSAW_MAX || reduce == CSAW_MIN) && arg[i * dy.cols + c] != e) share = 0;
                if (share == 0) continue;
                const double to_x = share * weight_of(a, e, heads, head) * dy.at(i, c);
                const double to_weight = share * x.at(j, c) * dy.at(i, c);
                out.dx.at(j, c) += to_x;
                out.dx_size.at(j, c) += std::fabs(to_x);
                out.dweight[e * heads + head] += to_weight;
                out.dweight_size[e * heads + head] += std::fabs(to_weight);
            }
        }
    return out;
}

Dots sddmm(const csaw_sparse &a, const Matrix &x, const Matrix &y, uint32_t heads) {
    Dots out;
    out.out.assign(a.num_edges * heads, 0.0);
    out.size = out.out;
    for (uint64_t i = 0; i < a.rows; i++)
        for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++)
            for (uint64_t c = 0; c < x.cols; c++) {
                const uint64_t at = e * heads + c / (x.cols / heads);
                out.out[at] += x.at(i, c) * y.at(a.col[e], c);
                out.size[at] += std::fabs(x.at(i, c) * y.at(a.col[e], c));
            }
    return out;
}

std::vector<double> edge_softmax(const csaw_sparse &a, const std::vector<double> &score, uint32_t heads) {
    std::vector<double> out(score.size());
    for (uint64_t i = 0; i < a.rows; i++)
        for (uint32_t h = 0; h < heads; h++) {
            double most = -INFINITY, sum = 0;
            for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++) most = std::fmax(most, score[e * heads + h]);
            for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++) sum += std::exp(score[e * heads + h] - most);
            for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++)
                out[e * heads + h] = std::exp(score[e * heads + h] - most) / sum;
        }
    return out;
}

std::vector<double> edge_softmax_backward(const csaw_sparse &a, const std::vector<double> &out,
                                          const std::vector<double> &dout, uint32_t heads) {
    std::vector<double> dscore(out.size(), 0.0);
    for (uint64_t i = 0; i < a.rows; i++)
        for (uint32_t h = 0; h < heads; h++)
            for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++)
                for (uint64_t f = a.rowptr[i]; f < a.rowptr[i + 1]; f++) // d out[f] / d score[e], entry by entry
                    dscore[e * heads + h] +=
                        dout[f * heads + h] * out[f * heads + h] * ((e == f ? 1.0 : 0.0) - out[e * heads + h]);
    return dscore;
}

double value_of_half(uint16_t bits, csaw_dtype dtype) {
    const int exponent_bits = dtype == CSAW_F16 ? 5 : 8, fraction_bits = 15 - exponent_bits;
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
    return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

} // namespace reference
