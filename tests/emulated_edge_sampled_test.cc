// SPDX-License-Identifier: MIT
// tests/emulated_edge_sampled_test.cc - edge-sampled aggregation as the GPU has it (spmm/device_edge_sampled.cuh): the
// bits of csaw_es_spmm(), csaw_edge_sample() and csaw_es_spmm_backward() by any number of threads a row.
#include <algorithm>

#include "tests/edge_sampled_cases.h"

#include "tests/emulated_gpu.h"
#include "tests/share.h"

#include "spmm/device_edge_sampled.cuh"
#include "spmm/device_transpose.cuh"

namespace {

using namespace edge_sampled;
using reference::EdgeRule;

constexpr uint32_t kThreads = CSAW__ES_THREADS;

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t threads, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks(static_cast<uint32_t>((threads + kThreads - 1) / kThreads), kThreads,
                        [&] { kernel(arguments...); });
}

csaw__edge_rule RuleOf(const EdgeRule &rule) {
    csaw__edge_rule out = {};
    out.method = rule.method, out.width = rule.width, out.mean = rule.mean;
    out.seed = rule.seed, out.epoch = rule.epoch;
    return out;
}

void ExpectCpuBits(const csaw_sparse &a, const EdgeRule &rule, uint64_t cols, csaw_dtype of_x, csaw_dtype of_y,
                   uint64_t pad) {
    const csaw_es_options options = options_of(rule);
    Dense x(a.cols, cols, of_x, pad), want(a.rows, cols, of_y, pad);
    x.fill(5, of_x == CSAW_F32);
    ASSERT_EQ(csaw_es_spmm(&a, &x.m, &options, &want.m), CSAW_OK) << csaw_last_error();
    for (uint32_t lanes : {0, 8, 16, 32, 64, 128}) {
        Dense y(a.rows, cols, of_y, pad);
        csaw__es_product p = {};
        p.a = a, p.rule = RuleOf(rule), p.x = x.m, p.y = y.m;
        csaw__es_lay_out(&p, lanes);
        for (; p.first_slice < p.slices; p.first_slice += 2) {
            const uint64_t here = std::min<uint64_t>(2, p.slices - p.first_slice);
            Launch(here * p.blocks * kThreads, csaw__es_kernel_at(&p), p);
        }
        EXPECT_EQ(y.memory, want.memory) << name_of(rule.method) << ", S = " << rule.width << ", " << cols
                                         << " columns, storage " << of_x << " to " << of_y << ", lanes " << lanes;
    }
}

TEST(EmulatedEdgeSampled, EveryMethodAndWidth) {
    for (csaw_edges_method method : methods)
        for (uint32_t width : {1u, 16u, 100u, 257u, 2304u}) {
            const Matrix m = mixed(width % 2 == 0);
            ExpectCpuBits(m.view(), {method, width, width == 257, 9, uint64_t{1} << 40 | 3}, 5, CSAW_F32, CSAW_F32,
                          padding);
        }
}

TEST(EmulatedEdgeSampled, EveryStorageAndNumberOfColumns) {
    const Matrix m = mixed(true);
    for (uint64_t cols : {1, 4, 31, 32, 100})
        for (csaw_dtype of_x : dtypes)
            for (uint64_t pad : {padding, uint64_t{4}})
                ExpectCpuBits(m.view(), {CSAW_EDGES_STRATIFIED, 33, false, 2, 1}, cols, of_x,
                              dtypes[(cols + pad + of_x) % 3], pad);
}

TEST(EmulatedEdgeSampled, MatricesWithoutRowsOrEntries) {
    for (const Matrix &m : {matrix({}, 5, false), matrix({0, 0, 0}, 5, true), matrix({1}, 1, true)})
        ExpectCpuBits(m.view(), {CSAW_EDGES_STRATIFIED, 3, true, 2, 1}, 7, CSAW_F32, CSAW_F32, 0);
}

struct There {
    std::vector<uint64_t> rowptr;
    std::vector<csaw_edge> edge;
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
};

There SampleThere(const csaw_sparse &a, const EdgeRule &rule) { // as spmm/device_edge_sampled.cu
    const csaw__edge_rule of = RuleOf(rule);
    const uint64_t most = csaw__es_most(&a, of.width);
    There s;
    s.rowptr.assign(a.rows + 1, ~uint64_t{0});
    Launch(a.rows + 1, csaw__es_count, a, of, s.rowptr.data());
    for (uint64_t r = 0; r < a.rows; r++) s.rowptr[r + 1] += s.rowptr[r];
    s.edge.assign(most, 12345);
    s.col.assign(most, 12345);
    s.weight.assign(most, -7);
    Launch(most, csaw__es_entries, a, of, s.rowptr.data(), most, s.edge.data(), s.col.data(), s.weight.data());
    return s;
}

