/* SPDX-License-Identifier: MIT */
/* tests/reference/batched.cc - see the header. */
#include "tests/reference/batched.h"

#include <cmath>

namespace reference {

namespace {

Dense zeros(uint64_t elements) {
    return {std::vector<double>(elements), std::vector<double>(elements), std::vector<double>(elements)};
}

void add(Dense *to, uint64_t at, double a, double b, double scale) {
    to->value[at] += a * b * scale;
    to->size[at] += std::fabs(a * b * scale);
    to->terms[at] += 1;
}

std::vector<double> entries_of_rows(const SmallMatrix &a) {
    std::vector<double> count(a.rows);
    for (const SmallEntry &entry : a.entries) count[entry.row] += 1;
    return count;
}

// A NaN beats all numbers, and the first NaN other ones.
bool beats(double v, double best, Reduce reduce) {
    if (std::isnan(best)) return false;
    if (std::isnan(v)) return true;
    return reduce == Reduce::max ? v > best : v < best;
}

} // namespace

Forward batched_forward(const SmallMatrix &a, const std::vector<double> &x, uint64_t width, Reduce reduce) {
    Forward out = {zeros(a.rows * width), std::vector<uint32_t>(a.rows * width, NO_ENTRY)};
    const std::vector<double> count = entries_of_rows(a);
    for (uint32_t e = 0; e < a.entries.size(); e++) {
        const SmallEntry &entry = a.entries[e];
        for (uint64_t c = 0; c < width; c++) {
            const uint64_t at = entry.row * width + c;
            const double from = x[entry.col * width + c], v = entry.weight * from;
            if (reduce == Reduce::sum || reduce == Reduce::mean) {
                add(&out.y, at, entry.weight, from, reduce == Reduce::mean ? 1 / count[entry.row] : 1);
            } else if (out.arg[at] == NO_ENTRY || beats(v, out.y.value[at], reduce)) {
                out.y.value[at] = v;
                out.y.size[at] = std::fabs(v);
                out.y.terms[at] = 1;
                out.arg[at] = e;
            }
        }
    }
    return out;
}

Backward batched_backward(const SmallMatrix &a, const std::vector<double> &x, const std::vector<double> &dy,
                          const std::vector<uint32_t> &arg, uint64_t width, Reduce reduce) {
    Backward out = {zeros(a.cols * width), zeros(a.entries.size())};
    const std::vector<double> count = entries_of_rows(a);
    for (uint32_t e = 0; e < a.entries.size(); e++) {
        const SmallEntry &entry = a.entries[e];
        for (uint64_t c = 0; c < width; c++) {
            const uint64_t at = entry.row * width + c, from = entry.col * width + c;
            if ((reduce == Reduce::max || reduce == Reduce::min) && arg[at] != e) continue;
            const double scale = reduce == Reduce::mean ? 1 / count[entry.row] : 1;
            add(&out.dx, from, entry.weight, dy[at], scale);
            add(&out.dw, e, x[from], dy[at], scale);
        }
    }
    return out;
}

} // namespace reference
