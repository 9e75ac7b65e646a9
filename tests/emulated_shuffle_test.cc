/* SPDX-License-Identifier: MIT */
/* tests/emulated_shuffle_test.cc - UNIFORM's picks by a warp (samplers/select/shuffle_team.cuh), emulated, are those by
 * one thread of the CPU. */
#include <gtest/gtest.h>

#include "tests/emulated_gpu.h"
// device code
#include "samplers/select/shuffle_team.cuh"

namespace {

csaw__choice ChoiceOf(uint64_t instance, uint64_t n) {
    return {42, instance, 3, 5, 0, n, nullptr, nullptr, nullptr, n};
}

std::vector<uint64_t> ByOneThread(const csaw__choice &choice, uint32_t k, bool replace) {
    std::vector<uint64_t> taken(4 * k + 8), pick(k);
    std::vector<uint32_t> open(k);
    csaw__scratch scratch = {};
    scratch.taken = taken.data();
    scratch.pick = pick.data();
    scratch.open = open.data();
    csaw__pick_uniform(&choice, &scratch, k, replace);
    return pick;
}

std::vector<uint64_t> ByAWarp(const csaw__choice &choice, uint32_t k, bool replace) {
    std::vector<uint64_t> work(uint64_t{CSAW__PICK_WORDS} * k, 0x5555555555555555), pick(k, ~uint64_t{0});
    emulated::RunBlocks(
        1, 32, [&] { EXPECT_EQ(csaw__team_uniform(csaw__team(), &choice, k, replace, work.data(), pick.data()), k); });
    return pick;
}

TEST(EmulatedShuffle, PicksWhatOneThreadPicks) {
    for (uint32_t k : {1u, 2u, 10u, 31u, 32u, 33u, 64u, 100u, 333u})
        for (uint64_t n :
             {uint64_t{k} + 1, uint64_t{k} + k / 2 + 1, uint64_t{50} * k, uint64_t{3} << 30, uint64_t{5} << 32})
            for (uint64_t instance = 0; instance < (k < 64 ? 4u : 1u); instance++)
                for (bool replace : {false, true}) {
                    const csaw__choice choice = ChoiceOf(instance, n);
                    EXPECT_EQ(ByAWarp(choice, k, replace), ByOneThread(choice, k, replace))
                        << k << " of " << n << ", instance " << instance << (replace ? ", with replacement" : "");
                }
}

// As instances by themselves have it (pick_group.cuh): groups of lanes, each with a list of its own, some with none.
TEST(EmulatedShuffle, GroupsOfLanesDoNotMix) {
    for (uint32_t k : {1u, 2u, 3u, 5u, 10u, 16u})
        for (uint32_t n : {k + 1, k + 3, 40 * k})
            for (uint64_t seed = 0; seed < 6; seed++) {
                const uint32_t rows = 32 / k;
                uint32_t got[32];
                emulated::RunBlocks(1, 32, [&] {
                    const uint32_t lane = threadIdx.x;
                    const uint32_t row = lane / k, slot = lane % k;
                    const bool live = row < rows && row != 1; /* row 1 has nothing to pick */
                    const csaw__choice choice = ChoiceOf(100 * seed + row, n);
                    const uint32_t group = live ? ((k == 32 ? 0 : 1u << k) - 1) << row * k : 0;
                    uint32_t rank = live ? static_cast<uint32_t>(csaw__slot_place(&choice, slot, false)) : 0,
                             own = slot;
                    csaw__swap_lanes(group, 0, rank, false, &rank, &own);
                    got[lane] = rank;
                });
                for (uint32_t row = 0; row < rows; row++) {
                    if (row == 1) continue;
                    const std::vector<uint64_t> expected = ByOneThread(ChoiceOf(100 * seed + row, n), k, false);
                    for (uint32_t slot = 0; slot < k; slot++)
                        EXPECT_EQ(got[row * k + slot], expected[slot]) << k << " of " << n << ", row " << row;
                }
            }
}

} // namespace
