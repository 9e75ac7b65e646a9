/* SPDX-License-Identifier: MIT */
/* tests/emulated_spread_faulty_test.cc - tests/emulated_spread.h, of hooks that break their rules. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_spread.h"
#include "tests/fault_order.h"

using namespace emulated_spread;
namespace {

// Of every rank, or of the one process.
std::vector<std::string> said(const csaw_csr &csr, const Split *split, const fault_order::Run &run,
                              csaw_select select) {
    std::vector<csaw_vertex> roots;
    for (const auto &pool : run.pools) roots.push_back(pool[0]);
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 3;
    options.select = select;
    const Sampler sampler(faulty);
    const auto draw = [&](uint32_t, csaw_plan *plan) {
        const csaw_seeds seeds = {roots.data(), roots.size(), nullptr};
        csaw_samples *samples = nullptr;
        const csaw_status status =
            csaw_sample(plan, split ? sampler.get() : &faulty, &run.params, &seeds, &options, &samples);
        csaw_samples_free(samples);
        return status;
    };
    std::vector<std::string> out;
    if (!split) {
        const Library whole(csr, reference::plan_on("cpu", 1, 0));
        EXPECT_EQ(CSAW_EBIAS, draw(0, whole.get()));
        return {csaw_last_error()};
    }
    for (const spread::Outcome &outcome : spread::on_ranks(csr, *split, draw))
        out.push_back(outcome.status == CSAW_EBIAS ? outcome.message : csaw_status_text(outcome.status));
    return out;
}

} // namespace

TEST(EmulatedSpread, TheLowestFaultIsNamedOnEveryRank) {
    const reference::Graph graph = fault_order::graph();
    for (const fault_order::Run &run : fault_order::runs())
        for (csaw_select select : {CSAW_SELECT_REJECT, CSAW_SELECT_ITS, CSAW_SELECT_RACE}) {
            if (run.params.rule == 1 && select == CSAW_SELECT_REJECT)
                continue; // a proposal below the lower bound is taken without a look at its bias
            const std::string one = said(graph.csr(), nullptr, run, select)[0];
            for (const Split &split : splits()) {
                fake_cuda::Reset();
                fake_cuda::devices = 8;
                for (const std::string &message : said(graph.csr(), &split, run, select))
                    EXPECT_EQ(one, message) << run.name << ", " << spread::name_of(split);
            }
        }
}
