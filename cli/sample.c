/* SPDX-License-Identifier: MIT */
/* cli/sample.c - csaw sample: samples several arcs a step and writes them, as text batch by batch in bounded memory. */
#include <stdio.h>

#include "picture_sample.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "sample_options.h"

typedef struct stream {
    sample_job *job;
    csaw_arc_writer *writer;
    sample_picture *picture; /* NULL unless --draw */
} stream;

static csaw_status take_batch(void *user, csaw_samples *samples) {
    stream *stream = user;
    csaw_arcs arcs;
    const double begun = seconds_now();
    csaw_status status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
    if (status != CSAW_OK) return status;
    stream->job->edges += arcs.offset[arcs.num_instances];
    if (stream->picture && arcs.first == 0) sample_picture_take(stream->picture, &arcs, arcs.num_instances ? 1 : 0);
    status = csaw_arc_writer_write(stream->writer, samples);
    stream->job->writing += seconds_now() - begun;
    return status;
}

static csaw_save_options save_options(const sample_options *options) {
    return (csaw_save_options){.size = sizeof(csaw_save_options),
                               .format = options->output_format,
                               .plain = options->plain,
                               .no_header = options->no_header,
                               .communicator = ranks_communicator()};
}

/* Why there is no result; the exit code. */
static int report_stop(csaw_status status) {
    if (status != CSAW_ESTOPPED) return report_library_failure();
    report_failure("stopped; the result is not whole and was not kept");
    return progress_exit_code();
}

static int sample_in_batches(const sample_options *options, sample_job *job, sample_picture *picture) {
    stream stream = {.job = job, .picture = picture};
    csaw_run_options run = sample_run(options);
    const csaw_save_options save = save_options(options);
    progress progress;
    if (csaw_arc_writer_open(job->graph, options->output, &save, &stream.writer) != CSAW_OK)
        return report_library_failure();
    progress_begin(&progress, 0);
    run.progress = progress_report;
    run.user = &progress;
    const csaw_status status = csaw_sample_each(job->plan, options->sampler.sampler, options->sampler.params,
                                                &job->seeds, &run, take_batch, &stream);
    progress_end(&progress);
    job->seconds = seconds_now() - progress.begun - job->writing;
    if (status == CSAW_OK) return csaw_arc_writer_close(stream.writer) == CSAW_OK ? -1 : report_library_failure();
    const int result = report_stop(status);
    csaw_arc_writer_discard(stream.writer);
    return result;
}

static int sample_at_once(const sample_options *options, sample_job *job, sample_picture *picture) {
    csaw_run_options run = sample_run(options);
    const csaw_save_options save = save_options(options);
    csaw_samples *samples = NULL;
    csaw_arcs arcs;
    progress progress;
    double begun = seconds_now();
    int result = -1;
    progress_begin(&progress, 0);
    run.progress = progress_report;
    run.user = &progress;
    csaw_status status =
        csaw_sample(job->plan, options->sampler.sampler, options->sampler.params, &job->seeds, &run, &samples);
    progress_end(&progress);
    if (status == CSAW_OK) status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
    if (status != CSAW_OK) {
        csaw_samples_free(samples);
        return report_stop(status);
    }
    job->seconds = seconds_now() - begun;
    job->edges = arcs.offset[arcs.num_instances];
    if (picture) sample_picture_take(picture, &arcs, arcs.num_instances ? 1 : 0);
    begun = seconds_now();
    if (csaw_samples_save(job->graph, samples, options->output, &save) != CSAW_OK) result = report_library_failure();
    job->writing = seconds_now() - begun;
    csaw_samples_free(samples);
    return result;
}

static int run(int argc, char **argv) {
    sample_options options = {.output = "-", .along = "out", .samples = 1};
    arguments arguments = {.command = &sample_command};
    sample_job job = {0};
    sample_picture *picture = NULL;
    sample_options_add(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    result = sampler_options_resolve(&arguments, &options.sampler, "neighbor");
    if (result < 0) result = sample_options_check(&arguments, &options);
    if (result < 0 && ranks_size() > 1 && (options.draw || !sample_is_text(&options)))
        result = arguments_wrong(&arguments,
                                 "%s is made of all samples at once, by one process; let several write text, or leave "
                                 "mpirun out",
                                 options.draw ? options.draw : options.output);
    if (result < 0) result = sample_job_start(&arguments, &options, &job);
    if (result < 0 && options.draw) picture = sample_picture_begin(job.graph, false);
    if (result < 0) result = (sample_is_text(&options) ? sample_in_batches : sample_at_once)(&options, &job, picture);
    if (result < 0 && picture) result = sample_picture_write(picture, options.draw, options.path, options.sampler.name);
    if (result < 0) {
        ranks_sum(&job.edges, 1);
        if (ranks_rank() == 0) sample_report(&options, &job, false);
        result = EXIT_OK;
    }
    sample_picture_free(picture);
    sample_job_free(&job);
    sampler_options_free(&options.sampler);
    return result;
}

const command sample_command = {
    .name = "sample",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "sample neighbourhoods, layers, fires: several arcs a step",
    .about =
        "Begins at seeds of GRAPH (--seeds, or every vertex) and picks arcs hop by hop: --fanout 15,10 takes up to\n"
        "15 arcs of every seed, then up to 10 of every vertex that those reach. Every seed makes a sample of its\n"
        "own; --batch-size N makes one of N seeds together, as a minibatch does, --one-pool one of all.\n"
        "As text a line is `instance src dst edge depth`: src was expanded, dst was picked, edge is the arc's\n"
        "number in GRAPH. --plain leaves src dst [weight], an edge list. .npz holds every sampled arc once, as a\n"
        "scipy.sparse matrix over all vertices; .graphml all picks. csaw subgraph relabels what was sampled.\n"
        "A graph neural network whose messages follow the arcs wants --along in: picks among the arcs that come in.\n"
        "Then lines are arcs of the transposed graph: src is the vertex that receives, dst the one that sends.\n"
        "Equal options give equal bytes, whatever the number of threads or partitions.\n",
    .examples =
        "  csaw sample data/karate.txt --undirected --fanout 5,3 --seeds start.txt\n"
        "  csaw sample graph.txt --algo neighbor_once --fanout 15,10 --batch-size 1024 --along in -o batches.txt\n"
        "  csaw sample data/lesmis.txt --undirected --algo layer --fanout 20,20 --one-pool -o layers.npz\n"
        "  csaw sample data/karate.txt --undirected --algo forest_fire --p 0.6 --depth 5 --draw fire.svg\n"
        "  csaw sample graph.txt --sampler my.c --fanout all,5 -o picks.graphml\n",
    .run = run,
    .on_ranks = true,
};
