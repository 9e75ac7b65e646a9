/* SPDX-License-Identifier: MIT */
/* tests/edge_sampled_gpu_test.cu - edge-sampled aggregation on a GPU through the public API: the CPU's bits of
 * products, of the sampled matrix and of gradients, by every method; every number of threads a row. Outputs are
 * poisoned. */
#include "tests/edge_sampled_cases.h"
#include "tests/gpu_memory.cuh"
#include "tests/share.h"

extern "C" {
#include "spmm/device.h"
}

namespace {

using namespace edge_sampled;
using gpu_memory::Array;
using gpu_memory::NoGpu;
using gpu_memory::Require;
using reference::EdgeRule;

class EdgeSampledGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

class MatrixThere {
  public:
    explicit MatrixThere(const Matrix &m) : rowptr_(m.rowptr), col_(m.col), weight_(m.weight) {
        view = m.view();
        view.rowptr = rowptr_.get();
        view.col = col_.get();
        if (view.weight) view.weight = weight_.get();
    }
    csaw_sparse view;

  private:
    Array<uint64_t> rowptr_;
    Array<csaw_vertex> col_;
    Array<float> weight_;
};

class DenseThere { // the same bytes: poison of outputs, and padding
  public:
    explicit DenseThere(const Dense &d) : data_(d.memory), view(d.m) { view.data = data_.get(); }
    std::vector<unsigned char> back() const { return data_.back(); }

  private:
    Array<unsigned char> data_;

