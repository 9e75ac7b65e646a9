/* SPDX-License-Identifier: MIT */
/* tests/host_memory_test.cc - what is left of the host's memory, by files as Linux has them, and what locking pages
 * takes of it. */
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/base/host_memory.h"

namespace {

struct HostMemory : ::testing::Test {
    std::string folder;

    void SetUp() override {
        char name[] = "/tmp/csaw-host-memory-XXXXXX";
        ASSERT_TRUE(mkdtemp(name));
        folder = name;
        write("proc/meminfo", "MemTotal:       2000 kB\nMemFree:        900 kB\nMemAvailable:   1000 kB\n");
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    void write(const std::string &path, const std::string &text) {
        std::filesystem::create_directories(std::filesystem::path(folder + "/" + path).parent_path());
        std::ofstream(folder + "/" + path) << text;
    }
    uint64_t left() { return csaw__host_memory_left((folder + "/proc").c_str(), (folder + "/groups").c_str()); }
};

TEST_F(HostMemory, WithoutGroupsIsWhatTheSystemTells) { EXPECT_EQ(left(), 1000u * 1024); }

TEST_F(HostMemory, IsBoundByEveryGroupAbove) {
    write("proc/self/cgroup", "0::/jobs/mine\n");
    write("groups/jobs/mine/memory.max", "max\n");
    write("groups/jobs/mine/memory.current", "100\n");
    EXPECT_EQ(left(), 1000u * 1024);
    write("groups/jobs/memory.max", "5000\n");
    write("groups/jobs/memory.current", "2000\n");
    EXPECT_EQ(left(), 3000u);
    write("groups/memory.max", "2500\n"); /* a container's own, seen as the root */
    write("groups/memory.current", "2400\n");
    EXPECT_EQ(left(), 100u);
    write("groups/memory.current", "2600\n");
    EXPECT_EQ(left(), 0u);
}

TEST_F(HostMemory, IsBoundByGroupsOfVersion1) {
    write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/not/seen/here\n");
    write("groups/memory/memory.limit_in_bytes", "7000\n");
    write("groups/memory/memory.usage_in_bytes", "1000\n");
    EXPECT_EQ(left(), 6000u);
}

TEST_F(HostMemory, IsUnknownWithoutTheFile) {
    std::filesystem::remove(folder + "/proc/meminfo");
    EXPECT_EQ(left(), 0u);
}

// 40 pages, of memory that nobody has written, and of a file.
struct LockingTakes : ::testing::Test {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), all = 40 * page;
    std::FILE *const file = std::tmpfile();
    char *fresh = nullptr, *mapped = nullptr;

    void SetUp() override {
        if (access("/proc/self/pagemap", R_OK) != 0) GTEST_SKIP() << "this system does not tell of pages";
        ASSERT_EQ(0, ftruncate(fileno(file), static_cast<off_t>(all)));
        void *const at[] = {
            mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0)};
        ASSERT_NE(at[0], MAP_FAILED);
        ASSERT_NE(at[1], MAP_FAILED);
        fresh = static_cast<char *>(at[0]);
        mapped = static_cast<char *>(at[1]);
        ASSERT_EQ(0, madvise(fresh, all, MADV_NOHUGEPAGE));
    }
    void TearDown() override {
        if (fresh) munmap(fresh, all);
        if (mapped) munmap(mapped, all);
        std::fclose(file);
    }
    uint64_t takes(const char *at, uint64_t bytes) const {
        return csaw__host_memory_locking_takes(at, bytes, UINT64_MAX);
    }
};

TEST_F(LockingTakes, WhatNobodyHasWritten) {
    EXPECT_EQ(takes(fresh, all), all);
    for (uint64_t i : {0, 3, 4, 39}) fresh[i * page] = 1;
    EXPECT_EQ(takes(fresh, all), 36 * page);
    EXPECT_EQ(takes(fresh + 3 * page, 2 * page), 0u);
    EXPECT_EQ(takes(fresh + 4 * page, page + 1), page) << "a page that is touched is locked whole";
}

TEST_F(LockingTakes, PagesOfFilesReadOrNot) {
    volatile char sink = 0;
    EXPECT_EQ(takes(mapped, all), all);
    for (uint64_t i = 0; i < 40; i++) sink = mapped[i * page];
    EXPECT_EQ(takes(mapped, all), all);
    mapped[7 * page] = sink; // a copy, which no file holds
    EXPECT_EQ(takes(mapped, all), 39 * page);
}

TEST_F(LockingTakes, IsCountedUntilItIsTooMuch) {
    const uint64_t counted = csaw__host_memory_locking_takes(fresh, all, 5 * page);
    EXPECT_GT(counted, 5 * page);
    EXPECT_EQ(csaw__host_memory_locking_takes(fresh, 5 * page, 5 * page), 5 * page);
}

} // namespace
