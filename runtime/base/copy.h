/* SPDX-License-Identifier: MIT */
/* runtime/base/copy.h - a copy of many bytes by several threads: one cannot use all the bandwidth of memory. */
#ifndef CSAW_BASE_COPY_H
#define CSAW_BASE_COPY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* They do not overlap. */
void csaw__copy(void *to, const void *from, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
