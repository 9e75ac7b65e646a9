/* SPDX-License-Identifier: MIT */
/* bench/strata.h - a random graph whose rows need not be sorted, nor its arcs kept to know them: vertices are divided
 * into as many strata of equal width as a row has arcs, and each row has one neighbour in each, drawn uniformly. So
 * rows ascend, no two arcs are alike, and where an arc leads follows from its place. */
#ifndef CSAW_BENCH_STRATA_H
#define CSAW_BENCH_STRATA_H

#include <csaw/csaw.h>
#include <csaw/philox.h>
#include <stdbool.h>

typedef struct strata {
    uint64_t rows, degree; /* rows: a multiple of degree */
    uint64_t seed;
} strata;

/* Bytes of offsets and destinations. */
static inline uint64_t strata_bytes(const strata *s) { return 8 * (s->rows + 1) + 4 * s->rows * s->degree; }

/* splitmix64, Steele, Lea, Flood, OOPSLA 2014: number i of those of a seed. */
static inline uint64_t strata_number(uint64_t seed, uint64_t i) {
    uint64_t z = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Where arc number `place` of a row leads: into the stratum of that number. */
static inline csaw_vertex strata_neighbor(const strata *s, uint64_t row, uint64_t place) {
    const uint64_t width = s->rows / s->degree;
    return (csaw_vertex)(place * width + csaw_below(strata_number(s->seed, row * s->degree + place), width));
}

/* Whether an arc leads there, by the rule alone: the graph's arrays are not read. */
static inline bool strata_has_arc(const strata *s, csaw_vertex from, csaw_vertex to) {
    return from < s->rows && to < s->rows && strata_neighbor(s, from, to / (s->rows / s->degree)) == to;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The graph, each row made where it stays: no memory beside strata_bytes(). Ends the program where that is refused. */
csaw_csr strata_make(const strata *s);
void strata_free(const csaw_csr *csr);

#ifdef __cplusplus
}
#endif

#endif
