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
#include "samplers/select/bias.h"
#include "samplers/select/race.h"
#include "samplers/select/reject.h"

enum { CSAW__TEAM = 32, CSAW__TEAM_PICKS = 32, CSAW__TEAMS = 256 / CSAW__TEAM };
#define CSAW__BROKEN_PICKS 0xffffffffu
#define CSAW__NO_CANDIDATE 0xffffffffffffffffull

struct csaw__team {
    uint32_t lane, mask, shift;
    __device__ csaw__team() {
        const uint32_t in_warp = threadIdx.x & 31;
        lane = in_warp & (CSAW__TEAM - 1);
        shift = in_warp - lane;
        mask = CSAW__TEAM == 32 ? 0xffffffffu : ((1u << (CSAW__TEAM & 31)) - 1) << shift;
    }
    __device__ uint32_t ballot(bool x) const { return (__ballot_sync(mask, x) & mask) >> shift; }
    __device__ uint32_t lower(uint32_t lanes) const { return (uint32_t)__popc(lanes & ((1u << lane) - 1)); }
    __device__ void sync() const { __syncwarp(mask); }
    __device__ uint64_t get(uint64_t x, uint32_t from) const {
        return __shfl_sync(mask, (unsigned long long)x, (int)from, CSAW__TEAM);
    }
    __device__ uint64_t sum(uint64_t x) const {
        for (int d = CSAW__TEAM / 2; d > 0; d >>= 1) x += __shfl_xor_sync(mask, (unsigned long long)x, d, CSAW__TEAM);
        return x;
    }
    __device__ double largest(double x) const {
        for (int d = CSAW__TEAM / 2; d > 0; d >>= 1) {
            const double other = __shfl_xor_sync(mask, x, d, CSAW__TEAM);
            x = other > x ? other : x;
        }
        return x;
    }
    __device__ uint64_t prefix(uint64_t x) const { /* inclusive; Kogge, Stone 1973 */
        for (uint32_t d = 1; d < CSAW__TEAM; d <<= 1) {
            const uint64_t other = __shfl_up_sync(mask, (unsigned long long)x, d, CSAW__TEAM);
            if (lane >= d) x += other;
        }
        return x;
    }
};

CSAW_FN uint64_t csaw__pick_number(const csaw_site *site, uint32_t slot, uint32_t draw, uint32_t half) {
    const csaw_block block = csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site), CSAW_DRAW_PICK,
                                       slot * CSAW__SLOT_DRAWS + draw);
    return csaw_half(&block, half);
}

/* Of round 0, or of the only trial: slots 2 i and 2 i + 1 share a block. */
CSAW_FN uint64_t csaw__first_number(const csaw_site *site, uint32_t slot) {
    return csaw__pick_number(site, slot & ~1u, 0, slot & 1);
}

/* ---- sums of a row ---- */

struct csaw__row_mass {
    const uint64_t *upto; /* [degree] inclusive sums; NULL: every mass is 1 */
    uint64_t sum;
    double scale; /* mass of a bias */
};

/* Scale and sum of the row's masses, and upto if it is given. Sum 0: no arc has a positive bias. False: a hook broke
 * its rules. */
CSAW_FN bool csaw__team_sums(const csaw__team &team, const csaw_site *site, uint64_t *upto, csaw__row_mass *out) {
    const uint32_t n = site->degree;
    double largest = 0;
    bool broken = false;
    for (uint64_t i = team.lane; i < n; i += CSAW__TEAM) {
        const double bias = csaw__bias_at(site, (uint32_t)i, 0, 0);
        broken = broken || bias < 0;
        largest = bias > largest ? bias : largest;
    }
    if (team.ballot(broken)) return false;
    largest = team.largest(largest);
    out->upto = upto;
    out->sum = 0;
    out->scale = 0;
    if (largest == 0) return true;
    out->scale = csaw__power_of_two(csaw__mass_exponent(n, largest));
    for (uint64_t base = 0; base < n; base += CSAW__TEAM) {
        const uint64_t i = base + team.lane;
        const uint64_t mass = i < n ? csaw__mass(csaw__bias_at(site, (uint32_t)i, 0, 0), out->scale) : 0;
        const uint64_t inclusive = out->sum + team.prefix(mass);
        if (upto && i < n) upto[i] = inclusive;
        out->sum = team.get(inclusive, CSAW__TEAM - 1);
    }
    team.sync();
    return true;
}

