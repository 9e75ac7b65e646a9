/* SPDX-License-Identifier: MIT */
/* tests/edge_sampled_test.cc - which entries edge-sampled aggregation takes, and the product with them, against the
 * reference; FastRand's degenerate lengths; bits on any number of threads; offsets beyond 2 GiB. */
#include "spmm/edge_sampled_rule.h"
#include "tests/edge_sampled_cases.h"
#include "tests/reference/philox.h"

#include <sys/mman.h>

#include <algorithm>
#include <set>

namespace {

using namespace edge_sampled;
using reference::EdgeRule;

const uint32_t widths[] = {1, 2, 16, 32, 64, 128, 256, 512, 1024, 2304, 5000, CSAW_ES_MAX_WIDTH};

TEST(EdgeSampled, TakesTheEntriesOfTheReference) {
    for (bool weighted : {false, true}) {
        const Matrix m = mixed(weighted);
        const csaw_sparse a = m.view();
        for (csaw_edges_method method : methods)
            for (uint32_t width : widths)
                for (bool mean : {false, true}) {
                    const EdgeRule rule{method, width, mean, 0x123456789abcdef0, (uint64_t{1} << 55) + 7};
                    SCOPED_TRACE(std::string(name_of(method)) + ", S = " + std::to_string(width));
                    const Sampled s = sample(a, rule);
                    uint64_t at = 0;
                    for (uint64_t r = 0; r < a.rows; r++) {
                        ASSERT_EQ(s.rowptr[r], at);
                        for (const reference::Taken &t : taken_of_row(a, rule, r)) {
                            ASSERT_EQ(s.edge[at], t.edge) << "row " << r;
                            const double exact = t.factor * (weighted ? a.weight[t.edge] : 1);
                            ASSERT_LE(std::fabs(s.weight[at] - exact), std::fabs(exact) * 0x1.001p-24);
                            at++;
                        }
                    }
                    ASSERT_EQ(s.rowptr[a.rows], at);
                }
    }
}

// Rows beyond 2^32 are too many to have here, so their counters are looked at.
TEST(EdgeSampled, CountersAreThoseOfTheStream) {
    const uint64_t seed = 0x123456789abcdef0, row = (uint64_t{1} << 39) + (uint64_t{1} << 33) + 5;
    const csaw__edge_rule rule = {CSAW_EDGES_STRATIFIED, 16, false, false, seed, (uint64_t{1} << 55) + 7};
    uint32_t word[4];
    csaw__edge_counter(&rule, row, 6, word);
    const reference::Block drawn = reference::draw(seed, row, 1 << 23, 7, 0, 7);
    const csaw_block block = csaw_philox(word[0], word[1], word[2], word[3], 0x9abcdef0, 0x12345678);
    for (size_t i = 0; i < 4; i++) EXPECT_EQ(block.x[i], drawn[i]);
}

TEST(EdgeSampled, ZeroOptionsMeanStratifiedSumsOfAtMost128) {
    const Matrix m = mixed(true);
    const csaw_sparse a = m.view();
    const Sampled s = sample(a, {CSAW_EDGES_STRATIFIED, CSAW_ES_WIDTH, false, 0, 0});
    std::vector<uint64_t> rowptr(a.rows + 1);
    std::vector<csaw_edge> edge(s.edge.size());
    std::vector<float> weight(s.edge.size());
    ASSERT_EQ(csaw_edge_sample(&a, nullptr, rowptr.data(), edge.data(), weight.data()), CSAW_OK);
    EXPECT_TRUE(rowptr == s.rowptr && edge == s.edge && weight == s.weight);
    EXPECT_EQ(CSAW_ES_WIDTH, 128);
}

// Equation 2 in number theory: place(i) = 577 i mod n repeats with period n / gcd(577, n), and 577 is a prime.
TEST(EdgeSampled, FastRandDegenerates) {
    const uint32_t S = 16;
    std::vector<uint64_t> lengths;
    for (uint64_t n = 1; n <= 4000; n++) lengths.push_back(n);
    for (uint64_t n : {577 * 10, 577 * 16, 577 * 100, 20000}) lengths.push_back(n);
    const Matrix m = matrix(lengths, 10, false);
    const csaw_sparse a = m.view();
    const Sampled bucket = sample(a, {CSAW_EDGES_BUCKET, S, false, 0, 0});
    const Sampled fast = sample(a, {CSAW_EDGES_FASTRAND, S, false, 0, 0});
    std::set<uint64_t> like_bucket;
    for (uint64_t r = 0; r < a.rows; r++) {
        const uint64_t n = lengths[r], begin = fast.rowptr[r], end = fast.rowptr[r + 1];
        const std::set<csaw_edge> distinct(fast.edge.begin() + static_cast<long>(begin),
                                           fast.edge.begin() + static_cast<long>(end));
        ASSERT_EQ(end - begin, std::min<uint64_t>(n, S));
        // a row of 577 k entries yields k distinct ones, however many are taken
        ASSERT_EQ(distinct.size(), std::min<uint64_t>(end - begin, n % 577 == 0 ? n / 577 : n)) << n;
        // nothing beyond the entry at 577 (S - 1) is ever taken
        ASSERT_LE(*distinct.rbegin() - a.rowptr[r], 577 * (S - 1)) << n;
        if (n > S &&
            std::equal(fast.edge.begin() + static_cast<long>(begin), fast.edge.begin() + static_cast<long>(end),
                       bucket.edge.begin() + static_cast<long>(begin)))
            like_bucket.insert(n);
    }
    // Bucket itself: 577 = 1 mod n, that is where n divides 576. All divisors above 16:
    EXPECT_EQ(like_bucket, (std::set<uint64_t>{18, 24, 32, 36, 48, 64, 72, 96, 144, 192, 288, 576}));
    // the first and then from the row's end back: where n divides 578
    for (uint64_t n : {17, 34, 289, 578})
        for (uint64_t i = 1; i < S; i++) EXPECT_EQ(fast.edge[fast.rowptr[n - 1] + i] - a.rowptr[n - 1], n - i) << n;
}

// With n <= S the row should be whole, and it is, except for multiples of 577.
TEST(EdgeSampled, FastRandBreaksWholeRowsOf577) {
    const Matrix m = matrix({576, 577, 578, 1154}, 10, false);
    const csaw_sparse a = m.view();
    const Sampled s = sample(a, {CSAW_EDGES_FASTRAND, 2304, false, 0, 0});
    const size_t distinct[] = {576, 1, 578, 2};
    for (uint64_t r = 0; r < a.rows; r++) {
        const auto first = s.edge.begin();
        EXPECT_EQ(s.rowptr[r + 1] - s.rowptr[r], a.rowptr[r + 1] - a.rowptr[r]);
        EXPECT_EQ(
            std::set<csaw_edge>(first + static_cast<long>(s.rowptr[r]), first + static_cast<long>(s.rowptr[r + 1]))
                .size(),
            distinct[r]);
    }
}

TEST(EdgeSampled, ProductIsWithinItsBound) {
    for (bool weighted : {false, true}) {
        const Matrix m = mixed(weighted);
        const csaw_sparse a = m.view();
        for (csaw_edges_method method : methods)
            for (uint32_t width : {1u, 16u, 128u, 2304u, 5000u})
                for (uint64_t n : {1, 3, 4, 33, 67}) {
                    const EdgeRule rule{method, width, width % 3 == 1, 5, n};
                    for (csaw_dtype stored : dtypes)
                        for (bool exact : {false, true}) {
                            Dense x(a.cols, n, stored), y(a.rows, n, dtypes[(width + n + exact) % 3]);
                            x.fill(n, stored == CSAW_F32 && y.m.dtype == CSAW_F32);
                            const csaw_es_options o = options_of(rule, exact);
                            ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &y.m), CSAW_OK) << csaw_last_error();
                            expect_near(y, sampled_forward(a, rule, x.values(), n), exact,
                                        std::string(name_of(method)) + ", S = " + std::to_string(width));
                            EXPECT_TRUE(y.padding_is_let_alone());
                        }
                }
    }
}

