/* SPDX-License-Identifier: MIT */
/* tests/reference/sample.h - samples by docs/stream.md, "Samples", as plainly as possible: one instance after the
 * other, one depth after the other, one vertex of the frontier after the other. */
#ifndef CSAW_REFERENCE_SAMPLE_H
#define CSAW_REFERENCE_SAMPLE_H

#include "tests/reference/walk.h"

namespace reference {

struct SampleRequest {
    uint64_t seed = 0;
    std::vector<std::vector<csaw_vertex>> pools;
    uint32_t samples_per_pool = 1;
    uint32_t depth = 1;
    std::vector<uint32_t> fanout; // [depth]; empty = 1
    bool replace = false;
};

struct SampledArc {
    csaw_vertex src, dst;
    csaw_edge edge;
    uint32_t depth;
    bool operator==(const SampledArc &other) const {
        return src == other.src && dst == other.dst && edge == other.edge && depth == other.depth;
    }
};

struct Sample {
    std::vector<csaw_vertex> frontier; // the first one
    std::vector<SampledArc> arcs;
};

// In the order of instances.
std::vector<Sample> samples(const csaw_csr &graph, const Sampler &sampler, Method method, const SampleRequest &request,
                            bool parallel_arcs);

} // namespace reference

#endif
