/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_blocks.cu - blocks of samples made on the GPU from arcs there, with the bits of blocks.c. The
 * method of numbering stands in device_blocks.cuh. Where the picks of a depth stand by the number of their src, as
 * those of neighbour samplers do, they are a CSR as they are; others are sorted by it, stably. */
#include "runtime/engine/device_blocks.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "runtime/base/device_copy.h"
#include "runtime/engine/blocks.h"
#include "runtime/engine/device_few.cuh"

namespace {

const uint64_t most_places = (uint64_t)1 << 30;

/* What is needed until the blocks are there; device memory. */
struct making {
    csaw__device *device;
    csaw_blocks *blocks;
    uint64_t num_arcs, cells;
    csaw__visits visits;
    array<char> arcs;                             /* of walks */
    array<uint64_t> sizes, rows, row, row_sorted; /* sizes: as csaw_blocks has them */
    array<unsigned long long> key;                /* [cells]; behind it the first of each */
    array<uint32_t> is_first, rank, arc, arc_sorted;
    array<csaw_vertex> src, dst;
};

template <typename... PARAMETERS, typename... ARGUMENTS>
csaw_status launch(const making *m, uint64_t threads, void (*kernel)(PARAMETERS...), ARGUMENTS... arguments) {
    return launch_over(m->device, threads, kernel, arguments...);
}

/* Walks followed no more than an arc a step: small beside what follows. All arrays of arcs stand in one block. Not by
 * csaw__device_put(): another thread may draw meanwhile (csaw_sample_each). */
csaw_status upload_walks(making *m, csaw_samples *samples) {
    csaw_arcs host;
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, &host));
    const uint64_t instances = host.num_instances, arcs = host.offset[instances], seeds = host.seed_offset[instances];
    const uint64_t bytes = csaw__arcs_bytes(instances, arcs, seeds);
    CSAW_TRY(m->arcs.take(m->device, bytes, "arcs of walks"));
    CSAW_CUDA(csaw__copy_async(m->arcs.get(), host.offset, bytes, cudaMemcpyHostToDevice, m->device->stream));
    m->visits.arcs = csaw__arcs_in(m->arcs.get(), CSAW_DEVICE, instances, arcs);
    m->visits.seeds = seeds;
    m->num_arcs = arcs;
    return CSAW_OK;
}

csaw_status find_arcs(making *m, csaw_samples *samples) {
    uint64_t count[2];
    if (!samples->is_sample) return upload_walks(m, samples);
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_DEVICE, &m->visits.arcs));
    CSAW_TRY(csaw__device_count_arcs(samples, count));
    m->num_arcs = count[0];
    m->visits.seeds = count[1];
    return CSAW_OK;
}

csaw_status take_memory(making *m) {
    csaw__visits *const v = &m->visits;
    const uint64_t instances = v->arcs.num_instances, blocks = instances * v->depths;
    CSAW_REQUIRE(
        v->seeds <= most_places && m->num_arcs <= (most_places - v->seeds) / 2, CSAW_EINVAL,
        "blocks in device memory of %llu arcs and %llu seeds; both ends of arcs and seeds are 2^30 at most: take "
        "fewer instances at a time (csaw_sample_each), or make blocks in host memory",
        (unsigned long long)m->num_arcs, (unsigned long long)v->seeds);
    v->places = v->seeds + 2 * m->num_arcs;
    for (m->cells = 16; m->cells < 2 * v->places;) m->cells *= 2;
    v->mask = (uint32_t)(m->cells - 1);
    CSAW_TRY(m->sizes.take(m->device, csaw__blocks_words(instances, v->depths), "the sizes of blocks"));
    CSAW_TRY(m->rows.take(m->device, blocks + 1, "the sizes of blocks"));
    CSAW_TRY(m->key.take(m->device, m->cells + m->cells / 2, "new numbers of vertices"));
    CSAW_TRY(m->is_first.take(m->device, v->places + 1, "first visits"));
    CSAW_TRY(m->rank.take(m->device, v->places + 1, "first visits"));
    CSAW_TRY(m->src.take(m->device, m->num_arcs, "new numbers of vertices"));
    CSAW_TRY(m->dst.take(m->device, m->num_arcs, "new numbers of vertices"));
    v->visited = m->sizes.get(), v->row_offset = v->visited + instances + blocks;
    v->begin = v->row_offset + blocks + 1, v->unordered = v->begin + blocks + 1;
    v->rows = m->rows.get(), v->key = m->key.get(), v->first = (uint32_t *)(v->key + m->cells);
    v->is_first = m->is_first.get(), v->rank = m->rank.get(), v->src = m->src.get(), v->dst = m->dst.get();
    return CSAW_OK;
}

/* Numbers of the ends of all arcs, and how many vertices were visited before each depth's. */
csaw_status number_vertices(making *m) {
    const csaw__visits v = m->visits;
    const uint64_t items = v.seeds + m->num_arcs, instances = v.arcs.num_instances;
    CSAW_TRY(m->key.fill(0xff, m->cells + m->cells / 2));
    CSAW_CUDA(cudaMemsetAsync(v.unordered, 0, sizeof *v.unordered, m->device->stream));
    CSAW_TRY(launch(m, instances * v.depths + 1, csaw__blocks_begin_of, v));
    CSAW_TRY(launch(m, items, csaw__blocks_visit, v, items));
    CSAW_TRY(launch(m, items ? items : 1, csaw__blocks_firsts, v, items));
    CSAW_TRY(few_sums(m->device, m->is_first.get(), m->rank.get(), v.places + 1));
    CSAW_TRY(launch(m, m->num_arcs, csaw__blocks_number, v, m->num_arcs));
    CSAW_TRY(launch(m, instances ? instances * (v.depths + 1ull) : 1, csaw__blocks_count, v));
    return few_sums(m->device, v.rows, v.row_offset, instances * v.depths + 1);
}

