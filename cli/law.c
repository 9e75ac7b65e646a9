/* SPDX-License-Identifier: MIT */
/* cli/law.c - compares observed steps with the exact probabilities of a model, in double.
 *
 * Two tests. (1) Pearson's chi-square over contexts: of the steps from one vertex, and one prev, root or place where
 * the law looks at it, the count of each destination against count * probability; destinations expected less than 5
 * times are pooled; the sum over contexts becomes a normal deviate by Wilson and Hilferty (1931). Of a walk that comes
 * to a context again only the first step there counts: whether there is a next one depends on where that one went, and
 * the more often a walk came back, the likelier its context has enough steps to be looked at. Strong on small graphs.
 * (2) The number of steps of each kind against the sum of their probabilities over all contexts, which are martingale
 * differences, so that the deviate is normal. Strong on large graphs, where few contexts repeat. Walks that stop with
 * probability alpha have one kind, the stops: each vertex with a way on was one trial, but for the last of the longest
 * walks, which were cut off there. */
#include "law.h"

#include <math.h>
#include <stdlib.h>

#include "report.h"

typedef struct observation {
    csaw_vertex at, given, prev, next;
    uint32_t walk, depth;
} observation;

struct law {
    const model *model;
    observation *steps;
    uint64_t count, room;
    uint64_t arcs;  /* of the rows that the steps were chosen from */
    uint32_t walks; /* with a step */
    uint64_t goes, stops, longest, stops_of_longest;
    double variance[MODEL_KINDS];
    law_result result;
};

law *law_begin(const model *model) {
    law *law = allocate(1, sizeof *law);
    law->model = model;
    return law;
}

void law_step(law *law, const step *step) {
    const csaw_edge *row = law->model->csr.rowptr + step->at;
    if (law->count == LAW_MOST_STEPS || law->arcs >= LAW_MOST_ARCS) return; /* a choice by the past alone: no bias */
    law->arcs += row[1] - row[0];
    if (law->count == law->room) {
        law->room = law->room ? 2 * law->room : 4096;
        law->steps = reallocate(law->steps, law->room, sizeof *law->steps);
    }
    law->walks += step->depth == 0;
    law->steps[law->count++] = (observation){step->at,   model_given(law->model, step), step->prev, step->next,
                                             law->walks, (uint32_t)step->depth};
}

void law_end(law *law, uint64_t steps, bool dead_end) {
    law->goes += steps;
    if (dead_end) return;
    law->stops++;
    if (steps > law->longest) {
        law->longest = steps;
        law->stops_of_longest = 0;
    }
    if (steps == law->longest) law->stops_of_longest++;
}

static int by_context(const void *a, const void *b) {
    const observation *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->given != y->given) return x->given < y->given ? -1 : 1;
    if (x->prev != y->prev) return x->prev < y->prev ? -1 : 1;
    return (x->next > y->next) - (x->next < y->next);
}

static int by_visit(const void *a, const void *b) {
    const observation *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->given != y->given) return x->given < y->given ? -1 : 1;
    if (x->walk != y->walk) return x->walk < y->walk ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* Keeps the first step of each walk from each at and given; prev no longer tells contexts apart. */
static void keep_first_visits(law *law) {
    uint64_t kept = 0;
    if (law->count) qsort(law->steps, law->count, sizeof *law->steps, by_visit);
    for (uint64_t i = 0; i < law->count; i++) {
        observation *one = &law->steps[i];
        const observation *last = kept ? &law->steps[kept - 1] : NULL;
        if (last && last->at == one->at && last->given == one->given && last->walk == one->walk) continue;
        one->prev = CSAW_NONE;
        law->steps[kept++] = *one;
    }
    law->count = kept;
}

/* ---- one context: steps [count], all from the same at, given and prev, ascending by next ---- */

