/* SPDX-License-Identifier: MIT */
/* runtime/base/copy.h - a copy of many bytes by several threads: one cannot use all the bandwidth of memory. */
#ifndef CSAW_BASE_COPY_H
#define CSAW_BASE_COPY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fewer bytes are copied, or looked at, before other threads are awake. */
#define CSAW__WORTH_THREADS ((uint64_t)7 << 18)

/* They do not overlap. */
void csaw__copy(void *to, const void *from, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
