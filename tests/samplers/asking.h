/* SPDX-License-Identifier: MIT */
/* tests/samplers/asking.h - a sampler that asks, in one hook or another, what a flag stands for. */
#ifndef CSAW_TESTS_ASKING_H
#define CSAW_TESTS_ASKING_H

#include <csaw/sampler.h>

CSAW_PARAMS(asking_params,
            (uint32_t, what, 0, what <= 3, "0 nothing, 1 csaw_prev(), 2 csaw_adjacent() of an arc, 3 csaw_visited()"),
            (uint32_t, hook, 0, hook <= 3, "0 edge_bias, 1 update, 2 fanout, 3 dead_end"));

CSAW_FN bool answer(const csaw_site *site, const csaw_arc *arc, uint32_t hook) {
    const asking_params *p = (const asking_params *)csaw_params(site);
    if (p->hook != hook) return false;
    if (p->what == 1) return csaw_prev(site) == 0;
    if (p->what == 2 && arc) return csaw_adjacent(site, arc);
    return p->what == 3 && csaw_visited(site, 0);
}

CSAW_FN float twice(const csaw_site *site, const csaw_arc *arc) { return answer(site, arc, 0) ? 2.0f : 1.0f; }

CSAW_FN csaw_vertex stay_or_go(const csaw_site *site, const csaw_arc *arc) {
    return answer(site, arc, 1) ? csaw_at(site) : arc->dst;
}

CSAW_FN uint32_t one_more(const csaw_site *site) { return csaw_fanout(site) + answer(site, 0, 2); }

CSAW_FN csaw_vertex home(const csaw_site *site) { return answer(site, 0, 3) ? csaw_root(site) : CSAW_NONE; }

#endif
