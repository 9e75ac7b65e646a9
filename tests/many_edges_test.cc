// SPDX-License-Identifier: MIT
// many_edges_test.cc - aggregation over more than 2^31 edges, and over a row of more than 2^32, on the CPU: a file of
// 4 MiB is mapped again and again as their columns.
#include "tests/many_edges.h"
#include "tests/reference/edge_sampled.h"

#include <csaw/edge_sampled.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>

namespace {

using namespace many_edges;

const uint64_t bytes = period * sizeof(csaw_vertex), pieces = (uint64_t{1} << 32) / period + 2;

class ManyEdges : public testing::Test {
  protected:
    void SetUp() override {
        void *const all = mmap(nullptr, pieces * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) GTEST_SKIP() << "no 16 GiB of addresses";
        col_ = static_cast<csaw_vertex *>(all);
        const int file = memfd_create("columns", 0);
        ASSERT_GE(file, 0);
        ASSERT_EQ(ftruncate(file, bytes), 0);
        for (uint64_t i = 0; i < pieces; i++)
            ASSERT_NE(mmap(col_ + i * period, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
                      MAP_FAILED);
        close(file);
        for (uint64_t e = 0; e < period; e++) col_[e] = column_of(e);
    }
    void TearDown() override {
        if (col_) munmap(col_, pieces * bytes);
    }
    csaw_sparse matrix() const { return {rows, cols, num_edges, rowptr.data(), col_, nullptr}; }
    csaw_vertex *col_ = nullptr; // [pieces * period]
};

csaw_dense dense(std::vector<float> *data, uint64_t of_rows) {
    return {of_rows, data->size() / of_rows, 0, CSAW_F32, data->data()};
}

TEST_F(ManyEdges, Sums) {
    std::vector<float> x = features(), y(rows * width, NAN);
    const csaw_sparse a = matrix();
    const csaw_dense in = dense(&x, cols), out = dense(&y, rows);
    ASSERT_EQ(csaw_spmm(&a, &in, nullptr, &out), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(y, sums());
}

// To the edges that were picked, as csaw_spmm() would write them; picking takes long (many_edges_gpu_test does it).
TEST_F(ManyEdges, GradientsOfMaxima) {
    std::vector<float> dy = gradient(), dx(cols * width, NAN);
    std::vector<csaw_edge> arg = picked_by_max();
    csaw_spmm_options options = {};
    options.size = sizeof options;
    options.reduce = CSAW_MAX;
    options.arg = arg.data();
    const csaw_sparse a = matrix();
    const csaw_dense from = dense(&dy, rows), to = dense(&dx, cols);
    ASSERT_EQ(csaw_spmm_backward(&a, nullptr, &from, &options, &to, nullptr), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(dx, gradients_of_maxima());
    arg[width] = rowptr[2]; // an edge of row 2, not of row 1
    EXPECT_EQ(csaw_spmm_backward(&a, nullptr, &from, &options, &to, nullptr), CSAW_EINVAL);
}

// Row 0 has more than 2^32 edges, row 1 the rest: few enough to be whole.
TEST_F(ManyEdges, SamplesOfALongRow) {
    const uint64_t all = pieces * period, begin_of_last = all - 100;
    const uint64_t ends[] = {0, begin_of_last, all};
    const csaw_sparse a = {2, cols, all, ends, col_, nullptr};
    std::vector<float> x(cols), y(2);
    for (uint64_t j = 0; j < cols; j++) x[j] = static_cast<float>(j);
    for (csaw_edges_method method : {CSAW_EDGES_STRATIFIED, CSAW_EDGES_BUCKET, CSAW_EDGES_FASTRAND}) {
        csaw_es_options options = {};
        options.size = sizeof options;
        options.method = method, options.width = 512, options.reduce = CSAW_MEAN, options.seed = 3;
        const reference::EdgeRule rule = {method, options.width, true, options.seed, 0};
        std::vector<uint64_t> offset(3);
        std::vector<csaw_edge> edge(612);
        std::vector<float> weight(612);
        ASSERT_EQ(csaw_edge_sample(&a, &options, offset.data(), edge.data(), weight.data()), CSAW_OK);
        EXPECT_EQ(offset, (std::vector<uint64_t>{0, 512, 612}));
        const csaw_dense in = dense(&x, cols), out = dense(&y, 2);
        ASSERT_EQ(csaw_es_spmm(&a, &in, &options, &out), CSAW_OK) << csaw_last_error();
        uint64_t k = 0, beyond = 0;
        for (uint64_t r = 0; r < 2; r++) {
            double sum = 0;
            for (const reference::Taken &taken : reference::taken_of_row(a, rule, r)) {
                ASSERT_EQ(edge[k], taken.edge) << "method " << method << ", row " << r;
                EXPECT_NEAR(weight[k], taken.factor, taken.factor * 1e-6);
                beyond += taken.edge >> 32 != 0;
                sum += taken.factor * x[column_of(taken.edge)];
                k++;
            }
            EXPECT_NEAR(y[r], sum, 1e-3 * sum) << "method " << method << ", row " << r;
        }
        EXPECT_EQ(k, 612u);
        EXPECT_GE(beyond, 100u); // row 1, and of strata the last
    }
}

} // namespace
