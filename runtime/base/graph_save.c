/* SPDX-License-Identifier: MIT */
/* runtime/base/graph_save.c - a graph as the edge list that csaw_graph_load() reads: `src dst` or `src dst weight`, one
 * arc a line, in CSR order. Nine digits give every float back. What an edge list cannot say is lost: vertices after
 * the last one with an arc. Loops and parallel arcs are written, and come back with keep_loops and keep_duplicates. */
#include "runtime/base/graph.h"
#include "runtime/base/number_text.h"
#include "runtime/base/output_file.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

enum { LINE_BYTES = 64 }; /* two ids, a weight such as -1.17549435e-38, separators */

/* In the C locale. Small whole weights, the usual ones, as whole numbers. */
static char *put_weight(char *to, float weight) {
    if (weight >= 1 && weight <= 1e6f && weight == (float)(uint32_t)weight)
        return csaw__put_number(to, (uint32_t)weight);
    return to + snprintf(to, 32, "%.9g", (double)weight);
}

static csaw_status put_row(const csaw_csr *csr, uint64_t v, csaw__output *output) {
    for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++) {
        char *line, *at;
        CSAW_TRY(csaw__output_room(output, LINE_BYTES, &line));
        at = csaw__put_number(line, (uint32_t)v);
        *at++ = ' ';
        at = csaw__put_number(at, csr->col[e]);
        if (csr->weight) {
            CSAW_REQUIRE(isfinite(csr->weight[e]), CSAW_EUNSUPPORTED,
                         "%s: the weight of arc %u -> %u is %g, and an edge list holds finite weights; fix the weight",
                         csaw__output_path(output), (unsigned)v, csr->col[e], (double)csr->weight[e]);
            *at++ = ' ';
            at = put_weight(at, csr->weight[e]);
        }
        *at++ = '\n';
        csaw__output_advance(output, (uint64_t)(at - line));
    }
    return CSAW_OK;
}

static csaw_status put_graph(const csaw_csr *csr, csaw__output *output) {
    char heading[128];
    int length = snprintf(heading, sizeof heading, "# csaw: %llu vertices, %llu arcs\n",
                          (unsigned long long)csr->num_vertices, (unsigned long long)csr->num_edges);
    CSAW_TRY(csaw__output_put(output, heading, (uint64_t)length));
    for (uint64_t v = 0; v < csr->num_vertices; v++) CSAW_TRY(put_row(csr, v, output));
    return CSAW_OK;
}

csaw_status csaw_graph_save(const csaw_graph *graph, const char *path) {
    csaw__output *output = NULL;
    CSAW_REQUIRE(graph, CSAW_EINVAL, "the graph to save is NULL; load or make one first");
    size_t length = path ? strlen(path) : 0;
    CSAW_TRY(csaw__output_open(path, length > 3 && strcmp(path + length - 3, ".gz") == 0, &output));
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    csaw_status status = put_graph(&graph->csr, output);
    uselocale(before);
    if (plain) freelocale(plain);
    if (status == CSAW_OK) return csaw__output_close(output);
    csaw__output_discard(output);
    return status;
}
