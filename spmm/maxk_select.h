/* SPDX-License-Identifier: MIT */
/* spmm/maxk_select.h - the k largest of a row, exactly.
 *
 * Elements become integers that order as MaxK does: the bits of the size, negated below zero (so -0 is 0, as +0), and
 * the largest integer for NaN. Sought is a pivot with k keys above it. As in the paper (section 5.3) it is bracketed by
 * counting, low with more than k above, high with fewer; but a search over integers ends, at such a pivot or at the
 * k-th key itself, of whose equals the first are taken. So the result is exact whatever pivots are tried, and these are
 * guessed: the pivot of the row before, then by value and spacing. From the eighth on every other one halves the
 * interval; and the ends are drawn in to the next keys now and then, which ends the search where only equals are left.
 */
#ifndef CSAW_SPMM_MAXK_SELECT_H
#define CSAW_SPMM_MAXK_SELECT_H

#include "spmm/element.h"

#include <endian.h>

#define CSAW__KEYS 16u  /* keys are padded to a multiple of it, by INT32_MIN, which no element has */
#define CSAW__FLAGS 64u /* flags likewise, by 0 */

typedef struct csaw__selection {
    uint32_t n, k, keys, flags; /* n, keys and flags: filled, padded */
    int32_t *key;               /* [keys] of the row */
    uint8_t *flag;              /* [flags] 1: among the k, or equal to the k-th */
    int32_t guess;              /* of the pivot, and */
    float spacing;              /* of the keys about it, by value; any will do */
} csaw__selection;

static inline int32_t csaw__maxk_key(uint32_t bits) {
    const int32_t size = (int32_t)(bits & 0x7fffffffu), sign = -(int32_t)(bits >> 31);
    return size > 0x7f800000 ? INT32_MAX : (size ^ sign) - sign;
}

static inline float csaw__maxk_value(int32_t key) {
    return csaw__float_of_bits(key < 0 ? 0x80000000u - (uint32_t)key : (uint32_t)key);
}

static inline void csaw__maxk_keys(const csaw__selection *s, const float *restrict row) {
    int32_t *const restrict key = s->key;
    const uint32_t n = s->n;
    for (uint32_t c = 0; c < n; c++) key[c] = csaw__maxk_key(csaw__float_bits(row[c]));
}

/* How many keys are above the pivot: four quarters at a time, for four chains of additions. */
static inline uint32_t csaw__maxk_above(const csaw__selection *s, int32_t pivot) {
    const uint32_t quarter = s->keys / 4;
    const int32_t *const restrict a = s->key, *const restrict b = a + quarter, *const restrict c = b + quarter,
                                  *const restrict d = c + quarter;
    uint32_t in_a = 0, in_b = 0, in_c = 0, in_d = 0;
    for (uint32_t i = 0; i < quarter; i++) {
        in_a += a[i] > pivot;
        in_b += b[i] > pivot;
        in_c += c[i] > pivot;
        in_d += d[i] > pivot;
    }
    return in_a + in_b + in_c + in_d;
}

/* low becomes the largest number below all keys above it, high the largest key at or below it. */
static inline void csaw__maxk_draw_in(const csaw__selection *s, int32_t *low, int32_t *high) {
    const int32_t *const restrict key = s->key;
    const uint32_t n = s->n;
    const int32_t from = *low, to = *high;
    int32_t least = to, most = from + 1;
    for (uint32_t c = 0; c < n; c++) {
        const int32_t here = key[c];
        const int32_t lower = here > from ? here : to, upper = here <= to ? here : from + 1;
        least = lower < least ? lower : least;
        most = upper > most ? upper : most;
    }
    *low = least - 1;
    *high = most;
}

/* Where the search stands: low, an integer with `over` > k keys above it, and high, with `under` < k. */
typedef struct csaw__bracket {
    int32_t low, high;
    uint32_t over, under;
} csaw__bracket;

static inline bool csaw__maxk_has_ends(const csaw__bracket *b) { return b->low != INT32_MIN && b->high != INT32_MAX; }

static inline float csaw__maxk_spacing(const csaw__bracket *b) {
    return (csaw__maxk_value(b->high) - csaw__maxk_value(b->low)) / (float)(b->over - b->under);
}

/* The pivot after `pivot`, which had `count` keys above it: between the ends by value, as if keys were evenly spaced;
 * with one end, as far again as the spacing of the row before asks, so as to get past the k-th. Infinite ends and
 * absurd spacings may make it anything. */
static inline int32_t csaw__maxk_next(const csaw__selection *s, const csaw__bracket *b, int32_t pivot, uint32_t count) {
    const float value = csaw__maxk_has_ends(b)
                            ? csaw__maxk_value(b->low) + csaw__maxk_spacing(b) * (float)(b->over - s->k)
                            : csaw__maxk_value(pivot) + 2 * s->spacing * ((float)count - (float)s->k);
    return csaw__maxk_key(csaw__float_bits(value));
}

/* The least threshold with no more than k keys above it, or one with k at or above it; *ties: how many of the keys
 * equal to it belong to the k, if that many there are. */
static inline int32_t csaw__maxk_threshold(csaw__selection *s, uint32_t *ties) {
    const uint32_t k = s->k;
    csaw__bracket b = {.low = INT32_MIN, .high = INT32_MAX, .over = s->n, .under = 0};
    int32_t pivot = s->guess;
    for (uint32_t step = 0; (int64_t)b.high - b.low > 1; step++) {
        if (pivot <= b.low || pivot >= b.high) pivot = (int32_t)(b.low + ((int64_t)b.high - b.low) / 2);
        const uint32_t count = csaw__maxk_above(s, pivot);
        if (count > k)
            b.low = pivot, b.over = count;
        else
            b.high = pivot, b.under = count;
        if (count == k) {
            if (csaw__maxk_has_ends(&b)) s->spacing = csaw__maxk_spacing(&b);
            break;
        }
        if (step % 6 == 5) csaw__maxk_draw_in(s, &b.low, &b.high);
        pivot = step >= 8 && step % 2 ? b.low : csaw__maxk_next(s, &b, pivot, count);
    }
    s->guess = b.high;
    *ties = k - b.under;
    return b.high;
}

/* Puts the columns of the k largest keys into column [k], ascending. */
static inline void csaw__maxk_select(csaw__selection *s, uint16_t *restrict column) {
    const int32_t *const restrict key = s->key;
    uint8_t *const restrict flag = s->flag;
    const uint32_t n = s->n, flags = s->flags;
    uint32_t ties = 0, count = 0;
    const int32_t threshold = csaw__maxk_threshold(s, &ties);
    for (uint32_t c = 0; c < n; c++) flag[c] = key[c] >= threshold;
    for (uint32_t c = 0; c < flags; c += 64) {
        uint64_t set = 0; /* bit b: flag c + b */
        for (uint32_t b = 0; b < 64; b += 8) {
            uint64_t eight;
            memcpy(&eight, flag + c + b, 8);
            set |= (le64toh(eight) * 0x0102040810204080ull >> 56) << b; /* byte i, 0 or 1, becomes bit i */
        }
        for (; set; set &= set - 1) {
            const uint32_t at = c + (uint32_t)__builtin_ctzll(set);
            if (key[at] == threshold) {
                if (!ties) continue;
                ties--;
            }
            column[count++] = (uint16_t)at;
        }
    }
}

#endif
