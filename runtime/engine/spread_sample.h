/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_sample.h - samples on a graph that is split over ranks: what a run keeps. */
#ifndef CSAW_ENGINE_SPREAD_SAMPLE_H
#define CSAW_ENGINE_SPREAD_SAMPLE_H

#include <stddef.h>

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

typedef struct csaw__picks_message {
    uint64_t head;             /* number: of the home's frontier */
    uint32_t first, count, of; /* picks first .. first + count - 1 of so many */
    csaw_vertex dead_end;
    uint64_t user[4]; /* as many as the sampler has; then edge [count], dst [count], next [count] if it has update */
} csaw__picks_message;

typedef struct csaw__fault_message {
    uint64_t head;
    csaw__fault fault;
} csaw__fault_message;

static inline uint64_t csaw__bytes_of_entry(const csaw__worker *w) {
    return w->has_user ? sizeof(csaw__entry_message) : offsetof(csaw__entry_message, user);
}
static inline uint64_t csaw__bytes_before_picks(const csaw__worker *w) {
    return w->has_user ? sizeof(csaw__picks_message) : offsetof(csaw__picks_message, user);
}
static inline uint64_t csaw__bytes_of_pick(const csaw__worker *w) {
    return sizeof(csaw_edge) + (w->has_update ? 2 : 1) * sizeof(csaw_vertex);
}

/* A row that is wanted. */
typedef struct csaw__wanted_message {
    uint64_t head; /* number: of the home's rows */
    csaw_vertex at;
    uint32_t unused;
} csaw__wanted_message;

typedef struct csaw__row_message {
    uint64_t head;         /* number: of the home's rows */
    uint32_t first, count; /* arcs first .. first + count - 1 of the row; then the arrays that the graph has */
    csaw_edge first_arc;   /* of the row */
    double total, top;     /* of its biases: csaw__row_bias, which is for places that are a multiple of 16 */
} csaw__row_message;

/* Bytes that an arc takes in a message, and at home. */
static inline uint64_t csaw__bytes_of_arc(const csaw__rows *rows) {
    return sizeof *rows->col + (rows->weight ? sizeof *rows->weight : 0) + (rows->type ? sizeof *rows->type : 0) +
           (rows->time ? sizeof *rows->time : 0) + (rows->alias ? sizeof *rows->alias : 0);
}

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

/* runtime/engine/spread_check_samples.c. A message from another rank: CSAW_EINVAL unless all that it names can be of
 * this batch. */
csaw_status csaw__samples_check(const csaw__spread_samples *r, uint32_t from, uint64_t head, const void *message);

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
