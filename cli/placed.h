/* SPDX-License-Identifier: MIT */
/* cli/placed.h - arrays of the host and where a command works on them: in the memory of a GPU or, on the CPU, where
 * they are. */
#ifndef CSAW_CLI_PLACED_H
#define CSAW_CLI_PLACED_H

#include <csaw/memory.h>

typedef struct placed {
    const char *device; /* "cpu", or "cuda:N" */
    void *here, *there; /* the same array on the CPU; NULL: there is none */
    uint64_t bytes;
} placed;

/* With the host's contents. Released by placed_free(), which lets `here` alone, after a failure too. */
csaw_status placed_new(const char *device, void *here, uint64_t bytes, placed *out);
void placed_free(placed *array);

csaw_status placed_send(const placed *array);  /* from here to there */
csaw_status placed_fetch(const placed *array); /* back */

#endif
