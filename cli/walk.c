/* SPDX-License-Identifier: MIT */
/* cli/walk.c - csaw walk: samples walks and writes them batch by batch, so that memory stays bounded however many there
 * are. */
#include <csaw/csaw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph_options.h"
#include "picture.h"
#include "plan_options.h"
#include "progress.h"
#include "report.h"
#include "sampler_options.h"
#include "seeds.h"

static const uint64_t MOST_WALKS = (uint64_t)1 << 40;

typedef struct walk_options {
    graph_options graph;
    plan_options plan;
    sampler_options sampler;
    const char *path, *output, *draw, *select_name, *seeds_file;
    csaw_select select;
    uint64_t seed, length, walks_per_seed;
    bool check, json;
} walk_options;

typedef struct tally { /* what the batch callback sees go by */
    csaw_writer *writer;
    picture *picture; /* NULL unless --draw */
    uint64_t steps, ended_early;
} tally;

typedef struct outcome { /* what a finished run is described by */
    csaw_csr csr;
    uint64_t num_walks;
    double seconds;
    tally tally;
} outcome;

/* ---- options ---- */

static void add_options(arguments *arguments, walk_options *options) {
    const option own[] = {
        {.name = "walk-length",
         .kind = OPTION_COUNT,
         .value = &options->length,
         .placeholder = "N",
         .lowest = 1,
         .highest = ((uint64_t)1 << 24) - 1,
         .help = "steps of a walk, so N+1 vertices (default 80)"},
        {.name = "num-walks",
         .kind = OPTION_COUNT,
         .value = &options->walks_per_seed,
         .placeholder = "N",
         .lowest = 1,
         .highest = UINT32_MAX,
         .help = "walks from every start vertex (default 10)"},
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "another seed, other walks; the same seed, the same walks (default 0)"},
        {.name = "seeds",
         .kind = OPTION_TEXT,
         .value = &options->seeds_file,
         .placeholder = "FILE",
         .help = "start from these vertices (default: from every vertex)"},
        {.name = "select",
         .kind = OPTION_TEXT,
         .value = &options->select_name,
         .placeholder = "METHOD",
         .help = "auto, uniform, its, alias or reject (default auto)"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &options->output,
         .placeholder = "FILE",
         .help = "text, or NumPy if it ends in .npy (default -, standard output)"},
        {.name = "draw",
         .kind = OPTION_TEXT,
         .value = &options->draw,
         .placeholder = "FILE.svg",
         .help = "draw the first walks over the graph"},
        {.name = "check",
         .kind = OPTION_FLAG,
         .value = &options->check,
         .help = "check the sampler's own claims at every step (CPU, slow)"},
        {.name = "json",
         .kind = OPTION_FLAG,
         .value = &options->json,
         .help = "print the summary as one JSON object on standard output"},
    };
    sampler_options_add(arguments, &options->sampler, true);
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    graph_options_add(arguments, &options->graph);
    plan_options_add(arguments, &options->plan);
}

static int find_select(const arguments *arguments, walk_options *options) {
    const char *names[16], *name;
    size_t count = 0;
    options->select = CSAW_SELECT_AUTO;
    if (!options->select_name) return -1;
    for (; count < 16 && (name = csaw_select_name((csaw_select)count)); count++) {
        names[count] = name;
        if (!strcmp(name, options->select_name)) {
            options->select = (csaw_select)count;
            return -1;
        }
    }
    const char *near = nearest_name(options->select_name, names, count);
    return arguments_wrong(arguments, "--select %s: give auto, uniform, its, alias or reject%s%s%s",
                           options->select_name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool ends_in(const char *text, const char *suffix) {
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && !strcmp(text + length - tail, suffix);
}

static int check_options(const arguments *arguments, walk_options *options) {
    if (!arguments->num_operands) return arguments_wrong(arguments, "GRAPH is missing: which file holds the graph?");
    options->path = arguments->operands[0];
    if (options->json && !strcmp(options->output, "-"))
        return arguments_wrong(arguments, "--json takes standard output; send the walks to a file with -o FILE");
    if (options->draw && !ends_in(options->draw, ".svg"))
        return arguments_wrong(arguments, "--draw %s: the picture is SVG; let its name end in .svg", options->draw);
    return find_select(arguments, options);
}

/* ---- the run ---- */

static csaw_status take_batch(void *user, csaw_samples *samples) {
    tally *tally = user;
    csaw_walks walks;
    csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &walks);
    if (status != CSAW_OK) return status;
    for (uint64_t w = 0; w < walks.num_walks; w++) {
        const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
        uint32_t low = 0, high = walks.length; /* the last place that holds a vertex */
        if (path[high * walks.path_step_stride] == CSAW_NONE) {
            while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;
                if (path[middle * walks.path_step_stride] == CSAW_NONE)
                    high = middle;
                else
                    low = middle;
            }
            high = low;
            tally->ended_early++;
        }
        tally->steps += high;
    }
    if (tally->picture) picture_take(tally->picture, &walks);
    return csaw_writer_write(tally->writer, samples);
}

