/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_tabulate.cuh - static biases of arcs on the GPU, compiled around one sampler: what
 * csaw__tabulate() of host_kernels.h is on the CPU. One thread an arc.
 *
 * Limit on an H200: latency, with 86% of the warps: 48% of the throughput of L2, 34% of the issue slots, 32%
 * of memory's. docs/measured/2026-11-24-gpu-12.md. */
#ifndef CSAW_ENGINE_DEVICE_TABULATE_CUH
#define CSAW_ENGINE_DEVICE_TABULATE_CUH

#include "samplers/select/bias.h"

CSAW_FN void csaw__tabulate_arcs(const csaw__job &job) {
    const csaw__tabulation &t = job.tabulation;
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= t.count) return;
    csaw_site site = csaw__site_of(&job, 0, t.first_row + t.row[i]);
    site.in_sample = 1; /* so that csaw_prev() is told apart, too */
    csaw__site_row(&site, site.at);
    const csaw_edge place = t.first_arc + i;
    const csaw_arc arc = csaw__arc_at(&site, (uint32_t)(place - site.row));
    const float bias = csaw__static_bias(&site, &arc);
    t.bias[i] = bias;
    if (!csaw__is_bias(bias)) atomicMin(&t.record[0], (unsigned long long)place);
    if (site.undeclared) t.record[1] = 0; /* all that write here write the same */
    if (bias == 0) t.record[2] = 0;
}

#endif