/* Counts and expectations of the row; returns their number. cells: [degree + 2]. */
static size_t tabulate(law *law, const observation *steps, uint64_t count, cell *cells, bool judge) {
    const size_t num_cells = model_row(law->model, steps->given, steps->at, cells);
    const bool elsewhere = num_cells && cells[num_cells - 1].next == CSAW_NONE;
    uint64_t impossible = 0;
    size_t i = 0;
    for (uint64_t s = 0; s < count; s++) {
        while (i < num_cells && cells[i].next < steps[s].next) i++;
        if (i < num_cells && cells[i].next == steps[s].next)
            cells[i].observed++;
        else if (elsewhere)
            cells[num_cells - 1].observed++;
        else
            impossible++;
    }
    for (i = 0; i < num_cells; i++) {
        if (cells[i].expected <= 0) impossible += (uint64_t)cells[i].observed;
        cells[i].expected *= (double)count;
    }
    if (judge) law->result.impossible += impossible;
    return num_cells;
}

static void add_chi_square(law_result *result, const cell *cells, size_t count) {
    cell rest = {0, 0, 0}, least = {0, 0, 0}; /* least: the kept cell with the lowest expectation, added last */
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

static void add_kinds(law *law, const observation *context, uint64_t count, const cell *cells, size_t num_cells) {
    double expected[MODEL_KINDS] = {0};
    for (size_t i = 0; i < num_cells; i++) {
        const int kind = model_kind(law->model, context->given, context->prev, context->at, cells[i].next);
        if (kind < 0) return;
        expected[kind] += cells[i].expected;
        law->result.kind[kind].observed += (uint64_t)cells[i].observed;
    }
    for (int k = 0; k < MODEL_KINDS; k++) {
        law->result.kind[k].expected += expected[k];
        law->variance[k] += expected[k] * (1 - expected[k] / (double)count);
    }
}

static void add_stops(law *law, uint64_t longest) {
    double alpha;
    if (!model_stops(law->model, &alpha)) return;
    const uint64_t stops = law->stops - (law->longest == longest ? law->stops_of_longest : 0);
    const double trials = (double)(law->goes + stops);
    law->result.kind[0].observed = stops;
    law->result.kind[0].expected = trials * alpha;
    law->variance[0] = trials * alpha * (1 - alpha);
}

/* ---- all of them ---- */

static void each_context(law *law, bool kinds) {
    const csaw_csr *csr = &law->model->csr;
    uint64_t largest = 0, end;
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        uint64_t degree = csr->rowptr[v + 1] - csr->rowptr[v];
        if (degree > largest) largest = degree;
    }
    cell *cells = allocate(largest + 2, sizeof *cells);
    if (law->count) qsort(law->steps, law->count, sizeof *law->steps, by_context);
    for (uint64_t first = 0; first < law->count; first = end) {
        const observation *steps = law->steps + first;
        for (end = first + 1; end < law->count; end++) {
            const observation *other = law->steps + end;
            if (other->at != steps->at || other->given != steps->given || other->prev != steps->prev) break;
        }
        if (!kinds && end - first < 10) continue; /* fewer than two destinations expected 5 times: nothing to add */
        size_t num_cells = tabulate(law, steps, end - first, cells, kinds);
        if (kinds)
            add_kinds(law, steps, end - first, cells, num_cells);
        else
            add_chi_square(&law->result, cells, num_cells);
    }
    free(cells);
}

law_result law_finish(law *law, uint64_t longest) {
    law_result *result = &law->result;
    result->steps = law->count;
    each_context(law, true);
    keep_first_visits(law);
    each_context(law, false);
    add_stops(law, longest);
    if (result->degrees_of_freedom) {
        double df = (double)result->degrees_of_freedom, ninth = 2 / (9 * df);
        result->z = (cbrt(result->chi_square / df) - (1 - ninth)) / sqrt(ninth);
    }
    for (int k = 0; k < MODEL_KINDS; k++)
        if (law->variance[k] >= 10)
            result->kind[k].z = ((double)result->kind[k].observed - result->kind[k].expected) / sqrt(law->variance[k]);
    law_result copy = *result;
    free(law->steps);
    free(law);
    return copy;
}

bool law_holds(const law_result *result) {
    if (result->impossible || fabs(result->z) > LAW_Z) return false; /* far below is too good to be drawn */
    for (int k = 0; k < MODEL_KINDS; k++)
        if (fabs(result->kind[k].z) > LAW_Z) return false;
    return true;
}
