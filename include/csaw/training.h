/* SPDX-License-Identifier: MIT */
/* csaw/training.h - minibatches for graph neural networks: what lies between a sample and a training step.
 *
 *   csaw_loader *loader = NULL;
 *   const csaw_minibatch *batch;
 *   const uint32_t fanout[] = {15, 10};
 *   csaw_loader_open(plan, &seeds, CSAW_LOADER(.depth = 2, .fanout = fanout, .features = &x, .epochs = 10), &loader);
 *   while (csaw_loader_next(loader, &batch) == CSAW_OK && batch)
 *       train(batch);              // meanwhile the loader's thread makes the next one
 *   csaw_loader_close(loader);
 *
 * Besides: GraphSAINT's subgraphs and their coefficients, neighbours by visit counts (PinSAGE), negative samples for
 * link prediction, rows of features gathered. ShaDow is csaw_shadow and csaw_subgraph_create(). docs/training.md says
 * more of each.
 *
 * Said once for all functions here: errors, ownership, options and seeds are as in csaw.h, so equal arguments give
 * equal bits on any number of threads; docs/stream.md names the random numbers. All work in one process: a plan of
 * several ranks is CSAW_EUNSUPPORTED. Ranks that train together have a plan each, without a communicator. */
#ifndef CSAW_TRAINING_H
#define CSAW_TRAINING_H

#include "samplers.h"
#include "spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rows of features ------------------------------------------------------ */

typedef struct csaw_gather_options {
    size_t size;
    int threads;        /* of the CPU; 0 = all cores */
    const char *device; /* NULL or "cpu"; "cuda:N": see csaw/spmm.h, and below */
    void *stream;       /* a cudaStream_t of the device; NULL = the default stream */
} csaw_gather_options;

/* y[i, :] = x[vertex[i], :]. x: [any, n], y: [count, n], of one storage. On a GPU x is in its memory, or in page-locked
 * memory of the host, whose rows then come over the bus as they are asked for (CSAW_EINVAL: in other memory); vertex is
 * not checked, so one that is no row of x has memory beyond it read. */
CSAW_API csaw_status csaw_gather(const csaw_dense *x, const csaw_vertex *vertex, uint64_t count,
                                 const csaw_gather_options *options, const csaw_dense *y);

/* ---- weights of sampled arcs ------------------------------------------------- */

/* As csaw_block_weights() (csaw/spmm.h), of the plan's graph, wherever the block is. Of one in the memory of the plan's
 * GPU, a loader's say, out [block->num_edges] is in that memory too: the weights are gathered there, from those that
 * the plan has, by work put into stream (a cudaStream_t of that GPU; NULL = the default stream), for which nothing
 * waits; an edge past the graph's last, which a block of another graph may have, gets a NaN. At any time, also while a
 * loader has the plan, and by several threads. CSAW_EUNSUPPORTED: the block is on a GPU, and the plan not on one whose
 * memory holds the graph. */
CSAW_API csaw_status csaw_plan_weights(const csaw_plan *plan, const csaw_block_view *block, void *stream, float *out);

/* ---- loader: minibatches in layers, made ahead ------------------------------- */

typedef struct csaw_loader csaw_loader;

