/* SPDX-License-Identifier: MIT */
/* tests/emulated_units.h - the list of a matrix's units of work as a plan has it, by the kernels of
 * spmm/device_order.cuh; or in any other order, which no bit may depend on. */
#ifndef CSAW_TESTS_EMULATED_UNITS_H
#define CSAW_TESTS_EMULATED_UNITS_H

#include "tests/emulated_gpu.h"

#include <algorithm>
#include <random>
#include <vector>

#include "spmm/device_order.cuh"

namespace emulated_units {

enum Order { BY_LENGTH, AS_NUMBERED, ANY };

// Of a product whose long rows stand; none as they are numbered.
inline std::vector<csaw__listed_unit> ListOf(const csaw__product &p, Order by) {
    if (by == AS_NUMBERED) return {};
    constexpr uint32_t threads = 64;
    const uint64_t units = p.split.most_chunks + p.rows;
    const auto blocks = static_cast<uint32_t>((units + threads - 1) / threads);
    std::vector<uint16_t> key(units, 0xffff);
    std::vector<uint32_t> order(units, ~0u);
    std::vector<csaw__listed_unit> out(units);
    emulated::RunBlocks(blocks, threads, [&] { csaw__order_keys(p, units, key.data(), order.data()); });
    if (by == ANY) std::shuffle(order.begin(), order.end(), std::mt19937_64(units));
    if (by == BY_LENGTH)
        std::stable_sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return key[i] < key[j]; });
    emulated::RunBlocks(blocks, threads, [&] { csaw__list_units(p, units, order.data(), out.data()); });
    return out;
}

} // namespace emulated_units

#endif
