/* SPDX-License-Identifier: MIT */
/* runtime/engine/cache.c - the owner-only directory of compiled samplers: see cache.h. */
#include "runtime/engine/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/memory.h"
#include "runtime/engine/headers.h"

/* ---- hash and text ---- */

csaw__hash csaw__hash_start(void) {
    csaw__hash hash = {0x6c62272e07bb0142u, 0x62b821756295c58du};
    return hash;
}

void csaw__hash_add(csaw__hash *hash, const void *bytes, size_t size) {
    __extension__ typedef unsigned __int128 uint128;
    const uint128 prime = ((uint128)1 << 88) + 0x13b;
    const unsigned char *byte = bytes;
    uint128 state = (uint128)hash->high << 64 | hash->low;
    for (size_t i = 0; i < size; i++) state = (state ^ byte[i]) * prime;
    hash->high = (uint64_t)(state >> 64);
    hash->low = (uint64_t)state;
}

void csaw__hash_text(csaw__hash *hash, const char *text) { csaw__hash_add(hash, text, strlen(text) + 1); }

csaw_status csaw__format(char **out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    CSAW_REQUIRE(size >= 0, CSAW_EINVAL, "a name cannot be put together: %s", strerror(errno));
    char *text = NULL;
    CSAW_TRY(csaw__alloc(&text, (uint64_t)size + 1, "a file name"));
    va_start(arguments, format);
    vsnprintf(text, (size_t)size + 1, format, arguments);
    va_end(arguments);
    *out = text;
    return CSAW_OK;
}

/* ---- the directory ---- */

/* mkdir -p, with the mode that the XDG base directory specification asks for. */
static csaw_status make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash) *slash = 0;
        int failed = mkdir(path, 0700) != 0 && errno != EEXIST, reason = errno;
        if (failed)
            return csaw__fail(
                CSAW_EIO, "the cache directory %s could not be made: %s; set CSAW_CACHE_DIR to a directory of yours",
                path, strerror(reason));
        if (!slash) return CSAW_OK;
        *slash = '/';
    }
}

static csaw_status check_directory(const char *path) {
    struct stat about; /* of what a symbolic link leads to */
    CSAW_REQUIRE(stat(path, &about) == 0, CSAW_EIO,
                 "the cache directory %s cannot be used: %s; set CSAW_CACHE_DIR to a directory of yours", path,
                 strerror(errno));
    CSAW_REQUIRE(
        S_ISDIR(about.st_mode), CSAW_EIO,
        "%s is not a directory, so it cannot be the cache; move it, or set CSAW_CACHE_DIR to a directory of yours",
        path);
    CSAW_REQUIRE(
        about.st_uid == geteuid(), CSAW_EIO,
        "the cache directory %s belongs to user %lu, but this is user %lu, and what lies there would be run; set "
        "CSAW_CACHE_DIR to a directory of yours",
        path, (unsigned long)about.st_uid, (unsigned long)geteuid());
    CSAW_REQUIRE(!(about.st_mode & 022), CSAW_EIO,
                 "the cache directory %s has mode %03o, so others may write what would be run; chmod go-w %s", path,
                 (unsigned)about.st_mode & 0777u, path);
    return CSAW_OK;
}

