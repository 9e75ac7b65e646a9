/* SPDX-License-Identifier: MIT */
/* partition/part_device.h - a device to which partitions of a graph come, as those see it who do not care which: its
 * memory, copies and launches. Two are written: one simulated on the CPU (partition/simulated.h), and a GPU
 * (runtime/engine/device_parts.cu). */
#ifndef CSAW_PARTITION_PART_DEVICE_H
#define CSAW_PARTITION_PART_DEVICE_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies and launches are begun, never waited for; a stream does one of them at a time. self is handed to each
 * function. */
typedef struct csaw__part_device {
    void *self;
    /* Memory for so many resident partitions, and streams. */
    csaw_status (*allocate)(void *self, uint32_t slots, uint32_t streams);
    /* What the slot held is gone from here on; no launch reads it. */
    csaw_status (*copy)(void *self, uint32_t part, uint32_t slot, uint32_t stream);
    /* Works on what waits at the partition, by so many thread blocks, until nothing waits there or results find no
     * room. */
    csaw_status (*launch)(void *self, uint32_t part, uint32_t slot, uint32_t stream, uint32_t blocks);
    /* Until the copy or launch on some stream has ended; on which. Called only while there is one. */
    csaw_status (*wait)(void *self, uint32_t *stream);
    /* [parts] how many wait at each; those in the hands of launches under way may be counted, too. */
    csaw_status (*counts)(void *self, uint64_t *active);
    void (*stop)(void *self); /* gives up whatever is under way; then nothing is */

    uint32_t blocks; /* thread blocks that it runs at a time */
    /* Thread blocks that a launch for so many entries has work for, 1 at least. */
    uint32_t (*need)(void *self, uint64_t entries);

    /* Memory within the device's budget, by so many bytes as asked for; CSAW_EDEVMEM beyond it. */
    csaw_status (*alloc)(void *self, uint64_t bytes, const char *what, void **out);
    void (*free)(void *self, void *memory, uint64_t bytes); /* NULL is fine */
    csaw_status (*put)(void *self, void *to, const void *from,
                       uint64_t bytes); /* from the host; from may change then */
    csaw_status (*get)(void *self, void *to, const void *from, uint64_t bytes); /* to the host, where it is then */
} csaw__part_device;

#ifdef __cplusplus
}
#endif

#endif
