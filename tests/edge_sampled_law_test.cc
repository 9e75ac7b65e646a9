/* SPDX-License-Identifier: MIT */
/* tests/edge_sampled_law_test.cc - stratified sampling has the law that makes it unbiased.
 *
 * The law: slots are independent, and each takes any entry of its stratum with probability 1 / (size of the stratum).
 * Tests by chi-square with fixed seeds: |z| < 4 for the library, both ways, about 20 values of z in all, so a false
 * alarm has probability 2e-3 in all; z > 10 for every wrong sampler. Unbiasedness follows from the law by enumeration,
 * and the enumeration is done here, with the products that the library gives. */
#include "tests/edge_sampled_cases.h"
#include "tests/reference/laws.h"

#include <functional>
#include <map>

namespace {

using namespace edge_sampled;
using reference::ChiSquare;
using reference::EdgeRule;

const double threshold = 4, wrong = 10;

using Places = std::vector<uint64_t>; // of a row's slots
// Places of row r in an epoch.
using Sampler = std::function<std::vector<Places>(uint64_t n, uint32_t S, uint64_t rows, uint64_t epoch)>;

std::vector<Places> library(uint64_t n, uint32_t S, uint64_t rows, uint64_t epoch) {
    const Matrix m = matrix(std::vector<uint64_t>(rows, n), 2, false);
    const Sampled s = sample(m.view(), {CSAW_EDGES_STRATIFIED, S, false, 77, epoch});
    std::vector<Places> places(rows);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t k = s.rowptr[r]; k < s.rowptr[r + 1]; k++) places[r].push_back(s.edge[k] - m.rowptr[r]);
    return places;
}

uint64_t boundary(uint64_t n, uint32_t S, uint64_t i) { return i * n / S; }

// Wrong twins: uniform in each stratum, but ...
std::vector<Places> drawn(uint64_t n, uint32_t S, uint64_t rows, uint64_t epoch,
                          const std::function<uint64_t(uint64_t slot, uint64_t size, std::mt19937_64 &)> &within) {
    std::vector<Places> places(rows);
    std::mt19937_64 random(epoch + 1);
    for (Places &row : places)
        for (uint32_t i = 0; i < S; i++) {
            const uint64_t first = boundary(n, S, i), size = boundary(n, S, i + 1) - first;
            row.push_back(first + within(i, size, random));
        }
    return places;
}
std::vector<Places> never_the_last(uint64_t n, uint32_t S, uint64_t rows, uint64_t epoch) {
    return drawn(n, S, rows, epoch,
                 [](uint64_t, uint64_t size, std::mt19937_64 &r) { return r() % (size - (size > 1)); });
}
std::vector<Places> a_pair_shares(uint64_t n, uint32_t S, uint64_t rows, uint64_t epoch) {
    uint64_t number = 0;
    return drawn(n, S, rows, epoch, [&](uint64_t slot, uint64_t size, std::mt19937_64 &r) {
        if (slot % 2 == 0) number = r();
        return number % size;
    });
}
std::vector<Places> epochs_share(uint64_t n, uint32_t S, uint64_t rows, uint64_t) { return library(n, S, rows, 0); }
std::vector<Places> rows_share(uint64_t n, uint32_t S, uint64_t rows, uint64_t epoch) {
    return std::vector<Places>(rows, library(n, S, 1, epoch)[0]);
}

// Each slot over its stratum.
double places_fit(const Sampler &sampler, uint64_t n, uint32_t S, uint64_t epochs) {
    std::vector<uint64_t> seen(n);
    for (uint64_t e = 0; e < epochs; e++)
        for (const Places &row : sampler(n, S, 500, e))
            for (uint64_t p : row) seen[p]++;
    ChiSquare fit;
    for (uint32_t i = 0; i < S; i++) {
        const uint64_t first = boundary(n, S, i), size = boundary(n, S, i + 1) - first;
        fit.add({seen.begin() + static_cast<long>(first), seen.begin() + static_cast<long>(first + size)},
                std::vector<long double>(size, 1.0L / static_cast<long double>(size)));
    }
    return fit.z();
}

// Two draws jointly, n = 4 S so that each takes one of four: neighbouring slots, rows and epochs.
enum class Apart { slot, row, epoch };
double pairs_fit(const Sampler &sampler, Apart apart, uint32_t S, uint64_t epochs) {
    std::vector<std::vector<uint64_t>> seen(S, std::vector<uint64_t>(16));
    const uint64_t rows = 500;
    for (uint64_t e = 0; e < epochs; e += 2) {
        const std::vector<Places> one = sampler(4 * S, S, rows, e), next = sampler(4 * S, S, rows, e + 1);
        for (uint64_t r = 0; r < rows; r += 2)
            for (uint32_t i = 0; i < S; i++) {
                const uint64_t p = one[r][i] % 4;
                if (apart == Apart::slot && i % 2 == 0 && i + 1 < S) seen[i][4 * p + one[r][i + 1] % 4]++;
                if (apart == Apart::row) seen[i][4 * p + one[r + 1][i] % 4]++;
                if (apart == Apart::epoch) seen[i][4 * p + next[r][i] % 4]++;
            }
    }
    ChiSquare fit;
    for (uint32_t i = 0; i < S; i++)
        if (apart != Apart::slot || (i % 2 == 0 && i + 1 < S))
            fit.add(seen[i], std::vector<long double>(16, 1.0L / 16));
    return fit.z();
}

