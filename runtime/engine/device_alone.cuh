/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_alone.cuh - instances of a sampler that looks at what was visited, or whose fanouts a hook
 * says, each run by a block of the GPU to its end, compiled around that sampler. Included after the sampler file by
 * device_kernels.cuh.
 *
 * Method: a block takes the instance that comes next and advances it as device_depths.cu does a batch, by the same
 * functions (device_expand.cuh): its job is a copy of its own, whose wave is the instance's frontier. A barrier of the
 * block stands where the batch has a launch and a way to the host, so no instance waits for another one. Of equal
 * vertices that were reached the first stays: a hash table keeps the least place of each. An instance that needs more
 * room than a block has is left, whole: the batch runs those. */
#ifndef CSAW_ENGINE_DEVICE_ALONE_CUH
#define CSAW_ENGINE_DEVICE_ALONE_CUH

#include "runtime/engine/device_expand.cuh"

constexpr bool csaw__runs_alone = (csaw__given(csaw__hooks.fanout) || (csaw__hooks.flags & CSAW_VISITED) != 0) &&
                                  (csaw__hooks.flags & (CSAW_LAYER | CSAW_REPLACE_POOL | CSAW_KEEP_POOL)) == 0 &&
                                  !csaw__given(csaw__hooks.frontier_size) && csaw__hooks.user_bytes == 0;

/* Memory of a block. */
struct csaw__alone_room {
    uint32_t places;
    unsigned long long *first;   /* [CSAW__ALONE_CELLS * places]: vertex << 32 | least place, all ones = free */
    unsigned long long *visited; /* [CSAW__ALONE_VISITED * places]: vertices, all ones = free */
    uint64_t *work;              /* [CSAW__ALONE_WORK * places] */
    uint64_t *room, *need, *offset, *work_offset, *sum; /* [places + 1] */
    csaw_edge *edge;                                    /* [places], as those below */
    csaw_vertex *at[2], *prev[2];                       /* a frontier, and the next */
    uint32_t *fanout, *got, *from;
    csaw_vertex *src, *dst, *next;
};

CSAW_FN csaw__alone_room csaw__alone_room_at(uint64_t *memory, uint32_t places) {
    csaw__alone_room r;
    const auto words = [&](uint64_t count) {
        uint64_t *const here = memory;
        memory += count;
        return here;
    };
    r.places = places;
    const auto sums = [&] { return words((uint64_t)places + 1); };
    r.first = (unsigned long long *)words(CSAW__ALONE_CELLS * (uint64_t)places);
    r.visited = (unsigned long long *)words(CSAW__ALONE_VISITED * (uint64_t)places);
    r.work = words(CSAW__ALONE_WORK * (uint64_t)places);
    r.room = sums();
    r.need = sums();
    r.offset = sums();
    r.work_offset = sums();
    r.sum = sums();
    r.edge = words(places);
    uint32_t *half = (uint32_t *)memory;
    const auto halves = [&] {
        uint32_t *const here = half;
        half += places;
        return here;
    };
    for (int t = 0; t < 2; t++) {
        r.at[t] = halves();
        r.prev[t] = halves();
    }
    r.fanout = halves();
    r.got = halves();
    r.from = halves();
    r.src = halves();
    r.dst = halves();
    r.next = halves();
    return r;
}

/* out[i] = in[0] + .. + in[i - 1], i = 0 .. count, by all threads of the block; out may be in. Returns out[count]. */
CSAW_FN uint64_t csaw__alone_sums(const uint64_t *in, uint64_t *out, uint32_t count) {
    __shared__ uint64_t of_warp[CSAW__ALONE_THREADS / CSAW__TEAM];
    const csaw__team team;
    const uint32_t warp = threadIdx.x / CSAW__TEAM;
    uint64_t before = 0;
    for (uint32_t base = 0; base < count; base += CSAW__ALONE_THREADS) {
        const uint32_t i = base + threadIdx.x;
        const uint64_t own = i < count ? in[i] : 0, upto = team.prefix(own);
        if (team.lane == CSAW__TEAM - 1) of_warp[warp] = upto;
        __syncthreads();
        uint64_t place = before + upto - own;
        for (uint32_t w = 0; w < CSAW__ALONE_THREADS / CSAW__TEAM; w++) {
            if (w < warp) place += of_warp[w];
            before += of_warp[w];
        }
        if (i < count) out[i] = place;
        __syncthreads(); /* before of_warp is written again */
    }
    if (threadIdx.x == 0) out[count] = before;
    __syncthreads();
    return before;
}

/* The vertices r.next[0 .. count - 1] in their order, CSAW_NONE = none, of equal ones the first, to frontier `to`, by
 * all threads; prev: those of the other frontier, by r.from, unless they are seeds. Returns how many they are. */
