/* SPDX-License-Identifier: MIT */
/* cli/devices.c - csaw devices: where walks can run. Asks for a plan on each GPU in turn, so what is listed works. */
#include <csaw/csaw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "report.h"

/* The plan's line on its device, behind the word; to be freed. NULL if there is no such device: csaw_last_error(). */
static char *describe(const csaw_graph *graph, const char *device) {
    static const char word[] = "device ";
    csaw_plan *plan = NULL;
    if (csaw_plan_create(graph, CSAW_PLAN(.device = device), &plan) != CSAW_OK) return NULL;
    const char *line = strstr(csaw_plan_explain(plan), word);
    line = line ? line + strlen(word) : "";
    line += strspn(line, " ");
    char *text = strndup(line, strcspn(line, "\n"));
    csaw_plan_free(plan);
    if (!text) out_of_memory();
    return text;
}

static void print_device(const char *name, const char *text, bool json, bool first) {
    if (json) {
        fputs(first ? "" : ", ", stdout);
        fputs("{\"device\": ", stdout);
        json_text(stdout, name);
        fputs(", \"text\": ", stdout);
        json_text(stdout, text);
        putchar('}');
    } else {
        puts(text);
    }
}

static int list(const csaw_graph *graph, bool json) {
    char name[32] = "cpu", *text = describe(graph, name);
    if (!text) return report_library_failure();
    if (json) {
        json_open(stdout, "devices");
        fputs(", \"devices\": [", stdout);
    }
    print_device(name, text, json, true);
    free(text);
    int count = 0;
    for (;; count++) {
        snprintf(name, sizeof name, "cuda:%d", count);
        text = describe(graph, name);
        if (!text) break;
        print_device(name, text, json, false);
        free(text);
    }
    if (json) fputs("]}\n", stdout);
    if (count == 0) fprintf(stderr, "no GPU: %s\n", csaw_last_error());
    return EXIT_OK;
}

static int run(int argc, char **argv) {
    bool json = false;
    const option own[] = {
        {.name = "json", .kind = OPTION_FLAG, .value = &json, .help = "print one JSON object instead"}};
    arguments arguments = {.command = &devices_command};
    arguments_add(&arguments, own, 1);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    const csaw_vertex src = 0, dst = 1;
    csaw_graph *graph = NULL;
    if (csaw_graph_from_edges(&(csaw_edges){.num_edges = 1, .src = &src, .dst = &dst}, NULL, &graph) != CSAW_OK)
        return report_library_failure();
    result = list(graph, json);
    csaw_graph_free(graph);
    return result;
}

const command devices_command = {
    .name = "devices",
    .operands = "",
    .num_operands = 0,
    .summary = "list where walks can run: the CPU and the GPUs",
    .about = "Lists what --device accepts here: the CPU, and every GPU that works, one a line.\n"
             "Without a GPU the reason is on standard error.\n",
    .examples = "  csaw devices\n"
                "  csaw devices --json\n",
    .run = run,
};
