/* SPDX-License-Identifier: MIT */
/* runtime/base/watch.c - whom a long call asks whether to go on: a function for each thread. Only that thread calls
 * it, ten times a second at most; the other threads of a loop see what it said. The clock is the kernel's coarse
 * one, which is read in 5 ns. */
#include "runtime/base/watch.h"

#include <time.h>

static _Thread_local csaw__watch mine;
static atomic_llong pause = 100000000;

void csaw_watch(bool (*go_on)(void *user), void *user) {
    mine.go_on = go_on;
    mine.user = user;
    mine.owner = &mine;
    mine.next = 0;
    atomic_store(&mine.stopped, false);
}

csaw__watch *csaw__watching(void) { return mine.go_on ? &mine : NULL; }

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void csaw__watch_begin(csaw__watch *watch, bool (*go_on)(void *user), void *user) {
    watch->go_on = go_on;
    watch->user = user;
    watch->owner = &mine;
    watch->next = now() + atomic_load_explicit(&pause, memory_order_relaxed);
    atomic_store(&watch->stopped, false);
}

bool csaw__watch_stopped(csaw__watch *watch) {
    if (watch->owner != &mine || atomic_load_explicit(&watch->stopped, memory_order_relaxed))
        return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
    const int64_t time = now();
    if (time < watch->next) return false;
    watch->next = time + atomic_load_explicit(&pause, memory_order_relaxed);
    if (!watch->go_on(watch->user)) atomic_store_explicit(&watch->stopped, true, memory_order_relaxed);
    return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

csaw_status csaw__was_stopped(void) {
    return csaw__fail(CSAW_ESTOPPED, "stopped: the function of csaw_watch() said so");
}

csaw_status csaw__go_on(void) { return csaw__stopped(csaw__watching()) ? csaw__was_stopped() : CSAW_OK; }

void csaw__watch_every(int64_t nanoseconds) { atomic_store(&pause, nanoseconds); }
