/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_alone.cuh - instances of a sampler whose depths follow each other (it looks at what was
 * visited, selects from its pool or keeps it, picks from layers, has bytes of its own, or a hook says its fanouts),
 * each run by a block of the GPU to its end, compiled around that sampler. Included after the sampler file by
 * device_kernels.cuh.
 *
 * Method: a block takes the instance that comes next and advances it as device_depths.cu does a batch, by the same
 * functions (device_expand.cuh, device_select.cuh, device_layer.cuh): its job is a copy of its own, whose wave is the
 * instance's frontier. A barrier of the block stands where the batch has a launch and a way to the host, so no instance
 * waits for another one. An instance that needs more room than a block has is left, whole: the batch runs those.
 *
 * Limit on an H200, R-MAT 18, forest fire of 2,000: 15% of the issue slots, 27% of the throughput of L2: a block
 * waits for one vertex after the other. docs/measured/2026-11-24-gpu-11.md. */
#ifndef CSAW_ENGINE_DEVICE_ALONE_CUH
#define CSAW_ENGINE_DEVICE_ALONE_CUH

#include "runtime/engine/device_alone_layer.cuh"
#include "runtime/engine/device_select.cuh"

constexpr bool csaw__runs_alone =
    (csaw__given(csaw__hooks.fanout) || csaw__given(csaw__hooks.frontier_size) || csaw__hooks.user_bytes != 0 ||
     (csaw__hooks.flags & (CSAW_VISITED | CSAW_LAYER | CSAW_KEEP_POOL)) != 0) &&
    (csaw__hooks.flags & CSAW_REPLACE_POOL) == 0;

/* Seeds of instance i to pool 0; how many, or CSAW_NONE: too many. */
CSAW_FN uint32_t csaw__alone_seeds(const csaw__job &job, const csaw__alone_room &r, uint64_t i) {
    const csaw__each &each = job.each;
    const uint64_t from = (each.phase + i) % job.num_roots - each.first_pool;
    const uint64_t first = job.seed_offset ? job.seed_offset[from] : from + each.first_pool,
                   end = job.seed_offset ? job.seed_offset[from + 1] : first + 1;
    if (end - first > r.places) return CSAW_NONE;
    for (uint64_t s = first + threadIdx.x; s < end; s += csaw__alone_threads)
        r.next[s - first] = job.roots ? job.roots[s - each.first_seed] : (csaw_vertex)s;
    __syncthreads();
    return csaw__alone_enter(r, 0, (uint32_t)(end - first), 0, 0);
}

/* Of the n vertices of pool `turn` those that go on, to r.chosen; returns how many. */
CSAW_FN uint32_t csaw__alone_select(const csaw__job &job, const csaw__alone_room &r, uint32_t turn, uint32_t n) {
    __shared__ uint32_t few[2 * CSAW__TEAM_PICKS], chosen;
    if (threadIdx.x < CSAW__TEAM) {
        const csaw__team team;
        const uint64_t got = csaw__select_from(team, job, job.wave.instance, r.at[turn], n,
                                               csaw__given(csaw__hooks.vertex_bias) ? r.room : 0, few, r.work, r.need);
        if (team.lane == 0) chosen = (uint32_t)got;
    }
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < chosen; j += csaw__alone_threads) {
        r.chosen[j] = r.at[turn][r.need[j]];
        r.chosen_prev[j] = r.prev[turn][r.need[j]];
    }
    __syncthreads();
    return chosen;
}

/* The rows of a frontier: its picks to the instance's region, behind `total` arcs, and where they lead to r.next. */
template <uint32_t KERNEL>
CSAW_FN csaw__alone_found csaw__alone_rows(const csaw__job &job, const csaw__alone_room &r, uint64_t i,
                                           uint32_t total) {
    const csaw__regions &out = job.regions;
    const csaw__alone_found too_many = {CSAW_NONE, 0};
    const csaw__pick_room pick_room = csaw__shared_pick_room<KERNEL, csaw__alone_threads / CSAW__TEAM>();
    const csaw__team team;
    const uint32_t count = (uint32_t)job.wave.count, warps = csaw__alone_threads / CSAW__TEAM;
    for (uint32_t e = threadIdx.x; e < count; e += csaw__alone_threads) csaw__wave_fanout_of(job, e);
    __syncthreads();
    const uint64_t places = csaw__alone_sums(r.room, r.offset, count);
    const uint64_t words = csaw__alone_sums(r.need, r.work_offset, count);
    if (*job.wave.num_hubs || places > r.places || words > CSAW__ALONE_WORK * (uint64_t)r.places) return too_many;
    for (uint32_t p = threadIdx.x; p < places; p += csaw__alone_threads) r.next[p] = CSAW_NONE;
    __syncthreads();
    for (uint32_t e = threadIdx.x / CSAW__TEAM; e < count; e += warps) {
        csaw__wave_entry<KERNEL>(job, team, e, pick_room);
        team.sync(); /* the room is picked in again */
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < count; e += csaw__alone_threads) r.sum[e] = r.got[e];
    __syncthreads();
    const uint64_t arcs = csaw__alone_sums(r.sum, r.sum, count);
    if (total + arcs > out.places) return too_many;
    for (uint32_t e = threadIdx.x / CSAW__TEAM; e < count; e += warps)
        for (uint32_t j = team.lane; j < r.got[e]; j += CSAW__TEAM) {
            const uint64_t from = r.offset[e] + j, to = i * out.places + total + r.sum[e] + j;
            out.src[to] = r.src[from];
            out.dst[to] = r.dst[from];
            out.edge[to] = r.edge[from];
            out.depth[to] = job.wave.depth;
        }
    __syncthreads();
    const csaw__alone_found found = {(uint32_t)arcs, (uint32_t)places};
    return found;
}

