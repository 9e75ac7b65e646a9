/* SPDX-License-Identifier: MIT */
/* bench/no_selection_device.c - selection_on_device.h in a build without CUDA. */
#include <stdlib.h>

#include "bench/selection_on_device.h"

bool selection_on_device(const char *device, const csaw_csr *csr, const csaw_vertex *drawn, uint64_t num_drawn,
                         uint64_t spare, const char *instances, FILE *json) {
    (void)csr;
    (void)drawn;
    (void)num_drawn;
    (void)spare;
    (void)instances;
    (void)json;
    fprintf(stderr, "selection_bench: --device %s needs a build with -DCSAW_CUDA=ON\n", device);
    exit(2);
}
