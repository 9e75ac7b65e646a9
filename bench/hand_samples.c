/* SPDX-License-Identifier: MIT */
/* bench/hand_samples.c - two-hop neighbour sampling by hand, as one would write it for this one job: a cheap generator,
 * repeats thrown away and drawn again, vertices marked in an array as long as the graph, groups of vertices in flight
 * with software prefetch. Graphs without parallel arcs and with positive weights: that is all these loops can do. */
#include "bench/hand_samples.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 16, MOST = 64 };

/* Into L1, as __builtin_prefetch() alone means, or into L2. */
static inline void soon(const void *place, bool into_l2) {
    if (into_l2)
        __builtin_prefetch(place, 0, 2);
    else
        __builtin_prefetch(place);
}

static inline uint64_t next_number(uint64_t *state) { /* Steele, Lea, Flood, OOPSLA 2014 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void room(hand_sample *s, uint64_t need) {
    if (need <= s->room) return;
    s->room = 2 * need;
    s->src = realloc(s->src, s->room * sizeof *s->src);
    s->dst = realloc(s->dst, s->room * sizeof *s->dst);
    s->edge = realloc(s->edge, s->room * sizeof *s->edge);
    if (!s->src || !s->dst || !s->edge) abort();
}

/* k distinct places of a row, to out. */
static inline uint32_t distinct(const hand_alias *table, const csaw_vertex *col, uint64_t row, uint32_t degree,
                                uint32_t k, uint64_t *state, uint32_t *out) {
    uint32_t got = 0;
    while (got < k) {
        const uint64_t number = next_number(state);
        uint32_t place = (uint32_t)(((number >> 32) * degree) >> 32);
        if (table && (uint32_t)number >= table[row + place].threshold) {
            const csaw_vertex other = table[row + place].other; /* its place: rows ascend */
            uint32_t lo = 0, n = degree;
            while (n > 0) {
                const uint32_t half = n / 2;
                if (col[row + lo + half] < other) {
                    lo += half + 1;
                    n -= half + 1;
                } else {
                    n = half;
                }
            }
            place = lo;
        }
        uint32_t seen = 0;
        for (uint32_t j = 0; j < got; j++) seen |= out[j] == place;
        if (!seen) out[got++] = place;
    }
    return got;
}

static inline void one_batch(const csaw_csr *csr, const hand_alias *table, const csaw_vertex *seed, uint64_t count,
                             const uint32_t *fanout, uint32_t hops, uint64_t state, uint32_t *mark, uint32_t *stamp,
                             bool into_l2, hand_sample *out, csaw_vertex **frontier, uint64_t *frontier_room) {
    uint64_t begin = 0;
    out->count = 0;
    for (uint32_t hop = 0; hop < hops; hop++) {
        const uint32_t k = fanout[hop];
        uint64_t n = 0;
        const uint64_t most = hop ? out->count - begin : count;
        if (most > *frontier_room) {
            *frontier_room = 2 * most;
            *frontier = realloc(*frontier, *frontier_room * sizeof **frontier);
            if (!*frontier) abort();
        }
        ++*stamp;
        for (uint64_t i = 0; i < most; i++) {
            const csaw_vertex v = hop ? out->dst[begin + i] : seed[i];
            if (mark[v] == *stamp) continue;
            mark[v] = *stamp;
            (*frontier)[n++] = v;
        }
        begin = out->count;
        room(out, out->count + n * k);
        for (uint64_t first = 0; first < n; first += GROUP) {
            const uint32_t group = n - first < GROUP ? (uint32_t)(n - first) : GROUP;
            uint32_t place[GROUP][MOST], got[GROUP];
            for (uint32_t i = 0; i < group && first + group + i < n; i++)
                soon(csr->rowptr + (*frontier)[first + group + i], into_l2);
            for (uint32_t i = 0; i < group; i++) {
                const uint64_t row = csr->rowptr[(*frontier)[first + i]];
                const uint32_t degree = (uint32_t)(csr->rowptr[(*frontier)[first + i] + 1] - row);
                if (degree <= k) {
                    for (got[i] = 0; got[i] < degree; got[i]++) place[i][got[i]] = got[i];
                } else {
                    got[i] = distinct(table, csr->col, row, degree, k, &state, place[i]);
                }
                for (uint32_t j = 0; j < got[i]; j++) soon(csr->col + row + place[i][j], into_l2);
            }
            for (uint32_t i = 0; i < group; i++) {
                const csaw_vertex v = (*frontier)[first + i];
                for (uint32_t j = 0; j < got[i]; j++) {
                    const uint64_t e = csr->rowptr[v] + place[i][j];
                    out->src[out->count] = v;
                    out->dst[out->count] = csr->col[e];
                    out->edge[out->count++] = e;
                }
            }
        }
    }
}

uint64_t hand_neighbors(const csaw_csr *csr, const hand_alias *table, const csaw_vertex *seed, const uint64_t *offset,
                        uint64_t num_batches, const uint32_t *fanout, uint32_t hops, uint64_t number, bool into_l2,
                        hand_sample *out) {
    uint64_t arcs = 0;
    for (uint32_t hop = 0; hop < hops; hop++)
        if (fanout[hop] > MOST) abort();
#pragma omp parallel reduction(+ : arcs)
    {
        static _Thread_local uint32_t *mark, stamp; /* kept from call to call, as a library would */
        static _Thread_local csaw_vertex *frontier;
        static _Thread_local uint64_t frontier_room, marked;
        if (marked < csr->num_vertices) {
            free(mark);
            mark = calloc(csr->num_vertices, sizeof *mark);
            marked = csr->num_vertices;
            if (!mark) abort();
        }
#pragma omp for schedule(dynamic)
        for (uint64_t j = 0; j < num_batches; j++) {
            const uint64_t mine = number + j * 0x2545f4914f6cdd1du;
            if (into_l2)
                one_batch(csr, table, seed + offset[j], offset[j + 1] - offset[j], fanout, hops, mine, mark, &stamp,
                          true, &out[j], &frontier, &frontier_room);
            else
                one_batch(csr, table, seed + offset[j], offset[j + 1] - offset[j], fanout, hops, mine, mark, &stamp,
                          false, &out[j], &frontier, &frontier_room);
            arcs += out[j].count;
        }
    }
    return arcs;
}
