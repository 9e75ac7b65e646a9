/* SPDX-License-Identifier: MIT */
/* samplers/select/choose_team.cuh - k of n candidates by masses that stand in memory (rounds.h, csaw__choice), picked
 * by a team of lanes of a warp: vertices of a pool, arcs of a layer. The numbers, and so the picks, are those of the
 * CPU.
 *
 * Method: the rounds of pick_team.cuh. What the slots that are left after them pick is found by bisection: the sum of
 * what is left up to a candidate is that of all up to it less the picks among them, which the lanes add up. */
#ifndef CSAW_SELECT_CHOOSE_TEAM_CUH
#define CSAW_SELECT_CHOOSE_TEAM_CUH

#include "samplers/select/pick_team.cuh"
#include "samplers/select/rounds.h"

/* Mass of the candidates up to i, i among them. */
CSAW_FN uint64_t csaw__choice_upto(const csaw__choice *c, uint64_t i) {
    uint64_t sum = 0;
    if (!c->tree) return c->upto[i];
    for (uint64_t j = i + 1; j; j -= j & (0 - j)) sum += c->tree[j];
    return sum;
}

struct csaw__from_choice {
    static constexpr uint32_t rounds = CSAW__ROUNDS;
    const csaw__choice *c;

    template <class TAKEN>
    __device__ uint64_t trial(const csaw__team &, const TAKEN &set, bool active, uint32_t slot, uint32_t round,
                              int *) const {
        uint64_t below = 0;
        if (!active) return CSAW__NO_CANDIDATE;
        if (round == 0) return csaw__choice_find(c, csaw_below(csaw__choice_number(c, slot), c->sum), &below);
        const csaw_block block = csaw__choice_block(c, slot, round);
        uint64_t candidate = csaw__choice_find(c, csaw_below(csaw_half(&block, 0), c->sum), &below);
        if (!set.taken(candidate)) return candidate;
        const uint64_t mass = csaw__choice_mass(c, candidate);
        if (mass == c->sum) return CSAW__NO_CANDIDATE;
        const uint64_t beside = csaw_below(csaw_half(&block, 1), c->sum - mass);
        candidate = csaw__choice_find(c, beside >= below ? beside + mass : beside, &below);
        return set.taken(candidate) ? CSAW__NO_CANDIDATE : candidate;
    }

    /* Mass of the picks whose candidates are at most last. */
    template <class TAKEN>
    __device__ uint64_t taken_upto(const csaw__team &team, const TAKEN &set, uint32_t got, uint64_t last) const {
        uint64_t taken = 0;
        for (uint32_t j = team.lane; j < got; j += CSAW__TEAM)
            if (set.pick[j] <= last) taken += csaw__choice_mass(c, set.pick[j]);
        return team.sum(taken);
    }

    template <class TAKEN>
    __device__ uint32_t rest(const csaw__team &team, TAKEN &set, uint32_t got, uint32_t num_open) const {
        uint64_t left = c->sum - taken_upto(team, set, got, CSAW__NO_CANDIDATE);
        for (uint32_t o = 0; o < num_open && left; o++) {
            const csaw_block block = csaw__choice_block(c, set.open(o), CSAW__ROUNDS);
            const uint64_t x = csaw_below(csaw_half(&block, 0), left);
            uint64_t lo = 0, n = c->n;
            while (n > 0) {
                const uint64_t half = n >> 1, middle = lo + half;
                const bool after = csaw__choice_upto(c, middle) - taken_upto(team, set, got, middle) <= x;
                lo = after ? middle + 1 : lo;
                n = after ? n - half - 1 : half;
            }
            left -= csaw__choice_mass(c, lo);
            if (team.lane == 0) set.add(got, lo);
            got++;
            team.sync();
        }
        return got;
    }
};

/* Words of device memory that csaw__team_choose() works in, at most CSAW__PICK_WORDS a pick. */
CSAW_FN uint64_t csaw__choose_words(uint32_t k) { return k <= CSAW__TEAM_PICKS ? 0 : csaw__many_words(k); }

/* k of the choice's candidates by masses alone (ITS), or by none (UNIFORM), to pick[0 ..] in their
 * order; returns how many, the same in all lanes. sum > 0, k at most CSAW__MAX_SLOTS; without replacement k < n (else
 * csaw__team_choose_all()). few: shared memory of this team, [2 * CSAW__TEAM_PICKS]; work: device memory,
 * [csaw__choose_words(k)]. pick: device memory, [k]. */
CSAW_FN uint32_t csaw__team_choose(const csaw__team &team, const csaw__choice *c, uint32_t k, bool replace,
                                   uint32_t *few, uint64_t *work, uint64_t *pick) {
    const csaw__from_choice from = {c};
    if (!c->upto && !c->tree) return csaw__team_uniform(team, c, k, replace, work, pick);
    if (replace) {
        for (uint32_t slot = team.lane; slot < k; slot += CSAW__TEAM) {
            uint64_t below;
            pick[slot] = csaw__choice_find(c, csaw_below(csaw__choice_number(c, slot), c->sum), &below);
        }
        team.sync();
        return k;
    }
    if (k <= CSAW__TEAM_PICKS && c->n > 0xffffffffu) { /* too wide for shared memory */
        csaw__few<uint64_t> set = {pick, few, 0};
        return csaw__team_rounds(team, from, k, set);
    }
    if (k <= CSAW__TEAM_PICKS) {
        csaw__few<uint32_t> set = {few, few + CSAW__TEAM_PICKS, 0};
        const uint32_t got = csaw__team_rounds(team, from, k, set);
        if (team.lane < got) pick[team.lane] = set.pick[team.lane];
        team.sync();
        return got;
    }
    csaw__many set = {(unsigned long long *)work, csaw__many_cells(k) - 1, (uint32_t *)(work + csaw__many_cells(k)),
                      pick, 0};
    for (uint64_t i = team.lane; i <= set.mask; i += CSAW__TEAM) set.cell[i] = ~0ull;
    team.sync();
    return csaw__team_rounds(team, from, k, set);
}

/* All candidates of positive mass, in their order; returns how many. pick: device memory, room for them. */
CSAW_FN uint64_t csaw__team_choose_all(const csaw__team &team, const csaw__choice *c, uint64_t *pick) {
    uint64_t got = 0;
    for (uint64_t base = 0; base < c->n; base += CSAW__TEAM) {
        const uint64_t i = base + team.lane;
        const bool positive = i < c->n && csaw__choice_mass(c, i);
        const uint32_t which = team.ballot(positive);
        if (positive) pick[got + team.lower(which)] = i;
        got += (uint32_t)__popc(which);
    }
    team.sync();
    return got;
}

#endif
