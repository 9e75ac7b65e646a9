/* SPDX-License-Identifier: MIT */
/* runtime/engine/sampling.h - samples on the CPU: a batch of instances that advance together, depth by depth. */
#ifndef CSAW_ENGINE_SAMPLING_H
#define CSAW_ENGINE_SAMPLING_H

#include "runtime/base/frontier.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/pool.h"

typedef struct csaw__record {
    csaw_vertex src, dst;
    csaw_edge edge;
    uint32_t depth, owner;
} csaw__record;

/* Of one thread. Arrays grow as needed and are kept from batch to batch. */
typedef struct csaw__worker {
    csaw_plan *plan;
    const csaw_sampler *sampler;
    const csaw__job *job;
    uint32_t flags;         /* of the sampler's hooks */
    uint32_t frontier_size; /* CSAW_ALL: the whole pool */
    bool has_size, has_vertex_bias, has_user, check;
    csaw__fault fault;
    csaw__scratch scratch;
    uint64_t scratch_n, scratch_k;

    uint64_t num_owners;
    csaw_vertex *root;   /* [num_owners] */
    uint64_t (*user)[4]; /* [num_owners] */
    uint64_t owner_room, user_room;
    csaw__entry *pool, *next, *selected; /* by owner */
    uint64_t pool_count, next_count, selected_count;
    uint64_t staying; /* CSAW_KEEP_POOL: entries of the pool that are in the next one */
    uint64_t pool_room, next_room, selected_room;
    csaw__pool *list; /* CSAW_REPLACE_POOL: [num_owners] */
    uint64_t num_lists, list_room;
    csaw__vertex_set in_next, visited;

    csaw__frontier f;
    uint64_t degree_room, fanout_room, offset_room, got_room, dead_room, dst_room, next_vertex_room, edge_room;
    uint64_t arc_room, bias_room, pick_entry_room, pick_rank_room;
    uint64_t *all; /* [..] 0, 1, 2, ...: every entry, or every pick */
    uint64_t all_room, all_count;
    uint64_t *owner_pick; /* CSAW_LAYER: [num_owners + 1] first pick of each */
    uint64_t owner_pick_room;
    uint64_t *upto; /* CSAW_LAYER: sums of masses */
    uint64_t upto_room;

    csaw__record *record; /* of all batches so far, in the order of (batch, depth, owner, ...) */
    uint64_t num_records, record_room;
    struct csaw__seed_record {
        csaw_vertex vertex;
        uint32_t owner;
    } * seed; /* first frontiers of all batches so far */
    uint64_t num_seeds, seed_room;
} csaw__worker;

/* worker: zeros, or one that ran before. */
void csaw__worker_start(csaw__worker *worker, csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                        bool check);
/* Instances first .. first + count - 1, to worker->record and seed. */
csaw_status csaw__worker_run(csaw__worker *worker, uint64_t first, uint64_t count);
void csaw__worker_free(csaw__worker *worker);

/* Room for selections of k among n. */
csaw_status csaw__worker_scratch(csaw__worker *worker, uint64_t n, uint64_t k);
/* worker->all[0 .. count - 1] = 0 .. count - 1 */
csaw_status csaw__worker_all(csaw__worker *worker, uint64_t count);

/* runtime/engine/layer.c: picks of every owner's layer, to f.dst, edge, next, pick_entry and owner_pick. */
csaw_status csaw__layer_pick(csaw__worker *worker);

/* Hooks over the rows of the frontier: of the whole graph, or partition by partition. */
csaw_status csaw__rows_expand(csaw__worker *worker);
csaw_status csaw__rows_layer_biases(csaw__worker *worker);
csaw_status csaw__rows_layer_updates(csaw__worker *worker, uint64_t num_picks);

#endif
