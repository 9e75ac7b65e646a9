/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_backward.cu - csaw_maxk_spmm_backward() on a GPU: by rows of the transpose, given or made here. */
#include "spmm/device_maxk_gathered.cuh"
#include "spmm/device_maxk_private.cuh"
#include "spmm/device_maxk_run.cuh"
#include "spmm/device_private.cuh"

static csaw__maxk_kernel *kernel_of(csaw__maxk_product *m) {
    if (m->p.x.dtype == CSAW_F32) return csaw__maxk_gathered_of<CSAW_F32>(m);
    return m->p.x.dtype == CSAW_F16 ? csaw__maxk_gathered_of<CSAW_F16>(m) : csaw__maxk_gathered_of<CSAW_BF16>(m);
}

namespace {

/* The transpose of a matrix, in work memory; where weights are divided by row lengths, they are here. */
class transposed {
  public:
    csaw_status make(const place &where, const csaw_sparse *a, bool mean, csaw__product *p) {
        CSAW_REQUIRE(a->rows <= 0xffffffffu, CSAW_EINVAL,
                     "a has %llu rows, but its transpose numbers them by 32 bits, up to 2^32 - 1; split a by rows",
                     (unsigned long long)a->rows);
        CSAW_TRY(rowptr_.take(where, a->cols + 1, "the rows of a transpose"));
        CSAW_TRY(row_.take(where, a->num_edges, "the edges of a transpose"));
        CSAW_TRY(edge_.take(where, a->num_edges, "the edges of a transpose"));
        if (a->weight || mean) CSAW_TRY(weight_.take(where, a->num_edges, "weights of a transpose"));
        p->rowptr = rowptr_.get(), p->col = row_.get(), p->weight = weight_.get();
        return CSAW_OK;
    }
    csaw_status fill(const place &where, const csaw_sparse *a, bool mean) const {
        const csaw__device_transpose t = {rowptr_.get(), row_.get(), edge_.get()};
        CSAW_TRY(csaw__device_transpose_fill(where, a, &t));
        return weight_.get() ? csaw__device_transpose_weights(where, a, &t, 1, mean, nullptr, weight_.get()) : CSAW_OK;
    }

  private:
    work<uint64_t> rowptr_;
    work<csaw_vertex> row_;
    work<csaw_edge> edge_;
    work<float> weight_;
};

} // namespace

csaw_status csaw__device_maxk_backward(const csaw__where *given, const csaw_sparse *a, const csaw_dense *dy,
                                       const csaw_maxk_spmm_options *options, const csaw_cbsr *dx) {
    const csaw_sparse *const turned = options->transpose;
    const bool mean = options->reduce == CSAW_MEAN;
    csaw__maxk_product m = {};
    place where;
    transposed made;
    csaw__maxk_run run;
    if (!dx->rows || !dx->k) return CSAW_OK;
    CSAW_TRY(where.enter(given->ordinal, given->stream, nullptr));
    if (!options->deterministic) return csaw__device_maxk_atomic(where, a, dy, mean, dx);
    m.p.rows = a->cols, m.p.num_edges = a->num_edges;
    m.p.x = *dy, m.p.x.stride = csaw__stride(dy);
    m.p.y = csaw_dense{dx->rows, dx->k, dx->k, dx->dtype, dx->values};
    m.m = *dx;
    csaw__maxk_kernel *const kernel = kernel_of(&m);
    if (turned) {
        m.p.rowptr = turned->rowptr, m.p.col = turned->col, m.p.weight = turned->weight;
        m.degree_of = mean ? a->rowptr : nullptr;
    } else {
        CSAW_TRY(made.make(where, a, mean, &m.p));
    }
    CSAW_TRY(run.open(where, m, dx->k, true));
    if (!turned) CSAW_TRY(made.fill(where, a, mean));
    return run.run(where, kernel);
}
