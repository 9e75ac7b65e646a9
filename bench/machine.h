/* SPDX-License-Identifier: MIT */
/* bench/machine.h - what a benchmark ran on: the processor, and the GPUs of a device, for its JSON. */
#ifndef CSAW_BENCH_MACHINE_H
#define CSAW_BENCH_MACHINE_H

#include <csaw/csaw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"

/* The processor's name, without what would end a JSON string. */
static inline const char *machine_processor(void) {
    static char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *name = "unknown";
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) != 0 || !strchr(line, ':')) continue;
        name = strchr(line, ':') + 1;
        name += *name == ' ';
        line[strcspn(line, "\n\"\\")] = 0;
        break;
    }
    if (file) fclose(file);
    return name;
}

/* "machine": {...}, with a name for each GPU of a device, as csaw_plan_options has it; none on the CPU. They are in the
 * explanation of a plan, "device      cuda:N NAME, ...", here one of a graph of one edge. */
static inline void machine_put(FILE *json, const char *device) {
    static const char line[] = "device      cuda:";
    const csaw_vertex src = 0, dst = 1;
    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    bool first = true;
    must(csaw_graph_from_edges(&(csaw_edges){.num_edges = 1, .src = &src, .dst = &dst}, NULL, &graph));
    must(csaw_plan_create(graph, CSAW_PLAN(.device = device), &plan));
    fprintf(json, "\"machine\": {\"processor\": \"%s\", \"cores\": %ld, \"gpus\": [", machine_processor(),
            sysconf(_SC_NPROCESSORS_ONLN));
    for (const char *at = csaw_plan_explain(plan); (at = strstr(at, line)); first = false) {
        at += strlen(line);
        at += strspn(at, "0123456789 ");
        fprintf(json, "%s\"%.*s\"", first ? "" : ", ", (int)strcspn(at, ",\n"), at);
    }
    fputs("]}", json);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
}

#endif
