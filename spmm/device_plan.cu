/* SPDX-License-Identifier: MIT */
/* spmm/device_plan.cu - csaw_spmm_prepare() on a GPU: the matrix checked, its long rows and its transpose kept in a
 * pool of the plan's. */
#include "spmm/device_long.cuh"
#include "spmm/device_private.cuh"
#include "spmm/device_transpose.cuh"

csaw_status csaw__device_find(const char *name, int ordinal) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) (void)cudaGetLastError();
    CSAW_REQUIRE(error == cudaSuccess && count > 0, CSAW_ECUDA,
                 "no CUDA device was found (%s); use device 'cpu', or see that the driver is installed",
                 error == cudaSuccess ? "the driver lists none" : cudaGetErrorString(error));
    CSAW_REQUIRE(ordinal < count, CSAW_EINVAL, "device '%s' does not exist; there are %d (cuda:0 .. cuda:%d)", name,
                 count, count - 1);
    return CSAW_OK;
}

template <typename T> static csaw_status read(const place &where, const T *from, T *to, uint64_t count) {
    CSAW_CUDA(csaw__copy_async(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, where.stream));
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    return CSAW_OK;
}

/* As csaw_sparse_check(), and in its words. */
static csaw_status check(const place &where, const csaw_sparse *a) {
    work<unsigned long long> bad_there;
    unsigned long long bad[2];
    uint64_t ends[2], fall[2];
    csaw_vertex column = 0;
    CSAW_TRY(bad_there.take(where, 2, "a check of a matrix"));
    CSAW_CUDA(cudaMemsetAsync(bad_there.get(), 0xff, sizeof bad, where.stream));
    CSAW__LAUNCH(where, a->rows > a->num_edges ? a->rows : a->num_edges, csaw__check_matrix, *a, bad_there.get());
    CSAW_TRY(read(where, a->rowptr, &ends[0], 1));
    CSAW_TRY(read(where, a->rowptr + a->rows, &ends[1], 1));
    CSAW_TRY(read(where, bad_there.get(), bad, 2));
    CSAW_REQUIRE(ends[0] == 0, CSAW_EINVAL, "rowptr begins with %llu, but must begin with 0",
                 (unsigned long long)ends[0]);
    if (bad[0] != ~0ull) {
        CSAW_TRY(read(where, a->rowptr + bad[0], fall, 2));
        return csaw__fail(CSAW_EINVAL, "rowptr falls from %llu to %llu at row %llu, but must never fall",
                          (unsigned long long)fall[0], (unsigned long long)fall[1], bad[0]);
    }
    CSAW_REQUIRE(ends[1] == a->num_edges, CSAW_EINVAL,
                 "rowptr ends with %llu, but must end with the number of edges, %llu", (unsigned long long)ends[1],
                 (unsigned long long)a->num_edges);
    if (bad[1] == ~0ull) return CSAW_OK;
    CSAW_TRY(read(where, a->col + bad[1], &column, 1));
    return csaw__fail(CSAW_EINVAL,
                      "edge %llu has column %u, but the matrix has %llu columns, numbered from 0; fix it, or cols",
                      bad[1], column, (unsigned long long)a->cols);
}

template <typename T> static csaw_status keep(const place &where, uint64_t count, const char *what, T **out) {
    work<T> memory;
    CSAW_TRY(memory.take(where, count, what));
    *out = memory.leave();
    return CSAW_OK;
}

/* As many places as there are long rows and chunks, and what goes there. */
static csaw_status find_long(const place &where, const uint64_t *rowptr, uint64_t rows, csaw__long_rows *out) {
    uint64_t count[2];
    CSAW_TRY(keep(where, 2, "the number of long rows", &out->count));
    CSAW_CUDA(cudaMemsetAsync(out->count, 0, sizeof count, where.stream));
    CSAW__LAUNCH(where, rows, csaw__find_long, rowptr, rows, *out);
    CSAW_TRY(read(where, out->count, count, 2));
    if (!count[1]) return CSAW_OK;
    CSAW_TRY(keep(where, count[0], "the chunks of long rows", &out->chunk));
    CSAW_TRY(keep(where, count[1], "a list of long rows", &out->row));
    out->most_chunks = count[0];
    out->most_rows = count[1];
    CSAW_CUDA(cudaMemsetAsync(out->count, 0, sizeof count, where.stream));
    CSAW__LAUNCH(where, rows, csaw__find_long, rowptr, rows, *out);
    return CSAW_OK;
}

static csaw_status list_units(const place &where, const csaw_sparse *a, csaw__device_plan *plan) {
    csaw__device_known *const known[] = {&plan->matrix, &plan->transposed};
    CSAW_TRY(csaw__device_list_units(where, a->rowptr, a->rows, a->num_edges, &known[0]->split, &known[0]->units));
    return csaw__device_list_units(where, plan->transpose.rowptr, a->cols, a->num_edges, &known[1]->split,
                                   &known[1]->units);
}

static csaw_status find_first_rows(const place &where, const uint64_t *rowptr, uint64_t rows, uint64_t edges,
                                   csaw__stretch_rows *out) {
    if (out->moved) CSAW_TRY(find_long(where, out->rowptr, rows, &out->split));
    return csaw__device_first_rows(where, out->moved ? out->rowptr : rowptr, rows, edges, &out->first_rows);
}

