/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_expand.cuh - a frontier on the GPU, compiled around one sampler: how many arcs each vertex
 * gets, which, and where their updates lead. Included after the sampler file by device_kernels.cuh.
 *
 * Method: one team of lanes a vertex (C-SAW, SC'20, section IV); samplers/select/pick_team.cuh picks.
 *
 * Limit on an H200, R-MAT 20, 500 batches of 1,024 seeds: latency. ALIAS has 37% of the issue slots, 37% of the warps
 * and 26% of the throughput of L2, ITS with stored sums 33%, 28% and 26%, ITS that scans 44%, 23% and 21%, with 40% of
 * L1's; RACE has 56% of the issue slots, for logarithms, and 3% of L2's. docs/measured/2026-11-22-gpu-2.md. */
#ifndef CSAW_ENGINE_DEVICE_EXPAND_CUH
#define CSAW_ENGINE_DEVICE_EXPAND_CUH

#include "runtime/engine/step.h"
#include "samplers/select/pick_team.cuh"

/* Kernels that the hooks allow; others compile to nothing. */
constexpr bool csaw__static = csaw__given(csaw__hooks.static_bias), csaw__dynamic = csaw__given(csaw__hooks.edge_bias),
               csaw__bounded = csaw__dynamic && csaw__given(csaw__hooks.bounds);
template <uint32_t KERNEL>
constexpr bool csaw__allowed =
    KERNEL == CSAW__KERNEL_ITS || KERNEL == CSAW__KERNEL_RACE             ? true
    : KERNEL == CSAW__KERNEL_UNIFORM || KERNEL == CSAW__KERNEL_ITS_STORED ? !csaw__dynamic
    : KERNEL == CSAW__KERNEL_ALIAS                                        ? !csaw__dynamic && csaw__static
    : KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_REST ? csaw__bounded
                                                                          : csaw__bounded && csaw__static;

/* The site of entry i, not yet at its row. */
CSAW_FN csaw_site csaw__wave_site(const csaw__job *job, uint64_t i) {
    const csaw__wave *wave = &job->wave;
    csaw_site site;
    site.job = job;
    site.owner = wave->owner[i];
    site.instance = csaw__wave_instance(wave, site.owner);
    site.root = wave->root[site.owner];
    site.at = wave->at[i];
    site.prev = wave->prev[i];
    site.depth = wave->depth;
    site.row = site.prev_row = 0;
    site.degree = site.prev_degree = 0;
    site.undeclared = 0;
    site.in_sample = 1;
    site.place = 0;
    for (int j = 0; j < 4; j++) site.user[j] = csaw__hooks.user_bytes ? wave->user[site.owner][j] : 0;
    return site;
}

/* Puts the site at its row, and notes prev's. */
CSAW_FN void csaw__wave_rows(csaw_site *site) {
    const csaw_vertex at = site->at;
    if (csaw__second_order(site)) {
        csaw__site_row(site, site->prev);
        site->prev_row = site->row;
        site->prev_degree = site->degree;
    }
    csaw__site_row(site, at);
}

/* Whether an entry with k picks is for a block (device_hubs.cuh): its row is long and must be scanned. */
CSAW_FN bool csaw__is_hub(const csaw__job *job, uint32_t k, uint32_t degree) {
    if (!job->wave.hubs || degree < CSAW__HUB_DEGREE || k == 0) return false;
    if (k == CSAW_ALL || (!job->replace && k >= degree)) return false;
    return job->kernel == CSAW__KERNEL_RACE || (job->kernel == CSAW__KERNEL_ITS && !job->rows.upto);
}

/* Memory to pick in, of entry i. */
CSAW_FN uint64_t *csaw__wave_work(const csaw__wave *wave, uint64_t i) {
    return wave->work + (wave->work_offset[i] - wave->work_offset[wave->work_first]);
}

/* Of entry i. */
CSAW_FN void csaw__wave_fanout_of(const csaw__job &job, uint64_t i) {
    const csaw__wave &wave = job.wave;
    csaw_site site = csaw__wave_site(&job, i);
    const uint32_t degree = csaw_degree(&site, site.at);
    uint32_t k = csaw__hooks.fanout ? csaw__hooks.fanout(&site) : csaw_fanout(&site);
    const bool all = k == CSAW_ALL || (!job.replace && k >= degree);
    if (!all && k > CSAW__MAX_SLOTS) {
        csaw__wave_fault(&site);
        k = 0;
    }
    if (site.undeclared) csaw__wave_fault(&site);
    wave.fanout[i] = k;
    const uint64_t picks = all ? degree : degree ? k : 0;
    wave.room[i] = picks ? picks : 1;
    wave.need[i] = !all && k && degree ? csaw__pick_words(&job, k, degree) : 0;
    if (csaw__is_hub(&job, k, degree)) wave.hubs[atomicAdd(wave.num_hubs, 1ull)] = (uint32_t)i;
}

/* One thread an entry. */
CSAW_FN void csaw__wave_fanout(const csaw__job &job) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < job.wave.count) csaw__wave_fanout_of(job, i);
}

