/* SPDX-License-Identifier: MIT */
/* bench/maxk_gpu_lanes.cuh - an experiment of maxk_gpu_bench, --what lanes: whether k = 8 and 16 of up to 256 columns
 * gain by groups of 4 lanes, 2 and 4 entries each, where csaw has 8 lanes with 1 and 2: half the instructions an edge
 * and wider atomic additions, but twice the rows in shared memory. And whether the forward product gains where rows
 * stand by length, so that groups of a warp end together. */
#ifndef CSAW_BENCH_MAXK_GPU_LANES_CUH
#define CSAW_BENCH_MAXK_GPU_LANES_CUH

#include <algorithm>
#include <numeric>

#include "bench/maxk_gpu_check.cuh"
#include "spmm/device_maxk_forward.cuh"
#include "spmm/device_maxk_outer.cuh"
#include "spmm/device_maxk_run.cuh"
#include "spmm/device_private.cuh"

template <int VECTOR> struct by_four : csaw__maxk_shape<4, VECTOR, CSAW__MAXK_NARROW, true> {
    enum { BATCH = 2 };
};

template <typename SHAPE> static csaw__maxk_kernel *kernel_by(bool outer) {
    return outer ? csaw__maxk_outer<CSAW_F32, uint8_t, SHAPE> : csaw__maxk_forward<CSAW_F32, uint8_t, SHAPE>;
}

/* The products of csaw_maxk_spmm(), and of csaw_maxk_spmm_backward() by atomic additions, with a plan. */
static csaw_status product_by_four(const bench *b, bool outer) {
    const csaw_cbsr *const of = outer ? &b->there_dh : &b->there_h;
    csaw__maxk_product m = {};
    place where;
    csaw__maxk_run run;
    m.p.rowptr = b->there.rowptr, m.p.col = b->there.col, m.p.weight = b->there.weight;
    m.p.rows = b->there.rows, m.p.num_edges = b->there.num_edges;
    m.p.x = outer ? b->there_dy : b->there_x, m.p.y = b->there_y;
    m.p.x.stride = m.p.y.stride = b->set.cols;
    m.p.vector = b->set.cols % CSAW__VECTOR == 0 ? CSAW__VECTOR : 1;
    m.m = *of;
    m.sums = (float *)of->values; /* read by the outer product alone */
    m.entries = m.span = (uint32_t)of->k, m.steps = 1;
    m.groups = CSAW__MAXK_THREADS / 4, m.width = CSAW__MAXK_NARROW;
    CSAW_TRY(where.enter(atoi(b->set.device + 5), nullptr, csaw__pool_of(b->plan)));
    CSAW_TRY(run.open(where, m, b->set.cols, !outer, &b->plan->device->matrix.split));
    if (outer) CSAW_CUDA(cudaMemsetAsync(m.sums, 0, of->rows * of->k * sizeof *m.sums, where.stream));
    return run.run(where, of->k == 8 ? kernel_by<by_four<2>>(outer) : kernel_by<by_four<4>>(outer));
}

/* a, its longest rows first, and a plan of it. at: where each row of a stands there. */
struct by_length {
    std::vector<uint64_t> at, rowptr = {0};
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
    csaw_sparse there;
    csaw_spmm_plan *plan = nullptr;

    explicit by_length(const bench *b) : at(b->a.rows), there(b->a) {
        const uint64_t *const old = b->a.rowptr;
        std::vector<uint64_t> from(b->a.rows);
        csaw_prepare_options o = {};
        std::iota(from.begin(), from.end(), uint64_t{0});
        std::stable_sort(from.begin(), from.end(),
                         [&](uint64_t i, uint64_t j) { return old[i + 1] - old[i] > old[j + 1] - old[j]; });
        for (uint64_t r : from) {
            at[r] = rowptr.size() - 1;
            col.insert(col.end(), b->a.col + old[r], b->a.col + old[r + 1]);
            weight.insert(weight.end(), b->a.weight + old[r], b->a.weight + old[r + 1]);
            rowptr.push_back(col.size());
        }
        there.rowptr = upload(rowptr.data(), rowptr.size());
        there.col = upload(col.data(), col.size()), there.weight = upload(weight.data(), weight.size());
        o.size = sizeof o;
        o.device = b->set.device;
        must(csaw_spmm_prepare(&there, &o, &plan));
    }
    ~by_length() {
        csaw_spmm_plan_free(plan);
        cudaFree((void *)there.rowptr);
        cudaFree((void *)there.col);
        cudaFree((void *)there.weight);
    }
};

static void run_lanes(bench *b, const by_length &sorted, double sectors) {
    const uint64_t k = b->h.k;
    csaw_maxk_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.plan = sorted.plan;
    const auto by_rows = [&] { must(csaw_maxk_spmm(&sorted.there, &b->there_h, &o, &b->there_y)); };
    poison(b->there_y);
    by_rows();
    verify_forward(b, sorted.at.data());
    report(b, k, "forward, rows by length", time_of(b->set.repeat, by_rows), 0, "sectors", sectors);
    if (b->set.cols > CSAW__MAXK_NARROW || (k != 8 && k != 16)) return;
    const auto forward = [&] { must(product_by_four(b, false)); };
    const auto backward = [&] { must(product_by_four(b, true)); };
    poison(b->there_y);
    forward();
    verify_forward(b, nullptr);
    report(b, k, "forward, 4 lanes", time_of(b->set.repeat, forward), 0, "sectors", sectors);
    poison(b->there_dh);
    backward();
    verify_backward(b, false);
    report(b, k, "backward, atomic, 4 lanes", time_of(b->set.repeat, backward), 0, "sectors", sectors);
}

#endif
