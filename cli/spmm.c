/* SPDX-License-Identifier: MIT */
/* cli/spmm.c - csaw spmm: one aggregation over the rows of a graph, checked against double, then timed. */
#include <csaw/edge_sampled.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_options.h"
#include "placed.h"
#include "product.h"
#include "report.h"

enum { MOST_REPEATS = 999 };

static const char *const reduces[] = {"sum", "mean", "max", "min"};
static const char *const storages[] = {"f32", "f16", "bf16"};
static const char *const methods[] = {"stratified", "bucket", "fastrand"};

typedef struct spmm_options {
    graph_options graph;
    const char *reduce, *storage, *method, *device;
    uint64_t columns, width, seed, repeats, rows;
    bool prepare, backward, json;
} spmm_options;

enum { ROWPTR, COL, WEIGHT, X, Y, DX, ARG, NUM_ARRAYS };

typedef struct product {  /* of one run */
    csaw_sparse a, taken; /* taken: what is multiplied by: a, or a sample of it that is freed with the product */
    csaw_reduce reduce;
    csaw_spmm_method method; /* of all of a */
    csaw_es_options sampled; /* width: 0 = all of a */
    csaw_dense x, y, dx;
    csaw_edge *arg; /* of MAX and MIN, if there is a backward pass */
    const char *device;
    placed array[NUM_ARRAYS];
    csaw_spmm_plan *plan;
    double prepared; /* seconds */
} product;

typedef struct timing {
    verdict verdict;
    double seconds[MOST_REPEATS]; /* ascending */
} timing;

static void add_options(arguments *arguments, spmm_options *options) {
    const option own[] = {
        {.name = "features",
         .kind = OPTION_COUNT,
         .value = &options->columns,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "features of a vertex (default 64)"},
        {.name = "reduce",
         .kind = OPTION_TEXT,
         .value = &options->reduce,
         .placeholder = "NAME",
         .help = "sum, mean, max or min (default sum)"},
        {.name = "storage",
         .kind = OPTION_TEXT,
         .value = &options->storage,
         .placeholder = "NAME",
         .help = "of features: f32, f16 or bf16 (default f32)"},
        {.name = "sample",
         .kind = OPTION_COUNT,
         .value = &options->width,
         .placeholder = "S",
         .lowest = 1,
         .highest = CSAW_ES_MAX_WIDTH,
         .help = "take at most S arcs of each row (default all)"},
        {.name = "method",
         .kind = OPTION_TEXT,
         .value = &options->method,
         .placeholder = "NAME",
         .help =
             "of --sample: stratified, bucket or fastrand (default stratified); else of a GPU's kernels: auto, crc, "
             "cwm2, cwm4, subwarp16, subwarp8, subwarp4, hubs or stretches (default auto, which is all that the CPU "
             "has)"},
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "of features and samples (default 0)"},
        {.name = "prepare", .kind = OPTION_FLAG, .value = &options->prepare, .help = "prepare the matrix first"},
        {.name = "backward",
         .kind = OPTION_FLAG,
         .value = &options->backward,
         .help = "the gradient of the features too"},
        {.name = "device",
         .kind = OPTION_TEXT,
         .value = &options->device,
         .placeholder = "cpu|cuda:N",
         .help = "where to run (default cpu); the result is the same"},
        {.name = "rows",
         .kind = OPTION_COUNT,
         .value = &options->rows,
         .placeholder = "N",
         .lowest = 1,
         .highest = UINT64_MAX,
         .help = "rows that are checked (default 10000)"},
        {.name = "repeats",
         .kind = OPTION_COUNT,
         .value = &options->repeats,
         .placeholder = "N",
         .lowest = 1,
         .highest = MOST_REPEATS,
         .help = "times that it is run (default 5)"},
        {.name = "json", .kind = OPTION_FLAG, .value = &options->json, .help = "print one JSON object instead"},
    };
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    graph_options_add(arguments, &options->graph);
}

/* The place of `given` among names, 0 for NULL; -1 and a message if it is not there. */
static int choose(const arguments *arguments, const char *option, const char *given, const char *const *names,
                  int count, const char *all) {
    for (int i = 0; given && i < count; i++)
        if (!strcmp(given, names[i])) return i;
    if (!given) return 0;
    arguments_wrong(arguments, "--%s %s: give %s", option, given, all);
    return -1;
}