/* The sizes of all blocks, on the host; waits for them. */
csaw_status find_sizes(making *m, bool *ordered) {
    csaw_blocks *const b = m->blocks;
    CSAW_TRY(read(m->device, m->sizes.get(), b->visited, csaw__blocks_words(b->num_instances, b->depth)));
    for (uint64_t i = 0; i < b->num_instances; i++)
        b->vertex_offset[i + 1] = b->vertex_offset[i] + b->visited[i * (b->depth + 1ull) + b->depth];
    *ordered = !*b->unordered;
    return CSAW_OK;
}

/* One block of memory for all arrays of the blocks. */
csaw_status take_blocks(making *m) {
    csaw_blocks *const b = m->blocks;
    const uint64_t arcs = m->num_arcs, rows = b->row_offset[b->num_instances * b->depth];
    const uint64_t vertices = b->vertex_offset[b->num_instances];
    const uint64_t bytes = arcs * sizeof *b->edge + rows * sizeof *b->rowptr + arcs * sizeof *b->col;
    char *memory = nullptr;
    CSAW_TRY(csaw__device_alloc(m->device, (void **)&memory, bytes + vertices * sizeof *b->vertex, "blocks"));
    b->device = m->device;
    b->device->references++;
    b->edge = (csaw_edge *)memory;
    b->rowptr = (uint64_t *)(b->edge + arcs);
    b->col = (csaw_vertex *)(b->rowptr + rows);
    b->vertex = b->col + arcs;
    return CSAW_OK;
}

/* Arcs by row, to row_sorted and arc_sorted. */
csaw_status sort_by_row(making *m) {
    array<char> room;
    size_t bytes = 0;
    int bits = 1;
    while (m->blocks->row_offset[m->blocks->num_instances * m->blocks->depth] >> bits) bits++;
    const auto sort = [&](void *memory) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, m->row.get(), m->row_sorted.get(), m->arc.get(),
                                               m->arc_sorted.get(), (int64_t)m->num_arcs, 0, bits, m->device->stream);
    };
    CSAW_TRY(m->row_sorted.take(m->device, m->num_arcs, "arcs by row"));
    CSAW_TRY(m->arc_sorted.take(m->device, m->num_arcs, "arcs by row"));
    CSAW_CUDA(sort(nullptr));
    CSAW_TRY(room.take(m->device, bytes, "a sort of arcs"));
    CSAW_CUDA(sort(room.get()));
    m->row.swap(m->row_sorted);
    m->arc.swap(m->arc_sorted);
    return CSAW_OK;
}

csaw_status fill(making *m, bool ordered) {
    csaw_blocks *const b = m->blocks;
    const uint64_t arcs = m->num_arcs, rows = b->row_offset[b->num_instances * b->depth];
    CSAW_TRY(m->row.take(m->device, arcs, "rows of arcs"));
    CSAW_TRY(m->arc.take(m->device, arcs, "rows of arcs"));
    CSAW_TRY(launch(m, arcs, csaw__blocks_rows, m->visits, arcs, m->row.get(), m->arc.get()));
    if (!ordered) CSAW_TRY(sort_by_row(m));
    CSAW_TRY(launch(m, m->cells, csaw__blocks_list, m->visits, b->vertex));
    CSAW_TRY(launch(m, arcs, csaw__blocks_fill, m->visits, arcs, m->arc.get(), b->col, b->edge));
    return launch(m, rows, csaw__blocks_rowptr, m->visits, arcs, m->row.get(), rows, b->rowptr);
}

} // namespace

csaw_status csaw__device_blocks(csaw_samples *samples, csaw_blocks *blocks) {
    csaw__on_device here(samples->device->ordinal);
    making m = {};
    bool ordered = false;
    m.device = samples->device;
    m.blocks = blocks;
    m.visits.depths = blocks->depth;
    CSAW_TRY(find_arcs(&m, samples));
    CSAW_TRY(take_memory(&m));
    CSAW_TRY(number_vertices(&m));
    CSAW_TRY(find_sizes(&m, &ordered));
    CSAW_TRY(take_blocks(&m));
    return fill(&m, ordered);
}

csaw_status csaw__device_blocks_wait(const csaw_blocks *blocks) {
    CSAW_CUDA(cudaStreamSynchronize(blocks->device->stream));
    return CSAW_OK;
}

csaw_status csaw__device_blocks_begin(const csaw_blocks *blocks, uint64_t count, csaw_vertex *to) {
    return read(blocks->device, blocks->vertex, to, count);
}

void csaw__device_blocks_free(csaw_blocks *blocks) {
    csaw__device *const device = blocks->device;
    if (!device) return;
    csaw__on_device here(device->ordinal);
    csaw__device_free(device, blocks->edge);
    csaw__device_close(device);
}
