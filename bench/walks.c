/* SPDX-License-Identifier: MIT */
/* bench/walks.c - walks a second on R-MAT graphs: csaw through its public API, beside loops and kernels written by hand
 * on the same graph. Every row is verified: each step follows an arc, and a GPU's walks equal the CPU's.
 *
 *   walk_bench [--scale 20] [--edge-factor 16] [--seed 1] [--order none] [--walks-per-vertex 1] [--vertices N]
 *              [--length 80] [--device cpu] [--repeat 5] [--only WALKS] [--files FOLDER] [--export DIR]
 *              [--split 0] [--exchange 0] [--json FILE] [--commit TEXT]
 *
 * --device all, or a list such as cuda:0,cuda:1, shares the walks among GPUs, without kernels by hand beside them; with
 * --split 1 these hold the graph together, and with --exchange 1 walkers go where their rows are;
 * --order degree numbers vertices by falling degree, and adds a kernel that makes use of it;
 * --vertices starts walks from the first N vertices alone, which are as good as drawn at random, for R-MAT permutes
 * them; --only runs the walks named, with commas between; --files adds each walk by a sampler file that is compiled at
 * run time, out of csaw's own source in that folder, and says how fast it is beside the one that was built;
 * --export writes xadj32.bin, adj32.bin, w32.bin (uint32 offsets, uint32 arcs, float weights) for other programs;
 * --commit is kept in the JSON. */
#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/hand_walks.h"
#include "bench/hand_walks_gpu.h"
#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/options.h"

CSAW_DECLARE_SAMPLER(weighted);

typedef struct settings {
    uint32_t scale, edge_factor, seed, walks_per_vertex, vertices, length, repeat, split,
        exchange; /* vertices: 0 = all */
    const char *device, *order, *files, *export, *json, *only, *commit;
} settings;

static void no_memory(void) {
    fputs("walk_bench: no memory left; lower --scale, --edge-factor or --vertices\n", stderr);
    exit(1);
}

