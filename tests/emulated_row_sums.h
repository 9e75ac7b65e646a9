/* SPDX-License-Identifier: MIT */
/* tests/emulated_row_sums.h - sums of a row's masses, what numbers fall to, and many picks by them, on an emulated GPU
 * (samplers/select/row_sums.cuh, pick_team.cuh, pick_block.cuh). Included after tests/emulated_gpu.h, a sampler whose
 * hooks are of the test's own, and BiasOf(), which says what they say; SUITE: the tests' name. */
#include <algorithm>
#include <cmath>

#include "samplers/select/pick_block.cuh"

namespace {

// A row of n arcs, and what the reference says of it: inclusive sums of masses, in the order of the arcs. Others come
// before it and after it, which are not to be looked at; `astray` entries before the arrays are in none.
struct Row {
    static constexpr uint32_t after = 9;
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
    std::vector<uint64_t> upto;
    csaw__job job = {};
    csaw_site site = {};
    unsigned long long fault = ~0ull;

    Row(uint32_t n, uint32_t largest_at, uint32_t before = 0, uint32_t astray = 0)
        : col(astray + before + n + after, CSAW_NONE), weight(astray + before + n + after, NAN), upto(n) {
        const uint32_t first = astray + before;
        for (uint32_t i = 0; i < n; i++) {
            col[first + i] = i;
            weight[first + i] = i == largest_at ? std::ldexp(1.0f, 40) : 0.25f + static_cast<float>(i % 3);
        }
        job.rows.col = col.data() + astray;
        job.rows.weight = weight.data() + astray;
        job.fault = &fault;
        site.job = &job;
        site.row = before;
        site.degree = n;
        double largest = 0;
        csaw_arc arc = {};
        std::vector<double> bias(n);
        for (arc.rank = 0; arc.rank < n; arc.rank++) {
            arc.weight = weight[first + arc.rank];
            bias[arc.rank] = BiasOf(&site, &arc);
            largest = std::fmax(largest, bias[arc.rank]);
        }
        const int exponent = largest > 0 ? 61 - static_cast<int>(std::ceil(std::log2(n))) - std::ilogb(largest) : 0;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (bias[i] > 0) sum += std::max(uint64_t{1}, static_cast<uint64_t>(std::ldexp(bias[i], exponent)));
            upto[i] = sum;
        }
    }
};

void ExpectTheSums(uint32_t n, uint32_t largest_at, uint64_t room, uint32_t before, uint32_t astray) {
    Row row(n, largest_at, before, astray);
    std::vector<uint64_t> upto(room ? std::min<uint64_t>(room, csaw__sums_room(n)) : 0, ~0ull);
    uint64_t place[32], below[32], mass[32];
    emulated::RunBlocks(1, 32, [&] {
        const csaw__team team;
        csaw__row_mass sums;
        EXPECT_TRUE(csaw__team_sums(team, &row.site, upto.data(), room, &sums));
        EXPECT_EQ(sums.sum, row.upto[n - 1]);
        if (room == 0 || sums.sum == 0) return;
        EXPECT_LE(sums.parts, room);
        EXPECT_GE(uint64_t{sums.parts} * sums.per, n + sums.begin);
        for (uint64_t part = team.lane; part < sums.parts; part += 32)
            EXPECT_EQ(upto[part], row.upto[std::min<uint64_t>(n, (part + 1) * sums.per - sums.begin) - 1]) << part;
        const uint64_t x = team.lane * ((sums.sum - 1) / 31); // lanes 5 and 9 ask nothing
        const bool asks = team.lane != 5 && team.lane != 9;
        place[team.lane] = csaw__team_find(team, &row.site, &sums, asks, x, &below[team.lane], &mass[team.lane]);
        if (!asks) return;
        const uint64_t first = std::upper_bound(row.upto.begin(), row.upto.end(), x) - row.upto.begin();
        EXPECT_EQ(place[team.lane], first) << "lane " << team.lane;
        EXPECT_EQ(below[team.lane], first ? row.upto[first - 1] : 0);
        EXPECT_EQ(mass[team.lane], row.upto[first] - below[team.lane]);
    });
    EXPECT_EQ(row.fault, ~0ull);
}

TEST(SUITE, SumsOfRowsAndWhatNumbersFallTo) {
    for (uint32_t n :
         {1u, 2u, 5u, 31u, 127u, 128u, 129u, 255u, 256u, 257u, 640u, 1024u, 1025u, 5000u, 9001u, 40000u, 70001u})
        for (uint32_t largest_at : {0u, n / 2, n - 1}) // found at once, or the row is added up twice
            for (uint64_t room : {uint64_t{0}, uint64_t{CSAW__PARTS}, csaw__sums_room(n)}) {
                SCOPED_TRACE(testing::Message() << n << " arcs, the largest at " << largest_at << ", room " << room);
                ExpectTheSums(n, largest_at, room, n % 11, 0);
            }
}

