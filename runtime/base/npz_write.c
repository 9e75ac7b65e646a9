/* SPDX-License-Identifier: MIT */
/* runtime/base/npz_write.c - an .npz archive: a zip file of .npy arrays, stored as they are. Written by hand, since the
 * arrays then go to the output without a copy of the whole, and a build without libzip can do it too.
 *
 * Sources: APPNOTE.TXT (PKWARE, 6.3), sections 4.3.7, 4.3.12, 4.3.14 - 4.3.16, 4.5.3: every member has ZIP64 sizes, as
 * numpy.savez writes them, so that nothing changes at 4 GiB. NumPy Enhancement Proposal 1 (.npy, version 1.0). */
#include "runtime/base/npz_write.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    NPY_HEAD = 128,  /* magic, version, length, a dict padded with blanks */
    ZIP64 = 45,      /* version needed to read */
    DOS_DATE = 0x21, /* 1980-01-01: equal arrays make equal files */
    HEAD_BYTES = 256
};

typedef struct member {
    char name[64];
    uint64_t offset, bytes;
    uint32_t crc;
} member;

typedef struct bytes { /* little-endian fields, one after the other */
    unsigned char at[HEAD_BYTES];
    uint32_t used;
} bytes;

static void put(bytes *to, uint64_t value, int width) {
    for (int i = 0; i < width; i++) to->at[to->used++] = (unsigned char)(value >> 8 * i);
}

static void put_name(bytes *to, const char *name) {
    memcpy(to->at + to->used, name, strlen(name));
    to->used += (uint32_t)strlen(name);
}

static void npy_head(const csaw__npz_array *array, char head[NPY_HEAD]) {
    char shape[32] = "()";
    if (!array->scalar) snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)array->count);
    memset(head, ' ', NPY_HEAD);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10); /* 0x76: the 118 bytes that follow */
    int used = snprintf(head + 10, NPY_HEAD - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                        array->descr, shape);
    head[10 + used] = ' ';
    head[NPY_HEAD - 1] = '\n';
}

static csaw_status put_member(const csaw__npz_array *array, member *m, csaw__output *output) {
    const uint64_t data = array->count * array->width;
    char head[NPY_HEAD];
    bytes local = {.used = 0};
    npy_head(array, head);
    snprintf(m->name, sizeof m->name, "%s.npy", array->name);
    m->offset = csaw__output_position(output);
    m->bytes = NPY_HEAD + data;
    m->crc = (uint32_t)crc32_z(0, (const Bytef *)head, NPY_HEAD);
    if (data) m->crc = (uint32_t)crc32_z(m->crc, array->data, (z_size_t)data);
    put(&local, 0x04034b50, 4);
    put(&local, ZIP64, 2);
    put(&local, 0, 2); /* flags */
    put(&local, 0, 2); /* stored */
    put(&local, 0, 2); /* time */
    put(&local, DOS_DATE, 2);
    put(&local, m->crc, 4);
    put(&local, UINT32_MAX, 4); /* both sizes: in the extra field */
    put(&local, UINT32_MAX, 4);
    put(&local, strlen(m->name), 2);
    put(&local, 20, 2);
    put_name(&local, m->name);
    put(&local, 1, 2); /* ZIP64 */
    put(&local, 16, 2);
    put(&local, m->bytes, 8);
    put(&local, m->bytes, 8);
    CSAW_TRY(csaw__output_put(output, local.at, local.used));
    CSAW_TRY(csaw__output_put(output, head, NPY_HEAD));
    return data ? csaw__output_put(output, array->data, data) : CSAW_OK;
}

static csaw_status put_entry(const member *m, csaw__output *output) {
    bytes entry = {.used = 0};
    put(&entry, 0x02014b50, 4);
    put(&entry, 3 << 8 | ZIP64, 2); /* made on Unix */
    put(&entry, ZIP64, 2);
    put(&entry, 0, 2);
    put(&entry, 0, 2);
    put(&entry, 0, 2);
    put(&entry, DOS_DATE, 2);
    put(&entry, m->crc, 4);
    put(&entry, UINT32_MAX, 4);
    put(&entry, UINT32_MAX, 4);
    put(&entry, strlen(m->name), 2);
    put(&entry, 28, 2);
    put(&entry, 0, 2); /* comment, disk, inner attributes */
    put(&entry, 0, 2);
    put(&entry, 0, 2);
    put(&entry, (uint64_t)0100644 << 16, 4); /* a plain file */
    put(&entry, UINT32_MAX, 4);
    put_name(&entry, m->name);
    put(&entry, 1, 2);
    put(&entry, 24, 2);
    put(&entry, m->bytes, 8);
    put(&entry, m->bytes, 8);
    put(&entry, m->offset, 8);
    return csaw__output_put(output, entry.at, entry.used);
}

static csaw_status put_end(int count, uint64_t begin, csaw__output *output) {
    const uint64_t end = csaw__output_position(output);
    bytes tail = {.used = 0};
    put(&tail, 0x06064b50, 4); /* ZIP64: where the directory is */
    put(&tail, 44, 8);
    put(&tail, 3 << 8 | ZIP64, 2);
    put(&tail, ZIP64, 2);
    put(&tail, 0, 4);
    put(&tail, 0, 4);
    put(&tail, (uint64_t)count, 8);
    put(&tail, (uint64_t)count, 8);
    put(&tail, end - begin, 8);
    put(&tail, begin, 8);
    put(&tail, 0x07064b50, 4); /* where that record is */
    put(&tail, 0, 4);
    put(&tail, end, 8);
    put(&tail, 1, 4);
    put(&tail, 0x06054b50, 4); /* the old record, which points there */
    put(&tail, 0, 4);
    put(&tail, (uint64_t)count, 2);
    put(&tail, (uint64_t)count, 2);
    put(&tail, end - begin, 4);
    put(&tail, UINT32_MAX, 4);
    put(&tail, 0, 2);
    return csaw__output_put(output, tail.at, tail.used);
}

csaw_status csaw__npz_put(const csaw__npz_array *arrays, int count, csaw__output *output) {
    member members[CSAW__NPZ_MOST];
    for (int i = 0; i < count; i++) CSAW_TRY(put_member(&arrays[i], &members[i], output));
    const uint64_t begin = csaw__output_position(output);
    for (int i = 0; i < count; i++) CSAW_TRY(put_entry(&members[i], output));
    return put_end(count, begin, output);
}
