/* SPDX-License-Identifier: MIT */
/* runtime/engine/arc_arrays.c - the arrays of sampled arcs, and those kept for the next samples. */
#include <stdatomic.h>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/engine/samples.h"

/* One block of memory holds all arrays of a csaw_arcs, the widest entries first; offset is where it begins. */
struct csaw__spare {
    atomic_int owners;
    _Atomic(void *) block; /* begins with its size; NULL = none */
};

static const uint64_t header = 64; /* bytes in front of the arrays: the block's size */

csaw_status csaw__spare_create(csaw__spare **out) {
    CSAW_TRY(csaw__alloc_zero(out, 1, "memory kept for samples"));
    atomic_init(&(*out)->owners, 1);
    atomic_init(&(*out)->block, NULL);
    return CSAW_OK;
}

csaw__spare *csaw__spare_share(csaw__spare *spare) {
    if (spare) atomic_fetch_add(&spare->owners, 1);
    return spare;
}

void csaw__spare_release(csaw__spare *spare) {
    if (!spare || atomic_fetch_sub(&spare->owners, 1) > 1) return;
    csaw__free(atomic_load(&spare->block));
    csaw__free(spare);
}

/* A block of at least so many bytes. */
static csaw_status take_block(csaw__spare *spare, uint64_t bytes, char **out) {
    char *block = spare ? atomic_exchange(&spare->block, NULL) : NULL;
    if (!block || *(const uint64_t *)(const void *)block < bytes) {
        csaw__free(block);
        CSAW_TRY(csaw__alloc(&block, bytes, "sampled arcs (csaw_sample_each works in bounded memory)"));
        *(uint64_t *)(void *)block = bytes;
    }
    *out = block;
    return CSAW_OK;
}

csaw_status csaw__arcs_create(csaw__spare *spare, uint64_t instances, uint64_t arcs, uint64_t seeds, csaw_arcs *out) {
    char *block;
    CSAW_TRY(take_block(spare, header + 16 * (instances + 1) + 20 * arcs + 4 * seeds, &block));
    uint64_t *const offset = (uint64_t *)(void *)(block + header), *const seed_offset = offset + instances + 1;
    csaw_edge *const edge = seed_offset + instances + 1;
    csaw_vertex *const src = (csaw_vertex *)(edge + arcs), *const dst = src + arcs;
    *offset = *seed_offset = 0;
    *out = (csaw_arcs){.num_instances = instances,
                       .offset = offset,
                       .src = src,
                       .dst = dst,
                       .edge = edge,
                       .depth = dst + arcs,
                       .seed_offset = seed_offset,
                       .seed = dst + 2 * arcs};
    return CSAW_OK;
}

void csaw__arcs_free(csaw__spare *spare, csaw_arcs *arcs) {
    char *block = arcs->offset ? (char *)(uintptr_t)arcs->offset - header : NULL;
    void *none = NULL;
    *arcs = (csaw_arcs){.space = CSAW_HOST};
    if (spare && block && atomic_compare_exchange_strong(&spare->block, &none, block)) return;
    csaw__free(block);
}
