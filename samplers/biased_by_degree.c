/* SPDX-License-Identifier: MIT */
/* samplers/biased_by_degree.c - random walk drawn to hubs; weights do not count.
 *
 * Source: C-SAW (Pandey et al., SC'20, section II), biased random walk with the degree as bias; Gomez-Gardenes, Latora,
 * "Entropy rate of diffusion processes on complex networks", Phys. Rev. E 78, 2008.
 * Law: P(v -> x) = degree(x) / sum of degree(y) over the arcs v -> y. The degree counts arcs that leave, so an arc to a
 * vertex without any is never taken, and a row of such arcs is a dead end. */
#include <csaw/sampler.h>

CSAW_FN float degree_of_dst(const csaw_site *site, const csaw_arc *arc) { return (float)csaw_degree(site, arc->dst); }

CSAW_SAMPLER(csaw_biased_by_degree, csaw_no_params, .static_bias = degree_of_dst);
