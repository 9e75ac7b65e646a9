/* SPDX-License-Identifier: MIT */
/* spmm_backward_test.cc - gradients of csaw_spmm() against the definition in float64 and against finite differences. */
#include "tests/spmm_cases.h"

namespace {

using namespace spmm_cases;

struct Plan {
    csaw_spmm_plan *plan = nullptr;
    explicit Plan(const csaw_sparse &a, bool fixed_weights = false, uint32_t heads = 1) {
        csaw_prepare_options options = {};
        options.size = sizeof options;
        options.fixed_weights = fixed_weights;
        options.heads = heads;
        EXPECT_EQ(csaw_spmm_prepare(&a, &options, &plan), CSAW_OK) << csaw_last_error();
    }
    ~Plan() { csaw_spmm_plan_free(plan); }
};

struct Case {
    csaw_reduce reduce;
    uint64_t cols;
    uint32_t heads;
    csaw_dtype storage;
    bool prepared, exact;
};

// What exact promises: a sum in float64, then one rounding, to half a unit in the last place.
bool rounded_once(double got, double exact, double size, uint64_t terms, csaw_dtype storage) {
    const double sum = static_cast<double>(terms + 2) * 0x1p-52 * size;
    const double unit = storage == CSAW_F32 ? std::fabs(exact) * 0x1p-24 + 0x1p-150 : storage_error(exact, storage);
    return std::fabs(got - exact) <= 2 * sum + unit;
}

// Elements of dx and of dweight that are out of bound.
uint64_t wrong_gradients(const Sparse &a, const Case &k) {
    const csaw_sparse view = a.view();
    const bool picks = k.reduce == CSAW_MAX || k.reduce == CSAW_MIN;
    Dense x(random_matrix(a.cols, k.cols, 3), k.storage, 2), dy(random_matrix(a.rows, k.cols, 4), k.storage);
    Dense dx(a.cols, k.cols, k.storage, 5);
    std::vector<float> dweight(a.col.size() * k.heads + 1, NAN);
    const Plan plan(view);
    const std::vector<csaw_edge> chosen = reference::spmm(view, x.values(), k.reduce, k.heads).arg;
    std::vector<csaw_edge> arg = chosen;
    csaw_spmm_options options =
        options_of(k.reduce, k.heads, picks ? arg.data() : nullptr, k.prepared ? plan.plan : nullptr);
    options.exact = k.exact;
    EXPECT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, dx.view(), dweight.data()), CSAW_OK)
        << csaw_last_error();
    const reference::Gradients want =
        reference::spmm_backward(view, x.values(), dy.values(), k.reduce, k.heads, chosen);
    const auto good = k.exact ? rounded_once : within_bound;
    uint64_t wrong = 0;
    NormBound norm, weights;
    for (uint64_t j = 0; j < a.cols; j++)
        for (uint64_t c = 0; c < k.cols; c++) {
            const double exact = want.dx.at(j, c), size = want.dx_size.at(j, c);
            wrong += !good(dx.get(j, c), exact, size, want.dx_terms[j], k.storage);
            norm.add(dx.get(j, c), exact, size, want.dx_terms[j], storage_error(exact, k.storage));
        }
    for (size_t e = 0; e < want.dweight.size(); e++) {
        wrong += !good(dweight[e], want.dweight[e], want.dweight_size[e], k.cols / k.heads, CSAW_F32);
        weights.add(dweight[e], want.dweight[e], want.dweight_size[e], k.cols / k.heads, 0);
    }
    EXPECT_EQ(arg, chosen);
    wrong += !norm.holds() + !weights.holds();
    return wrong + !dx.gaps_untouched() + !std::isnan(dweight.back());
}

TEST(SpmmBackward, every_width_on_every_matrix) {
    for (const Sparse &a : sparse_list())
        for (uint64_t cols : widths)
            for (csaw_reduce reduce : reduces)
                EXPECT_EQ(wrong_gradients(a, {reduce, cols, 1, CSAW_F32, cols % 2 == 0, false}), 0u)
                    << a.name << ", " << cols << " columns, reduce " << reduce;
}

