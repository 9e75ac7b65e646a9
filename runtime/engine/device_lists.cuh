/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_lists.cuh - instances whose pools are lists (CSAW_REPLACE_POOL) on the GPU, compiled around one
 * sampler. Included after the sampler file by device_kernels.cuh.
 *
 * Method: one team of lanes an instance, from its first depth to its last, since a depth is little work and depths are
 * many (frontier sampling: Ribeiro, Towsley, IMC 2010). The masses of a pool stand in a Fenwick tree as on the CPU
 * (runtime/engine/pool.c): a place that changes costs log2 n, unless the largest bias gets another exponent, which
 * gives every place another mass. Hooks of one place are called by all lanes alike, so each has the user bytes.
 *
 * Limit on an H200, 2,000 instances with pools of 2,000: latency, at 20% of the warps (one an instance), 22% of the
 * issue slots and 35% of the throughput of L2. docs/measured/2026-11-22-gpu-2.md. */
#ifndef CSAW_ENGINE_DEVICE_LISTS_CUH
#define CSAW_ENGINE_DEVICE_LISTS_CUH

#include "runtime/engine/device_expand.cuh"
#include "runtime/engine/device_select.cuh"

struct csaw__list {
    csaw_vertex *at, *prev;
    float *bias;
    uint64_t *mass, *tree; /* NULL: the frontier is the pool */
    uint64_t n, sum;
    uint32_t top, num_top; /* exponent of the largest bias, and how many biases have it; 0 if all are 0 */
};

/* Biased by 1023; 0 of 0. */
CSAW_FN uint32_t csaw__exponent(float bias) { return bias > 0 ? (uint32_t)(csaw__bits((double)bias) >> 52) : 0; }

CSAW_FN uint64_t csaw__list_mass(const csaw__list *list, float bias) {
    const int exponent = 61 - (int)csaw__ceil_log2(list->n) - ((int)list->top - 1023);
    return bias > 0 ? csaw__mass((double)bias, csaw__power_of_two(exponent)) : 0;
}

/* Masses and their tree, anew. */
CSAW_FN void csaw__list_build(const csaw__team &team, csaw__list *list) {
    double largest = 0;
    uint64_t num_top = 0, sum = 0;
    for (uint64_t i = team.lane; i < list->n; i += CSAW__TEAM) {
        const double bias = list->bias[i];
        largest = bias > largest ? bias : largest;
    }
    list->top = csaw__exponent((float)team.largest(largest));
    for (uint64_t i = team.lane; i < list->n; i += CSAW__TEAM) {
        const float bias = list->bias[i];
        const uint64_t mass = csaw__list_mass(list, bias);
        list->mass[i] = list->tree[i + 1] = mass;
        num_top += bias > 0 && csaw__exponent(bias) == list->top;
        sum += mass;
    }
    list->num_top = (uint32_t)team.sum(num_top);
    list->sum = team.sum(sum);
    team.sync();
    for (uint64_t half = 1; 2 * half <= list->n; half *= 2) { /* nodes that are multiples of 2 * half */
        for (uint64_t i = 2 * half * (team.lane + 1); i <= list->n; i += 2 * half * CSAW__TEAM)
            list->tree[i] += list->tree[i - half];
        team.sync();
    }
}

/* u takes the place, or CSAW_NONE closes it. True: vertex_bias broke its rules. */
CSAW_FN bool csaw__list_set(const csaw__team &team, csaw__list *list, const csaw__job *job, uint64_t place,
                            csaw_vertex u, csaw_vertex from) {
    bool broken = false;
    const float bias = u == CSAW_NONE ? 0 : csaw__vertex_bias(job, u, &broken), before = list->bias[place];
    const uint64_t mass_before = list->tree ? list->mass[place] : 0;
    team.sync(); /* all have read what is written now */
    if (team.lane == 0) {
        list->at[place] = u;
        list->prev[place] = from;
        list->bias[place] = bias;
    }
    team.sync();
    if (!list->tree) return broken;
    const uint32_t exponent = csaw__exponent(bias);
    list->num_top -= before > 0 && csaw__exponent(before) == list->top;
    list->num_top += bias > 0 && exponent == list->top;
    if (exponent > list->top || (list->num_top == 0 && list->top)) {
        csaw__list_build(team, list);
        return broken;
    }
    const uint64_t mass = csaw__list_mass(list, bias), change = mass - mass_before; /* modulo 2^64 */
    uint64_t node = place + 1; /* each lane adds to one of the nodes above the place */
    for (uint32_t up = 0; up < team.lane && node <= list->n; up++) node += node & (0 - node);
    if (node <= list->n) list->tree[node] += change;
    if (team.lane == 0) list->mass[place] = mass;
    list->sum += change;
    team.sync();
    return broken;
}

/* The pool of seeds. */
CSAW_FN csaw__list csaw__list_start(const csaw__team &team, const csaw__job *job, uint64_t i, uint64_t instance,
                                    bool *broken) {
    const csaw__lists *lists = &job->lists;
    const uint64_t pool = instance % job->num_roots;
    const uint64_t seed = job->seed_offset ? job->seed_offset[pool] : pool;
    csaw__list list;
    list.n = (job->seed_offset ? job->seed_offset[pool + 1] : pool + 1) - seed;
    list.at = lists->at + i * lists->room;
    list.prev = lists->prev + i * lists->room;
    list.bias = lists->bias + i * lists->room;
    list.mass = lists->mass ? lists->mass + i * lists->room : 0;
    list.tree = lists->tree ? lists->tree + i * (lists->room + 1) : 0;
    list.sum = list.top = list.num_top = 0;
    for (uint64_t p = team.lane; p < list.n; p += CSAW__TEAM) {
        const csaw_vertex v = job->roots ? job->roots[seed + p] : (csaw_vertex)(seed + p);
        list.at[p] = v;
        list.prev[p] = CSAW_NONE;
        list.bias[p] = csaw__vertex_bias(job, v, broken);
    }
    team.sync();
    if (list.tree) csaw__list_build(team, &list);
    return list;
}

