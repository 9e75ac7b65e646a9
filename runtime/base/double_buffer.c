/* SPDX-License-Identifier: MIT */
/* runtime/base/double_buffer.c - see double_buffer.h. The thread and the caller's hand one order to and fro under a
 * lock. */
#include "runtime/base/double_buffer.h"

#include <pthread.h>
#include <stdio.h>

/* The thread that fills. */
typedef struct filler {
    const csaw__double_buffer *buffer;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool ordered, over; /* ordered: an item is to be filled, or being filled */
    uint64_t item;
    int slot;
    csaw_status status;
    char message[2048]; /* the thread's, where it failed */
} filler;

static void *fill_orders(void *user) {
    filler *f = user;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->ordered && !f->over) pthread_cond_wait(&f->changed, &f->lock);
        if (!f->ordered) break;
        pthread_mutex_unlock(&f->lock);
        const csaw_status status = f->buffer->fill(f->buffer->user, f->item, f->slot);
        if (status != CSAW_OK) snprintf(f->message, sizeof f->message, "%s", csaw_last_error());
        pthread_mutex_lock(&f->lock);
        f->status = status;
        f->ordered = false;
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static void order(filler *f, uint64_t item, int slot) {
    pthread_mutex_lock(&f->lock);
    f->item = item;
    f->slot = slot;
    f->ordered = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* Until what was ordered is filled, or failed: its status. */
static csaw_status filled(filler *f) {
    pthread_mutex_lock(&f->lock);
    while (f->ordered) pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
    return f->status;
}

static void end(filler *f) {
    pthread_mutex_lock(&f->lock);
    f->over = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
}

/* From the item on that `slot` holds, which is filled. */
static csaw_status one_slot(const csaw__double_buffer *buffer, uint64_t item, uint64_t count, int slot) {
    for (;;) {
        CSAW_TRY(buffer->drain(buffer->user, item, slot));
        if (++item == count) return CSAW_OK;
        CSAW_TRY(buffer->fill(buffer->user, item, slot));
    }
}

/* Items from 0 on, of which slot 0 holds the first. Until *item == count, all is drained; or until item *item found no
 * memory beside the one before, which stood in *slot and is drained. */
static csaw_status two_slots(filler *f, uint64_t count, uint64_t *item, int *slot) {
    const csaw__double_buffer *buffer = f->buffer;
    for (*item = 0, *slot = 0;; *slot = !*slot) {
        const bool last = *item + 1 == count;
        if (!last) order(f, *item + 1, !*slot);
        const csaw_status drained = buffer->drain(buffer->user, *item, *slot);
        const csaw_status status = last ? CSAW_OK : filled(f);
        CSAW_TRY(drained); /* first: a loop would not have filled the next */
        ++*item;
        if (last || status == CSAW_ENOMEM || status == CSAW_EDEVMEM) return CSAW_OK;
        CSAW_REQUIRE(status == CSAW_OK, status, "%s", f->message);
    }
}

csaw_status csaw__double_buffer_run(const csaw__double_buffer *buffer, uint64_t count) {
    filler f = {.buffer = buffer, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    uint64_t item = 0;
    int slot = 0;
    if (count == 0) return CSAW_OK;
    CSAW_TRY(buffer->fill(buffer->user, 0, slot));
    if (count == 1 || !buffer->widen || buffer->widen(buffer->user) != CSAW_OK) return one_slot(buffer, 0, count, slot);
    if (pthread_create(&f.thread, NULL, fill_orders, &f) != 0) {
        buffer->narrow(buffer->user, slot);
        return one_slot(buffer, 0, count, slot);
    }
    const csaw_status status = two_slots(&f, count, &item, &slot);
    end(&f);
    if (status != CSAW_OK || item == count) return status;
    buffer->narrow(buffer->user, slot);
    CSAW_TRY(buffer->fill(buffer->user, item, slot));
    return one_slot(buffer, item, count, slot);
}