TEST(SpmmBackward, storage_heads_and_exact) {
    Sparse a = random_sparse("heads", {0, 9, 300, 1, 0, 4, 700}, 30, false);
    for (uint32_t heads : {1, 2, 4}) {
        give_weights(&a, heads, heads);
        for (csaw_reduce reduce : reduces)
            for (csaw_dtype storage : dtypes)
                for (bool exact : {false, true})
                    EXPECT_EQ(wrong_gradients(a, {reduce, 20, heads, storage, true, exact}), 0u)
                        << heads << " heads, reduce " << reduce << ", storage " << storage << ", exact " << exact;
    }
    a.weight.clear(); // one weight of 1 for all heads
    for (csaw_reduce reduce : reduces)
        for (bool exact : {false, true})
            EXPECT_EQ(wrong_gradients(a, {reduce, 12, 4, CSAW_F32, false, exact}), 0u) << reduce << exact;
}

TEST(SpmmBackward, hubs_of_both_kinds) {
    Sparse a = random_sparse("hubs", {5, 70000, 0, 40000}, 3, true); // long rows, and longer columns
    for (csaw_reduce reduce : reduces)
        for (uint64_t cols : {1, 40}) EXPECT_EQ(wrong_gradients(a, {reduce, cols, 1, CSAW_F32, true, false}), 0u);
}

// dx of MAX by hand, as the header has it: of each column chunks of 256 of its edges, each sum from zero, in order. One
// after the other they would be other bits.
template <typename REAL> void ExpectChunks(const Sparse &a, bool exact, bool prepared) {
    const csaw_sparse view = a.view();
    const uint64_t cols = 21;
    Dense x(random_matrix(a.cols, cols, 3), CSAW_F32), dy(random_matrix(a.rows, cols, 4), CSAW_F32),
        y(a.rows, cols, CSAW_F32), dx(a.cols, cols, CSAW_F32);
    std::vector<csaw_edge> arg(a.rows * cols);
    const Plan plan(view);
    csaw_spmm_options options = options_of(CSAW_MAX, 1, arg.data(), prepared ? plan.plan : nullptr);
    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
    options.exact = exact;
    ASSERT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), &options, dx.view(), nullptr), CSAW_OK);
    uint64_t others = 0;
    for (uint64_t c = 0; c < cols; c++) {
        std::vector<REAL> total(a.cols), sum(a.cols), in_order(a.cols);
        std::vector<uint64_t> seen(a.cols); // edges of each column
        for (uint64_t r = 0; r < a.rows; r++)
            for (uint64_t e = view.rowptr[r]; e < view.rowptr[r + 1]; e++) {
                const csaw_vertex j = view.col[e];
                if (seen[j]++ % CSAW_CHUNK == 0) total[j] += sum[j], sum[j] = 0;
                if (arg[r * cols + c] != e) continue;
                const REAL product = (view.weight ? REAL{view.weight[e]} : REAL{1}) * static_cast<REAL>(dy.get(r, c));
                sum[j] += product, in_order[j] += product;
            }
        for (uint64_t j = 0; j < a.cols; j++) {
            total[j] += sum[j];
            EXPECT_EQ(dx.get(j, c), static_cast<double>(static_cast<float>(total[j]))) << j << ", " << c;
            others += total[j] != in_order[j];
        }
    }
    EXPECT_GT(others, 0u);
}

TEST(SpmmBackward, gradients_of_maxima_are_added_by_chunks) {
    Sparse a = random_sparse("long columns", std::vector<uint64_t>(1500, 3), 3, true);
    a.cols = 5; // one short, one empty
    for (size_t e = 0; e < a.col.size(); e += 401) a.col[e] = 3;
    for (bool prepared : {false, true}) {
        ExpectChunks<float>(a, false, prepared);
        ExpectChunks<double>(a, true, prepared);
    }
}

TEST(SpmmBackward, of_no_columns) {
    const Sparse a = random_sparse("one column", std::vector<uint64_t>(600, 1), 1, false);
    const csaw_sparse view = a.view();
    const csaw_dense dy = {600, 0, 0, CSAW_F32, nullptr}, dx = {1, 0, 0, CSAW_F32, nullptr};
    for (csaw_reduce reduce : reduces) {
        const csaw_spmm_options options = options_of(reduce);
        EXPECT_EQ(csaw_spmm_backward(&view, nullptr, &dy, &options, &dx, nullptr), CSAW_OK) << csaw_last_error();
    }
}