static int sample(const walk_options *options, csaw_plan *plan, const csaw_seeds *seeds, outcome *outcome) {
    progress progress;
    tally *tally = &outcome->tally;
    if (csaw_writer_open(options->output, outcome->num_walks, (uint32_t)options->length, &tally->writer) != CSAW_OK)
        return report_library_failure();
    progress_begin(&progress);
    csaw_status status =
        csaw_sample_each(plan, options->sampler.sampler, options->sampler.params, seeds->vertex ? seeds : NULL,
                         CSAW_RUN(.seed = options->seed, .walks_per_seed = (uint32_t)options->walks_per_seed,
                                  .depth = (uint32_t)options->length, .select = options->select,
                                  .check = options->check, .progress = progress_report, .user = &progress),
                         take_batch, tally);
    progress_end(&progress);
    if (status == CSAW_ESTOPPED) {
        csaw_writer_discard(tally->writer);
        report_failure("stopped; %s", strcmp(options->output, "-") ? "no file was written" : "the output is not whole");
        return EXIT_STOPPED;
    }
    if (status != CSAW_OK) {
        int result = report_library_failure();
        csaw_writer_discard(tally->writer);
        return result;
    }
    if (csaw_writer_close(tally->writer) != CSAW_OK) return report_library_failure();
    outcome->seconds = seconds_now() - progress.begun;
    return -1;
}

/* ---- the summary ---- */

static uint64_t file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}

static void print_summary(const walk_options *options, const outcome *outcome) {
    const tally *tally = &outcome->tally;
    uint64_t walks = outcome->num_walks, ended = tally->ended_early;
    fprintf(stderr, "graph   %s: %s vertices, %s arcs, %s, %s\n", options->path,
            count_text(outcome->csr.num_vertices).text, count_text(outcome->csr.num_edges).text,
            options->graph.undirected ? "undirected" : "directed",
            outcome->csr.weight ? "weighted" : "without weights");
    fprintf(stderr, "walks   %s of %s steps by %s", count_text(walks).text, count_text(options->length).text,
            options->sampler.name);
    uint32_t num_params;
    csaw_sampler_params(options->sampler.sampler, &num_params);
    if (num_params) {
        fputs(" (", stderr);
        sampler_options_print(stderr, &options->sampler, false);
        fputs(")", stderr);
    }
    fprintf(stderr, ", seed %" PRIu64 ", on %s\n", options->seed, options->plan.device ? options->plan.device : "cpu");
    fprintf(stderr, "steps   %s in %.3g s, writing included: %s a second\n", count_text(tally->steps).text,
            outcome->seconds, rate_text(outcome->seconds > 0 ? (double)tally->steps / outcome->seconds : 0).text);
    if (ended) {
        fprintf(stderr, "ended   %s walks (%.1f%%) ended early, at a vertex without a way on\n", count_text(ended).text,
                100 * (double)ended / (double)walks);
        if (!options->graph.undirected && ended * 10 >= walks)
            fputs("hint    the graph was read as directed; if its edges go both ways, add --undirected\n", stderr);
    }
    if (strcmp(options->output, "-"))
        fprintf(stderr, "wrote   %s: %s\n", options->output, bytes_text(file_bytes(options->output)).text);
    if (options->draw) fprintf(stderr, "drew    %s\n", options->draw);
}

