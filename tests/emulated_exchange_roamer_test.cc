/* SPDX-License-Identifier: MIT */
/* tests/emulated_exchange_roamer_test.cc - tests/emulated_exchange.h, of a walk with every hook, and bytes of its own.
 */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_exchange.h"
#include "tests/share.h"

using namespace emulated_exchange;

CSAW_DECLARE_SAMPLER(roamer);

TEST(EmulatedExchange, EveryHookIsTheCpus) {
    for (const char *name : {"karate", "directed_weighted", "multi_weighted", "zero_rows"}) {
        if (!reference::takes_case()) continue;
        const reference::Graph graph = reference::small_graph(name);
        SCOPED_TRACE(name);
        ExpectTheCpus(graph.csr(), roamer, nullptr, {Method::reject, Method::its, Method::race}, few(graph.csr(), 7),
                      Others::there);
    }
}

TEST(EmulatedExchange, EveryHookMovesNoneWithoutArcs) {
    ExpectNoneMovesWithoutArcs(roamer, {Method::reject, Method::its, Method::race});
}
