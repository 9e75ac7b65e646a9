/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_faulty_layer_test.cc - tests/emulated_parts_samples.h: layers that are exchanged, with a hook
 * that breaks a rule: what is told is what is told in memory. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts_samples.h"

CSAW_DECLARE_SAMPLER(faulty_layer);

using namespace emulated_parts;

namespace {

std::string refusal(const Library &library, const csaw_sampler *sampler, const faulty_layer_params &params,
                    const SampleRequest &request) {
    try {
        library.samples(sampler, &params, Method::its, request);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

TEST(EmulatedPartsFaultyLayer, TheFaultIsThatInMemory) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Sampler sampler(faulty_layer);
    fake_cuda::Reset();
    for (const csaw_plan_options &plan : {on_gpu(4, 1), on_gpu(5, 2)}) {
        const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, plan);
        for (uint32_t rule = 1; rule <= 6; rule++)
            for (uint32_t depth : {0, 1}) {
                SampleRequest request = one_seed_each(csr, 20, {4, 3});
                request.replace = rule == 6; // of too many picks
                const faulty_layer_params params = {rule, 2, depth};
                const std::string expected = refusal(cpu, &faulty_layer, params, request);
                EXPECT_FALSE(expected.empty()) << "rule " << rule << " is not broken at depth " << depth;
                EXPECT_EQ(expected, refusal(gpu, sampler.get(), params, request));
                if (rule != 1) continue;
                request.fanout[depth] = 0; // biases are asked for nonetheless
                const std::string of_none = refusal(cpu, &faulty_layer, params, request);
                EXPECT_FALSE(of_none.empty());
                EXPECT_EQ(of_none, refusal(gpu, sampler.get(), params, request));
            }
        EXPECT_GT(inside(gpu)->use.copies, 0u) << "nothing was brought";
    }
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

} // namespace
