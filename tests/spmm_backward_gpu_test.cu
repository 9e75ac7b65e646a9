/* SPDX-License-Identifier: MIT */
/* tests/spmm_backward_gpu_test.cu - gradients, SDDMM and edge softmax on a GPU: the CPU's bits. What is refused, and
 * allocations that fail: outputs stay as they were. */
#include "tests/spmm_device.cuh"

#include "runtime/base/memory.h"
#include "spmm/device_arguments.h"
#include "tests/failing_allocations.h"
#include "tests/reorder_cases.h"

namespace {

using namespace spmm_device;

class SpmmBackwardGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

// Gradients with respect to both, on CPU and GPU.
class Gradients {
  public:
    Gradients(const Sparse &a, const OnDevice &there, csaw_reduce reduce, uint64_t cols, csaw_dtype dtype,
              uint32_t heads)
        : a_(there), x_(random_matrix(a.cols, cols, 1), dtype), dy_(random_matrix(a.rows, cols, 2), dtype),
          want_(a.cols, cols, dtype, Gap(cols)), weight_(a.col.size() * heads + 1, 99), there_x_(&x_), there_dy_(&dy_) {
        const csaw_sparse view = a.view();
        std::vector<csaw_edge> arg(a.rows * cols);
        const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
        Dense y(a.rows, cols, CSAW_F32), poison(a.cols, cols, dtype, Gap(cols));
        options_ = options_of(reduce, heads, picks ? arg.data() : nullptr);
        EXPECT_EQ(csaw_spmm(&view, x_.view(), &options_, y.view()), CSAW_OK) << csaw_last_error();
        there_dx_.reset(new DenseOnDevice(&poison));
        there_weight_ = Array<float>(weight_);
        there_arg_ = Array<csaw_edge>(arg);
        EXPECT_EQ(csaw_spmm_backward(&view, x_.view(), dy_.view(), &options_, want_.view(), weight_.data()), CSAW_OK);
        if (!picks) there_arg_ = Array<csaw_edge>();
        options_.arg = nullptr;
        poison_ = poison.raw();
    }
    csaw_status WorkBytes(const csaw_spmm_plan *plan, uint64_t *bytes) const {
        const csaw_spmm_options there = There(options_, there_arg_.get(), plan);
        return csaw_spmm_backward_work_bytes(&a_.view, &there_x_.view, &there_dy_.view, &there, &there_dx_->view,
                                             there_weight_.get(), bytes);
    }
    csaw_status Run(const csaw_spmm_plan *plan, csaw_spmm_method method = CSAW_SPMM_AUTO) const {
        csaw_spmm_options there = There(options_, there_arg_.get(), plan);
        there.method = method;
        return csaw_spmm_backward(&a_.view, &there_x_.view, &there_dy_.view, &there, &there_dx_->view,
                                  there_weight_.get());
    }
    testing::AssertionResult IsTheCpus() const {
        if (there_dx_->raw() != want_.raw()) return testing::AssertionFailure() << "dx differs";
        const std::vector<float> got = there_weight_.back();
        if (std::memcmp(got.data(), weight_.data(), got.size() * sizeof(float)) != 0)
            return testing::AssertionFailure() << "dweight differs";
        return testing::AssertionSuccess();
    }
    bool IsUntouched() const {
        const std::vector<float> got = there_weight_.back();
        return there_dx_->raw() == poison_ && std::count(got.begin(), got.end(), 99.0f) == (long)got.size();
    }

  private:
    // Between rows of dx: of whole vectors, where rows are.
    static uint64_t Gap(uint64_t cols) { return cols % CSAW__VECTOR ? 3 : CSAW__VECTOR_16 - cols % CSAW__VECTOR_16; }

