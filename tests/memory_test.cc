/* SPDX-License-Identifier: MIT */
/* tests/memory_test.cc - csaw/memory.h on the CPU: arrays of the host, and what is refused. */
#include "tests/failing_allocations.h"

#include <csaw/memory.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

TEST(Memory, OfTheHost) {
    for (const char *device : {static_cast<const char *>(nullptr), "cpu"}) {
        std::vector<char> here(1000), back(here.size(), 'x');
        for (size_t i = 0; i < here.size(); i++) here[i] = static_cast<char>(i * 7);
        void *there = nullptr;
        ASSERT_EQ(csaw_memory_alloc(device, here.size(), &there), CSAW_OK);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(there) % 64, 0u);
        EXPECT_EQ(csaw_memory_write(device, there, here.data(), here.size()), CSAW_OK);
        EXPECT_EQ(csaw_memory_read(device, back.data(), there, here.size() - 1), CSAW_OK);
        EXPECT_EQ(back.back(), 'x');
        back.back() = here.back();
        EXPECT_EQ(back, here);
        EXPECT_EQ(csaw_memory_wait(device), CSAW_OK);
        csaw_memory_free(device, there);
        csaw_memory_free(device, nullptr);
    }
}

TEST(Memory, OfNoBytes) {
    void *there = nullptr;
    ASSERT_EQ(csaw_memory_alloc("cpu", 0, &there), CSAW_OK);
    EXPECT_NE(there, nullptr);
    EXPECT_EQ(csaw_memory_write("cpu", there, nullptr, 0), CSAW_OK);
    EXPECT_EQ(csaw_memory_read("cpu", nullptr, there, 0), CSAW_OK);
    csaw_memory_free("cpu", there);
}

TEST(Memory, Refused) {
    void *there = &there;
    char here[4] = {};
    EXPECT_EQ(csaw_memory_alloc("gpu", 4, &there), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("device 'gpu' is not known"), std::string::npos);
    EXPECT_EQ(csaw_memory_wait("cuda:"), CSAW_EINVAL);
    EXPECT_EQ(csaw_memory_alloc("cpu", UINT64_MAX / 2, &there), CSAW_ENOMEM);
    EXPECT_EQ(fail_every_allocation([&] {
                  void *memory = nullptr;
                  const csaw_status status = csaw_memory_alloc("cpu", 4, &memory);
                  EXPECT_EQ(status == CSAW_OK, memory != nullptr);
                  csaw_memory_free("cpu", memory);
                  return status;
              }),
              1u);
    EXPECT_EQ(there, &there); // untouched
    EXPECT_EQ(csaw_memory_write("cpu", nullptr, here, 4), CSAW_EINVAL);
    EXPECT_EQ(csaw_memory_read("cpu", here, nullptr, 4), CSAW_EINVAL);
}

} // namespace
