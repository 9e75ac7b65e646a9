/* SPDX-License-Identifier: MIT */
/* spmm/device.h - aggregation on a GPU, as the files that check arguments call it. Arguments were checked as far as
 * that can be done without looking at device memory; strides of dense matrices are as given. Without CUDA: no_device.c.
 */
#ifndef CSAW_SPMM_DEVICE_H
#define CSAW_SPMM_DEVICE_H

#include "spmm/batched_fault.h"
#include "spmm/check.h"
#include "spmm/device_product.h"
#include "spmm/edge_sampled_rule.h"
#include "spmm/softmax_passes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__call csaw__call;
typedef struct csaw__device_plan csaw__device_plan;

/* Whether this GPU is there: CSAW_EUNSUPPORTED in a build without CUDA. */
csaw_status csaw__device_find(const char *name, int ordinal);

/* csaw_spmm() and csaw_spmm_backward(); with call->work their work memory alone. */
csaw_status csaw__device_spmm(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y);
csaw_status csaw__device_backward(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                  const csaw_dense *dy, const csaw_dense *dx, float *dweight);
/* csaw_spmm() by options.reducer, which has kernels. */
csaw_status csaw__device_reduce_by(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                   const csaw_dense *y);

/* What csaw_spmm_prepare() finds out. Waits for the stream. */
csaw_status csaw__device_plan_create(const csaw_sparse *a, int ordinal, const csaw_prepare_options *options,
                                     csaw__device_plan **out);
void csaw__device_plan_free(csaw__device_plan *plan); /* NULL is fine */

/* csaw_sddmm(); options: heads at least 1. */
csaw_status csaw__device_sddmm(const csaw_sparse *a, int ordinal, const csaw_dense *x, const csaw_dense *y,
                               const csaw_edge_options *options, float *out);
/* csaw_edge_softmax(), or with dout its backward pass. */
csaw_status csaw__device_softmax(const csaw_sparse *a, int ordinal, const csaw__softmax *of, void *stream);

/* csaw_es_spmm() by so many threads a row, 0 = as many as suit its columns; csaw_edge_sample(); gradients. */
csaw_status csaw__device_es_spmm(const csaw__where *where, const csaw__edge_rule *rule, uint32_t lanes,
                                 const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y);
csaw_status csaw__device_edge_sample(const csaw__where *where, const csaw__edge_rule *rule, const csaw_sparse *a,
                                     uint64_t *rowptr, csaw_edge *edge, float *weight);
csaw_status csaw__device_es_backward(const csaw__where *where, const csaw__edge_rule *rule, const csaw_sparse *a,
                                     const csaw_dense *x, const csaw_dense *dy, const csaw_dense *dx, float *dw);

/* An array of the caller's; until the GPU has done everything. */
csaw_status csaw__device_array(int ordinal, uint64_t bytes, void **out);
void csaw__device_array_free(void *memory); /* NULL is fine */
csaw_status csaw__device_wait(int ordinal);
/* Copies to the GPU, or to the host, and waits. */
csaw_status csaw__device_write(const csaw__where *where, void *to, uint64_t bytes, const void *from);
csaw_status csaw__device_read(const csaw__where *where, const void *from, uint64_t bytes, void *to);
/* Makes batch->device from the descriptors, and waits. *bad: UINT64_MAX, or the first graph with a fault, which is
 * told. What a failure leaves is freed with the batch. from_zero: as in csaw__small_fault_of(). */
csaw_status csaw__device_batch_create(csaw_batch *batch, const csaw__where *where, bool from_zero, uint64_t *bad,
                                      csaw__small_fault *fault);
void csaw__device_batch_free(csaw_batch *batch); /* without a GPU: nothing */
/* csaw_batched_spmm() by so many lanes a row, 0 = as many as suit its columns; gradients, dw by so many lanes an entry,
 * 0 = as many as suit their number. */
csaw_status csaw__device_batched_spmm(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                      const csaw_batched_options *options, const csaw_batched_dense *y);
/* SUM and MEAN with the batch's weights by blocks that copy x to shared memory, spmm/device_batched_tiles.cuh. */
csaw_status csaw__device_batched_tiles(const csaw_batch *batch, const csaw_batched_dense *x,
                                       const csaw_batched_options *options, const csaw_batched_dense *y);
csaw_status csaw__device_batched_backward(const csaw_batch *batch, uint32_t lanes, const csaw_batched_dense *x,
                                          const csaw_batched_dense *dy, const csaw_batched_options *options,
                                          const csaw_batched_dense *dx, float *dw);

#ifdef __cplusplus
}
#endif

#endif
