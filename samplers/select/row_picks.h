/* SPDX-License-Identifier: MIT */
/* samplers/select/row_picks.h - k arcs of the row that the site stands at, by every method, on the CPU. Included after
 * a sampler file; docs/stream.md, "Selection of k among n candidates". */
#ifndef CSAW_SELECT_ROW_PICKS_H
#define CSAW_SELECT_ROW_PICKS_H

#include "samplers/select/alias.h"
#include "samplers/select/bias.h"
#include "samplers/select/race.h"
#include "samplers/select/reject.h"
#include "samplers/select/rounds.h"
#include "samplers/select/row_choice.h"

#define CSAW__BROKEN_PICKS 0xffffffffu /* a hook broke its rules */

/* Inclusive sums of the masses of the row's biases to scratch->upto. Their sum; CSAW__NO_CANDIDATE if a hook broke its
 * rules. */
CSAW__ONCE uint64_t csaw__row_sums(const csaw_site *site, const uint8_t *answer, csaw__scratch *scratch,
                                   csaw__fault *fault) {
    double largest = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < site->degree; i++) {
        const double bias = csaw__bias_at(site, i, answer, fault);
        if (bias < 0) return CSAW__NO_CANDIDATE;
        scratch->upto[i] = csaw__bits(bias);
        largest = bias > largest ? bias : largest;
    }
    if (largest == 0) return 0;
    const double scale = csaw__power_of_two(csaw__mass_exponent(site->degree, largest));
    for (uint32_t i = 0; i < site->degree; i++) {
        sum += csaw__mass(csaw__from_bits(scratch->upto[i]), scale);
        scratch->upto[i] = sum;
    }
    return sum;
}

CSAW__ONCE uint32_t csaw__row_all(const csaw_site *site, const uint8_t *answer, csaw__scratch *scratch,
                                  csaw__fault *fault) {
    uint32_t got = 0;
    for (uint32_t i = 0; i < site->degree; i++) {
        const double bias = csaw__bias_at(site, i, answer, fault);
        if (bias < 0) return CSAW__BROKEN_PICKS;
        if (bias > 0) scratch->pick[got++] = i;
    }
    return got;
}

CSAW__ONCE uint32_t csaw__row_by_its(const csaw_site *site, uint32_t k, bool replace, const uint8_t *answer,
                                     csaw__scratch *scratch, csaw__fault *fault) {
    csaw__choice c = csaw__row_choice(site);
    c.sum = csaw__row_sums(site, answer, scratch, fault);
    c.upto = scratch->upto;
    if (c.sum == CSAW__NO_CANDIDATE) return CSAW__BROKEN_PICKS;
    return c.sum ? site->job->pick_of(&c, scratch, k, replace) : 0;
}

/* ---- RACE: the k first, in a heap whose root is the last of them ---- */

/* Whether runner a of the heap arrives after b. Arrivals are positive doubles, whose bits have their order. */
CSAW_FN bool csaw__after(const csaw__scratch *heap, uint32_t a, uint32_t b) {
    return heap->tree[a] != heap->tree[b] ? heap->tree[a] > heap->tree[b] : heap->upto[a] > heap->upto[b];
}

CSAW_FN void csaw__heap_swap(csaw__scratch *heap, uint32_t a, uint32_t b) {
    const uint64_t arrival = heap->tree[a], place = heap->upto[a];
    heap->tree[a] = heap->tree[b];
    heap->upto[a] = heap->upto[b];
    heap->tree[b] = arrival;
    heap->upto[b] = place;
}

CSAW_FN void csaw__heap_down(csaw__scratch *heap, uint32_t count) {
    for (uint32_t at = 0;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && csaw__after(heap, child + 1, child)) child++;
        if (!csaw__after(heap, child, at)) return;
        csaw__heap_swap(heap, at, child);
        at = child;
    }
}

CSAW_FN void csaw__heap_up(csaw__scratch *heap, uint32_t at) {
    for (; at && csaw__after(heap, at, (at - 1) / 2); at = (at - 1) / 2) csaw__heap_swap(heap, at, (at - 1) / 2);
}

CSAW__ONCE uint32_t csaw__row_by_race(const csaw_site *site, uint32_t k, const uint8_t *answer, csaw__scratch *scratch,
                                      csaw__fault *fault) {
    uint32_t got = 0;
    for (uint32_t i = 0; i < site->degree; i++) {
        const double bias = csaw__bias_at(site, i, answer, fault);
        if (bias < 0) return CSAW__BROKEN_PICKS;
        if (bias == 0) continue;
        const uint64_t arrival = csaw__bits(csaw__race_arrival(site, i, bias));
        if (got < k) {
            scratch->tree[got] = arrival;
            scratch->upto[got] = i;
            csaw__heap_up(scratch, got++);
        } else if (arrival < scratch->tree[0]) {
            scratch->tree[0] = arrival;
            scratch->upto[0] = i;
            csaw__heap_down(scratch, k);
        }
    }
    for (uint32_t left = got; left > 0; left--) {
        scratch->pick[left - 1] = scratch->upto[0];
        csaw__heap_swap(scratch, 0, left - 1);
        csaw__heap_down(scratch, left - 1);
    }
    return got;
}

