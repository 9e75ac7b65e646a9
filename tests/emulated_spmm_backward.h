/* SPDX-License-Identifier: MIT */
/* tests/emulated_spmm_backward.h - what tests of kernels of gradients share: launches, strides, a sort of the host's.
 */
#ifndef CSAW_TESTS_EMULATED_SPMM_BACKWARD_H
#define CSAW_TESTS_EMULATED_SPMM_BACKWARD_H

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/spmm_cases.h"

#include "tests/emulated_gpu.h"

namespace emulated_spmm_backward {

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t threads, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks((threads + 63) / 64, 64, [&] { kernel(arguments...); });
}

inline csaw_dense WithStride(const csaw_dense *m) {
    csaw_dense out = *m;
    out.stride = csaw__stride(m);
    return out;
}

template <class T> void StableSort(const std::vector<T> &key, std::vector<uint64_t> *order) {
    order->resize(key.size());
    std::iota(order->begin(), order->end(), 0);
    std::stable_sort(order->begin(), order->end(), [&](uint64_t a, uint64_t b) { return key[a] < key[b]; });
}

} // namespace emulated_spmm_backward

#endif
