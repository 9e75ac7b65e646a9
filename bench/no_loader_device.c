/* SPDX-License-Identifier: MIT */
/* bench/no_loader_device.c - loader_device.h in a build without CUDA, where no plan is on a GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/loader_device.h"

void loader_device_use(const char *device) {
    fprintf(stderr, "loader_bench: --device %s needs a build with -DCSAW_CUDA=ON\n", device);
    exit(2);
}

void *loader_device_take(uint64_t bytes) {
    (void)bytes;
    return NULL;
}

void *loader_device_take_pinned(uint64_t bytes) {
    (void)bytes;
    return NULL;
}

void loader_device_give(void *memory) { (void)memory; }

void loader_device_copy(void *to, const void *from, uint64_t bytes) { (void)to, (void)from, (void)bytes; }

void loader_device_wait(void) {}

double loader_device_busy(void) { return -1; }
