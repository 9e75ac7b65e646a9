/* SPDX-License-Identifier: MIT */
/* samplers/select/row_sums.cuh - masses of a row added up by a team of lanes, and the arc that a number falls to
 * (C-SAW, SC'20, section IV-A: prefix sums in a warp, binary search over the CTPS).
 *
 * Method: sums stand in a little memory, of every arc if the row is short, else of equal parts of it: then the part is
 * searched for and the team scans it. So a few picks need no memory of the row's length, however long it is. Masses are
 * integers, so neither parts nor lanes change a bit. */
#ifndef CSAW_SELECT_ROW_SUMS_CUH
#define CSAW_SELECT_ROW_SUMS_CUH

#include "samplers/select/arc_mass.cuh"
#include "samplers/select/team.cuh"

enum {
    CSAW__PARTS = 64,    /* of a row whose sums stand in shared memory */
    CSAW__LANE_SCAN = 64 /* arcs of a part, at most, that lanes scan each by itself */
};

struct csaw__row_mass {
    const uint64_t *upto; /* inclusive sums, of every per arcs; NULL: none were asked for */
    uint64_t per, sum;
    int exponent; /* of masses */
};

CSAW_FN void csaw__wave_fault(const csaw_site *site) {
    const csaw_arc none = csaw__no_arc();
    csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, 0); /* which it was, the host finds out */
}

/* The largest bias of arcs first, first + step, ...; -1 if a hook broke its rules. */
CSAW_FN double csaw__lane_largest(const csaw_site *site, uint64_t first, uint64_t step) {
    if constexpr (csaw__one_factor) {
        uint32_t bits = 0;
#pragma unroll 8
        for (uint64_t i = first; i < site->degree; i += step) {
            const uint32_t of_arc = csaw__bias_bits(site, i);
            bits = of_arc > bits ? of_arc : bits;
        }
        return bits > 0x7f7fffffu ? -1 : (double)__uint_as_float(bits);
    }
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
CSAW_FN uint64_t csaw__lane_sum(const csaw_site *site, uint64_t first, uint64_t end, uint64_t step, int exponent) {
    uint64_t sum = 0;
#pragma unroll 4
    for (uint64_t i = first; i < end; i += step) sum += csaw__arc_mass(site, i, exponent);
    return sum;
}

/* Eight sums over the warp at once: sum of all lanes' part[j] in the lane that returns j in *which, lanes 0 .. 7. */
CSAW_FN uint64_t csaw__eight_sums(const csaw__team &team, uint64_t (&part)[8], uint32_t *which) {
#pragma unroll
    for (uint32_t half = 4; half > 0; half >>= 1) { /* a lane keeps one half of them, the lane beside it the other */
        const bool upper = (team.lane & (4 / half)) != 0;
#pragma unroll
        for (uint32_t j = 0; j < half; j++) {
            const uint64_t give = upper ? part[j] : part[j + half], keep = upper ? part[j + half] : part[j];
            part[j] = keep + __shfl_xor_sync(team.mask, (unsigned long long)give, (int)(4 / half));
        }
    }
    uint64_t sum = part[0];
    for (int d = 8; d < CSAW__TEAM; d *= 2) sum += __shfl_xor_sync(team.mask, (unsigned long long)sum, d);
    *which = (team.lane & 1) << 2 | (team.lane & 2) | (team.lane & 4) >> 2;
    return sum;
}

/* Sums of the row's parts to upto, inclusive; returns the last. At most CSAW__PARTS parts of per arcs, a multiple of
 * the lanes. */
CSAW_FN uint64_t csaw__part_sums(const csaw__team &team, const csaw_site *site, int exponent, uint64_t per,
                                 uint64_t *upto) {
    const uint64_t n = site->degree;
    for (uint64_t first = 0, begin = 0; begin < n; first += 8, begin += 8 * per) {
        uint64_t part[8];
        uint32_t which;
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) {
            const uint64_t from = begin + j * per, end = from + per < n ? from + per : n;
            part[j] = csaw__lane_sum(site, from + team.lane, end, CSAW__TEAM, exponent);
        }
        const uint64_t sum = csaw__eight_sums(team, part, &which);
        if (team.lane < 8) upto[first + which] = sum; /* of parts beyond the row, too: 0 */
    }
    team.sync();
    uint64_t total = 0;
    for (uint64_t first = 0, parts = (n + per - 1) / per; first < parts; first += CSAW__TEAM) {
        const uint64_t p = first + team.lane;
        const uint64_t inclusive = total + team.prefix(p < parts ? upto[p] : 0);
        if (p < parts) upto[p] = inclusive;
        total = team.get(inclusive, CSAW__TEAM - 1);
    }
    return total;
}

