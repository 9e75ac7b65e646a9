/* SPDX-License-Identifier: MIT */
/* bench/spmm.c - aggregation on the CPU: csaw_spmm() forward and backward, each verified before it is timed, beside the
 * plain loop anyone would write and the rate at which this machine copies memory.
 *
 *   spmm_bench [--graph rmat|reddit|products|arxiv|FILE] [--share 1] [--scale 18] [--edge-factor 16] [--undirected 0]
 *              [--columns 64,256] [--repeat 7] [--commit TEXT] [--json FILE]
 *
 * Graphs: bench/graph_choice.h. Rates are of the features
 * gathered, edges x columns x bytes of an element: what the loops load, from cache or memory. least_bytes is what any
 * method must move: matrix, features and result once. */
#include <csaw/spmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/graph_choice.h"
#include "bench/measure.h"
#include "bench/spmm_check.h"

enum { CHECKED = 300 }; /* rows */

typedef struct settings {
    graph_choice graph;
    const char *columns, *commit, *json;
    uint32_t repeat;
} settings;

typedef struct bench {
    const settings *settings;
    csaw_sparse a;
    csaw_spmm_plan *plan, *fixed; /* fixed: with the weights */
    csaw_dense x, y;              /* of the number of columns and the storage at hand */
    csaw_edge *arg;
    float *dweight;
    double *seconds; /* [repeat] */
    FILE *json;
    bool first;
} bench;

