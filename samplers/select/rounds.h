/* SPDX-License-Identifier: MIT */
/* samplers/select/rounds.h - k of n candidates without replacement, on the CPU: successive sampling, exactly.
 *
 * Method: rounds in which every open slot makes one trial against the candidates taken in earlier rounds; a trial that
 * hits a taken region draws again in what is left beside it (C-SAW's bipartite region search, SC'20, section IV-B, with
 * a fresh number; as printed it is biased). What is still open after the rounds is drawn from a tree of the masses that
 * are left. docs/stream.md fixes the map from numbers to picks, docs/bipartite-region-search.md has the proof. */
#ifndef CSAW_SELECT_ROUNDS_H
#define CSAW_SELECT_ROUNDS_H

#include "runtime/base/mass.h"
#include "runtime/base/mass_tree.h"
#include "samplers/select/shuffle.h"

CSAW_FN uint64_t csaw__choice_mass(const csaw__choice *c, uint64_t i) {
    if (c->tree) return c->mass[i];
    return c->upto ? c->upto[i] - (i ? c->upto[i - 1] : 0) : 1;
}

/* The first candidate whose inclusive sum exceeds x < sum; *below: the sum of those before it. */
CSAW_FN uint64_t csaw__choice_find(const csaw__choice *c, uint64_t x, uint64_t *below) {
    if (c->tree) return csaw__mass_tree_find(c->tree, c->n, x, below);
    uint64_t lo = 0, n = c->n;
    while (n > 0) {
        const uint64_t half = n >> 1;
        const bool after = c->upto[lo + half] <= x;
        lo = after ? lo + half + 1 : lo;
        n = after ? n - half - 1 : half;
    }
    *below = lo ? c->upto[lo - 1] : 0;
    return lo;
}

/* ---- which candidates are taken ----
 * A few picks are searched one by one: those of earlier rounds stand in front. For more there is a hash set of
 * candidate << 4 | round; all ones = free. */

enum { CSAW__FEW_SLOTS = 32 };

/* No candidate is taken; k slots are open. */
CSAW_FN void csaw__rounds_begin(csaw__scratch *scratch, uint32_t k) {
    for (uint32_t slot = 0; slot < k; slot++) scratch->open[slot] = slot;
    scratch->num_open = k;
    scratch->got = 0;
    scratch->taken_mask = 0;
    if (k <= CSAW__FEW_SLOTS) return;
    scratch->taken_mask = ((uint64_t)2 << csaw__ceil_log2(k)) - 1; /* at most half of the cells get used */
    for (uint64_t i = 0; i <= scratch->taken_mask; i++) scratch->taken[i] = CSAW__NO_CANDIDATE;
}

CSAW_FN uint64_t *csaw__taken_cell(const csaw__scratch *scratch, uint64_t candidate) {
    uint64_t place = (candidate * 0x9e3779b97f4a7c15u) >> 32 & scratch->taken_mask;
    while (scratch->taken[place] != CSAW__NO_CANDIDATE && scratch->taken[place] >> 4 != candidate)
        place = (place + 1) & scratch->taken_mask;
    return &scratch->taken[place];
}

/* Whether it is one of the first picks. */
CSAW_FN bool csaw__picked(const csaw__scratch *scratch, uint64_t candidate, uint32_t first) {
    for (uint32_t j = 0; j < first; j++)
        if (scratch->pick[j] == candidate) return true;
    return false;
}

CSAW_FN bool csaw__taken_before(const csaw__scratch *scratch, uint64_t candidate, uint32_t round) {
    if (round == 0) return false;
    if (!scratch->taken_mask) return csaw__picked(scratch, candidate, scratch->before);
    const uint64_t cell = *csaw__taken_cell(scratch, candidate);
    return cell != CSAW__NO_CANDIDATE && (cell & 15) < round;
}

/* The slot takes the candidate that its trial names, which is the next pick, unless a lower slot has in this round. */
CSAW_FN bool csaw__take(csaw__scratch *scratch, uint64_t candidate, uint32_t round) {
    if (!scratch->taken_mask) {
        if (csaw__picked(scratch, candidate, scratch->got)) return false;
    } else {
        uint64_t *cell = csaw__taken_cell(scratch, candidate);
        if (*cell != CSAW__NO_CANDIDATE) return false;
        *cell = candidate << 4 | round;
    }
    scratch->pick[scratch->got++] = candidate;
    return true;
}

/* ---- trials by the masses of the choice ---- */

