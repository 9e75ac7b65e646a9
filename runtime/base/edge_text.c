/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_text.c - vertices and arcs as words of an edge list that csaw_graph_load() reads back: names in
 * quotes where they need it, nine digits of every weight. */
#include "runtime/base/edge_text.h"

#include "runtime/base/float_text.h"
#include "runtime/base/number_text.h"

#include <math.h>

enum { NUMBERS_BYTES = 128 }; /* two ids of 64 bits, a weight such as -1.17549435e-38, a type, a time, separators */

/* Small whole weights, the usual ones, as whole numbers. */
char *csaw__put_weight(char *to, float weight) {
    if (weight >= 1 && weight <= 1e6f && weight == (float)(uint32_t)weight)
        return csaw__put_number(to, (uint32_t)weight);
    return csaw__put_float(to, weight);
}

/* A word as it is, or in quotes if it would read back as something else. */
static csaw_status put_word(const csaw_graph *graph, csaw_vertex v, csaw__output *output) {
    const char *text = graph->names.text + graph->names.offset[v];
    const uint64_t bytes = graph->names.offset[v + 1] - graph->names.offset[v];
    bool quote = bytes == 0 || text[0] == '#' || text[0] == '%';
    for (uint64_t i = 0; i < bytes; i++) {
        quote |= strchr(" ,;\"", text[i]) != NULL;
        CSAW_REQUIRE(
            (unsigned char)text[i] >= ' ' && text[i] != 0x7f, CSAW_EUNSUPPORTED,
            "%s: vertex %u is called '%.*s', and an edge list cannot hold the control character in it; save as "
            ".csaw",
            csaw__output_path(output), v, bytes < 80 ? (int)bytes : 80, text);
    }
    if (!quote) return csaw__output_put(output, text, bytes);
    CSAW_TRY(csaw__output_put(output, "\"", 1));
    for (uint64_t i = 0; i < bytes; i++) {
        if (text[i] == '"') CSAW_TRY(csaw__output_put(output, "\"", 1));
        CSAW_TRY(csaw__output_put(output, text + i, 1));
    }
    return csaw__output_put(output, "\"", 1);
}

csaw_status csaw__put_vertex(const csaw_graph *graph, csaw_vertex v, char after, csaw__output *output) {
    const csaw_names *names = &graph->names;
    char *place, *at;
    if (names->offset) CSAW_TRY(put_word(graph, v, output));
    CSAW_TRY(csaw__output_room(output, NUMBERS_BYTES, &place));
    at = place;
    if (names->number)
        at = csaw__put_signed(at, names->number[v]);
    else if (!names->offset)
        at = csaw__put_number(at, v);
    *at++ = after;
    csaw__output_advance(output, (uint64_t)(at - place));
    return CSAW_OK;
}

csaw_status csaw__put_columns(const csaw_graph *graph, csaw_vertex v, csaw_edge e, csaw__output *output) {
    const csaw_csr *csr = &graph->csr;
    char *place, *at;
    CSAW_TRY(csaw__output_room(output, NUMBERS_BYTES, &place));
    at = place;
    if (csr->weight) {
        CSAW_REQUIRE(isfinite(csr->weight[e]), CSAW_EUNSUPPORTED,
                     "%s: the weight of arc %u -> %u is %g, and an edge list holds finite weights; fix the weight",
                     csaw__output_path(output), v, csr->col[e], (double)csr->weight[e]);
        at = csaw__put_weight(at, csr->weight[e]);
        *at++ = ' ';
    }
    if (csr->type) {
        at = csaw__put_number(at, csr->type[e]);
        *at++ = ' ';
    }
    if (csr->time) {
        at = csaw__put_signed(at, csr->time[e]);
        *at++ = ' ';
    }
    at[-1] = '\n';
    csaw__output_advance(output, (uint64_t)(at - place));
    return CSAW_OK;
}
