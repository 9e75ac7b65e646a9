/* SPDX-License-Identifier: MIT */
/* spmm/reduce_rows.h - rows reduced chunk by chunk (csaw/spmm.h says in which order), stretches of rows by a thread
 * each, hubs by all threads together: the chunks of a hub in parallel, then their results merged in order, blocks of
 * columns in parallel. REAL: float or double; REDUCE: the function's name.
 *
 * Sources: row split with balanced work after Merrill, Garland, "Merge-based parallel sparse matrix-vector
 * multiplication", SC'16; long rows apart after Huang et al., "GE-SpMM", SC'20, section V, who name the problem. */
#include "runtime/base/parallel.h"
#include "spmm/reduce_chunk.h"

typedef struct blocks { /* columns in blocks, none of which crosses a head */
    uint64_t per_head, columns_of_head, count;
} blocks;

static blocks blocks_of(const csaw__reduction *r) {
    const uint64_t columns = r->y.cols / r->heads, per_head = (columns + BLOCK - 1) / BLOCK;
    return (blocks){per_head, columns, per_head * r->heads};
}

/* The columns of block b; no edges yet. */
static piece block_at(const blocks *s, uint64_t b) {
    const uint64_t head = b / s->per_head, within = b % s->per_head * BLOCK, left = s->columns_of_head - within;
    return (piece){.column = head * s->columns_of_head + within,
                   .width = (uint32_t)(left < BLOCK ? left : BLOCK),
                   .head = (uint32_t)head};
}

/* p with chunk k of a row. */
static piece chunk_at(piece p, uint64_t row_begin, uint64_t length, uint64_t k) {
    const uint64_t left = length - k * CSAW_CHUNK;
    p.first = row_begin + k * CSAW_CHUNK;
    p.count = (uint32_t)(left < CSAW_CHUNK ? left : CSAW_CHUNK);
    return p;
}

/* Into value and edge, what an earlier part of the row gave: one more chunk's, whose places count from p.first. */
static void merge(const csaw__reduction *r, piece p, const REAL *chunk, const uint32_t *place, REAL *value,
                  csaw_edge *edge) {
    if (r->reduce == CSAW_SUM || r->reduce == CSAW_MEAN) {
        for (uint32_t c = 0; c < p.width; c++) value[c] += chunk[c];
        return;
    }
    for (uint32_t c = 0; c < p.width; c++)
        if (beats(chunk[c], value[c], r->reduce == CSAW_MAX)) {
            value[c] = chunk[c];
            edge[c] = p.first + place[c];
        }
}

/* The first chunk's edges, from places. */
static void begin_edges(const csaw__reduction *r, piece p, const uint32_t *place, csaw_edge *edge) {
    if (r->reduce == CSAW_SUM || r->reduce == CSAW_MEAN) return;
    for (uint32_t c = 0; c < p.width; c++) edge[c] = p.first + place[c];
}

static void store(const csaw__reduction *r, piece p, uint64_t row, REAL *value, const csaw_edge *edge) {
    const uint64_t length = csaw__row_length(&r->a, row);
    if (r->reduce == CSAW_MEAN)
        for (uint32_t c = 0; c < p.width; c++) value[c] /= (REAL)length;
    if (r->arg) memcpy(r->arg + row * r->y.cols + p.column, edge, p.width * sizeof *edge);
    store_elements(&r->y, row * r->y.stride + p.column, p.width, value);
}

static void clear_row(const csaw__reduction *r, uint64_t row) {
    const uint64_t bytes = csaw__dtype_bytes(r->y.dtype);
    memset((char *)r->y.data + row * r->y.stride * bytes, 0, r->y.cols * bytes);
    for (uint64_t c = 0; r->arg && c < r->y.cols; c++) r->arg[row * r->y.cols + c] = CSAW_NO_EDGE;
}

static void reduce_row(const csaw__reduction *r, reduce_piece *reduce, const blocks *columns, uint64_t row) {
    const uint64_t begin = r->a.rowptr[row], length = csaw__row_length(&r->a, row), chunks = csaw__num_chunks(length);
    REAL value[BLOCK], chunk[BLOCK];
    uint32_t place[BLOCK];
    csaw_edge edge[BLOCK];
    for (uint64_t b = 0; b < columns->count; b++) {
        const piece p = block_at(columns, b), first = chunk_at(p, begin, length, 0);
        reduce(r, first, value, place);
        begin_edges(r, first, place, edge);
        for (uint64_t k = 1; k < chunks; k++) {
            const piece next = chunk_at(p, begin, length, k);
            reduce(r, next, chunk, place);
            merge(r, next, chunk, place, value, edge);
        }
        store(r, p, row, value, edge);
    }
}

typedef struct partial { /* of each chunk of a hub */
    REAL *value;         /* [chunks, cols of y] */
    uint32_t *place;     /* the same; NULL for sums */
} partial;

/* Called by all threads together. */
static void reduce_hub(const csaw__reduction *r, reduce_piece *reduce, const blocks *columns, uint64_t row,
                       const partial *of) {
    const uint64_t begin = r->a.rowptr[row], length = csaw__row_length(&r->a, row), chunks = csaw__num_chunks(length);
    const uint64_t cols = r->y.cols;
    CSAW__OMP(for schedule(dynamic, 4))
    for (uint64_t k = 0; k < chunks; k++)
        for (uint64_t b = 0; b < columns->count; b++) {
            const piece p = chunk_at(block_at(columns, b), begin, length, k);
            const uint64_t at = k * cols + p.column;
            reduce(r, p, of->value + at, of->place ? of->place + at : NULL);
        }
    CSAW__OMP(for)
    for (uint64_t b = 0; b < columns->count; b++) {
        const piece p = block_at(columns, b);
        const uint32_t *const place = of->place ? of->place + p.column : NULL;
        REAL value[BLOCK];
        csaw_edge edge[BLOCK];
        memcpy(value, of->value + p.column, p.width * sizeof *value);
        begin_edges(r, chunk_at(p, begin, length, 0), place, edge);
        for (uint64_t k = 1; k < chunks; k++)
            merge(r, chunk_at(p, begin, length, k), of->value + k * cols + p.column, place ? place + k * cols : NULL,
                  value, edge);
        store(r, p, row, value, edge);
    }
}

void REDUCE(const csaw__reduction *r) {
    const blocks columns = blocks_of(r);
    const uint64_t stretches = csaw__num_stretches(&r->a), chunks = csaw__num_chunks(r->rows.longest);
    const bool extreme = r->reduce == CSAW_MAX || r->reduce == CSAW_MIN;
    reduce_piece *const reduce = piece_of(r->reduce, r->x.dtype);
    partial of = {r->room, NULL};
    if (!r->y.cols) return;
    if (r->room && extreme) of.place = (uint32_t *)(of.value + chunks * r->y.cols);
    CSAW__OMP(parallel if (stretches > 1)) {
        CSAW__OMP(for schedule(dynamic, 1) nowait)
        for (uint64_t t = 0; t < stretches; t++) {
            const uint64_t end = csaw__stretch_begin(&r->a, t + 1);
            for (uint64_t row = csaw__stretch_begin(&r->a, t); row < end; row++) {
                const uint64_t length = csaw__row_length(&r->a, row);
                if (!length)
                    clear_row(r, row);
                else if (length <= CSAW__HUB)
                    reduce_row(r, reduce, &columns, row);
            }
        }
        for (uint64_t h = 0; h < r->rows.num_hubs; h++) reduce_hub(r, reduce, &columns, r->rows.hub[h], &of);
    }
}