/* A candidate that was not taken before this round, or CSAW__NO_CANDIDATE: the trial failed. */
CSAW_FN uint64_t csaw__mass_trial(const csaw__choice *c, const csaw__scratch *scratch, uint32_t slot, uint32_t round) {
    uint64_t below;
    if (round == 0) return csaw__choice_find(c, csaw_below(csaw__choice_number(c, slot), c->sum), &below);
    const csaw_block block = csaw__choice_block(c, slot, round);
    uint64_t candidate = csaw__choice_find(c, csaw_below(csaw_half(&block, 0), c->sum), &below);
    if (!csaw__taken_before(scratch, candidate, round)) return candidate;
    const uint64_t mass = csaw__choice_mass(c, candidate);
    if (mass == c->sum) return CSAW__NO_CANDIDATE;
    const uint64_t beside = csaw_below(csaw_half(&block, 1), c->sum - mass);
    candidate = csaw__choice_find(c, beside >= below ? beside + mass : beside, &below);
    return csaw__taken_before(scratch, candidate, round) ? CSAW__NO_CANDIDATE : candidate;
}

/* The slots that are still open pick one after the other from what is left. Returns how many picks there are then. */
CSAW_FN uint32_t csaw__pick_the_rest(const csaw__choice *c, csaw__scratch *scratch) {
    uint64_t *const tree = scratch->tree;
    for (uint64_t i = 0; i < c->n; i++) tree[i + 1] = csaw__choice_mass(c, i);
    for (uint32_t j = 0; j < scratch->got; j++) tree[scratch->pick[j] + 1] = 0;
    uint64_t sum = csaw__mass_tree_build(tree, c->n), below;
    for (uint32_t o = 0; o < scratch->num_open && sum; o++) {
        const csaw_block block = csaw__choice_block(c, scratch->open[o], CSAW__ROUNDS);
        const uint64_t candidate = csaw__mass_tree_find(tree, c->n, csaw_below(csaw_half(&block, 0), sum), &below);
        const uint64_t mass = csaw__choice_mass(c, candidate);
        csaw__mass_tree_add(tree, c->n, candidate, 0 - mass);
        sum -= mass;
        scratch->pick[scratch->got++] = candidate;
    }
    return scratch->got;
}

/* All candidates of positive mass, in order. */
CSAW_FN uint64_t csaw__pick_all(const csaw__choice *c, csaw__scratch *scratch) {
    uint64_t got = 0;
    for (uint64_t i = 0; i < c->n; i++)
        if (csaw__choice_mass(c, i)) scratch->pick[got++] = i;
    return got;
}

/* k picks by the rounds, by masses alone; sum > 0. Returns how many picks there are. */
CSAW_FN uint32_t csaw__rounds_by_mass(const csaw__choice *c, csaw__scratch *scratch, uint32_t k) {
    csaw__rounds_begin(scratch, k);
    for (uint32_t round = 0; round < CSAW__ROUNDS && scratch->num_open; round++) {
        uint32_t left = 0;
        scratch->before = scratch->got;
        for (uint32_t o = 0; o < scratch->num_open; o++) {
            const uint32_t slot = scratch->open[o];
            const uint64_t candidate = csaw__mass_trial(c, scratch, slot, round);
            if (candidate == CSAW__NO_CANDIDATE || !csaw__take(scratch, candidate, round)) scratch->open[left++] = slot;
        }
        scratch->num_open = left;
    }
    return scratch->num_open ? csaw__pick_the_rest(c, scratch) : scratch->got;
}

/* k picks by masses alone (ITS), to scratch->pick; returns how many there are. sum > 0. */
CSAW_FN uint32_t csaw__pick_by_mass(const csaw__choice *c, csaw__scratch *scratch, uint32_t k, bool replace) {
    if (!replace) return csaw__rounds_by_mass(c, scratch, k);
    for (uint32_t slot = 0; slot < k; slot++) {
        uint64_t below;
        scratch->pick[slot] = csaw__choice_find(c, csaw_below(csaw__choice_number(c, slot), c->sum), &below);
    }
    return k;
}

/* k picks by what the choice has, masses (sum > 0) or none; returns how many there are. Without replacement k < c->n.
 */
CSAW_FN uint32_t csaw__pick_of(const csaw__choice *c, csaw__scratch *scratch, uint32_t k, bool replace) {
    if (c->upto || c->tree) return csaw__pick_by_mass(c, scratch, k, replace);
    return csaw__pick_uniform(c, scratch, k, replace);
}

#endif
