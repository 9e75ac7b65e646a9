/* SPDX-License-Identifier: MIT */
/* spmm/reduce_chunk.h - the innermost loops of SpMM: some columns of the products of one chunk of edges, reduced. REAL
 * is float or double.
 *
 * Columns run innermost, in unit stride, over accumulators that stay in the L1 cache; four edges at a time, so that an
 * accumulator is loaded and stored once for four products. It is still ((((s + p0) + p1) + p2) + p3): the order of the
 * edges. Features a few edges ahead are prefetched, since the hardware cannot guess rows. */
#include "spmm/real.h"
#include "spmm/reduce.h"

#define BLOCK 256u /* columns that are reduced together */
#define AHEAD 8u

typedef struct piece { /* of a row: edges first .. first + count - 1, columns column .. column + width - 1 */
    uint64_t first, column;
    uint32_t count, width, head; /* count: 1 .. CSAW_CHUNK; width: 1 .. BLOCK */
} piece;

/* value: [width] reduced products; place: [width] of MAX and MIN, counted from `first`. */
typedef void reduce_piece(const csaw__reduction *r, piece p, REAL *value, uint32_t *place);

INLINED const void *row_of(const csaw__reduction *r, piece p, uint64_t edge, csaw_dtype dtype) {
    return elements_at(&r->x, r->a.col[edge], p.column, dtype);
}

INLINED REAL weight_of(const csaw__reduction *r, piece p, uint64_t edge) {
    const REAL weight = r->a.weight ? (REAL)r->a.weight[edge * r->heads + p.head] : (REAL)1;
    if (sizeof(REAL) == sizeof(float) || !r->divisor) return weight; /* float32 finds its weights divided */
    const uint64_t *const at = r->divisor + r->a.col[edge];
    return weight / (REAL)(at[1] - at[0]);
}

INLINED void prefetch(const csaw__reduction *r, piece p, uint64_t edge, csaw_dtype dtype) {
    if (edge >= r->a.num_edges) return;
    const char *row = row_of(r, p, edge, dtype);
    const uint32_t bytes = p.width * (dtype == CSAW_F32 ? 4 : 2);
    for (uint32_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b);
}

INLINED void sum_piece(const csaw__reduction *r, piece p, csaw_dtype dtype, REAL *out) {
    REAL sum[BLOCK]; /* a local array: the compiler sees that nothing else points there */
    const uint64_t end = p.first + p.count;
    uint64_t e = p.first;
    for (uint32_t c = 0; c < p.width; c++) sum[c] = 0;
    for (; e + 4 <= end; e += 4) {
        const REAL w0 = weight_of(r, p, e), w1 = weight_of(r, p, e + 1);
        const REAL w2 = weight_of(r, p, e + 2), w3 = weight_of(r, p, e + 3);
        const void *const x0 = row_of(r, p, e, dtype), *const x1 = row_of(r, p, e + 1, dtype);
        const void *const x2 = row_of(r, p, e + 2, dtype), *const x3 = row_of(r, p, e + 3, dtype);
        for (uint64_t k = e + AHEAD; k < e + AHEAD + 4; k++) prefetch(r, p, k, dtype);
        for (uint32_t c = 0; c < p.width; c++)
            sum[c] =
                (((sum[c] + w0 * element(x0, c, dtype)) + w1 * element(x1, c, dtype)) + w2 * element(x2, c, dtype)) +
                w3 * element(x3, c, dtype);
    }
    for (; e < end; e++) {
        const REAL w = weight_of(r, p, e);
        const void *const x = row_of(r, p, e, dtype);
        prefetch(r, p, e + AHEAD, dtype);
        for (uint32_t c = 0; c < p.width; c++) sum[c] += w * element(x, c, dtype);
    }
    memcpy(out, sum, p.width * sizeof *sum);
}

/* Whether `value` takes the place of `best`, which came before it. */
INLINED bool beats(REAL value, REAL best, bool max) {
    return (max ? value > best : value < best) | ((value != value) & (best == best));
}

INLINED void extreme_piece(const csaw__reduction *r, piece p, csaw_dtype dtype, bool max, REAL *out,
                           uint32_t *out_place) {
    REAL best[BLOCK];
    uint32_t place[BLOCK];
    for (uint32_t k = 0; k < p.count; k++) {
        const REAL w = weight_of(r, p, p.first + k);
        const void *const x = row_of(r, p, p.first + k, dtype);
        prefetch(r, p, p.first + k + AHEAD, dtype);
        if (k == 0)
            for (uint32_t c = 0; c < p.width; c++) {
                best[c] = w * element(x, c, dtype);
                place[c] = 0;
            }
        else
            for (uint32_t c = 0; c < p.width; c++) {
                const REAL value = w * element(x, c, dtype);
                const bool taken = beats(value, best[c], max);
                best[c] = taken ? value : best[c];
                place[c] = taken ? k : place[c];
            }
    }
    memcpy(out, best, p.width * sizeof *best);
    memcpy(out_place, place, p.width * sizeof *place);
}

#define INSTANCES(NAME, DTYPE)                                                                               \
    CSAW__EACH_CPU static void sum_##NAME(const csaw__reduction *r, piece p, REAL *value, uint32_t *place) { \
        (void)place;                                                                                         \
        sum_piece(r, p, DTYPE, value);                                                                       \
    }                                                                                                        \
    CSAW__EACH_CPU static void max_##NAME(const csaw__reduction *r, piece p, REAL *value, uint32_t *place) { \
        extreme_piece(r, p, DTYPE, true, value, place);                                                      \
    }                                                                                                        \
    CSAW__EACH_CPU static void min_##NAME(const csaw__reduction *r, piece p, REAL *value, uint32_t *place) { \
        extreme_piece(r, p, DTYPE, false, value, place);                                                     \
    }
INSTANCES(f32, CSAW_F32)
INSTANCES(f16, CSAW_F16)
INSTANCES(bf16, CSAW_BF16)

static reduce_piece *piece_of(csaw_reduce reduce, csaw_dtype dtype) {
    static reduce_piece *const sum[] = {sum_f32, sum_f16, sum_bf16};
    static reduce_piece *const max[] = {max_f32, max_f16, max_bf16};
    static reduce_piece *const min[] = {min_f32, min_f16, min_bf16};
    return reduce == CSAW_MAX ? max[dtype] : reduce == CSAW_MIN ? min[dtype] : sum[dtype];
}