/* The wave of a depth, in the block's own job; num_hubs: shared. */
CSAW_FN void csaw__alone_wave(csaw__job *job, const csaw__alone_room &r, const csaw_vertex *at, const csaw_vertex *prev,
                              uint32_t count, unsigned long long *num_hubs) {
    csaw__wave *const wave = &job->wave;
    wave->count = count;
    wave->at = at;
    wave->prev = prev;
    wave->next = wave->depth + 1 == job->length ? 0 : r.next;
    wave->hubs = r.from; /* a row to be scanned by many is for the batch, so what stands there is of no use */
    wave->num_hubs = num_hubs;
    *num_hubs = 0;
}

/* All depths of instance i by all threads of the block; false: it needs more room. */
template <uint32_t KERNEL>
CSAW_FN bool csaw__alone_run(csaw__job *job, const csaw__alone_room &r, uint64_t i, csaw_vertex *root) {
    __shared__ unsigned long long num_hubs;
    constexpr bool visits = (csaw__hooks.flags & CSAW_VISITED) != 0, keeps = (csaw__hooks.flags & CSAW_KEEP_POOL) != 0,
                   selects = csaw__given(csaw__hooks.frontier_size);
    const csaw__regions &out = job->regions;
    const uint32_t seeds = csaw__alone_seeds(*job, r, i);
    if (seeds == CSAW_NONE) return false;
    for (uint64_t c = threadIdx.x; visits && c < CSAW__ALONE_VISITED * (uint64_t)r.places; c += csaw__alone_threads)
        r.visited[c] = ~0ull;
    if (threadIdx.x == 0) {
        *root = seeds ? r.at[0][0] : CSAW_NONE;
        job->wave.instance = job->first + i;
        for (int j = 0; j < 4 && csaw__hooks.user_bytes; j++) job->wave.user[0][j] = 0;
    }
    uint64_t visited = 0;
    uint32_t total = 0, first = 0, pool = seeds, turn = 0;
    for (uint32_t depth = 0; depth < job->length && pool; depth++) {
        visited = keeps ? pool : visited + pool;
        if (visits && visited > CSAW__ALONE_VISITED * (uint64_t)r.places / 2) return false;
        if (threadIdx.x == 0) job->wave.depth = depth;
        __syncthreads();
        if (visits) csaw__alone_visit(r, r.at[turn], pool);
        const csaw_vertex *at = r.at[turn], *prev = r.prev[turn];
        uint32_t count = pool;
        if constexpr (selects) {
            count = csaw__alone_select(*job, r, turn, pool);
            at = r.chosen;
            prev = r.chosen_prev;
        }
        if (!count) break;
        for (uint32_t e = threadIdx.x; e < count && depth == 0; e += csaw__alone_threads)
            out.seed[i * out.seed_places + e] = at[e];
        if (depth == 0) first = count;
        if (threadIdx.x == 0) csaw__alone_wave(job, r, at, prev, count, &num_hubs);
        __syncthreads();
        csaw__alone_found found;
        if constexpr (csaw__layered)
            found = csaw__alone_layer<KERNEL>(*job, r, i, total);
        else
            found = csaw__alone_rows<KERNEL>(*job, r, i, total);
        if (found.arcs == CSAW_NONE) return false;
        total += found.arcs;
        if (depth + 1 == job->length) break;
        if (keeps && pool + found.reached > r.places) return false;
        turn ^= 1;
        pool = csaw__alone_enter(r, keeps ? pool : 0, found.reached, at, turn);
    }
    if (threadIdx.x == 0) {
        out.arcs[i] = total;
        out.seeds[i] = first;
    }
    return true;
}

template <uint32_t KERNEL> CSAW_FN void csaw__run_alone(const csaw__job &given) {
    __shared__ csaw__job job;
    __shared__ csaw_vertex root;
    __shared__ unsigned long long next;
    __shared__ uint64_t user[1][4];
    const csaw__alone &alone = given.alone;
    const csaw__alone_room r = csaw__alone_room_at(alone.memory + blockIdx.x * alone.words, alone.places);
    for (uint32_t w = threadIdx.x; w < sizeof job / 4; w += csaw__alone_threads)
        ((uint32_t *)&job)[w] = ((const uint32_t *)&given)[w];
    __syncthreads();
    if (threadIdx.x == 0) {
        csaw__wave *const wave = &job.wave;
        wave->owner = alone.owner;
        wave->root = &root;
        wave->user = user;
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
        job.layers.arc = r.offset;
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
        const bool done = csaw__alone_run<KERNEL>(&job, r, i, &root);
        if (!done && threadIdx.x == 0) alone.left[atomicAdd(alone.num_left, 1ull)] = (uint32_t)i;
    }
}

#endif
