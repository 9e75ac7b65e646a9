/* SPDX-License-Identifier: MIT */
/* tests/samplers/faulty_layer.h - a sampler of layers that breaks a rule on demand, at one vertex of one depth. */
#ifndef CSAW_TESTS_FAULTY_LAYER_H
#define CSAW_TESTS_FAULTY_LAYER_H

#include <csaw/sampler.h>

CSAW_PARAMS(faulty_layer_params,
            (uint32_t, rule, 0, rule <= 6,
             "0 none, 1 NaN, 2 negative edge_bias, 3 update, 4 csaw_prev() of a bias, 5 of a fanout, 6 fanout"),
            (uint32_t, vertex, 0, 1, "where"), (uint32_t, depth, 0, 1, "at which depth"));

CSAW_FN bool now(const csaw_site *site, csaw_vertex v, uint32_t rule) {
    const faulty_layer_params *f = (const faulty_layer_params *)csaw_params(site);
    return f->rule == rule && v == f->vertex && csaw_depth(site) == f->depth;
}

CSAW_FN float factor(const csaw_site *site, const csaw_arc *arc) {
    if (now(site, arc->dst, 1)) return (float)csaw_log(-1.0);
    if (now(site, arc->dst, 2)) return -1;
    if (now(site, arc->dst, 4) && csaw_prev(site) == 0) return 1;
    return arc->weight;
}

CSAW_FN csaw_vertex go(const csaw_site *site, const csaw_arc *arc) {
    return now(site, arc->dst, 3) ? csaw_num_vertices(site) : arc->dst;
}

CSAW_FN uint32_t thickness(const csaw_site *site) {
    const faulty_layer_params *f = (const faulty_layer_params *)csaw_params(site);
    if (now(site, f->vertex, 5) && csaw_prev(site) == 0) return 1;
    return now(site, f->vertex, 6) ? 9000000 : csaw_fanout(site);
}

#endif
