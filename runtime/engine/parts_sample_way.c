/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts_sample_way.c - how samples on a GPU get at the rows of a graph in partitions.
 *
 * Method: what a sampler's picks look at decides once for a run (csaw__sample_way_of). Layers may be had in two ways,
 * and the cheaper one is taken, depth by depth: partitions come for three passes over their biases, or kernels read all
 * candidates where they are, in the host's page-locked memory. Read in place, biases and sums take device memory, of as
 * many layers at a time as it has room for (device_layer.cu), so that one launch is what needs room: a layer that needs
 * more is exchanged. It brings the partitions at which it stands, and what others would bring beside those is what they
 * save where they are read in place (device_parts_layer_way.cu). */
#include "runtime/engine/parts.h"

/* Times, as multiples of what a copy of as many bytes takes: of a candidate's arc in place, and of the transfers of
 * three passes. Of an H100, R-MAT 23 with weights, 2,048 layers of 16 vertices, 32 and 32 arcs, which have 739.6
 * million candidates (docs/measured/2026-11-25-gpu-13.md): their arcs took 1.15 where the bias looks at weights alone,
 * half of their bytes, so that twice of it is reckoned; 104 transfers a depth took 1.5, by launches and by 30 that came
 * again. */
static const double in_place = 2.3, exchange = 1.5;

csaw__sample_way csaw__sample_way_of(const csaw_sampler *sampler, uint32_t kernel) {
    const uint32_t flags = sampler->traits() >> CSAW__TRAIT_FLAGS;
    if (!(flags & (CSAW_LAYER | CSAW_SECOND_ORDER | CSAW_REPLACE_POOL))) return CSAW__SAMPLE_BRINGS;
    const bool rows_apart = flags & CSAW_LAYER && !(flags & (CSAW_LAYER_DISTINCT | CSAW_SECOND_ORDER));
    return rows_apart && kernel != CSAW__KERNEL_UNIFORM ? CSAW__SAMPLE_EXCHANGES : CSAW__SAMPLE_STAYS;
}

uint64_t csaw__pick_words(uint64_t bytes) {
    const uint64_t most = (uint64_t)1 << 27, quarter = bytes / 4 / sizeof(uint64_t);
    return bytes && quarter < most ? quarter : most;
}

double csaw__exchange_transfers(const csaw__fit *fit, uint32_t parts) {
    return parts + (parts > fit->resident ? 2.0 * (parts - fit->resident) : 0);
}

csaw__layer_limits csaw__layers_in_place(const csaw__fit_request *asked, const csaw__fit *fit, uint32_t come_anyway) {
    const bool is_said_how = asked->parts || asked->resident || asked->streams;
    const double saved = csaw__exchange_transfers(fit, fit->parts) - csaw__exchange_transfers(fit, come_anyway);
    const double bytes = saved * (double)fit->graph / fit->parts;
    if (is_said_how) return (csaw__layer_limits){0, 0};
    return (csaw__layer_limits){(uint64_t)(bytes * exchange / ((double)asked->arc_bytes * in_place)),
                                csaw__pick_words(fit->instances + fit->queues + fit->spills)};
}

uint64_t csaw__layer_words_in_place(const csaw__parts *parts, uint64_t candidates, uint32_t come_anyway) {
    const csaw__layer_limits most = csaw__layers_in_place(&parts->request, &parts->fit, come_anyway);
    return parts->way == CSAW__PARTS_BRING || candidates > most.candidates ? 0 : most.words;
}
