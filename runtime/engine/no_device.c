/* SPDX-License-Identifier: MIT */
/* runtime/engine/no_device.c - what a build without CUDA answers to those who ask for a GPU. Weak: a test program may
 * bring an engine of its own, wherever it stands among what is linked. */
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/device_joint.h"
#include "runtime/engine/device_loader.h"
#include "runtime/engine/device_negatives.h"
#include "runtime/engine/device_reducer.h"
#include "runtime/engine/device_weights.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/run.h"
#include "runtime/engine/spread_gpu.h"

#define WEAK __attribute__((weak))

static csaw_status no_cuda(void) {
    return csaw__fail(CSAW_EUNSUPPORTED,
                      "this csaw was built without CUDA; configure with -DCSAW_CUDA=ON, or use device 'cpu'");
}

WEAK csaw_status csaw__device_open(const csaw_graph *graph, int ordinal, const csaw__joint_member *of, char *explain,
                                   size_t size, csaw__device **out) {
    (void)graph, (void)ordinal, (void)of, (void)explain, (void)size, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__joint_reaches(const int *ordinal, uint32_t count, bool *all, int *reader, int *holder) {
    (void)ordinal, (void)count, (void)all, (void)reader, (void)holder;
    return no_cuda();
}

WEAK csaw_status csaw__joint_open(const csaw_csr *csr, const int *ordinal, uint32_t count, bool aligned,
                                  csaw__joint **out) {
    (void)csr, (void)ordinal, (void)count, (void)aligned, (void)out;
    return no_cuda();
}

WEAK void csaw__joint_close(csaw__joint *joint) { (void)joint; }

WEAK csaw_status csaw__gpu_exchange_open(const csaw_csr *csr, const int *ordinal, uint32_t count,
                                         csaw__gpu_exchange **out) {
    (void)csr, (void)ordinal, (void)count, (void)out;
    return no_cuda();
}

WEAK void csaw__gpu_exchange_close(csaw__gpu_exchange *x) { (void)x; }

WEAK csaw__exchange_counts csaw__gpu_exchange_counted(const csaw__gpu_exchange *x) {
    (void)x;
    return (csaw__exchange_counts){0};
}

WEAK csaw_status csaw__gpu_exchange_walk(csaw__gpu_exchange *x, const csaw_sampler *sampler, const csaw__job *job,
                                         const csaw__exchange_gpu *gpu, csaw__fault *fault) {
    (void)x, (void)sampler, (void)job, (void)gpu, (void)fault;
    return no_cuda();
}

WEAK csaw_status csaw__device_let_in(csaw_plan *plan, const int *ordinal, uint32_t count) {
    (void)plan, (void)ordinal, (void)count;
    return no_cuda();
}

WEAK csaw_status csaw__device_home(csaw_plan *plan, const csaw__job *job, uint64_t bytes, csaw_samples *samples,
                                   csaw__exchange_gpu *out) {
    (void)plan, (void)job, (void)bytes, (void)samples, (void)out;
    return no_cuda();
}

WEAK void csaw__device_leave(csaw_plan *plan, const csaw__exchange_gpu *home) { (void)plan, (void)home; }

WEAK void csaw__device_trim(csaw_plan *plan) { (void)plan; }

WEAK csaw_status csaw__device_room(const csaw_plan *plan, uint64_t *out) {
    (void)plan, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__device_share_tables(csaw_plan *plan, const csaw_plan *owner) {
    (void)plan, (void)owner;
    return no_cuda();
}
WEAK void csaw__device_forget_tables(csaw_plan *owner) { (void)owner; }

WEAK csaw_status csaw__device_prepare(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    (void)plan, (void)sampler, (void)job;
    return no_cuda();
}

WEAK bool csaw__device_is_prepared(const csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    (void)plan, (void)sampler, (void)job;
    return false;
}

WEAK csaw_status csaw__device_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, csaw_samples *samples,
                                   csaw__fault *fault) {
    (void)plan, (void)sampler, (void)job, (void)samples, (void)fault;
    return no_cuda();
}

WEAK csaw_status csaw__device_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                                     csaw_samples *samples, csaw__fault *fault) {
    (void)plan, (void)sampler, (void)job, (void)samples, (void)fault;
    return no_cuda();
}

WEAK csaw_status csaw__device_begin_walks(csaw_samples *samples, csaw_vertex *path, csaw_edge *edge) {
    (void)samples, (void)path, (void)edge;
    return no_cuda();
}

WEAK csaw_status csaw__device_count_arcs(const csaw_samples *samples, uint64_t count[2]) {
    (void)samples, (void)count;
    return no_cuda();
}

WEAK csaw_status csaw__device_begin_arcs(const csaw_samples *samples, const uint64_t count[2], const csaw_arcs *to) {
    (void)samples, (void)count, (void)to;
    return no_cuda();
}

WEAK csaw_status csaw__device_blocks(csaw_samples *samples, csaw_blocks *blocks) {
    (void)samples, (void)blocks;
    return no_cuda();
}

WEAK csaw_status csaw__device_blocks_wait(const csaw_blocks *blocks) {
    (void)blocks;
    return no_cuda();
}

WEAK csaw_status csaw__device_blocks_begin(const csaw_blocks *blocks, uint64_t count, csaw_vertex *to) {
    (void)blocks, (void)count, (void)to;
    return no_cuda();
}

