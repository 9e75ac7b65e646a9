/* SPDX-License-Identifier: MIT */
/* samplers/select/scan_warp.cuh - ITS and RACE on the GPU: one warp decides one row (C-SAW, SC'20, section IV-A).
 *
 * Method: ITS: the sum of masses, then prefix sums until the drawn number falls into one (row_sums.cuh). Masses are
 * integers, so the pick is that of samplers/select/its.h bit for bit. RACE: lanes take every 32nd arc; the earliest
 * arrival, of equals the lowest place, by butterfly. */
#ifndef CSAW_SELECT_SCAN_WARP_CUH
#define CSAW_SELECT_SCAN_WARP_CUH

#include "samplers/select/bias.h"
#include "samplers/select/race.h"
#include "samplers/select/row_sums.cuh"
#include "samplers/select/scan_thread.cuh"

#define CSAW__WARP 0xffffffffu

/* One site in all lanes; every lane of the warp takes part. The same answer in all lanes. */
CSAW_FN int csaw__its_warp_pick(const csaw_site *site, uint64_t number, uint32_t *rank) {
    const csaw__team team;
    csaw__row_mass row;
    uint64_t before, mass;
    if (!csaw__team_sums(team, site, 0, 0, &row)) return CSAW__BROKEN;
    if (row.sum == 0) return CSAW__NOTHING;
    const csaw__arc_masses masses_of = {site, &row.scale, 0};
    *rank = (uint32_t)csaw__team_scan(team, 0, 0, csaw_below(number, row.sum), masses_of, &before, &mass);
    return CSAW__PICKED;
}

CSAW_FN int csaw__race_warp_pick(const csaw_site *site, uint32_t *rank) {
    const uint32_t lane = threadIdx.x & 31;
    double first = 0;
    uint32_t place = CSAW_NONE;
    bool broken = false;
    for (uint64_t i = lane; i < site->degree; i += 32) {
        const double bias = csaw__bias_at(site, (uint32_t)i, 0, 0);
        broken = broken || bias < 0;
        if (!(bias > 0)) continue;
        const double arrival = csaw__race_arrival(site, (uint32_t)i, bias);
        if (place != CSAW_NONE && arrival >= first) continue;
        first = arrival;
        place = (uint32_t)i;
    }
    if (__any_sync(CSAW__WARP, broken)) return CSAW__BROKEN;
    for (int d = 16; d > 0; d >>= 1) {
        const double other = __shfl_xor_sync(CSAW__WARP, first, d);
        const uint32_t other_place = __shfl_xor_sync(CSAW__WARP, place, d);
        if (other_place == CSAW_NONE) continue;
        if (place == CSAW_NONE || other < first || (other == first && other_place < place)) {
            first = other;
            place = other_place;
        }
    }
    *rank = place;
    return place == CSAW_NONE ? CSAW__NOTHING : CSAW__PICKED;
}

CSAW_FN csaw_site csaw__site_of_lane(const csaw_site *site, int lane) {
    csaw_site other;
    other.job = site->job;
    other.instance = __shfl_sync(CSAW__WARP, (unsigned long long)site->instance, lane);
    other.at = __shfl_sync(CSAW__WARP, site->at, lane);
    other.prev = __shfl_sync(CSAW__WARP, site->prev, lane);
    other.root = __shfl_sync(CSAW__WARP, site->root, lane);
    other.depth = __shfl_sync(CSAW__WARP, site->depth, lane);
    other.row = __shfl_sync(CSAW__WARP, (unsigned long long)site->row, lane);
    other.prev_row = __shfl_sync(CSAW__WARP, (unsigned long long)site->prev_row, lane);
    other.degree = __shfl_sync(CSAW__WARP, site->degree, lane);
    other.prev_degree = __shfl_sync(CSAW__WARP, site->prev_degree, lane);
    other.undeclared = other.in_sample = other.prev_here = 0;
    for (int i = 0; i < 4; i++) other.user[i] = __shfl_sync(CSAW__WARP, (unsigned long long)site->user[i], lane);
    return other;
}

/* Answers of csaw__scan_warp() that are no rank. A row has fewer than 2^32 - 1 arcs. */
#define CSAW__SCAN_NOTHING 0xffffffffu
#define CSAW__SCAN_BROKEN 0xfffffffeu

/* The lanes with `asks` have rows to decide: each its own if it is short, and the warp the others in turn. Every lane
 * takes part; returns the rank of the lane's own pick. */
template <bool RACE> CSAW_FN uint32_t csaw__scan_warp(const csaw_site *site, bool asks) {
    uint32_t picked = CSAW__SCAN_NOTHING;
    if (asks && site->degree <= CSAW__SCAN_SHORT) {
        const int outcome = csaw__thread_pick<RACE>(site, &picked);
        if (outcome != CSAW__PICKED) picked = outcome == CSAW__BROKEN ? CSAW__SCAN_BROKEN : CSAW__SCAN_NOTHING;
        asks = false;
    }
    uint64_t number = !RACE && asks ? csaw__its_number(site) : 0;
    for (uint32_t left = __ballot_sync(CSAW__WARP, asks); left; left &= left - 1) {
        const int leader = __ffs((int)left) - 1;
        const csaw_site theirs = csaw__site_of_lane(site, leader);
        uint32_t rank = CSAW__SCAN_NOTHING;
        const int outcome =
            RACE ? csaw__race_warp_pick(&theirs, &rank)
                 : csaw__its_warp_pick(&theirs, __shfl_sync(CSAW__WARP, (unsigned long long)number, leader), &rank);
        const bool undeclared = __any_sync(CSAW__WARP, theirs.undeclared);
        if (undeclared) csaw__fault_at(&theirs, 0, CSAW__FAULT_UNDECLARED, 0, 0, 0);
        if ((int)(threadIdx.x & 31) == leader)
            picked = outcome == CSAW__BROKEN || undeclared ? CSAW__SCAN_BROKEN : rank;
    }
    return picked;
}

CSAW_FN int csaw__scan_take(const csaw_site *site, uint32_t decided, csaw_arc *arc) {
    if (decided == CSAW__SCAN_NOTHING) return CSAW__NOTHING;
    if (decided == CSAW__SCAN_BROKEN) return CSAW__BROKEN;
    *arc = csaw__arc_at(site, decided);
    return CSAW__PICKED;
}

#endif
