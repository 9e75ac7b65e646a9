// SPDX-License-Identifier: MIT
// tests/spmm_device.cuh - matrices of tests/spmm_cases.h in the memory of a GPU, with guarded and poisoned outputs.
#ifndef CSAW_TESTS_SPMM_DEVICE_CUH
#define CSAW_TESTS_SPMM_DEVICE_CUH

#include "tests/gpu_memory.cuh"
#include "tests/spmm_cases.h"

#include "spmm/device_private.cuh"

namespace spmm_device {

using namespace gpu_memory;
using namespace spmm_cases;

class OnDevice { // a sparse matrix
  public:
    explicit OnDevice(const Sparse &a) : rowptr_(a.rowptr), col_(a.col), weight_(a.weight) {
        view = {a.rows, a.cols, a.col.size(), rowptr_.get(), col_.get(), a.weight.empty() ? nullptr : weight_.get()};
    }
    csaw_sparse view;

  private:
    Array<uint64_t> rowptr_;
    Array<csaw_vertex> col_;
    Array<float> weight_;
};

class DenseOnDevice { // the same bytes: poison of outputs, and of gaps between rows
  public:
    explicit DenseOnDevice(Dense *m) : data_(m->raw()), view(*m->view()) { view.data = data_.get(); }
    std::vector<unsigned char> raw() const { return data_.back(); }

  private:
    Array<unsigned char> data_;

  public:
    csaw_dense view;
};

// Options for the GPU.
inline csaw_spmm_options There(csaw_spmm_options options, csaw_edge *arg, const csaw_spmm_plan *plan,
                               cudaStream_t stream = nullptr) {
    options.device = "cuda:0";
    options.arg = arg;
    options.plan = plan;
    options.stream = stream;
    return options;
}

class Plan {
  public:
    Plan(const csaw_sparse &a, const char *device, bool fixed = false, uint32_t heads = 1, bool hubs = false,
         bool means = false) {
        csaw_prepare_options options = {};
        options.size = sizeof options;
        options.device = device;
        options.fixed_weights = fixed;
        options.heads = heads;
        options.hubs = hubs;
        options.means = means;
        EXPECT_EQ(csaw_spmm_prepare(&a, &options, &plan_), CSAW_OK) << csaw_last_error();
    }
    Plan(const Plan &) = delete;
    ~Plan() { csaw_spmm_plan_free(plan_); }
    const csaw_spmm_plan *get() const { return plan_; }

  private:
    csaw_spmm_plan *plan_ = nullptr;
};

// The most that was taken of a plan's pool, or that of calls without one, while call() ran.
template <class CALL> uint64_t MostTaken(const csaw_spmm_plan *plan, CALL call) {
    cudaMemPool_t pool = plan ? plan->device->pool : nullptr;
    uint64_t before = 0, most = 0;
    if (!pool) EXPECT_EQ(csaw__work_pool(0, &pool), CSAW_OK) << csaw_last_error();
    Require(cudaDeviceSynchronize());
    Require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most)); // to what is taken now
    Require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
    EXPECT_EQ(call(), CSAW_OK) << csaw_last_error();
    Require(cudaDeviceSynchronize());
    Require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    return most - before;
}

// Whether so many bytes of work memory are what the call asked for; the pool gave no less, and rounds pieces up.
template <class CALL> testing::AssertionResult AreTaken(uint64_t bytes, const csaw_spmm_plan *plan, CALL call) {
    csaw__fail_allocations_from(0);
    const uint64_t given = MostTaken(plan, call), asked = csaw__bytes_counted();
    if (bytes == asked && bytes <= given) return testing::AssertionSuccess();
    return testing::AssertionFailure() << bytes << " bytes, but " << asked << " were asked for, " << given << " given";
}

inline Sparse Rmat(uint32_t scale, uint32_t heads) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = scale;
    options.edge_factor = 16;
    options.seed = 4;
    options.directed = options.keep_isolated = true;
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_OK);
    const csaw_sparse look = csaw_graph_sparse(graph);
    Sparse a;
    a.name = "rmat";
    a.rows = look.rows;
    a.cols = look.cols;
    a.rowptr.assign(look.rowptr, look.rowptr + look.rows + 1);
    a.col.assign(look.col, look.col + look.num_edges);
    csaw_graph_free(graph);
    give_weights(&a, heads, 6);
    return a;
}

// Rows around every limit, and hubs of hundreds of chunks.
inline Sparse Hubs(uint32_t heads) {
    Sparse a = random_sparse("hubs", {3, 1024, 0, 1025, 255, 60000, 256, 257, 0, 513, 1536, 20001}, 3000, false);
    give_weights(&a, heads, 7);
    return a;
}

} // namespace spmm_device

#endif
