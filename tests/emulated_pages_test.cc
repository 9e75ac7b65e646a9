// SPDX-License-Identifier: MIT
// tests/emulated_pages_test.cc - memory of the host that is page-locked (runtime/engine/device_pages.h), against a fake
// CUDA: what the host's memory has no room for is not.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "runtime/base/host_memory.h"
#include "runtime/engine/device_pages.h"

namespace {

// A file twice as large as what is left, which takes no room on the disk.
class LargeFile : public ::testing::Test {
  protected:
    void SetUp() override {
        fake_cuda::Reset();
        left = csaw__host_memory_left("/proc", "/sys/fs/cgroup");
        if (!left || access("/proc/self/pagemap", R_OK) != 0) GTEST_SKIP() << "this system does not tell";
        bytes = (2 * left + page - 1) / page * page;
        if (ftruncate(fileno(file), static_cast<off_t>(bytes)) != 0) GTEST_SKIP() << "no room for a sparse file";
        void *const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
        ASSERT_NE(mapped, MAP_FAILED);
        at = static_cast<const char *>(mapped);
    }
    void TearDown() override {
        if (at) munmap(const_cast<char *>(at), bytes);
        std::fclose(file);
    }
    csaw__pages Lock(uint64_t first, uint64_t count) {
        const csaw__span span = {at + first, count};
        csaw__pages pages = {};
        EXPECT_EQ(CSAW_OK, csaw__pages_lock(&pages, &span, 1));
        return pages;
    }
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::FILE *const file = std::tmpfile();
    const char *at = nullptr;
    uint64_t left = 0, bytes = 0;
};

TEST_F(LargeFile, IsNotLocked) {
    csaw__pages pages = Lock(0, bytes);
    EXPECT_TRUE(pages.refused);
    EXPECT_GT(pages.left, left / 2);
    EXPECT_LT(pages.left, bytes);
    EXPECT_EQ(pages.count, 0u);
    EXPECT_TRUE(fake_cuda::registered.empty());
    pages = Lock(0, 8 * page);
    EXPECT_FALSE(pages.refused);
    EXPECT_EQ(pages.left, 0u);
    EXPECT_EQ(fake_cuda::registered.size(), 1u);
    csaw__pages_unlock(&pages);
    EXPECT_TRUE(fake_cuda::registered.empty());
}

// Half of what is left, then half again, which is not there any more; the first half alone others may hold too.
TEST_F(LargeFile, IsNotLockedPieceByPiece) {
    const uint64_t half = left / 2 / page * page;
    csaw__pages first = Lock(0, half), again = Lock(0, half), rest = Lock(half, half);
    EXPECT_FALSE(first.refused);
    EXPECT_FALSE(again.refused);
    EXPECT_TRUE(rest.refused);
    csaw__pages_unlock(&again);
    rest = Lock(half, half);
    EXPECT_TRUE(rest.refused);
    csaw__pages_unlock(&first);
    rest = Lock(half, half);
    EXPECT_FALSE(rest.refused);
    csaw__pages_unlock(&rest);
    EXPECT_TRUE(fake_cuda::registered.empty());
}

// A refusal of the system's has no number.
TEST_F(LargeFile, TheSystemsRefusalIsAnother) {
    fake_cuda::refuse_pages = true;
    csaw__pages pages = Lock(0, 8 * page);
    EXPECT_TRUE(pages.refused);
    EXPECT_EQ(pages.left, 0u);
    fake_cuda::Reset();
}

} // namespace