static csaw_status deal_stretches(const place &where, const csaw_sparse *a, csaw__device_plan *plan) {
    csaw__stretch_rows *const of[] = {&plan->matrix.stretches, &plan->transposed.stretches};
    CSAW_TRY(csaw__device_reorder(where, a, &plan->transpose, of[0], of[1]));
    CSAW_TRY(find_first_rows(where, a->rowptr, a->rows, a->num_edges, of[0]));
    return find_first_rows(where, plan->transpose.rowptr, a->cols, a->num_edges, of[1]);
}

static csaw_status find_hubs(const place &where, const csaw_sparse *a, csaw__device_plan *plan) {
    const csaw__device_transpose *const t = &plan->transpose;
    const csaw_sparse turned = {a->cols, a->rows, a->num_edges, t->rowptr, t->row, nullptr};
    CSAW_TRY(csaw__device_hubs_find(where, a, t->rowptr, &plan->matrix.hubs));
    return csaw__device_hubs_find(where, &turned, a->rowptr, &plan->transposed.hubs);
}

static csaw_status fill(const csaw_sparse *a, const csaw_prepare_options *options, csaw__device_plan *plan) {
    csaw__device_transpose *const t = &plan->transpose;
    place where;
    CSAW_TRY(where.enter(plan->ordinal, options->stream, nullptr));
    CSAW_TRY(csaw__pool_create(plan->ordinal, UINT64_MAX, &plan->pool));
    where.pool = plan->pool;
    CSAW_TRY(check(where, a));
    CSAW_TRY(find_long(where, a->rowptr, a->rows, &plan->matrix.split));
    CSAW_TRY(keep(where, a->cols + 1, "the rows of a transpose", &t->rowptr));
    CSAW_TRY(keep(where, a->num_edges, "the edges of a transpose", &t->row));
    CSAW_TRY(keep(where, a->num_edges, "the edges of a transpose", &t->edge));
    CSAW_TRY(csaw__device_transpose_fill(where, a, t));
    CSAW_TRY(find_long(where, t->rowptr, a->cols, &plan->transposed.split));
    CSAW_TRY(list_units(where, a, plan));
    CSAW_TRY(deal_stretches(where, a, plan));
    CSAW_TRY(csaw__device_dots_order(where, a, &plan->dots));
    CSAW_TRY(keep(where, a->rows, "the lengths of rows", &plan->divisor));
    CSAW_TRY(csaw__device_divisors(where, a, plan->divisor));
    if (options->hubs) CSAW_TRY(find_hubs(where, a, plan));
    if (options->fixed_weights && a->weight) {
        plan->heads = options->heads ? options->heads : 1;
        plan->weight_of = a->weight;
        CSAW_TRY(keep(where, a->num_edges * plan->heads, "weights of a transpose", &plan->weight));
        CSAW_TRY(csaw__device_transpose_weights(where, a, t, plan->heads, false, nullptr, nullptr, plan->weight));
        CSAW_TRY(csaw__device_reorder_weights(where, a->weight, a->rows, a->num_edges, plan->heads,
                                              &plan->matrix.stretches));
        CSAW_TRY(csaw__device_reorder_weights(where, plan->weight, a->cols, a->num_edges, plan->heads,
                                              &plan->transposed.stretches));
    }
    if (options->means) {
        const uint32_t heads = a->weight ? plan->heads : 1;
        CSAW_TRY(keep(where, a->num_edges * heads, "weights of a transpose", &plan->mean_weight));
        CSAW_TRY(
            csaw__device_transpose_weights(where, a, t, heads, true, plan->weight, plan->divisor, plan->mean_weight));
    }
    CSAW_CUDA(cudaStreamSynchronize(where.stream));
    cudaMemPoolTrimTo(plan->pool, 0); /* what sorting took */
    return CSAW_OK;
}

csaw_status csaw__device_plan_create(const csaw_sparse *a, int ordinal, const csaw_prepare_options *options,
                                     csaw__device_plan **out) {
    csaw__device_plan *plan = nullptr;
    CSAW_REQUIRE(a->rows <= 0xffffffffu, CSAW_EINVAL,
                 "a matrix of %llu rows cannot be transposed: its rows become columns, which reach 2^32 - 1; split it",
                 (unsigned long long)a->rows);
    CSAW_TRY(csaw__alloc_zero(&plan, 1, "a plan of aggregation"));
    plan->ordinal = ordinal;
    const csaw_status status = fill(a, options, plan);
    if (status == CSAW_OK)
        *out = plan;
    else
        csaw__device_plan_free(plan);
    return status;
}

void csaw__device_plan_free(csaw__device_plan *plan) {
    if (!plan) return;
    place where;
    if (plan->pool && where.enter(plan->ordinal, nullptr, nullptr) == CSAW_OK) {
        void *const memory[] = {plan->transpose.rowptr, plan->transpose.row, plan->transpose.edge, plan->dots.group,
                                plan->dots.row,         plan->divisor,       plan->weight,         plan->mean_weight};
        cudaDeviceSynchronize(); /* calls with this plan may still run */
        for (const csaw__device_known *k : {&plan->matrix, &plan->transposed}) {
            const csaw__stretch_rows *const s = &k->stretches;
            for (const csaw__long_rows *split : {&k->split, &s->split})
                for (void *m : {(void *)split->count, (void *)split->chunk, (void *)split->row}) cudaFree(m);
            for (void *m : {(void *)s->first_rows, (void *)s->rowptr, (void *)s->col, (void *)s->moved,
                            (void *)s->weight, (void *)k->units, (void *)k->hubs.code, (void *)k->hubs.column})
                cudaFree(m);
        }
        for (void *m : memory) cudaFree(m);
        cudaMemPoolDestroy(plan->pool);
    }
    csaw__free(plan);
}
