/* SPDX-License-Identifier: MIT */
/* bench/parts.c - walks on a graph that is larger than the GPU memory which they may use: seconds, bytes moved, and
 * what the way to the device would take for them at its full rate, measured in the same run. Beside it the same with
 * switches of the scheduler off (C-SAW, SC'20, figures 13 and 15), the walks in memory, and those that read the graph
 * where the host has it, all of their steps or those that no transfer is worth; bytes are those of transfers alone.
 * Walks are verified: the first ones equal the CPU's, and steps follow arcs.
 *
 *   parts_bench [--scale 22] [--edge-factor 16] [--seed 1] [--device cuda:0] [--memory KiB] [--partitions N]
 *               [--resident N] [--walks N] [--length 80] [--only uniform,node2vec,neighbor] [--p 0.25] [--q 4]
 *               [--ablation 1] [--alone 8] [--in-memory 1] [--json FILE] [--commit TEXT]
 *
 * --memory: gpu_memory, by default a quarter of the graph; --walks: from the first N vertices, by default one from
 * each;
 * --ablation 0: no switches; --alone: walks that run one after the other and, for comparison, together (BA);
 * --in-memory 0: where the graph and all paths do not fit. On the simulated device (--device simulated) all of it runs,
 * and says nothing of a GPU. */
#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/parts_device.h"
#include "runtime/engine/parts.h"

enum { FIRST = 5000 /* instances that are held against the CPU */, FIRST_ARCS = 64 /* of each, about */ };

typedef struct settings {
    uint32_t scale, edge_factor, seed, memory, partitions, resident, walks, length, ablation, alone, in_memory;
    const char *device, *only, *p, *q, *json, *commit;
} settings;

typedef struct bench {
    const settings *settings;
    csaw_graph *graph;
    uint64_t walks;
    double rate; /* bytes a second to the device */
    FILE *json;
    bool first;
} bench;

typedef struct walk {
    const char *name;
    const csaw_sampler *sampler;
    const void *params;
    const uint32_t *fanout; /* [hops]: a sample; NULL: a walk */
    uint32_t hops;
} walk;

/* How partitions are scheduled. */
typedef struct way {
    const char *name;
    bool in_turn, equal_shares, one_at_a_time;
    uint64_t walks;
    csaw__parts_way by;
} way;

typedef struct outcome {
    double seconds;
    csaw__parts_use moved;
    uint64_t launches, batches, wrong, done, steps;
    csaw_vertex *path; /* the first walks */
    uint64_t kept;     /* how many */
    double looked;     /* seconds that it took to look at them */
    const csaw_csr *csr;
} outcome;

static void fail(const char *what) {
    fprintf(stderr, "parts_bench: %s\n", what);
    exit(3);
}

static bool has_arc(const csaw_csr *csr, csaw_vertex from, csaw_vertex to) {
    csaw_edge lo = csr->rowptr[from], hi = csr->rowptr[from + 1], end = hi;
    while (lo < hi) {
        const csaw_edge middle = lo + (hi - lo) / 2;
        if (csr->col[middle] < to)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && csr->col[lo] == to;
}

/* Arcs of a batch of samples: the first instances' destinations are kept, every 61st arc is looked at. */
static csaw_status look_at_arcs(void *user, csaw_samples *samples) {
    outcome *const o = user;
    csaw_arcs a;
    const double start = now();
    const csaw_status status = csaw_samples_arcs(samples, CSAW_HOST, &a);
    if (status != CSAW_OK) return status;
    const uint64_t arcs = a.offset[a.num_instances];
    for (uint64_t i = 0; i < arcs; i += 61) o->wrong += o->csr->col[a.edge[i]] != a.dst[i];
    for (uint64_t i = 0; a.first == 0 && i < arcs && i < o->kept; i++) o->path[i] = a.dst[i];
    if (a.first == 0 && arcs < o->kept) o->kept = arcs;
    o->batches++;
    o->done += a.num_instances;
    o->steps += arcs;
    o->looked += now() - start;
    return CSAW_OK;
}

/* A round's walks: the first ones are kept, every 61st is looked at. No vertex of the graph is isolated. */
static csaw_status look_at_walks(void *user, csaw_samples *samples) {
    outcome *const o = user;
    csaw_walks w;
    const double start = now();
    const csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &w);
    if (status != CSAW_OK) return status;
    const uint64_t places = (uint64_t)w.length + 1;
    for (uint64_t i = 0; i < w.num_walks; i += 61)
        for (uint32_t s = 0; s < w.length; s++)
            o->wrong += !has_arc(o->csr, w.path[i * places + s], w.path[i * places + s + 1]);
    for (uint64_t i = 0; i < w.num_walks && w.first + i < o->kept; i++)
        memcpy(o->path + (w.first + i) * places, w.path + i * places, places * sizeof *w.path);
    o->batches++;
    o->done += w.num_walks;
    o->steps += w.num_walks * w.length;
    o->looked += now() - start;
    return CSAW_OK;
}

