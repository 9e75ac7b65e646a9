/* SPDX-License-Identifier: MIT */
/* bench/largest.c - uniform walks on a random graph that takes a share of the host's memory, on a GPU that does not
 * hold it: the whole time and its parts, each told as it ends; bytes moved, and what they take at the full rate of a
 * copy, measured in the run. The graph's rows are made where they stay (bench/strata.h), so that it needs no memory
 * beside its own. Walks are verified: the first ones equal the CPU's, and steps of every 997th follow the rule of the
 * graph.
 *
 *   largest_bench [--memory-of-host 80] [--degree 64] [--rows N] [--seed 1] [--device cuda:0] [--gpu-memory GiB]
 *                 [--partitions N] [--resident N] [--streams N] [--walks 10000000] [--length 80]
 *                 [--ways "partitions;read in place"] [--json FILE] [--commit TEXT]
 *
 * --memory-of-host: per cent of what is available that the graph takes, 8 + 4 * degree bytes a row; the rest is for
 * paths, 4 * (length + 1) bytes a walk or 4 GiB, whichever is less, and for the system; --rows: so many in its place,
 * less what a multiple of the degree leaves, as is needed where a machine's memory grows as it is used;
 * --gpu-memory: also 0.5, by default what the GPU has;
 * --ways: one after the other on the same plan, by default partitions: "read in place" brings none to the GPU. A plan
 * chooses the cheaper by itself, here mostly the latter. On the simulated device (--device simulated) times and the
 * rate say nothing of a GPU. */
#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/options.h"
#include "bench/parts_check.h"
#include "bench/parts_device.h"
#include "bench/parts_rows.h"
#include "bench/parts_settings.h"
#include "bench/phases.h"
#include "bench/strata.h"
#include "runtime/base/graph.h"
#include "runtime/base/host_memory.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/parts.h"

enum { EVERY = 997 /* walks, of which one is verified */, FIRST = 1000 /* that are held against the CPU */ };
static const double gib = 1073741824.0;

typedef struct settings {
    parts_settings run;
    uint32_t memory_of_host /* per cent */, degree, rows;
    const char *gpu_memory; /* GiB */
} settings;

typedef struct way {
    const char *name;
    csaw__parts_way by;
} way;
static const way ways[] = {{"partitions", CSAW__PARTS_BRING}, {"read in place", CSAW__PARTS_STAY}};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct bench {
    const settings *settings;
    strata graph_of; /* the rule */
    csaw_graph *graph;
    csaw_plan *plan;
    csaw_seeds seeds;
    phases phases;
    parts_rows rows;
} bench;

/* A run, as it goes. */
typedef struct outcome {
    bench *b;
    const way *way;
    parts_row row; /* from when partitions are ready to come */
    double begin;  /* of the run, seconds */
    uint64_t walks, batches, looked_at, wrong, kept;
    csaw_vertex *path; /* [kept, length + 1]: the first walks */
    double looked;     /* seconds that it took to look at them */
} outcome;

/* code: 2, what was asked for cannot be done; 3, a result is wrong. */
static void fail(int code, const char *what) {
    fprintf(stderr, "largest_bench: %s\n", what);
    exit(code);
}

static settings read_settings(int argc, char **argv) {
    settings s = {.memory_of_host = 80, .degree = 64};
    s.run = (parts_settings){.seed = 1, .walks = 10000000, .length = 80, .repeat = 1};
    parts_settings *const run = &s.run;
    run->device = "cuda:0";
    run->ways = ways[0].name;
    run->commit = "not given";
    run->p = run->q = "1";
    const bench_option options[] = {{"--memory-of-host", &s.memory_of_host, NULL},
                                    {"--degree", &s.degree, NULL},
                                    {"--rows", &s.rows, NULL},
                                    {"--seed", &run->seed, NULL},
                                    {"--partitions", &run->partitions, NULL},
                                    {"--resident", &run->resident, NULL},
                                    {"--streams", &run->streams, NULL},
                                    {"--walks", &run->walks, NULL},
                                    {"--length", &run->length, NULL},
                                    {"--device", NULL, &run->device},
                                    {"--gpu-memory", NULL, &s.gpu_memory},
                                    {"--ways", NULL, &run->ways},
                                    {"--json", NULL, &run->json},
                                    {"--commit", NULL, &run->commit}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "largest_bench", "bench/largest.c");
    char *end = NULL;
    const double memory = s.gpu_memory ? strtod(s.gpu_memory, &end) : 0;
    if (s.gpu_memory && (end == s.gpu_memory || *end || !(memory * 1048576 >= 1 && memory < 4096))) {
        fprintf(stderr, "largest_bench: --gpu-memory is '%s'; give GiB, from 0.000001 to below 4096\n", s.gpu_memory);
        exit(2);
    }
    run->memory = (uint32_t)(memory * 1048576);
    if (!bench_list_names(run->ways, ';', ways[0].name) && !bench_list_names(run->ways, ';', ways[1].name))
        fail(2, "--ways names none; give partitions, or read in place, or both with ; between");
    if (!run->walks || !run->length) fail(2, "there is nothing to draw; give at least 1 to --walks and --length");
    return s;
}