typedef struct csaw_loader_options {
    size_t size;
    uint64_t batch_size;         /* seeds of a batch; default 1024. The last of an epoch may have fewer */
    bool drop_last;              /* leave out a last batch that has fewer */
    bool keep_order;             /* seeds as they were given; default: shuffled anew for each epoch */
    uint64_t epochs;             /* default 1 */
    uint64_t seed;               /* of the shuffle and of the samples */
    const csaw_sampler *sampler; /* default csaw_neighbor_again: every layer draws for all vertices it computes, by
                                    weight where the graph has weights. All alike: make the plan of the graph without
                                    them (csaw_graph_csr(), weight = NULL, csaw_graph_borrow_csr()) */
    const void *params;          /* of the sampler; NULL = its defaults. Copied */
    uint32_t depth;              /* layers, at least 1 */
    const uint32_t *fanout;      /* [depth], as in csaw_run_options: NULL = 1. Copied */
    bool replace;                /* as in csaw_run_options, as is select */
    csaw_select select;
    const csaw_dense *features; /* [num_vertices, n]: rows are gathered for each batch. NULL = none. Of a plan on a GPU
                                   this array and the next are in its memory, or in the host's, which is page-locked
                                   until the loader is closed, unless all of it is already: whole
                                   pages of it, which CUDA then refuses to copy together with others. Lock
                                   it yourself before (cudaHostRegister) where you copy it meanwhile */
    const int64_t *label;       /* [num_vertices], of which those of the seeds are gathered. NULL = none */
    uint32_t in_flight;   /* batches at most that exist at a time, the caller's included unless taken; default 2: the
                             next is made while the caller works on this one. 1: none is made ahead */
    uint64_t cache_bytes; /* of a plan on a GPU, with features in the host's memory: bytes of the GPU's for the rows of
                             those vertices that most arcs lead to; default 0. Beside them 4 bytes a vertex of the
                             graph, and a pass over its arcs when the loader is opened */
    void *stream; /* of a plan on a GPU: the cudaStream_t in which the caller works on batches; NULL = the default
                     stream */
} csaw_loader_options;

typedef struct csaw_minibatch {
    csaw_space space;       /* of vertex, features and label: CSAW_DEVICE of a plan on a GPU */
    uint64_t epoch, number; /* from 0; number: in the epoch */
    uint64_t num_seeds;
    const uint64_t *input;     /* [num_seeds], host: seed i of the batch was number input[i] of the seeds given */
    uint64_t num_vertices;     /* seeds and all that was reached from them */
    const csaw_vertex *vertex; /* [num_vertices], different ones, in the order of first visit: seeds first */
    const csaw_blocks *blocks; /* of one instance: csaw_blocks_look(blocks, 0, depth, &block) */
    csaw_dense features;       /* [num_vertices, n] in the storage of the options' features; data NULL without them */
    const int64_t *label;      /* [num_seeds], NULL without labels */
    uint64_t cached;           /* rows of features that came from the cache (cache_bytes), of num_vertices */
} csaw_minibatch;

/* Starts a thread that makes batches in order, no more than in_flight at a time. seeds: single vertices, without
 * offset, each at most once; NULL = every vertex. Borrowed until csaw_loader_close(): the plan, on which nothing else
 * runs meanwhile (another loader, csaw_sample() and the like: CSAW_EINVAL); sampler; features and label, which must not
 * change. The plan is on the CPU, or on one GPU whose memory holds the graph (others: CSAW_EUNSUPPORTED).
 *
 * On a GPU batches are made there, with the bits of the CPU's, in a stream of the plan's. A batch is complete, for any
 * stream, when csaw_loader_next() returns it. What the caller then puts into options.stream may still be under way when
 * he calls csaw_loader_next() again, csaw_loader_close() or csaw_minibatch_free(): the batch's memory is not used again
 * before that is done. Work in other streams has to be over, or waited for in that one, which outlives loader and
 * batches.
 *
 * A child of fork() does not have the thread: there the next batch is CSAW_EINVAL, csaw_loader_close() frees what it
 * safely can, and the plan is of no use. Make plan and loader in the process that uses them. */
CSAW_API csaw_status csaw_loader_open(csaw_plan *plan, const csaw_seeds *seeds, const csaw_loader_options *options,
                                      csaw_loader **out);
CSAW_API uint64_t csaw_loader_batches(const csaw_loader *loader); /* of an epoch */
/* The next batch, borrowed until the next call or the close; NULL when all epochs are over. What went wrong while a
 * batch was made is returned in that batch's place, and from then on. */
CSAW_API csaw_status csaw_loader_next(csaw_loader *loader, const csaw_minibatch **out);
/* That batch, from now on the caller's: it outlives the next call and the loader, until csaw_minibatch_free(). What
 * csaw_loader_next() returned is over with this call. Copies nothing; the loader takes new memory for another batch. */
CSAW_API csaw_status csaw_loader_take(csaw_loader *loader, csaw_minibatch **out);
/* Of csaw_loader_take() alone; NULL is fine. On a GPU the batches to come wait for what stands in the caller's stream
 * at that time: best after the next csaw_loader_next(). */