WEAK void csaw__device_blocks_free(csaw_blocks *blocks) { (void)blocks; }

WEAK csaw_status csaw__device_loader_open(csaw_plan *plan, const csaw_loader_options *options,
                                          csaw__device_loader **out) {
    (void)plan, (void)options, (void)out;
    return no_cuda();
}

WEAK void csaw__device_loader_close(csaw__device_loader *loader) { (void)loader; }

WEAK csaw_status csaw__device_slot_create(csaw__device_loader *loader, csaw__device_slot **out) {
    (void)loader, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__device_slot_fill(csaw__device_loader *loader, csaw__device_slot *slot, csaw_minibatch *batch) {
    (void)loader, (void)slot, (void)batch;
    return no_cuda();
}

WEAK csaw_status csaw__device_slot_leave(csaw__device_slot *slot) {
    (void)slot;
    return CSAW_OK;
}

WEAK csaw_status csaw__device_slot_await(csaw__device_slot *slot) {
    (void)slot;
    return CSAW_OK;
}

WEAK void csaw__device_slot_free(csaw__device_slot *slot) { (void)slot; }

WEAK csaw_status csaw__device_negatives_create(const csaw__where *where, const csaw__negative_law *law,
                                               uint64_t num_edges, csaw__device_negatives **out) {
    (void)where, (void)law, (void)num_edges, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__device_negatives_draw(const csaw__device_negatives *negatives,
                                             const csaw__negative_request *request, csaw__negative_faults *faults) {
    (void)negatives, (void)request, (void)faults;
    return no_cuda();
}

WEAK void csaw__device_negatives_free(csaw__device_negatives *negatives) { (void)negatives; }

WEAK csaw_status csaw__device_weights(const csaw_plan *plan, const csaw_block_view *block, void *stream, float *out) {
    (void)plan, (void)block, (void)stream, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__device_finish(const csaw_samples *samples) {
    (void)samples;
    return no_cuda();
}

WEAK csaw_status csaw__device_reserve(csaw_samples *samples) {
    (void)samples;
    return no_cuda();
}

WEAK void csaw__device_unreserve(csaw_samples *samples) { (void)samples; }
WEAK void csaw__device_release(csaw_samples *samples) { (void)samples; }

WEAK csaw_status csaw__device_free_memory(int ordinal, uint64_t *out) {
    (void)ordinal, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__device_count(int *out) {
    (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__parts_on_cuda(csaw__parts *parts, int ordinal) {
    (void)parts, (void)ordinal;
    return no_cuda();
}

WEAK csaw_status csaw__parts_sample_on_gpu(const csaw__run *r, const csaw__job *job, csaw_samples *samples,
                                           csaw__fault *fault) {
    (void)r, (void)job, (void)samples, (void)fault;
    return no_cuda();
}

WEAK csaw_status csaw__spread_gpu_open(const csaw__share *share, uint32_t rank, const csaw__spread_options *options,
                                       csaw__spread_gpu **out) {
    (void)share, (void)rank, (void)options, (void)out;
    return no_cuda();
}

WEAK csaw_status csaw__spread_gpu_begin(csaw__spread_gpu *gpu, const csaw_sampler *sampler, const csaw__job *whole,
                                        const csaw__message_forms *forms, bool edges, bool straight, uint64_t *most) {
    (void)gpu, (void)sampler, (void)whole, (void)forms, (void)edges, (void)straight, (void)most;
    return no_cuda();
}

WEAK void *csaw__spread_gpu_place(csaw__spread_gpu *gpu, uint32_t list, uint64_t there, uint64_t count) {
    (void)gpu, (void)list, (void)there, (void)count;
    return NULL;
}

WEAK csaw_status csaw__spread_gpu_step(csaw__spread_gpu *gpu, const csaw__arrivals *in, csaw__left *left) {
    (void)gpu, (void)in, (void)left;
    return no_cuda();
}

WEAK csaw_status csaw__spread_gpu_find(csaw__spread_gpu *gpu, uint64_t walk, uint64_t *slot) {
    (void)gpu, (void)walk, (void)slot;
    return no_cuda();
}

WEAK csaw_status csaw__spread_gpu_message(csaw__spread_gpu *gpu, uint64_t slot, unsigned char *message, bool *asks) {
    (void)gpu, (void)slot, (void)message, (void)asks;
    return no_cuda();
}

WEAK csaw_status csaw__spread_gpu_fetch(csaw__spread_gpu *gpu, uint64_t from, uint64_t *end, const unsigned char **data,
                                        const unsigned char **there) {
    (void)gpu, (void)from, (void)end, (void)data, (void)there;
    return no_cuda();
}

WEAK void csaw__spread_gpu_close(csaw__spread_gpu *gpu) { (void)gpu; }
WEAK void csaw__spread_gpu_forget_tables(csaw__spread_gpu *gpu) { (void)gpu; }

WEAK void *csaw__device_pin(uint64_t bytes) {
    (void)bytes;
    return NULL;
}

WEAK void csaw__device_unpin(void *memory) { (void)memory; }
WEAK void csaw__device_close(csaw__device *device) { (void)device; }

csaw_status csaw__reducer_kernels_create(csaw__source *source, const csaw__device_reducer **out) {
    (void)source;
    *out = NULL;
    return CSAW_OK;
}

void csaw__reducer_kernels_free(const csaw__device_reducer *kernels) { (void)kernels; }
