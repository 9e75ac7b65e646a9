/* SPDX-License-Identifier: MIT */
/* runtime/base/status.h - how a function inside csaw fails: a status, and one message per thread that gives the
 * limit, the value and the remedy. */
#ifndef CSAW_BASE_STATUS_H
#define CSAW_BASE_STATUS_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps the message for csaw_last_error() and returns status. */
csaw_status csaw__fail(csaw_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the failure of a call that already left its message. */
#define CSAW_TRY(CALL)                          \
    do {                                        \
        csaw_status csaw__s = (CALL);           \
        if (csaw__s != CSAW_OK) return csaw__s; \
    } while (0)

/* The same for functions that free what they hold: keeps the failure in `status` and goes to done. */
#define CSAW_TRY_DONE(CALL)                          \
    do {                                             \
        if ((status = (CALL)) != CSAW_OK) goto done; \
    } while (0)

#define CSAW_REQUIRE(CONDITION, STATUS, ...)                      \
    do {                                                          \
        if (!(CONDITION)) return csaw__fail(STATUS, __VA_ARGS__); \
    } while (0)

#define CSAW_REQUIRE_DONE(CONDITION, STATUS, ...)     \
    do {                                              \
        if (!(CONDITION)) {                           \
            status = csaw__fail(STATUS, __VA_ARGS__); \
            goto done;                                \
        }                                             \
    } while (0)

/* An options struct of the caller, or all zeros: options structs begin with their size, so that a program built with
 * an older, shorter struct still means "default" by what it does not have. */
#define CSAW_OPTIONS(TYPE, GIVEN, NAME)                                                                    \
    TYPE NAME;                                                                                             \
    memset(&NAME, 0, sizeof(NAME));                                                                        \
    if (GIVEN) {                                                                                           \
        CSAW_REQUIRE((GIVEN)->size >= sizeof(size_t) && (GIVEN)->size <= sizeof(NAME), CSAW_EINVAL,        \
                     "the size field of " #TYPE " is %zu, but this csaw knows sizes up to %zu; set it to " \
                     "sizeof(" #TYPE ")",                                                                  \
                     (GIVEN)->size, sizeof(NAME));                                                         \
        memcpy(&NAME, (GIVEN), (GIVEN)->size);                                                             \
    }

#ifdef __cplusplus
}
#endif

#endif
