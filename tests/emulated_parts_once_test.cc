/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_once_test.cc - tests/emulated_parts_samples.h with what was visited, and weights: each batch
 * that is under way remembers its own. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts_samples.h"

using namespace emulated_parts;

namespace {

TEST(EmulatedPartsOnce, SamplesAreTheCpus) {
    const reference::Graph graph = reference::small_graph("directed_weighted");
    const csaw_csr csr = graph.csr();
    SampleRequest pools = one_seed_each(csr, 12, {3, 2, 2});
    for (size_t i = 0; i < pools.pools.size(); i += 2) pools.pools[i] = {pools.pools[i][0], pools.pools[i + 1][0]};
    ExpectTheCpusSamples(csr, *csaw_sampler_find("neighbor_once"), {Method::its, Method::race, Method::alias},
                         {one_seed_each(csr, 10, {3, 2}), pools});
}

} // namespace
