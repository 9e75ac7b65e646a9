/* SPDX-License-Identifier: MIT */
/* samplers/select/alias_split.h - one entry of an alias table without the entries before it: what the sweep of
 * alias_table.c, which goes through a row from end to end, leaves in it.
 *
 * Method: the splitting of that sweep by prefix sums (Huebschle-Schneider and Sanders, "Parallel weighted random
 * sampling", ACM TOMS 48, 2022, section 4). A heavy entry has an excess, m n - M > 0, a light one a deficit, M - m n;
 * m is its mass, n the length of the row, M the sum of its masses. When the sweep stands at heavy entry j, after some
 * light ones whose deficits add up to d, there is w = M + E_j - d left of j, E_j being the sum of excesses up to j. So
 * "w > M" means E_j > d: a light entry with the deficits d before it takes the first heavy one whose sum is above d,
 * and j has become light as soon as d reaches E_j. Excesses and deficits have the same sum, so every heavy entry but
 * the last becomes light. All sums are integers; they need up to 94 bits, and are put together from 64-bit sums of
 * masses when they are compared. */
#ifndef CSAW_SELECT_ALIAS_SPLIT_H
#define CSAW_SELECT_ALIAS_SPLIT_H

#include <csaw/types.h>

__extension__ typedef unsigned __int128 csaw__wide;

/* The heavy entries among the first few of a row. */
typedef struct csaw__heavies {
    uint64_t mass, count;
} csaw__heavies;

typedef struct csaw__split {
    const uint64_t *upto;       /* [n]: masses of entries 0 .. i, summed */
    const csaw__heavies *heavy; /* [n]: the heavy ones of entries 0 .. i */
    uint32_t n;
    uint64_t total; /* upto[n - 1], above 0 */
} csaw__split;

CSAW_FN csaw__wide csaw__excess_upto(const csaw__split *row, uint32_t i) {
    const csaw__heavies heavy = row->heavy[i];
    return (csaw__wide)heavy.mass * row->n - (csaw__wide)heavy.count * row->total;
}

CSAW_FN csaw__wide csaw__deficit_upto(const csaw__split *row, uint32_t i) {
    const csaw__heavies heavy = row->heavy[i];
    return (csaw__wide)(i + 1 - heavy.count) * row->total - (csaw__wide)(row->upto[i] - heavy.mass) * row->n;
}

/* The first place with excess_upto > deficit, a heavy one; n if there is none. */
CSAW_FN uint32_t csaw__heavy_above(const csaw__split *row, csaw__wide deficit) {
    uint32_t lo = 0, n = row->n;
    while (n > 0) {
        const uint32_t half = n >> 1;
        const bool after = csaw__excess_upto(row, lo + half) <= deficit;
        lo = after ? lo + half + 1 : lo;
        n = after ? n - half - 1 : half;
    }
    return lo;
}

/* The first place with deficit_upto >= excess; n if there is none. */
CSAW_FN uint32_t csaw__light_reaching(const csaw__split *row, csaw__wide excess) {
    uint32_t lo = 0, n = row->n;
    while (n > 0) {
        const uint32_t half = n >> 1;
        const bool after = csaw__deficit_upto(row, lo + half) < excess;
        lo = after ? lo + half + 1 : lo;
        n = after ? n - half - 1 : half;
    }
    return lo;
}

/* The first heavy place behind i; n if there is none. */
CSAW_FN uint32_t csaw__heavy_behind(const csaw__split *row, uint32_t i) {
    const uint64_t count = row->heavy[i].count;
    uint32_t lo = i + 1, n = row->n - lo;
    while (n > 0) {
        const uint32_t half = n >> 1;
        const bool after = row->heavy[lo + half].count <= count;
        lo = after ? lo + half + 1 : lo;
        n = after ? n - half - 1 : half;
    }
    return lo;
}

/* Entry i < n: its threshold, and the place of its alias. */
CSAW_FN void csaw__split_entry(const csaw__split *row, uint32_t i, uint32_t *threshold, uint32_t *other) {
    const uint64_t mass = row->upto[i] - (i ? row->upto[i - 1] : 0), times_n = mass * row->n;
    csaw__wide part = times_n;
    uint32_t partner;
    if (times_n <= row->total) {
        partner = csaw__heavy_above(row, csaw__deficit_upto(row, i) - (row->total - times_n));
    } else {
        const csaw__wide excess = csaw__excess_upto(row, i);
        const uint32_t last = csaw__light_reaching(row, excess);
        partner = last < row->n ? csaw__heavy_behind(row, i) : row->n;
        if (partner < row->n) part = row->total + excess - csaw__deficit_upto(row, last);
    }
    const csaw__wide fraction = (part << 32) / row->total;
    const bool alone = partner == row->n; /* no partner is left: the entry keeps itself */
    *threshold = alone || fraction > 0xffffffffu ? 0xffffffffu : (uint32_t)fraction;
    *other = alone ? i : partner;
}

#endif