// The loss is sum(y * dy), taken in float64 of what csaw_spmm(exact) gives. SUM and MEAN are linear in x and in the
// weights; MAX and MIN are too while no other edge takes over.
TEST(SpmmBackward, agrees_with_finite_differences) {
    Sparse a = random_sparse("small", {4, 0, 7, 1, 3}, 6, true);
    const Matrix dy_values = random_matrix(5, 3, 8);
    Matrix x_values = random_matrix(6, 3, 7);
    for (csaw_reduce reduce : reduces) {
        const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
        std::vector<csaw_edge> arg(15);
        csaw_spmm_options options = options_of(reduce, 1, picks ? arg.data() : nullptr);
        options.exact = true;
        const auto loss = [&] {
            const csaw_sparse view = a.view();
            Dense x(x_values, CSAW_F32), y(5, 3, CSAW_F32);
            EXPECT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
            double sum = 0;
            for (uint64_t i = 0; i < 5; i++)
                for (uint64_t c = 0; c < 3; c++) sum += y.get(i, c) * dy_values.at(i, c);
            return sum;
        };
        loss(); // fills arg
        const csaw_sparse view = a.view();
        Dense x(x_values, CSAW_F32), dy(dy_values, CSAW_F32), dx(6, 3, CSAW_F32);
        std::vector<float> dweight(a.col.size(), NAN);
        ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, dx.view(), dweight.data()), CSAW_OK);
        const double step = 0x1p-8, tolerance = 2e-3; // y is rounded to 2^-24 of about 10, divided by 2 steps
        const auto differ = [&](auto &value) {
            const auto kept = value;
            value = static_cast<std::decay_t<decltype(value)>>(kept + step);
            const double up = loss();
            value = static_cast<std::decay_t<decltype(value)>>(kept - step);
            const double down = loss();
            value = kept;
            return (up - down) / (2 * step);
        };
        uint64_t moved = 0;
        for (uint64_t j = 0; j < 6; j++)
            for (uint64_t c = 0; c < 3; c++) {
                const double slope = differ(x_values.at(j, c));
                EXPECT_NEAR(dx.get(j, c), slope, tolerance) << reduce;
                moved += std::fabs(slope) > 10 * tolerance;
            }
        for (size_t e = 0; e < a.weight.size(); e++) {
            const double slope = differ(a.weight[e]);
            EXPECT_NEAR(dweight[e], slope, tolerance) << reduce << " edge " << e;
            moved += std::fabs(slope) > 10 * tolerance;
        }
        EXPECT_GE(moved, 10u) << reduce; // gradients are not all 0
    }
}

TEST(SpmmBackward, same_bits_for_any_number_of_threads_prepared_or_not) {
    for (const Sparse &a : {power_law(true), random_sparse("hubs", {5, 70000, 0, 40000}, 3, true)})
        for (csaw_reduce reduce : reduces) {
            const csaw_sparse view = a.view();
            const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
            Dense x(random_matrix(a.cols, 37, 2), CSAW_F32), dy(random_matrix(a.rows, 37, 5), CSAW_F32);
            std::vector<csaw_edge> arg = reference::spmm(view, x.values(), reduce, 1).arg;
            std::vector<unsigned char> first;
            std::vector<float> first_dweight;
            for (int threads : {1, 2, 5})
                for (bool prepared : {false, true}) {
                    use_threads(threads);
                    const Plan plan(view);
                    const csaw_spmm_options options =
                        options_of(reduce, 1, picks ? arg.data() : nullptr, prepared ? plan.plan : nullptr);
                    Dense dx(a.cols, 37, CSAW_F32);
                    std::vector<float> dweight(a.col.size());
                    ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, dx.view(), dweight.data()),
                              CSAW_OK);
                    if (first.empty()) first = dx.raw(), first_dweight = dweight;
                    EXPECT_EQ(dx.raw(), first);
                    EXPECT_EQ(dweight, first_dweight);
                }
        }
    use_threads(2);
}

