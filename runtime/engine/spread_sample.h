/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_sample.h - samples on a graph that is split over ranks: what a run keeps. */
#ifndef CSAW_ENGINE_SPREAD_SAMPLE_H
#define CSAW_ENGINE_SPREAD_SAMPLE_H

#include "runtime/engine/sampling.h"
#include "runtime/engine/spread.h"

/* A vertex whose row is to be expanded where it is: all that its hooks may look at. */
typedef struct csaw__entry_message {
    uint64_t head;           /* number: of the home's frontier */
    uint64_t instance_depth; /* instance << 24 | depth */
    csaw_vertex at, root;
    uint32_t place;
    uint32_t unused;
    uint64_t user[4]; /* as many as the sampler has */
} csaw__entry_message;

/* A row that is wanted. */
typedef struct csaw__wanted_message {
    uint64_t head; /* number: of the home's rows */
    csaw_vertex at;
    uint32_t unused;
} csaw__wanted_message;

/* A row at home; arrays that the graph has not are NULL. */
typedef struct csaw__home_row {
    csaw_vertex at;
    uint32_t degree, came;
    uint64_t first; /* of its arcs, in the arrays */
    csaw_edge first_arc;
    csaw__row_bias bias;
} csaw__home_row;

typedef struct csaw__home_rows {
    csaw__home_row *row; /* [count], ascending by at */
    uint64_t count, arcs;
    csaw_vertex *col; /* [arcs], as all below */
    float *weight;
    uint32_t *type;
    int64_t *time;
    csaw__alias *alias;
} csaw__home_rows;

typedef struct csaw__waiting_request { /* of another rank */
    uint32_t from;
    csaw__entry_message entry; /* a csaw__wanted_message begins with the same head */
    csaw_vertex wanted;
} csaw__waiting_request;

/* A batch's run on a rank. */
typedef struct csaw__spread_samples {
    csaw__spread *s;
    const csaw__job *job;
    csaw__worker server; /* expands the entries of others */
    csaw__worker *home;  /* whose frontier is out for expansion */
    uint64_t under_way;  /* entries, or rows, that are out */
    uint64_t *out_at;    /* [ranks] of them at each */
    csaw__home_rows rows;
    const uint8_t **answers;  /* [frontier's count], of entries that ask; NULL unless the sampler is second order */
    csaw__vertex_set at_home; /* whose rows come */
    csaw__waiting_request *request; /* [num_requests], from next_request on */
    uint64_t num_requests, next_request, request_room;
} csaw__spread_samples;

/* runtime/engine/spread_sample.c: a batch. */
csaw_status csaw__spread_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *mine,
                                csaw_samples *samples, csaw__fault *fault);
/* Until all that is out has come back: takes in what comes and serves others. */
csaw_status csaw__spread_wait(csaw__spread_samples *r);
/* Until one more may be out at a rank; it is counted there. */
csaw_status csaw__spread_send_out(csaw__spread_samples *r, uint32_t to);
/* What was out there came back. */
static inline void csaw__spread_came_back(csaw__spread_samples *r, uint32_t from) {
    r->under_way--;
    r->out_at[from]--;
}

/* runtime/engine/spread_rows.c: rows that come home. */
csaw_status csaw__home_rows_take(csaw__spread_samples *r, uint32_t from, uint64_t head, const unsigned char *message);
csaw_status csaw__home_rows_send(csaw__spread_samples *r, uint32_t to, uint64_t number, csaw_vertex at);
void csaw__home_rows_free(csaw__home_rows *rows);
/* The hooks over entries of the frontier whose rows come home, some at a time. layer: biases, not picks. */
csaw_status csaw__spread_over_rows(csaw__spread_samples *r, csaw__worker *w, bool layer);
csaw_status csaw__spread_layer_updates(csaw__worker *w, uint64_t picks);

/* What rows.c asks: as csaw__rows_expand() and csaw__rows_layer_biases(). */
csaw_status csaw__spread_expand(csaw__worker *w);
csaw_status csaw__spread_layer_biases(csaw__worker *w);

#endif
