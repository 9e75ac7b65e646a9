/* SPDX-License-Identifier: MIT */
/* cli/law.c - compares observed steps with exact probabilities, computed here in double from the law alone and sharing
 * nothing with the samplers.
 *
 * Two tests. (1) Pearson's chi-square over contexts: of the steps from one context (prev, at), or at alone for the
 * uniform walk, the count of each destination against count * probability; destinations expected less than 5 times are
 * pooled; the sum over contexts becomes a normal deviate by Wilson and Hilferty (1931). Strong on small graphs. (2) The
 * number of steps back, near and away against the sum of their probabilities over all contexts, which are martingale
 * differences, so that the deviate is normal. Strong on large graphs, where few contexts repeat. */
#include "law.h"

#include <math.h>
#include <stdlib.h>

#include "report.h"

typedef struct observation {
    uint64_t context; /* the arc into at; or num_edges + at */
    csaw_vertex prev, next;
} observation;

typedef struct cell {
    double observed, expected;
} cell;

struct law {
    csaw_csr csr;
    bool uniform;
    double factor[LAW_KINDS]; /* 1/p, 1, 1/q */
    observation *steps;
    uint64_t count, room;
    double variance[LAW_KINDS];
    law_result result;
};

csaw_edge find_arc(const csaw_csr *csr, csaw_vertex from, csaw_vertex to) {
    csaw_edge low = csr->rowptr[from], high = csr->rowptr[from + 1];
    while (low < high) {
        csaw_edge middle = low + (high - low) / 2;
        if (csr->col[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < csr->rowptr[from + 1] && csr->col[low] == to ? low : CSAW_NO_EDGE;
}

law *law_begin(const csaw_csr *csr, bool uniform, double p, double q) {
    law *law = allocate(1, sizeof *law);
    law->csr = *csr;
    law->uniform = uniform;
    law->factor[LAW_BACK] = 1 / p;
    law->factor[LAW_NEAR] = 1;
    law->factor[LAW_AWAY] = 1 / q;
    return law;
}

void law_step(law *law, csaw_vertex at, csaw_edge came, csaw_vertex prev, csaw_vertex next) {
    if (law->count == LAW_MOST_STEPS) return;
    if (law->count == law->room) {
        law->room = law->room ? 2 * law->room : 4096;
        law->steps = reallocate(law->steps, law->room, sizeof *law->steps);
    }
    law->steps[law->count++] = (observation){came == CSAW_NO_EDGE ? law->csr.num_edges + at : came,
                                             came == CSAW_NO_EDGE ? CSAW_NONE : prev, next};
}

static double weight_of(const law *law, csaw_edge e) {
    return law->uniform || !law->csr.weight ? 1 : (double)law->csr.weight[e];
}

bool law_dead_end(const law *law, csaw_vertex v) {
    for (csaw_edge e = law->csr.rowptr[v]; e < law->csr.rowptr[v + 1]; e++)
        if (weight_of(law, e) > 0) return false;
    return true;
}

static int kind_of(const law *law, csaw_vertex prev, csaw_vertex next) {
    if (next == prev) return LAW_BACK;
    return find_arc(&law->csr, prev, next) != CSAW_NO_EDGE ? LAW_NEAR : LAW_AWAY;
}

static double bias_of(const law *law, csaw_vertex prev, csaw_edge e) {
    double weight = weight_of(law, e);
    if (law->uniform || prev == CSAW_NONE) return weight;
    return weight * law->factor[kind_of(law, prev, law->csr.col[e])];
}

static csaw_vertex at_of(const law *law, uint64_t context) {
    return context < law->csr.num_edges ? law->csr.col[context] : (csaw_vertex)(context - law->csr.num_edges);
}

static int compare(const void *a, const void *b) {
    const observation *x = a, *y = b;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    return (x->next > y->next) - (x->next < y->next);
}

/* ---- one context: steps [count], all from the same (prev, at), ascending by next ---- */

/* The destinations of the row with their counts and probabilities; returns their number. cells: [degree]. */
static size_t tabulate(law *law, const observation *steps, uint64_t count, cell *cells, csaw_vertex *next) {
    const csaw_csr *csr = &law->csr;
    csaw_vertex at = at_of(law, steps[0].context);
    size_t num_cells = 0;
    uint64_t seen = 0;
    double total = 0;
    for (csaw_edge e = csr->rowptr[at]; e < csr->rowptr[at + 1]; e++) {
        double bias = bias_of(law, steps[0].prev, e);
        total += bias;
        if (num_cells && next[num_cells - 1] == csr->col[e]) {
            cells[num_cells - 1].expected += bias;
            continue;
        }
        uint64_t first = seen;
        while (seen < count && steps[seen].next == csr->col[e]) seen++;
        next[num_cells] = csr->col[e];
        cells[num_cells++] = (cell){(double)(seen - first), bias};
    }
    for (size_t i = 0; i < num_cells; i++) {
        cells[i].expected = total > 0 ? cells[i].expected / total * (double)count : 0;
        if (cells[i].expected <= 0) law->result.impossible += (uint64_t)cells[i].observed;
    }
    return num_cells;
}

static void add_chi_square(law_result *result, const cell *cells, size_t count) {
    cell rest = {0, 0}, least = {0, 0}; /* least: the kept cell with the lowest expectation, added last */
    uint64_t kept = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (cells[i].expected < 5) {
            rest.observed += cells[i].observed;
            rest.expected += cells[i].expected;
            continue;
        }
        cell larger = cells[i];
        if (kept++ == 0 || cells[i].expected < least.expected) {
            larger = least;
            least = cells[i];
        }
        if (larger.expected > 0) sum += pow(larger.observed - larger.expected, 2) / larger.expected;
    }
    if (rest.expected >= 5) {
        kept++;
        sum += pow(rest.observed - rest.expected, 2) / rest.expected;
    } else {
        least.observed += rest.observed;
        least.expected += rest.expected;
    }
    if (kept < 2) return;
    result->chi_square += sum + pow(least.observed - least.expected, 2) / least.expected;
    result->degrees_of_freedom += kept - 1;
}

static void add_kinds(law *law, csaw_vertex prev, uint64_t count, const cell *cells, const csaw_vertex *next,
                      size_t num_cells) {
    double expected[LAW_KINDS] = {0};
    if (prev == CSAW_NONE) return;
    for (size_t i = 0; i < num_cells; i++) {
        int kind = kind_of(law, prev, next[i]);
        expected[kind] += cells[i].expected;
        law->result.kind[kind].observed += (uint64_t)cells[i].observed;
    }
    for (int k = 0; k < LAW_KINDS; k++) {
        law->result.kind[k].expected += expected[k];
        law->variance[k] += expected[k] * (1 - expected[k] / (double)count);
    }
}

/* ---- all of them ---- */

static void each_context(law *law, bool chi_square, bool kinds) {
    uint64_t largest = 0, end;
    for (uint64_t v = 0; v < law->csr.num_vertices; v++) {
        uint64_t degree = law->csr.rowptr[v + 1] - law->csr.rowptr[v];
        if (degree > largest) largest = degree;
    }
    cell *cells = allocate(largest, sizeof *cells);
    csaw_vertex *next = allocate(largest, sizeof *next);
    for (uint64_t first = 0; first < law->count; first = end) {
        const observation *steps = law->steps + first;
        for (end = first + 1; end < law->count && law->steps[end].context == steps->context;) end++;
        size_t num_cells = tabulate(law, steps, end - first, cells, next);
        if (chi_square) add_chi_square(&law->result, cells, num_cells);
        if (kinds) add_kinds(law, steps->prev, end - first, cells, next, num_cells);
    }
    free(cells);
    free(next);
}

static void sort_steps(law *law) {
    if (law->count) qsort(law->steps, law->count, sizeof *law->steps, compare);
}

law_result law_finish(law *law) {
    law_result *result = &law->result;
    result->steps = law->count;
    sort_steps(law);
    each_context(law, !law->uniform, true);
    if (law->uniform) { /* the uniform walk forgets prev: fewer contexts, each with more steps */
        for (uint64_t i = 0; i < law->count; i++) {
            law->steps[i].context = law->csr.num_edges + at_of(law, law->steps[i].context);
            law->steps[i].prev = CSAW_NONE;
        }
        sort_steps(law);
        each_context(law, true, false);
    }
    if (result->degrees_of_freedom) {
        double df = (double)result->degrees_of_freedom, ninth = 2 / (9 * df);
        result->z = (cbrt(result->chi_square / df) - (1 - ninth)) / sqrt(ninth);
    }
    for (int k = 0; k < LAW_KINDS; k++)
        if (law->variance[k] >= 10)
            result->kind[k].z = ((double)result->kind[k].observed - result->kind[k].expected) / sqrt(law->variance[k]);
    law_result copy = *result;
    free(law->steps);
    free(law);
    return copy;
}

bool law_holds(const law_result *result) {
    if (result->impossible || result->z > LAW_Z) return false;
    for (int k = 0; k < LAW_KINDS; k++)
        if (fabs(result->kind[k].z) > LAW_Z) return false;
    return true;
}