static bool has_arc(const csaw_csr *csr, csaw_vertex from, csaw_vertex to) {
    csaw_edge lo = csr->rowptr[from], hi = csr->rowptr[from + 1], end = hi;
    while (lo < hi) {
        csaw_edge middle = lo + (hi - lo) / 2;
        if (csr->col[middle] < to)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && csr->col[lo] == to;
}

static void must_be_arcs(uint64_t wrong, const char *what) {
    if (!wrong) return;
    fprintf(stderr, "walk_bench: %s: %llu steps follow no arc of the graph\n", what, (unsigned long long)wrong);
    exit(3);
}

static void verify_paths(const csaw_csr *csr, const csaw_vertex *path, uint64_t num_walks, uint32_t length,
                         const char *what) {
    uint64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (uint64_t w = 0; w < num_walks; w++)
        for (uint32_t s = 0; s < length; s++)
            wrong += !has_arc(csr, path[w * (length + 1) + s], path[w * (length + 1) + s + 1]);
    must_be_arcs(wrong, what);
}

typedef struct bench {
    const settings *settings;
    csaw_seeds seeds; /* vertices 0, 1, 2, ...: without an array */
    hand_gpu *gpu;    /* NULL on the CPU, and on several GPUs */
    bool several;     /* GPUs, or as many as there are: paths are looked at in host memory */
    double by_hand;   /* seconds of the walk at hand, written by hand; 0 = not known */
    double built;     /* the same by csaw's own sampler, compiled with it */
    FILE *json;
    bool first;
} bench;

static void report(bench *b, const char *name, const char *by, figure f) {
    const uint64_t steps = b->seeds.count * b->settings->walks_per_vertex * b->settings->length;
    const double ratio = b->by_hand / f.median, to_built = b->built / f.median;
    printf("%-34s %-8s %10.3f ms  (%.3f .. %.3f)  %10.1f M steps/s", name, by, f.median * 1e3, f.least * 1e3,
           f.most * 1e3, (double)steps / f.median / 1e6);
    if (ratio > 0) printf("  %.2f of hand", ratio);
    if (to_built > 0) printf("  %.2f of built-in", to_built);
    putchar('\n');
    if (b->json) {
        fprintf(b->json,
                "%s\n    {\"walk\": \"%s\", \"by\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, "
                "\"steps\": %llu, \"steps_per_s\": %.6g",
                b->first ? "" : ",", name, by, f.median, f.least, f.most, (unsigned long long)steps,
                (double)steps / f.median);
        if (ratio > 0) fprintf(b->json, ", \"ratio_to_hand\": %.4g", ratio);
        if (to_built > 0) fprintf(b->json, ", \"ratio_to_built\": %.4g", to_built);
        fputc('}', b->json);
    }
    b->first = false;
    fflush(stdout);
}

/* The first walks of a plan on a GPU equal the CPU's. got: [count, length + 1] */
static void verify_against_cpu(bench *b, const csaw_graph *graph, const csaw_sampler *sampler, const void *params,
                               const csaw_vertex *got, uint64_t count) {
    csaw_plan *cpu = NULL;
    csaw_samples *samples = NULL;
    csaw_walks want;
    must(csaw_plan_create(graph, NULL, &cpu));
    must(csaw_sample(cpu, sampler, params, &(csaw_seeds){.count = count},
                     CSAW_RUN(.depth = b->settings->length, .seed = b->settings->seed), &samples));
    must(csaw_samples_walks(samples, CSAW_HOST, &want));
    if (memcmp(want.path, got, count * (want.length + 1) * sizeof *got) != 0) {
        fprintf(stderr, "walk_bench: %s differs from the CPU's walks\n", csaw_sampler_name(sampler));
        exit(3);
    }
    csaw_samples_free(samples);
    csaw_plan_free(cpu);
}

/* Of several GPUs the last share, too: walks from instance `first` on, held against those of got. */
typedef struct comparison {
    const csaw_walks *got;
    bool differs;
} comparison;

static csaw_status compare_batch(void *user, csaw_samples *samples) {
    comparison *c = user;
    csaw_walks want;
    must(csaw_samples_walks(samples, CSAW_HOST, &want));
    const uint64_t places = (uint64_t)want.length + 1;
    c->differs = c->differs || memcmp(want.path, c->got->path + want.first * places,
                                      want.num_walks * places * sizeof *want.path) != 0;
    return CSAW_OK;
}

static void verify_last(bench *b, const csaw_graph *graph, const csaw_sampler *sampler, const void *params,
                        const csaw_walks *got, uint64_t count) {
    const settings *s = b->settings;
    comparison c = {.got = got};
    csaw_plan *cpu = NULL;
    must(csaw_plan_create(graph, NULL, &cpu));
    must(csaw_sample_each(cpu, sampler, params, &b->seeds,
                          CSAW_RUN(.depth = s->length, .walks_per_seed = s->walks_per_vertex, .seed = s->seed,
                                   .first = got->num_walks - count),
                          compare_batch, &c));
    csaw_plan_free(cpu);
    if (!c.differs) return;
    fprintf(stderr, "walk_bench: the last walks of %s differ from the CPU's\n", csaw_sampler_name(sampler));
    exit(3);
}

/* Walks where they lie. first: [count, length + 1] gets the first ones if they are on a GPU. */
static void verify_walks(bench *b, const csaw_csr *csr, csaw_samples *samples, const char *name, csaw_vertex *first,
                         uint64_t count, csaw_walks *seen) {
    csaw_walks walks;
    must(csaw_samples_walks(samples, b->gpu ? CSAW_DEVICE : CSAW_HOST, &walks));
    if (b->gpu) {
        must_be_arcs(hand_gpu_wrong_steps(b->gpu, &walks), name);
        hand_gpu_fetch(&walks, count, first);
    } else {
        verify_paths(csr, walks.path, walks.num_walks, walks.length, name);
        if (b->several) memcpy(first, walks.path, count * (walks.length + (uint64_t)1) * sizeof *first);
    }
    *seen = walks;
}

/* Returns the seconds. */
static double bench_csaw(bench *b, const char *name, const csaw_graph *graph, const csaw_sampler *sampler,
                         const void *params) {
    const settings *s = b->settings;
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t count = b->seeds.count < 20000 ? b->seeds.count : 20000;
    csaw_plan *plan = NULL;
    double *seconds = malloc(s->repeat * sizeof *seconds);
    const bool on_gpu = b->gpu || b->several;
    csaw_vertex *first = on_gpu ? malloc(count * ((uint64_t)s->length + 1) * sizeof *first) : NULL;
    if (!seconds || (on_gpu && !first)) no_memory();
    must(csaw_plan_create(graph, CSAW_PLAN(.device = s->device, .split = s->split != 0, .exchange = s->exchange != 0),
                          &plan));
    for (uint32_t r = 0; r <= s->repeat; r++) { /* run 0 warms up and is verified */
        csaw_samples *samples = NULL;
        csaw_walks walks;
        double start = now();
        must(csaw_sample(plan, sampler, params, &b->seeds,
                         CSAW_RUN(.depth = s->length, .walks_per_seed = s->walks_per_vertex, .seed = s->seed),
                         &samples));
        if (r)
            seconds[r - 1] = now() - start;
        else
            verify_walks(b, &csr, samples, name, first, count, &walks);
        if (!r && b->several) verify_last(b, graph, sampler, params, &walks, count);
        csaw_samples_free(samples);
    }
    csaw_plan_free(plan); /* before the CPU's, which has tables of its own */
    if (on_gpu) verify_against_cpu(b, graph, sampler, params, first, count);
    const figure f = figure_of(seconds, s->repeat);
    report(b, name, "csaw", f);
    free(first);
    free(seconds);
    return f.median;
}

/* By a sampler that was built, and by a file of the same law, compiled at run time. */
static void bench_both(bench *b, const char *name, const csaw_graph *graph, const csaw_sampler *built, const char *file,
                       const void *params) {
    const csaw_sampler *own = NULL;
    char own_name[128], path[1024];
    const double seconds = bench_csaw(b, name, graph, built, params);
    if (!b->settings->files) return;
    snprintf(own_name, sizeof own_name, "%s, run-time C file", name);
    snprintf(path, sizeof path, "%s/%s", b->settings->files, file);
    must(csaw_sampler_compile(path, &own));
    b->built = seconds;
    bench_csaw(b, own_name, graph, own, params);
    b->built = 0;
    csaw_sampler_unload(own);
}

/* By hand, on the GPU. */
static void bench_hand_gpu(bench *b, const char *name, hand_walk walk, float p, float q) {
    const settings *s = b->settings;
    const hand_run run = {walk,           p,         q,       b->seeds.count * s->walks_per_vertex,
                          b->seeds.count, s->length, s->seed, s->repeat};
    double *seconds = malloc(s->repeat * sizeof *seconds);
    if (!seconds) no_memory();
    must_be_arcs(hand_gpu_run(b->gpu, &run, seconds), name);
    const figure f = figure_of(seconds, s->repeat);
    b->by_hand = 0;
    report(b, name, "hand", f);
    b->by_hand = f.median;
    free(seconds);
}

/* By hand, on the CPU. p == 0: first order. */
static void bench_hand(bench *b, const char *name, const csaw_graph *graph, float p, float q) {
    const settings *s = b->settings;
    const csaw_csr csr = csaw_graph_csr(graph);
    double *seconds = malloc(s->repeat * sizeof *seconds);
    csaw_vertex *path = hand_alloc(b->seeds.count * ((uint64_t)s->length + 1), sizeof *path);
    const bool by_table = csr.weight && p == 0;
    hand_alias *table = by_table ? hand_alloc(csr.num_edges, sizeof *table) : NULL;
    float largest = 0;
    if (!seconds || !path || (by_table && !table)) no_memory();
    for (csaw_edge e = 0; csr.weight && e < csr.num_edges; e++)
        largest = csr.weight[e] > largest ? csr.weight[e] : largest;
    if (table) hand_alias_build(&csr, table);
    for (uint32_t r = 0; r <= s->repeat; r++) {
        double start = now();
        if (p > 0)
            hand_node2vec(&csr, p, q, largest, b->seeds.count, s->length, s->seed, path);
        else if (table)
            hand_weighted(&csr, table, b->seeds.count, s->length, s->seed, path);
        else
            hand_uniform(&csr, b->seeds.count, s->length, s->seed, path);
        if (r) seconds[r - 1] = now() - start;
        if (!r) verify_paths(&csr, path, b->seeds.count, s->length, name);
    }
    const figure f = figure_of(seconds, s->repeat);
    b->by_hand = 0;
    report(b, name, "hand", f);
    b->by_hand = f.median;
    free(table);
    free(path);
    free(seconds);
}

static void write_array(const char *folder, const char *name, const void *array, size_t size, size_t count) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(array, size, count, file) != count || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void export_graph(const csaw_csr *csr, const char *folder) {
    uint32_t *offset = malloc((csr->num_vertices + 1) * sizeof *offset);
    if (!offset) no_memory();
    if (csr->num_edges > UINT32_MAX) {
        fprintf(stderr, "walk_bench: --export writes 32-bit offsets, and the graph has %llu arcs; lower --scale\n",
                (unsigned long long)csr->num_edges);
        exit(2);
    }
    for (uint64_t v = 0; v <= csr->num_vertices; v++) offset[v] = (uint32_t)csr->rowptr[v];
    write_array(folder, "xadj32.bin", offset, sizeof *offset, csr->num_vertices + 1);
    write_array(folder, "adj32.bin", csr->col, sizeof *csr->col, csr->num_edges);
    write_array(folder, "w32.bin", csr->weight, sizeof *csr->weight, csr->num_edges);
    free(offset);
}

static settings read_settings(int argc, char **argv) {
    settings s = {.scale = 20, .edge_factor = 16, .seed = 1, .walks_per_vertex = 1, .length = 80, .repeat = 5};
    s.device = "cpu";
    s.order = "none";
    s.commit = "not given";
    const bench_option options[] = {
        {"--scale", &s.scale, NULL},       {"--edge-factor", &s.edge_factor, NULL},
        {"--seed", &s.seed, NULL},         {"--walks-per-vertex", &s.walks_per_vertex, NULL},
        {"--vertices", &s.vertices, NULL}, {"--length", &s.length, NULL},
        {"--repeat", &s.repeat, NULL},     {"--device", NULL, &s.device},
        {"--split", &s.split, NULL},       {"--exchange", &s.exchange, NULL},
        {"--order", NULL, &s.order},       {"--files", NULL, &s.files},
        {"--export", NULL, &s.export},     {"--json", NULL, &s.json},
        {"--only", NULL, &s.only},         {"--commit", NULL, &s.commit}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "walk_bench", "bench/walks.c");
    if (!s.repeat || !s.length || !s.walks_per_vertex) {
        fputs("walk_bench: --repeat, --length and --walks-per-vertex are at least 1\n", stderr);
        exit(2);
    }
    if (strcmp(s.order, "none") != 0 && strcmp(s.order, "degree") != 0) {
        fprintf(stderr, "walk_bench: --order is '%s'; it is none or degree\n", s.order);
        exit(2);
    }
    return s;
}

/* Is the walk among those of --only? */
static bool wanted(const settings *s, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = s->only; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && !strncmp(at, name, length)) return true;
    }
    return !s->only;
}