static void *memory(uint64_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

/* ---- what is timed ---- */

static void forward(bench *b) { must(csaw_spmm(&b->a, &b->x, CSAW_SPMM(.plan = b->plan), &b->y)); }
static void forward_unprepared(bench *b) { must(csaw_spmm(&b->a, &b->x, NULL, &b->y)); }
static void mean(bench *b) { must(csaw_spmm(&b->a, &b->x, CSAW_SPMM(.plan = b->plan, .reduce = CSAW_MEAN), &b->y)); }
static void max(bench *b) {
    must(csaw_spmm(&b->a, &b->x, CSAW_SPMM(.plan = b->plan, .reduce = CSAW_MAX, .arg = b->arg), &b->y));
}
static void by_hand(bench *b) { hand_spmm(&b->a, &b->x, &b->y); }
static void backward(bench *b) {
    must(csaw_spmm_backward(&b->a, NULL, &b->x, CSAW_SPMM(.plan = b->plan), &b->y, NULL));
}
static void backward_fixed(bench *b) {
    must(csaw_spmm_backward(&b->a, NULL, &b->x, CSAW_SPMM(.plan = b->fixed), &b->y, NULL));
}
static void backward_unprepared(bench *b) { must(csaw_spmm_backward(&b->a, NULL, &b->x, NULL, &b->y, NULL)); }
static void backward_max(bench *b) { /* after max() */
    must(csaw_spmm_backward(&b->a, NULL, &b->x, CSAW_SPMM(.reduce = CSAW_MAX, .arg = b->arg), &b->y, NULL));
}
static void dweight(bench *b) {
    must(csaw_spmm_backward(&b->a, &b->x, &b->x, CSAW_SPMM(.plan = b->plan), NULL, b->dweight));
}
static void prepare(bench *b) {
    csaw_spmm_plan *plan = NULL;
    must(csaw_spmm_prepare(&b->a, NULL, &plan));
    csaw_spmm_plan_free(plan);
}

typedef enum check { NOTHING, PRODUCTS, MEANS, LARGEST, TRANSPOSED, TRANSPOSED_LARGEST, DOTS } check;

typedef struct way {
    const char *name, *by;
    void (*run)(bench *);
    check check;
    bool f32_alone;
} way;

/* A plan has no elements to look at. */
static const way ways[] = {
    {"sum", "hand", by_hand, PRODUCTS, true},
    {"sum", "csaw", forward, PRODUCTS, false},
    {"sum, not prepared", "csaw", forward_unprepared, PRODUCTS, true},
    {"mean", "csaw", mean, MEANS, true},
    {"max", "csaw", max, LARGEST, true},
    {"dx of sum", "csaw", backward, TRANSPOSED, false},
    {"dx of sum, weights fixed", "csaw", backward_fixed, TRANSPOSED, true},
    {"dx of sum, not prepared", "csaw", backward_unprepared, TRANSPOSED, true},
    {"dx of max", "csaw", backward_max, TRANSPOSED_LARGEST, true},
    {"dweight of sum", "csaw", dweight, DOTS, false},
    {"prepare", "csaw", prepare, NOTHING, true},
};

/* ---- running and reporting ---- */

static figure time_of(bench *b, void (*run)(bench *)) {
    for (uint32_t r = 0; r < b->settings->repeat; r++) {
        const double start = now();
        run(b);
        b->seconds[r] = now() - start;
    }
    return figure_of(b->seconds, b->settings->repeat);
}

static void verify(const bench *b, const way *w) {
    uint64_t wrong = 0;
    switch (w->check) {
    case NOTHING: break;
    case PRODUCTS:
    case MEANS: wrong = wrong_products(&b->a, &b->x, &b->y, w->check == MEANS, CHECKED); break;
    case LARGEST: wrong = wrong_largest(&b->a, &b->x, &b->y, b->arg, CHECKED); break;
    case TRANSPOSED: wrong = wrong_transposed(&b->a, &b->x, &b->y, NULL, CHECKED); break;
    case TRANSPOSED_LARGEST: wrong = wrong_transposed(&b->a, &b->x, &b->y, b->arg, CHECKED); break;
    case DOTS: wrong = wrong_dots(&b->a, &b->x, b->dweight, CHECKED); break;
    }
    if (!wrong) return;
    fprintf(stderr, "spmm_bench: %s by %s: %llu elements are out of bound\n", w->name, w->by,
            (unsigned long long)wrong);
    exit(3);
}

static void report(bench *b, const way *w, const figure *f) {
    static const char *const storage[] = {"f32", "f16", "bf16"};
    const double bytes = b->x.dtype == CSAW_F32 ? 4 : 2, cols = (double)b->x.cols, edges = (double)b->a.num_edges;
    const double gathered = edges * cols * bytes;
    const double least = 8 * (double)b->a.rows + 8 * edges + (double)(b->a.rows + b->a.cols) * cols * bytes;
    printf("%-24s %-5s %-5s %5.0f columns %10.2f ms  (%.2f .. %.2f)  %7.2f GB/s gathered\n", w->name, w->by,
           storage[b->x.dtype], cols, f->median * 1e3, f->least * 1e3, f->most * 1e3, gathered / f->median / 1e9);
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"op\": \"%s\", \"by\": \"%s\", \"storage\": \"%s\", \"columns\": %.0f, \"median_s\": %.6g, "
                "\"min_s\": %.6g, \"max_s\": %.6g, \"gathered_bytes\": %.0f, \"least_bytes\": %.0f}",
                b->first ? "" : ",", w->name, w->by, storage[b->x.dtype], cols, f->median, f->least, f->most, gathered,
                least);
    b->first = false;
}

static void run_ways(bench *b, uint64_t cols, csaw_dtype dtype) {
    const uint64_t n = b->a.rows, bytes = dtype == CSAW_F32 ? 4 : 2;
    b->x = (csaw_dense){n, cols, 0, dtype, memory(n * cols * bytes)};
    b->y = (csaw_dense){n, cols, 0, dtype, memory(n * cols * bytes)};
    b->arg = dtype == CSAW_F32 ? memory(n * cols * sizeof *b->arg) : NULL;
#pragma omp parallel for
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c < cols; c++)
            set_element(&b->x, r, c, (float)((r * 2654435761u + c * 40503u) % 4001) * 1e-3f - 2.0f);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (dtype != CSAW_F32 && ways[i].f32_alone) continue;
        memset(b->y.data, 0xff, n * cols * bytes); /* NaN */
        ways[i].run(b);                            /* warms up, and is verified */
        verify(b, &ways[i]);
        const figure f = time_of(b, ways[i].run);
        report(b, &ways[i], &f);
    }
    free(b->x.data);
    free(b->y.data);
    free(b->arg);
}

