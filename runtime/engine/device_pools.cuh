/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_pools.cuh - pools of many instances on the GPU, apart from any sampler: repeats dropped, the
 * first of equal ones kept; visited vertices; picks brought into the order of delivery.
 *
 * Method: a hash table keeps the least place of every (owner, vertex), by atomicMin; whoever stands at its least place
 * stays, and a prefix sum says where. So the order is that of the places, whatever order threads ran in.
 *
 * Limit on an H200, 3.8 M candidates: atomics in L2. mark_least 91% of its throughput; find_least 32%, at 6% of the
 * issue slots and 81% of the warps, which wait for their atomics; scatter 39%, gather 64%. */
#ifndef CSAW_ENGINE_DEVICE_POOLS_CUH
#define CSAW_ENGINE_DEVICE_POOLS_CUH

#include <cuda_runtime.h>

#include "runtime/base/job.h"

#define CSAW__THREAD (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x)

/* Where the key is now, put there if it was not. All ones = free; the table has room. */
static __device__ uint64_t insert_key(unsigned long long *table, uint64_t mask, uint64_t key) {
    uint64_t place = csaw__place_of(key) & mask;
    for (;; place = (place + 1) & mask) {
        const unsigned long long found = atomicCAS(table + place, ~0ull, (unsigned long long)key);
        if (found == ~0ull || found == key) return place;
    }
}

/* Candidates for pools: vertex[p], CSAW_NONE = none, of the owner of entry from[p], or of entry p. */
typedef struct candidates {
    uint64_t count;
    const csaw_vertex *vertex;
    const uint32_t *from;  /* NULL: p */
    const uint32_t *owner; /* of entries */
    const csaw_vertex *at; /* of entries; NULL: candidates come from nowhere */
} candidates;

static __device__ uint64_t key_of(const candidates &c, uint64_t p) {
    return (uint64_t)c.owner[c.from ? c.from[p] : p] << 32 | c.vertex[p];
}

static __global__ void find_least(candidates c, unsigned long long *table, uint32_t *least, uint64_t mask) {
    const uint64_t p = CSAW__THREAD;
    if (p >= c.count || c.vertex[p] == CSAW_NONE) return;
    atomicMin(least + insert_key(table, mask, key_of(c, p)), (uint32_t)p);
}

static __global__ void mark_least(candidates c, const unsigned long long *table, const uint32_t *least, uint64_t mask,
                                  uint32_t *stays) {
    const uint64_t p = CSAW__THREAD;
    if (p > c.count) return;
    stays[p] = 0;
    if (p == c.count || c.vertex[p] == CSAW_NONE) return;
    const uint64_t key = key_of(c, p);
    uint64_t place = csaw__place_of(key) & mask;
    while (table[place] != key) place = (place + 1) & mask;
    stays[p] = least[place] == (uint32_t)p;
}

static __global__ void gather(candidates c, const uint32_t *place, csaw_vertex *at, csaw_vertex *prev,
                              uint32_t *owner) {
    const uint64_t p = CSAW__THREAD;
    if (p >= c.count || place[p] == place[p + 1]) return;
    const uint64_t entry = c.from ? c.from[p] : p;
    at[place[p]] = c.vertex[p];
    prev[place[p]] = c.at ? c.at[entry] : CSAW_NONE;
    owner[place[p]] = c.owner[entry];
}

static __global__ void visit(const csaw_vertex *at, const uint32_t *owner, uint64_t count, unsigned long long *table,
                             uint64_t mask) {
    const uint64_t i = CSAW__THREAD;
    if (i < count) insert_key(table, mask, (uint64_t)owner[i] << 32 | at[i]);
}

static __global__ void visit_again(const unsigned long long *from, uint64_t from_cells, unsigned long long *table,
                                   uint64_t mask) {
    const uint64_t i = CSAW__THREAD;
    if (i < from_cells && from[i] != ~0ull) insert_key(table, mask, from[i]);
}

/* ---- delivery ---- */

static __global__ void widen(const uint32_t *got, uint64_t count, uint64_t *out) { /* out: [count + 1] */
    const uint64_t i = CSAW__THREAD;
    if (i <= count) out[i] = i < count ? got[i] : 0;
}

/* Where each owner's arcs of a depth begin and end, among all arcs of the depth. Zeros before. */
static __global__ void find_ends(const uint32_t *owner, const uint64_t *sum, uint64_t count, uint64_t *begin,
                                 uint64_t *end) {
    const uint64_t i = CSAW__THREAD;
    if (i >= count) return;
    if (i == 0 || owner[i - 1] != owner[i]) begin[owner[i]] = sum[i];
    if (i + 1 == count || owner[i + 1] != owner[i]) end[owner[i]] = sum[i + 1];
}

/* offset[o]: where those of owner o begin among owners in ascending order. */
static __global__ void find_seeds(const uint32_t *owner, uint64_t count, uint64_t owners, uint64_t *offset) {
    const uint64_t o = CSAW__THREAD;
    if (o > owners) return;
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (owner[middle] < o)
            low = middle + 1;
        else
            high = middle;
    }
    offset[o] = low;
}

/* Seeds of all owners, which begin at first, to their places. A thread a seed. */
static __global__ void put_first(const csaw_vertex *at, const uint32_t *owner, uint64_t count, const uint64_t *first,
                                 const uint64_t *place, csaw_vertex *seed) {
    const uint64_t i = CSAW__THREAD;
    if (i < count) seed[place[owner[i]] + i - first[owner[i]]] = at[i];
}

static __global__ void add_lengths(const uint64_t *begin, const uint64_t *end, uint64_t owners, uint64_t *total) {
    const uint64_t o = CSAW__THREAD;
    if (o < owners) total[o] += end[o] - begin[o];
}

typedef struct picks { /* of a depth */
    uint64_t count;
    uint32_t depth;
    const uint32_t *owner, *got; /* [count] */
    const uint64_t *offset, *sum;
    const csaw_vertex *src, *dst;
    const csaw_edge *edge;
} picks;

typedef struct arcs_out {
    csaw_vertex *src, *dst;
    csaw_edge *edge;
    uint32_t *depth;
} arcs_out;

/* A warp an entry. place: where each owner's arcs of this depth go. */
static __global__ void scatter(picks p, const uint64_t *begin, const uint64_t *place, arcs_out out) {
    const uint64_t i = CSAW__THREAD / 32;
    if (i >= p.count) return;
    const uint32_t owner = p.owner[i];
    const uint64_t from = p.offset[i], to = place[owner] + p.sum[i] - begin[owner];
    for (uint64_t j = threadIdx.x & 31; j < p.got[i]; j += 32) {
        out.src[to + j] = p.src[from + j];
        out.dst[to + j] = p.dst[from + j];
        out.edge[to + j] = p.edge[from + j];
        out.depth[to + j] = p.depth;
    }
}

#endif
