/* SPDX-License-Identifier: MIT */
/* bench/molecules.h - many small graphs side by side, from random numbers or from the text files that graph
 * classification uses: GIN's (Xu et al., ICLR 2019), and TU Dortmund's. */
#ifndef CSAW_BENCH_MOLECULES_H
#define CSAW_BENCH_MOLECULES_H

#include <stdint.h>
#include <stdio.h>

typedef struct molecules { /* square matrices in COO, entries of a graph as they were read, indices from 0 in each */
    uint64_t count;
    uint64_t *row_offset, *edge_offset; /* [count + 1] */
    uint32_t *row, *col;                /* [edge_offset[count]] */
    float *weight;                      /* the same */
} molecules;

/* count graphs of least .. most vertices, uniform, with per_row entries in each row, of uniform columns; weights
 * uniform on [-1, 1). */
molecules molecules_random(uint64_t count, uint32_t least, uint32_t most, uint32_t per_row);

/* GIN: the number of graphs; for each a line "vertices label", then for each vertex "tag degree neighbour ...". Weights
 * are 1. Stops the program if the text is not such. */
molecules molecules_read_gin(FILE *file);

/* TU: indicator has the graph of every vertex, edges has lines "row, column" of vertices that count from 1 through all
 * graphs. Weights are 1. */
molecules molecules_read_tu(FILE *edges, FILE *indicator);

void molecules_free(molecules *m);

#endif
