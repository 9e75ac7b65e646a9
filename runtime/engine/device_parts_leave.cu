/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_leave.cu - see device_parts_leave.h: places in the order of partitions, memory of the
 * host for what they hold, and the way back. The way there is that of launches (device_parts_sample.cu).
 *
 * Limit on an H100, in a test (rooms_of_list, put_offsets, find_places): a launch, of 3 us; L1 at 25 to 46% of its
 * throughput, all else below 14%. */
#include "runtime/engine/device_parts_leave.h"

#include "runtime/base/device_copy.h"
#include "runtime/engine/device_few.cuh"
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_run.h"

namespace {

__global__ void rooms_of_list(const uint64_t *room, const uint32_t *list, uint64_t count, uint64_t *out) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i <= count) out[i] = i < count ? room[list[i]] : 0; /* [count + 1] */
}

__global__ void put_offsets(const uint64_t *place, const uint32_t *list, uint64_t count, uint64_t *offset) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < count) offset[list[i]] = place[i];
}

__global__ void find_places(const uint64_t *place, const uint64_t *begin, uint64_t count, uint64_t *out) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < count) out[i] = place[begin[i]];
}

void free_block(csaw__host_block *block) {
    if (block->locked)
        csaw__device_unpin(block->at);
    else
        csaw__free(block->at);
    *block = {};
}

/* Batches are of about one size, so that one's block, with some to spare, serves others. */
csaw_status take_block(csaw__cuda_parts *c, uint64_t bytes, csaw__host_block **out) {
    csaw__host_block *idle = nullptr;
    for (csaw__host_block &block : c->away) {
        if (block.taken) continue;
        if (!idle || block.bytes >= bytes) idle = &block;
        if (idle->bytes >= bytes && idle->at) break;
    }
    if (!idle->at || idle->bytes < bytes) {
        const uint64_t room = bytes + bytes / 8 + CSAW__LEAVING_BYTES;
        free_block(idle);
        idle->at = csaw__device_pin(room);
        idle->locked = idle->at != nullptr;
        if (!idle->at) CSAW_TRY(csaw__alloc_bytes(&idle->at, room, 1, "arcs of samples that left a GPU"));
        idle->bytes = room;
    }
    idle->taken = true;
    *out = idle;
    return CSAW_OK;
}

template <typename T> csaw_status bring(csaw__device *device, T *to, const T *from, uint64_t count) {
    CSAW_CUDA(csaw__copy_async(to, from, count * sizeof *to, cudaMemcpyHostToDevice, device->stream));
    return CSAW_OK;
}

} // namespace

csaw_status csaw_device::csaw__leave_places(csaw__cuda_parts *c, csaw__device *device, const picking &at,
                                            const uint32_t *list, const uint64_t *begin, uint64_t *place) {
    layer *const l = at.to;
    const uint64_t count = l->from.count, ends = (uint64_t)c->parts->ranges.count + 1;
    array<uint64_t> room, places, begins, found;
    CSAW_TRY(room.take(device, count + 1, "arcs by partitions"));
    CSAW_TRY(places.take(device, count + 1, "arcs by partitions"));
    CSAW_TRY(found.take(device, ends, "arcs by partitions"));
    CSAW_TRY(begins.upload(device, begin, ends, "arcs by partitions"));
    LAUNCH(device, count + 1, rooms_of_list, at.room.get(), list, count, room.get());
    CSAW_TRY(few_sums(device, room.get(), places.get(), count + 1));
    LAUNCH(device, count, put_offsets, places.get(), list, count, l->offset.get());
    LAUNCH(device, ends, find_places, places.get(), begins.get(), ends, found.get());
    CSAW_TRY(read(device, found.get(), place, ends));
    return take_block(c, l->places * CSAW__LEAVING_BYTES, &l->away);
}

csaw_status csaw_device::csaw__leave_return(csaw__device *device, layer *l) {
    const csaw_edge *const edge = (const csaw_edge *)l->away->at;
    const csaw_vertex *const src = (const csaw_vertex *)(edge + l->places);
    CSAW_TRY(l->src.take(device, l->places, "sampled arcs"));
    CSAW_TRY(l->dst.take(device, l->places, "sampled arcs"));
    CSAW_TRY(l->edge.take(device, l->places, "sampled arcs"));
    CSAW_TRY(bring(device, l->edge.get(), edge, l->places));
    CSAW_TRY(bring(device, l->src.get(), src, l->places));
    return bring(device, l->dst.get(), src + l->places, l->places);
}

void csaw__leave_free(csaw__cuda_parts *c) {
    for (csaw__host_block &block : c->away) free_block(&block);
}
