/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_alone_layer.cuh - a layer of an instance that a block of the GPU runs by itself
 * (device_alone.cuh): one selection among the arcs of its whole frontier, or among the distinct vertices that they lead
 * to; the picks are those of layer.c.
 *
 * Method: that of device_layer.cu, by the same functions: masses of all candidates side by side, their sums, and a team
 * that picks; here in the block's own memory. Distinct vertices are brought together by a sort of (vertex, candidate),
 * a bitonic one (Batcher 1968), which needs no memory beside.
 *
 * Limit on an H200, layers by weight (csaw__alone_its): 31% of the issue slots, 41% of the warps at 64
 * registers, 32% of L2: latency of scattered reads. docs/measured/2026-11-24-gpu-12.md. */
#ifndef CSAW_ENGINE_DEVICE_ALONE_LAYER_CUH
#define CSAW_ENGINE_DEVICE_ALONE_LAYER_CUH

#include "runtime/engine/device_alone_room.cuh"
#include "runtime/engine/device_layer.cuh"

/* Of a depth: arcs (CSAW_NONE: they need more room), and places of r.next where they lead. */
struct csaw__alone_found {
    uint32_t arcs, reached;
};

constexpr bool csaw__layer_distinct = (csaw__hooks.flags & CSAW_LAYER_DISTINCT) != 0;

/* The candidates of a layer with biases. */
struct csaw__alone_candidates {
    uint64_t most;            /* that there is room for, a power of two */
    uint64_t *sum;            /* [most + 1] sums of masses of the candidates before, or of the distinct vertices */
    uint64_t *mass;           /* CSAW_LAYER_DISTINCT, as those below: [most] */
    uint64_t *key;            /* [most] vertex << 32 | candidate, all ones = none */
    uint32_t *target, *taken; /* [most] the candidate's vertex among the distinct ones; 1 = that vertex is picked */
};

CSAW_FN csaw__alone_candidates csaw__alone_candidates_of(const csaw__alone_room &r) {
    csaw__alone_candidates c;
    c.most = (csaw__layer_distinct ? CSAW__ALONE_LAYER / 4 : CSAW__ALONE_LAYER) * (uint64_t)r.places;
    c.sum = r.candidates;
    c.mass = c.sum + c.most + 1;
    c.key = c.mass + c.most;
    c.target = (uint32_t *)(c.key + c.most);
    c.taken = c.target + c.most;
    return c;
}

/* Masses of n candidates to mass; with CSAW_LAYER_DISTINCT their vertices to c.key, too. False: all are 0. */
CSAW_FN bool csaw__alone_masses(const csaw__job &job, const csaw__alone_candidates &c, uint64_t n, uint64_t *mass) {
    __shared__ unsigned long long largest;
    unsigned long long mine = 0;
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    for (uint64_t a = threadIdx.x; a < n; a += csaw__alone_threads) {
        const uint64_t i = csaw__layer_entry(job.layers.arc, 0, job.wave.count - 1, a);
        const uint32_t rank = (uint32_t)(a - job.layers.arc[i]);
        csaw_site site = csaw__wave_site(&job, i);
        const unsigned long long bits = csaw__layer_bias(&site, rank);
        mass[a] = bits;
        if (csaw__layer_distinct) c.key[a] = (uint64_t)job.rows.col[site.row + rank] << 32 | a;
        mine = bits > mine ? bits : mine;
    }
    if (mine) atomicMax(&largest, mine);
    __syncthreads();
    if (largest == 0) return false;
    const double scale = csaw__power_of_two(csaw__mass_exponent(n, csaw__from_bits(largest)));
    for (uint64_t a = threadIdx.x; a < n; a += csaw__alone_threads)
        if (mass[a]) mass[a] = csaw__mass(csaw__from_bits(mass[a]), scale);
    __syncthreads();
    return true;
}

/* key[0 .. count - 1] ascending; count: a power of two. */
CSAW_FN void csaw__alone_sort(uint64_t *key, uint64_t count) {
    for (uint64_t run = 2; run <= count; run *= 2)
        for (uint64_t step = run / 2; step > 0; step /= 2) {
            for (uint64_t t = threadIdx.x; t < count / 2; t += csaw__alone_threads) {
                const uint64_t low = 2 * t - (t & (step - 1)), high = low + step, a = key[low], b = key[high];
                if ((a > b) == ((low & run) == 0)) {
                    key[low] = b;
                    key[high] = a;
                }
            }
            __syncthreads();
        }
}

/* The distinct vertices of n candidates, ascending: sums of their masses to c.sum, whose candidates are whose to
 * c.target. Returns how many they are. */
CSAW_FN uint32_t csaw__alone_targets(const csaw__alone_candidates &c, uint64_t n) {
    uint64_t sorted = 2, positive = 0, left = 0;
    while (sorted < n) sorted *= 2;
    for (uint64_t a = threadIdx.x; a < sorted; a += csaw__alone_threads)
        if (a >= n || c.mass[a] == 0) c.key[a] = ~0ull;
    __syncthreads();
    csaw__alone_sort(c.key, sorted);
    for (left = sorted; left > 0;) { /* the first place of a key that is none */
        const uint64_t half = left >> 1;
        const bool there = c.key[positive + half] != ~0ull;
        positive = there ? positive + half + 1 : positive;
        left = there ? left - half - 1 : half;
    }
    for (uint64_t p = threadIdx.x; p < positive; p += csaw__alone_threads) c.sum[p] = c.mass[(uint32_t)c.key[p]];
    __syncthreads();
    const uint64_t sum = csaw__alone_sums(c.sum, c.sum, (uint32_t)positive);
    uint32_t targets = 0;
    for (uint64_t base = 0; base < positive; base += csaw__alone_threads) {
        const uint64_t p = base + threadIdx.x;
        const bool there = p < positive, first = there && (p == 0 || c.key[p - 1] >> 32 != c.key[p] >> 32);
        const uint64_t before = there ? c.sum[p] : 0;
        const uint32_t place = csaw__alone_place(first, &targets);
        if (first) c.sum[place] = before; /* at p or in front of it, where all have read */
        if (there) c.target[(uint32_t)c.key[p]] = first ? place : place - 1;
    }
    if (threadIdx.x == 0) c.sum[targets] = sum;
    for (uint64_t t = threadIdx.x; t < targets; t += csaw__alone_threads) c.taken[t] = 0;
    __syncthreads();
    return targets;
}

