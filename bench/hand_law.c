/* SPDX-License-Identifier: MIT */
/* bench/hand_law.c - the picks of the kernels written by hand, held to the law on small graphs.
 *
 * Pairs: at fanout 2, 2 on complete graphs every pair that a row's picks may be has a probability known exactly;
 * chi-square over all pairs of all rows, as a standard normal (Wilson, Hilferty), must stay below 4. Counts: at any
 * fanout, also on a star whose row is longer than a warp's cells, how often an arc was picked beside how often csaw's
 * CPU engine picked it: of all |z| the largest must stay below 5. Where the weights are kept from the kernel, it must
 * fail: so the test sees what it is to see. */
#include <csaw/samplers.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/check_arcs.h"
#include "bench/hand_device.h"
#include "bench/hand_law.h"
#include "bench/measure.h"

static void *memory(uint64_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

/* Every vertex beside every other, or beside vertex 0 alone. Weights of 1 to 5, in no order. */
static csaw_graph *small_graph(uint64_t vertices, bool star) {
    csaw_edge *rowptr = memory(vertices + 1, sizeof *rowptr);
    const uint64_t arcs = star ? 2 * (vertices - 1) : vertices * (vertices - 1);
    csaw_vertex *col = memory(arcs, sizeof *col);
    float *weight = memory(arcs, sizeof *weight);
    uint64_t e = 0;
    for (uint64_t v = 0; v < vertices; v++) {
        for (uint64_t u = 0; u < vertices; u++) {
            if (u == v || (star && u && v)) continue;
            weight[e] = 1 + (float)((e * 2654435761u + v * 40503u) % 4096) / 1024;
            col[e++] = (csaw_vertex)u;
            if (star && v) break;
        }
        rowptr[v + 1] = e;
    }
    csaw_graph *graph = NULL;
    must(csaw_graph_from_csr(
        &(csaw_csr){.num_vertices = vertices, .num_edges = arcs, .rowptr = rowptr, .col = col, .weight = weight},
        &graph));
    free(rowptr);
    free(col);
    free(weight);
    return graph;
}

/* Chi-square of pairs as a standard normal. alike: expect all pairs alike whatever the weights. */
static double pairs_z(const csaw_csr *csr, const csaw_arcs *view, bool alike) {
    const uint64_t n = csr->num_vertices, pairs = n * n; /* of places in a row: low * n + high */
    uint64_t *seen = memory(n * pairs, sizeof *seen);
    double sum = 0, freedom = 0;
    for (uint64_t k = 0; k + 1 < view->offset[view->num_instances]; k += 2) { /* every row has two picks */
        const uint64_t v = view->src[k], a = view->edge[k] - csr->rowptr[v], b = view->edge[k + 1] - csr->rowptr[v];
        seen[v * pairs + (a < b ? a * n + b : b * n + a)]++;
    }
    for (uint64_t v = 0; v < n; v++) {
        const float *w = csr->weight + csr->rowptr[v];
        double all = 0;
        uint64_t rows = 0;
        for (uint64_t a = 0; a + 1 < n; a++) all += alike ? 1 : (double)w[a];
        for (uint64_t p = 0; p < pairs; p++) rows += seen[v * pairs + p];
        if (!rows) continue;
        for (uint64_t a = 0; a + 1 < n; a++)
            for (uint64_t b = a + 1; b + 1 < n; b++) {
                const double x = alike ? 1 : (double)w[a], y = alike ? 1 : (double)w[b];
                const double expected = (double)rows * x * y / all * (1 / (all - x) + 1 / (all - y));
                sum += pow((double)seen[v * pairs + a * n + b] - expected, 2) / expected;
                freedom++;
            }
        freedom--;
    }
    free(seen);
    const double part = 2 / (9 * freedom);
    return (cbrt(sum / freedom) - (1 - part)) / sqrt(part);
}

/* How often each arc, or arcs of places alike when divided by `bins`, were picked at a depth: [2][bins of arcs]. */
static void count_arcs(const csaw_arcs *view, uint64_t arcs, uint64_t bins, uint64_t *seen) {
    for (uint64_t k = 0; k < view->offset[view->num_instances]; k++)
        seen[view->depth[k] * bins + (arcs > bins ? view->edge[k] * bins / arcs : view->edge[k])]++;
}

/* The largest |z| between two counts, as of Poisson numbers: their variance is at most that. */
static double counts_z(const uint64_t *a, const uint64_t *b, uint64_t count) {
    double most = 0;
    for (uint64_t i = 0; i < count; i++)
        if (a[i] + b[i]) most = fmax(most, fabs((double)a[i] - (double)b[i]) / sqrt((double)a[i] + (double)b[i]));
    return most;
}

typedef struct law_job {
    csaw_graph *graph;
    hand_device *hand;
    csaw_vertex *seed;
    uint64_t instances;
    const uint32_t *fanout;
} law_job;

static csaw_arcs sample(law_job *j, hand_way way) {
    hand_device_seeds(j->hand, j->seed, j->instances, j->fanout);
    hand_device_run(j->hand, way, 12345);
    return hand_device_get(j->hand, way, 0, j->instances);
}

static bool judge(const char *test, const char *graph, const char *way, const uint32_t *fanout, double z,
                  double limit) {
    const bool good = fabs(z) < limit;
    printf("law of the kernels by hand: %-6s %-9s %-8s fanout %2u, %2u: |z| %.2f, below %.0f%s\n", test, graph, way,
           fanout[0], fanout[1], fabs(z), limit, good ? "" : " FAILED");
    return good;
}

static bool counts_match(law_job *j, hand_way way, const char *name) {
    const csaw_csr csr = csaw_graph_csr(j->graph);
    const uint64_t bins = csr.num_edges < 2000 ? csr.num_edges : 200;
    uint64_t *mine = memory(2 * bins, sizeof *mine), *other = memory(2 * bins, sizeof *other);
    csaw_arcs view = sample(j, way);
    csaw_plan *plan = NULL;
    csaw_samples *samples = NULL;
    bool good = check_arcs(&csr, &view, j->instances, j->seed, j->fanout, 2, ARCS_OF_VERTEX) == 0;
    if (!good) printf("law of the kernels by hand: %s: arcs that are no sample FAILED\n", name);
    count_arcs(&view, csr.num_edges, bins, mine);
    must(csaw_plan_create(j->graph, NULL, &plan));
    must(csaw_sample(plan, &csaw_neighbor_biased, NULL, &(csaw_seeds){.vertex = j->seed, .count = j->instances},
                     CSAW_RUN(.depth = 2, .fanout = j->fanout, .seed = 54321), &samples));
    must(csaw_samples_arcs(samples, CSAW_HOST, &view));
    count_arcs(&view, csr.num_edges, bins, other);
    good &= judge("counts", name, "weighted", j->fanout, counts_z(mine, other, 2 * bins), 5);
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    free(mine);
    free(other);
    return good;
}

/* Uniform picks of a row of n: each arc in min(fanout, n) of n visits. */
static bool counts_even(law_job *j, const char *name) {
    const csaw_csr csr = csaw_graph_csr(j->graph);
    const uint64_t n = csr.num_vertices - 1;
    uint64_t *seen = memory(2 * csr.num_edges, sizeof *seen);
    const csaw_arcs view = sample(j, HAND_UNIFORM);
    double most = 0;
    count_arcs(&view, csr.num_edges, csr.num_edges, seen);
    for (uint64_t r = 0; r < 2 * csr.num_vertices; r++) { /* a row at a depth */
        const double p = (double)j->fanout[r / csr.num_vertices] / (double)n;
        const uint64_t *row = seen + r / csr.num_vertices * csr.num_edges + csr.rowptr[r % csr.num_vertices];
        double picks = 0;
        if (p >= 1) continue;
        for (uint64_t i = 0; i < n; i++) picks += (double)row[i];
        const double expected = picks / (double)n;
        for (uint64_t i = 0; i < n && picks > 0; i++)
            most = fmax(most, fabs((double)row[i] - expected) / sqrt(expected * (1 - p)));
    }
    free(seen);
    const bool good = check_arcs(&csr, &view, j->instances, j->seed, j->fanout, 2, ARCS_OF_VERTEX) == 0;
    if (!good) printf("law of the kernels by hand: %s: arcs that are no sample FAILED\n", name);
    return judge("counts", name, "uniform", j->fanout, most, 5) && good;
}

bool hand_law(const char *device) {
    static const uint32_t fanouts[2][2] = {{15, 10}, {2, 2}};
    static const struct {
        const char *name;
        uint64_t vertices, instances;
        bool star;
    } graphs[] = {{"complete", 7, 100000, false},
                  {"complete", 13, 100000, false},
                  {"complete", 41, 500000, false},
                  {"star", 20001, 20000, true}};
    bool good = true;
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
        char name[32];
        law_job j = {.graph = small_graph(graphs[g].vertices, graphs[g].star), .instances = graphs[g].instances};
        const csaw_csr csr = csaw_graph_csr(j.graph);
        snprintf(name, sizeof name, "%s %llu", graphs[g].name, (unsigned long long)graphs[g].vertices);
        j.seed = memory(j.instances, sizeof *j.seed);
        for (uint64_t i = 0; i < j.instances; i++)
            j.seed[i] = graphs[g].star ? 0 : (csaw_vertex)(i % graphs[g].vertices);
        j.hand = hand_device_open(&csr, device);
        for (int f = 0; f < 2; f++) {
            j.fanout = fanouts[f];
            j.instances = graphs[g].instances / (f ? 1 : 10);    /* many arcs each at 15, 10 */
            if (j.fanout[1] >= graphs[g].vertices - 1) continue; /* every arc would be picked */
            good &= counts_match(&j, HAND_WEIGHTED, name);
            if (!graphs[g].star) good &= counts_even(&j, name);
            if (f == 0 || graphs[g].star) continue;
            csaw_arcs view = sample(&j, HAND_WEIGHTED);
            good &= judge("pairs", name, "weighted", j.fanout, pairs_z(&csr, &view, false), 4);
            if (pairs_z(&csr, &view, true) < 4) {
                printf("law of the kernels by hand: weights make no difference FAILED\n");
                good = false;
            }
            view = sample(&j, HAND_UNIFORM);
            good &= judge("pairs", name, "uniform", j.fanout, pairs_z(&csr, &view, true), 4);
        }
        hand_device_close(j.hand);
        free(j.seed);
        csaw_graph_free(j.graph);
    }
    return good;
}
