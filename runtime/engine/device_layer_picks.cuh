/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_layer_picks.cuh - layers on the GPU, apart from any sampler: whose candidates begin where,
 * masses of biases, distinct vertices, and picks brought side by side in the order of delivery.
 *
 * Method: nearly all kernels have one thread a candidate, so that a hub costs its arcs. Sums are of integers, so none
 * depends on the order of threads.
 *
 * Limit on an H200, R-MAT 20: L2 and DRAM. make_masses 69% and 60% of their throughput, mark_picked 76% and 64%,
 * put_marked 72% and 58%, and CUB's sums by key 78% and 68%, which take the most time. */
#ifndef CSAW_ENGINE_DEVICE_LAYER_PICKS_CUH
#define CSAW_ENGINE_DEVICE_LAYER_PICKS_CUH

#include <csaw/descriptor.h>

#include "runtime/base/frontier.h"
#include "runtime/base/mass.h"
#include "runtime/engine/device_pools.cuh"

/* First place in the ascending list[0 .. n - 1] that is not below key; n if none. */
template <typename T> static __device__ uint64_t lower_place(const T *list, uint64_t n, uint64_t key) {
    uint64_t low = 0;
    while (n > 0) {
        const uint64_t half = n >> 1;
        const bool below = list[low + half] < key;
        low = below ? low + half + 1 : low;
        n = below ? n - half - 1 : half;
    }
    return low;
}

/* Which of the stretches that begin at first[0 .. n - 1], ascending, holds the place: the last that begins there or
 * before. */
static __device__ uint64_t stretch_of(const uint64_t *first, uint64_t n, uint64_t place) {
    return lower_place(first, n, place + 1) - 1;
}

/* ---- of a depth ---- */

/* candidate: [owners + 1] */
static __global__ void find_candidates(csaw__wave wave, const uint64_t *arc, uint64_t owners, uint64_t *candidate) {
    const uint64_t o = CSAW__THREAD;
    if (o <= owners) candidate[o] = arc[lower_place(wave.owner, wave.count, o)];
}

typedef struct layer_plan {
    uint64_t owners;
    bool replace, distinct;
    const uint64_t *candidate; /* [owners + 1] */
    uint32_t *take;            /* [owners], as in csaw__layers */
    uint64_t *words;           /* [owners + 1]: of memory to pick in */
    uint32_t *some_take_all;   /* 1 if an owner does, else as it was */
    unsigned long long *fault;
} layer_plan;

/* What each owner takes: the fanout of its first entry, which is that of all. */
static __global__ void plan_layers(csaw__wave wave, layer_plan plan) {
    const uint64_t o = CSAW__THREAD;
    if (o > plan.owners) return;
    plan.words[o] = 0;
    if (o == plan.owners) return;
    const uint64_t n = plan.candidate[o + 1] - plan.candidate[o];
    plan.take[o] = 0;
    if (n == 0) return;
    const uint64_t entry = lower_place(wave.owner, wave.count, o);
    const uint32_t k = wave.fanout[entry];
    if (k == CSAW_ALL || (k && !plan.replace && k >= n)) {
        plan.take[o] = CSAW_ALL;
        *plan.some_take_all = 1;
    } else if (k <= CSAW__MAX_SLOTS) {
        plan.take[o] = k;
        plan.words[o] = k ? k + wave.need[entry] : 0;
    } else if (plan.distinct) {
        plan.take[o] = k; /* as many as there are vertices, perhaps */
    } else {
        atomicMin(plan.fault, (unsigned long long)(csaw__wave_instance(&wave, o) << 24 | wave.depth));
    }
}

/* Entries of layers that are exchanged have no candidates here, nor do these need memory to pick in. words: [owners] */
static __global__ void drop_exchanged(csaw__wave wave, const uint32_t *far_take, uint64_t *words) {
    const uint64_t i = CSAW__THREAD;
    if (i >= wave.count || far_take[wave.owner[i]] == CSAW_ALL) return;
    wave.room[i] = 0;
    words[wave.owner[i]] = 0;
}

