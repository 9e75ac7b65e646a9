/* SPDX-License-Identifier: MIT */
/* samplers/select/row_sums.cuh - masses of a row added up by a team of lanes, and the arc that a number falls to
 * (C-SAW, SC'20, section IV-A: prefix sums in a warp, binary search over the CTPS).
 *
 * Method: the row is cut into equal parts of a few runs of eight arcs (row_runs.cuh), each lane adds up parts that
 * stand side by side, and one prefix sum over the lanes makes their sums inclusive ones. The part that a number falls
 * to is searched for, and scanned. So a few picks need no memory of the row's length, however long it is. The exponent
 * of the masses hangs on the largest bias of the row: it is guessed from some, and where it turns out to be another,
 * the row is added up once more. Masses are integers, so neither parts nor lanes change a bit. */
#ifndef CSAW_SELECT_ROW_SUMS_CUH
#define CSAW_SELECT_ROW_SUMS_CUH

#include "samplers/select/row_runs.cuh"

enum {
    CSAW__PARTS = 224,    /* of a row whose sums stand in shared memory: an odd number a lane, which no bank minds */
    CSAW__LANE_SCAN = 256 /* places of a part, at most, that lanes scan each by itself */
};

struct csaw__row_mass {
    const uint64_t *upto; /* [parts] inclusive sums; NULL: none were asked for */
    uint32_t parts, per;  /* of so many places */
    uint32_t begin;       /* place of the row's first arc */
    uint64_t sum;
    csaw__scale scale;
};

CSAW_FN void csaw__wave_fault(const csaw_site *site) {
    const csaw_arc none = csaw__no_arc();
    csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, 0); /* which it was, the host finds out */
}

/* Parts of use for many picks from a row of n arcs, wherever it begins. */
CSAW_FN uint64_t csaw__sums_room(uint64_t n) { return (n + 2 * CSAW__RUN - 2) / CSAW__RUN; }

/* Cuts a row into parts of as few places as room for their sums allows, and no fewer than `least`. */
CSAW_FN void csaw__part_row(const csaw__row_runs &all, uint64_t room, uint32_t least, csaw__row_mass *out) {
    const uint32_t runs = (uint32_t)((all.runs + room - 1) / room), fewest = least / CSAW__RUN;
    const uint32_t per = runs > fewest ? runs : fewest;
    out->begin = all.begin;
    out->per = per * CSAW__RUN;
    out->parts = (all.runs + per - 1) / per;
}

/* The largest bias of arcs first, first + step, ... */
CSAW_FN csaw__bias_bits csaw__lane_largest(const csaw_site *site, uint64_t first, uint64_t step) {
    csaw__bias_bits largest = 0;
#pragma unroll 8
    for (uint64_t i = first; i < site->degree; i += step) {
        const csaw__bias_bits bias = csaw__bits_at(site, (uint32_t)i);
        largest = bias > largest ? bias : largest;
    }
    return largest;
}

/* The sum of arcs first, first + step, ... below end, and their largest bias. */
CSAW_FN uint64_t csaw__lane_pass(const csaw_site *site, uint64_t first, uint64_t end, uint64_t step,
                                 const csaw__scale &scale, csaw__bias_bits *largest) {
    uint64_t sum = 0;
#pragma unroll 4
    for (uint64_t i = first; i < end; i += step) {
        const csaw__bias_bits bias = csaw__bits_at(site, (uint32_t)i);
        *largest = bias > *largest ? bias : *largest;
        sum += scale.mass(bias);
    }
    return sum;
}

template <bool ONE_STEP>
CSAW_FN void csaw__add_run(const csaw__scale &scale, const csaw__bias_bits (&bias)[CSAW__RUN], uint64_t *sum) {
#pragma unroll
    for (uint32_t j = 0; j < CSAW__RUN; j++) *sum += scale.template mass<ONE_STEP>(bias[j]);
}

/* The sum of all arcs, and inclusive sums of parts to upto. *guess: the row's largest bias, for the scale; 0: that of
 * some arcs is taken. *largest: of the lane's biases, as the hooks gave them. */
