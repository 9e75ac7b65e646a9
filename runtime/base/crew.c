/* SPDX-License-Identifier: MIT */
/* runtime/base/crew.c - see crew.h. Members wait for a piece of work, the caller for its end, under one lock; before
 * they sleep they look for a while whether they need to, since to be woken takes longer than much of the work does. */
#include "runtime/base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/memory.h"

static const long long longest_look = 1000000; /* ns: more than the host takes between two batches */

typedef struct member {
    csaw__crew *crew;
    pthread_t thread; /* of member 0 none */
    atomic_bool called;
    csaw_status status;
    char message[2048];
} member;

struct csaw__crew {
    pid_t process; /* whose threads they are */
    pthread_mutex_t lock;
    pthread_cond_t called, changed; /* for members, for the caller */
    pthread_t caller;
    const csaw__crew_work *work;
    uint32_t threads;
    atomic_uint at_work; /* of them */
    atomic_bool told, over;
    member member[];
};

static _Thread_local bool at_work;

bool csaw__crew_at_work(void) { return at_work; }

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Whether to look once more, of a look that began then. */
static bool look_again(long long begun) {
    sched_yield(); /* to whoever has work, where there are fewer cores */
    return now() - begun < longest_look;
}

static void run_member(csaw__crew *crew, uint32_t number) {
    const csaw__crew_work *const work = crew->work;
    member *const m = &crew->member[number];
    m->message[0] = 0;
    at_work = crew->threads > 0;
    m->status = work->run(work->user, number);
    at_work = false;
    if (m->status != CSAW_OK) snprintf(m->message, sizeof m->message, "%s", csaw_last_error());
}

static void *live(void *self) {
    member *const m = self;
    csaw__crew *const crew = m->crew;
    for (;;) {
        const long long begun = now();
        while (!atomic_load(&m->called) && !atomic_load(&crew->over) && look_again(begun)) {}
        pthread_mutex_lock(&crew->lock);
        while (!atomic_load(&m->called) && !crew->over) pthread_cond_wait(&crew->called, &crew->lock);
        const bool over = !atomic_load(&m->called);
        pthread_mutex_unlock(&crew->lock);
        if (over) return NULL;
        run_member(crew, (uint32_t)(m - crew->member));
        pthread_mutex_lock(&crew->lock);
        atomic_store(&m->called, false);
        atomic_fetch_sub(&crew->at_work, 1);
        pthread_cond_signal(&crew->changed);
        pthread_mutex_unlock(&crew->lock);
    }
}

csaw_status csaw__crew_create(uint32_t members, csaw__crew **out) {
    csaw__crew *crew = NULL;
    int failure = 0;
    CSAW_TRY(csaw__alloc_zero_bytes((void **)&crew, 1, sizeof *crew + members * sizeof *crew->member, "threads"));
    crew->process = getpid();
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->called, NULL);
    pthread_cond_init(&crew->changed, NULL);
    while (crew->threads + 1 < members && failure == 0) {
        member *const m = &crew->member[crew->threads + 1];
        m->crew = crew;
        failure = pthread_create(&m->thread, NULL, live, m);
        if (failure == 0) crew->threads++;
    }
    if (failure != 0) {
        const uint32_t threads = crew->threads;
        csaw__crew_free(crew);
        return csaw__fail(CSAW_ENOMEM, "thread %u of %u did not start: %s; end other threads, or raise the limit",
                          threads + 1, members - 1, strerror(failure));
    }
    *out = crew;
    return CSAW_OK;
}

void csaw__crew_free(csaw__crew *crew) {
    if (!crew) return;
    if (crew->process == getpid()) { /* a child that was forked has none of the threads */
        pthread_mutex_lock(&crew->lock);
        crew->over = true;
        pthread_cond_broadcast(&crew->called);
        pthread_mutex_unlock(&crew->lock);
        for (uint32_t i = 1; i <= crew->threads; i++) pthread_join(crew->member[i].thread, NULL);
        pthread_cond_destroy(&crew->changed);
        pthread_cond_destroy(&crew->called);
        pthread_mutex_destroy(&crew->lock);
    }
    csaw__free(crew);
}

/* Until all are done, hearing what they tell. */
static void wait_for_all(csaw__crew *crew) {
    const csaw__crew_work *const work = crew->work;
    const long long begun = now();
    while (atomic_load(&crew->at_work) && !atomic_load(&crew->told) && look_again(begun)) {}
    pthread_mutex_lock(&crew->lock);
    while (atomic_load(&crew->at_work) || crew->told) {
        if (!crew->told) {
            pthread_cond_wait(&crew->changed, &crew->lock);
            continue;
        }
        crew->told = false;
        pthread_mutex_unlock(&crew->lock);
        if (work->hear) work->hear(work->user);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

csaw_status csaw__crew_run(csaw__crew *crew, const csaw__crew_work *work) {
    CSAW_REQUIRE(crew->process == getpid(), CSAW_EUNSUPPORTED,
                 "the plan's threads stayed in the process that this one was forked from; make the plan here");
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->caller = pthread_self();
    atomic_store(&crew->at_work, crew->threads);
    for (uint32_t i = 1; i <= crew->threads; i++) atomic_store(&crew->member[i].called, true);
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    run_member(crew, 0);
    wait_for_all(crew);
    return CSAW_OK;
}

void csaw__crew_tell(csaw__crew *crew) {
    if (pthread_equal(pthread_self(), crew->caller)) {
        if (crew->work->hear) crew->work->hear(crew->work->user);
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->told = true;
    pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

csaw_status csaw__crew_outcome(const csaw__crew *crew, uint32_t member, const char **message) {
    *message = crew->member[member].message;
    return crew->member[member].status;
}
