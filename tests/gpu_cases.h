/* SPDX-License-Identifier: MIT */
/* tests/gpu_cases.h - every built-in sampler with parameters that show its branches, as a walk or a sample, and the
 * same run on the CPU engine and on a GPU: equal status, equal message, equal bits. The CPU engine itself is held
 * against tests/reference elsewhere (equality_test.cc, sample_equality_test.cc). */
#ifndef CSAW_GPU_CASES_H
#define CSAW_GPU_CASES_H

#include "tests/sample_cases.h"
#include "tests/share.h"
#include "tests/walk_cases.h"

#include <cstring>

namespace gpu_cases {

using reference::Method;
using Pools = std::vector<std::vector<csaw_vertex>>;

struct Case {
    std::string name;
    const csaw_sampler *sampler;
    std::vector<char> params;     // its struct's bytes; empty = defaults
    reference::Sampler reference; // what it has: hooks, flags
    bool walk;                    // a walk where pools hold one seed each
    bool replace = false;
    std::vector<uint32_t> fanout{}; // of a sample, by depth; where the sampler has a hook only the depth counts
};

inline std::vector<Case> walks() {
    std::vector<Case> out = {{"uniform", &csaw_uniform, {}, reference::uniform(), true}};
    for (const auto &[p, q] : {std::pair<float, float>{.25f, 4}, {4, .25f}, {1e-3f, 1}}) // the last folds the arc back
        out.push_back({"node2vec p=" + std::to_string(p), &csaw_node2vec,
                       sample_cases::bytes_of(csaw_node2vec_params{p, q}), reference::node2vec(p, q), true});
    for (const walk_cases::Case &each : walk_cases::cases())
        out.push_back({each.name, each.sampler, each.params, each.reference, true});
    return out;
}

inline std::vector<Case> samples() {
    std::vector<Case> out;
    for (const sample_cases::Case &each : sample_cases::cases())
        out.push_back({each.name, each.sampler, each.params, each.reference, false, each.replace, each.fanout});
    out.push_back({"random_node",
                   &csaw_random_node,
                   sample_cases::bytes_of(csaw_random_node_params{5}),
                   reference::random_node(5),
                   false,
                   false,
                   {0}});
    return out;
}

inline std::vector<Case> all() {
    std::vector<Case> out = walks();
    for (const Case &each : samples()) out.push_back(each);
    return out;
}

inline std::vector<Method> methods_of(const Case &each, const csaw_csr &csr) {
    if (!each.walk) return sample_cases::methods_of(each.reference, each.replace, csr);
    return walk_cases::methods_of({each.name, each.sampler, each.params, each.reference}, csr);
}

// ---- one run ----------------------------------------------------------------

struct Ask {
    uint64_t seed = 0x9e3779b97f4a7c15; // both halves of the key
    Pools pools;
    uint32_t each = 1; // instances of a pool
    uint32_t depth = 6;
    std::vector<uint32_t> fanout{}; // empty = none
    bool replace = false;
};

// As the case wants it: a sample has the depth of its fanout and, where a hook decides, none in the run.
inline Ask ask_of(const Case &each, Pools pools, uint32_t depth, const std::vector<uint32_t> &fanout) {
    Ask out;
    out.pools = std::move(pools);
    out.depth = each.walk ? depth : static_cast<uint32_t>(fanout.size());
    if (!each.walk && !each.reference.fanout) out.fanout = fanout;
    out.replace = each.replace;
    return out;
}

using Drawn = std::unique_ptr<csaw_samples, reference::Free>;

struct Outcome {
    csaw_status status;
    std::string message;
    Drawn samples;
};

inline csaw_run_options options_of(const Ask &run, Method method) { // which lends its fanout
    csaw_run_options out = {};
    out.size = sizeof out;
    out.seed = run.seed;
    out.walks_per_seed = run.each;
    out.depth = run.depth;
    out.fanout = run.fanout.empty() ? nullptr : run.fanout.data();
    out.replace = run.replace;
    out.select = reference::select_of(method);
    out.edges = run.fanout.empty();
    return out;
}

inline Outcome draw(csaw_plan *plan, const Case &each, Method method, const Ask &run) {
    const reference::Seeds seeds(run.pools);
    const csaw_seeds view = seeds.view();
    const csaw_run_options options = options_of(run, method);
    csaw_samples *drawn = nullptr;
    const csaw_status status =
        csaw_sample(plan, each.sampler, each.params.empty() ? nullptr : each.params.data(), &view, &options, &drawn);
    return {status, status == CSAW_OK ? "" : csaw_last_error(), Drawn(drawn)};
}

// ---- equal bits -------------------------------------------------------------

template <typename T>
::testing::AssertionResult same_array(const char *what, const T *a, const T *b, uint64_t count, uint64_t stride) {
    if ((a == nullptr) != (b == nullptr) && count > 0) return ::testing::AssertionFailure() << what << ": one has none";
    if (count == 0 || !a || std::memcmp(a, b, count * sizeof *a) == 0) return ::testing::AssertionSuccess();
    uint64_t i = 0;
    while (a[i] == b[i]) i++;
    return ::testing::AssertionFailure() << what << " " << i << " (instance " << i / stride << " if there are "
                                         << stride << " each): " << b[i] << " on the GPU, not " << a[i];
}

#define CSAW_SAME(...) \
    if (const ::testing::AssertionResult same = same_array(__VA_ARGS__); !same) return same

// items: grows by the places of paths, or by the arcs, that were compared.
inline ::testing::AssertionResult same_walks(csaw_samples *a, csaw_samples *b, uint64_t *items) {
    csaw_walks u = {}, v = {};
    if (csaw_samples_walks(a, CSAW_HOST, &u) || csaw_samples_walks(b, CSAW_HOST, &v))
        return ::testing::AssertionFailure() << csaw_last_error();
    if (u.num_walks != v.num_walks || u.length != v.length || u.first != v.first)
        return ::testing::AssertionFailure() << v.num_walks << " walks of " << v.length << " steps";
    const uint64_t places = u.length + uint64_t{1};
    CSAW_SAME("place", u.path, v.path, u.num_walks * places, places);
    CSAW_SAME("step", u.edge, v.edge, u.num_walks * u.length, u.length);
    *items += u.num_walks * places;
    return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_arcs(csaw_samples *a, csaw_samples *b, uint64_t *items) {
    csaw_arcs u = {}, v = {};
    if (csaw_samples_arcs(a, CSAW_HOST, &u) || csaw_samples_arcs(b, CSAW_HOST, &v))
        return ::testing::AssertionFailure() << csaw_last_error();
    if (u.num_instances != v.num_instances || u.first != v.first)
        return ::testing::AssertionFailure() << v.num_instances << " instances";
    CSAW_SAME("offset of instance", u.offset, v.offset, u.num_instances + 1, 1);
    CSAW_SAME("offset of seeds", u.seed_offset, v.seed_offset, u.num_instances + 1, 1);
    const uint64_t arcs = u.offset[u.num_instances];
    CSAW_SAME("seed", u.seed, v.seed, u.seed_offset[u.num_instances], 1);
    CSAW_SAME("src of arc", u.src, v.src, arcs, 1);
    CSAW_SAME("dst of arc", u.dst, v.dst, arcs, 1);
    CSAW_SAME("edge of arc", u.edge, v.edge, arcs, 1);
    CSAW_SAME("depth of arc", u.depth, v.depth, arcs, 1);
    *items += arcs;
    return ::testing::AssertionSuccess();
}
#undef CSAW_SAME

// ---- two plans on one graph -------------------------------------------------------

class Pair {
  public:
    explicit Pair(const csaw_csr &csr) : csr(csr), graph(reference::borrow(csr)) {
        cpu.reset(plan_on("cpu"));
        gpu.reset(plan_on("cuda:0"));
    }

    // Counts what was compared.
    ::testing::AssertionResult same(const Case &each, Method method, const Ask &run) {
        const Outcome a = draw(cpu.get(), each, method, run), b = draw(gpu.get(), each, method, run);
        if (a.status != b.status || a.message != b.message)
            return ::testing::AssertionFailure() << "the GPU says '" << b.message << "' (" << b.status << "), the CPU '"
                                                 << a.message << "' (" << a.status << ")";
        last_status = a.status;
        last_message = a.message;
        if (a.status != CSAW_OK) return ::testing::AssertionSuccess();
        if (each.walk && run.fanout.empty() && one_seed_each(run.pools))
            return same_walks(a.samples.get(), b.samples.get(), &items);
        return same_arcs(a.samples.get(), b.samples.get(), &items);
    }

    const csaw_csr csr;
    uint64_t items = 0; // places of paths and arcs that were compared
    csaw_status last_status = CSAW_OK;
    std::string last_message;

    csaw_plan *cpu_plan() const { return cpu.get(); }
    csaw_plan *gpu_plan() const { return gpu.get(); }

  private:
    csaw_plan *plan_on(const char *device) const {
        const csaw_plan_options options = reference::plan_on(device, 0, 0);
        csaw_plan *plan = nullptr;
        reference::require(csaw_plan_create(graph.get(), &options, &plan));
        return plan;
    }
    static bool one_seed_each(const Pools &pools) {
        return std::all_of(pools.begin(), pools.end(), [](const auto &pool) { return pool.size() == 1; });
    }

    std::unique_ptr<csaw_graph, reference::Free> graph;
    std::unique_ptr<csaw_plan, reference::Free> cpu, gpu;
};

// For the tests of a file: skips, and says why, where there is no GPU.
#define SKIP_WITHOUT_GPU()                                                                                     \
    if (const std::string why = reference::no_gpu_because(reference::small_graph("star").csr()); !why.empty()) \
    GTEST_SKIP() << "no GPU: " << why

} // namespace gpu_cases

#endif
