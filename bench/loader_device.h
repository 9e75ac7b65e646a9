/* SPDX-License-Identifier: MIT */
/* bench/loader_device.h - memory of a GPU, for bench/loader.c. Functions end the program with a message where something
 * fails, as must() does. Without CUDA: no_loader_device.c. */
#ifndef CSAW_BENCH_LOADER_DEVICE_H
#define CSAW_BENCH_LOADER_DEVICE_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

void loader_device_use(const char *device);
void *loader_device_take(uint64_t bytes);
void *loader_device_take_pinned(uint64_t bytes); /* of the host, page-locked */
void loader_device_give(void *memory);           /* of either */
void loader_device_copy(void *to, const void *from, uint64_t bytes);
void loader_device_wait(void); /* until all that was put into the default stream is done */
/* The share of NVML's last sample period (1/6 s to 1 s) in which a kernel ran on that GPU, whoever's; negative: NVML
 * does not tell. */
double loader_device_busy(void);

#ifdef __cplusplus
}
#endif
#endif
