/* SPDX-License-Identifier: MIT */
/* runtime/base/largest.h - the largest of many vertices, by several threads, copied meanwhile if they are to be. */
#ifndef CSAW_BASE_LARGEST_H
#define CSAW_BASE_LARGEST_H

#include <csaw/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of none 0. to: [count], where they are copied; NULL: nowhere. */
csaw_vertex csaw__largest(const csaw_vertex *vertex, uint64_t count, csaw_vertex *to);

#ifdef __cplusplus
}
#endif

#endif