    const OnDevice &a_;
    Dense x_, dy_, want_;
    std::vector<float> weight_;
    DenseOnDevice there_x_, there_dy_;
    std::unique_ptr<DenseOnDevice> there_dx_;
    Array<float> there_weight_;
    Array<csaw_edge> there_arg_;
    csaw_spmm_options options_;
    std::vector<unsigned char> poison_;
};

TEST_F(SpmmBackwardGpu, HasTheCpusBits) {
    for (uint32_t heads : {1, 4})
        for (const Sparse &a : {Rmat(12, heads), Hubs(heads)}) {
            const OnDevice there(a);
            const Plan plan(there.view, "cuda:0"), fixed(there.view, "cuda:0", true, heads);
            for (csaw_reduce reduce : reduces)
                for (csaw_dtype dtype : dtypes)
                    for (uint64_t columns : {3, 16, 48}) {
                        int number = 0;
                        for (const csaw_spmm_plan *with :
                             {plan.get(), fixed.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                            if (!reference::takes_case()) continue;
                            const Gradients g(a, there, reduce, columns * heads, dtype, heads);
                            ASSERT_EQ(g.Run(with), CSAW_OK) << csaw_last_error();
                            EXPECT_TRUE(g.IsTheCpus())
                                << a.name << ", heads " << heads << ", reduce " << reduce << ", storage " << dtype
                                << ", " << columns << " columns, plan " << number;
                            number++;
                        }
                    }
        }
}

// Of every shape (spmm/device_dots.cuh), and of more columns than are held at once; by column with the plan, whose
// matrix has 32 edges a row on average, and in order.
TEST_F(SpmmBackwardGpu, WideRowsHaveTheCpusBits) {
    const Sparse a = Hubs(1);
    ASSERT_GE(a.col.size() / a.rows, uint64_t{CSAW__OFTEN});
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    for (csaw_reduce reduce : {CSAW_SUM, CSAW_MEAN})
        for (csaw_dtype dtype : dtypes)
            for (uint64_t columns : {7, 16, 24, 47, 64, 100, 128, 200, 256, 300, 301})
                for (const csaw_spmm_plan *with : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                    if (!reference::takes_case()) continue;
                    const Gradients g(a, there, reduce, columns, dtype, 1);
                    ASSERT_EQ(g.Run(with), CSAW_OK) << csaw_last_error();
                    EXPECT_TRUE(g.IsTheCpus()) << "reduce " << reduce << ", storage " << dtype << ", " << columns
                                               << " columns, plan " << (with != nullptr);
                }
}

// Weights of MEAN that a plan keeps: none, those of one head and of several; other reductions do not take them.
TEST_F(SpmmBackwardGpu, MeansKeptHaveTheCpusBits) {
    for (uint32_t heads : {0, 1, 3}) {
        Sparse a = Rmat(12, 1);
        a.weight.clear();
        if (heads) give_weights(&a, heads, 7);
        const uint32_t of = heads ? heads : 1;
        const OnDevice there(a);
        const Plan fixed(there.view, "cuda:0", heads > 0, of), kept(there.view, "cuda:0", heads > 0, of, false, true);
        for (csaw_reduce reduce : {CSAW_MEAN, CSAW_SUM})
            for (uint64_t columns : {5, 64, 256}) {
                const Gradients g(a, there, reduce, columns * of, CSAW_F32, of);
                uint64_t with = 0, without = 0;
                ASSERT_EQ(g.Run(kept.get()), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(g.IsTheCpus()) << "reduce " << reduce << ", heads " << heads << ", " << columns;
                ASSERT_EQ(g.WorkBytes(kept.get(), &with), CSAW_OK) << csaw_last_error();
                ASSERT_EQ(g.WorkBytes(fixed.get(), &without), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(without - with, reduce == CSAW_MEAN ? a.col.size() * of * sizeof(float) : 0);
            }
    }
}

// A transpose whose rows were reordered, by each kind of plan.
TEST_F(SpmmBackwardGpu, ReorderedRowsHaveTheCpusBits) {
    for (uint32_t heads : {1, 3}) {
        std::vector<uint32_t> community;
        const Sparse a = reorder_cases::Planted(&community, heads);
        const OnDevice there(a);
        const Plan plain(there.view, "cuda:0"), fixed(there.view, "cuda:0", true, heads);
        const Plan means(there.view, "cuda:0", true, heads, false, true);
        for (const Plan *plan : {&plain, &fixed, &means}) {
            ASSERT_NE(plan->get()->device->transposed.stretches.moved, nullptr);
            for (csaw_reduce reduce : {CSAW_SUM, CSAW_MEAN})
                for (csaw_dtype dtype : dtypes)
                    for (uint64_t columns : {7, 64, 264}) {
                        const Gradients g(a, there, reduce, columns * heads, dtype, heads);
                        for (csaw_spmm_method method : {CSAW_SPMM_STRETCHES, CSAW_SPMM_AUTO}) {
                            ASSERT_EQ(g.Run(plan->get(), method), CSAW_OK) << csaw_last_error();
                            EXPECT_TRUE(g.IsTheCpus()) << "heads " << heads << ", reduce " << reduce << ", storage "
                                                       << dtype << ", " << columns << " columns";
                        }
                    }
        }
    }
}

// Means kept of a matrix without weights are not those of one with weights, nor the other way round.
TEST_F(SpmmBackwardGpu, MeansOfOtherWeightsAreNotTaken) {
    const Sparse weighted = Rmat(10, 1);
    Sparse plain = weighted;
    plain.weight.clear();
    OnDevice there(weighted);
    const csaw_sparse with = there.view;
    csaw_sparse without = with;
    without.weight = nullptr;
    const Plan of_weighted(with, "cuda:0", true, 1, false, true);
    const Plan of_plain(without, "cuda:0", false, 1, false, true);
    const Gradients g(weighted, there, CSAW_MEAN, 64, CSAW_F32, 1), bare(plain, there, CSAW_MEAN, 64, CSAW_F32, 1);
    ASSERT_EQ(g.Run(of_plain.get()), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(g.IsTheCpus());
    there.view = without;
    ASSERT_EQ(bare.Run(of_weighted.get()), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(bare.IsTheCpus());
}

TEST_F(SpmmBackwardGpu, EveryMethodHasTheCpusBits) {
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0", false, 1, true);
    for (csaw_dtype dtype : dtypes)
        for (uint64_t columns : {20, 64})
            for (int i = CSAW_SPMM_AUTO; i <= CSAW_SPMM_STRETCHES; i++) {
                const auto method = static_cast<csaw_spmm_method>(i);
                const Gradients g(a, there, CSAW_MEAN, columns, dtype, 1);
                ASSERT_EQ(g.Run(plan.get(), method), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(g.IsTheCpus()) << csaw_spmm_method_name(method) << ", storage " << dtype;
            }
}

// Winners gathered over a plan's transpose, of rows of few edges: vectors, single columns and heads, long rows of the
// matrix and of its transpose, empty ones; what is asked of work memory is what is taken.
TEST_F(SpmmBackwardGpu, WinnersGatheredHaveTheCpusBits) {
    std::vector<uint64_t> lengths(4000, 3);
    for (uint64_t r = 0; r < lengths.size(); r += 5) lengths[r] = r % 3;
    lengths[7] = 3000, lengths[8] = 257;
    Sparse few = random_sparse("few columns", lengths, 40, false);
    for (uint32_t heads : {1, 2})
        for (Sparse a : {few, Rmat(12, heads)}) {
            if (heads > 1) give_weights(&a, heads, 8);
            ASSERT_LT(a.col.size() / a.rows, uint64_t{CSAW__OFTEN});
            const OnDevice there(a);
            const Plan plain(there.view, "cuda:0"), fixed(there.view, "cuda:0", true, heads);
            for (csaw_reduce reduce : {CSAW_MAX, CSAW_MIN})
                for (csaw_dtype dtype : dtypes)
                    for (uint64_t columns : {1, 8, 31, 33, 64, 65, 132, 256, 257, 1000}) {
                        const Plan &plan = (columns / 8 + dtype + reduce) % 2 ? plain : fixed;
                        if (!reference::takes_case()) continue;
                        uint64_t asked = 0;
                        const Gradients g(a, there, reduce, columns * heads, dtype, heads);
                        ASSERT_EQ(g.WorkBytes(plan.get(), &asked), CSAW_OK) << csaw_last_error();
                        EXPECT_TRUE(AreTaken(asked, plan.get(), [&] { return g.Run(plan.get()); }));
                        EXPECT_TRUE(g.IsTheCpus()) << a.name << ", heads " << heads << ", reduce " << reduce
                                                   << ", storage " << dtype << ", " << columns << " columns";
                        const Gradients bare(a, there, reduce, columns * heads, dtype, heads);
                        ASSERT_EQ(bare.Run(nullptr), CSAW_OK) << csaw_last_error();
                        EXPECT_TRUE(bare.IsTheCpus()) << a.name << ", no plan, " << columns << " columns";
                    }
        }
}

// So many edges that no plan reorders: rows of the transpose that are empty, short and long.
TEST_F(SpmmBackwardGpu, WinnersOfManyEdgesHaveTheCpusBits) {
    Sparse a = random_sparse("many edges", std::vector<uint64_t>(700000, 6), 300000, true);
    for (uint64_t e = 0; e < a.col.size(); e++) {
        if (e % 7 == 0) a.col[e] = 5;              // a seventh of all edges
        if (e % 1000 == 1) a.col[e] = 9;           // thousands
        if (a.col[e] % 11 == 0) a.col[e] = 299999; // columns without an edge
    }
    ASSERT_GT(a.col.size(), size_t{1} << 22);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0"), fixed(there.view, "cuda:0", true);
    for (csaw_dtype dtype : dtypes)
        for (uint64_t columns : {33, 64, 136}) {
            if (!reference::takes_case()) continue;
            const Gradients g(a, there, columns == 64 ? CSAW_MIN : CSAW_MAX, columns, dtype, 1);
            for (const Plan *with : {&plan, &fixed}) {
                ASSERT_EQ(g.Run(with->get()), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(g.IsTheCpus())
                    << "storage " << dtype << ", " << columns << " columns, fixed weights " << (with == &fixed);
            }
        }
}

// Columns that win often, of rows of few edges and of so many that products are sorted: hundreds of chunks, short
// columns, and one without an edge.
TEST_F(SpmmBackwardGpu, ColumnsThatWinOften) {
    Sparse few = random_sparse("one column", std::vector<uint64_t>(20000, 2), 1, true);
    Sparse many = random_sparse("few columns", std::vector<uint64_t>(3000, 70), 3, true);
    many.cols = 5;
    for (size_t e = 0; e < many.col.size(); e += 1001) many.col[e] = 3;
    for (const Sparse &a : {few, many}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (csaw_reduce reduce : {CSAW_MAX, CSAW_MIN})
            for (uint64_t columns : {9, 64}) {
                const Gradients g(a, there, reduce, columns, CSAW_F32, 1);
                for (const csaw_spmm_plan *with : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                    ASSERT_EQ(g.Run(with), CSAW_OK) << csaw_last_error();
                    EXPECT_TRUE(g.IsTheCpus()) << a.name << ", reduce " << reduce << ", plan " << (with != nullptr);
                }
            }
    }
}

TEST_F(SpmmBackwardGpu, WorkBytesAreWhatThePoolGives) {
    for (const Sparse &a : {Rmat(12, 1), Hubs(1)}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (csaw_reduce reduce : reduces)
            for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                const Gradients g(a, there, reduce, 64, CSAW_F32, 1);
                uint64_t bytes = 0;
                ASSERT_EQ(g.WorkBytes(of, &bytes), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(g.IsUntouched());
                EXPECT_TRUE(AreTaken(bytes, of, [&] { return g.Run(of); }))
                    << a.name << ", reduce " << reduce << ", plan " << (of != nullptr);
                EXPECT_TRUE(g.IsTheCpus());
            }
    }
}

TEST_F(SpmmBackwardGpu, EveryMatrix) {
    for (const Sparse &a : sparse_list()) {
        const OnDevice there(a);
        for (csaw_reduce reduce : reduces) {
            const Gradients g(a, there, reduce, 5, CSAW_F32, 1);
            ASSERT_EQ(g.Run(nullptr), CSAW_OK) << csaw_last_error();
            EXPECT_TRUE(g.IsTheCpus()) << a.name << ", reduce " << reduce;
        }
    }
}

TEST_F(SpmmBackwardGpu, AttentionHasTheCpusBits) {
    for (uint32_t heads : {1, 3})
        for (const Sparse &a : {Rmat(12, heads), Hubs(heads)}) {
            const OnDevice there(a);
            const csaw_sparse view = a.view();
            csaw_edge_options here = {};
            here.size = sizeof here;
            here.heads = heads;
            csaw_edge_options on_gpu = here;
            on_gpu.device = "cuda:0";
            const size_t count = a.col.size() * heads;
            std::vector<float> want(count + 1, 99);
            for (csaw_dtype dtype : dtypes)
                for (uint64_t columns : {5, 32}) {
                    Dense x(random_matrix(a.rows, columns * heads, 1), dtype),
                        y(random_matrix(a.cols, columns * heads, 2), CSAW_F32);
                    const DenseOnDevice there_x(&x), there_y(&y);
                    const Array<float> out(std::vector<float>(count + 1, 99));
                    ASSERT_EQ(csaw_sddmm(&view, x.view(), y.view(), &here, want.data()), CSAW_OK);
                    ASSERT_EQ(csaw_sddmm(&there.view, &there_x.view, &there_y.view, &on_gpu, out.get()), CSAW_OK);
                    EXPECT_EQ(out.back(), want) << a.name;
                }
            const Array<float> score(a.weight), out(std::vector<float>(count + 1, 99)),
                back(std::vector<float>(count + 1, 99));
            std::vector<float> want_back = want;
            ASSERT_EQ(csaw_edge_softmax(&view, a.weight.data(), &here, want.data()), CSAW_OK);
            ASSERT_EQ(csaw_edge_softmax(&there.view, score.get(), &on_gpu, out.get()), CSAW_OK);
            EXPECT_EQ(out.back(), want) << a.name;
            ASSERT_EQ(csaw_edge_softmax_backward(&view, want.data(), a.weight.data(), &here, want_back.data()),
                      CSAW_OK);
            ASSERT_EQ(csaw_edge_softmax_backward(&there.view, out.get(), score.get(), &on_gpu, back.get()), CSAW_OK);
            EXPECT_EQ(back.back(), want_back) << a.name;
        }
}

void ExpectRefused(csaw_status status, csaw_status wanted, const char *word) {
    EXPECT_EQ(status, wanted);
    EXPECT_NE(std::string(csaw_last_error()).find(word), std::string::npos) << csaw_last_error();
}

csaw_status Prepare(const Sparse &a, const char *device = "cuda:0") {
    const OnDevice there(a);
    csaw_prepare_options options = {};
    csaw_spmm_plan *plan = nullptr;
    options.size = sizeof options;
    options.device = device;
    const csaw_status status = csaw_spmm_prepare(&there.view, &options, &plan);
    EXPECT_EQ(status == CSAW_OK, plan != nullptr);
    csaw_spmm_plan_free(plan);
    return status;
}

TEST_F(SpmmBackwardGpu, Refused) {
    const Sparse good = random_sparse("good", {2, 1, 2}, 4, true);
    EXPECT_EQ(Prepare(good), CSAW_OK);
    ExpectRefused(Prepare(good, "cuda:1000"), CSAW_EINVAL, "'cuda:1000' does not exist");
    Sparse a = good;
    a.col[3] = 4;
    ExpectRefused(Prepare(a), CSAW_EINVAL, "edge 3 has column 4, but the matrix has 4 columns");
    a = good;
    a.rowptr[0] = 1;
    ExpectRefused(Prepare(a), CSAW_EINVAL, "begins with 1");
    a = good;
    a.rowptr[1] = 4;
    ExpectRefused(Prepare(a), CSAW_EINVAL, "falls from 4 to 3 at row 1");
    a = good;
    a.rowptr[3] = 4;
    ExpectRefused(Prepare(a), CSAW_EINVAL, "ends with 4");

    const OnDevice there(good);
    const csaw_sparse view = good.view();
    Dense x(random_matrix(4, 2, 1), CSAW_F32), y(3, 2, CSAW_F32);
    const DenseOnDevice there_x(&x), there_y(&y);
    const Plan of_cpu(view, nullptr), of_gpu(there.view, "cuda:0");
    csaw_spmm_options options = There(options_of(CSAW_SUM), nullptr, of_cpu.get());
    csaw_sparse mixed = there.view;
    mixed.rowptr = view.rowptr, mixed.col = view.col; // what of_cpu belongs to
    ExpectRefused(csaw_spmm(&mixed, &there_x.view, &options, &there_y.view), CSAW_EINVAL, "for GPU -1");
    options = options_of(CSAW_SUM, 1, nullptr, of_gpu.get());
    mixed = view, mixed.rowptr = there.view.rowptr, mixed.col = there.view.col;
    ExpectRefused(csaw_spmm(&mixed, x.view(), &options, y.view()), CSAW_EINVAL, "for GPU 0");
    options = There(options_of(CSAW_SUM), nullptr, nullptr);
    options.exact = true;
    ExpectRefused(csaw_spmm(&there.view, &there_x.view, &options, &there_y.view), CSAW_EUNSUPPORTED, "exact");
    EXPECT_EQ(there_y.raw(), y.raw());
}

TEST_F(SpmmBackwardGpu, FailedAllocationsLeaveOutputs) {
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    EXPECT_GT(fail_every_allocation([&] { return Prepare(a); }), 10u);
    const Plan plan(there.view, "cuda:0");
    for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MAX})
        for (const csaw_spmm_plan *with : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
            const Gradients g(a, there, reduce, 6, CSAW_F32, 1);
            EXPECT_GT(fail_every_allocation([&] {
                          const csaw_status status = g.Run(with);
                          EXPECT_TRUE(status == CSAW_OK || g.IsUntouched());
                          return status;
                      }),
                      0u);
            EXPECT_TRUE(g.IsTheCpus());
        }
    Dense x(random_matrix(3000, 6, 1), CSAW_F32), y(12, 6, CSAW_F32);
    const DenseOnDevice there_x(&x), there_y(&y);
    const csaw_spmm_options options = There(options_of(CSAW_MAX), nullptr, nullptr);
    fail_every_allocation([&] {
        const csaw_status status = csaw_spmm(&there.view, &there_x.view, &options, &there_y.view);
        EXPECT_TRUE(status == CSAW_OK || there_y.raw() == y.raw());
        return status;
    });
    EXPECT_NE(there_y.raw(), y.raw());
}

} // namespace
