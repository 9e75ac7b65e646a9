/* SPDX-License-Identifier: MIT */
/* spmm/device_spmm.cu - csaw_spmm() on a GPU: long rows found unless a plan has them or stretches need no list, then
 * slice by slice the kernel of units, or stretches, and that of merging. Nothing here waits for the GPU. */
#include "spmm/device_auto.h"
#include "spmm/device_long.cuh"
#include "spmm/device_private.cuh"

csaw_status csaw__device_split::open(const place &where, const csaw__device_known *known, csaw__product *p) {
    if (known) {
        p->split = known->split;
        return CSAW_OK;
    }
    p->split.most_rows = csaw__most_long_rows(p->num_edges, p->rows);
    p->split.most_chunks = csaw__most_chunks(p->num_edges, p->rows);
    if (!p->split.most_chunks) return CSAW_OK;
    CSAW_TRY(count_.take(where, 2, "the number of long rows"));
    CSAW_TRY(chunk_.take(where, p->split.most_chunks, "the chunks of long rows"));
    CSAW_TRY(row_.take(where, p->split.most_rows, "a list of long rows"));
    p->split.count = count_.get();
    p->split.chunk = chunk_.get();
    p->split.row = row_.get();
    return CSAW_OK;
}

csaw_status csaw__device_split::find(const place &where, const csaw__product &p) const {
    if (!count_.get()) return CSAW_OK;
    CSAW_CUDA(cudaMemsetAsync(p.split.count, 0, 2 * sizeof *p.split.count, where.stream));
    CSAW__LAUNCH(where, p.rows, csaw__find_long, p.rowptr, p.rows, p.split);
    return CSAW_OK;
}

csaw_status csaw__device_run::open(const place &where, const csaw__product &product, const csaw__device_known *known,
                                   csaw_spmm_method method) {
    p_ = product;
    method_ = method;
    if (known) hubs_ = known->hubs, p_.units = known->units;
    int l2_bytes = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, where.ordinal));
    csaw__lay_vectors(&p_);
    if (method == CSAW_SPMM_AUTO) {
        const csaw__auto_way way = csaw__auto_way_of(&p_, known && known->stretches.moved, (uint64_t)l2_bytes);
        method_ = way.method, resident_ = way.resident;
    }
    CSAW_REQUIRE(
        method_ != CSAW_SPMM_HUBS || hubs_.code, CSAW_EINVAL,
        "method 'hubs' needs a plan that was prepared with hubs; set hubs of csaw_prepare_options, or leave the "
        "method CSAW_SPMM_AUTO");
    if (method_ == CSAW_SPMM_STRETCHES && !csaw__takes_stretches(&p_)) method_ = CSAW_SPMM_CRC;
    if (method_ == CSAW_SPMM_STRETCHES) {
        int multiprocessors = 0;
        CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, where.ordinal));
        const csaw__long_rows *split = known ? &known->split : nullptr;
        deal_.multiprocessors = (uint32_t)multiprocessors;
        if (known) deal_.first_rows = known->stretches.first_rows, deal_.moved = known->stretches.moved;
        if (deal_.moved) {
            split = &known->stretches.split;
            p_.rowptr = known->stretches.rowptr, p_.col = known->stretches.col;
            deal_.shifted = known->stretches.weight_of != p_.weight || known->stretches.heads != p_.heads;
            if (!deal_.shifted) p_.weight = known->stretches.weight;
        }
        csaw__lay_stretches(&p_, split, (uint64_t)l2_bytes);
        deal_.places = csaw__stretch_places(&p_, (uint64_t)multiprocessors);
        csaw__deal_stretches(&p_, deal_.places);
    } else {
        CSAW_TRY(split_.open(where, known, &p_));
        csaw__lay_out(&p_, method_, CSAW__THREADS);
    }
    CSAW_REQUIRE(
        p_.blocks <= 0x7fffffffu, CSAW_EINVAL,
        "%llu rows of %llu edges take %llu blocks, but a launch has at most 2^31 - 1; split the matrix by rows",
        (unsigned long long)p_.rows, (unsigned long long)p_.num_edges, (unsigned long long)p_.blocks);
    const uint64_t slices = p_.slices_of_head * p_.heads, bytes = csaw__partial_bytes(&p_);
    if (!slices || !p_.rows) return CSAW_OK;
    slices_ = p_.blocks ? 0x7fffffffu / p_.blocks : slices;
    if (bytes && slices_ > CSAW__ROOM_BYTES / bytes) slices_ = CSAW__ROOM_BYTES / bytes;
    if (method_ == CSAW_SPMM_STRETCHES && csaw__stretch_merging_blocks(&p_, slices_) > 0x7fffffffu)
        slices_ = 0x7fffffffu / csaw__stretch_merging_blocks(&p_, 1);
    slices_ = slices_ < 1 ? 1 : slices_ > slices ? slices : slices_;
    if (method_ == CSAW_SPMM_HUBS || resident_) CSAW_TRY(next_.take(where, slices_, "a count of units"));
    if (!p_.split.most_chunks) return CSAW_OK;
    const uint64_t elements = slices_ * p_.split.most_chunks * p_.width;
    CSAW_TRY(partial_.take(where, elements, "partial results of long rows"));
    p_.partial = partial_.get();
    if (csaw__is_extreme(p_.reduce)) CSAW_TRY(place_.take(where, elements, "partial results of long rows"));
    p_.place = place_.get();
    return CSAW_OK;
}

