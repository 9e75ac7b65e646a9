/* SPDX-License-Identifier: MIT */
/* cli/plan_options.c - the options that change how fast the samples come, never which they are. */
#include "plan_options.h"

#include "ranks.h"
#include "report.h"

void plan_options_add(arguments *arguments, plan_options *options) {
    const option table[] = {
        {.name = "device",
         .kind = OPTION_TEXT,
         .value = &options->device,
         .placeholder = "cpu|cuda:N|all",
         .help = "where to run (default cpu); cuda:0,cuda:1: both share the work; all: every GPU, of ranks one each; "
                 "simulated: a GPU played through"},
        {.name = "threads",
         .kind = OPTION_COUNT,
         .value = &options->threads,
         .placeholder = "N",
         .lowest = 1,
         .highest = 4096,
         .help = "CPU threads (default: all cores; of partitions one); the result is the same"},
        {.name = "partitions",
         .kind = OPTION_COUNT,
         .value = &options->partitions,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "cut the graph into N parts; the result is the same"},
        {.name = "gpu-memory",
         .kind = OPTION_BYTES,
         .value = &options->gpu_memory,
         .placeholder = "SIZE",
         .help = "of a GPU to use, such as 4GiB (default: all); parts of a larger graph come and go"},
        {.name = "resident",
         .kind = OPTION_COUNT,
         .value = &options->resident,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "parts in that memory at a time (default: by its size)"},
        {.name = "streams",
         .kind = OPTION_COUNT,
         .value = &options->streams,
         .placeholder = "N",
         .lowest = 1,
         .highest = 64,
         .help = "of a GPU on which parts are copied and run (default: one each, at most 4)"},
        {.name = "split",
         .kind = OPTION_FLAG,
         .value = &options->split,
         .help = "each rank of mpirun, or its GPU, holds a part of GRAPH, .csaw or text; so does each of several GPUs"},
        {.name = "exchange",
         .kind = OPTION_FLAG,
         .value = &options->exchange,
         .help =
             "with --split on several GPUs: walkers go to the GPU that has their row (default: rows are read there)"},
        {.name = "by-visits",
         .kind = OPTION_FLAG,
         .value = &options->by_visits,
         .help = "with --split: ranks have as many arcs each, and so walkers' visits (default: as many bytes)"},
    };
    arguments_add(arguments, table, sizeof table / sizeof table[0]);
}

int plan_options_create(const csaw_graph *graph, const plan_options *options, csaw_plan **out) {
    const csaw_plan_options given = {.size = sizeof given,
                                     .device = options->device,
                                     .threads = (int)options->threads,
                                     .partitions = (int)options->partitions,
                                     .gpu_memory = options->gpu_memory,
                                     .resident = (int)options->resident,
                                     .streams = (int)options->streams,
                                     .described_memory = options->described_memory,
                                     .walks_per_seed = (uint32_t)options->walks_per_seed,
                                     .depth = (uint32_t)options->walk_length,
                                     .communicator = ranks_communicator(),
                                     .described_ranks = (uint32_t)options->described_ranks,
                                     .split = options->split,
                                     .exchange = options->exchange,
                                     .by_visits = options->by_visits};
    const csaw_status status = csaw_plan_create(graph, &given, out);
    return status == CSAW_OK ? -1 : report_library_failure();
}
