/* SPDX-License-Identifier: MIT */
/* samplers/select/pick_rest.cuh - what the slots pick that are still open after the rounds of pick_team.cuh: one after
 * the other, from what is left of the row.
 *
 * Method: the masses of the picks are taken off the row's sum, so that a slot costs one scan up to its pick. Where few
 * picks have sums of parts in shared memory, these are taken off there too, and a slot costs the scan of one part. */
#ifndef CSAW_SELECT_PICK_REST_CUH
#define CSAW_SELECT_PICK_REST_CUH

#include "runtime/base/frontier.h"
#include "samplers/select/row_sums.cuh"

#define CSAW__BROKEN_PICKS 0xffffffffu

CSAW_FN uint64_t csaw__pick_number(const csaw_site *site, uint32_t slot, uint32_t draw, uint32_t half) {
    const csaw_block block = csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site), CSAW_DRAW_PICK,
                                       slot * CSAW__SLOT_DRAWS + draw);
    return csaw_half(&block, half);
}

/* Sums of parts no longer count an arc of the part that was picked. */
template <class TEAM>
CSAW_FN void csaw__team_take_mass(const TEAM &team, uint64_t *upto, uint64_t parts, uint64_t part, uint64_t mass) {
    for (uint64_t i = part + team.lane; i < parts; i += team.width()) upto[i] -= mass;
    team.sync();
}

/* Slots that are open after the rounds pick one after the other from what is left of the row, whose sums are known:
 * one scan a slot. upto: [parts], inclusive sums of every `per` places, which then are of what is left; parts 0: none.
 * begin: place of the row's first arc. */
template <class TEAM, class TAKEN, class MASSES>
CSAW_FN uint32_t csaw__team_rest_of(const TEAM &team, const csaw_site *site, uint64_t left, uint64_t *upto,
                                    uint64_t parts, uint32_t per, uint32_t begin, const MASSES &masses_of, TAKEN &set,
                                    uint32_t got, uint32_t num_open) {
    const auto masses_left = [&](uint64_t i, uint64_t(&mass)[CSAW__LOOK]) {
        masses_of(i, mass);
        for (uint32_t j = 0; j < CSAW__LOOK; j++) mass[j] = mass[j] && !set.has(i + j - begin, got) ? mass[j] : 0;
    };
    const auto mass_of = [&](uint64_t rank) -> uint64_t {
        uint64_t mass[CSAW__LOOK];
        masses_of(begin + rank, mass);
        return mass[0];
    };
    uint64_t taken = 0;
    for (uint64_t j = team.lane; j < got; j += team.width()) taken += mass_of(set.pick[j]);
    left -= team.sum(taken);
    for (uint32_t j = 0; j < got && parts; j++)
        csaw__team_take_mass(team, upto, parts, (begin + (uint64_t)set.pick[j]) / per, mass_of(set.pick[j]));
    for (uint32_t o = 0; o < num_open && left; o++) {
        const uint64_t x = csaw_below(csaw__pick_number(site, set.open(o), CSAW__ROUNDS, 0), left);
        const uint64_t part = parts ? csaw__first_above(upto, parts, x) : 0;
        uint64_t before, mass;
        const uint64_t place =
            csaw__team_scan(team, part * per, part ? upto[part - 1] : 0, x, masses_left, &before, &mass);
        team.sync(); /* all have read what is written now */
        if (team.lane == 0) set.add(got, place - begin);
        if (parts) csaw__team_take_mass(team, upto, parts, part, mass);
        left -= mass;
        got++;
        team.sync();
    }
    return got;
}

/* The same where they are not. */
template <class TEAM, class TAKEN>
CSAW_FN uint32_t csaw__team_rest(const TEAM &team, const csaw_site *site, TAKEN &set, uint32_t got, uint32_t num_open) {
    csaw__row_mass row;
    if (!csaw__team_sums(team, site, 0, 0, &row)) return CSAW__BROKEN_PICKS;
    if (row.sum == 0) return got;
    const csaw__arc_masses masses_of = {site, &row.scale, 0};
    return csaw__team_rest_of(team, site, row.sum, 0, 0, 0, 0, masses_of, set, got, num_open);
}

/* The masses of arcs from inclusive sums of every one. */
struct csaw__stored_masses {
    const uint64_t *upto;
    uint64_t n;
    __device__ void operator()(uint64_t first, uint64_t (&mass)[CSAW__LOOK]) const {
        uint64_t below = first && first <= n ? upto[first - 1] : 0;
        for (uint32_t j = 0; j < CSAW__LOOK; j++) {
            const uint64_t inclusive = first + j < n ? upto[first + j] : below;
            mass[j] = inclusive - below;
            below = inclusive;
        }
    }
};

/* The same by the row's sums as ITS has them: of parts, in the team's own memory, or of every arc. */
template <class TEAM, class TAKEN>
CSAW_FN uint32_t csaw__team_rest_by_sums(const TEAM &team, const csaw_site *site, const csaw__row_mass *row, TAKEN &set,
                                         uint32_t got, uint32_t num_open) {
    const uint64_t n = site->degree;
    const csaw__stored_masses stored = {row->upto, n};
    const csaw__arc_masses masses_of = {site, &row->scale, row->begin};
    if (row->per == 1) return csaw__team_rest_of(team, site, row->sum, 0, 0, 0, 0, stored, set, got, num_open);
    if (got + num_open > CSAW__TEAM) /* to take each of many picks off all parts behind it costs more than the scans */
        return csaw__team_rest_of(team, site, row->sum, 0, 0, 0, row->begin, masses_of, set, got, num_open);
    return csaw__team_rest_of(team, site, row->sum, (uint64_t *)row->upto, row->parts, row->per, row->begin, masses_of,
                              set, got, num_open);
}

#endif
