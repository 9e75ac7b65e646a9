/* SPDX-License-Identifier: MIT */
/* tests/reference/batched.h - a small sparse matrix times dense features, entry by entry in double, forward and
 * backward, with what a bound on the error of float32 needs: how many products make an element, and the sum of their
 * sizes. */
#ifndef CSAW_REFERENCE_BATCHED_H
#define CSAW_REFERENCE_BATCHED_H

#include <stdint.h>

#include <vector>

namespace reference {

struct SmallEntry {
    uint32_t row, col;
    double weight;
};

struct SmallMatrix {
    uint32_t rows = 0, cols = 0;
    std::vector<SmallEntry> entries; // in any order
};

enum class Reduce { sum, mean, max, min };

constexpr uint32_t NO_ENTRY = 0xffffffffu;

struct Dense { // [rows, width]
    std::vector<double> value;
    std::vector<double> size;  // sum of |a| |b| over the products of the element
    std::vector<double> terms; // products of the element
};

struct Forward {
    Dense y;
    std::vector<uint32_t> arg; // [rows, width] of max and min
};

// x: [cols, width]
Forward batched_forward(const SmallMatrix &a, const std::vector<double> &x, uint64_t width, Reduce reduce);

struct Backward {
    Dense dx, dw; // [cols, width], [entries]
};

// dy: [rows, width]; arg as batched_forward() gives it
Backward batched_backward(const SmallMatrix &a, const std::vector<double> &x, const std::vector<double> &dy,
                          const std::vector<uint32_t> &arg, uint64_t width, Reduce reduce);

} // namespace reference

#endif
