/* SPDX-License-Identifier: MIT */
/* samplers/select/uniform.h - UNIFORM: every arc of the row alike, one multiply-high. Law: 1/n each, off by less than
 * 2^-64 n. */
#ifndef CSAW_SELECT_UNIFORM_H
#define CSAW_SELECT_UNIFORM_H

#include "runtime/base/site.h"

CSAW_FN int csaw__uniform_pick(const csaw_site *site, uint64_t number, csaw_arc *arc) {
    if (site->degree == 0) return CSAW__NOTHING;
    *arc = csaw__arc_at(site, (uint32_t)csaw_below(number, site->degree));
    return CSAW__PICKED;
}

#endif
