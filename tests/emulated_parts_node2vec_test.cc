/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_node2vec_test.cc - tests/emulated_parts.h, of walks of second order: questions to other
 * partitions, and answers where prev's row is resident. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

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

TEST(EmulatedParts, Node2vecReadsInPlace) {
    const csaw_node2vec_params params = {.25f, 4};
    ExpectReadInPlace(*csaw_sampler_find("node2vec"), &params, {Method::reject});
}

TEST(EmulatedParts, Node2vecMakesItsLastStepsInPlace) {
    const csaw_node2vec_params params = {.25f, 4};
    ExpectTheLastInPlace(*csaw_sampler_find("node2vec"), &params, Method::reject, 4);
}
