/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_layer_way.cu - which layers of a depth partitions come to a GPU for, and which are read
 * in place.
 *
 * Method: a layer that no launch has memory for is exchanged. The others of the depth are, too, if that costs less than
 * to read their candidates in place, by parts_sample_way.c: what they would bring is all partitions but those that come
 * anyway, for vertices of the larger ones. Vertices without arcs bring none.
 *
 * Limit on an H100, R-MAT 20 (weigh_layers, take_far): a launch, of 4 us, 8% of the warps.
 * docs/measured/2026-11-27-gpu-17.md. */
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_pools.cuh"
#include "runtime/engine/device_run.h"

namespace {

__device__ bool draws(const layer_costs &layers, uint64_t o) { return layers.take[o] != CSAW_ALL; }

__device__ bool takes_more(const layer_costs &layers, uint64_t o, uint64_t words) {
    return draws(layers, o) && layers.cost[o + 1] - layers.cost[o] > words;
}

/* weight: [2] candidates of layers that take no more words than that; how many take more. */
__global__ void weigh_layers(layer_costs layers, uint64_t words, unsigned long long *weight) {
    const uint64_t o = CSAW__THREAD;
    if (o >= layers.owners || !draws(layers, o)) return;
    if (takes_more(layers, o, words))
        atomicAdd(&weight[1], 1ull);
    else
        atomicAdd(&weight[0], (unsigned long long)(layers.candidate[o + 1] - layers.candidate[o]));
}

/* stands: [parts] 1 where a vertex with arcs is of a layer that takes more words; else as it was. */
__global__ void mark_parts(csaw__wave wave, layer_costs layers, uint64_t words, const csaw_vertex *first,
                           const uint32_t *owner, uint32_t shift, uint32_t *stands) {
    const uint64_t i = CSAW__THREAD;
    if (i < wave.count && wave.room[i] && takes_more(layers, wave.owner[i], words))
        stands[csaw__owner_of(first, owner, shift, wave.at[i])] = 1;
}

__global__ void take_far(layer_costs layers, uint64_t words, uint32_t *far_take) {
    const uint64_t o = CSAW__THREAD;
    if (o < layers.owners) far_take[o] = takes_more(layers, o, words) ? layers.take[o] : CSAW_ALL;
}

csaw_status count_parts(csaw__device *device, const csaw__wave &wave, const layer_costs &layers, uint64_t words,
                        uint32_t *out) {
    const csaw__cuda_parts *const c = device->parts->cuda;
    const uint32_t parts = c->parts->ranges.count;
    array<uint32_t> stands;
    host_array<uint32_t> there;
    CSAW_TRY(there.take(parts, "partitions of layers"));
    CSAW_TRY(stands.take(device, parts, "partitions of layers"));
    CSAW_TRY(stands.fill(0, parts));
    LAUNCH(device, wave.count, mark_parts, wave, layers, words, c->first, c->owner, c->parts->ranges.shift,
           stands.get());
    CSAW_TRY(read(device, stands.get(), there.get(), parts));
    *out = 0;
    for (uint32_t p = 0; p < parts; p++) *out += there[p];
    return CSAW_OK;
}

} // namespace

csaw_status csaw_device::csaw__device_layer_way(csaw__device *device, const csaw__wave &wave, const layer_costs &layers,
                                                array<uint32_t> *far_take) {
    uint64_t words = csaw__layer_words_in_place(device->parts, 0, 0);
    unsigned long long weight[2] = {0, 0};
    uint32_t come_anyway = 0;
    if (words) {
        array<unsigned long long> weights;
        CSAW_TRY(weights.take(device, 2, "layers"));
        CSAW_TRY(weights.fill(0, 2));
        LAUNCH(device, layers.owners, weigh_layers, layers, words, weights.get());
        CSAW_TRY(read(device, weights.get(), weight, 2));
        if (weight[1]) CSAW_TRY(count_parts(device, wave, layers, words, &come_anyway));
        words = csaw__layer_words_in_place(device->parts, weight[0], come_anyway);
        if (words && !weight[1]) return CSAW_OK;
    }
    CSAW_TRY(far_take->take(device, layers.owners, "layers"));
    LAUNCH(device, layers.owners, take_far, layers, words, far_take->get());
    return CSAW_OK;
}