/* Pieces of each entry's row, whose length stands in wave.room: of layers that are exchanged. pieces: [wave.count + 1],
 * then a 0 */
static __global__ void count_pieces(csaw__wave wave, const uint32_t *far_take, uint64_t *pieces) {
    const uint64_t i = CSAW__THREAD;
    if (i > wave.count) return;
    const bool far = i < wave.count && far_take[wave.owner[i]] != CSAW_ALL;
    pieces[i] = far ? (wave.room[i] + CSAW__FAR_ARCS - 1) / CSAW__FAR_ARCS : 0;
}

/* begin: [wave.count + 1] pieces before each entry */
static __global__ void make_pieces(csaw__wave wave, const uint64_t *begin, csaw__far_piece *piece) {
    const uint64_t p = CSAW__THREAD;
    if (p >= begin[wave.count]) return;
    const uint64_t i = stretch_of(begin, wave.count, p);
    piece[p].entry = (uint32_t)i;
    piece[p].first = (uint32_t)(p - begin[i]) * CSAW__FAR_ARCS;
}

/* Words of memory that owners before o need, so many for a candidate. */
static __global__ void add_candidates(const uint64_t *candidate, const uint64_t *work_offset, uint64_t owners,
                                      uint64_t words_each, uint64_t *cost) {
    const uint64_t o = CSAW__THREAD;
    if (o <= owners) cost[o] = work_offset[o] + words_each * candidate[o];
}

/* ---- of the owners at hand ---- */

/* Masses in place of biases. */
static __global__ void make_masses(csaw__layers layers) {
    const uint64_t c = CSAW__THREAD;
    if (c >= layers.end - layers.begin || layers.mass[c] == 0) return;
    const uint32_t o = layers.owner[c];
    const uint64_t n = layers.candidate[layers.first + o + 1] - layers.candidate[layers.first + o];
    const double largest = __longlong_as_double((long long)layers.largest[o]);
    layers.mass[c] = csaw__mass(__longlong_as_double((long long)layers.mass[c]),
                                csaw__power_of_two(csaw__mass_exponent(n, largest)));
}

/* CSAW_LAYER_DISTINCT: a vertex of an owner, as one number; candidates of no mass are of none. */
const uint64_t no_vertex = ~0ull;
static __device__ uint64_t vertex_key(const csaw__layers &layers, uint64_t c) {
    return layers.mass[c] ? (uint64_t)layers.owner[c] << 32 | layers.dst[c] : no_vertex;
}

static __global__ void key_masses(csaw__layers layers, uint64_t *key, uint64_t *mass) {
    const uint64_t c = CSAW__THREAD;
    if (c >= layers.end - layers.begin) return;
    key[c] = vertex_key(layers, c);
    mass[c] = layers.mass[c];
}

struct same_owner {
    __device__ bool operator()(uint64_t a, uint64_t b) const { return a >> 32 == b >> 32; }
};

/* Where each owner's vertices begin. keys: how many there are. */
static __global__ void find_targets(const uint64_t *key, const uint64_t *keys, uint64_t count, uint64_t *target) {
    const uint64_t o = CSAW__THREAD;
    if (o <= count) target[o] = lower_place(key, *keys, o << 32);
}

/* Candidates that are picked because all are, or because their vertex is. mark: [end - begin + 1] */
static __global__ void mark_picked(csaw__layers layers, const uint64_t *key, uint64_t *mark) {
    const uint64_t c = CSAW__THREAD, n = layers.end - layers.begin;
    if (c > n) return;
    mark[c] = 0;
    if (c == n || layers.mass[c] == 0) return;
    const uint32_t o = layers.owner[c], take = layers.take[layers.first + o];
    if (take == CSAW_ALL) {
        mark[c] = 1;
    } else if (layers.target && take) {
        const uint64_t first = layers.target[o];
        mark[c] = layers.chosen[first + lower_place(key + first, layers.target[o + 1] - first, vertex_key(layers, c))];
    }
}

