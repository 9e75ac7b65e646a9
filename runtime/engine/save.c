/* SPDX-License-Identifier: MIT */
/* runtime/engine/save.c - formats of samples and subgraphs by name, the heading of an edge list, and the matrix of
 * scipy.sparse. */
#include "runtime/engine/save.h"

#include "runtime/base/memory.h"
#include "runtime/base/npz_write.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"text", "npz", "graphml", "csaw", NULL};

static bool ends_in(const char *text, size_t length, const char *suffix) {
    const size_t tail = strlen(suffix);
    return length > tail && strncmp(text + length - tail, suffix, tail) == 0;
}

csaw_status csaw__save_kind(const csaw_save_options *options, const char *path, enum csaw__save_kind *kind,
                            bool *gzip) {
    CSAW_REQUIRE(path, CSAW_EINVAL, "the path to write to is NULL; pass a name, or \"-\" for standard output");
    size_t length = strlen(path);
    *gzip = ends_in(path, length, ".gz");
    if (*gzip) length -= 3;
    *kind = ends_in(path, length, ".npz")       ? CSAW__SAVE_NPZ
            : ends_in(path, length, ".graphml") ? CSAW__SAVE_GRAPHML
            : ends_in(path, length, ".csaw")    ? CSAW__SAVE_CSAW
                                                : CSAW__SAVE_TEXT;
    if (options->format) {
        int i = 0;
        while (names[i] && strcmp(names[i], options->format) != 0) i++;
        CSAW_REQUIRE(names[i], CSAW_EINVAL, "samples cannot be written as '%s'; give text, npz, graphml or csaw",
                     options->format);
        *kind = (enum csaw__save_kind)i;
    }
    CSAW_REQUIRE(!*gzip || *kind == CSAW__SAVE_TEXT || *kind == CSAW__SAVE_GRAPHML, CSAW_EINVAL,
                 "%s: %s files are not compressed; leave .gz off the name", path, names[*kind]);
    return CSAW_OK;
}

csaw_status csaw__save_heading(const csaw_graph *graph, const char *what, const char *list, csaw__output *output) {
    char heading[160];
    const int length = snprintf(heading, sizeof heading, "# csaw %s: columns %s%s%s%s\n", what, list,
                                graph && graph->csr.weight ? ",weight" : "", graph && graph->csr.type ? ",type" : "",
                                graph && graph->csr.time ? ",time" : "");
    return csaw__output_put(output, heading, (uint64_t)length);
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ORDER ">"
#else
#define ORDER "<"
#endif

csaw_status csaw__save_matrix(const csaw_graph *graph, const csaw__matrix *m, csaw__output *output) {
    const uint64_t num_edges = m->rowptr[m->count];
    const int64_t shape[2] = {(int64_t)m->count, (int64_t)m->count};
    float *weight = NULL;
    CSAW_TRY(csaw__alloc(&weight, num_edges, "the values of a matrix"));
    for (uint64_t k = 0; k < num_edges; k++) weight[k] = graph->csr.weight ? graph->csr.weight[m->edge[k]] : 1;
    const csaw__npz_array arrays[] = {
        {"indices", ORDER "i8", num_edges, 8, false, m->column},
        {"indptr", ORDER "i8", m->count + 1, 8, false, m->rowptr},
        {"format", "|S3", 1, 3, true, "csr"},
        {"shape", ORDER "i8", 2, 8, false, shape},
        {"data", ORDER "f4", num_edges, 4, false, weight},
        {"vertex", ORDER "u4", m->count, 4, false, m->vertex},
        {"vertex_offset", ORDER "i8", m->num_offsets, 8, false, m->offset},
        {"edge", ORDER "i8", num_edges, 8, false, m->edge},
    };
    const csaw_status status = csaw__npz_put(arrays, m->keep ? 8 : 5, output);
    csaw__free(weight);
    return status;
}
