/* SPDX-License-Identifier: MIT */
/* bench/host_memory_test.cc - what is left of the host's memory, by files as Linux has them. */
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

extern "C" {
#include "bench/host_memory.h"
}

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
    uint64_t left() { return host_memory_left((folder + "/proc").c_str(), (folder + "/groups").c_str()); }
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

} // namespace