/* Bytes a second, read and written, of copying 256 MiB by all threads. */
static double copy_rate(bench *b) {
    const uint64_t count = (uint64_t)1 << 25;
    uint64_t *from = memory(count * sizeof *from), *to = memory(count * sizeof *to);
#pragma omp parallel for
    for (uint64_t i = 0; i < count; i++) from[i] = to[i] = i;
    for (uint32_t r = 0; r < b->settings->repeat; r++) {
        const double start = now();
#pragma omp parallel for
        for (uint64_t i = 0; i < count; i++) to[i] = from[i];
        b->seconds[r] = now() - start;
    }
    const double rate = 2.0 * (double)(count * sizeof *to) / figure_of(b->seconds, b->settings->repeat).median;
    if (to[count - 1] != count - 1) exit(3);
    free(from);
    free(to);
    return rate;
}

static settings read_settings(int argc, char **argv) {
    settings s = {GRAPH_CHOICE, "64,256", "", NULL, 7};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "", *name = argv[i];
        const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
        if (reads_graph(&s.graph, name, value)) continue;
        if (strcmp(name, "--columns") == 0)
            s.columns = value;
        else if (strcmp(name, "--commit") == 0)
            s.commit = value;
        else if (strcmp(name, "--json") == 0)
            s.json = value;
        else if (strcmp(name, "--repeat") == 0)
            s.repeat = number;
        else {
            fprintf(stderr, "spmm_bench: unknown option '%s'; see the head of bench/spmm.c\n", name);
            exit(2);
        }
    }
    if (!s.repeat) exit(2);
    return s;
}

static void head(const bench *b, const csaw_graph *graph, int threads, double rate) {
    const settings *const s = b->settings;
    printf("csaw %s, %s: %llu vertices, %llu edges; %d threads, 1 warm-up, median of %u; copying memory: %.2f GB/s\n",
           csaw_version(), s->graph.name, (unsigned long long)b->a.rows, (unsigned long long)b->a.num_edges, threads,
           s->repeat, rate / 1e9);
    if (!b->json) return;
    fprintf(b->json, "{\"version\": \"%s\", \"commit\": \"%s\", \"graph\": ", csaw_version(), s->commit);
    print_graph(b->json, &s->graph, graph);
    fprintf(b->json,
            ",\n \"device\": \"cpu\", \"threads\": %d, \"warm_up\": 1, \"repeat\": %u, \"copy_bytes_per_s\": %.6g, "
            "\"rows\": [",
            threads, s->repeat, rate);
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    csaw_graph *graph = graph_of(&s.graph);
    bench b = {.settings = &s, .a = csaw_graph_sparse(graph), .first = true};
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    if (s.json && !(b.json = fopen(s.json, "w"))) {
        perror(s.json);
        return 1;
    }
    b.seconds = memory(s.repeat * sizeof *b.seconds);
    b.dweight = memory(b.a.num_edges * sizeof *b.dweight);
    must(csaw_spmm_prepare(&b.a, NULL, &b.plan));
    must(csaw_spmm_prepare(&b.a, CSAW_PREPARE(.fixed_weights = true), &b.fixed));
    head(&b, graph, threads, copy_rate(&b));
    for (const char *at = s.columns; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        for (int dtype = CSAW_F32; dtype <= CSAW_BF16; dtype++) run_ways(&b, strtoull(at, NULL, 10), (csaw_dtype)dtype);
    const bool written = !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0);
    csaw_spmm_plan_free(b.plan);
    csaw_spmm_plan_free(b.fixed);
    csaw_graph_free(graph);
    free(b.dweight);
    free(b.seconds);
    return written ? 0 : 1;
}
