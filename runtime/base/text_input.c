/* SPDX-License-Identifier: MIT */
/* runtime/base/text_input.c - reads a plain, gzip (RFC 1952, several members too) or xz file front to back, so that
 * pipes work as well. zlib's inflate rather than its gz functions: those take memory that csaw does not see, and tell
 * a truncated file from a whole one only in passing. */
#include "runtime/base/text_input.h"

#include "runtime/base/zlib_memory.h"
#ifdef CSAW_WITH_XZ
#include "runtime/base/lzma_memory.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_BYTES = 1 << 18, LZMA_MIB = 512 };

typedef enum packing { PLAIN, GZIP, XZ } packing;

struct csaw__text_input {
    const char *path;
    int file;
    bool file_ended;
    packing packing;
    bool in_member;      /* gzip: between a header and its trailer; xz: before the end of the last stream */
    unsigned char *raw;  /* [raw_bytes] */
    unsigned char *next; /* bytes of raw not yet used */
    uint64_t left;
    uint64_t file_bytes; /* UINT64_MAX = not a plain file */
    bool ranged;         /* begin .. end - 1 are what there is, of which so many bytes were not read yet */
    uint64_t begin, end, not_read;
    uint64_t raw_bytes;
    uint64_t unpacked; /* bytes */
    z_stream gzip;
#ifdef CSAW_WITH_XZ
    lzma_stream xz;
#endif
};

/* One read(2), as much as comes; 0 bytes at the end of the file. */
static csaw_status read_some(csaw__text_input *input, void *to, uint64_t capacity, uint64_t *count) {
    ssize_t got;
    *count = 0;
    if (input->ranged && capacity > input->not_read) capacity = input->not_read;
    do got = read(input->file, to, capacity);
    while (got < 0 && errno == EINTR);
    CSAW_REQUIRE(got >= 0, CSAW_EIO, "%s: cannot be read: %s; check that it is a readable file", input->path,
                 strerror(errno));
    input->file_ended = got == 0;
    input->not_read -= input->ranged ? (uint64_t)got : 0;
    *count = (uint64_t)got;
    return CSAW_OK;
}

/* Reads until raw holds at least `wanted` unused bytes or the file ends. */
static csaw_status fill_raw(csaw__text_input *input, uint64_t wanted) {
    while (input->left < wanted && !input->file_ended) {
        uint64_t got = 0;
        memmove(input->raw, input->next, input->left);
        input->next = input->raw;
        CSAW_TRY(read_some(input, input->raw + input->left, input->raw_bytes - input->left, &got));
        input->left += got;
    }
    return CSAW_OK;
}

static bool raw_begins(const csaw__text_input *input, const void *bytes, size_t count) {
    return input->left >= count && memcmp(input->next, bytes, count) == 0;
}

/* zlib's version is the one it was compiled with, so no memory is the one way to fail, and its message stands. */
static csaw_status begin_gzip(csaw__text_input *input) {
    input->gzip.zalloc = csaw__zlib_alloc;
    input->gzip.zfree = csaw__zlib_free;
    if (inflateInit2(&input->gzip, 15 + 16) != Z_OK) return CSAW_ENOMEM; /* the largest window, gzip headers only */
    input->packing = GZIP;
    input->in_member = true;
    return CSAW_OK;
}

static csaw_status fail_cut(const csaw__text_input *input, const char *format) {
    return csaw__fail(CSAW_EIO,
                      "%s: the %s data are cut off, the file ends after %llu of the bytes they hold; fetch the file "
                      "again",
                      input->path, format, (unsigned long long)input->unpacked);
}

/* ---- xz, where liblzma is there ---- */

#ifdef CSAW_WITH_XZ
static const lzma_allocator xz_memory = {csaw__lzma_alloc, csaw__lzma_free, NULL};

static csaw_status begin_xz(csaw__text_input *input) {
    input->xz = (lzma_stream)LZMA_STREAM_INIT;
    input->xz.allocator = &xz_memory;
    if (lzma_stream_decoder(&input->xz, (uint64_t)LZMA_MIB << 20, LZMA_CONCATENATED) != LZMA_OK) return CSAW_ENOMEM;
    input->packing = XZ;
    input->in_member = true;
    return CSAW_OK;
}

