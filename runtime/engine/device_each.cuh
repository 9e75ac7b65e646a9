/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_each.cuh - instances that run each by itself on the GPU, all depths in one kernel, compiled
 * around one sampler: for small pools and fanouts. Included after the sampler file by device_kernels.cuh.
 *
 * Method: a tile (4 to 32 lanes of a warp) an instance. Pools stand in shared memory as lists, with a hash table that
 * drops repeats; picks of several vertices are made at once (samplers/select/pick_group.cuh), or, by methods that scan
 * rows, of one vertex by all lanes (samplers/select/pick_team.cuh). Arcs go to the instance's region of places, in the
 * order of delivery. No instance waits for those of other warps. Where degrees say how many arcs there will be, the
 * last frontiers are left to device_last.cuh, which has most of the work to do and needs none of this memory.
 *
 * Limit on an H200, R-MAT 20: UNIFORM, the first of two hops, 71% of the issue slots; ITS, rows scanned: 51% of the
 * issue slots and 45% of the throughput of L2: warps wait for what they scan (docs/measured/2026-11-23-gpu-7.md). */
#ifndef CSAW_ENGINE_DEVICE_EACH_CUH
#define CSAW_ENGINE_DEVICE_EACH_CUH

#include "runtime/engine/device_expand.cuh"
#include "samplers/select/pick_group.cuh"

/* The vertices of an instance at a depth, each once, in the order in which they came. */
struct csaw__each_pool {
    csaw_vertex *at, *prev; /* shared; prev: with CSAW_SECOND_ORDER alone */
    uint32_t count;
};

constexpr bool csaw__keeps_prev = (csaw__hooks.flags & CSAW_SECOND_ORDER) != 0;

/* Every lane's vertex, CSAW_NONE = none, enters the pool in the order of the lanes unless it is there. table: shared,
 * [mask + 1], what the pool holds, CSAW_NONE elsewhere; at_once: none enters before or after, so there is no table. */
template <class TILE>
CSAW_FN void csaw__each_enter(const TILE &tile, csaw__each_pool *pool, uint32_t *table, uint32_t mask, bool at_once,
                              csaw_vertex v, csaw_vertex prev) {
    const uint32_t alike = tile.alike(v);
    bool fresh = v != CSAW_NONE && tile.first(alike) == tile.lane;
    if (fresh && !at_once) { /* no other lane looks for v */
        uint32_t cell = (v * 0x9e3779b9u >> 7) & mask;
        for (;; cell = (cell + 1) & mask) {
            const uint32_t found = atomicCAS(table + cell, CSAW_NONE, v);
            if (found == CSAW_NONE) break;
            fresh = found != v;
            if (!fresh) break;
        }
    }
    const uint32_t entering = tile.ballot(fresh);
    if (fresh) {
        const uint32_t place = pool->count + tile.lower(entering);
        pool->at[place] = v;
        if (csaw__keeps_prev) pool->prev[place] = prev;
    }
    pool->count += (uint32_t)__popc(entering);
    tile.sync();
}

/* Arcs of a row of so many, where every one has a positive bias. */
CSAW_FN uint32_t csaw__each_picks(const csaw__job *job, uint32_t degree, uint32_t k) {
    return degree && (job->replace || degree > k) ? k : degree;
}

/* Leaves the last frontier; returns the instance's arcs, the first `arcs` of them before that depth. */
template <class TILE>
CSAW_FN uint32_t csaw__each_leave(const TILE &tile, const csaw_site *site, const csaw__each_pool &pool, uint64_t warp,
                                  uint32_t arcs) {
    const csaw__team team;
    const csaw__last &last = site->job->last;
    const uint32_t k = site->job->fanout ? site->job->fanout[site->depth] : 1;
    uint32_t left = 0; /* by the warp */
    for (uint32_t base = 0; tile.any_of_warp(base < pool.count); base += tile.width()) {
        const uint32_t s = base + tile.lane;
        const bool there = s < pool.count;
        csaw__last_entry entry = {there ? pool.at[s] : CSAW_NONE, CSAW_NONE, site->owner, 0};
        if (csaw__keeps_prev && there) entry.prev = pool.prev[s];
        const uint32_t picks = there ? csaw__each_picks(site->job, csaw_degree(site, entry.at), k) : 0;
        const uint32_t upto = arcs + tile.prefix(picks), entering = team.ballot(there);
        entry.place = upto - picks;
        if (there) last.entry[warp * last.room + left + team.lower(entering)] = entry;
        left += (uint32_t)__popc(entering);
        arcs = tile.get(upto, tile.width() - 1);
    }
    if (team.lane == 0) last.entries[warp] = left;
    return arcs;
}

