/* SPDX-License-Identifier: MIT */
/* runtime/engine/sampling.h - samples on the CPU: a batch of instances that advance together, depth by depth. */
#ifndef CSAW_ENGINE_SAMPLING_H
#define CSAW_ENGINE_SAMPLING_H

#include "runtime/base/frontier.h"
#include "runtime/engine/layer_exchange.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/pool.h"

/* Sampled arcs that stand side by side: up to end, from the end of the segment before. */
typedef struct csaw__segment {
    uint64_t end;
    uint32_t owner, depth;
} csaw__segment;

/* Of one thread. Arrays grow as needed and are kept from batch to batch. */
typedef struct csaw__worker {
    csaw_plan *plan;
    const csaw_sampler *sampler;
    const csaw__job *job;
    uint32_t flags;         /* of the sampler's hooks */
    uint32_t frontier_size; /* CSAW_ALL: the whole pool */
    bool has_update, has_dead_end, has_size, has_vertex_bias, has_user, check;
    csaw__fault fault;
    csaw__scratch scratch;
    uint64_t scratch_n, scratch_k, scratch_pick;

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
    uint64_t degree_room, fanout_room, offset_room, got_room, dead_room;
    uint64_t arc_room, bias_room, pick_entry_room, pick_rank_room;
    uint64_t *all; /* [..] 0, 1, 2, ...: every entry, or every pick */
    uint64_t all_room, all_count;
    uint64_t *owner_pick; /* CSAW_LAYER: [num_owners + 1] first pick of each */
    uint64_t owner_pick_room;
    uint64_t *upto; /* CSAW_LAYER: sums of masses */
    uint64_t upto_room;
    csaw_vertex *candidate; /* CSAW_LAYER_DISTINCT, rows on other ranks: [f.arc[f.count]] where arcs lead */
    uint64_t candidate_room;
    csaw__layer_exchange exchange; /* CSAW_LAYER, on partitions */

    struct csaw__ahead *ahead; /* parts_sample.c's; NULL until used */
    bool picked_ahead;         /* the picks of the batch at hand are in it */
    bool rows_in_sight;        /* job's rows are a partition's, and hold those of all entries at hand */

    csaw_vertex *next_vertex; /* where updates lead, of the picks at hand */
    uint64_t next_vertex_room;

    /* of all batches so far, in the order of (batch, depth, owner, place in the frontier, pick) */
    csaw_vertex *src, *dst; /* [num_arcs] */
    csaw_edge *edge;        /* [num_arcs] */
    uint64_t num_arcs, src_room, dst_room, edge_room;
    csaw__segment *segment;                             /* of the arcs */
    uint64_t num_segments, segment_room, first_segment; /* first: of the batch at hand */
    struct csaw__seed_record {
        csaw_vertex vertex;
        uint32_t owner;
    } * seed; /* first frontiers of all batches so far */
    uint64_t num_seeds, seed_room;
} csaw__worker;

/* worker: zeros, or one that ran before. */
void csaw__worker_start(csaw__worker *worker, csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                        bool check);
/* Instances first .. first + count - 1: their arcs and seeds behind those of earlier batches. */
csaw_status csaw__worker_run(csaw__worker *worker, uint64_t first, uint64_t count);
void csaw__worker_free(csaw__worker *worker);

/* Room for selections of k among n, and of all of so many. */
csaw_status csaw__worker_scratch(csaw__worker *worker, uint64_t n, uint64_t k, uint64_t all);
/* worker->all[0 .. count - 1] = 0 .. count - 1 */
csaw_status csaw__worker_all(csaw__worker *worker, uint64_t count);
/* Room for what is found out of the entries at hand: f.offset, got and dead_end. */
csaw_status csaw__worker_entries(csaw__worker *worker);
/* Room for so many picks behind the arcs sampled so far: f.src, dst, edge and next. */
csaw_status csaw__worker_picks(csaw__worker *worker, uint64_t picks);
void csaw__worker_lists_free(csaw__worker *worker);
/* The picks of the entries at hand, per vertex, side by side: f.offset, got, src, dst, edge, next and dead_end. They
 * stand behind the arcs sampled so far and are not among them. */
csaw_status csaw__worker_pick(csaw__worker *worker);

static inline uint64_t csaw__instance_of(const csaw__worker *worker, uint32_t owner) { return worker->f.first + owner; }

/* runtime/engine/pools.c */
csaw_status csaw__pools_start(csaw__worker *worker);                       /* seeds of all owners */
csaw_status csaw__pools_visit(csaw__worker *worker);                       /* what the pools hold has been visited */
csaw_status csaw__pools_begin_next(csaw__worker *worker);                  /* of a depth, before the picks */
csaw_status csaw__pools_enter(csaw__worker *worker, uint64_t entry);       /* what a vertex of the frontier led to */
csaw_status csaw__pools_enter_layer(csaw__worker *worker, uint32_t owner); /* what an owner's layer led to */
csaw_status csaw__pools_end_next(csaw__worker *worker);                    /* the next pools are the pools */
/* vertex_bias of v broke its rules. */
void csaw__pool_fault(csaw__worker *worker, uint32_t owner, csaw_vertex v, float bias);

/* runtime/engine/select_frontier.c: the pools' vertices that go on, to f.entry and count. */
csaw_status csaw__select_frontier(csaw__worker *worker);

/* runtime/engine/layer.c: picks of every owner's layer, to f.src, dst, edge, next, pick_entry and owner_pick. */
csaw_status csaw__layer_pick(csaw__worker *worker);

/* runtime/engine/layer_exchange.c: on partitions, the picks of layers that are exchanged, to worker->exchange.layer,
 * and the entries of those that are not; *any: whether layers are exchanged at all. */
csaw_status csaw__layers_exchange(csaw__worker *worker, bool *any);
/* The pass at hand over these entries, whose rows the job sees. */
void csaw__layers_look(csaw__worker *worker, const csaw__job *job, const uint64_t *entry, uint64_t n);

/* runtime/engine/parts_sample.c: on partitions. Picks of many batches made ahead of their depths, in any order. */
bool csaw__parts_any_order(const csaw__worker *worker); /* whether plan and sampler allow it */
/* Whatever the seeds of instances from `first` on lead to, of so many that are left or fewer. Does nothing where it was
 * tried before. */
csaw_status csaw__parts_pick_ahead(csaw__worker *worker, uint64_t first, uint64_t left);
/* Whether that instance's picks are there: not if a hook broke its rules. */
bool csaw__parts_picked_ahead(const csaw__worker *worker, uint64_t first);
csaw_status csaw__parts_recall(csaw__worker *worker); /* of the entries at hand, as csaw__worker_pick() */
void csaw__parts_forget_ahead(csaw__worker *worker);  /* they are of another run */
void csaw__parts_ahead_free(csaw__worker *worker);

/* Hooks over the rows of the frontier, or of n of its entries: of the whole graph, or partition by partition; over
 * picks of layers. */
csaw_status csaw__rows_expand(csaw__worker *worker);
csaw_status csaw__rows_layer_biases(csaw__worker *worker, const uint64_t *entry, uint64_t n);
csaw_status csaw__rows_layer_look(csaw__worker *worker, const uint64_t *entry, uint64_t n);
csaw_status csaw__rows_layer_updates(csaw__worker *worker, uint64_t num_picks);

#endif
