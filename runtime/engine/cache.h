/* SPDX-License-Identifier: MIT */
/* runtime/engine/cache.h - the directory that keeps compiled samplers, named by a hash of their content.
 *
 * What lies there is loaded into the process, so only its owner may write there: a directory or a file that someone
 * else owns, or may write, is refused rather than used. Files appear whole, under their final name, by rename(). */
#ifndef CSAW_ENGINE_CACHE_H
#define CSAW_ENGINE_CACHE_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 128-bit FNV-1a (Fowler, Noll, Vo; RFC 9923). It need not withstand an attacker, who cannot write the directory. */
typedef struct csaw__hash {
    uint64_t high, low;
} csaw__hash;
csaw__hash csaw__hash_start(void);
void csaw__hash_add(csaw__hash *hash, const void *bytes, size_t size);
void csaw__hash_text(csaw__hash *hash, const char *text); /* with its final zero, so that texts stay apart */

/* Text into new memory; release with csaw__free(). */
csaw_status csaw__format(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The directory, made if it was not there; release with csaw__free(). */
csaw_status csaw__cache_directory(char **out);
/* path + hash as 32 hexadecimal digits + suffix; release with csaw__free(). */
csaw_status csaw__cache_path(const char *directory, const csaw__hash *hash, const char *suffix, char **out);
/* Whether a file is there; one that others could have written is an error. */
csaw_status csaw__cache_has(const char *path, bool *out);
/* Opens a new file beside others, readable by its owner alone, name in *path; close() it and csaw__free() the name. */
csaw_status csaw__cache_temporary(const char *directory, char **path, int *descriptor);
csaw_status csaw__cache_write(const char *directory, const char *path, const void *bytes, size_t size);
/* A whole file, with a zero byte after the last; any file, not only of the cache. Release with csaw__free(). */
csaw_status csaw__read_file(const char *path, char **out, size_t *size);

#define CSAW__MAIN_FILE "runtime_sampler.c" /* includes the engine; compiled after the sampler file */
/* Writes the library's headers and that file into a directory in the cache, its name to *out; csaw__free() it. */
csaw_status csaw__cache_headers(const char *directory, char **out);

#ifdef __cplusplus
}
#endif
#endif
