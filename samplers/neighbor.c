/* SPDX-License-Identifier: MIT */
/* samplers/neighbor.c - neighbour sampling: so many arcs of every vertex, all alike; the neighbours picked are the next
 * depth's vertices.
 *
 * Source: Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs" (GraphSAGE), NIPS 2017,
 * section 3.1; C-SAW (Pandey et al., SC'20, Table I), unbiased neighbor sampling.
 * Law: of a row of n arcs, k = min(fanout, n) are picked, every sequence of k different arcs equally likely; with
 * replacement k = fanout independent picks, each 1 / n. A vertex that is reached again at a later depth is expanded
 * again. */
#include <csaw/sampler.h>

CSAW_SAMPLER(csaw_neighbor, csaw_no_params, .flags = 0);
