/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_copier.cu - a thread that fills page-locked blocks in turn, from which the device fetches:
 * for arrays whose pages could not be locked where they lie. The scheduler of partitions goes on meanwhile. If even
 * the blocks are refused, the driver copies, and the thread waits for it. */
#include <pthread.h>

#include <cstdio>
#include <cstring>

#include "runtime/base/copy.h"
#include "runtime/base/device_copy.h"
#include "runtime/base/device_status.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_pages.h"
#include "runtime/engine/plan.h"

namespace {

const uint64_t block_bytes = (uint64_t)8 << 20;
enum { BLOCKS = 4, MOST_ORDERS = 64 /* streams of a plan */ };
enum progress { NONE, ORDERED, ISSUED, FAILED };

struct order {
    csaw__piece piece[CSAW__MOST_PIECES];
    int count;
    cudaStream_t stream;
    cudaEvent_t done;
    enum progress progress;
};

} // namespace

struct csaw__copier {
    int ordinal;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, but for the order that the thread is at */
    pthread_cond_t changed;
    order orders[MOST_ORDERS];
    uint32_t queue[MOST_ORDERS], first, waiting; /* orders in the order that they came */
    bool at_work, stopping, over;
    csaw_status status; /* of the one that failed */
    char message[1024];

    char *block; /* [BLOCKS * block_bytes], page-locked; NULL: refused */
    cudaEvent_t fetched[BLOCKS];
    uint32_t turn;
};

namespace {

bool gives_up(csaw__copier *c) {
    pthread_mutex_lock(&c->lock);
    const bool stopping = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return stopping;
}

csaw_status copy_piece(csaw__copier *c, const csaw__piece *piece, cudaStream_t stream) {
    if (!c->block) {
        if (piece->bytes)
            CSAW_CUDA(csaw__copy_async(piece->to, piece->from, piece->bytes, cudaMemcpyHostToDevice, stream));
        return CSAW_OK;
    }
    for (uint64_t done = 0; done < piece->bytes && !gives_up(c); done += block_bytes) {
        const uint64_t left = piece->bytes - done, now = left < block_bytes ? left : block_bytes;
        const uint32_t turn = c->turn++ % BLOCKS;
        char *const block = c->block + turn * block_bytes;
        CSAW_CUDA(cudaEventSynchronize(c->fetched[turn]));
        csaw__copy(block, (const char *)piece->from + done, now);
        CSAW_CUDA(cudaMemcpyAsync((char *)piece->to + done, block, now, cudaMemcpyHostToDevice, stream));
        CSAW_CUDA(cudaEventRecord(c->fetched[turn], stream));
    }
    return CSAW_OK;
}

csaw_status copy_pieces(csaw__copier *c, const order *o) {
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    for (int i = 0; i < o->count; i++) CSAW_TRY(copy_piece(c, &o->piece[i], o->stream));
    CSAW_CUDA(cudaEventRecord(o->done, o->stream));
    return CSAW_OK;
}

void *work(void *self) {
    csaw__copier *const c = (csaw__copier *)self;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->waiting && !c->over) pthread_cond_wait(&c->changed, &c->lock);
        if (c->over) break;
        order *const o = &c->orders[c->queue[c->first]];
        c->first = (c->first + 1) % MOST_ORDERS;
        c->waiting--;
        c->at_work = true;
        pthread_mutex_unlock(&c->lock);
        const csaw_status status = copy_pieces(c, o);
        pthread_mutex_lock(&c->lock);
        if (status != CSAW_OK) {
            c->status = status;
            snprintf(c->message, sizeof c->message, "%s", csaw_last_error());
        }
        o->progress = status == CSAW_OK ? ISSUED : FAILED;
        c->at_work = false;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return nullptr;
}

void take_blocks(csaw__copier *c) {
    c->block = (char *)csaw__device_pin(BLOCKS * block_bytes);
    for (int i = 0; i < BLOCKS && c->block; i++) {
        if (cudaEventCreateWithFlags(&c->fetched[i], cudaEventDisableTiming) == cudaSuccess) continue;
        cudaGetLastError(); /* the driver copies */
        csaw__device_unpin(c->block);
        c->block = nullptr;
    }
}

void free_all(csaw__copier *c) {
    for (cudaEvent_t event : c->fetched)
        if (event) cudaEventDestroy(event);
    if (c->block) csaw__device_unpin(c->block);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    csaw__free(c);
}

} // namespace

csaw_status csaw__copier_open(int ordinal, csaw__copier **out) {
    csaw__copier *c = nullptr;
    CSAW_TRY(csaw__alloc_zero(&c, 1, "a thread for copies"));
    c->ordinal = ordinal;
    pthread_mutex_init(&c->lock, nullptr);
    pthread_cond_init(&c->changed, nullptr);
    take_blocks(c);
    if (pthread_create(&c->thread, nullptr, work, c) != 0) {
        free_all(c);
        return csaw__fail(CSAW_ENOMEM, "no thread for copies to the GPU; let fewer threads run");
    }
    *out = c;
    return CSAW_OK;
}

void csaw__copier_order(csaw__copier *c, uint32_t number, const csaw__piece *piece, int count, cudaStream_t stream,
                        cudaEvent_t done) {
    pthread_mutex_lock(&c->lock);
    order *const o = &c->orders[number];
    memcpy(o->piece, piece, (size_t)count * sizeof *piece);
    o->count = count;
    o->stream = stream;
    o->done = done;
    o->progress = ORDERED;
    c->queue[(c->first + c->waiting++) % MOST_ORDERS] = number;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

csaw_status csaw__copier_issued(csaw__copier *c, uint32_t number, bool *out) {
    pthread_mutex_lock(&c->lock);
    const enum progress progress = c->orders[number].progress;
    pthread_mutex_unlock(&c->lock);
    *out = progress == ISSUED;
    CSAW_REQUIRE(progress != FAILED, c->status, "%s", c->message);
    return CSAW_OK;
}

void csaw__copier_stop(csaw__copier *c) {
    pthread_mutex_lock(&c->lock);
    c->waiting = 0;
    c->stopping = true;
    while (c->at_work) pthread_cond_wait(&c->changed, &c->lock);
    c->stopping = false;
    for (order &o : c->orders) o.progress = NONE;
    pthread_mutex_unlock(&c->lock);
}

void csaw__copier_close(csaw__copier *c) {
    if (!c) return;
    csaw__copier_stop(c);
    pthread_mutex_lock(&c->lock);
    c->over = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, nullptr);
    free_all(c);
}