/* Arcs of a part, if room sums have to do. */
CSAW_FN uint64_t csaw__part_of(uint64_t n, uint64_t room) {
    return n <= room ? 1 : ((n + room - 1) / room + CSAW__TEAM - 1) / CSAW__TEAM * CSAW__TEAM;
}

/* Exponent and sum of the row's masses, and inclusive sums in upto: room is n, or CSAW__PARTS, or 0: none. Sum 0: no
 * arc has a positive bias. False: a hook broke its rules. */
CSAW_FN bool csaw__team_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, uint64_t room,
                             csaw__row_mass *out) {
    const uint64_t n = site->degree;
    double largest = csaw__lane_largest(site, team.lane, CSAW__TEAM);
    out->upto = upto;
    out->per = room ? csaw__part_of(n, room) : n;
    out->sum = 0;
    out->exponent = 0;
    if (team.ballot(largest < 0)) {
        csaw__wave_fault(site);
        return false;
    }
    largest = team.largest(largest);
    if (largest == 0) return true;
    out->exponent = csaw__mass_exponent(n, largest);
    if (room == 0) {
        out->sum = team.sum(csaw__lane_sum(site, team.lane, n, CSAW__TEAM, out->exponent));
    } else if (out->per == 1) {
        for (uint64_t base = 0; base < n; base += CSAW__TEAM) {
            const uint64_t i = base + team.lane;
            const uint64_t inclusive = out->sum + team.prefix(csaw__mass_at(site, i, out->exponent));
            if (i < n) upto[i] = inclusive;
            out->sum = team.get(inclusive, CSAW__TEAM - 1);
        }
    } else {
        out->sum = csaw__part_sums(team, site, out->exponent, out->per, upto);
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

/* The same by one lane, for each lane that asks. */
CSAW_FN uint64_t csaw__lane_scan(const csaw_site *site, uint64_t begin, uint64_t below, uint64_t x, int exponent,
                                 uint64_t *before, uint64_t *mass) {
    constexpr int ahead = 4;
    for (uint64_t base = begin;; base += ahead) {
        uint64_t own[ahead];
#pragma unroll
        for (int j = 0; j < ahead; j++) own[j] = csaw__mass_at(site, base + j, exponent);
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (below + own[j] > x) {
                *before = below;
                *mass = own[j];
                return base + j;
            }
            below += own[j];
        }
    }
}

/* Every lane that asks: the first arc whose inclusive sum exceeds its x, which is below the row's sum; *below: the sum
 * of those before it; *mass: its own. */
CSAW_FN uint64_t csaw__team_find(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row, bool asks,
                                 uint64_t x, uint64_t *below, uint64_t *mass) {
    uint64_t found = *below = *mass = 0, part = 0;
    if (row->per == 1) {
        if (asks) {
            found = csaw__first_above(row->upto, site->degree, x);
            *below = found ? row->upto[found - 1] : 0;
            *mass = row->upto[found] - *below;
        }
        return found;
    }
    if (asks) part = csaw__first_above(row->upto, (site->degree + row->per - 1) / row->per, x);
    if (row->per <= CSAW__LANE_SCAN) { /* each lane for itself: their arcs were read just now */
        if (asks)
            found =
                csaw__lane_scan(site, part * row->per, part ? row->upto[part - 1] : 0, x, row->exponent, below, mass);
        return found;
    }
    for (uint32_t left = team.ballot(asks); left; left &= left - 1) {
        const uint32_t lane = team.first(left);
        const uint64_t p = team.get(part, lane);
        uint64_t before, own;
        const uint64_t place = csaw__team_scan(
            team, p * row->per, p ? row->upto[p - 1] : 0, team.get(x, lane),
            [&](uint64_t i) { return csaw__mass_at(site, i, row->exponent); }, &before, &own);
        if (team.lane == lane) {
            found = place;
            *below = before;
            *mass = own;
        }
    }
    return found;
}

#endif
