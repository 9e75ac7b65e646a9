/* SPDX-License-Identifier: MIT */
/* spmm/device_private.cuh - what the files of aggregation on a GPU share. */
#ifndef CSAW_SPMM_DEVICE_PRIVATE_CUH
#define CSAW_SPMM_DEVICE_PRIVATE_CUH

#include "runtime/base/device_copy.h"
#include "spmm/call.h"
#include "spmm/device.h"
#include "spmm/device_memory.cuh"
#include "spmm/device_stretch_layout.cuh"

typedef struct csaw__device_transpose { /* rows are the columns of the matrix; device memory */
    uint64_t *rowptr;                   /* [cols + 1] */
    csaw_vertex *row;                   /* [num_edges] */
    csaw_edge *edge;                    /* [num_edges] the place of each in the matrix, ascending within a row */
} csaw__device_transpose;

typedef struct csaw__device_known { /* of the rows of a matrix, to products with it */
    csaw__long_rows split;
    csaw__listed_unit *units; /* [most_chunks + rows]; NULL: none */
    csaw__stretch_rows stretches;
    csaw__hubs hubs; /* none unless prepared */
} csaw__device_known;

struct csaw__device_plan {
    int ordinal;
    cudaMemPool_t pool; /* of all that follows, and of work memory of the calls with this plan */
    csaw__device_known matrix, transposed;
    csaw__device_transpose transpose;
    csaw__dots_order dots;
    float *divisor; /* [rows] of MEAN */
    float *weight;  /* fixed ones, [num_edges, heads] by the transpose's edges; NULL = none */
    uint32_t heads;
    const float *weight_of; /* the array that they were copied from */
    float *mean_weight;     /* those, or ones where the matrix has none, divided by the lengths of its rows; NULL unless
                             * prepared for means */
};

/* The fixed weights of a plan, if they are those of a with so many heads; NULL = none. */
static inline const float *csaw__fixed_weights(const csaw__device_plan *d, const csaw_sparse *a, uint32_t heads) {
    return d->weight && d->weight_of == a->weight && d->heads == heads ? d->weight : nullptr;
}

/* Likewise those of MEAN. */
static inline const float *csaw__mean_weights(const csaw__device_plan *d, const csaw_sparse *a, uint32_t heads) {
    const bool same = a->weight ? csaw__fixed_weights(d, a, heads) != nullptr : !d->weight;
    return same ? d->mean_weight : nullptr;
}

/* Where the work memory of a call with this plan, or with none, comes from. */
static inline cudaMemPool_t csaw__pool_of(const csaw_spmm_plan *plan) { return plan ? plan->device->pool : nullptr; }

/* What kernels are given of a call of csaw_spmm(); the layout is not filled in. */
static inline csaw__product csaw__product_of(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x,
                                             const csaw_dense *y) {
    csaw__product p = {};
    p.rowptr = a->rowptr, p.col = a->col, p.weight = a->weight;
    p.rows = a->rows, p.num_edges = a->num_edges;
    p.x = *x, p.y = *y;
    p.x.stride = csaw__stride(x), p.y.stride = csaw__stride(y);
    p.arg = call->options.arg;
    p.reduce = call->options.reduce;
    p.heads = call->options.heads;
    return p;
}

/* One launch of the kernel of a method, instances of device_reduce.cuh. next: NULL, or [slices of the launch] zeros: of
 * the kernel whose blocks stay, in place of the method's, which 16 bits alone have. */
csaw_status csaw__launch_f32(const csaw__product *p, csaw_spmm_method method, unsigned blocks, cudaStream_t stream);
csaw_status csaw__launch_f16(const csaw__product *p, csaw_spmm_method method, unsigned blocks, uint32_t *next,
                             cudaStream_t stream);
csaw_status csaw__launch_bf16(const csaw__product *p, csaw_spmm_method method, unsigned blocks, uint32_t *next,
                              cudaStream_t stream);
/* One launch of CSAW_SPMM_HUBS. next: [slices of the launch] work memory. */
csaw_status csaw__launch_hubs(const place &where, const csaw__product *p, const csaw__hubs *hubs, uint32_t *next);

/* A launch that begins beside what ends before it, and waits for that by itself (csaw__end_after_last() of
 * spmm/device_beside.cuh). Code that does not wait, as it is loaded on the current device, must not begin early. */
template <typename... P, typename... A>
static csaw_status csaw__launch_early(const place &where, unsigned blocks, unsigned threads, void (*kernel)(P...),
                                      const A &...arguments) {
    cudaFuncAttributes of;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early = {};
    CSAW_CUDA(cudaFuncGetAttributes(&of, (const void *)kernel));
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(blocks), config.blockDim = dim3(threads);
    config.stream = where.stream;
    config.attrs = &early;
    config.numAttrs = of.ptxVersion >= 90; /* what it was compiled for, whatever it was translated to since */
    CSAW_CUDA(cudaLaunchKernelEx(&config, kernel, (P)arguments...));
    return CSAW_OK;
}

/* CSAW_SPMM_STRETCHES, and the merging of its chunks, which begins early. */
csaw_status csaw__launch_stretches(const place &where, const csaw__product *p, const csaw__stretch_deal *deal);
csaw_status csaw__launch_stretch_merge(const place &where, const csaw__product *p, const csaw__stretch_deal *deal);
/* The rows of a matrix and of its transpose in the order of spmm/device_reorder.cuh, but for first_rows and split,
 * where csaw__reorders(). */
csaw_status csaw__device_reorder(const place &where, const csaw_sparse *a, const csaw__device_transpose *t,
                                 csaw__stretch_rows *of_matrix, csaw__stretch_rows *of_transpose);
