/* SPDX-License-Identifier: MIT */
/* cli/subgraph.c - csaw subgraph: samples, and writes what was visited as a relabelled graph. */
#include <stdio.h>
#include <string.h>

#include "picture_sample.h"
#include "report.h"
#include "sample_options.h"

typedef struct subgraph_options {
    sample_options sample;
    bool induced, per_instance, arcs_only;
} subgraph_options;

static void add_options(arguments *arguments, subgraph_options *options) {
    const option own[] = {
        {.name = "induced",
         .kind = OPTION_FLAG,
         .value = &options->induced,
         .help = "all arcs of GRAPH between the vertices (default: those sampled)"},
        {.name = "per-instance",
         .kind = OPTION_FLAG,
         .value = &options->per_instance,
         .help = "a graph for every sample (default: one, of all together)"},
        {.name = "arcs-only",
         .kind = OPTION_FLAG,
         .value = &options->arcs_only,
         .help = "leave out seeds that no sampled arc touches (for random_edge)"},
    };
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    sample_options_add(arguments, &options->sample);
}

static int make(const subgraph_options *options, sample_job *job, csaw_samples *samples, sample_picture *picture) {
    const sample_options *sample = &options->sample;
    csaw_subgraph *subgraph = NULL;
    csaw_arcs arcs;
    const double begun = seconds_now();
    if (csaw_samples_arcs(samples, CSAW_HOST, &arcs) != CSAW_OK ||
        csaw_subgraph_create(job->graph, samples,
                             CSAW_SUBGRAPH(.induced = options->induced, .per_instance = options->per_instance,
                                           .arcs_only = options->arcs_only),
                             &subgraph) != CSAW_OK)
        return report_library_failure();
    const csaw_subgraph_view view = csaw_subgraph_look(subgraph);
    job->edges = arcs.offset[arcs.num_instances];
    job->graphs = view.num_graphs;
    job->vertices = view.vertex_offset[view.num_graphs];
    job->kept = view.rowptr[job->vertices];
    if (picture)
        sample_picture_take(picture, &arcs, options->per_instance && arcs.num_instances ? 1 : arcs.num_instances);
    const csaw_status status = csaw_subgraph_save(
        subgraph, sample->output,
        CSAW_SAVE(.format = sample->output_format, .plain = sample->plain, .no_header = sample->no_header));
    csaw_subgraph_free(subgraph);
    job->writing = seconds_now() - begun;
    return status == CSAW_OK ? -1 : report_library_failure();
}

static int sample_and_make(const subgraph_options *options, sample_job *job, sample_picture *picture) {
    const csaw_run_options run = sample_run(&options->sample);
    csaw_samples *samples = NULL;
    const double begun = seconds_now();
    if (csaw_sample(job->plan, options->sample.sampler.sampler, options->sample.sampler.params, &job->seeds, &run,
                    &samples) != CSAW_OK)
        return report_library_failure();
    job->seconds = seconds_now() - begun;
    const int result = make(options, job, samples, picture);
    csaw_samples_free(samples);
    return result;
}

static int run(int argc, char **argv) {
    subgraph_options all = {.sample = {.output = "-", .along = "out", .samples = 1}};
    sample_options *options = &all.sample;
    arguments arguments = {.command = &subgraph_command};
    sample_job job = {0};
    sample_picture *picture = NULL;
    add_options(&arguments, &all);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    result = sampler_options_resolve(&arguments, &options->sampler, "neighbor");
    if (result < 0) result = sample_options_check(&arguments, options);
    if (result < 0) result = sample_job_start(&arguments, options, &job);
    if (result < 0 && options->draw) picture = sample_picture_begin(job.graph, all.induced);
    if (result < 0) result = sample_and_make(&all, &job, picture);
    if (result < 0 && picture)
        result = sample_picture_write(picture, options->draw, options->path, options->sampler.name);
    if (result < 0) {
        sample_report(options, &job, true);
        result = EXIT_OK;
    }
    sample_picture_free(picture);
    sample_job_free(&job);
    sampler_options_free(&options->sampler);
    return result;
}

const command subgraph_command = {
    .name = "subgraph",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "sample, and write what was visited as a graph of its own",
    .about = "Samples GRAPH as csaw sample does, and makes one graph of all samples, or with --per-instance one of\n"
             "each: the vertices visited, and the arcs sampled, each once, or with --induced all arcs of GRAPH\n"
             "between them. Vertices are numbered in the order of first visit, seeds first.\n"
             "Text and .graphml call vertices as GRAPH does; .csaw keeps names, weights, types and times, and opens\n"
             "at once; .npz is a scipy.sparse matrix in the new numbers, of several graphs block diagonal, with\n"
             "arrays vertex (numbers in GRAPH), vertex_offset (where graphs begin) and edge (arcs of GRAPH).\n"
             "The row of an arc is the vertex that was expanded: csaw help sample says when to use --along in.\n",
    .examples = "  csaw subgraph data/karate.txt --undirected --fanout 3,2 --seeds start.txt --one-pool -o sub.csaw\n"
                "  csaw subgraph graph.txt --algo random_node --size 1000 --depth 1 --one-pool --induced -o sub.txt\n"
                "  csaw subgraph graph.txt --algo random_edge --fanout 5000 --one-pool --arcs-only -o sub.npz\n"
                "  csaw subgraph graph.txt --fanout 15,10 --batch-size 512 --along in --per-instance -o batches.npz\n",
    .run = run,
};
