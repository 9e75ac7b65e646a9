/* SPDX-License-Identifier: MIT */
/* tests/math_gpu_test.cu - csaw/math.h and csaw/philox.h on the device: the host's bits, and cuRAND's numbers. */
#include "math_bits.h"

#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <gtest/gtest.h>

#include <vector>

#define ASSERT_CUDA(CALL) ASSERT_EQ(CALL, cudaSuccess)

namespace {

class DeviceMath : public testing::Test {
  protected:
    void SetUp() override {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "this machine has no GPU";
    }
};

__global__ void Evaluate(uint64_t first, uint64_t count, math_bits *out) {
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i < count) out[i] = math_bits_at(first + i);
}

TEST_F(DeviceMath, BitsEqualTheHosts) {
    constexpr uint64_t kCount = 1 << 24, kBatch = 1 << 20;
    math_bits *device = nullptr;
    ASSERT_CUDA(cudaMalloc(&device, kBatch * sizeof(math_bits)));
    std::vector<math_bits> host(kBatch), back(kBatch);
    for (uint64_t first = 0; first < kCount; first += kBatch) {
        Evaluate<<<kBatch / 256, 256>>>(first, kBatch, device);
        ASSERT_CUDA(cudaGetLastError());
        math_bits_optimised(first, kBatch, host.data());
        ASSERT_CUDA(cudaMemcpy(back.data(), device, kBatch * sizeof(math_bits), cudaMemcpyDeviceToHost));
        for (uint64_t i = 0; i < kBatch; i++) {
            ASSERT_EQ(back[i].exp, host[i].exp) << "argument " << first + i;
            ASSERT_EQ(back[i].log, host[i].log) << "argument " << first + i;
            ASSERT_EQ(back[i].log1p, host[i].log1p) << "argument " << first + i;
            ASSERT_EQ(back[i].pow, host[i].pow) << "argument " << first + i;
            ASSERT_EQ(back[i].sqrt, host[i].sqrt) << "argument " << first + i;
        }
    }
    ASSERT_CUDA(cudaFree(device));
}

/* Counters and keys from a linear congruential sequence (Knuth's MMIX), so that all bits of all six words vary. */
__global__ void ComparePhilox(uint64_t count, unsigned long long *different) {
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    uint32_t word[6];
    uint64_t state = i;
    for (uint32_t &w : word) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        w = static_cast<uint32_t>(state >> 32);
    }
    const csaw_block ours = csaw_philox(word[0], word[1], word[2], word[3], word[4], word[5]);
    const uint4 theirs =
        curand_Philox4x32_10(make_uint4(word[0], word[1], word[2], word[3]), make_uint2(word[4], word[5]));
    if (ours.x[0] != theirs.x || ours.x[1] != theirs.y || ours.x[2] != theirs.z || ours.x[3] != theirs.w)
        atomicAdd(different, 1ull);
}

TEST_F(DeviceMath, PhiloxEqualsCuRandsPhilox) {
    constexpr uint64_t kCount = 1 << 24;
    unsigned long long *device = nullptr, different = 1;
    ASSERT_CUDA(cudaMalloc(&device, sizeof *device));
    ASSERT_CUDA(cudaMemset(device, 0, sizeof *device));
    ComparePhilox<<<kCount / 256, 256>>>(kCount, device);
    ASSERT_CUDA(cudaGetLastError());
    ASSERT_CUDA(cudaMemcpy(&different, device, sizeof different, cudaMemcpyDeviceToHost));
    EXPECT_EQ(different, 0u);
    ASSERT_CUDA(cudaFree(device));
}

} // namespace
