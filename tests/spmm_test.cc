/* SPDX-License-Identifier: MIT */
/* spmm_test.cc - csaw_spmm() against the definition in float64, every element within the stated bound. */
#include "tests/spmm_cases.h"

#include <sys/mman.h>

namespace {

using namespace spmm_cases;

// Runs one product with poisoned outputs and says how many elements or edges are wrong.
uint64_t wrong_elements(const Sparse &a, csaw_reduce reduce, uint64_t cols, csaw_dtype of_x, csaw_dtype of_y,
                        uint32_t heads = 1, bool exact = false, uint64_t gap = 3) {
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.cols, cols, cols + 1), of_x, gap), y(a.rows, cols, of_y, gap + 2);
    const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
    std::vector<csaw_edge> arg(a.rows * cols + 1, 12345);
    csaw_spmm_options options = options_of(reduce, heads, picks ? arg.data() : nullptr);
    options.exact = exact;
    EXPECT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK) << csaw_last_error();
    const reference::Product want = reference::spmm(view, x.values(), reduce, heads);
    const auto terms = [&](uint64_t r) {
        return exact || picks ? uint64_t{1} : row_length(a, r); // MAX and MIN: the product's rounding alone
    };
    uint64_t wrong = count_wrong(&y, want.y, want.size, of_y, terms);
    wrong += !norm_within_bound(&y, want.y, want.size, of_y, terms);
    wrong += !y.gaps_untouched() + (arg.back() != 12345);
    for (size_t i = 0; picks && i + 1 < arg.size(); i++) {
        if (arg[i] == want.arg[i]) continue; // rounded products may tie where exact ones do not
        const auto rounded = [&](csaw_edge e) {
            const float w = a.weight.empty() ? 1.0f : a.weight[e * heads + i % cols / (cols / heads)];
            return w * static_cast<float>(x.get(a.col[e], i % cols));
        };
        const bool tie =
            arg[i] < want.arg[i] && arg[i] >= a.rowptr[i / cols] && rounded(arg[i]) == rounded(want.arg[i]);
        wrong += exact || !tie;
    }
    return wrong;
}

TEST(Spmm, every_width_on_every_matrix) {
    for (const Sparse &a : sparse_list())
        for (uint64_t cols : widths)
            for (csaw_reduce reduce : reduces)
                EXPECT_EQ(wrong_elements(a, reduce, cols, CSAW_F32, CSAW_F32), 0u)
                    << a.name << ", " << cols << " columns, reduce " << reduce;
}

TEST(Spmm, every_storage) {
    std::vector<Sparse> list = sparse_list();
    list.push_back(random_sparse("some", {0, 9, 300, 1, 0, 4}, 30, false));
    for (const Sparse &a : list)
        for (uint64_t cols : {1, 7, 33, 300})
            for (csaw_reduce reduce : reduces)
                for (csaw_dtype of_x : dtypes)
                    for (csaw_dtype of_y : dtypes)
                        EXPECT_EQ(wrong_elements(a, reduce, cols, of_x, of_y), 0u)
                            << a.name << ", " << cols << " columns, reduce " << reduce << ", storage " << of_x << " to "
                            << of_y;
}

// Errors that all lean to one side keep the bound of each element, and not that of the norm.
TEST(Spmm, the_norm_has_a_bound_of_its_own) {
    const Sparse a = random_sparse("one row", {900}, 77, true);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(77, 40, 3), CSAW_F32), y(1, 40, CSAW_F32);
    const auto terms = [](uint64_t) { return uint64_t{900}; };
    ASSERT_EQ(csaw_spmm(&view, x.view(), nullptr, y.view()), CSAW_OK);
    const reference::Product want = reference::spmm(view, x.values(), CSAW_SUM, 1);
    EXPECT_TRUE(norm_within_bound(&y, want.y, want.size, CSAW_F32, terms));
    for (uint64_t c = 0; c < 40; c++) y.set(0, c, want.y.at(0, c) + 0.1 * 2 * 900 * 0x1p-24 * want.size.at(0, c));
    EXPECT_EQ(count_wrong(&y, want.y, want.size, CSAW_F32, terms), 0u);
    EXPECT_FALSE(norm_within_bound(&y, want.y, want.size, CSAW_F32, terms));
}

TEST(Spmm, no_columns) {
    for (const Sparse &a : sparse_list())
        for (csaw_reduce reduce : reduces) EXPECT_EQ(wrong_elements(a, reduce, 0, CSAW_F32, CSAW_F32), 0u);
}

TEST(Spmm, heads_have_weights_of_their_own) {
    for (uint32_t heads : {1, 2, 3, 8}) {
        Sparse a = random_sparse("heads", {0, 9, 300, 1, 0, 4, 40000}, 30, false);
        give_weights(&a, heads, heads);
        for (uint64_t columns : {1, 5, 270}) // of a head; 270 takes two blocks
            for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MAX})
                EXPECT_EQ(wrong_elements(a, reduce, columns * heads, CSAW_F32, CSAW_F32, heads), 0u)
                    << heads << " heads of " << columns << ", reduce " << reduce;
    }
}

