/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_kernels.cuh - the GPU's kernels, compiled around one sampler: included after the sampler file, by
 * nvcc when built and by NVRTC at run time.
 *
 * Method: one thread a walk, from its root to its end. Paths are written step-major, so that a warp's stores make whole
 * lines (walker-major stores cost a third of the speed), and transposed on delivery. Rows that need a scan (ITS, and what
 * REJECT leaves undecided) are decided by the whole warp, one lane's row after the other. */
#ifndef CSAW_ENGINE_DEVICE_KERNELS_CUH
#define CSAW_ENGINE_DEVICE_KERNELS_CUH

#include "runtime/engine/step.h"
#include "samplers/select/its_warp.cuh"

/* Kernels that the hooks allow; others compile to nothing. */
template <typename HOOK> __host__ __device__ constexpr bool csaw__given(HOOK hook) { return hook != nullptr; }
constexpr bool csaw__static = csaw__given(csaw__hooks.static_bias), csaw__dynamic = csaw__given(csaw__hooks.edge_bias),
               csaw__bounded = csaw__dynamic && csaw__given(csaw__hooks.bounds);
template <uint32_t KERNEL>
constexpr bool csaw__allowed = KERNEL == CSAW__KERNEL_ITS       ? true
                               : KERNEL == CSAW__KERNEL_UNIFORM ? !csaw__dynamic
                               : KERNEL == CSAW__KERNEL_ALIAS   ? !csaw__dynamic && csaw__static
                               : KERNEL == CSAW__KERNEL_REJECT  ? csaw__bounded
                                                                : csaw__bounded && csaw__static;

template <uint32_t KERNEL> CSAW_FN int csaw__device_pick(const csaw_site *site, csaw_block *block, csaw_arc *arc) {
    if constexpr (KERNEL == CSAW__KERNEL_UNIFORM || KERNEL == CSAW__KERNEL_ALIAS) {
        if (!(site->depth & 1)) *block = csaw__step_block(site->job, site->instance, site->depth);
        const uint64_t number = csaw_half(block, site->depth & 1);
        return KERNEL == CSAW__KERNEL_UNIFORM ? csaw__uniform_pick(site, number, arc) : csaw__alias_pick(site, number, arc);
    } else if constexpr (KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS) {
        uint32_t attempt = 0;
        return csaw__reject_pick(site, KERNEL == CSAW__KERNEL_REJECT_ALIAS, &attempt, csaw__attempt_block(site, 0), 0, arc,
                                 0);
    } else {
        return CSAW__UNDECIDED;
    }
}

template <uint32_t KERNEL> CSAW_FN void csaw__device_walk(const csaw__job &job) {
    constexpr bool scans = KERNEL != CSAW__KERNEL_UNIFORM && KERNEL != CSAW__KERNEL_ALIAS;
    const uint64_t walk = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const bool mine = walk < job.num_walks;
    if (!scans && !mine) return; /* where warps work together, all lanes stay */
    csaw_site site;
    site.job = &job;
    site.instance = job.first + walk;
    site.root = site.at = mine ? csaw__root_of(&job, site.instance) : CSAW_NONE;
    site.prev = CSAW_NONE;
    site.row = site.prev_row = 0;
    site.degree = site.prev_degree = 0;
    csaw_vertex *path = job.path + walk;
    csaw_edge *edges = job.edge + walk;
    if (mine) *path = site.root;
    csaw_block block;
    for (site.depth = 0; site.depth < job.length; site.depth++) {
        const bool live = site.at != CSAW_NONE;
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
            if (__any_sync(CSAW__WARP, asks)) {
                const uint32_t decided = csaw__its_warp(site, asks);
                if (asks) picked = csaw__its_take(&site, decided, &arc);
            }
        }
        if (live) {
            next = csaw__move(&site, picked, &arc, &edge, 0);
            site.prev = site.at;
            site.prev_row = site.row;
            site.prev_degree = site.degree;
            site.at = next;
        }
        path += job.num_walks;
        if (mine) __stcs(path, next);
        if (job.edge) {
            if (mine) __stcs((unsigned long long *)edges, (unsigned long long)edge);
            edges += job.num_walks;
        }
    }
}

#ifdef __CUDACC_RTC__
#define CSAW__GLOBAL extern "C" __global__
#else
#define CSAW__GLOBAL static __global__
#endif
#define CSAW__DEFINE_KERNEL(NAME, KERNEL)                                                         \
    CSAW__GLOBAL void __launch_bounds__(256, CSAW_BLOCKS) NAME(const __grid_constant__ csaw__job job) {        \
        if constexpr (csaw__allowed<KERNEL>) csaw__device_walk<KERNEL>(job);                       \
    }
CSAW__DEFINE_KERNEL(csaw__kernel_uniform, CSAW__KERNEL_UNIFORM)
CSAW__DEFINE_KERNEL(csaw__kernel_its, CSAW__KERNEL_ITS)
CSAW__DEFINE_KERNEL(csaw__kernel_alias, CSAW__KERNEL_ALIAS)
CSAW__DEFINE_KERNEL(csaw__kernel_reject, CSAW__KERNEL_REJECT)
CSAW__DEFINE_KERNEL(csaw__kernel_reject_alias, CSAW__KERNEL_REJECT_ALIAS)

#ifndef __CUDACC_RTC__
static int csaw__launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    const cudaStream_t s = (cudaStream_t)stream;
    switch (kernel) {
    case CSAW__KERNEL_UNIFORM: csaw__kernel_uniform<<<blocks, threads, 0, s>>>(*job); break;
    case CSAW__KERNEL_ITS: csaw__kernel_its<<<blocks, threads, 0, s>>>(*job); break;
    case CSAW__KERNEL_ALIAS: csaw__kernel_alias<<<blocks, threads, 0, s>>>(*job); break;
    case CSAW__KERNEL_REJECT: csaw__kernel_reject<<<blocks, threads, 0, s>>>(*job); break;
    default: csaw__kernel_reject_alias<<<blocks, threads, 0, s>>>(*job);
    }
    return (int)cudaGetLastError();
}
#endif

#endif
