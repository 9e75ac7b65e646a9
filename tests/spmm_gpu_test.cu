/* SPDX-License-Identifier: MIT */
/* tests/spmm_gpu_test.cu - csaw_spmm() on a GPU through the public API: the CPU's bits for every reduction, storage and
 * width, with a plan and without; every kernel by name; features beyond 2 GiB; streams. Outputs are poisoned. */
#include "tests/share.h"
#include "tests/spmm_device.cuh"

#include "runtime/base/device_status.h"

extern "C" {
#include "spmm/call.h"
#include "spmm/device.h"
}

namespace {

using namespace spmm_device;

class SpmmGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

struct Ask {
    csaw_reduce reduce = CSAW_SUM;
    uint64_t cols = 1;
    csaw_dtype of_x = CSAW_F32, of_y = CSAW_F32;
    uint32_t heads = 1;
    uint64_t gap = 0;
};

// One product on the CPU, and the same memory on the GPU to be computed again.
class Product {
  public:
    Product(const Sparse &a, const OnDevice &there, const Ask &ask)
        : ask_(ask), want_rows_(a.rows), a_(there),
          x_(random_matrix(a.cols, ask.cols, ask.cols + 1), ask.of_x, ask.gap),
          want_(a.rows, ask.cols, ask.of_y, ask.gap), there_x_(&x_), arg_(a.rows * ask.cols + 1, 12345) {
        const csaw_sparse view = a.view();
        Poison();
        picks_ = ask.reduce == CSAW_MAX || ask.reduce == CSAW_MIN;
        options_ = options_of(ask.reduce, ask.heads, picks_ ? arg_.data() : nullptr);
        EXPECT_EQ(csaw_spmm(&view, x_.view(), &options_, want_.view()), CSAW_OK) << csaw_last_error();
    }
    void Poison() const {
        Dense poison(want_rows_, ask_.cols, ask_.of_y, ask_.gap);
        there_y_.reset(new DenseOnDevice(&poison));
        there_arg_ = Array<csaw_edge>(std::vector<csaw_edge>(arg_.size(), 12345));
    }
    csaw_spmm_options options(const csaw_spmm_plan *plan, cudaStream_t stream = nullptr) const {
        return There(options_, picks_ ? there_arg_.get() : nullptr, plan, stream);
    }
    csaw_status Run(const csaw_spmm_plan *plan, cudaStream_t stream = nullptr) const {
        const csaw_spmm_options there = options(plan, stream);
        return csaw_spmm(&a_.view, &there_x_.view, &there, &there_y_->view);
    }
    csaw_status RunBy(csaw__way way, const csaw_spmm_plan *plan) const {
        const csaw_spmm_options there = options(plan);
        csaw__call call;
        CSAW_TRY(csaw__call_open(&a_.view, &there, ask_.cols, &call));
        const csaw_status status = csaw__device_spmm(&call, way, &a_.view, &there_x_.view, &there_y_->view);
        csaw__call_close(&call);
        return status;
    }
    testing::AssertionResult IsTheCpus() const {
        if (there_y_->raw() != want_.raw()) return testing::AssertionFailure() << "y differs: " << Name();
        if (there_arg_.back() != arg_) return testing::AssertionFailure() << "arg differs: " << Name();
        return testing::AssertionSuccess();
    }
    std::string Name() const {
        return "reduce " + std::to_string(ask_.reduce) + ", " + std::to_string(ask_.cols) + " columns, storage " +
               std::to_string(ask_.of_x) + " to " + std::to_string(ask_.of_y) + ", heads " + std::to_string(ask_.heads);
    }

  private:
    Ask ask_;
    uint64_t want_rows_;
    const OnDevice &a_;
    Dense x_, want_;
    DenseOnDevice there_x_;
    mutable std::unique_ptr<DenseOnDevice> there_y_;
    std::vector<csaw_edge> arg_;
    mutable Array<csaw_edge> there_arg_;
    csaw_spmm_options options_;
    bool picks_ = false;
};

void ExpectCpuBits(const Sparse &a, const OnDevice &there, const Ask &ask,
                   const std::vector<const csaw_spmm_plan *> &plans) {
    if (!reference::takes_case()) return;
    const Product product(a, there, ask);
    for (const csaw_spmm_plan *plan : plans) {
        product.Poison();
        ASSERT_EQ(product.Run(plan), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(product.IsTheCpus()) << a.name << (plan ? ", planned" : "");
    }
}

TEST_F(SpmmGpu, EveryMatrixAndReduction) {
    std::vector<Sparse> all = sparse_list();
    all.push_back(Rmat(12, 1));
    all.push_back(Hubs(1));
    for (const Sparse &a : all) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (uint64_t cols : {7, 64, 130})
            for (csaw_reduce reduce : reduces) {
                Ask ask;
                ask.reduce = reduce;
                ask.cols = cols;
                ExpectCpuBits(a, there, ask, {plan.get(), nullptr});
            }
    }
}

TEST_F(SpmmGpu, EveryWidth) {
    const Sparse a = random_sparse("a few hubs", {3, 512, 0, 513, 255, 3000, 256, 257, 1025, 1, 1536, 40}, 300, true);
    const OnDevice there(a);
    for (uint64_t cols :
         {0, 1, 2, 3, 4, 8, 15, 16, 31, 32, 33, 48, 63, 65, 96, 100, 127, 128, 129, 256, 257, 1000, 1024})
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MAX}) {
            Ask ask;
            ask.reduce = reduce;
            ask.cols = cols;
            ExpectCpuBits(a, there, ask, {nullptr});
        }
}

