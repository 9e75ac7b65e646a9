/* SPDX-License-Identifier: MIT */
/* cli/plan.c - csaw plan: says how a graph would be worked on, without doing it. */
#include <csaw/csaw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_options.h"
#include "plan_options.h"
#include "ranks.h"
#include "report.h"
#include "walk_size.h"

enum { MOST_RANKS = 1 << 24, MOST_GPUS = 16 /* of a plan */ };

static void print_plan(const char *path, const csaw_plan *plan, bool json) {
    const char *text = csaw_plan_explain(plan);
    size_t length = strlen(text);
    if (!json) {
        printf("%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
        return;
    }
    json_open(stdout, "plan");
    fputs(", \"graph\": ", stdout);
    json_text(stdout, path);
    fputs(", \"plan\": ", stdout);
    json_text(stdout, text);
    fputs("}\n", stdout);
}

/* As many GPUs as are described, for csaw_plan_options.device. */
static const char *list_of(uint64_t gpus) {
    static char text[MOST_GPUS * sizeof ",cuda:00"];
    size_t used = 0;
    for (uint64_t i = 0; i < gpus; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%scuda:%d", i ? "," : "", (int)i);
    return text;
}

/* "ranks=16,gpu=2,memory=16GiB": machines that need not be this one. */
static int read_description(const arguments *arguments, const char *text, plan_options *options) {
    uint64_t gpus = 0, ranks = 0;
    for (const char *item = text; *item;) {
        char name[16] = "", value[32] = "";
        int length = 0;
        const bool known = sscanf(item, "%15[a-z]=%31[0-9A-Za-z]%n", name, value, &length) == 2 &&
                           ((!strcmp(name, "gpu") && parse_count(value, &gpus)) ||
                            (!strcmp(name, "ranks") && parse_count(value, &ranks)) ||
                            (!strcmp(name, "memory") && parse_bytes(value, &options->described_memory)));
        if (!known || (item[length] && item[length] != ','))
            return arguments_wrong(arguments,
                                   "--describe %s: write gpu=N,memory=SIZE, such as gpu=1,memory=16GiB, or ranks=N, or "
                                   "both",
                                   text);
        item += length + (item[length] == ',');
        if (strcmp(name, "memory") && strtod(value, NULL) == 0)
            return arguments_wrong(arguments, "--describe %s: %s is 0; give 1 or more, or leave it out", text, name);
    }
    if ((gpus && !options->described_memory) || (!ranks && !options->described_memory))
        return arguments_wrong(arguments, "--describe %s: give the memory of each GPU, too: gpu=1,memory=16GiB", text);
    if (gpus > MOST_GPUS)
        return arguments_wrong(arguments, "--describe %s: a plan has at most %d GPUs: gpu=%d,memory=16GiB", text,
                               (int)MOST_GPUS, (int)MOST_GPUS);
    if (gpus > 1 && options->device)
        return arguments_wrong(arguments,
                               "--describe %s: --device numbers the GPUs already; leave one of them out, or "
                               "say memory=16GiB alone",
                               text);
    if (ranks > MOST_RANKS) return arguments_wrong(arguments, "--describe %s: at most %d ranks", text, MOST_RANKS);
    options->described_ranks = ranks;
    if (!options->device && options->described_memory) options->device = list_of(gpus ? gpus : 1);
    return -1;
}

static int run(int argc, char **argv) {
    graph_options graph_options = {0};
    plan_options plan_options = {0};
    const char *description = NULL;
    bool json = false;
    const option own[] = {
        {.name = "describe",
         .kind = OPTION_TEXT,
         .value = &description,
         .placeholder = "LIST",
         .help = "plan for other machines, such as gpu=2,memory=16GiB or ranks=16; no GPU is asked"},
        {.name = "json", .kind = OPTION_FLAG, .value = &json, .help = "print one JSON object instead"}};
    arguments arguments = {.command = &plan_command};
    plan_options_add(&arguments, &plan_options);
    walk_size_add(&arguments, &plan_options.walk_length, &plan_options.walks_per_seed);
    graph_options_add(&arguments, &graph_options);
    arguments_add(&arguments, own, sizeof own / sizeof *own);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    if (!arguments.num_operands) return arguments_wrong(&arguments, "GRAPH is missing: which file holds the graph?");
    if (description) result = read_description(&arguments, description, &plan_options);
    if (result >= 0) return result;

    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    result = ranks_agree(graph_options_load(&arguments, &graph_options, arguments.operands[0], &graph));
    if (result < 0) result = plan_options_create(graph, &plan_options, &plan);
    if (result < 0) {
        print_plan(arguments.operands[0], plan, json);
        result = EXIT_OK;
    }
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    return result;
}

const command plan_command = {
    .name = "plan",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "say how a graph would be worked on, without doing it",
    .about = "Reads a graph and prints where walks from every vertex would run, how much memory that takes,\n"
             "and what is moved, one line per decision. The options mean what they mean to csaw walk.\n",
    .examples = "  csaw plan graph.txt --undirected\n"
                "  csaw plan graph.txt --partitions 4\n"
                "  csaw plan graph.txt --device cuda:0\n"
                "  csaw plan graph.txt --describe ranks=16\n"
                "  csaw plan graph.txt --describe gpu=8,memory=80GiB\n"
                "  csaw plan graph.csaw --split --describe ranks=16\n"
                "  csaw plan graph.txt --describe gpu=1,memory=16GiB --gpu-memory 4GiB --num-walks 1\n",
    .run = run,
    .on_ranks = true,
};
