/* SPDX-License-Identifier: MIT */
/* runtime/base/output_file.c - writes beside the target, as PATH.<process>-<number>.part, then fsync and rename: a
 * full disk or a kill leaves what stood under the name before. A target that is no plain file (a pipe, a device) is
 * written to directly, since a rename would put a file in its place. After a failed write every later call fails. */
#include "runtime/base/output_file.h"

#include "runtime/base/zlib_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct csaw__output {
    int file;
    bool failed;
    bool gzip;
    char path[PATH_MAX];   /* as given; where symbolic links lead to, if it existed */
    char part[PATH_MAX];   /* "" if written to directly */
    uint64_t written;      /* bytes that the system took */
    uint64_t used;         /* of the buffer */
    char *buffer;          /* [CSAW__OUTPUT_BYTES] */
    unsigned char *packed; /* [CSAW__OUTPUT_BYTES], if gzip */
    z_stream stream;
};

static csaw_status fail_write(csaw__output *output, const char *what) {
    int error = errno;
    output->failed = true;
    return csaw__fail(CSAW_EIO, "%s: %s failed after %llu bytes: %s; %s", output->path, what,
                      (unsigned long long)output->written, strerror(error),
                      error == ENOSPC || error == EDQUOT ? "free space there, or write elsewhere"
                                                         : "check the path and its permissions, or write elsewhere");
}

static csaw_status write_all(csaw__output *output, const void *from, uint64_t bytes) {
    const char *at = from;
    while (bytes) {
        ssize_t count = write(output->file, at, bytes < 1 << 30 ? bytes : 1 << 30);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_write(output, "writing");
        at += count;
        bytes -= (uint64_t)count;
        output->written += (uint64_t)count;
    }
    return CSAW_OK;
}

static csaw_status write_packed(csaw__output *output, const void *from, uint64_t bytes, int flush) {
    z_stream *stream = &output->stream;
    stream->next_in = (Bytef *)(uintptr_t)from;
    stream->avail_in = (unsigned)bytes;
    do {
        stream->next_out = output->packed;
        stream->avail_out = CSAW__OUTPUT_BYTES;
        deflate(stream, flush);
        CSAW_TRY(write_all(output, output->packed, CSAW__OUTPUT_BYTES - stream->avail_out));
    } while (stream->avail_out == 0);
    return CSAW_OK;
}

static csaw_status write_buffer(csaw__output *output) {
    uint64_t bytes = output->used;
    CSAW_REQUIRE(!output->failed, CSAW_EIO, "%s: an earlier write failed; discard the file and begin again",
                 output->path);
    output->used = 0;
    return output->gzip ? write_packed(output, output->buffer, bytes, Z_NO_FLUSH)
                        : write_all(output, output->buffer, bytes);
}

