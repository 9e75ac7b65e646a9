/* SPDX-License-Identifier: MIT */
/* spmm/edge_sampled_sums.c - see edge_sampled_sums.h.
 *
 * Method: one loop for each pair of storage and sum, by macro, so that the compiler turns it into vector code: unit
 * stride, restrict, no branch. Four rows are added in one pass over the sums, in their order, so that a sum is loaded
 * and stored once in four products. No fused multiply-add and no lane order but the stated one: the bits do not hang on
 * the vectors' width. So every loop is there twice, for any processor and for AVX2. */
#include "spmm/edge_sampled_sums.h"

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
static int is_wide(void) { return __builtin_cpu_supports("avx2") != 0; }
#else
#define WIDE
static int is_wide(void) { return 0; }
#endif
#define TWICE(DEFINE, NAME, ...) \
    DEFINE(, NAME, __VA_ARGS__)  \
    DEFINE(WIDE, NAME##_wide, __VA_ARGS__)

#define RESTRICT __restrict

/* By dtype, exact, wide. */
typedef void add_rows(const csaw_dense *m, const csaw_vertex *index, const float *weight, uint32_t count, void *sums);
typedef double dot_row(const void *row, const float *g, uint64_t cols);

static inline float plain(float x) { return x; }

/* csaw__from_f16() without branches. What the multiples of 2^-24 below 2^-14 have above 2^-14 is found by a
 * subtraction, exactly, and through no subnormal float, which a program may have switched off. */
static inline float widen_f16(uint16_t x) {
    const uint32_t size = (uint32_t)(x & 0x7fff) << 13, sign = (uint32_t)(x & 0x8000) << 16;
    const uint32_t below = 0u - (uint32_t)(size < 0x00800000u), beyond = 0u - (uint32_t)(size >= 0x0f800000u);
    const uint32_t small = csaw__float_bits(csaw__float_of_bits(size + 0x38800000u) - 0x1p-14f);
    const uint32_t normal = (size + 0x38000000u) | (beyond & 0x7f800000u); /* beyond: infinite, or a NaN */
    return csaw__float_of_bits(sign | (below & small) | (~below & normal));
}

/* ---- sums of rows ---- */

#define DEFINE_ADD(TARGET, NAME, SUM, STORED, WIDEN)                                                               \
    TARGET static void NAME(const csaw_dense *m, const csaw_vertex *index, const float *weight, uint32_t count,    \
                            void *out) {                                                                           \
        const STORED *const data = (const STORED *)m->data;                                                        \
        const uint64_t stride = csaw__stride(m), cols = m->cols;                                                   \
        SUM *RESTRICT sums = (SUM *)out;                                                                           \
        uint32_t i = 0;                                                                                            \
        for (; i + 4 <= count; i += 4) {                                                                           \
            const STORED *RESTRICT x0 = data + index[i] * stride, *RESTRICT x1 = data + index[i + 1] * stride;     \
            const STORED *RESTRICT x2 = data + index[i + 2] * stride, *RESTRICT x3 = data + index[i + 3] * stride; \
            const SUM w0 = weight[i], w1 = weight[i + 1], w2 = weight[i + 2], w3 = weight[i + 3];                  \
            for (uint64_t j = 0; j < cols; j++)                                                                    \
                sums[j] = sums[j] + w0 * (SUM)WIDEN(x0[j]) + w1 * (SUM)WIDEN(x1[j]) + w2 * (SUM)WIDEN(x2[j]) +     \
                          w3 * (SUM)WIDEN(x3[j]);                                                                  \
        }                                                                                                          \
        for (; i < count; i++) {                                                                                   \
            const STORED *RESTRICT x = data + index[i] * stride;                                                   \
            const SUM w = weight[i];                                                                               \
            for (uint64_t j = 0; j < cols; j++) sums[j] += w * (SUM)WIDEN(x[j]);                                   \
        }                                                                                                          \
    }
TWICE(DEFINE_ADD, add_f32, float, float, plain)
TWICE(DEFINE_ADD, add_f16, float, uint16_t, widen_f16)
TWICE(DEFINE_ADD, add_bf16, float, uint16_t, csaw__from_bf16)
TWICE(DEFINE_ADD, add_f32_exact, double, float, plain)
TWICE(DEFINE_ADD, add_f16_exact, double, uint16_t, widen_f16)
TWICE(DEFINE_ADD, add_bf16_exact, double, uint16_t, csaw__from_bf16)

void csaw__sums_add(const csaw_dense *m, const csaw_vertex *index, const float *weight, uint32_t count, bool exact,
                    void *sums) {
    static add_rows *const add[3][2][2] = {{{add_f32, add_f32_wide}, {add_f32_exact, add_f32_exact_wide}},
                                           {{add_f16, add_f16_wide}, {add_f16_exact, add_f16_exact_wide}},
                                           {{add_bf16, add_bf16_wide}, {add_bf16_exact, add_bf16_exact_wide}}};
    if (m->cols) add[m->dtype][exact][is_wide()](m, index, weight, count, sums);
}

void csaw__sums_join(uint64_t cols, bool exact, void *sums, const void *other) {
    float *RESTRICT f = (float *)sums;
    double *RESTRICT d = (double *)sums;
    const float *RESTRICT g = (const float *)other;
    const double *RESTRICT e = (const double *)other;
    if (exact)
        for (uint64_t j = 0; j < cols; j++) d[j] += e[j];
    else
        for (uint64_t j = 0; j < cols; j++) f[j] += g[j];
}

/* ---- rows stored and read ---- */

void csaw__sums_store(const csaw_dense *m, uint64_t r, bool exact, const void *sums) {
    if (m->cols == 0) return; /* and data may be NULL */
    const uint64_t at = r * csaw__stride(m), cols = m->cols;
    const float *RESTRICT f = (const float *)sums;
    const double *RESTRICT d = (const double *)sums;
    float *RESTRICT wide = (float *)m->data + (m->dtype == CSAW_F32 ? at : 0);
    uint16_t *RESTRICT narrow = (uint16_t *)m->data + (m->dtype == CSAW_F32 ? 0 : at);
    if (m->dtype == CSAW_F32)
        for (uint64_t j = 0; j < cols; j++) wide[j] = exact ? (float)d[j] : f[j];
    else if (m->dtype == CSAW_F16)
        for (uint64_t j = 0; j < cols; j++) narrow[j] = csaw__to_f16(exact ? csaw__to_odd(d[j]) : f[j]);
    else
        for (uint64_t j = 0; j < cols; j++) narrow[j] = csaw__to_bf16(exact ? csaw__to_odd(d[j]) : f[j]);
}

void csaw__row_widen(const csaw_dense *m, uint64_t r, float *out) {
    if (m->cols == 0) return;
    const uint64_t at = r * csaw__stride(m), cols = m->cols;
    float *RESTRICT to = out;
    if (m->dtype == CSAW_F32) {
        memcpy(to, (const float *)m->data + at, cols * sizeof *to);
        return;
    }
    const uint16_t *RESTRICT from = (const uint16_t *)m->data + at;
    if (m->dtype == CSAW_F16)
        for (uint64_t j = 0; j < cols; j++) to[j] = widen_f16(from[j]);
    else
        for (uint64_t j = 0; j < cols; j++) to[j] = csaw__from_bf16(from[j]);
}

/* ---- dot products ---- */

enum { LANES = 32 };

#define DEFINE_DOT(TARGET, NAME, SUM, STORED, WIDEN)                                                             \
    TARGET static double NAME(const void *row, const float *g, uint64_t cols) {                                  \
        const STORED *RESTRICT x = (const STORED *)row;                                                          \
        const float *RESTRICT y = g;                                                                             \
        SUM lane[LANES] = {0};                                                                                   \
        uint64_t j = 0;                                                                                          \
        for (; j + LANES <= cols; j += LANES)                                                                    \
            for (int l = 0; l < LANES; l++) lane[l] += (SUM)y[j + (uint64_t)l] * (SUM)WIDEN(x[j + (uint64_t)l]); \
        for (int l = 0; j < cols; j++, l++) lane[l] += (SUM)y[j] * (SUM)WIDEN(x[j]);                             \
        for (int half = LANES / 2; half > 0; half /= 2)                                                          \
            for (int l = 0; l < half; l++) lane[l] += lane[l + half];                                            \
        return lane[0];                                                                                          \
    }
TWICE(DEFINE_DOT, dot_f32, float, float, plain)
TWICE(DEFINE_DOT, dot_f16, float, uint16_t, widen_f16)
TWICE(DEFINE_DOT, dot_bf16, float, uint16_t, csaw__from_bf16)
TWICE(DEFINE_DOT, dot_f32_exact, double, float, plain)
TWICE(DEFINE_DOT, dot_f16_exact, double, uint16_t, widen_f16)
TWICE(DEFINE_DOT, dot_bf16_exact, double, uint16_t, csaw__from_bf16)

double csaw__row_dot(const csaw_dense *m, uint64_t r, const float *g, bool exact) {
    static dot_row *const dot[3][2][2] = {{{dot_f32, dot_f32_wide}, {dot_f32_exact, dot_f32_exact_wide}},
                                          {{dot_f16, dot_f16_wide}, {dot_f16_exact, dot_f16_exact_wide}},
                                          {{dot_bf16, dot_bf16_wide}, {dot_bf16_exact, dot_bf16_exact_wide}}};
    if (m->cols == 0) return 0;
    const char *const data = (const char *)m->data;
    return dot[m->dtype][exact][is_wide()](data + r * csaw__stride(m) * csaw__dtype_bytes(m->dtype), g, m->cols);
}
