/* SPDX-License-Identifier: MIT */
/* spmm/device_winners_layout.cuh - how the work of spmm/device_winners.cuh is laid out. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_LAYOUT_CUH
#define CSAW_SPMM_DEVICE_WINNERS_LAYOUT_CUH

#include "spmm/device_product.h"

enum {
    CSAW__WON_COLUMNS = 32, /* the bits of a word */
    CSAW__WON_WORDS = 8,    /* of a slice, at most: a sector */
    CSAW__WON_UNITS = 4,    /* of the transpose, that a warp takes by bits */
    CSAW__WON_DEGREE = 64,  /* mean degree up to which words are no more bytes than arg is; R-MAT 17 of 69, on an H100
                             * gathered by rows 0.60 and 1.87 ms, sorted 0.50 and 1.88 */
    CSAW__WON_FEW = 1 << 22 /* edges, up to which lanes are faster than bits, since their warps are more */
};

typedef struct csaw__won_order { /* what belongs to the transpose's edges, and in which order it stands */
    const csaw_edge *edge;       /* [num_edges] of the matrix, by the transpose's edges; NULL if none of both asks */
    const uint64_t *place;       /* [num_edges] of the transpose, by the matrix's edges: words stand there; NULL = by
                                  * the matrix's edges */
    bool weights;                /* stand in the transpose's order, not in the matrix's */
    uint32_t *won;  /* [slices of a launch, num_edges, words] bit c of word w: arg names the edge in column 32 w +
                     * c of the slice */
    uint32_t words; /* of a slice */
} csaw__won_order;

typedef struct csaw__winners {
    csaw__product matrix; /* its units, arg, and slices as those of turned; y: its columns alone */
    csaw__product turned; /* rows are those of the transpose; x is dy, y is dx; weight is as order says */
    csaw__won_order order;
    uint64_t at_once;       /* slices of a launch */
    bool by_bits;           /* csaw__gather_bits_of_winners(), not csaw__gather_winners() */
    csaw_spmm_method shape; /* of csaw__gather_winners(), and of slices */
} csaw__winners;

static __host__ __device__ constexpr int csaw__won_words(int width) { /* of a slice of so many columns */
    return width > CSAW__WON_COLUMNS ? width / CSAW__WON_COLUMNS : 1;
}

/* The widest slice that is not twice what there are columns for, and whose words of all edges fit work memory. Single
 * columns: 8 or 32. */
static inline csaw_spmm_method csaw__winners_shape(const csaw__product *turned, uint64_t most_words) {
    static const csaw_spmm_method by_width[] = {CSAW_SPMM_CWM2, CSAW_SPMM_CRC, CSAW_SPMM_SUBWARP16};
    if (turned->vector == 1) return turned->columns > 8 ? CSAW_SPMM_CRC : CSAW_SPMM_SUBWARP8;
    for (csaw_spmm_method method : by_width) {
        const csaw__method_shape shape = csaw__shape_of(method);
        const uint64_t width = shape.lanes * shape.factor * turned->vector;
        const uint64_t words = (uint64_t)csaw__won_words((int)width);
        if (words <= CSAW__WON_WORDS && words <= most_words && width < 2 * turned->columns) return method;
    }
    return CSAW_SPMM_SUBWARP8;
}

/* Work memory for words: what arg has bytes, or a little. */
static inline uint64_t csaw__won_room(const csaw__product *matrix) {
    const uint64_t of_arg = matrix->rows * matrix->y.cols * sizeof *matrix->arg;
    return of_arg > CSAW__ROOM_BYTES ? of_arg : CSAW__ROOM_BYTES;
}

/* By which kernel units are gathered, and in how many blocks. */
static inline void csaw__winners_gather(csaw__winners *w, bool by_bits) {
    const uint64_t at_once = CSAW__WON_UNITS, warps = CSAW__THREADS / 32;
    const uint64_t units = w->turned.split.most_chunks + w->turned.rows;
    csaw__lay_out(&w->turned, w->shape, CSAW__THREADS);
    w->order.words = (uint32_t)csaw__won_words((int)w->turned.width);
    w->by_bits = by_bits;
    if (by_bits) w->turned.blocks = ((units + at_once - 1) / at_once * w->order.words + warps - 1) / warps;
}

/* Fills in the layout, where rows, split, columns and heads of both stand. */
static inline void csaw__winners_lay_out(csaw__winners *w) {
    const uint64_t bytes = w->matrix.num_edges * sizeof *w->order.won; /* of a word each */
    const uint64_t most_words = bytes ? csaw__won_room(&w->matrix) / bytes : UINT64_MAX;
    csaw__lay_vectors(&w->turned);
    if (w->turned.vector > CSAW__VECTOR && most_words < 2) w->turned.vector = CSAW__VECTOR;
    w->turned.reduce = CSAW_SUM;
    w->shape = csaw__winners_shape(&w->turned, most_words);
    csaw__winners_gather(w, w->turned.num_edges > CSAW__WON_FEW);
    if (w->turned.blocks > 0x7fffffffu) csaw__winners_gather(w, false); /* a launch has no more */
    w->matrix.columns = w->turned.columns, w->matrix.width = w->turned.width, w->matrix.vector = 1;
    w->matrix.slices_of_head = w->turned.slices_of_head, w->matrix.first_slice = 0;
    const uint64_t warps = CSAW__THREADS / 32, slices = w->turned.slices_of_head * w->turned.heads;
    const uint64_t partial = csaw__partial_bytes(&w->turned),
                   of_partial = partial ? CSAW__ROOM_BYTES / partial : slices;
    w->matrix.blocks = (w->matrix.split.most_chunks + w->matrix.rows + warps - 1) / warps;
    w->at_once = most_words / w->order.words;
    if (w->at_once > of_partial) w->at_once = of_partial;
    w->at_once = w->at_once < 1 ? 1 : w->at_once < slices ? w->at_once : slices;
}

/* Whether words of an edge fill a sector, so that they go to the edge's place in the transpose as they are, and are
 * read one after the other. Fewer would be a part of a sector each, which is as well read there. */
static inline bool csaw__won_by_place(const csaw__winners *w) { return w->order.words == CSAW__WON_WORDS; }

#endif
