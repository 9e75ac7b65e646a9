/* SPDX-License-Identifier: MIT */
/* samplers/select/pick_team.cuh - k arcs of one row, picked by a team of lanes of a warp: the rounds of rounds.h, a
 * lane a slot (C-SAW, SC'20, section IV). The numbers, and so the picks, are those of the CPU; docs/stream.md.
 *
 * Method: in a round every open slot makes a trial against what was taken in earlier rounds. Of the lanes that name the
 * same arc the lowest wins, by __match_any_sync, and winners are numbered in the order of their slots: so nothing hangs
 * on timing. Up to CSAW__TEAM_PICKS picks stand in shared memory and are searched one by one; more go to a hash set. */
#ifndef CSAW_SELECT_PICK_TEAM_CUH
#define CSAW_SELECT_PICK_TEAM_CUH

#include "runtime/base/frontier.h"
#include "runtime/base/mass.h"
#include "samplers/select/alias.h"
#include "samplers/select/pick_rest.cuh"
#include "samplers/select/race_team.cuh"
#include "samplers/select/reject.h"
#include "samplers/select/row_choice.h"
#include "samplers/select/shuffle_team.cuh"
#include "samplers/select/stored_sums.cuh"

enum { CSAW__TEAM_PICKS = 32 };

/* Of round 0, or of the only trial: slots 2 i and 2 i + 1 share a block. */
CSAW_FN uint64_t csaw__first_number(const csaw_site *site, uint32_t slot) {
    return csaw__pick_number(site, slot & ~1u, 0, slot & 1);
}

/* ---- what is taken ---- */

/* A few picks, in shared memory. */
template <class PICK> struct csaw__few {
    PICK *pick;
    uint32_t *slot;  /* [CSAW__TEAM_PICKS] each */
    uint32_t before; /* picks of earlier rounds */
    __device__ void begin(uint32_t, uint32_t got) { before = got; }
    __device__ bool taken(uint64_t candidate) const { return has(candidate, before); }
    __device__ bool present(uint64_t) const { return false; } /* a round is one trial of all lanes */
    __device__ bool has(uint64_t candidate, uint32_t got) const {
        bool found = false;
#pragma unroll 4
        for (uint32_t j = 0; j < got; j++) found = found || pick[j] == (PICK)candidate;
        return found;
    }
    __device__ void add(uint32_t place, uint64_t candidate) { pick[place] = (PICK)candidate; }
    __device__ uint32_t open(uint32_t o) const { return slot[o]; }
    __device__ void leave(uint32_t o, uint32_t which) { slot[o] = which; }
};

/* More of them: picks in the output, and a hash set of candidate << 4 | round; all ones = free. */
CSAW_FN uint64_t csaw__many_cells(uint32_t k) { return (uint64_t)2 << csaw__ceil_log2(k); }
CSAW_FN uint64_t csaw__many_words(uint32_t k) { return csaw__many_cells(k) + ((uint64_t)k + 1) / 2; }

struct csaw__many {
    unsigned long long *cell;
    uint64_t mask;
    uint32_t *slot;
    csaw_edge *pick;
    uint32_t round;
    __device__ void begin(uint32_t now, uint32_t) { round = now; }
    __device__ uint64_t find(uint64_t candidate) const {
        uint64_t place = csaw__place_of(candidate) & mask;
        for (;; place = (place + 1) & mask) {
            const unsigned long long found = __ldcg(cell + place);
            if (found == ~0ull || found >> 4 == candidate) return found;
        }
    }
    __device__ bool taken(uint64_t candidate) const {
        const uint64_t found = find(candidate);
        return found != ~0ull && (found & 15) < round;
    }
    __device__ bool present(uint64_t candidate) const { return find(candidate) != ~0ull; }
    __device__ bool has(uint64_t candidate, uint32_t) const { return present(candidate); }
    __device__ void add(uint32_t place, uint64_t candidate) {
        uint64_t at = csaw__place_of(candidate) & mask;
        while (atomicCAS(cell + at, ~0ull, (unsigned long long)(candidate << 4 | round)) != ~0ull) at = (at + 1) & mask;
        pick[place] = candidate;
    }
    __device__ uint32_t open(uint32_t o) const { return __ldcg(slot + o); }
    __device__ void leave(uint32_t o, uint32_t which) { slot[o] = which; }
};

/* ---- trials ---- */

