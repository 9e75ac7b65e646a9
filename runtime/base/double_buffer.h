/* SPDX-License-Identifier: MIT */
/* runtime/base/double_buffer.h - double buffering: one slot is filled by a thread of its own while the other one is
 * drained by the caller's.
 *
 * Items 0 .. count - 1 are each filled, then drained, in order. What comes out is what a plain loop gives: statuses,
 * the message of the first failure, and which items were drained before it. Item i + 1 may be filled, in the other
 * slot, while item i is drained; never are two filled at once, and every drain is on the caller's thread. */
#ifndef CSAW_BASE_DOUBLE_BUFFER_H
#define CSAW_BASE_DOUBLE_BUFFER_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__double_buffer {
    csaw_status (*fill)(void *user, uint64_t item, int slot);
    csaw_status (*drain)(void *user, uint64_t item, int slot);
    /* Asked once, when slot 0 is filled and more is to come: makes room for slot 1. If it fails, and if it is NULL,
     * slot 0 alone is used. */
    csaw_status (*widen)(void *user);
    /* There was no memory to fill a slot while `slot` was drained: frees what the other one has. From here on `slot`
     * alone is used, and that item is filled again. */
    void (*narrow)(void *user, int slot);
    void *user;
} csaw__double_buffer;

/* The thread lives within the call, and only where two slots are used. */
csaw_status csaw__double_buffer_run(const csaw__double_buffer *buffer, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
