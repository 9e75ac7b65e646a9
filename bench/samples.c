/* SPDX-License-Identifier: MIT */
/* bench/samples.c - sampled arcs a second (SEPS) of two-hop neighbour sampling on R-MAT graphs: csaw through its public
 * API, beside a loop written by hand, on the CPU, asking for memory as __builtin_prefetch() does by itself, or into L2
 * as csaw does. All are verified before they are timed: every arc exists, none is picked twice by one vertex at one
 * hop, and every vertex has min(fanout, degree) of them.
 *
 *   sample_bench [--scale 20] [--edge-factor 16] [--seeds 10000] [--batch 1024] [--repeat 11] [--device cpu]
 *                [--json FILE] [--commit TEXT]
 *   sample_bench --instances 2000,20000,200000,2000000 [--only neighbor,neighbor_biased] [--scale 20]
 *                [--edge-factor 16] [--fanout 8,8,8] [--in-turn 1] [--in-place 1] [--repeat 11] [--device cuda:0]
 *                [--json FILE] [--commit TEXT]
 *
 * With --instances it is bench/instances.c that runs: one seed an instance, fanouts 15, 10 and 2, 2 or that of
 * --fanout, several samplers, on a GPU beside kernels written by hand, on several (--device all, or cuda:0,cuda:1)
 * without them. --only names the samplers wanted. With --in-turn the vertices are the seeds, the same number of times
 * each, in place of a list; with --in-place arcs stay on the GPUs, if it runs on any. --commit is kept in the JSON. */
#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/hand_samples.h"
#include "bench/instances.h"
#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/options.h"

enum { HOPS = 2 };
static const uint32_t fanout[HOPS] = {15, 10};

typedef struct settings {
    uint32_t scale, edge_factor, seeds, batch, repeat, in_turn, in_place;
    const char *device, *json, *instances, *only, *fanout, *commit;
} settings;

static void *memory(size_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) exit(1);
    return p;
}

static int by_edge(const void *a, const void *b) {
    const csaw_edge x = *(const csaw_edge *)a, y = *(const csaw_edge *)b;
    return (x > y) - (x < y);
}

/* One batch: arcs of hop 0, then of hop 1, each vertex's side by side. */
static void verify(const csaw_csr *csr, const csaw_vertex *src, const csaw_vertex *dst, const csaw_edge *edge,
                   uint64_t count, const char *by) {
    uint64_t wrong = 0;
    uint32_t hop = 0;
    uint8_t *expanded =
        memory(csr->num_vertices); /* at this hop; hop 1 begins where a vertex comes that was not a seed */
    for (uint64_t i = 0, end; i < count; i = end) {
        const uint64_t degree = csr->rowptr[src[i] + 1] - csr->rowptr[src[i]];
        csaw_edge mine[64];
        if (expanded[src[i]]) {
            memset(expanded, 0, csr->num_vertices);
            hop++;
        }
        expanded[src[i]] = 1;
        uint32_t k = hop < HOPS ? fanout[hop] : 0;
        for (end = i; end < count && src[end] == src[i] && end - i < 64; end++) {
            mine[end - i] = edge[end];
            wrong += edge[end] < csr->rowptr[src[i]] || edge[end] >= csr->rowptr[src[i] + 1] ||
                     csr->col[edge[end]] != dst[end];
        }
        qsort(mine, end - i, sizeof *mine, by_edge);
        for (uint64_t j = 1; j < end - i; j++) wrong += mine[j] == mine[j - 1];
        if (hop == 0 && end - i != (degree < k ? degree : k)) { /* the second hop has begun */
            memset(expanded, 0, csr->num_vertices);
            expanded[src[i]] = 1;
            k = fanout[++hop];
        }
        wrong += end - i != (degree < k ? degree : k);
    }
    free(expanded);
    if (!wrong) return;
    fprintf(stderr, "sample_bench: %s: %llu faults\n", by, (unsigned long long)wrong);
    exit(3);
}

static void report(FILE *json, bool *first, const char *name, const char *by, uint64_t arcs, figure f) {
    printf("%-20s %-13s %8.2f ms  (%.2f .. %.2f)  %9llu arcs  %7.2f M arcs/s\n", name, by, f.median * 1e3,
           f.least * 1e3, f.most * 1e3, (unsigned long long)arcs, (double)arcs / f.median / 1e6);
    fflush(stdout);
    if (json)
        fprintf(json,
                "%s\n    {\"sampler\": \"%s\", \"by\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, "
                "\"arcs\": %llu, \"seps\": %.6g}",
                *first ? "" : ",", name, by, f.median, f.least, f.most, (unsigned long long)arcs,
                (double)arcs / f.median);
    *first = false;
}

