/* SPDX-License-Identifier: MIT */
/* tests/cusparse_gpu_test.cu - a third opinion: csaw_spmm() on a GPU and cuSPARSE's ALG3 on the same arrays, each
 * within its bound of sums in float64. And an opinion that is wrong: ALG1 and ALG2 add pieces of hub rows in 16 bits,
 * which the same check refuses. cuSPARSE has SUM alone, and weights in the storage of the features. */
#include <cusparse.cuh>

#include "tests/spmm_device.cuh"

namespace {

using namespace spmm_device;

class CusparseGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

// Weights as 16 bits have them.
Sparse Rounded(Sparse a, csaw_dtype dtype) {
    for (float &w : a.weight)
        w = dtype == CSAW_F32   ? w
            : dtype == CSAW_F16 ? csaw__from_f16(csaw__to_f16(w))
                                : csaw__from_bf16(csaw__to_bf16(w));
    return a;
}

class Question { // one product, its answer, and memory of the GPU to be answered in
  public:
    Question(const Sparse &a, uint64_t cols, csaw_dtype dtype)
        : a_(Rounded(a, dtype)), dtype_(dtype), there_(a_), x_(random_matrix(a.cols, cols, cols + 1), dtype),
          there_x_(&x_), exact_(reference::spmm(a_.view(), x_.values(), CSAW_SUM, 1)) {}
    uint64_t WrongByCsaw() {
        const csaw_spmm_options options = There(options_of(CSAW_SUM), nullptr, nullptr);
        return Wrong([&](const csaw_dense &y) {
            ASSERT_EQ(csaw_spmm(&there_.view, &there_x_.view, &options, &y), CSAW_OK) << csaw_last_error();
        });
    }
    uint64_t WrongBy(cusparseSpMMAlg_t alg) {
        return Wrong([&](const csaw_dense &y) {
            cusparse_product product(&there_.view, &there_x_.view, &y, alg);
            product.preprocess();
            product.run();
            Require(cudaDeviceSynchronize());
        });
    }

  private:
    template <class Run> uint64_t Wrong(Run run) { // elements out of bound, of a poisoned output
        Dense got(exact_.y.rows, exact_.y.cols, dtype_);
        const DenseOnDevice there_y(&got);
        run(there_y.view);
        const std::vector<unsigned char> bytes = there_y.raw();
        std::memcpy(got.view()->data, bytes.data(), bytes.size());
        return count_wrong(&got, exact_.y, exact_.size, dtype_, [&](uint64_t r) { return row_length(a_, r); });
    }
    Sparse a_;
    csaw_dtype dtype_;
    OnDevice there_;
    Dense x_;
    DenseOnDevice there_x_;
    reference::Product exact_;
};

// Of so many columns that each edge may be the only one of its place.
Sparse HubsOfManyColumns() {
    Sparse a = random_sparse("hubs", {3, 1024, 0, 1025, 255, 60000, 256, 20001}, 100000, false);
    give_weights(&a, 1, 7);
    return a;
}

std::string Name(const Sparse &a, uint64_t cols, csaw_dtype dtype) {
    return a.name + ", " + std::to_string(cols) + " columns, storage " + std::to_string(dtype);
}

// cuSPARSE takes no row that is longer than there are columns: ALG3 then writes where it may not.
bool IsForCusparse(const Sparse &a) {
    for (uint64_t r = 0; r < a.rows; r++)
        if (row_length(a, r) > a.cols) return false;
    return !a.col.empty();
}

std::vector<Sparse> Matrices() {
    std::vector<Sparse> all = sparse_list(), taken;
    all.push_back(Rmat(12, 1));
    all.push_back(HubsOfManyColumns());
    for (const Sparse &a : all)
        if (IsForCusparse(a)) taken.push_back(a);
    return taken;
}

class OnCusparse : public CusparseGpu, public testing::WithParamInterface<Sparse> {};

TEST_P(OnCusparse, AgreesInEveryStorage) {
    const Sparse &a = GetParam();
    for (csaw_dtype dtype : dtypes)
        for (uint64_t cols : {8, 64, 130}) {
            Question question(a, cols, dtype);
            EXPECT_EQ(question.WrongByCsaw(), 0u) << Name(a, cols, dtype);
            EXPECT_EQ(question.WrongBy(CUSPARSE_SPMM_CSR_ALG3), 0u) << Name(a, cols, dtype);
        }
}

INSTANTIATE_TEST_SUITE_P(Matrices, OnCusparse, testing::ValuesIn(Matrices()), [](const auto &info) {
    std::string name = info.param.name;
    for (char &c : name)
        if (!isalnum((unsigned char)c)) c = '_';
    return name;
});

TEST_F(CusparseGpu, HubsBySumsInSixteenBitsAreRefused) {
    uint64_t wrong[2] = {0, 0};
    for (const Sparse &a : {HubsOfManyColumns(), Rmat(14, 1)}) {
        Question question(a, 64, CSAW_BF16);
        EXPECT_EQ(question.WrongByCsaw(), 0u) << a.name;
        wrong[0] += question.WrongBy(CUSPARSE_SPMM_CSR_ALG1);
        wrong[1] += question.WrongBy(CUSPARSE_SPMM_CSR_ALG2);
    }
    EXPECT_GT(wrong[0], 0u) << "ALG1";
    EXPECT_GT(wrong[1], 0u) << "ALG2";
}

} // namespace
