/* SPDX-License-Identifier: MIT */
/* tests/samples_order_test.cc - in which order samples are drawn on partitions: whatever waits at a partition is
 * expanded, depths mixed, where the sampler allows it, once each; else, and in memory, one depth after the other. */
#include "runtime/engine/parts.h"
#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

CSAW_DECLARE_SAMPLER(noting);
CSAW_DECLARE_SAMPLER(noting_by_depth);

namespace {

struct Note { // as in tests/samplers/noting.h
    uint64_t instance;
    uint32_t depth;
    csaw_vertex vertex;
    bool operator<(const Note &other) const {
        return std::tie(instance, depth, vertex) < std::tie(other.instance, other.depth, other.vertex);
    }
    bool operator==(const Note &other) const { return !(*this < other) && !(other < *this); }
};
struct Notes {
    uint64_t count, room;
    Note *note;
};

const uint32_t fanout[] = {2, 3, 2, 2};

// queue: entries of a queue of partitions, and of what overflows it; 0 = enough.
std::vector<Note> notes_of(const csaw_csr &csr, const csaw_sampler *sampler, int partitions, uint64_t queue = 0) {
    const auto graph = reference::borrow(csr);
    const csaw_plan_options options = reference::plan_on("cpu", 1, partitions);
    std::vector<Note> room(1 << 16);
    Notes notes = {0, room.size(), room.data()};
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&notes));
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 4;
    run.fanout = fanout;
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    EXPECT_EQ(CSAW_OK, csaw_plan_create(graph.get(), &options, &plan)) << csaw_last_error();
    if (queue) plan->parts->queue_room = plan->parts->spill_room = queue;
    EXPECT_EQ(CSAW_OK, csaw_sample(plan, sampler, &address, nullptr, &run, &samples)) << csaw_last_error();
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    EXPECT_LE(notes.count, room.size());
    room.resize(notes.count);
    return room;
}

// Vertices that were expanded after a deeper one of their instance.
uint64_t out_of_order(const std::vector<Note> &notes) {
    std::map<uint64_t, uint32_t> deepest;
    uint64_t count = 0;
    for (const Note &note : notes) {
        uint32_t &depth = deepest[note.instance];
        count += note.depth < depth;
        depth = std::max(depth, note.depth);
    }
    return count;
}

std::vector<Note> sorted(std::vector<Note> notes) {
    std::sort(notes.begin(), notes.end());
    return notes;
}

TEST(Order, PartitionsMixDepthsWhereNothingAsksForAnOrder) {
    const reference::Graph graph = reference::small_graph("karate");
    const std::vector<Note> whole = notes_of(graph.csr(), &noting, 0);
    ASSERT_GT(whole.size(), 34u * 4);
    EXPECT_EQ(0u, out_of_order(whole));
    for (int partitions : {2, 3, 17}) {
        SCOPED_TRACE(partitions);
        const std::vector<Note> mixed = notes_of(graph.csr(), &noting, partitions);
        EXPECT_GT(out_of_order(mixed), 0u);
        EXPECT_EQ(sorted(whole), sorted(mixed)) << "every vertex is expanded, and once alone";
        for (uint64_t queue : {2, 3, 10})
            EXPECT_EQ(sorted(whole), sorted(notes_of(graph.csr(), &noting, partitions, queue)))
                << "and once alone where it waits for room: " << queue;
        EXPECT_EQ(0u, out_of_order(notes_of(graph.csr(), &noting_by_depth, partitions)));
    }
    EXPECT_EQ(0u, out_of_order(notes_of(graph.csr(), &noting_by_depth, 0)));
}

} // namespace
