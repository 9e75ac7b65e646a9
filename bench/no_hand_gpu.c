/* SPDX-License-Identifier: MIT */
/* bench/no_hand_gpu.c - a build without CUDA has no GPU kernels to measure against: there hand_gpu_open() gives NULL,
 * and nothing else is called. */
#include "bench/hand_walks_gpu.h"

hand_gpu *hand_gpu_open(const csaw_csr *csr, const char *device) {
    (void)csr, (void)device;
    return NULL;
}

void hand_gpu_close(hand_gpu *gpu) { (void)gpu; }

uint64_t hand_gpu_run(hand_gpu *gpu, const hand_run *run, double *seconds) {
    (void)gpu, (void)run, (void)seconds;
    return 0;
}

uint64_t hand_gpu_wrong_steps(const hand_gpu *gpu, const csaw_walks *walks) {
    (void)gpu, (void)walks;
    return 0;
}

void hand_gpu_fetch(const csaw_walks *walks, uint64_t count, csaw_vertex *path) {
    (void)walks, (void)count, (void)path;
}
