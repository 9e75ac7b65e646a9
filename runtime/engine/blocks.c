/* SPDX-License-Identifier: MIT */
/* runtime/engine/blocks.c - samples as layered minibatch blocks: vertices numbered by first visit, depth by depth, and
 * the picks of a depth put into the rows of the vertices that were there before, by a stable counting sort. On a GPU:
 * device_blocks.cu.
 *
 * Sources: Hamilton, Ying, Leskovec, NIPS 2017, algorithm 2; Wang et al., "Deep graph library", 2019 (blocks); Fey,
 * Lenssen, "Fast graph representation learning with PyTorch Geometric", 2019. */
#include "runtime/engine/blocks.h"

#include "runtime/base/grow.h"
#include "runtime/engine/relabel.h"

/* Memory of csaw_blocks_create(). */
typedef struct work {
    csaw__relabel map;
    csaw_vertex *src, *dst;      /* numbers of the ends of an instance's arcs */
    uint64_t src_room, dst_room; /* how many they hold; below, how many the arrays of the blocks hold */
    uint64_t vertex_room, row_room;
} work;

/* Numbers the vertices of an instance and says how many there were at each depth. */
static csaw_status number_vertices(csaw_blocks *b, const csaw_arcs *arcs, uint64_t i, work *w) {
    csaw__relabel *const map = &w->map;
    const uint64_t base = b->vertex_offset[i], first = arcs->seed_offset[i], end = arcs->offset[i + 1];
    const uint64_t most = arcs->seed_offset[i + 1] - first + 2 * (end - arcs->offset[i]);
    const uint64_t origin = arcs->offset[i];
    uint64_t *visited = b->visited + i * ((uint64_t)b->depth + 1), at = origin;
    CSAW_TRY(CSAW__GROW(&b->vertex, &w->vertex_room, base + most + 1, "vertices of blocks"));
    CSAW_TRY(CSAW__GROW(&w->src, &w->src_room, end - origin + 1, "arcs of blocks"));
    CSAW_TRY(CSAW__GROW(&w->dst, &w->dst_room, end - origin + 1, "arcs of blocks"));
    CSAW_TRY(csaw__relabel_start(map, most, b->vertex + base));
    for (uint64_t s = first; s < arcs->seed_offset[i + 1]; s++) csaw__relabel_add(map, arcs->seed[s]);
    for (uint32_t d = 0; d < b->depth; d++) {
        const uint64_t begin = at;
        for (; at < end && arcs->depth[at] == d; at++) /* arcs of one vertex stand side by side */
            w->src[at - origin] = at > begin && arcs->src[at] == arcs->src[at - 1]
                                      ? w->src[at - origin - 1]
                                      : csaw__relabel_add(map, arcs->src[at]);
        visited[d] = map->count;
        b->arc_offset[i * b->depth + d] = begin;
        for (uint64_t k = begin; k < at; k++) w->dst[k - origin] = csaw__relabel_add(map, arcs->dst[k]);
    }
    visited[b->depth] = map->count;
    b->arc_offset[(i + 1) * b->depth] = end;
    b->vertex_offset[i + 1] = base + map->count;
    return CSAW_OK;
}

/* A block: arcs begin .. end - 1 of the samples, which keep their places; src, dst: numbers of their ends. Rows begin
 * at `at`. */
static void fill_block(csaw_blocks *b, const csaw_arcs *arcs, uint64_t begin, uint64_t end, uint64_t num_rows,
                       const csaw_vertex *src, const csaw_vertex *dst, uint64_t at) {
    uint64_t *row = b->rowptr + at, sum = 0;
    memset(row, 0, (num_rows + 1) * sizeof *row);
    for (uint64_t k = begin; k < end; k++) row[(uint64_t)src[k - begin] + 1]++;
    for (uint64_t r = 1; r <= num_rows; r++) {
        const uint64_t count = row[r];
        row[r] = sum;
        sum += count;
    }
    for (uint64_t k = begin; k < end; k++) {
        const uint64_t place = begin + row[(uint64_t)src[k - begin] + 1]++;
        b->col[place] = dst[k - begin];
        b->edge[place] = arcs->edge[k];
    }
}

static csaw_status fill(csaw_blocks *b, const csaw_arcs *arcs, work *w) {
    uint64_t rows = 0;
    for (uint64_t i = 0; i < b->num_instances; i++) {
        CSAW_TRY(number_vertices(b, arcs, i, w));
        const uint64_t *visited = b->visited + i * ((uint64_t)b->depth + 1);
        for (uint32_t d = 0; d < b->depth; d++) {
            const uint64_t block = i * b->depth + d, begin = b->arc_offset[block], end = b->arc_offset[block + 1];
            CSAW_TRY(CSAW__GROW(&b->rowptr, &w->row_room, rows + visited[d] + 1, "rows of blocks"));
            const uint64_t behind = begin - arcs->offset[i];
            fill_block(b, arcs, begin, end, visited[d], w->src + behind, w->dst + behind, rows);
            b->row_offset[block] = rows;
            rows += visited[d] + 1;
        }
    }
    b->row_offset[b->num_instances * b->depth] = rows;
    return CSAW_OK;
}

