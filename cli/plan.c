/* SPDX-License-Identifier: MIT */
/* cli/plan.c - csaw plan: says how a graph would be worked on, without doing it. */
#include <csaw/csaw.h>
#include <stdio.h>
#include <string.h>

#include "graph_options.h"
#include "plan_options.h"
#include "report.h"

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

static int run(int argc, char **argv) {
    graph_options graph_options = {0};
    plan_options plan_options = {0};
    bool json = false;
    const option own[] = {
        {.name = "json", .kind = OPTION_FLAG, .value = &json, .help = "print one JSON object instead"}};
    arguments arguments = {.command = &plan_command};
    plan_options_add(&arguments, &plan_options);
    graph_options_add(&arguments, &graph_options);
    arguments_add(&arguments, own, 1);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    if (!arguments.num_operands) return arguments_wrong(&arguments, "GRAPH is missing: which file holds the graph?");

    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    result = graph_options_load(&arguments, &graph_options, arguments.operands[0], &graph);
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
    .about = "Reads a graph and prints where its walks would run and how much memory that takes,\n"
             "one line per decision. The options mean what they mean to csaw walk.\n",
    .examples = "  csaw plan graph.txt --undirected\n"
                "  csaw plan graph.txt --partitions 4 --threads 8\n"
                "  csaw plan graph.txt --device cuda:0\n",
    .run = run,
};
