/* SPDX-License-Identifier: MIT */
/* cli/plan_options.c - the options that change how fast the samples come, never which they are. */
#include "plan_options.h"

#include "report.h"

void plan_options_add(arguments *arguments, plan_options *options) {
    const option table[] = {
        {.name = "device",
         .kind = OPTION_TEXT,
         .value = &options->device,
         .placeholder = "cpu|cuda:N",
         .help = "where to run (default cpu); the result is the same"},
        {.name = "threads",
         .kind = OPTION_COUNT,
         .value = &options->threads,
         .placeholder = "N",
         .lowest = 1,
         .highest = 4096,
         .help = "CPU threads (default: all cores); the result is the same"},
        {.name = "partitions",
         .kind = OPTION_COUNT,
         .value = &options->partitions,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "work on N parts of the graph in turn (CPU); the result is the same"},
    };
    arguments_add(arguments, table, sizeof table / sizeof table[0]);
}

int plan_options_create(const csaw_graph *graph, const plan_options *options, csaw_plan **out) {
    csaw_status status = csaw_plan_create(
        graph,
        CSAW_PLAN(.device = options->device, .threads = (int)options->threads, .partitions = (int)options->partitions),
        out);
    return status == CSAW_OK ? -1 : report_library_failure();
}
