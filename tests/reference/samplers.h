/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers.h - the built-in samplers again, from their formulas, and a few with every kind of hook. */
#ifndef CSAW_REFERENCE_SAMPLERS_H
#define CSAW_REFERENCE_SAMPLERS_H

#include "tests/reference/walk.h"

namespace reference {

Sampler uniform();
// Grover, Leskovec, "node2vec", KDD 2016, section 3.2: weight times 1/p back, 1 to a neighbour of prev, 1/q beyond.
Sampler node2vec(float p, float q);
// By weight; by the degree of the destination.
Sampler biased();
Sampler biased_by_degree();
// A uniform neighbour x is entered with probability min(1, degree(v) / degree(x)); else the walk stays.
Sampler metropolis_hastings();
// By weight, but with some probability to any vertex, to the root, to an end.
Sampler jump(float probability);
Sampler restart(float probability);
Sampler ppr(float alpha);
// By weight among arcs of type types[depth mod their number].
Sampler metapath(std::vector<uint32_t> types);
// By weight among arcs not before start (first step) or not before the last arc, nor more than window after it; window
// 0 = no limit.
Sampler temporal(int64_t start, int64_t window);

// Those of reference/samplers/NAME.c, which use every hook and every accessor between them.
struct HookSampler {
    const char *name;
    Sampler sampler;
    std::vector<Method> methods; // that may select for it
};
std::vector<HookSampler> hook_samplers();

} // namespace reference

#endif
