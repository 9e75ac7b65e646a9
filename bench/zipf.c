/* SPDX-License-Identifier: MIT */
/* bench/zipf.c - graphs by a power law of ranks. Every number is csaw_draw() of a place: the draw's two ends, the step
 * of the permutation (Fisher, Yates), the edge's weight; so threads do not matter. */
#include "bench/zipf.h"

#include <csaw/math.h>
#include <csaw/philox.h>
#include <string.h>

#include "bench/measure.h"

enum { ENDS, PERMUTATION, WEIGHT }; /* in place of a depth */

static const zipf_shape shapes[] = {
    {"reddit", 232965, 114615892}, {"products", 2449029, 123718280}, {"arxiv", 169343, 1166243}};

const zipf_shape *zipf_shape_of(const char *name) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
    return NULL;
}

static void *memory(uint64_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

static double unit(uint32_t high, uint32_t low) { /* [0, 1) in steps of 2^-53 */
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

static csaw_vertex *permutation(uint64_t count, uint64_t seed) {
    csaw_vertex *of = memory(count * sizeof *of);
    for (uint64_t i = 0; i < count; i++) of[i] = (csaw_vertex)i;
    for (uint64_t i = count; i > 1; i--) {
        const csaw_block b = csaw_draw(seed, i, PERMUTATION, 0, CSAW_DRAW_GENERATE, 0);
        const uint64_t j = (uint64_t)(unit(b.x[0], b.x[1]) * (double)i);
        const csaw_vertex kept = of[i - 1];
        of[i - 1] = of[j];
        of[j] = kept;
    }
    return of;
}

static csaw_vertex rank_of(double u, uint64_t count) {
    const uint64_t rank = (uint64_t)(u * u * csaw_sqrt(u) * (double)count);
    return (csaw_vertex)(rank < count ? rank : count - 1);
}

csaw_graph *zipf_graph(const zipf_shape *shape, uint64_t seed) {
    const uint64_t draws = shape->num_draws, vertices = shape->num_vertices;
    csaw_vertex *src = memory(draws * sizeof *src), *dst = memory(draws * sizeof *dst);
    csaw_vertex *name = permutation(vertices, seed);
    csaw_graph *plain = NULL, *out = NULL;
#pragma omp parallel for
    for (uint64_t i = 0; i < draws; i++) {
        const csaw_block b = csaw_draw(seed, i, ENDS, 0, CSAW_DRAW_GENERATE, 0);
        src[i] = name[rank_of(unit(b.x[0], b.x[1]), vertices)];
        dst[i] = name[rank_of(unit(b.x[2], b.x[3]), vertices)];
    }
    must(csaw_graph_from_edges(&(csaw_edges){.num_vertices = vertices, .num_edges = draws, .src = src, .dst = dst},
                               CSAW_LOAD(.keep_loops = true, .keep_gaps = true), &plain));
    free(src);
    free(dst);
    free(name);
    csaw_csr csr = csaw_graph_csr(plain);
    float *weight = memory(csr.num_edges * sizeof *weight);
#pragma omp parallel for
    for (uint64_t e = 0; e < csr.num_edges; e++)
        weight[e] = (float)(csaw_draw(seed, e, WEIGHT, 0, CSAW_DRAW_GENERATE, 0).x[0] >> 8) * 0x1p-24f;
    csr.weight = weight;
    must(csaw_graph_from_csr(&csr, &out));
    csaw_graph_free(plain);
    free(weight);
    return out;
}
