/* SPDX-License-Identifier: MIT */
/* bench/exchange.c - walks on a graph that several GPUs hold together, by the two ways there are: each GPU reads rows
 * where they are, and walkers go where their rows are (device_exchange.h). Beside them one GPU that holds all of it,
 * the first of the list. Of an exchange also its rounds, and the walkers and bytes that it copies; of both what the
 * machine allows at best: the greater of one GPU's time shared among all, and of what crosses between GPUs at the
 * measured rate. Every row is verified: all of its walks equal the CPU's.
 *
 *   exchange_bench --device cuda:0,cuda:1 [--scale 20] [--edge-factor 16] [--seed 1] [--vertices 500000]
 *                  [--walks-per-vertex 4] [--length 80] [--repeat 5] [--peer-mb 0] [--peer-reads 0] [--json FILE]
 *                  [--commit TEXT]
 *
 * --vertices: walks start from the first N, 0 = all; --peer-mb, --peer-reads: what peer_bench measured here, 10^6 bytes
 * a second of copies both ways, in each direction, and 10^6 random reads a second of the peer's memory, by both GPUs,
 * each. Without them nothing is said of what crosses. */
#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/gpus.h"

enum { MOST_REPEATS = 100 };

typedef struct settings {
    uint32_t scale, edge_factor, seed, vertices, walks_per_vertex, length, repeat, peer_mb, peer_reads;
    const char *device, *json, *commit;
} settings;

typedef struct walk {
    const char *name;
    const csaw_sampler *sampler;
    const void *params;
    bool weighted;
} walk;

typedef struct bench {
    const settings *settings;
    const csaw_graph *graph;
    const walk *walk;
    csaw_seeds seeds;
    csaw_walks expected;
    double alone; /* seconds of the walk at hand on one GPU */
    FILE *json;
    const char *between;
} bench;

/* What a row of the report says beside its time. */
typedef struct row {
    const char *by;
    uint32_t gpus;
    csaw__exchange_counts counts; /* of one run */
    figure time;
} row;

static csaw_status draw(const bench *b, csaw_plan *plan, csaw_samples **out) {
    const settings *const s = b->settings;
    return csaw_sample(plan, b->walk->sampler, b->walk->params, &b->seeds,
                       CSAW_RUN(.depth = s->length, .walks_per_seed = s->walks_per_vertex, .seed = s->seed), out);
}

static void verify(const bench *b, csaw_samples *samples, const char *by) {
    csaw_walks got;
    must(csaw_samples_walks(samples, CSAW_HOST, &got));
    const uint64_t places = (uint64_t)got.length + 1;
    for (uint64_t w = 0; w < got.num_walks; w++) {
        if (memcmp(got.path + w * places, b->expected.path + w * places, places * sizeof *got.path) == 0) continue;
        fprintf(stderr, "exchange_bench: %s, %s: walk %llu differs from the CPU's\n", b->walk->name, by,
                (unsigned long long)w);
        exit(3);
    }
}

static csaw__exchange_counts counted(const csaw_plan *plan) {
    const csaw__gpus *const gpus = plan->gpus;
    return gpus && gpus->exchange ? csaw__gpu_exchange_counted(gpus->exchange) : (csaw__exchange_counts){0};
}

static row measure(const bench *b, const char *by, const csaw_plan_options *options) {
    const settings *const s = b->settings;
    double seconds[MOST_REPEATS];
    row out = {.by = by, .gpus = 1};
    csaw_plan *plan = NULL;
    must(csaw_plan_create(b->graph, options, &plan));
    if (plan->gpus) out.gpus = plan->gpus->count;
    for (uint32_t r = 0; r <= s->repeat; r++) { /* run 0 warms up and is verified */
        csaw_samples *samples = NULL;
        const csaw__exchange_counts before = counted(plan);
        const double start = now();
        must(draw(b, plan, &samples));
        if (r) seconds[r - 1] = now() - start;
        const csaw__exchange_counts after = counted(plan);
        out.counts = (csaw__exchange_counts){after.rounds - before.rounds, after.walkers - before.walkers,
                                             after.questions - before.questions, after.bytes - before.bytes};
        if (!r) verify(b, samples, by);
        csaw_samples_free(samples);
    }
    csaw_plan_free(plan);
    out.time = figure_of(seconds, s->repeat);
    return out;
}

