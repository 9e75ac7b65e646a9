/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_upload.cu - host memory to device memory.
 *
 * Method: pages of the caller's are copied by several threads into page-locked blocks in turn, from which the device
 * fetches them while the next block is filled; seeds past the caches (runtime/base/largest.c). The driver's own way
 * with such memory has one thread copy. Blocks are filled alike, and none with less than several threads are worth, so
 * that the device waits for the first one alone. Where several devices are fed at once, each by a thread, that thread
 * copies alone unless it is much, in halves of such pieces, or in as many as there are blocks: with a team of OpenMP's,
 * whose threads wait busily by default, for each of four devices, 2 MB took up to 5 ms
 * (docs/measured/2026-11-27-gpu-17.md). What was copied may change at once; as many pieces as there are blocks wait for
 * nothing, more wait for the stream. Where page-locked memory is refused the driver does it all, for the plan's life.
 */
#include "runtime/base/copy.h"
#include "runtime/base/crew.h"
#include "runtime/base/device_copy.h"
#include "runtime/base/largest.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_private.h"
#include "runtime/engine/run.h"
#include "runtime/ranks/ranks.h"

#ifndef CSAW__PIECE_BYTES
#define CSAW__PIECE_BYTES CSAW__WORTH_THREADS
#endif
static const uint64_t block_bytes = 2 * CSAW__PIECE_BYTES;
static const uint64_t least_bytes = CSAW__PIECE_BYTES < 512 ? 64 : CSAW__PIECE_BYTES / 8; /* of a piece */
static const uint64_t much_bytes = (uint64_t)16 << 20; /* worth other threads even beside other devices */

/* The device's blocks, made when first asked for; false: they are refused. */
static bool staging_open(csaw__staging *staging) {
    if (staging->blocks) return true;
    if (staging->refused) return false;
    char *const blocks = (char *)csaw__device_pin(CSAW__STAGING_BLOCKS * block_bytes);
    bool ready = blocks != nullptr;
    for (int i = 0; i < CSAW__STAGING_BLOCKS && ready; i++)
        ready = cudaEventCreateWithFlags(&staging->fetched[i], cudaEventDisableTiming) == cudaSuccess;
    staging->refused = !ready;
    if (!ready) {
        cudaGetLastError(); /* a refused request does not stick */
        if (blocks) csaw__device_unpin(blocks);
        for (cudaEvent_t &event : staging->fetched) {
            if (event) cudaEventDestroy(event);
            event = nullptr;
        }
        return false;
    }
    staging->blocks = blocks;
    return true;
}

void csaw__device_staging_close(csaw__device *device) {
    csaw__staging *const staging = &device->staging;
    if (!staging->blocks) return;
    cudaStreamSynchronize(device->stream);
    for (cudaEvent_t event : staging->fetched) cudaEventDestroy(event);
    csaw__device_unpin(staging->blocks);
}

/* None is as large as a block. Those of a thread alone are as many as there are blocks, if that makes them no smaller
 * than the least: the device begins with the first while the others are copied. */
static uint64_t pieces_of(uint64_t bytes) {
    const bool alone = csaw__crew_at_work() && bytes < much_bytes;
    const uint64_t each = alone ? CSAW__PIECE_BYTES / 2 : CSAW__PIECE_BYTES, few = bytes / least_bytes,
                   blocks = CSAW__STAGING_BLOCKS;
    uint64_t pieces = bytes / each;
    if (alone && pieces < blocks) pieces = few < blocks ? few : blocks;
    return pieces ? pieces : bytes != 0;
}

/* Where piece i of so many begins: at a multiple of 64 bytes. */
static uint64_t begin_of(uint64_t bytes, uint64_t i, uint64_t pieces) {
    return i == pieces ? bytes : csaw__share_begin(bytes, i, pieces) / 64 * 64;
}

/* A piece, which a block has room for. largest: of its bytes as vertices, as they are copied; NULL: nobody asks. */
static csaw_status put_piece(csaw__device *device, void *to, const void *from, uint64_t bytes, csaw_vertex *largest) {
    csaw__staging *const staging = &device->staging;
    const uint32_t turn = staging->turn++ % CSAW__STAGING_BLOCKS;
    char *const block = staging->blocks + turn * block_bytes;
    CSAW_CUDA(cudaEventSynchronize(staging->fetched[turn]));
    if (largest)
        *largest = csaw__largest((const csaw_vertex *)from, bytes / sizeof *largest, (csaw_vertex *)(void *)block);
    else
        csaw__copy(block, from, bytes);
    CSAW_CUDA(cudaMemcpyAsync(to, block, bytes, cudaMemcpyHostToDevice, device->stream));
    CSAW_CUDA(cudaEventRecord(staging->fetched[turn], device->stream));
    return CSAW_OK;
}

/* All of it by the driver. */
static csaw_status put_whole(csaw__device *device, void *to, const void *from, uint64_t bytes) {
    CSAW_CUDA(csaw__copy_async(to, from, bytes, cudaMemcpyHostToDevice, device->stream));
    CSAW_CUDA(cudaStreamSynchronize(device->stream)); /* from may go now */
    return CSAW_OK;
}

csaw_status csaw__device_put(csaw__device *device, void *to, const void *from, uint64_t bytes) {
    const uint64_t pieces = pieces_of(bytes);
    if (bytes && !staging_open(&device->staging)) return put_whole(device, to, from, bytes);
    for (uint64_t i = 0; i < pieces; i++) {
        const uint64_t done = begin_of(bytes, i, pieces), now = begin_of(bytes, i + 1, pieces) - done;
        CSAW_TRY(put_piece(device, (char *)to + done, (const char *)from + done, now, nullptr));
    }
    return CSAW_OK;
}

csaw_status csaw__device_put_seeds(csaw__device *device, const csaw__job *host, csaw_vertex *to, uint64_t first,
                                   uint64_t count, csaw__seeds_come come) {
    const csaw_vertex *const from = host->roots + first;
    const bool staged = count && staging_open(&device->staging);
    const uint64_t bytes = count * sizeof *to, pieces = staged ? pieces_of(bytes) : count != 0;
    for (uint64_t i = 0; i < pieces; i++) {
        const uint64_t done = begin_of(bytes, i, pieces) / sizeof *to,
                       now = begin_of(bytes, i + 1, pieces) / sizeof *to - done;
        csaw_vertex largest = 0;
        if (staged) {
            CSAW_TRY(put_piece(device, to + done, from + done, now * sizeof *to, &largest));
        } else {
            largest = csaw__largest(from, count, nullptr);
            CSAW_TRY(put_whole(device, to, from, bytes));
        }
        if (largest >= host->num_vertices)
            return csaw__roots_refuse(host->roots, first + done, now, host->num_vertices);
        if (come.came) CSAW_TRY(come.came(come.user, done, now));
    }
    return CSAW_OK;
}

csaw_status csaw__device_upload(csaw__device *device, const void **out, const void *from, uint64_t bytes,
                                const char *what) {
    void *memory = nullptr;
    CSAW_TRY(csaw__device_alloc(device, &memory, bytes, what));
    const csaw_status status = csaw__device_put(device, memory, from, bytes);
    if (status == CSAW_OK)
        *out = memory;
    else
        csaw__device_free(device, memory);
    return status;
}
