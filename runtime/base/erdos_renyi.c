/* SPDX-License-Identifier: MIT */
/* runtime/base/erdos_renyi.c - G(n, m): m edges, all sets of m pairs equally likely. Source: Erdos, Renyi, "On random
 * graphs I", Publicationes Mathematicae 6, 1959.
 *
 * Pairs are drawn independently, a few more than it takes for m distinct ones; building a CSR finds the distinct ones,
 * and surplus ones are then dropped at random. Given how many there are, every set of that many pairs is equally
 * likely, so what is left is too: exact. Where m is more than half of all pairs, the pairs that are left out are drawn
 * instead. All by place, purpose 7 of csaw/philox.h, so threads do not matter: depth 0   instance = draw: a pair, by
 * the two halves of the block depth 1   instance = place in the CSR: the surplus (Floyd's algorithm: Bentley, Floyd,
 * CACM 30, 1987) */
#include "runtime/base/csr_build.h"
#include "runtime/base/generate_weights.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <csaw/math.h>
#include <csaw/philox.h>
#include <string.h>

enum { DRAW_PAIR = 0, DRAW_SURPLUS = 1, STRETCH = 1 << 16 };

typedef unsigned long long number;

typedef struct model {
    uint64_t n, seed;
    bool directed;
    uint64_t pairs; /* in all */
} model;

/* Edges in two arrays as segments that threads share out, to a CSR without loops and duplicates. */
static csaw_status build(const model *m, csaw_vertex *src, csaw_vertex *dst, uint64_t count, bool undirected,
                         csaw_csr *out) {
    csaw__edge_segment *segments = NULL;
    const uint64_t num_segments = (count + STRETCH - 1) / STRETCH;
    CSAW_TRY(csaw__alloc(&segments, num_segments, "the edges of a random graph"));
    for (uint64_t s = 0; s < num_segments; s++) {
        uint64_t first = s * STRETCH, left = count - first;
        segments[s] =
            (csaw__edge_segment){.src = src + first, .dst = dst + first, .count = left < STRETCH ? left : STRETCH};
    }
    csaw_status status =
        csaw__csr_build(segments, num_segments, m->n, 0, &(csaw_load_options){.undirected = undirected}, out);
    csaw__free(segments);
    return status;
}

/* Pair i, smaller id first unless directed. */
static void draw_pair(const model *m, uint64_t i, csaw_vertex *src, csaw_vertex *dst) {
    csaw_block block = csaw_draw(m->seed, i, DRAW_PAIR, 0, CSAW_DRAW_GENERATE, 0);
    csaw_vertex u = (csaw_vertex)csaw_below(csaw_half(&block, 0), m->n);
    csaw_vertex v = (csaw_vertex)csaw_below(csaw_half(&block, 1), m->n - 1);
    v += v >= u; /* any but u */
    bool swap = !m->directed && v < u;
    *src = swap ? v : u;
    *dst = swap ? u : v;
}

/* `draws` pairs as a CSR of the distinct ones. */
static csaw_status draw_pairs(const model *m, uint64_t draws, csaw_csr *out) {
    csaw_vertex *src = NULL;
    CSAW_TRY(csaw__alloc(&src, 2 * draws, "the edges of a random graph"));
    csaw_vertex *dst = src + draws;
    csaw__watch *const watch = csaw__watching();
    CSAW__OMP(parallel for)
    for (uint64_t s = 0; s < csaw__stretches(draws); s++) {
        if (csaw__stopped(watch)) continue;
        for (uint64_t i = s * CSAW__STRETCH; i < csaw__stretch_end(s, draws); i++) draw_pair(m, i, &src[i], &dst[i]);
    }
    csaw_status status = csaw__go_on();
    if (status == CSAW_OK) status = build(m, src, dst, draws, false, out);
    csaw__free(src);
    return status;
}

/* How many draws give `wanted` distinct pairs, and some more: the mean of the coupon collector and four deviations. */
static uint64_t draws_for(const model *m, uint64_t wanted) {
    const double pairs = (double)m->pairs, part = (double)wanted / pairs;
    const double mean = part < 1e-6 ? (double)wanted * (1 + part) : -pairs * csaw_log(1 - part);
    return (uint64_t)(mean + 4 * __builtin_sqrt(mean)) + 16;
}

/* drop: a bit for each of k places out of num_edges */
static void choose_surplus(const model *m, uint64_t num_edges, uint64_t k, uint64_t *drop) {
    for (uint64_t j = num_edges - k; j < num_edges; j++) {
        csaw_block block = csaw_draw(m->seed, j, DRAW_SURPLUS, 0, CSAW_DRAW_GENERATE, 0);
        uint64_t place = csaw_below(csaw_half(&block, 0), j + 1);
        if (drop[place / 64] >> place % 64 & 1) place = j;
        drop[place / 64] |= (uint64_t)1 << place % 64;
    }
}

