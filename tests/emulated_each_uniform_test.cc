/* SPDX-License-Identifier: MIT */
/* tests/emulated_each_uniform_test.cc - tests/emulated_each.h, by UNIFORM. */
#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_each.h"

using namespace emulated_each;

TEST(EmulatedEach, UniformIsTheCpus) {
    for (csaw_graph *graph : Graphs(false)) {
        uint32_t number = 0;
        for (const Case &of : Cases()) {
            Job job(graph, of, CSAW__KERNEL_UNIFORM, 3, 6);
            const Arcs expected = job.OfTheCpu(graph, &csaw_neighbor, CSAW_SELECT_UNIFORM);
            EXPECT_GT(expected.src.size(), 0u);
            ExpectTheCpus<CSAW__KERNEL_UNIFORM>(&job, expected, true, 2, "case " + std::to_string(number++));
        }
        csaw_graph_free(graph);
    }
}
