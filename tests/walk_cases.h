/* SPDX-License-Identifier: MIT */
/* tests/walk_cases.h - the built-in walks beside uniform and node2vec, each as the library has it and as
 * tests/reference has it, with parameters that show every branch; and the graphs to walk on. */
#ifndef CSAW_WALK_CASES_H
#define CSAW_WALK_CASES_H

#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"
#include "tests/reference/samplers.h"

#include <limits>

namespace walk_cases {

struct Case {
    std::string name;
    const csaw_sampler *sampler;
    std::vector<char> params; // its struct's bytes; empty = it has none
    reference::Sampler reference;
};

template <typename Params>
Case case_of(std::string name, const csaw_sampler *sampler, const Params &params, reference::Sampler reference) {
    const char *bytes = reinterpret_cast<const char *>(&params);
    return {std::move(name), sampler, std::vector<char>(bytes, bytes + sizeof(params)), std::move(reference)};
}

inline std::vector<Case> cases() {
    using namespace reference;
    const int64_t any = std::numeric_limits<int64_t>::min();
    const int64_t long_window = std::numeric_limits<int64_t>::max();
    return {{"biased", &csaw_biased, {}, biased()},
            {"biased_by_degree", &csaw_biased_by_degree, {}, biased_by_degree()},
            {"metropolis_hastings", &csaw_metropolis_hastings, {}, metropolis_hastings()},
            case_of("jump", &csaw_jump, csaw_jump_params{.3f}, jump(.3f)),
            case_of("restart", &csaw_restart, csaw_restart_params{.25f}, restart(.25f)),
            case_of("ppr", &csaw_ppr, csaw_ppr_params{.2f}, ppr(.2f)),
            case_of("metapath of one", &csaw_metapath, csaw_metapath_params{1, 0, 0, 0, 0, 0, 0, 0, 0}, metapath({0})),
            case_of("metapath of three", &csaw_metapath, csaw_metapath_params{3, 1, 0, 2, 7, 7, 7, 7, 7},
                    metapath({1, 0, 2})),
            case_of("metapath of eight", &csaw_metapath, csaw_metapath_params{8, 0, 1, 2, 0, 0, 1, 1, 2},
                    metapath({0, 1, 2, 0, 0, 1, 1, 2})),
            case_of("temporal", &csaw_temporal, csaw_temporal_params{any, 0}, temporal(any, 0)),
            case_of("temporal from 0", &csaw_temporal, csaw_temporal_params{0, 0}, temporal(0, 0)),
            case_of("temporal in a window", &csaw_temporal, csaw_temporal_params{-3, 2}, temporal(-3, 2)),
            case_of("temporal in a long window", &csaw_temporal, csaw_temporal_params{any, long_window},
                    temporal(any, long_window))};
}

// All that the library allows.
inline std::vector<reference::Method> methods_of(const Case &walk, const csaw_csr &csr) {
    using reference::Method;
    const reference::Sampler &sampler = walk.reference;
    std::vector<Method> out = {Method::automatic, Method::its, Method::race};
    if (!sampler.edge_bias) out.push_back(Method::alias);
    if (!sampler.edge_bias && (!sampler.static_bias || (sampler.static_is_weight && !csr.weight)))
        out.push_back(Method::uniform);
    if (sampler.has_bounds) out.push_back(Method::reject);
    return out;
}

inline reference::Walks library_walks(const reference::Library &library, const Case &walk, reference::Method method,
                                      const reference::Request &request) {
    return library.walks(walk.sampler, walk.params.empty() ? nullptr : walk.params.data(), method, request);
}

inline std::vector<reference::Graph> graphs() {
    std::vector<reference::Graph> out = {reference::event_graph(false), reference::event_graph(true),
                                         reference::epoch_graph()};
    for (const char *name : {"star", "isolated", "weighted", "directed", "multi_weighted", "zero_rows"})
        out.push_back(reference::small_graph(name));
    return out;
}

} // namespace walk_cases

#endif
