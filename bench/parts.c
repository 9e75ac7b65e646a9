/* SPDX-License-Identifier: MIT */
/* bench/parts.c - walks and samples on a graph that is larger than the GPU memory which they may use: seconds, bytes
 * moved, what the way to the device would take for them at its full rate, measured in the same run, and the times of
 * launches. Beside it the same with switches of the scheduler off (C-SAW, SC'20, figures 13 to 15), the walks in
 * memory, as the plan chooses where it is not told how partitions are to come, and those that read the graph where the
 * host has it, all of their steps or those that no transfer is worth; bytes are those of transfers, and of arcs of
 * samples that left for the host and come back. Walks are verified: the first ones equal the CPU's, and steps follow
 * arcs.
 *
 *   parts_bench [--scale 22] [--edge-factor 16] [--seed 1] [--graph FILE] [--undirected 0] [--name TEXT]
 *               [--device cuda:0] [--memory KiB] [--partitions N] [--resident N] [--streams N]
 *               [--walks N] [--few 8] [--length 80] [--only uniform,node2vec,neighbor] [--p 0.25] [--q 4]
 *               [--weighted 0] [--select auto]
 *               [--ways "partitions;cyclic order (WS off)"] [--ablation 1] [--repeat 1] [--in-memory 1]
 *               [--json FILE] [--commit TEXT]
 *
 * --only: of uniform, node2vec, neighbor (15 and 10 of each vertex), layer (32 arcs, then 32, of 16 vertices that lie
 * evenly over all), and of C-SAW's applications biased-neighbor, biased-walk (by weight: --weighted 1), forest-fire and
 * unbiased-neighbor, samples of which have 2 depths, and neighbours 2 and 2;
 * --graph: in place of R-MAT, of any format that csaw loads; --undirected 1: arcs both ways; --weighted 1: weights of
 * the file, or of R-MAT, are kept, and travel with the arcs; --name: in what is said;
 * --memory: gpu_memory, by default a quarter of the graph, or all there is if --partitions is given; then, or with
 * --resident or --streams, no step of a walk that has partitions brought is made in place;
 * --select: the method of selection; each sampler's own, auto, by default;
 * --walks: from N vertices, spread evenly, by default one from each;
 * --ways: those named in it alone; --ablation 0: no switches; --few: walks that run one after the other (BA off), and
 * the same walks in other ways;
 * --repeat: runs of each way but those one after the other, of which the one with the median time is told; where the
 * kind of way changes, one more before them, in which the plan divides its memory anew, by the order that takes least;
 * --json: whole after every way, with "whole": false until all have run;
 * --in-memory 0: where the graph and all paths do not fit. On the simulated device (--device simulated) all of it runs,
 * and says nothing of a GPU. */
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
#include "bench/parts_steps.h"
#include "runtime/engine/parts.h"

enum {
    FIRST = 5000 /* instances that are held against the CPU */,
    FIRST_ARCS = 64 /* of each, about */,
    LAYER_SEEDS = 16 /* of an instance of layers */
};

typedef struct bench {
    const parts_settings *settings;
    csaw_graph *graph;
    csaw_csr csr;
    csaw_seeds walks, few; /* one each */
    csaw_seeds layers;     /* of LAYER_SEEDS each */
    csaw_select select;
    parts_rows rows;
} bench;

typedef struct walk {
    const char *name;
    const csaw_sampler *sampler;
    const void *params;
    const uint32_t *fanout; /* [hops]: a sample; NULL: a walk */
    uint32_t hops;
    bool layers; /* of b->layers */
} walk;

/* How partitions are scheduled. */
typedef struct way {
    const char *name;
    csaw__parts_way by;
    bool in_turn, equal_shares, one_at_a_time; /* WS off, BAL off, BA off */
    bool few;                                  /* of the walks */
} way;

/* A run, as it goes. */
typedef struct outcome {
    const csaw_csr *csr;
    uint64_t batches, wrong, done, steps;
    csaw_vertex *path; /* the first walks */
    uint64_t kept;     /* how many */
    double looked;     /* seconds that it took to look at them */
} outcome;