/* The first arc whose inclusive sum exceeds x; *below: the sum of those before it. */
CSAW_FN uint64_t csaw__mass_find(const csaw__row_mass *mass, uint32_t degree, uint64_t x, uint64_t *below) {
    if (!mass->upto) return *below = x;
    uint64_t lo = 0, n = degree;
    while (n > 0) {
        const uint64_t half = n >> 1;
        const bool after = mass->upto[lo + half] <= x;
        lo = after ? lo + half + 1 : lo;
        n = after ? n - half - 1 : half;
    }
    *below = lo ? mass->upto[lo - 1] : 0;
    return lo;
}

/* ---- what is taken ---- */

/* A few picks, in shared memory. */
struct csaw__few {
    uint32_t *pick, *slot; /* [CSAW__TEAM_PICKS] each */
    uint32_t before;       /* picks of earlier rounds */
    __device__ void begin(uint32_t, uint32_t got) { before = got; }
    __device__ bool taken(uint64_t candidate) const {
        for (uint32_t j = 0; j < before; j++)
            if (pick[j] == candidate) return true;
        return false;
    }
    __device__ bool present(uint64_t) const { return false; } /* a round is one trial of all lanes */
    __device__ bool has(uint64_t candidate, uint32_t got) const {
        for (uint32_t j = 0; j < got; j++)
            if (pick[j] == candidate) return true;
        return false;
    }
    __device__ void add(uint32_t place, uint64_t candidate) { pick[place] = (uint32_t)candidate; }
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
    *outcome = csaw__reject_propose(site, by_alias, csaw__attempt_block(site, draw), &trial);
    if (*outcome == CSAW__ASKS) {
        const csaw_arc arc = csaw__arc_to(site, trial.rank, trial.dst);
        *outcome = csaw__reject_judge(site, &trial, &arc, 0);
    }
    return *outcome == CSAW__PICKED ? trial.rank : CSAW__NO_CANDIDATE;
}

template <uint32_t KERNEL, class TAKEN>
CSAW_FN uint64_t csaw__team_trial(const csaw_site *site, const csaw__row_mass *mass, const TAKEN &set, uint32_t slot,
                                  uint32_t round, int *outcome) {
    constexpr bool alias = KERNEL == CSAW__KERNEL_ALIAS;
    *outcome = CSAW__PICKED;
    if constexpr (KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS) {
        const uint64_t candidate =
            csaw__team_attempt(site, KERNEL == CSAW__KERNEL_REJECT_ALIAS, slot * CSAW__SLOT_DRAWS + round, outcome);
        return candidate == CSAW__NO_CANDIDATE || set.taken(candidate) ? CSAW__NO_CANDIDATE : candidate;
    }
    const uint64_t r1 = round ? csaw__pick_number(site, slot, round, 0) : csaw__first_number(site, slot);
    uint64_t below = 0, candidate;
    csaw_vertex dst;
    candidate = alias ? csaw__alias_rank(site, r1, &dst)
                      : csaw__mass_find(mass, site->degree, csaw_below(r1, mass->sum), &below);
    if (round == 0 || !set.taken(candidate)) return candidate;
    const uint64_t r2 = csaw__pick_number(site, slot, round, 1);
    if (alias) {
        candidate = csaw__alias_rank(site, r2, &dst);
    } else {
        const uint64_t m = mass->upto ? mass->upto[candidate] - below : 1;
        if (m == mass->sum) return CSAW__NO_CANDIDATE;
        const uint64_t beside = csaw_below(r2, mass->sum - m);
        candidate = csaw__mass_find(mass, site->degree, beside >= below ? beside + m : beside, &below);
    }
    return set.taken(candidate) ? CSAW__NO_CANDIDATE : candidate;
}

/* ---- without replacement ---- */

