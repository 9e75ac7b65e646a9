/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_expand.cuh - a frontier on the GPU, compiled around one sampler: how many arcs each vertex
 * gets, which, and where their updates lead. Included after the sampler file by device_kernels.cuh.
 *
 * Method: one team of lanes a vertex (C-SAW, SC'20, section IV); samplers/select/pick_team.cuh picks. */
#ifndef CSAW_ENGINE_DEVICE_EXPAND_CUH
#define CSAW_ENGINE_DEVICE_EXPAND_CUH

#include "runtime/engine/step.h"
#include "samplers/select/pick_team.cuh"

/* Kernels that the hooks allow; others compile to nothing. */
template <typename HOOK> __host__ __device__ constexpr bool csaw__given(HOOK hook) { return hook != nullptr; }
constexpr bool csaw__static = csaw__given(csaw__hooks.static_bias), csaw__dynamic = csaw__given(csaw__hooks.edge_bias),
               csaw__bounded = csaw__dynamic && csaw__given(csaw__hooks.bounds);
template <uint32_t KERNEL>
constexpr bool csaw__allowed =
    KERNEL == CSAW__KERNEL_ITS || KERNEL == CSAW__KERNEL_RACE             ? true
    : KERNEL == CSAW__KERNEL_UNIFORM                                      ? !csaw__dynamic
    : KERNEL == CSAW__KERNEL_ALIAS                                        ? !csaw__dynamic && csaw__static
    : KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_REST ? csaw__bounded
                                                                          : csaw__bounded && csaw__static;

/* The site of entry i, not yet at its row. */
CSAW_FN csaw_site csaw__wave_site(const csaw__job *job, uint64_t i) {
    const csaw__wave *wave = &job->wave;
    csaw_site site;
    site.job = job;
    site.owner = wave->owner[i];
    site.instance = wave->instance + site.owner;
    site.root = wave->root[site.owner];
    site.at = wave->at[i];
    site.prev = wave->prev[i];
    site.depth = wave->depth;
    site.row = site.prev_row = 0;
    site.degree = site.prev_degree = 0;
    site.undeclared = 0;
    site.in_sample = 1;
    site.place = 0;
    for (int j = 0; j < 4; j++) site.user[j] = 0;
    return site;
}

CSAW_FN void csaw__wave_fault(const csaw_site *site) {
    const csaw_arc none = csaw__no_arc();
    csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, 0); /* which it was, the host finds out */
}

/* One thread an entry. */
CSAW_FN void csaw__wave_fanout(const csaw__job &job) {
    const csaw__wave &wave = job.wave;
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= wave.count) return;
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
    uint64_t need = 0;
    if (!all && k && degree) {
        if (job.kernel == CSAW__KERNEL_ITS) need += degree;
        if (!job.replace && k > CSAW__TEAM_PICKS && job.kernel != CSAW__KERNEL_RACE) need += csaw__many_words(k);
    }
    wave.need[i] = need;
}

/* One team an entry. */
template <uint32_t KERNEL> CSAW_FN void csaw__wave_expand(const csaw__job &job) {
    const csaw__wave &wave = job.wave;
    const csaw__team team;
    const uint64_t i = wave.first + (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM;
    if (i >= wave.count) return;
    csaw_site site = csaw__wave_site(&job, i);
    if (csaw__second_order(&site)) {
        csaw__site_row(&site, site.prev);
        site.prev_row = site.row;
        site.prev_degree = site.degree;
    }
    csaw__site_row(&site, wave.at[i]);
    const uint64_t first = wave.offset[i];
    const uint32_t k = wave.fanout[i];
    uint64_t *const work = wave.work + (wave.work_offset[i] - wave.work_offset[wave.first]);
    /* picks stand in edge as places of the row until all are known */
    uint32_t got = 0;
    if (k && site.degree) got = csaw__team_picks<KERNEL>(team, &site, k, work, wave.edge + first);
    const bool broken = got == CSAW__BROKEN_PICKS;
    if (broken) got = 0;
    for (uint64_t j = team.lane; j < got; j += CSAW__TEAM) {
        const csaw_arc arc = csaw__arc_at(&site, (uint32_t)wave.edge[first + j]);
        wave.src[first + j] = arc.src;
        wave.dst[first + j] = arc.dst;
        wave.edge[first + j] = arc.id;
        const csaw_vertex next = csaw__update(&site, &arc, 0); /* at the last depth too: it may break its rules */
        if (!wave.next) continue;
        wave.next[first + j] = next;
        wave.from[first + j] = (uint32_t)i;
    }
    if (team.lane == 0) {
        wave.got[i] = got;
        if (got == 0 && k && !broken && csaw__given(csaw__hooks.dead_end)) {
            const csaw_vertex next = csaw__dead_end(&site, 0);
            if (wave.next) {
                wave.next[first] = next;
                wave.from[first] = (uint32_t)i;
            }
        }
    }
    if (site.undeclared) csaw__wave_fault(&site);
}

#endif