// The 16-bit formats are read right whatever the bits, subnormals too: one entry of weight 1, a column for every
// pattern.
TEST(EdgeSampled, ReadsEvery16BitPattern) {
    const Matrix m = matrix({1}, 1, false);
    const csaw_sparse a = m.view();
    const uint64_t n = 65536;
    for (csaw_dtype dtype : {CSAW_F16, CSAW_BF16})
        for (bool exact : {false, true}) {
            Dense x(1, n, dtype), y(1, n, CSAW_F32);
            for (uint32_t i = 0; i < n; i++) std::memcpy(x.memory.data() + 2 * i, &i, 2); // little-endian
            const csaw_es_options o = options_of({CSAW_EDGES_BUCKET, 1, false, 0, 0}, exact);
            ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &y.m), CSAW_OK);
            for (uint64_t j = 0; j < n; j++) {
                const double value = x.at(0, j), got = y.at(0, j);
                ASSERT_TRUE(got == value || (std::isnan(got) && std::isnan(value))) << j;
            }
        }
}

// The product is that with A' as written out, slot by slot in float32, to the bit.
TEST(EdgeSampled, ProductIsThatWithTheSampledMatrix) {
    const Matrix m = mixed(true);
    const csaw_sparse a = m.view();
    const uint64_t n = 37;
    Dense x(a.cols, n, CSAW_F32), y(a.rows, n, CSAW_F32);
    x.fill(3, true);
    for (csaw_edges_method method : methods)
        for (bool mean : {false, true}) {
            const EdgeRule rule{method, 100, mean, 11, 13};
            const Sampled s = sample(a, rule);
            const csaw_es_options o = options_of(rule);
            ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &y.m), CSAW_OK);
            for (uint64_t r = 0; r < a.rows; r++)
                for (uint64_t j = 0; j < n; j++) {
                    float sum = 0;
                    for (uint64_t k = s.rowptr[r]; k < s.rowptr[r + 1]; k++) {
                        const volatile float term = s.weight[k] * static_cast<float>(x.at(a.col[s.edge[k]], j));
                        sum += term;
                    }
                    ASSERT_EQ(y.at(r, j), sum) << "row " << r << ", column " << j;
                }
        }
}