CSAW_API void csaw_minibatch_free(csaw_minibatch *batch);
/* As if the loader had just been opened with these seeds and this number in options.seed, but that it keeps what it
 * has: memory of batches, page-locked memory, the cache. At any time; a batch that was returned and not taken is over
 * with the call. CSAW_EINVAL changes nothing; after another failure csaw_loader_next() tells it again until a call
 * succeeds. */
CSAW_API csaw_status csaw_loader_restart(csaw_loader *loader, const csaw_seeds *seeds, uint64_t seed);
/* At any time: the thread finishes the batch that it is making, and ends. NULL is fine. */
CSAW_API void csaw_loader_close(csaw_loader *loader);

/* ---- GraphSAINT --------------------------------------------------------------- */

typedef enum csaw_saint_kind {
    CSAW_SAINT_NODE,    /* csaw_saint_node: the destinations of budget arcs drawn */
    CSAW_SAINT_EDGE,    /* csaw_saint_edge: the ends of budget arcs drawn */
    CSAW_SAINT_WALK,    /* csaw_saint_walk: all vertices of walks of depth steps from budget roots */
    CSAW_SAINT_FRONTIER /* csaw_multidimensional: all vertices of depth steps, one at a time, of budget walkers */
} csaw_saint_kind;

typedef struct csaw_saint_options {
    size_t size;
    csaw_saint_kind kind; /* default CSAW_SAINT_NODE */
    uint32_t budget;      /* arcs drawn, or roots, which are uniform, with replacement: 1 .. 2^23 */
    uint32_t depth;       /* of WALK and FRONTIER alone: steps */
    uint64_t seed;
    uint64_t first; /* number of the first subgraph. Subgraph g is the same in whichever call it is made */
    uint64_t count; /* of subgraphs; default 1 */
} csaw_saint_options;

/* The subgraphs induced by the vertices drawn (Zeng et al., ICLR 2020, algorithm 2), one for each number: all arcs of
 * the graph between them. Borrows the plan's graph until it is freed. NODE and EDGE read every arc of the graph once a
 * subgraph, and need one. */
CSAW_API csaw_status csaw_saint_sample(csaw_plan *plan, const csaw_saint_options *options, csaw_subgraph **out);

/* Adds, for every subgraph: 1 to vertex_count[v] [num_vertices] of its vertices, 1 to edge_count[e] [num_edges] of its
 * arcs. Set them to 0 before the first call. */
CSAW_API void csaw_saint_count(const csaw_subgraph *subgraph, uint64_t *vertex_count, uint64_t *edge_count);

/* The coefficients from counts C over num_subgraphs (section 3.2):
 *   alpha[e] = C_e / C_row(e)           [num_edges], float32; divide the aggregation's weight of arc e by it
 *   lambda[v] = C_v / num_subgraphs     [num_vertices], float32; divide the loss of vertex v by it
 * A count of 0 is taken as 1, so that both can be divided by. CSAW_EINVAL: counts that no subgraphs give. */
CSAW_API csaw_status csaw_saint_coefficients(const csaw_graph *graph, uint64_t num_subgraphs,
                                             const uint64_t *vertex_count, const uint64_t *edge_count, float *alpha,
                                             float *lambda);

/* ---- neighbours by visit counts ------------------------------------------------- */

typedef struct csaw_visit_options {
    size_t size;
    const csaw_sampler *sampler; /* a walk; default csaw_restart */
    const void *params;          /* of the sampler; NULL = its defaults */
    uint32_t walks;              /* from each seed; default 10 */
    uint32_t depth;              /* steps of a walk; default 10 */
    uint32_t top;                /* neighbours kept of each seed; default 10 */
    uint64_t seed;
    uint64_t first; /* number of the first seed, (first + seeds) * walks at most 2^40: a list in pieces, each with the
                       number that its first seed has in the whole, gives what the whole gives */
    csaw_select select;
    /* Seeds; called with user on the caller's thread, at 0 and after each chunk of seeds, 2^21 vertices of walks or one
     * seed, to the last. false ends the call with CSAW_ESTOPPED, and without visits; it may not draw from the plan. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} csaw_visit_options;

typedef struct csaw_visits csaw_visits;

typedef struct csaw_visits_view {
    uint64_t num_seeds;
    const uint64_t *offset;    /* [num_seeds + 1]: of seed i entries offset[i] .. offset[i + 1] - 1 */
    const csaw_vertex *vertex; /* [offset[num_seeds]]: most visits first, of equals the lower number */
    const uint32_t *count;     /* the same: visits, by all walks of the seed */
    const float *weight;       /* the same: count divided by the sum of those kept */
} csaw_visits_view;

