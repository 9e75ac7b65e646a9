/* SPDX-License-Identifier: MIT */
/* samplers/select/pick_group.cuh - k arcs of each of several rows at once, a lane a slot: for small k, where a warp a
 * row would leave most lanes idle. By the methods whose trials need no scan of the row: UNIFORM,
 * ALIAS, REJECT, ITS by stored sums.
 *
 * Method: the lanes of a tile (a part of a warp) are dealt out in groups of k, one row each. UNIFORM: the shuffle of
 * shuffle_team.cuh. Else the rounds of rounds.h: a lane makes the trials of its slot, and of lanes of a group that name
 * the same arc the lowest wins, by __match_any_sync. Numbers, and so picks, are those of the CPU; docs/stream.md. */
#ifndef CSAW_SELECT_PICK_GROUP_CUH
#define CSAW_SELECT_PICK_GROUP_CUH

#include "samplers/select/pick_team.cuh"

/* The slots of some rows, dealt out to the lanes of a tile. */
struct csaw__deal {
    uint32_t k, rows;      /* slots of a row; rows at once: as many as fit */
    uint32_t row, slot;    /* the lane's, row < rows or it has none */
    uint32_t lanes;        /* of the lane's row */
    uint32_t *pick, *open; /* shared, [rows * k]: picks, and slots without one, row by row */
    /* 0 < slots <= width. one: a row at a time, whatever its slots. */
    template <class TILE> __device__ csaw__deal(const TILE &tile, uint32_t slots, bool one, uint32_t *shared) {
        const float rows_a_slot = __fdividef(1.0f, (float)slots); /* exact enough for a lane / slots */
        k = slots;
        rows = one ? 1 : (uint32_t)(((float)tile.width() + 0.5f) * rows_a_slot);
        row = one ? 0 : (uint32_t)(((float)tile.lane + 0.5f) * rows_a_slot);
        slot = tile.lane - row * k;
        lanes = (0xffffffffu >> (32 - k)) << (tile.lane - slot);
        pick = shared;
        open = shared + tile.width();
    }
};

/* What a lane's slot gets without a trial: everything of a short row, or a pick with replacement. False: nothing. */
template <uint32_t KERNEL>
CSAW_FN bool csaw__group_at_once(const csaw_site *site, const csaw__deal &deal, uint32_t *candidate, bool *broken) {
    *candidate = deal.slot;
    if (!site->job->replace) {
        if (deal.slot >= site->degree) return false;
        const double bias = csaw__bias_at(site, deal.slot, 0, 0);
        *broken = bias < 0;
        return bias > 0;
    }
    const uint64_t number = csaw__first_number(site, deal.slot);
    if constexpr (KERNEL == CSAW__KERNEL_ITS_STORED) {
        const csaw__row_mass row = csaw__stored_sums(site);
        *candidate = (uint32_t)csaw__first_above(row.upto, site->degree, csaw_below(number, row.sum));
    } else {
        csaw_vertex dst;
        *candidate = (uint32_t)csaw__alias_rank(site, number, &dst);
    }
    return true;
}

/* Whether the row may have a pick at all. */
template <uint32_t KERNEL> CSAW_FN bool csaw__group_any(const csaw_site *site) {
    if (site->degree == 0) return false;
    if constexpr (KERNEL == CSAW__KERNEL_ALIAS) return site->job->rows.alias[site->row].own != CSAW_NONE;
    if constexpr (KERNEL == CSAW__KERNEL_ITS_STORED) return csaw__stored_sums(site).sum != 0;
    return true;
}

/* The site that another lane stands at. */
CSAW_FN csaw_site csaw__site_of_lane(const csaw__team &team, const csaw_site *site, uint32_t lane) {
    csaw_site other = *site;
    other.instance = team.get(site->instance, lane);
    other.row = team.get(site->row, lane);
    other.prev_row = team.get(site->prev_row, lane);
    other.at = team.get(site->at, lane);
    other.prev = team.get(site->prev, lane);
    other.root = team.get(site->root, lane);
    other.owner = team.get(site->owner, lane);
    other.degree = team.get(site->degree, lane);
    other.prev_degree = team.get(site->prev_degree, lane);
    return other;
}

