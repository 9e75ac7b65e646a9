/* SPDX-License-Identifier: MIT */
/* tests/sample_equality.h - the bits are the same (P2), for samples: arcs and first frontiers on a list of plans
 * against those of tests/reference, every hook, flag and selection method, bit for bit. */
#ifndef CSAW_SAMPLE_EQUALITY_H
#define CSAW_SAMPLE_EQUALITY_H

#include "tests/equality.h"
#include "tests/reference/sample_samplers.h"

#include <random>

namespace sample_equality {

using equality::name_of;
using reference::Graph;
using reference::Library;
using reference::Method;
using reference::plan_on;
using reference::Sample;
using reference::SampleRequest;

inline std::string text_of(const reference::SampledArc &arc) {
    return std::to_string(arc.src) + " -> " + std::to_string(arc.dst) + " (edge " + std::to_string(arc.edge) +
           ", depth " + std::to_string(arc.depth) + ")";
}

// Names the first instance and arc that differ.
inline ::testing::AssertionResult same(const std::vector<Sample> &expected, const std::vector<Sample> &samples) {
    if (samples.size() != expected.size())
        return ::testing::AssertionFailure() << samples.size() << " samples, not " << expected.size();
    for (size_t i = 0; i < samples.size(); i++) {
        const Sample &a = expected[i], &b = samples[i];
        if (a.frontier != b.frontier)
            return ::testing::AssertionFailure()
                   << "instance " << i << ": first frontier " << ::testing::PrintToString(b.frontier) << ", not "
                   << ::testing::PrintToString(a.frontier);
        const auto equal = [](const reference::SampledArc &x, const reference::SampledArc &y) {
            return x.src == y.src && x.dst == y.dst && x.edge == y.edge && x.depth == y.depth;
        };
        for (size_t k = 0; k < std::max(a.arcs.size(), b.arcs.size()); k++) {
            if (k < a.arcs.size() && k < b.arcs.size() && equal(a.arcs[k], b.arcs[k])) continue;
            const std::string x = k < a.arcs.size() ? text_of(a.arcs[k]) : "none";
            const std::string y = k < b.arcs.size() ? text_of(b.arcs[k]) : "none";
            if (x != y)
                return ::testing::AssertionFailure() << "instance " << i << ", arc " << k << ": " << y << ", not " << x;
        }
    }
    return ::testing::AssertionSuccess();
}

// ---- requests -----------------------------------------------------------------

// One seed each; three, some of them equal; fifty and more, most of them equal; none at all.
inline std::vector<std::vector<csaw_vertex>> pools_on(const csaw_csr &csr) {
    std::mt19937_64 random(9);
    const auto any = [&] { return static_cast<csaw_vertex>(random() % csr.num_vertices); };
    std::vector<std::vector<csaw_vertex>> out;
    for (int j = 0; j < 12; j++) {
        std::vector<csaw_vertex> pool;
        for (size_t size = std::vector<size_t>{1, 3, 1, 50}[j % 4]; pool.size() < size;) pool.push_back(any());
        if (j % 8 == 1) pool[2] = pool[0];
        out.push_back(pool);
    }
    return out;
}

inline SampleRequest request_on(const csaw_csr &csr, std::vector<uint32_t> fanout, uint32_t depth, bool replace) {
    SampleRequest request;
    request.seed = 0x9e3779b97f4a7c15;
    request.pools = pools_on(csr);
    request.samples_per_pool = 2;
    request.depth = depth;
    request.fanout = std::move(fanout);
    request.replace = replace;
    return request;
}

// Fanouts of 0 (first, last, between), 1, 2, 3, 5, as many as there are vertices, and all, in several orders.
inline std::vector<SampleRequest> requests_on(const csaw_csr &csr) {
    const auto n = static_cast<uint32_t>(csr.num_vertices);
    return {request_on(csr, {2, 3, 1, 5}, 4, false),    request_on(csr, {}, 6, false),
            request_on(csr, {5, 0, 2, 1}, 4, false),    request_on(csr, {1, CSAW_ALL, 3}, 3, false),
            request_on(csr, {n, 2, 1}, 3, false),       request_on(csr, {CSAW_ALL, 1, 2}, 3, false),
            request_on(csr, {3, 2, CSAW_ALL}, 3, true), request_on(csr, {1, n, 5, 0}, 4, true),
            request_on(csr, {0, 2}, 2, false)};
}

inline std::string name_of(const SampleRequest &request) {
    std::string out = request.replace ? "replacing, fanout" : "fanout";
    for (uint32_t k : request.fanout) out += k == CSAW_ALL ? " all" : " " + std::to_string(k);
    return out;
}

// ---- samplers -----------------------------------------------------------------

struct Compiled {
    std::string name;
    const csaw_sampler *sampler;
    std::vector<char> params; // its struct's bytes
    reference::Sampler reference;
    std::vector<Method> methods;
};

inline const csaw_sampler *compile(const std::string &name) {
    const csaw_sampler *sampler = nullptr;
    reference::require(
        csaw_sampler_compile((CSAW_SOURCE_DIR "/tests/reference/samplers/" + name + ".c").c_str(), &sampler));
    return sampler;
}

// Those of reference/samplers, which live as long as the program.
inline const std::vector<Compiled> &compiled() {
    static const std::vector<Compiled> all = [] {
        std::vector<Compiled> out;
        for (const reference::SampleSampler &given : reference::sample_samplers()) {
            Compiled one = {given.name, compile(given.name), {}, given.sampler, given.methods};
            one.params.resize(csaw_sampler_params_size(one.sampler));
            csaw_sampler_defaults(one.sampler, one.params.data());
            for (const auto &[field, value] : given.params) {
                reference::require(csaw_sampler_set(one.sampler, one.params.data(), field.c_str(), value.c_str()));
                one.name += " " + field + "=" + value;
            }
            out.push_back(one);
        }
        for (const reference::HookSampler &given : reference::hook_samplers())
            out.push_back({given.name, compile(given.name), {}, given.sampler, given.methods});
        return out;
    }();
    return all;
}

// The built-in walks, with more arcs at a step than one. Bytes of an instance's own are for one walker.
inline std::vector<Compiled> built_in(const csaw_csr &csr) {
    std::vector<Compiled> out;
    const csaw_node2vec_params params = {.25f, 4};
    const char *bytes = reinterpret_cast<const char *>(&params);
    out.push_back({"uniform", &csaw_uniform, {}, reference::uniform(), reference::methods_of({false, 1, 1})});
    out.push_back({"node2vec", &csaw_node2vec, std::vector<char>(bytes, bytes + sizeof(params)),
                   reference::node2vec(.25f, 4), reference::methods_of({true, .25f, 4})});
    for (const walk_cases::Case &walk : walk_cases::cases())
        if (walk.sampler != &csaw_temporal)
            out.push_back({walk.name, walk.sampler, walk.params, walk.reference, walk_cases::methods_of(walk, csr)});
    return out;
}

inline const void *params_of(const Compiled &sampler) {
    return sampler.params.empty() ? nullptr : sampler.params.data();
}

// ---- what is compared -----------------------------------------------------------

inline std::vector<Sample> reference_samples(const csaw_csr &csr, const Compiled &sampler, Method method,
                                             const SampleRequest &request) {
    return reference::samples(csr, sampler.reference, method, request, reference::has_parallel_arcs(csr));
}

// A run without fanout from pools of one seed would be a walk; here some pools hold more. RACE does not replace.
inline void expect_equal(const csaw_csr &csr, const std::vector<Compiled> &samplers,
                         const std::vector<SampleRequest> &requests, const std::vector<csaw_plan_options> &plans) {
    std::vector<std::unique_ptr<Library>> libraries;
    for (const csaw_plan_options &plan : plans) libraries.push_back(std::make_unique<Library>(csr, plan));
    for (const Compiled &sampler : samplers) {
        for (Method method : sampler.methods) {
            for (const SampleRequest &request : requests) {
                if (request.replace && method == Method::race) continue;
                if (!reference::takes_case()) continue;
                const bool refused =
                    sampler.reference.replace_pool && // one arc a place
                    std::any_of(request.fanout.begin(), request.fanout.end(), [](uint32_t k) { return k > 1; });
                if (refused) continue;
                const std::vector<Sample> expected = reference_samples(csr, sampler, method, request);
                for (size_t i = 0; i < plans.size(); i++) {
                    SCOPED_TRACE(sampler.name + ", " + reference::name_of(method) + ", " + name_of(request) + ", " +
                                 name_of(plans[i]));
                    EXPECT_NO_THROW({
                        EXPECT_TRUE(same(expected,
                                         libraries[i]->samples(sampler.sampler, params_of(sampler), method, request)));
                    });
                }
            }
        }
    }
}

// ---- graphs ---------------------------------------------------------------------

// On "extreme" the sums of weights with a factor above 1 are beyond a float, which is an error: tested elsewhere.
inline std::vector<Compiled> samplers_for(const std::string &graph) {
    std::vector<Compiled> out;
    for (const Compiled &sampler : compiled())
        if (graph != "extreme" || (sampler.name != "moody" && sampler.name != "stratum")) out.push_back(sampler);
    return out;
}

// Leaves of weights from 1e-6 to 1e6, so that rounds of large selections fail often and are exceeded.
inline Graph small_hub(csaw_vertex leaves) {
    std::mt19937_64 random(6);
    std::vector<reference::WeightedArc> arcs;
    for (csaw_vertex leaf = 1; leaf <= leaves; leaf++) {
        const auto weight = static_cast<float>(std::pow(10, static_cast<double>(random() % 13) - 6));
        arcs.push_back({0, leaf, weight});
        arcs.push_back({leaf, 0, weight});
    }
    return reference::graph_of("hub", leaves + 1, arcs, true);
}

inline std::vector<SampleRequest> requests_on_hub(const csaw_csr &csr, const std::vector<uint32_t> &fanouts) {
    std::vector<SampleRequest> out;
    for (uint32_t k : fanouts) {
        for (bool replace : {false, true}) {
            SampleRequest request = request_on(csr, {2, k}, 2, replace);
            request.pools = {{1}, {7, 0, 7}, {0}};
            request.samples_per_pool = 1;
            out.push_back(request);
        }
    }
    return out;
}

} // namespace sample_equality

#endif
