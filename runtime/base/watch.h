/* SPDX-License-Identifier: MIT */
/* runtime/base/watch.h - long calls ask the function of csaw_watch() whether to go on. */
#ifndef CSAW_BASE_WATCH_H
#define CSAW_BASE_WATCH_H

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

/* Asks another function in this thread's place, first when it is time to, and gives the one that was asked. */
typedef struct csaw__watch_function {
    bool (*go_on)(void *user); /* NULL = nobody is to be asked */
    void *user;
    bool stopped; /* it said no */
} csaw__watch_function;
csaw__watch_function csaw__watch_exchange(csaw__watch_function other);

/* Between two steps of a call, and after a loop: CSAW_ESTOPPED if the call is to end. */
csaw_status csaw__go_on(void);

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