/* Shared memory of the block's teams to pick in. */
template <uint32_t KERNEL, uint32_t TEAMS> CSAW_FN csaw__pick_room csaw__shared_pick_room(void) {
    constexpr bool sums = KERNEL == CSAW__KERNEL_ITS;
    __shared__ uint64_t parts[TEAMS][sums ? CSAW__PARTS : 1];
    __shared__ uint32_t picks[TEAMS][CSAW__TEAM_PICKS], slots[TEAMS][CSAW__TEAM_PICKS];
    const uint32_t mine = threadIdx.x / CSAW__TEAM;
    const csaw__pick_room room = {picks[mine], slots[mine], parts[mine], 0};
    return room;
}

/* The picks of entry i stand in edge as places of its row: they become arcs, and updates say where they lead. got: how
 * many, of k; CSAW__BROKEN_PICKS: a hook broke its rules. */
CSAW_FN void csaw__wave_finish(const csaw__wave &wave, const csaw__team &team, csaw_site *site, uint64_t i, uint32_t k,
                               uint32_t got) {
    const uint64_t first = wave.offset[i];
    const bool broken = got == CSAW__BROKEN_PICKS;
    if (broken) got = 0;
    /* updates that change the instance's bytes do so in the order of the picks, one lane for all */
    constexpr uint32_t step = csaw__hooks.user_bytes ? 1 : CSAW__TEAM;
    for (uint64_t j = step > 1 ? team.lane : team.lane ? got : 0; j < got; j += step) {
        const csaw_arc arc = csaw__arc_at(site, (uint32_t)wave.edge[first + j]);
        wave.src[first + j] = arc.src;
        wave.dst[first + j] = arc.dst;
        wave.edge[first + j] = arc.id;
        const csaw_vertex next = csaw__update(site, &arc, 0); /* at the last depth too: it may break its rules */
        if (!wave.next) continue;
        wave.next[first + j] = next;
        wave.from[first + j] = (uint32_t)i;
    }
    if (csaw__hooks.user_bytes) team.sync(); /* all lanes have read what is written now */
    if (team.lane == 0) {
        wave.got[i] = got;
        if (got == 0 && k && !broken && csaw__given(csaw__hooks.dead_end)) {
            const csaw_vertex next = csaw__dead_end(site, 0);
            if (wave.next) {
                wave.next[first] = next;
                wave.from[first] = (uint32_t)i;
            }
        }
        for (int j = 0; j < 4 && csaw__hooks.user_bytes; j++) wave.user[site->owner][j] = site->user[j];
    }
}

/* The entry at a place, unless it is a hub. */
template <uint32_t KERNEL>
CSAW_FN void csaw__wave_entry(const csaw__job &job, const csaw__team &team, uint64_t place, csaw__pick_room room) {
    const csaw__wave &wave = job.wave;
    const uint64_t i = wave.list ? wave.list[place] : place;
    csaw_site site = csaw__wave_site(&job, i);
    csaw__wave_rows(&site);
    const uint32_t k = wave.fanout[i];
    if (csaw__is_hub(&job, k, site.degree)) return;
    room.work = csaw__wave_work(&wave, i);
    uint32_t got = 0;
    if (k && site.degree) got = csaw__team_picks<KERNEL>(team, &site, k, room, wave.edge + wave.offset[i]);
    csaw__wave_finish(wave, team, &site, i, k, got);
    if (site.undeclared) csaw__wave_fault(&site);
}

/* One team an entry, and then the next that no team of the launch has: a launch may have fewer blocks. */
template <uint32_t KERNEL> CSAW_FN void csaw__wave_expand(const csaw__job &job) {
    const csaw__team team;
    const csaw__pick_room room = csaw__shared_pick_room<KERNEL, CSAW__TEAMS>();
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    uint64_t place = job.wave.first + (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM;
    for (; place < job.wave.count; place += threads / CSAW__TEAM) {
        csaw__wave_entry<KERNEL>(job, team, place, room);
        team.sync(); /* the room is picked in again */
    }
}

#endif
