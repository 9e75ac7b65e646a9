/* SPDX-License-Identifier: MIT */
/* runtime/engine/load_split.h - a graph from an edge list of which each rank reads a share, for load_share.c, which
 * reads and numbers, load_split.c, which brings arcs to the ranks of their rows, and split_checksum.c.
 *
 * A rank's share are the lines that begin in one of R equal parts of the file's bytes. Shares in order of rank are the
 * file, so whatever is joined in that order has the order of lines: arcs of a row, and faults, of which the lowest line
 * is told. Between two steps all ranks meet: what one fails at ends all. */
#ifndef CSAW_ENGINE_LOAD_SPLIT_H
#define CSAW_ENGINE_LOAD_SPLIT_H

#include "runtime/base/graph.h"
#include "runtime/base/load_names.h"
#include "runtime/ranks/ranks.h"

typedef struct csaw__split_load {
    csaw__ranks *ranks;
    uint32_t rank, size;
    csaw_status arguments; /* of this rank, which the others hear at the first meeting */
    const char *path;
    csaw_load_options options;
    bool by_visits;

    csaw__edge_list list; /* this rank's share; nothing once its arcs are sent */
    csaw__numbered_edges edges;
    uint32_t columns;
} csaw__split_load;

/* Of all ranks, with values for the others. */
static inline csaw_status csaw__load_meet(csaw__split_load *l, csaw_status mine, const uint64_t *values) {
    return csaw__ranks_meet(l->ranks, CSAW__AT_LOAD, mine, values);
}

/* Reads the share, and numbers its vertices as the whole file's are. *whole: the file is none that is read by shares,
 * and nothing was read. */
csaw_status csaw__load_share(csaw__split_load *load, bool *whole);

/* csaw_graph_checksum() of a graph whose arrays of arcs hold this rank's rows alone. */
csaw_status csaw__split_checksum(csaw__ranks *ranks, const csaw_graph *graph, uint64_t *out);

#endif