  public:
    csaw_dense view;
};

csaw_es_options There(const EdgeRule &rule, cudaStream_t stream = nullptr) {
    csaw_es_options o = options_of(rule);
    o.device = "cuda:0";
    o.stream = stream;
    return o;
}

struct Ask {
    EdgeRule rule;
    uint64_t cols;
    csaw_dtype of_x, of_y;
    uint64_t pad;
};

std::string Name(const Ask &ask) {
    return std::string(name_of(ask.rule.method)) + ", S = " + std::to_string(ask.rule.width) + ", " +
           std::to_string(ask.cols) + " columns, storage " + std::to_string(ask.of_x) + " to " +
           std::to_string(ask.of_y) + ", padding " + std::to_string(ask.pad);
}

// lanes: 0 = through the public API
void ExpectCpuBits(const Matrix &m, const Ask &ask, const std::vector<uint32_t> &all_lanes) {
    const MatrixThere there(m);
    const csaw_sparse a = m.view();
    const csaw_es_options options = options_of(ask.rule), on_gpu = There(ask.rule);
    Dense x(a.cols, ask.cols, ask.of_x, ask.pad), want(a.rows, ask.cols, ask.of_y, ask.pad), poison(want);
    x.fill(5, ask.of_x == CSAW_F32);
    ASSERT_EQ(csaw_es_spmm(&a, &x.m, &options, &want.m), CSAW_OK) << csaw_last_error();
    const DenseThere there_x(x);
    for (uint32_t lanes : all_lanes) {
        const DenseThere y(poison);
        csaw__edge_rule rule = {};
        rule.method = ask.rule.method, rule.width = ask.rule.width, rule.mean = ask.rule.mean;
        rule.seed = ask.rule.seed, rule.epoch = ask.rule.epoch;
        const csaw__where where = {0, nullptr};
        if (lanes)
            ASSERT_EQ(csaw__device_es_spmm(&where, &rule, lanes, &there.view, &there_x.view, &y.view), CSAW_OK);
        else
            ASSERT_EQ(csaw_es_spmm(&there.view, &there_x.view, &on_gpu, &y.view), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(y.back(), want.memory) << Name(ask) << ", lanes " << lanes;
    }
}

TEST_F(EdgeSampledGpu, EveryMethodWidthAndNumberOfThreads) {
    for (const Matrix &m : {mixed(true), mixed(false), many(true)})
        for (csaw_edges_method method : methods)
            for (uint32_t width : {1u, 15u, 16u, 32u, 64u, 100u, 257u, 512u, 2304u, 5000u})
                for (bool mean : {false, true})
                    for (uint64_t cols : {5, 64, 256})
                        if (reference::takes_case())
                            ExpectCpuBits(
                                m, {{method, width, mean, 9, uint64_t{1} << 40 | 3}, cols, CSAW_F32, CSAW_F32, 0},
                                {0, 8, 16, 32, 64, 128});
}

TEST_F(EdgeSampledGpu, EveryStorageAndNumberOfColumns) {
    for (uint64_t cols : {0, 1, 2, 3, 4, 31, 32, 33, 64, 100, 160, 1000, 1024})
        for (csaw_dtype of_x : dtypes)
            for (csaw_dtype of_y : dtypes)
                for (uint64_t pad : {uint64_t{0}, padding, uint64_t{4}})
                    if (reference::takes_case())
                        ExpectCpuBits(mixed(true), {{CSAW_EDGES_STRATIFIED, 33, false, 2, 1}, cols, of_x, of_y, pad},
                                      {0});
}

TEST_F(EdgeSampledGpu, MatricesWithoutRowsOrEntries) {
    for (const Matrix &m : {matrix({}, 5, false), matrix({0, 0, 0}, 5, true), matrix({1}, 1, true)})
        ExpectCpuBits(m, {{CSAW_EDGES_STRATIFIED, 3, true, 2, 1}, 7, CSAW_F32, CSAW_F32, 0}, {0});
}

TEST_F(EdgeSampledGpu, TheSampledMatrixIsTheCpus) {
    for (csaw_edges_method method : methods)
        for (uint32_t width : {1u, 16u, 100u, 5000u}) {
            const Matrix m = many(true);
            const MatrixThere there(m);
            const EdgeRule rule{method, width, width == 16, 4, 5};
            const csaw_es_options on_gpu = There(rule);
            const Sampled want = sample(m.view(), rule);
            const Array<uint64_t> rowptr{std::vector<uint64_t>(want.rowptr.size() + 1, 77)};
            const Array<csaw_edge> edge{std::vector<csaw_edge>(want.edge.size() + 1, 77)};
            const Array<float> weight{std::vector<float>(want.weight.size() + 1, 77)};
            ASSERT_EQ(csaw_edge_sample(&there.view, &on_gpu, rowptr.get(), edge.get(), weight.get()), CSAW_OK)
                << csaw_last_error();
            std::vector<uint64_t> want_rowptr = want.rowptr;
            std::vector<csaw_edge> want_edge = want.edge;
            std::vector<float> want_weight = want.weight;
            want_rowptr.push_back(77), want_edge.push_back(77), want_weight.push_back(77);
            EXPECT_EQ(rowptr.back(), want_rowptr);
            EXPECT_EQ(edge.back(), want_edge);
            EXPECT_EQ(weight.back(), want_weight);
        }
}

TEST_F(EdgeSampledGpu, GradientsAreTheCpus) {
    std::vector<uint64_t> lengths(20000, 3); // a column of many chunks
    lengths[7] = 70000;
    for (const Matrix &m : {mixed(true), many(false), matrix(lengths, 40, true)})
        for (csaw_edges_method method : methods)
            for (uint32_t width : {1u, 16u, 100u, 2304u})
                for (uint64_t cols : {1, 37, 64}) {
                    if (!reference::takes_case()) continue;
                    const MatrixThere there(m);
                    const csaw_sparse a = m.view();
                    const EdgeRule rule{method, width, width == 100, 4, 5};
                    const csaw_es_options options = options_of(rule), on_gpu = There(rule);
                    const csaw_dtype of_x = dtypes[(width + cols) % 3], of_dy = dtypes[cols % 3];
                    Dense x(a.cols, cols, of_x), dy(a.rows, cols, of_dy), want(a.cols, cols, of_x), poison(want);
                    x.fill(1, of_x == CSAW_F32);
                    dy.fill(2, of_dy == CSAW_F32);
                    std::vector<float> want_dw(a.num_edges + 1, -3);
                    const Array<float> dw(want_dw);
                    ASSERT_EQ(csaw_es_spmm_backward(&a, &x.m, &dy.m, &options, &want.m, want_dw.data()), CSAW_OK);
                    const DenseThere there_x(x), there_dy(dy), dx(poison);
                    ASSERT_EQ(
                        csaw_es_spmm_backward(&there.view, &there_x.view, &there_dy.view, &on_gpu, &dx.view, dw.get()),
                        CSAW_OK)
                        << csaw_last_error();
                    EXPECT_EQ(dx.back(), want.memory) << name_of(method) << ", S = " << width << ", " << cols;
                    EXPECT_EQ(dw.back(), want_dw) << name_of(method) << ", S = " << width << ", " << cols;
                }
}

// No call waits, so all of them can be recorded; the recording runs with the epoch that it was made with.
TEST_F(EdgeSampledGpu, ProductsCanBeRecordedInAGraph) {
    const Matrix m = many(true);
    const MatrixThere there(m);
    const csaw_sparse a = m.view();
    const EdgeRule rule{CSAW_EDGES_STRATIFIED, 16, false, 4, 5};
    const csaw_es_options options = options_of(rule);
    Dense x(a.cols, 32, CSAW_F32), want(a.rows, 32, CSAW_F32), poison(want), want_dx(a.cols, 32, CSAW_F32);
    x.fill(1, true);
    ASSERT_EQ(csaw_es_spmm(&a, &x.m, &options, &want.m), CSAW_OK);
    ASSERT_EQ(csaw_es_spmm_backward(&a, nullptr, &want.m, &options, &want_dx.m, nullptr), CSAW_OK);
    const DenseThere there_x(x), y(poison), dx(Dense(a.cols, 32, CSAW_F32));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const csaw_es_options on_gpu = There(rule, stream);
    Require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const csaw_status forward = csaw_es_spmm(&there.view, &there_x.view, &on_gpu, &y.view);
    const csaw_status backward = csaw_es_spmm_backward(&there.view, nullptr, &y.view, &on_gpu, &dx.view, nullptr);
    Require(cudaStreamEndCapture(stream, &graph));
    ASSERT_EQ(forward, CSAW_OK);
    ASSERT_EQ(backward, CSAW_OK) << csaw_last_error();
    Require(cudaGraphInstantiate(&runs, graph, 0));
    for (int i = 0; i < 3; i++) Require(cudaGraphLaunch(runs, stream));
    Require(cudaStreamSynchronize(stream));
    EXPECT_EQ(y.back(), want.memory);
    EXPECT_EQ(dx.back(), want_dx.memory);
    Require(cudaGraphExecDestroy(runs));
    Require(cudaGraphDestroy(graph));
    Require(cudaStreamDestroy(stream));
}

TEST_F(EdgeSampledGpu, ExactSumsAreRefused) {
    const Matrix m = many(true);
    const MatrixThere there(m);
    Dense x(m.cols, 3, CSAW_F32), y(m.rowptr.size() - 1, 3, CSAW_F32);
    const DenseThere there_x(x), there_y(y);
    csaw_es_options o = There({CSAW_EDGES_BUCKET, 16, false, 0, 0});
    o.exact = true;
    EXPECT_EQ(csaw_es_spmm(&there.view, &there_x.view, &o, &there_y.view), CSAW_EUNSUPPORTED);
    EXPECT_NE(std::string(csaw_last_error()).find("exact"), std::string::npos);
}

} // namespace
