/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_weights.cu - see device_weights.h: a thread an arc, from the weights that the engine's walks
 * read. These stay as they are while the plan lives, so that no stream of the plan's is waited for.
 *
 * Limit on an H100, a minibatch: a launch, of 3.6 us. */
#include "runtime/engine/device_weights.h"

#include <math.h>

#include "runtime/engine/device_private.h"
#include "spmm/device_gather.h"
#include "spmm/device_memory.cuh"

/* weight, edge, out: [num_edges], [count], [count]; weight NULL = all 1 */
static __global__ void gather_weights(const float *weight, uint64_t num_edges, const csaw_edge *edge, uint64_t count,
                                      float *out) {
    const uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    const csaw_edge e = edge[k];
    out[k] = e >= num_edges ? NAN : weight ? weight[e] : 1.0f;
}

csaw_status csaw__device_weights(const csaw_plan *plan, const csaw_block_view *block, void *stream, float *out) {
    const int ordinal = plan->device->ordinal;
    const uint64_t count = block->num_edges;
    const void *edge, *to;
    place where;
    CSAW_TRY(where.enter(ordinal, stream, nullptr));
    CSAW_TRY(csaw__device_reach(ordinal, block->edge, count * sizeof *block->edge, "the block", &edge));
    CSAW_TRY(csaw__device_reach(ordinal, out, count * sizeof *out, "out", &to));
    CSAW__LAUNCH(where, count, gather_weights, plan->device->rows.weight, plan->graph->csr.num_edges,
                 (const csaw_edge *)edge, count, (float *)to);
    return CSAW_OK;
}
