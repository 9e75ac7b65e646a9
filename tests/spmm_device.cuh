// SPDX-License-Identifier: MIT
// tests/spmm_device.cuh - matrices of tests/spmm_cases.h in the memory of a GPU, with guarded and poisoned outputs.
#ifndef CSAW_TESTS_SPMM_DEVICE_CUH
#define CSAW_TESTS_SPMM_DEVICE_CUH

#include "tests/gpu_memory.cuh"
#include "tests/spmm_cases.h"

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
    Plan(const csaw_sparse &a, const char *device, bool fixed = false, uint32_t heads = 1) {
        csaw_prepare_options options = {};
        options.size = sizeof options;
        options.device = device;
        options.fixed_weights = fixed;
        options.heads = heads;
        EXPECT_EQ(csaw_spmm_prepare(&a, &options, &plan_), CSAW_OK) << csaw_last_error();
    }
    Plan(const Plan &) = delete;
    ~Plan() { csaw_spmm_plan_free(plan_); }
    const csaw_spmm_plan *get() const { return plan_; }
    csaw_spmm_plan *get() { return plan_; }

  private:
    csaw_spmm_plan *plan_ = nullptr;
};

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
