/* SPDX-License-Identifier: MIT */
/* runtime/base/generate_weights.c - weights by csaw/philox.h: purpose 6, instance = smaller id, vertex = larger id. */
#include "runtime/base/generate_weights.h"

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <csaw/philox.h>

csaw_status csaw__generate_weights(uint64_t seed, csaw_csr *csr) {
    float *weight = NULL;
    csaw__watch *const watch = csaw__watching();
    CSAW_TRY(csaw__alloc(&weight, csr->num_edges, "the weights of a graph"));
    CSAW__OMP(parallel for schedule(dynamic, 1024))
    for (uint64_t u = 0; u < csr->num_vertices; u++) {
        if (csaw__stopped(watch)) continue;
        for (csaw_edge e = csr->rowptr[u]; e < csr->rowptr[u + 1]; e++) {
            csaw_vertex v = csr->col[e], smaller = u < v ? (csaw_vertex)u : v, larger = u < v ? v : (csaw_vertex)u;
            uint32_t word = csaw_draw(seed, smaller, 0, larger, CSAW_DRAW_RMAT + 2, 0).x[0];
            weight[e] = 1 + (float)(word >> 9) * (1.0f / 2097152.0f);
        }
    }
    csr->weight = weight;
    return csaw__go_on();
}
