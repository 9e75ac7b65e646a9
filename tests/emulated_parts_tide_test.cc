/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_tide_test.cc - tests/emulated_parts_samples.h: layers that are exchanged over part of a pool
 * that stays and grows, where visited vertices draw less. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts_samples.h"

CSAW_DECLARE_SAMPLER(tide);

using namespace emulated_parts;

namespace {

TEST(EmulatedPartsTide, SamplesAreTheCpus) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(tide);
    for (const csaw_plan_options &plan : {on_gpu(2, 1), on_gpu(5, 2), on_gpu(4, 0)}) {
        fake_cuda::Reset();
        {
            const Library gpu(csr, plan);
            for (const SampleRequest &request :
                 {one_seed_each(csr, 10, {3, 2, 4}), one_seed_each(csr, 7, {2, 5, 3, 3})})
                EXPECT_TRUE(sample_equality::same(cpu.samples(&tide, nullptr, Method::its, request),
                                                  gpu.samples(sampler.get(), nullptr, Method::its, request)))
                    << equality::name_of(plan) << ", " << sample_equality::name_of(request);
            EXPECT_GT(inside(gpu)->use.copies, 1u) << "nothing was brought";
        }
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
}

} // namespace
