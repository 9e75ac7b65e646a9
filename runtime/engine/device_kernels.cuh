/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_kernels.cuh - the GPU's kernels, compiled around one sampler: included after the sampler file,
 * by nvcc when built and by NVRTC at run time.
 *
 * Method of walks (samples: device_expand.cuh): one thread a walk, from its root to its end. Paths are written
 * step-major, so that a warp's stores make whole lines (walker-major stores cost a third of the speed), and transposed
 * on delivery. Rows that need a scan are decided by the lane alone if they are short, else by the whole warp, one
 * lane's row after the other; walks that are few stand apart, down to one a warp, so that no warp has two long rows
 * while others have none. REJECT leaves such rows to a second kernel, which takes up the few walks that have one where
 * they stopped.
 *
 * Limit on an H200, R-MAT 20: UNIFORM and ALIAS 84% and 80% of the throughput of L2, 19% and 17% of the issue slots;
 * REJECT 63% and 46%, at 47 registers; ITS with stored sums 78% of L2's. ITS and RACE that scan: instructions and
 * latency, 33% and 59% of the issue slots. docs/measured/2026-11-22-gpu.md and -2.md. */
#ifndef CSAW_ENGINE_DEVICE_KERNELS_CUH
#define CSAW_ENGINE_DEVICE_KERNELS_CUH

