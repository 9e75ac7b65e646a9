/* SPDX-License-Identifier: MIT */
/* tests/visits_cases.h - neighbours by visit counts for tests: what was kept of every seed, and how far that is from
 * the law, by enumeration of all walks from a seed (tests/law.h). */
#ifndef CSAW_TESTS_VISITS_CASES_H
#define CSAW_TESTS_VISITS_CASES_H

#include "tests/sample_cases.h"

#include <csaw/training.h>

namespace visits_cases {

using law::Graph;

using Visits = std::unique_ptr<csaw_visits, decltype(&csaw_visits_free)>;
using Kept = std::vector<std::pair<csaw_vertex, uint32_t>>; // vertices and their counts

struct Ask {
    const csaw_sampler *sampler = nullptr;
    const void *params = nullptr;
    uint32_t walks = 0, depth = 0, top = 0;
    uint64_t seed = 0, first = 0;
    csaw_visit_options given() const {
        csaw_visit_options options = {};
        options.size = sizeof options;
        options.sampler = sampler;
        options.params = params;
        options.walks = walks;
        options.depth = depth;
        options.top = top;
        options.seed = seed;
        options.first = first;
        return options;
    }
};

inline std::vector<Kept> visits(csaw_plan *plan, const std::vector<csaw_vertex> &seeds, const Ask &ask) {
    const csaw_visit_options given = ask.given();
    const csaw_seeds view = {seeds.data(), seeds.size(), nullptr};
    csaw_visits *made = nullptr;
    reference::require(csaw_visits_create(plan, seeds.empty() ? nullptr : &view, &given, &made));
    const Visits owned(made, csaw_visits_free);
    const csaw_visits_view look = csaw_visits_look(made);
    std::vector<Kept> out(look.num_seeds);
    EXPECT_EQ(look.offset[0], 0u);
    for (uint64_t i = 0; i < look.num_seeds; i++) {
        double sum = 0;
        for (uint64_t k = look.offset[i]; k < look.offset[i + 1]; k++) sum += look.count[k];
        for (uint64_t k = look.offset[i]; k < look.offset[i + 1]; k++) {
            out[i].emplace_back(look.vertex[k], look.count[k]);
            EXPECT_EQ(look.weight[k], static_cast<float>(look.count[k] / sum));
        }
    }
    return out;
}

// Most first, of equals the lower vertex.
inline Kept top_of(const std::map<csaw_vertex, uint32_t> &count, uint32_t top) {
    Kept all(count.begin(), count.end());
    std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
    all.resize(std::min<size_t>(all.size(), top));
    return all;
}

// ---- law ---------------------------------------------------------------------

using Law = std::map<Kept, long double>;

// What a step may do: from (root, v), vertices and their probabilities; a rest of probability ends the walk.
using Step = std::function<std::map<csaw_vertex, long double>(csaw_vertex, csaw_vertex)>;

inline Law law_of(const Step &step, csaw_vertex root, const Ask &ask, bool count_root = false) {
    using Count = std::map<csaw_vertex, uint32_t>;
    std::map<Count, long double> walk, all = {{{}, 1}};
    const std::function<void(csaw_vertex, uint32_t, Count, long double)> go = [&](csaw_vertex at, uint32_t left,
                                                                                  const Count &count, long double p) {
        long double rest = p;
        for (const auto &[next, q] : left > 0 ? step(root, at) : std::map<csaw_vertex, long double>{}) {
            Count more = count;
            if (count_root || next != root) more[next]++;
            rest -= p * q;
            go(next, left - 1, more, p * q);
        }
        if (rest > 1e-15L) walk[count] += rest;
    };
    go(root, ask.depth, {}, 1);
    for (uint32_t w = 0; w < ask.walks; w++) {
        std::map<Count, long double> longer;
        for (const auto &[a, p] : all)
            for (const auto &[b, q] : walk) {
                Count sum = a;
                for (const auto &[v, n] : b) sum[v] += n;
                longer[sum] += p * q;
            }
        all = std::move(longer);
    }
    Law out;
    for (const auto &[count, p] : all) out[top_of(count, ask.top)] += p;
    return out;
}

inline Step restarting(const csaw_csr &csr, long double restart, bool weighted = true) {
    return [=, &csr](csaw_vertex root, csaw_vertex at) {
        std::map<csaw_vertex, long double> out;
        long double sum = 0;
        for (csaw_edge e = csr.rowptr[at]; e < csr.rowptr[at + 1]; e++)
            sum += weighted && csr.weight ? csr.weight[e] : 1;
        if (sum == 0) return out = {{root, 1}};
        for (csaw_edge e = csr.rowptr[at]; e < csr.rowptr[at + 1]; e++)
            out[csr.col[e]] += (1 - restart) * (weighted && csr.weight ? csr.weight[e] : 1) / sum;
        out[root] += restart;
        return out;
    };
}

inline double z_of(const Law &law, const std::vector<Kept> &seen) {
    std::map<Kept, uint64_t> count;
    for (const Kept &kept : seen) count[kept]++;
    std::vector<uint64_t> counts;
    std::vector<long double> exact;
    uint64_t others = seen.size();
    for (const auto &[kept, p] : law) {
        counts.push_back(count[kept]);
        exact.push_back(p);
        others -= counts.back();
    }
    counts.push_back(others);
    exact.push_back(0);
    law::ChiSquare fit;
    fit.add(counts, exact);
    return fit.z();
}

// Of so many seeds at each of four vertices; and wrong laws, which they are not.
inline void expect_law(const std::string &device, size_t seeds) {
    const Graph graph = sample_cases::crumb(true);
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on(device.c_str(), 0, 0));
    const csaw_restart_params params = {.25f};
    for (csaw_vertex root : {0, 2, 3, 6})
        for (const Ask &ask :
             {Ask{&csaw_restart, &params, 2, 3, 2, root}, Ask{&csaw_restart, &params, 3, 2, 9, root}}) {
            const std::vector<Kept> seen = visits(library.get(), std::vector<csaw_vertex>(seeds, root), ask);
            EXPECT_LT(std::fabs(z_of(law_of(restarting(csr, .25L), root, ask), seen)), law::threshold) << root;
            if (root == 6) continue; // its arcs have weight 0: nothing to tell apart
            EXPECT_GT(z_of(law_of(restarting(csr, .4L), root, ask), seen), law::wrong) << "another restart, " << root;
            EXPECT_GT(z_of(law_of(restarting(csr, .25L, false), root, ask), seen), law::wrong)
                << "no weights, " << root;
            EXPECT_GT(z_of(law_of(restarting(csr, .25L), root, ask, true), seen), law::wrong) << "the root, " << root;
        }
}

} // namespace visits_cases

#endif
