/* SPDX-License-Identifier: MIT */
/* spmm/device_auto.h - CSAW_SPMM_AUTO: one table, fitted to what was measured on an H200 and an H100, from columns,
 * storage, edges and lengths of rows to a kernel. A line names the report in docs/measured that it is of; those without
 * one follow from the lines beside them. The choice decides no bit of a result. */
#ifndef CSAW_SPMM_DEVICE_AUTO_H
#define CSAW_SPMM_DEVICE_AUTO_H

#include "spmm/device_product.h"
#include "spmm/device_stretch_layout.cuh"

enum {
    CSAW__LISTED_EDGES = 1 << 20, /* up to which stretches are faster than units that a plan lists by length */
    CSAW__SINGLE = 1              /* in place of bits, where lanes load single elements */
};

typedef struct csaw__auto_facts { /* of a product */
    uint64_t bits;                /* of an element of x, or CSAW__SINGLE */
    uint64_t vectors;             /* of a head's columns */
    uint64_t edges, degree; /* edges: of narrow heads, each of which takes as long, times heads; degree: edges of a
                             * row on average */
    uint64_t lane_bytes;    /* of x in the vector of a lane, of all its rows */
    uint64_t l2_bytes;
    bool extreme;   /* MAX or MIN */
    bool listed;    /* a plan lists units of work by length */
    bool moved;     /* a plan brought rows near that name the same columns, for stretches */
    bool stretches; /* it can be done by them */
} csaw__auto_facts;

typedef struct csaw__auto_way {
    csaw_spmm_method method;
    bool resident; /* SUBWARP8 in 16 bits by blocks that stay on their multiprocessors (spmm/device_reduce.cuh); units
                    * are laid out alike */
} csaw__auto_way;

typedef enum csaw__auto_plan { CSAW__ANY, CSAW__LISTED, CSAW__MOVED } csaw__auto_plan;
typedef enum csaw__auto_of { CSAW__OF_ANY, CSAW__OF_SUMS, CSAW__OF_EXTREMES } csaw__auto_of; /* sums: means too */

typedef struct csaw__auto_line { /* what it asks of the facts; 0 = anything */
    csaw__auto_of of;
    uint64_t bits, least, most; /* least, most: vectors */
    uint64_t least_degree, most_edges;
    uint64_t fits, over; /* lanes whose slice of x fits the L2 cache, and whose does not: then of a whole number of
                          * slices */
    csaw__auto_plan plan;
    csaw__auto_way way;
} csaw__auto_line;

/* Whether x in the columns of so many lanes, or in all that there are, fits the L2 cache. */
static inline bool csaw__auto_fits(const csaw__auto_facts *of, uint64_t lanes) {
    return (of->vectors < lanes ? of->vectors : lanes) * of->lane_bytes <= of->l2_bytes;
}

