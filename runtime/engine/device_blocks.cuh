/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_blocks.cuh - kernels of device_blocks.cu.
 *
 * Method: the host numbers vertices by walking through an instance's visits: its seeds; then, depth by depth, the ends
 * of the arcs that were picked there, all src before all dst (blocks.c). Here every visit has its place in that order,
 * and a hash table of (instance, vertex) keeps the lowest place of each by atomicMin, whatever the order in which
 * threads come. A visit that holds its vertex's lowest place is a first; so many firsts before it, so high its number.
 * Nothing depends on timing but the cells of the table, which no result shows.
 *
 * Limit on an H200, 1,024 seeds with fanout 15 and 10: a batch is too small for the GPU; kernels take 4 to 13
 * microseconds, at most 32% of the throughput of L2, on 2 to 73% of the warps. docs/measured/2026-11-23-gpu-7.md. */
#ifndef CSAW_ENGINE_DEVICE_BLOCKS_CUH
#define CSAW_ENGINE_DEVICE_BLOCKS_CUH

#include <csaw/csaw.h>

typedef struct csaw__visits {
    csaw_arcs arcs;         /* device */
    uint64_t seeds, places; /* places: of seeds and of both ends of arcs */
    uint32_t depths;
    uint64_t *begin;         /* [instances * depths + 1] where the arcs of each depth begin */
    unsigned long long *key; /* [mask + 1] instance << 32 | vertex; all ones = a free cell */
    uint32_t *first;         /* [mask + 1] the lowest place */
    uint32_t mask;
    uint32_t *is_first, *rank; /* [places + 1] of a place; how many firsts stand before it */
    csaw_vertex *src, *dst;    /* [arcs] numbers of the ends */
    uint64_t *visited;         /* [instances, depths + 1] as in csaw_blocks */
    uint64_t *unordered;       /* not 0: arcs of some block do not stand by number of their src */
    uint64_t *rows;            /* [instances * depths + 1] entries of each rowptr, then 0 */
    uint64_t *row_offset;      /* [instances * depths + 1] their sums, as in csaw_blocks */
} csaw__visits;

/* How many of the entries, which never fall, are at most value. */
static __device__ uint64_t csaw__upto(const uint64_t *entry, uint64_t count, uint64_t value) {
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (entry[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The place of an instance's first visit. */
static __device__ uint64_t csaw__first_place(const csaw__visits &v, uint64_t instance) {
    return v.arcs.seed_offset[instance] + 2 * v.arcs.offset[instance];
}

/* A seed or an arc: where it stands in the order of visits. */
struct csaw__visit {
    uint64_t instance, block; /* block: instance * depths + depth, of an arc */
    uint32_t place;           /* of the seed, or of the arc's src */
    uint32_t to_dst;          /* places further on is that of its dst */
};

static __device__ csaw__visit csaw__visit_of_seed(const csaw__visits &v, uint64_t seed) {
    csaw__visit out = {};
    out.instance = csaw__upto(v.arcs.seed_offset, v.arcs.num_instances + 1, seed) - 1;
    out.place = (uint32_t)(seed + 2 * v.arcs.offset[out.instance]);
    return out;
}

static __device__ csaw__visit csaw__visit_of_arc(const csaw__visits &v, uint64_t arc) {
    csaw__visit out = {};
    out.instance = csaw__upto(v.arcs.offset, v.arcs.num_instances + 1, arc) - 1;
    out.block = out.instance * v.depths + v.arcs.depth[arc];
    const uint64_t begin =
        v.begin[out.block]; /* behind all seeds of its instance and those before, and 2 begin places */
    out.place = (uint32_t)(v.arcs.seed_offset[out.instance + 1] + begin + arc);
    out.to_dst = (uint32_t)(v.begin[out.block + 1] - begin);
    return out;
}

/* The cell of a vertex, made unless it is there. */
static __device__ uint32_t csaw__cell_of(const csaw__visits &v, uint64_t instance, csaw_vertex vertex) {
    const unsigned long long free_cell = ~0ull, key = instance << 32 | vertex;
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & v.mask; /* Fibonacci hashing, linear probing */
    for (;; at = (at + 1) & v.mask) {
        unsigned long long there = v.key[at];
        if (there == free_cell) there = atomicCAS(&v.key[at], free_cell, key);
        if (there == free_cell || there == key) return at;
    }
}

static __device__ void csaw__visit_vertex(const csaw__visits &v, uint64_t instance, csaw_vertex vertex,
                                          uint32_t place) {
    const uint32_t cell = csaw__cell_of(v, instance, vertex);
    if (v.first[cell] > place) atomicMin(&v.first[cell], place); /* it only falls: asked first, since hubs are many's */
}

/* A thread for (instance, depth), and one for the end. */
static __global__ void csaw__blocks_begin_of(csaw__visits v) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, instances = v.arcs.num_instances;
    if (i > instances * v.depths) return;
    const uint64_t instance = i / v.depths;
    uint64_t low = v.arcs.offset[instance], high = v.arcs.offset[instance < instances ? instance + 1 : instance];
    while (low < high) { /* the first arc of the depth, or deeper */
        const uint64_t middle = low + (high - low) / 2;
        if (v.arcs.depth[middle] < i % v.depths)
            low = middle + 1;
        else
            high = middle;
    }
    v.begin[i] = low;
}

/* A thread for each seed, then for each arc, in this and the next two. */
static __global__ void csaw__blocks_visit(csaw__visits v, uint64_t items) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= items) return;
    if (i < v.seeds) {
        const csaw__visit s = csaw__visit_of_seed(v, i);
        csaw__visit_vertex(v, s.instance, v.arcs.seed[i], s.place);
        return;
    }
    const uint64_t k = i - v.seeds;
    const csaw__visit a = csaw__visit_of_arc(v, k);
    csaw__visit_vertex(v, a.instance, v.arcs.src[k], a.place);
    csaw__visit_vertex(v, a.instance, v.arcs.dst[k], a.place + a.to_dst);
}

