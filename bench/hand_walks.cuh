/* SPDX-License-Identifier: MIT */
/* bench/hand_walks.cuh - the kernels of hand_walks.cu: one thread a walk, paths step-major, each kernel for one walk
 * alone. Graphs are symmetric, rows ascending, without parallel arcs and isolated vertices: that is all they can do.
 *
 * Philox with 32-bit numbers, float arithmetic, no hooks, no dead ends, no record of arcs: what a careful writer of
 * this one walk would leave out. Offsets are 32 bits where they suffice (OFFSET). node2vec: acceptance without a look
 * below the lower bound, the arc back folded apart, the neighbours of prev searched. */
#ifndef CSAW_BENCH_HAND_WALKS_CUH
#define CSAW_BENCH_HAND_WALKS_CUH

#include <stdint.h>

namespace hand {

struct alignas(16) alias_entry {
    uint32_t threshold, own, other, unused;
};

/* Vertices by falling degree: those of a class share theirs, so an offset is base + (v - first) * degree. */
struct alignas(16) degree_class {
    uint64_t base;
    uint32_t first, degree;
};

enum { MOST_CLASSES = 1024, CELLS = 256 + 24 * 128 };

struct classes {
    const degree_class *table; /* [count], device */
    const uint16_t *cell;      /* [CELLS]: class of the first vertex of each cell */
    uint32_t count, first;     /* vertices below `first`, the hubs, are not classed */
};

struct graph {
    const void *offset; /* [num_vertices + 1] of OFFSET */
    const uint32_t *col;
    const float *weight;      /* NULL without */
    const alias_entry *alias; /* [arcs], NULL unless the walk needs it */
    const float *sum;         /* [num_vertices] of weights, likewise */
    float largest;            /* weight */
};

struct job {
    uint64_t num_walks, num_seeds;
    uint32_t length, seed;
    uint32_t *path; /* [length + 1, num_walks] */
};

__device__ inline uint4 philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t key) {
    uint32_t k0 = key, k1 = 0x5eed;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint32_t high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        const uint32_t high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

__device__ inline float unit(uint32_t number) { return (float)number * 2.3283064e-10f; }

/* Cells grow with the vertex number: 128 to a factor of two, from 256 on. */
__host__ __device__ inline uint32_t cell_of(uint32_t v) {
    if (v < 256) return v;
#ifdef __CUDA_ARCH__
    const uint32_t top = 31 - (uint32_t)__clz((int)v);
#else
    const uint32_t top = 31 - (uint32_t)__builtin_clz(v);
#endif
    return 256 + (top - 8) * 128 + (v >> (top - 7) & 127);
}

/* Place of v in its ascending row of n, or n. */
__device__ inline uint32_t place_of(const uint32_t *row, uint32_t n, uint32_t v) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = (low + high) >> 1;
        if (row[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && row[low] == v ? low : n;
}

#define HAND_WALK_START                                                  \
    const uint64_t id = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; \
    if (id >= j.num_walks) return;                                       \
    const uint32_t low = (uint32_t)id, high = (uint32_t)(id >> 32);      \
    uint32_t v = (uint32_t)(id % j.num_seeds);                           \
    uint32_t *path = j.path + id;                                        \
    __stcs(path, v)

/* One block of numbers serves four steps. */
__device__ inline uint32_t step_number(const uint4 &block, uint32_t step) {
    const uint32_t low = step & 1 ? block.y : block.x, high = step & 1 ? block.w : block.z;
    return step & 2 ? high : low;
}

template <typename OFFSET> __global__ void __launch_bounds__(256) walk_uniform(const graph g, const job j) {
    HAND_WALK_START;
    const OFFSET *offset = (const OFFSET *)g.offset;
    uint4 block = {};
    for (uint32_t step = 0; step < j.length; step++) {
        if (!(step & 3)) block = philox(low, high, step, 0, j.seed);
        const OFFSET row = offset[v];
        const uint32_t degree = (uint32_t)(offset[v + 1] - row);
        v = g.col[row + __umulhi(step_number(block, step), degree)];
        __stcs(path += j.num_walks, v);
    }
}

template <typename OFFSET>
__global__ void __launch_bounds__(512) walk_classes(const graph g, const job j, const classes c) {
    __shared__ degree_class table[MOST_CLASSES];
    __shared__ uint16_t cell[CELLS];
    for (uint32_t i = threadIdx.x; i < c.count; i += blockDim.x) table[i] = c.table[i];
    for (uint32_t i = threadIdx.x; i < CELLS; i += blockDim.x) cell[i] = c.cell[i];
    __syncthreads();
    HAND_WALK_START;
    const OFFSET *offset = (const OFFSET *)g.offset;
    uint4 block = {};
    for (uint32_t step = 0; step < j.length; step++) {
        if (!(step & 3)) block = philox(low, high, step, 0, j.seed);
        uint64_t row;
        uint32_t degree;
        if (v < c.first) {
            row = offset[v];
            degree = (uint32_t)(offset[v + 1] - row);
        } else {
            uint32_t k = cell[cell_of(v)];
            while (k + 1 < c.count && v >= table[k + 1].first) k++;
            degree = table[k].degree;
            row = table[k].base + (uint64_t)(v - table[k].first) * degree;
        }
        v = g.col[row + __umulhi(step_number(block, step), degree)];
        __stcs(path += j.num_walks, v);
    }
}

template <typename OFFSET> __global__ void __launch_bounds__(256) walk_weighted(const graph g, const job j) {
    HAND_WALK_START;
    const OFFSET *offset = (const OFFSET *)g.offset;
    uint4 block = {};
    for (uint32_t step = 0; step < j.length; step++) {
        if (!(step & 1)) block = philox(low, high, step, 0, j.seed);
        const OFFSET row = offset[v];
        const uint32_t degree = (uint32_t)(offset[v + 1] - row);
        const alias_entry entry = g.alias[row + __umulhi(step & 1 ? block.z : block.x, degree)];
        v = (step & 1 ? block.w : block.y) < entry.threshold ? entry.own : entry.other;
        __stcs(path += j.num_walks, v);
    }
}

struct second_order {
    float back, out;          /* 1/p, 1/q */
    float low, high, outlier; /* bounds of the factor, and what the arc back has above the upper one */
};

template <typename OFFSET, bool WEIGHTED>
__global__ void __launch_bounds__(256) walk_node2vec(const graph g, const job j, const second_order bias) {
    HAND_WALK_START;
    const OFFSET *offset = (const OFFSET *)g.offset;
    const float fold = bias.outlier * (WEIGHTED ? g.largest : 1);
    uint32_t prev = 0xffffffffu, prev_degree = 0;
    OFFSET prev_row = 0;
    for (uint32_t step = 0; step < j.length; step++) {
        const OFFSET row = offset[v];
        const uint32_t degree = (uint32_t)(offset[v + 1] - row);
        const float width = WEIGHTED ? g.sum[v] : (float)degree;
        uint32_t next;
        for (uint32_t attempt = 0;; attempt++) {
            const uint4 block = philox(low, high, step, attempt, j.seed);
            const bool first = prev == 0xffffffffu;
            float y = first ? 0 : unit(block.z) * (bias.high * width + fold);
            if (!first && y < fold) { /* the arc back, which a symmetric graph has */
                next = prev;
                if (!WEIGHTED) break;
                if (y < bias.outlier * g.weight[row + place_of(g.col + row, degree, prev)]) break;
                continue;
            }
            const OFFSET place = row + __umulhi(block.x, degree);
            if (WEIGHTED) {
                const alias_entry entry = g.alias[place];
                next = block.y < entry.threshold ? entry.own : entry.other;
            } else {
                next = g.col[place];
            }
            y -= fold;
            if (first || y < bias.low * width) break;
            float factor = bias.out;
            if (next == prev)
                factor = fminf(bias.back, bias.high);
            else if (place_of(g.col + prev_row, prev_degree, next) < prev_degree)
                factor = 1;
            if (y < factor * width) break;
        }
        prev = v;
        prev_row = row;
        prev_degree = degree;
        v = next;
        __stcs(path += j.num_walks, v);
    }
}

/* ---- tables and verification ---- */

/* Vose's alias table of each row, one thread a row, light and heavy entries each in the order of the row: needs no
 * stack. */
template <typename OFFSET>
__global__ void __launch_bounds__(256)
    build_alias(const graph g, uint64_t num_vertices, alias_entry *alias, float *sums) {
    const uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (v >= num_vertices) return;
    const OFFSET row = ((const OFFSET *)g.offset)[v];
    const uint32_t n = (uint32_t)(((const OFFSET *)g.offset)[v + 1] - row);
    const float *weight = g.weight + row;
    const uint32_t *col = g.col + row;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += weight[i];
        alias[row + i] = {0xffffffffu, col[i], col[i], 0};
    }
    sums[v] = (float)sum;
    const double scale = n / sum;
    const auto heavy_from = [&](uint32_t i) {
        while (i < n && weight[i] * scale < 1) i++;
        return i;
    };
    uint32_t heavy = heavy_from(0);
    double left = heavy < n ? weight[heavy] * scale : 0; /* of the heavy entry */
    const auto give = [&](uint32_t i, double share) {
        alias[row + i].threshold = (uint32_t)(share * 4294967295.0);
        alias[row + i].other = col[heavy];
        left -= 1 - share;
    };
    for (uint32_t light = 0; light < n && heavy < n; light++) {
        if (weight[light] * scale >= 1) continue;
        give(light, weight[light] * scale);
        while (left < 1) { /* it has become light */
            const uint32_t spent = heavy;
            const double share = left > 0 ? left : 0;
            heavy = heavy_from(heavy + 1);
            if (heavy >= n) break;
            left = weight[heavy] * scale;
            give(spent, share);
        }
    }
}

template <typename OFFSET>
__global__ void __launch_bounds__(256)
    count_wrong(const graph g, uint64_t num_vertices, const uint32_t *path, uint64_t walk_stride, uint64_t step_stride,
                uint64_t num_walks, uint32_t length, unsigned long long *wrong) {
    const uint64_t id = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const OFFSET *offset = (const OFFSET *)g.offset;
    uint32_t bad = 0;
    if (id < num_walks) {
        uint32_t v = path[id * walk_stride];
        for (uint32_t step = 1; step <= length; step++) {
            const uint32_t next = path[id * walk_stride + step * step_stride];
            bool there = v < num_vertices;
            if (there) {
                const uint32_t degree = (uint32_t)(offset[v + 1] - offset[v]);
                there = place_of(g.col + offset[v], degree, next) < degree;
            }
            bad += !there;
            v = next;
        }
    }
    bad = __reduce_add_sync(0xffffffffu, bad);
    if ((threadIdx.x & 31) == 0 && bad) atomicAdd(wrong, (unsigned long long)bad);
}

} // namespace hand

#endif