/* A file of its own beside the target. */
static csaw_status open_part(csaw__output *output) {
    static atomic_uint number;
    do {
        int length = snprintf(output->part, sizeof output->part, "%s.%ld-%u.part", output->path, (long)getpid(),
                              atomic_fetch_add(&number, 1));
        if (length >= (int)sizeof output->part) {
            output->part[0] = 0;
            return csaw__fail(CSAW_EINVAL,
                              "%.80s...: the path is too long with its .part name, %d bytes are the most; "
                              "write to a shorter path",
                              output->path, PATH_MAX - 1);
        }
        output->file = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (output->file < 0 && errno == EEXIST);
    if (output->file >= 0) return CSAW_OK;
    output->part[0] = 0;
    return fail_write(output, "creating the file");
}

static csaw_status open_target(csaw__output *output, const char *path) {
    struct stat target;
    char real[PATH_MAX];
    CSAW_REQUIRE(strlen(path) < PATH_MAX, CSAW_EINVAL, "%.80s...: the path is longer than %d bytes; use a shorter one",
                 path, PATH_MAX - 1);
    strcpy(output->path, path);
    if (strcmp(path, "-") == 0) {
        strcpy(output->path, "standard output");
        fflush(stdout); /* what the program printed before comes before */
        output->file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return output->file < 0 ? fail_write(output, "opening") : CSAW_OK;
    }
    if (stat(path, &target) == 0) {
        if (!S_ISREG(target.st_mode)) {
            output->file = open(path, O_WRONLY | O_CLOEXEC);
            return output->file < 0 ? fail_write(output, "opening") : CSAW_OK;
        }
        if (realpath(path, real)) strcpy(output->path, real);
    }
    return open_part(output);
}

csaw_status csaw__output_open(const char *path, bool gzip, csaw__output **out) {
    csaw__output *output = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(path, CSAW_EINVAL, "the path to write to is NULL; pass a name, or \"-\" for standard output");
    CSAW_TRY(csaw__alloc_zero(&output, 1, "a file writer"));
    output->file = -1;
    CSAW_TRY_DONE(csaw__alloc(&output->buffer, CSAW__OUTPUT_BYTES, "a file buffer"));
    if (gzip) {
        CSAW_TRY_DONE(csaw__alloc(&output->packed, CSAW__OUTPUT_BYTES, "a file buffer"));
        output->stream.zalloc = csaw__zlib_alloc;
        output->stream.zfree = csaw__zlib_free;
        /* 15 + 16: the largest window, a gzip header; 8: zlib's usual memory */
        if (deflateInit2(&output->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
            status = CSAW_ENOMEM; /* csaw__zlib_alloc() left the message */
            goto done;
        }
        output->gzip = true;
    }
    CSAW_TRY_DONE(open_target(output, path));
    *out = output;
    return CSAW_OK;
done:
    csaw__output_discard(output);
    return status;
}

csaw_status csaw__output_room(csaw__output *output, uint64_t bytes, char **place) {
    if (bytes > CSAW__OUTPUT_BYTES - output->used) CSAW_TRY(write_buffer(output));
    *place = output->buffer + output->used;
    return CSAW_OK;
}

void csaw__output_advance(csaw__output *output, uint64_t bytes) { output->used += bytes; }

csaw_status csaw__output_put(csaw__output *output, const void *from, uint64_t bytes) {
    const char *at = from;
    while (bytes) {
        uint64_t count = bytes < CSAW__OUTPUT_BYTES ? bytes : CSAW__OUTPUT_BYTES;
        char *place;
        CSAW_TRY(csaw__output_room(output, count, &place));
        memcpy(place, at, count);
        csaw__output_advance(output, count);
        at += count;
        bytes -= count;
    }
    return CSAW_OK;
}

const char *csaw__output_path(const csaw__output *output) { return output->path; }

/* The new name itself to disk; file systems that cannot do that for a directory are let be. */
static void sync_directory(const char *path) {
    char name[PATH_MAX];
    char *slash = strrchr(strcpy(name, path), '/');
    if (slash) slash[slash == name] = 0;
    int directory = open(slash ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    fsync(directory);
    close(directory);
}

csaw_status csaw__output_close(csaw__output *output) {
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(write_buffer(output));
    if (output->gzip) CSAW_TRY_DONE(write_packed(output, NULL, 0, Z_FINISH));
    if (output->part[0] && fsync(output->file) != 0) {
        status = fail_write(output, "writing to disk");
        goto done;
    }
    int code = close(output->file);
    output->file = -1;
    if (code != 0) {
        status = fail_write(output, "closing");
        goto done;
    }
    if (output->part[0]) {
        if (rename(output->part, output->path) != 0) {
            status = fail_write(output, "renaming the finished .part file");
            goto done;
        }
        output->part[0] = 0;
        sync_directory(output->path);
    }
done:
    csaw__output_discard(output);
    return status;
}

void csaw__output_discard(csaw__output *output) {
    if (!output) return;
    if (output->file >= 0) close(output->file);
    if (output->part[0]) unlink(output->part);
    if (output->gzip) deflateEnd(&output->stream);
    csaw__free(output->packed);
    csaw__free(output->buffer);
    csaw__free(output);
}
