/* SPDX-License-Identifier: MIT */
/* runtime/base/names.h - the original names of vertices, which a graph keeps where they differ from its numbers. */
#ifndef CSAW_BASE_NAMES_H
#define CSAW_BASE_NAMES_H

#include "runtime/base/graph.h"

/* Gives the names to a graph that has none. They ascend, numbers by value, words by their bytes; or, where they do not,
 * order lists the vertices by ascending name. The arrays are csaw__free()d with the graph. */
void csaw__graph_adopt_names(csaw_graph *graph, const csaw_names *names, const csaw_vertex *order);
void csaw__names_free(csaw_names *names);

/* As strcmp(): the names of vertices a and b. */
int csaw__names_compare(const csaw_names *names, csaw_vertex a, csaw_vertex b);

/* Names and their order for `to`, whose vertex v is vertex old_of[v] of `from`, and rank[old_of[v]] = v. Both NULL: the
 * vertices are the same. */
csaw_status csaw__names_carry(const csaw_graph *from, const csaw_vertex *old_of, const csaw_vertex *rank,
                              csaw_graph *to);
/* The same for a graph of some of the vertices: vertex v of `to` is vertex old_of[v] of `from`. */
csaw_status csaw__names_pick(const csaw_graph *from, const csaw_vertex *old_of, csaw_graph *to);

#endif
