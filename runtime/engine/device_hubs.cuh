/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_hubs.cuh - the entries of a frontier whose rows are long and must be scanned, on the GPU,
 * compiled around one sampler: a block each, where device_expand.cuh gives the others a warp. Its fanout kernel lists
 * them (csaw__is_hub()), in any order: each has its own places for its picks.
 *
 * Limit on an H200, R-MAT 20, 2,100 rows: RACE 73% of the issue slots, ITS 57%; L1 and L2 below 26%. */
#ifndef CSAW_ENGINE_DEVICE_HUBS_CUH
#define CSAW_ENGINE_DEVICE_HUBS_CUH

#include "runtime/engine/device_expand.cuh"
#include "samplers/select/pick_block.cuh"

/* One block an entry of wave.hubs that is among the launch's, to which `work` belongs. */
template <uint32_t KERNEL> CSAW_FN void csaw__wave_hub(const csaw__job &job) {
    const csaw__wave &wave = job.wave;
    const csaw__team team;
    const uint64_t i = wave.hubs[blockIdx.x];
    if (!wave.list && (i < wave.first || i >= wave.count)) return;
    csaw_site site = csaw__wave_site(&job, i);
    if (site.at - job.rows.first >= job.rows.count) return; /* its row is in another partition */
    csaw__wave_rows(&site);
    csaw_edge *const pick = wave.edge + wave.offset[i];
    const uint32_t k = wave.fanout[i];
    uint32_t got;
    if constexpr (KERNEL == CSAW__KERNEL_RACE)
        got = csaw__block_by_race(team, &site, k, pick);
    else
        got = csaw__block_its(team, &site, k, csaw__wave_work(&wave, i), pick);
    if (threadIdx.x < CSAW__TEAM) csaw__wave_finish(wave, team, &site, i, k, got);
    if (site.undeclared) csaw__wave_fault(&site);
}

#endif
