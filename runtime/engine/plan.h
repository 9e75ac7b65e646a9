/* SPDX-License-Identifier: MIT */
/* runtime/engine/plan.h - a plan: where the work runs, and what was precomputed for it. */
#ifndef CSAW_ENGINE_PLAN_H
#define CSAW_ENGINE_PLAN_H

#include <csaw/descriptor.h>

#include "runtime/base/graph.h"
#include "runtime/base/job.h"
#include "runtime/base/status.h"
#include "runtime/engine/samples.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CSAW__DEFAULT_DEPTH = 80 /* of walks */ };

typedef struct csaw__parts csaw__parts;
typedef struct csaw__device csaw__device;
typedef struct csaw__spread csaw__spread;
typedef struct csaw__gpus csaw__gpus;
typedef struct csaw__joint csaw__joint;
struct csaw__exchange_gpu;

/* One of the GPUs that hold the graph together (device_joint.h). */
typedef struct csaw__joint_member {
    csaw__joint *joint;
    uint32_t member, count;
} csaw__joint_member;

/* What a method needs of a sampler's static biases on the plan's graph, kept for the last sampler and parameters. */
typedef struct csaw__tables {
    const csaw_sampler *sampler; /* NULL = none */
    uint64_t hash;               /* csaw_sampler_hash(): another sampler may be loaded at the same address */
    unsigned char params[CSAW__MAX_PARAMS];
    float *tabulated;     /* [num_edges] */
    csaw__alias *alias;   /* [num_edges], NULL until a method asks */
    csaw__row_bias *bias; /* [num_vertices], with alias */
} csaw__tables;

struct csaw__ranks;

struct csaw_plan {
    const csaw_graph *graph;
    struct csaw__ranks *ranks; /* that share the work; NULL = this process alone */
    int threads;
    uint32_t *narrow_rowptr; /* CPU: [num_vertices + 1], NULL where the graph has 2^32 arcs or more */
    csaw__tables tables;
    struct csaw__worker
        *workers; /* of samples on the CPU: [threads], their memory kept from run to run; NULL until used */
    csaw__spare *spare;
    bool busy;            /* within a batch or progress function */
    bool lent;            /* to a loader; for csaw__plan_lend() and those below it alone, since several threads ask */
    csaw__parts *parts;   /* NULL unless the graph is worked on in partitions */
    csaw__device *device; /* NULL on the CPU */
    csaw__gpus *gpus;     /* several, each with a plan of its own (gpus.h); device and parts are then NULL */
    uint32_t sharers;     /* plans that share each run of which this is one; 0 = it is alone */
    csaw__spread *spread; /* NULL unless the graph is split over ranks (spread.h) */
    bool described;       /* of a machine that need not be here: it explains itself, and no more */
    struct {
        uint32_t walks_per_seed, depth;
    } job;               /* walks from every vertex that the plan explains itself for */
    char explain[32768]; /* lines for each of several GPUs */
};

/* A GPU draws for the plan, or several; the whole graph is in their memory. */
bool csaw__plan_on_gpu(const csaw_plan *plan);
bool csaw__plan_whole_on_gpu(const csaw_plan *plan);
/* GPU number i of those of `whole`: a plan of its own, with the same options. memory: bytes there that it may take; 0 =
 * what is free. */
csaw_status csaw__plan_of_gpu(const csaw_plan *whole, const csaw_plan_options *options, uint32_t i, uint64_t memory,
                              csaw_plan **out);
/* Whether partitions would come to the GPU and go, if it held the graph by itself. memory: likewise. */
csaw_status csaw__plan_in_parts(const csaw_graph *graph, const csaw_plan_options *options, int ordinal, uint64_t memory,
                                bool *out);

/* A loader has the plan to itself from lend to take_back: CSAW_EINVAL if another has it, or a batch or progress
 * function asks. check_lent: before a public function runs on the plan; NULL is fine. */
csaw_status csaw__plan_lend(csaw_plan *plan);
void csaw__plan_take_back(csaw_plan *plan);
csaw_status csaw__plan_check_lent(const csaw_plan *plan);
/* CSAW_EUNSUPPORTED for a plan of several ranks. what: the public function that draws in its own process alone. */
csaw_status csaw__plan_check_alone(const csaw_plan *plan, const char *what);

/* Static biases of the whole graph, and alias tables on request. Fails with CSAW_EBIAS naming the lowest bad arc. */
csaw_status csaw__tables_prepare(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, bool alias);
void csaw__tables_clear(csaw__tables *tables);

/* Who is asked while the CPU draws a batch whether to go on. */
typedef struct csaw__heard {
    struct csaw__watch *watch; /* NULL: nobody */
    uint64_t done;             /* instances that are drawn, by atomics */
} csaw__heard;

/* The engines. Each walks job->num_walks walks from job->first; a fault is kept in *fault, the lowest of all. heard:
 * NULL is fine. CSAW_ESTOPPED: some were not drawn. */
csaw_status csaw__cpu_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, bool check, csaw__heard *heard,
                           csaw__fault *fault);
/* The graph in partitions (parts.h), worked on by a GPU, cuda:ordinal, or, if that is negative, a simulated device.
 * prepare: before the runs of a job, the tables of whose rows travel with the partitions until they are forgotten;
 * walks: of a batch, 0 of a sample; all: of all batches. */
csaw_status csaw__parts_create(const csaw_graph *graph, const csaw_plan_options *options, int ordinal,
                               csaw__parts **out);
