/* SPDX-License-Identifier: MIT */
/* samplers/select/row_sums.cuh - masses of a row added up by a team of lanes, and the arc that a number falls to
 * (C-SAW, SC'20, section IV-A: prefix sums in a warp, binary search over the CTPS).
 *
 * Method: a lane adds up eight arcs side by side, so that one prefix sum over the lanes serves 256. Their biases are
 * asked for lane beside lane, so that a load makes whole lines, and change hands in shared memory; and by eight at a
 * time, of which a compiler that multiplies them at once leaves two or three on their way. Sums of equal parts
 * of the row stand in a little memory: the part that a number falls to is searched for, and scanned. So a few picks
 * need no memory of the row's length, however long it is. The exponent of the masses hangs on the largest bias of the
 * row: it is guessed from the row's beginning, and where it turns out to be another, the row is added up once more.
 * Masses are integers, so neither parts nor lanes change a bit. */
#ifndef CSAW_SELECT_ROW_SUMS_CUH
#define CSAW_SELECT_ROW_SUMS_CUH

#include "samplers/select/arc_mass.cuh"
#include "samplers/select/team.cuh"

enum {
    CSAW__PARTS = 256, /* of a row whose sums stand in shared memory */
    CSAW__LOG_RUN = 3, /* of the arcs side by side that a lane adds up, and of a part's, at least */
    CSAW__RUN = 1 << CSAW__LOG_RUN,
    CSAW__STRETCH = CSAW__RUN * CSAW__TEAM,      /* that a team adds up */
    CSAW__STAGE = CSAW__STRETCH + 4 * CSAW__RUN, /* of biases in shared memory, four left out after every 32 */
    CSAW__LOOK = 4,                              /* arcs side by side that a lane looks for a number in */
    CSAW__LOG_LANE_SCAN = 4                      /* of arcs of a part, at most, that lanes scan each by itself */
};

struct csaw__row_mass {
    const uint64_t *upto; /* inclusive sums, of every 2^log_per arcs; NULL: none were asked for */
    uint32_t log_per;
    uint64_t sum;
    csaw__scale scale;
};

CSAW_FN void csaw__wave_fault(const csaw_site *site) {
    const csaw_arc none = csaw__no_arc();
    csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, 0); /* which it was, the host finds out */
}

/* Log of the arcs of a part, if room sums have to do; least: at least. */
CSAW_FN uint32_t csaw__log_part(uint64_t n, uint64_t room, uint32_t least) {
    while ((n - 1) >> least >= room) least++;
    return least;
}

CSAW_FN uint64_t csaw__num_parts(uint64_t n, uint32_t log_per) { return ((n - 1) >> log_per) + 1; }

/* Sums of as many parts as are of use, for many picks. */
CSAW_FN uint64_t csaw__sums_room(uint64_t n) { return csaw__num_parts(n, CSAW__LOG_RUN); }

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

template <uint32_t N> CSAW_FN csaw__bias_bits csaw__largest_of(const csaw__bias_bits (&bias)[N]) {
    csaw__bias_bits largest = 0;
#pragma unroll
    for (uint32_t j = 0; j < N; j++) largest = bias[j] > largest ? bias[j] : largest;
    return largest;
}

/* The lane's run of a stretch that begins at arc `from`, by the hands of all lanes; 0 beyond the row of n. stage:
 * shared, [CSAW__STAGE], 16-byte aligned, the team's. WHOLE: no arc is beyond the row. */
