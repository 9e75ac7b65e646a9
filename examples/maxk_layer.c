/* SPDX-License-Identifier: MIT */
/* examples/maxk_layer.c - see maxk_layer.h. The products with W are plain loops; only the entries that MaxK kept have a
 * gradient, so those of the backward pass run over the k entries of a row and not over its columns. */
#include "maxk_layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

csaw_status maxk_layer_create(const csaw_sparse *a, uint64_t in, uint64_t out, uint64_t k, maxk_layer *layer) {
    const uint64_t n = a->rows;
    if (out > 256) return CSAW_EINVAL;
    maxk_layer made = {.vertices = n, .in = in, .out = out, .k = k, .a = *a};
    made.h = (csaw_cbsr){.rows = n, .cols = out, .k = k};
    made.gradient = made.h;
    made.z = malloc(n * out * sizeof *made.z + 1);
    made.h.values = malloc(n * k * sizeof(float) + 1);
    made.gradient.values = malloc(n * k * sizeof(float) + 1);
    made.h.index = made.gradient.index = malloc(n * k * csaw_cbsr_index_bytes(out) + 1);
    if (!made.z || !made.h.values || !made.gradient.values || !made.h.index) {
        maxk_layer_free(&made);
        return CSAW_ENOMEM;
    }
    *layer = made;
    return CSAW_OK;
}

void maxk_layer_free(maxk_layer *layer) {
    free(layer->z);
    free(layer->h.values);
    free(layer->gradient.values);
    free(layer->h.index);
}

csaw_status maxk_layer_forward(maxk_layer *l, const float *x, float *y) {
    const csaw_dense z = {.rows = l->vertices, .cols = l->out, .data = l->z};
    const csaw_dense result = {.rows = l->vertices, .cols = l->out, .data = y};
    for (uint64_t v = 0; v < l->vertices; v++) {
        float *const row = l->z + v * l->out;
        memcpy(row, l->bias, l->out * sizeof *row);
        for (uint64_t i = 0; i < l->in; i++)
            for (uint64_t c = 0; c < l->out; c++) row[c] += x[v * l->in + i] * l->weight[i * l->out + c];
    }
    const csaw_status status = csaw_maxk(&z, NULL, &l->h);
    return status == CSAW_OK ? csaw_maxk_spmm(&l->a, &l->h, NULL, &result) : status;
}

csaw_status maxk_layer_backward(maxk_layer *l, const float *x, const float *dy, float *dweight, float *dbias,
                                float *dx) {
    const csaw_dense given = {.rows = l->vertices, .cols = l->out, .data = (void *)dy};
    const csaw_status status = csaw_maxk_spmm_backward(&l->a, &given, NULL, &l->gradient);
    if (status != CSAW_OK) return status;
    memset(dweight, 0, l->in * l->out * sizeof *dweight);
    memset(dbias, 0, l->out * sizeof *dbias);
    memset(dx, 0, l->vertices * l->in * sizeof *dx);
    for (uint64_t v = 0; v < l->vertices; v++)
        for (uint64_t t = 0; t < l->k; t++) {
            const uint64_t at = v * l->k + t, c = ((const uint8_t *)l->gradient.index)[at];
            const float slope = ((const float *)l->gradient.values)[at];
            dbias[c] += slope;
            for (uint64_t i = 0; i < l->in; i++) {
                dweight[i * l->out + c] += x[v * l->in + i] * slope;
                dx[v * l->in + i] += slope * l->weight[i * l->out + c];
            }
        }
    return CSAW_OK;
}

static float share(const csaw_csr *graph, maxk_kind kind, float epsilon, csaw_vertex i, csaw_vertex j, bool itself) {
    const float di = (float)(graph->rowptr[i + 1] - graph->rowptr[i] + 1);
    const float dj = (float)(graph->rowptr[j + 1] - graph->rowptr[j] + 1);
    switch (kind) {
    case MAXK_GCN: return 1 / sqrtf(di * dj);
    case MAXK_SAGE_MEAN: return 1 / di;
    default: return itself ? 1 + epsilon : 1;
    }
}

csaw_sparse maxk_matrix(const csaw_csr *graph, maxk_kind kind, float epsilon, uint64_t *rowptr, csaw_vertex *col,
                        float *weight) {
    const uint64_t n = graph->num_vertices;
    uint64_t to = 0;
    rowptr[0] = 0;
    for (csaw_vertex i = 0; i < n; i++) {
        for (csaw_edge e = graph->rowptr[i]; e < graph->rowptr[i + 1]; e++, to++) {
            col[to] = graph->col[e];
            weight[to] = share(graph, kind, epsilon, i, graph->col[e], false);
        }
        col[to] = i;
        weight[to++] = share(graph, kind, epsilon, i, i, true);
        rowptr[i + 1] = to;
    }
    return (csaw_sparse){.rows = n, .cols = n, .num_edges = to, .rowptr = rowptr, .col = col, .weight = weight};
}