TEST(EmulatedEdgeSampled, TheSampledMatrixIsTheCpus) {
    for (csaw_edges_method method : methods)
        for (uint32_t width : {1u, 16u, 100u, 5000u})
            for (bool mean : {false, true}) {
                const Matrix m = mixed(!mean);
                const csaw_sparse a = m.view();
                const EdgeRule rule{method, width, mean, 4, 5};
                const Sampled want = sample(a, rule);
                const There got = SampleThere(a, rule);
                const uint64_t entries = want.rowptr.back();
                ASSERT_EQ(got.rowptr, want.rowptr);
                ASSERT_LE(entries, got.edge.size());
                for (uint64_t k = 0; k < got.edge.size(); k++) {
                    ASSERT_EQ(got.edge[k], k < entries ? want.edge[k] : 12345);
                    ASSERT_EQ(got.weight[k],
                              k < entries ? want.weight[k] : 0); // they are sorted by column, all of them
                    ASSERT_EQ(got.col[k], k < entries ? a.col[want.edge[k]] : a.cols);
                }
            }
}

// A'^T as the GPU makes it: entries sorted by column, those past the last one in a column of their own, which is left
// out.
TEST(EmulatedEdgeSampled, GradientsOfFeaturesAreAProductOfTheTranspose) {
    std::vector<uint64_t> lengths(3000, 3); // column 0 has more entries than a chunk
    lengths[7] = 700;
    const Matrix m = matrix(lengths, 40, true);
    const csaw_sparse a = m.view();
    for (csaw_edges_method method : methods) {
        const EdgeRule rule{method, 2, false, 1, 6};
        const csaw_es_options options = options_of(rule);
        Dense dy(a.rows, 9, CSAW_F32), want(a.cols, 9, CSAW_F32), got(a.cols, 9, CSAW_F32);
        dy.fill(3, true);
        ASSERT_EQ(csaw_es_spmm_backward(&a, nullptr, &dy.m, &options, &want.m, nullptr), CSAW_OK);
        const There s = SampleThere(a, rule);
        std::vector<uint64_t> order(s.col.size()), starts(a.cols + 2);
        for (uint64_t k = 0; k < order.size(); k++) order[k] = k;
        std::stable_sort(order.begin(), order.end(), [&](uint64_t i, uint64_t j) { return s.col[i] < s.col[j]; });
        std::vector<csaw_vertex> sorted, row(order.size());
        std::vector<float> weight;
        for (uint64_t k : order) sorted.push_back(s.col[k]), weight.push_back(s.weight[k]);
        const csaw_sparse sampled = {a.rows, a.cols + 1, order.size(), s.rowptr.data(), s.col.data(), s.weight.data()};
        Launch(order.size(), csaw__find_rows, sampled, order.data(), row.data());
        Launch(a.cols + 2, csaw__find_starts, sorted.data(), uint64_t{order.size()}, a.cols + 1, starts.data());
        const csaw_sparse transpose = {a.cols, a.rows, starts[a.cols], starts.data(), row.data(), weight.data()};
        ASSERT_EQ(csaw_spmm(&transpose, &dy.m, nullptr, &got.m), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(got.memory, want.memory) << name_of(method);
        EXPECT_GT(starts[1], 2u * CSAW_CHUNK);
    }
}

TEST(EmulatedEdgeSampled, GradientsOfWeightsAreTheCpus) {
    for (csaw_edges_method method : methods)
        for (uint32_t width : {1u, 16u, 2304u}) {
            if (!reference::takes_case()) continue;
            const csaw_dtype of_x = dtypes[(width + method) % 3];
            const Matrix m = mixed(false);
            const csaw_sparse a = m.view();
            const EdgeRule rule{method, width, width == 16, 4, 5};
            const csaw_es_options options = options_of(rule);
            const csaw_dtype of_dy = dtypes[(of_x + width) % 3];
            Dense x(a.cols, 37, of_x), dy(a.rows, 37, of_dy);
            x.fill(1, of_x == CSAW_F32);
            dy.fill(2, of_dy == CSAW_F32);
            std::vector<float> want(a.num_edges + 1, -3), got(a.num_edges + 1);
            ASSERT_EQ(csaw_es_spmm_backward(&a, &x.m, &dy.m, &options, nullptr, want.data()), CSAW_OK);
            const There s = SampleThere(a, rule);
            got.back() = -3;
            const csaw__es_dots d = {a, RuleOf(rule), s.rowptr.data(), x.m, dy.m, got.data()};
            Launch(s.col.size(), csaw__es_dots_kernel_at(&d), d);
            EXPECT_EQ(got, want) << name_of(method) << ", S = " << width << ", storage " << of_x << ", " << of_dy;
        }
}

TEST(EmulatedEdgeSampled, ThreadsForEveryNumberOfColumns) {
    for (uint64_t vectors = 0; vectors <= 1024; vectors++) {
        const uint32_t lanes = csaw__es_lanes_of(vectors);
        EXPECT_TRUE(lanes >= 8 && lanes <= CSAW__ES_THREADS && (lanes & (lanes - 1)) == 0) << vectors;
        EXPECT_TRUE(lanes >= vectors || lanes == CSAW__ES_THREADS) << vectors;
    }
}

} // namespace