TEST(EdgeSampled, WholeRowsAreTheFullProduct) {
    const Matrix m = mixed(true);
    const csaw_sparse a = m.view();
    Dense x(a.cols, 5, CSAW_F32), stratified(a.rows, 5, CSAW_F32), bucket(a.rows, 5, CSAW_F32);
    x.fill(4, true);
    csaw_es_options o = options_of({CSAW_EDGES_STRATIFIED, 5000, false, 1, 1});
    ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &stratified.m), CSAW_OK);
    o.method = CSAW_EDGES_BUCKET;
    ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &bucket.m), CSAW_OK);
    EXPECT_EQ(stratified.memory, bucket.memory);
    reference::Product full{std::vector<double>(a.rows * 5), std::vector<double>(a.rows * 5),
                            std::vector<uint64_t>(a.rows * 5)};
    for (uint64_t r = 0; r < a.rows; r++)
        for (uint64_t e = a.rowptr[r]; e < a.rowptr[r + 1]; e++)
            for (uint64_t j = 0; j < 5; j++) {
                const double term = a.weight[e] * x.at(a.col[e], j);
                full.value[r * 5 + j] += term;
                full.size[r * 5 + j] += std::fabs(term);
                full.terms[r * 5 + j]++;
            }
    expect_near(stratified, full, false, "full");
}

TEST(EdgeSampled, SameBitsOnAnyNumberOfThreads) {
    const Matrix m = many(true);
    const csaw_sparse a = m.view();
    for (csaw_edges_method method : methods)
        for (csaw_dtype dtype : dtypes) {
            const EdgeRule rule{method, 40, true, 9, 2};
            const csaw_es_options o = options_of(rule, dtype == CSAW_BF16);
            std::vector<unsigned char> first;
            Sampled sampled;
            for (int threads : {1, 2, 5}) {
                if (omp_set_num_threads) omp_set_num_threads(threads);
                Dense x(a.cols, 19, dtype), y(a.rows, 19, dtype);
                x.fill(8, dtype == CSAW_F32);
                ASSERT_EQ(csaw_es_spmm(&a, &x.m, &o, &y.m), CSAW_OK);
                const Sampled again = sample(a, rule);
                if (threads == 1) {
                    first = y.memory;
                    sampled = again;
                }
                EXPECT_EQ(y.memory, first) << threads << " threads";
                EXPECT_TRUE(again.edge == sampled.edge && again.weight == sampled.weight) << threads << " threads";
            }
            if (omp_set_num_threads) omp_set_num_threads(2);
        }
}

// Rows of x and y lie 6 GiB apart: offsets of 32 bits, in bytes or elements, would meet the poison or another row.
TEST(EdgeSampled, OffsetsBeyondFourGiB) {
    const uint64_t rows = 4, stride = uint64_t{3} << 29, bytes = rows * stride * 4;
    void *memory[2];
    for (void *&p : memory) {
        p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) GTEST_SKIP() << "no address space for 24 GiB twice";
    }
    Matrix m;
    m.cols = rows;
    m.rowptr = {0, 1, 2, 3, 4};
    m.col = {3, 2, 1, 0};
    const csaw_sparse a = m.view();
    const csaw_dense x{rows, 2, stride, CSAW_F32, memory[0]}, y{rows, 2, stride, CSAW_F32, memory[1]};
    float *const from = static_cast<float *>(memory[0]), *const to = static_cast<float *>(memory[1]);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t j = 0; j < 2; j++) from[r * stride + j] = static_cast<float>(10 * r + j + 1);
    ASSERT_EQ(csaw_es_spmm(&a, &x, nullptr, &y), CSAW_OK) << csaw_last_error();
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t j = 0; j < 2; j++) EXPECT_EQ(to[r * stride + j], static_cast<float>(10 * (3 - r) + j + 1));
    ASSERT_EQ(csaw_es_spmm_backward(&a, nullptr, &x, nullptr, &y, nullptr), CSAW_OK) << csaw_last_error();
    for (uint64_t r = 0; r < rows; r++) EXPECT_EQ(to[r * stride + 1], static_cast<float>(10 * (3 - r) + 2));
    for (void *p : memory) munmap(p, bytes);
}

} // namespace