static __global__ void csaw__blocks_firsts(csaw__visits v, uint64_t items) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) v.is_first[v.places] = 0;
    if (i >= items) return;
    if (i < v.seeds) {
        const csaw__visit s = csaw__visit_of_seed(v, i);
        v.is_first[s.place] = v.first[csaw__cell_of(v, s.instance, v.arcs.seed[i])] == s.place;
        return;
    }
    const uint64_t k = i - v.seeds;
    const csaw__visit a = csaw__visit_of_arc(v, k);
    const uint32_t of_dst = a.place + a.to_dst;
    v.is_first[a.place] = v.first[csaw__cell_of(v, a.instance, v.arcs.src[k])] == a.place;
    v.is_first[of_dst] = v.first[csaw__cell_of(v, a.instance, v.arcs.dst[k])] == of_dst;
}

static __device__ csaw_vertex csaw__number_of(const csaw__visits &v, uint64_t instance, csaw_vertex vertex) {
    return v.rank[v.first[csaw__cell_of(v, instance, vertex)]] - v.rank[csaw__first_place(v, instance)];
}

/* Of arcs alone. */
static __global__ void csaw__blocks_number(csaw__visits v, uint64_t arcs) {
    const uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= arcs) return;
    const csaw__visit a = csaw__visit_of_arc(v, k);
    const csaw_vertex src = csaw__number_of(v, a.instance, v.arcs.src[k]);
    v.src[k] = src;
    v.dst[k] = csaw__number_of(v, a.instance, v.arcs.dst[k]);
    if (k > v.begin[a.block] && v.arcs.src[k - 1] != v.arcs.src[k] &&
        csaw__number_of(v, a.instance, v.arcs.src[k - 1]) > src)
        *v.unordered = 1;
}

/* A thread for (instance, depth), and one for each instance's end; one at least. */
static __global__ void csaw__blocks_count(csaw__visits v) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, of_instance = v.depths + 1ull;
    if (i == 0) v.rows[v.arcs.num_instances * v.depths] = 0;
    if (i >= v.arcs.num_instances * of_instance) return;
    const uint64_t instance = i / of_instance, depth = i % of_instance, base = csaw__first_place(v, instance);
    uint64_t end = csaw__first_place(v, instance + 1); /* of the visits that count */
    if (depth < v.depths) {
        const uint64_t block = instance * v.depths + depth; /* all before it, and every src of this depth */
        end = v.arcs.seed_offset[instance + 1] + v.begin[block] + v.begin[block + 1];
        v.rows[block] = v.rank[end] - v.rank[base] + 1ull;
    }
    v.visited[i] = v.rank[end] - v.rank[base];
}

/* A thread for each cell of the table. */
static __global__ void csaw__blocks_list(csaw__visits v, csaw_vertex *vertex) {
    const uint64_t cell = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell <= v.mask && v.key[cell] != ~0ull) vertex[v.rank[v.first[cell]]] = (csaw_vertex)v.key[cell];
}

/* row: [arcs] where among all rows of all blocks the arc belongs; arc: its place. */
static __global__ void csaw__blocks_rows(csaw__visits v, uint64_t arcs, uint64_t *row, uint32_t *arc) {
    const uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= arcs) return;
    row[k] = v.row_offset[csaw__visit_of_arc(v, k).block] + v.src[k];
    arc[k] = (uint32_t)k;
}

/* arc: [arcs] by row. */
static __global__ void csaw__blocks_fill(csaw__visits v, uint64_t arcs, const uint32_t *arc, csaw_vertex *col,
                                         csaw_edge *edge) {
    const uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= arcs) return;
    col[k] = v.dst[arc[k]];
    edge[k] = v.arcs.edge[arc[k]];
}

/* row: [arcs], which never falls; rows: entries of rowptr, of all blocks. */
static __global__ void csaw__blocks_rowptr(csaw__visits v, uint64_t arcs, const uint64_t *row, uint64_t rows,
                                           uint64_t *rowptr) {
    const uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const uint64_t block = csaw__upto(v.row_offset, v.arcs.num_instances * v.depths, r) - 1;
    rowptr[r] = (r ? csaw__upto(row, arcs, r - 1) : 0) - v.begin[block];
}

#endif