static void print_json(const walk_options *options, const outcome *outcome) {
    const tally *tally = &outcome->tally;
    json_open(stdout, "walk");
    fputs(", \"graph\": ", stdout);
    json_text(stdout, options->path);
    printf(", \"vertices\": %" PRIu64 ", \"arcs\": %" PRIu64 ", \"undirected\": %s, \"weighted\": %s, \"sampler\": ",
           outcome->csr.num_vertices, outcome->csr.num_edges, options->graph.undirected ? "true" : "false",
           outcome->csr.weight ? "true" : "false");
    json_text(stdout, options->sampler.name);
    fputs(", \"parameters\": {", stdout);
    sampler_options_print(stdout, &options->sampler, true);
    printf("}, \"select\": \"%s\", \"device\": ", csaw_select_name(options->select));
    json_text(stdout, options->plan.device ? options->plan.device : "cpu");
    printf(", \"seed\": %" PRIu64 ", \"walk_length\": %" PRIu64 ", \"walks\": %" PRIu64 ", \"steps\": %" PRIu64
           ", \"ended_early\": %" PRIu64 ", \"seconds\": %.6f, \"output\": ",
           options->seed, options->length, outcome->num_walks, tally->steps, tally->ended_early, outcome->seconds);
    json_text(stdout, options->output);
    printf(", \"output_bytes\": %" PRIu64 "}\n", file_bytes(options->output));
}

/* ---- the command ---- */

static int walk(walk_options *options, const csaw_graph *graph) {
    csaw_plan *plan = NULL;
    csaw_seeds seeds = {0};
    outcome outcome = {.csr = csaw_graph_csr(graph)};
    int result = options->seeds_file ? seeds_read(options->seeds_file, outcome.csr.num_vertices, &seeds) : -1;
    uint64_t num_seeds = seeds.vertex ? seeds.count : outcome.csr.num_vertices;
    if (result < 0 && num_seeds && options->walks_per_seed > MOST_WALKS / num_seeds)
        result =
            report_failure("%" PRIu64 " start vertices times --num-walks %" PRIu64
                           " is more than 2^40 walks; lower --num-walks, or give fewer start vertices with --seeds",
                           num_seeds, options->walks_per_seed);
    outcome.num_walks = num_seeds * options->walks_per_seed;
    if (result < 0) result = plan_options_create(graph, &options->plan, &plan);
    if (result < 0 && options->draw) outcome.tally.picture = picture_begin(&outcome.csr, num_seeds);
    if (result < 0) result = sample(options, plan, &seeds, &outcome);
    if (result < 0 && options->draw)
        result = picture_write(outcome.tally.picture, options->draw, options->path, options->sampler.name);
    if (result < 0) {
        (options->json ? print_json : print_summary)(options, &outcome);
        result = EXIT_OK;
    }
    picture_free(outcome.tally.picture);
    csaw_plan_free(plan);
    free((void *)seeds.vertex);
    return result;
}

static int run(int argc, char **argv) {
    walk_options options = {.output = "-", .length = 80, .walks_per_seed = 10};
    arguments arguments = {.command = &walk_command};
    csaw_graph *graph = NULL;
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    result = sampler_options_resolve(&arguments, &options.sampler, "node2vec");
    if (result < 0) result = check_options(&arguments, &options);
    if (result < 0) result = graph_options_load(&arguments, &options.graph, options.path, &graph);
    if (result < 0) result = walk(&options, graph);
    csaw_graph_free(graph);
    sampler_options_free(&options.sampler);
    return result;
}

const command walk_command = {
    .name = "walk",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "sample random walks: node2vec, DeepWalk, or your own sampler",
    .about = "Walks --num-walks times from every vertex of GRAPH, --walk-length steps each: a walk of N steps\n"
             "visits N+1 vertices. As text a walk is one line, ready for word2vec (gensim's LineSentence); as\n"
             ".npy all walks are one array of uint32 with N+1 columns, 4294967295 after a walk's end. A walk\n"
             "ends early only at a vertex without a way on. Equal options give equal bytes, whatever the device\n"
             "and the number of threads or partitions. GRAPH is an edge list: see csaw help info.\n",
    .examples = "  csaw walk data/karate.txt --undirected --algo node2vec --p 4 --q 1 -o walks.txt\n"
                "  csaw walk data/lesmis.txt --undirected --algo deepwalk --walk-length 40 -o walks.npy\n"
                "  csaw walk graph.txt --sampler my.c --param p=4 --num-walks 1 --draw walks.svg -o walks.txt\n",
    .run = run,
};
