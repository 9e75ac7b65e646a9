/* SPDX-License-Identifier: MIT */
/* samplers/select/alias.h - ALIAS: one read decides (Walker 1977, integer tables of alias_table.c). Law: proportional
 * to the masses of static_bias, each entry's threshold rounded down to 2^-32. */
#ifndef CSAW_SELECT_ALIAS_H
#define CSAW_SELECT_ALIAS_H

#include "runtime/base/site.h"

CSAW_FN int csaw__alias_pick(const csaw_site *site, uint64_t number, csaw_arc *arc) {
    if (site->degree == 0) return CSAW__NOTHING;
    uint32_t rank = (uint32_t)csaw_below(number, site->degree);
    uint32_t fraction = (uint32_t)(number * site->degree >> 32);
    const csaw__alias entry = site->job->rows.alias[site->row + rank];
    const bool own = fraction < entry.threshold;
    const csaw_vertex dst = own ? entry.own : entry.other;
    if (dst == CSAW_NONE) return CSAW__NOTHING;
    *arc = csaw__arc_to(site, own ? rank : entry.other_rank, dst);
    return CSAW__PICKED;
}

#endif
