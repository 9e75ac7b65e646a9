// SPDX-License-Identifier: MIT
// tests/emulated_copy_test.cc - copies to and from memory of the host that is page-locked in part (runtime/base/
// device_copy.h), against a fake CUDA that refuses them as CUDA does.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runtime/base/device_copy.h"

namespace {

// Five pages of the host, the third of them locked; as many bytes of the fake GPU's.
class CopyOfLockedPages : public ::testing::Test {
  protected:
    void SetUp() override {
        fake_cuda::Reset();
        memory.resize(6 * page);
        host = reinterpret_cast<unsigned char *>((reinterpret_cast<uintptr_t>(memory.data()) + page - 1) / page * page);
        std::iota(host, host + 5 * page, static_cast<unsigned char>(7));
        ASSERT_EQ(cudaSuccess, cudaMalloc(&there, 5 * page));
        ASSERT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        ASSERT_EQ(cudaSuccess, cudaHostRegister(host + 2 * page, page, 0));
    }
    void TearDown() override {
        cudaHostUnregister(host + 2 * page);
        cudaStreamDestroy(stream);
        cudaFree(there);
    }
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> memory;
    unsigned char *host = nullptr;
    void *there = nullptr;
    cudaStream_t stream = nullptr;
};

TEST_F(CopyOfLockedPages, TakesThemInAnyPart) {
    for (size_t begin : {size_t{0}, page + 1, 2 * page - 3, 2 * page, 2 * page + 5, 3 * page - 1, 3 * page})
        for (size_t bytes : {size_t{0}, size_t{2}, size_t{8}, page, page + 9, 2 * page - 1}) {
            SCOPED_TRACE(std::to_string(begin) + ", " + std::to_string(bytes) + " bytes");
            const std::vector<unsigned char> want(host + begin, host + begin + bytes);
            std::vector<unsigned char> back(5 * page);
            ASSERT_EQ(cudaSuccess, csaw__copy_async(there, host + begin, bytes, cudaMemcpyHostToDevice, stream));
            ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(stream));
            std::fill(host + begin, host + begin + bytes, static_cast<unsigned char>(0));
            ASSERT_EQ(cudaSuccess, csaw__copy_async(host + begin, there, bytes, cudaMemcpyDeviceToHost, stream));
            ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(stream));
            EXPECT_EQ(want, std::vector<unsigned char>(host + begin, host + begin + bytes));
            EXPECT_EQ(cudaSuccess, cudaGetLastError());
        }
}

// The fake refuses it by itself, so that the test above says something.
TEST_F(CopyOfLockedPages, IsRefusedOtherwise) {
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpyAsync(there, host + page, 2 * page, cudaMemcpyHostToDevice, stream));
    EXPECT_EQ(cudaErrorInvalidValue, cudaMemcpyAsync(host + 3 * page - 4, there, 8, cudaMemcpyDeviceToHost, stream));
}

// Other errors are told: of the whole, of a page, of the page after that.
TEST_F(CopyOfLockedPages, TellsOtherErrors) {
    for (int fail : {1, 2, 3}) {
        fake_cuda::copies = 0;
        fake_cuda::fail_copy = fail;
        EXPECT_EQ(cudaErrorUnknown, csaw__copy_async(there, host + page, 2 * page, cudaMemcpyHostToDevice, stream));
        EXPECT_EQ(fail, static_cast<int>(fake_cuda::copies));
        fake_cuda::fail_copy = 0;
        cudaStreamSynchronize(stream);
    }
}

} // namespace