CSAW_FN uint32_t csaw__alone_enter(const csaw__alone_room &r, uint32_t count, bool seeds, uint32_t to) {
    uint64_t cells = 64;
    while (cells < 2 * (uint64_t)count) cells *= 2;
    for (uint64_t c = threadIdx.x; c < cells; c += CSAW__ALONE_THREADS) r.first[c] = ~0ull;
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < count; p += CSAW__ALONE_THREADS) {
        const csaw_vertex v = r.next[p];
        const unsigned long long mine = (unsigned long long)v << 32 | p;
        if (v == CSAW_NONE) continue;
        for (uint64_t c = csaw__place_of(v) & (cells - 1);; c = (c + 1) & (cells - 1)) {
            const unsigned long long found = atomicCAS(r.first + c, ~0ull, mine);
            if (found != ~0ull && found >> 32 != v) continue;
            if (found != ~0ull) atomicMin(r.first + c, mine);
            break;
        }
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < count; p += CSAW__ALONE_THREADS) {
        const csaw_vertex v = r.next[p];
        uint64_t c = csaw__place_of(v) & (cells - 1);
        while (v != CSAW_NONE && __ldcg(r.first + c) >> 32 != v) c = (c + 1) & (cells - 1);
        r.sum[p] = v != CSAW_NONE && (uint32_t)__ldcg(r.first + c) == p;
    }
    __syncthreads();
    const uint64_t entering = csaw__alone_sums(r.sum, r.sum, count);
    for (uint32_t p = threadIdx.x; p < count; p += CSAW__ALONE_THREADS) {
        const uint64_t place = r.sum[p];
        if (place == r.sum[p + 1]) continue;
        r.at[to][place] = r.next[p];
        r.prev[to][place] = seeds ? CSAW_NONE : r.at[to ^ 1][r.from[p]];
    }
    __syncthreads();
    return (uint32_t)entering;
}

/* What a frontier holds has been visited. */
CSAW_FN void csaw__alone_visit(const csaw__alone_room &r, const csaw_vertex *at, uint32_t count) {
    const uint64_t mask = CSAW__ALONE_VISITED * (uint64_t)r.places - 1;
    for (uint32_t e = threadIdx.x; e < count; e += CSAW__ALONE_THREADS)
        for (uint64_t c = csaw__place_of(at[e]) & mask;; c = (c + 1) & mask) {
            const unsigned long long found = atomicCAS(r.visited + c, ~0ull, (unsigned long long)at[e]);
            if (found == ~0ull || found == at[e]) break;
        }
}

/* Seeds of instance i to frontier 0; how many, or CSAW_NONE: too many. */
CSAW_FN uint32_t csaw__alone_seeds(const csaw__job &job, const csaw__alone_room &r, uint64_t i) {
    const csaw__each &each = job.each;
    const uint64_t from = (each.phase + i) % job.num_roots - each.first_pool;
    const uint64_t first = job.seed_offset ? job.seed_offset[from] : from + each.first_pool,
                   end = job.seed_offset ? job.seed_offset[from + 1] : first + 1;
    if (end - first > r.places) return CSAW_NONE;
    for (uint64_t s = first + threadIdx.x; s < end; s += CSAW__ALONE_THREADS)
        r.next[s - first] = job.roots ? job.roots[s - each.first_seed] : (csaw_vertex)s;
    __syncthreads();
    return csaw__alone_enter(r, (uint32_t)(end - first), true, 0);
}

/* The picks of a frontier to the instance's region, behind `total` arcs; how many, or CSAW_NONE: too many. */
CSAW_FN uint32_t csaw__alone_bring(const csaw__job &job, const csaw__alone_room &r, uint64_t i, uint32_t count,
                                   uint32_t total) {
    const csaw__regions &out = job.regions;
    for (uint32_t e = threadIdx.x; e < count; e += CSAW__ALONE_THREADS) r.sum[e] = r.got[e];
    __syncthreads();
    const uint64_t found = csaw__alone_sums(r.sum, r.sum, count);
    if (total + found > out.places) return CSAW_NONE;
    const csaw__team team;
    for (uint32_t e = threadIdx.x / CSAW__TEAM; e < count; e += CSAW__ALONE_THREADS / CSAW__TEAM)
        for (uint32_t j = team.lane; j < r.got[e]; j += CSAW__TEAM) {
            const uint64_t from = r.offset[e] + j, to = i * out.places + total + r.sum[e] + j;
            out.src[to] = r.src[from];
            out.dst[to] = r.dst[from];
            out.edge[to] = r.edge[from];
            out.depth[to] = job.wave.depth;
        }
    __syncthreads();
    return (uint32_t)found;
}

/* The wave of a depth, in the block's own job; num_hubs: shared. */
CSAW_FN void csaw__alone_wave(csaw__job *job, const csaw__alone_room &r, uint32_t depth, uint32_t count, uint32_t turn,
                              unsigned long long *num_hubs) {
    csaw__wave *const wave = &job->wave;
    wave->depth = depth;
    wave->count = count;
    wave->at = r.at[turn];
    wave->prev = r.prev[turn];
    wave->next = depth + 1 == job->length ? 0 : r.next;
    wave->hubs = r.from; /* a row to be scanned by many is for the batch, so what stands there is of no use */
    wave->num_hubs = num_hubs;
    *num_hubs = 0;
}

