/* SPDX-License-Identifier: MIT */
/* runtime/base/rmat.c - R-MAT graphs: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM
 * 2004. Each edge falls into a quadrant of the adjacency matrix, then into a quadrant of that, one level per bit of
 * its ids. Ids are permuted, for otherwise they give away the degrees.
 *
 * Every number comes from csaw/philox.h by place (the edge, the id, the pair), so threads do not matter:
 *   purpose 4   instance = edge, draw = level / 4: one 32-bit word a level
 *   purpose 5   instance = half of an id, depth = round: the permutation
 *   purpose 6   generate_weights.c: the weight of both arcs of a pair, by final ids
 * Edges are made a group at a time, level by level, in loops that compilers turn into vector instructions. */
#include "runtime/base/csr_build.h"
#include "runtime/base/generate_weights.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/numbers.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <csaw/philox.h>

enum { DRAW_EDGE = CSAW_DRAW_RMAT, DRAW_PERMUTATION = CSAW_DRAW_RMAT + 1, PERMUTATION_ROUNDS = 6, GROUP = 256 };

typedef struct rmat {
    uint32_t scale;
    uint64_t seed;
    uint64_t below[3]; /* of a 32-bit word: quadrant a, a or b, a or b or c */
} rmat;

/* One level of the edges of a group, from a word each, the upper or the lower of `half`. The quadrant is the number of
 * limits at or below the word: its upper bit goes to src, its lower bit to dst. */
static void descend(const rmat *model, const uint64_t *half, uint32_t shift, csaw_vertex *src, csaw_vertex *dst) {
    const uint32_t a = (uint32_t)model->below[0], b = (uint32_t)model->below[1], c = (uint32_t)model->below[2];
    const uint32_t has_b = a == model->below[0], has_c = b == model->below[1], has_d = c == model->below[2];
    for (int l = 0; l < GROUP; l++) {
        const uint32_t word = (uint32_t)(half[l] >> shift);
        uint32_t past_a = (word >= a) & has_b, past_b = (word >= b) & has_c, past_c = (word >= c) & has_d;
        src[l] = src[l] << 1 | past_b;
        dst[l] = dst[l] << 1 | (past_a ^ past_b ^ past_c);
    }
}

/* Edges first .. first + GROUP - 1. */
static void group_of_edges(const rmat *model, uint64_t first, csaw_vertex *src, csaw_vertex *dst) {
    uint32_t low[GROUP], high[GROUP], zero[GROUP] = {0}, draw[GROUP]; /* the counter of csaw_draw() */
    uint64_t half[2][GROUP];
    const uint32_t *const counter[4] = {low, high, zero, draw};
    for (int l = 0; l < GROUP; l++) {
        low[l] = (uint32_t)(first + (uint64_t)l);
        high[l] = (uint32_t)((first + (uint64_t)l) >> 32) << 24;
        src[l] = dst[l] = 0;
    }
    for (uint32_t level = 0; level < model->scale; level++) {
        if (level % 4 == 0) {
            for (int l = 0; l < GROUP; l++) draw[l] = (uint32_t)DRAW_EDGE << 28 | level / 4;
            csaw__numbers(model->seed, counter, GROUP, half[0], half[1]);
        }
        descend(model, half[level % 4 / 2], level % 2 * 32, src, dst);
    }
}

/* A bijection of 0 .. 2^scale - 1: a Feistel network over the two halves of the id, which swap by turns. */
static csaw_vertex permute(const rmat *model, csaw_vertex id) {
    uint32_t low_bits = model->scale / 2, high_bits = model->scale - low_bits;
    uint32_t low = id & ((1u << low_bits) - 1), high = id >> low_bits;
    for (uint32_t round = 0; round < PERMUTATION_ROUNDS; round += 2) {
        high ^= csaw_draw(model->seed, low, round, 0, DRAW_PERMUTATION, 0).x[0] & ((1u << high_bits) - 1);
        low ^= csaw_draw(model->seed, high, round + 1, 0, DRAW_PERMUTATION, 0).x[0] & ((1u << low_bits) - 1);
    }
    return high << low_bits | low;
}

static csaw_status make_edges(const rmat *model, uint64_t num_edges, csaw_vertex *src, csaw_vertex *dst) {
    const uint64_t num_vertices = (uint64_t)1 << model->scale;
    csaw__watch *const watch = csaw__watching();
    csaw_vertex *permuted = NULL;
    CSAW_TRY(csaw__alloc(&permuted, num_vertices, "a permutation of the vertices"));
    CSAW__OMP(parallel for)
    for (uint64_t s = 0; s < csaw__stretches(num_vertices); s++) {
        if (csaw__stopped(watch)) continue;
        for (uint64_t id = s * CSAW__STRETCH; id < csaw__stretch_end(s, num_vertices); id++)
            permuted[id] = permute(model, (csaw_vertex)id);
    }
    CSAW__OMP(parallel for)
    for (uint64_t first = 0; first < num_edges; first += GROUP) {
        csaw_vertex u[GROUP], v[GROUP];
        if (csaw__stopped(watch)) continue;
        group_of_edges(model, first, u, v);
        const uint64_t count = num_edges - first < GROUP ? num_edges - first : GROUP;
        for (uint64_t l = 0; l < count; l++) {
            src[first + l] = permuted[u[l]];
            dst[first + l] = permuted[v[l]];
        }
    }
    csaw__free(permuted);
    return csaw__go_on();
}

