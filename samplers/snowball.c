/* SPDX-License-Identifier: MIT */
/* samplers/snowball.c - snowball: every arc of every vertex, wave after wave; breadth-first search as a sample.
 *
 * Source: Goodman, "Snowball sampling", Ann. Math. Statist. 32, 1961; C-SAW (Pandey et al., SC'20, Table I).
 * Law: nothing is random. At depth d all arcs of the vertices at distance d from the seeds, in the order of the rows;
 * each vertex is expanded once. The run's fanout does not count. */
#include <csaw/sampler.h>

CSAW_FN uint32_t every_arc(const csaw_site *site) {
    (void)site;
    return CSAW_ALL;
}

CSAW_FN csaw_vertex if_new(const csaw_site *site, const csaw_arc *arc) {
    return csaw_visited(site, arc->dst) ? CSAW_NONE : arc->dst;
}

CSAW_SAMPLER(csaw_snowball, csaw_no_params, .update = if_new, .fanout = every_arc, .flags = CSAW_VISITED);
