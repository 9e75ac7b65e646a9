/* SPDX-License-Identifier: MIT */
/* samplers/random_node.c - so many vertices of the pool, all alike: nothing but the instance's first frontier.
 *
 * Source: Leskovec, Faloutsos, "Sampling from large graphs", KDD 2006, section 3.1, random node sampling.
 * Law: every sequence of min(size, n) different vertices of the pool's n is equally likely. The pool is normally every
 * vertex. No arc is picked, and the run ends after its first depth. */
#include <csaw/sampler.h>

CSAW_PARAMS(csaw_random_node_params, (uint32_t, size, 1000, size >= 1, "vertices to draw"));

CSAW_FN uint32_t size_of(const void *params) { return ((const csaw_random_node_params *)params)->size; }

CSAW_FN uint32_t no_arc(const csaw_site *site) {
    (void)site;
    return 0;
}

CSAW_SAMPLER(csaw_random_node, csaw_random_node_params, .fanout = no_arc, .frontier_size = size_of);
