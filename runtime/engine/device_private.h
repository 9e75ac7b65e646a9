/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_private.h - what the files of the GPU engine share: a plan's device, its memory, launches. */
#ifndef CSAW_ENGINE_DEVICE_PRIVATE_H
#define CSAW_ENGINE_DEVICE_PRIVATE_H

#include <cuda_runtime.h>

#include <pthread.h>

#include <atomic>

#include "runtime/base/device_status.h"
#include "runtime/engine/device_library.h"
#include "runtime/engine/plan.h"

/* What a method needs of a sampler's static biases, kept for the last sampler and parameters. Device memory. Of GPUs
 * that hold the graph together the first one has them, and the others see them in their rows alone. */
typedef struct csaw__device_tables {
    const csaw_sampler *sampler; /* NULL = none */
    uint64_t hash;               /* csaw_sampler_hash(): another sampler may be loaded at the same address */
    unsigned char params[CSAW__MAX_PARAMS];
    csaw__alias *alias;   /* [num_edges], NULL until a method asks */
    csaw__row_bias *bias; /* [num_vertices], with alias */
    uint64_t made;        /* a number that no other alias tables have */
    uint64_t *upto;       /* [num_edges], likewise: of csaw__rows */
    bool no_sums;         /* static_bias breaks its rules somewhere: upto stays NULL */
    bool positive;        /* alias or upto: every arc has a positive bias */
} csaw__device_tables;

/* Page-locked memory on the way to the device (device_upload.cu). */
enum { CSAW__STAGING_BLOCKS = 4 };
typedef struct csaw__staging {
    char *blocks;                              /* NULL until something is uploaded */
    cudaEvent_t fetched[CSAW__STAGING_BLOCKS]; /* a block is free again */
    uint32_t turn;                             /* the block of the next copy, counted on and on */
    bool refused;                              /* there was no such memory */
} csaw__staging;

/* Those of the last small samples, each by itself, which most batches share (device_upload.cu). */
typedef struct csaw__kept_fanouts {
    uint32_t *there, *here; /* [length], in device memory and in the host's; NULL: none */
    uint64_t length;
} csaw__kept_fanouts;

struct csaw__device {
    int ordinal;
    std::atomic<int> references; /* the plan's and one per samples */
    cudaStream_t stream;         /* of all but delivery */
    cudaStream_t delivery;       /* of copies to the host, which another thread may wait for meanwhile */
    cudaMemPool_t pool;
    uint64_t most_work; /* words of memory for picking, at one launch */
    csaw__rows rows;    /* device memory; alias, bias and upto are those that the last run prepared */
    csaw__device_tables tables;
    bool keeps_sums; /* there is room for sums of masses */
    uint64_t num_arcs;
    bool asks;                  /* csaw__device_second_order() has done what it could */
    unsigned long long *record; /* [2]: the lowest fault; how many walks REJECT left undecided, or how many
                                   arcs samples have, all ones if that was not counted there */
    csaw__library *library;     /* of a sampler compiled at run time */
    csaw__parts *parts;         /* whose partitions come and go; NULL: the graph is here whole */
    csaw__joint *joint;         /* of the GPUs that hold the graph together; NULL: this one does */
    uint32_t member, holders;   /* which of them, and how many they are; alone: 0, 1 */
    csaw__row_bias *totals;     /* tables.bias of the first of them, copied here; NULL: not */
    uint64_t totals_of;         /* tables.made, of those that were copied, or found no room */
    csaw__staging staging;
    csaw__kept_fanouts fanouts;
    pthread_mutex_t lock; /* of the two below: samples are freed while others are drawn */
    void *kept;           /* memory of arcs that were freed, for the next; NULL: none */
    uint64_t kept_bytes;
};

/* The GPU is the thread's until the end of the scope, then again the one that was. */
class csaw__on_device {
  public:
    explicit csaw__on_device(int ordinal) {
        if (cudaGetDevice(&before_) == cudaSuccess && before_ != ordinal) cudaSetDevice(ordinal);
    }
    csaw__on_device(const csaw__on_device &) = delete;
    ~csaw__on_device() { cudaSetDevice(before_); }

  private:
    int before_ = 0;
};

/* From the device's pool, ordered by its stream, or by that one. */
csaw_status csaw__device_alloc_in(csaw__device *device, cudaStream_t stream, void **out, uint64_t bytes,
                                  const char *what);
csaw_status csaw__device_alloc(csaw__device *device, void **out, uint64_t bytes, const char *what);
void csaw__device_free(csaw__device *device, void *memory); /* NULL is fine */
/* Memory of samples, which is kept when it is freed: a pool may map large blocks anew, which took up to 1.5 ms for
 * 1.6 GB. *bytes: how many at least; then, how many there are. */
