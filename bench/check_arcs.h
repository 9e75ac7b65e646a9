/* SPDX-License-Identifier: MIT */
/* bench/check_arcs.h - are these arcs a sample from one seed an instance? */
#ifndef CSAW_BENCH_CHECK_ARCS_H
#define CSAW_BENCH_CHECK_ARCS_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum arcs_rule {
    ARCS_OF_VERTEX, /* min(fanout, degree) of every vertex of the frontier */
    ARCS_OF_LAYER,  /* min(fanout, sum of degrees) of the frontier */
    ARCS_OF_SOME    /* any number, of some of the frontier */
} arcs_rule;

/* Faults among the first `count` instances of view (host memory): arcs that the graph has not, an arc twice at one
 * depth, a src that the depth before did not reach, a number of arcs against the rule. seed: [count]; fanout: [depth],
 * not read by ARCS_OF_SOME; biases are positive. */
uint64_t check_arcs(const csaw_csr *csr, const csaw_arcs *view, uint64_t count, const csaw_vertex *seed,
                    const uint32_t *fanout, uint32_t depth, arcs_rule rule);

#ifdef __cplusplus
}
#endif
#endif