/* How large a graph is made, told before the memory is taken. */
static strata size_graph(const settings *s) {
    const uint64_t left = csaw__host_memory_left("/proc", "/sys/fs/cgroup"), degree = s->degree;
    if (degree == 0) fail(2, "--degree is 0; give each row at least 1 arc");
    if (s->memory_of_host > 100) fail(2, "--memory-of-host is above 100 per cent");
    if (!left && !s->rows) fail(2, "the system does not tell how much memory is available; give --rows");
    const uint64_t fitting = (uint64_t)((double)left / 100 * s->memory_of_host) / (8 + 4 * degree);
    const uint64_t rows = (s->rows ? s->rows : fitting) / degree * degree;
    const strata graph = {.rows = rows, .degree = degree, .seed = s->run.seed};
    if (rows == 0) fail(2, "rows are fewer than --degree; give more --rows, or a smaller --degree");
    if (rows > CSAW__MAX_VERTICES) fail(2, "the memory holds more than 2^32 - 2 such rows; give a larger --degree");
    printf("%llu rows of %llu arcs, %.3f GiB of %.3f that are available, to be made by %d threads\n",
           (unsigned long long)rows, (unsigned long long)degree, (double)strata_bytes(&graph) / gib, (double)left / gib,
           csaw__max_threads());
    if (strata_bytes(&graph) > left)
        puts("that is more than the system says: unless its memory grows as it is used, it may end this program");
    fflush(stdout);
    return graph;
}

static bool pages_are_locked(const bench *b) {
    const csaw__parts_kind *const kind = b->plan->parts->kind;
    return kind->reads_in_place && kind->reads_in_place(b->plan->parts);
}

/* What is asked before the first walk, and after each batch. */
static bool note_ready(void *user, uint64_t done, uint64_t total) {
    outcome *const o = user;
    (void)total;
    if (done) return true;
    const csaw__parts *const parts = o->b->plan->parts;
    phases_add(&o->b->phases, "prepare", o->way->name, now() - o->begin);
    if (o->way->by == CSAW__PARTS_BRING)
        printf("%u partitions of %.3f GiB, %u resident, %u streams\n", parts->fit.parts, (double)parts->fit.part / gib,
               parts->fit.resident, parts->fit.streams);
    o->row = parts_row_begin(parts, o->b->seeds.count);
    return true;
}

static csaw_status look(void *user, csaw_samples *samples) {
    outcome *const o = user;
    csaw_walks w;
    const double start = now();
    const csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &w);
    if (status != CSAW_OK) return status;
    const uint64_t places = (uint64_t)w.length + 1;
    parts_keep_first(&w, o->kept, o->path);
    for (uint64_t i = 0; i < w.num_walks; i += EVERY)
        for (const csaw_vertex *at = w.path + i * places; at < w.path + i * places + w.length; at++, o->looked_at++)
            o->wrong += !strata_has_arc(&o->b->graph_of, at[0], at[1]);
    o->walks += w.num_walks;
    o->batches++;
    o->looked += now() - start;
    printf("%8.1f s  %llu walks\n", now() - o->b->phases.start, (unsigned long long)o->walks);
    fflush(stdout);
    return CSAW_OK;
}

