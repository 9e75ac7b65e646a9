/* SPDX-License-Identifier: MIT */
/* spmm/memory.c - csaw/memory.h: the host's memory, or that of spmm/device_arrays.cu. */
#include <csaw/memory.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "spmm/device.h"

csaw_status csaw_memory_alloc(const char *device, uint64_t bytes, void **out) {
    int ordinal = -1;
    CSAW_TRY(csaw__device_of(device, &ordinal));
    if (ordinal >= 0) return csaw__device_array(ordinal, bytes, out);
    return csaw__alloc_bytes(out, bytes, 1, "an array");
}

void csaw_memory_free(const char *device, void *memory) {
    if (!device || strcmp(device, "cpu") == 0)
        csaw__free(memory);
    else
        csaw__device_array_free(memory);
}

csaw_status csaw_memory_wait(const char *device) {
    int ordinal = -1;
    CSAW_TRY(csaw__device_of(device, &ordinal));
    return ordinal >= 0 ? csaw__device_wait(ordinal) : CSAW_OK;
}

csaw_status csaw_memory_write(const char *device, void *there, const void *here, uint64_t bytes) {
    int ordinal = -1;
    CSAW_TRY(csaw__device_of(device, &ordinal));
    CSAW_TRY(csaw__array_check(there, "memory to write to", bytes));
    CSAW_TRY(csaw__array_check(here, "memory to write from", bytes));
    if (ordinal >= 0) {
        CSAW_TRY(csaw__device_wait(ordinal));
        return csaw__device_write(&(csaw__where){ordinal, NULL}, there, bytes, here);
    }
    if (bytes) memcpy(there, here, bytes);
    return CSAW_OK;
}

csaw_status csaw_memory_read(const char *device, void *here, const void *there, uint64_t bytes) {
    int ordinal = -1;
    CSAW_TRY(csaw__device_of(device, &ordinal));
    CSAW_TRY(csaw__array_check(here, "memory to read to", bytes));
    CSAW_TRY(csaw__array_check(there, "memory to read from", bytes));
    if (ordinal >= 0) {
        CSAW_TRY(csaw__device_wait(ordinal));
        return csaw__device_read(&(csaw__where){ordinal, NULL}, there, bytes, here);
    }
    if (bytes) memcpy(here, there, bytes);
    return CSAW_OK;
}