static csaw_run_options run_of(const bench *b, const walk *walk) {
    return (csaw_run_options){.size = sizeof(csaw_run_options),
                              .depth = walk->fanout ? walk->hops : b->settings->length,
                              .fanout = walk->fanout,
                              .seed = b->settings->seed};
}

/* The same by the CPU. */
static void verify(const bench *b, const walk *walk, const way *way, const outcome *o) {
    const csaw_run_options run = run_of(b, walk);
    const uint64_t count = way->walks < FIRST ? way->walks : FIRST;
    csaw_plan *cpu = NULL;
    csaw_samples *samples = NULL;
    csaw_walks walks;
    csaw_arcs arcs;
    if (o->wrong) fail("steps follow no arc of the graph");
    must(csaw_plan_create(b->graph, NULL, &cpu));
    must(csaw_sample(cpu, walk->sampler, walk->params, &(csaw_seeds){.count = count}, &run, &samples));
    if (walk->fanout) {
        must(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
        const uint64_t first = arcs.offset[count] < o->kept ? arcs.offset[count] : o->kept;
        if (memcmp(arcs.dst, o->path, first * sizeof *o->path) != 0) fail("differs from the CPU");
    } else {
        must(csaw_samples_walks(samples, CSAW_HOST, &walks));
        if (memcmp(walks.path, o->path, o->kept * (walks.length + 1) * sizeof *o->path) != 0)
            fail("differs from the CPU");
    }
    csaw_samples_free(samples);
    csaw_plan_free(cpu);
}

static csaw_plan *plan_of(const bench *b) {
    const settings *const s = b->settings;
    csaw_plan *plan = NULL;
    must(csaw_plan_create(b->graph,
                          CSAW_PLAN(.device = s->device, .gpu_memory = (uint64_t)s->memory << 10,
                                    .partitions = (int)s->partitions, .resident = (int)s->resident),
                          &plan));
    if (!plan->parts) fail("the graph fits as it is; give less --memory");
    return plan;
}

/* Walks in rounds. */
static void run_way(const bench *b, csaw_plan *plan, const walk *walk, const way *way, outcome *o) {
    csaw_run_options run = run_of(b, walk);
    csaw__parts *const parts = plan->parts;
    const uint64_t first = way->walks < FIRST ? way->walks : FIRST;
    parts->schedule.in_turn = way->in_turn;
    parts->schedule.equal_shares = way->equal_shares;
    parts->one_at_a_time = way->one_at_a_time;
    parts->way = way->by;
    *o = (outcome){.kept = walk->fanout ? first * FIRST_ARCS : first, .csr = &b->graph->csr};
    o->path = malloc((walk->fanout ? o->kept : first * ((uint64_t)run.depth + 1)) * sizeof *o->path);
    if (!o->path) fail("no memory left");
    if (way->one_at_a_time) run.batch_bytes = UINT64_MAX; /* all that there are: parts take them one by one */
    const csaw__parts_use before = parts->kind->use(parts);
    const uint64_t launches = parts->schedule.launches;
    const double start = now();
    must(csaw_sample_each(plan, walk->sampler, walk->params, &(csaw_seeds){.count = way->walks}, &run,
                          walk->fanout ? look_at_arcs : look_at_walks, o));
    o->seconds = now() - start - o->looked;
    o->moved = parts->kind->use(parts);
    o->moved.copies -= before.copies;
    o->moved.copied_bytes -= before.copied_bytes;
    o->launches = parts->schedule.launches > launches ? parts->schedule.launches - launches : parts->schedule.launches;
    if (o->done != way->walks) fail("walks are missing");
}

static void report(bench *b, const char *walk, const char *by, uint64_t walks, const outcome *o, double in_memory) {
    const double steps = (double)o->steps, bytes = (double)o->moved.copied_bytes;
    const double bound = b->rate > 0 ? bytes / b->rate : 0;
    printf("%-9s %-32s %9.3f s %9.1f M arcs/s", walk, by, o->seconds, steps / o->seconds / 1e6);
    if (o->moved.copies)
        printf("  %8.2f GB in %llu transfers, %llu launches, %llu batches; %.3f of what they take at full rate",
               bytes / 1e9, (unsigned long long)o->moved.copies, (unsigned long long)o->launches,
               (unsigned long long)o->batches, bound > 0 ? o->seconds / bound : 0);
    putchar('\n');
    if (b->json)
        fprintf(
            b->json,
            "%s\n    {\"walk\": \"%s\", \"by\": \"%s\", \"walks\": %llu, \"seconds\": %.6g, \"arcs_per_s\": %.6g, "
            "\"bytes_moved\": %llu, \"transfers\": %llu, \"launches\": %llu, \"batches\": %llu, \"seconds_of_bytes\": "
            "%.6g, \"ratio\": %.4g, \"in_memory_s\": %.6g, \"peak_bytes\": %llu}",
            b->first ? "" : ",", walk, by, (unsigned long long)walks, o->seconds, steps / o->seconds,
            (unsigned long long)o->moved.copied_bytes, (unsigned long long)o->moved.copies,
            (unsigned long long)o->launches, (unsigned long long)o->batches, bound, bound > 0 ? o->seconds / bound : 0,
            in_memory, (unsigned long long)o->moved.peak);
    b->first = false;
    fflush(stdout);
}

static csaw_status leave(void *user, csaw_samples *samples) {
    (void)user, (void)samples; /* on the device */
    return CSAW_OK;
}

/* The graph on the device, and there all paths, or arcs by the GiB; 0: the graph does not fit, or nobody asked. A
 * simulated device has no such engine. */
static double in_memory(const bench *b, const walk *walk) {
    csaw_run_options run = run_of(b, walk);
    const csaw_seeds seeds = {.count = b->walks};
    csaw_plan *plan = NULL;
    double best = 0;
    if (!b->settings->in_memory || strncmp(b->settings->device, "cuda:", 5) != 0) return 0;
    must(csaw_plan_create(b->graph, CSAW_PLAN(.device = b->settings->device), &plan));
    for (int i = 0; i < 3 && plan->device; i++) {
        csaw_samples *samples = NULL;
        const double start = now();
        run.batch_bytes = (uint64_t)1 << 30;
        if (walk->fanout)
            must(csaw_sample_each(plan, walk->sampler, walk->params, &seeds, &run, leave, NULL));
        else
            must(csaw_sample(plan, walk->sampler, walk->params, &seeds, &run, &samples));
        const double seconds = now() - start;
        best = i == 0 || seconds < best ? seconds : best;
        csaw_samples_free(samples);
    }
    csaw_plan_free(plan);
    return best;
}

static void bench_walk(bench *b, const walk *walk) {
    const settings *const s = b->settings;
    const csaw__parts_way all = CSAW__PARTS_BRING, most = CSAW__PARTS_BRING_MOST, none = CSAW__PARTS_STAY;
    const way ways[] = {
        {"partitions, last steps in place", .by = most, .walks = b->walks},
        {"partitions", .by = all, .walks = b->walks},
        {"cyclic order (WS off)", .by = all, .in_turn = true, .walks = b->walks},
        {"equal shares (BAL off)", .by = all, .equal_shares = true, .walks = b->walks},
        {"cyclic, equal (WS, BAL off)", .by = all, .in_turn = true, .equal_shares = true, .walks = b->walks},
        {"a few walks together", .by = all, .walks = s->alone},
        {"one at a time (BA off)", .by = all, .one_at_a_time = true, .walks = s->alone},
        {"read in place", .by = none, .walks = b->walks}};
    const bool may_stay = !walk->fanout && strncmp(s->device, "cuda:", 5) == 0;
    const double whole = in_memory(b, walk);
    csaw_plan *const plan = plan_of(b);
    outcome o = {0};
    const way warm = {"", .by = all, .walks = b->walks}; /* kernels are loaded, memory for results is there */
    run_way(b, plan, walk, &warm, &o);
    free(o.path);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (ways[w].walks == 0 || (w > 1 && !s->ablation && ways[w].by != none)) continue;
        if (ways[w].by != all && !may_stay) continue;
        run_way(b, plan, walk, &ways[w], &o);
        verify(b, walk, &ways[w], &o);
        free(o.path);
        report(b, walk->name, ways[w].name, ways[w].walks, &o, whole);
    }
    csaw_plan_free(plan);
    const uint64_t steps = b->walks * s->length;
    if (whole > 0)
        report(b, walk->name, "in memory", b->walks, &(outcome){.seconds = whole, .steps = walk->fanout ? 0 : steps},
               whole);
}