/* A kernel of csaw_spmm() by its name, auto for NULL; -1 and a message if there is no such. */
static int choose_kernel(const arguments *arguments, const char *given) {
    const char *names[16];
    char all[256] = "";
    int count = 0;
    size_t used = 0;
    for (; count < 16 && (names[count] = csaw_spmm_method_name((csaw_spmm_method)count)); count++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", count ? ", " : "", names[count]);
    return choose(arguments, "method", given, names, count, all);
}

/* ---- the product ---- */

/* The matrix and features where they are worked on. */
static csaw_sparse sparse_there(const product *p) {
    csaw_sparse a = p->a;
    a.rowptr = p->array[ROWPTR].there, a.col = p->array[COL].there, a.weight = p->array[WEIGHT].there;
    return a;
}

static csaw_dense dense_there(const product *p, const csaw_dense *m, int array) {
    csaw_dense out = *m;
    out.data = p->array[array].there;
    return out;
}

static csaw_spmm_options options_there(const product *p) {
    return *CSAW_SPMM(.reduce = p->reduce, .plan = p->plan, .device = p->device, .arg = p->array[ARG].there,
                      .method = p->method);
}

static csaw_status forward(const product *p) {
    const csaw_sparse a = sparse_there(p);
    const csaw_dense x = dense_there(p, &p->x, X), y = dense_there(p, &p->y, Y);
    const csaw_spmm_options options = options_there(p);
    return p->sampled.width ? csaw_es_spmm(&a, &x, &p->sampled, &y) : csaw_spmm(&a, &x, &options, &y);
}

static csaw_status backward(const product *p) { /* y is its own gradient */
    const csaw_sparse a = sparse_there(p);
    const csaw_dense dx = dense_there(p, &p->dx, DX), y = dense_there(p, &p->y, Y);
    const csaw_spmm_options options = options_there(p);
    return p->sampled.width ? csaw_es_spmm_backward(&a, NULL, &y, &p->sampled, &dx, NULL)
                            : csaw_spmm_backward(&a, NULL, &y, &options, &dx, NULL);
}

/* The sampled matrix, whose weights are divided for mean already. */
static csaw_status take(product *p) {
    uint64_t *rowptr = allocate(p->a.rows + 1, sizeof *rowptr);
    p->taken = (csaw_sparse){p->a.rows, p->a.cols, 0, rowptr, NULL, NULL};
    csaw_es_options sampled = p->sampled;
    sampled.device = NULL; /* it is what the CPU draws that the check goes by */
    csaw_status status = csaw_edge_sample(&p->a, &sampled, rowptr, NULL, NULL);
    if (status != CSAW_OK) return status;
    const uint64_t count = rowptr[p->a.rows];
    csaw_edge *edge = allocate(count + 1, sizeof *edge);
    csaw_vertex *col = allocate(count + 1, sizeof *col);
    float *weight = allocate(count + 1, sizeof *weight);
    status = csaw_edge_sample(&p->a, &sampled, rowptr, edge, weight);
    for (uint64_t k = 0; status == CSAW_OK && k < count; k++) col[k] = p->a.col[edge[k]];
    free(edge);
    p->taken = (csaw_sparse){p->a.rows, p->a.cols, count, rowptr, col, weight};
    return status;
}

/* All arrays, with their contents, where the product runs. */
static csaw_status place(product *p) {
    const struct {
        const void *here;
        uint64_t bytes;
    } from[NUM_ARRAYS] = {[ROWPTR] = {p->a.rowptr, (p->a.rows + 1) * sizeof *p->a.rowptr},
                          [COL] = {p->a.col, p->a.num_edges * sizeof *p->a.col},
                          [WEIGHT] = {p->a.weight, p->a.num_edges * sizeof *p->a.weight},
                          [X] = {p->x.data, features_bytes(&p->x)},
                          [Y] = {p->y.data, features_bytes(&p->y)},
                          [DX] = {p->dx.data, features_bytes(&p->dx)},
                          [ARG] = {p->arg, p->y.rows * p->y.cols * sizeof *p->arg}};
    csaw_status status = CSAW_OK;
    for (int i = 0; i < NUM_ARRAYS && status == CSAW_OK; i++)
        status = placed_new(p->device, (void *)(uintptr_t)from[i].here, from[i].bytes, &p->array[i]);
    return status;
}

static csaw_status prepare(product *p) {
    const csaw_sparse a = sparse_there(p);
    const double begun = seconds_now();
    const csaw_status status =
        csaw_spmm_prepare(&a,
                          CSAW_PREPARE(.fixed_weights = true, .device = p->device, .hubs = p->method == CSAW_SPMM_HUBS,
                                       .means = p->reduce == CSAW_MEAN && p->dx.rows),
                          &p->plan);
    p->prepared = seconds_now() - begun;
    return status;
}

static csaw_status make(const spmm_options *options, const csaw_graph *graph, csaw_reduce reduce, csaw_dtype storage,
                        int method, product *p) {
    const bool picks = (reduce == CSAW_MAX || reduce == CSAW_MIN) && options->backward;
    csaw_status status = CSAW_OK;
    p->a = p->taken = csaw_graph_sparse(graph);
    p->reduce = reduce;
    p->device = options->device;
    p->x = features_new(p->a.cols, options->columns, storage);
    p->y = features_new(p->a.rows, options->columns, storage);
    p->dx = features_new(options->backward ? p->a.cols : 0, options->columns, storage);
    p->arg = picks ? allocate(p->a.rows * options->columns + 1, sizeof *p->arg) : NULL;
    features_fill(&p->x, options->seed);
    if (options->width) {
        p->sampled = *CSAW_ES(.method = (csaw_edges_method)method, .width = (uint32_t)options->width, .reduce = reduce,
                              .seed = options->seed, .device = options->device);
        status = take(p);
    } else {
        p->method = (csaw_spmm_method)method;
    }
    if (status == CSAW_OK) status = place(p);
    return status == CSAW_OK && options->prepare ? prepare(p) : status;
}

static void product_free(product *p) {
    if (p->sampled.width) {
        free((void *)(uintptr_t)p->taken.rowptr);
        free((void *)(uintptr_t)p->taken.col);
        free((void *)(uintptr_t)p->taken.weight);
    }
    csaw_spmm_plan_free(p->plan);
    for (int i = 0; i < NUM_ARRAYS; i++) placed_free(&p->array[i]);
    free(p->x.data);
    free(p->y.data);
    free(p->dx.data);
    free(p->arg);
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The output, poisoned, is computed and fetched. */
static csaw_status run_once(const product *p, bool back) {
    const placed *const to = &p->array[back ? DX : Y];
    features_poison(back ? &p->dx : &p->y);
    csaw_status status = placed_send(to);
    if (status == CSAW_OK) status = (back ? backward : forward)(p);
    if (status == CSAW_OK) status = placed_fetch(to);
    return status == CSAW_OK && !back ? placed_fetch(&p->array[ARG]) : status;
}

static verdict check(const product *p, bool back, uint64_t rows) {
    const csaw_reduce reduce = p->sampled.width ? CSAW_SUM : p->reduce; /* what was taken is divided already */
    return back ? transposed_check(&p->taken, &p->y, reduce, p->arg, &p->dx, rows)
                : product_check(&p->taken, &p->x, reduce, &p->y, p->arg, rows);
}

/* Once to be checked; then, if it is right, to be timed, each run until it is done. */
static csaw_status measure(const spmm_options *options, const product *p, bool back, timing *out) {
    csaw_status status = run_once(p, back);
    if (status != CSAW_OK) return status;
    out->verdict = check(p, back, options->rows);
    for (uint64_t i = 0; i < options->repeats && !out->verdict.wrong && status == CSAW_OK; i++) {
        const double begun = seconds_now();
        status = (back ? backward : forward)(p);
        if (status == CSAW_OK) status = csaw_memory_wait(p->device);
        out->seconds[i] = seconds_now() - begun;
    }
    qsort(out->seconds, options->repeats, sizeof *out->seconds, compare_seconds);
    return status;
}

/* ---- the report ---- */

static void print_head(const spmm_options *options, const char *path, const product *p) {
    if (options->json) {
        json_open(stdout, "spmm");
        fputs(", \"graph\": ", stdout);
        json_text(stdout, path);
        fputs(", \"device\": ", stdout);
        json_text(stdout, p->device);
        printf(", \"rows\": %" PRIu64 ", \"arcs\": %" PRIu64 ", \"columns\": %" PRIu64
               ", \"reduce\": \"%s\", \"storage\": \"%s\", \"sample\": %" PRIu64 ", \"arcs_taken\": %" PRIu64
               ", \"prepare_s\": %.9f",
               p->a.rows, p->a.num_edges, options->columns, reduces[p->reduce], storages[p->x.dtype], options->width,
               p->taken.num_edges, p->prepared);
        return;
    }
    printf("graph     %s: %s vertices, %s arcs\n", path, count_text(p->a.rows).text, count_text(p->a.num_edges).text);
    printf("product   %s over rows of %" PRIu64 " columns, %s, on %s\n", reduces[p->reduce], options->columns,
           storages[p->x.dtype], strcmp(p->device, "cpu") ? p->device : "the CPU");
    if (options->width)
        printf("sample    at most %" PRIu64 " of a row by %s: %s arcs, %.1f%%\n", options->width,
               methods[p->sampled.method], count_text(p->taken.num_edges).text,
               p->a.num_edges ? 100.0 * (double)p->taken.num_edges / (double)p->a.num_edges : 100.0);
    if (p->plan) printf("prepared  %.3f ms, once\n", p->prepared * 1e3);
}

static void print_timing(const spmm_options *options, const product *p, const char *name, const timing *t) {
    const double bytes =
        (double)p->taken.num_edges * (double)options->columns * (p->x.dtype == CSAW_F32 ? 4 : 2); /* gathered */
    const double median = t->seconds[options->repeats / 2], least = t->seconds[0];
    const double most = t->seconds[options->repeats - 1];
    const verdict *const v = &t->verdict;
    if (options->json) {
        printf(", \"%s\": {\"verified\": %s, \"rows_checked\": %" PRIu64 ", \"rows_wrong\": %" PRIu64
               ", \"rows_beyond_range\": %" PRIu64 ", \"worst_error_of_bound\": %.6f",
               name, verdict_holds(v) ? "true" : "false", v->checked, v->wrong, v->beyond, v->worst);
        if (!v->wrong)
            printf(", \"median_s\": %.9f, \"min_s\": %.9f, \"max_s\": %.9f, \"gathered_bytes\": %.0f", median, least,
                   most, bytes);
        putchar('}');
    } else if (v->wrong) {
        printf("%-9s WRONG: %s of %s rows are out of bound\n", name, count_text(v->wrong).text,
               count_text(v->checked).text);
    } else {
        printf("%-9s %s rows right, worst error %.3f of its bound; %.3f ms (%.3f to %.3f), %.2f GB/s gathered\n", name,
               count_text(v->checked).text, v->worst, median * 1e3, least * 1e3, most * 1e3,
               bytes / (median + 1e-12) * 1e-9);
    }
    if (v->beyond && !options->json)
        printf("          %s rows not checked: their weights make sums that %s may not hold; scale the weights\n",
               count_text(v->beyond).text, p->x.dtype == CSAW_F32 ? "float32" : storages[p->x.dtype]);
}

/* ---- the command ---- */

static int run_product(const spmm_options *options, const char *path, product *p) {
    static timing y, dx;
    print_head(options, path, p);
    if (measure(options, p, false, &y) != CSAW_OK) return report_library_failure();
    print_timing(options, p, "forward", &y);
    if (options->backward && !y.verdict.wrong) {
        if (measure(options, p, true, &dx) != CSAW_OK) return report_library_failure();
        print_timing(options, p, "backward", &dx);
    }
    const bool right = verdict_holds(&y.verdict) && (!options->backward || verdict_holds(&dx.verdict));
    if (options->json) printf(", \"verified\": %s}\n", right ? "true" : "false");
    return right ? EXIT_OK : EXIT_UNVERIFIED;
}

static int run(int argc, char **argv) {
    spmm_options options = {.columns = 64, .repeats = 5, .rows = 10000, .device = "cpu"};
    arguments arguments = {.command = &spmm_command};
    csaw_graph *graph = NULL;
    product p = {0};
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    const int reduce = choose(&arguments, "reduce", options.reduce, reduces, 4, "sum, mean, max or min");
    const int storage =
        reduce < 0 ? -1 : choose(&arguments, "storage", options.storage, storages, 3, "f32, f16 or bf16");
    const int method = storage < 0 ? -1
                       : options.width
                           ? choose(&arguments, "method", options.method, methods, 3, "stratified, bucket or fastrand")
                           : choose_kernel(&arguments, options.method);
    if (method < 0) return EXIT_USAGE;
    const bool extreme = reduce == CSAW_MAX || reduce == CSAW_MIN;
    if (extreme && options.width) return arguments_wrong(&arguments, "--sample is of sum and mean");
    if (options.prepare && options.width)
        return arguments_wrong(&arguments, "--prepare is of whole products; --sample needs none");
    if (csaw_memory_wait(options.device) != CSAW_OK) return report_library_failure(); /* there is no such device */
    result = graph_options_load(&arguments, &options.graph, arguments.operands[0], &graph);
    if (result >= 0) return result;
    if (make(&options, graph, (csaw_reduce)reduce, (csaw_dtype)storage, method, &p) == CSAW_OK)
        result = run_product(&options, arguments.operands[0], &p);
    else
        result = report_library_failure();
    product_free(&p);
    csaw_graph_free(graph);
    return result;
}

const command spmm_command = {
    .name = "spmm",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "aggregate features over a graph: checked, then timed",
    .about = "Multiplies the graph, as a matrix whose row v holds the arcs out of v with their weights, by random\n"
             "features. The result is checked against double first; a wrong one is not timed. Rows whose\n"
             "weights make sums that the storage may not hold are not checked, and counted apart. Exit code 3\n"
             "says that a row is wrong, or that none could be checked. On a GPU a time is that of one call,\n"
             "from its start until the GPU is done.\n",
    .examples = "  csaw spmm data/karate.txt --undirected\n"
                "  csaw spmm graph.csaw --features 256 --storage bf16 --reduce mean --prepare --backward\n"
                "  csaw spmm graph.csaw --reduce max --backward --device cuda:0\n"
                "  csaw spmm graph.csaw --sample 32 --method fastrand --json\n",
    .run = run,
};
