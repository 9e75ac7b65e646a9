/* SPDX-License-Identifier: MIT */
/* spmm/device_gather.cu - see device_gather.h. */
#include "spmm/device_gather.cuh"

#include "spmm/device_memory.cuh"

template <typename WORD> static csaw_status copy_rows(const place &where, const csaw__gathering *g) {
    const uint64_t words = g->bytes / sizeof(WORD);
    uint32_t log_lanes = 0;
    while (1u << log_lanes < CSAW__GATHER_LANES && 1u << log_lanes < words) log_lanes++;
    CSAW__LAUNCH(where, g->count << log_lanes, csaw__gather_rows<WORD>, *g, log_lanes);
    return CSAW_OK;
}

csaw_status csaw__device_gather(const csaw__where *of, const csaw__gathering *g) {
    place where;
    if (!g->count || !g->bytes) return CSAW_OK;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    if (g->cached) CSAW__LAUNCH(where, g->count, csaw__gather_count, *g);
    switch (csaw__gather_word(g)) {
    case 16: return copy_rows<csaw__word16>(where, g);
    case 8: return copy_rows<uint64_t>(where, g);
    case 4: return copy_rows<uint32_t>(where, g);
    case 2: return copy_rows<uint16_t>(where, g);
    default: return copy_rows<unsigned char>(where, g);
    }
}

csaw_status csaw__device_reach(int ordinal, const void *memory, uint64_t bytes, const char *name, const void **out) {
    cudaPointerAttributes of, last;
    *out = nullptr;
    if (!memory) return CSAW_OK;
    CSAW_CUDA(cudaPointerGetAttributes(&of, memory));
    CSAW_CUDA(cudaPointerGetAttributes(&last, (const char *)memory + (bytes ? bytes - 1 : 0)));
    CSAW_REQUIRE(of.type != cudaMemoryTypeUnregistered && last.type != cudaMemoryTypeUnregistered, CSAW_EINVAL,
                 "%s lies in memory of the host that the GPU does not reach, or not all of it; page-lock it as a whole "
                 "(cudaHostRegister(), or PyTorch's pin_memory()), or give it in the memory of cuda:%d",
                 name, ordinal);
    CSAW_REQUIRE(
        of.type != cudaMemoryTypeDevice || of.device == ordinal, CSAW_EINVAL,
        "%s lies in the memory of cuda:%d, but the device is cuda:%d; give it there, or page-locked on the host", name,
        of.device, ordinal);
    *out = of.devicePointer;
    return CSAW_OK;
}