typedef struct job {
    const settings *settings;
    csaw_vertex *seed;
    uint64_t *offset, batches;
} job;

static figure by_hand(const job *j, const csaw_csr *csr, bool into_l2, uint64_t *arcs) {
    const settings *s = j->settings;
    hand_sample *out = memory(j->batches * sizeof *out);
    hand_alias *table = csr->weight ? memory(csr->num_edges * sizeof *table) : NULL;
    double *seconds = memory(s->repeat * sizeof *seconds);
    if (table) hand_alias_build(csr, table);
    for (uint32_t r = 0; r <= s->repeat; r++) { /* run 0 warms up and is verified */
        const double start = now();
        *arcs = hand_neighbors(csr, table, j->seed, j->offset, j->batches, fanout, HOPS, 1, into_l2, out);
        if (r) seconds[r - 1] = now() - start;
        for (uint64_t b = 0; !r && b < j->batches; b++)
            verify(csr, out[b].src, out[b].dst, out[b].edge, out[b].count, "by hand");
    }
    for (uint64_t b = 0; b < j->batches; b++) {
        free(out[b].src);
        free(out[b].dst);
        free(out[b].edge);
    }
    const figure f = figure_of(seconds, s->repeat);
    free(out);
    free(table);
    free(seconds);
    return f;
}

static figure by_csaw(const job *j, const csaw_graph *graph, const csaw_sampler *sampler, bool replace,
                      uint64_t *arcs) {
    const settings *s = j->settings;
    const csaw_csr csr = csaw_graph_csr(graph);
    double *seconds = memory(s->repeat * sizeof *seconds);
    csaw_plan *plan = NULL;
    must(csaw_plan_create(graph, CSAW_PLAN(.device = s->device), &plan));
    for (uint32_t r = 0; r <= s->repeat; r++) {
        csaw_samples *samples = NULL;
        csaw_arcs view;
        const double start = now();
        must(csaw_sample(plan, sampler, NULL,
                         &(csaw_seeds){.vertex = j->seed, .count = j->batches, .offset = j->offset},
                         CSAW_RUN(.depth = HOPS, .fanout = fanout, .replace = replace, .seed = 1), &samples));
        if (r) seconds[r - 1] = now() - start;
        must(csaw_samples_arcs(samples, CSAW_HOST, &view));
        *arcs = view.offset[j->batches];
        for (uint64_t b = 0; !r && !replace && b < j->batches; b++)
            verify(&csr, view.src + view.offset[b], view.dst + view.offset[b], view.edge + view.offset[b],
                   view.offset[b + 1] - view.offset[b], csaw_sampler_name(sampler));
        csaw_samples_free(samples);
    }
    csaw_plan_free(plan);
    const figure f = figure_of(seconds, s->repeat);
    free(seconds);
    return f;
}

static settings read_settings(int argc, char **argv) {
    settings s = {.scale = 20, .edge_factor = 16, .seeds = 10000, .batch = 1024, .repeat = 11, .device = "cpu"};
    s.commit = "not given";
    const bench_option options[] = {
        {"--scale", &s.scale, NULL},      {"--edge-factor", &s.edge_factor, NULL}, {"--seeds", &s.seeds, NULL},
        {"--batch", &s.batch, NULL},      {"--repeat", &s.repeat, NULL},           {"--device", NULL, &s.device},
        {"--json", NULL, &s.json},        {"--instances", NULL, &s.instances},     {"--only", NULL, &s.only},
        {"--commit", NULL, &s.commit},    {"--fanout", NULL, &s.fanout},           {"--in-turn", &s.in_turn, NULL},
        {"--in-place", &s.in_place, NULL}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "sample_bench", "bench/samples.c");
    if (!s.batch || !s.repeat) {
        fputs("sample_bench: --batch and --repeat are at least 1\n", stderr);
        exit(2);
    }
    return s;
}

static void print_graph(FILE *out, const settings *s, const csaw_csr *csr) {
    fprintf(out, "{\"version\": \"%s\", \"commit\": \"%s\", ", csaw_version(), s->commit);
    machine_put(out, s->device);
    fprintf(out,
            ",\n \"graph\": {\"kind\": \"rmat\", \"scale\": %u, \"edge_factor\": %u, \"seed\": 1, "
            "\"vertices\": %llu, \"arcs\": %llu}, \"device\": \"%s\", \"warm_up\": 1, ",
            s->scale, s->edge_factor, (unsigned long long)csr->num_vertices, (unsigned long long)csr->num_edges,
            s->device);
}

