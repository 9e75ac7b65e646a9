/* SPDX-License-Identifier: MIT */
/* samplers/select/stored_sums.cuh - ITS on the GPU where a row's sums of masses are at hand (C-SAW, SC'20, section
 * II-B: the CTPS): a binary search decides, by one thread. Sums of static biases are the same at every visit, so the
 * plan may keep them; they are the integers that samplers/select/scan_warp.cuh adds up, and so are the picks. */
#ifndef CSAW_SELECT_STORED_SUMS_CUH
#define CSAW_SELECT_STORED_SUMS_CUH

#include "samplers/select/row_sums.cuh"

/* Of the row that the site stands at, which has an arc. */
CSAW_FN csaw__row_mass csaw__stored_sums(const csaw_site *site) {
    const uint64_t *const upto = site->job->rows.upto + site->row;
    csaw__row_mass mass;
    mass.upto = upto;
    mass.parts = site->degree;
    mass.per = 1;
    mass.begin = 0;
    mass.sum = upto[site->degree - 1];
    return mass;
}

CSAW_FN int csaw__stored_pick(const csaw_site *site, csaw_arc *arc) {
    if (site->degree == 0) return CSAW__NOTHING;
    const csaw__row_mass mass = csaw__stored_sums(site);
    if (mass.sum == 0) return CSAW__NOTHING;
    const uint64_t x = csaw_below(csaw__its_number(site), mass.sum);
    *arc = csaw__arc_at(site, (uint32_t)csaw__first_above(mass.upto, site->degree, x));
    return CSAW__PICKED;
}

#endif
