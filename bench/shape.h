/* SPDX-License-Identifier: MIT */
/* bench/shape.h - the shape of an undirected graph: its degrees, its local clustering coefficients, and how far those
 * of two graphs lie apart. */
#ifndef CSAW_BENCH_SHAPE_H
#define CSAW_BENCH_SHAPE_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shape {
    uint64_t num_vertices, num_edges; /* an edge is two arcs */
    uint64_t num_triangles, num_wedges;
    double average;       /* of the local coefficients of all vertices, 0 where the degree is below 2; NaN if empty */
    double transitivity;  /* 3 triangles / wedges; NaN without wedges */
    double *degree;       /* [num_vertices] ascending */
    double *clustering;   /* [num_vertices] local coefficient of the same vertex, 0 where the degree is below 2 */
    uint64_t num_defined; /* vertices of degree 2 and more: the coefficient is defined for them alone */
    double *coefficient;  /* [num_defined] theirs, ascending */
} shape;

/* The graph is symmetric, without loops and parallel arcs. */
csaw_status shape_of(const csaw_graph *graph, shape *out);
void shape_free(shape *shape);

/* Kolmogorov-Smirnov: the largest difference of two empirical distribution functions. a: [n] ascending, b: [m]
 * ascending. NaN if one of them is empty. */
double shape_distance(const double *a, uint64_t n, const double *b, uint64_t m);

/* Share of the vertices that have at least this degree; NaN if there are none. */
double shape_tail(const shape *shape, double degree);

/* Mean degree and mean local coefficient of the vertices with low <= degree < high, as many as it returns; NaN if 0. */
uint64_t shape_bin(const shape *shape, double low, double high, double *degree, double *clustering);

#ifdef __cplusplus
}
#endif
#endif