// Rows long enough that threads share them, with others around; the second ends in a full chunk.
Sparse with_hubs() { return random_sparse("hubs", {5, 100000, 0, 65536, 32768, 32769, 17}, 400, true); }

TEST(Spmm, rows_that_threads_share) {
    const Sparse a = with_hubs();
    for (uint64_t cols : {1, 5, 257})
        for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MIN})
            EXPECT_EQ(wrong_elements(a, reduce, cols, CSAW_F32, CSAW_F32), 0u) << cols << ", reduce " << reduce;
}

TEST(Spmm, exact_is_within_one_rounding) {
    for (const Sparse &a : {power_law(true), into_hub(), random_sparse("hub", {5, 100000, 3}, 90, true)})
        for (uint64_t cols : {1, 33})
            for (csaw_reduce reduce : reduces)
                for (csaw_dtype of_y : dtypes)
                    EXPECT_EQ(wrong_elements(a, reduce, cols, CSAW_F32, of_y, 1, true), 0u) << a.name << reduce;
    // 2^60 + 1 - 2^60, which float32 cannot add up
    const uint64_t rowptr[] = {0, 3};
    const csaw_vertex col[] = {0, 1, 2};
    float x[] = {0x1p60f, 1, -0x1p60f}, y = NAN;
    const csaw_sparse a = {1, 3, 3, rowptr, col, nullptr};
    const csaw_dense features = {3, 1, 0, CSAW_F32, x}, out = {1, 1, 0, CSAW_F32, &y};
    csaw_spmm_options options = options_of(CSAW_SUM);
    ASSERT_EQ(csaw_spmm(&a, &features, &options, &out), CSAW_OK);
    EXPECT_EQ(y, 0);
    x[0] = 0x1p40f, x[2] = -0x1p40f, options.exact = true;
    ASSERT_EQ(csaw_spmm(&a, &features, &options, &out), CSAW_OK);
    EXPECT_EQ(y, 1);
}

// The order that csaw/spmm.h states, one column, added by hand.
TEST(Spmm, order_of_a_sum) {
    const Sparse a = random_sparse("order", {1000, 40000}, 300, true);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(300, 2, 4), CSAW_F32), y(2, 2, CSAW_F32);
    ASSERT_EQ(csaw_spmm(&view, x.view(), nullptr, y.view()), CSAW_OK);
    for (uint64_t r = 0; r < 2; r++)
        for (uint64_t c = 0; c < 2; c++) {
            float total = 0;
            for (uint64_t first = a.rowptr[r]; first < a.rowptr[r + 1]; first += CSAW_CHUNK) {
                volatile float chunk = 0; // volatile: not to be reordered here
                for (uint64_t e = first; e < std::min(first + CSAW_CHUNK, a.rowptr[r + 1]); e++)
                    chunk = chunk + a.weight[e] * static_cast<float>(x.get(a.col[e], c));
                total = first == a.rowptr[r] ? chunk : total + chunk;
            }
            EXPECT_EQ(y.get(r, c), static_cast<double>(total));
        }
}

TEST(Spmm, same_bits_for_any_number_of_threads) {
    for (const Sparse &a :
         {power_law(true), with_hubs(), random_sparse("many rows", std::vector<uint64_t>(9000, 3), 50, true)})
        for (csaw_reduce reduce : reduces)
            for (csaw_dtype dtype : dtypes) {
                const csaw_sparse view = a.view();
                const csaw_spmm_options options = options_of(reduce);
                Dense x(random_matrix(a.cols, 19, 2), dtype);
                std::vector<unsigned char> first;
                for (int threads : {1, 2, 5}) {
                    use_threads(threads);
                    Dense y(a.rows, 19, dtype);
                    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
                    if (first.empty()) first = y.raw();
                    EXPECT_EQ(y.raw(), first) << a.name << ", " << threads << " threads";
                }
            }
    use_threads(2);
}

TEST(Spmm, not_a_number_and_infinity) {
    const float nan = NAN, inf = INFINITY;
    const uint64_t rowptr[] = {0, 3, 6, 7, 9, 9};
    const csaw_vertex col[] = {1, 0, 2, 2, 1, 3, 3, 4, 5};
    const csaw_sparse a = {5, 6, 9, rowptr, col, nullptr};
    float x[] = {1, nan, 2, inf, -0.0f, 0.0f};
    const csaw_dense features = {6, 1, 0, CSAW_F32, x};
    const auto run = [&](csaw_reduce reduce, std::vector<csaw_edge> *arg) {
        std::vector<float> y(5, nan);
        const csaw_dense out = {5, 1, 0, CSAW_F32, y.data()};
        arg->assign(5, 77);
        const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
        const csaw_spmm_options options = options_of(reduce, 1, picks ? arg->data() : nullptr);
        EXPECT_EQ(csaw_spmm(&a, &features, &options, &out), CSAW_OK);
        return y;
    };
    std::vector<csaw_edge> arg;
    for (csaw_reduce reduce : reduces) {
        const std::vector<float> y = run(reduce, &arg);
        EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << reduce;
        EXPECT_EQ(y[2], inf);
        EXPECT_EQ(y[4], 0.0f);
        if (reduce != CSAW_MAX && reduce != CSAW_MIN) continue;
        EXPECT_EQ(arg, (std::vector<csaw_edge>{0, 4, 6, 7, CSAW_NO_EDGE})) << reduce; // row 3: -0 and 0 tie
        EXPECT_TRUE(std::signbit(y[3]));
    }
}

