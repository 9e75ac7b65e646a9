/* SPDX-License-Identifier: MIT */
/* samplers/select/alias.h - ALIAS: one read decides (Walker 1977, integer tables of alias_table.c). Law: proportional
 * to the masses of static_bias, each entry's threshold rounded down to 2^-32. */
#ifndef CSAW_SELECT_ALIAS_H
#define CSAW_SELECT_ALIAS_H

#include "runtime/base/site.h"

/* Place in the row, and *dst; CSAW_NONE in a row without a positive bias. The row has an arc. */
CSAW_FN uint32_t csaw__alias_rank(const csaw_site *site, uint64_t number, csaw_vertex *dst) {
    const uint32_t rank = (uint32_t)csaw_below(number, site->degree);
    const uint32_t fraction = (uint32_t)(number * site->degree >> 32);
    const csaw__alias entry = site->job->rows.alias[site->row + rank];
    const bool own = fraction < entry.threshold;
    *dst = own ? entry.own : entry.other;
    return own ? rank : entry.other_rank;
}

CSAW_FN int csaw__alias_pick(const csaw_site *site, uint64_t number, csaw_arc *arc) {
    csaw_vertex dst;
    if (site->degree == 0) return CSAW__NOTHING;
    const uint32_t rank = csaw__alias_rank(site, number, &dst);
    if (dst == CSAW_NONE) return CSAW__NOTHING;
    *arc = csaw__arc_to(site, rank, dst);
    return CSAW__PICKED;
}

#endif
