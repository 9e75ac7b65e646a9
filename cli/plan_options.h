/* SPDX-License-Identifier: MIT */
/* cli/plan_options.h - where the work runs: --device, --threads, --partitions. */
#ifndef CSAW_CLI_PLAN_OPTIONS_H
#define CSAW_CLI_PLAN_OPTIONS_H

#include <csaw/csaw.h>

#include "arguments.h"

typedef struct plan_options {
    const char *device;
    uint64_t threads, partitions;
} plan_options;

void plan_options_add(arguments *arguments, plan_options *options);
/* Returns -1 and the plan, or the exit code after saying what is wrong. */
int plan_options_create(const csaw_graph *graph, const plan_options *options, csaw_plan **out);

#endif
