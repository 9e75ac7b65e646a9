/* SPDX-License-Identifier: MIT */
/* runtime/base/text_input.c - reads a plain or gzip file (RFC 1952, several members too) front to back, so that pipes
 * work as well. zlib's inflate rather than its gz functions: those take memory that csaw does not see, and tell a
 * truncated file from a whole one only in passing. */
#include "runtime/base/text_input.h"

#include "runtime/base/zlib_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RAW_BYTES = 1 << 18 };

struct csaw__text_input {
    const char *path;
    int file;
    bool file_ended;
    bool gzip;
    bool in_member;     /* gzip: between a header and its trailer */
    z_stream stream;    /* next_in, avail_in: bytes of raw not yet used, for plain files too */
    unsigned char *raw; /* [RAW_BYTES] */
};

/* One read(2), as much as comes; 0 bytes at the end of the file. */
static csaw_status read_some(csaw__text_input *input, void *to, uint64_t capacity, uint64_t *count) {
    ssize_t got;
    do got = read(input->file, to, capacity);
    while (got < 0 && errno == EINTR);
    CSAW_REQUIRE(got >= 0, CSAW_EIO, "%s: cannot be read: %s; check that it is a readable file", input->path,
                 strerror(errno));
    input->file_ended = got == 0;
    *count = (uint64_t)got;
    return CSAW_OK;
}

/* Reads until raw holds at least `wanted` unused bytes or the file ends. */
static csaw_status fill_raw(csaw__text_input *input, uint64_t wanted) {
    z_stream *stream = &input->stream;
    while (stream->avail_in < wanted && !input->file_ended) {
        uint64_t got = 0;
        memmove(input->raw, stream->next_in, stream->avail_in);
        stream->next_in = input->raw;
        CSAW_TRY(read_some(input, input->raw + stream->avail_in, RAW_BYTES - stream->avail_in, &got));
        stream->avail_in += (unsigned)got;
    }
    return CSAW_OK;
}

static bool raw_begins(const csaw__text_input *input, const void *bytes, size_t count) {
    return input->stream.avail_in >= count && memcmp(input->stream.next_in, bytes, count) == 0;
}

csaw_status csaw__text_open(const char *path, csaw__text_input **out) {
    csaw__text_input *input = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&input, 1, "a file reader"));
    input->path = path;
    input->file = open(path, O_RDONLY | O_CLOEXEC);
    CSAW_REQUIRE_DONE(input->file >= 0, CSAW_EIO, "%s: cannot be opened: %s; check the path and its permissions", path,
                      strerror(errno));
    CSAW_TRY_DONE(csaw__alloc(&input->raw, RAW_BYTES, "a file buffer"));
    input->stream.next_in = input->raw;
    CSAW_TRY_DONE(fill_raw(input, 6));
    CSAW_REQUIRE_DONE(!raw_begins(input,
                                  "\xfd"
                                  "7zXZ",
                                  6),
                      CSAW_EUNSUPPORTED, "%s: is compressed by xz, and only gzip is read directly; run xz -d first",
                      path);
    if (raw_begins(input, "\x1f\x8b", 2)) {
        input->stream.zalloc = csaw__zlib_alloc;
        input->stream.zfree = csaw__zlib_free;
        /* 15 + 16: the largest window, gzip headers only. zlib's version is the one it was compiled with, so no memory
         * is the one way to fail, and its message stands. */
        if (inflateInit2(&input->stream, 15 + 16) != Z_OK) {
            status = CSAW_ENOMEM;
            goto done;
        }
        input->gzip = input->in_member = true;
    }
    *out = input;
    return CSAW_OK;
done:
    csaw__text_close(input);
    return status;
}

static csaw_status read_plain(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    z_stream *stream = &input->stream;
    uint64_t used = stream->avail_in < capacity ? stream->avail_in : capacity, got = 0;
    memcpy(to, stream->next_in, used);
    stream->next_in += used;
    stream->avail_in -= (unsigned)used;
    while (used < capacity && !input->file_ended) {
        CSAW_TRY(read_some(input, to + used, capacity - used, &got));
        used += got;
    }
    *count = used;
    return CSAW_OK;
}

/* After a member: another one, or the end of the file. */
static csaw_status next_member(csaw__text_input *input) {
    CSAW_TRY(fill_raw(input, 2));
    if (input->stream.avail_in == 0) return CSAW_OK;
    CSAW_REQUIRE(raw_begins(input, "\x1f\x8b", 2), CSAW_EIO,
                 "%s: the gzip data end, but other bytes follow; fetch the file again, or cut them off", input->path);
    inflateReset(&input->stream);
    input->in_member = true;
    return CSAW_OK;
}

static csaw_status read_gzip(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    z_stream *stream = &input->stream;
    stream->next_out = (Bytef *)to;
    stream->avail_out = (unsigned)capacity;
    while (stream->avail_out && input->in_member) {
        CSAW_TRY(fill_raw(input, 1));
        CSAW_REQUIRE(stream->avail_in, CSAW_EIO,
                     "%s: the gzip data are cut off, the file ends after %llu of the bytes they hold; fetch the file "
                     "again",
                     input->path, (unsigned long long)stream->total_out);
        int code = inflate(stream, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) return CSAW_ENOMEM; /* csaw__zlib_alloc() left the message */
        CSAW_REQUIRE(code == Z_OK || code == Z_STREAM_END, CSAW_EIO,
                     "%s: the gzip data are damaged after %llu bytes of text: %s; fetch the file again", input->path,
                     (unsigned long long)stream->total_out, stream->msg ? stream->msg : "unknown");
        if (code == Z_STREAM_END) {
            input->in_member = false;
            CSAW_TRY(next_member(input));
        }
    }
    *count = capacity - stream->avail_out;
    return CSAW_OK;
}

csaw_status csaw__text_read(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    return input->gzip ? read_gzip(input, to, capacity, count) : read_plain(input, to, capacity, count);
}

void csaw__text_close(csaw__text_input *input) {
    if (!input) return;
    if (input->gzip) inflateEnd(&input->stream);
    csaw__free(input->raw);
    if (input->file >= 0) close(input->file);
    csaw__free(input);
}
