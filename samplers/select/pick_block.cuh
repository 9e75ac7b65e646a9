/* SPDX-License-Identifier: MIT */
/* samplers/select/pick_block.cuh - k arcs of one long row, picked by a block of threads: a hub is scanned by all warps
 * of the block, where one warp would hold up the rest of a small frontier. The picks are those of pick_team.cuh.
 *
 * Method: ITS: the block finds the largest bias, and sums of equal parts of the row: a warp a part for few picks, for
 * more a thread a run of eight arcs; the first warp does the rounds, and its finds scan one part each. RACE: each warp
 * finds the first arrivals of its share of the arcs, and the first warp merges them. Masses are integers, and of equal
 * arrivals the lower place is ahead, so how the row is divided changes no bit. */
#ifndef CSAW_SELECT_PICK_BLOCK_CUH
#define CSAW_SELECT_PICK_BLOCK_CUH

#include "samplers/select/pick_team.cuh"

enum {
    CSAW__BLOCK = CSAW__TEAM * CSAW__TEAMS,
    CSAW__BLOCK_PARTS = 1024, /* of a row, at most */
    CSAW__BLOCK_PART = 128    /* places of a part, at least; a multiple of CSAW__RUN */
};

/* Shared memory of a block. */
struct csaw__block_sums {
    csaw__bias_bits largest[CSAW__TEAMS];
    uint64_t warp_sum[CSAW__TEAMS];
    uint64_t upto[CSAW__BLOCK_PARTS];
    uint32_t pick[CSAW__TEAM_PICKS], slot[CSAW__TEAM_PICKS];
};
struct csaw__block_race {
    double time[CSAW__BLOCK];
    uint64_t place[CSAW__BLOCK];
};

/* Whether any thread of the block says so; a hook broke its rules, then. */
CSAW_FN bool csaw__block_broken(const csaw_site *site, bool broken) {
    const bool any = __syncthreads_or(broken);
    if (any && threadIdx.x == 0) csaw__wave_fault(site);
    return any;
}

/* The sum of a part of the row, by lanes `lane` of `lanes`. */
CSAW_FN uint64_t csaw__part_sum(const csaw_site *site, const csaw__row_mass *row, uint32_t part, uint32_t lane,
                                uint32_t lanes) {
    const uint64_t n = site->degree, past = (uint64_t)(part + 1) * row->per - row->begin, end = past < n ? past : n;
    const uint64_t begin = part ? past - row->per : 0; /* ranks */
    csaw__bias_bits largest = 0;
    return csaw__lane_pass(site, begin + lane, end, lanes, row->scale, &largest);
}

/* Inclusive sums of all parts: a warp a part, the first warp adds them up. Others get no sum. */
CSAW_FN void csaw__block_few_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, csaw__row_mass *out) {
    const uint32_t warp = threadIdx.x / CSAW__TEAM;
    for (uint32_t part = warp; part < out->parts; part += CSAW__TEAMS) {
        const uint64_t sum = team.sum(csaw__part_sum(site, out, part, team.lane, CSAW__TEAM));
        if (team.lane == 0) upto[part] = sum;
    }
    __syncthreads();
    if (warp != 0) return;
    for (uint32_t base = 0; base < out->parts; base += CSAW__TEAM) {
        const uint32_t part = base + team.lane;
        const uint64_t inclusive = out->sum + team.prefix(part < out->parts ? upto[part] : 0);
        if (part < out->parts) upto[part] = inclusive;
        out->sum = team.get(inclusive, CSAW__TEAM - 1);
    }
    team.sync();
}

/* The same, a thread a part: of a run of arcs, so that those of a warp stand side by side. */
CSAW_FN void csaw__block_run_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, uint64_t *warp_sum,
                                  csaw__row_mass *out) {
    const uint32_t warp = threadIdx.x / CSAW__TEAM;
    for (uint32_t base = 0; base < out->parts; base += CSAW__BLOCK) {
        const uint32_t part = base + threadIdx.x;
        const uint64_t inclusive = team.prefix(part < out->parts ? csaw__part_sum(site, out, part, 0, 1) : 0);
        if (team.lane == CSAW__TEAM - 1) warp_sum[warp] = inclusive;
        __syncthreads();
        uint64_t before = out->sum;
        for (uint32_t w = 0; w < CSAW__TEAMS; w++) {
            before += w < warp ? warp_sum[w] : 0;
            out->sum += warp_sum[w];
        }
        if (part < out->parts) upto[part] = before + inclusive;
        __syncthreads(); /* all have read what the next turn writes */
    }
}

