/* SPDX-License-Identifier: MIT */
/* runtime/base/load_names.h - from the names in a file to vertex numbers. */
#ifndef CSAW_BASE_LOAD_NAMES_H
#define CSAW_BASE_LOAD_NAMES_H

#include "runtime/base/edge_list.h"

typedef struct csaw__numbered_edges {
    csaw__edge_segment *segments; /* [num_segments], over the arrays of the edge list */
    uint64_t num_segments, num_vertices;
    csaw_names names; /* nothing where vertex v is called v */
} csaw__numbered_edges;

/* Vertices are the names that occur or are declared, ascending; with keep_gaps, names are vertex numbers. Changes the
 * list in place. */
csaw_status csaw__number_edges(csaw__edge_list *list, bool keep_gaps, csaw__numbered_edges *out);
void csaw__numbered_edges_free(csaw__numbered_edges *edges);

#endif
