/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_apart.h - how far walks that scan rows stand apart in the lanes of a GPU: a warp scans its
 * lanes' rows one after the other, so few walks have a warp each, as far as so many warps are there for it. */
#ifndef CSAW_ENGINE_DEVICE_APART_H
#define CSAW_ENGINE_DEVICE_APART_H

#include <stdint.h>

/* csaw__job.log_apart: one in 2^log_apart lanes has a walk. */
static inline uint32_t csaw__log_apart(uint64_t walks, uint64_t warps) {
    uint32_t log = 0;
    while (log < 5 && walks << (log + 1) <= 32 * warps) log++;
    return log;
}

#endif
