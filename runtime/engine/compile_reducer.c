/* SPDX-License-Identifier: MIT */
/* runtime/engine/compile_reducer.c - csaw_reducer_compile(): a reducer file becomes a loaded library
 * (compile_library.c); its text is kept for kernels (device_reducer.cu). */
#include <csaw/spmm.h>
#include <dlfcn.h>
#include <pthread.h>

#include "runtime/base/memory.h"
#include "runtime/engine/compile_library.h"
#include "runtime/engine/device_reducer.h"

typedef struct loaded {
    csaw_reducer reducer; /* as the library of handle has it, but with kernels */
    void *handle;
    csaw__source source;
    struct loaded *next;
} loaded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded *list;

static csaw_status compile(const char *file, loaded *record) {
    static const csaw__file_kind kind = {.what = "reducer",
                                         .ending = "CSAW_REDUCER(name, init, reduce)",
                                         .header = "csaw/reducer.h",
                                         .entry = "csaw__runtime_reducer"};
    const void *entry = NULL;
    CSAW_TRY(csaw__compile_library(file, &kind, &record->source.content, &record->handle, &entry));
    const csaw_reducer *const reducer = entry;
    CSAW_REQUIRE(reducer->abi == CSAW__REDUCER_ABI, CSAW_ECOMPILE,
                 "%s was compiled against headers of interface %u, but this csaw has %u; compile it with this csaw's",
                 file, reducer->abi, CSAW__REDUCER_ABI);
    record->reducer = *reducer;
    CSAW_TRY(csaw__source_read(file, &record->source));
    return csaw__reducer_kernels_create(&record->source, &record->reducer.device);
}

static void free_record(loaded *record) {
    csaw__reducer_kernels_free(record->reducer.device);
    if (record->handle) dlclose(record->handle);
    csaw__source_free(&record->source);
    csaw__free(record);
}

csaw_status csaw_reducer_compile(const char *path, const csaw_reducer **out) {
    csaw_status status = CSAW_OK;
    loaded *record = NULL;
    CSAW_REQUIRE(path && out, CSAW_EINVAL, "csaw_reducer_compile: %s is NULL; pass one", path ? "out" : "path");
    CSAW_TRY(csaw__alloc_zero(&record, 1, "a compiled reducer"));
    CSAW_TRY_DONE(compile(path, record));
    pthread_mutex_lock(&lock);
    record->next = list;
    list = record;
    pthread_mutex_unlock(&lock);
    *out = &record->reducer;
    record = NULL;
done:
    if (record) free_record(record);
    return status;
}

void csaw_reducer_unload(const csaw_reducer *reducer) {
    pthread_mutex_lock(&lock);
    loaded **place = &list, *record;
    while (*place && &(*place)->reducer != reducer) place = &(*place)->next;
    record = *place;
    if (record) *place = record->next;
    pthread_mutex_unlock(&lock);
    if (record) free_record(record);
}
