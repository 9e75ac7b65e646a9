/* SPDX-License-Identifier: MIT */
/* tests/queues_test.cc - queues of partitions hold what was put into them, however little room they have: every entry
 * comes out once, at the partition of its vertex, and what finds no room is refused, not lost. */
#include "partition/queues.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace {

// Four vertices without arcs, one a partition.
class Queues : public ::testing::Test {
  protected:
    void Open(uint64_t room, uint64_t spill_room) {
        csaw_csr csr = {};
        csr.num_vertices = 4;
        csr.rowptr = rowptr;
        ASSERT_EQ(CSAW_OK, csaw__ranges_create(&csr, 4, 8, 4, &ranges));
        ring.resize(4 * room);
        spilled.resize(spill_room);
        spill = {spilled.data(), 0, spill_room, 0};
        ASSERT_EQ(CSAW_OK, csaw__queues_create(&ranges, ring.data(), room, &queues));
    }
    void TearDown() override {
        csaw__queues_free(&queues);
        csaw__ranges_clear(&ranges);
    }
    static csaw__active Entry(uint64_t number, csaw_vertex v) { return {number, v, 0}; }

    const csaw_edge rowptr[5] = {0, 0, 0, 0, 0};
    csaw__ranges ranges = {};
    csaw__queues queues = {};
    csaw__spill spill = {};
    std::vector<csaw__active> ring, spilled;
};

TEST_F(Queues, FullRingsSpillAndFullSpillsRefuse) {
    Open(2, 3);
    EXPECT_TRUE(csaw__queues_push(&queues, &spill, Entry(1, 0)));
    EXPECT_TRUE(csaw__queues_push(&queues, &spill, Entry(2, 0)));
    EXPECT_EQ(spill.count, 0u);
    for (uint64_t i = 3; i <= 5; i++) EXPECT_TRUE(csaw__queues_push(&queues, &spill, Entry(i, 0)));
    EXPECT_EQ(spill.count, 3u);
    EXPECT_FALSE(csaw__queues_push(&queues, &spill, Entry(6, 0)));
    EXPECT_TRUE(csaw__queues_push(&queues, &spill, Entry(7, 1))) << "another ring has room";
    EXPECT_EQ(csaw__queues_waiting(&queues, 0), 2u) << "what is in the spill is not there yet";
    EXPECT_EQ(CSAW_OK, csaw__queues_unload(&queues, &spill));
    EXPECT_EQ(csaw__queues_waiting(&queues, 0), 5u);
    EXPECT_EQ(queues.num_spilled, 3u);
}

TEST_F(Queues, WhatIsInHandKeepsAPlace) {
    Open(1, 4);
    ASSERT_TRUE(csaw__queues_push(&queues, &spill, Entry(1, 0)));
    csaw__active hand[4];
    ASSERT_EQ(csaw__queues_take(&queues, 0, &spill, hand, 4), 1u);
    uint64_t taken = 0;
    while (csaw__queues_push(&queues, &spill, Entry(2 + taken, 0))) taken++;
    EXPECT_EQ(taken, 4u) << "one in the ring, three of four in the spill";
    csaw__queues_put(&queues, &spill, hand[0]);
    EXPECT_EQ(spill.count, 4u);
    EXPECT_EQ(csaw__queues_take(&queues, 0, &spill, hand, 4), 0u) << "the spill is full";
}

// Entries of a tree: each leads to three more until the depth is 6, whatever the room.
TEST_F(Queues, EveryEntryComesOnceWhateverTheRoom) {
    for (uint64_t room : {1, 2, 7, 1000})
        for (uint64_t spill_room : {2, 3, 10, 1000}) {
            SCOPED_TRACE(std::to_string(room) + " and " + std::to_string(spill_room));
            Open(room, spill_room);
            std::map<uint64_t, int> seen;
            ASSERT_EQ(CSAW_OK, csaw__queues_add(&queues, Entry(1, 0)));
            uint64_t launches = 0;
            for (uint32_t part = 0, idle = 0; idle <= 4; part = (part + 1) % 4, idle++) {
                if (csaw__queues_waiting(&queues, part) == 0) continue;
                idle = 0;
                ASSERT_LT(launches++, 100000u);
                csaw__queues_fill(&queues, part);
                csaw__active hand[5];
                while (const uint64_t n = csaw__queues_take(&queues, part, &spill, hand, 5)) {
                    for (uint64_t i = 0; i < n; i++) {
                        csaw__active &e = hand[i];
                        ASSERT_EQ(e.vertex, part);
                        for (; e.state < 3 && e.instance_depth <= 364; e.state++) { // 1 + 3 + .. + 243 lead on
                            const uint64_t child = 3 * e.instance_depth - 1 + e.state;
                            if (!csaw__queues_push(&queues, &spill, Entry(child, child % 4))) break;
                        }
                        if (e.state == 3 || e.instance_depth > 364) {
                            seen[e.instance_depth]++;
                            e.state = CSAW__FINISHED;
                        }
                        csaw__queues_put(&queues, &spill, e);
                    }
                }
                ASSERT_EQ(CSAW_OK, csaw__queues_unload(&queues, &spill));
            }
            EXPECT_EQ(seen.size(), 1093u); // (3^7 - 1) / 2
            for (const auto &[number, times] : seen) ASSERT_EQ(times, 1) << number;
            if (room < 1000) {
                EXPECT_GT(queues.num_spilled, 0u);
            }
            TearDown();
            queues = {};
        }
}

TEST_F(Queues, ClearedQueuesAreEmpty) {
    Open(1, 2);
    ASSERT_TRUE(csaw__queues_push(&queues, &spill, Entry(1, 2)));
    ASSERT_EQ(CSAW_OK, csaw__queues_add(&queues, Entry(2, 2)));
    csaw__queues_clear(&queues);
    EXPECT_EQ(csaw__queues_waiting(&queues, 2), 0u);
}

} // namespace
