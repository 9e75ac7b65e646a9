/* SPDX-License-Identifier: MIT */
/* cli/bench.c - csaw bench: how fast is this machine? Walks on a generated graph through the public API, the walks kept
 * in memory. Every case is first walked once and tested against its law (cli/law.h); a wrong one is not timed. */
#include <csaw/csaw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "law.h"
#include "plan_options.h"
#include "report.h"

typedef struct bench_case {
    const char *name, *sampler, *p, *q; /* p, q: NULL = the sampler has none */
    bool weighted;
} bench_case;

static const bench_case cases[] = {
    {"uniform", "uniform", NULL, NULL, false},
    {"node2vec p=2 q=0.5", "node2vec", "2", "0.5", false},
    {"node2vec p=0.25 q=4", "node2vec", "0.25", "4", false},
    {"weighted", "biased", NULL, NULL, true},
    {"weighted node2vec p=2 q=0.5", "node2vec", "2", "0.5", true},
    {"weighted node2vec p=0.25 q=4", "node2vec", "0.25", "4", true},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0], MOST_REPEATS = 99 };

static const uint64_t VERIFIED_STEPS = (uint64_t)1 << 20;

typedef struct bench_options {
    plan_options plan;
    uint64_t scale, edge_factor, seed, length, walks_per_seed, repeats;
    bool json;
} bench_options;

typedef struct bench_result {
    bool verified;
    uint64_t steps;
    double seconds[MOST_REPEATS]; /* [repeats], ascending */
} bench_result;

static void add_options(arguments *arguments, bench_options *options) {
    const option own[] = {
        {.name = "scale",
         .kind = OPTION_COUNT,
         .value = &options->scale,
         .placeholder = "N",
         .lowest = 1,
         .highest = 31,
         .help = "a graph of 2^N vertices (R-MAT; default 16)"},
        {.name = "edge-factor",
         .kind = OPTION_COUNT,
         .value = &options->edge_factor,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "edges drawn per vertex (default 16)"},
        {.name = "walk-length",
         .kind = OPTION_COUNT,
         .value = &options->length,
         .placeholder = "N",
         .lowest = 1,
         .highest = ((uint64_t)1 << 24) - 1,
         .help = "steps of a walk (default 80)"},
        {.name = "num-walks",
         .kind = OPTION_COUNT,
         .value = &options->walks_per_seed,
         .placeholder = "N",
         .lowest = 1,
         .highest = UINT32_MAX,
         .help = "walks from every vertex (default 1)"},
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "of the graph and of the walks (default 0)"},
        {.name = "repeats",
         .kind = OPTION_COUNT,
         .value = &options->repeats,
         .placeholder = "N",
         .lowest = 1,
         .highest = MOST_REPEATS,
         .help = "times that each case is run (default 5)"},
        {.name = "json", .kind = OPTION_FLAG, .value = &options->json, .help = "print one JSON object instead"},
    };
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    plan_options_add(arguments, &options->plan);
}

/* ---- one case ---- */

/* The steps of a walk; those up to the first wrong one go to the law. */
static uint64_t follow(const model *model, law *law, const csaw_walks *walks, uint64_t w, bool test, bool *right) {
    const csaw_vertex *path = walks->path + w * walks->path_walk_stride;
    const uint64_t stride = walks->path_step_stride;
    times times = {0};
    char wrong[64];
    step step = {.root = path[0], .prev = CSAW_NONE, .at = path[0]};
    for (; step.depth < walks->length && path[(step.depth + 1) * stride] != CSAW_NONE; step.depth++) {
        step.next = path[(step.depth + 1) * stride];
        if (test && model_refuses(model, &step, &times, wrong, sizeof wrong)) test = *right = false;
        if (test) law_step(law, &step);
        step.prev = step.at;
        step.at = step.next;
    }
    if (test) law_end(law, step.depth, model_dead_end(model, &step));
    if (test && step.depth < walks->length && !model_may_end(model, &step, &times)) *right = false;
    times_free(&times);
    return step.depth;
}

/* Counts all steps and tests the first walks. */
static csaw_status verify_case(const csaw_csr *csr, const csaw_sampler *sampler, const void *params,
                               csaw_samples *samples, bench_result *result) {
    csaw_walks walks;
    model model;
    csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &walks);
    if (status != CSAW_OK) return status;
    bool right = model_begin(&model, csr, sampler, params);
    law *law = law_begin(&model);
    for (uint64_t w = 0; w < walks.num_walks; w++)
        result->steps += follow(&model, law, &walks, w, result->steps < VERIFIED_STEPS, &right);
    law_result found = law_finish(law, walks.length);
    result->verified = right && law_holds(&found);
    return CSAW_OK;
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static csaw_status run_case(const bench_options *options, const bench_case *one, csaw_plan *plan, const csaw_csr *csr,
                            bench_result *result) {
    const csaw_sampler *sampler = csaw_sampler_find(one->sampler);
    void *params = allocate(1, csaw_sampler_params_size(sampler) + 1);
    csaw_status status = CSAW_OK;
    csaw_sampler_defaults(sampler, params);
    if (one->p) status = csaw_sampler_set(sampler, params, "p", one->p);
    if (one->q && status == CSAW_OK) status = csaw_sampler_set(sampler, params, "q", one->q);
    for (uint64_t i = 0; i <= options->repeats && status == CSAW_OK; i++) { /* the first is verified, not timed */
        csaw_samples *samples = NULL;
        double begun = seconds_now();
        status = csaw_sample(plan, sampler, params, NULL,
                             CSAW_RUN(.seed = options->seed, .depth = (uint32_t)options->length,
                                      .walks_per_seed = (uint32_t)options->walks_per_seed),
                             &samples);
        if (i > 0) result->seconds[i - 1] = seconds_now() - begun;
        if (i == 0 && status == CSAW_OK) status = verify_case(csr, sampler, params, samples, result);
        csaw_samples_free(samples);
        if (!result->verified) break;
    }
    qsort(result->seconds, options->repeats, sizeof *result->seconds, compare_seconds);
    free(params);
    return status;
}

