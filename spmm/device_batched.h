/* SPDX-License-Identifier: MIT */
/* spmm/device_batched.h - products of a batch of small graphs on a GPU: what the batch keeps there, what kernels are
 * given, and how the work is laid out. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_H
#define CSAW_SPMM_DEVICE_BATCHED_H

#include "spmm/batched.h"
#include "spmm/device_product.h"

/* ---- tunables ---- */

enum {
    CSAW__BATCHED_THREADS = 128, /* of a block: few, so that a block soon ends whose rows differ in length */
    CSAW__BATCHED_AT_ONCE = 2,   /* entries whose features are on their way at once */
    CSAW__BATCHED_FACTOR = 2,    /* vectors of columns that a lane holds; one of gradients of MAX and MIN, beside arg */
    CSAW__BATCHED_WAVE = 144 << 10,  /* threads: of gradients of more than so many, and at most */
    CSAW__BATCHED_WAVES = 512 << 10, /* so many, every second block waits; as measured */
    CSAW__DOTS_THREADS = 128,        /* of a block: few, so that few entries reach all multiprocessors */
    CSAW__DOTS_NARROW = 2,           /* steps of 16 columns, of rows whose dot products take fewer registers */
    CSAW__DOTS_FILL = 1 << 16,       /* threads: a dot product takes more lanes while there are no more than so many */
    CSAW__WON_THREADS = 128,         /* of a block */
    CSAW__WON_BLOCKS = 4,            /* of a multiprocessor, at least: registers for rows on their way */
    CSAW__WON_AT_ONCE = 10,          /* rows whose dy and arg are on their way at once */
    CSAW__WON_MOST = 96,             /* columns of a graph that 48 KiB of shared memory hold, and rows */
    CSAW__WON_LEAST = 28 << 10       /* threads; with fewer, going by entries is faster */
};

static_assert(CSAW__WON_MOST * CSAW__WON_THREADS * sizeof(float) <= 48 << 10, "a block asks for no more");

/* Lanes that take a row of the output, `factor` vectors each: as many as hold all its columns, but of whole vectors no
 * more than 16 in all, which is a slice of x so narrow that rows of a graph find it in the L1 cache; 32 where rows
 * differ in length, so that fewer of them wait for each other. */
static inline uint32_t csaw__batched_lanes_of(uint64_t vectors, uint32_t vector, uint32_t factor, bool uneven) {
    const uint32_t most = vector > 1 ? (uneven ? 32 : 16) / factor : 32;
    uint32_t lanes = 4;
    while (lanes < most && lanes * factor < vectors) lanes *= 2;
    return lanes;
}

/* Lanes that take a dot product of vectors, of 4, 8 and 16: where few entries are there to fill the GPU, more lanes
 * have more of an entry on its way at once; else fewer lanes take fewer instructions. Of single elements: 16. */
static inline uint32_t csaw__batched_dots_lanes_of(uint64_t edges, uint32_t vector) {
    uint32_t lanes = 4;
    while (lanes < 16 && (vector == 1 || edges * lanes * 2 <= CSAW__DOTS_FILL)) lanes *= 2;
    return lanes;
}

/* ---- a batch on the GPU; device memory ---- */

/* A row, column or entry of a batch is numbered through all its graphs: at most so many of each on a GPU. */
#define CSAW__BATCHED_MOST (CSAW_NONE - 1ull)

struct alignas(16) csaw__batched_row { /* of the output */
    uint32_t first, count;             /* entries */
    uint32_t graph, begin;             /* which it belongs to; the number of that one's first entry */
};

struct alignas(8) csaw__batched_entry {
    uint32_t other; /* the row of the input that it reads */
    float weight;
};

struct alignas(8) csaw__batched_named { /* an entry that weights of the call, or arg, are found by */
    uint32_t other, number;             /* number: which of the batch's, as they were given */
};

struct alignas(8) csaw__batched_divisor {
    float value, inverse; /* inverse: 1 / value */
};

struct alignas(16) csaw__batched_divided { /* an entry of MEAN transposed whose weight is the call's */
    csaw__batched_named named;
    csaw__batched_divisor by; /* what its weight is divided by */
};

/* The matrices of all graphs as one, of rows of the output: by row, or, transposed, by column. Entries of a row stand
 * in the order of its graph. */
typedef struct csaw__batched_side {
    csaw__batched_row *row;     /* [outputs] */
    uint32_t *output;           /* [outputs] which row of the output each is; NULL = they stand in order */
    csaw__batched_entry *entry; /* [edges] */
    csaw__batched_named *named; /* [edges] the same */
} csaw__batched_side;

typedef struct csaw__device_batch {
    csaw__small *graph; /* [graphs] the one array of descriptors */
    csaw__batched_side by_row, by_col;
    csaw__batched_entry *mean;      /* [edges] of by_col, weights divided by the number of entries of their row */
    csaw__batched_divided *divided; /* [edges] of by_col, to be divided by that number */
    uint32_t *row_of;               /* [edges] of by_row: the row of each */
    bool in_order;                  /* entries by row stand as in the graphs */
} csaw__device_batch;

/* ---- what a kernel is given ---- */

typedef struct csaw__batched_matrix { /* of every graph */
    char *data;                       /* graph after graph; or NULL, and */
    void *const *each;                /* [graphs] device memory */
    uint64_t stride;
    csaw_dtype dtype;
} csaw__batched_matrix;

