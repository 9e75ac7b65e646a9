/* SPDX-License-Identifier: MIT */
/* cli/law.h - do walks follow the law of a model? */
#ifndef CSAW_CLI_LAW_H
#define CSAW_CLI_LAW_H

#include "model.h"

typedef struct law law;

typedef struct law_kind {
    uint64_t observed;
    double expected, z; /* z = 0 where the variance is too small to say anything */
} law_kind;

typedef struct law_result {
    uint64_t steps;      /* looked at, from the first on */
    uint64_t impossible; /* steps of probability 0 */
    uint64_t degrees_of_freedom;
    double chi_square, z;       /* z = 0 if there are no degrees of freedom */
    law_kind kind[MODEL_KINDS]; /* as model_kind_name() names them */
} law_result;

/* Steps are looked at up to so many, 24 bytes each, and while the rows that they chose from have so many arcs together:
 * on a graph with hubs the arcs bound the time. */
static const uint64_t LAW_MOST_STEPS = (uint64_t)1 << 24, LAW_MOST_ARCS = (uint64_t)1 << 28;
static const double LAW_Z = 5; /* a right sampler is refused once in 10^6 runs */

law *law_begin(const model *model); /* borrows the model */
void law_step(law *law, const step *step);
/* A walk of so many steps is over, at a vertex without a way on or elsewhere. */
void law_end(law *law, uint64_t steps, bool dead_end);
/* longest: steps of the longest walk that there could be. Frees the law. */
law_result law_finish(law *law, uint64_t longest);
bool law_holds(const law_result *result);

#endif
