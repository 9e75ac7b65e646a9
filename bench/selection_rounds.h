/* SPDX-License-Identifier: MIT */
/* bench/selection_rounds.h - the ways of selection_ways.h by a warp: k lanes pick at once, in rounds.
 *
 * In a round every lane that has no pick yet makes a trial; it fails on a candidate taken in an earlier round, and of
 * lanes that name the same candidate the lowest takes it. Sums are whole numbers and numbers are drawn by (row, lane,
 * round), so the GPU's picks are the host's. By (round, lane) the picks are successive as selection_ways.h has it. */
#ifndef CSAW_BENCH_SELECTION_ROUNDS_H
#define CSAW_BENCH_SELECTION_ROUNDS_H

#include <stdint.h>

#include "bench/selection_ways.h"

/* How it is known what is taken: by a search among the picks, or by a bit a candidate, neighbouring candidates' bits in
 * one word, or each in another. */
typedef enum looking { LINEAR, CONTIGUOUS, STRIDED, NUM_LOOKINGS } looking;

typedef struct round_counts {
    uint64_t trials;   /* of lanes */
    uint64_t rounds;   /* of rows: until the slowest lane has its pick */
    uint64_t searches; /* in sums */
    uint64_t looks;    /* at a bit, or at a pick in the list */
} round_counts;

#define NO_CANDIDATE UINT32_MAX /* a trial that failed */

#ifdef __CUDACC__
#define SELECTION_FN static __host__ __device__ inline
#else
#define SELECTION_FN static inline
#endif

/* Number `half`, 0 or 1, of a trial. splitmix64, Steele, Lea, Flood, OOPSLA 2014, of a place. */
SELECTION_FN uint64_t round_number(uint64_t row, uint32_t lane, uint32_t round, uint32_t half) {
    uint64_t z = row * 0x9e3779b97f4a7c15u + ((uint64_t)round << 16 | lane << 1 | half) * 0xd1342543de82ef95u + 1;
    for (int i = 0; i < 2; i++) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return z;
}

/* The first candidate whose sum is above x. */
SELECTION_FN uint32_t first_above(const uint64_t *upto, uint32_t n, uint64_t x) {
    uint32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (upto[middle] > x)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

/* On the host. upto: [n] inclusive sums; row: its number; picks: [k], k < n, k <= MOST_PICKS. Adds to *c. */
void pick_in_rounds(const uint64_t *upto, uint32_t n, uint64_t row, way way, looking looking, uint32_t k,
                    uint32_t *picks, round_counts *c);

#endif