TEST(EdgeSampledLaw, EverySlotIsUniformInItsStratum) {
    const std::pair<uint64_t, uint32_t> shapes[] = {{103, 10}, {7, 3}, {17, 16}, {1000, 64}, {1000, 65}, {300, 1}};
    for (const auto &[n, S] : shapes)
        EXPECT_LT(std::fabs(places_fit(library, n, S, 40)), threshold) << n << " entries, S = " << S;
    EXPECT_GT(places_fit(never_the_last, 103, 10, 40), wrong);
}

TEST(EdgeSampledLaw, SlotsRowsAndEpochsAreIndependent) {
    for (Apart apart : {Apart::slot, Apart::row, Apart::epoch})
        EXPECT_LT(std::fabs(pairs_fit(library, apart, 66, 40)), threshold);
    EXPECT_GT(pairs_fit(a_pair_shares, Apart::slot, 66, 40), wrong);
    EXPECT_GT(pairs_fit(rows_share, Apart::row, 66, 40), wrong);
    EXPECT_GT(pairs_fit(epochs_share, Apart::epoch, 66, 40), wrong);
}

// 11 entries in strata of 2, 3, 3, 3: 54 samples, equally likely. All occur, none else, and the mean of their products
// is the full product, sum and mean alike.
TEST(EdgeSampledLaw, ExpectedProductIsTheFullOne) {
    const uint64_t n = 11, cols = 6;
    const uint32_t S = 4;
    const Matrix m = matrix({n}, 9, true, 3);
    const csaw_sparse a = m.view();
    Dense x(a.cols, cols, CSAW_F32);
    x.fill(5, true);
    for (bool mean : {false, true}) {
        std::map<std::vector<csaw_edge>, std::vector<double>> product;
        std::map<std::vector<csaw_edge>, uint64_t> seen;
        for (uint64_t epoch = 0; epoch < 5400; epoch++) {
            const EdgeRule rule{CSAW_EDGES_STRATIFIED, S, mean, 1, epoch};
            const Sampled s = sample(a, rule);
            Dense y(1, cols, CSAW_F32);
            const csaw_es_options o = options_of(rule, true);
            ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &y.m), CSAW_OK);
            product[s.edge] = y.values();
            seen[s.edge]++;
        }
        ASSERT_EQ(product.size(), 54u);
        std::vector<uint64_t> counts;
        for (const auto &[edges, count] : seen) counts.push_back(count);
        ChiSquare fit;
        fit.add(counts, std::vector<long double>(54, 1.0L / 54));
        EXPECT_LT(std::fabs(fit.z()), threshold);
        for (uint64_t j = 0; j < cols; j++) {
            double expected = 0, size = 0, average = 0;
            for (uint64_t e = 0; e < n; e++) expected += a.weight[e] * x.at(a.col[e], j) / (mean ? n : 1);
            for (uint64_t e = 0; e < n; e++) size += std::fabs(a.weight[e] * x.at(a.col[e], j));
            for (const auto &[edges, y] : product) average += y[j] / 54;
            EXPECT_NEAR(average, expected, 4 * 0x1p-24 * size);
        }
    }
}

// Bucket and FastRand have no such law: their sums are of what was taken, and miss the rest.
TEST(EdgeSampledLaw, EpochsAndSeedsChangeStratifiedAlone) {
    const Matrix m = matrix({1000, 16}, 50, false);
    const csaw_sparse a = m.view();
    for (csaw_edges_method method : methods) {
        const Sampled first = sample(a, {method, 16, false, 1, 1});
        for (const auto &[seed, epoch] : {std::pair<uint64_t, uint64_t>{1, 2}, {2, 1}, {1, (uint64_t{1} << 32) + 1}}) {
            const Sampled other = sample(a, {method, 16, false, seed, epoch});
            EXPECT_EQ(first.edge == other.edge, method != CSAW_EDGES_STRATIFIED);
            EXPECT_TRUE(std::equal(first.edge.begin() + 16, first.edge.end(), other.edge.begin() + 16)) << "whole row";
        }
        EXPECT_EQ(sample(a, {method, 16, false, 1, 1}).edge, first.edge);
    }
}

} // namespace