static void fail(const char *what) {
    fprintf(stderr, "parts_bench: %s\n", what);
    exit(3);
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

/* A round's walks: the first ones are kept, every 61st is looked at. */
static csaw_status look_at_walks(void *user, csaw_samples *samples) {
    outcome *const o = user;
    csaw_walks w;
    const double start = now();
    const csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &w);
    if (status != CSAW_OK) return status;
    const uint64_t places = (uint64_t)w.length + 1;
    for (uint64_t i = 0; i < w.num_walks; i += 61)
        for (uint32_t s = 0; s < w.length; s++)
            o->wrong += !is_step(o->csr, w.path[i * places + s], w.path[i * places + s + 1]);
    parts_keep_first(&w, o->kept, o->path);
    for (uint64_t i = 0; i < w.num_walks; i++) o->steps += steps_of(w.path + i * places, w.length);
    o->batches++;
    o->done += w.num_walks;
    o->looked += now() - start;
    return CSAW_OK;
}

static csaw_run_options run_of(const bench *b, const walk *walk) {
    return (csaw_run_options){.size = sizeof(csaw_run_options),
                              .depth = walk->fanout ? walk->hops : b->settings->length,
                              .fanout = walk->fanout,
                              .select = b->select,
                              .seed = b->settings->seed};
}

/* The same by the CPU. */
static void verify(const bench *b, const walk *walk, const csaw_seeds *seeds, const outcome *o) {
    const csaw_run_options run = run_of(b, walk);
    const csaw_seeds first = {seeds->vertex, seeds->count < FIRST ? seeds->count : FIRST, seeds->offset};
    if (o->wrong) fail("steps follow no arc of the graph");
    parts_check(b->graph, walk->sampler, walk->params, &first, &run, o->path, o->kept);
}

static csaw_plan *plan_of(const bench *b) {
    const parts_settings *const s = b->settings;
    csaw_plan *plan = NULL;
    must(csaw_plan_create(b->graph,
                          CSAW_PLAN(.device = s->device, .gpu_memory = (uint64_t)s->memory << 10,
                                    .partitions = (int)s->partitions, .resident = (int)s->resident,
                                    .streams = (int)s->streams),
                          &plan));
    if (!plan->parts) fail("the graph fits as it is; give less --memory, or --partitions");
    return plan;
}

static const csaw_seeds *seeds_of(const bench *b, const walk *walk, const way *way) {
    return way->few ? &b->few : walk->layers ? &b->layers : &b->walks;
}

/* A run that is verified. */
static parts_row run_once(const bench *b, csaw_plan *plan, const walk *walk, const way *way) {
    csaw_run_options run = run_of(b, walk);
    csaw__parts *const parts = plan->parts;
    const csaw_seeds *const seeds = seeds_of(b, walk, way);
    const uint64_t walks = seeds->count, first = walks < FIRST ? walks : FIRST;
    outcome o = {.kept = walk->fanout ? first * FIRST_ARCS : first, .csr = &b->csr};
    parts->schedule.in_turn = way->in_turn;
    parts->schedule.equal_shares = way->equal_shares;
    parts->one_at_a_time = way->one_at_a_time;
    parts->way = way->by;
    o.path = malloc((walk->fanout ? o.kept : first * ((uint64_t)run.depth + 1)) * sizeof *o.path);
    if (!o.path) fail("no memory left");
    /* walks: all that there are, which parts take one by one; a GPU's samples come in batches of one then */
    if (way->one_at_a_time && !walk->fanout) run.batch_bytes = UINT64_MAX;
    parts_row row = parts_row_begin(parts, walks);
    must(csaw_sample_each(plan, walk->sampler, walk->params, seeds, &run, walk->fanout ? look_at_arcs : look_at_walks,
                          &o));
    parts_row_end(&row, parts, o.looked);
    row.batches = o.batches;
    row.steps = o.steps;
    if (o.done != walks) fail("walks are missing");
    verify(b, walk, seeds, &o);
    free(o.path);
    return row;
}

static int by_time(const void *a, const void *b) {
    return ascending(&((const parts_row *)a)->seconds, &((const parts_row *)b)->seconds);
}

/* Where the plan divides its memory anew, the first run has nothing resident, and makes its engine: that one is not
 * measured, and brings partitions in the order that takes least. before: the way that ran last. */
static parts_row run_way(const bench *b, csaw_plan *plan, const walk *walk, const way *way, const struct way *before) {
    const uint32_t repeat = way->one_at_a_time ? 1 : b->settings->repeat;
    parts_row *const runs = malloc(repeat * sizeof *runs);
    if (!runs) fail("no memory left");
    if (before->by != way->by || before->few != way->few) {
        struct way unmeasured = *way;
        unmeasured.one_at_a_time = unmeasured.in_turn = false;
        run_once(b, plan, walk, &unmeasured);
    }
    for (uint32_t i = 0; i < repeat; i++) runs[i] = run_once(b, plan, walk, way);
    qsort(runs, repeat, sizeof *runs, by_time);
    parts_row row = runs[repeat / 2];
    row.least = runs[0].seconds;
    row.most = runs[repeat - 1].seconds;
    free(runs);
    return row;
}