/* TILE: csaw__team where tiles are warps, which makes much of it known when compiled; else csaw__tile. */
template <uint32_t KERNEL, class TILE> CSAW_FN void csaw__run_each(const csaw__job &job) {
    constexpr bool scans = KERNEL == CSAW__KERNEL_ITS || KERNEL == CSAW__KERNEL_RACE; /* rows: by a whole warp */
    __shared__ __align__(8) uint32_t words[CSAW__EACH_THREADS * CSAW__LANE_WORDS];
    const csaw__pick_room pick_room = csaw__shared_pick_room<KERNEL, CSAW__EACH_THREADS / CSAW__TEAM>();
    const csaw__each &each = job.each;
    const csaw__regions &regions = job.regions;
    const TILE tile(each.log_width);
    const uint64_t i = (blockIdx.x * (uint64_t)CSAW__EACH_THREADS + threadIdx.x) / tile.width();
    const bool mine = i < regions.count; /* else the tile has no instance, and goes along with its warp */
    uint32_t *room = words + (threadIdx.x - tile.lane) * CSAW__LANE_WORDS;
    uint32_t *const slots = room;
    csaw_edge *const scan_pick = (csaw_edge *)room; /* [32] */
    uint32_t *const table = room + 2 * tile.width();
    csaw__each_pool pool, next;
    pool.at = table + each.table_mask + 1;
    next.at = pool.at + each.pool_room;
    pool.prev = next.at + each.pool_room;
    next.prev = pool.prev + each.pool_room;
    pool.count = next.count = 0;

    csaw_site site;
    site.job = &job;
    site.owner = (uint32_t)(regions.first + i);
    site.instance = job.first + regions.first + i;
    site.depth = 0;
    site.row = site.prev_row = 0;
    site.degree = site.prev_degree = 0; /* a hook may ask for prev's neighbours at a seed: it has none */
    site.undeclared = 0;
    site.in_sample = 1;
    site.place = 0;
    for (int j = 0; j < 4; j++) site.user[j] = 0;

    const auto clear = [&](bool at_once) {
        if (at_once) return;
        for (uint32_t c = tile.lane; c <= each.table_mask; c += tile.width()) table[c] = CSAW_NONE;
        tile.sync();
    };
    uint64_t pool_number = each.phase + regions.first + i;
    if (pool_number >= job.num_roots) pool_number %= job.num_roots;
    const uint64_t from = mine ? pool_number - each.first_pool : 0;
    const uint64_t first = job.seed_offset ? job.seed_offset[from] : from + each.first_pool,
                   end = !mine             ? first
                         : job.seed_offset ? job.seed_offset[from + 1]
                                           : first + 1;
    bool at_once = !tile.any_of_warp(end - first > tile.width());
    clear(at_once);
    for (uint64_t base = first; tile.any_of_warp(base < end); base += tile.width()) {
        const uint64_t s = base + tile.lane;
        const csaw_vertex seed = s >= end ? CSAW_NONE : job.roots ? job.roots[s - each.first_seed] : (csaw_vertex)s;
        csaw__each_enter(tile, &pool, table, each.table_mask, at_once, seed, CSAW_NONE);
    }
    site.root = pool.count ? pool.at[0] : CSAW_NONE;
    for (uint32_t s = tile.lane; s < pool.count; s += tile.width())
        regions.seed[i * regions.seed_places + s] = pool.at[s];

    uint32_t total = 0;
    if (mine && tile.lane == 0) regions.seeds[i] = pool.count;
    for (const uint32_t end = job.last.entry ? job.length - 1 : job.length; site.depth < end; site.depth++) {
        if (!tile.any_of_warp(pool.count)) continue;
        const bool last = site.depth + 1 == job.length;
        const uint32_t k = job.fanout ? job.fanout[site.depth] : 1;
        CSAW__ASSUME(k <= CSAW__TEAM_PICKS);
        next.count = 0;
        const csaw__deal deal(tile, k, scans, slots);
        at_once = !tile.any_of_warp(pool.count > deal.rows);
        if (!last) clear(at_once);
        for (uint32_t base = 0; tile.any_of_warp(base < pool.count); base += deal.rows) {
            const bool live = deal.row < deal.rows && base + deal.row < pool.count;
            site.degree = 0;
            if (live) {
                site.prev = csaw__keeps_prev ? pool.prev[base + deal.row] : CSAW_NONE;
                site.at = pool.at[base + deal.row];
                csaw__wave_rows(&site);
            }
            uint32_t got, rank = 0;
            if constexpr (scans) {
                got = site.degree ? csaw__team_picks<KERNEL>(csaw__team(), &site, k, pick_room, scan_pick) : 0;
                got = got == CSAW__BROKEN_PICKS ? 0 : got;
                if (deal.slot < got) rank = (uint32_t)scan_pick[deal.slot];
            } else {
                got = csaw__group_picks<KERNEL>(tile, deal, &site, live, &rank);
            }
            const bool picked = live && deal.slot < got;
            const uint32_t picks = tile.ballot(picked);
            csaw_vertex lead = CSAW_NONE;
            if (picked) {
                const csaw_arc arc = csaw__arc_at(&site, rank);
                const uint64_t place = i * regions.places + total + tile.lower(picks);
                __stcs(regions.src + place, arc.src);
                __stcs(regions.dst + place, arc.dst);
                __stcs((unsigned long long *)regions.edge + place, (unsigned long long)arc.id);
                __stcs(regions.depth + place, site.depth);
                lead = csaw__update(&site, &arc, 0); /* at the last depth too: it may break its rules */
            } else if (csaw__given(csaw__hooks.dead_end) && live && deal.slot == 0) { /* got == 0 */
                lead = csaw__dead_end(&site, 0);
            }
            total += (uint32_t)__popc(picks);
            if (!last) csaw__each_enter(tile, &next, table, each.table_mask, at_once, lead, site.at);
            tile.sync(); /* the picks have been read */
        }
        if (mine && site.undeclared) csaw__wave_fault(&site);
        const csaw__each_pool was = pool;
        pool = next;
        next = was;
    }
    if (mine && tile.lane == 0) regions.arcs[i] = total;
    if (!job.last.entry) return;
    total = csaw__each_leave(tile, &site, pool, i >> (5 - each.log_width), total);
    if (mine && tile.lane == 0) job.last.arcs[i] = total;
}

#endif
