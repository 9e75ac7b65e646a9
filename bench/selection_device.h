/* SPDX-License-Identifier: MIT */
/* bench/selection_device.h - selection_rounds.h on a GPU, a warp a list. Functions end the program with a message where
 * something fails, as must() does. */
#ifndef CSAW_BENCH_SELECTION_DEVICE_H
#define CSAW_BENCH_SELECTION_DEVICE_H

#include <csaw/csaw.h>

#include "bench/selection_lists.h"
#include "bench/selection_rounds.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct selection_device selection_device; /* a graph on a GPU, and lists of it to pick from */

selection_device *selection_device_open(const csaw_csr *csr, const char *device);
void selection_device_close(selection_device *s);
/* Copies them. biased: by the degree of the neighbour. */
void selection_device_lists(selection_device *s, const selection_lists *lists, bool biased);
/* Seconds of the kernel, by the GPU's clock. way NUM_WAYS: sums alone. */
double selection_device_run(selection_device *s, way way, looking looking);
/* Of the last run but one of sums. Picks begin .. end - 1 of all. */
round_counts selection_device_get(selection_device *s, uint64_t begin, uint64_t end, uint32_t *picks);

#ifdef __cplusplus
}
#endif
#endif
