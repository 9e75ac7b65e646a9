/* SPDX-License-Identifier: MIT */
/* examples/maxk_layer.h - a layer of a graph neural network with MaxK: y = A MaxK(x W + b), forward and backward.
 *
 * GCN, GraphSAGE's mean and GIN are this layer with different matrices A, made of one graph by maxk_matrix(). Source:
 * Peng et al., MaxK-GNN, ASPLOS 2024, figure 5 and equation 3. */
#ifndef MAXK_LAYER_H
#define MAXK_LAYER_H

#include <csaw/maxk.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum maxk_kind {
    MAXK_GCN,       /* each neighbour and the vertex itself by 1 / sqrt(d_i d_j), d = edges + 1 */
    MAXK_SAGE_MEAN, /* the mean of the neighbours and the vertex itself */
    MAXK_GIN        /* the sum of the neighbours and 1 + epsilon times the vertex itself */
} maxk_kind;

typedef struct maxk_layer {
    uint64_t vertices, in, out, k; /* out at most 256: one byte an index */
    csaw_sparse a;                 /* [vertices, vertices] */
    const float *weight;           /* [in, out] */
    const float *bias;             /* [out] */
    float *z;                      /* [vertices, out]: x W + b */
    csaw_cbsr h, gradient;         /* MaxK(z), and its gradient with the same index */
} maxk_layer;

/* Room for z, h and gradient; weight and bias are to be set, and borrowed. CSAW_EINVAL: out is above 256. Undo with
 * maxk_layer_free(). */
csaw_status maxk_layer_create(const csaw_sparse *a, uint64_t in, uint64_t out, uint64_t k, maxk_layer *layer);
void maxk_layer_free(maxk_layer *layer);

/* x: [vertices, in]; y: [vertices, out]. */
csaw_status maxk_layer_forward(maxk_layer *layer, const float *x, float *y);
/* After forward with the same x. dy: [vertices, out]. dweight [in, out], dbias [out], dx [vertices, in] are written. */
csaw_status maxk_layer_backward(maxk_layer *layer, const float *x, const float *dy, float *dweight, float *dbias,
                                float *dx);

/* The matrix of that kind: the rows of graph, each with its vertex added at the end. rowptr [n + 1], col and weight
 * [num_edges + n] are the caller's. epsilon: of GIN. */
csaw_sparse maxk_matrix(const csaw_csr *graph, maxk_kind kind, float epsilon, uint64_t *rowptr, csaw_vertex *col,
                        float *weight);

#ifdef __cplusplus
}
#endif
#endif
