/* SPDX-License-Identifier: MIT */
/* tests/batched_backward_test.cc - gradients of csaw_batched_spmm(): against double, entry by entry, and against finite
 * differences of the forward product in double, which know nothing of gradients. */
#include "tests/batched_cases.h"

using namespace batched;

namespace {

struct Gradients {
    Features dx;
    std::vector<float> dw;
};

struct Job {
    std::vector<SmallMatrix> graphs;
    Reduce reduce;
    uint64_t width;
    csaw_dtype x, dy, dx;
};

class Trial {
  public:
    // in_options: weights are given with each call, to a batch without any.
    Trial(const Job &job, Form form, bool in_options = false)
        : job(job), arrays(job.graphs, form, !in_options), weight(in_options ? arrays.weight.data() : nullptr),
          batch(arrays.batch()), x(cols_of(job.graphs), job.width, job.x, 1),
          dy(rows_of(job.graphs), job.width, job.dy, 2, true) {
        x.fill(1, is_best(job.reduce));
        dy.fill(2, false);
        Features y(rows_of(job.graphs), job.width, CSAW_F32);
        arg.assign(is_best(job.reduce) ? y.begin.back() * job.width : 0, 0);
        csaw_batched_options options = options_of(job.reduce, &arg);
        options.weight = weight;
        const csaw_batched_dense from = x.view(), to = y.view();
        EXPECT_EQ(csaw_batched_spmm(batch.get(), &from, &options, &to), CSAW_OK) << csaw_last_error();
    }

    Gradients back(bool with_dx = true, bool with_dw = true) {
        Gradients out = {Features(cols_of(job.graphs), job.width, job.dx, 3), {}};
        out.dw.assign(arrays.weight.size(), NAN);
        csaw_batched_options options = options_of(job.reduce, &arg);
        options.weight = weight;
        const csaw_batched_dense from = x.view(), above = dy.view(), to = out.dx.view();
        EXPECT_EQ(csaw_batched_spmm_backward(batch.get(), with_dw ? &from : nullptr, &above, &options,
                                             with_dx ? &to : nullptr, with_dw ? out.dw.data() : nullptr),
                  CSAW_OK)
            << csaw_last_error();
        return out;
    }

