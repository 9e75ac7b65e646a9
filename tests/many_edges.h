// SPDX-License-Identifier: MIT
// tests/many_edges.h - a matrix of more than 2^31 edges whose products are known in closed form. Its columns repeat
// with a period, so that on the host one piece of memory serves as all of it; results are whole numbers below 2^24, so
// that float32 has them exactly, in any order of sums.
//
//   row 0   2^31 - 3 edges
//   row 1   5 edges, on both sides of the 2^31st
//   row 2   the rest
#ifndef CSAW_TESTS_MANY_EDGES_H
#define CSAW_TESTS_MANY_EDGES_H

#include <csaw/spmm.h>

#include <algorithm>
#include <vector>

namespace many_edges {

const uint64_t limit = uint64_t{1} << 31, period = uint64_t{1} << 20, num_edges = limit + period;
const uint64_t rows = 3, cols = 1000, width = 3;
const std::vector<uint64_t> rowptr = {0, limit - 3, limit + 2, num_edges};

constexpr csaw_vertex column_of(uint64_t e) { return static_cast<csaw_vertex>(e % period % cols); }

// Edges before the nth that are to column j.
inline uint64_t count_before(uint64_t n, uint64_t j) {
    const auto in_piece = [&](uint64_t m) { return m > j ? (m - 1 - j) / cols + 1 : 0; };
    return n / period * in_piece(period) + in_piece(n % period);
}
inline uint64_t count(uint64_t row, uint64_t j) {
    return count_before(rowptr[row + 1], j) - count_before(rowptr[row], j);
}

// x: [cols, width]: 1 in column 7, 1 in column 993, 2 everywhere from column 998 on; dy: [rows, width].
inline std::vector<float> features() {
    std::vector<float> x(cols * width, 0);
    x[7 * width] = x[993 * width + 1] = 1;
    x[998 * width + 2] = x[999 * width + 2] = 2;
    return x;
}
inline std::vector<float> gradient() { return {1, 2, 3, 100, 200, 300, 5, 0, 7}; }

inline std::vector<float> sums() { // y: [rows, width]
    std::vector<float> y;
    for (uint64_t r = 0; r < rows; r++) {
        y.push_back(static_cast<float>(count(r, 7)));
        y.push_back(static_cast<float>(count(r, 993)));
        y.push_back(static_cast<float>(2 * count(r, 998) + 2 * count(r, 999)));
    }
    return y;
}
inline std::vector<float> gradients_of_sums() { // dx: [cols, width]
    std::vector<float> dx(cols * width, 0);
    const std::vector<float> dy = gradient();
    for (uint64_t j = 0; j < cols; j++)
        for (uint64_t c = 0; c < width; c++)
            for (uint64_t r = 0; r < rows; r++)
                dx[j * width + c] += static_cast<float>(count(r, j)) * dy[r * width + c];
    return dx;
}
inline float gradient_of_weight(uint64_t e) { // dw[e]
    const uint64_t r = e < rowptr[1] ? 0 : e < rowptr[2] ? 1 : 2;
    const std::vector<float> x = features(), dy = gradient();
    float sum = 0;
    for (uint64_t c = 0; c < width; c++) sum += x[column_of(e) * width + c] * dy[r * width + c];
    return sum;
}

inline std::vector<csaw_edge> picked_by_max() { // arg: [rows, width]: the first of the largest
    const std::vector<float> x = features();
    std::vector<csaw_edge> arg;
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < width; c++) {
            csaw_edge best = rowptr[r];
            const csaw_edge end = std::min(rowptr[r + 1], rowptr[r] + period); // then they repeat
            for (csaw_edge e = rowptr[r]; e < end; e++)
                if (x[column_of(e) * width + c] > x[column_of(best) * width + c]) best = e;
            arg.push_back(best);
        }
    return arg;
}
inline std::vector<float> maxima() {
    std::vector<float> y;
    const std::vector<float> x = features();
    const std::vector<csaw_edge> arg = picked_by_max();
    for (uint64_t i = 0; i < arg.size(); i++) y.push_back(x[column_of(arg[i]) * width + i % width]);
    return y;
}
inline std::vector<float> gradients_of_maxima() { // dx
    std::vector<float> dx(cols * width, 0);
    const std::vector<float> dy = gradient();
    const std::vector<csaw_edge> arg = picked_by_max();
    for (uint64_t i = 0; i < arg.size(); i++) dx[column_of(arg[i]) * width + i % width] += dy[i];
    return dx;
}

// Edges where 32 bits are at their end, and others.
inline std::vector<uint64_t> some_edges() {
    return {0, 7, 993, limit - 4, limit - 3, limit - 1, limit, limit + 1, limit + 2, limit + 998, num_edges - 1};
}

} // namespace many_edges

#endif
