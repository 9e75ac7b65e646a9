/* SPDX-License-Identifier: MIT */
/* runtime/engine/arc_arrays.c - the arrays of sampled arcs. One block of memory holds them all, the widest entries
 * first; offset is where it begins. */
#include "runtime/base/status.h"
#include "runtime/engine/samples.h"

uint64_t csaw__arcs_bytes(uint64_t instances, uint64_t arcs, uint64_t seeds) {
    return 16 * (instances + 1) + 20 * arcs + 4 * seeds;
}

csaw_arcs csaw__arcs_in(void *block, csaw_space space, uint64_t instances, uint64_t arcs) {
    uint64_t *const offset = block, *const seed_offset = offset + instances + 1;
    csaw_edge *const edge = seed_offset + instances + 1;
    csaw_vertex *const src = (csaw_vertex *)(edge + arcs), *const dst = src + arcs;
    return (csaw_arcs){.space = space,
                       .num_instances = instances,
                       .offset = offset,
                       .src = src,
                       .dst = dst,
                       .edge = edge,
                       .depth = dst + arcs,
                       .seed_offset = seed_offset,
                       .seed = dst + 2 * arcs};
}

csaw_status csaw__arcs_create(csaw__spare *spare, uint64_t instances, uint64_t arcs, uint64_t seeds, csaw_arcs *out) {
    void *block;
    CSAW_TRY(csaw__block_take(spare, csaw__arcs_bytes(instances, arcs, seeds),
                              "sampled arcs (csaw_sample_each works in bounded memory)", &block));
    *out = csaw__arcs_in(block, CSAW_HOST, instances, arcs);
    *(uint64_t *)(uintptr_t)out->offset = *(uint64_t *)(uintptr_t)out->seed_offset = 0;
    return CSAW_OK;
}

void csaw__arcs_free(csaw__spare *spare, csaw_arcs *arcs) {
    csaw__block_give(spare, (void *)(uintptr_t)arcs->offset);
    *arcs = (csaw_arcs){.space = CSAW_HOST};
}
