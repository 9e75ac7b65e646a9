/* SPDX-License-Identifier: MIT */
/* runtime/engine/graphml.c - samples and subgraphs as GraphML: nodes are called as in the graph that was sampled, arcs
 * carry their id there, and weight, type and time where it has them.
 *
 * Source: Brandes, Eiglsperger, Herman, Himsolt, Marshall, "GraphML progress report", Graph Drawing 2001. Names become
 * text of XML 1.0: UTF-8 without control characters; a name that is none is an error. */
#include "runtime/base/edge_text.h"
#include "runtime/base/number_text.h"
#include "runtime/engine/save.h"

#include <stdio.h>
#include <string.h>

enum { PIECE = 256 };

static csaw_status put_text(const char *text, csaw__output *output) {
    return csaw__output_put(output, text, strlen(text));
}

/* Bytes of the UTF-8 character at text that XML 1.0 may hold (section 2.2), or 0. */
static uint64_t character(const unsigned char *text, uint64_t left) {
    const unsigned char c = text[0];
    const uint64_t length = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (length == 0 || length > left) return 0;
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') return 0;
    for (uint64_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) || (c == 0xf0 && text[1] < 0x90) ||
        (c == 0xf4 && text[1] > 0x8f))
        return 0;
    if (c == 0xef && text[1] == 0xbf && text[2] >= 0xbe) return 0; /* U+FFFE, U+FFFF */
    return length;
}

static csaw_status put_name(const csaw_graph *graph, csaw_vertex v, csaw__output *output) {
    const csaw_names *names = &graph->names;
    char digits[CSAW__MAX_WIDE_DIGITS + 1], *end = digits;
    if (!names->offset) {
        end = names->number ? csaw__put_signed(end, names->number[v]) : csaw__put_number(end, v);
        return csaw__output_put(output, digits, (uint64_t)(end - digits));
    }
    const uint64_t bytes = names->offset[v + 1] - names->offset[v];
    const char *text = names->text + names->offset[v];
    for (uint64_t i = 0, length; i < bytes; i += length) {
        length = character((const unsigned char *)text + i, bytes - i);
        CSAW_REQUIRE(length, CSAW_EUNSUPPORTED,
                     "%s: the name of vertex %u is not text that XML can hold (UTF-8 without control characters); "
                     "rename it, or write text or npz",
                     csaw__output_path(output), v);
        if (strchr("<>&\"\t\n\r", text[i])) {
            const int used = snprintf(digits, sizeof digits, "&#%d;", text[i]);
            CSAW_TRY(csaw__output_put(output, digits, (uint64_t)used));
        } else {
            CSAW_TRY(csaw__output_put(output, text + i, length));
        }
    }
    return CSAW_OK;
}

static csaw_status put_key(const char *name, const char *type, csaw__output *output) {
    char piece[PIECE];
    snprintf(piece, sizeof piece, "  <key id=\"%s\" for=\"edge\" attr.name=\"%s\" attr.type=\"%s\"/>\n", name, name,
             type);
    return put_text(piece, output);
}

csaw_status csaw__graphml_begin(const csaw_graph *graph, bool sampled, csaw__output *output) {
    CSAW_TRY(put_text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
                      output));
    CSAW_TRY(put_key("edge", "long", output));
    if (sampled) CSAW_TRY(put_key("instance", "long", output));
    if (sampled) CSAW_TRY(put_key("depth", "long", output));
    if (graph->csr.weight) CSAW_TRY(put_key("weight", "float", output));
    if (graph->csr.type) CSAW_TRY(put_key("type", "long", output));
    if (graph->csr.time) CSAW_TRY(put_key("time", "long", output));
    return CSAW_OK;
}

csaw_status csaw__graphml_graph(uint64_t number, csaw__output *output) {
    char piece[PIECE];
    snprintf(piece, sizeof piece, "  <graph id=\"g%llu\" edgedefault=\"directed\">\n", (unsigned long long)number);
    return put_text(piece, output);
}

csaw_status csaw__graphml_node(const csaw_graph *graph, csaw_vertex v, csaw__output *output) {
    CSAW_TRY(put_text("    <node id=\"", output));
    CSAW_TRY(put_name(graph, v, output));
    return put_text("\"/>\n", output);
}

static csaw_status put_data(const char *key, uint64_t value, csaw__output *output) {
    char piece[PIECE];
    snprintf(piece, sizeof piece, "<data key=\"%s\">%llu</data>", key, (unsigned long long)value);
    return put_text(piece, output);
}

csaw_status csaw__graphml_edge(const csaw_graph *graph, const csaw__graphml_arc *arc, csaw__output *output) {
    const csaw_csr *csr = &graph->csr;
    char piece[PIECE];
    CSAW_TRY(put_text("    <edge source=\"", output));
    CSAW_TRY(put_name(graph, arc->src, output));
    CSAW_TRY(put_text("\" target=\"", output));
    CSAW_TRY(put_name(graph, arc->dst, output));
    CSAW_TRY(put_text("\">", output));
    CSAW_TRY(put_data("edge", arc->edge, output));
    if (arc->sampled) CSAW_TRY(put_data("instance", arc->instance, output));
    if (arc->sampled) CSAW_TRY(put_data("depth", arc->depth, output));
    if (csr->weight) {
        CSAW_TRY(put_text("<data key=\"weight\">", output));
        *csaw__put_weight(piece, csr->weight[arc->edge]) = 0;
        CSAW_TRY(put_text(piece, output));
        CSAW_TRY(put_text("</data>", output));
    }
    if (csr->type) CSAW_TRY(put_data("type", csr->type[arc->edge], output));
    if (csr->time) {
        CSAW_TRY(put_text("<data key=\"time\">", output));
        *csaw__put_signed(piece, csr->time[arc->edge]) = 0;
        CSAW_TRY(put_text(piece, output));
        CSAW_TRY(put_text("</data>", output));
    }
    return put_text("</edge>\n", output);
}

csaw_status csaw__graphml_graph_end(csaw__output *output) { return put_text("  </graph>\n", output); }

csaw_status csaw__graphml_end(csaw__output *output) { return put_text("</graphml>\n", output); }