static csaw_status begin_blocks(csaw_space space, uint64_t instances, uint32_t depth, csaw_blocks **out) {
    csaw_blocks *b = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&b, 1, "blocks"));
    b->space = space;
    b->num_instances = instances;
    b->depth = depth;
    CSAW_TRY_DONE(csaw__alloc_zero(&b->vertex_offset, instances + 1, "blocks"));
    CSAW_TRY_DONE(csaw__alloc(&b->visited, csaw__blocks_words(instances, depth), "blocks"));
    b->row_offset = b->visited + instances * (depth + (uint64_t)1);
    b->arc_offset = b->row_offset + instances * depth + 1;
    b->unordered = b->arc_offset + instances * depth + 1;
    *out = b;
    return CSAW_OK;
done:
    csaw_blocks_free(b);
    return status;
}

static csaw_status blocks_on_host(csaw_samples *samples, csaw_blocks **out) {
    csaw_blocks *b = NULL;
    csaw_arcs arcs;
    work w = {.src = NULL};
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    const uint64_t num_arcs = arcs.offset[arcs.num_instances];
    CSAW_TRY(begin_blocks(CSAW_HOST, arcs.num_instances, samples->length, &b));
    CSAW_TRY_DONE(csaw__alloc(&b->col, num_arcs, "arcs of blocks"));
    CSAW_TRY_DONE(csaw__alloc(&b->edge, num_arcs, "arcs of blocks"));
    CSAW_TRY_DONE(fill(b, &arcs, &w));
    *out = b;
    b = NULL;
done:
    csaw_blocks_free(b);
    csaw__free(w.map.slot);
    csaw__free(w.src);
    csaw__free(w.dst);
    return status;
}

static csaw_status blocks_on_device(csaw_samples *samples, csaw_blocks **out) {
    csaw_blocks *b = NULL;
    CSAW_REQUIRE(samples->device && !samples->share, CSAW_EUNSUPPORTED,
                 "these samples were not made by one GPU; blocks in device memory need a plan with device 'cuda:N'");
    CSAW_TRY(begin_blocks(CSAW_DEVICE, samples->num_walks, samples->length, &b));
    const csaw_status status = csaw__device_blocks(samples, b);
    if (status == CSAW_OK)
        *out = b;
    else
        csaw_blocks_free(b);
    return status;
}

csaw_status csaw__blocks_make(csaw_samples *samples, csaw_space space, csaw_blocks **out) {
    return space == CSAW_HOST ? blocks_on_host(samples, out) : blocks_on_device(samples, out);
}

csaw_status csaw_blocks_create_in(csaw_samples *samples, csaw_space space, csaw_blocks **out) {
    csaw_blocks *b = NULL;
    CSAW_REQUIRE(samples && out, CSAW_EINVAL,
                 "csaw_blocks_create needs samples and a place for the blocks; one is NULL");
    CSAW_REQUIRE(space == CSAW_HOST || space == CSAW_DEVICE, CSAW_EINVAL, "space is %d; it is CSAW_HOST or CSAW_DEVICE",
                 (int)space);
    CSAW_TRY(csaw__blocks_make(samples, space, &b));
    const csaw_status status = space == CSAW_DEVICE ? csaw__device_blocks_wait(b) : CSAW_OK;
    if (status == CSAW_OK)
        *out = b;
    else
        csaw_blocks_free(b);
    return status;
}

csaw_status csaw_blocks_create(csaw_samples *samples, csaw_blocks **out) {
    return csaw_blocks_create_in(samples, CSAW_HOST, out);
}

uint64_t csaw_blocks_instances(const csaw_blocks *blocks) { return blocks->num_instances; }
uint32_t csaw_blocks_depth(const csaw_blocks *blocks) { return blocks->depth; }

csaw_status csaw_blocks_look(const csaw_blocks *b, uint64_t place, uint32_t depth, csaw_block_view *out) {
    CSAW_REQUIRE(b && out, CSAW_EINVAL, "csaw_blocks_look needs blocks and a place for the view; one is NULL");
    CSAW_REQUIRE(place < b->num_instances && depth < b->depth, CSAW_EINVAL,
                 "there is no block of instance %llu, depth %u: there are %llu instances of depth %u, both from 0",
                 (unsigned long long)place, depth, (unsigned long long)b->num_instances, b->depth);
    const uint64_t *visited = b->visited + place * ((uint64_t)b->depth + 1) + depth;
    const uint64_t block = place * b->depth + depth;
    *out = (csaw_block_view){.space = b->space,
                             .num_dst = visited[0],
                             .num_src = visited[1],
                             .num_edges = b->arc_offset[block + 1] - b->arc_offset[block],
                             .vertex = b->vertex + b->vertex_offset[place],
                             .rowptr = b->rowptr + b->row_offset[block],
                             .col = b->col + b->arc_offset[block],
                             .edge = b->edge + b->arc_offset[block]};
    return CSAW_OK;
}

void csaw_blocks_free(csaw_blocks *b) {
    if (!b) return;
    csaw__free(b->vertex_offset);
    csaw__free(b->visited);
    if (b->space == CSAW_DEVICE) {
        csaw__device_blocks_free(b);
    } else {
        csaw__free(b->vertex);
        csaw__free(b->rowptr);
        csaw__free(b->col);
        csaw__free(b->edge);
    }
    csaw__free(b);
}