TEST(SpmmBackward, fixed_weights_are_those_of_the_plan_and_give_the_same_bits) {
    Sparse a = power_law(false);
    give_weights(&a, 3, 8);
    const csaw_sparse view = a.view();
    const Plan fixed(view, true, 3), changing(view);
    Dense dy(random_matrix(a.rows, 9, 5), CSAW_F32);
    const auto dx = [&](csaw_reduce reduce, uint32_t heads, const csaw_sparse &of, const csaw_spmm_plan *plan) {
        Dense out(a.cols, 9, CSAW_F32);
        const csaw_spmm_options options = options_of(reduce, heads, nullptr, plan);
        EXPECT_EQ(csaw_spmm_backward(&of, nullptr, dy.view(), &options, out.view(), nullptr), CSAW_OK);
        return out.raw();
    };
    for (csaw_reduce reduce : {CSAW_SUM, CSAW_MEAN})
        for (uint32_t heads : {1, 3}) // of one head the plan has no copy
            EXPECT_EQ(dx(reduce, heads, view, fixed.plan), dx(reduce, heads, view, changing.plan));
    std::vector<float> others(a.weight.size(), 0.5f); // another array: looked up
    csaw_sparse other = view, plain = view;
    other.weight = others.data();
    plain.weight = nullptr;
    EXPECT_EQ(dx(CSAW_SUM, 3, other, fixed.plan), dx(CSAW_SUM, 3, other, nullptr));
    EXPECT_EQ(dx(CSAW_SUM, 3, plain, fixed.plan), dx(CSAW_SUM, 3, plain, nullptr));
    const std::vector<unsigned char> before = dx(CSAW_SUM, 3, view, fixed.plan);
    a.weight[0] += 1; // a promise broken: seen by the one plan, not by the other
    EXPECT_EQ(dx(CSAW_SUM, 3, view, fixed.plan), before);
    EXPECT_NE(dx(CSAW_SUM, 3, view, changing.plan), before);
}

TEST(SpmmBackward, means_are_kept_of_weights_that_stay) {
    Sparse a = power_law(true);
    csaw_spmm_plan *plan = nullptr;
    csaw_prepare_options options = {};
    options.size = sizeof options;
    options.means = true;
    csaw_sparse view = a.view();
    EXPECT_EQ(csaw_spmm_prepare(&view, &options, &plan), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("set fixed_weights"), std::string::npos) << csaw_last_error();
    EXPECT_EQ(plan, nullptr);
    Dense dy(random_matrix(a.rows, 9, 5), CSAW_F32);
    for (bool weighted : {false, true}) {
        options.fixed_weights = weighted;
        if (!weighted) view.weight = nullptr;
        ASSERT_EQ(csaw_spmm_prepare(&view, &options, &plan), CSAW_OK) << csaw_last_error();
        Dense with(a.cols, 9, CSAW_F32), without(a.cols, 9, CSAW_F32);
        csaw_spmm_options mean = options_of(CSAW_MEAN, 1, nullptr, plan);
        EXPECT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), &mean, with.view(), nullptr), CSAW_OK);
        mean.plan = nullptr;
        EXPECT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), &mean, without.view(), nullptr), CSAW_OK);
        EXPECT_EQ(with.raw(), without.raw());
        csaw_spmm_plan_free(plan);
        view = a.view();
    }
}

TEST(SpmmBackward, one_gradient_alone) {
    const Sparse a = power_law(true);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.cols, 9, 2), CSAW_F32), dy(random_matrix(a.rows, 9, 5), CSAW_F32);
    Dense both(a.cols, 9, CSAW_F32), alone(a.cols, 9, CSAW_F32);
    std::vector<float> dweight(a.col.size(), NAN), dweight_alone = dweight;
    ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), nullptr, both.view(), dweight.data()), CSAW_OK);
    ASSERT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), nullptr, alone.view(), nullptr), CSAW_OK);
    ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), nullptr, nullptr, dweight_alone.data()), CSAW_OK);
    EXPECT_EQ(alone.raw(), both.raw());
    EXPECT_EQ(dweight_alone, dweight);
}

TEST(SpmmBackward, an_argument_that_is_no_edge_of_its_row_is_refused) {
    const Sparse a = random_sparse("small", {4, 0, 7}, 6, true);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(6, 2, 7), CSAW_F32), dy(random_matrix(3, 2, 8), CSAW_F32), dx(6, 2, CSAW_F32);
    const std::vector<csaw_edge> good = {0, 3, CSAW_NO_EDGE, CSAW_NO_EDGE, 4, 10};
    const std::vector<std::pair<size_t, csaw_edge>> bad = {{0, 4}, {1, CSAW_NO_EDGE}, {2, 0}, {4, 3}, {5, 11}};
    for (const auto &[at, edge] : bad) {
        std::vector<csaw_edge> arg = good;
        arg[at] = edge;
        const csaw_spmm_options options = options_of(CSAW_MAX, 1, arg.data());
        EXPECT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, dx.view(), nullptr), CSAW_EINVAL);
        EXPECT_NE(std::string(csaw_last_error()).find("arg[" + std::to_string(at / 2)), std::string::npos);
    }
    std::vector<csaw_edge> arg = good;
    const csaw_spmm_options options = options_of(CSAW_MAX, 1, arg.data());
    EXPECT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, dx.view(), nullptr), CSAW_OK);
}

} // namespace