/* Slots that are open after the rounds pick one after the other from what is left, which is summed anew for each. */
template <class TAKEN>
CSAW_FN uint32_t csaw__team_rest(const csaw__team &team, const csaw_site *site, TAKEN &set, uint32_t got,
                                 uint32_t num_open) {
    csaw__row_mass mass;
    if (!csaw__team_sums(team, site, 0, &mass)) return CSAW__BROKEN_PICKS;
    const auto mass_left = [&](uint64_t i) -> uint64_t {
        return i < site->degree && !set.has(i, got) ? csaw__mass(csaw__bias_at(site, (uint32_t)i, 0, 0), mass.scale)
                                                    : 0;
    };
    for (uint32_t o = 0; o < num_open && mass.sum; o++) {
        uint64_t left = 0;
        for (uint64_t i = team.lane; i < site->degree; i += CSAW__TEAM) left += mass_left(i);
        left = team.sum(left);
        if (left == 0) break;
        const uint64_t x = csaw_below(csaw__pick_number(site, set.open(o), CSAW__ROUNDS, 0), left);
        uint64_t below = 0;
        for (uint64_t base = 0;; base += CSAW__TEAM) {
            const uint64_t inclusive = below + team.prefix(mass_left(base + team.lane));
            const uint32_t above = team.ballot(inclusive > x);
            if (above) {
                if (team.lane == (uint32_t)__ffs((int)above) - 1) set.add(got, base + team.lane);
                break;
            }
            below = team.get(inclusive, CSAW__TEAM - 1);
        }
        got++;
        team.sync();
    }
    return got;
}

