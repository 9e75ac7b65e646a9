/* SPDX-License-Identifier: MIT */
/* spmm/device_batched.h - products of a batch of small graphs on a GPU: what the batch keeps there, what kernels are
 * given, and how the work is laid out. */
#ifndef CSAW_SPMM_DEVICE_BATCHED_H
#define CSAW_SPMM_DEVICE_BATCHED_H

#include "spmm/batched.h"
#include "spmm/device_product.h"

/* ---- tunables ---- */

enum {
    CSAW__BATCHED_THREADS = 512, /* of a block: so many rows read x of the same few graphs, from the L1 cache */
    CSAW__BATCHED_UNROLL = 4,    /* entries whose features are on their way at once */
    CSAW__BATCHED_FACTOR = 2,    /* vectors of columns that a lane holds */
    CSAW__DOTS_THREADS = 256,
    CSAW__DOTS_UNROLL = 4 /* vectors of x and of dy on their way at once */
};

/* Lanes that take a row of the output: as many as hold all its columns, but of whole vectors no more than 8, which is
 * a slice of x so narrow that rows of a graph find it in the L1 cache. */
static inline uint32_t csaw__batched_lanes_of(uint64_t vectors, uint32_t vector) {
    const uint32_t most = vector > 1 ? 8 : 32;
    uint32_t lanes = 4;
    while (lanes < most && lanes * CSAW__BATCHED_FACTOR < vectors) lanes *= 2;
    return lanes;
}

/* ---- a batch on the GPU; device memory ---- */

/* A row or column of a batch is numbered through all its graphs: at most so many on a GPU. */
#define CSAW__BATCHED_MOST (CSAW_NONE - 1ull)

struct alignas(16) csaw__batched_row { /* of the output */
    uint64_t first;                    /* entry */
    uint32_t count, graph;             /* entries; which it belongs to */
};

struct alignas(8) csaw__batched_entry {
    uint32_t other; /* the row of the input that it reads */
    float weight;
};

/* The matrices of all graphs as one, of rows of the output: by row, or, transposed, by column. Entries of a row stand
 * in the order of its graph. */
typedef struct csaw__batched_side {
    csaw__batched_row *row;     /* [outputs] */
    csaw__batched_entry *entry; /* [edges] */
} csaw__batched_side;

typedef struct csaw__device_batch {
    csaw__small *graph; /* [graphs] the one array of descriptors */
    csaw__batched_side by_row, by_col;
    csaw__batched_entry *mean; /* [edges] of by_col, weights divided by the number of entries of their row */
    uint32_t *row_of;          /* [edges] of by_row: the row of each */
    uint32_t *number;          /* [edges] of by_row: which entry of its graph */
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
    const uint32_t *number; /* [edges] of MAX and MIN */
    uint64_t outputs, cols;
    csaw__batched_matrix in, out;
    uint32_t *arg; /* [sum of rows, cols] or NULL */
    csaw_reduce reduce;
    bool transposed;

    uint32_t lanes, vector;
    uint64_t slices, first_slice; /* of columns: all, and before this launch */
    uint64_t blocks;              /* of a slice */
} csaw__batched_product;

static inline bool csaw__batched_takes_vectors(const csaw__batched_matrix *m) { /* each: looked at there */
    return m->stride % CSAW__VECTOR == 0 &&
           (uintptr_t)m->data % (uint64_t)(CSAW__VECTOR * (m->dtype == CSAW_F32 ? 4 : 2)) == 0;
}

/* Fills in the layout of a product whose other fields stand. lanes: 0 = csaw__batched_lanes_of(). */
static inline void csaw__batched_lay_out(csaw__batched_product *p, uint32_t lanes) {
    p->vector =
        p->cols % CSAW__VECTOR == 0 && csaw__batched_takes_vectors(&p->in) && csaw__batched_takes_vectors(&p->out)
            ? CSAW__VECTOR
            : 1;
    p->lanes = lanes ? lanes : csaw__batched_lanes_of(p->cols / p->vector, p->vector);
    const uint64_t width = (uint64_t)p->lanes * p->vector * CSAW__BATCHED_FACTOR;
    const uint64_t groups = CSAW__BATCHED_THREADS / p->lanes;
    p->slices = (p->cols + width - 1) / width;
    p->first_slice = 0;
    p->blocks = (p->outputs + groups - 1) / groups;
}

typedef struct csaw__batched_dots { /* dw */
    const csaw__small *graph;
    csaw__batched_side a;   /* by row */
    const uint32_t *row_of; /* [edges] */
    const uint32_t *number; /* [edges] */
    uint64_t edges, cols;
    bool mean;
    const uint32_t *arg; /* of MAX and MIN, else NULL */
    csaw__batched_matrix x, dy;
    float *dw;
} csaw__batched_dots;

#endif
