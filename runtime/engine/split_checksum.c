/* SPDX-License-Identifier: MIT */
/* runtime/engine/split_checksum.c - the checksum of a graph of whose arrays of arcs each rank has its range: that of
 * one process, which every rank comes to. Blocks that lie within a range its rank hashes; those that ranges meet in are
 * brought together, piece by piece. */
#include "runtime/engine/load_split.h"

#include "runtime/base/checksum.h"
#include "runtime/base/csaw_file.h"
#include "runtime/base/csaw_layout.h"
#include "runtime/base/memory.h"

#include <string.h>

enum { BLOCK = CSAW__CHECKSUM_BLOCK };

typedef struct section {
    const unsigned char *data; /* as of the whole */
    uint64_t width, bytes;
    const csaw_edge *rowptr;
    const csaw__held *held;
} section;

static uint64_t begin_of(const section *s, uint32_t rank) { return s->rowptr[s->held->first[rank]] * s->width; }

/* The block's bytes, of all ranks that have some; every rank calls. */
static csaw_status gather_block(csaw__ranks *ranks, const section *s, uint64_t block, unsigned char *bytes) {
    const uint64_t begin = block * BLOCK, end = s->bytes - begin < BLOCK ? s->bytes : begin + BLOCK;
    for (uint32_t r = 0; r < s->held->ranks; r++) {
        const uint64_t from = begin_of(s, r) > begin ? begin_of(s, r) : begin,
                       to = begin_of(s, r + 1) < end ? begin_of(s, r + 1) : end;
        if (from >= to) continue;
        if (r == s->held->rank) memcpy(bytes + (from - begin), s->data + from, to - from);
        CSAW_TRY(csaw__ranks_broadcast(ranks, r, bytes + (from - begin), to - from));
    }
    return CSAW_OK;
}

/* hash: [blocks], zeros before. */
static csaw_status hash_blocks(csaw__ranks *ranks, const section *s, uint64_t *hash, unsigned char *bytes) {
    const uint64_t blocks = (s->bytes + BLOCK - 1) / BLOCK;
    const uint32_t rank = s->held->rank;
    for (uint64_t b = 0, r = 0; b < blocks; b++) {
        const uint64_t begin = b * BLOCK, end = s->bytes - begin < BLOCK ? s->bytes : begin + BLOCK;
        while (begin_of(s, (uint32_t)r + 1) <= begin) r++; /* whose the first byte is */
        if (begin_of(s, (uint32_t)r + 1) >= end) {
            if (r == rank) hash[b] = csaw__xxh64(s->data + begin, end - begin);
            continue;
        }
        CSAW_TRY(gather_block(ranks, s, b, bytes));
        if (rank == 0) hash[b] = csaw__xxh64(bytes, end - begin);
    }
    return csaw__ranks_sum(ranks, hash, blocks);
}

static csaw_status sum_section(csaw__ranks *ranks, const section *s, uint64_t *out) {
    const uint64_t blocks = (s->bytes + BLOCK - 1) / BLOCK;
    uint64_t *hash = NULL;
    unsigned char *bytes = NULL;
    csaw_status status = csaw__alloc_zero(&hash, blocks, "the checksum of a graph");
    if (status == CSAW_OK) status = csaw__alloc(&bytes, BLOCK, "the checksum of a graph");
    status = csaw__ranks_meet(ranks, CSAW__AT_LOAD, status, NULL);
    if (status == CSAW_OK) status = hash_blocks(ranks, s, hash, bytes);
    if (status == CSAW_OK) *out = csaw__checksum_fold(s->bytes, hash, blocks);
    csaw__free(hash);
    csaw__free(bytes);
    return status;
}

static bool is_of_arcs(uint32_t kind) {
    return kind == CSAW__SECTION_COL || kind == CSAW__SECTION_WEIGHT || kind == CSAW__SECTION_TYPE ||
           kind == CSAW__SECTION_TIME;
}

csaw_status csaw__split_checksum(csaw__ranks *ranks, const csaw_graph *graph, uint64_t *out) {
    csaw__section sections[CSAW__FILE_SECTIONS];
    uint64_t checksums[CSAW__FILE_SECTIONS];
    const uint32_t count = csaw__graph_sections(graph, sections);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bytes = sections[i].count * sections[i].width;
        const section s = {sections[i].data, sections[i].width, bytes, graph->csr.rowptr, graph->held};
        if (is_of_arcs(sections[i].kind))
            CSAW_TRY(sum_section(ranks, &s, &checksums[i]));
        else
            checksums[i] = csaw__checksum(sections[i].data, bytes);
    }
    *out = csaw__checksum_of_sections(&graph->csr, sections, checksums, count);
    return CSAW_OK;
}