/* k of the n that inclusive sums are given of, or that are all alike, to r.work; returns how many. */
CSAW_FN uint32_t csaw__alone_choose(const csaw__job &job, const csaw__alone_room &r, uint32_t k, uint64_t n,
                                    const uint64_t *upto) {
    __shared__ uint32_t few[2 * CSAW__TEAM_PICKS], chosen;
    if (threadIdx.x < CSAW__TEAM) {
        const csaw__team team;
        const csaw__choice choice = csaw__layer_choice(job, job.wave.instance, n, upto);
        const uint32_t got = csaw__team_choose(team, &choice, k, job.replace, few, r.work + k, r.work);
        if (team.lane == 0) chosen = got;
    }
    __syncthreads();
    return chosen;
}

/* Those of n candidates that are picked because all of positive mass are, or because their vertex is, in their order,
 * to r.work; returns how many, more than r.places if they are more than there is room for. */
CSAW_FN uint32_t csaw__alone_marked(const csaw__alone_room &r, const csaw__alone_candidates &c, uint64_t n, bool all) {
    uint32_t picks = 0;
    for (uint64_t base = 0; base < n && picks <= r.places; base += csaw__alone_threads) {
        const uint64_t a = base + threadIdx.x;
        bool marked = a < n;
        if (marked && csaw__layer_distinct)
            marked = c.mass[a] && (all || c.taken[c.target[a]]);
        else if (marked)
            marked = c.sum[a] != c.sum[a + 1];
        const uint32_t place = csaw__alone_place(marked, &picks);
        if (marked && place < r.places) r.work[place] = a;
    }
    __syncthreads();
    return picks;
}

/* The picks of a layer, as candidates, to r.work; returns how many, or CSAW_NONE: they need more room. */
template <uint32_t KERNEL> CSAW_FN uint32_t csaw__alone_layer_picks(const csaw__job &job, const csaw__alone_room &r) {
    constexpr bool uniform = KERNEL == CSAW__KERNEL_UNIFORM;
    const uint32_t count = (uint32_t)job.wave.count;
    for (uint32_t e = threadIdx.x; e < count; e += csaw__alone_threads) csaw__layer_fanout_of(job, e);
    __syncthreads();
    const uint64_t n = csaw__alone_sums(r.room, r.offset, count);
    const uint32_t k = n ? r.fanout[0] : 0; /* that of all */
    const csaw__alone_candidates c = csaw__alone_candidates_of(r);
    uint64_t choices = n;
    if (k == 0) return 0;
    if (!uniform && n > c.most) return CSAW_NONE;
    if constexpr (!uniform) {
        if (!csaw__alone_masses(job, c, n, csaw__layer_distinct ? c.mass : c.sum)) return 0;
        if (csaw__layer_distinct)
            choices = csaw__alone_targets(c, n);
        else
            csaw__alone_sums(c.sum, c.sum, (uint32_t)n);
    }
    const bool all = k == CSAW_ALL || (!job.replace && k >= choices);
    uint32_t picks = 0;
    if (all && uniform) {
        if (n > r.places) return CSAW_NONE;
        for (uint32_t p = threadIdx.x; p < n; p += csaw__alone_threads) r.work[p] = p;
        __syncthreads();
        return (uint32_t)n;
    }
    if (!all && k > r.places) return CSAW_NONE; /* more than there are numbers for, perhaps: the batch tells */
    if (!all) picks = csaw__alone_choose(job, r, k, choices, uniform ? 0 : c.sum + 1);
    if (csaw__layer_distinct && !all) {
        for (uint32_t p = threadIdx.x; p < picks; p += csaw__alone_threads) c.taken[r.work[p]] = 1;
        __syncthreads();
    }
    if (all || csaw__layer_distinct) picks = csaw__alone_marked(r, c, n, all);
    return picks <= r.places ? picks : CSAW_NONE;
}

/* The layer of a frontier: its picks to the instance's region, behind `total` arcs, and where they lead to r.next. */
template <uint32_t KERNEL>
CSAW_FN csaw__alone_found csaw__alone_layer(const csaw__job &job, const csaw__alone_room &r, uint64_t i,
                                            uint32_t total) {
    const csaw__regions &out = job.regions;
    const uint32_t picks = csaw__alone_layer_picks<KERNEL>(job, r);
    csaw__alone_found found = {picks, picks};
    if (picks == CSAW_NONE || total + picks > out.places) {
        found.arcs = CSAW_NONE;
        return found;
    }
    for (uint32_t p = threadIdx.x; p < picks; p += csaw__alone_threads) {
        const uint64_t to = i * out.places + total + p;
        csaw_arc arc;
        uint32_t entry;
        const csaw_vertex next = csaw__layer_update(job, r.work[p], &arc, &entry);
        out.src[to] = arc.src;
        out.dst[to] = arc.dst;
        out.edge[to] = arc.id;
        out.depth[to] = job.wave.depth;
        if (!job.wave.next) continue;
        r.next[p] = next;
        r.from[p] = entry;
    }
    __syncthreads();
    return found;
}

#endif
