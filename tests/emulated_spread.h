/* SPDX-License-Identifier: MIT */
/* tests/emulated_spread.h - walks on a graph that is split over ranks, whose GPUs make the steps; the ranks are threads
 * of the test, their GPUs emulated ones, and each has its own rows alone. Bits are those of the CPU engine. Included
 * after tests/emulated_gpu.h and a sampler file, around which the kernels are compiled. */
#ifndef CSAW_TESTS_EMULATED_SPREAD_H
#define CSAW_TESTS_EMULATED_SPREAD_H

#include "tests/emulated_kernels.h"
#include "tests/spread_cases.h"

namespace emulated_spread {

using emulated_kernels::Sampler;
using reference::Library;
using reference::Method;
using reference::Request;
using spread::Split;

// Launches of one walker, of a few, of all; messages one by one; a rank alone.
inline std::vector<Split> splits() {
    std::vector<Split> out = {
        {1}, {2}, {3, 96, 5, 1, 1}, {5, 128, 0, 100, 1}, {8, 96, 3, 40, 2}, {3, 0, 0, 0, 0, true}};
    const uint64_t at_once[] = {0, 7, 1, 0, 3, 0};
    for (size_t i = 0; i < out.size(); i++) {
        out[i].gpus = 8;
        out[i].at_once = at_once[i];
    }
    return out;
}

// Few walks: a lane is a thread of the CPU.
inline Request few(const csaw_csr &csr, uint32_t depth) {
    Request request = equality::one_walk_each(csr, depth);
    if (request.roots.size() > 40) request.roots.resize(40);
    return request;
}

inline void ExpectTheCpus(const csaw_csr &csr, const csaw_sampler &of, const void *params,
                          const std::vector<Method> &methods, const Request &request) {
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (const Split &split : splits()) {
        fake_cuda::Reset();
        fake_cuda::devices = 8;
        for (Method method : methods) {
            const uint64_t launches = fake_cuda::launches;
            EXPECT_TRUE(equality::same(cpu.walks(&of, params, method, request),
                                       spread::walks(csr, split, {sampler.get(), params, method}, request)))
                << csaw_sampler_name(&of) << ", " << reference::name_of(method) << ", " << spread::name_of(split);
            EXPECT_GE(fake_cuda::launches, launches + 4) << "no GPU made a step";
        }
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
}

// Walks from two vertices that have arcs, of two ranks, all of which lead to vertices that have none, of either rank:
// no walker is sent for what comes after the first step.
inline void ExpectNoneSentWithoutArcs(const csaw_sampler &of, const std::vector<Method> &methods) {
    const reference::Graph graph = equality::two_rows(100);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (Method method : methods) {
        uint64_t sent[2] = {0, 0};
        for (uint32_t longer : {0, 1}) {
            Request request;
            request.roots = {0, 50, 0, 50};
            request.walks_per_seed = 5;
            request.depth = longer ? 9 : 1;
            fake_cuda::Reset();
            fake_cuda::devices = 8;
            std::vector<spread::Outcome> outcomes;
            EXPECT_TRUE(
                equality::same(cpu.walks(&of, nullptr, method, request),
                               spread::walks(csr, splits()[1], {sampler.get(), nullptr, method}, request, &outcomes)))
                << reference::name_of(method);
            for (const spread::Outcome &outcome : outcomes)
                sent[longer] += outcome.counts.messages[CSAW__WALKER] + outcome.counts.messages[CSAW__ASKING];
        }
        EXPECT_GT(sent[0], 0u) << "all roots are at home";
        EXPECT_EQ(sent[0], sent[1]) << reference::name_of(method);
    }
}

} // namespace emulated_spread

#endif
