/* SPDX-License-Identifier: MIT */
/* tests/samplers/wrong_bias.c - a static_bias that breaks a rule on demand, on arcs to one vertex; else the weight. */
#include <csaw/sampler.h>

CSAW_PARAMS(wrong_bias_params,
            (uint32_t, rule, 0, rule <= 4, "0 none, 1 negative, 2 NaN, 3 infinite, 4 asks csaw_prev()"),
            (uint32_t, vertex, 0, 1, "where"));

CSAW_FN float weight_or_worse(const csaw_site *site, const csaw_arc *arc) {
    const wrong_bias_params *p = (const wrong_bias_params *)csaw_params(site);
    if (arc->dst == p->vertex) {
        if (p->rule == 1) return -1;
        if (p->rule == 2) return (float)csaw_log(-1.0);
        if (p->rule == 3) return (float)-csaw_log(0.0);
        if (p->rule == 4 && csaw_prev(site) == arc->dst) return 1;
    }
    return arc->weight;
}

CSAW_SAMPLER(wrong_bias, wrong_bias_params, .static_bias = weight_or_worse);
