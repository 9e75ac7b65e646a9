/* SPDX-License-Identifier: MIT */
/* runtime/base/npy_array.c - reads the .npy header: a Python dict of descr, fortran_order and shape. Source: NumPy
 * Enhancement Proposal 1, "A simple file format for NumPy arrays". */
#include "runtime/base/npy_array.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 4096 };

/* What follows 'key': in the header; NULL if it is not there. */
static const char *value_of(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    while (*at == ' ') at++;
    if (*at++ != ':') return NULL;
    while (*at == ' ') at++;
    return at;
}

static csaw_status parse_type(const char *where, const char *descr, csaw__npy *out) {
    CSAW_REQUIRE(descr && *descr == '\'' && descr[1] && descr[2], CSAW_EFORMAT,
                 "%s: the header of the array has no simple type; save the matrix again with scipy.sparse.save_npz",
                 where);
    char order = descr[1], *end = NULL;
    out->kind = descr[2];
    long width = strtol(descr + 3, &end, 10);
    if (*end != '\'' || width < 1 || width > 64) width = 0;
    bool known = out->kind == 'b'   ? width == 1
                 : out->kind == 'f' ? width == 4 || width == 8
                 : out->kind == 'S' ? width > 0
                 : out->kind == 'U' ? width > 0 && width <= 16
                                    : strchr("iu", out->kind) && (width == 1 || width == 2 || width == 4 || width == 8);
    CSAW_REQUIRE(known && (order == '<' || order == '|'), CSAW_EUNSUPPORTED,
                 "%s: entries of type %.*s are not read; convert the matrix to int32, int64, float32, float64 or bool "
                 "in the machine's byte order",
                 where, (int)(strcspn(descr + 1, "'") + 2), descr);
    out->width = out->kind == 'U' ? 4 * (int)width : (int)width;
    return CSAW_OK;
}

static csaw_status parse_shape(const char *where, const char *shape, csaw__npy *out) {
    bool ok = shape && *shape++ == '(';
    out->count = 1;
    out->num_dimensions = 0;
    while (ok && *shape != ')') {
        char *end = NULL;
        unsigned long long length = strtoull(shape, &end, 10);
        ok = end != shape && *shape != '-' && out->num_dimensions++ < 2 &&
             !__builtin_mul_overflow(out->count, length, &out->count);
        shape = end;
        while (*shape == ' ' || *shape == 'L') shape++;
        if (*shape == ',')
            shape++;
        else
            ok = ok && *shape == ')';
        while (*shape == ' ') shape++;
    }
    CSAW_REQUIRE(ok, CSAW_EFORMAT,
                 "%s: the header of the array has no shape that can be read; save the matrix again with "
                 "scipy.sparse.save_npz",
                 where);
    return CSAW_OK;
}

csaw_status csaw__npy_parse(const char *where, const char *bytes, uint64_t size, csaw__npy *out) {
    const unsigned char *byte = (const unsigned char *)bytes;
    char header[HEADER_BYTES + 1];
    CSAW_REQUIRE(size >= 12 && memcmp(bytes, "\x93NUMPY", 6) == 0 && byte[6] >= 1 && byte[6] <= 3, CSAW_EFORMAT,
                 "%s: is not an array in .npy format; save the matrix again with scipy.sparse.save_npz", where);
    const bool small = byte[6] == 1;
    uint64_t length = byte[8] | (uint64_t)byte[9] << 8, begin = small ? 10 : 12;
    if (!small) length |= (uint64_t)byte[10] << 16 | (uint64_t)byte[11] << 24;
    CSAW_REQUIRE(length <= HEADER_BYTES && begin + length <= size, CSAW_EFORMAT,
                 "%s: the header of the array has %llu bytes, but %llu are there and %d are the most; save the matrix "
                 "again with scipy.sparse.save_npz",
                 where, (unsigned long long)length, (unsigned long long)(size - begin), (int)HEADER_BYTES);
    memcpy(header, bytes + begin, length);
    header[length] = 0;
    CSAW_TRY(parse_type(where, value_of(header, "'descr'"), out));
    CSAW_TRY(parse_shape(where, value_of(header, "'shape'"), out));
    const char *fortran = value_of(header, "'fortran_order'");
    CSAW_REQUIRE(out->num_dimensions < 2 || (fortran && strncmp(fortran, "False", 5) == 0), CSAW_EUNSUPPORTED,
                 "%s: the array is stored by columns; save it in C order", where);
    CSAW_REQUIRE(
        out->count <= (size - begin - length) / (uint64_t)out->width, CSAW_EFORMAT,
        "%s: the array should hold %llu entries of %d bytes, but only %llu bytes are there; fetch the file again",
        where, (unsigned long long)out->count, out->width, (unsigned long long)(size - begin - length));
    out->data = byte + begin + length;
    return CSAW_OK;
}

#define READ(TYPE)                                                    \
    do {                                                              \
        TYPE value;                                                   \
        memcpy(&value, array->data + i * sizeof value, sizeof value); \
        return (value);                                               \
    } while (0)

int64_t csaw__npy_integer(const csaw__npy *array, uint64_t i) {
    const bool natural = array->kind != 'i';
    switch (array->width) {
    case 1:
        if (natural) READ(uint8_t);
        READ(int8_t);
    case 2:
        if (natural) READ(uint16_t);
        READ(int16_t);
    case 4:
        if (natural) READ(uint32_t);
        READ(int32_t);
    default: READ(int64_t);
    }
}

double csaw__npy_real(const csaw__npy *array, uint64_t i) {
    if (array->kind == 'f') {
        if (array->width == 4) READ(float);
        READ(double);
    }
    int64_t value = csaw__npy_integer(array, i);
    return array->kind == 'u' ? (double)(uint64_t)value : (double)value;
}
