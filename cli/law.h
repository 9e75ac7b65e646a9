/* SPDX-License-Identifier: MIT */
/* cli/law.h - do walks follow the law of a uniform or a node2vec walk? */
#ifndef CSAW_CLI_LAW_H
#define CSAW_CLI_LAW_H

#include <csaw/csaw.h>

typedef struct law law;

enum { LAW_BACK, LAW_NEAR, LAW_AWAY, LAW_KINDS }; /* kinds of step: to prev, to a neighbour of prev, elsewhere */

typedef struct law_kind {
    uint64_t observed;
    double expected, z; /* z = 0 where the variance is too small to say anything */
} law_kind;

typedef struct law_result {
    uint64_t steps;      /* looked at: the first LAW_MOST_STEPS */
    uint64_t impossible; /* steps of probability 0 */
    uint64_t degrees_of_freedom;
    double chi_square, z; /* z = 0 if there are no degrees of freedom */
    law_kind kind[LAW_KINDS];
} law_result;

static const uint64_t LAW_MOST_STEPS = (uint64_t)1 << 24; /* 16 bytes each */
static const double LAW_Z = 5;                            /* a right sampler is refused once in 10^6 runs */

/* uniform: every arc alike; otherwise node2vec with p, q and the graph's weights. The arrays of csr outlive the law. */
law *law_begin(const csaw_csr *csr, bool uniform, double p, double q);
/* A step from `at`, reached over the arc `came` (CSAW_NO_EDGE on the first step), to next. */
void law_step(law *law, csaw_vertex at, csaw_edge came, csaw_vertex prev, csaw_vertex next);
/* Is there no way on from v? */
bool law_dead_end(const law *law, csaw_vertex v);
law_result law_finish(law *law); /* frees the law */
bool law_holds(const law_result *result);

/* The first arc from -> to of the graph, or CSAW_NO_EDGE. */
csaw_edge find_arc(const csaw_csr *csr, csaw_vertex from, csaw_vertex to);

#endif