csaw_status csaw__device_run::launch(const place &where) {
    unsigned blocks = (unsigned)(p_.slices * p_.blocks);
    if (method_ == CSAW_SPMM_STRETCHES) return csaw__launch_stretches(where, &p_, &deal_);
    if (method_ == CSAW_SPMM_HUBS) return csaw__launch_hubs(where, &p_, &hubs_, next_.get());
    if (p_.x.dtype == CSAW_F32) return csaw__launch_f32(&p_, method_, blocks, where.stream);
    uint32_t *const next = resident_ ? next_.get() : nullptr;
    if (next) {
        int multiprocessors = 0;
        CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, where.ordinal));
        blocks = (unsigned)multiprocessors;
        CSAW_CUDA(cudaMemsetAsync(next, 0, p_.slices * sizeof *next, where.stream));
    }
    return p_.x.dtype == CSAW_F16 ? csaw__launch_f16(&p_, method_, blocks, next, where.stream)
                                  : csaw__launch_bf16(&p_, method_, blocks, next, where.stream);
}

csaw_status csaw__device_run::run(const place &where) {
    const uint64_t slices = p_.slices_of_head * p_.heads;
    if (!slices || !p_.rows) return CSAW_OK;
    CSAW_TRY(split_.find(where, p_));
    for (p_.first_slice = 0; p_.first_slice < slices; p_.first_slice += slices_) {
        const uint64_t left = slices - p_.first_slice, here = left < slices_ ? left : slices_;
        p_.slices = here;
        CSAW_TRY(launch(where));
        if (p_.split.most_rows && method_ != CSAW_SPMM_STRETCHES)
            CSAW__LAUNCH(where, here * p_.split.most_rows * CSAW__MERGE_LANES, csaw__merge, p_);
    }
    return CSAW_OK;
}

csaw_status csaw__device_spmm(const csaw__call *call, const csaw_sparse *a, const csaw_dense *x, const csaw_dense *y) {
    const csaw_spmm_plan *const plan = call->options.plan;
    place where;
    csaw__device_run run;
    CSAW_TRY(where.enter(call->ordinal, call->options.stream, csaw__pool_of(plan)));
    where.counted = call->work;
    CSAW_TRY(
        run.open(where, csaw__product_of(call, a, x, y), plan ? &plan->device->matrix : nullptr, call->options.method));
    return call->work ? CSAW_OK : run.run(where);
}
