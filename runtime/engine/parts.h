/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts.h - a plan's graph in partitions: what they take of device memory, the scheduler that brings and
 * runs them, and the device that it talks to. */
#ifndef CSAW_ENGINE_PARTS_H
#define CSAW_ENGINE_PARTS_H

#include "partition/fit.h"
#include "partition/schedule.h"
#include "partition/simulated.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/questions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Walks that are under way together. */
typedef struct csaw__walks {
    const csaw_sampler *sampler;
    const csaw__job *job; /* of these walks alone; path and edge where the device writes them, row-major */
    void *state;          /* device memory: walk_state bytes each */
    csaw__fault *fault;   /* the lowest */
} csaw__walks;

/* What a device was asked for, so far. */
typedef struct csaw__parts_use {
    uint64_t used, peak;           /* bytes of device memory: taken now, at most */
    uint64_t copies, copied_bytes; /* of partitions */
    uint64_t left_bytes;           /* of arcs that left for the host, and come back to be delivered */
    /* Of the host's memory: that the graph's pages, locked, hold; and that was left, where that was too little for
     * them. */
    uint64_t locked, no_room;
    /* Of launches at partitions: sums of their times in seconds and of those squared, from where a launch begins to
     * where it ends, others beside it or not. The simulated device has no time: 0. */
    double launch_seconds, launch_squares;
} csaw__parts_use;

/* What comes to the device: partitions; partitions at which as many wait as are worth it, and the rest is read in
 * place; nothing, and all is read in place; whichever of the last two costs less. */
typedef enum csaw__parts_way {
    CSAW__PARTS_CHOOSE,
    CSAW__PARTS_BRING,
    CSAW__PARTS_BRING_MOST,
    CSAW__PARTS_STAY
} csaw__parts_way;

/* A kind of device that partitions come to: the simulated one (parts_simulated.c), a GPU (device_parts.cu). */
typedef struct csaw__parts_kind {
    bool has_queues; /* in memory that partition/fit.h sets apart for them; else instances get it */
    /* The ranges are known, and parts->fit: makes ready for slots. */
    csaw_status (*arrange)(csaw__parts *parts);
    void (*clear)(csaw__parts *parts); /* undoes that, and gives slots back */
    /* What travels with the partitions from here on; both NULL: no tables. */
    csaw_status (*take_tables)(csaw__parts *parts, const csaw__alias *alias, const csaw__row_bias *bias);
    uint64_t (*walk_state)(const csaw_sampler *sampler); /* bytes of device memory of a walk, beside its path */
    csaw_status (*walk)(csaw__parts *parts, const csaw__walks *walks); /* to their ends */
    /* Whether the device writes a job's paths and arcs where they belong, in the host's memory. hold: from here on
     * until let_go. NULL: it does not. */
    bool (*can_hold)(const csaw__parts *parts);
    csaw_status (*hold)(csaw__parts *parts, const csaw__job *job, bool *held);
    void (*let_go)(csaw__parts *parts);
    bool (*reads_in_place)(const csaw__parts *parts); /* the graph, in the host's memory; NULL: it does not */
    void (*drop_samples)(csaw__parts *parts);         /* batches under way; NULL: there are none */
    csaw__parts_use (*use)(const csaw__parts *parts);
    void (*destroy)(csaw__parts *parts); /* whatever it is of a kind */
} csaw__parts_kind;
extern const csaw__parts_kind csaw__parts_simulated;

typedef struct csaw__cuda_parts csaw__cuda_parts;

struct csaw__parts {
    const csaw_graph *graph;
    csaw__fit_request request; /* of the graph without tables, of no job */
    csaw__fit fit;             /* of what is open, or of request */
    bool open, with_alias;
    csaw__ranges ranges;
    uint32_t *degree;    /* [num_vertices], device; NULL where the one partition is the graph */
    uint64_t walk_state; /* bytes of a walk of the job at hand */
    csaw__schedule schedule;
    csaw__question_room questions; /* of second-order steps under way, on the host */
    bool one_at_a_time;            /* instances run one after the other; default: batched (BA) */
    csaw__parts_way way;           /* of samples: CSAW__PARTS_STAY, or any other */
    const csaw__parts_kind *kind;
    csaw__part_device on; /* the device that partitions come to */