#include "runtime/engine/device_alone.cuh"
#include "runtime/engine/device_each.cuh"
#include "runtime/engine/device_expand.cuh"
#include "runtime/engine/device_hubs.cuh"
#include "runtime/engine/device_last.cuh"
#include "runtime/engine/device_layer.cuh"
#include "runtime/engine/device_lists.cuh"
#include "runtime/engine/device_parts.cuh"
#include "runtime/engine/device_select.cuh"
#include "runtime/engine/device_tabulate.cuh"
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
    } else if constexpr (KERNEL == CSAW__KERNEL_ITS_STORED) {
        return csaw__stored_pick(site, arc);
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
    site.undeclared = site.in_sample = site.prev_here = 0;
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
    const uint64_t place = scans ? thread >> job.log_apart : thread;
    const bool stands_in = !scans || thread == place << job.log_apart;
    const bool mine = stands_in && place < (resumes ? *job.num_rest : job.num_walks);
    if (!scans && !mine) return;

    uint64_t walk = mine ? place : 0;
    csaw_site site;
    if (resumes && mine) {
        walk = job.rest[place] >> 24;
        site = csaw__device_resume(&job, walk, (uint32_t)(job.rest[place] & 0xffffff));
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

#ifdef __CUDACC_RTC__ /* templates: NVRTC makes code of those alone that are named by CSAW__INSTANTIATE */
#define CSAW__GLOBAL template <int = 0> __global__
#define CSAW__INSTANTIATE(NAME) template __global__ void NAME<0>(const __grid_constant__ csaw__job);
#else
#define CSAW__GLOBAL static __global__
#endif
/* BLOCKS: of 256 threads on a multiprocessor at least. REJECT waits for memory and gets five. All attempts of a step
 * are one loop, and lanes of a warp wait for each other at every step: a loop of one attempt a turn, in which they
 * drift apart in depth, was slower. Measured on an H100, R-MAT 20, edge factor 16, one walk a vertex, 80 steps,
 * node2vec, G steps/s at p = 2, q = .5 and p = .25, q = 4: 12.45 and 4.48; one attempt a turn 10.2 and 3.91, that with
 * seven blocks 8.8 and 3.5. */
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
CSAW__DEFINE_KERNEL(csaw__kernel_its_stored, CSAW__KERNEL_ITS_STORED, 1)

CSAW__GLOBAL void __launch_bounds__(256) csaw__kernel_fanouts(const __grid_constant__ csaw__job job) {
    if constexpr (csaw__layered)
        csaw__layer_fanout(job);
    else
        csaw__wave_fanout(job);
}
CSAW__GLOBAL void __launch_bounds__(256) csaw__kernel_tabulate(const __grid_constant__ csaw__job job) {
    csaw__tabulate_arcs(job);
}
#define CSAW__DEFINE_EXPAND(NAME, KERNEL)                                                      \
    CSAW__GLOBAL void __launch_bounds__(256) NAME(const __grid_constant__ csaw__job job) {     \
        if constexpr (csaw__allowed<KERNEL> && !csaw__layered) csaw__wave_expand<KERNEL>(job); \
    }
CSAW__DEFINE_EXPAND(csaw__expand_uniform, CSAW__KERNEL_UNIFORM)
CSAW__DEFINE_EXPAND(csaw__expand_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_EXPAND(csaw__expand_race, CSAW__KERNEL_RACE)
CSAW__DEFINE_EXPAND(csaw__expand_alias, CSAW__KERNEL_ALIAS)
CSAW__DEFINE_EXPAND(csaw__expand_reject, CSAW__KERNEL_REJECT)
CSAW__DEFINE_EXPAND(csaw__expand_reject_alias, CSAW__KERNEL_REJECT_ALIAS)
#define CSAW__DEFINE_HUBS(NAME, KERNEL)                                                     \
    CSAW__GLOBAL void __launch_bounds__(256) NAME(const __grid_constant__ csaw__job job) {  \
        if constexpr (csaw__allowed<KERNEL> && !csaw__layered) csaw__wave_hub<KERNEL>(job); \
    }
CSAW__DEFINE_HUBS(csaw__hubs_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_HUBS(csaw__hubs_race, CSAW__KERNEL_RACE)
#define CSAW__DEFINE_LAST(NAME, KERNEL, BLOCKS)                                                                   \
    CSAW__GLOBAL void __launch_bounds__(CSAW__LAST_THREADS, BLOCKS) NAME(const __grid_constant__ csaw__job job) { \
        if constexpr (csaw__allowed<KERNEL>) csaw__run_last<KERNEL>(job);                                         \
    }
CSAW__DEFINE_LAST(csaw__last_uniform, CSAW__KERNEL_UNIFORM, 20)
CSAW__DEFINE_LAST(csaw__last_its_stored, CSAW__KERNEL_ITS_STORED, 16)
CSAW__DEFINE_LAST(csaw__last_alias, CSAW__KERNEL_ALIAS, 16)
/* Blocks of a warp on a multiprocessor, at least: as many as it takes, which leaves a thread 64 registers; of REJECT,
 * whose attempts need more, as many as leave 96; of ITS, whose shared memory leaves room for 28, as many as leave 80.
 */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define CSAW__EACH_BLOCKS 32
#else
#define CSAW__EACH_BLOCKS 16
#endif
#define CSAW__REJECT_BLOCKS (CSAW__EACH_BLOCKS < 20 ? CSAW__EACH_BLOCKS : 20)
#define CSAW__SCAN_BLOCKS (CSAW__EACH_BLOCKS < 25 ? CSAW__EACH_BLOCKS : 25)
#define CSAW__DEFINE_EACH(NAME, KERNEL, TILE, BLOCKS)                                                             \
    CSAW__GLOBAL void __launch_bounds__(CSAW__EACH_THREADS, BLOCKS) NAME(const __grid_constant__ csaw__job job) { \
        if constexpr (csaw__allowed<KERNEL>) csaw__run_each<KERNEL, TILE>(job);                                   \
    }
CSAW__DEFINE_EACH(csaw__each_uniform, CSAW__KERNEL_UNIFORM, csaw__team, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__each_its, CSAW__KERNEL_ITS, csaw__team, CSAW__SCAN_BLOCKS)
CSAW__DEFINE_EACH(csaw__each_race, CSAW__KERNEL_RACE, csaw__team, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__each_alias, CSAW__KERNEL_ALIAS, csaw__team, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__each_reject, CSAW__KERNEL_REJECT, csaw__team, CSAW__REJECT_BLOCKS)
CSAW__DEFINE_EACH(csaw__each_reject_alias, CSAW__KERNEL_REJECT_ALIAS, csaw__team, CSAW__REJECT_BLOCKS)
CSAW__DEFINE_EACH(csaw__each_its_stored, CSAW__KERNEL_ITS_STORED, csaw__team, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__tiles_uniform, CSAW__KERNEL_UNIFORM, csaw__tile, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__tiles_its_stored, CSAW__KERNEL_ITS_STORED, csaw__tile, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__tiles_alias, CSAW__KERNEL_ALIAS, csaw__tile, CSAW__EACH_BLOCKS)
CSAW__DEFINE_EACH(csaw__tiles_reject, CSAW__KERNEL_REJECT, csaw__tile, CSAW__REJECT_BLOCKS)
CSAW__DEFINE_EACH(csaw__tiles_reject_alias, CSAW__KERNEL_REJECT_ALIAS, csaw__tile, CSAW__REJECT_BLOCKS)

#define CSAW__DEFINE_LAYER(NAME)                                                                          \
    CSAW__GLOBAL void __launch_bounds__(256) csaw__kernel_##NAME(const __grid_constant__ csaw__job job) { \
        if constexpr (csaw__layered) csaw__##NAME(job);                                                   \
    }
CSAW__DEFINE_LAYER(layer_biases)
CSAW__DEFINE_LAYER(layer_choose)
CSAW__DEFINE_LAYER(layer_updates)
CSAW__DEFINE_LAYER(layer_far)

constexpr bool csaw__pool_is_list = (csaw__hooks.flags & CSAW_REPLACE_POOL) != 0;
#define CSAW__DEFINE_LISTS(NAME, KERNEL)                                                         \
    CSAW__GLOBAL void __launch_bounds__(256) NAME(const __grid_constant__ csaw__job job) {       \
        if constexpr (csaw__pool_is_list && csaw__allowed<KERNEL>) csaw__lists_run<KERNEL>(job); \
    }
CSAW__DEFINE_LISTS(csaw__lists_uniform, CSAW__KERNEL_UNIFORM)
CSAW__DEFINE_LISTS(csaw__lists_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_LISTS(csaw__lists_race, CSAW__KERNEL_RACE)
CSAW__DEFINE_LISTS(csaw__lists_alias, CSAW__KERNEL_ALIAS)
CSAW__DEFINE_LISTS(csaw__lists_reject, CSAW__KERNEL_REJECT)
CSAW__DEFINE_LISTS(csaw__lists_reject_alias, CSAW__KERNEL_REJECT_ALIAS)
#define CSAW__DEFINE_ALONE(NAME, KERNEL)                                                                   \
    CSAW__GLOBAL void __launch_bounds__(csaw__alone_threads) NAME(const __grid_constant__ csaw__job job) { \
        constexpr bool picks = csaw__allowed<KERNEL> && (!csaw__layered || KERNEL <= CSAW__KERNEL_ITS);    \
        if constexpr (csaw__runs_alone && picks) csaw__run_alone<KERNEL>(job);                             \
    }
CSAW__DEFINE_ALONE(csaw__alone_uniform, CSAW__KERNEL_UNIFORM)
CSAW__DEFINE_ALONE(csaw__alone_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_ALONE(csaw__alone_race, CSAW__KERNEL_RACE)
CSAW__DEFINE_ALONE(csaw__alone_alias, CSAW__KERNEL_ALIAS)
CSAW__DEFINE_ALONE(csaw__alone_reject, CSAW__KERNEL_REJECT)
CSAW__DEFINE_ALONE(csaw__alone_reject_alias, CSAW__KERNEL_REJECT_ALIAS)
CSAW__GLOBAL void __launch_bounds__(256) csaw__kernel_select(const __grid_constant__ csaw__job job) {
    if constexpr (!csaw__pool_is_list && csaw__given(csaw__hooks.frontier_size)) csaw__select_places(job);
}

CSAW__GLOBAL void __launch_bounds__(256) csaw__kernel_parts_start(const __grid_constant__ csaw__job job) {
    csaw__parts_start(job);
}
#define CSAW__DEFINE_PARTS(NAME, KERNEL)                                                   \
    CSAW__GLOBAL void __launch_bounds__(256) NAME(const __grid_constant__ csaw__job job) { \
        if constexpr (csaw__allowed<KERNEL>) csaw__parts_walk<KERNEL>(job);                \
    }
CSAW__DEFINE_PARTS(csaw__parts_uniform, CSAW__KERNEL_UNIFORM)
CSAW__DEFINE_PARTS(csaw__parts_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_PARTS(csaw__parts_race, CSAW__KERNEL_RACE)
CSAW__DEFINE_PARTS(csaw__parts_alias, CSAW__KERNEL_ALIAS)
CSAW__DEFINE_PARTS(csaw__parts_reject, CSAW__KERNEL_REJECT)
CSAW__DEFINE_PARTS(csaw__parts_reject_alias, CSAW__KERNEL_REJECT_ALIAS)

#ifndef __CUDACC_RTC__
#define CSAW__KERNEL_POINTER(NAME) NAME,
static int csaw__launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    const cudaStream_t s = (cudaStream_t)stream;
    static void (*const kernels[CSAW__NUM_KERNELS])(const csaw__job) = {CSAW__DEVICE_KERNELS(CSAW__KERNEL_POINTER)};
    kernels[kernel]<<<blocks, threads, 0, s>>>(*job);
    return (int)cudaGetLastError();
}
#endif

#endif
