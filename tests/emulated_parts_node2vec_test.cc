/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_node2vec_test.cc - tests/emulated_parts.h, of walks of second order: questions to other
 * partitions, and answers where prev's row is resident. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"
#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#define csaw_node2vec_params emulated_node2vec_params // samplers.h has it, too
#include SAMPLER_FILE
#undef csaw_node2vec_params
#include "tests/emulated_parts.h"

using namespace emulated_parts;
using reference::Method;

// At p = q = 1000 most attempts fail, so that REJECT ends by ITS, which reads prev's row where it lies.
TEST(EmulatedParts, Node2vecIsTheCpus) {
    for (const char *name : {"karate", "directed_weighted", "star"})
        for (const csaw_node2vec_params params : {csaw_node2vec_params{.25f, 4}, csaw_node2vec_params{1e3f, 1e3f}}) {
            const reference::Graph graph = reference::small_graph(name);
            const csaw_csr csr = graph.csr();
            SCOPED_TRACE(name);
            ExpectTheCpus(csr, *csaw_sampler_find("node2vec"), &params, {Method::reject, Method::its, Method::race},
                          few(csr, 6));
        }
}

// Where the graph's pages may not be locked the CPU draws, on one GPU's plan and on two's, and the plan says so.
TEST(EmulatedParts, Node2vecIsTheCpusWherePagesAreRefused) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const csaw_node2vec_params params = {.25f, 4};
    const csaw_sampler *const of = csaw_sampler_find("node2vec");
    const Sampler sampler(*of);
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Request request = few(csr, 6);
    const reference::SampleRequest hops = sample_equality::request_on(csr, {3, 2}, 2, false);
    for (const char *list : {"cuda:0", "cuda:0,cuda:1"}) {
        SCOPED_TRACE(list);
        fake_cuda::Reset();
        fake_cuda::devices = 2;
        fake_cuda::refuse_pages = true;
        {
            csaw_plan_options options = on_gpu(3, 1);
            options.device = list;
            const Library gpu(csr, options);
            EXPECT_TRUE(equality::same(cpu.walks(of, &params, Method::reject, request),
                                       gpu.walks(sampler.get(), &params, Method::reject, request)));
            EXPECT_TRUE(sample_equality::same(cpu.samples(of, &params, Method::its, hops),
                                              gpu.samples(sampler.get(), &params, Method::its, hops)));
            EXPECT_NE(std::string(csaw_plan_explain(gpu.get())).find("pools that are lists are drawn by the cpu\n"),
                      std::string::npos)
                << csaw_plan_explain(gpu.get());
        }
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    fake_cuda::Reset();
}

TEST(EmulatedParts, Node2vecBringsNothingWithoutArcs) {
    ExpectNothingWithoutArcs(*csaw_sampler_find("node2vec"), {Method::reject, Method::its, Method::race});
}

TEST(EmulatedParts, Node2vecReadsInPlace) {
    const csaw_node2vec_params params = {.25f, 4};
    ExpectReadInPlace(*csaw_sampler_find("node2vec"), &params, {Method::reject});
}

TEST(EmulatedParts, Node2vecMakesItsLastStepsInPlace) {
    const csaw_node2vec_params params = {.25f, 4};
    ExpectTheLastInPlace(*csaw_sampler_find("node2vec"), &params, Method::reject, 4);
}

// Rows of prev, and questions, where walks stand apart.
TEST(EmulatedParts, Node2vecStandsApart) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_node2vec_params params = {.25f, 4};
    ExpectTheCpusApart(graph.csr(), *csaw_sampler_find("node2vec"), &params,
                       {Method::its, Method::race, Method::reject});
}
