/* SPDX-License-Identifier: MIT */
/* samplers/random_edge.c - so many arcs of the graph, all alike.
 *
 * Source: Leskovec, Faloutsos, "Sampling from large graphs", KDD 2006, section 3.1, random edge sampling.
 * Law: of all arcs that leave the pool, normally every vertex, min(fanout, their number) are picked, every sequence of
 * different ones equally likely; with replacement fanout independent picks. The run ends after its first depth. */
#include <csaw/sampler.h>

CSAW_FN csaw_vertex nowhere(const csaw_site *site, const csaw_arc *arc) {
    (void)site, (void)arc;
    return CSAW_NONE;
}

CSAW_SAMPLER(csaw_random_edge, csaw_no_params, .update = nowhere, .flags = CSAW_LAYER);