/* The vertices that short walks from a seed visit most are its neighbourhood, and how often is their weight (Ying et
 * al., PinSage, KDD 2018, section 3.2). The seed itself does not count, nor where a walk begins. A seed whose walks
 * lead nowhere has none. seeds: single vertices, which may repeat; NULL = every vertex. */
CSAW_API csaw_status csaw_visits_create(csaw_plan *plan, const csaw_seeds *seeds, const csaw_visit_options *options,
                                        csaw_visits **out);
CSAW_API csaw_visits_view csaw_visits_look(const csaw_visits *visits); /* borrowed */
CSAW_API void csaw_visits_free(csaw_visits *visits);                   /* NULL is fine */

/* ---- negative samples -------------------------------------------------------------- */

typedef struct csaw_negative_options {
    size_t size;
    double power;       /* P(x) proportional to degree(x)^power, 0 .. 4; 0 = all alike; 0.75 is word2vec's */
    bool any;           /* x may be a neighbour, or src itself; default: never. Degrees are numbers of arcs out */
    int threads;        /* of the CPU; 0 = all cores */
    const char *device; /* NULL or "cpu"; "cuda:N" draws there */
    void *stream;       /* a cudaStream_t of the device; NULL = the default stream. It outlives the negatives */
} csaw_negative_options;

typedef struct csaw_negatives csaw_negatives;

/* Of power 0 no table; else 8 bytes a vertex. Borrows the graph. On a GPU the table is in its memory, and beside it,
 * unless any is set, a copy of the graph's rows: 8 bytes a vertex, 4 an arc. */
CSAW_API csaw_status csaw_negatives_create(const csaw_graph *graph, const csaw_negative_options *options,
                                           csaw_negatives **out);
/* For each src[i], i < count, `each` independent vertices x: dst [count, each], such that src[i] -> x is no arc of the
 * graph and x is not src[i]. seed, first: src[i] is number first + i of the seed's stream, below 2^40; give other
 * numbers to every batch. Exact: after 8 attempts the vertex is drawn among those allowed, in time of src's degree.
 * On a GPU src and dst are its memory, or page-locked memory of the host; the bits are the CPU's. The call waits until
 * dst is there: draw in a stream of your own what is to go on beside other work. Of several threads at a time as well.
 * CSAW_EINVAL: a src for which there is no such vertex; dst then holds CSAW_NONE for it. */
CSAW_API csaw_status csaw_negatives_draw(const csaw_negatives *negatives, uint64_t seed, uint64_t first,
                                         const csaw_vertex *src, uint64_t count, uint32_t each, csaw_vertex *dst);
CSAW_API void csaw_negatives_free(csaw_negatives *negatives); /* NULL is fine */

/* Options without ceremony (C): CSAW_SAINT(.kind = CSAW_SAINT_EDGE, .budget = 2000). */
#define CSAW_GATHER(...) (&(csaw_gather_options){.size = sizeof(csaw_gather_options), __VA_ARGS__})
#define CSAW_LOADER(...) (&(csaw_loader_options){.size = sizeof(csaw_loader_options), __VA_ARGS__})
#define CSAW_SAINT(...) (&(csaw_saint_options){.size = sizeof(csaw_saint_options), __VA_ARGS__})
#define CSAW_VISITS(...) (&(csaw_visit_options){.size = sizeof(csaw_visit_options), __VA_ARGS__})
#define CSAW_NEGATIVES(...) (&(csaw_negative_options){.size = sizeof(csaw_negative_options), __VA_ARGS__})

#ifdef __cplusplus
}
#endif
#endif
