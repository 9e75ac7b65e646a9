/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_list.h - edge lists in text. */
#ifndef CSAW_BASE_EDGE_LIST_H
#define CSAW_BASE_EDGE_LIST_H

#include "runtime/base/csr_build.h"

typedef struct csaw__edge_list {
    csaw__edge_segment *segments; /* in file order; one block of memory each, at src */
    uint64_t num_segments, capacity;
    uint64_t num_vertices; /* largest id + 1 */
    bool weighted;
} csaw__edge_list;

/* format: "el", "wel", or NULL = by the columns of the first edge. */
csaw_status csaw__edge_list_read(const char *path, const char *format, csaw__edge_list *out);
void csaw__edge_list_free(csaw__edge_list *list);

#endif