    csaw__simulated device; /* a simulated one */
    csaw__active *ring;     /* its queues, in its memory */
    csaw__queues queues;
    uint64_t queue_room, spill_room; /* of one, for tests; 0 = what fits */

    csaw__cuda_parts *cuda; /* a GPU; NULL of the simulated one */
};

/* Bytes of a graph's rows and arcs, and of the tables that travel with them. */
csaw__fit_request csaw__parts_request(const csaw_graph *graph, const csaw_plan_options *options);
csaw__fit_request csaw__parts_with_alias(csaw__fit_request request);
/* The same for so many walks that may be under way together, of all. */
csaw__fit_request csaw__parts_for_walks(csaw__fit_request request, uint64_t walks, uint64_t all, uint32_t length,
                                        bool edges);
uint64_t csaw__parts_walk_bytes(uint32_t length, bool edges); /* of device memory, while a walk is under way */

/* The same on a GPU, which writes paths to the host's memory and has no queues. */
uint64_t csaw__parts_gpu_walk_bytes(uint32_t traits);
csaw__fit_request csaw__parts_for_gpu_walks(csaw__fit_request request, uint64_t walks, uint64_t all, uint32_t length,
                                            bool second_order);
csaw__fit_request csaw__parts_for_gpu_samples(csaw__fit_request request);
enum { CSAW__PART_TABLE_BYTES = CSAW__RANGE_BYTES + 8 }; /* of a partition on a GPU: to find it, and who waits there */
/* csaw__fit_request.step_cost of the graph whose request it is; what waits at a partition is worth its transfer if
 * there are more steps than the partition's bytes hold of these. */
uint32_t csaw__parts_step_cost(const csaw__fit_request *graph, bool second_order);
/* Whether such walks on a GPU would be drawn without partitions, given the graph's request. */
bool csaw__parts_would_stay(const csaw__fit_request *graph, uint64_t walks, uint64_t all, uint32_t length,
                            bool second_order, bool alias);
/* runtime/engine/parts_sample_way.c. What the picks of a sample look at, and so how a GPU gets at the rows. */
typedef enum csaw__sample_way {
    CSAW__SAMPLE_BRINGS,    /* a row each: partitions come, for several batches at once */
    CSAW__SAMPLE_EXCHANGES, /* a layer's rows, one at a time: partitions come for one batch after the other, or rows of
                             * a depth are read in place (csaw__layers_in_place) */
    CSAW__SAMPLE_STAYS      /* rows of several partitions at a time: they are read in place */
} csaw__sample_way;
csaw__sample_way csaw__sample_way_of(const csaw_sampler *sampler, uint32_t kernel);
/* Of a depth, layers that take no more words each are read in place, if they have no more candidates together; others
 * are exchanged. Layers of which all is taken are none of these. */
typedef struct csaw__layer_limits {
    uint64_t candidates; /* the time that they take in place is that of the transfers that they save */
    uint64_t words;      /* of device memory that a layer takes to be picked from */
} csaw__layer_limits;
enum { CSAW__LAYER_WORDS = 4 /* of a candidate: mass and owner, mark, sum */ };
/* None are, where it is said how partitions are to come. come_anyway: partitions that do, for layers of more words. */
csaw__layer_limits csaw__layers_in_place(const csaw__fit_request *asked, const csaw__fit *fit, uint32_t come_anyway);
/* Words up to which layers of a depth are read in place, where those of no more than csaw__layers_in_place() says have
 * so many candidates, and the others stand at so many partitions. 0: all are exchanged. */
