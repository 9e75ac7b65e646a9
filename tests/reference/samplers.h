/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers.h - the built-in samplers again, from their formulas, and a few with every kind of hook. */
#ifndef CSAW_REFERENCE_SAMPLERS_H
#define CSAW_REFERENCE_SAMPLERS_H

#include "tests/reference/walk.h"

namespace reference {

Sampler uniform();
// Grover, Leskovec, "node2vec", KDD 2016, section 3.2: weight times 1/p back, 1 to a neighbour of prev, 1/q beyond.
Sampler node2vec(float p, float q);

// Those of reference/samplers/NAME.c, which use every hook and every accessor between them.
struct HookSampler {
    const char *name;
    Sampler sampler;
    std::vector<Method> methods; // that may select for it
};
std::vector<HookSampler> hook_samplers();

} // namespace reference

#endif