/* Slots still open after the rounds, row by row, the warp together. Returns how many picks the lane's row has. */
template <class TILE>
CSAW_FN uint32_t csaw__group_rest(const TILE &tile, const csaw__deal &deal, const csaw_site *site, bool open,
                                  uint32_t got) {
    const csaw__team team;
    const uint32_t in_warp = deal.lanes << tile.shift, begin = deal.row * deal.k;
    for (uint32_t left = team.ballot(open); left;) {
        const uint32_t first = team.first(left), lanes = team.get(in_warp, first);
        const bool mine = lanes >> team.lane & 1;
        if (open && mine) deal.open[begin + team.lower(left & lanes)] = deal.slot;
        team.sync();
        csaw__few<uint32_t> few = {(uint32_t *)team.get((uint64_t)(deal.pick + begin), first),
                                   (uint32_t *)team.get((uint64_t)(deal.open + begin), first), 0};
        const csaw_site there = csaw__site_of_lane(team, site, first);
        const uint32_t all = csaw__team_rest(team, &there, few, team.get(got, first), (uint32_t)__popc(left & lanes));
        if (there.undeclared) csaw__wave_fault(&there);
        if (mine) got = all == CSAW__BROKEN_PICKS ? 0 : all;
        left &= ~lanes;
    }
    return got;
}

/* UNIFORM: as csaw__group_picks(). */
template <class TILE>
CSAW_FN uint32_t csaw__group_uniform(const TILE &tile, const csaw__deal &deal, const csaw_site *site, bool live,
                                     uint32_t *rank) {
    const csaw__choice c = csaw__row_choice(site);
    const bool replace = site->job->replace, draws = live && site->degree && (replace || site->degree > deal.k);
    uint32_t own = deal.slot;
    *rank = deal.slot;
    if (draws) *rank = (uint32_t)csaw__slot_place(&c, deal.slot, replace);
    if (!replace) csaw__swap_lanes(draws ? deal.lanes << tile.shift : 0, 0, *rank, false, rank, &own);
    return !live ? 0 : draws ? deal.k : site->degree;
}

/* The picks of the lane's row: how many there are, and *rank, that of the lane's slot if there are more. site: of the
 * lane's row; live: the lane has a row. */
template <uint32_t KERNEL, class TILE>
CSAW_FN uint32_t csaw__group_picks(const TILE &tile, const csaw__deal &deal, const csaw_site *site, bool live,
                                   uint32_t *rank) {
    if constexpr (KERNEL == CSAW__KERNEL_UNIFORM) return csaw__group_uniform(tile, deal, site, live, rank);
    constexpr bool reject = KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS;
    constexpr uint32_t rounds = reject ? CSAW__REJECT_ROUNDS : CSAW__ROUNDS;
    const bool any = live && csaw__group_any<KERNEL>(site), at_once = site->job->replace || deal.k >= site->degree;
    uint32_t *const pick = deal.pick + deal.row * deal.k;
    csaw__few<uint32_t> few = {pick, 0, 0};
    bool open = any && !at_once, broken = false, take = false;
    uint32_t candidate = 0, got;
    if (any && at_once) take = csaw__group_at_once<KERNEL>(site, deal, &candidate, &broken);
    const uint32_t taken = tile.ballot(take) & deal.lanes;
    if (take) pick[tile.lower(taken)] = candidate;
    got = (uint32_t)__popc(taken);
    for (uint32_t round = 0; round < rounds && tile.any_of_warp(open); round++) {
        int outcome = CSAW__PICKED;
        uint64_t named = CSAW__NO_CANDIDATE;
        few.before = got;
        if (open) named = csaw__lane_trial<KERNEL>(site, few, deal.slot, round, &outcome);
        broken = broken || outcome == CSAW__BROKEN;
        open = open && outcome != CSAW__BROKEN && outcome != CSAW__NOTHING;
        const uint32_t alike = tile.alike((uint32_t)named) & deal.lanes; /* no rank is 2^32 - 1 */
        const bool wins = named != CSAW__NO_CANDIDATE && tile.first(alike) == tile.lane;
        const uint32_t winners = tile.ballot(wins) & deal.lanes; /* all have read what is written now */
        if (wins) pick[got + tile.lower(winners)] = (uint32_t)named;
        got += (uint32_t)__popc(winners);
        open = open && !wins;
        tile.sync();
    }
    if (tile.any_of_warp(open)) got = csaw__group_rest(tile, deal, site, open, got);
    tile.sync();
    if (tile.ballot(broken) & deal.lanes) got = 0;
    if (live && deal.slot < got) *rank = pick[deal.slot];
    return got;
}

#endif