template <uint32_t KERNEL, class TAKEN>
CSAW_FN uint32_t csaw__team_rounds(const csaw__team &team, const csaw_site *site, const csaw__row_mass *mass,
                                   uint32_t k, TAKEN &set) {
    constexpr uint32_t rounds =
        KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS ? CSAW__REJECT_ROUNDS : CSAW__ROUNDS;
    uint32_t num_open = k, got = 0;
    for (uint32_t round = 0; round < rounds && num_open; round++) {
        uint32_t left = 0;
        set.begin(round, got);
        for (uint32_t base = 0; base < num_open; base += CSAW__TEAM) {
            const bool active = base + team.lane < num_open;
            const uint32_t slot = !active ? 0 : round ? set.open(base + team.lane) : base + team.lane;
            uint64_t candidate = CSAW__NO_CANDIDATE;
            int outcome = CSAW__PICKED;
            if (active) candidate = csaw__team_trial<KERNEL>(site, mass, set, slot, round, &outcome);
            if (team.ballot(outcome == CSAW__BROKEN)) return CSAW__BROKEN_PICKS;
            if (team.ballot(outcome == CSAW__NOTHING)) return 0;
            const bool names = candidate != CSAW__NO_CANDIDATE && !set.present(candidate);
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
    return num_open ? csaw__team_rest(team, site, set, got, num_open) : got;
}

/* RACE: the k that arrive first, found one after the other. */
CSAW_FN uint32_t csaw__team_race(const csaw__team &team, const csaw_site *site, uint32_t k, csaw_edge *pick) {
    double last = -1;
    uint64_t last_place = 0;
    for (uint32_t got = 0; got < k; got++) {
        double first = 0;
        uint64_t place = CSAW__NO_CANDIDATE;
        bool broken = false;
        for (uint64_t i = team.lane; i < site->degree; i += CSAW__TEAM) {
            const double bias = csaw__bias_at(site, (uint32_t)i, 0, 0);
            broken = broken || bias < 0;
            if (!(bias > 0)) continue;
            const double arrival = csaw__race_arrival(site, (uint32_t)i, bias);
            if (arrival < last || (arrival == last && i <= last_place)) continue; /* was there before */
            if (place != CSAW__NO_CANDIDATE && arrival >= first) continue;
            first = arrival;
            place = i;
        }
        if (team.ballot(broken)) return CSAW__BROKEN_PICKS;
        for (int d = CSAW__TEAM / 2; d > 0; d >>= 1) {
            const double other = __shfl_xor_sync(team.mask, first, d, CSAW__TEAM);
            const uint64_t other_place = __shfl_xor_sync(team.mask, (unsigned long long)place, d, CSAW__TEAM);
            if (other_place == CSAW__NO_CANDIDATE) continue;
            if (place == CSAW__NO_CANDIDATE || other < first || (other == first && other_place < place)) {
                first = other;
                place = other_place;
            }
        }
        if (place == CSAW__NO_CANDIDATE) {
            team.sync();
            return got;
        }
        if (team.lane == 0) pick[got] = place;
        last = first;
        last_place = place;
    }
    team.sync();
    return k;
}

/* ---- with replacement, and all ---- */

/* The arc whose inclusive sum is the first above x, by one lane alone. */
CSAW_FN uint64_t csaw__lane_find(const csaw_site *site, const csaw__row_mass *mass, uint64_t x) {
    uint64_t below = 0;
    for (uint32_t i = 0;; i++) {
        below += csaw__mass(csaw__bias_at(site, i, 0, 0), mass->scale);
        if (below > x) return i;
    }
}

template <uint32_t KERNEL>
CSAW_FN uint32_t csaw__team_again(const csaw__team &team, const csaw_site *site, const csaw__row_mass *mass, uint32_t k,
                                  csaw_edge *pick) {
    bool unsure = false;
    for (uint32_t base = 0; base < k; base += CSAW__TEAM) {
        const uint32_t slot = base + team.lane;
        int outcome = CSAW__PICKED;
        uint64_t candidate = 0, below;
        csaw_vertex dst;
        if (slot < k) {
            if constexpr (KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS) {
                outcome = CSAW__UNDECIDED;
                for (uint32_t t = 0; t < CSAW__REJECT_ROUNDS && outcome == CSAW__UNDECIDED; t++)
                    candidate = csaw__team_attempt(site, KERNEL == CSAW__KERNEL_REJECT_ALIAS,
                                                   slot * CSAW__SLOT_DRAWS + t, &outcome);
            } else {
                const uint64_t r = csaw__first_number(site, slot);
                candidate = KERNEL == CSAW__KERNEL_ALIAS
                                ? csaw__alias_rank(site, r, &dst)
                                : csaw__mass_find(mass, site->degree, csaw_below(r, mass->sum), &below);
            }
            pick[slot] = candidate; /* CSAW__NO_CANDIDATE: below */
        }
        if (team.ballot(outcome == CSAW__BROKEN)) return CSAW__BROKEN_PICKS;
        if (team.ballot(outcome == CSAW__NOTHING)) return 0;
        unsure = unsure || outcome == CSAW__UNDECIDED;
    }
    if (team.ballot(unsure)) {
        csaw__row_mass all;
        if (!csaw__team_sums(team, site, 0, &all)) return CSAW__BROKEN_PICKS;
        if (all.sum == 0) return 0;
        for (uint32_t slot = team.lane; slot < k; slot += CSAW__TEAM)
            if (pick[slot] == CSAW__NO_CANDIDATE)
                pick[slot] =
                    csaw__lane_find(site, &all, csaw_below(csaw__pick_number(site, slot, CSAW__ROUNDS, 0), all.sum));
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

/* Places of the row to pick[0 ..], in order; how many there are, or CSAW__BROKEN_PICKS. work: as csaw__wave_fanout()
 * counts. k > 0 and the row has an arc. */
template <uint32_t KERNEL>
CSAW_FN uint32_t csaw__team_picks(const csaw__team &team, const csaw_site *site, uint32_t k, uint64_t *work,
                                  csaw_edge *pick) {
    __shared__ uint32_t picks[CSAW__TEAMS][CSAW__TEAM_PICKS], slots[CSAW__TEAMS][CSAW__TEAM_PICKS];
    const bool replace = site->job->replace;
    if (k == CSAW_ALL || (!replace && k >= site->degree)) return csaw__team_all(team, site, pick);
    if constexpr (KERNEL == CSAW__KERNEL_RACE) return csaw__team_race(team, site, k, pick);
    csaw__row_mass mass = {0, site->degree, 0};
    if constexpr (KERNEL == CSAW__KERNEL_ITS) {
        if (!csaw__team_sums(team, site, work, &mass)) return CSAW__BROKEN_PICKS;
        if (mass.sum == 0) return 0;
        work += site->degree;
    }
    if constexpr (KERNEL == CSAW__KERNEL_ALIAS)
        if (site->job->rows.alias[site->row].own == CSAW_NONE) return 0; /* no arc has a positive static bias */
    if (replace) return csaw__team_again<KERNEL>(team, site, &mass, k, pick);
    if (k <= CSAW__TEAM_PICKS) {
        const uint32_t mine = threadIdx.x / CSAW__TEAM;
        csaw__few few = {picks[mine], slots[mine], 0};
        const uint32_t got = csaw__team_rounds<KERNEL>(team, site, &mass, k, few);
        if (got == CSAW__BROKEN_PICKS) return got;
        if (team.lane < got) pick[team.lane] = few.pick[team.lane];
        team.sync();
        return got;
    }
    csaw__many many = {(unsigned long long *)work, csaw__many_cells(k) - 1, (uint32_t *)(work + csaw__many_cells(k)),
                       pick, 0};
    for (uint64_t i = team.lane; i <= many.mask; i += CSAW__TEAM) many.cell[i] = ~0ull;
    team.sync();
    return csaw__team_rounds<KERNEL>(team, site, &mass, k, many);
}

#endif
