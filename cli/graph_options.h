/* SPDX-License-Identifier: MIT */
/* cli/graph_options.h - the options by which every command reads a graph file. */
#ifndef CSAW_CLI_GRAPH_OPTIONS_H
#define CSAW_CLI_GRAPH_OPTIONS_H

#include <csaw/csaw.h>

#include "arguments.h"
#include "plan_options.h"

typedef struct graph_options {
    const char *format, *columns;
    bool undirected, keep_loops, keep_duplicates, keep_gaps;
} graph_options;

void graph_options_add(arguments *arguments, graph_options *options);
/* Returns -1 and the graph, or the exit code after saying what is wrong. */
int graph_options_load(const arguments *arguments, const graph_options *options, const char *path, csaw_graph **out);
/* The same for a plan, by all ranks: where it splits the graph over them, not over the GPUs of each, and parts do,
 * each holds its part. Unless all ranks say so they load it whole, and go on to be refused by their plans. */
int graph_options_load_for(const arguments *arguments, const graph_options *options, const char *path,
                           const plan_options *plan, bool parts, csaw_graph **out);
/* Are all arcs there in both directions? */
bool graph_is_symmetric(const csaw_csr *csr);

#endif
