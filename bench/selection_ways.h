/* SPDX-License-Identifier: MIT */
/* bench/selection_ways.h - four ways to pick k of a row's candidates without replacement, one pick after the other,
 * with their trials, searches and looks counted; and where picks must lie by the law.
 *
 * A trial is a turn of the do-while loop of C-SAW's figure 5. A trial of a region search that hits a taken region
 * searches twice. Each search is followed by a look at what is taken: one at a bit, or as many as a linear search among
 * the picks makes. `updated` knows by its sums what is taken, and looks once a row.
 *
 * The law: after the picks so far the next is drawn in proportion to bias among what is left, so its place in the sums
 * of what is left is uniform, also as seen from the heaviest pick so far, around a circle. That is tested by chi-square
 * over all picks but the first of a row, in BINS arcs of the circle. */
#ifndef CSAW_BENCH_SELECTION_WAYS_H
#define CSAW_BENCH_SELECTION_WAYS_H

#include <stdint.h>

enum { MOST_PICKS = 32, BINS = 32, Z_THRESHOLD = 4 /* of |z|, as in tests/law.h */ };
typedef enum way { REPEATED, UPDATED, PRINTED, FRESH, NUM_WAYS } way;
extern const char *const way_name[NUM_WAYS];

typedef struct row {
    uint32_t n;
    double *upto;   /* [n] inclusive sums of biases, all positive */
    double *left;   /* [n] the same without what is taken, of UPDATED */
    uint8_t *taken; /* [n] 1 + which pick, or 0 */
} row;

typedef struct counts {
    uint64_t trials, searches, linear; /* linear: picks looked at by a linear search */
} counts;

/* splitmix64. */
void seed_numbers(uint64_t seed);
double number(void); /* on [0, 1) */

/* The first candidate whose sum is above x. */
uint32_t find(const double *upto, uint32_t n, double x);

/* picks: [k], k <= n, k <= MOST_PICKS. taken: all 0, before and after. Adds to *c. */
void pick(row *r, way way, uint32_t k, uint32_t *picks, counts *c);

/* Adds k - 1 to the bins in which picks after the first lie. */
void place(const row *r, const uint32_t *picks, uint32_t k, uint64_t *bin);

/* Chi-square against equal counts of all bins, as a standard normal (Wilson, Hilferty). */
double z_of(const uint64_t *bin);

#endif
