/* SPDX-License-Identifier: MIT */
/* cli/plan_options.h - where the work runs: --device, --threads, --partitions, --gpu-memory, --resident,
 * --streams, --split, --exchange, --by-visits. */
#ifndef CSAW_CLI_PLAN_OPTIONS_H
#define CSAW_CLI_PLAN_OPTIONS_H

#include <csaw/csaw.h>

#include "arguments.h"

typedef struct plan_options {
    const char *device;
    uint64_t threads, partitions, gpu_memory, resident, streams;
    uint64_t described_memory;            /* of a GPU that need not be here; 0 = none is described */
    uint64_t described_ranks;             /* 0 = those that are here */
    bool split;                           /* of ranks, or of GPUs */
    bool exchange, by_visits;             /* with split: of GPUs; of ranks */
    uint64_t walk_length, walks_per_seed; /* of the job that a plan explains itself for; 0 = the library's */
} plan_options;

void plan_options_add(arguments *arguments, plan_options *options);
/* Returns -1 and the plan, or the exit code after saying what is wrong. */
int plan_options_create(const csaw_graph *graph, const plan_options *options, csaw_plan **out);

#endif
