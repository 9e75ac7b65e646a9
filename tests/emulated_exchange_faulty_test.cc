/* SPDX-License-Identifier: MIT */
/* tests/emulated_exchange_faulty_test.cc - tests/emulated_exchange.h, of hooks that break their rules: the lowest
 * instance and depth of all GPUs and rounds. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_exchange.h"
#include "tests/fault_order.h"

using namespace emulated_exchange;

TEST(EmulatedExchange, TheLowestFaultIsFound) {
    const reference::Graph graph = fault_order::graph();
    const Library cpu(graph.csr(), reference::plan_on("cpu", 1, 0));
    const Sampler sampler(faulty);
    for (const fault_order::Run &each : fault_order::runs())
        for (Method method : {Method::its, Method::race}) {
            Asked run = {&faulty, &each.params, method, {}};
            for (const auto &pool : each.pools) run.request.roots.push_back(pool[0]);
            run.request.depth = 3;
            const csaw_seeds seeds = {run.request.roots.data(), run.request.roots.size(), nullptr};
            const csaw_run_options options = options_of(method, run.request);
            csaw_samples *none = nullptr;
            ASSERT_EQ(CSAW_EBIAS, csaw_sample(cpu.get(), &faulty, &each.params, &seeds, &options, &none));
            const std::string expected = csaw_last_error();
            run.sampler = sampler.get();
            for (const std::vector<int> &list : lists()) {
                fake_cuda::Reset();
                fake_cuda::devices = 4;
                const Outcome got = walk(graph.csr(), list, run, Others::there);
                ASSERT_EQ(CSAW_OK, got.status) << got.message;
                ASSERT_EQ(static_cast<uint32_t>(CSAW__FAULT_EDGE), got.fault.kind) << each.name;
                const std::string found = "instance " + std::to_string(got.fault.instance) + ", depth " +
                                          std::to_string(got.fault.depth) + ",";
                EXPECT_NE(std::string::npos, expected.find(found))
                    << each.name << ": " << expected << ", not " << found;
            }
        }
}
