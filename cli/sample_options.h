/* SPDX-License-Identifier: MIT */
/* cli/sample_options.h - what csaw sample and csaw subgraph have in common: which samples to make, how to make them,
 * and what to say of them. */
#ifndef CSAW_CLI_SAMPLE_OPTIONS_H
#define CSAW_CLI_SAMPLE_OPTIONS_H

#include <csaw/csaw.h>

#include "graph_options.h"
#include "plan_options.h"
#include "sampler_options.h"

enum { MAX_HOPS = 64 }; /* entries of --fanout */

typedef struct sample_options {
    graph_options graph;
    plan_options plan;
    sampler_options sampler;
    const char *path, *fanout_text, *seeds_file, *along, *select_name, *output, *output_format, *draw;
    uint64_t depth, batch_size, samples, seed;
    bool replace, one_pool, plain, no_header, check, json;
    csaw_select select;
    uint32_t fanout[MAX_HOPS]; /* [depth] if fanout_text */
} sample_options;

/* A graph, perhaps transposed, with a plan and pools. */
typedef struct sample_job {
    csaw_graph *graph;
    csaw_plan *plan;
    csaw_seeds seeds; /* arrays owned */
    uint64_t instances;
    uint64_t edges;          /* sampled, so far */
    uint64_t vertices;       /* of the subgraph, all graphs together */
    uint64_t graphs, kept;   /* graphs of the subgraph, their arcs */
    double seconds, writing; /* sampling alone; making and writing the result */
} sample_job;

void sample_options_add(arguments *arguments, sample_options *options);
/* After parsing. Both return -1 to go on, or the exit code after saying what is wrong. */
int sample_options_check(const arguments *arguments, sample_options *options);
int sample_job_start(const arguments *arguments, const sample_options *options, sample_job *job);
void sample_job_free(sample_job *job);
bool sample_is_text(const sample_options *options); /* the result */
/* For csaw_sample() and csaw_sample_each(). */
csaw_run_options sample_run(const sample_options *options);

/* What was done: to people on stderr, or as JSON on stdout. subgraph: also what became of the samples. */
void sample_report(const sample_options *options, const sample_job *job, bool subgraph);

#endif
