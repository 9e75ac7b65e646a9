/* SPDX-License-Identifier: MIT */
/* cli/placed.c - see placed.h. */
#include "placed.h"

#include <string.h>

csaw_status placed_new(const char *device, void *here, uint64_t bytes, placed *out) {
    *out = (placed){device, here, here, bytes};
    if (!here || strcmp(device, "cpu") == 0) return CSAW_OK;
    out->there = NULL;
    const csaw_status status = csaw_memory_alloc(device, bytes, &out->there);
    return status == CSAW_OK ? placed_send(out) : status;
}

void placed_free(placed *array) {
    if (array->there != array->here) csaw_memory_free(array->device, array->there);
}

csaw_status placed_send(const placed *array) {
    return array->there == array->here ? CSAW_OK
                                       : csaw_memory_write(array->device, array->there, array->here, array->bytes);
}

csaw_status placed_fetch(const placed *array) {
    return array->there == array->here ? CSAW_OK
                                       : csaw_memory_read(array->device, array->here, array->there, array->bytes);
}
