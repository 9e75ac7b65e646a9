/* SPDX-License-Identifier: MIT */
/* tests/batched_exact_test.cc - csaw_batched_options.exact: every result is the sum in float64 rounded once, which sums
 * in float32 are not; in every form, reduction and storage, forward and backward, on any number of threads. */
#include "tests/batched_cases.h"

extern "C" {
#include "spmm/batched.h"
}

using namespace batched;

namespace {

struct Results {
    Features y, dx;
    std::vector<float> dw;
    std::vector<uint32_t> arg;
};

struct Job {
    std::vector<SmallMatrix> graphs;
    Reduce reduce;
    uint64_t width;
    csaw_dtype dtype;
};

class Trial {
  public:
    Trial(Job given, Form form) : job(std::move(given)) {
        if (is_csr(form))
            for (SmallMatrix &a : job.graphs) sort_by_row(&a);
        arrays.emplace_back(job.graphs, form);
        batch = arrays[0].batch();
        x.emplace_back(cols_of(job.graphs), job.width, job.dtype, 1);
        dy.emplace_back(rows_of(job.graphs), job.width, job.dtype, 2, true);
        x[0].fill(1, false), dy[0].fill(2, false);
    }
    Results run(bool exact, const float *weight = nullptr) {
        Results out = {Features(rows_of(job.graphs), job.width, job.dtype, 3),
                       Features(cols_of(job.graphs), job.width, job.dtype),
                       std::vector<float>(arrays[0].weight.size()),
                       {}};
        out.arg.assign(is_best(job.reduce) ? csaw_batch_count(batch.get()).rows * job.width : 0, 77);
        csaw_batched_options options = options_of(job.reduce, &out.arg);
        options.exact = exact;
        options.weight = weight;
        const csaw_batched_dense from = x[0].view(), above = dy[0].view(), y = out.y.view(), dx = out.dx.view();
        EXPECT_EQ(csaw_batched_spmm(batch.get(), &from, &options, &y), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(csaw_batched_spmm_backward(batch.get(), &from, &above, &options, &dx, out.dw.data()), CSAW_OK)
            << csaw_last_error();
        return out;
    }
    Job job;
    std::vector<Arrays> arrays; // of one
    Batch batch;
    std::vector<Features> x, dy; // of one
};

// Elements farther from float64 than one rounding, which float64's own errors hardly widen.
uint64_t rounded_twice(const std::vector<double> &want, const std::vector<double> &got, csaw_dtype dtype) {
    uint64_t count = 0;
    EXPECT_EQ(want.size(), got.size());
    for (size_t i = 0; i < got.size(); i++) {
        const double once = dtype == CSAW_F32 ? fabs(want[i]) * 0x1p-24 : rounding(dtype, want[i]);
        count += !(fabs(got[i] - want[i]) <= once * (1 + 1e-6) + 1e-13);
    }
    return count;
}

uint64_t wrong(const Trial &trial, const Results &got) {
    uint64_t count = 0, entry = 0;
    for (size_t g = 0; g < trial.job.graphs.size(); g++) {
        const SmallMatrix &a = trial.job.graphs[g];
        const uint64_t width = trial.job.width;
        const auto y = reference::batched_forward(a, trial.x[0].of(g), width, trial.job.reduce);
        const auto back =
            reference::batched_backward(a, trial.x[0].of(g), trial.dy[0].of(g), y.arg, width, trial.job.reduce);
        const std::vector<double> dw(got.dw.begin() + static_cast<ptrdiff_t>(entry),
                                     got.dw.begin() + static_cast<ptrdiff_t>(entry + a.entries.size()));
        count += rounded_twice(y.y.value, got.y.of(g), trial.job.dtype);
        count += rounded_twice(back.dx.value, got.dx.of(g), trial.job.dtype);
        count += rounded_twice(back.dw.value, dw, CSAW_F32);
        const uint64_t begin = got.y.begin[g] * width;
        if (is_best(trial.job.reduce))
            for (size_t i = 0; i < y.arg.size(); i++) count += got.arg[begin + i] != y.arg[i];
        entry += a.entries.size();
    }
    return count + !got.y.padding_untouched();
}

TEST(BatchedExact, IsRoundedOnceInEveryFormAndReduction) {
    for (Form form : forms)
        for (Reduce reduce : reduces)
            for (uint64_t width : {1, 5, 70}) {
                Trial trial({mixed(width, false), reduce, width, CSAW_F32}, form);
                EXPECT_EQ(wrong(trial, trial.run(true)), 0u)
                    << static_cast<int>(form) << " " << static_cast<int>(reduce) << " " << width;
                // the check itself: sums in float32 are seen
                if (is_best(reduce)) continue;
                EXPECT_GT(wrong(trial, trial.run(false)), 0u);
            }
}

TEST(BatchedExact, IsRoundedOnceToEveryStorage) {
    for (csaw_dtype dtype : dtypes)
        for (Reduce reduce : reduces) {
            Trial trial({mixed(4, false), reduce, 35, dtype}, Form::list_coo);
            EXPECT_EQ(wrong(trial, trial.run(true)), 0u) << dtype << " " << static_cast<int>(reduce);
        }
}

Job WithALargeOne(Reduce reduce) {
    Job job = {mixed(5, false), reduce, 70, CSAW_F32};
    std::mt19937_64 random(11);
    job.graphs.insert(job.graphs.begin() + 5, random_matrix(random, 5000, 5000, 15000, false));
    return job;
}

TEST(BatchedExact, EqualBitsOnAnyNumberOfThreads) {
    for (Reduce reduce : reduces)
        for (Form form : {Form::list_coo, Form::join_csr}) {
            Trial trial(WithALargeOne(reduce), form);
            use_threads(1);
            const Results one = trial.run(true);
            EXPECT_EQ(wrong(trial, one), 0u);
            use_threads(5);
            const Results many = trial.run(true);
            EXPECT_EQ(one.y.bytes, many.y.bytes);
            EXPECT_EQ(one.dx.bytes, many.dx.bytes);
            EXPECT_EQ(one.dw, many.dw);
        }
    use_threads(2);
}

TEST(BatchedExact, WeightsOfTheCall) {
    for (Reduce reduce : reduces) {
        Trial trial({mixed(3, false), reduce, 9, CSAW_F32}, Form::join_csr_global);
        const std::vector<float> zeros(trial.arrays[0].weight.size());
        const Results own = trial.run(true), given = trial.run(true, trial.arrays[0].weight.data());
        EXPECT_EQ(own.y.bytes, given.y.bytes);
        EXPECT_EQ(own.dx.bytes, given.dx.bytes);
        EXPECT_NE(trial.run(true, zeros.data()).y.bytes, own.y.bytes);
    }
}

// 10^8 + 1 - 10^8, which float32 has as 0.
TEST(BatchedExact, SumsInFloat64) {
    const std::vector<SmallMatrix> graphs = {{1, 3, {{0, 0, 1e8}, {0, 1, 1}, {0, 2, -1e8}}}};
    const Arrays arrays(graphs, Form::list_coo);
    const Batch batch = arrays.batch();
    float x[] = {1, 1, 1};
    for (bool exact : {false, true}) {
        float y = NAN;
        csaw_batched_options options = options_of(Reduce::sum, nullptr);
        options.exact = exact;
        const csaw_batched_dense from = {3, 1, 0, CSAW_F32, x, nullptr}, to = {1, 1, 0, CSAW_F32, &y, nullptr};
        ASSERT_EQ(csaw_batched_spmm(batch.get(), &from, &options, &to), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(y, exact ? 1 : 0);
    }
}

// A batch that says that it is on a GPU, which options are checked against before anything is asked of it.
TEST(BatchedExact, IsRefusedOnAGpu) {
    const Arrays arrays(mixed(1, false), Form::list_coo);
    const Batch batch = arrays.batch();
    csaw_batched_options options = options_of(Reduce::sum, nullptr);
    options.exact = true;
    char there;
    batch->device = reinterpret_cast<csaw__device_batch *>(&there);
    batch->ordinal = 3;
    EXPECT_EQ(csaw_batched_spmm(batch.get(), nullptr, &options, nullptr), CSAW_EUNSUPPORTED);
    EXPECT_EQ(std::string(csaw_last_error()),
              "exact sums are taken on the CPU alone, but the batch is on cuda:3; make one on the CPU, or leave exact "
              "out");
    batch->device = nullptr;
    batch->ordinal = -1;
}

} // namespace
