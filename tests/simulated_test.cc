/* SPDX-License-Identifier: MIT */
/* tests/simulated_test.cc - the simulated device refuses what a GPU would answer with garbage: reading a partition that
 * is not there yet or no longer, writing over one that runs, more memory than there is. */
#include "partition/simulated.h"
#include "tests/reference/graphs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

class Simulated : public ::testing::Test {
  protected:
    void SetUp() override {
        graph = reference::small_graph("weighted");
        device.csr = graph.csr();
        ASSERT_EQ(CSAW_OK, csaw__ranges_create(&device.csr, 3, 8, 8, &ranges));
        ring.resize(3 * 8);
        ASSERT_EQ(CSAW_OK, csaw__queues_create(&ranges, ring.data(), 8, &queues));
        device.ranges = &ranges;
        device.queues = &queues;
        device.slot_bytes = 4096;
        device.spill_room = 8;
        device.work = {this, Run};
        view = csaw__simulated_device(&device);
    }
    void TearDown() override {
        csaw__simulated_close(&device);
        csaw__queues_free(&queues);
        csaw__ranges_clear(&ranges);
    }
    csaw_status Open() { return view.allocate(view.self, 2, 2); }
    csaw_status Copy(uint32_t part, uint32_t slot, uint32_t stream) { return view.copy(view.self, part, slot, stream); }
    csaw_status Launch(uint32_t part, uint32_t slot, uint32_t stream) {
        return view.launch(view.self, part, slot, stream, 4);
    }
    uint32_t Wait() {
        uint32_t stream = 99;
        EXPECT_EQ(CSAW_OK, view.wait(view.self, &stream)) << csaw_last_error();
        return stream;
    }
    // Compares the rows that it is given with the graph's, and finishes its entries.
    static csaw_status Run(void *self, const csaw__rows *rows, csaw__active *entry, uint64_t n, const csaw__outlet *) {
        auto *test = static_cast<Simulated *>(self);
        const csaw_csr &csr = test->device.csr;
        EXPECT_EQ(rows->first, test->ranges.first[test->expected]);
        for (csaw_vertex v = 0; v < rows->count; v++) {
            const csaw_edge first = csr.rowptr[rows->first + v], end = csr.rowptr[rows->first + v + 1];
            const uint64_t *offset = static_cast<const uint64_t *>(rows->offset) + v;
            EXPECT_EQ(offset[1] - offset[0], end - first);
            for (csaw_edge e = first; e < end; e++) {
                EXPECT_EQ(rows->col[offset[0] + e - first], csr.col[e]);
                EXPECT_EQ(rows->weight[offset[0] + e - first], csr.weight[e]);
            }
        }
        for (uint64_t i = 0; i < n; i++) entry[i].state = CSAW__FINISHED;
        test->finished += n;
        return CSAW_OK;
    }
    void Add(csaw_vertex v, int times) {
        for (int i = 0; i < times; i++) ASSERT_EQ(CSAW_OK, csaw__queues_add(&queues, {0, v, 0}));
    }

    reference::Graph graph;
    csaw__ranges ranges = {};
    csaw__queues queues = {};
    csaw__simulated device = {};
    csaw__part_device view = {};
    std::vector<csaw__active> ring;
    uint64_t finished = 0;
    uint32_t expected = 0; // the partition that runs
};

TEST_F(Simulated, CopiesWhatItSaysAndCountsIt) {
    ASSERT_EQ(CSAW_OK, Open());
    uint64_t bytes = 0;
    for (uint32_t part = 0; part < 3; part++) {
        const csaw_vertex first = ranges.first[part], end = ranges.first[part + 1];
        bytes += 8 * (end - first + uint64_t{1}) + 8 * (device.csr.rowptr[end] - device.csr.rowptr[first]);
        ASSERT_EQ(CSAW_OK, Copy(part, 1, 0));
        EXPECT_EQ(Wait(), 0u);
        Add(first, 3);
        expected = part;
        ASSERT_EQ(CSAW_OK, Launch(part, 1, 1));
        EXPECT_EQ(Wait(), 1u);
    }
    EXPECT_EQ(finished, 9u);
    EXPECT_EQ(device.copies, 3u);
    EXPECT_EQ(device.copied_bytes, bytes);
}

