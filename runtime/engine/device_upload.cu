/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_upload.cu - host memory to device memory, or to where a kernel reads it from the host's.
 *
 * Method: pages of the caller's are copied by several threads into page-locked blocks in turn, from which the device
 * fetches them while the next block is filled; seeds past the caches (runtime/base/largest.c). The driver's own way
 * with such pages has one thread copy. Seeds that one kernel reads once are read in the block, which by unified
 * addressing is where the host has it: no copy engine, no wait for it, a call less a piece. Blocks are filled alike,
 * and none with less than several threads are worth, so that the device waits for the first one alone. Where several
 * devices are fed at once, each by a thread, that thread copies alone unless it is much, in halves of such pieces, or
 * in as many as there are blocks: with a team of OpenMP's, whose threads wait busily by default, for each of four
 * devices, 2 MB took up to 5 ms (docs/measured/2026-11-27-gpu-17.md). What was copied may change at once; as many
 * pieces as there are blocks wait for nothing, more wait for the stream. Where page-locked memory is refused the driver
 * does it all, for the plan's life.
 */
#include <string.h>

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

/* A block, when what was put on the stream with the one before it in the same place has run. */
static csaw_status next_block(csaw__device *device, uint32_t *turn, char **out) {
    csaw__staging *const staging = &device->staging;
    *turn = staging->turn++ % CSAW__STAGING_BLOCKS;
    *out = staging->blocks + *turn * block_bytes;
    CSAW_CUDA(cudaEventSynchronize(staging->fetched[*turn]));
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
        uint32_t turn;
        char *block;
        CSAW_TRY(next_block(device, &turn, &block));
        csaw__copy(block, (const char *)from + done, now);
        CSAW_CUDA(cudaMemcpyAsync((char *)to + done, block, now, cudaMemcpyHostToDevice, device->stream));
        CSAW_CUDA(cudaEventRecord(device->staging.fetched[turn], device->stream));
    }
    return CSAW_OK;
}

/* Of seeds first .. of the job: whether they are vertices. */
static csaw_status look_at(const csaw__job *host, uint64_t first, uint64_t count, csaw_vertex largest) {
    return largest < host->num_vertices ? CSAW_OK : csaw__roots_refuse(host->roots, first, count, host->num_vertices);
}

/* Without page-locked memory. */
static csaw_status show_whole(csaw__device *device, const csaw__job *host, uint64_t first, uint64_t count,
                              csaw__seeds_come come) {
    void *seeds = nullptr;
    CSAW_TRY(csaw__device_alloc(device, &seeds, count * sizeof *host->roots, "seeds"));
    const csaw_status status = csaw__device_put_seeds(device, host, (csaw_vertex *)seeds, first, count, come);
    csaw__device_free(device, seeds); /* in the order of the stream */
    return status;
}

csaw_status csaw__device_show_seeds(csaw__device *device, const csaw__job *host, uint64_t first, uint64_t count,
                                    csaw__seeds_come come) {
    const uint64_t bytes = count * sizeof *host->roots, pieces = pieces_of(bytes);
    if (count && !staging_open(&device->staging)) return show_whole(device, host, first, count, come);
    for (uint64_t i = 0; i < pieces; i++) {
        const uint64_t done = begin_of(bytes, i, pieces) / sizeof *host->roots,
                       now = begin_of(bytes, i + 1, pieces) / sizeof *host->roots - done;
        uint32_t turn;
        char *block;
        CSAW_TRY(next_block(device, &turn, &block));
        csaw_vertex *const seed = (csaw_vertex *)(void *)block;
        CSAW_TRY(look_at(host, first + done, now, csaw__largest(host->roots + first + done, now, seed)));
        const csaw_status status = come.came(come.user, seed, done, now);
        CSAW_CUDA(
            cudaEventRecord(device->staging.fetched[turn], device->stream)); /* it may have begun what reads them */
        CSAW_TRY(status);
    }
    return CSAW_OK;
}

/* Where seeds go that are put, and who is told then. */
struct putting {
    csaw__device *device;
    csaw_vertex *to;
    csaw__seeds_come come;
};

static csaw_status put_some(void *user, const csaw_vertex *seed, uint64_t first, uint64_t count) {
    const putting *const p = (const putting *)user;
    csaw_vertex *const to = p->to + first;
    CSAW_CUDA(cudaMemcpyAsync(to, seed, count * sizeof *seed, cudaMemcpyHostToDevice, p->device->stream));
    return p->come.came ? p->come.came(p->come.user, to, first, count) : CSAW_OK;
}

csaw_status csaw__device_put_seeds(csaw__device *device, const csaw__job *host, csaw_vertex *to, uint64_t first,
                                   uint64_t count, csaw__seeds_come come) {
    putting p = {device, to, come};
    if (!count || staging_open(&device->staging))
        return csaw__device_show_seeds(device, host, first, count, {put_some, &p});
    CSAW_TRY(look_at(host, first, count, csaw__largest(host->roots + first, count, nullptr)));
    CSAW_TRY(put_whole(device, to, host->roots + first, count * sizeof *to));
    return come.came ? come.came(come.user, to, 0, count) : CSAW_OK;
}

csaw_status csaw__device_fanouts(csaw__device *device, const uint32_t *fanout, uint64_t length, const uint32_t **out) {
    csaw__kept_fanouts *const kept = &device->fanouts;
    const uint64_t bytes = length * sizeof *fanout;
    if (!kept->there || kept->length != length || memcmp(kept->here, fanout, bytes) != 0) {
        csaw__device_fanouts_drop(device);
        CSAW_TRY(csaw__alloc(&kept->here, length, "fanouts"));
        csaw_status status = csaw__device_alloc(device, (void **)&kept->there, bytes, "fanouts");
        if (status == CSAW_OK) status = csaw__device_put(device, kept->there, fanout, bytes);
        if (status != CSAW_OK) {
            csaw__device_fanouts_drop(device);
            return status;
        }
        memcpy(kept->here, fanout, bytes);
        kept->length = length;
    }
    *out = kept->there;
    return CSAW_OK;
}

void csaw__device_fanouts_drop(csaw__device *device) {
    csaw__device_free(device, device->fanouts.there);
    csaw__free(device->fanouts.here);
    device->fanouts = csaw__kept_fanouts();
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