static void run_rows(bench *b, const csaw_graph *plain, const csaw_graph *graph) {
    static const float pq[2][2] = {{2, 0.5f}, {0.25f, 4}};
    const settings *s = b->settings;
    const bool on_cpu = strcmp(s->device, "cpu") == 0 && s->walks_per_vertex == 1;
    char name[96];
    if (wanted(s, "uniform")) {
        b->by_hand = 0;
        if (b->gpu && strcmp(s->order, "degree") == 0)
            bench_hand_gpu(b, "uniform, degree classes", HAND_UNIFORM_CLASSES, 1, 1);
        if (b->gpu) bench_hand_gpu(b, "uniform", HAND_UNIFORM, 1, 1);
        if (on_cpu) bench_hand(b, "uniform", plain, 0, 0);
        bench_both(b, "uniform", plain, &csaw_uniform, "samplers/uniform.c", NULL);
    }
    if (wanted(s, "weighted")) {
        b->by_hand = 0;
        if (b->gpu) bench_hand_gpu(b, "weighted", HAND_WEIGHTED, 1, 1);
        if (on_cpu) bench_hand(b, "weighted", graph, 0, 0);
        bench_both(b, "weighted", graph, &weighted, "bench/weighted.c", NULL);
    }
    for (int weights = 0; weights < 2; weights++)
        for (int i = 0; i < 2; i++) {
            const csaw_graph *g = weights ? graph : plain;
            const csaw_node2vec_params params = {pq[i][0], pq[i][1]};
            snprintf(name, sizeof name, "%snode2vec p=%g q=%g", weights ? "weighted " : "", (double)params.p,
                     (double)params.q);
            if (!wanted(s, name)) continue;
            b->by_hand = 0;
            if (b->gpu) bench_hand_gpu(b, name, weights ? HAND_NODE2VEC_WEIGHTED : HAND_NODE2VEC, params.p, params.q);
            if (on_cpu) bench_hand(b, name, g, params.p, params.q);
            bench_both(b, name, g, &csaw_node2vec, "examples/my_node2vec.c", &params);
        }
}