static settings read_settings(int argc, char **argv) {
    settings s = {.scale = 22, .edge_factor = 16, .seed = 1, .length = 80, .ablation = 1, .alone = 8, .in_memory = 1};
    s.device = "cuda:0";
    s.only = "uniform,node2vec,neighbor";
    s.p = "0.25";
    s.q = "4";
    s.commit = "not given";
    const struct {
        const char *name;
        uint32_t *number;
        const char **text;
    } options[] = {{"--scale", &s.scale, NULL},
                   {"--edge-factor", &s.edge_factor, NULL},
                   {"--seed", &s.seed, NULL},
                   {"--memory", &s.memory, NULL},
                   {"--partitions", &s.partitions, NULL},
                   {"--resident", &s.resident, NULL},
                   {"--walks", &s.walks, NULL},
                   {"--length", &s.length, NULL},
                   {"--ablation", &s.ablation, NULL},
                   {"--alone", &s.alone, NULL},
                   {"--in-memory", &s.in_memory, NULL},
                   {"--device", NULL, &s.device},
                   {"--only", NULL, &s.only},
                   {"--p", NULL, &s.p},
                   {"--q", NULL, &s.q},
                   {"--json", NULL, &s.json},
                   {"--commit", NULL, &s.commit}};
    for (int i = 1; i < argc; i += 2) {
        size_t o = 0;
        while (o < sizeof options / sizeof *options && strcmp(argv[i], options[o].name) != 0) o++;
        if (o == sizeof options / sizeof *options || i + 1 == argc) {
            fprintf(stderr, "parts_bench: %s '%s'; see the head of bench/parts.c\n",
                    i + 1 == argc ? "no value for" : "unknown option", argv[i]);
            exit(2);
        }
        if (options[o].number)
            *options[o].number = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else
            *options[o].text = argv[i + 1];
    }
    return s;
}