/* Picks of each owner that no team counted: marked ones, or all. sum: of marks before; NULL without. got: [count + 1]
 */
static __global__ void count_picks(csaw__layers layers, const uint64_t *sum, uint64_t *got) {
    const uint64_t o = CSAW__THREAD;
    if (o > layers.count) return;
    if (o == layers.count) got[o] = 0;
    if (o == layers.count || (!layers.target && layers.take[layers.first + o] != CSAW_ALL)) return;
    const uint64_t begin = layers.candidate[layers.first + o] - layers.begin;
    const uint64_t end = layers.candidate[layers.first + o + 1] - layers.begin;
    got[o] = sum ? sum[end] - sum[begin] : end - begin;
}

/* Those of owners that were exchanged. */
static __global__ void count_far(csaw__layers layers, uint64_t *got) {
    const uint64_t o = CSAW__THREAD, owner = layers.first + o;
    if (o < layers.count && layers.far_take[owner] != CSAW_ALL)
        got[o] = layers.far_begin[owner + 1] - layers.far_begin[owner];
}

/* Marked candidates, to where their owners' picks go: place. */
static __global__ void put_marked(csaw__layers layers, const uint64_t *sum, const uint64_t *place, csaw_edge *out) {
    const uint64_t c = CSAW__THREAD;
    if (c >= layers.end - layers.begin || sum[c] == sum[c + 1]) return;
    const uint32_t o = layers.owner[c];
    out[place[o] + sum[c] - sum[layers.candidate[layers.first + o] - layers.begin]] = layers.begin + c;
}

/* Picks that are not marked. place: [count + 1]; marks: whether there are any. */
static __global__ void put_chosen(csaw__layers layers, const uint64_t *place, bool marks, csaw_edge *out) {
    const uint64_t p = CSAW__THREAD;
    if (p >= place[layers.count]) return;
    const uint64_t o = stretch_of(place, layers.count, p), owner = layers.first + o, j = p - place[o];
    const bool all = layers.take[owner] == CSAW_ALL;
    if (all && marks) return;
    if (layers.far_take && layers.far_take[owner] != CSAW_ALL) {
        out[p] = layers.far_pick[layers.far_begin[owner] + j];
        return;
    }
    const uint64_t *const pick = layers.work + (layers.work_offset[owner] - layers.work_offset[layers.first]);
    out[p] = layers.candidate[owner] + (all ? j : pick[j]);
}

/* owner_pick: where each owner's picks begin, among those of the depth */
static __global__ void note_places(const uint64_t *place, uint64_t count, uint64_t before, uint64_t *owner_pick) {
    const uint64_t o = CSAW__THREAD;
    if (o <= count) owner_pick[o] = before + place[o];
}

/* ---- groups for delivery ---- */

enum { GROUP_PICKS = 512 };

static __global__ void count_groups(const uint64_t *owner_pick, uint64_t owners, uint64_t *groups) {
    const uint64_t o = CSAW__THREAD;
    if (o > owners) return;
    groups[o] = o < owners ? (owner_pick[o + 1] - owner_pick[o] + GROUP_PICKS - 1) / GROUP_PICKS : 0;
}

/* sum: [owners + 1] groups before each owner */
static __global__ void make_groups(const uint64_t *owner_pick, const uint64_t *sum, uint64_t owners, uint32_t *group,
                                   uint64_t *offset, uint32_t *got) {
    const uint64_t g = CSAW__THREAD;
    if (g >= sum[owners]) return;
    const uint64_t o = stretch_of(sum, owners, g), first = owner_pick[o] + (g - sum[o]) * GROUP_PICKS;
    const uint64_t left = owner_pick[o + 1] - first;
    group[g] = (uint32_t)o;
    offset[g] = first;
    got[g] = left < GROUP_PICKS ? (uint32_t)left : GROUP_PICKS;
}

#endif