static double peak_gib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1048576.0;
}

static void print_head(bench *b, const csaw_csr *csr, int threads) {
    const settings *s = b->settings;
    printf("csaw %s, R-MAT scale %u, edge factor %u, seed %u, order %s: %llu vertices, %llu arcs; %u walks from each "
           "of %llu "
           "vertices, %u steps, device %s, %d threads, 1 warm-up, median of %u\n",
           csaw_version(), s->scale, s->edge_factor, s->seed, s->order, (unsigned long long)csr->num_vertices,
           (unsigned long long)csr->num_edges, s->walks_per_vertex, (unsigned long long)b->seeds.count, s->length,
           s->device, threads, s->repeat);
    if (!b->json) return;
    fprintf(b->json, "{\"version\": \"%s\", \"commit\": \"%s\", ", csaw_version(), s->commit);
    machine_put(b->json, s->device);
    fprintf(b->json,
            ",\n \"graph\": {\"kind\": \"rmat\", \"scale\": %u, \"edge_factor\": %u, \"seed\": %u, \"order\": \"%s\", "
            "\"vertices\": %llu, "
            "\"arcs\": %llu},\n \"seed\": %u, \"walks_per_vertex\": %u, \"start_vertices\": %llu, \"length\": %u, "
            "\"device\": \"%s\", \"split\": %s, \"exchange\": %s, \"threads\": %d, \"warm_up\": 1, \"repeat\": %u, "
            "\"rows\": [",
            s->scale, s->edge_factor, s->seed, s->order, (unsigned long long)csr->num_vertices,
            (unsigned long long)csr->num_edges, s->seed, s->walks_per_vertex, (unsigned long long)b->seeds.count,
            s->length, s->device, s->split ? "true" : "false", s->exchange ? "true" : "false", threads, s->repeat);
}