typedef struct csaw__batched_product { /* out = a in, or its transpose */
    const csaw__small *graph;
    csaw__batched_side a;
    const float *weight;                  /* [edges] graph after graph, in place of the entries' own; or NULL */
    const csaw__batched_divided *divided; /* [edges] with weight, of MEAN transposed, in place of a.named; else NULL */
    uint64_t outputs, cols;
    csaw__batched_matrix in, out;
    uint32_t *arg; /* [sum of rows, cols] of MAX and MIN: written, transposed read; or NULL */
    csaw_reduce reduce;
    bool transposed;

    uint32_t lanes, lanes_log, vector; /* lanes: 2 to the power of lanes_log */
    uint32_t slices, first_slice;      /* of columns: all, and before this launch */
    uint32_t blocks, parts; /* of a slice: blocks times parts, which is 1, or 2: every first one, then every second */
} csaw__batched_product;

static inline csaw__batched_matrix csaw__batched_matrix_of(const csaw_batched_dense *m) {
    return csaw__batched_matrix{m->each ? nullptr : (char *)m->data, m->each, m->stride ? m->stride : m->cols,
                                m->dtype};
}

static inline bool csaw__batched_takes_vectors(const csaw__batched_matrix *m) { /* each: looked at there */
    return m->stride % CSAW__VECTOR == 0 &&
           (uintptr_t)m->data % (uint64_t)(CSAW__VECTOR * (m->dtype == CSAW_F32 ? 4 : 2)) == 0;
}

/* Elements that a lane loads at once of rows of `cols`, of both matrices and of arg, which may be NULL. */
static inline uint32_t csaw__batched_vector_of(uint64_t cols, const csaw__batched_matrix *a,
                                               const csaw__batched_matrix *b, const uint32_t *arg) {
    const bool whole = cols % CSAW__VECTOR == 0 && csaw__batched_takes_vectors(a) && csaw__batched_takes_vectors(b) &&
                       (uintptr_t)arg % (CSAW__VECTOR * sizeof *arg) == 0;
    return whole ? CSAW__VECTOR : 1;
}

/* Columns, and elements from row to row of what is read, at most: their bytes, of arg too, have 32 bits. */
#define CSAW__BATCHED_WIDEST ((1ull << 30) - 1)
static_assert(CSAW__BATCHED_WIDEST * sizeof(float) <= UINT32_MAX, "as kernels multiply");

/* Fills in the layout of a product whose other fields stand. lanes: 0 = csaw__batched_lanes_of(). */
static inline void csaw__batched_lay_out(csaw__batched_product *p, uint32_t lanes) {
    const bool winners = p->transposed && csaw__is_extreme(p->reduce);
    const uint32_t factor = winners ? 1 : CSAW__BATCHED_FACTOR;
    p->vector = csaw__batched_vector_of(p->cols, &p->in, &p->out, p->arg);
    p->lanes =
        lanes ? lanes : csaw__batched_lanes_of(p->cols / p->vector, p->vector, factor, p->transposed && !winners);
    p->lanes_log = 0;
    while (1u << p->lanes_log < p->lanes) p->lanes_log++;
    const uint64_t width = (uint64_t)p->lanes * p->vector * factor;
    const uint64_t groups = CSAW__BATCHED_THREADS / p->lanes;
    p->slices = (uint32_t)((p->cols + width - 1) / width);
    p->first_slice = 0;
    const uint64_t threads = p->outputs * p->lanes * p->slices; /* below 2^32 * 2^31, a thread a column or more */
    p->parts = p->transposed && p->lanes > 4 && threads > CSAW__BATCHED_WAVE && threads <= CSAW__BATCHED_WAVES ? 2 : 1;
    p->blocks = (uint32_t)((p->outputs + groups * p->parts - 1) / (groups * p->parts));
}

/* ---- gradients of MAX and MIN by rows (spmm/device_batched_won.cuh) ---- */

/* Bytes of shared memory of a block, of graphs of so many columns at most. */
static inline uint64_t csaw__won_bytes(uint64_t most) { return most * CSAW__WON_THREADS * sizeof(float); }

/* Threads for so many graphs: of whole warps a graph and slice of 32 columns. */
static __host__ __device__ __forceinline__ uint64_t csaw__won_threads(uint64_t graphs, uint64_t cols) {
    return graphs * ((cols + 31) / 32) * 32;
}

/* Whether a product that is one of these gradients goes by rows: of 32 columns at least, since a graph has whole warps,
 * and in one launch. most: rows or columns of a graph. */
static inline bool csaw__goes_by_won(const csaw__batched_product *p, uint64_t graphs, uint64_t most, bool in_order) {
    if (!csaw__is_extreme(p->reduce) || !in_order || most > CSAW__WON_MOST) return false;
    if (p->cols < 32) return false;
    const uint64_t threads = csaw__won_threads(graphs, p->cols); /* below 2^62, by CSAW__BATCHED_WIDEST */
    return threads >= CSAW__WON_LEAST && threads / CSAW__WON_THREADS < 0x7fffffff;
}

typedef struct csaw__batched_dots { /* dw */
    const csaw__small *graph;
    csaw__batched_side a;   /* by row */
    const uint32_t *row_of; /* [edges] */
    uint64_t edges, cols;
    bool mean, in_order; /* in_order: entry e of a is place e of dw */
    const uint32_t *arg; /* of MAX and MIN, else NULL */
    csaw__batched_matrix x, dy;
    float *dw;
} csaw__batched_dots;

#endif
