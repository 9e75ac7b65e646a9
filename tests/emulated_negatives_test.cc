// SPDX-License-Identifier: MIT
// tests/emulated_negatives_test.cc - negative samples drawn by a GPU, on the CPU: the kernel on an emulated GPU, all
// else against a fake CUDA. The CPU's bits in whatever calls; what is refused; what fails gives its memory back.
#include "tests/failing_allocations.h"
#include "tests/negatives_cases.h"

#include "tests/fake_cuda/launch.h"

using graph_cases::message_has;
using namespace negatives_cases;

namespace {

class EmulatedNegatives : public ::testing::Test {
  protected:
    EmulatedNegatives() {
        fake_cuda::Reset();
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    ~EmulatedNegatives() override {
        cudaStreamSynchronize(stream); // memory is freed there
        cudaStreamDestroy(stream);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    Rule there(Rule rule) const {
        rule.device = "cuda:0";
        rule.stream = stream;
        return rule;
    }
    csaw_status draw(const csaw_negatives *negatives, const Vertices &src, uint32_t each, Vertices *dst,
                     uint64_t first = 90) {
        void *from = nullptr, *to = nullptr;
        dst->assign(src.size() * each, 0xeeeeeeee);
        cudaMalloc(&from, src.size() * 4 + 1);
        cudaMalloc(&to, dst->size() * 4 + 1);
        std::copy(src.begin(), src.end(), static_cast<csaw_vertex *>(from));
        std::copy(dst->begin(), dst->end(), static_cast<csaw_vertex *>(to));
        const csaw_status status = csaw_negatives_draw(negatives, 8, first, static_cast<csaw_vertex *>(from),
                                                       src.size(), each, static_cast<csaw_vertex *>(to));
        std::copy_n(static_cast<csaw_vertex *>(to), dst->size(), dst->begin());
        cudaFree(from);
        cudaFree(to);
        return status;
    }
    cudaStream_t stream = nullptr;
};

TEST_F(EmulatedNegatives, AreTheCpus) {
    for (const Graph &graph : graphs()) {
        const csaw_csr csr = graph.csr();
        const auto borrowed = reference::borrow(csr);
        for (const Rule &rule : rules) {
            Vertices src, dst;
            for (csaw_vertex i = 0; i < 90; i++)
                if (const auto u = static_cast<csaw_vertex>(i * 7 % csr.num_vertices); !law_of(csr, rule, u).empty())
                    src.push_back(u);
            const Negatives cpu = create(borrowed.get(), rule), gpu = create(borrowed.get(), there(rule));
            for (uint32_t each : {1u, 5u}) {
                Vertices expected(src.size() * each);
                ASSERT_EQ(csaw_negatives_draw(cpu.get(), 8, 90, src.data(), src.size(), each, expected.data()),
                          CSAW_OK);
                ASSERT_EQ(draw(gpu.get(), src, each, &dst), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(dst, expected) << graph.name << ", power " << rule.power << ", any " << rule.any;
            }
        }
    }
}

TEST_F(EmulatedNegatives, HoldNoRowsWhereAllIsAllowed) {
    const Graph graph = nearly_complete();
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    const size_t rows = (csr.num_vertices + 1) * sizeof *csr.rowptr + csr.num_edges * sizeof *csr.col;
    const auto takes = [&](const Rule &rule) {
        cudaStreamSynchronize(stream);
        const Negatives gpu = create(borrowed.get(), there(rule));
        return fake_cuda::used;
    };
    EXPECT_LT(takes({0, true}), 64u);
    EXPECT_EQ(takes({0, false}) - takes({0, true}), rows);
    EXPECT_EQ(takes({.75, false}) - takes({0, false}), csr.num_vertices * 8);
}

TEST_F(EmulatedNegatives, RefusesWhatCannotBe) {
    const Graph star = reference::small_graph("star"); // its centre is joined to all
    const csaw_csr csr = star.csr();
    const auto graph = reference::borrow(csr);
    Vertices dst;
    {
        const Negatives gpu = create(graph.get(), there({}));
        EXPECT_EQ(draw(gpu.get(), {3, 0, 4, 0}, 2, &dst), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"src[1] is vertex 0", "leave it out, or set any"}));
        EXPECT_EQ(dst[2], CSAW_NONE);
        EXPECT_NE(dst[0], CSAW_NONE);
        EXPECT_EQ(draw(gpu.get(), {3, 0, 9, 4, 10}, 2, &dst), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"src[2] is vertex 9", "9 vertices"}));
        EXPECT_EQ(draw(gpu.get(), {3}, 2, &dst, uint64_t{1} << 40), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"2^40"}));
        EXPECT_EQ(draw(gpu.get(), {}, 2, &dst), CSAW_OK);
        EXPECT_EQ(draw(gpu.get(), {3, 9}, 0, &dst), CSAW_OK);
        const csaw_vertex src[] = {3, 4};
        csaw_vertex out[2];
        EXPECT_EQ(csaw_negatives_draw(gpu.get(), 8, 0, src, 2, 1, out), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"src lies in memory of the host", "cuda:0"}));
        EXPECT_EQ(csaw_negatives_draw(gpu.get(), 8, 0, src, uint64_t{1} << 20, 1u << 20, out), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"1048576 sources with 1048576 negatives", "2^39"}));
    }
    csaw_negatives *out = nullptr;
    Rule rule = there({});
    rule.device = "cuda:1";
    csaw_negative_options given = rule.given();
    EXPECT_EQ(csaw_negatives_create(graph.get(), &given, &out), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"cuda:1"}));
    rule.device = nullptr;
    given = rule.given();
    EXPECT_EQ(csaw_negatives_create(graph.get(), &given, &out), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"a stream is given", "CPU"}));
    EXPECT_EQ(out, nullptr);
}

TEST_F(EmulatedNegatives, WhatFailsIsGivenBack) {
    const Graph karate = reference::small_graph("karate");
    const csaw_csr csr = karate.csr();
    const auto graph = reference::borrow(csr);
    const csaw_negative_options given = there({.75}).given();
    const Vertices src = {1, 2, 3};
    const auto both = [&] {
        csaw_negatives *made = nullptr;
        Vertices dst;
        csaw_status status = csaw_negatives_create(graph.get(), &given, &made);
        if (status == CSAW_OK) status = draw(made, src, 4, &dst);
        csaw_negatives_free(made);
        return status;
    };
    EXPECT_GT(fail_every_allocation(both), 4u);
    for (uint64_t copy = 1; copy <= 4; copy++) { // three arrays, then the faults
        fake_cuda::Reset();
        fake_cuda::fail_copy = copy;
        EXPECT_EQ(both(), CSAW_ECUDA) << copy;
    }
    fake_cuda::Reset();
    fake_cuda::fail_launch = 1;
    EXPECT_EQ(both(), CSAW_ECUDA);
    fake_cuda::Reset();
    EXPECT_EQ(both(), CSAW_OK);
}

} // namespace
