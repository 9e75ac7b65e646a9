/* SPDX-License-Identifier: MIT */
/* samplers/select/far_rounds.c - rounds of selection that ask for the candidates on which their numbers fall.
 * docs/stream.md, "Selection of k among n candidates". */
#include "samplers/select/far_rounds.h"

#include <stdlib.h>
#include <string.h>

void csaw__far_begin(csaw__far_choice *c) {
    c->num_open = c->choice.sum ? c->k : 0;
    c->num_hits = c->got = c->round = 0;
    for (uint32_t slot = 0; slot < c->num_open; slot++) c->open[slot] = slot;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = ((const csaw__hit *)a)->x, y = ((const csaw__hit *)b)->x;
    return (x > y) - (x < y);
}

static int by_slot(const void *a, const void *b) {
    const uint32_t x = ((const csaw__hit *)a)->slot, y = ((const csaw__hit *)b)->slot;
    return (x > y) - (x < y);
}

/* ---- numbers ---- */

/* The stretch that was taken and holds x; NULL if none does. */
static const csaw__stretch *taken_at(const csaw__far_choice *c, uint64_t x) {
    uint32_t low = 0, n = c->got;
    while (n > 0) { /* the first that begins behind x */
        const uint32_t half = n / 2;
        const bool before = c->taken[low + half].low <= x;
        low = before ? low + half + 1 : low;
        n = before ? n - half - 1 : half;
    }
    if (low == 0 || x - c->taken[low - 1].low >= c->taken[low - 1].mass) return NULL;
    return &c->taken[low - 1];
}

/* The number of a slot's trial in this round; false: the trial failed. */
static bool number_of(const csaw__far_choice *c, uint32_t slot, uint64_t *x) {
    const csaw__choice *const choice = &c->choice;
    if (c->round == 0) {
        *x = csaw_below(csaw__choice_number(choice, slot), choice->sum);
        return true;
    }
    const csaw_block block = csaw__choice_block(choice, slot, c->round);
    *x = csaw_below(csaw_half(&block, 0), choice->sum);
    const csaw__stretch *const taken = taken_at(c, *x);
    if (!taken) return true;
    if (taken->mass == choice->sum) return false;
    const uint64_t beside = csaw_below(csaw_half(&block, 1), choice->sum - taken->mass);
    *x = beside >= taken->low ? beside + taken->mass : beside;
    return !taken_at(c, *x);
}

/* After the rounds: of the lowest open slot, in what is left; false: nothing is. */
static bool number_of_rest(const csaw__far_choice *c, uint64_t *x) {
    uint64_t left = c->choice.sum;
    for (uint32_t i = 0; i < c->got; i++) left -= c->taken[i].mass;
    if (left == 0) return false;
    const csaw_block block = csaw__choice_block(&c->choice, c->open[0], CSAW__ROUNDS);
    *x = csaw_below(csaw_half(&block, 0), left);
    for (uint32_t i = 0; i < c->got && c->taken[i].low <= *x; i++) *x += c->taken[i].mass;
    return true;
}

static void ask_round(csaw__far_choice *c) {
    for (uint32_t o = 0; o < c->num_open; o++) {
        csaw__hit *const hit = &c->hit[c->num_hits];
        hit->slot = c->open[o];
        c->num_hits += number_of(c, c->open[o], &hit->x);
    }
    qsort(c->hit, c->num_hits, sizeof *c->hit, by_number);
}

uint32_t csaw__far_ask(csaw__far_choice *c) {
    c->num_hits = 0;
    while (c->num_open && !c->num_hits && c->round < CSAW__ROUNDS) {
        ask_round(c);
        c->round += !c->num_hits;
    }
    if (c->num_open && !c->num_hits) {
        c->hit[0].slot = c->open[0];
        c->num_hits = number_of_rest(c, &c->hit[0].x);
    }
    return c->num_hits;
}

/* ---- answers ---- */

/* Of hits on the same candidate, side by side, that of the lowest slot stays. */
static void drop_losers(csaw__far_choice *c) {
    uint32_t winners = 0;
    for (uint32_t i = 0; i < c->num_hits; i++) {
        csaw__hit *const last = winners ? &c->hit[winners - 1] : NULL;
        if (!last || last->low != c->hit[i].low)
            c->hit[winners++] = c->hit[i];
        else if (c->hit[i].slot < last->slot)
            *last = c->hit[i];
    }
    c->num_hits = winners;
}

/* The stretches of the hits, ascending as they are, among those that were taken before. */
static void merge_taken(csaw__far_choice *c) {
    uint32_t old = c->got, more = c->num_hits;
    while (more) {
        const csaw__hit *const hit = &c->hit[more - 1];
        if (old && c->taken[old - 1].low > hit->low) {
            c->taken[old + more - 1] = c->taken[old - 1];
            old--;
        } else {
            c->taken[old + more - 1] = (csaw__stretch){hit->low, hit->mass};
            more--;
        }
    }
}

void csaw__far_take(csaw__far_choice *c) {
    uint32_t left = 0, next = 0;
    if (!c->replace) {
        drop_losers(c);
        merge_taken(c);
    }
    qsort(c->hit, c->num_hits, sizeof *c->hit, by_slot);
    memcpy(c->pick + c->got, c->hit, c->num_hits * sizeof *c->hit);
    c->got += c->num_hits;
    for (uint32_t o = 0; o < c->num_open; o++) {
        if (next < c->num_hits && c->hit[next].slot == c->open[o])
            next++;
        else
            c->open[left++] = c->open[o];
    }
    c->num_open = left;
    c->round += c->round < CSAW__ROUNDS;
}