template <bool WHOLE>
CSAW_FN void csaw__load_run(const csaw__team &team, const csaw_site *site, uint32_t from, uint32_t n,
                            csaw__bias_bits *stage, csaw__bias_bits (&bias)[CSAW__RUN]) {
    constexpr uint32_t row = CSAW__TEAM + 4; /* runs are then read without conflicts of banks */
#pragma unroll
    for (uint32_t j = 0; j < CSAW__RUN; j++) {
        const uint64_t i = (uint64_t)from + team.lane + CSAW__TEAM * j; /* in 64 bits one address serves all of them */
        const bool any = WHOLE || i - team.lane < n;                    /* of the lanes */
        bias[j] = any ? csaw__raw_bits(site, WHOLE || i < n ? i : n - 1) : 0;
    }
#pragma unroll
    for (uint32_t j = 0; j < CSAW__RUN; j++) {
        const uint32_t i = from + CSAW__TEAM * j + team.lane;
        stage[row * j + team.lane] = WHOLE || i < n ? csaw__scale::checked(bias[j]) : 0;
    }
    team.sync();
    const csaw__bias_bits *const run =
        (const csaw__bias_bits *)__builtin_assume_aligned(stage + team.lane / 4 * row + team.lane % 4 * CSAW__RUN, 16);
#pragma unroll
    for (uint32_t j = 0; j < CSAW__RUN; j++) bias[j] = run[j];
    team.sync();
}

/* Biases of arcs from first on; 0 beyond the row. */
template <uint32_t N> CSAW_FN void csaw__load_end(const csaw_site *site, uint64_t first, csaw__bias_bits (&bias)[N]) {
    const uint64_t n = site->degree;
#pragma unroll
    for (uint32_t j = 0; j < N; j++) bias[j] = csaw__raw_bits(site, first + j < n ? first + j : n - 1);
#pragma unroll
    for (uint32_t j = 0; j < N; j++) bias[j] = first + j < n ? csaw__scale::checked(bias[j]) : 0;
}

/* The masses of arcs of the row, from the arcs. */
struct csaw__arc_masses {
    const csaw_site *site;
    const csaw__scale *scale;
    /* Of arcs from first on; 0 beyond the row. */
    __device__ void operator()(uint64_t first, uint64_t (&mass)[CSAW__LOOK]) const {
        csaw__bias_bits bias[CSAW__LOOK];
        csaw__load_end(site, first, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__LOOK; j++) mass[j] = scale->mass(bias[j]);
    }
};

/* Where inclusive sums go: of every 2^log_per arcs of a row of n. */
struct csaw__sums_to {
    uint64_t *upto;
    uint32_t log_per, n;
    csaw__scale scale;
    uint64_t below;          /* of the arcs before */
    csaw__bias_bits largest; /* of the lane's */
    /* The next stretch: the lane's arcs are from first on. */
    __device__ __forceinline__ void add(const csaw__team &team, uint32_t first,
                                        const csaw__bias_bits (&bias)[CSAW__RUN]) {
        uint64_t sum = 0;
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j++) {
            largest = bias[j] > largest ? bias[j] : largest;
            sum += scale.mass(bias[j]);
        }
        const uint64_t inclusive = below + team.prefix(sum);
        below = team.get(inclusive, CSAW__TEAM - 1);
        if (first < n && ((first + CSAW__RUN) & (((uint32_t)1 << log_per) - 1)) == 0)
            upto[first >> log_per] = inclusive;
    }
};

/* The sum of all arcs, and inclusive sums of parts to out->upto. *guess: the row's largest bias, for the scale; 0: that
 * of the first stretch is taken. *largest: of the lane's biases. */
CSAW_FN uint64_t csaw__team_pass(const csaw__team &team, const csaw_site *site, uint64_t *upto, csaw__bias_bits *stage,
                                 csaw__row_mass *out, csaw__bias_bits *guess, csaw__bias_bits *largest) {
    const uint32_t n = site->degree;
    csaw__sums_to to = {upto, out->log_per, n, out->scale, 0, 0};
    csaw__bias_bits bias[CSAW__RUN];
    for (uint32_t from = 0, left = n; left; from += CSAW__STRETCH) { /* from + CSAW__STRETCH may be 2^32 */
        const bool whole = left >= CSAW__STRETCH;
        if (whole)
            csaw__load_run<true>(team, site, from, n, stage, bias);
        else
            csaw__load_run<false>(team, site, from, n, stage, bias);
        if (from == 0) {
            if (*guess == 0) *guess = team.largest(csaw__largest_of(bias));
            to.scale = csaw__scale(csaw__exponent_of(n, *guess));
        }
        to.add(team, from + CSAW__RUN * team.lane, bias);
        left = whole ? left - CSAW__STRETCH : 0;
    }
    if (team.lane == 0) upto[(n - 1) >> out->log_per] = to.below; /* its part may end beyond the row */
    out->scale = to.scale;
    *largest = to.largest;
    return to.below;
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
        *guess = team.largest(csaw__largest_of(bias));
    }
    out->scale = csaw__scale(csaw__exponent_of(n, *guess));
    return team.sum(csaw__lane_pass(site, team.lane, n, CSAW__TEAM, out->scale, largest));
}

