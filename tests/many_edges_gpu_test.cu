/* SPDX-License-Identifier: MIT */
/* tests/many_edges_gpu_test.cu - aggregation over more than 2^31 edges on a GPU: sums, maxima with the edges that they
 * picked, and all gradients; and rows of more than 2^32 edges that are sampled. Each as far as there is memory. */
#include "tests/gpu_memory.cuh"
#include "tests/many_edges.h"

#include <csaw/edge_sampled.h>

#include <cmath>

namespace {

using namespace gpu_memory;
using namespace many_edges;

__global__ void repeat_columns(csaw_vertex *col, uint64_t count) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t e = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; e < count; e += step)
        col[e] = (csaw_vertex)(e % period % cols);
}

class ManyEdgesGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
    void TearDown() override {
        if (col_) Require(cudaFree(col_));
    }
    // The columns of so many edges, if so much memory is free.
    bool Take(uint64_t edges, uint64_t gibibytes) {
        size_t free_bytes = 0, total = 0;
        Require(cudaMemGetInfo(&free_bytes, &total));
        if (free_bytes < gibibytes << 30) return false;
        Require(cudaMalloc(&col_, edges * sizeof *col_));
        repeat_columns<<<4096, 256>>>(col_, edges);
        Require(cudaDeviceSynchronize());
        return true;
    }
    csaw_sparse matrix() const { return {rows, cols, num_edges, rowptr_.get(), col_, nullptr}; }
    csaw_vertex *col_ = nullptr;

  private:
    Array<uint64_t> rowptr_ = NoGpu() ? Array<uint64_t>() : Array<uint64_t>(rowptr);
};

csaw_dense Dense(const Array<float> &data, uint64_t of_rows, uint64_t of_cols) {
    return {of_rows, of_cols, 0, CSAW_F32, data.get()};
}

csaw_spmm_options Options(csaw_reduce reduce, csaw_edge *arg) {
    csaw_spmm_options options = {};
    options.size = sizeof options;
    options.device = "cuda:0";
    options.reduce = reduce;
    options.arg = arg;
    return options;
}

