/* SPDX-License-Identifier: MIT */
/* runtime/engine/save.h - what the writers of samples and of subgraphs share. */
#ifndef CSAW_ENGINE_SAVE_H
#define CSAW_ENGINE_SAVE_H

#include "runtime/base/graph.h"
#include "runtime/base/output_file.h"

#include <locale.h>

enum csaw__save_kind { CSAW__SAVE_TEXT, CSAW__SAVE_NPZ, CSAW__SAVE_GRAPHML, CSAW__SAVE_CSAW };

/* From the options, or from path: .npz, .graphml, .csaw; a .gz behind means compressed, else text. */
csaw_status csaw__save_kind(const csaw_save_options *options, const char *path, enum csaw__save_kind *kind, bool *gzip);

/* Numbers are written in the C locale: from begin to end, on this thread. */
typedef struct csaw__plain_locale {
    locale_t plain, before;
} csaw__plain_locale;
static inline csaw__plain_locale csaw__plain_begin(void) {
    csaw__plain_locale out = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    out.before = uselocale(out.plain);
    return out;
}
static inline void csaw__plain_end(csaw__plain_locale locale) {
    uselocale(locale.before);
    if (locale.plain) freelocale(locale.plain);
}

/* "# csaw WHAT: columns LIST" and, if graph, its weight, type, time. */
csaw_status csaw__save_heading(const csaw_graph *graph, const char *what, const char *list, csaw__output *output);

/* A square matrix of the arcs, count rows, as scipy.sparse.save_npz writes it. column: [rowptr[count]] */
typedef struct csaw__matrix {
    uint64_t count;
    const uint64_t *rowptr; /* [count + 1] */
    const int64_t *column;
    const csaw_edge *edge;     /* ids in the graph, for its weights */
    bool keep;                 /* edge, and these: */
    const csaw_vertex *vertex; /* [count] */
    const uint64_t *offset;    /* [num_offsets] */
    uint64_t num_offsets;
} csaw__matrix;
csaw_status csaw__save_matrix(const csaw_graph *graph, const csaw__matrix *matrix, csaw__output *output);

/* GraphML, piece by piece. sampled: arcs have an instance and a depth. */
csaw_status csaw__graphml_begin(const csaw_graph *graph, bool sampled, csaw__output *output);
csaw_status csaw__graphml_graph(uint64_t number, csaw__output *output);
csaw_status csaw__graphml_node(const csaw_graph *graph, csaw_vertex v, csaw__output *output);
typedef struct csaw__graphml_arc {
    csaw_vertex src, dst;
    csaw_edge edge;
    bool sampled;
    uint64_t instance;
    uint32_t depth;
} csaw__graphml_arc;
csaw_status csaw__graphml_edge(const csaw_graph *graph, const csaw__graphml_arc *arc, csaw__output *output);
csaw_status csaw__graphml_graph_end(csaw__output *output);
csaw_status csaw__graphml_end(csaw__output *output);

#endif
