/* SPDX-License-Identifier: MIT */
/* runtime/engine/compile.c - csaw_sampler_compile(): a sampler file becomes a loaded library (compile_library.c), of
 * which a record is kept. */
#include "runtime/engine/compile.h"

#include <dlfcn.h>
#include <pthread.h>

#include "runtime/base/job.h"
#include "runtime/base/memory.h"
#include "runtime/engine/compile_library.h"

/* ---- loaded samplers ---- */

static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;
static csaw__loaded *loaded_list;

csaw__loaded *csaw__loaded_find(const csaw_sampler *sampler) {
    pthread_mutex_lock(&loaded_lock);
    csaw__loaded *record = loaded_list;
    while (record && record->sampler != sampler) record = record->next;
    pthread_mutex_unlock(&loaded_lock);
    return record;
}

uint64_t csaw_sampler_hash(const csaw_sampler *sampler) {
    const csaw__loaded *record = csaw__loaded_find(sampler);
    csaw__hash hash = csaw__hash_start();
    if (record) {
        hash = record->source.content;
    } else {
        const uint32_t version[] = {CSAW_VERSION_MAJOR, CSAW_VERSION_MINOR, CSAW_VERSION_PATCH};
        csaw__hash_text(&hash, sampler->name);
        csaw__hash_add(&hash, version, sizeof version);
    }
    return hash.high ^ hash.low;
}

static void free_record(csaw__loaded *record) {
    if (record->handle) dlclose(record->handle);
    csaw__source_free(&record->source);
    csaw__free(record);
}

void csaw_sampler_unload(const csaw_sampler *sampler) {
    pthread_mutex_lock(&loaded_lock);
    csaw__loaded **place = &loaded_list, *record;
    while (*place && (*place)->sampler != sampler) place = &(*place)->next;
    record = *place;
    if (record) *place = record->next;
    pthread_mutex_unlock(&loaded_lock);
    if (record) free_record(record);
}

static csaw_status compile(const char *file, csaw__loaded *record) {
    static const csaw__file_kind kind = {.what = "sampler",
                                         .ending = "CSAW_SAMPLER(name, params, hooks ...)",
                                         .header = "csaw/sampler.h",
                                         .entry = "csaw__runtime_sampler",
                                         .main_file = CSAW__MAIN_FILE};
    const void *entry = NULL;
    CSAW_TRY(csaw__compile_library(file, &kind, &record->source.content, &record->handle, &entry));
    record->sampler = entry;
    CSAW_REQUIRE(record->sampler->abi == CSAW__ABI, CSAW_ECOMPILE,
                 "%s was compiled against headers of interface %u, but this csaw has %u; "
                 "compile it with this csaw's",
                 file, record->sampler->abi, CSAW__ABI);
    CSAW_REQUIRE(record->sampler->params_size <= CSAW__MAX_PARAMS, CSAW_ECOMPILE,
                 "the parameters in %s take %u bytes, but the limit is "
                 "%d; use fewer",
                 file, record->sampler->params_size, CSAW__MAX_PARAMS);
    return CSAW_OK;
}

csaw_status csaw_sampler_compile(const char *path, const csaw_sampler **out) {
    csaw_status status = CSAW_OK;
    csaw__loaded *record = NULL;
    CSAW_REQUIRE(path && out, CSAW_EINVAL, "csaw_sampler_compile: %s is NULL; pass one", path ? "out" : "path");
    CSAW_TRY(csaw__alloc_zero(&record, 1, "a compiled sampler"));
    CSAW_TRY_DONE(csaw__source_read(path, &record->source));
    CSAW_TRY_DONE(compile(path, record));
    pthread_mutex_lock(&loaded_lock);
    record->next = loaded_list;
    loaded_list = record;
    pthread_mutex_unlock(&loaded_lock);
    *out = record->sampler;
    record = NULL;
done:
    if (record) free_record(record);
    return status;
}