/* Keeps fixed weights, [edges, heads], in that order too, if there is one; not MEAN's. */
csaw_status csaw__device_reorder_weights(const place &where, const float *weight, uint64_t rows, uint64_t edges,
                                         uint32_t heads, csaw__stretch_rows *of);
/* How many rows stand before each CSAW__STRETCH_GRAIN places of a matrix; none of a matrix that stretches are not
 * for. */
csaw_status csaw__device_first_rows(const place &where, const uint64_t *rowptr, uint64_t rows, uint64_t edges,
                                    uint32_t **out);
/* The units of a matrix by falling number of edges; none where rows have few, so that it would not serve. */
csaw_status csaw__device_list_units(const place &where, const uint64_t *rowptr, uint64_t rows, uint64_t edges,
                                    const csaw__long_rows *split, csaw__listed_unit **out);
/* The hubs of a matrix; by_column: rowptr of its transpose. */
csaw_status csaw__device_hubs_find(const place &where, const csaw_sparse *a, const uint64_t *by_column,
                                   csaw__hubs *out);

/* The long rows of a matrix: those that a plan knows, or found in work memory. */
class csaw__device_split {
  public:
    /* Takes all memory, and fills in split of p; known: by a plan, NULL = nothing. */
    csaw_status open(const place &where, const csaw__device_known *known, csaw__product *p);
    /* Where they are not known: puts them there. */
    csaw_status find(const place &where, const csaw__product &p) const;

  private:
    work<uint64_t> count_;
    work<csaw__chunk> chunk_;
    work<csaw__long_row> row_;
};

/* A product made ready, and run: all memory is taken by open(), so that run() fails only if CUDA does. */
class csaw__device_run {
  public:
    /* known: of the matrix, by a plan; NULL = nothing */
    csaw_status open(const place &where, const csaw__product &product, const csaw__device_known *known,
                     csaw_spmm_method method);
    csaw_status run(const place &where);

  private:
    csaw_status launch(const place &where);
    csaw__product p_;
    csaw_spmm_method method_ = CSAW_SPMM_AUTO;
    bool resident_ = false; /* blocks stay, in place of the method's own */
    uint64_t slices_ = 0;   /* of a launch */
    csaw__device_split split_;
    work<float> partial_;
    work<uint32_t> place_;
    csaw__hubs hubs_ = {};
    csaw__stretch_deal deal_ = {};
    work<uint32_t> next_;
};

/* Launches, but for memory, all of which is taken before: nothing is checked, nothing waits. out: the arrays of the
 * three. */
csaw_status csaw__device_transpose_fill(const place &where, const csaw_sparse *a, const csaw__device_transpose *out);
/* The weights of the transpose's edges, as csaw__transpose_weights(). divisor: NULL, or what a plan has. */
csaw_status csaw__device_transpose_weights(const place &where, const csaw_sparse *a, const csaw__device_transpose *t,
                                           uint32_t heads, bool mean, const float *kept, const float *divisor,
                                           float *out);
/* How many edges each row has: out [rows]; the divisor of csaw__device_transpose_weights(). */
csaw_status csaw__device_divisors(const place &where, const csaw_sparse *a, float *out);
/* The transpose of a matrix, with weights: given, a plan's, or made here in work memory. */
class csaw__device_turned {
  public:
    /* Takes all memory; rowptr, col and weight of p are filled in, by heads 1 or those of the weights. given: NULL, or
     * the transpose, of one head. */
    csaw_status open(const place &where, const csaw_sparse *a, const csaw_sparse *given, const csaw_spmm_plan *plan,
                     uint32_t heads, bool mean, csaw__product *p);
    csaw_status fill(const place &where) const;
    const csaw__device_transpose &transpose() const { return t_; }

  private:
    csaw_sparse a_;
    csaw__device_transpose t_;
    const float *kept_ = nullptr; /* weights that the plan has, or that are given, of sums */
    const float *divisor_ = nullptr;
    uint32_t heads_ = 1;
    bool made_ = false, mean_ = false;
    work<uint64_t> rowptr_;
    work<csaw_vertex> row_;
    work<csaw_edge> edge_;
    work<float> weight_;
};
/* dx = A^T dy by the method; the transpose: as csaw__device_turned::open(). */
csaw_status csaw__device_features(const place &where, csaw_spmm_method method, const csaw_sparse *a,
                                  const csaw_sparse *given, const csaw_spmm_plan *plan, uint32_t heads, bool mean,
                                  const csaw_dense *dy, const csaw_dense *dx);
/* dx of MAX and MIN over the transpose, which is opened and is filled here once all memory is taken, and where that is
 * faster than to sort: rows are not many times as few as edges, and stretches count them. Strides of dy and dx are
 * filled in. plan: whose transpose that is, or NULL. */
bool csaw__device_gathers_winners(const csaw_sparse *a, const csaw_dense *dy);
csaw_status csaw__device_winners(const place &where, const csaw_sparse *a, const csaw_spmm_plan *plan,
                                 const csaw__device_turned &turned, uint32_t heads, const csaw_edge *arg,
                                 const csaw_dense *dy, const csaw_dense *dx);
/* out[e, h] = <x[row of e, head h], y[column of e, head h]>, divided by the edges of the row if mean. */
csaw_status csaw__device_dots(const place &where, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y,
                              uint32_t heads, bool mean, const csaw_spmm_plan *plan, float *out);
/* The order of a plan's dot products; none where it would not serve. */
csaw_status csaw__device_dots_order(const place &where, const csaw_sparse *a, csaw__dots_order *out);

#endif
