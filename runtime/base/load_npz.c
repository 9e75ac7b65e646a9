/* SPDX-License-Identifier: MIT */
/* runtime/base/load_npz.c - a sparse matrix as scipy.sparse.save_npz writes it: a zip archive of .npy arrays, opened by
 * libzip. Entry (i, j) is the arc from i to j, its value the weight; values that are all 1 are no weights. Formats: csr
 * and csc (indptr, indices), coo (row, col). Everything in the arrays is checked: they come from anywhere. */
#include "runtime/base/load_formats.h"

#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/npy_array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>

typedef unsigned long long number;

enum { MEMBERS = 5, EDGES_OF_PART = 1 << 16 };

typedef struct archive {
    const char *path;
    zip_t *zip;
    char *bytes[MEMBERS]; /* members that were read */
    int num_members;
} archive;

/* A member of the archive as an array; CSAW_EFORMAT if it is not there. */
static csaw_status read_member(archive *a, const char *name, csaw__npy *out) {
    char where[1024];
    zip_stat_t about;
    snprintf(where, sizeof where, "%s: %s", a->path, name);
    CSAW_REQUIRE(zip_stat(a->zip, name, 0, &about) == 0 && (about.valid & ZIP_STAT_SIZE), CSAW_EFORMAT,
                 "%s: is not in the archive, so it is no matrix of scipy.sparse; save one with scipy.sparse.save_npz",
                 where);
    /* deflate packs at most 1032 to 1 */
    CSAW_REQUIRE(!(about.valid & ZIP_STAT_COMP_SIZE) || about.size / 1100 <= about.comp_size, CSAW_EFORMAT,
                 "%s: says that it unpacks from %llu to %llu bytes, which cannot be; fetch the file again", where,
                 (number)about.comp_size, (number)about.size);
    zip_file_t *file = zip_fopen(a->zip, name, 0);
    CSAW_REQUIRE(file, CSAW_EIO, "%s: cannot be unpacked: %s; save the matrix again with scipy.sparse.save_npz", where,
                 zip_strerror(a->zip));
    char *bytes = NULL, more;
    csaw_status status = csaw__alloc(&bytes, about.size, "an array of a matrix");
    if (status == CSAW_OK) {
        a->bytes[a->num_members++] = bytes;
        zip_int64_t got = zip_fread(file, bytes, about.size);
        bool whole =
            got == (zip_int64_t)about.size && zip_fread(file, &more, 1) == 0; /* at the end, zip checks the sum */
        if (!whole) status = csaw__fail(CSAW_EIO, "%s: is damaged or cut off; fetch the file again", where);
    }
    zip_fclose(file);
    return status == CSAW_OK ? csaw__npy_parse(where, bytes, about.size, out) : status;
}

static csaw_status read_integers(archive *a, const char *name, uint64_t count, csaw__npy *out) {
    CSAW_TRY(read_member(a, name, out));
    CSAW_REQUIRE(strchr("biu", out->kind) && out->num_dimensions == 1, CSAW_EFORMAT,
                 "%s: %s: is not a list of whole numbers; save the matrix again with scipy.sparse.save_npz", a->path,
                 name);
    CSAW_REQUIRE(count == UINT64_MAX || out->count == count, CSAW_EFORMAT,
                 "%s: %s: has %llu entries, but the matrix needs %llu; save it again with scipy.sparse.save_npz",
                 a->path, name, (number)out->count, (number)count);
    return CSAW_OK;
}

/* "csr", "csc" or "coo" */
static csaw_status read_format(archive *a, char format[4]) {
    csaw__npy array;
    memset(format, 0, 4);
    CSAW_TRY(read_member(a, "format.npy", &array));
    bool text = (array.kind == 'S' || array.kind == 'U') && array.count == 1;
    int step = array.kind == 'U' ? 4 : 1;
    for (int i = 0; text && i < 3 && i * step < array.width; i++) format[i] = (char)array.data[i * step];
    bool known = !strcmp(format, "csr") || !strcmp(format, "csc") || !strcmp(format, "coo");
    CSAW_REQUIRE(text && known && array.width <= 3 * step, CSAW_EUNSUPPORTED,
                 "%s: the matrix is in none of the formats csr, csc, coo; convert it with .tocsr() before saving",
                 a->path);
    return CSAW_OK;
}

static csaw_status read_shape(archive *a, uint64_t *num_vertices) {
    csaw__npy shape;
    CSAW_TRY(read_integers(a, "shape.npy", 2, &shape));
    int64_t rows = csaw__npy_integer(&shape, 0), columns = csaw__npy_integer(&shape, 1);
    CSAW_REQUIRE(rows == columns, CSAW_EUNSUPPORTED,
                 "%s: the matrix has %lld rows and %lld columns, and that of a graph is square; make it square, for a "
                 "bipartite graph by numbering both sides together",
                 a->path, (long long)rows, (long long)columns);
    CSAW_REQUIRE(rows >= 0 && (uint64_t)rows <= CSAW__MAX_VERTICES, CSAW_EUNSUPPORTED,
                 "%s: the matrix has %lld rows, but a graph holds at most %llu vertices; split the graph", a->path,
                 (long long)rows, CSAW__MAX_VERTICES);
    *num_vertices = (uint64_t)rows;
    return CSAW_OK;
}

/* indices or row or col to vertices */
static csaw_status copy_ids(const archive *a, const char *name, const csaw__npy *from, uint64_t num_vertices,
                            csaw_vertex *to) {
    for (uint64_t i = 0; i < from->count; i++) {
        uint64_t id = (uint64_t)csaw__npy_integer(from, i);
        CSAW_REQUIRE(
            id < num_vertices, CSAW_EFORMAT,
            "%s: %s: entry %llu is %lld, but the matrix has %llu rows; save it again with scipy.sparse.save_npz",
            a->path, name, (number)i, (long long)id, (number)num_vertices);
        to[i] = (csaw_vertex)id;
    }
    return CSAW_OK;
}

