/* SPDX-License-Identifier: MIT */
/* samplers/select/choose.h - which kernel runs a selection method for a sampler on a graph. */
#ifndef CSAW_SELECT_CHOOSE_H
#define CSAW_SELECT_CHOOSE_H

#include "runtime/base/job.h"
#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* traits: csaw__trait bits of the sampler. replace: of samples, picks are independent. CSAW_EINVAL with
 * the methods that would do when select does not fit. */
csaw_status csaw__choose_kernel(const char *sampler, uint32_t traits, bool graph_has_weights, csaw_select select,
                                bool replace, enum csaw__kernel *out);
/* Whether it reads alias tables. */
bool csaw__kernel_has_alias(uint32_t kernel);
/* Whether static_bias is the same for every arc of this graph. */
bool csaw__static_is_constant(uint32_t traits, bool graph_has_weights);

#ifdef __cplusplus
}
#endif

#endif