/* Seconds that what crosses between GPUs takes at the measured rate, all GPUs at once; 0 = not known. Where rows are
 * read in place that is a read for each step, of which a share of 1 / GPUs is at home. */
static double crossing(const bench *b, const row *row, uint64_t steps) {
    const settings *const s = b->settings;
    if (row->gpus == 1) return 0;
    if (row->counts.bytes) return s->peer_mb ? (double)row->counts.bytes / row->gpus / s->peer_mb / 1e6 : 0;
    const double away = (double)steps * (row->gpus - 1) / row->gpus;
    return s->peer_reads ? away / row->gpus / s->peer_reads / 1e6 : 0;
}

static void report(bench *b, const row *row) {
    const uint64_t steps = b->expected.num_walks * b->expected.length;
    const double per = 1 / (double)steps, compute = b->alone / row->gpus, across = crossing(b, row, steps),
                 best = across > compute ? across : compute;
    printf("%-30s %-14s %9.3f ms (%.3f .. %.3f) %9.1f M steps/s, %.2f of one GPU\n", b->walk->name, row->by,
           row->time.median * 1e3, row->time.least * 1e3, row->time.most * 1e3, (double)steps / row->time.median / 1e6,
           b->alone / row->time.median);
    if (row->counts.rounds)
        printf("    %llu rounds; a step: %.3f walkers, %.3f questions, %.2f bytes\n",
               (unsigned long long)row->counts.rounds, (double)row->counts.walkers * per,
               (double)row->counts.questions * per, (double)row->counts.bytes * per);
    if (across > 0)
        printf("    at best: steps %.3f ms, crossing %.3f ms; %.2f times the greater\n", compute * 1e3, across * 1e3,
               row->time.median / best);
    fflush(stdout);
    if (!b->json) return;
    fprintf(b->json,
            "%s\n  {\"walk\": \"%s\", \"by\": \"%s\", \"gpus\": %u, \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": "
            "%.6g, \"steps\": %llu, \"steps_per_s\": %.6g, \"ratio_to_one\": %.4g, \"rounds\": %llu, \"walkers\": "
            "%llu, \"questions\": %llu, \"bytes\": %llu, \"bytes_per_step\": %.4g, \"compute_s\": %.6g",
            b->between, b->walk->name, row->by, row->gpus, row->time.median, row->time.least, row->time.most,
            (unsigned long long)steps, (double)steps / row->time.median, b->alone / row->time.median,
            (unsigned long long)row->counts.rounds, (unsigned long long)row->counts.walkers,
            (unsigned long long)row->counts.questions, (unsigned long long)row->counts.bytes,
            (double)row->counts.bytes * per, compute);
    if (across > 0)
        fprintf(b->json, ", \"crossing_s\": %.6g, \"ratio_to_best\": %.4g", across, row->time.median / best);
    fputc('}', b->json);
    b->between = ",";
}

static void bench_walk(bench *b) {
    char first[64];
    csaw_plan *cpu = NULL;
    csaw_samples *expected = NULL;
    const char *const device = b->settings->device;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(device, ","), device);
    must(csaw_plan_create(b->graph, NULL, &cpu));
    must(draw(b, cpu, &expected));
    must(csaw_samples_walks(expected, CSAW_HOST, &b->expected));
    row row = measure(b, "one GPU", CSAW_PLAN(.device = strcmp(first, "all") == 0 ? "cuda:0" : first));
    b->alone = row.time.median;
    report(b, &row);
    row = measure(b, "read in place", CSAW_PLAN(.device = device, .split = true));
    report(b, &row);
    row = measure(b, "exchanged", CSAW_PLAN(.device = device, .split = true, .exchange = true));
    report(b, &row);
    csaw_samples_free(expected);
    csaw_plan_free(cpu);
}

