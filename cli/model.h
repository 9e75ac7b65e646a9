/* SPDX-License-Identifier: MIT */
/* cli/model.h - what csaw verify knows of the built-in samplers: which steps each may take, and how probable each is.
 * From the laws alone; shares nothing with the samplers. */
#ifndef CSAW_CLI_MODEL_H
#define CSAW_CLI_MODEL_H

#include <csaw/csaw.h>
#include <stdio.h>

#include "times.h"

enum { MODEL_KINDS = 3 };

typedef struct step {
    csaw_vertex root, prev, at, next; /* prev: CSAW_NONE on the first step */
    uint64_t depth;                   /* 0 on the first step */
} step;

typedef struct cell {
    csaw_vertex next; /* CSAW_NONE: every vertex without a cell of its own */
    double observed, expected;
} cell;

typedef struct model {
    csaw_csr csr;       /* borrowed */
    const void *params; /* borrowed */
    const struct traits *traits;
} model;

/* Of a built-in sampler; false if it is not known here. */
/* Whether there is one of this sampler. */
bool model_knows(const csaw_sampler *sampler);
bool model_begin(model *model, const csaw_csr *csr, const csaw_sampler *sampler, const void *params);
/* NULL if the law can be tested; else what is checked in its place. */
const char *model_without_law(const model *model);
/* Is the sampler one that stops with probability *alpha before each step? */
bool model_stops(const model *model, double *alpha);
/* Names of up to MODEL_KINDS kinds of step that are counted over the whole graph; NULL = no more. */
const char *model_kind_name(const model *model, int kind);
int model_kind(const model *model, csaw_vertex given, csaw_vertex prev, csaw_vertex at, csaw_vertex next);

/* What the probabilities look at beside the vertex: prev, the root, a place in a sequence, or always 0. */
csaw_vertex model_given(const model *model, const step *step);
/* Probabilities of where a walk goes from `at`, ascending by next, to expected; all 0 at a dead end. Returns their
 * number, at most the degree + 2. */
size_t model_row(const model *model, csaw_vertex given, csaw_vertex at, cell *cells);

/* Writes what is wrong with a step to `wrong`; false if nothing is. times: of this walk so far; follows along. */
bool model_refuses(const model *model, const step *step, times *times, char *wrong, size_t room);
/* Is there no way on from step->at, by its arcs? */
bool model_dead_end(const model *model, const step *step);
/* May steps leave the arcs? */
bool model_leaves_arcs(const model *model);
/* May a walk that got as far as step->at end there? */
bool model_may_end(const model *model, const step *step, const times *times);

#endif