TEST_F(Simulated, NothingIsReadBeforeItsCopyEnded) {
    ASSERT_EQ(CSAW_OK, Open());
    EXPECT_EQ(CSAW_EINVAL, Launch(0, 0, 0));
    ASSERT_EQ(CSAW_OK, Copy(0, 0, 0));
    EXPECT_EQ(CSAW_EINVAL, Launch(0, 0, 1)) << "from another stream";
    EXPECT_EQ(CSAW_EINVAL, Launch(0, 0, 0)) << "from its own";
    Wait();
    EXPECT_EQ(CSAW_EINVAL, Launch(1, 0, 0)) << "another partition";
    EXPECT_EQ(CSAW_OK, Launch(0, 0, 0));
}

TEST_F(Simulated, NothingIsReadAfterItsEviction) {
    ASSERT_EQ(CSAW_OK, Open());
    ASSERT_EQ(CSAW_OK, Copy(0, 0, 0));
    Wait();
    ASSERT_EQ(CSAW_OK, Copy(1, 0, 0));
    EXPECT_EQ(CSAW_EINVAL, Launch(0, 0, 1));
    Wait();
    EXPECT_EQ(CSAW_EINVAL, Launch(0, 0, 1));
    EXPECT_EQ(CSAW_OK, Launch(1, 0, 1));
}

TEST_F(Simulated, NothingIsWrittenOverThatRuns) {
    ASSERT_EQ(CSAW_OK, Open());
    ASSERT_EQ(CSAW_OK, Copy(0, 0, 0));
    EXPECT_EQ(CSAW_EINVAL, Copy(1, 0, 1)) << "while it is copied to";
    Wait();
    ASSERT_EQ(CSAW_OK, Launch(0, 0, 0));
    EXPECT_EQ(CSAW_EINVAL, Copy(1, 0, 1)) << "while it runs";
    EXPECT_EQ(CSAW_EINVAL, Copy(1, 1, 0)) << "on a stream that is at work";
    EXPECT_EQ(CSAW_OK, Copy(1, 1, 1));
}

TEST_F(Simulated, MemoryEndsAtTheBudget) {
    device.memory = 2 * 4096 + 2 * 8 * sizeof(csaw__active) + 100;
    ASSERT_EQ(CSAW_OK, Open()) << csaw_last_error();
    EXPECT_EQ(device.used, device.memory - 100);
    void *memory = nullptr;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__simulated_alloc(&device, 101, "a test", &memory));
    EXPECT_NE(std::string(csaw_last_error()).find("a test: 101 bytes"), std::string::npos) << csaw_last_error();
    ASSERT_EQ(CSAW_OK, csaw__simulated_alloc(&device, 100, "a test", &memory));
    EXPECT_EQ(device.peak, device.memory);
    csaw__simulated_free(&device, memory, 100);
    csaw__simulated_close(&device);
    EXPECT_EQ(device.used, 0u);
}

TEST_F(Simulated, ASlotTooSmallIsSaid) {
    device.slot_bytes = 16;
    ASSERT_EQ(CSAW_OK, Open());
    EXPECT_EQ(CSAW_EDEVMEM, Copy(0, 0, 0));
}

// The same two copies end in several orders, by the seed.
TEST_F(Simulated, TheSeedDecidesWhatEndsFirst) {
    int first_of[2] = {0, 0};
    ASSERT_EQ(CSAW_OK, Open());
    for (uint64_t seed = 1; seed <= 20; seed++) {
        device.seed = seed;
        ASSERT_EQ(CSAW_OK, Copy(0, 0, 0));
        ASSERT_EQ(CSAW_OK, Copy(1, 1, 1));
        first_of[Wait()]++;
        Wait();
    }
    EXPECT_GT(first_of[0], 2);
    EXPECT_GT(first_of[1], 2);
}

} // namespace