/* One attempt of REJECT: a place of the row, or CSAW__NO_CANDIDATE; *outcome as csaw__reject_judge(). */
CSAW_FN uint64_t csaw__team_attempt(const csaw_site *site, bool by_alias, uint32_t draw, int *outcome) {
    csaw__trial trial;
    const csaw_block block = csaw__attempt_block(site, draw);
    *outcome = csaw__reject_propose(site, by_alias, csaw_half(&block, 0), csaw_half(&block, 1), &trial);
    if (*outcome == CSAW__ASKS) {
        const csaw_arc arc = csaw__arc_to(site, trial.rank, trial.dst);
        *outcome = csaw__reject_judge(site, &trial, &arc, 0);
    }
    return *outcome == CSAW__PICKED ? trial.rank : CSAW__NO_CANDIDATE;
}

/* A trial of a slot by one lane, where sums of every arc stand in memory. */
template <class TAKEN>
CSAW_FN uint64_t csaw__stored_trial(const csaw_site *site, const csaw__row_mass *row, const TAKEN &set, uint32_t slot,
                                    uint32_t round) {
    const uint64_t r1 = round ? csaw__pick_number(site, slot, round, 0) : csaw__first_number(site, slot);
    const uint64_t first = csaw__first_above(row->upto, site->degree, csaw_below(r1, row->sum));
    if (round == 0 || !set.taken(first)) return first;
    const uint64_t below = first ? row->upto[first - 1] : 0, mass = row->upto[first] - below;
    if (mass == row->sum) return CSAW__NO_CANDIDATE;
    const uint64_t beside = csaw_below(csaw__pick_number(site, slot, round, 1), row->sum - mass);
    const uint64_t second = csaw__first_above(row->upto, site->degree, beside >= below ? beside + mass : beside);
    return set.taken(second) ? CSAW__NO_CANDIDATE : second;
}

/* A trial of a slot by one lane, for methods that scan no row: ALIAS, REJECT, ITS by stored sums. */
template <uint32_t KERNEL, class TAKEN>
CSAW_FN uint64_t csaw__lane_trial(const csaw_site *site, const TAKEN &set, uint32_t slot, uint32_t round,
                                  int *outcome) {
    if constexpr (KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS) {
        const uint64_t candidate =
            csaw__team_attempt(site, KERNEL == CSAW__KERNEL_REJECT_ALIAS, slot * CSAW__SLOT_DRAWS + round, outcome);
        return candidate == CSAW__NO_CANDIDATE || set.taken(candidate) ? CSAW__NO_CANDIDATE : candidate;
    }
    if constexpr (KERNEL == CSAW__KERNEL_ITS_STORED) {
        const csaw__row_mass row = csaw__stored_sums(site);
        return csaw__stored_trial(site, &row, set, slot, round);
    }
    csaw_vertex dst;
    const uint64_t r1 = round ? csaw__pick_number(site, slot, round, 0) : csaw__first_number(site, slot);
    uint64_t candidate = csaw__alias_rank(site, r1, &dst);
    if (round == 0 || !set.taken(candidate)) return candidate;
    candidate = csaw__alias_rank(site, csaw__pick_number(site, slot, round, 1), &dst);
    return set.taken(candidate) ? CSAW__NO_CANDIDATE : candidate;
}

/* One trial of every active lane's slot by the row's sums. */
template <class TAKEN>
CSAW_FN uint64_t csaw__sums_trial(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row,
                                  const TAKEN &set, bool active, uint32_t slot, uint32_t round) {
    uint64_t below, mass, r1 = 0, r2 = 0;
    if (active) {
        r1 = round ? csaw__pick_number(site, slot, round, 0) : csaw__first_number(site, slot);
        r2 = round ? csaw__pick_number(site, slot, round, 1) : 0;
    }
    uint64_t candidate = csaw__team_find(team, site, row, active, csaw_below(r1, row->sum), &below, &mass);
    if (round == 0) return candidate;
    const bool again = active && set.taken(candidate), alone = again && mass == row->sum;
    const uint64_t beside = again ? csaw_below(r2, row->sum - mass) : 0;
    const uint64_t second =
        csaw__team_find(team, site, row, again && !alone, beside >= below ? beside + mass : beside, &below, &mass);
    if (!again) return candidate;
    return alone || set.taken(second) ? CSAW__NO_CANDIDATE : second;
}

/* ---- without replacement ---- */

/* Picks come from the arcs of a row, by the method KERNEL; samplers/select/choose_team.cuh has another such. */
template <uint32_t KERNEL> struct csaw__from_row {
    static constexpr uint32_t rounds =
        KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS ? CSAW__REJECT_ROUNDS : CSAW__ROUNDS;
    const csaw_site *site;
    const csaw__row_mass *row; /* ITS */
    template <class TAKEN>
    __device__ uint64_t trial(const csaw__team &team, const TAKEN &set, bool active, uint32_t slot, uint32_t round,
                              int *outcome) const {
        if constexpr (KERNEL == CSAW__KERNEL_ITS) return csaw__sums_trial(team, site, row, set, active, slot, round);
        return active ? csaw__lane_trial<KERNEL>(site, set, slot, round, outcome) : CSAW__NO_CANDIDATE;
    }
    template <class TAKEN>
    __device__ uint32_t rest(const csaw__team &team, TAKEN &set, uint32_t got, uint32_t num_open) const {
        if constexpr (KERNEL == CSAW__KERNEL_ITS) return csaw__team_rest_by_sums(team, site, row, set, got, num_open);
        return csaw__team_rest(team, site, set, got, num_open);
    }
};

