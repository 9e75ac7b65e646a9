/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_negatives.cu - see device_negatives.h. A thread draws one negative by the CPU's code
 * (negative_draw.h), so that the bits are the CPU's. The graph is copied, since negatives have no plan: rows alone, and
 * not even these where every vertex is allowed.
 *
 * Limit on an H200: 14% of the issue slots; lanes wait for one search of a row after the other.
 * docs/measured/2026-11-24-gpu-11.md. */
#include "runtime/engine/device_negatives.h"

#include "runtime/base/device_copy.h"
#include "spmm/device_gather.h"
#include "spmm/device_memory.cuh"

struct csaw__device_negatives {
    csaw__where where;
    csaw__negative_law law; /* of the arrays below */
    work<csaw_edge> rowptr;
    work<csaw_vertex> col;
    work<uint64_t> upto;
};

/* ---- device ---- */

/* faults: beyond and without */
static __global__ void draw_negatives(csaw__negative_law law, csaw__negative_request r, unsigned long long *faults) {
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, i = thread / r.each;
    if (i >= r.count) return;
    const csaw_vertex src = r.src[i];
    if (src >= law.num_vertices) {
        atomicMin(faults, (unsigned long long)i);
        return;
    }
    const csaw_vertex x = csaw__negative_draw(&law, r.seed, r.first + i, src, (uint32_t)(thread % r.each));
    if (x == CSAW_NONE) atomicMin(faults + 1, (unsigned long long)i);
    r.dst[thread] = x;
}

/* ---- host ---- */

template <typename T>
static csaw_status upload(const place &where, work<T> *to, const T *from, uint64_t count, const char *what) {
    CSAW_TRY(to->take(where, count, what));
    CSAW_CUDA(csaw__copy_async(to->get(), from, count * sizeof(T), cudaMemcpyHostToDevice, where.stream));
    return CSAW_OK;
}

static csaw_status fill(csaw__device_negatives *n, const place &where, const csaw__negative_law *law,
                        uint64_t num_edges) {
    n->law = *law;
    if (!law->any) {
        CSAW_TRY(upload(where, &n->rowptr, law->rowptr, law->num_vertices + 1, "rows of a graph"));
        CSAW_TRY(upload(where, &n->col, law->col, num_edges, "arcs of a graph"));
    }
    if (law->upto) CSAW_TRY(upload(where, &n->upto, law->upto, law->num_vertices, "sums over all vertices"));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    n->law.rowptr = n->rowptr.get();
    n->law.col = n->col.get();
    n->law.upto = n->upto.get();
    return CSAW_OK;
}

csaw_status csaw__device_negatives_create(const csaw__where *of, const csaw__negative_law *law, uint64_t num_edges,
                                          csaw__device_negatives **out) {
    csaw__device_negatives *n = nullptr;
    place where;
    CSAW_TRY(where.enter(of->ordinal, of->stream, nullptr));
    CSAW_TRY(csaw__alloc_zero(&n, 1, "negative samples of a GPU"));
    n->where = *of;
    const csaw_status status = fill(n, where, law, num_edges);
    if (status == CSAW_OK) {
        *out = n;
    } else {
        cudaStreamSynchronize(where.stream); /* a copy may be on its way */
        csaw__device_negatives_free(n);
    }
    return status;
}

void csaw__device_negatives_free(csaw__device_negatives *n) {
    place where;
    if (!n) return;
    (void)where.enter(n->where.ordinal, n->where.stream, nullptr);
    n->~csaw__device_negatives();
    csaw__free(n);
}

/* Waits for the stream, whatever fails: what it was given may be the caller's memory. */
static csaw_status read(const place &where, void *to, const void *from, uint64_t bytes) {
    const cudaError_t copied = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, where.stream);
    const cudaError_t waited = cudaStreamSynchronize(where.stream);
    CSAW_CUDA(copied);
    CSAW_CUDA(waited);
    return CSAW_OK;
}

csaw_status csaw__device_negatives_draw(const csaw__device_negatives *n, const csaw__negative_request *request,
                                        csaw__negative_faults *out) {
    const uint64_t draws = request->count * request->each;
    csaw__negative_request r = *request;
    work<unsigned long long> faults;
    unsigned long long found[2];
    const void *src, *dst;
    place where;
    if (!draws) return CSAW_OK;
    CSAW_TRY(where.enter(n->where.ordinal, n->where.stream, nullptr));
    CSAW_TRY(csaw__device_reach(n->where.ordinal, r.src, r.count * sizeof *r.src, "src", &src));
    CSAW_TRY(csaw__device_reach(n->where.ordinal, r.dst, draws * sizeof *r.dst, "dst", &dst));
    r.src = (const csaw_vertex *)src;
    r.dst = (csaw_vertex *)dst;
    CSAW_TRY(faults.take(where, 2, "faults of negative samples"));
    CSAW_CUDA(cudaMemsetAsync(faults.get(), 0xff, sizeof found, where.stream));
    CSAW__LAUNCH(where, draws, draw_negatives, n->law, r, faults.get());
    CSAW_TRY(read(where, found, faults.get(), sizeof found));
    out->beyond = found[0];
    out->without = found[1];
    const unsigned long long at = out->beyond != UINT64_MAX ? out->beyond : out->without;
    if (at != UINT64_MAX) CSAW_TRY(read(where, &out->vertex, r.src + at, sizeof out->vertex));
    return CSAW_OK;
}