uint64_t csaw__layer_words_in_place(const csaw__parts *parts, uint64_t candidates, uint32_t come_anyway);
double csaw__exchange_transfers(const csaw__fit *fit, uint32_t parts); /* of a depth that needs these in three passes */
/* Bytes of the host's memory that an exchange takes, of a piece of a row (CSAW__FAR_ARCS), and of a pick. */
enum { CSAW__EXCHANGE_PIECE_BYTES = 56, CSAW__EXCHANGE_PICK_BYTES = 144 };
/* Words of so many bytes of device memory, 0: no end of them, that one launch may take to pick in. */
uint64_t csaw__pick_words(uint64_t bytes);

/* Bytes of memory of each of so many GPUs that hold the graph together: row offsets, and its part of the arcs; with the
 * alias tables of static biases, if asked. */
uint64_t csaw__parts_together_bytes(const csaw__fit_request *graph, uint32_t gpus, bool tables);

/* Runs what waits in parts->queues, and all that comes of it: on the simulated device. */
csaw_status csaw__parts_run(csaw__parts *parts, csaw__part_work work);
/* What a partition's work sees of a job. */
csaw__job csaw__parts_job(const csaw__parts *parts, const csaw__rows *rows, const csaw__job *whole);
/* Instances of so many bytes each in device memory that are under way together: at least 1, at most `most`. */
uint64_t csaw__parts_at_once(const csaw__parts *parts, uint64_t bytes, uint64_t most);
uint64_t csaw__parts_instance_bytes(const csaw__parts *parts); /* of device memory, for those under way */

/* runtime/engine/device_parts.cu: parts whose graph and request are set get a GPU, from whose memory, or, if that is 0,
 * from what is free of it, request->memory is taken. */
csaw_status csaw__parts_on_cuda(csaw__parts *parts, int ordinal);

/* runtime/engine/explain.c: lines of a plan's explanation. */
__attribute__((format(printf, 2, 3))) void csaw__explain_say(csaw_plan *plan, const char *format, ...);
void csaw__explain_graph(csaw_plan *plan);
void csaw__explain_job(csaw_plan *plan);
void csaw__explain_ranks(csaw_plan *plan, uint32_t ranks);
void csaw__explain_host(csaw_plan *plan, bool simulates, bool in_parts);
void csaw__explain_gpu(csaw_plan *plan, int ordinal);
void csaw__explain_described(csaw_plan *plan, uint64_t memory, uint32_t count);
/* together: they hold the graph so; exchange: and walkers go where their rows are. */
void csaw__explain_gpus(csaw_plan *plan, uint32_t count, bool together, bool exchange);
/* What one of several GPUs says of itself; lines that would be alike are the first one's. */
void csaw__explain_one_of(csaw_plan *plan, const csaw_plan *one, bool first);
csaw_status csaw__explain_fit(csaw_plan *plan, const csaw__fit_request *graph);
/* runtime/engine/explain_layers.c: a depth of layers that are exchanged, whose frontiers stand at all partitions; and
 * which layers a GPU reads in place, of so many instances. */
void csaw__explain_exchange(csaw_plan *plan, const csaw__fit *fit);
void csaw__explain_layers(csaw_plan *plan, const csaw__fit_request *graph, const csaw__fit *fit, uint64_t instances);
/* runtime/engine/spread_explain.c: the graph split over ranks; what a GPU does with a rank's part; and whether the
 * parts fit GPUs of so much memory, CSAW_EDEVMEM if not. */
csaw_status csaw__explain_split(csaw_plan *plan, uint32_t ranks, bool by_visits);
void csaw__explain_split_gpu(csaw_plan *plan, int ordinal);
/* Once it is known by what messages go: how walkers get from GPU to GPU. */
void csaw__explain_straight(csaw_plan *plan);
csaw_status csaw__explain_split_fit(csaw_plan *plan, uint32_t ranks, bool by_visits, uint64_t memory);

#ifdef __cplusplus
}
#endif

#endif
