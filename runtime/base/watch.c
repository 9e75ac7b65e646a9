/* SPDX-License-Identifier: MIT */
/* runtime/base/watch.c - whom a long call asks whether to go on: a function for each thread. Only that thread calls
 * it, ten times a second at most; the other threads of a loop see what it said. The clock is the kernel's coarse
 * one, which is read in 5 ns. */
#include "runtime/base/watch.h"

#include <stdatomic.h>
#include <time.h>

struct csaw__watch {
    bool (*go_on)(void *user);
    void *user;
    int64_t next; /* when to ask again */
    atomic_bool stopped;
};

static _Thread_local csaw__watch mine;
static atomic_llong pause = 100000000;

void csaw_watch(bool (*go_on)(void *user), void *user) {
    mine.go_on = go_on;
    mine.user = user;
    mine.next = 0;
    atomic_store(&mine.stopped, false);
}

csaw__watch *csaw__watching(void) { return mine.go_on ? &mine : NULL; }

bool csaw__watch_stopped(csaw__watch *watch) {
    struct timespec now;
    if (watch != &mine || atomic_load_explicit(&watch->stopped, memory_order_relaxed))
        return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (time < watch->next) return false;
    watch->next = time + atomic_load_explicit(&pause, memory_order_relaxed);
    if (!watch->go_on(watch->user)) atomic_store_explicit(&watch->stopped, true, memory_order_relaxed);
    return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

csaw_status csaw__go_on(void) {
    CSAW_REQUIRE(!csaw__stopped(csaw__watching()), CSAW_ESTOPPED, "stopped: the function of csaw_watch() said so");
    return CSAW_OK;
}

void csaw__watch_every(int64_t nanoseconds) { atomic_store(&pause, nanoseconds); }