/* Sum of the row's masses and their scale, and inclusive sums of parts in upto, [room], if room is not 0. stage: as
 * above, unless room is 0. Sum 0: no arc has a positive bias. The row has an arc. False: a hook broke its rules. */
CSAW_FN bool csaw__team_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, uint64_t room,
                             csaw__bias_bits *stage, csaw__row_mass *out) {
    const uint64_t n = site->degree;
    csaw__bias_bits guess = 0, largest;
    out->upto = upto;
    out->log_per = room ? csaw__log_part(n, room, CSAW__LOG_RUN) : 0;
    for (;; guess = largest) {
        largest = 0;
        out->sum = room ? csaw__team_pass(team, site, upto, stage, out, &guess, &largest)
                        : csaw__team_pass(team, site, out, &guess, &largest);
        largest = team.largest(largest);
        team.sync();
        if (largest > csaw__scale::most) break;
        if (csaw__exponent_of(n, largest) == csaw__exponent_of(n, guess)) return true;
    }
    csaw__wave_fault(site);
    return false;
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

/* Of masses side by side, whose sum with below exceeds x: which is the first at which it does; below becomes the sum of
 * those before it. */
CSAW_FN uint32_t csaw__run_find(const uint64_t (&mass)[CSAW__LOOK], uint64_t x, uint64_t *below, uint64_t *found) {
    uint32_t which = 0;
    *found = mass[0];
#pragma unroll
    for (uint32_t j = 0; j + 1 < CSAW__LOOK; j++) {
        if (which != j || *below + mass[j] > x) continue;
        *below += mass[j];
        *found = mass[j + 1];
        which = j + 1;
    }
    return which;
}

/* The first arc from begin on at which below + the masses since begin exceeds x: its place; *before: the sum of those
 * before it; *mass: its own. masses_of(i, mass): those of arcs from i on, 0 beyond the row. */
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

/* The same by one lane, for each lane that asks. */
CSAW_FN uint64_t csaw__lane_scan(const csaw__arc_masses &masses_of, uint64_t begin, uint64_t below, uint64_t x,
                                 uint64_t *before, uint64_t *mass) {
    for (;; begin += CSAW__LOOK) {
        uint64_t own[CSAW__LOOK], upto = below;
        masses_of(begin, own);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__LOOK; j++) upto += own[j];
        *before = below;
        if (upto > x) return begin + csaw__run_find(own, x, before, mass);
        below = upto;
    }
}

/* Every lane that asks: the first arc whose inclusive sum exceeds its x, which is below the row's sum; *below: the sum
 * of those before it; *mass: its own. */
CSAW_FN uint64_t csaw__team_find(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row, bool asks,
                                 uint64_t x, uint64_t *below, uint64_t *mass) {
    uint64_t found = *below = *mass = 0, start = 0;
    if (asks) {
        found = csaw__first_above(row->upto, csaw__num_parts(site->degree, row->log_per), x);
        start = found ? row->upto[found - 1] : 0;
        *below = start;
        *mass = row->upto[found] - start;
    }
    if (row->log_per == 0) return found;
    const csaw__arc_masses masses_of = {site, &row->scale};
    found <<= row->log_per;
    if (row->log_per <= CSAW__LOG_LANE_SCAN) { /* each lane for itself: their arcs were read just now */
        if (asks) found = csaw__lane_scan(masses_of, found, start, x, below, mass);
        return found;
    }
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
    return found;
}

#endif
