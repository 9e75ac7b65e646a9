/* SPDX-License-Identifier: MIT */
/* runtime/engine/writer.c - walks to a file, as text for word2vec or as a NumPy array (format 1.0, numpy.lib.format),
 * batch by batch in order of instance. Safe writing is output_file.c's part. */
#include "runtime/engine/writer.h"

#include "runtime/base/memory.h"
#include "runtime/base/number_text.h"
#include "runtime/base/output_file.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long number;

struct csaw_writer {
    csaw__output *output;
    bool npy;
    uint64_t num_walks, done;
    uint32_t length; /* steps: a walk is length + 1 vertices */
};

/* Magic, version 1.0, length of the rest, a Python dict padded so that the array begins at a multiple of 64. */
static csaw_status put_npy_header(const csaw_writer *writer) {
    enum { PREFIX = 10, DICT = 118 };
    char header[PREFIX + DICT + 1];
    const char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = DICT;
    header[9] = 0;
    int used = snprintf(header + PREFIX, DICT, "{'descr': '%cu4', 'fortran_order': False, 'shape': (%llu, %llu), }",
                        order, (number)writer->num_walks, (number)writer->length + 1);
    memset(header + PREFIX + used, ' ', (size_t)(DICT - used));
    header[PREFIX + DICT - 1] = '\n';
    return csaw__output_put(writer->output, header, PREFIX + DICT);
}

csaw_status csaw_writer_open(const char *path, uint64_t num_walks, uint32_t length, csaw_writer **out) {
    csaw_writer *writer = NULL;
    csaw_status status = CSAW_OK;
    size_t bytes = path ? strlen(path) : 0;
    CSAW_TRY(csaw__alloc_zero(&writer, 1, "a writer"));
    writer->npy = bytes > 4 && strcmp(path + bytes - 4, ".npy") == 0;
    writer->num_walks = num_walks;
    writer->length = length;
    CSAW_TRY_DONE(csaw__output_open(path, false, &writer->output));
    if (writer->npy) CSAW_TRY_DONE(put_npy_header(writer));
    *out = writer;
    return CSAW_OK;
done:
    csaw_writer_discard(writer);
    return status;
}

static csaw_status put_text_walk(csaw__output *output, const csaw_vertex *path, uint64_t stride, uint64_t places) {
    const uint64_t most = 4096; /* vertices between two looks at the room left */
    for (uint64_t s = 0; s < places;) {
        uint64_t end = places - s < most ? places : s + most;
        char *begin, *at;
        CSAW_TRY(csaw__output_room(output, (end - s) * (CSAW__MAX_DIGITS + 1), &begin));
        for (at = begin; s < end && path[s * stride] != CSAW_NONE; s++) {
            if (s) *at++ = ' ';
            at = csaw__put_number(at, path[s * stride]);
        }
        csaw__output_advance(output, (uint64_t)(at - begin));
        if (s < end) break;
    }
    return csaw__output_put(output, "\n", 1);
}

static csaw_status put_npy_walk(csaw__output *output, const csaw_vertex *path, uint64_t stride, uint64_t places) {
    const uint64_t most = 4096;
    if (stride == 1) return csaw__output_put(output, path, places * sizeof *path);
    for (uint64_t s = 0; s < places;) {
        uint64_t end = places - s < most ? places : s + most;
        char *place;
        CSAW_TRY(csaw__output_room(output, (end - s) * sizeof *path, &place));
        csaw__output_advance(output, (end - s) * sizeof *path);
        for (; s < end; s++, place += sizeof *path) memcpy(place, &path[s * stride], sizeof *path);
    }
    return CSAW_OK;
}

csaw_status csaw__writer_put(csaw_writer *writer, const csaw_walks *walks) {
    const char *path = csaw__output_path(writer->output);
    const uint64_t places = (uint64_t)writer->length + 1;
    CSAW_REQUIRE(walks->length == writer->length, CSAW_EINVAL,
                 "%s: the walks have %u steps, but the writer was opened for %u; open it with the run's depth", path,
                 walks->length, writer->length);
    CSAW_REQUIRE(walks->first == writer->done, CSAW_EINVAL,
                 "%s: these walks begin with instance %llu, but instance %llu is next; write batches in order", path,
                 (number)walks->first, (number)writer->done);
    CSAW_REQUIRE(walks->num_walks <= writer->num_walks - writer->done, CSAW_EINVAL,
                 "%s: %llu walks are more than the %llu that the writer was opened for; open it with the run's number",
                 path, (number)(writer->done + walks->num_walks), (number)writer->num_walks);
    for (uint64_t w = 0; w < walks->num_walks; w++) {
        const csaw_vertex *walk = walks->path + w * walks->path_walk_stride;
        CSAW_TRY((writer->npy ? put_npy_walk : put_text_walk)(writer->output, walk, walks->path_step_stride, places));
    }
    writer->done += walks->num_walks;
    return CSAW_OK;
}

csaw_status csaw_writer_write(csaw_writer *writer, csaw_samples *samples) {
    csaw_walks walks;
    CSAW_TRY(csaw_samples_walks(samples, CSAW_HOST, &walks));
    return csaw__writer_put(writer, &walks);
}

csaw_status csaw_writer_close(csaw_writer *writer) {
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(writer, CSAW_EINVAL, "the writer is NULL; open one first");
    CSAW_REQUIRE_DONE(writer->done == writer->num_walks, CSAW_EINVAL,
                      "%s: only %llu of %llu walks were written, so the file was removed; write them all, or open the "
                      "writer for fewer",
                      csaw__output_path(writer->output), (number)writer->done, (number)writer->num_walks);
    status = csaw__output_close(writer->output);
    writer->output = NULL;
done:
    csaw_writer_discard(writer);
    return status;
}

void csaw_writer_discard(csaw_writer *writer) {
    if (!writer) return;
    csaw__output_discard(writer->output);
    csaw__free(writer);
}
