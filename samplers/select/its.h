/* SPDX-License-Identifier: MIT */
/* samplers/select/its.h - ITS: inverse transform sampling over the row's cumulative masses (C-SAW, SC'20, section
 * II-B), one thread a row. Law: exactly proportional to the integer masses of runtime/base/mass.h.
 *
 * Three passes: largest bias, sum of masses, search. Biases of short rows are kept between them; long rows ask the
 * hooks again, which are pure. */
#ifndef CSAW_SELECT_ITS_H
#define CSAW_SELECT_ITS_H

#include "samplers/select/bias.h"

enum { CSAW__ITS_KEPT = 512 }; /* biases kept on the stack */

CSAW__ONCE int csaw__its_pick(const csaw_site *site, const uint8_t *answer, csaw_arc *arc, csaw__fault *fault) {
    double kept[CSAW__ITS_KEPT], largest = 0;
    const uint32_t n = site->degree;
    for (uint32_t i = 0; i < n; i++) {
        double bias = csaw__bias_at(site, i, answer, fault);
        if (bias < 0) return CSAW__BROKEN;
        if (i < CSAW__ITS_KEPT) kept[i] = bias;
        if (bias > largest) largest = bias;
    }
    if (largest == 0) return CSAW__NOTHING;
    const double scale = csaw__power_of_two(csaw__mass_exponent(n, largest));
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += csaw__mass(i < CSAW__ITS_KEPT ? kept[i] : csaw__bias_at(site, i, answer, fault), scale);
    const uint64_t x = csaw_below(csaw__its_number(site), sum);
    uint32_t rank = 0;
    for (uint64_t below = 0; rank < n - 1; rank++) {
        below += csaw__mass(rank < CSAW__ITS_KEPT ? kept[rank] : csaw__bias_at(site, rank, answer, fault), scale);
        if (below > x) break;
    }
    *arc = csaw__arc_at(site, rank);
    return CSAW__PICKED;
}

#endif