/* The first line that fits. */
static inline csaw__auto_way csaw__auto_choice(const csaw__auto_facts *of) {
    static const csaw__auto_line lines[] = {
        /* of, bits, vectors from, to, degree from, edges to, lanes whose slice fits, and does not, of a plan */
        /* 2026-11-29-gpu-28, sums: 7 to 602 columns of single elements, 0.1 to 1.2 million edges, 0.39 to 0.88 of the
         * best of the others; 23, of 20 million 0.71. By lists, 1.8 to 54 million edges, 47 to 602 columns, 0.49 to
         * 0.98 of CRC, 1.00 to 1.07 of the best of all. Extremes: 2026-11-29-gpu-30, up to half a million edges, 7 to
         * 47 columns, 0.63 to 0.98 of the best of the others; listed ones of 0.9 to 21 million, 7 by eight lanes 0.71
         * to 1.13, 23 by CRC 0.80 to 1.11, 47 by CWM2 0.75 to 0.92 */
        {CSAW__OF_SUMS, CSAW__SINGLE, 0, 0, 1, CSAW__LISTED_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_EXTREMES, CSAW__SINGLE, 0, 0, 1, 1 << 19, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_EXTREMES, CSAW__SINGLE, 17, 32, CSAW__OFTEN, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_CRC, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 17, 32, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 0, 8, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP8, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 0, 16, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP16, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 33, 64, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_CWM2, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 65, 0, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_CWM4, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 0, 0, 1, CSAW__STRETCH_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        /* of less than an edge a row: sums of 0.1 million take 0.93 to 1.92 of it by CWM2 and CWM4 */
        {CSAW__OF_ANY, CSAW__SINGLE, 33, 0, 0, CSAW__LISTED_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_CRC, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 33, 64, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_CWM2, false}},
        {CSAW__OF_ANY, CSAW__SINGLE, 65, 0, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_CWM4, false}},
        /* 2026-11-29-gpu-30, extremes of 128 and 256 columns: R-MAT 13, 0.1 million edges, 0.82 to 0.84 of the best of
         * the others; of 0.4 to 21 million by CRC 0.75 to 0.99 */
        {CSAW__OF_EXTREMES, 0, 17, 64, 1, 1 << 18, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_EXTREMES, 0, 17, 0, CSAW__OFTEN, 1 << 25, 0, 0, CSAW__LISTED, {CSAW_SPMM_CRC, false}},
        /* 2026-11-26-gpu-16, sums: 64, 128 and 256 columns, 0.5 to 1.2 million edges, rows of 6 and more, 0.51 to 1.01
         * of the best of the others; reddit and products, of 110 million and more, 0.98 to 1.35 of what AUTO takes.
         * 2026-11-27-gpu-20: of 1.9 and 3.3 edges a row 0.46 to 0.95; of fewer than one up to 1.34. 2026-11-29-gpu-28:
         * 4 to 32 columns, 0.1 to 1.2 million edges, 0.38 to 0.86. 2026-11-29-gpu-30, extremes: 0.1 to 2.1 million
         * edges, 16 to 256 columns, 0.47 to 1.14 */
        {CSAW__OF_EXTREMES, 32, 0, 64, 1, 1 << 19, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_SUMS, 32, 0, 64, 1, CSAW__LISTED_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_ANY, 16, 0, 32, 1, CSAW__LISTED_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        /* 2026-11-28-gpu-27: communities of 150, 1.3 million edges, 0.81 to 0.99 of SUBWARP16 and 8 of listed units, of
         * 64 columns in 16 bits 1.20 */
        {CSAW__OF_SUMS, 32, 9, 64, 1, CSAW__STRETCH_EDGES, 0, 0, CSAW__MOVED, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_SUMS, 16, 9, 32, 1, CSAW__STRETCH_EDGES, 0, 0, CSAW__MOVED, {CSAW_SPMM_STRETCHES, false}},
        /* 2026-11-28-gpu-27: samples of reddit, their gradients, R-MAT, parts of reddit and products, 1.3 to 120
         * million edges, 64, 128 and 256 columns, over the best of all methods 1.00 to 1.11; before, 1.00 to 1.50.
         * 2026-11-29-gpu-30, extremes of 1.8 to 123 million edges, 0.76 to 1.00 */
        {CSAW__OF_EXTREMES, 16, 5, 8, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP8, false}},
        {CSAW__OF_SUMS, 16, 5, 8, 0, 1 << 26, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP8, false}},
        /* 2026-11-29-gpu-28: 4 to 16 columns of float32 and to 32 of 16 bits, 1.8 million edges, 0.87 to 0.92 of
         * SUBWARP4; 16 to 21 million 0.94 to 1.41. 24 and 32 of float32: the best */
        {CSAW__OF_ANY, 0, 0, 4, 0, 1 << 21, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP8, false}},
        {CSAW__OF_ANY, 0, 0, 4, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP4, false}},
        {CSAW__OF_ANY, 32, 0, 8, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP8, false}},
        {CSAW__OF_SUMS, 32, 9, 0, 0, 0, 8, 16, CSAW__LISTED, {CSAW_SPMM_SUBWARP8, false}},
        {CSAW__OF_ANY, 32, 9, 0, 0, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP16, false}},
        {CSAW__OF_ANY, 16, 9, 0, CSAW__OFTEN, 0, 0, 0, CSAW__LISTED, {CSAW_SPMM_SUBWARP16, false}},
        /* see stretches above; 2026-11-29-gpu-28: 4 to 32 columns, 2.1 million edges, 0.60 to 0.81 */
        {CSAW__OF_ANY, 32, 0, 64, 1, CSAW__STRETCH_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_ANY, 16, 0, 32, 1, CSAW__STRETCH_EDGES, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        /* 2026-11-29-gpu-30, extremes without a plan, 20 million edges: float32 0.81 to 1.07 of the best of the others,
           16 and 32 columns of float16 0.79 to 0.86 */
        {CSAW__OF_EXTREMES, 32, 9, 64, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_EXTREMES, 16, 0, 4, 2 * CSAW__OFTEN, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP4, false}},
        {CSAW__OF_EXTREMES, 16, 0, 4, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        /* 2026-11-28-gpu-23, H100: gradients of samples of reddit 0.69 to 0.98; R-MAT and parts of reddit and products,
         * 5 to 37 million edges, 64 and 128 columns, 0.53 to 1.00 of what AUTO took; 256 columns 0.75 to 0.87 at 17 to
         * 29 edges a row, 0.93 to 1.03 of CRC at more; of 54 to 61 million edges 0.96 to 1.06 */
        {CSAW__OF_ANY, 16, 5, 16, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        {CSAW__OF_ANY, 16, 17, 32, CSAW__OFTEN, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_CRC, false}},
        {CSAW__OF_ANY, 16, 17, 32, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        /* 2026-11-27-gpu-20, H100: reddit's x of 64 columns, of which the cache holds half; sampled, 15 and 57 million
         * edges, products and gradients, 0.76 to 0.99 of SUBWARP16, 110 million 1.01; both by blocks that stay, which
         * take as long as those that end since gpu-27 */
        {CSAW__OF_SUMS, 32, 9, 16, CSAW__OFTEN, 1 << 26, 8, 16, CSAW__ANY, {CSAW_SPMM_SUBWARP8, false}},
        /* docs/aggregation.md, "What AUTO takes": 64 columns of 16 bits, reddit 0.91 of SUBWARP8, products 0.79; longer
         * on arxiv, of short rows. 2026-11-28-gpu-27: reddit 0.96, without a plan 0.87 */
        {CSAW__OF_SUMS, 16, 5, 8, CSAW__OFTEN, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP8, true}},
        {CSAW__OF_ANY, 32, 9, 16, CSAW__OFTEN, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP16, false}},
        /* 2026-11-28-gpu-23: 16 to 25 million edges, 17 to 29 a row, 64, 128 and 256 columns, 0.75 to 0.94; at 42 and
         * more 0.83 to 1.29 */
        {CSAW__OF_ANY, 32, 9, 16, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}},
        /* up to half a warp: the narrowest with room for all columns */
        {CSAW__OF_ANY, 0, 0, 4, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP4, false}},
        /* 2026-11-23-gpu-6: 64 columns of 16 bits, the best on reddit, products and arxiv */
        {CSAW__OF_ANY, 0, 0, 8, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP8, false}},
        /* 2026-11-23-gpu-6: 64 columns of float32, likewise */
        {CSAW__OF_ANY, 0, 0, 16, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP16, false}},
        /* x is read often, and what a warp reads of it stays in the cache: narrower slices would read edges again */
        {CSAW__OF_ANY, 32, 0, 0, CSAW__OFTEN, 0, 32, 0, CSAW__ANY, {CSAW_SPMM_CRC, false}},
        /* 2026-11-27-gpu-20, H100: 256 columns of float32, reddit 16.8 ms (SUBWARP16 17.4), 128 8.39 (8.69) */
        {CSAW__OF_SUMS, 32, 0, 0, CSAW__OFTEN, 0, 8, 16, CSAW__ANY, {CSAW_SPMM_SUBWARP8, false}},
        /* 2026-11-23-gpu-6: 256 columns of float32, reddit 14.3 ms (CRC 16.0), products 27.4 (27.7) */
        {CSAW__OF_ANY, 32, 0, 0, CSAW__OFTEN, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_SUBWARP16, false}},
        {CSAW__OF_ANY, 32, 17, 64, 1, 1 << 25, 0, 0, CSAW__ANY, {CSAW_SPMM_STRETCHES, false}}, /* see 9 to 16 vectors */
        /* 2026-11-23-gpu-6: 256 columns of float32, arxiv 0.303 ms (CRC 0.350): edges are read once for two warps' */
        {CSAW__OF_ANY, 32, 64, 0, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_CWM2, false}},
        /* 2026-11-23-gpu-6: 256 columns of 16 bits, reddit 8.79 and 8.63 ms (SUBWARP16 9.20 and 8.84), products 14.5
         * and 14.4 (15.5 and 15.2), arxiv 0.242 and 0.235 (0.263 and 0.256) */
        {CSAW__OF_ANY, 0, 0, 0, 0, 0, 0, 0, CSAW__ANY, {CSAW_SPMM_CRC, false}},
    };
    const csaw__auto_line *line = lines;
    while (line->of == (of->extreme ? CSAW__OF_SUMS : CSAW__OF_EXTREMES) || (line->bits && of->bits != line->bits) ||
           of->vectors < line->least || (line->most && of->vectors > line->most) || of->degree < line->least_degree ||
           (line->most_edges && of->edges > line->most_edges) || (line->fits && !csaw__auto_fits(of, line->fits)) ||
           (line->over && (of->vectors % line->fits || csaw__auto_fits(of, line->over))) ||
           (line->plan && !(line->plan == CSAW__LISTED ? of->listed : of->moved)) ||
           (line->way.method == CSAW_SPMM_STRETCHES && !of->stretches))
        line++;
    return line->way;
}

/* Of a product whose columns and vector are laid out, and its units if they are listed. moved: a plan did so. */
static inline csaw__auto_way csaw__auto_way_of(const csaw__product *p, bool moved, uint64_t l2_bytes) {
    const uint64_t bits = p->x.dtype == CSAW_F32 ? 32 : 16;
    csaw__auto_facts of;
    of.bits = p->vector > 1 ? bits : (uint64_t)CSAW__SINGLE;
    of.vectors = (p->columns + p->vector - 1) / p->vector;
    const bool narrow = p->vector == 1 || of.vectors <= (bits == 32 ? 8 : 4); /* less than half a warp loads at once */
    of.edges = p->num_edges * (narrow ? p->heads : 1);
    of.degree = p->rows ? p->num_edges / p->rows : 0;
    of.lane_bytes = p->x.rows * p->vector * (bits / 8);
    of.l2_bytes = l2_bytes;
    of.extreme = csaw__is_extreme(p->reduce);
    of.listed = p->units != NULL;
    of.moved = moved;
    of.stretches = csaw__takes_stretches(p);
    return csaw__auto_choice(&of);
}

#endif
