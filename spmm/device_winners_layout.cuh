/* SPDX-License-Identifier: MIT */
/* spmm/device_winners_layout.cuh - how the work of spmm/device_winners.cu is laid out. */
#ifndef CSAW_SPMM_DEVICE_WINNERS_LAYOUT_CUH
#define CSAW_SPMM_DEVICE_WINNERS_LAYOUT_CUH

#include "spmm/device_stretch_layout.cuh"

enum {
    CSAW__WON_VECTOR = 4,        /* elements that a lane loads of an edge, at most; of 16 bits too, as measured */
    CSAW__WON_LANES = 8,         /* that find the winners of a row */
    CSAW__WON_HELD = 8,          /* entries of arg of such a lane, at least */
    CSAW__WON_ROOM = 1 << 10,    /* bytes of shared memory of a warp that does, */
    CSAW__WON_WINDOW = 128,      /* or of so many edges */
    CSAW__WON_KEPT = 2 * 32,     /* edges that a warp keeps, of those that won, before it adds what they bring */
    CSAW__WON_PLACES = 256,      /* of a stretch, at most */
    CSAW__WON_LEAST_PLACES = 64, /* where a GPU has room for more stretches than there are */
    CSAW__WON_DEGREE = 64        /* mean degree up to which words are no more bytes than arg is */
};
static_assert(CSAW__WON_PLACES <= CSAW_CHUNK && CSAW__WON_PLACES % CSAW__STRETCH_GRAIN == 0 &&
                  CSAW__WON_LEAST_PLACES % CSAW__STRETCH_GRAIN == 0,
              "as of other stretches");

typedef struct csaw__winners {
    csaw__product turned;    /* rows are those of the transpose, as the deal has them; x is dy, y is dx */
    csaw__stretch_deal deal; /* shifted: not used */
    uint64_t rows;           /* of the matrix */
    const uint64_t *rowptr;  /* [rows + 1] */
    const csaw_edge *arg;    /* [rows, columns of dy] */
    const csaw_edge *edge;   /* [num_edges] of the matrix, by the transpose's edges */
    bool weights;            /* stand in the transpose's order, not in the matrix's */
    void *won;               /* [slices of a launch, num_edges, words] bit c of word i: arg names the edge in column
                              * 32 i + c of the slice */
    uint32_t bytes;          /* of an edge's words of a slice: words of 4 bytes, or one of 2 */
    uint64_t find_blocks;    /* of a slice, that find winners */
    uint64_t at_once;        /* slices of a launch */
} csaw__winners;

/* Work memory for words: what arg has bytes, or CSAW__ROOM_BYTES; more only if one slice does not fit. */
static inline uint64_t csaw__won_room(const csaw__winners *w) {
    const uint64_t of_arg = w->rows * w->turned.y.cols * sizeof *w->arg;
    return of_arg > CSAW__ROOM_BYTES ? of_arg : CSAW__ROOM_BYTES;
}

/* By bytes of an edge's words: rows of a lane that finds winners, and of a warp; edges that a warp has shared memory
 * for. That is little, since the kernel that gathers begins on the same multiprocessor, and then has what is left as
 * its L1 cache. */
static __host__ __device__ constexpr uint32_t csaw__won_rows_of(uint32_t bytes) {
    const uint32_t of_row = bytes * 8 / CSAW__WON_LANES;
    return of_row < CSAW__WON_HELD ? CSAW__WON_HELD / of_row : 1;
}
static __host__ __device__ constexpr uint32_t csaw__won_rows_of_warp(uint32_t bytes) {
    return csaw__won_rows_of(bytes) * (32 / CSAW__WON_LANES);
}
static __host__ __device__ constexpr uint32_t csaw__won_window_of(uint32_t bytes) {
    return CSAW__WON_ROOM / bytes < CSAW__WON_WINDOW ? uint32_t{CSAW__WON_WINDOW} : CSAW__WON_ROOM / bytes;
}

/* By elements that a lane loads of an edge. */
static __host__ __device__ constexpr csaw__stretch_shape csaw__won_shape_of(uint32_t vector) {
    return csaw__stretch_shape{8, vector == 1 ? 10 : vector == 2 ? 8 : 6};
}

/* Rows and edges of a stretch: as many as let all stretches that can be under way on a GPU at once end at the same
 * time, by the fewest turns of such; as if all slices were of one launch. */
static inline uint32_t csaw__won_places(const csaw__product *p, uint64_t multiprocessors) {
    const uint64_t blocks = csaw__won_shape_of(p->vector).blocks * multiprocessors, grain = CSAW__STRETCH_GRAIN;
    const uint64_t warps = blocks * (CSAW__STRETCH_THREADS / 32), most = warps * CSAW__WON_PLACES;
    const uint64_t all = (p->rows + p->num_edges) * p->slices_of_head * p->heads,
                   turns = most ? (all + most - 1) / most : 0;
    if (!turns) return CSAW__WON_PLACES;
    const uint64_t places = (all + warps * turns * grain - 1) / (warps * turns * grain) * grain;
    return places < CSAW__WON_LEAST_PLACES ? uint32_t{CSAW__WON_LEAST_PLACES} : (uint32_t)places;
}

/* Fills in the layout, where rows, columns and heads stand. Slices are those of stretches, or narrower, so that words
 * of all edges fit work memory. known: the long rows, by a plan; NULL = not known. */
static inline void csaw__winners_lay_out(csaw__winners *w, const csaw__long_rows *known) {
    csaw__product *const p = &w->turned;
    const uint64_t most = p->num_edges ? csaw__won_room(w) / p->num_edges : UINT64_MAX; /* bytes of an edge */
    csaw__lay_vectors(p);
    if (p->vector > CSAW__WON_VECTOR) p->vector = CSAW__WON_VECTOR;
    p->reduce = CSAW_SUM;
    while (p->vector > 1 && p->vector * sizeof(uint32_t) > most) p->vector /= 2;
    csaw__lay_stretches(p, known, 0);
    w->bytes = p->columns <= 16 ? 2 : p->vector * (uint32_t)sizeof(uint32_t);
    w->deal.places = csaw__won_places(p, w->deal.multiprocessors);
    csaw__deal_stretches(p, w->deal.places);
    const uint64_t slices = p->slices_of_head * p->heads,
                   of_block = csaw__won_rows_of_warp(w->bytes) * (CSAW__THREADS / 32);
    w->find_blocks = w->rows ? (w->rows + of_block - 1) / of_block : 1; /* what came before ends before it does */
    const uint64_t partial = csaw__partial_bytes(p);
    const uint64_t of_partial = partial ? CSAW__ROOM_BYTES / partial : slices;
    w->at_once = most / w->bytes;
    if (w->at_once > of_partial) w->at_once = of_partial;
    w->at_once = w->at_once < 1 ? 1 : w->at_once < slices ? w->at_once : slices;
}

#endif
