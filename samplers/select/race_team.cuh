/* SPDX-License-Identifier: MIT */
/* samplers/select/race_team.cuh - RACE for k arcs of one row by a team of lanes: the arcs that arrive first, in order.
 *
 * Method: the lanes hold the first arrivals so far, sorted, one each; all look at the row once, and an arc that is
 * ahead of the last of them is put in its place. More picks than lanes take another look for each as many. */
#ifndef CSAW_SELECT_RACE_TEAM_CUH
#define CSAW_SELECT_RACE_TEAM_CUH

#include "samplers/select/bias.h"
#include "samplers/select/race.h"
#include "samplers/select/row_sums.cuh"

/* Of equal times the lower place is ahead. */
struct csaw__arrival {
    double time;
    uint64_t place; /* all ones: nobody */
};

CSAW_FN bool csaw__ahead_of(csaw__arrival a, csaw__arrival b) {
    if (b.place == ~0ull) return a.place != ~0ull;
    return a.place != ~0ull && (a.time < b.time || (a.time == b.time && a.place < b.place));
}

CSAW_FN csaw__arrival csaw__nobody(void) {
    csaw__arrival none;
    none.time = 0;
    none.place = ~0ull;
    return none;
}

/* *mine: the lanes' arrivals in ascending order; newcomer goes to its place among them. */
template <class TEAM> CSAW_FN void csaw__arrive(const TEAM &team, csaw__arrival newcomer, csaw__arrival *mine) {
    const bool behind = csaw__ahead_of(newcomer, *mine);
    const uint32_t after = team.ballot(behind);
    csaw__arrival moved;
    moved.time = team.before(mine->time);
    moved.place = team.before(mine->place);
    if (behind) *mine = team.lane == team.first(after) ? newcomer : moved;
}

/* Every lane's arrival, one after the other. */
template <class TEAM> CSAW_FN void csaw__arrive_all(const TEAM &team, csaw__arrival came, csaw__arrival *mine) {
    csaw__arrival last;
    last.time = team.get(mine->time, team.width() - 1);
    last.place = team.get(mine->place, team.width() - 1);
    for (uint32_t left = team.ballot(csaw__ahead_of(came, last)); left; left &= left - 1) {
        csaw__arrival next;
        next.time = team.get(came.time, team.first(left));
        next.place = team.get(came.place, team.first(left));
        csaw__arrive(team, next, mine);
    }
}

/* The first arrivals among arcs first + lane, .. of every step, that are behind after; *broken if a hook broke its
 * rules. */
template <class TEAM>
CSAW_FN csaw__arrival csaw__first_arrivals(const TEAM &team, const csaw_site *site, uint64_t first, uint64_t step,
                                           csaw__arrival after, bool *broken) {
    csaw__arrival mine = csaw__nobody();
    for (uint64_t base = first; base < site->degree; base += step) {
        const uint64_t i = base + team.lane;
        csaw__arrival came = csaw__nobody();
        const double bias = i < site->degree ? csaw__bias_of(site, (uint32_t)i) : 0;
        *broken = *broken || bias < 0;
        if (bias > 0) {
            came.time = csaw__race_arrival(site, (uint32_t)i, bias);
            came.place = i;
            if (after.place != ~0ull && !csaw__ahead_of(after, came)) came.place = ~0ull;
        }
        csaw__arrive_all(team, came, &mine);
    }
    return mine;
}

/* The k arcs that arrive first to pick; how many there are, ~0 if a hook broke its rules. */
template <class TEAM>
CSAW_FN uint32_t csaw__team_race(const TEAM &team, const csaw_site *site, uint32_t k, csaw_edge *pick) {
    csaw__arrival after = csaw__nobody();
    uint32_t got = 0;
    while (got < k) {
        bool broken = false;
        const csaw__arrival mine = csaw__first_arrivals(team, site, 0, team.width(), after, &broken);
        if (team.ballot(broken)) {
            csaw__wave_fault(site);
            return ~0u;
        }
        if (mine.place != ~0ull && team.lane < k - got) pick[got + team.lane] = mine.place;
        const uint32_t came = (uint32_t)__popc(team.ballot(mine.place != ~0ull));
        got += came < k - got ? came : k - got;
        if (came < team.width()) break;
        after.time = team.get(mine.time, team.width() - 1);
        after.place = team.get(mine.place, team.width() - 1);
    }
    team.sync();
    return got;
}

#endif
