// SPDX-License-Identifier: MIT
// tests/spmm_product.cuh - one product of csaw_spmm() on the CPU and on a GPU, to be compared: by a reduction of the
// library's, with the edges that maximum and minimum pick, or by a reducer.
#ifndef CSAW_TESTS_SPMM_PRODUCT_CUH
#define CSAW_TESTS_SPMM_PRODUCT_CUH

#include "tests/share.h"
#include "tests/spmm_device.cuh"

namespace spmm_product {

using namespace spmm_device;

struct Ask {
    csaw_reduce reduce = CSAW_SUM;
    uint64_t cols = 1;
    csaw_dtype of_x = CSAW_F32, of_y = CSAW_F32;
    uint32_t heads = 1;
    uint64_t gap = 0;
    const csaw_reducer *reducer = nullptr; // in place of reduce
};

// One product on the CPU, and the same memory on the GPU to be computed again.
class Product {
  public:
    Product(const Sparse &a, const OnDevice &there, const Ask &ask)
        : ask_(ask), name_(a.name), want_rows_(a.rows), a_(there),
          x_(random_matrix(a.cols, ask.cols, ask.cols + 1), ask.of_x, ask.gap),
          want_(a.rows, ask.cols, ask.of_y, ask.gap), there_x_(&x_), arg_(a.rows * ask.cols + 1, 12345),
          odd_(ask.gap != 0) {
        const csaw_sparse view = a.view();
        Poison();
        picks_ = ask.reduce == CSAW_MAX || ask.reduce == CSAW_MIN;
        options_ = options_of(ask.reduce, ask.heads, picks_ ? arg_.data() : nullptr);
        options_.reducer = ask.reducer;
        EXPECT_EQ(csaw_spmm(&view, x_.view(), &options_, want_.view()), CSAW_OK) << csaw_last_error();
    }
    void Poison() const {
        Dense poison(want_rows_, ask_.cols, ask_.of_y, ask_.gap);
        there_y_.reset(new DenseOnDevice(&poison));
        there_arg_ = Array<csaw_edge>(std::vector<csaw_edge>(arg_.size() + odd_, 12345));
    }
    csaw_spmm_options options(const csaw_spmm_plan *plan, cudaStream_t stream = nullptr) const {
        return There(options_, picks_ ? there_arg_.get() + odd_ : nullptr, plan, stream);
    }
    csaw_status Run(const csaw_spmm_plan *plan, cudaStream_t stream = nullptr) const {
        return RunBy(ask_.reducer, plan, stream);
    }
    // By another reducer than the CPU's, such as one that was compiled at run time.
    csaw_status RunBy(const csaw_reducer *reducer, const csaw_spmm_plan *plan = nullptr,
                      cudaStream_t stream = nullptr) const {
        csaw_spmm_options there = options(plan, stream);
        there.reducer = reducer;
        return csaw_spmm(&a_.view, &there_x_.view, &there, &there_y_->view);
    }
    csaw_status RunBy(csaw_spmm_method method, const csaw_spmm_plan *plan) const {
        csaw_spmm_options there = options(plan);
        there.method = method;
        return csaw_spmm(&a_.view, &there_x_.view, &there, &there_y_->view);
    }
    csaw_status WorkBytes(const csaw_spmm_plan *plan, uint64_t *bytes) const {
        const csaw_spmm_options there = options(plan);
        return csaw_spmm_work_bytes(&a_.view, &there_x_.view, &there, &there_y_->view, bytes);
    }
    testing::AssertionResult IsTheCpus() const {
        if (there_y_->raw() != want_.raw()) return testing::AssertionFailure() << "y differs: " << Name();
        std::vector<csaw_edge> arg = there_arg_.back();
        arg.erase(arg.begin(), arg.begin() + odd_);
        if (arg != arg_) return testing::AssertionFailure() << "arg differs: " << Name();
        return testing::AssertionSuccess();
    }
    std::string Name() const {
        return name_ + ", " +
               (ask_.reducer ? std::string(ask_.reducer->name) : "reduce " + std::to_string(ask_.reduce)) + ", " +
               std::to_string(ask_.cols) + " columns, storage " + std::to_string(ask_.of_x) + " to " +
               std::to_string(ask_.of_y) + ", heads " + std::to_string(ask_.heads);
    }

  private:
    Ask ask_;
    std::string name_;
    uint64_t want_rows_;
    const OnDevice &a_;
    Dense x_, want_;
    DenseOnDevice there_x_;
    mutable std::unique_ptr<DenseOnDevice> there_y_;
    std::vector<csaw_edge> arg_;
    bool odd_; // there arg is aligned to one element alone
    mutable Array<csaw_edge> there_arg_;
    csaw_spmm_options options_;
    bool picks_ = false;
};

inline void ExpectCpuBits(const Sparse &a, const OnDevice &there, const Ask &ask,
                          const std::vector<const csaw_spmm_plan *> &plans) {
    if (!reference::takes_case()) return;
    const Product product(a, there, ask);
    for (const csaw_spmm_plan *plan : plans) {
        product.Poison();
        ASSERT_EQ(product.Run(plan), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(product.IsTheCpus()) << (plan ? "planned" : "");
    }
}

} // namespace spmm_product

#endif