/* ---- the report ---- */

static void print_head(const bench_options *options, const csaw_csr *csr, const csaw_plan *plan) {
    const char *device = options->plan.device ? options->plan.device : "cpu";
    if (options->json) {
        json_open(stdout, "bench");
        fputs(", \"device\": ", stdout);
        json_text(stdout, device);
        fputs(", \"plan\": ", stdout);
        json_text(stdout, csaw_plan_explain(plan));
        printf(", \"scale\": %" PRIu64 ", \"edge_factor\": %" PRIu64 ", \"seed\": %" PRIu64 ", \"vertices\": %" PRIu64
               ", \"arcs\": %" PRIu64 ", \"walk_length\": %" PRIu64 ", \"walks\": %" PRIu64 ", \"repeats\": %" PRIu64
               ", \"cases\": [",
               options->scale, options->edge_factor, options->seed, csr->num_vertices, csr->num_edges, options->length,
               options->walks_per_seed * csr->num_vertices, options->repeats);
        return;
    }
    printf("csaw    %s, on %s\n", csaw_version(), device);
    printf("graph   R-MAT, scale %" PRIu64 ", edge factor %" PRIu64 ", seed %" PRIu64 ": %s vertices, %s arcs\n",
           options->scale, options->edge_factor, options->seed, count_text(csr->num_vertices).text,
           count_text(csr->num_edges).text);
    printf("walks   %s of %" PRIu64 " steps, kept in memory; median of %" PRIu64 ", first verified\n\n",
           count_text(options->walks_per_seed * csr->num_vertices).text, options->length, options->repeats);
    printf("%-30s %-9s %14s  %s\n", "case", "law", "steps/s", "slowest to fastest");
}

static void print_case(const bench_options *options, const bench_case *one, const bench_result *result, bool first) {
    const double steps = (double)result->steps, least = 1e-9;
    double fastest = steps / (result->seconds[0] + least);
    double slowest = steps / (result->seconds[options->repeats - 1] + least);
    double median = steps / (result->seconds[options->repeats / 2] + least);
    if (options->json) {
        printf("%s{\"case\": \"%s\", \"verified\": %s", first ? "" : ", ", one->name,
               result->verified ? "true" : "false");
        if (result->verified)
            printf(", \"steps\": %" PRIu64 ", \"median\": %.0f, \"slowest\": %.0f, \"fastest\": %.0f", result->steps,
                   median, slowest, fastest);
        putchar('}');
    } else if (result->verified) {
        printf("%-30s %-9s %14s  %s to %s\n", one->name, "holds", rate_text(median).text, rate_text(slowest).text,
               rate_text(fastest).text);
    } else {
        printf("%-30s %-9s\n", one->name, "BROKEN");
    }
    fflush(stdout);
}

/* ---- the command ---- */

/* The cases of one graph. Returns -1, or the exit code after saying what is wrong. */
static int bench_graph(const bench_options *options, bool weighted, bool *verified) {
    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    int result = -1;
    if (csaw_graph_rmat(CSAW_RMAT(.scale = (uint32_t)options->scale, .edge_factor = (uint32_t)options->edge_factor,
                                  .seed = options->seed, .weighted = weighted),
                        &graph) != CSAW_OK)
        return report_library_failure();
    csaw_csr csr = csaw_graph_csr(graph);
    result = plan_options_create(graph, &options->plan, &plan);
    if (result < 0 && !weighted) print_head(options, &csr, plan);
    for (size_t i = 0; i < NUM_CASES && result < 0; i++) {
        bench_result found = {0};
        if (cases[i].weighted != weighted) continue;
        if (run_case(options, &cases[i], plan, &csr, &found) != CSAW_OK) {
            result = report_library_failure();
        } else {
            print_case(options, &cases[i], &found, i == 0);
            *verified = *verified && found.verified;
        }
    }
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    return result;
}

static int run(int argc, char **argv) {
    bench_options options = {.scale = 16, .edge_factor = 16, .length = 80, .walks_per_seed = 1, .repeats = 5};
    arguments arguments = {.command = &bench_command};
    bool verified = true;
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    result = bench_graph(&options, false, &verified);
    if (result < 0) result = bench_graph(&options, true, &verified);
    if (result >= 0) return result;
    if (options.json) printf("], \"verified\": %s}\n", verified ? "true" : "false");
    return verified ? EXIT_OK : EXIT_UNVERIFIED;
}

const command bench_command = {
    .name = "bench",
    .operands = "",
    .num_operands = 0,
    .summary = "measure how fast walks are made here, verified first",
    .about = "Makes an R-MAT graph (as csaw generate rmat does), walks on it with the samplers that people use\n"
             "most, tests the walks against their law, then measures steps a second. Nothing is written.\n",
    .examples = "  csaw bench\n"
                "  csaw bench --scale 20 --threads 1\n"
                "  csaw bench --device cuda:0 --num-walks 10 --json\n",
    .run = run,
};