static csaw_status leave(void *user, csaw_samples *samples) {
    (void)user, (void)samples; /* on the device */
    return CSAW_OK;
}

/* The graph on the device, and there all paths, or arcs by the GiB; 0: the graph does not fit, or nobody asked. A
 * simulated device has no such engine. */
static double in_memory(const bench *b, const walk *walk) {
    csaw_run_options run = run_of(b, walk);
    const csaw_seeds *const seeds = walk->layers ? &b->layers : &b->walks;
    csaw_plan *plan = NULL;
    double best = 0;
    if (!b->settings->in_memory || strncmp(b->settings->device, "cuda:", 5) != 0) return 0;
    must(csaw_plan_create(b->graph, CSAW_PLAN(.device = b->settings->device), &plan));
    for (int i = 0; i < 3 && plan->device; i++) {
        csaw_samples *samples = NULL;
        const double start = now();
        run.batch_bytes = (uint64_t)1 << 30;
        if (walk->fanout)
            must(csaw_sample_each(plan, walk->sampler, walk->params, seeds, &run, leave, NULL));
        else
            must(csaw_sample(plan, walk->sampler, walk->params, seeds, &run, &samples));
        const double seconds = now() - start;
        best = i == 0 || seconds < best ? seconds : best;
        csaw_samples_free(samples);
    }
    csaw_plan_free(plan);
    return best;
}

static const way ways[] = {
    {"as the plan chooses", .by = CSAW__PARTS_CHOOSE},
    {"partitions, last steps in place", .by = CSAW__PARTS_BRING_MOST},
    {"partitions", .by = CSAW__PARTS_BRING},
    {"cyclic order (WS off)", .by = CSAW__PARTS_BRING, .in_turn = true},
    {"equal shares (BAL off)", .by = CSAW__PARTS_BRING, .equal_shares = true},
    {"cyclic, equal (WS, BAL off)", .by = CSAW__PARTS_BRING, .in_turn = true, .equal_shares = true},
    {"read in place", .by = CSAW__PARTS_STAY},
    {"few: partitions", .by = CSAW__PARTS_BRING, .few = true},
    {"few: equal shares (BAL off)", .by = CSAW__PARTS_BRING, .equal_shares = true, .few = true},
    {"few: cyclic, equal (WS, BAL off)", CSAW__PARTS_BRING, .in_turn = true, .equal_shares = true, .few = true},
    {"few: one at a time (BA off)", .by = CSAW__PARTS_BRING, .one_at_a_time = true, .few = true},
    {"few: one at a time, cyclic, equal", CSAW__PARTS_BRING, true, true, true, .few = true},
    {"few: read in place", .by = CSAW__PARTS_STAY, .few = true},
};

static bool any_named(const char *list) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (bench_list_names(list, ';', ways[i].name)) return true;
    return false;
}

/* Whether it is a way of its own in this run, and asked for. */
static bool is_asked_for(const bench *b, const walk *walk, const way *way) {
    const parts_settings *const s = b->settings;
    const bool off = way->in_turn || way->equal_shares || way->few;
    if (s->ways && !bench_list_names(s->ways, ';', way->name)) return false;
    if (way->few && (b->few.count == 0 || walk->layers)) return false;
    if (off && !s->ablation) return false;
    if (way->by == CSAW__PARTS_BRING) return true;
    if (way->by != CSAW__PARTS_STAY && (s->partitions || s->resident || s->streams)) return false; /* it is said how */
    if (way->by == CSAW__PARTS_BRING_MOST && walk->fanout) return false;
    return strncmp(s->device, "cuda:", 5) == 0;
}

static void bench_walk(bench *b, const walk *walk) {
    const double whole = in_memory(b, walk);
    csaw_plan *const plan = plan_of(b);
    const way all = {"", .by = CSAW__PARTS_BRING};
    const way *before = &all;
    const parts_row warm = run_once(b, plan, walk, &all); /* kernels are loaded, memory for results is there */
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        if (!is_asked_for(b, walk, &ways[w])) continue;
        const parts_row row = run_way(b, plan, walk, &ways[w], before);
        before = &ways[w];
        parts_rows_add(&b->rows, walk->name, ways[w].name, &row, whole);
    }
    csaw_plan_free(plan);
    const parts_row row = {.walks = warm.walks, .steps = warm.steps, .seconds = whole, .least = whole, .most = whole};
    if (whole > 0) parts_rows_add(&b->rows, walk->name, "in memory", &row, whole);
}

