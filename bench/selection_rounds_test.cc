/* SPDX-License-Identifier: MIT */
/* bench/selection_rounds_test.cc - k lanes that pick in rounds follow the law by every way but the one that the paper
 * prints, which the same test rejects: chi-square as in selection_ways.h, |z| below 4, fixed numbers. */
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

extern "C" {
#include "bench/selection_rounds.h"
}

namespace {

const uint32_t n = 40, k = 8;
const uint64_t rows = 20000;

struct Picked {
    double z;
    round_counts counts;
    std::vector<uint32_t> picks;
};

Picked pick_rows(way way, looking looking) {
    std::vector<uint64_t> upto(n);
    std::vector<double> same(n), left(n);
    std::vector<uint8_t> taken(n, 0);
    uint64_t sum = 0, bin[BINS] = {};
    Picked out = {0, {}, std::vector<uint32_t>(rows * k)};
    for (uint32_t i = 0; i < n; i++) {
        upto[i] = sum += i % 7 == 3 ? 30 + i : 1 + i % 5;
        same[i] = (double)sum;
    }
    const row law_row = {n, same.data(), left.data(), taken.data()};
    seed_numbers(1);
    for (uint64_t r = 0; r < rows; r++) {
        uint32_t *picks = out.picks.data() + r * k;
        pick_in_rounds(upto.data(), n, r, way, looking, k, picks, &out.counts);
        EXPECT_EQ(std::set<uint32_t>(picks, picks + k).size(), k) << "row " << r;
        place(&law_row, picks, k, bin);
    }
    out.z = z_of(bin);
    return out;
}

TEST(SelectionRounds, EveryWayButThePrintedFollowsTheLaw) {
    for (way way : {REPEATED, UPDATED, FRESH}) EXPECT_LT(std::fabs(pick_rows(way, LINEAR).z), 4) << way;
    EXPECT_GE(std::fabs(pick_rows(PRINTED, LINEAR).z), 4);
}

TEST(SelectionRounds, HowOneLooksChangesNoPick) {
    for (way way : {REPEATED, UPDATED, PRINTED, FRESH}) {
        const Picked list = pick_rows(way, LINEAR), bits = pick_rows(way, STRIDED);
        EXPECT_EQ(list.picks, bits.picks) << way;
        EXPECT_EQ(list.counts.trials, bits.counts.trials) << way;
        EXPECT_EQ(list.counts.searches, bits.counts.searches) << way;
    }
}

TEST(SelectionRounds, UpdatedNeverLosesToAnEarlierRound) { /* a lane fails only to a lower one of its round */
    const Picked fresh = pick_rows(FRESH, LINEAR), updated = pick_rows(UPDATED, LINEAR);
    const Picked repeated = pick_rows(REPEATED, LINEAR);
    EXPECT_LT(updated.counts.trials, fresh.counts.trials);
    EXPECT_LT(fresh.counts.trials, repeated.counts.trials);
}

} // namespace