/* The row (csc: column) of every entry, from where rows begin. */
static csaw_status expand_rows(archive *a, uint64_t num_vertices, uint64_t entries, csaw_vertex *to) {
    csaw__npy indptr;
    CSAW_TRY(read_integers(a, "indptr.npy", num_vertices + 1, &indptr));
    uint64_t at = 0;
    for (uint64_t v = 0; v <= num_vertices; v++) {
        uint64_t end = (uint64_t)csaw__npy_integer(&indptr, v);
        CSAW_REQUIRE(
            end >= at && end <= entries && (v > 0 || end == 0) && (v < num_vertices || end == entries), CSAW_EFORMAT,
            "%s: indptr.npy: entry %llu is %lld, but offsets begin at 0, do not fall and end at %llu; save the "
            "matrix again with scipy.sparse.save_npz",
            a->path, (number)v, (long long)end, (number)entries);
        while (at < end) to[at++] = (csaw_vertex)(v - 1);
    }
    return CSAW_OK;
}

/* *weighted: some value is not 1 */
static csaw_status copy_weights(const archive *a, const csaw__npy *data, float *to, bool *weighted) {
    for (uint64_t i = 0; i < data->count; i++) {
        double value = csaw__npy_real(data, i);
        to[i] = (float)value;
        *weighted |= to[i] != 1;
        CSAW_REQUIRE(isfinite(to[i]), CSAW_EFORMAT,
                     "%s: data.npy: entry %llu is %g, and a weight is a finite float; fix or scale the values", a->path,
                     (number)i, value);
    }
    return CSAW_OK;
}

/* Parts of one block of memory, so that threads can share the work. */
static csaw_status cut_parts(csaw__edge_list *list, void *block, csaw_vertex *src, csaw_vertex *dst, float *weight,
                             uint64_t count) {
    uint64_t parts = (count + EDGES_OF_PART - 1) / EDGES_OF_PART;
    CSAW_TRY(csaw__alloc_zero(&list->parts, parts ? parts : 1, "an edge list"));
    for (uint64_t p = 0; p < parts; p++) {
        uint64_t first = p * EDGES_OF_PART, left = count - first;
        list->parts[p] = (csaw__edge_part){.src = src + first,
                                           .dst = dst + first,
                                           .weight = weight ? weight + first : NULL,
                                           .count = left < EDGES_OF_PART ? left : EDGES_OF_PART};
    }
    list->parts[0].block = block;
    list->num_parts = list->capacity = parts ? parts : 1;
    return CSAW_OK;
}

static csaw_status read_matrix(archive *a, csaw__edge_list *list) {
    char format[4];
    uint64_t num_vertices = 0;
    csaw__npy data, ids;
    CSAW_TRY(read_format(a, format));
    CSAW_TRY(read_shape(a, &num_vertices));
    CSAW_TRY(read_member(a, "data.npy", &data));
    CSAW_REQUIRE(strchr("biuf", data.kind) && data.num_dimensions == 1, CSAW_EFORMAT,
                 "%s: data.npy: is not a list of numbers; save the matrix again with scipy.sparse.save_npz", a->path);
    const uint64_t count = data.count;
    csaw_vertex *block = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc(&block, 3 * count, "the edges of a file"));
    csaw_vertex *row = block, *col = block + count;
    float *weight = (float *)(block + 2 * count);
    bool weighted = false;
    CSAW_TRY_DONE(copy_weights(a, &data, weight, &weighted));
    if (strcmp(format, "coo") == 0) {
        CSAW_TRY_DONE(read_integers(a, "row.npy", count, &ids));
        CSAW_TRY_DONE(copy_ids(a, "row.npy", &ids, num_vertices, row));
        CSAW_TRY_DONE(read_integers(a, "col.npy", count, &ids));
        CSAW_TRY_DONE(copy_ids(a, "col.npy", &ids, num_vertices, col));
    } else {
        const bool by_column = strcmp(format, "csc") == 0;
        CSAW_TRY_DONE(read_integers(a, "indices.npy", count, &ids));
        CSAW_TRY_DONE(copy_ids(a, "indices.npy", &ids, num_vertices, by_column ? row : col));
        CSAW_TRY_DONE(expand_rows(a, num_vertices, count, by_column ? col : row));
    }
    list->columns = weighted ? CSAW__WEIGHT : 0;
    list->largest = -1;
    list->declared = true;
    list->num_declared = num_vertices;
    CSAW_TRY_DONE(cut_parts(list, block, row, col, weighted ? weight : NULL, count));
    return CSAW_OK;
done:
    csaw__free(block);
    return status;
}

csaw_status csaw__npz_read(const char *path, const char *bytes, uint64_t count, csaw__edge_list *list) {
    archive a = {.path = path};
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, count, 0, &error);
    if (source) a.zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (!a.zip) {
        zip_source_free(source);
        csaw_status status =
            csaw__fail(CSAW_EFORMAT, "%s: is not a zip archive that can be read: %s; fetch the file again", path,
                       zip_error_strerror(&error));
        zip_error_fini(&error);
        return status;
    }
    zip_error_fini(&error);
    csaw_status status = read_matrix(&a, list);
    for (int m = 0; m < a.num_members; m++) csaw__free(a.bytes[m]);
    zip_discard(a.zip);
    return status;
}
