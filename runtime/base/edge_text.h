/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_text.h - vertices and arcs as words of an edge list. Call these in the C locale. */
#ifndef CSAW_BASE_EDGE_TEXT_H
#define CSAW_BASE_EDGE_TEXT_H

#include "runtime/base/graph.h"
#include "runtime/base/output_file.h"

/* The name of v, or its number if the graph has no names, and the character `after`. */
csaw_status csaw__put_vertex(const csaw_graph *graph, csaw_vertex v, char after, csaw__output *output);
/* Weight, type and time of arc e, which leaves v, and a line end; of a graph that has one of them at least. */
csaw_status csaw__put_columns(const csaw_graph *graph, csaw_vertex v, csaw_edge e, csaw__output *output);
/* Nine digits at most, where 32 bytes are free; returns where they end. */
char *csaw__put_weight(char *to, float weight);

#endif