CSAW_FN uint64_t csaw__team_pass(const csaw__team &team, const csaw_site *site, const csaw__row_runs &all,
                                 uint64_t *upto, csaw__row_mass *out, csaw__bias_bits *guess,
                                 csaw__bias_bits *largest) {
    const uint32_t per = out->per / CSAW__RUN; /* runs of a part */
    const uint32_t own = (out->parts + CSAW__TEAM - 1) / CSAW__TEAM, first_part = own * team.lane;
    uint32_t run = first_part * per;
    csaw__row_runs mine = all;
    mine.end = all.end < run + own * per ? all.end : run + own * per;
    csaw__bias_bits bias[CSAW__RUN], next[CSAW__RUN];
    csaw__load_if_whole(site, mine, run, next);
    uint64_t rank;
    const bool has_end = csaw__end_arc(site, all, team.lane, &rank);
    const csaw__bias_bits end_bias = has_end ? csaw__raw_bits(site, rank) : 0;
    if (*guess == 0) *guess = team.largest(csaw__largest_checked(next, csaw__scale::checked(end_bias)));
    const csaw__scale scale(csaw__exponent_of(site->degree, *guess));
    const uint64_t ends = team.sum_of_group(scale.mass(end_bias), CSAW__RUN), tail = team.get(ends, CSAW__RUN);
    uint64_t sum = team.lane == 0 ? ends : 0; /* the first run's */
    *largest = end_bias;
    for (uint32_t p = first_part; p < first_part + own; p++) {
        for (uint32_t t = 0; t < per; t++) {
#pragma unroll
            for (uint32_t j = 0; j < CSAW__RUN; j++) bias[j] = next[j];
            csaw__load_if_whole(site, mine, ++run, next); /* on its way while these are added up */
            *largest = csaw__largest_of(bias, *largest);
            if (scale.is_one_step())
                csaw__add_run<true>(scale, bias, &sum);
            else
                csaw__add_run<false>(scale, bias, &sum);
        }
        if (p + 1 == out->parts) sum += tail;
        if (p < out->parts) upto[p] = sum;
    }
    out->scale = scale;
    const uint64_t inclusive = team.prefix(sum);
    for (uint32_t p = first_part; p < first_part + own && p < out->parts; p++) upto[p] += inclusive - sum;
    team.sync();
    return team.get(inclusive, CSAW__TEAM - 1);
}

/* The same without sums of parts. */
CSAW_FN uint64_t csaw__team_pass(const csaw__team &team, const csaw_site *site, csaw__row_mass *out,
                                 csaw__bias_bits *guess, csaw__bias_bits *largest) {
    const uint64_t n = site->degree;
    if (*guess == 0) {
        csaw__bias_bits bias[CSAW__LOOK];
#pragma unroll
        for (uint32_t j = 0; j < CSAW__LOOK; j++) {
            const uint64_t i = CSAW__TEAM * j + team.lane;
            bias[j] = i < n ? csaw__bits_at(site, (uint32_t)i) : 0;
        }
        *guess = team.largest(csaw__largest_of(bias, 0));
    }
    out->scale = csaw__scale(csaw__exponent_of(n, *guess));
    return team.sum(csaw__lane_pass(site, team.lane, n, CSAW__TEAM, out->scale, largest));
}

/* Sum of the row's masses and their scale, and inclusive sums of parts in upto, [room], if room is not 0. Sum 0: no arc
 * has a positive bias. The row has an arc. False: a hook broke its rules. */
CSAW_FN bool csaw__team_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, uint64_t room,
                             csaw__row_mass *out) {
    const uint64_t n = site->degree;
    const csaw__row_runs all = csaw__runs_of(site);
    csaw__bias_bits guess = 0, largest;
    out->upto = upto;
    out->parts = out->per = out->begin = 0;
    if (room) csaw__part_row(all, room, CSAW__RUN, out);
    for (;; guess = largest) {
        largest = 0;
        out->sum = room ? csaw__team_pass(team, site, all, upto, out, &guess, &largest)
                        : csaw__team_pass(team, site, out, &guess, &largest);
        largest = team.largest(largest);
        team.sync();
        if (largest > csaw__scale::most) largest = team.largest(csaw__lane_largest(site, team.lane, CSAW__TEAM));
        if (largest > csaw__scale::most) break; /* it was no -0 */
        if (csaw__exponent_of(n, largest) == csaw__exponent_of(n, guess)) return true;
    }
    csaw__wave_fault(site);
    return false;
}

