/* SPDX-License-Identifier: MIT */
/* samplers/select/row_find.cuh - the arc that a number falls to, of a row whose sums of masses are known (C-SAW, SC'20,
 * section IV-A: binary search over the CTPS).
 *
 * Method: the part of the row that the number falls to is searched for among the sums, and then scanned: a short part
 * by the lane that asks, a longer one by a quarter of the team, so that four are under way, a long one by all. */
#ifndef CSAW_SELECT_ROW_FIND_CUH
#define CSAW_SELECT_ROW_FIND_CUH

#include "samplers/select/row_sums.cuh"

enum {
    CSAW__LOG_LANE_SCAN = 4, /* of places of a part, at most, that a lane scans by itself */
    CSAW__LOG_TILE_SCAN = 7, /* the same of a tile, of lanes: */
    CSAW__LOG_TILE = 3
};

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

/* The first place from begin on, a multiple of four, at which below + the masses since begin exceeds x; *before: the
 * sum of those before it; *mass: its own. masses_of(i, mass): those of places from i on, 0 where there is no arc. */
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
    for (;; begin += CSAW__RUN) {
        csaw__bias_bits bias[CSAW__RUN];
        csaw__load(masses_of.site, begin, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j += CSAW__LOOK) {
            uint64_t own[CSAW__LOOK], upto = below;
#pragma unroll
            for (uint32_t i = 0; i < CSAW__LOOK; i++) {
                own[i] = masses_of.scale->mass(bias[j + i]);
                upto += own[i];
            }
            *before = below;
            if (upto > x) return begin + j + csaw__run_find(own, x, before, mass);
            below = upto;
        }
    }
}

/* The same for each lane that asks, by tiles: of the lanes that are left the first four are served at once. */
CSAW_FN uint64_t csaw__tiles_scan(const csaw__team &team, const csaw__arc_masses &masses_of, bool asks, uint64_t begin,
                                  uint64_t below, uint64_t x, uint64_t *before, uint64_t *mass) {
    constexpr uint32_t tiles = CSAW__TEAM >> CSAW__LOG_TILE;
    const csaw__tile tile(CSAW__LOG_TILE);
    uint64_t answer = 0;
    for (uint32_t left = team.ballot(asks); left;) {
        const uint32_t turn = team.lower(left); /* of the lane, if it is left */
        const bool served = (left >> team.lane & 1) && turn < tiles;
        uint32_t asker = CSAW__TEAM;
#pragma unroll
        for (uint32_t t = 0; t < tiles; t++) {
            if (left && tile.shift == t << CSAW__LOG_TILE) asker = team.first(left);
            left &= left - 1;
        }
        const bool has = asker < CSAW__TEAM;
        const uint64_t from = team.get(begin, has ? asker : 0), number = team.get(x, has ? asker : 0);
        uint64_t upto = team.get(below, has ? asker : 0), place = 0, place_before = 0, place_mass = 0;
        bool found = !has, holds = false;
        for (uint64_t first = from + CSAW__LOOK * tile.lane; team.any_of_warp(!found);
             first += CSAW__LOOK * tile.width()) {
            uint64_t own[CSAW__LOOK], sum = 0;
            masses_of(first, own);
#pragma unroll
            for (uint32_t j = 0; j < CSAW__LOOK; j++) sum += own[j];
            const uint64_t inclusive = upto + tile.prefix(sum);
            const uint32_t above = tile.ballot(inclusive > number);
            upto = tile.get(inclusive, tile.width() - 1);
            if (!found && above && tile.first(above) == tile.lane) {
                holds = true;
                place_before = inclusive - sum;
                place = first + csaw__run_find(own, number, &place_before, &place_mass);
            }
            found = found || above;
        }
        const uint32_t holder = tile.shift + tile.first(tile.ballot(holds));
        const uint32_t of = team.get(holder, (turn % tiles) << CSAW__LOG_TILE) % CSAW__TEAM;
        const uint64_t its_place = team.get(place, of), its_before = team.get(place_before, of),
                       its_mass = team.get(place_mass, of);
        if (served) {
            answer = its_place;
            *before = its_before;
            *mass = its_mass;
        }
    }
    return answer;
}

/* Every lane that asks: the rank of the first arc whose inclusive sum exceeds its x, which is below the row's sum;
 * *below: the sum of those before it; *mass: its own. */
CSAW_FN uint64_t csaw__team_find(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row, bool asks,
                                 uint64_t x, uint64_t *below, uint64_t *mass) {
    const bool every = row->log_per == 0; /* arc has its sum */
    uint64_t found = *below = *mass = 0, start = 0;
    if (asks) {
        const uint64_t sums = every ? site->degree : csaw__num_parts(csaw__row_span(site), row->log_per);
        found = csaw__first_above(row->upto, (uint32_t)sums, x);
        start = found ? row->upto[found - 1] : 0;
        *below = start;
        *mass = row->upto[found] - start;
    }
    if (every) return found;
    const csaw__arc_masses masses_of(site, &row->scale);
    found <<= row->log_per;
    if (row->log_per <= CSAW__LOG_LANE_SCAN) { /* each lane for itself: their arcs were read just now */
        if (asks) found = csaw__lane_scan(masses_of, found, start, x, below, mass);
    } else if (row->log_per <= CSAW__LOG_TILE_SCAN) {
        found = csaw__tiles_scan(team, masses_of, asks, found, start, x, below, mass);
    } else {
        for (uint32_t left = team.ballot(asks); left; left &= left - 1) {
            const uint32_t lane = team.first(left);
            uint64_t before, own;
            const uint64_t place = csaw__team_scan(team, team.get(found, lane), team.get(start, lane),
                                                   team.get(x, lane), masses_of, &before, &own);
            if (team.lane == lane) {
                found = place;
                *below = before;
                *mass = own;
            }
        }
    }
    return found - masses_of.skew;
}

#endif
