/* SPDX-License-Identifier: MIT */
/* tests/samplers/barren.h - a sampler whose vertex_bias breaks its rules at one vertex, or which asks for more arcs of
 * it than a place of a list has. */
#ifndef CSAW_TESTS_BARREN_H
#define CSAW_TESTS_BARREN_H

#include <csaw/sampler.h>

CSAW_PARAMS(barren_params,
            (uint32_t, rule, 0, rule <= 4, "0 none, vertex_bias is 1 negative, 2 NaN, 3 infinite; 4 fanout is 2"),
            (uint32_t, vertex, 0, 1, "where"), (uint32_t, size, 1, 1, "places to go on from"));

CSAW_FN uint32_t size_of(const void *params) { return ((const barren_params *)params)->size; }

CSAW_FN float bias_of(const csaw_site *site, csaw_vertex v) {
    const barren_params *p = (const barren_params *)csaw_params(site);
    if (v == p->vertex && p->rule == 1) return -1;
    if (v == p->vertex && p->rule == 2) return (float)csaw_log(-1.0);
    if (v == p->vertex && p->rule == 3) return (float)-csaw_log(0.0);
    return 1 + (float)(v % 3);
}

CSAW_FN uint32_t one_or_two(const csaw_site *site) {
    const barren_params *p = (const barren_params *)csaw_params(site);
    return csaw_at(site) == p->vertex && p->rule == 4 ? 2 : 1;
}

#endif