// -0 is a bias of 0 wherever it stands: alone, first, or among others.
TEST(SUITE, NegativeZeroIsZero) {
    for (uint32_t n : {1u, 3u, 300u, 3000u})
        for (const bool alone : {true, false})
            for (uint64_t room : {uint64_t{0}, uint64_t{CSAW__PARTS}}) {
                Row row(n, n, 3);
                uint64_t sum = 0;
                csaw_arc arc = {};
                for (uint32_t i = 0; i < n; i++) row.weight[3 + i] = alone || i < n / 2 ? -0.0f : 1.0f;
                double largest = 0;
                std::vector<double> bias(n);
                for (arc.rank = 0; arc.rank < n; arc.rank++) {
                    arc.weight = row.weight[3 + arc.rank];
                    bias[arc.rank] = BiasOf(&row.site, &arc);
                    largest = std::fmax(largest, bias[arc.rank]);
                }
                const int exponent =
                    61 - static_cast<int>(std::ceil(std::log2(n))) - (largest > 0 ? std::ilogb(largest) : 0);
                for (double b : bias)
                    sum += b > 0 ? std::max(uint64_t{1}, static_cast<uint64_t>(std::ldexp(b, exponent))) : 0;
                std::vector<uint64_t> upto(CSAW__PARTS);
                emulated::RunBlocks(1, 32, [&] {
                    csaw__row_mass sums;
                    EXPECT_TRUE(csaw__team_sums(csaw__team(), &row.site, upto.data(), room, &sums));
                    EXPECT_EQ(sums.sum, sum) << n << " arcs, room " << room;
                });
                EXPECT_EQ(row.fault, ~0ull);
            }
}

// Wherever the row begins in its arrays, and the arrays in memory.
TEST(SUITE, SumsOfRowsAnywhereInMemory) {
    for (uint32_t n : {1u, 7u, 8u, 20u, 300u, 3000u})
        for (uint32_t before : {0u, 1u, 3u, 4u, 7u, 8u, 13u})
            for (uint32_t astray : {0u, 1u, 2u, 3u}) {
                SCOPED_TRACE(testing::Message() << n << " arcs behind " << before << ", astray by " << astray);
                ExpectTheSums(n, n / 2, CSAW__PARTS, before, astray);
            }
}

TEST(SUITE, ABrokenBiasAnywhereIsTold) {
    for (uint32_t n : {1u, 130u, 3000u})
        for (uint32_t at : {0u, n - 1})
            for (float bad : {-1.0f, NAN, INFINITY}) {
                if (at % 7 == 3) continue; // its factor is 0
                Row row(n, 0, 5);
                row.weight[5 + at] = bad;
                std::vector<uint64_t> upto(CSAW__PARTS);
                emulated::RunBlocks(1, 32, [&] {
                    csaw__row_mass sums;
                    EXPECT_FALSE(csaw__team_sums(csaw__team(), &row.site, upto.data(), CSAW__PARTS, &sums));
                });
                EXPECT_EQ(row.fault, 0u) << "instance 0, depth 0";
            }
}

// k picks of a row, as docs/stream.md has them, one slot after the other; in fewer rounds, others.
std::vector<uint64_t> PicksByTheBook(const Row &row, uint32_t k, uint32_t rounds = 8) {
    std::vector<uint64_t> picks;
    std::vector<uint32_t> open(k), next;
    for (uint32_t s = 0; s < k; s++) open[s] = s;
    const uint64_t sum = row.upto.back();
    const auto find = [&](uint64_t x) {
        return static_cast<uint64_t>(std::upper_bound(row.upto.begin(), row.upto.end(), x) - row.upto.begin());
    };
    const auto mass = [&](uint64_t i) { return row.upto[i] - (i ? row.upto[i - 1] : 0); };
    const auto number = [&](uint32_t slot, uint32_t draw, uint32_t half) {
        const csaw_block block =
            csaw_draw(row.job.seed, row.site.instance, row.site.depth, row.site.at, CSAW_DRAW_PICK, slot * 16 + draw);
        return csaw_half(&block, half);
    };
    for (uint32_t round = 0; round < rounds; round++) {
        std::vector<uint64_t> earlier = picks;
        const auto taken = [&](uint64_t i) { return std::find(earlier.begin(), earlier.end(), i) != earlier.end(); };
        next.clear();
        for (uint32_t slot : open) {
            uint64_t i = find(csaw_below(round ? number(slot, round, 0) : number(slot & ~1u, 0, slot & 1), sum));
            bool failed = false;
            if (round && taken(i)) {
                const uint64_t m = mass(i), below = row.upto[i] - m;
                failed = m == sum;
                if (!failed) {
                    const uint64_t y = csaw_below(number(slot, round, 1), sum - m);
                    i = find(y >= below ? y + m : y);
                    failed = taken(i);
                }
            }
            if (failed || std::find(picks.begin(), picks.end(), i) != picks.end())
                next.push_back(slot);
            else
                picks.push_back(i);
        }
        open = next;
    }
    for (uint32_t slot : open) {
        uint64_t left = sum;
        for (uint64_t i : picks) left -= mass(i);
        if (left == 0) break;
        const uint64_t x = csaw_below(number(slot, 8, 0), left);
        uint64_t below = 0;
        for (uint64_t i = 0;; i++) {
            if (std::find(picks.begin(), picks.end(), i) != picks.end()) continue;
            below += mass(i);
            if (below <= x) continue;
            picks.push_back(i);
            break;
        }
    }
    return picks;
}