static void walk(bench *b, const way *way) {
    const parts_settings *const s = &b->settings->run;
    csaw__parts *const parts = b->plan->parts;
    outcome o = {.b = b, .way = way, .begin = now(), .kept = b->seeds.count < FIRST ? b->seeds.count : FIRST};
    csaw_run_options run = {.size = sizeof run, .depth = s->length, .seed = s->seed};
    const csaw_seeds first = {b->seeds.vertex, o.kept, NULL};
    if (way->by == CSAW__PARTS_STAY && !pages_are_locked(b))
        fail(2, "nothing can be read in place: the device is no GPU, or the graph's pages are not locked");
    o.path = malloc(o.kept * ((uint64_t)run.depth + 1) * sizeof *o.path);
    if (!o.path) fail(2, "no memory left for the paths that are verified; give a smaller --length");
    parts->way = way->by;
    run.progress = note_ready;
    run.user = &o;
    must(csaw_sample_each(b->plan, &csaw_uniform, NULL, &b->seeds, &run, look, &o));
    parts_row_end(&o.row, parts, o.looked);
    o.row.least = o.row.most = o.row.seconds;
    o.row.batches = o.batches;
    o.row.steps = o.walks * s->length; /* no walk ends early: each row has arcs */
    phases_add(&b->phases, "walk", way->name, o.row.seconds);
    const double start = now();
    if (o.walks != b->seeds.count) fail(3, "walks are missing");
    if (o.wrong) fail(3, "steps follow no arc of the graph");
    run.progress = NULL;
    parts_check(b->graph, &csaw_uniform, NULL, &first, &run, o.path, o.kept);
    free(o.path);
    phases_add(&b->phases, "verify", way->name, now() - start + o.looked);
    printf("%llu steps are right, %llu walks are the CPU's\n", (unsigned long long)o.looked_at,
           (unsigned long long)o.kept);
    parts_rows_add(&b->rows, "uniform", way->name, &o.row, 0);
}

static void open_plan(bench *b) {
    const parts_settings *const s = &b->settings->run;
    const double start = now();
    must(csaw_plan_create(b->graph,
                          CSAW_PLAN(.device = s->device, .gpu_memory = (uint64_t)s->memory << 10, .depth = s->length,
                                    .partitions = (int)s->partitions, .resident = (int)s->resident,
                                    .streams = (int)s->streams),
                          &b->plan));
    if (!b->plan->parts) fail(2, "the device holds the graph as it is; give less --gpu-memory, or --partitions");
    phases_add(&b->phases, pages_are_locked(b) ? "plan, pages locked" : "plan, no pages locked", NULL, now() - start);
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    bench b = {.settings = &s, .phases.start = now()};
    parts_graph graph = {.kind = "random", .how = "made"};
    double start = now();
    const double rate = parts_copy_rate(s.run.device);
    phases_add(&b.phases, "device found, copies timed", NULL, now() - start);
    b.graph_of = size_graph(&s);
    start = now();
    const csaw_csr csr = strata_make(&b.graph_of);
    graph.seconds = now() - start;
    phases_add(&b.phases, "make", NULL, graph.seconds);
    start = now();
    must(csaw_graph_borrow_csr(&csr, &b.graph));
    phases_add(&b.phases, "check", NULL, now() - start);
    graph.graph = b.graph;
    snprintf(graph.name, sizeof graph.name, "random, %u arcs a row", s.degree);
    snprintf(graph.json, sizeof graph.json, "\"degree\": %u, \"seed\": %u, ", s.degree, s.run.seed);
    b.seeds = parts_seeds(s.run.walks, csr.num_vertices);
    b.rows = parts_rows_begin(&s.run, &graph, s.run.walks, rate);
    open_plan(&b);
    for (int w = 0; w < WAYS; w++)
        if (bench_list_names(s.run.ways, ';', ways[w].name)) walk(&b, &ways[w]);
    start = now();
    csaw_plan_free(b.plan);
    csaw_graph_free(b.graph);
    strata_free(&csr);
    free((void *)b.seeds.vertex);
    phases_add(&b.phases, "give back", NULL, now() - start);
    parts_rows_end(&b.rows, &b.phases);
    printf("%8.1f s  in all\n", now() - b.phases.start);
    return 0;
}
