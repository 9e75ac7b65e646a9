/* SPDX-License-Identifier: MIT */
/* tests/equality.h - the bits are the same (P2): the library's paths and edges on a list of plans against those of
 * tests/reference, every sampler, every selection method, bit for bit. */
#ifndef CSAW_EQUALITY_H
#define CSAW_EQUALITY_H

#include "tests/data_folder.h"
#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"
#include "tests/reference/samplers.h"
#include "tests/share.h"
#include "tests/walk_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace equality {

using reference::Graph;
using reference::Law;
using reference::Library;
using reference::Method;
using reference::plan_on;
using reference::Request;
using reference::Walks;

// At p = q = 1e3 most attempts fail, so that REJECT ends by ITS.
inline std::vector<Law> laws() {
    return {{false, 1, 1}, {true, .25f, 4}, {true, 4, .25f}, {true, 1e-3f, 1}, {true, 1e3f, 1e3f}};
}

inline reference::Sampler sampler_of(const Law &law) {
    return law.node2vec ? reference::node2vec(law.p, law.q) : reference::uniform();
}

inline Walks reference_walks(const csaw_csr &csr, const Law &law, Method method, const Request &request) {
    return reference::walks(csr, sampler_of(law), method, request, reference::has_parallel_arcs(csr));
}

inline std::string name_of(const csaw_plan_options &plan) {
    return std::string(plan.device) + ", " + std::to_string(plan.threads) + " threads, " +
           std::to_string(plan.partitions) + " partitions" +
           (plan.resident ? ", " + std::to_string(plan.resident) + " resident" : "");
}

// Names the first walk and step that differ.
inline ::testing::AssertionResult same(const Walks &expected, const Walks &walks) {
    if (walks.count != expected.count || walks.length != expected.length)
        return ::testing::AssertionFailure() << walks.count << " walks of " << walks.length << " steps, not "
                                             << expected.count << " of " << expected.length;
    for (uint64_t w = 0; w < walks.count; w++) {
        for (uint32_t s = 0; s <= walks.length; s++) {
            const uint64_t place = w * (walks.length + uint64_t{1}) + s;
            if (walks.path[place] != expected.path[place])
                return ::testing::AssertionFailure() << "walk " << w << ", place " << s << ": vertex "
                                                     << walks.path[place] << ", not " << expected.path[place];
            if (s == walks.length) continue;
            const uint64_t step = w * walks.length + s;
            if (walks.edge[step] != expected.edge[step])
                return ::testing::AssertionFailure() << "walk " << w << ", step " << s << ": edge " << walks.edge[step]
                                                     << ", not " << expected.edge[step];
        }
    }
    return ::testing::AssertionSuccess();
}

inline void expect_equal(const csaw_csr &csr, const Request &request, const std::vector<csaw_plan_options> &plans) {
    std::vector<std::unique_ptr<Library>> libraries;
    for (const csaw_plan_options &plan : plans) libraries.push_back(std::make_unique<Library>(csr, plan));
    for (const Law &law : laws()) {
        for (Method method : reference::methods_of(law)) {
            const Walks expected = reference_walks(csr, law, method, request);
            for (size_t i = 0; i < plans.size(); i++) {
                if (!reference::takes_case()) continue;
                EXPECT_TRUE(same(expected, libraries[i]->walks(law, method, request)))
                    << law.name() << ", " << reference::name_of(method) << ", " << name_of(plans[i]);
            }
        }
    }
}

// Three walks from every vertex, both halves of the key in use.
inline Request request_on(const csaw_csr &csr, uint32_t depth) {
    Request request;
    request.seed = 0x9e3779b97f4a7c15;
    for (uint64_t v = 0; v < csr.num_vertices; v++) request.roots.push_back(static_cast<csaw_vertex>(v));
    request.walks_per_seed = 3;
    request.depth = depth;
    return request;
}

// Where each attempt of REJECT succeeds once in 64 times, some walk in 200 is decided by the last attempt, and 2 in 5
// by ITS after it: a limit of 63 or 65 attempts would show.
inline void expect_64_attempts(const csaw_plan_options &plan) {
    const Graph star = reference::small_graph("star");
    const Law law = {true, 64, 64};
    Request request = request_on(star.csr(), 4);
    request.walks_per_seed = 500;
    const Walks expected = reference_walks(star.csr(), law, Method::reject, request);
    EXPECT_TRUE(same(expected, Library(star.csr(), plan).walks(law, Method::reject, request))) << name_of(plan);
}