TEST_F(SpmmGpu, EveryStorageAndWay) {
    for (const Sparse &a : {Rmat(9, 1), random_sparse("hubs", {3, 1024, 0, 1025, 5000, 1, 700}, 300, true)}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (uint64_t cols : {1, 20, 33, 64, 300})
            for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MAX})
                for (csaw_dtype of_x : dtypes)
                    for (csaw_dtype of_y : dtypes) {
                        Ask ask;
                        ask.reduce = reduce;
                        ask.cols = cols;
                        ask.of_x = of_x, ask.of_y = of_y;
                        ask.gap = cols == 20 ? 4 : 0;
                        const Product product(a, there, ask);
                        for (int way = CSAW__AUTO; way < CSAW__WAYS; way++) {
                            if (of_x != of_y && way != CSAW__AUTO) continue;
                            product.Poison();
                            ASSERT_EQ(product.RunBy(static_cast<csaw__way>(way), way % 2 ? plan.get() : nullptr),
                                      CSAW_OK)
                                << csaw_last_error();
                            EXPECT_TRUE(product.IsTheCpus()) << a.name << ", way " << way;
                        }
                    }
    }
}

TEST_F(SpmmGpu, Heads) {
    for (uint32_t heads : {2, 3, 8})
        for (uint64_t columns : {1, 5, 16, 64}) {
            const Sparse a = heads == 2 ? Hubs(heads) : Rmat(9, heads);
            const OnDevice there(a);
            for (csaw_reduce reduce : reduces) {
                Ask ask;
                ask.reduce = reduce;
                ask.cols = heads * columns;
                ask.heads = heads;
                const Product product(a, there, ask);
                ASSERT_EQ(product.Run(nullptr), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(product.IsTheCpus());
            }
        }
}

TEST_F(SpmmGpu, StreamsAtOnceWithOnePlan) {
    const Sparse a = Rmat(12, 1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    std::vector<std::unique_ptr<Product>> products;
    std::vector<cudaStream_t> streams(4);
    for (size_t i = 0; i < streams.size(); i++) {
        Require(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        Ask ask;
        ask.reduce = reduces[i];
        ask.cols = 40;
        products.emplace_back(new Product(a, there, ask));
    }
    for (size_t i = 0; i < streams.size(); i++) ASSERT_EQ(products[i]->Run(plan.get(), streams[i]), CSAW_OK);
    for (const auto &product : products) EXPECT_TRUE(product->IsTheCpus());
    for (cudaStream_t stream : streams) Require(cudaStreamDestroy(stream));
}

TEST_F(SpmmGpu, TheCurrentDeviceStays) {
    int before = -1, after = -1;
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    Require(cudaGetDevice(&before));
    ASSERT_EQ(Product(a, there, Ask()).Run(nullptr), CSAW_OK);
    Require(cudaGetDevice(&after));
    EXPECT_EQ(before, after);
}

csaw_status NoSuchDevice() {
    CSAW_CUDA(cudaSetDevice(1 << 20));
    return CSAW_OK;
}

// CUDA keeps the last error of a thread: the caller's own is not taken for a launch's, nor left by csaw for the caller.
TEST_F(SpmmGpu, ErrorsBelongToTheCallThatFailed) {
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    const Product product(a, there, Ask());
    void *memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, size_t{1} << 60), cudaErrorMemoryAllocation);
    for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
        product.Poison();
        ASSERT_EQ(product.Run(of), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(product.IsTheCpus());
    }
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(NoSuchDevice(), CSAW_ECUDA);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// x and y of strides so large that places beyond 2^31 elements and 2^33 bytes are used.
TEST_F(SpmmGpu, FeaturesBeyondTwoGigabytes) {
    const uint64_t stride = (1ull << 30) + 4, cols = 36;
    size_t free_bytes = 0, total = 0;
    Require(cudaMemGetInfo(&free_bytes, &total));
    if (free_bytes < 26ull << 30) GTEST_SKIP() << "26 GiB of device memory are not free";
    const Sparse a = random_sparse("far", {5, 1100, 4}, 3, true);
    const OnDevice there(a);
    const csaw_sparse view = a.view();
    for (csaw_dtype dtype : {CSAW_F32, CSAW_BF16})
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MIN}) {
            const uint64_t bytes = csaw__dtype_bytes(dtype), pitch = stride * bytes;
            Dense x(random_matrix(3, cols, 8), dtype), want(3, cols, dtype), got(3, cols, dtype);
            csaw_spmm_options options = options_of(reduce);
            ASSERT_EQ(csaw_spmm(&view, x.view(), &options, want.view()), CSAW_OK);
            char *far_x = nullptr, *far_y = nullptr;
            Require(cudaMalloc(&far_x, 3 * pitch));
            Require(cudaMalloc(&far_y, 3 * pitch));
            for (uint64_t r = 0; r < 3; r++) { // row by row: copies of matrices have a limit of 2 GiB a row
                Require(cudaMemcpy(far_x + r * pitch, (char *)x.view()->data + r * cols * bytes, cols * bytes,
                                   cudaMemcpyHostToDevice));
                Require(cudaMemset(far_y + r * pitch, 0xff, cols * bytes));
            }
            const csaw_dense in = {3, cols, stride, dtype, far_x}, out = {3, cols, stride, dtype, far_y};
            options = There(options, nullptr, nullptr);
            ASSERT_EQ(csaw_spmm(&there.view, &in, &options, &out), CSAW_OK) << csaw_last_error();
            for (uint64_t r = 0; r < 3; r++)
                Require(cudaMemcpy((char *)got.view()->data + r * cols * bytes, far_y + r * pitch, cols * bytes,
                                   cudaMemcpyDeviceToHost));
            EXPECT_EQ(got.raw(), want.raw());
            Require(cudaFree(far_x));
            Require(cudaFree(far_y));
        }
}

} // namespace
