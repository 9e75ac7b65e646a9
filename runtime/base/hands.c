/* SPDX-License-Identifier: MIT */
/* runtime/base/hands.c - see hands.h. Pieces are taken from a counter, by one compare-and-swap each. After a piece, and
 * after they were called, hands look for the next before they sleep: so long that those of calls that follow each other
 * are awake, since to be woken takes longer than such a call's copies do. Samples of 0.5 ms on four H100 took 0.6 with
 * a sixteenth of that (docs/measured/2026-11-27-gpu-17.md). */
#include "runtime/base/hands.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "runtime/base/memory.h"

enum {
    LOOKS = 1 << 20,   /* a millisecond or two */
    PATIENCE = 1 << 12 /* looks for what others do, before the processor is theirs */
};

struct csaw__hands {
    pid_t process; /* whose threads they are */
    pthread_mutex_t lock;
    pthread_cond_t called;
    uint64_t calls;
    bool over;
    atomic_uint asleep;
    _Atomic(uint64_t) left; /* lower 32 bits: pieces that nobody has taken; upper: of which work */
    atomic_uint undone;     /* pieces */
    void (*piece)(void *user, uint32_t i);
    void *user;
    uint32_t threads;
    pthread_t thread[];
};

static _Thread_local csaw__hands *mine;

/* Whether there was a piece, which is done then. What it is stands until all of its work is done. */
static bool do_piece(csaw__hands *hands) {
    uint64_t left = atomic_load(&hands->left);
    while ((uint32_t)left) {
        if (!atomic_compare_exchange_weak(&hands->left, &left, left - 1)) continue;
        hands->piece(hands->user, (uint32_t)left - 1);
        atomic_fetch_sub(&hands->undone, 1);
        return true;
    }
    return false;
}

static void *live(void *self) {
    csaw__hands *const hands = self;
    uint64_t heard = 0;
    for (bool over = false; !over;) {
        for (int i = 0; i < LOOKS; i++)
            if (do_piece(hands)) i = 0;
        pthread_mutex_lock(&hands->lock);
        atomic_fetch_add(&hands->asleep, 1);
        while (hands->calls == heard && !hands->over) pthread_cond_wait(&hands->called, &hands->lock);
        atomic_fetch_sub(&hands->asleep, 1);
        heard = hands->calls;
        over = hands->over;
        pthread_mutex_unlock(&hands->lock);
    }
    return NULL;
}

csaw__hands *csaw__hands_create(uint32_t threads) {
    csaw__hands *hands = NULL;
    if (!threads || csaw__alloc_zero_bytes((void **)&hands, 1, sizeof *hands + threads * sizeof *hands->thread,
                                           "threads that help") != CSAW_OK)
        return NULL;
    hands->process = getpid();
    pthread_mutex_init(&hands->lock, NULL);
    pthread_cond_init(&hands->called, NULL);
    while (hands->threads < threads && !pthread_create(&hands->thread[hands->threads], NULL, live, hands))
        hands->threads++;
    return hands;
}

void csaw__hands_free(csaw__hands *hands) {
    if (!hands) return;
    if (hands->process == getpid()) { /* a child that was forked has none of the threads */
        pthread_mutex_lock(&hands->lock);
        hands->over = true;
        pthread_cond_broadcast(&hands->called);
        pthread_mutex_unlock(&hands->lock);
        for (uint32_t i = 0; i < hands->threads; i++) pthread_join(hands->thread[i], NULL);
        pthread_cond_destroy(&hands->called);
        pthread_mutex_destroy(&hands->lock);
    }
    csaw__free(hands);
}

static void wake(csaw__hands *hands) {
    if (!atomic_load(&hands->asleep) || hands->process != getpid()) return;
    pthread_mutex_lock(&hands->lock);
    hands->calls++;
    pthread_cond_broadcast(&hands->called);
    pthread_mutex_unlock(&hands->lock);
}

void csaw__hands_have(csaw__hands *hands) {
    mine = hands;
    if (hands) wake(hands);
}

csaw__hands *csaw__hands_mine(void) { return mine; }

void csaw__hands_share(csaw__hands *hands, uint32_t count, void (*piece)(void *user, uint32_t i), void *user) {
    if (!hands || count < 2) {
        for (uint32_t i = 0; i < count; i++) piece(user, i);
        return;
    }
    hands->piece = piece;
    hands->user = user;
    atomic_store(&hands->undone, count);
    atomic_store(&hands->left, ((atomic_load(&hands->left) >> 32) + 1) << 32 | count);
    wake(hands);
    while (do_piece(hands)) {}
    for (int i = 0; atomic_load(&hands->undone); i++) /* which others do */
        if (i >= PATIENCE) sched_yield();
}
