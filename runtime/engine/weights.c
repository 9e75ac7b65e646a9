/* SPDX-License-Identifier: MIT */
/* runtime/engine/weights.c - csaw_plan_weights(): weights of sampled arcs where the block of them is. */
#include <csaw/training.h>

#include "runtime/engine/device_weights.h"

csaw_status csaw_plan_weights(const csaw_plan *plan, const csaw_block_view *block, void *stream, float *out) {
    CSAW_REQUIRE(plan && block, CSAW_EINVAL, "csaw_plan_weights needs a plan and a block of it; one is NULL");
    CSAW_REQUIRE(out || !block->num_edges, CSAW_EINVAL,
                 "out is NULL, but the block has %llu arcs; give a float for each",
                 (unsigned long long)block->num_edges);
    if (block->space == CSAW_HOST) {
        CSAW_REQUIRE(!stream, CSAW_EINVAL,
                     "a stream is given, but the block is in the host's memory, where weights are looked up by the "
                     "CPU; give NULL");
        return csaw_block_weights(plan->graph, block, out);
    }
    CSAW_REQUIRE(
        plan->device, CSAW_EUNSUPPORTED,
        "the block is in the memory of a GPU, but the plan is not of one GPU whose memory holds the graph; give "
        "the plan that the block was made by");
    return csaw__device_weights(plan, block, stream, out);
}