static csaw_graph *make_graph(const settings *s) {
    csaw_graph *graph = NULL, *ordered = NULL;
    double start = now();
    must(csaw_graph_rmat(CSAW_RMAT(.scale = s->scale, .edge_factor = s->edge_factor, .seed = s->seed, .weighted = true),
                         &graph));
    printf("generated in %.2f s", now() - start);
    if (strcmp(s->order, "degree") == 0) {
        start = now();
        must(csaw_graph_by_degree(graph, &ordered));
        csaw_graph_free(graph);
        graph = ordered;
        printf(", numbered by degree in %.2f s", now() - start);
    }
    printf(", peak memory %.2f GiB\n", peak_gib());
    return graph;
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    csaw_graph *graph, *plain = NULL;
    bench b = {.settings = &s, .first = true};
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    graph = make_graph(&s);
    csaw_csr csr = csaw_graph_csr(graph);
    if (s.export) export_graph(&csr, s.export);
    b.seeds.count = s.vertices && s.vertices < csr.num_vertices ? s.vertices : csr.num_vertices;
    if (s.json && !(b.json = fopen(s.json, "w"))) {
        perror(s.json);
        return 1;
    }
    print_head(&b, &csr, threads);
    b.several = strcmp(s.device, "all") == 0 || strchr(s.device, ',');
    b.gpu = b.several ? NULL : hand_gpu_open(&csr, s.device);
    csaw_csr unweighted = csr;
    unweighted.weight = NULL;
    must(csaw_graph_borrow_csr(&unweighted, &plain));
    run_rows(&b, plain, graph);
    if (b.first) {
        fprintf(stderr, "walk_bench: --only %s names no walk; see the names without --only\n", s.only);
        return 2;
    }
    printf("peak memory %.2f GiB\n", peak_gib());
    if (b.json && (fprintf(b.json, "],\n \"peak_memory_gib\": %.3g}\n", peak_gib()) < 0 || fclose(b.json) != 0))
        return 1;
    hand_gpu_close(b.gpu);
    csaw_graph_free(plain);
    csaw_graph_free(graph);
    return 0;
}
