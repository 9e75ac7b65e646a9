// SPDX-License-Identifier: MIT
// tests/spread_refused_test.cc - a walker that a launch finds not to be of its batch: the rank that sent it is named,
// by the batch that it came with, straight to the GPU's memory; the rank itself, of what the host took in and looked at
// (runtime/engine/spread_walk_gpu.c). The GPU is functions of this file.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include <csaw/samplers.h>

extern "C" {
#include "runtime/engine/spread_walk.h"
}

namespace {

const uint32_t here = 4; // the rank
uint64_t odd, walkers;   // the slot that is found; how many are before those that ask
char gpu;

csaw__walker_message walker(uint64_t kind, uint64_t bytes, uint64_t walk) {
    return {kind << 60 | bytes / 8 << 44 | walk, 1, 2, 3, 1, {}};
}

} // namespace

extern "C" {

void *csaw__spread_gpu_place(csaw__spread_gpu *, uint32_t, uint64_t, uint64_t) { return &gpu; }

csaw_status csaw__spread_gpu_step(csaw__spread_gpu *, const csaw__arrivals *in, csaw__left *left) {
    EXPECT_EQ(4u, in->walkers_there);
    EXPECT_EQ(2u, in->num_walkers);
    EXPECT_EQ(1u, in->num_asking);
    EXPECT_EQ(5u, in->asking_there);
    *left = {nullptr, nullptr, 0, 0, UINT64_MAX, odd};
    return CSAW_OK;
}

csaw_status csaw__spread_gpu_message(csaw__spread_gpu *, uint64_t slot, unsigned char *message, bool *asks) {
    *asks = slot >= walkers;
    csaw__walker_message m =
        walker(*asks ? CSAW__ASKING : CSAW__WALKER, *asks ? 24 + sizeof(csaw__walker_question) : 24, 77);
    csaw__walker_question q = {};
    q.state = CSAW__PART_KNOWS;
    std::memcpy(message, &m, 24);
    std::memcpy(message + 24, &q, sizeof q);
    return CSAW_OK;
}

} // extern "C"

TEST(SpreadRefused, WhoSentIt) {
    // Slots: three of rank 2 and one of rank 1; two of the host's; one of the host's that asks; those that ask, the
    // batch of rank 6 before that of rank 5, which came first.
    const uint32_t from[] = {2, 2, 2, 1, here, here, here, 6, 6, 6, 5, 5};
    walkers = 6;
    for (odd = 0; odd < 12; odd++) {
        csaw__spread s = {};
        csaw__walks_here w = {};
        csaw__job whole = {};
        bool any = false;
        s.on.rank = here;
        s.on.size = 8;
        s.gpu = reinterpret_cast<csaw__spread_gpu *>(&gpu);
        whole.num_walks = 50;
        whole.length = 6;
        whole.num_vertices = whole.rows.count = 34;
        w.s = &s;
        w.sampler = &csaw_node2vec;
        w.whole = w.mine = &whole;
        w.at_once = 100;
        w.forms.bytes[CSAW__LIST_WALKERS] = 24;
        w.forms.bytes[CSAW__LIST_ASKING] = 24 + sizeof(csaw__walker_question);
        const auto straight = [&](uint32_t rank, uint32_t list, uint64_t count) {
            csaw__straight came = {};
            came.from = rank;
            came.kind = list;
            came.bytes = count * w.forms.bytes[list];
            ASSERT_NE(nullptr, csaw__walk_gpu_place(&w, list, came.bytes));
            ASSERT_EQ(CSAW_OK, csaw__walk_gpu_came(&w, &came));
        };
        const auto staged = [&](uint32_t kind, uint64_t bytes) {
            unsigned char message[sizeof(csaw__walker_message) + sizeof(csaw__walker_question)] = {};
            const csaw__walker_message m = walker(kind, bytes, 7);
            std::memcpy(message, &m, 24);
            ASSERT_EQ(CSAW_OK, csaw__walk_gpu_take(&w, m.head, message));
        };
        straight(2, CSAW__LIST_WALKERS, 3);
        straight(5, CSAW__LIST_ASKING, 2);
        staged(CSAW__WALKER, w.forms.bytes[CSAW__LIST_WALKERS]);
        straight(1, CSAW__LIST_WALKERS, 1);
        straight(6, CSAW__LIST_ASKING, 3);
        staged(CSAW__ASKING, w.forms.bytes[CSAW__LIST_ASKING]);
        staged(CSAW__WALKER, w.forms.bytes[CSAW__LIST_WALKERS]);
        EXPECT_EQ(CSAW_EINVAL, csaw__walk_gpu_move(&w, &any));
        const std::string want = "rank " + std::to_string(from[odd]) + " sent walk 77, ";
        EXPECT_EQ(0u, std::string(csaw_last_error()).find(want)) << odd << ": " << csaw_last_error();
        csaw__walk_gpu_end(&w);
    }
}