/* A CSR of exactly `wanted` distinct pairs. */
static csaw_status choose_pairs(const model *m, uint64_t wanted, csaw_csr *out) {
    csaw_csr csr = {0};
    uint64_t *drop = NULL;
    csaw_status status = CSAW_OK;
    for (uint64_t draws = draws_for(m, wanted);; draws += draws / 8) {
        CSAW_TRY(draw_pairs(m, draws, &csr));
        if (csr.num_edges >= wanted) break;
        csaw__csr_free(&csr);
    }
    CSAW_TRY_DONE(csaw__alloc_zero(&drop, csr.num_edges / 64 + 1, "the edges of a random graph"));
    choose_surplus(m, csr.num_edges, csr.num_edges - wanted, drop);
    csaw_edge *rowptr = (csaw_edge *)csr.rowptr, left = 0;
    csaw_vertex *col = (csaw_vertex *)csr.col;
    for (uint64_t v = 0, e = 0; v < csr.num_vertices; v++) {
        for (; e < rowptr[v + 1]; e++)
            if (!(drop[e / 64] >> e % 64 & 1)) col[left++] = col[e];
        rowptr[v + 1] = left; /* the row before has been read */
    }
    csr.num_edges = left;
    *out = csr;
    csr = (csaw_csr){0};
done:
    csaw__free(drop);
    csaw__csr_free(&csr);
    return status;
}

/* The pairs as two arrays: those of the CSR or, inverted, all the others. */
static csaw_status list_pairs(const model *m, const csaw_csr *csr, bool inverted, uint64_t count, csaw_vertex **out) {
    csaw_vertex *src = NULL;
    CSAW_TRY(csaw__alloc(&src, 2 * count, "the edges of a random graph"));
    uint64_t at = 0;
    csaw__watch *const watch = csaw__watching();
    for (uint64_t u = 0; u < m->n && !csaw__stopped(watch); u++) {
        csaw_edge e = csr->rowptr[u];
        const csaw_edge end = csr->rowptr[u + 1];
        for (; !inverted && e < end; e++, at++) src[at] = (csaw_vertex)u, src[count + at] = csr->col[e];
        for (uint64_t v = m->directed ? 0 : u + 1; inverted && v < m->n; v++) {
            if (e < end && csr->col[e] == v) {
                e++;
            } else if (v != u) {
                src[at] = (csaw_vertex)u;
                src[count + at++] = (csaw_vertex)v;
            }
        }
    }
    *out = src; /* the caller's to free */
    return csaw__go_on();
}

static csaw_status check(const csaw_random_graph_options *o, model *m) {
    CSAW_REQUIRE(o->num_vertices <= CSAW__MAX_VERTICES, CSAW_EINVAL,
                 "num_vertices is %llu, but a graph holds at most %llu; ask for fewer", (number)o->num_vertices,
                 CSAW__MAX_VERTICES);
    CSAW_REQUIRE(!o->degree && !o->num_degrees, CSAW_EINVAL,
                 "degrees were given, which an Erdos-Renyi graph does not have; use csaw_graph_configuration()");
    m->n = o->num_vertices;
    m->seed = o->seed;
    m->directed = o->directed;
    m->pairs = m->n ? m->n % 2 ? m->n * ((m->n - 1) / 2) : m->n / 2 * (m->n - 1) : 0;
    if (o->directed) m->pairs *= 2;
    CSAW_REQUIRE(o->num_edges <= m->pairs, CSAW_EINVAL,
                 "num_edges is %llu, but %llu vertices have %llu %s; ask for fewer edges or more vertices",
                 (number)o->num_edges, (number)m->n, (number)m->pairs, o->directed ? "ordered pairs" : "pairs");
    CSAW_REQUIRE(o->num_edges <= CSAW_MAX_INSTANCES / 2, CSAW_EINVAL,
                 "num_edges is %llu, but at most 2^39; ask for fewer", (number)o->num_edges);
    return CSAW_OK;
}

csaw_status csaw_graph_erdos_renyi(const csaw_random_graph_options *given, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_erdos_renyi needs a place for the graph; out is NULL");
    model m = {0};
    csaw_csr chosen = {0}, csr = {0};
    csaw_vertex *pairs = NULL;
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_random_graph_options, given, options);
    CSAW_TRY(check(&options, &m));
    const uint64_t count = options.num_edges;
    const bool inverted = count > m.pairs / 2;
    if (m.pairs) CSAW_TRY_DONE(choose_pairs(&m, inverted ? m.pairs - count : count, &chosen));
    if (m.pairs) CSAW_TRY_DONE(list_pairs(&m, &chosen, inverted, count, &pairs));
    CSAW_TRY_DONE(build(&m, pairs, pairs ? pairs + count : NULL, count, !m.directed, &csr));
    if (options.weighted) CSAW_TRY_DONE(csaw__generate_weights(m.seed, &csr));
    CSAW_TRY_DONE(csaw__graph_adopt(&csr, true, out));
    csr = (csaw_csr){0};
done:
    csaw__free(pairs);
    csaw__csr_free(&chosen);
    csaw__csr_free(&csr);
    return status;
}
