/* SPDX-License-Identifier: MIT */
/* samplers/select/row_sums.cuh - masses of a row added up by a team of lanes (C-SAW, SC'20, section IV-A: prefix sums
 * in a warp). What a number falls to is found by row_find.cuh.
 *
 * Method: a lane takes 64 bytes of biases side by side, four reads under way at a time. The loop over the row adds up
 * equal parts of it alone, each of which is a lane's, several lanes', or several stretches'; inclusive sums of the
 * parts, which stand in a little memory, are made behind it, once. So a few picks need no memory of the row's length,
 * however long it is. The exponent of the masses hangs on the largest bias of the row: it is guessed from the row's
 * beginning, and where it turns out to be another, the row is added up once more. Masses are integers, so neither parts
 * nor lanes change a bit. */
#ifndef CSAW_SELECT_ROW_SUMS_CUH
#define CSAW_SELECT_ROW_SUMS_CUH

#include "samplers/select/row_biases.cuh"

enum { CSAW__PARTS = 256 /* of a row whose sums stand in shared memory */ };

struct csaw__row_mass {
    const uint64_t *upto; /* inclusive sums, of every 2^log_per places; NULL: none were asked for */
    uint32_t log_per;     /* 0: of every arc */
    uint64_t sum;
    csaw__scale scale;
};

CSAW_FN void csaw__wave_fault(const csaw_site *site) {
    const csaw_arc none = csaw__no_arc();
    csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, 0); /* which it was, the host finds out */
}

/* Log of the places of a part, if room sums have to do; least: at least. */
CSAW_FN uint32_t csaw__log_part(uint64_t span, uint64_t room, uint32_t least) {
    while ((span - 1) >> least >= room) least++;
    return least;
}

CSAW_FN uint64_t csaw__num_parts(uint64_t span, uint32_t log_per) { return ((span - 1) >> log_per) + 1; }

/* Sums of as many parts as are of use, for many picks, of a row of n arcs wherever it begins. */
CSAW_FN uint64_t csaw__sums_room(uint64_t n) { return csaw__num_parts(n + CSAW__LOOK - 1, CSAW__LOG_RUN); }

/* The sum of the lane's masses at places begin .. end - 1 of the row; with parts, the sum of every 2^log_per places to
 * upto, each by itself. begin: a multiple of a part and of a stretch. bias: the lane's of the first stretch,
 * then room for others. *largest becomes that of the lane's biases if they exceed it. */
CSAW_FN uint64_t csaw__team_pass(const csaw__team &team, const csaw_site *site, const csaw__scale &scale,
                                 uint32_t log_per, bool parts, uint64_t *upto, uint64_t begin, uint64_t end,
                                 csaw__bias_bits (&bias)[CSAW__RUN], csaw__bias_bits *largest) {
    const uint32_t lanes = log_per < CSAW__LOG_RUN + 5 ? 1u << (log_per - CSAW__LOG_RUN) : CSAW__TEAM; /* of a part */
    const uint64_t inside = ((uint64_t)1 << log_per) - 1;
    uint64_t sum = 0;
    for (uint64_t place = begin;;) {
        const uint64_t next = place + CSAW__STRETCH;
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j++) {
            *largest = bias[j] > *largest ? bias[j] : *largest;
            sum += scale.mass(bias[j]);
        }
        if (next < end) csaw__load_stretch(team, site, next, bias);
        if (parts && (next >= end || (next & inside) == 0)) { /* parts end here */
            const uint64_t own = place + CSAW__RUN * team.lane, all = team.sum(sum, lanes);
            if (team.lane % lanes == 0 && own < end) upto[own >> log_per] = all;
            sum = 0;
        }
        if (next >= end) return sum;
        place = next;
    }
}

/* Sums of parts become inclusive; returns that of all. An odd number of parts a lane: so lanes' parts are in different
 * banks of shared memory. */
CSAW_FN uint64_t csaw__team_inclusive(const csaw__team &team, uint64_t *upto, uint32_t parts) {
    const uint32_t each = ((parts + CSAW__TEAM - 1) / CSAW__TEAM) | 1, begin = each * team.lane,
                   end = begin + each < parts ? begin + each : parts;
    uint64_t sum = 0;
    team.sync();
#pragma unroll 4
    for (uint32_t i = begin; i < end; i++) sum += upto[i];
    const uint64_t inclusive = team.prefix(sum);
    uint64_t below = inclusive - sum;
#pragma unroll 4
    for (uint32_t i = begin; i < end; i++) upto[i] = below += upto[i];
    team.sync();
    return team.get(inclusive, CSAW__TEAM - 1);
}

/* The largest of the lane's biases, at every so many stretches from a place on; -0 counts as 0. */
CSAW_FN csaw__bias_bits csaw__lane_largest(const csaw__team &team, const csaw_site *site, uint64_t place,
                                           uint32_t stretches) {
    csaw__bias_bits bias[CSAW__RUN], largest = 0;
    for (; place < csaw__row_span(site); place += (uint64_t)stretches * CSAW__STRETCH) {
        csaw__load_stretch(team, site, place, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j++) {
            const csaw__bias_bits checked = csaw__scale::checked(bias[j]);
            largest = checked > largest ? checked : largest;
        }
    }
    return largest;
}

/* Sum of the row's masses and their scale, and inclusive sums of parts in upto, [room], if room is not 0. Sum 0: no arc
 * has a positive bias. The row has an arc. False: a hook broke its rules. */
CSAW_FN bool csaw__team_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, uint64_t room,
                             csaw__row_mass *out) {
    const uint64_t span = csaw__row_span(site);
    csaw__bias_bits largest = 0;
    out->upto = upto;
    out->log_per = room ? csaw__log_part(span, room, CSAW__LOG_RUN) : CSAW__LOG_RUN;
#pragma unroll 1
    for (bool guessed = false;; guessed = true) {
        csaw__bias_bits bias[CSAW__RUN];
        csaw__load_stretch(team, site, 0, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN && !guessed; j++) largest = bias[j] > largest ? bias[j] : largest;
        if (!guessed) largest = team.largest(largest);
        const int exponent = csaw__exponent_of(site->degree, largest);
        out->scale = csaw__scale(exponent);
        largest = 0;
        const uint64_t own =
            csaw__team_pass(team, site, out->scale, out->log_per, room != 0, upto, 0, span, bias, &largest);
        out->sum =
            room ? csaw__team_inclusive(team, upto, (uint32_t)csaw__num_parts(span, out->log_per)) : team.sum(own);
        largest = team.largest(largest);
        if (largest > csaw__scale::most) { /* as a broken bias is, but -0 too, which is not looked for above */
            largest = team.largest(csaw__lane_largest(team, site, 0, 1));
            if (largest > csaw__scale::most) break;
        }
        if (csaw__exponent_of(site->degree, largest) == exponent) return true;
    }
    csaw__wave_fault(site);
    return false;
}

#endif
