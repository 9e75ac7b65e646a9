/* SPDX-License-Identifier: MIT */
/* samplers/select/scan_thread.cuh - ITS and RACE on the GPU for short rows: one lane decides its own row, where a warp
 * would leave most lanes idle and take 32 such rows in turn. Masses are integers, so the pick is that of
 * samplers/select/its.h bit for bit. */
#ifndef CSAW_SELECT_SCAN_THREAD_CUH
#define CSAW_SELECT_SCAN_THREAD_CUH

#include "samplers/select/bias.h"
#include "samplers/select/race.h"

enum { CSAW__SCAN_SHORT = 16 }; /* arcs, at most */

CSAW_FN int csaw__its_thread_pick(const csaw_site *site, uint32_t *rank) {
    double kept[CSAW__SCAN_SHORT], largest = 0;
    const uint32_t n = site->degree;
    for (uint32_t i = 0; i < n; i++) {
        const double bias = csaw__bias_at(site, i, 0, 0);
        if (bias < 0) return CSAW__BROKEN;
        kept[i] = bias;
        largest = bias > largest ? bias : largest;
    }
    if (largest == 0) return CSAW__NOTHING;
    const double scale = csaw__power_of_two(csaw__mass_exponent(n, largest));
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += csaw__mass(kept[i], scale);
    const uint64_t x = csaw_below(csaw__its_number(site), sum);
    *rank = 0;
    for (uint64_t below = csaw__mass(kept[0], scale); below <= x; below += csaw__mass(kept[*rank], scale)) ++*rank;
    return CSAW__PICKED;
}

/* CSAW__PICKED with *rank, CSAW__NOTHING or CSAW__BROKEN. The row is short. */
template <bool RACE> CSAW_FN int csaw__thread_pick(const csaw_site *site, uint32_t *rank) {
    if (!RACE) return csaw__its_thread_pick(site, rank);
    csaw_arc arc;
    const int outcome = csaw__race_pick(site, 0, &arc, 0);
    if (outcome == CSAW__PICKED) *rank = arc.rank;
    return outcome;
}

#endif
