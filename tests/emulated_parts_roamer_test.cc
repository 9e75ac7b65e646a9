/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_roamer_test.cc - tests/emulated_parts.h, of a walk with every hook. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts.h"

using namespace emulated_parts;
using reference::Method;

CSAW_DECLARE_SAMPLER(roamer);

TEST(EmulatedParts, EveryHookIsTheCpus) {
    for (const char *name : {"karate", "directed_weighted", "multi_weighted"}) {
        const reference::Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        SCOPED_TRACE(name);
        ExpectTheCpus(csr, roamer, nullptr, {Method::reject, Method::its, Method::race}, few(csr, 7));
    }
}

TEST(EmulatedParts, EveryHookBringsNothingWithoutArcs) {
    ExpectNothingWithoutArcs(roamer, {Method::reject, Method::its, Method::race});
}

TEST(EmulatedParts, EveryHookStandsApart) {
    const reference::Graph graph = reference::small_graph("karate");
    ExpectTheCpusApart(graph.csr(), roamer, nullptr, {Method::its, Method::race, Method::reject});
}
