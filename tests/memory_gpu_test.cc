/* SPDX-License-Identifier: MIT */
/* tests/memory_gpu_test.cc - csaw/memory.h on a GPU, with nothing of CUDA's: what is written comes back, after the
 * products that were asked for in between; too much memory, and GPUs that are not there, are refused. */
#include "tests/failing_allocations.h"

#include <csaw/memory.h>
#include <csaw/spmm.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

class MemoryGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (csaw_memory_wait("cuda:0") != CSAW_OK) GTEST_SKIP() << csaw_last_error();
    }
};

template <class T> T *there(const std::vector<T> &here) {
    void *out = nullptr;
    EXPECT_EQ(csaw_memory_alloc("cuda:0", here.size() * sizeof(T), &out), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(csaw_memory_write("cuda:0", out, here.data(), here.size() * sizeof(T)), CSAW_OK) << csaw_last_error();
    return static_cast<T *>(out);
}

// A ring of n vertices, three hops of which are one product each: feature v comes to vertex v - 3.
TEST_F(MemoryGpu, ProductsReadAndWriteIt) {
    const csaw_vertex n = 1000;
    std::vector<uint64_t> rowptr(n + 1);
    std::vector<csaw_vertex> col(n);
    std::vector<float> x(n), got(n, -1);
    for (csaw_vertex v = 0; v < n; v++) {
        rowptr[v + 1] = v + 1;
        col[v] = (v + 1) % n;
        x[v] = static_cast<float>(v);
    }
    uint64_t *const there_rowptr = there(rowptr);
    csaw_vertex *const there_col = there(col);
    float *at[2] = {there(x), there(got)};
    const csaw_sparse a = {n, n, n, there_rowptr, there_col, nullptr};
    csaw_spmm_options options = {};
    options.size = sizeof options;
    options.device = "cuda:0";
    for (int hop = 0; hop < 3; hop++) {
        const csaw_dense from = {n, 1, 0, CSAW_F32, at[hop % 2]}, to = {n, 1, 0, CSAW_F32, at[(hop + 1) % 2]};
        ASSERT_EQ(csaw_spmm(&a, &from, &options, &to), CSAW_OK) << csaw_last_error();
    }
    ASSERT_EQ(csaw_memory_read("cuda:0", got.data(), at[1], n * sizeof(float)), CSAW_OK);
    for (csaw_vertex v = 0; v < n; v++) ASSERT_EQ(got[v], static_cast<float>((v + 3) % n));
    for (void *memory : {static_cast<void *>(there_rowptr), static_cast<void *>(there_col), static_cast<void *>(at[0]),
                         static_cast<void *>(at[1])})
        csaw_memory_free("cuda:0", memory);
}

TEST_F(MemoryGpu, Refused) {
    void *out = &out;
    EXPECT_EQ(csaw_memory_alloc("cuda:0", uint64_t{1} << 60, &out), CSAW_EDEVMEM);
    EXPECT_NE(std::string(csaw_last_error()).find("are free; release some"), std::string::npos) << csaw_last_error();
    EXPECT_EQ(csaw_memory_alloc("cuda:1000", 4, &out), CSAW_EINVAL);
    EXPECT_EQ(out, &out);
    EXPECT_EQ(fail_every_allocation([&] {
                  void *memory = nullptr;
                  const csaw_status status = csaw_memory_alloc("cuda:0", 0, &memory);
                  EXPECT_EQ(status == CSAW_OK, memory != nullptr);
                  csaw_memory_free("cuda:0", memory);
                  return status;
              }),
              1u);
    csaw_memory_free("cuda:0", nullptr);
    EXPECT_EQ(csaw_memory_write("cuda:0", nullptr, &out, 4), CSAW_EINVAL);
}

} // namespace
