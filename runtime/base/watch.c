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

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

csaw__watch_function csaw__watch_exchange(csaw__watch_function other) {
    const csaw__watch_function before = {mine.go_on, mine.user, atomic_load(&mine.stopped)};
    mine.go_on = other.go_on;
    mine.user = other.user;
    mine.next = now() + atomic_load_explicit(&pause, memory_order_relaxed);
    atomic_store(&mine.stopped, other.stopped);
    return before;
}

bool csaw__watch_stopped(csaw__watch *watch) {
    if (watch != &mine || atomic_load_explicit(&watch->stopped, memory_order_relaxed))
        return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
    const int64_t time = now();
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
