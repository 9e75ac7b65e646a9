/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_last.cuh - the last depth of instances that ran each by itself (device_each.cuh), compiled
 * around one sampler: where a vertex's degree says how many arcs it gets, so that their places are known. Included
 * after the sampler file by device_kernels.cuh.
 *
 * Method: nothing comes after the last depth, so its vertices need no instance around them: a warp takes those that a
 * warp left, as many at a time as it has lanes for, a lane a pick (samplers/select/pick_group.cuh), and writes arcs
 * where they belong; those of earlier depths it brings there.
 *
 * Limit on an H200, R-MAT 20: UNIFORM 78% of the throughput of L2, 45% of the issue slots: single sectors at random,
 * and 20 bytes written an arc. docs/measured/2026-11-23-gpu-7.md. */
#ifndef CSAW_ENGINE_DEVICE_LAST_CUH
#define CSAW_ENGINE_DEVICE_LAST_CUH

#include "runtime/engine/device_each.cuh"

CSAW_FN csaw_site csaw__last_site(const csaw__job *job, const csaw__last_entry &entry) {
    csaw_site site;
    site.job = job;
    site.owner = entry.owner;
    site.instance = job->first + entry.owner;
    site.root = CSAW_NONE; /* read only if a hook asks */
    if (entry.at != CSAW_NONE) site.root = job->regions.seed[entry.owner * job->regions.seed_places];
    site.at = entry.at;
    site.prev = entry.prev;
    site.depth = job->length - 1;
    site.row = site.prev_row = 0;
    site.degree = site.prev_degree = 0;
    site.undeclared = 0;
    site.in_sample = 1;
    site.place = 0;
    for (int j = 0; j < 4; j++) site.user[j] = 0;
    return site;
}

/* Arcs of earlier depths of the instances that the warp had, to where they belong. */
CSAW_FN void csaw__last_bring(const csaw__job &job, uint64_t warp) {
    const csaw__regions &from = job.regions;
    const csaw__last &to = job.last;
    const csaw__tile tile(job.each.log_width);
    const uint64_t i = (warp * CSAW__TEAM + (threadIdx.x & 31)) >> job.each.log_width;
    const uint32_t arcs = i < from.count ? from.arcs[i] : 0;
    for (uint32_t j = tile.lane; j < arcs; j += tile.width()) {
        const uint64_t place = i * from.places + j, there = to.offset[i] + j;
        __stcs(to.src + there, __ldcs(from.src + place));
        __stcs(to.dst + there, __ldcs(from.dst + place));
        __stcs((unsigned long long *)to.edge + there, __ldcs((const unsigned long long *)from.edge + place));
        __stcs(to.depth + there, __ldcs(from.depth + place));
    }
}

template <uint32_t KERNEL> CSAW_FN void csaw__run_last(const csaw__job &job) {
    __shared__ uint32_t words[CSAW__LAST_THREADS / CSAW__TEAM][KERNEL == CSAW__KERNEL_UNIFORM ? 1 : 2 * CSAW__TEAM];
    const csaw__last &last = job.last;
    const csaw__team team;
    const uint64_t warp = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM;
    if (warp >= last.warps) return;
    const uint32_t k = job.fanout ? job.fanout[job.length - 1] : 1, entries = last.entries[warp];
    const csaw__deal deal(team, k, false, words[threadIdx.x / CSAW__TEAM]);
    const csaw__last_entry *const mine = last.entry + warp * last.room, none = {CSAW_NONE, CSAW_NONE, 0, 0};
    const auto entry_of = [&](uint32_t e) { return deal.row < deal.rows && e < entries ? mine[e] : none; };
    csaw__last_entry next = entry_of(deal.row);
    csaw__last_bring(job, warp);
    for (uint32_t base = 0; base < entries; base += deal.rows) {
        const csaw__last_entry entry = next;
        const bool live = entry.at != CSAW_NONE;
        csaw_site site = csaw__last_site(&job, entry);
        if (live) csaw__wave_rows(&site);
        next = entry_of(base + deal.rows + deal.row);
        uint32_t rank = 0;
        const uint32_t got = csaw__group_picks<KERNEL>(team, deal, &site, live, &rank);
        if (live && deal.slot < got) {
            const csaw_arc arc = csaw__arc_at(&site, rank);
            const uint64_t place = last.offset[entry.owner] + entry.place + deal.slot;
            __stcs(last.src + place, arc.src);
            __stcs(last.dst + place, arc.dst);
            __stcs((unsigned long long *)last.edge + place, (unsigned long long)arc.id);
            __stcs(last.depth + place, site.depth);
            csaw__update(&site, &arc, 0); /* leads nowhere, but may break its rules */
        } else if (csaw__given(csaw__hooks.dead_end) && live && deal.slot == 0) {
            csaw__dead_end(&site, 0);
        }
        if (live && (site.undeclared || got != csaw__each_picks(&job, site.degree, k)))
            csaw__wave_fault(&site); /* other than counted: a static_bias that is not the same everywhere */
        team.sync();                 /* the picks have been read */
    }
}

#endif