static csaw_status read_xz(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    lzma_stream *stream = &input->xz;
    while (*count < capacity && input->in_member) {
        CSAW_TRY(fill_raw(input, 1));
        stream->next_in = input->next;
        stream->avail_in = input->left;
        stream->next_out = (uint8_t *)to + *count;
        stream->avail_out = capacity - *count;
        lzma_ret code = lzma_code(stream, input->file_ended ? LZMA_FINISH : LZMA_RUN);
        input->next = input->raw + (stream->next_in - input->raw);
        input->left = stream->avail_in;
        input->unpacked += capacity - *count - stream->avail_out;
        *count = capacity - stream->avail_out;
        if (code == LZMA_MEM_ERROR) return CSAW_ENOMEM; /* csaw__lzma_alloc() left the message */
        if (code == LZMA_BUF_ERROR && input->file_ended) return fail_cut(input, "xz");
        CSAW_REQUIRE(code != LZMA_MEMLIMIT_ERROR, CSAW_EIO,
                     "%s: unpacking asks for more than %d MiB of memory; compress the file again with xz -9 or less",
                     input->path, LZMA_MIB);
        CSAW_REQUIRE(code == LZMA_OK || code == LZMA_STREAM_END, CSAW_EIO,
                     "%s: the xz data are damaged after %llu bytes of text; fetch the file again", input->path,
                     (unsigned long long)input->unpacked);
        input->in_member = code != LZMA_STREAM_END;
    }
    return CSAW_OK;
}

static void end_xz(csaw__text_input *input) { lzma_end(&input->xz); }
#else
static csaw_status begin_xz(csaw__text_input *input) {
    return csaw__fail(CSAW_EUNSUPPORTED, "%s: is an xz file, and this csaw was built without liblzma; run xz -d first",
                      input->path);
}

static csaw_status read_xz(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    (void)to, (void)capacity, (void)count;
    return begin_xz(input);
}

static void end_xz(csaw__text_input *input) { (void)input; }
#endif

/* ---- what the file is packed by ---- */

static csaw_status begin_packing(csaw__text_input *input) {
    CSAW_TRY(fill_raw(input, 6));
    if (raw_begins(input, "\x1f\x8b", 2)) return begin_gzip(input);
    if (raw_begins(input,
                   "\xfd"
                   "7zXZ",
                   6))
        return begin_xz(input);
    return CSAW_OK;
}

static void end_packing(csaw__text_input *input) {
    if (input->packing == GZIP) inflateEnd(&input->gzip);
    if (input->packing == XZ) end_xz(input);
    input->packing = PLAIN;
}

csaw_status csaw__text_open(const char *path, csaw__text_input **out) {
    csaw__text_input *input = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&input, 1, "a file reader"));
    input->path = path;
    input->file = open(path, O_RDONLY | O_CLOEXEC);
    CSAW_REQUIRE_DONE(input->file >= 0, CSAW_EIO, "%s: cannot be opened: %s; check the path and its permissions", path,
                      strerror(errno));
    struct stat about;
    const bool plain = fstat(input->file, &about) == 0 && S_ISREG(about.st_mode);
    input->file_bytes = plain ? (uint64_t)about.st_size : UINT64_MAX;
    input->raw_bytes = input->file_bytes < RAW_BYTES ? input->file_bytes + 8 : RAW_BYTES;
    CSAW_TRY_DONE(csaw__alloc(&input->raw, input->raw_bytes, "a file buffer"));
    input->next = input->raw;
    CSAW_TRY_DONE(begin_packing(input));
    *out = input;
    return CSAW_OK;
done:
    csaw__text_close(input);
    return status;
}

csaw_status csaw__text_rewind(csaw__text_input *input) {
    CSAW_REQUIRE(lseek(input->file, (off_t)input->begin, SEEK_SET) == (off_t)input->begin, CSAW_EIO,
                 "%s: has to be read twice, but cannot be rewound: %s; save it to a file first", input->path,
                 strerror(errno));
    end_packing(input);
    input->next = input->raw;
    input->left = input->unpacked = 0;
    input->file_ended = false;
    input->not_read = input->end - input->begin;
    return input->ranged ? CSAW_OK : begin_packing(input);
}

bool csaw__text_is_plain(const csaw__text_input *input) {
    return input->packing == PLAIN && input->file_bytes != UINT64_MAX;
}

