/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_kernels.cuh - the GPU's kernels, compiled around one sampler: included after the sampler file,
 * by nvcc when built and by NVRTC at run time.
 *
 * Method of walks (samples: device_expand.cuh): one thread a walk, from its root to its end. Paths are written
 * step-major, so that a warp's stores make whole lines (walker-major stores cost a third of the speed), and transposed
 * on delivery. Rows that need a scan are decided by the whole warp, one lane's row after the other. REJECT leaves such
 * rows to a second kernel, which takes up the few walks that have one where they stopped: so its own loop keeps the
 * registers that a scan would take. */
#ifndef CSAW_ENGINE_DEVICE_KERNELS_CUH
#define CSAW_ENGINE_DEVICE_KERNELS_CUH

#include "runtime/engine/device_expand.cuh"
#include "runtime/engine/step.h"
#include "samplers/select/scan_warp.cuh"

template <uint32_t KERNEL> CSAW_FN int csaw__device_pick(const csaw_site *site, csaw_block *block, csaw_arc *arc) {
    if constexpr (KERNEL == CSAW__KERNEL_UNIFORM || KERNEL == CSAW__KERNEL_ALIAS) {
        if (!(site->depth & 1)) *block = csaw__step_block(site->job, site->instance, site->depth);
        const uint64_t number = csaw_half(block, site->depth & 1);
        return KERNEL == CSAW__KERNEL_UNIFORM ? csaw__uniform_pick(site, number, arc)
                                              : csaw__alias_pick(site, number, arc);
    } else if constexpr (KERNEL == CSAW__KERNEL_ITS || KERNEL == CSAW__KERNEL_RACE) {
        return CSAW__UNDECIDED;
    } else {
        constexpr bool by_alias = KERNEL == CSAW__KERNEL_REJECT_ALIAS || KERNEL == CSAW__KERNEL_REJECT_ALIAS_REST;
        uint32_t attempt = 0;
        return csaw__reject_pick(site, by_alias, &attempt, 0, arc, 0);
    }
}

/* The walk's site at its root. */
CSAW_FN csaw_site csaw__device_start(const csaw__job *job, uint64_t walk) {
    csaw_site site;
    site.job = job;
    site.instance = job->first + walk;
    site.root = site.at = csaw__root_of(job, site.instance);
    site.prev = CSAW_NONE;
    site.depth = 0;
    site.row = site.prev_row = 0;
    site.degree = site.prev_degree = 0;
    site.undeclared = site.in_sample = 0;
    for (int i = 0; i < 4; i++) site.user[i] = 0;
    return site;
}

/* The walk's site where REJECT left it, out of its path. */
CSAW_FN csaw_site csaw__device_resume(const csaw__job *job, uint64_t walk, uint32_t depth) {
    csaw_site site = csaw__device_start(job, walk);
    if (depth > 0) {
        csaw__site_row(&site, job->path[(depth - 1) * job->num_walks + walk]);
        site.prev = site.at;
        site.prev_row = site.row;
        site.prev_degree = site.degree;
    }
    site.at = job->path[depth * job->num_walks + walk];
    site.depth = depth;
    return site;
}

template <uint32_t KERNEL> CSAW_FN void csaw__device_walk(const csaw__job &job) {
    constexpr bool rest = KERNEL == CSAW__KERNEL_REJECT_REST || KERNEL == CSAW__KERNEL_REJECT_ALIAS_REST;
    constexpr bool scans = KERNEL == CSAW__KERNEL_ITS || KERNEL == CSAW__KERNEL_RACE ||
                           rest; /* the warp works together, so all lanes stay */
    const uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const bool resumes = rest && job.rest; /* REST without a list walks all from their roots */
    const bool mine = thread < (resumes ? *job.num_rest : job.num_walks);
    if (!scans && !mine) return;

    uint64_t walk = mine ? thread : 0;
    csaw_site site;
    if (resumes && mine) {
        walk = job.rest[thread] >> 24;
        site = csaw__device_resume(&job, walk, (uint32_t)(job.rest[thread] & 0xffffff));
    } else {
        site = csaw__device_start(&job, walk);
    }
    csaw_vertex *path = job.path + site.depth * job.num_walks + walk;
    csaw_edge *edges = job.edge + site.depth * job.num_walks + walk;
    if (mine && !resumes) *path = site.root;
    if (!mine) site.depth = job.length;

    csaw_block block;
    for (;; site.depth++) {
        const bool on = site.depth < job.length, live = on && site.at != CSAW_NONE;
        if (scans ? !__any_sync(CSAW__WARP, on) : !on) break;
        csaw_arc arc;
        csaw_edge edge = CSAW_NO_EDGE;
        csaw_vertex next = CSAW_NONE;
        int picked = CSAW__NOTHING;
        if (live) {
            csaw__site_row(&site, site.at);
            picked = csaw__device_pick<KERNEL>(&site, &block, &arc);
        }
        if constexpr (scans) {
            const bool asks = live && picked == CSAW__UNDECIDED;
            const uint32_t decided = csaw__scan_warp<KERNEL == CSAW__KERNEL_RACE>(&site, asks);
            if (asks) picked = csaw__scan_take(&site, decided, &arc);
        } else if (picked == CSAW__UNDECIDED) {
            job.rest[atomicAdd(job.num_rest, 1ull)] = walk << 24 | site.depth;
            return;
        }
        if (live) {
            next = csaw__move(&site, picked, &arc, &edge, 0);
            site.prev = site.at;
            site.prev_row = site.row;
            site.prev_degree = site.degree;
            site.at = next;
        }
        path += job.num_walks;
        if (on) __stcs(path, next);
        if (job.edge) {
            if (on) __stcs((unsigned long long *)edges, (unsigned long long)edge);
            edges += job.num_walks;
        }
    }
}