template <class FROM, class TAKEN>
CSAW_FN uint32_t csaw__team_rounds(const csaw__team &team, const FROM &from, uint32_t k, TAKEN &set) {
    uint32_t num_open = k, got = 0;
    for (uint32_t round = 0; round < FROM::rounds && num_open; round++) {
        uint32_t left = 0;
        set.begin(round, got);
        for (uint32_t base = 0; base < num_open; base += CSAW__TEAM) {
            const bool active = base + team.lane < num_open;
            const uint32_t slot = !active ? 0 : round ? set.open(base + team.lane) : base + team.lane;
            int outcome = CSAW__PICKED;
            const uint64_t candidate = from.trial(team, set, active, slot, round, &outcome);
            if (team.ballot(outcome == CSAW__BROKEN)) return CSAW__BROKEN_PICKS;
            if (team.ballot(outcome == CSAW__NOTHING)) return 0;
            const bool names = active && candidate != CSAW__NO_CANDIDATE && !set.present(candidate);
            const uint32_t alike =
                __match_any_sync(team.mask, names ? (unsigned long long)candidate : 1ull << 40 | team.lane);
            const bool wins = names && (uint32_t)__ffs((int)alike) - 1 == team.shift + team.lane;
            const uint32_t winners = team.ballot(wins), losers = team.ballot(active && !wins);
            team.sync(); /* all have read what is written now */
            if (wins) set.add(got + team.lower(winners), candidate);
            if (active && !wins) set.leave(left + team.lower(losers), slot);
            got += (uint32_t)__popc(winners);
            left += (uint32_t)__popc(losers);
            team.sync();
        }
        num_open = left;
    }
    return num_open ? from.rest(team, set, got, num_open) : got;
}

/* ---- with replacement, and all ---- */

/* row: ITS. */
template <uint32_t KERNEL>
CSAW_FN uint32_t csaw__team_again(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row, uint32_t k,
                                  csaw_edge *pick) {
    constexpr bool reject = KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS;
    bool unsure = false;
    uint64_t below, mass;
    for (uint32_t base = 0; base < k; base += CSAW__TEAM) {
        const uint32_t slot = base + team.lane;
        int outcome = CSAW__PICKED;
        uint64_t candidate = 0;
        csaw_vertex dst;
        if constexpr (reject) {
            outcome = slot < k ? CSAW__UNDECIDED : CSAW__PICKED;
            for (uint32_t t = 0; t < CSAW__REJECT_ROUNDS && outcome == CSAW__UNDECIDED; t++)
                candidate = csaw__team_attempt(site, KERNEL == CSAW__KERNEL_REJECT_ALIAS, slot * CSAW__SLOT_DRAWS + t,
                                               &outcome);
        } else {
            const uint64_t r = csaw__first_number(site, slot);
            if constexpr (KERNEL == CSAW__KERNEL_ITS)
                candidate = csaw__team_find(team, site, row, slot < k, csaw_below(r, row->sum), &below, &mass);
            else
                candidate = csaw__alias_rank(site, r, &dst);
        }
        if (slot < k) pick[slot] = candidate; /* CSAW__NO_CANDIDATE: below */
        if (team.ballot(outcome == CSAW__BROKEN)) return CSAW__BROKEN_PICKS;
        if (team.ballot(outcome == CSAW__NOTHING)) return 0;
        unsure = unsure || outcome == CSAW__UNDECIDED;
    }
    if (team.ballot(unsure)) {
        csaw__row_mass all;
        if (!csaw__team_sums(team, site, 0, 0, &all)) return CSAW__BROKEN_PICKS;
        if (all.sum == 0) return 0;
        const csaw__arc_masses masses_of = {site, &all.scale, 0};
        for (uint32_t base = 0; base < k; base += CSAW__TEAM) {
            const uint32_t slot = base + team.lane;
            const bool open = slot < k && pick[slot] == CSAW__NO_CANDIDATE;
            const uint64_t x = open ? csaw_below(csaw__pick_number(site, slot, CSAW__ROUNDS, 0), all.sum) : 0;
            for (uint32_t left = team.ballot(open); left; left &= left - 1) {
                const uint64_t place =
                    csaw__team_scan(team, 0, 0, team.get(x, team.first(left)), masses_of, &below, &mass);
                if (team.lane == team.first(left)) pick[slot] = place;
            }
        }
    }
    team.sync();
    return k;
}