csaw_status csaw__device_alloc_kept(csaw__device *device, void **out, uint64_t *bytes, const char *what);
void csaw__device_keep(csaw__device *device, void *memory, uint64_t bytes);
/* Host memory to device memory, in the order of the stream; from may change when it returns. */
csaw_status csaw__device_put(csaw__device *device, void *to, const void *from, uint64_t bytes);
/* Is told of seeds as they come, piece by piece, after they were looked at: first: of the piece, a multiple of 16,
 * counted from those asked for; seed: the piece's, as the GPU reads it in what is put on the stream in the call. */
typedef struct csaw__seeds_come {
    csaw_status (*came)(void *user, const csaw_vertex *seed, uint64_t first, uint64_t count); /* NULL: nobody is */
    void *user;
} csaw__seeds_come;
/* Seeds first .. of the job, so many, as host memory has them, which must be vertices of its graph: CSAW_EINVAL. */
csaw_status csaw__device_put_seeds(csaw__device *device, const csaw__job *host, csaw_vertex *to, uint64_t first,
                                   uint64_t count, csaw__seeds_come come);
/* The same, put nowhere: the GPU reads them in page-locked memory, but for what came(), which is given, puts on the
 * stream they are not there. */
csaw_status csaw__device_show_seeds(csaw__device *device, const csaw__job *host, uint64_t first, uint64_t count,
                                    csaw__seeds_come come);
/* Fanouts as device memory has them, [length], until this is called again or the device gives up what it can. */
csaw_status csaw__device_fanouts(csaw__device *device, const uint32_t *fanout, uint64_t length, const uint32_t **out);
void csaw__device_fanouts_drop(csaw__device *device);
csaw_status csaw__device_upload(csaw__device *device, const void **out, const void *from, uint64_t bytes,
                                const char *what);
/* The same of what lies in the memory of all GPUs that hold the graph together, if there are such: an entry an arc, or
 * tables. By one thread, while none of them runs. */
csaw_status csaw__device_alloc_joint(csaw__device *device, void **out, uint64_t bytes, const char *what);
void csaw__device_free_joint(csaw__device *device, void *memory); /* NULL is fine */
const csaw__rows *csaw__joint_rows(const csaw__joint *joint);     /* the graph's arrays, by arcs */
void csaw__joint_know(csaw__device *device); /* which has a pool: it gives up what it can where memory is short */
/* What is of use alone: memory of samples that were freed, and arcs once more. While no kernel reads them. */
void csaw__device_give_up(csaw__device *device);
/* From the host's memory, of the graph's array `to` this GPU's piece; bytes: of all. */
csaw_status csaw__joint_put(csaw__device *device, const void *to, const void *from, uint64_t bytes);
/* All of that array to this GPU's own memory, in the order of its stream. */
csaw_status csaw__joint_get(csaw__device *device, void *to, const void *from, uint64_t bytes);
void csaw__device_staging_close(csaw__device *device);
void csaw__device_tables_clear(csaw__device *device);
/* rows.classes, if vertices stand by falling degree. */
csaw_status csaw__device_classes(csaw__device *device, const csaw_csr *csr);
/* rows.filter and rows.own_col, if the sampler may ask for arcs by their ends. Without memory for them there are none.
 */
csaw_status csaw__device_second_order(csaw__device *device, const csaw_sampler *sampler);
uint64_t csaw__device_filter_bytes(uint64_t num_arcs); /* that a filter takes */
/* Whether a hook broke its rules since device->record was cleared: instance and depth to *fault; of what is known of
 * the record. */
void csaw__device_name_fault(unsigned long long lowest, csaw__fault *fault);
csaw_status csaw__device_fault(csaw__device *device, csaw__fault *fault);
/* Samples whose pools are lists; samples of any other kind, all instances of the batch a depth at a time. To
 * samples->device_arcs, unless a hook broke its rules. job: rows and fault on the device, everything else the host's.
 * max_degree: the graph's. */
csaw_status csaw__device_lists(csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                               csaw_samples *samples, csaw__fault *fault);
csaw_status csaw__device_depths(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                                const csaw__job *job, csaw_samples *samples, csaw__fault *fault);
/* An engine to which partitions come: no graph, and so many bytes at most. */
csaw_status csaw__device_open_for_parts(int ordinal, uint64_t bytes, csaw__device **out);
inline unsigned csaw__alone_threads_of(const csaw_sampler *sampler) {
    return sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER ? CSAW__ALONE_LAYER_THREADS : CSAW__ALONE_THREADS;
}
csaw_status csaw__device_launch_on(csaw__device *device, cudaStream_t stream, const csaw_sampler *sampler, int kernel,
                                   uint64_t threads, const csaw__job *job);
/* threads in blocks of 256, of CSAW__LAST_THREADS for CSAW__KERNEL_LAST_ .., of csaw__alone_threads_of() for
 * CSAW__KERNEL_ALONE .., of CSAW__EACH_THREADS for CSAW__KERNEL_EACH and above */
csaw_status csaw__device_launch(csaw__device *device, const csaw_sampler *sampler, int kernel, uint64_t threads,
                                const csaw__job *job);

#endif
