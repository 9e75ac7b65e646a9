/* SPDX-License-Identifier: MIT */
/* tests/samplers/wild.c - a sampler that stops the GPU on demand: reads where there is no memory, or traps. On a CPU
 * it does neither. */
#include <csaw/sampler.h>

CSAW_PARAMS(wild_params, (uint32_t, what, 0, what <= 2, "0 nothing, 1 reads a wild address, 2 traps"),
            (uint32_t, from, 0, 1, "instances from here on"));

CSAW_FN float wild_bias(const csaw_site *site, const csaw_arc *arc) {
    const wild_params *w = (const wild_params *)csaw_params(site);
#ifdef __CUDACC__
    if (w->what == 1 && csaw_instance(site) >= w->from) return *(const volatile float *)(64ull + 4 * arc->rank);
    if (w->what == 2 && csaw_instance(site) >= w->from) __trap();
#endif
    return w->what <= 2 && arc->rank == 0 ? 2.0f : 1.0f;
}

CSAW_SAMPLER(wild, wild_params, .edge_bias = wild_bias);