csaw_status csaw__parts_prepare(csaw__parts *parts, const csaw_sampler *sampler, const csaw__job *job, uint64_t walks,
                                uint64_t all, bool edges);
void csaw__parts_forget_tables(csaw__parts *parts);
bool csaw__parts_on_gpu(const csaw__parts *parts); /* not the simulated one; false of NULL */
/* Draws of a GPU's that read rows of several partitions at a time, whose pages it may not read: they are the CPU's. */
bool csaw__parts_leave_to_cpu(const csaw__parts *parts, const csaw_sampler *sampler, uint32_t kernel, bool is_sample);
/* Walks of a round; 0 = any number costs the same transfers. */
uint64_t csaw__parts_together(const csaw__parts *parts, uint32_t length, bool edges);
/* Batches of samples that are under way together, at most, where partitions come to a GPU: those of a lot are at the
 * same depth. */
enum { CSAW__LOT = 8, CSAW__MOST_BATCHES = 4 * CSAW__LOT };
/* How many depths each lot is behind the one before; 0: batches are drawn one after the other. */
uint32_t csaw__parts_depths_apart(const csaw__parts *parts, const csaw_sampler *sampler, const csaw__job *job);
uint32_t csaw__lots_apart(uint32_t depths);        /* the same, of batches that share what is brought */
void csaw__parts_drop_samples(csaw__parts *parts); /* those under way; NULL is fine */
void csaw__parts_free(csaw__parts *parts);

/* Samples of job->num_walks instances from job->first, on the CPU, to samples. heard: as above. */
csaw_status csaw__cpu_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, bool check,
                             csaw__heard *heard, csaw_samples *samples, csaw__fault *fault);
void csaw__workers_free(csaw_plan *plan);

/* The GPU. Paths stay on the device, in samples; *fault has instance and depth alone. prepare, before runs of a job:
 * tables of static biases, on the device; job->rows are the host's. One thread may walk and sample while another
 * delivers samples that are drawn, or frees some: delivery has a stream of its own. */
csaw_status csaw__device_prepare(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job);
bool csaw__device_is_prepared(const csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job); /* at once */
/* of: NULL, or which of the GPUs that hold the graph together. */
csaw_status csaw__device_open(const csaw_graph *graph, int ordinal, const csaw__joint_member *of, char *explain,
                              size_t size, csaw__device **out);
/* Tables that `owner` prepared, of the GPUs that hold the graph together: each one's, the owner's too, until the next;
 * and their end, while none of them runs. */
csaw_status csaw__device_share_tables(csaw_plan *plan, const csaw_plan *owner);
void csaw__device_forget_tables(csaw_plan *owner);
csaw_status csaw__device_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, csaw_samples *samples,
                              csaw__fault *fault);
/* Where walkers are exchanged (device_exchange.h). let_in: kernels of those GPUs may write to paths in this one's
 * memory, and queues are copied straight to theirs. home: memory for the walks of samples, which that GPU delivers, so
 * many bytes for walkers under way, and how it sees graph and seeds of the job, the whole batch's; *out: zeros but for
 * end. leave: what it took for the batch, after it, also of a failure. trim: what the GPU's plan keeps for later is the
 * driver's again, while nothing runs there; room: bytes that it can still take. */
csaw_status csaw__device_let_in(csaw_plan *plan, const int *ordinal, uint32_t count);
csaw_status csaw__device_home(csaw_plan *plan, const csaw__job *job, uint64_t bytes, csaw_samples *samples,
                              struct csaw__exchange_gpu *out);
void csaw__device_leave(csaw_plan *plan, const struct csaw__exchange_gpu *home);
void csaw__device_trim(csaw_plan *plan);
csaw_status csaw__device_room(const csaw_plan *plan, uint64_t *out);
csaw_status csaw__device_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                                csaw_samples *samples, csaw__fault *fault); /* to samples->device_arcs */
/* Copies to the host, which go on until csaw__device_finish(), even of those that failed to begin: of walks to path
 * [num_walks, length + 1] and, unless it is NULL, edge [num_walks, length]; of the arrays of device_arcs to those of
 * to, but for offset[0] and seed_offset[0]. count: of arcs, of seeds. */
csaw_status csaw__device_begin_walks(csaw_samples *samples, csaw_vertex *path, csaw_edge *edge);
csaw_status csaw__device_count_arcs(const csaw_samples *samples, uint64_t count[2]);
csaw_status csaw__device_begin_arcs(const csaw_samples *samples, const uint64_t count[2], const csaw_arcs *to);
csaw_status csaw__device_finish(const csaw_samples *samples);
csaw_status csaw__device_reserve(csaw_samples *samples); /* device_turned, of walks */
void csaw__device_unreserve(csaw_samples *samples);
void csaw__device_release(csaw_samples *samples);
/* Host memory that is page-locked, which copies from a GPU take a fraction of the time to; NULL if it is refused. */
void *csaw__device_pin(uint64_t bytes);
void csaw__device_unpin(void *memory); /* NULL is fine */
void csaw__device_close(csaw__device *device);
csaw_status csaw__device_count(int *out); /* GPUs of this machine; CSAW_ECUDA if there is none */
csaw_status csaw__device_free_memory(int ordinal, uint64_t *out); /* bytes of a GPU's memory that nobody has */

#ifdef __cplusplus
}
#endif

#endif