/* The places that go on, to pick in their order; returns how many. Without a frontier_size all of the list's places are
 * looked at, and there is no pick. */
CSAW_FN uint64_t csaw__list_frontier(const csaw__team &team, const csaw__list *list, const csaw_site *site,
                                     uint32_t *few, uint64_t *work, uint64_t *pick) {
    const uint32_t size = site->job->lists.size;
    if (!csaw__given(csaw__hooks.frontier_size)) return list->n;
    if (size == 0 || list->sum == 0) return 0;
    csaw__choice c = csaw__select_choice(site->job, site->instance, site->depth, list->n);
    c.tree = list->tree;
    c.mass = list->mass;
    c.sum = list->sum;
    return size >= list->n ? csaw__team_choose_all(team, &c, pick)
                           : csaw__team_choose(team, &c, size, false, few, work, pick);
}

/* What an instance has found so far, in its region. */
struct csaw__found {
    uint64_t arc, seed; /* where the next one goes */
};

/* A place of the frontier: its pick, to the region, and what takes the place. */
template <uint32_t KERNEL>
CSAW_FN void csaw__list_visit(const csaw__team &team, csaw__list *list, csaw_site *site, const csaw__pick_room &room,
                              uint64_t *pick, csaw__found *found) {
    const csaw__job *job = site->job;
    const csaw__regions &out = job->regions;
    const csaw_vertex v = site->at;
    site->row = site->prev_row = 0;
    site->degree = site->prev_degree = site->undeclared = 0;
    uint32_t k = csaw__hooks.fanout ? csaw__hooks.fanout(site) : csaw_fanout(site), got = 0;
    if (k > 1) {
        csaw__wave_fault(site);
        k = 0;
    }
    if (csaw__second_order(site)) {
        csaw__site_row(site, site->prev);
        site->prev_row = site->row;
        site->prev_degree = site->degree;
    }
    csaw__site_row(site, v);
    if (k && site->degree) got = csaw__team_picks<KERNEL>(team, site, 1, room, pick);
    const bool broken = got == CSAW__BROKEN_PICKS;
    csaw_vertex next = CSAW_NONE;
    if (got && !broken) {
        const csaw_arc arc = csaw__arc_at(site, (uint32_t)*pick);
        team.sync(); /* all have read what the next place writes */
        if (team.lane == 0) {
            out.src[found->arc] = arc.src;
            out.dst[found->arc] = arc.dst;
            out.edge[found->arc] = arc.id;
            out.depth[found->arc] = site->depth;
        }
        found->arc++;
        next = csaw__update(site, &arc, 0);
    } else if (k && !broken) {
        next = csaw__dead_end(site, 0);
    }
    if (site->undeclared) csaw__wave_fault(site);
    if (k == 0 || broken || site->depth + 1 == job->length) return;
    if (csaw__list_set(team, list, job, site->place, next, v)) { /* it is the next selection that would look at it */
        site->depth++;
        csaw__wave_fault(site);
        site->depth--;
    }
}

/* One team an owner. */
template <uint32_t KERNEL> CSAW_FN void csaw__lists_run(const csaw__job &job) {
    __shared__ uint32_t few[CSAW__TEAMS][2 * CSAW__TEAM_PICKS];
    constexpr bool sums = KERNEL == CSAW__KERNEL_ITS;
    __shared__ uint64_t picked[CSAW__TEAMS], parts[CSAW__TEAMS][sums ? CSAW__PARTS : 1];
    const csaw__regions &out = job.regions;
    const csaw__team team;
    const uint32_t mine = threadIdx.x / CSAW__TEAM;
    const uint64_t i = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM;
    if (i >= out.count) return;
    const csaw__pick_room room = {few[mine], few[mine] + CSAW__TEAM_PICKS, parts[mine], 0};
    csaw_site site;
    site.job = &job;
    site.owner = (uint32_t)(out.first + i);
    site.instance = job.wave.instance + out.first + i;
    site.depth = site.undeclared = 0;
    site.in_sample = 1;
    for (int j = 0; j < 4; j++) site.user[j] = 0;
    bool broken = false;
    csaw__list list = csaw__list_start(team, &job, i, site.instance, &broken);
    if (broken) csaw__wave_fault(&site);
    site.root = list.n ? list.at[0] : CSAW_NONE;
    uint64_t *const pick = job.lists.pick + i * job.lists.picks, *const work = job.lists.work + i * job.lists.words;
    csaw__found found = {i * out.places, i * out.seed_places};
    bool any = true;
    for (; any && site.depth < job.length; site.depth++) {
        any = false;
        const uint64_t count = csaw__list_frontier(team, &list, &site, few[mine], work, pick);
        for (uint64_t j = 0; j < count; j++) {
            site.place = (uint32_t)(csaw__given(csaw__hooks.frontier_size) ? pick[j] : j);
            site.at = list.at[site.place];
            site.prev = list.prev[site.place];
            if (site.at == CSAW_NONE) continue;
            any = true;
            if (site.depth == 0) {
                if (team.lane == 0) out.seed[found.seed] = site.at;
                found.seed++;
            }
            csaw__list_visit<KERNEL>(team, &list, &site, room, &picked[mine], &found);
        }
    }
    if (team.lane == 0) {
        out.arcs[i] = (uint32_t)(found.arc - i * out.places);
        out.seeds[i] = (uint32_t)(found.seed - i * out.seed_places);
    }
}

#endif