/* One seed an instance. Returns whether the JSON was written. */
static bool many_instances(const settings *s, const csaw_graph *plain, const csaw_graph *graph, FILE *json) {
    const csaw_csr csr = csaw_graph_csr(graph);
    printf("csaw %s, R-MAT scale %u, edge factor %u: %llu vertices, %llu arcs; one seed an instance%s, device %s, "
           "1 warm-up, median of %u (3 where a run takes a second)\n",
           csaw_version(), s->scale, s->edge_factor, (unsigned long long)csr.num_vertices,
           (unsigned long long)csr.num_edges, s->in_turn ? ", vertices in turn" : "", s->device, s->repeat);
    fflush(stdout);
    if (json) print_graph(json, s, &csr);
    bench_instances(&(instances_job){.plain = plain,
                                     .weighted = graph,
                                     .device = s->device,
                                     .numbers = s->instances,
                                     .only = s->only,
                                     .fanout = s->fanout,
                                     .in_turn = s->in_turn,
                                     .in_place = s->in_place,
                                     .repeat = s->repeat,
                                     .json = json});
    return !json || fputs("}\n", json) >= 0;
}

/* Seeds in batches, each an instance. Returns whether the JSON was written. */
static bool batches(const settings *s, const csaw_graph *plain, const csaw_graph *graph, FILE *json) {
    const csaw_csr csr = csaw_graph_csr(plain), weighted = csaw_graph_csr(graph);
    job j = {.settings = s, .batches = (s->seeds + s->batch - 1) / s->batch};
    bool first = true;
    uint64_t arcs = 0;
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    j.seed = memory(s->seeds * sizeof *j.seed);
    j.offset = memory((j.batches + 1) * sizeof *j.offset);
    for (uint64_t i = 0; i < s->seeds; i++) j.seed[i] = (csaw_vertex)(i * 2654435761u % csr.num_vertices);
    for (uint64_t b = 0; b <= j.batches; b++) j.offset[b] = b * s->batch < s->seeds ? b * s->batch : s->seeds;
    printf(
        "csaw %s, R-MAT scale %u, edge factor %u: %llu vertices, %llu arcs; %u seeds in batches of %u, fanout 15, 10, "
        "device %s, %d threads, 1 warm-up, median of %u\n",
        csaw_version(), s->scale, s->edge_factor, (unsigned long long)csr.num_vertices,
        (unsigned long long)csr.num_edges, s->seeds, s->batch, s->device, threads, s->repeat);
    if (json) {
        print_graph(json, s, &csr);
        fprintf(json,
                "\n \"seeds\": %u, \"batch\": %u, \"fanout\": [15, 10], \"threads\": %d, \"repeat\": %u, \"rows\": [",
                s->seeds, s->batch, threads, s->repeat);
    }
    figure f = by_hand(&j, &csr, false, &arcs);
    report(json, &first, "uniform", "hand", arcs, f);
    f = by_hand(&j, &csr, true, &arcs);
    report(json, &first, "uniform", "hand, into L2", arcs, f);
    f = by_csaw(&j, plain, &csaw_neighbor, false, &arcs);
    report(json, &first, "uniform", "csaw", arcs, f);
    f = by_hand(&j, &weighted, false, &arcs);
    report(json, &first, "biased", "hand", arcs, f);
    f = by_csaw(&j, graph, &csaw_neighbor_biased, false, &arcs);
    report(json, &first, "biased", "csaw", arcs, f);
    f = by_csaw(&j, plain, &csaw_neighbor, true, &arcs);
    report(json, &first, "uniform, replace", "csaw", arcs, f);
    f = by_csaw(&j, graph, &csaw_neighbor_biased, true, &arcs);
    report(json, &first, "biased, replace", "csaw", arcs, f);
    free(j.seed);
    free(j.offset);
    return !json || fputs("]}\n", json) >= 0;
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    csaw_graph *graph = NULL, *plain = NULL;
    FILE *json = NULL;
    must(csaw_graph_rmat(CSAW_RMAT(.scale = s.scale, .edge_factor = s.edge_factor, .seed = 1, .weighted = true),
                         &graph));
    csaw_csr csr = csaw_graph_csr(graph);
    csr.weight = NULL;
    must(csaw_graph_borrow_csr(&csr, &plain));
    if (s.json && !(json = fopen(s.json, "w"))) {
        perror(s.json);
        return 1;
    }
    bool written = s.instances ? many_instances(&s, plain, graph, json) : batches(&s, plain, graph, json);
    written = (!json || fclose(json) == 0) && written;
    csaw_graph_free(plain);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