/* ---- ALIAS and REJECT: trials of their own, then masses ---- */

/* The arc that an attempt of REJECT picks, or CSAW__NO_CANDIDATE; *outcome: CSAW__PICKED, CSAW__UNDECIDED,
 * CSAW__NOTHING or CSAW__BROKEN. */
CSAW_FN uint64_t csaw__attempt(const csaw_site *site, bool by_alias, uint32_t draw, const uint8_t *answer, int *outcome,
                               csaw__fault *fault) {
    csaw__trial trial;
    *outcome = csaw__reject_try(site, by_alias, draw, &trial);
    if (*outcome == CSAW__ASKS) {
        csaw_arc arc = csaw__arc_to(site, trial.rank, trial.dst);
        if (answer) arc.near_prev = 1u + answer[trial.rank];
        *outcome = csaw__reject_judge(site, &trial, &arc, fault);
    }
    return *outcome == CSAW__PICKED ? trial.rank : CSAW__NO_CANDIDATE;
}

CSAW_FN uint64_t csaw__alias_trial(const csaw_site *site, const csaw__choice *c, const csaw__scratch *scratch,
                                   uint32_t slot, uint32_t round) {
    csaw_vertex dst;
    if (round == 0) return csaw__alias_rank(site, csaw__choice_number(c, slot), &dst);
    const csaw_block block = csaw__choice_block(c, slot, round);
    uint32_t rank = csaw__alias_rank(site, csaw_half(&block, 0), &dst);
    if (!csaw__taken_before(scratch, rank, round)) return rank;
    rank = csaw__alias_rank(site, csaw_half(&block, 1), &dst);
    return csaw__taken_before(scratch, rank, round) ? CSAW__NO_CANDIDATE : rank;
}

/* Whether no arc of the row has a positive static bias. */
CSAW_FN bool csaw__alias_row_is_dead(const csaw_site *site) {
    return site->job->rows.alias[site->row].own == CSAW_NONE;
}

/* What slots that the rounds left open pick. */
CSAW__ONCE uint32_t csaw__row_rest(const csaw_site *site, const uint8_t *answer, csaw__scratch *scratch,
                                   csaw__fault *fault) {
    csaw__choice c = csaw__row_choice(site);
    c.sum = csaw__row_sums(site, answer, scratch, fault);
    c.upto = scratch->upto;
    if (c.sum == CSAW__NO_CANDIDATE) return CSAW__BROKEN_PICKS;
    return c.sum ? site->job->pick_rest(&c, scratch) : scratch->got;
}

/* ALIAS: the rounds from a first one on. */
CSAW__ONCE uint32_t csaw__row_by_alias_trials(const csaw_site *site, uint32_t first, const uint8_t *answer,
                                              csaw__scratch *scratch, csaw__fault *fault) {
    const csaw__choice c = csaw__row_choice(site);
    for (uint32_t round = first; round < CSAW__ROUNDS && scratch->num_open; round++) {
        uint32_t left = 0;
        scratch->before = scratch->got;
        for (uint32_t o = 0; o < scratch->num_open; o++) {
            const uint32_t slot = scratch->open[o];
            const uint64_t candidate = csaw__alias_trial(site, &c, scratch, slot, round);
            if (candidate == CSAW__NO_CANDIDATE || !csaw__take(scratch, candidate, round)) scratch->open[left++] = slot;
        }
        scratch->num_open = left;
    }
    return scratch->num_open ? csaw__row_rest(site, answer, scratch, fault) : scratch->got;
}

CSAW__ONCE uint32_t csaw__row_by_reject_trials(const csaw_site *site, bool by_alias, const uint8_t *answer,
                                               csaw__scratch *scratch, csaw__fault *fault) {
    for (uint32_t round = 0; round < CSAW__REJECT_ROUNDS && scratch->num_open; round++) {
        uint32_t left = 0;
        scratch->before = scratch->got;
        for (uint32_t o = 0; o < scratch->num_open; o++) {
            const uint32_t slot = scratch->open[o];
            int outcome;
            const uint64_t candidate =
                csaw__attempt(site, by_alias, slot * CSAW__SLOT_DRAWS + round, answer, &outcome, fault);
            if (outcome == CSAW__BROKEN) return CSAW__BROKEN_PICKS;
            if (outcome == CSAW__NOTHING) return 0;
            if (candidate == CSAW__NO_CANDIDATE || csaw__taken_before(scratch, candidate, round) ||
                !csaw__take(scratch, candidate, round))
                scratch->open[left++] = slot;
        }
        scratch->num_open = left;
    }
    return scratch->num_open ? csaw__row_rest(site, answer, scratch, fault) : scratch->got;
}

