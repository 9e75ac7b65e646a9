/* SPDX-License-Identifier: MIT */
/* samplers/select/uniform.h - UNIFORM: every arc of the row alike, one multiply-high. Law: 1/n each, off by less than
 * 2^-64 n. */
#ifndef CSAW_SELECT_UNIFORM_H
#define CSAW_SELECT_UNIFORM_H

#include "runtime/base/site.h"

/* Place in the row, and *dst. The row has an arc. */
CSAW_FN uint32_t csaw__uniform_rank(const csaw_site *site, uint64_t number, csaw_vertex *dst) {
    const uint32_t rank = (uint32_t)csaw_below(number, site->degree);
    *dst = site->job->rows.col[site->row + rank];
    return rank;
}

CSAW_FN int csaw__uniform_pick(const csaw_site *site, uint64_t number, csaw_arc *arc) {
    csaw_vertex dst;
    if (site->degree == 0) return CSAW__NOTHING;
    const uint32_t rank = csaw__uniform_rank(site, number, &dst);
    *arc = csaw__arc_to(site, rank, dst);
    return CSAW__PICKED;
}

#endif