/* Every arc of positive bias. */
CSAW_FN uint32_t csaw__team_all(const csaw__team &team, const csaw_site *site, csaw_edge *pick) {
    uint32_t got = 0;
    for (uint64_t base = 0; base < site->degree; base += CSAW__TEAM) {
        const uint64_t i = base + team.lane;
        const double bias = i < site->degree ? csaw__bias_at(site, (uint32_t)i, 0, 0) : 0;
        if (team.ballot(bias < 0)) return CSAW__BROKEN_PICKS;
        const uint32_t positive = team.ballot(bias > 0);
        if (bias > 0) pick[got + team.lower(positive)] = i;
        got += (uint32_t)__popc(positive);
    }
    team.sync();
    return got;
}

/* ---- every method ---- */

/* Memory of a team to pick in. */
struct csaw__pick_room {
    uint32_t *pick, *slot; /* shared, [CSAW__TEAM_PICKS] */
    uint64_t *parts;       /* shared, [CSAW__PARTS], ITS */
    uint64_t *work;        /* device memory, as csaw__pick_words() counts */
};

/* Words of device memory to pick k of n arcs in, unless all are taken. */
CSAW_FN uint64_t csaw__pick_words(const csaw__job *job, uint32_t k, uint32_t n) {
    if (k <= CSAW__TEAM_PICKS) return 0;
    return (job->kernel == CSAW__KERNEL_ITS && !job->rows.upto ? csaw__sums_room(n) : 0) +
           (job->replace || job->kernel == CSAW__KERNEL_RACE ? 0 : csaw__many_words(k));
}

/* As below, from a row whose sums are known (ITS). */
template <uint32_t KERNEL>
CSAW_FN uint32_t csaw__team_picks_of(const csaw__team &team, const csaw_site *site, const csaw__row_mass *row,
                                     uint32_t k, const csaw__pick_room &room, uint64_t *work, csaw_edge *pick) {
    if constexpr (KERNEL == CSAW__KERNEL_ITS)
        if (row->sum == 0) return 0;
    if constexpr (KERNEL == CSAW__KERNEL_ALIAS)
        if (site->job->rows.alias[site->row].own == CSAW_NONE) return 0; /* no arc has a positive static bias */
    if (site->job->replace) return csaw__team_again<KERNEL>(team, site, row, k, pick);
    const csaw__from_row<KERNEL> from = {site, row};
    if (k <= CSAW__TEAM_PICKS) {
        csaw__few<uint32_t> few = {room.pick, room.slot, 0};
        const uint32_t got = csaw__team_rounds(team, from, k, few);
        if (got == CSAW__BROKEN_PICKS) return got;
        if (team.lane < got) pick[team.lane] = few.pick[team.lane];
        team.sync();
        return got;
    }
    csaw__many many = {(unsigned long long *)work, csaw__many_cells(k) - 1, (uint32_t *)(work + csaw__many_cells(k)),
                       pick, 0};
    for (uint64_t i = team.lane; i <= many.mask; i += CSAW__TEAM) many.cell[i] = ~0ull;
    team.sync();
    return csaw__team_rounds(team, from, k, many);
}

/* Places of the row to pick[0 ..], in order; how many there are, or CSAW__BROKEN_PICKS. k > 0 and the row has an arc.
 */
template <uint32_t KERNEL>
CSAW_FN uint32_t csaw__team_picks(const csaw__team &team, const csaw_site *site, uint32_t k,
                                  const csaw__pick_room &room, csaw_edge *pick) {
    if (k == CSAW_ALL || (!site->job->replace && k >= site->degree)) return csaw__team_all(team, site, pick);
    if constexpr (KERNEL == CSAW__KERNEL_RACE) return csaw__team_race(team, site, k, pick);
    if constexpr (KERNEL == CSAW__KERNEL_UNIFORM) {
        const csaw__choice c = csaw__row_choice(site);
        return csaw__team_uniform(team, &c, k, site->job->replace, room.work, pick);
    }
    csaw__row_mass row;
    uint64_t *work = room.work;
    if constexpr (KERNEL == CSAW__KERNEL_ITS) {
        const bool stored = site->job->rows.upto != 0, few = k <= CSAW__TEAM_PICKS;
        if (stored)
            row = csaw__stored_sums(site);
        else if (!csaw__team_sums(team, site, few ? room.parts : work,
                                  few ? CSAW__PARTS : csaw__sums_room(site->degree), &row))
            return CSAW__BROKEN_PICKS;
        if (!few && !stored) work += csaw__sums_room(site->degree);
    }
    return csaw__team_picks_of<KERNEL>(team, site, &row, k, room, work, pick);
}

#endif
