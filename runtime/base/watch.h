/* SPDX-License-Identifier: MIT */
/* runtime/base/watch.h - long calls ask the function of csaw_watch() whether to go on. */
#ifndef CSAW_BASE_WATCH_H
#define CSAW_BASE_WATCH_H

#ifndef __cplusplus
#include <stdatomic.h>
#endif

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__watch csaw__watch;

/* This thread's, for a loop of several threads; NULL = nobody is to be asked. */
csaw__watch *csaw__watching(void);

/* Whether what is left of a loop is to be left out. By any thread of it, as often as every microsecond: the watch's own
 * thread asks when it is time to. */
bool csaw__watch_stopped(csaw__watch *watch);
static inline bool csaw__stopped(csaw__watch *watch) { return watch && csaw__watch_stopped(watch); }

#ifndef __cplusplus
struct csaw__watch {
    bool (*go_on)(void *user);
    void *user;
    const csaw__watch *owner; /* the watch of the thread that asks */
    int64_t next;             /* when to ask again */
    atomic_bool stopped;
};

/* One of a call's own beside the thread's: asked on this thread, first when it is time to. */
void csaw__watch_begin(csaw__watch *watch, bool (*go_on)(void *user), void *user);
#endif

/* Between two steps of a call, and after a loop: CSAW_ESTOPPED if the call is to end. */
csaw_status csaw__go_on(void);
/* That, where a loop knows already. */
csaw_status csaw__was_stopped(void);

/* Items between two looks, where one takes some nanoseconds. */
enum { CSAW__STRETCH = 1 << 14 };
static inline uint64_t csaw__stretches(uint64_t items) { return (items + CSAW__STRETCH - 1) / CSAW__STRETCH; }
static inline uint64_t csaw__stretch_end(uint64_t stretch, uint64_t items) {
    return (stretch + 1) * CSAW__STRETCH < items ? (stretch + 1) * CSAW__STRETCH : items;
}

/* For tests: nanoseconds from one question to the next. */
void csaw__watch_every(int64_t nanoseconds);

#ifdef __cplusplus
}
#endif

#endif