/* Ids close up over vertices without an arc in either direction; their order stays, so rows stay ascending. */
static csaw_status remove_isolated(csaw_csr *csr) {
    csaw_edge *rowptr = (csaw_edge *)csr->rowptr;
    csaw_vertex *col = (csaw_vertex *)csr->col, *name = NULL; /* name: 1 = has an arc; then the new id */
    csaw_vertex left = 0;
    csaw__watch *const watch = csaw__watching();
    CSAW_TRY(csaw__alloc_zero(&name, csr->num_vertices, "the new ids of the vertices"));
    CSAW__OMP(parallel for)
    for (uint64_t s = 0; s < csaw__stretches(csr->num_edges); s++) {
        if (csaw__stopped(watch)) continue;
        for (uint64_t e = s * CSAW__STRETCH; e < csaw__stretch_end(s, csr->num_edges); e++) {
            CSAW__OMP(atomic write)
            name[col[e]] = 1;
        }
    }
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        if (!name[v] && rowptr[v + 1] == rowptr[v]) continue;
        rowptr[left] = rowptr[v];
        name[v] = left++;
    }
    CSAW__OMP(parallel for)
    for (uint64_t s = 0; s < csaw__stretches(csr->num_edges); s++) {
        if (csaw__stopped(watch)) continue;
        for (uint64_t e = s * CSAW__STRETCH; e < csaw__stretch_end(s, csr->num_edges); e++) col[e] = name[col[e]];
    }
    csaw__free(name);
    rowptr[left] = csr->num_edges;
    csr->num_vertices = left;
    return csaw__go_on();
}

static csaw_status check_rmat(csaw_rmat_options *o) {
    if (o->scale == 0) o->scale = 16;
    if (o->edge_factor == 0) o->edge_factor = 16;
    if (o->a == 0 && o->b == 0 && o->c == 0) o->a = 0.57, o->b = o->c = 0.19;
    CSAW_REQUIRE(o->scale <= 31, CSAW_EINVAL, "scale is %u, but at most 31 (2^31 vertices); use a smaller scale",
                 o->scale);
    CSAW_REQUIRE((uint64_t)o->edge_factor << o->scale <= CSAW_MAX_INSTANCES, CSAW_EINVAL,
                 "edge_factor %u at scale %u makes %llu edges, but at most 2^40; use smaller ones", o->edge_factor,
                 o->scale, (unsigned long long)o->edge_factor << o->scale);
    CSAW_REQUIRE(o->a >= 0 && o->b >= 0 && o->c >= 0 && o->a + o->b + o->c <= 1 + 1e-12, CSAW_EINVAL,
                 "a, b, c are %g, %g, %g, but must not be negative and sum to at most 1; fix them, or leave all three "
                 "0 for .57, .19, .19",
                 o->a, o->b, o->c);
    return CSAW_OK;
}

csaw_status csaw_graph_rmat(const csaw_rmat_options *given, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_rmat needs a place for the graph; out is NULL");
    csaw_vertex *src = NULL, *dst = NULL;
    csaw__edge_segment *segments = NULL;
    csaw_csr csr = {0};
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_rmat_options, given, options);
    CSAW_TRY(check_rmat(&options));
    const double word = 4294967296.0;
    const rmat model = {options.scale,
                        options.seed,
                        {(uint64_t)(options.a * word), (uint64_t)((options.a + options.b) * word),
                         (uint64_t)((options.a + options.b + options.c) * word)}};
    const uint64_t num_edges = (uint64_t)options.edge_factor << options.scale, stretch = (uint64_t)1 << 16;
    const uint64_t num_segments = (num_edges + stretch - 1) / stretch;
    CSAW_TRY_DONE(csaw__alloc(&src, num_edges, "the edges of R-MAT"));
    CSAW_TRY_DONE(csaw__alloc(&dst, num_edges, "the edges of R-MAT"));
    CSAW_TRY_DONE(csaw__alloc(&segments, num_segments, "the edges of R-MAT"));
    CSAW_TRY_DONE(make_edges(&model, num_edges, src, dst));
    for (uint64_t s = 0; s < num_segments; s++) {
        uint64_t left = num_edges - s * stretch;
        segments[s] = (csaw__edge_segment){
            .src = src + s * stretch, .dst = dst + s * stretch, .count = left < stretch ? left : stretch};
    }
    CSAW_TRY_DONE(csaw__csr_build(segments, num_segments, (uint64_t)1 << options.scale, 0,
                                  &(csaw_load_options){.undirected = !options.directed}, &csr));
    if (!options.keep_isolated) CSAW_TRY_DONE(remove_isolated(&csr));
    if (options.weighted) CSAW_TRY_DONE(csaw__generate_weights(model.seed, &csr));
    CSAW_TRY_DONE(csaw__graph_adopt(&csr, true, out));
    csr = (csaw_csr){0};
done:
    csaw__csr_free(&csr);
    csaw__free(segments);
    csaw__free(dst);
    csaw__free(src);
    return status;
}