static csaw_graph *make_graph(const settings *s, bool weighted) {
    csaw_graph *graph = NULL;
    must(csaw_graph_rmat(
        CSAW_RMAT(.scale = s->scale, .edge_factor = s->edge_factor, .seed = s->seed, .weighted = weighted), &graph));
    return graph;
}

static settings read_settings(int argc, char **argv) {
    settings s = {.scale = 20, .edge_factor = 16, .seed = 1, .vertices = 500000, .walks_per_vertex = 4};
    s.length = 80;
    s.repeat = 5;
    s.commit = "not given";
    const bench_option options[] = {
        {"--scale", &s.scale, NULL},       {"--edge-factor", &s.edge_factor, NULL},
        {"--seed", &s.seed, NULL},         {"--walks-per-vertex", &s.walks_per_vertex, NULL},
        {"--vertices", &s.vertices, NULL}, {"--length", &s.length, NULL},
        {"--repeat", &s.repeat, NULL},     {"--peer-mb", &s.peer_mb, NULL},
        {"--json", NULL, &s.json},         {"--peer-reads", &s.peer_reads, NULL},
        {"--device", NULL, &s.device},     {"--commit", NULL, &s.commit}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "exchange_bench", "bench/exchange.c");
    if (s.device && s.repeat && s.repeat <= MOST_REPEATS && s.length && s.walks_per_vertex) return s;
    fprintf(stderr,
            "exchange_bench: give --device, such as cuda:0,cuda:1; --repeat is 1 .. %d, --length and "
            "--walks-per-vertex at least 1\n",
            MOST_REPEATS);
    exit(2);
}

static void begin(bench *b, uint64_t vertices) {
    const settings *const s = b->settings;
    printf("csaw %s, R-MAT %u, edge factor %u, seed %u: %llu vertices; %u walks from each of %llu of them, %u steps, "
           "device %s, 1 warm-up, median of %u\n",
           csaw_version(), s->scale, s->edge_factor, s->seed, (unsigned long long)vertices, s->walks_per_vertex,
           (unsigned long long)b->seeds.count, s->length, s->device, s->repeat);
    if (!s->json) return;
    b->json = fopen(s->json, "w");
    if (!b->json) {
        perror(s->json);
        exit(1);
    }
    fprintf(b->json, "{\"version\": \"%s\", \"commit\": \"%s\", ", csaw_version(), s->commit);
    machine_put(b->json, s->device);
    fprintf(b->json,
            ",\n \"graph\": {\"kind\": \"rmat\", \"scale\": %u, \"edge_factor\": %u, \"seed\": %u, \"vertices\": "
            "%llu},\n \"seed\": %u, \"walks_per_vertex\": %u, \"start_vertices\": %llu, \"length\": %u, \"device\": "
            "\"%s\", \"peer_mb_per_s\": %u, \"peer_million_reads_per_s\": %u, \"repeat\": %u, \"rows\": [",
            s->scale, s->edge_factor, s->seed, (unsigned long long)vertices, s->seed, s->walks_per_vertex,
            (unsigned long long)b->seeds.count, s->length, s->device, s->peer_mb, s->peer_reads, s->repeat);
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    static const csaw_node2vec_params params = {.p = .25f, .q = 4};
    const walk walks[] = {{"uniform", &csaw_uniform, NULL, false},
                          {"weighted node2vec p=0.25 q=4", &csaw_node2vec, &params, true}};
    bench b = {.settings = &s, .between = ""};
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        csaw_graph *const graph = make_graph(&s, walks[i].weighted);
        const uint64_t vertices = csaw_graph_csr(graph).num_vertices;
        b.graph = graph;
        b.walk = &walks[i];
        b.seeds.count = s.vertices && s.vertices < vertices ? s.vertices : vertices;
        if (i == 0) begin(&b, vertices);
        bench_walk(&b);
        csaw_graph_free(graph);
    }
    if (b.json) fputs("]}\n", b.json);
    if (b.json && fclose(b.json) != 0) {
        perror(s.json);
        return 1;
    }
    return 0;
}