static void print_head(bench *b, double seconds) {
    const settings *const s = b->settings;
    const csaw_csr *const csr = &b->graph->csr;
    const double bytes = 8.0 * (double)csr->num_vertices + 4.0 * (double)csr->num_edges;
    printf("csaw %s, R-MAT scale %u, edge factor %u, seed %u, made in %.1f s: %llu vertices, %llu arcs, %.1f MiB; %llu "
           "walks of %u steps on %s with %.1f MiB; a copy to it moves %.2f GB/s\n",
           csaw_version(), s->scale, s->edge_factor, s->seed, seconds, (unsigned long long)csr->num_vertices,
           (unsigned long long)csr->num_edges, bytes / 1048576, (unsigned long long)b->walks, s->length,
           parts_device_name(s->device), (double)s->memory / 1024, b->rate / 1e9);
    if (b->json)
        fprintf(
            b->json,
            "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"graph\": {\"kind\": \"rmat\", "
            "\"scale\": %u, \"edge_factor\": %u, \"seed\": %u, \"vertices\": %llu, \"arcs\": %llu, \"bytes\": %.0f},\n"
            " \"gpu_memory\": %llu, \"length\": %u, \"p\": \"%s\", \"q\": \"%s\", \"copy_bytes_per_s\": %.6g, "
            "\"rows\": [",
            csaw_version(), s->commit, parts_device_name(s->device), s->scale, s->edge_factor, s->seed,
            (unsigned long long)csr->num_vertices, (unsigned long long)csr->num_edges, bytes,
            (unsigned long long)s->memory << 10, s->length, s->p, s->q, b->rate);
}

int main(int argc, char **argv) {
    settings s = read_settings(argc, argv);
    bench b = {.settings = &s, .first = true};
    const double start = now();
    must(csaw_graph_rmat(CSAW_RMAT(.scale = s.scale, .edge_factor = s.edge_factor, .seed = s.seed), &b.graph));
    const double made = now() - start;
    const csaw_csr *const csr = &b.graph->csr;
    const csaw_node2vec_params params = {strtof(s.p, NULL), strtof(s.q, NULL)};
    const walk walks[] = {{.name = "uniform", .sampler = &csaw_uniform},
                          {"node2vec", &csaw_node2vec, &params, NULL, 0},
                          {"neighbor", &csaw_neighbor, NULL, (const uint32_t[]){15, 10}, 2}};
    if (!s.memory) s.memory = (uint32_t)((8 * csr->num_vertices + 4 * csr->num_edges) >> 12);
    b.walks = s.walks && s.walks < csr->num_vertices ? s.walks : csr->num_vertices;
    if (s.alone > b.walks) s.alone = (uint32_t)b.walks;
    b.rate = parts_copy_rate(s.device);
    if (s.json && !(b.json = fopen(s.json, "w"))) {
        perror(s.json);
        return 1;
    }
    print_head(&b, made);
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++)
        if (strstr(s.only, walks[w].name)) bench_walk(&b, &walks[w]);
    if (b.json && (fputs("]}\n", b.json) < 0 || fclose(b.json) != 0)) return 1;
    csaw_graph_free(b.graph);
    return 0;
}
