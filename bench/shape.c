/* SPDX-License-Identifier: MIT */
/* bench/shape.c - degrees, triangles and Kolmogorov-Smirnov distances.
 *
 * Triangles are counted exactly and each once: vertices are numbered by falling degree, so the neighbours of v with a
 * smaller number are a prefix of its row, which is short even for hubs; a triangle w < u < v is found where the
 * prefixes of u and v, for an arc v -> u of v's prefix, share w (Schank, Wagner, "Finding, counting and listing all
 * triangles in large graphs", WEA 2005, algorithm forward). The local coefficient of a vertex of degree d >= 2 is its
 * triangles over d (d - 1) / 2 (Watts, Strogatz, Nature 393, 1998); the transitivity is that ratio of the sums. */
#include "bench/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

/* Adds the triangles that a vertex v closes with two earlier ones; end[v]: behind the prefix of its row. */
static void close_triangles(const csaw_csr *csr, const csaw_edge *end, csaw_vertex v, uint64_t *triangles) {
    for (csaw_edge e = csr->rowptr[v]; e < end[v]; e++) {
        const csaw_vertex u = csr->col[e];
        csaw_edge i = csr->rowptr[u], j = csr->rowptr[v];
        while (i < end[u] && j < e) {
            const csaw_vertex a = csr->col[i], b = csr->col[j];
            if (a == b) triangles[a]++, triangles[u]++, triangles[v]++;
            i += a <= b;
            j += b <= a;
        }
    }
}

static bool count_triangles(const csaw_csr *csr, uint64_t *triangles) {
    csaw_edge *end = malloc((csr->num_vertices + 1) * sizeof *end);
    if (!end) return false;
    for (csaw_vertex v = 0; v < csr->num_vertices; v++) {
        end[v] = csr->rowptr[v];
        while (end[v] < csr->rowptr[v + 1] && csr->col[end[v]] < v) end[v]++;
    }
    for (csaw_vertex v = 0; v < csr->num_vertices; v++) close_triangles(csr, end, v, triangles);
    free(end);
    return true;
}

/* csr: by falling degree, so the arrays are filled from behind. */
static void fill(const csaw_csr *csr, const uint64_t *triangles, shape *s) {
    uint64_t corners = 0; /* each triangle has three */
    double sum = 0;
    for (uint64_t i = 0; i < s->num_vertices; i++) {
        const uint64_t v = s->num_vertices - 1 - i, degree = csr->rowptr[v + 1] - csr->rowptr[v];
        const uint64_t wedges = degree < 2 ? 0 : degree * (degree - 1) / 2;
        s->degree[i] = (double)degree;
        s->clustering[i] = wedges ? (double)triangles[v] / (double)wedges : 0;
        if (wedges) s->coefficient[s->num_defined++] = s->clustering[i];
        sum += s->clustering[i];
        corners += triangles[v];
        s->num_wedges += wedges;
    }
    qsort(s->coefficient, s->num_defined, sizeof *s->coefficient, ascending);
    s->num_triangles = corners / 3;
    s->average = s->num_vertices ? sum / (double)s->num_vertices : NAN;
    s->transitivity = s->num_wedges ? (double)corners / (double)s->num_wedges : NAN;
}

csaw_status shape_of(const csaw_graph *graph, shape *out) {
    csaw_graph *ordered = NULL;
    const csaw_status status = csaw_graph_by_degree(graph, &ordered);
    if (status != CSAW_OK) return status;
    const csaw_csr csr = csaw_graph_csr(ordered);
    const uint64_t n = csr.num_vertices;
    shape s = {.num_vertices = n, .num_edges = csr.num_edges / 2};
    uint64_t *triangles = calloc(n + 1, sizeof *triangles);
    s.degree = malloc((n + 1) * sizeof *s.degree);
    s.clustering = malloc((n + 1) * sizeof *s.clustering);
    s.coefficient = malloc((n + 1) * sizeof *s.coefficient);
    const bool made = triangles && s.degree && s.clustering && s.coefficient && count_triangles(&csr, triangles);
    if (made) {
        fill(&csr, triangles, &s);
        *out = s;
    } else {
        shape_free(&s);
    }
    free(triangles);
    csaw_graph_free(ordered);
    return made ? CSAW_OK : CSAW_ENOMEM;
}

void shape_free(shape *shape) {
    free(shape->degree);
    free(shape->clustering);
    free(shape->coefficient);
    memset(shape, 0, sizeof *shape);
}

double shape_distance(const double *a, uint64_t n, const double *b, uint64_t m) {
    double most = 0;
    if (!n || !m) return NAN;
    for (uint64_t i = 0, j = 0; i < n && j < m;) {
        const double x = a[i] < b[j] ? a[i] : b[j];
        while (i < n && a[i] == x) i++;
        while (j < m && b[j] == x) j++;
        most = fmax(most, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return most;
}

/* Vertices of a smaller degree. */
static uint64_t below(const shape *shape, double degree) {
    uint64_t low = 0, high = shape->num_vertices;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (shape->degree[middle] < degree)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double shape_tail(const shape *shape, double degree) {
    if (!shape->num_vertices) return NAN;
    return (double)(shape->num_vertices - below(shape, degree)) / (double)shape->num_vertices;
}

uint64_t shape_bin(const shape *shape, double low, double high, double *degree, double *clustering) {
    const uint64_t first = below(shape, low), end = below(shape, high);
    double degrees = 0, coefficients = 0;
    for (uint64_t i = first; i < end; i++) {
        degrees += shape->degree[i];
        coefficients += shape->clustering[i];
    }
    *degree = degrees / (double)(end - first);
    *clustering = coefficients / (double)(end - first);
    return end - first;
}