static csaw_select select_named(const char *name) {
    const char *known;
    for (int i = 0; (known = csaw_select_name((csaw_select)i)); i++)
        if (strcmp(known, name) == 0) return (csaw_select)i;
    fprintf(stderr, "parts_bench: --select '%s' names no method; give auto, uniform, its, alias, reject or race\n",
            name);
    exit(2);
}

/* An instance for so many walks. An instance's lie evenly over the vertices, so that its layer is in most
 * partitions. */
static csaw_seeds layer_seeds(uint64_t walks, uint64_t vertices) {
    const uint64_t count = walks / LAYER_SEEDS, step = vertices / (count * LAYER_SEEDS + !count);
    csaw_vertex *const vertex = malloc((count * LAYER_SEEDS + 1) * sizeof *vertex);
    uint64_t *const offset = malloc((count + 1) * sizeof *offset);
    if (!vertex || !offset) fail("no memory left");
    for (uint64_t i = 0; i < count * LAYER_SEEDS; i++)
        vertex[i] = (csaw_vertex)((i / LAYER_SEEDS + i % LAYER_SEEDS * count) * step);
    for (uint64_t i = 0; i <= count; i++) offset[i] = i * LAYER_SEEDS;
    return (csaw_seeds){vertex, count, offset};
}

int main(int argc, char **argv) {
    parts_settings s = parts_settings_read(argc, argv);
    parts_graph graph = parts_graph_open(&s);
    bench b = {
        .settings = &s, .graph = graph.graph, .csr = csaw_graph_csr(graph.graph), .select = select_named(s.select)};
    const uint64_t vertices = b.csr.num_vertices;
    const csaw_node2vec_params params = {strtof(s.p, NULL), strtof(s.q, NULL)};
    const walk walks[] = {
        {.name = "uniform", .sampler = &csaw_uniform},
        {.name = "node2vec", .sampler = &csaw_node2vec, .params = &params},
        {.name = "neighbor", .sampler = &csaw_neighbor, .fanout = (const uint32_t[]){15, 10}, .hops = 2},
        {.name = "layer", .sampler = &csaw_layer, .fanout = (const uint32_t[]){32, 32}, .hops = 2, .layers = true},
        {.name = "biased-neighbor", .sampler = &csaw_neighbor_biased, .fanout = (const uint32_t[]){2, 2}, .hops = 2},
        {.name = "biased-walk", .sampler = &csaw_biased},
        {.name = "forest-fire",
         .sampler = &csaw_forest_fire,
         .fanout = (const uint32_t[]){2, 2},
         .hops = 2}, /* it decides itself */
        {.name = "unbiased-neighbor", .sampler = &csaw_neighbor, .fanout = (const uint32_t[]){2, 2}, .hops = 2}};
    bool any = false;
    if (!s.memory && !s.partitions) s.memory = (uint32_t)(parts_graph_bytes(&b.csr) / 4096);
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++) any = any || bench_list_names(s.only, ',', walks[w].name);
    if (!any) {
        fprintf(stderr, "parts_bench: --only '%s' names no walk; see the head of bench/parts.c\n", s.only);
        return 2;
    }
    if (s.ways && !any_named(s.ways)) {
        fprintf(stderr, "parts_bench: --ways '%s' names none; see the table of bench/parts.c\n", s.ways);
        return 2;
    }
    b.walks = parts_seeds(s.walks && s.walks < vertices ? s.walks : vertices, vertices);
    b.few = parts_seeds(s.few < b.walks.count ? s.few : b.walks.count, vertices);
    if (bench_list_names(s.only, ',', "layer")) b.layers = layer_seeds(b.walks.count, vertices);
    b.rows = parts_rows_begin(&s, &graph, b.walks.count, parts_copy_rate(s.device));
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++)
        if (bench_list_names(s.only, ',', walks[w].name)) bench_walk(&b, &walks[w]);
    parts_rows_end(&b.rows, NULL);
    free((void *)b.walks.vertex);
    free((void *)b.few.vertex);
    free((void *)b.layers.vertex);
    free((void *)b.layers.offset);
    parts_graph_close(&graph);
    return 0;
}