/* As csaw__team_sums(), for the first warp alone: others get no sum of use. work: room for sums of csaw__sums_room()
 * parts, for many picks; NULL: fewer parts, whose sums stand in shared memory. False: a hook broke its rules, all
 * threads get that. */
CSAW_FN bool csaw__block_row_sums(const csaw__team &team, const csaw_site *site, csaw__block_sums *shared,
                                  uint64_t *work, csaw__row_mass *out) {
    const uint64_t n = site->degree;
    csaw__bias_bits largest = csaw__lane_largest(site, threadIdx.x, CSAW__BLOCK);
    out->upto = work ? work : shared->upto;
    csaw__part_row(csaw__runs_of(site), work ? csaw__sums_room(n) : CSAW__BLOCK_PARTS,
                   work ? CSAW__RUN : CSAW__BLOCK_PART, out);
    out->sum = 0;
    if (csaw__block_broken(site, largest > csaw__scale::most)) return false;
    largest = team.largest(largest);
    if (team.lane == 0) shared->largest[threadIdx.x / CSAW__TEAM] = largest;
    __syncthreads();
    for (uint32_t w = 0; w < CSAW__TEAMS; w++) largest = shared->largest[w] > largest ? shared->largest[w] : largest;
    if (largest == 0) return true;
    out->scale = csaw__scale(csaw__exponent_of(n, largest));
    if (work)
        csaw__block_run_sums(team, site, work, shared->warp_sum, out);
    else
        csaw__block_few_sums(team, site, shared->upto, out);
    return true;
}

/* k arcs by ITS, as csaw__team_picks(). work: as csaw__pick_words() counts. The first warp gets how many there are, or
 * CSAW__BROKEN_PICKS; the others 0. */
CSAW_FN uint32_t csaw__block_its(const csaw__team &team, const csaw_site *site, uint32_t k, uint64_t *work,
                                 csaw_edge *pick) {
    __shared__ csaw__block_sums shared;
    const bool few = k <= CSAW__TEAM_PICKS;
    csaw__row_mass row;
    const bool good = csaw__block_row_sums(team, site, &shared, few ? 0 : work, &row);
    if (threadIdx.x >= CSAW__TEAM) return 0;
    if (!good) return CSAW__BROKEN_PICKS;
    const csaw__pick_room room = {shared.pick, shared.slot, 0, 0};
    return csaw__team_picks_of<CSAW__KERNEL_ITS>(team, site, &row, k, room,
                                                 few ? work : work + csaw__sums_room(site->degree), pick);
}

/* Any number of arcs by RACE, as csaw__team_race(). All threads get how many there are, or CSAW__BROKEN_PICKS. */
CSAW_FN uint32_t csaw__block_by_race(const csaw__team &team, const csaw_site *site, uint32_t k, csaw_edge *pick) {
    __shared__ csaw__block_race shared;
    csaw__arrival after = csaw__nobody();
    uint32_t got = 0, came = CSAW__TEAM;
    while (got < k && came == CSAW__TEAM) {
        const uint32_t room = k - got;
        bool broken = false;
        csaw__arrival mine = csaw__first_arrivals(team, site, threadIdx.x - team.lane, CSAW__BLOCK, after, &broken);
        shared.time[threadIdx.x] = mine.time;
        shared.place[threadIdx.x] = mine.place;
        if (csaw__block_broken(site, broken)) return CSAW__BROKEN_PICKS;
        if (threadIdx.x < CSAW__TEAM) {
            for (uint32_t other = CSAW__TEAM; other < CSAW__BLOCK; other += CSAW__TEAM) {
                csaw__arrival came_there;
                came_there.time = shared.time[other + team.lane];
                came_there.place = shared.place[other + team.lane];
                csaw__arrive_all(team, came_there, &mine);
            }
            shared.time[team.lane] = mine.time;
            shared.place[team.lane] = mine.place;
            if (mine.place != ~0ull && team.lane < room) pick[got + team.lane] = mine.place;
        }
        __syncthreads();
        came = (uint32_t)__popc(team.ballot(shared.place[team.lane] != ~0ull));
        after.time = shared.time[CSAW__TEAM - 1];
        after.place = shared.place[CSAW__TEAM - 1];
        got += came < room ? came : room;
        __syncthreads(); /* all have read what the next look writes */
    }
    return got;
}

#endif