csaw_status csaw__cache_directory(char **out) {
    const char *own = getenv("CSAW_CACHE_DIR"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    csaw_status status = CSAW_OK;
    if (own && *own)
        CSAW_TRY(csaw__format(&path, "%s", own));
    else if (caches && *caches == '/') /* the XDG specification says that a relative one is ignored */
        CSAW_TRY(csaw__format(&path, "%s/csaw", caches));
    else if (home && *home)
        CSAW_TRY(csaw__format(&path, "%s/.cache/csaw", home));
    else
        return csaw__fail(CSAW_EIO,
                          "there is no place for compiled samplers: CSAW_CACHE_DIR, XDG_CACHE_HOME and HOME are not "
                          "set; set CSAW_CACHE_DIR to a directory of yours");
    CSAW_TRY_DONE(make_directories(path));
    CSAW_TRY_DONE(check_directory(path));
    *out = path;
    return CSAW_OK;
done:
    csaw__free(path);
    return status;
}

csaw_status csaw__cache_path(const char *directory, const csaw__hash *hash, const char *suffix, char **out) {
    return csaw__format(out, "%s/%016llx%016llx%s", directory, (unsigned long long)hash->high,
                        (unsigned long long)hash->low, suffix);
}

/* ---- files ---- */

csaw_status csaw__cache_has(const char *path, bool *out) {
    struct stat about;
    if (lstat(path, &about) != 0) {
        CSAW_REQUIRE(errno == ENOENT, CSAW_EIO, "%s in the cache cannot be used: %s", path, strerror(errno));
        *out = false;
        return CSAW_OK;
    }
    CSAW_REQUIRE(S_ISREG(about.st_mode) && about.st_uid == geteuid() && !(about.st_mode & 022), CSAW_EIO,
                 "%s in the cache is not a file that only you may write, and it would be run; remove it", path);
    *out = true;
    return CSAW_OK;
}

csaw_status csaw__cache_temporary(const char *directory, char **path, int *descriptor) {
    char *name = NULL;
    CSAW_TRY(csaw__format(&name, "%s/tmp-XXXXXX", directory));
    int opened = mkostemp(name, O_CLOEXEC);
    if (opened < 0) {
        int reason = errno;
        csaw__free(name);
        return csaw__fail(CSAW_EIO,
                          "no file can be made in the cache directory %s: %s; free space there, or set CSAW_CACHE_DIR "
                          "to a directory of yours",
                          directory, strerror(reason));
    }
    *path = name;
    *descriptor = opened;
    return CSAW_OK;
}

csaw_status csaw__cache_write(const char *directory, const char *path, const void *bytes, size_t size) {
    char *temporary = NULL;
    int descriptor = -1;
    CSAW_TRY(csaw__cache_temporary(directory, &temporary, &descriptor));
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(descriptor, (const char *)bytes + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    int closed = close(descriptor);
    csaw_status status = CSAW_OK;
    if (done < size || closed != 0 || rename(temporary, path) != 0) {
        status = csaw__fail(
            CSAW_EIO, "%s could not be written: %s; free space there, or set CSAW_CACHE_DIR to a directory of yours",
            path, strerror(errno));
        unlink(temporary);
    }
    csaw__free(temporary);
    return status;
}

csaw_status csaw__read_file(const char *path, char **out, size_t *size) {
    csaw_status status = CSAW_OK;
    char *text = NULL;
    size_t done = 0;
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    CSAW_REQUIRE(descriptor >= 0, CSAW_EIO, "%s could not be opened: %s; check the path", path, strerror(errno));
    CSAW_REQUIRE_DONE(fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode), CSAW_EIO,
                      "%s is not a file; check the path", path);
    CSAW_TRY_DONE(csaw__alloc(&text, (uint64_t)about.st_size + 1, path));
    while (done < (size_t)about.st_size) {
        ssize_t n = read(descriptor, text + done, (size_t)about.st_size - done);
        if (n < 0 && errno == EINTR) continue;
        CSAW_REQUIRE_DONE(n >= 0, CSAW_EIO, "%s could not be read: %s", path, strerror(errno));
        if (n == 0) break; /* it became shorter */
        done += (size_t)n;
    }
    text[done] = 0;
    *out = text;
    *size = done;
    text = NULL;
done:
    csaw__free(text);
    close(descriptor);
    return status;
}

/* ---- the library's headers ---- */

/* The file that is compiled after the sampler file; naming the compiler's version puts it into the hash. */
static const char main_text[] = "#include \"runtime/engine/host_kernels.h\"\n"
                                "const char csaw__compiler[] = __VERSION__;\n";

static csaw_status write_header(const char *root, const char *name, const char *text, size_t size) {
    char *path = NULL, *slash;
    csaw_status status = CSAW_OK;
    struct stat about;
    CSAW_TRY(csaw__format(&path, "%s/%s", root, name));
    if (lstat(path, &about) == 0 && S_ISREG(about.st_mode) && (size_t)about.st_size == size) goto done;
    slash = strrchr(path, '/');
    *slash = 0;
    CSAW_TRY_DONE(make_directories(path));
    *slash = '/';
    CSAW_TRY_DONE(csaw__cache_write(root, path, text, size));
done:
    csaw__free(path);
    return status;
}

csaw_status csaw__cache_headers(const char *directory, char **out) {
    csaw_status status = CSAW_OK;
    char *root = NULL;
    csaw__hash hash = csaw__hash_start();
    csaw__hash_text(&hash, main_text);
    for (const csaw__header *header = csaw__headers; header->name; header++) {
        csaw__hash_text(&hash, header->name);
        csaw__hash_text(&hash, header->text);
    }
    CSAW_TRY(csaw__cache_path(directory, &hash, ".include", &root));
    CSAW_TRY_DONE(make_directories(root));
    CSAW_TRY_DONE(check_directory(root));
    for (const csaw__header *header = csaw__headers; header->name; header++)
        CSAW_TRY_DONE(write_header(root, header->name, header->text, header->size));
    CSAW_TRY_DONE(write_header(root, CSAW__MAIN_FILE, main_text, sizeof main_text - 1));
    *out = root;
    root = NULL;
done:
    csaw__free(root);
    return status;
}
