/* SPDX-License-Identifier: MIT */
/* tests/reference/sample_samplers.h - samplers of samples, which use every hook and every flag between them: those of
 * reference/samplers/NAME.c, again. */
#ifndef CSAW_REFERENCE_SAMPLE_SAMPLERS_H
#define CSAW_REFERENCE_SAMPLE_SAMPLERS_H

#include "tests/reference/walk.h"

#include <string>
#include <utility>

namespace reference {

struct SampleSampler {
    std::string name;
    std::vector<std::pair<std::string, std::string>> params; // by name, as text
    Sampler sampler;
    std::vector<Method> methods; // that may select for it
};
std::vector<SampleSampler> sample_samplers();

} // namespace reference

#endif