/* All depths of instance i by all threads of the block; false: it needs more room. */
template <uint32_t KERNEL>
CSAW_FN bool csaw__alone_run(csaw__job *job, const csaw__alone_room &r, uint64_t i, const csaw__pick_room &pick_room,
                             csaw_vertex *root) {
    __shared__ unsigned long long num_hubs;
    const csaw__team team;
    constexpr bool visits = (csaw__hooks.flags & CSAW_VISITED) != 0;
    const uint32_t seeds = csaw__alone_seeds(*job, r, i);
    if (seeds == CSAW_NONE) return false;
    for (uint32_t s = threadIdx.x; s < seeds; s += CSAW__ALONE_THREADS)
        job->regions.seed[i * job->regions.seed_places + s] = r.at[0][s];
    for (uint64_t c = threadIdx.x; visits && c < CSAW__ALONE_VISITED * (uint64_t)r.places; c += CSAW__ALONE_THREADS)
        r.visited[c] = ~0ull;
    if (threadIdx.x == 0) {
        *root = seeds ? r.at[0][0] : CSAW_NONE;
        job->wave.instance = job->first + i;
    }
    uint64_t visited = 0;
    uint32_t total = 0, count = seeds, turn = 0;
    for (uint32_t depth = 0; depth < job->length && count; depth++) {
        visited += count;
        if (visits && visited > CSAW__ALONE_VISITED * (uint64_t)r.places / 2) return false;
        if (threadIdx.x == 0) csaw__alone_wave(job, r, depth, count, turn, &num_hubs);
        __syncthreads();
        if (visits) csaw__alone_visit(r, r.at[turn], count);
        for (uint32_t e = threadIdx.x; e < count; e += CSAW__ALONE_THREADS) csaw__wave_fanout_of(*job, e);
        __syncthreads();
        const uint64_t places = csaw__alone_sums(r.room, r.offset, count);
        const uint64_t words = csaw__alone_sums(r.need, r.work_offset, count);
        if (num_hubs || places > r.places || words > CSAW__ALONE_WORK * (uint64_t)r.places) return false;
        for (uint32_t p = threadIdx.x; p < places; p += CSAW__ALONE_THREADS) r.next[p] = CSAW_NONE;
        __syncthreads();
        for (uint32_t e = threadIdx.x / CSAW__TEAM; e < count; e += CSAW__ALONE_THREADS / CSAW__TEAM) {
            csaw__wave_entry<KERNEL>(*job, team, e, pick_room);
            team.sync(); /* the room is picked in again */
        }
        __syncthreads();
        const uint32_t found = csaw__alone_bring(*job, r, i, count, total);
        if (found == CSAW_NONE) return false;
        total += found;
        turn ^= 1;
        count = depth + 1 == job->length ? 0 : csaw__alone_enter(r, (uint32_t)places, false, turn);
    }
    if (threadIdx.x == 0) {
        job->regions.arcs[i] = total;
        job->regions.seeds[i] = seeds;
    }
    return true;
}

template <uint32_t KERNEL> CSAW_FN void csaw__run_alone(const csaw__job &given) {
    __shared__ csaw__job job;
    __shared__ csaw_vertex root;
    __shared__ unsigned long long next;
    const csaw__alone &alone = given.alone;
    const csaw__pick_room pick_room = csaw__shared_pick_room<KERNEL, CSAW__ALONE_THREADS / CSAW__TEAM>();
    const csaw__alone_room r =
        csaw__alone_room_at(alone.memory + blockIdx.x * CSAW__ALONE_WORDS(alone.places), alone.places);
    for (uint32_t w = threadIdx.x; w < sizeof job / 4; w += CSAW__ALONE_THREADS)
        ((uint32_t *)&job)[w] = ((const uint32_t *)&given)[w];
    __syncthreads();
    if (threadIdx.x == 0) {
        csaw__wave *const wave = &job.wave;
        wave->owner = alone.owner;
        wave->root = &root;
        wave->fanout = r.fanout;
        wave->room = r.room;
        wave->need = r.need;
        wave->offset = r.offset;
        wave->work_offset = r.work_offset;
        wave->work = r.work;
        wave->got = r.got;
        wave->src = r.src;
        wave->dst = r.dst;
        wave->edge = r.edge;
        wave->from = r.from;
        wave->visited = r.visited;
        wave->visited_mask = CSAW__ALONE_VISITED * (uint64_t)alone.places - 1;
    }
    for (;;) {
        __syncthreads(); /* all know the instance before, and are done with it */
        if (threadIdx.x == 0) next = atomicAdd(alone.turn, 1ull);
        __syncthreads();
        const uint64_t i = next;
        if (i >= given.regions.count) return;
        const bool done = csaw__alone_run<KERNEL>(&job, r, i, pick_room, &root);
        if (!done && threadIdx.x == 0) alone.left[atomicAdd(alone.num_left, 1ull)] = (uint32_t)i;
    }
}

#endif
