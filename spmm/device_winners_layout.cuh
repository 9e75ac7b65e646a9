/* SPDX-License-Identifier: MIT */
/* spmm/device_winners_layout.cuh - how the work of spmm/device_winners.cu is laid out. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_LAYOUT_CUH
#define CSAW_SPMM_DEVICE_WINNERS_LAYOUT_CUH

#include "spmm/device_product.h"

enum {
    CSAW__WON_COLUMNS = 32, /* the bits of a word */
    CSAW__WON_WORDS = 8,    /* of a slice, at most: a sector */
    CSAW__WON_UNITS = 4,    /* of the transpose, that a warp takes, at most */
    CSAW__WON_DEGREE = 64   /* mean degree up to which words are no more bytes than arg is; R-MAT 17 of 69, on an H100
                             * gathered by rows 0.60 and 1.87 ms, sorted 0.50 and 1.88 */
};

typedef struct csaw__winners {
    csaw__product turned;   /* rows are those of the transpose; x is dy, y is dx */
    uint64_t rows;          /* of the matrix */
    const uint64_t *rowptr; /* [rows + 1] */
    const csaw_edge *arg;   /* [rows, columns of dy] */
    const csaw_edge *edge;  /* [num_edges] of the matrix, by the transpose's edges; NULL if none asks */
    const uint64_t *place;  /* [num_edges] of the transpose, by the matrix's edges: words stand there; NULL = by
                             * the matrix's edges */
    bool weights;           /* stand in the transpose's order, not in the matrix's */
    uint32_t *won;          /* [slices of a launch, num_edges, words] bit c of word w: arg names the edge in column
                             * 32 w + c of the slice */
    uint32_t words, units;  /* of a slice; of the transpose, that a warp takes */
    uint32_t lane_bits;     /* 2^lane_bits lanes find the winners of a row */
    uint64_t find_blocks;   /* of a slice, that find winners */
    uint64_t at_once;       /* slices of a launch */
} csaw__winners;

/* Work memory for words: what arg has bytes, or a little. */
static inline uint64_t csaw__won_room(const csaw__winners *w) {
    const uint64_t of_arg = w->rows * w->turned.y.cols * sizeof *w->arg;
    return of_arg > CSAW__ROOM_BYTES ? of_arg : CSAW__ROOM_BYTES;
}

/* How many units each warp gathers. */
static inline void csaw__winners_share(csaw__winners *w, uint32_t units) {
    const uint64_t warps = CSAW__THREADS / 32, all = w->turned.split.most_chunks + w->turned.rows;
    w->units = units;
    w->turned.blocks = ((all + units - 1) / units * w->words + warps - 1) / warps;
}

/* Fills in the layout, where rows, split, columns and heads stand. A slice is the widest that is not twice what there
 * are columns for, and whose words of all edges fit work memory. */
static inline void csaw__winners_lay_out(csaw__winners *w) {
    csaw__product *const p = &w->turned;
    const uint64_t bytes = p->num_edges * sizeof *w->won; /* of a word each */
    const uint64_t most_words = bytes ? csaw__won_room(w) / bytes : UINT64_MAX;
    csaw__lay_vectors(p);
    p->reduce = CSAW_SUM;
    w->words = 1;
    while (w->words < CSAW__WON_WORDS && 2 * w->words <= most_words && w->words * CSAW__WON_COLUMNS < p->columns)
        w->words *= 2;
    p->width = w->words * CSAW__WON_COLUMNS;
    p->slices_of_head = (p->columns + p->width - 1) / p->width;
    p->first_slice = 0;
    csaw__winners_share(w, CSAW__WON_UNITS);
    w->lane_bits = 0;
    while (w->lane_bits < 5 && 1u << w->lane_bits < p->columns) w->lane_bits++;
    w->find_blocks = ((w->rows << w->lane_bits) + CSAW__THREADS - 1) / CSAW__THREADS;
    const uint64_t slices = p->slices_of_head * p->heads, partial = csaw__partial_bytes(p);
    const uint64_t of_partial = partial ? CSAW__ROOM_BYTES / partial : slices;
    w->at_once = most_words / w->words;
    if (w->at_once > of_partial) w->at_once = of_partial;
    w->at_once = w->at_once < 1 ? 1 : w->at_once < slices ? w->at_once : slices;
}

/* Whether words of an edge fill a sector, so that they go to the edge's place in the transpose as they are, and are
 * read one after the other. Fewer would be a part of a sector each, which is as well read there. */
static inline bool csaw__won_by_place(const csaw__winners *w) { return w->words == CSAW__WON_WORDS; }

#endif
