/* SPDX-License-Identifier: MIT */
/* samplers/select/race.h - RACE: one pass, no sums. Every candidate with a positive bias runs for an exponential time
 * of rate bias, and the first to arrive is picked (Efraimidis, Spirakis, IPL 97, 2006, in their logarithmic form). Law:
 * P(i) = bias_i / sum, exactly up to the 2^-53 of a double. */
#ifndef CSAW_SELECT_RACE_H
#define CSAW_SELECT_RACE_H

#include "samplers/select/bias.h"

/* Candidate i's number is half i & 1 of block i >> 1; the arrival is -log(1 - u) / bias with u = number * 2^-64, or
 * none. */
CSAW__ONCE double csaw__race_arrival(const csaw_site *site, uint32_t place, double bias) {
    const uint32_t draw = place >> 1;
    csaw_block block = csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site),
                                 CSAW_DRAW_RACE | draw >> 28, draw & 0xfffffffu);
    const double u = (double)csaw_half(&block, place & 1) * (1.0 / 18446744073709551616.0);
    return -csaw_log1p(-u) / bias;
}

CSAW__ONCE int csaw__race_pick(const csaw_site *site, const uint8_t *answer, csaw_arc *arc, csaw__fault *fault) {
    double first = 0;
    uint32_t rank = CSAW_NONE;
    for (uint32_t i = 0; i < site->degree; i++) {
        const double bias = csaw__bias_at(site, i, answer, fault);
        if (bias < 0) return CSAW__BROKEN;
        if (bias == 0) continue;
        const double arrival = csaw__race_arrival(site, i, bias);
        if (rank == CSAW_NONE || arrival < first) {
            first = arrival;
            rank = i;
        }
    }
    if (rank == CSAW_NONE) return CSAW__NOTHING;
    *arc = csaw__arc_at(site, rank);
    return CSAW__PICKED;
}

#endif
