/* SPDX-License-Identifier: MIT */
/* spmm/real.h - elements of any storage read and written by code that is compiled twice, for REAL float and for REAL
 * double. */
#ifndef REAL
#error "define REAL, float or double, before this file"
#endif

#include "runtime/base/each_cpu.h"
#include "spmm/element.h"

#define INLINED static inline __attribute__((always_inline, unused))

/* dtype is a constant where this is called in a loop. */
INLINED REAL element(const void *row, uint64_t c, csaw_dtype dtype) {
    if (dtype == CSAW_F32) return (REAL)((const float *)row)[c];
    const uint16_t half = ((const uint16_t *)row)[c];
    return (REAL)(dtype == CSAW_F16 ? csaw__from_f16(half) : csaw__from_bf16(half));
}

/* Row r of m, from column c on. */
INLINED const void *elements_at(const csaw_dense *m, uint64_t r, uint64_t c, csaw_dtype dtype) {
    return (const char *)m->data + (r * m->stride + c) * (dtype == CSAW_F32 ? 4 : 2);
}

/* What a 16-bit element is rounded from. */
INLINED float single(REAL value) { return sizeof(REAL) == sizeof(float) ? (float)value : csaw__to_odd((double)value); }

/* value: [count], to elements at, at + 1, ... of m. */
INLINED void store_elements(const csaw_dense *m, uint64_t at, uint32_t count, const REAL *value) {
    float *const full = (float *)m->data + at;
    uint16_t *const half = (uint16_t *)m->data + at;
    switch (m->dtype) {
    case CSAW_F32:
        for (uint32_t c = 0; c < count; c++) full[c] = (float)value[c];
        break;
    case CSAW_F16:
        for (uint32_t c = 0; c < count; c++) half[c] = csaw__to_f16(single(value[c]));
        break;
    case CSAW_BF16:
        for (uint32_t c = 0; c < count; c++) half[c] = csaw__to_bf16(single(value[c]));
        break;
    }
}
