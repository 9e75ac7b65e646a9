/* SPDX-License-Identifier: MIT */
/* bench/hand_law.h - do the kernels of hand_device.h follow the law? */
#ifndef CSAW_BENCH_HAND_LAW_H
#define CSAW_BENCH_HAND_LAW_H

#include <stdbool.h>

/* device: "cuda:N". Prints a line a test; false if one failed. */
bool hand_law(const char *device);

#endif