TEST(Spmm, equal_products_give_the_first_edge) {
    Sparse a = random_sparse("equal", {40000, 700, 2}, 20, false); // threads share the first row
    const csaw_sparse view = a.view();
    Matrix same(20, 3);
    for (double &v : same.value) v = 2.5;
    Dense x(same, CSAW_BF16), y(3, 3, CSAW_F32);
    for (csaw_reduce reduce : {CSAW_MAX, CSAW_MIN}) {
        std::vector<csaw_edge> arg(9, 5);
        const csaw_spmm_options options = options_of(reduce, 1, arg.data());
        ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
        EXPECT_EQ(arg, (std::vector<csaw_edge>{0, 0, 0, 40000, 40000, 40000, 40700, 40700, 40700}));
    }
}

// Rows of x, y and dx that lie 2 GiB apart in a mapping of 80 GiB, of which few pages are touched.
TEST(Spmm, features_beyond_32_bits) {
    const uint64_t n = 40, cols = 5, stride = (uint64_t{1} << 29) + 3, bytes = n * stride * 4;
    const auto map = [&] {
        return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    };
    void *const from = map(), *const to = map();
    if (from == MAP_FAILED || to == MAP_FAILED) GTEST_SKIP() << "no address space for two mappings of 80 GiB";
    const Sparse a = random_sparse("far apart", std::vector<uint64_t>(n, 6), n, true);
    const csaw_sparse view = a.view();
    const csaw_dense x = {n, cols, stride, CSAW_F32, from}, y = {n, cols, stride, CSAW_F32, to};
    Matrix values(n, cols), got(n, cols);
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c < cols; c++)
            values.at(r, c) = static_cast<float *>(from)[r * stride + c] = static_cast<float>(r * cols + c);
    for (csaw_reduce reduce : reduces) {
        const csaw_spmm_options options = options_of(reduce);
        ASSERT_EQ(csaw_spmm(&view, &x, &options, &y), CSAW_OK) << csaw_last_error();
        const reference::Product want = reference::spmm(view, values, reduce, 1);
        for (uint64_t r = 0; r < n; r++)
            for (uint64_t c = 0; c < cols; c++)
                EXPECT_TRUE(within_bound(static_cast<float *>(to)[r * stride + c], want.y.at(r, c), want.size.at(r, c),
                                         6, CSAW_F32))
                    << reduce << " " << r << " " << c;
    }
    const csaw_spmm_options options = options_of(CSAW_SUM);
    std::vector<float> dweight(a.col.size(), NAN);
    ASSERT_EQ(csaw_spmm_backward(&view, &x, &x, &options, &y, dweight.data()), CSAW_OK) << csaw_last_error();
    const reference::Gradients want = reference::spmm_backward(view, values, values, CSAW_SUM, 1, {});
    for (uint64_t r = 0; r < n; r++)
        EXPECT_TRUE(within_bound(static_cast<float *>(to)[r * stride], want.dx.at(r, 0), want.dx_size.at(r, 0),
                                 want.dx_terms[r], CSAW_F32));
    for (size_t e = 0; e < dweight.size(); e++)
        EXPECT_TRUE(within_bound(dweight[e], want.dweight[e], want.dweight_size[e], cols, CSAW_F32));
    munmap(from, bytes);
    munmap(to, bytes);
}

// The checker itself: one edge dropped, taken twice, or with a neighbour's weight is out of bound.
TEST(Spmm, the_bound_finds_a_planted_error) {
    for (csaw_dtype dtype : dtypes) {
        const Sparse good = random_sparse("good", {3, 40}, 20, true);
        Sparse dropped = good, twice = good, swapped = good;
        dropped.weight[20] = 0;
        twice.weight[20] *= 2;
        swapped.weight[20] = good.weight[21];
        for (const Sparse *bad : {&dropped, &twice, &swapped}) {
            const csaw_sparse view = bad->view();
            Dense x(random_matrix(20, 8, 6), dtype), y(2, 8, dtype);
            ASSERT_EQ(csaw_spmm(&view, x.view(), nullptr, y.view()), CSAW_OK);
            const reference::Product want = reference::spmm(good.view(), x.values(), CSAW_SUM, 1);
            const uint64_t wrong =
                count_wrong(&y, want.y, want.size, dtype, [&](uint64_t r) { return row_length(good, r); });
            EXPECT_GE(wrong, 4u); // of the 8 of row 1
            EXPECT_LE(wrong, 8u);
        }
    }
    Dense unwritten(1, 1, CSAW_F16);
    EXPECT_EQ(count_wrong(&unwritten, Matrix(1, 1), Matrix(1, 1), CSAW_F16, [](uint64_t) { return 1; }), 1u);
}

} // namespace