    Job job;
    Arrays arrays;
    const float *weight;
    Batch batch;
    Features x, dy;
    std::vector<uint32_t> arg;
};

std::string differ_from_reference(const Trial &run, const Gradients &got) {
    const Job &job = run.job;
    uint64_t entry = 0;
    for (size_t g = 0; g < job.graphs.size(); g++) {
        const SmallMatrix &a = job.graphs[g];
        const auto forward = reference::batched_forward(a, run.x.of(g), job.width, job.reduce);
        const auto expected =
            reference::batched_backward(a, run.x.of(g), run.dy.of(g), forward.arg, job.width, job.reduce);
        const std::vector<double> dw(got.dw.begin() + static_cast<ptrdiff_t>(entry),
                                     got.dw.begin() + static_cast<ptrdiff_t>(entry + a.entries.size()));
        const std::string x = differ(expected.dx, got.dx.of(g), job.dx), w = differ(expected.dw, dw, CSAW_F32);
        if (!x.empty()) return "graph " + std::to_string(g) + ", dx: " + x;
        if (!w.empty()) return "graph " + std::to_string(g) + ", dw: " + w;
        entry += a.entries.size();
    }
    return got.dx.padding_untouched() ? "" : "padding was written to";
}

void check(Job job, Form form) {
    SCOPED_TRACE("form " + std::to_string(static_cast<int>(form)) + " width " + std::to_string(job.width) + " reduce " +
                 std::to_string(static_cast<int>(job.reduce)) + " storage " + std::to_string(job.x) +
                 std::to_string(job.dy) + std::to_string(job.dx));
    if (is_csr(form))
        for (SmallMatrix &a : job.graphs) sort_by_row(&a);
    Trial run(job, form);
    EXPECT_EQ(differ_from_reference(run, run.back()), "");
}

TEST(BatchedBackward, EveryFormAndReduction) {
    for (Form form : forms)
        for (Reduce reduce : reduces)
            for (uint64_t width : {1, 3, 8, 32, 64, 100})
                check({mixed(width, is_best(reduce)), reduce, width, CSAW_F32, CSAW_F32, CSAW_F32}, form);
}

TEST(BatchedBackward, WideFeatures) {
    for (Form form : {Form::list_csr, Form::join_coo})
        for (Reduce reduce : reduces)
            check({mixed(512, is_best(reduce)), reduce, 512, CSAW_F32, CSAW_F32, CSAW_F32}, form);
}

TEST(BatchedBackward, EveryStorage) {
    for (csaw_dtype x : dtypes)
        for (csaw_dtype dy : dtypes)
            for (csaw_dtype dx : dtypes)
                for (Reduce reduce : reduces) check({mixed(6, is_best(reduce)), reduce, 35, x, dy, dx}, Form::list_coo);
}

Job with_a_large_one(Reduce reduce, csaw_dtype dtype) {
    Job job = {mixed(5, is_best(reduce)), reduce, 70, dtype, dtype, dtype};
    std::mt19937_64 random(11);
    job.graphs.insert(job.graphs.begin() + 5, random_matrix(random, 5000, 5000, 15000, is_best(reduce)));
    return job;
}

TEST(BatchedBackward, ALargeGraphAmongSmallOnes) {
    for (Reduce reduce : reduces) {
        check(with_a_large_one(reduce, CSAW_F32), Form::list_csr);
        check(with_a_large_one(reduce, CSAW_F16), Form::list_coo);
    }
}

TEST(BatchedBackward, EqualBitsOnAnyNumberOfThreads) {
    for (Reduce reduce : reduces) {
        Trial run(with_a_large_one(reduce, CSAW_F32), Form::list_coo);
        use_threads(1);
        const Gradients one = run.back();
        for (int threads : {2, 5}) {
            use_threads(threads);
            const Gradients many = run.back();
            EXPECT_EQ(one.dx.bytes, many.dx.bytes) << threads;
            EXPECT_EQ(0, memcmp(one.dw.data(), many.dw.data(), one.dw.size() * sizeof(float))) << threads;
        }
    }
    use_threads(2);
}

TEST(BatchedBackward, WeightsOfTheCallAreExchanged) {
    for (Form form : {Form::list_csr, Form::join_csr_global, Form::join_coo})
        for (Reduce reduce : reduces) {
            Job job = {mixed(3, is_best(reduce)), reduce, 20, CSAW_F32, CSAW_F32, CSAW_F32};
            for (SmallMatrix &a : job.graphs) sort_by_row(&a);
            Trial own(job, form), exchanged(job, form, true);
            const Gradients want = own.back(), got = exchanged.back();
            EXPECT_EQ(differ_from_reference(exchanged, got), "");
            EXPECT_EQ(want.dx.bytes, got.dx.bytes);
            EXPECT_EQ(want.dw, got.dw);
        }
}

// Entries of rows 1, 2 and 0 of one column: 10^8 - 10^8 + 1 is 1 in their order, and 0 by row.
TEST(BatchedBackward, FeaturesAreAddedInTheOrderOfEntries) {
    const std::vector<SmallMatrix> graphs = {{3, 1, {{1, 0, 1}, {2, 0, 1}, {0, 0, 1}}}};
    const Arrays arrays(graphs, Form::list_coo);
    const Batch batch = arrays.batch();
    float dy[] = {1, 1e8f, -1e8f};
    std::vector<uint32_t> arg = {2, 0, 1};
    for (Reduce reduce : reduces) {
        float dx = NAN;
        const csaw_batched_options options = options_of(reduce, &arg);
        const csaw_batched_dense above = {3, 1, 0, CSAW_F32, dy, nullptr}, to = {1, 1, 0, CSAW_F32, &dx, nullptr};
        ASSERT_EQ(csaw_batched_spmm_backward(batch.get(), nullptr, &above, &options, &to, nullptr), CSAW_OK);
        EXPECT_EQ(dx, 1) << static_cast<int>(reduce);
    }
}

TEST(BatchedBackward, EitherAlone) {
    for (Reduce reduce : reduces) {
        Trial run({mixed(2, is_best(reduce)), reduce, 20, CSAW_F32, CSAW_BF16, CSAW_F32}, Form::join_coo);
        const Gradients both = run.back(), dx = run.back(true, false), dw = run.back(false, true);
        EXPECT_EQ(both.dx.bytes, dx.dx.bytes);
        EXPECT_EQ(both.dw, dw.dw);
    }
}

// "" or the message of what is refused with nothing written.
std::string refusal(Trial &run, bool with_dx, bool with_dw) {
    Features dx(cols_of(run.job.graphs), run.job.width, CSAW_F32);
    std::vector<float> dw(run.arrays.weight.size(), 7);
    const std::vector<char> untouched = dx.bytes;
    const csaw_batched_options options = options_of(run.job.reduce, &run.arg);
    const csaw_batched_dense from = run.x.view(), above = run.dy.view(), to = dx.view();
    const csaw_status status = csaw_batched_spmm_backward(run.batch.get(), &from, &above, &options,
                                                          with_dx ? &to : nullptr, with_dw ? dw.data() : nullptr);
    if (status == CSAW_OK) return "";
    EXPECT_EQ(status, CSAW_EINVAL);
    EXPECT_EQ(dx.bytes, untouched);
    EXPECT_EQ(dw, std::vector<float>(dw.size(), 7));
    return csaw_last_error();
}

// Row 0 of graph 1 has entries 0 and 2, row 1 none, row 2 entry 1: by row, 0 and 1, none, 2.
TEST(BatchedBackward, ForeignArgIsRefused) {
    const std::string after = ", which is no entry of that row; give arg as csaw_batched_spmm() wrote it";
    const std::vector<SmallMatrix> graphs = {{2, 2, {{1, 1, 1}, {1, 0, 1}}},
                                             {3, 3, {{0, 1, 1}, {2, 2, 1}, {0, 0, -1}}}};
    for (Form form : forms) {
        Job job = {graphs, Reduce::min, 3, CSAW_F32, CSAW_F32, CSAW_F32};
        if (is_csr(form))
            for (SmallMatrix &a : job.graphs) sort_by_row(&a);
        Trial run(job, form);
        const std::vector<uint32_t> good = run.arg;
        ASSERT_EQ(refusal(run, true, true), "");
        const uint32_t of_row_2 = is_csr(form) ? 2 : 1, of_row_0 = is_csr(form) ? 1 : 2;
        const struct {
            uint64_t row, column;
            uint32_t arg;
        } faults[] = {{0, 0, of_row_2}, {0, 2, 3}, {0, 1, CSAW_NONE}, {1, 1, 0}, {2, 2, of_row_0}, {2, 0, 4294967294u}};
        for (const auto &fault : faults)
            for (int wanted = 0; wanted < 4; wanted++) {
                run.arg = good;
                run.arg[(2 + fault.row) * 3 + fault.column] = fault.arg;
                EXPECT_EQ(refusal(run, wanted & 1, wanted & 2), "graph 1 of 2: arg[" + std::to_string(fault.row) +
                                                                    ", " + std::to_string(fault.column) + "] is " +
                                                                    std::to_string(fault.arg) + after);
            }
        run.arg[2] = 5; // an earlier one too: in graph 0, whose row 0 is empty
        EXPECT_EQ(refusal(run, true, true), "graph 0 of 2: arg[0, 2] is 5" + after);
    }
}

TEST(BatchedBackward, TheFirstForeignArgIsNamed) {
    Job job = {std::vector<SmallMatrix>(2000, {2, 2, {{0, 1, 1}}}), Reduce::max, 20, CSAW_F32, CSAW_F32, CSAW_F32};
    job.graphs[1200] = {5000, 5000, {{4000, 0, 1}}}; // dealt out in parts, and first
    Trial run(job, Form::list_coo);
    const auto place = [&](uint64_t graph, uint64_t row) { return (2 * graph + row) * 20 + 19; };
    for (uint64_t at : {place(1200, 4000), place(1200, 700), place(1999 + 2499, 0), place(1100, 1), place(701, 0)})
        run.arg[at] = 1;
    for (int threads : {1, 5}) {
        use_threads(threads);
        EXPECT_EQ(refusal(run, true, false).substr(0, 39), "graph 701 of 2000: arg[0, 19] is 1, whi");
    }
    use_threads(2);
}

TEST(BatchedBackward, NothingWantedIsFine) {
    for (Reduce reduce : reduces) {
        Trial run({mixed(2, is_best(reduce)), reduce, 20, CSAW_F32, CSAW_F32, CSAW_F32}, Form::join_coo);
        const Gradients none = run.back(false, false);
        EXPECT_TRUE(none.dx.padding_untouched() && none.dw.size() > 0);
        for (double v : none.dx.of(9)) EXPECT_TRUE(isnan(v));
    }
}

/* ---- finite differences ---- */

// sum of dy * y in double
double loss(const SmallMatrix &a, const std::vector<double> &x, const std::vector<double> &dy, uint64_t width,
            Reduce reduce) {
    const auto y = reference::batched_forward(a, x, width, reduce).y.value;
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
}

// With this seed no two products of a row are so close that a step changes the winner.
TEST(BatchedBackward, FiniteDifferences) {
    const double h = 0x1p-10;
    for (Reduce reduce : reduces)
        for (Form form : {Form::list_coo, Form::list_csr}) {
            std::mt19937_64 random(17);
            Job job = {{}, reduce, 5, CSAW_F32, CSAW_F32, CSAW_F32};
            for (uint32_t n : {2, 6, 12}) job.graphs.push_back(random_matrix(random, n, n + 1, 3 * n, false));
            if (is_csr(form))
                for (SmallMatrix &a : job.graphs) sort_by_row(&a);
            Trial run(job, form);
            const Gradients got = run.back();
            uint64_t entry = 0;
            for (size_t g = 0; g < job.graphs.size(); g++) {
                const SmallMatrix &a = job.graphs[g];
                const std::vector<double> x = run.x.of(g), dy = run.dy.of(g), dx = got.dx.of(g);
                for (size_t i = 0; i < x.size(); i++) {
                    std::vector<double> up = x, down = x;
                    up[i] += h;
                    down[i] -= h;
                    const double slope = (loss(a, up, dy, 5, reduce) - loss(a, down, dy, 5, reduce)) / (2 * h);
                    EXPECT_NEAR(dx[i], slope, 1e-4) << "x " << i << " of graph " << g;
                }
                for (size_t e = 0; e < a.entries.size(); e++, entry++) {
                    SmallMatrix up = a, down = a;
                    up.entries[e].weight += h;
                    down.entries[e].weight -= h;
                    const double slope = (loss(up, x, dy, 5, reduce) - loss(down, x, dy, 5, reduce)) / (2 * h);
                    EXPECT_NEAR(got.dw[entry], slope, 1e-4) << "entry " << e << " of graph " << g;
                }
            }
        }
}

// The check itself: gradients of another reduction, or of other entries, are seen.
TEST(BatchedCheck, SeesAGradientThatIsWrong) {
    const std::vector<SmallMatrix> graphs = mixed(4, false);
    Trial sum({graphs, Reduce::sum, 8, CSAW_F32, CSAW_F32, CSAW_F32}, Form::list_coo);
    Trial mean({graphs, Reduce::mean, 8, CSAW_F32, CSAW_F32, CSAW_F32}, Form::list_coo);
    Gradients got = sum.back();
    EXPECT_EQ(differ_from_reference(sum, got), "");
    EXPECT_NE(differ_from_reference(mean, got), "");
    std::swap(got.dw[20], got.dw[21]);
    EXPECT_NE(differ_from_reference(sum, got), "");
}

} // namespace
