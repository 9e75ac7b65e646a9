/* SPDX-License-Identifier: MIT */
/* cli/walk_options.h - what csaw walk was asked to do, and what came of it. */
#ifndef CSAW_CLI_WALK_OPTIONS_H
#define CSAW_CLI_WALK_OPTIONS_H

#include <csaw/csaw.h>

#include "graph_options.h"
#include "plan_options.h"
#include "sampler_options.h"

typedef struct walk_options {
    graph_options graph;
    plan_options plan;
    sampler_options sampler;
    const char *path, *output, *output_format, *draw, *select_name, *seeds_file;
    csaw_select select;
    uint64_t seed, length, walks_per_seed, batch;
    bool check, json, edges, resume;
    int argc; /* the command line, to say how to go on */
    char **argv;
} walk_options;

typedef struct walk_outcome {
    csaw_csr csr;
    uint64_t num_walks, resumed; /* in all; of them there before */
    uint64_t steps, ended_early; /* of those made now */
    double seconds;
    double load, plan;           /* seconds: of the graph; of the plan, with the first step, which makes its tables */
    double walk, deliver, write; /* waiting for walks; until they are in host memory and counted; to the file */
} walk_outcome;

/* All that decides the walks and nothing else, in lines of text; freed by the caller. Where they run is no part of it:
 * the result is the same. */
char *walk_job(const walk_options *options, const csaw_graph *graph, const csaw_seeds *seeds);
/* Says on stderr by which command line the run goes on, if something of it was kept. */
void walk_tell_resume(const walk_options *options);

void walk_print_summary(const walk_options *options, const walk_outcome *outcome);
void walk_print_json(const walk_options *options, const walk_outcome *outcome);

#endif