// From the hub, and from leaves; few, since the reference looks at all 10^6 arcs.
inline Request request_on_hub() {
    Request request;
    request.seed = 3;
    request.roots = {0, 1, 1000000, 31415};
    request.walks_per_seed = 1;
    request.depth = 3;
    return request;
}

inline Request one_walk_each(const csaw_csr &csr, uint32_t depth) {
    Request request = request_on(csr, depth);
    request.walks_per_seed = 1;
    return request;
}

// The same for samplers with every kind of hook, compiled at run time, on the graphs that show their corners.
inline void expect_hooks_equal(const std::vector<csaw_plan_options> &plans) {
    for (const reference::HookSampler &hooks : reference::hook_samplers()) {
        const std::string file = std::string(CSAW_SOURCE_DIR "/tests/reference/samplers/") + hooks.name + ".c";
        const csaw_sampler *sampler = nullptr;
        reference::require(csaw_sampler_compile(file.c_str(), &sampler));
        for (const char *name : {"star", "directed", "weighted", "multi_weighted", "zero_rows"}) {
            const Graph graph = reference::small_graph(name);
            const csaw_csr csr = graph.csr();
            const Request request = request_on(csr, 21);
            for (Method method : hooks.methods) {
                const Walks expected =
                    reference::walks(csr, hooks.sampler, method, request, reference::has_parallel_arcs(csr));
                for (const csaw_plan_options &plan : plans) {
                    if (!reference::takes_case()) continue;
                    EXPECT_TRUE(same(expected, Library(csr, plan).walks(sampler, nullptr, method, request)))
                        << hooks.name << ", " << reference::name_of(method) << ", " << name << ", " << name_of(plan);
                }
            }
        }
        csaw_sampler_unload(sampler);
    }
}

// The same for the other built-in walks.
inline void expect_walks_equal(const std::vector<csaw_plan_options> &plans) {
    for (const Graph &graph : walk_cases::graphs()) {
        const csaw_csr csr = graph.csr();
        const bool parallel = reference::has_parallel_arcs(csr);
        const Request request = request_on(csr, 21);
        std::vector<std::unique_ptr<Library>> libraries;
        for (const csaw_plan_options &plan : plans) libraries.push_back(std::make_unique<Library>(csr, plan));
        for (const walk_cases::Case &walk : walk_cases::cases()) {
            for (Method method : walk_cases::methods_of(walk, csr)) {
                const Walks expected = reference::walks(csr, walk.reference, method, request, parallel);
                for (size_t i = 0; i < plans.size(); i++) {
                    if (!reference::takes_case()) continue;
                    EXPECT_TRUE(same(expected, library_walks(*libraries[i], walk, method, request)))
                        << walk.name << ", " << reference::name_of(method) << ", " << graph.name << ", "
                        << name_of(plans[i]);
                }
            }
        }
    }
}

// Of so many vertices the first leads to so many that follow, and no other has an arc.
inline Graph one_row(csaw_vertex vertices, csaw_vertex arcs) {
    std::vector<reference::WeightedArc> out;
    for (csaw_vertex v = 1; v <= arcs; v++) out.push_back({0, v, static_cast<float>(1 + v % 7), 0, 0});
    return reference::graph_of("one row", vertices, out, true);
}

// Of so many vertices the first and the one in the middle lead to all others, but for each other; these have no arcs.
inline Graph two_rows(csaw_vertex vertices) {
    std::vector<reference::WeightedArc> out;
    for (csaw_vertex v = 1; v < vertices; v++)
        for (csaw_vertex from : {csaw_vertex{0}, vertices / 2})
            if (v != vertices / 2) out.push_back({from, v, static_cast<float>(1 + v % 7), 0, 0});
    return reference::graph_of("two rows", vertices, out, true);
}

using OwnedGraph = std::unique_ptr<csaw_graph, reference::Free>;

inline OwnedGraph rmat(uint32_t scale, bool weighted) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = scale;
    options.weighted = weighted;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_rmat(&options, &graph));
    return OwnedGraph(graph);
}

inline OwnedGraph rmat_graph(bool weighted) { return rmat(10, weighted); }

// A file of the optional data folder; none if there is no such folder.
inline OwnedGraph data_graph(const std::string &file) {
    const char *folder = data_folder();
    if (!folder) return nullptr;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_load((std::string(folder) + "/" + file).c_str(), nullptr, &graph));
    return OwnedGraph(graph);
}

const char *const data_files[] = {"edge-lists/wiki-Vote.txt.gz", "formats/p2p-31-weighted.e.gz"};

} // namespace equality

#endif
