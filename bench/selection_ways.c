/* SPDX-License-Identifier: MIT */
/* bench/selection_ways.c - four ways to pick, and the law of the picks; see the head of the header. */
#include "bench/selection_ways.h"

#include <math.h>

const char *const way_name[NUM_WAYS] = {"repeated", "updated", "printed", "fresh"};

static uint64_t state;

void seed_numbers(uint64_t seed) { state = seed; }

double number(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double before(const row *r, uint32_t i) { return i ? r->upto[i - 1] : 0; }
static double bias(const row *r, uint32_t i) { return r->upto[i] - before(r, i); }

/* ---- picks ---- */

uint32_t find(const double *upto, uint32_t n, double x) {
    uint32_t lo = 0, left = n - 1;
    while (left > 0) {
        const uint32_t half = left / 2;
        if (upto[lo + half] <= x) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo;
}

static void sum_again(row *r) {
    double sum = 0;
    for (uint32_t i = 0; i < r->n; i++) r->left[i] = sum += r->taken[i] ? 0 : bias(r, i);
}

/* A search and a look: the candidate at x. */
static uint32_t search(const row *r, double x, uint32_t got, counts *c) {
    const uint32_t candidate = find(r->upto, r->n, x);
    c->searches++;
    c->linear += r->taken[candidate] ? r->taken[candidate] : got;
    return candidate;
}

/* The candidate that one trial names, taken or not. */
static uint32_t trial(const row *r, way way, uint32_t got, counts *c) {
    const double sum = r->upto[r->n - 1], first = number() * sum;
    c->trials++;
    if (way == UPDATED && got) { /* what is taken has no mass: no look */
        c->searches++;
        return find(r->left, r->n, first / sum * r->left[r->n - 1]);
    }
    const uint32_t hit = search(r, first, got, c);
    if (way == REPEATED || !r->taken[hit]) return hit;
    const double low = before(r, hit), mass = bias(r, hit);
    double x = (way == PRINTED ? first / sum : number()) * (sum - mass);
    if (x >= low) x += mass;
    return search(r, x, got, c);
}

void pick(row *r, way way, uint32_t k, uint32_t *picks, counts *c) {
    for (uint32_t got = 0; got < k;) {
        const uint32_t candidate = trial(r, way, got, c);
        if (r->taken[candidate]) continue;
        picks[got++] = candidate;
        r->taken[candidate] = (uint8_t)got;
        if (way == UPDATED && got < k) sum_again(r);
    }
    for (uint32_t i = 0; i < k; i++) r->taken[picks[i]] = 0;
}

/* ---- the law ---- */

void place(const row *r, const uint32_t *picks, uint32_t k, uint64_t *bin) {
    double left = r->upto[r->n - 1];
    uint32_t heaviest = picks[0];
    for (uint32_t i = 1; i < k; i++) {
        left -= bias(r, picks[i - 1]);
        if (bias(r, picks[i - 1]) > bias(r, heaviest)) heaviest = picks[i - 1];
        double distance = before(r, picks[i]) + number() * bias(r, picks[i]) - before(r, heaviest);
        for (uint32_t j = 0; j < i; j++) {
            if (picks[j] < picks[i]) distance -= bias(r, picks[j]);
            if (picks[j] < heaviest) distance += bias(r, picks[j]);
        }
        const double turn = distance / left - floor(distance / left);
        bin[(uint32_t)(turn * BINS) % BINS]++;
    }
}

double z_of(const uint64_t *bin) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < BINS; i++) total += bin[i];
    const double expected = (double)total / BINS, part = 2 / (9.0 * (BINS - 1));
    double sum = 0;
    for (uint32_t i = 0; i < BINS; i++) sum += pow((double)bin[i] - expected, 2) / expected;
    return (cbrt(sum / (BINS - 1)) - (1 - part)) / sqrt(part);
}