/* The first place of upto, [n], that exceeds x; n - 1 if none. */
CSAW_FN uint32_t csaw__first_above(const uint64_t *upto, uint32_t n, uint64_t x) {
    uint32_t lo = 0;
    while (n > 1) {
        const uint32_t half = n >> 1;
        const bool after = upto[lo + half - 1] <= x;
        lo = after ? lo + half : lo;
        n = after ? n - half : half;
    }
    return lo;
}

/* Of masses side by side, whose sum with below exceeds x: which is the first at which it does; below becomes the sum of
 * those before it. */
template <uint32_t N>
CSAW_FN uint32_t csaw__run_find(const uint64_t (&mass)[N], uint64_t x, uint64_t *below, uint64_t *found) {
    uint32_t which = 0;
    *found = mass[0];
#pragma unroll
    for (uint32_t j = 0; j + 1 < N; j++) {
        if (which != j || *below + mass[j] > x) continue;
        *below += mass[j];
        *found = mass[j + 1];
        which = j + 1;
    }
    return which;
}

/* The first place from `begin` on at which below + the masses since begin exceeds x; *before: the sum of those before
 * it; *mass: its own. masses_of(i, mass): those of places from i on, 0 where there is no arc. */
template <class TEAM, class MASSES>
CSAW_FN uint64_t csaw__team_scan(const TEAM &team, uint64_t begin, uint64_t below, uint64_t x, const MASSES &masses_of,
                                 uint64_t *before, uint64_t *mass) {
    for (uint64_t first = begin + CSAW__LOOK * team.lane;; first += CSAW__LOOK * team.width()) {
        uint64_t own[CSAW__LOOK], sum = 0, found;
        masses_of(first, own);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__LOOK; j++) sum += own[j];
        const uint64_t inclusive = below + team.prefix(sum);
        const uint32_t above = team.ballot(inclusive > x);
        below = team.get(inclusive, team.width() - 1);
        if (!above) continue;
        uint64_t upto = inclusive - sum;
        const uint64_t place = first + csaw__run_find(own, x, &upto, &found);
        *before = team.get(upto, team.first(above));
        *mass = team.get(found, team.first(above));
        return team.get(place, team.first(above));
    }
}

/* The same by one lane, for each lane that asks; begin: the beginning of a run. */
CSAW_FN uint64_t csaw__lane_scan(const csaw_site *site, const csaw__row_runs &all, const csaw__scale &scale,
                                 uint64_t begin, uint64_t below, uint64_t x, uint64_t *before, uint64_t *mass) {
    for (uint32_t run = (uint32_t)(begin / CSAW__RUN);; run++) {
        csaw__bias_bits bias[CSAW__RUN];
        uint64_t own[CSAW__RUN], upto = below;
        csaw__load_run(site, all, run, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j++) upto += own[j] = scale.mass(bias[j]);
        *before = below;
        if (upto > x) return (uint64_t)run * CSAW__RUN + csaw__run_find(own, x, before, mass);
        below = upto;
    }
}

/* Every lane that asks: the first arc whose inclusive sum exceeds its x, which is below the row's sum: its rank;
 * *below: the sum of those before it; *mass: its own. */
CSAW_FN uint64_t csaw__team_find(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row, bool asks,
                                 uint64_t x, uint64_t *below, uint64_t *mass) {
    uint64_t found = *below = *mass = 0, start = 0;
    if (asks) {
        found = csaw__first_above(row->upto, row->parts, x);
        start = found ? row->upto[found - 1] : 0;
        *below = start;
        *mass = row->upto[found] - start;
    }
    found *= row->per;
    if (row->per == 1) return found;
    if (row->per <= CSAW__LANE_SCAN) { /* each lane for itself: their arcs were read just now */
        if (asks) found = csaw__lane_scan(site, csaw__runs_of(site), row->scale, found, start, x, below, mass);
        return found - row->begin;
    }
    const csaw__arc_masses masses_of = {site, &row->scale, row->begin};
    for (uint32_t left = team.ballot(asks); left; left &= left - 1) {
        const uint32_t lane = team.first(left);
        uint64_t before, own;
        const uint64_t place = csaw__team_scan(team, team.get(found, lane), team.get(start, lane), team.get(x, lane),
                                               masses_of, &before, &own);
        if (team.lane == lane) {
            found = place;
            *below = before;
            *mass = own;
        }
    }
    return found - row->begin;
}

#endif
