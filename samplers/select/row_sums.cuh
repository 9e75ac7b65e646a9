/* SPDX-License-Identifier: MIT */
/* samplers/select/row_sums.cuh - masses of a row added up by a team of lanes, and the arc that a number falls to
 * (C-SAW, SC'20, section IV-A: prefix sums in a warp, binary search over the CTPS).
 *
 * Method: sums stand in a little memory, of every arc if the row is short, else of equal parts of it: then the part is
 * searched for and the team scans it. So a few picks need no memory of the row's length, however long it is. Masses are
 * integers, so neither parts nor lanes change a bit. */
#ifndef CSAW_SELECT_ROW_SUMS_CUH
#define CSAW_SELECT_ROW_SUMS_CUH

#include "samplers/select/bias.h"
#include "samplers/select/team.cuh"

enum { CSAW__PARTS = 64 }; /* of a row whose sums stand in shared memory */

struct csaw__row_mass {
    const uint64_t *upto; /* inclusive sums, of every per arcs; NULL: every mass is 1 */
    uint64_t per, sum;
    double scale; /* mass of a bias */
};

CSAW_FN void csaw__wave_fault(const csaw_site *site) {
    const csaw_arc none = csaw__no_arc();
    csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, 0); /* which it was, the host finds out */
}

CSAW_FN uint64_t csaw__mass_at(const csaw_site *site, uint64_t i, double scale) { /* 0 beyond the row */
    return i < site->degree ? csaw__mass(csaw__bias_of(site, (uint32_t)i), scale) : 0;
}

/* The largest bias of arcs first, first + step, ...; -1 if a hook broke its rules. */
CSAW_FN double csaw__lane_largest(const csaw_site *site, uint64_t first, uint64_t step) {
    double largest = 0, least = 0;
#pragma unroll 4
    for (uint64_t i = first; i < site->degree; i += step) {
        const double bias = csaw__bias_of(site, (uint32_t)i);
        least = bias < least ? bias : least;
        largest = bias > largest ? bias : largest;
    }
    return least < 0 ? -1 : largest;
}

/* The sum of arcs first, first + step, ... below end. */
CSAW_FN uint64_t csaw__lane_sum(const csaw_site *site, uint64_t first, uint64_t end, uint64_t step, double scale) {
    uint64_t sum = 0;
#pragma unroll 4
    for (uint64_t i = first; i < end; i += step) sum += csaw__mass(csaw__bias_of(site, (uint32_t)i), scale);
    return sum;
}

/* Arcs of a part, if room sums have to do. */
CSAW_FN uint64_t csaw__part_of(uint64_t n, uint64_t room) {
    return n <= room ? 1 : ((n + room - 1) / room + CSAW__TEAM - 1) / CSAW__TEAM * CSAW__TEAM;
}

/* Scale and sum of the row's masses, and inclusive sums in upto, [room]; room 0: none. Sum 0: no arc has a positive
 * bias. False: a hook broke its rules. */
template <class TEAM>
CSAW_FN bool csaw__team_sums(const TEAM &team, const csaw_site *site, uint64_t *upto, uint64_t room,
                             csaw__row_mass *out) {
    const uint64_t n = site->degree, width = team.width();
    double largest = csaw__lane_largest(site, team.lane, width);
    out->upto = upto;
    out->per = room ? csaw__part_of(n, room) : n;
    out->sum = 0;
    out->scale = 0;
    if (team.ballot(largest < 0)) {
        csaw__wave_fault(site);
        return false;
    }
    largest = team.largest(largest);
    if (largest == 0) return true;
    out->scale = csaw__power_of_two(csaw__mass_exponent(n, largest));
    if (room && out->per == 1) {
        for (uint64_t base = 0; base < n; base += width) {
            const uint64_t i = base + team.lane;
            const uint64_t inclusive = out->sum + team.prefix(csaw__mass_at(site, i, out->scale));
            if (i < n) upto[i] = inclusive;
            out->sum = team.get(inclusive, (uint32_t)width - 1);
        }
    } else {
        for (uint64_t begin = 0, part = 0; begin < n; begin += out->per, part++) {
            const uint64_t end = begin + out->per < n ? begin + out->per : n;
            out->sum += team.sum(csaw__lane_sum(site, begin + team.lane, end, width, out->scale));
            if (room && team.lane == 0) upto[part] = out->sum;
        }
    }
    team.sync();
    return true;
}

/* The first place of upto, [n], that exceeds x; n - 1 if none. */
CSAW_FN uint64_t csaw__first_above(const uint64_t *upto, uint64_t n, uint64_t x) {
    uint64_t lo = 0;
    while (n > 1) {
        const uint64_t half = n >> 1;
        const bool after = upto[lo + half - 1] <= x;
        lo = after ? lo + half : lo;
        n = after ? n - half : half;
    }
    return lo;
}

/* The first arc from begin on at which below + the masses since begin exceeds x: its place; *before: the sum of those
 * before it; *mass: its own. mass_of(i): 0 from the row's end on. */
template <class TEAM, class MASS>
CSAW_FN uint64_t csaw__team_scan(const TEAM &team, uint64_t begin, uint64_t below, uint64_t x, const MASS &mass_of,
                                 uint64_t *before, uint64_t *mass) {
    constexpr int ahead = 4; /* masses that a lane asks memory for at a time */
    for (uint64_t base = begin;;) {
        uint64_t own[ahead];
#pragma unroll
        for (int j = 0; j < ahead; j++) own[j] = mass_of(base + j * team.width() + team.lane);
#pragma unroll
        for (int j = 0; j < ahead; j++, base += team.width()) {
            const uint64_t inclusive = below + team.prefix(own[j]);
            const uint32_t above = team.ballot(inclusive > x);
            if (above) {
                const uint32_t lane = team.first(above);
                *before = team.get(inclusive - own[j], lane);
                *mass = team.get(own[j], lane);
                return base + lane;
            }
            below = team.get(inclusive, team.width() - 1);
        }
    }
}

/* Every lane that asks: the first arc whose inclusive sum exceeds its x, which is below the row's sum; *below: the sum
 * of those before it; *mass: its own. */
template <class TEAM>
CSAW_FN uint64_t csaw__team_find(const TEAM &team, const csaw_site *site, const csaw__row_mass *row, bool asks,
                                 uint64_t x, uint64_t *below, uint64_t *mass) {
    uint64_t found = *below = x, part = 0;
    *mass = 1;
    if (!row->upto) return found;
    if (row->per == 1) {
        if (asks) {
            found = csaw__first_above(row->upto, site->degree, x);
            *below = found ? row->upto[found - 1] : 0;
            *mass = row->upto[found] - *below;
        }
        return found;
    }
    if (asks) part = csaw__first_above(row->upto, (site->degree + row->per - 1) / row->per, x);
    for (uint32_t left = team.ballot(asks); left; left &= left - 1) {
        const uint32_t lane = team.first(left);
        const uint64_t p = team.get(part, lane);
        uint64_t before, own;
        const uint64_t place = csaw__team_scan(
            team, p * row->per, p ? row->upto[p - 1] : 0, team.get(x, lane),
            [&](uint64_t i) { return csaw__mass_at(site, i, row->scale); }, &before, &own);
        if (team.lane == lane) {
            found = place;
            *below = before;
            *mass = own;
        }
    }
    return found;
}

#endif
