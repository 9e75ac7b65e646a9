/* SPDX-License-Identifier: MIT */
/* spmm/scatter_rows.h - gradients of MAX and MIN. Only [rows, columns] products exist, not one per edge and column, so
 * the transpose would read far too much. Instead a thread takes a few columns of all rows and adds each product where
 * arg says, in sums of its own: no two threads meet, and every sum runs by ascending row; of a column of a with more
 * than CSAW_CHUNK edges by chunks of so many, as csaw_spmm() of the transpose has them. REAL: float or double. */
#include "runtime/base/parallel.h"
#include "spmm/real.h"
#include "spmm/scatter.h"

/* Sums of chunks at hand, of CSAW__SCATTER_WIDTH columns of dx: [chunks.first of the scatter, those], of which the
 * place of a column's first one is the column's. */
typedef struct chunk_sums {
    REAL *sum;
    uint32_t *number; /* of the chunk in its column of a */
} chunk_sums;

/* The product of edge e, whose column j is added by chunks; c: of those columns; total: its element. */
static inline void add_to_chunk(const csaw__column_chunks *of, const chunk_sums *at_hand, uint64_t j, uint64_t c,
                                csaw_edge e, REAL product, REAL *total) {
    const uint64_t begin = of->begin[j], more = of->begin[j + 1] - begin, place = begin * CSAW__SCATTER_WIDTH + c;
    uint64_t number = at_hand->number[place];
    while (number < more && of->first[begin + number] <= e) {
        *total += at_hand->sum[place];
        at_hand->sum[place] = 0;
        number++;
    }
    at_hand->number[place] = (uint32_t)number;
    at_hand->sum[place] += product;
}

/* Columns first .. first + width - 1 of dx. sum: [cols of a], `stride` elements apart. */
static void scatter_columns(const csaw__scatter *s, uint64_t first, uint64_t width, const chunk_sums *chunks, REAL *sum,
                            uint64_t stride) {
    const uint64_t cols = s->dy.cols, of_head = cols / s->heads;
    const uint64_t *const begin = s->chunks.begin;
    for (uint64_t j = 0; j < s->a.cols; j++) memset(sum + j * stride, 0, width * sizeof *sum);
    if (begin) {
        memset(chunks->sum, 0, s->num_chunks * CSAW__SCATTER_WIDTH * sizeof *chunks->sum);
        memset(chunks->number, 0, s->num_chunks * CSAW__SCATTER_WIDTH * sizeof *chunks->number);
    }
    for (uint64_t row = 0; row < s->a.rows; row++) {
        if (!csaw__row_length(&s->a, row)) continue;
        const csaw_edge *const arg = s->arg + row * cols + first;
        const void *const dy = elements_at(&s->dy, row, first, s->dy.dtype);
        for (uint64_t c = 0; c < width; c++) {
            const uint64_t head = s->heads == 1 ? 0 : (first + c) / of_head;
            const REAL w = s->a.weight ? (REAL)s->a.weight[arg[c] * s->heads + head] : (REAL)1;
            const REAL product = w * element(dy, c, s->dy.dtype);
            const uint64_t j = s->a.col[arg[c]];
            if (begin && begin[j + 1] > begin[j])
                add_to_chunk(&s->chunks, chunks, j, c, arg[c], product, sum + j * stride + c);
            else
                sum[j * stride + c] += product;
        }
    }
    for (uint64_t j = 0; begin && j < s->a.cols; j++)
        for (uint64_t c = 0; begin[j + 1] > begin[j] && c < width; c++)
            sum[j * stride + c] += chunks->sum[begin[j] * CSAW__SCATTER_WIDTH + c];
}

/* A thread's columns are side by side: all of them at a time where their sums stay in dx and no chunks are added, so
 * that what it reads of a row of arg is as long as can be; else as many as it has room for, [cols of a,
 * CSAW__SCATTER_WIDTH]. */
void SCATTER_FEATURES(const csaw__scatter *s) {
    const uint64_t cols = s->dy.cols, parts = s->threads, width = csaw__scatter_width(cols, parts);
    const uint64_t places = s->num_chunks * CSAW__SCATTER_WIDTH;
    REAL *const room = s->features_room, *const chunk_sum = s->chunks_room;
    CSAW__OMP(parallel for schedule(static, 1) num_threads((int)parts))
    for (uint64_t t = 0; t < parts; t++) {
        const uint64_t begin = t * width, end = begin + width < cols ? begin + width : cols;
        const uint64_t step = room || places ? CSAW__SCATTER_WIDTH : width, stride = room ? step : s->dx.stride;
        chunk_sums chunks = {.sum = NULL};
        if (places) {
            chunks.sum = chunk_sum + t * places;
            chunks.number = (uint32_t *)(void *)(chunk_sum + parts * places) + t * places;
        }
        for (uint64_t first = begin; first < end; first += step) {
            const uint64_t here = end - first < step ? end - first : step;
            REAL *const sum = room ? room + t * s->a.cols * step : (REAL *)s->dx.data + first;
            scatter_columns(s, first, here, &chunks, sum, stride);
            for (uint64_t j = 0; room && j < s->a.cols; j++)
                store_elements(&s->dx, j * s->dx.stride + first, (uint32_t)here, sum + j * stride);
        }
    }
}

void SCATTER_WEIGHTS(const csaw__scatter *s) {
    const uint64_t cols = s->dy.cols, of_head = cols / s->heads;
    const bool in_place = sizeof(REAL) == sizeof(float);
    REAL *const sum = in_place ? (REAL *)(void *)s->dweight : s->weights_room;
    CSAW__OMP(parallel for if(csaw__is_long(s->a.num_edges * s->heads + s->a.rows * cols)))
    for (uint64_t row = 0; row < s->a.rows; row++) {
        const uint64_t begin = s->a.rowptr[row] * s->heads, end = s->a.rowptr[row + 1] * s->heads;
        if (begin == end) continue;
        memset(sum + begin, 0, (end - begin) * sizeof *sum);
        const void *const dy = elements_at(&s->dy, row, 0, s->dy.dtype);
        for (uint64_t c = 0; c < cols; c++) {
            const csaw_edge e = s->arg[row * cols + c];
            const void *const x = elements_at(&s->x, s->a.col[e], 0, s->x.dtype);
            sum[e * s->heads + c / of_head] += element(x, c, s->x.dtype) * element(dy, c, s->dy.dtype);
        }
        for (uint64_t k = begin; !in_place && k < end; k++) s->dweight[k] = (float)sum[k];
    }
}
