/* SPDX-License-Identifier: MIT */
/* samplers/select/pick_block.cuh - k arcs of one long row, picked by a block of threads: a hub is scanned by all warps
 * of the block, where one warp would hold up the rest of a small frontier. The picks are those of pick_team.cuh.
 *
 * Method: ITS: the block finds the largest bias, and sums of equal parts of the row, a warp a part; the first warp does
 * the rounds, and its finds scan one part each. RACE: each warp finds the first arrivals of its share of the arcs, and
 * the first warp merges them. Masses are integers, and of equal arrivals the lower place is ahead, so how the row is
 * divided changes no bit. */
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

/* As csaw__team_sums(), with the sums of parts in shared memory, for the first warp alone: others get no sum. False: a
 * hook broke its rules, all threads get that. */
CSAW_FN bool csaw__block_row_sums(const csaw__team &team, const csaw_site *site, csaw__block_sums *shared,
                                  csaw__row_mass *out) {
    const uint32_t warp = threadIdx.x / CSAW__TEAM;
    const uint64_t n = site->degree;
    csaw__bias_bits largest = csaw__lane_largest(site, threadIdx.x, CSAW__BLOCK);
    out->upto = shared->upto;
    csaw__part_row(csaw__runs_of(site), CSAW__BLOCK_PARTS, CSAW__BLOCK_PART, out);
    out->sum = 0;
    if (csaw__block_broken(site, largest > csaw__scale::most)) return false;
    largest = team.largest(largest);
    if (team.lane == 0) shared->largest[warp] = largest;
    __syncthreads();
    for (uint32_t w = 0; w < CSAW__TEAMS; w++) largest = shared->largest[w] > largest ? shared->largest[w] : largest;
    if (largest == 0) return true;
    out->scale = csaw__scale(csaw__exponent_of(n, largest));
    for (uint32_t part = warp; part < out->parts; part += CSAW__TEAMS) {
        const uint64_t past = (uint64_t)(part + 1) * out->per - out->begin, end = past < n ? past : n;
        const uint64_t begin = part ? past - out->per : 0; /* ranks */
        const uint64_t sum = team.sum(csaw__lane_pass(site, begin + team.lane, end, CSAW__TEAM, out->scale, &largest));
        if (team.lane == 0) shared->upto[part] = sum;
    }
    __syncthreads();
    if (warp != 0) return true;
    for (uint32_t base = 0; base < out->parts; base += CSAW__TEAM) {
        const uint32_t part = base + team.lane;
        const uint64_t inclusive = out->sum + team.prefix(part < out->parts ? shared->upto[part] : 0);
        if (part < out->parts) shared->upto[part] = inclusive;
        out->sum = team.get(inclusive, CSAW__TEAM - 1);
    }
    team.sync();
    return true;
}

/* k <= CSAW__TEAM_PICKS arcs by ITS, as csaw__team_picks(). The first warp gets how many there are, or
 * CSAW__BROKEN_PICKS; the others 0. */
CSAW_FN uint32_t csaw__block_its(const csaw__team &team, const csaw_site *site, uint32_t k, csaw_edge *pick) {
    __shared__ csaw__block_sums shared;
    csaw__row_mass row;
    const bool good = csaw__block_row_sums(team, site, &shared, &row);
    if (threadIdx.x >= CSAW__TEAM) return 0;
    if (!good) return CSAW__BROKEN_PICKS;
    const csaw__pick_room room = {shared.pick, shared.slot, 0, 0};
    return csaw__team_picks_of<CSAW__KERNEL_ITS>(team, site, &row, k, room, 0, pick);
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