TEST_F(ManyEdgesGpu, Sums) {
    if (!Take(num_edges, 12)) GTEST_SKIP() << "12 GiB of device memory are not free";
    const csaw_sparse a = matrix();
    const Array<float> x(features()), y(std::vector<float>(rows * width, NAN));
    const csaw_dense in = Dense(x, cols, width), out = Dense(y, rows, width);
    const csaw_spmm_options options = Options(CSAW_SUM, nullptr);
    ASSERT_EQ(csaw_spmm(&a, &in, &options, &out), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(y.back(), sums());
}

TEST_F(ManyEdgesGpu, Maxima) {
    if (!Take(num_edges, 12)) GTEST_SKIP() << "12 GiB of device memory are not free";
    const csaw_sparse a = matrix();
    const Array<float> x(features()), y(std::vector<float>(rows * width, NAN));
    const Array<csaw_edge> arg(std::vector<csaw_edge>(rows * width, 12345));
    const csaw_dense in = Dense(x, cols, width), out = Dense(y, rows, width);
    const csaw_spmm_options options = Options(CSAW_MAX, arg.get());
    ASSERT_EQ(csaw_spmm(&a, &in, &options, &out), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(y.back(), maxima());
    EXPECT_EQ(arg.back(), picked_by_max());
}

TEST_F(ManyEdgesGpu, GradientsOfWeightsAndDotProducts) {
    if (!Take(num_edges, 24)) GTEST_SKIP() << "24 GiB of device memory are not free";
    const csaw_sparse a = matrix();
    const Array<float> x(features()), dy(gradient());
    const csaw_dense in = Dense(x, cols, width), back = Dense(dy, rows, width);
    const csaw_spmm_options options = Options(CSAW_SUM, nullptr);
    csaw_edge_options of_edges = {};
    of_edges.size = sizeof of_edges;
    of_edges.device = "cuda:0";
    float *out = nullptr;
    Require(cudaMalloc(&out, num_edges * sizeof *out));
    for (bool dots : {false, true}) {
        Require(cudaMemset(out, 0xff, num_edges * sizeof *out));
        ASSERT_EQ(dots ? csaw_sddmm(&a, &back, &in, &of_edges, out)
                       : csaw_spmm_backward(&a, &in, &back, &options, nullptr, out),
                  CSAW_OK)
            << csaw_last_error();
        for (uint64_t e : some_edges()) {
            float got = NAN;
            Require(cudaMemcpy(&got, out + e, sizeof got, cudaMemcpyDeviceToHost));
            EXPECT_EQ(got, gradient_of_weight(e)) << "edge " << e << (dots ? ", SDDMM" : "");
        }
    }
    Require(cudaFree(out));
}

// By a transpose: 12 bytes an edge, and as much again and more while it is sorted.
TEST_F(ManyEdgesGpu, GradientsOfSums) {
    if (!Take(num_edges, 105)) GTEST_SKIP() << "105 GiB of device memory are not free";
    const csaw_sparse a = matrix();
    const Array<float> dy(gradient()), dx(std::vector<float>(cols * width, NAN));
    const csaw_dense back = Dense(dy, rows, width), to = Dense(dx, cols, width);
    const csaw_spmm_options options = Options(CSAW_SUM, nullptr);
    ASSERT_EQ(csaw_spmm_backward(&a, nullptr, &back, &options, &to, nullptr), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(dx.back(), gradients_of_sums());
}

TEST_F(ManyEdgesGpu, GradientsOfMaxima) {
    if (!Take(num_edges, 105)) GTEST_SKIP() << "105 GiB of device memory are not free";
    const csaw_sparse a = matrix();
    const Array<float> dy(gradient()), dx(std::vector<float>(cols * width, NAN));
    const Array<csaw_edge> arg(picked_by_max());
    const csaw_dense back = Dense(dy, rows, width), to = Dense(dx, cols, width);
    const csaw_spmm_options options = Options(CSAW_MAX, arg.get());
    ASSERT_EQ(csaw_spmm_backward(&a, nullptr, &back, &options, &to, nullptr), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(dx.back(), gradients_of_maxima());
}

// A row of more than 2^32 edges, and one of 100 behind it; features are their column's number. The CPU's samples
// (many_edges_test) need no columns, so they tell which are read here.
TEST_F(ManyEdgesGpu, SamplesOfALongRow) {
    const uint64_t all = (uint64_t{1} << 32) + 2 * period;
    if (!Take(all, 20)) GTEST_SKIP() << "20 GiB of device memory are not free";
    const std::vector<uint64_t> ends = {0, all - 100, all};
    const csaw_vertex none = 0;
    const csaw_sparse here = {2, cols, all, ends.data(), &none, nullptr};
    const Array<uint64_t> there_ends(ends);
    const csaw_sparse a = {2, cols, all, there_ends.get(), col_, nullptr};
    std::vector<float> number(cols);
    for (uint64_t j = 0; j < cols; j++) number[j] = static_cast<float>(j);
    const Array<float> x(number);
    for (csaw_edges_method method : {CSAW_EDGES_STRATIFIED, CSAW_EDGES_BUCKET, CSAW_EDGES_FASTRAND}) {
        csaw_es_options options = {};
        options.size = sizeof options;
        options.method = method, options.width = 512, options.reduce = CSAW_MEAN, options.seed = 3;
        std::vector<uint64_t> offset(3);
        std::vector<csaw_edge> edge(612);
        std::vector<float> weight(612);
        ASSERT_EQ(csaw_edge_sample(&here, &options, offset.data(), edge.data(), weight.data()), CSAW_OK);
        options.device = "cuda:0";
        const Array<float> y(std::vector<float>(2, NAN)), there_weight(std::vector<float>(612, NAN));
        const Array<csaw_edge> there_edge(std::vector<csaw_edge>(612, 1));
        const Array<uint64_t> there_offset(std::vector<uint64_t>(3, 1));
        const csaw_dense in = Dense(x, cols, 1), out = Dense(y, 2, 1);
        ASSERT_EQ(csaw_edge_sample(&a, &options, there_offset.get(), there_edge.get(), there_weight.get()), CSAW_OK);
        EXPECT_EQ(there_offset.back(), offset);
        EXPECT_EQ(there_edge.back(), edge);
        EXPECT_EQ(there_weight.back(), weight);
        ASSERT_EQ(csaw_es_spmm(&a, &in, &options, &out), CSAW_OK) << csaw_last_error();
        const std::vector<float> got = y.back();
        for (uint64_t r = 0; r < 2; r++) {
            double sum = 0;
            for (uint64_t k = offset[r]; k < offset[r + 1]; k++) sum += double{weight[k]} * column_of(edge[k]);
            EXPECT_NEAR(got[r], sum, 1e-3 * sum) << "method " << method << ", row " << r;
        }
    }
}

} // namespace
