/* SPDX-License-Identifier: MIT */
/* cli/find_arc.h - is there an arc from one vertex to another? Binary search, for rows ascend. */
#ifndef CSAW_CLI_FIND_ARC_H
#define CSAW_CLI_FIND_ARC_H

#include <csaw/csaw.h>

/* The first arc from -> to of the graph, or CSAW_NO_EDGE. */
static inline csaw_edge find_arc(const csaw_csr *csr, csaw_vertex from, csaw_vertex to) {
    csaw_edge low = csr->rowptr[from], high = csr->rowptr[from + 1];
    while (low < high) {
        csaw_edge middle = low + (high - low) / 2;
        if (csr->col[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < csr->rowptr[from + 1] && csr->col[low] == to ? low : CSAW_NO_EDGE;
}

#endif