// Few picks and many; in rows where most of them are left after the rounds, too.
TEST(SUITE, PicksAreThoseOfTheBook) {
    for (uint32_t n : {50u, 300u, 3000u})
        for (uint32_t k : {3u, 20u, 32u, 33u, 45u})
            for (uint32_t largest_at : {0u, n / 2}) {
                Row row(n, largest_at, k % 9);
                row.job.seed = 5;
                row.job.kernel = CSAW__KERNEL_ITS;
                row.site.instance = n + k;
                row.site.at = 3;
                const std::vector<uint64_t> expected = PicksByTheBook(row, k);
                std::vector<uint64_t> work(csaw__pick_words(&row.job, k, n) + 1), pick(k, ~uint64_t{0});
                std::vector<uint64_t> parts(CSAW__PARTS);
                std::vector<uint32_t> few(2 * CSAW__TEAM_PICKS);
                uint32_t got = 0;
                emulated::RunBlocks(1, 32, [&] {
                    const csaw__pick_room room = {few.data(), few.data() + CSAW__TEAM_PICKS, parts.data(), work.data()};
                    const uint32_t all =
                        csaw__team_picks<CSAW__KERNEL_ITS>(csaw__team(), &row.site, k, room, pick.data());
                    if (threadIdx.x == 0) got = all;
                });
                pick.resize(got);
                EXPECT_EQ(pick, expected) << k << " of " << n << ", the largest at " << largest_at;
            }
}

// A hub's: few picks by sums in shared memory, more by sums of runs; of the last row not all parts have as many arcs.
// Of the first, few have most of the mass, so that the eighth round still picks: seven would give other arcs.
TEST(SUITE, PicksOfABlockAreThoseOfTheBook) {
    bool of_eighth[2] = {};
    for (uint32_t n : {300u, 301u, 302u, 303u, 304u, 305u, 3000u, 16384u, 20011u})
        for (uint32_t k : {1u, 32u, 33u, 200u})
            for (uint32_t largest_at : {0u, n / 2}) {
                Row row(n, largest_at, k % 9);
                row.job.seed = 5;
                row.job.kernel = CSAW__KERNEL_ITS;
                row.site.instance = n + k;
                row.site.at = 3;
                const std::vector<uint64_t> expected = PicksByTheBook(row, k);
                of_eighth[k > CSAW__TEAM_PICKS] |= expected != PicksByTheBook(row, k, 7);
                std::vector<uint64_t> work(csaw__pick_words(&row.job, k, n) + 1, 7), pick(k, ~uint64_t{0});
                uint32_t got = 0;
                emulated::RunBlocks(1, CSAW__BLOCK, [&] {
                    const uint32_t all = csaw__block_its(csaw__team(), &row.site, k, work.data(), pick.data());
                    if (threadIdx.x == 0) got = all;
                });
                pick.resize(got);
                EXPECT_EQ(pick, expected) << k << " of " << n << ", the largest at " << largest_at;
                EXPECT_EQ(work.back(), 7u) << "behind the memory to pick in";
            }
    EXPECT_TRUE(of_eighth[0]) << "few picks";
    EXPECT_TRUE(of_eighth[1]) << "many";
}

// Of a row without a positive bias nothing, whatever memory there is; a bias that breaks the rules is told.
TEST(SUITE, ABlockFindsRowsOfZerosAndBadBiases) {
    for (uint32_t k : {1u, 40u})
        for (float bias : {0.0f, NAN}) {
            Row row(17000, 0, 0);
            std::fill(row.weight.begin(), row.weight.end(), bias);
            row.job.kernel = CSAW__KERNEL_ITS;
            std::vector<uint64_t> work(csaw__pick_words(&row.job, k, 17000)), pick(k);
            uint32_t got = 7;
            emulated::RunBlocks(1, CSAW__BLOCK, [&] {
                const uint32_t all = csaw__block_its(csaw__team(), &row.site, k, work.data(), pick.data());
                if (threadIdx.x == 0) got = all;
            });
            EXPECT_EQ(got, bias == 0 ? 0 : CSAW__BROKEN_PICKS) << k << " by " << bias;
            EXPECT_EQ(row.fault == 0, bias != 0) << "instance 0, depth 0";
        }
}

} // namespace
