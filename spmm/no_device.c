/* SPDX-License-Identifier: MIT */
/* spmm/no_device.c - what aggregation of a build without CUDA answers to those who ask for a GPU. The first function
 * refuses every GPU, so that none of the others is reached with one. Weak: what a test program may bring of its own. */
#include "spmm/device.h"
#include "spmm/device_gather.h"
#include "spmm/device_maxk.h"

#define WEAK __attribute__((weak))

static csaw_status refuse(void) {
    return csaw__fail(CSAW_EUNSUPPORTED,
                      "this csaw was built without CUDA; configure with -DCSAW_CUDA=ON, or use device 'cpu'");
}

WEAK csaw_status csaw__device_find(const char *name, int ordinal) {
    (void)name, (void)ordinal;
    return refuse();
}

WEAK csaw_status csaw__device_gather(const csaw__where *where, const csaw__gathering *gathering) {
    (void)where, (void)gathering;
    return refuse();
}

WEAK csaw_status csaw__device_reach(int ordinal, const void *memory, uint64_t bytes, const char *name,
                                    const void **out) {
    (void)ordinal, (void)memory, (void)bytes, (void)name, (void)out;
    return refuse();
}

csaw_status csaw__device_spmm(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
    (void)call, (void)a, (void)x, (void)y;
    return refuse();
}

csaw_status csaw__device_reduce_by(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                   const csaw_dense *y) {
    (void)call, (void)a, (void)x, (void)y;
    return refuse();
}

csaw_status csaw__device_backward(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                  const csaw_dense *dy, const csaw_dense *dx, float *dweight) {
    (void)call, (void)a, (void)x, (void)dy, (void)dx, (void)dweight;
    return refuse();
}

csaw_status csaw__device_plan_create(const csaw_sparse *a, int ordinal, const csaw_prepare_options *options,
                                     csaw__device_plan **out) {
    (void)a, (void)ordinal, (void)options, (void)out;
    return refuse();
}

void csaw__device_plan_free(csaw__device_plan *plan) { (void)plan; }

csaw_status csaw__device_sddmm(const csaw_sparse *a, int ordinal, const csaw_dense *x, const csaw_dense *y,
                               const csaw_edge_options *options, float *out) {
    (void)a, (void)ordinal, (void)x, (void)y, (void)options, (void)out;
    return refuse();
}

csaw_status csaw__device_softmax(const csaw_sparse *a, int ordinal, const csaw__softmax *of, void *stream) {
    (void)a, (void)ordinal, (void)of, (void)stream;
    return refuse();
}

csaw_status csaw__device_es_spmm(const csaw__where *where, const csaw__edge_rule *rule, uint32_t lanes,
                                 const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
    (void)where, (void)rule, (void)lanes, (void)a, (void)x, (void)y;
    return refuse();
}

csaw_status csaw__device_edge_sample(const csaw__where *where, const csaw__edge_rule *rule, const csaw_sparse *a,
                                     uint64_t *rowptr, csaw_edge *edge, float *weight) {
    (void)where, (void)rule, (void)a, (void)rowptr, (void)edge, (void)weight;
    return refuse();
}

csaw_status csaw__device_es_backward(const csaw__where *where, const csaw__edge_rule *rule, const csaw_sparse *a,
                                     const csaw_dense *x, const csaw_dense *dy, const csaw_dense *dx, float *dw) {
    (void)where, (void)rule, (void)a, (void)x, (void)dy, (void)dx, (void)dw;
    return refuse();
}

csaw_status csaw__device_array(int ordinal, uint64_t bytes, void **out) {
    (void)ordinal, (void)bytes, (void)out;
    return refuse();
}

void csaw__device_array_free(void *memory) { (void)memory; }

csaw_status csaw__device_wait(int ordinal) {
    (void)ordinal;
    return refuse();
}

csaw_status csaw__device_write(const csaw__where *where, void *to, uint64_t bytes, const void *from) {
    (void)where, (void)to, (void)bytes, (void)from;
    return refuse();
}

csaw_status csaw__device_read(const csaw__where *where, const void *from, uint64_t bytes, void *to) {
    (void)where, (void)from, (void)bytes, (void)to;
    return refuse();
}

csaw_status csaw__device_batch_create(csaw_batch *batch, const csaw__where *where, bool from_zero, uint64_t *bad,
                                      csaw__small_fault *fault) {
    (void)batch, (void)where, (void)from_zero, (void)bad, (void)fault;
    return refuse();
}

void csaw__device_batch_free(csaw_batch *batch) { (void)batch; }

csaw_status csaw__device_batched_spmm(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                      const csaw_batched_options *options, const csaw_batched_dense *y) {
    (void)batch, (void)lanes, (void)x, (void)options, (void)y;
    return refuse();
}

csaw_status csaw__device_batched_tiles(const csaw_batch *batch, const csaw_batched_dense *x,
                                       const csaw_batched_options *options, const csaw_batched_dense *y) {
    (void)batch, (void)x, (void)options, (void)y;
    return refuse();
}

csaw_status csaw__device_batched_backward(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                          const csaw_batched_dense *dy, const csaw_batched_options *options,
                                          const csaw_batched_dense *dx, float *dw) {
    (void)batch, (void)lanes, (void)x, (void)dy, (void)options, (void)dx, (void)dw;
    return refuse();
}

csaw_status csaw__device_maxk(const csaw__where *where, const csaw_dense *x, const csaw_cbsr *out) {
    (void)where, (void)x, (void)out;
    return refuse();
}

csaw_status csaw__device_maxk_dense(const csaw__where *where, const csaw_cbsr *m, const csaw_dense *out) {
    (void)where, (void)m, (void)out;
    return refuse();
}

csaw_status csaw__device_maxk_gather(const csaw__where *where, const csaw_dense *x, const csaw_cbsr *out) {
    (void)where, (void)x, (void)out;
    return refuse();
}

csaw_status csaw__device_maxk_spmm(const csaw__where *where, const csaw_sparse *a, const csaw_cbsr *x,
                                   const csaw_maxk_spmm_options *options, const csaw_dense *y) {
    (void)where, (void)a, (void)x, (void)options, (void)y;
    return refuse();
}

csaw_status csaw__device_maxk_backward(const csaw__where *where, const csaw_sparse *a, const csaw_dense *dy,
                                       const csaw_maxk_spmm_options *options, const csaw_cbsr *dx) {
    (void)where, (void)a, (void)dy, (void)options, (void)dx;
    return refuse();
}

csaw_status csaw__device_maxk_weight(const csaw__where *where, const csaw_sparse *a, const csaw_dense *dy,
                                     const csaw_cbsr *x, csaw_reduce reduce, float *dweight) {
    (void)where, (void)a, (void)dy, (void)x, (void)reduce, (void)dweight;
    return refuse();
}