csaw_status csaw__text_range(csaw__text_input *input, uint64_t begin, uint64_t end) {
    CSAW_REQUIRE(csaw__text_is_plain(input), CSAW_EUNSUPPORTED,
                 "%s: is packed or no plain file, of which no part can be read alone; unpack it", input->path);
    input->ranged = true;
    input->begin = begin;
    input->end = end;
    return csaw__text_rewind(input);
}

csaw_status csaw__text_line_from(csaw__text_input *input, uint64_t at, uint64_t *begin) {
    const uint64_t size = input->file_bytes;
    char bytes[1 << 14];
    *begin = at;
    if (at == 0) return CSAW_OK;
    for (uint64_t from = at - 1; from < size;) {
        const ssize_t got = pread(input->file, bytes, sizeof bytes, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        CSAW_REQUIRE(got >= 0, CSAW_EIO, "%s: cannot be read: %s; check that it is a readable file", input->path,
                     strerror(errno));
        if (got == 0) break;
        const char *const feed = memchr(bytes, '\n', (size_t)got);
        if (feed) {
            *begin = from + (uint64_t)(feed - bytes) + 1;
            return CSAW_OK;
        }
        from += (uint64_t)got;
    }
    *begin = size;
    return CSAW_OK;
}

uint64_t csaw__text_bound(const csaw__text_input *input) {
    if (input->ranged) return input->end - input->begin;
    return input->packing == PLAIN ? input->file_bytes : UINT64_MAX;
}

static csaw_status read_plain(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    uint64_t used = input->left < capacity ? input->left : capacity, got = 0;
    memcpy(to, input->next, used);
    input->next += used;
    input->left -= used;
    *count = used;
    while (*count < capacity && !input->file_ended) {
        CSAW_TRY(read_some(input, to + *count, capacity - *count, &got));
        *count += got;
    }
    return CSAW_OK;
}

/* After a member: another one, or the end of the file. */
static csaw_status next_member(csaw__text_input *input) {
    CSAW_TRY(fill_raw(input, 2));
    if (input->left == 0) return CSAW_OK;
    CSAW_REQUIRE(raw_begins(input, "\x1f\x8b", 2), CSAW_EIO,
                 "%s: the gzip data end, but other bytes follow; fetch the file again, or cut them off", input->path);
    inflateReset(&input->gzip);
    input->in_member = true;
    return CSAW_OK;
}

static csaw_status read_gzip(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    z_stream *stream = &input->gzip;
    while (*count < capacity && input->in_member) {
        CSAW_TRY(fill_raw(input, 1));
        if (input->left == 0) return fail_cut(input, "gzip");
        unsigned room = capacity - *count < 1 << 30 ? (unsigned)(capacity - *count) : 1u << 30;
        stream->next_in = input->next;
        stream->avail_in = (unsigned)input->left;
        stream->next_out = (Bytef *)to + *count;
        stream->avail_out = room;
        int code = inflate(stream, Z_NO_FLUSH);
        input->next = stream->next_in;
        input->left = stream->avail_in;
        *count += room - stream->avail_out;
        input->unpacked += room - stream->avail_out;
        if (code == Z_MEM_ERROR) return CSAW_ENOMEM; /* csaw__zlib_alloc() left the message */
        CSAW_REQUIRE(code == Z_OK || code == Z_STREAM_END, CSAW_EIO,
                     "%s: the gzip data are damaged after %llu bytes of text: %s; fetch the file again", input->path,
                     (unsigned long long)input->unpacked, stream->msg ? stream->msg : "unknown");
        if (code == Z_STREAM_END) {
            input->in_member = false;
            CSAW_TRY(next_member(input));
        }
    }
    return CSAW_OK;
}

csaw_status csaw__text_read(csaw__text_input *input, char *to, uint64_t capacity, uint64_t *count) {
    *count = 0;
    switch (input->packing) {
    case GZIP: return read_gzip(input, to, capacity, count);
    case XZ: return read_xz(input, to, capacity, count);
    case PLAIN: break;
    }
    return read_plain(input, to, capacity, count);
}

void csaw__text_close(csaw__text_input *input) {
    if (!input) return;
    end_packing(input);
    csaw__free(input->raw);
    if (input->file >= 0) close(input->file);
    csaw__free(input);
}
