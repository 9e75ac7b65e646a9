// SPDX-License-Identifier: MIT
// tests/gpu_memory.cuh - arrays in the memory of a GPU, for tests.
#ifndef CSAW_TESTS_GPU_MEMORY_CUH
#define CSAW_TESTS_GPU_MEMORY_CUH

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace gpu_memory {

inline void Require(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    abort();
}

inline bool NoGpu() {
    int count = 0;
    return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}

template <class T> class Array { // device memory
  public:
    Array() = default;
    explicit Array(const std::vector<T> &from) : count_(from.size()) {
        Require(cudaMalloc(&at_, (count_ + 1) * sizeof(T)));
        if (count_) Require(cudaMemcpy(at_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
        Require(
            cudaDeviceSynchronize()); // of ordinary memory: cudaMemcpy() waits until it is read, not until it is there
    }
    Array(Array &&other) noexcept : at_(other.at_), count_(other.count_) { other.at_ = nullptr; }
    Array &operator=(Array &&other) noexcept {
        std::swap(at_, other.at_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~Array() {
        if (at_) cudaFree(at_);
    }
    T *get() const { return at_; }
    std::vector<T> back() const { // waits for the GPU
        std::vector<T> out(count_);
        Require(cudaDeviceSynchronize());
        if (count_) Require(cudaMemcpy(out.data(), at_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }

  private:
    T *at_ = nullptr;
    size_t count_ = 0;
};

// Where they first differ, and in how many bytes.
inline ::testing::AssertionResult SameBytes(const std::vector<unsigned char> &is,
                                            const std::vector<unsigned char> &want) {
    if (is == want) return ::testing::AssertionSuccess();
    if (is.size() != want.size()) return ::testing::AssertionFailure() << is.size() << " bytes, not " << want.size();
    size_t first = 0, wrong = 0, last = 0;
    for (size_t i = is.size(); i--;)
        if (is[i] != want[i]) {
            if (!wrong++) last = i;
            first = i;
        }
    return ::testing::AssertionFailure() << wrong << " of " << is.size() << " bytes, from " << first << " to " << last
                                         << ", where " << int{is[first]} << " stands for " << int{want[first]};
}

} // namespace gpu_memory

#endif
