/* SPDX-License-Identifier: MIT */
/* spmm/reducer.c - csaw_spmm() by a reduction of the caller's, csaw/reducer.h. Rows are shared out among threads; a row
 * goes through in blocks of columns, and in each block edge after edge. Products are taken here, so that how the
 * caller's file is compiled does not decide how they are rounded. */
#define REAL float
#include "spmm/reducer.h"

#include "runtime/base/parallel.h"
#include "runtime/base/status.h"
#include "spmm/real.h"

enum { EDGES = 32, ROWS = 64 }; /* of a piece; that a thread takes at once */

typedef struct block { /* columns begin .. begin + count - 1, all of one head */
    uint64_t begin;
    uint32_t count, head;
} block;

/* The products of `edges` edges, of which the first is `first`. */
static void multiply(const csaw__reduction *r, block b, uint64_t first, csaw__reducer_piece *p) {
    for (uint32_t k = 0; k < p->edges; k++) {
        const void *const x = elements_at(&r->x, r->a.col[first + k], b.begin, r->x.dtype);
        const float weight = r->a.weight ? r->a.weight[(first + k) * r->heads + b.head] : 1.0f;
        for (uint32_t c = 0; c < b.count; c++) p->product[k][c] = weight * element(x, c, r->x.dtype);
    }
}

static void reduce_block(const csaw__reduction *r, const csaw_reducer *reducer, uint64_t row, block b) {
    csaw__reducer_piece p;
    const float begin = reducer->begin();
    p.columns = b.count;
    for (uint32_t c = 0; c < b.count; c++) p.value[c] = begin;
    for (uint64_t e = r->a.rowptr[row], end = r->a.rowptr[row + 1]; e < end; e += EDGES) {
        p.edges = end - e < EDGES ? (uint32_t)(end - e) : EDGES;
        multiply(r, b, e, &p);
        reducer->add(&p);
    }
    store_elements(&r->y, row * r->y.stride + b.begin, b.count, p.value);
}

csaw_status csaw__reducer_check(const csaw_reducer *reducer, const csaw_spmm_options *options, int ordinal) {
    CSAW_REQUIRE(reducer->abi == CSAW__REDUCER_ABI, CSAW_EINVAL,
                 "the reducer was compiled with headers of interface %u, but this csaw has %u; compile it again",
                 reducer->abi, CSAW__REDUCER_ABI);
    CSAW_REQUIRE(ordinal < 0 || reducer->device, CSAW_EUNSUPPORTED,
                 "reducer '%s' has no kernels for the GPU and no file to make them from; compile it by "
                 "csaw_add_reducer() with CUDA, load it by csaw_reducer_compile(), or give device 'cpu'",
                 reducer->name);
    CSAW_REQUIRE(options->reduce == CSAW_SUM && !options->exact && !options->arg, CSAW_EINVAL,
                 "reducer '%s' stands in place of reduce, in float32, and picks no edges; leave reduce, exact and arg "
                 "out",
                 reducer->name);
    return CSAW_OK;
}

void csaw__reduce_by(const csaw__reduction *r, const csaw_reducer *reducer) {
    const uint64_t columns = r->y.cols / r->heads;
    CSAW__OMP(parallel for schedule(dynamic, ROWS) if (csaw__is_long(r->a.rows + r->a.num_edges)))
    for (uint64_t row = 0; row < r->a.rows; row++)
        for (uint64_t at = 0; at < r->y.cols;) {
            const uint64_t head = at / columns, left = (head + 1) * columns - at;
            const uint32_t count = left < CSAW__REDUCER_COLUMNS ? (uint32_t)left : CSAW__REDUCER_COLUMNS;
            reduce_block(r, reducer, row, (block){at, count, (uint32_t)head});
            at += count;
        }
}
