/* SPDX-License-Identifier: MIT */
/* bench/no_hand_device.c - hand_device.h in a build without CUDA, where no plan is on a GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/hand_device.h"

static void none(void) {
    fputs("sample_bench: built without CUDA, so without kernels; configure with -DCSAW_CUDA=ON\n", stderr);
    exit(2);
}

hand_device *hand_device_open(const csaw_csr *csr, const char *device) {
    (void)csr;
    (void)device;
    none();
    return NULL;
}

void hand_device_close(hand_device *hand) { (void)hand; }

bool hand_device_has(const uint32_t *fanout) {
    (void)fanout;
    return false;
}

void hand_device_seeds(hand_device *hand, const csaw_vertex *seed, uint64_t count, const uint32_t *fanout) {
    (void)hand;
    (void)seed;
    (void)count;
    (void)fanout;
    none();
}

void hand_device_run(hand_device *hand, hand_way way, uint64_t number) {
    (void)hand;
    (void)way;
    (void)number;
    none();
}

csaw_arcs hand_device_deliver(hand_device *hand, hand_way way, uint64_t number, const csaw_vertex *seed) {
    (void)hand;
    (void)way;
    (void)number;
    (void)seed;
    none();
    return (csaw_arcs){0};
}

hand_totals hand_device_totals(hand_device *hand, hand_way way) {
    (void)hand;
    (void)way;
    none();
    return (hand_totals){0};
}

csaw_arcs hand_device_get(hand_device *hand, hand_way way, uint64_t first, uint64_t count) {
    (void)hand;
    (void)way;
    (void)first;
    (void)count;
    none();
    return (csaw_arcs){0};
}

void hand_device_to_host(void *to, const void *from, uint64_t bytes) {
    (void)to;
    (void)from;
    (void)bytes;
    none();
}

double hand_device_copy_rate(void) {
    none();
    return 0;
}