#ifdef __CUDACC_RTC__
#define CSAW__GLOBAL extern "C" __global__
#else
#define CSAW__GLOBAL static __global__
#endif
/* BLOCKS: of 256 threads on a multiprocessor at least. REJECT waits for memory and wants five (48 registers): on an
 * H200 14.7 ms against 16.6 without the bound and 17.8 with six, R-MAT 20, p = .25, q = 4. */
#define CSAW__DEFINE_KERNEL(NAME, KERNEL, BLOCKS)                                                  \
    CSAW__GLOBAL void __launch_bounds__(256, BLOCKS) NAME(const __grid_constant__ csaw__job job) { \
        if constexpr (csaw__allowed<KERNEL>) csaw__device_walk<KERNEL>(job);                       \
    }
CSAW__DEFINE_KERNEL(csaw__kernel_uniform, CSAW__KERNEL_UNIFORM, 1)
CSAW__DEFINE_KERNEL(csaw__kernel_its, CSAW__KERNEL_ITS, 1)
CSAW__DEFINE_KERNEL(csaw__kernel_race, CSAW__KERNEL_RACE, 1)
CSAW__DEFINE_KERNEL(csaw__kernel_alias, CSAW__KERNEL_ALIAS, 1)
CSAW__DEFINE_KERNEL(csaw__kernel_reject, CSAW__KERNEL_REJECT, 5)
CSAW__DEFINE_KERNEL(csaw__kernel_reject_alias, CSAW__KERNEL_REJECT_ALIAS, 5)
CSAW__DEFINE_KERNEL(csaw__kernel_reject_rest, CSAW__KERNEL_REJECT_REST, 1)
CSAW__DEFINE_KERNEL(csaw__kernel_reject_alias_rest, CSAW__KERNEL_REJECT_ALIAS_REST, 1)

CSAW__GLOBAL void __launch_bounds__(256) csaw__kernel_fanouts(const __grid_constant__ csaw__job job) {
    csaw__wave_fanout(job);
}
#define CSAW__DEFINE_EXPAND(NAME, KERNEL)                                                  \
    CSAW__GLOBAL void __launch_bounds__(256) NAME(const __grid_constant__ csaw__job job) { \
        if constexpr (csaw__allowed<KERNEL>) csaw__wave_expand<KERNEL>(job);               \
    }
CSAW__DEFINE_EXPAND(csaw__expand_uniform, CSAW__KERNEL_UNIFORM)
CSAW__DEFINE_EXPAND(csaw__expand_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_EXPAND(csaw__expand_race, CSAW__KERNEL_RACE)
CSAW__DEFINE_EXPAND(csaw__expand_alias, CSAW__KERNEL_ALIAS)
CSAW__DEFINE_EXPAND(csaw__expand_reject, CSAW__KERNEL_REJECT)
CSAW__DEFINE_EXPAND(csaw__expand_reject_alias, CSAW__KERNEL_REJECT_ALIAS)

#ifndef __CUDACC_RTC__
static int csaw__launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    const cudaStream_t s = (cudaStream_t)stream;
    static void (*const kernels[CSAW__NUM_KERNELS])(const csaw__job) = {
        csaw__kernel_uniform, csaw__kernel_its,          csaw__kernel_race,        csaw__kernel_alias,
        csaw__kernel_reject,  csaw__kernel_reject_alias, csaw__kernel_reject_rest, csaw__kernel_reject_alias_rest,
        csaw__kernel_fanouts, csaw__expand_uniform,      csaw__expand_its,         csaw__expand_race,
        csaw__expand_alias,   csaw__expand_reject,       csaw__expand_reject_alias};
    kernels[kernel]<<<blocks, threads, 0, s>>>(*job);
    return (int)cudaGetLastError();
}
#endif

#endif