/* Independent picks by REJECT. */
CSAW__ONCE uint32_t csaw__row_by_reject_again(const csaw_site *site, bool by_alias, uint32_t k, const uint8_t *answer,
                                              csaw__scratch *scratch, csaw__fault *fault) {
    csaw__choice c = csaw__row_choice(site);
    for (uint32_t slot = 0; slot < k; slot++) {
        int outcome = CSAW__UNDECIDED;
        for (uint32_t t = 0; t < CSAW__REJECT_ROUNDS && outcome == CSAW__UNDECIDED; t++)
            scratch->pick[slot] = csaw__attempt(site, by_alias, slot * CSAW__SLOT_DRAWS + t, answer, &outcome, fault);
        if (outcome == CSAW__BROKEN) return CSAW__BROKEN_PICKS;
        if (outcome == CSAW__NOTHING) return 0;
        if (outcome == CSAW__PICKED) continue;
        if (!c.upto) {
            c.sum = csaw__row_sums(site, answer, scratch, fault);
            c.upto = scratch->upto;
            if (c.sum == CSAW__NO_CANDIDATE) return CSAW__BROKEN_PICKS;
            if (c.sum == 0) return 0;
        }
        const csaw_block block = csaw__choice_block(&c, slot, CSAW__ROUNDS);
        uint64_t below;
        scratch->pick[slot] = csaw__choice_find(&c, csaw_below(csaw_half(&block, 0), c.sum), &below);
    }
    return k;
}

/* ---- every method ---- */

CSAW_FN uint32_t csaw__row_by_alias(const csaw_site *site, uint32_t k, bool replace, const uint8_t *answer,
                                    csaw__scratch *scratch, csaw__fault *fault) {
    const csaw__choice c = csaw__row_choice(site);
    if (csaw__alias_row_is_dead(site)) return 0;
    if (!replace) {
        csaw__rounds_begin(scratch, k);
        return csaw__row_by_alias_trials(site, 0, answer, scratch, fault);
    }
    for (uint32_t slot = 0; slot < k; slot++) {
        csaw_vertex dst;
        scratch->pick[slot] = csaw__alias_rank(site, csaw__choice_number(&c, slot), &dst);
    }
    return k;
}

CSAW_FN uint32_t csaw__row_by_reject(const csaw_site *site, bool by_alias, uint32_t k, bool replace,
                                     const uint8_t *answer, csaw__scratch *scratch, csaw__fault *fault) {
    if (replace) return csaw__row_by_reject_again(site, by_alias, k, answer, scratch, fault);
    csaw__rounds_begin(scratch, k);
    return csaw__row_by_reject_trials(site, by_alias, answer, scratch, fault);
}

/* Ranks to scratch->pick; how many there are, or CSAW__BROKEN_PICKS. k > 0 and the row has an arc. answer: [degree],
 * csaw__frontier.answer. */
CSAW_FN uint32_t csaw__row_picks(const csaw_site *site, uint32_t kernel, uint32_t k, bool replace,
                                 const uint8_t *answer, csaw__scratch *scratch, csaw__fault *fault) {
    if (k == CSAW_ALL || (!replace && k >= site->degree)) return csaw__row_all(site, answer, scratch, fault);
    if (csaw__allows(CSAW__KERNEL_UNIFORM) && kernel == CSAW__KERNEL_UNIFORM) {
        const csaw__choice c = csaw__row_choice(site);
        return site->job->pick_of(&c, scratch, k, replace);
    }
    if (csaw__allows(CSAW__KERNEL_ALIAS) && kernel == CSAW__KERNEL_ALIAS)
        return csaw__row_by_alias(site, k, replace, answer, scratch, fault);
    if (csaw__allows(CSAW__KERNEL_REJECT) && kernel == CSAW__KERNEL_REJECT)
        return csaw__row_by_reject(site, false, k, replace, answer, scratch, fault);
    if (csaw__allows(CSAW__KERNEL_REJECT_ALIAS) && kernel == CSAW__KERNEL_REJECT_ALIAS)
        return csaw__row_by_reject(site, true, k, replace, answer, scratch, fault);
    if (kernel == CSAW__KERNEL_RACE) return csaw__row_by_race(site, k, answer, scratch, fault);
    return csaw__row_by_its(site, k, replace, answer, scratch, fault);
}

#endif
