/* SPDX-License-Identifier: MIT */
/* bench/check_arcs.c - an instance at a time, its arcs sorted: slow, plain, and apart from every sampler. */
#include "bench/check_arcs.h"

#include <stdlib.h>

#include "bench/measure.h"

static int by_edge(const void *a, const void *b) {
    const csaw_edge x = *(const csaw_edge *)a, y = *(const csaw_edge *)b;
    return (x > y) - (x < y);
}

static int by_vertex(const void *a, const void *b) {
    const csaw_vertex x = *(const csaw_vertex *)a, y = *(const csaw_vertex *)b;
    return (x > y) - (x < y);
}

static uint64_t degree_of(const csaw_csr *csr, csaw_vertex v) { return csr->rowptr[v + 1] - csr->rowptr[v]; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

typedef struct room {
    csaw_vertex *frontier; /* [size] ascending, different */
    csaw_edge *edge;
    uint64_t size, most;
} room;

static void widen(room *r, uint64_t most) {
    if (most <= r->most) return;
    r->most = 2 * most;
    r->frontier = realloc(r->frontier, r->most * sizeof *r->frontier);
    r->edge = realloc(r->edge, r->most * sizeof *r->edge);
    if (!r->frontier || !r->edge) must(CSAW_ENOMEM);
}

/* Arcs begin .. end - 1 are those of one depth. */
static uint64_t check_depth(const csaw_csr *csr, const csaw_arcs *view, uint64_t begin, uint64_t end, uint32_t fanout,
                            arcs_rule rule, const room *r) {
    uint64_t wrong = 0, of_vertices = 0, of_layer = 0;
    for (uint64_t k = begin; k < end; k++) {
        const csaw_vertex src = view->src[k];
        const csaw_edge edge = view->edge[k];
        if (src >= csr->num_vertices) return wrong + 1;
        wrong += edge < csr->rowptr[src] || edge >= csr->rowptr[src + 1] || csr->col[edge] != view->dst[k];
        wrong += !bsearch(&src, r->frontier, r->size, sizeof src, by_vertex);
        r->edge[k - begin] = edge;
    }
    qsort(r->edge, end - begin, sizeof *r->edge, by_edge);
    for (uint64_t k = begin + 1; k < end; k++) wrong += r->edge[k - begin] == r->edge[k - begin - 1];
    for (uint64_t f = 0; f < r->size; f++) {
        of_vertices += least(fanout, degree_of(csr, r->frontier[f]));
        of_layer += degree_of(csr, r->frontier[f]);
    }
    if (rule == ARCS_OF_LAYER) return wrong + (end - begin != least(fanout, of_layer));
    if (rule == ARCS_OF_SOME) return wrong;
    for (uint64_t k = begin, next; k < end; k = next) { /* those of a vertex lie side by side */
        for (next = k; next < end && view->src[next] == view->src[k]; next++) continue;
        wrong += next - k != least(fanout, degree_of(csr, view->src[k]));
    }
    return wrong + (end - begin != of_vertices);
}

uint64_t check_arcs(const csaw_csr *csr, const csaw_arcs *view, uint64_t count, const csaw_vertex *seed,
                    const uint32_t *fanout, uint32_t depth, arcs_rule rule) {
    uint64_t wrong = view->offset[0] != 0 && view->first == 0;
    room r = {0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t k = view->offset[i];
        const uint64_t end = view->offset[i + 1];
        if (end < k) return wrong + 1;
        widen(&r, end - k + 1);
        r.frontier[0] = seed[i];
        r.size = 1;
        for (uint32_t d = 0; d < depth; d++) {
            const uint64_t begin = k;
            while (k < end && view->depth[k] == d) k++;
            wrong += check_depth(csr, view, begin, k, rule == ARCS_OF_SOME ? 0 : fanout[d], rule, &r);
            for (uint64_t j = begin; j < k; j++) r.frontier[j - begin] = view->dst[j];
            qsort(r.frontier, k - begin, sizeof *r.frontier, by_vertex);
            r.size = 0;
            for (uint64_t j = 0; j < k - begin; j++)
                if (!r.size || r.frontier[r.size - 1] != r.frontier[j]) r.frontier[r.size++] = r.frontier[j];
        }
        wrong += k != end;
    }
    free(r.frontier);
    free(r.edge);
    return wrong;
}
