/* SPDX-License-Identifier: MIT */
/* runtime/engine/walk_format.c - walks as text for word2vec (gensim's LineSentence), as a NumPy array (format 1.0,
 * numpy.lib.format), or as that array's bytes alone. */
#include "runtime/engine/walk_format.h"

#include "runtime/base/number_text.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 4096 }; /* entries between two looks at the room left */

const char *const csaw__format_names[] = {"text", "npy", "bin", NULL};

static bool ends_in(const char *text, const char *suffix) {
    size_t length = strlen(text), tail = strlen(suffix);
    return length > tail && strcmp(text + length - tail, suffix) == 0;
}

csaw_status csaw__format_find(const char *name, const char *path, enum csaw__format_kind *out) {
    if (!name) {
        CSAW_REQUIRE(!ends_in(path, ".gz") && !ends_in(path, ".xz"), CSAW_EINVAL,
                     "%s: walks are written uncompressed; write to standard output and compress that", path);
        *out = ends_in(path, ".npy") ? CSAW__FORMAT_NPY : ends_in(path, ".bin") ? CSAW__FORMAT_BIN : CSAW__FORMAT_TEXT;
        return CSAW_OK;
    }
    for (int i = 0; csaw__format_names[i]; i++)
        if (strcmp(name, csaw__format_names[i]) == 0) {
            *out = (enum csaw__format_kind)i;
            return CSAW_OK;
        }
    return csaw__fail(CSAW_EINVAL, "walks cannot be written as '%s'; give text, npy or bin", name);
}

csaw_status csaw__format_check_names(const csaw_names *names, uint64_t num_vertices) {
    for (uint64_t v = 0; names->text && v < num_vertices; v++) {
        const uint64_t length = names->offset[v + 1] - names->offset[v];
        const char *name = names->text + names->offset[v];
        for (uint64_t i = 0; i < length; i++)
            CSAW_REQUIRE((unsigned char)name[i] > ' ', CSAW_EUNSUPPORTED,
                         "the name of vertex %llu, '%.*s', holds a blank, and in text blanks separate vertices; write "
                         "npy or bin, which hold numbers, or rename it",
                         (unsigned long long)v, length < 80 ? (int)length : 80, name);
    }
    return CSAW_OK;
}

/* Magic, version 1.0, length of the rest, a Python dict padded so that the array begins at a multiple of 64. */
csaw_status csaw__format_head(const csaw__walk_format *format, csaw__output *output) {
    enum { PREFIX = 10, DICT = 118 };
    char header[PREFIX + DICT + 1];
    if (format->kind != CSAW__FORMAT_NPY) return CSAW_OK;
    const char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = DICT;
    header[9] = 0;
    int used = snprintf(header + PREFIX, DICT, "{'descr': '%cu%d', 'fortran_order': False, 'shape': (%llu, %llu), }",
                        order, format->edges ? 8 : 4, (unsigned long long)format->num_walks,
                        (unsigned long long)format->length + !format->edges);
    memset(header + PREFIX + used, ' ', (size_t)(DICT - used));
    header[PREFIX + DICT - 1] = '\n';
    return csaw__output_put(output, header, PREFIX + DICT);
}

/* ---- one walk ---- */

static csaw_status put_numbers(const csaw_vertex *path, uint64_t stride, uint64_t places, const int64_t *name,
                               csaw__output *output) {
    for (uint64_t s = 0; s < places && path[s * stride] != CSAW_NONE;) {
        uint64_t end = places - s < CHUNK ? places : s + CHUNK;
        char *begin, *at;
        CSAW_TRY(csaw__output_room(output, (end - s) * (CSAW__MAX_WIDE_DIGITS + 1), &begin));
        for (at = begin; s < end && path[s * stride] != CSAW_NONE; s++) {
            if (s) *at++ = ' ';
            at = name ? csaw__put_signed(at, name[path[s * stride]]) : csaw__put_number(at, path[s * stride]);
        }
        csaw__output_advance(output, (uint64_t)(at - begin));
    }
    return csaw__output_put(output, "\n", 1);
}

static csaw_status put_words(const csaw_vertex *path, uint64_t stride, uint64_t places, const csaw_names *names,
                             csaw__output *output) {
    for (uint64_t s = 0; s < places && path[s * stride] != CSAW_NONE; s++) {
        const uint64_t *offset = names->offset + path[s * stride];
        if (s) CSAW_TRY(csaw__output_put(output, " ", 1));
        CSAW_TRY(csaw__output_put(output, names->text + offset[0], offset[1] - offset[0]));
    }
    return csaw__output_put(output, "\n", 1);
}

static csaw_status put_edges(const csaw_walks *walks, uint64_t w, csaw__output *output) {
    const csaw_vertex *next = walks->path + w * walks->path_walk_stride + walks->path_step_stride;
    const csaw_edge *edge = walks->edge + w * walks->edge_walk_stride;
    for (uint64_t s = 0; s < walks->length && next[s * walks->path_step_stride] != CSAW_NONE; s++) {
        char *begin, *at;
        CSAW_TRY(csaw__output_room(output, CSAW__MAX_WIDE_DIGITS + 1, &begin));
        at = begin;
        if (s) *at++ = ' ';
        if (edge[s * walks->edge_step_stride] == CSAW_NO_EDGE)
            *at++ = '-';
        else
            at = csaw__put_wide(at, edge[s * walks->edge_step_stride]);
        csaw__output_advance(output, (uint64_t)(at - begin));
    }
    return csaw__output_put(output, "\n", 1);
}

/* count entries of `size` bytes, `stride` entries apart */
static csaw_status put_array(const void *entries, uint64_t stride, uint64_t count, uint64_t size,
                             csaw__output *output) {
    const char *from = entries;
    if (stride == 1) return csaw__output_put(output, from, count * size);
    for (uint64_t s = 0; s < count;) {
        uint64_t end = count - s < CHUNK ? count : s + CHUNK;
        char *place;
        CSAW_TRY(csaw__output_room(output, (end - s) * size, &place));
        csaw__output_advance(output, (end - s) * size);
        for (; s < end; s++, place += size) memcpy(place, from + s * stride * size, size);
    }
    return CSAW_OK;
}

csaw_status csaw__format_walk(const csaw__walk_format *format, const csaw_walks *walks, uint64_t w,
                              csaw__output *output) {
    const csaw_vertex *path = walks->path + w * walks->path_walk_stride;
    const uint64_t stride = walks->path_step_stride, places = (uint64_t)walks->length + 1;
    if (format->kind == CSAW__FORMAT_TEXT && format->edges) return put_edges(walks, w, output);
    if (format->kind == CSAW__FORMAT_TEXT && format->names.text)
        return put_words(path, stride, places, &format->names, output);
    if (format->kind == CSAW__FORMAT_TEXT) return put_numbers(path, stride, places, format->names.number, output);
    if (format->edges)
        return put_array(walks->edge + w * walks->edge_walk_stride, walks->edge_step_stride, walks->length,
                         sizeof *walks->edge, output);
    return put_array(path, stride, places, sizeof *path, output);
}
