// SPDX-License-Identifier: MIT
// tests/negatives_gpu_test.cc - negative samples drawn by a GPU: the CPU's bits; their law by 100 times the draws of
// negatives_test.cc, |z| < 4 for each of 64 fits, wrong laws z > 10 (tests/law.h); what is refused. Skipped without a
// GPU.
#include "tests/gpu_memory.cuh"
#include "tests/negatives_cases.h"
#include "tests/reference/public_api.h"
#include "tests/share.h"

using gpu_memory::Array;
using gpu_memory::Require;
using graph_cases::message_has;
using namespace negatives_cases;

namespace {

class NegativesOnGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (gpu_memory::NoGpu()) GTEST_SKIP() << "no GPU";
        Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    void TearDown() override {
        if (stream) Require(cudaStreamDestroy(stream));
    }
    Rule there(Rule rule) const {
        rule.device = "cuda:0";
        rule.stream = stream;
        return rule;
    }
    static csaw_status draw(const csaw_negatives *negatives, uint64_t seed, uint64_t first, const Vertices &src,
                            uint32_t each, Vertices *dst) {
        const Array<csaw_vertex> from(src), to(Vertices(src.size() * each, 0xeeeeeeee));
        const csaw_status status = csaw_negatives_draw(negatives, seed, first, from.get(), src.size(), each, to.get());
        *dst = to.back();
        return status;
    }
    double z_there(const Graph &graph, const Rule &rule, const Rule &claimed, uint64_t seed) const {
        return z_of(graph, there(rule), claimed, seed, reference::share_of(40000),
                    [](csaw_negatives *negatives, uint64_t of, uint64_t first, const Vertices &src, uint32_t each) {
                        Vertices dst;
                        reference::require(draw(negatives, of, first, src, each, &dst));
                        return dst;
                    });
    }
    cudaStream_t stream = nullptr;
};

Graph rmat() {
    csaw_rmat_options of = {};
    of.size = sizeof of;
    of.scale = 12;
    of.edge_factor = 16;
    of.seed = 5;
    of.keep_isolated = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&of, &made));
    const csaw_csr view = csaw_graph_csr(made);
    Graph out;
    out.name = "rmat";
    out.rowptr.assign(view.rowptr, view.rowptr + view.num_vertices + 1);
    out.col.assign(view.col, view.col + view.num_edges);
    csaw_graph_free(made);
    return out;
}

TEST_F(NegativesOnGpu, AreTheCpus) {
    std::vector<Graph> all = graphs();
    all.push_back(rmat());
    for (const Graph &graph : all) {
        const csaw_csr csr = graph.csr();
        const auto borrowed = reference::borrow(csr);
        for (const Rule &rule : rules) {
            Vertices src, dst;
            for (csaw_vertex i = 0; i < 20000; i++) src.push_back(static_cast<csaw_vertex>(i * 7 % csr.num_vertices));
            src.erase(
                std::remove_if(src.begin(), src.end(),
                               [&](csaw_vertex u) { return csr.num_vertices < 100 && law_of(csr, rule, u).empty(); }),
                src.end());
            const Negatives cpu = create(borrowed.get(), rule), gpu = create(borrowed.get(), there(rule));
            Vertices expected(src.size() * 5);
            const uint64_t first = (uint64_t{1} << 39) + 5;
            reference::require(csaw_negatives_draw(cpu.get(), 77, first, src.data(), src.size(), 5, expected.data()));
            ASSERT_EQ(draw(gpu.get(), 77, first, src, 5, &dst), CSAW_OK) << csaw_last_error();
            EXPECT_TRUE(dst == expected) << graph.name << ", power " << rule.power << ", any " << rule.any;
        }
    }
}

TEST_F(NegativesOnGpu, HaveTheLaw) {
    uint64_t seed = 0xc987654300000000;
    for (const Graph &graph : graphs())
        for (const Rule &rule : rules) {
            const double z = z_there(graph, rule, rule, ++seed);
            EXPECT_LT(std::fabs(z), law::threshold) << graph.name << ", power " << rule.power << ", any " << rule.any;
        }
}

TEST_F(NegativesOnGpu, WrongLawsAreRejected) {
    const Graph karate = reference::small_graph("karate"), near = nearly_complete();
    EXPECT_GT(z_there(karate, {0, true}, {0, false}, 1), law::wrong) << "neighbours among them";
    EXPECT_GT(z_there(karate, {.77, false}, {.75, false}, 1), law::wrong) << "another power";
    EXPECT_GT(z_there(karate, {0, false}, {.75, false}, 1), law::wrong) << "all alike";
    EXPECT_GT(z_there(near, {.75, false}, {0, false}, 1), law::wrong) << "by degree";
}

TEST_F(NegativesOnGpu, TellWhatTheCpuTells) {
    const Graph star = reference::small_graph("star"); // its centre is joined to all
    const csaw_csr csr = star.csr();
    const auto graph = reference::borrow(csr);
    const Negatives gpu = create(graph.get(), there({}));
    Vertices dst;
    EXPECT_EQ(draw(gpu.get(), 8, 0, {3, 0, 4, 0}, 2, &dst), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"src[1] is vertex 0", "leave it out, or set any"}));
    EXPECT_EQ(dst[2], CSAW_NONE);
    EXPECT_EQ(draw(gpu.get(), 8, 0, {3, 0, 9, 4, 10}, 2, &dst), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"src[2] is vertex 9", "9 vertices"}));
    const csaw_vertex src[] = {3};
    csaw_vertex out[2];
    EXPECT_EQ(csaw_negatives_draw(gpu.get(), 8, 0, src, 1, 2, out), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"src lies in memory of the host", "cuda:0"}));
}

} // namespace
