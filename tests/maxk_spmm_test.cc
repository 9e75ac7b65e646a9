// SPDX-License-Identifier: MIT
// maxk_spmm_test.cc - the products of MaxK, forward and backward, against float64, against the order of adding that
// csaw/maxk.h promises, and against finite differences.
#include "maxk_cases.h"
#include "reference/maxk.h"
#include "tests/norm_bound.h"

namespace {

using namespace maxk_cases;

double half_unit(csaw_dtype dtype) { return dtype == CSAW_F32 ? 0 : dtype == CSAW_F16 ? 0x1p-11 : 0x1p-8; }

// The elements of got that are further off than csaw/maxk.h allows. least: what a rounding below the normal numbers of
// the storage may add.
uint64_t out_of_bound(const reference::Sums &exact, const reference::Matrix &got, csaw_dtype dtype) {
    uint64_t wrong = 0;
    NormBound norm;
    for (uint64_t i = 0; i < got.at.size(); i++) {
        const double least = dtype == CSAW_F16 ? 0x1p-25 : 0;
        const double sum = 2 * exact.terms.at[i] * 0x1p-24 * exact.size.at[i];
        const double bound = sum + half_unit(dtype) * (std::abs(exact.value.at[i]) + sum) + least;
        wrong += !(std::abs(got.at[i] - exact.value.at[i]) <= bound); // NaN is wrong
        norm.add(got.at[i], exact.value.at[i], exact.size.at[i], exact.terms.at[i],
                 half_unit(dtype) * std::abs(exact.value.at[i]) + least);
    }
    return wrong + !norm.holds();
}

// Those entries of sums that the index of m names: [rows, k].
reference::Sums at_entries(const reference::Sums &sums, const Cbsr &m) {
    reference::Sums out(m.rows, m.k);
    for (uint64_t r = 0; r < m.rows; r++)
        for (uint64_t t = 0; t < m.k; t++) {
            out.value(r, t) = sums.value(r, m.column(r, t));
            out.size(r, t) = sums.size(r, m.column(r, t));
            out.terms(r, t) = sums.terms(r, m.column(r, t));
        }
    return out;
}

reference::Matrix values(const Cbsr &m) {
    reference::Matrix out(m.rows, m.k);
    for (uint64_t i = 0; i < out.at.size(); i++) out.at[i] = reference::element(m.dtype, m.values, i);
    return out;
}

// Forward, backward and the gradient of weights of one matrix and shape, within the bound of float64.
void check_all(const Sparse &matrix, uint64_t n, uint64_t k, csaw_dtype in, csaw_dtype out, bool mean,
               std::mt19937_64 &random) {
    const csaw_sparse a = matrix.view();
    const csaw_maxk_spmm_options chosen = with(mean), *options = &chosen;
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, n, k, in, random);
    Dense y(a.rows, n, out, n % 3), dy(a.rows, n, in, n % 2);
    fill_normal(dy, random);
    ASSERT_EQ(csaw_maxk_spmm(&a, x.get(), options, &y), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(out_of_bound(reference::product(a, reference::dense(*x), mean), reference::dense(y), out), 0u)
        << "forward";

    Cbsr dx(a.cols, n, k, out);
    dx.index_memory = x->index_memory;
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, options, &dx), CSAW_OK) << csaw_last_error();
    const reference::Matrix dense_dy = reference::dense(dy);
    const reference::Sums exact = at_entries(reference::transposed_product(a, dense_dy, mean), dx);
    EXPECT_EQ(out_of_bound(exact, values(dx), out), 0u) << "backward";

    reference::Matrix got(a.num_edges, 1);
    std::vector<float> dweight(a.num_edges, NAN);
    ASSERT_EQ(csaw_maxk_spmm_backward_weight(&a, &dy, x.get(), options, dweight.data()), CSAW_OK) << csaw_last_error();
    std::copy(dweight.begin(), dweight.end(), got.at.begin());
    EXPECT_EQ(out_of_bound(reference::edge_products(a, dense_dy, reference::dense(*x), mean), got, CSAW_F32), 0u);
}

TEST(MaxkSpmm, WithinTheBoundOfFloat64) {
    std::mt19937_64 random(1);
    const Sparse a = mixed(true, random), plain = mixed(false, random);
    for (uint64_t n : {32, 64, 256, 384, 1000})
        for (uint64_t k : {1, 2, 4, 8, 16, 31, 32, 33, 64, 96, 128, 192, 256}) {
            if (k > n) continue;
            SCOPED_TRACE("n " + std::to_string(n) + " k " + std::to_string(k));
            check_all(k % 2 ? a : plain, n, k, CSAW_F32, CSAW_F32, k % 3 == 0, random);
        }
}

TEST(MaxkSpmm, EveryStorage) {
    std::mt19937_64 random(2);
    const Sparse a = mixed(true, random);
    for (csaw_dtype in : {CSAW_F32, CSAW_F16, CSAW_BF16})
        for (csaw_dtype out : {CSAW_F32, CSAW_F16, CSAW_BF16})
            for (auto [n, k] : {std::pair<uint64_t, uint64_t>{256, 32}, {300, 300}, {1, 1}, {65536, 3}}) {
                SCOPED_TRACE(std::string(name_of(in)) + " to " + name_of(out) + " n " + std::to_string(n));
                const Sparse few = n == 65536 ? with_lengths({2, 0, 300}, 5, true, random) : a;
                check_all(few, n, k, in, out, k == 32, random);
            }
}

TEST(MaxkSpmm, Hubs) {
    std::mt19937_64 random(3);
    const Sparse a = with_hub(true, random);
    check_all(a, 40, 7, CSAW_F32, CSAW_F32, false, random);
    check_all(a, 40, 7, CSAW_F32, CSAW_BF16, true, random);
}

TEST(MaxkSpmm, EmptyMatrices) {
    std::mt19937_64 random(4);
    check_all(with_lengths({}, 3, false, random), 8, 2, CSAW_F32, CSAW_F32, true, random);      // 0 rows
    check_all(with_lengths({0, 0}, 0, true, random), 8, 2, CSAW_F32, CSAW_F32, true, random);   // 0 columns
    check_all(with_lengths({0, 0}, 5, false, random), 8, 2, CSAW_F16, CSAW_F32, false, random); // 0 edges
    check_all(with_lengths({4, 0}, 5, false, random), 0, 0, CSAW_F32, CSAW_F32, false, random); // no features
}

// What a product by rows of the transpose may do instead: add up all columns, and take the entries.
TEST(MaxkSpmm, BackwardIsTheDenseGradientAtItsEntries) {
    std::mt19937_64 random(10);
    const Sparse matrix = mixed(true, random);
    const csaw_sparse a = matrix.view();
    for (csaw_dtype in : {CSAW_F32, CSAW_F16, CSAW_BF16})
        for (csaw_dtype out : {CSAW_F32, CSAW_F16, CSAW_BF16})
            for (bool mean : {false, true}) {
                const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 48, 19, in, random);
                const csaw_maxk_spmm_options options = with(mean);
                csaw_spmm_options of_dense = {};
                of_dense.size = sizeof of_dense;
                of_dense.reduce = options.reduce;
                Dense dy(a.rows, 48, in), dense(a.cols, 48, out);
                Cbsr want(a.cols, 48, 19, out), got(a.cols, 48, 19, out);
                want.index_memory = got.index_memory = x->index_memory;
                fill_normal(dy, random);
                ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, &options, &want), CSAW_OK) << csaw_last_error();
                ASSERT_EQ(csaw_spmm_backward(&a, nullptr, &dy, &of_dense, &dense, nullptr), CSAW_OK)
                    << csaw_last_error();
                ASSERT_EQ(csaw_maxk_gather(&dense, nullptr, &got), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(got.value_memory == want.value_memory) << name_of(in) << " to " << name_of(out);
            }
}

// A product that loses a row, leaves it as it was, or adds it twice is out of bound, wherever the row stands and
// however many edges it has: the check can fail.
TEST(MaxkSpmm, RowsLostAndDoubledAreSeen) {
    std::mt19937_64 random(11);
    const Sparse matrix = mixed(true, random);
    const csaw_sparse a = matrix.view();
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 64, 16, CSAW_F32, random);
    Dense y(a.rows, 64), dy(a.rows, 64);
    Cbsr dx(a.cols, 64, 16);
    dx.index_memory = x->index_memory;
    fill_normal(dy, random);
    ASSERT_EQ(csaw_maxk_spmm(&a, x.get(), nullptr, &y), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, nullptr, &dx), CSAW_OK);
    const auto planted = [](const reference::Sums &exact, const reference::Matrix &right, uint64_t row) {
        for (double times : {0.0, 2.0, static_cast<double>(NAN)}) {
            reference::Matrix wrong = right;
            for (uint64_t c = 0; c < wrong.cols; c++) wrong(row, c) *= times;
            EXPECT_GT(out_of_bound(exact, wrong, CSAW_F32), 0u) << "row " << row << ", " << times << " times";
        }
    };
    const reference::Sums forward = reference::product(a, reference::dense(*x), false);
    const reference::Sums backward = at_entries(reference::transposed_product(a, reference::dense(dy), false), dx);
    uint64_t last = a.rows - 1;
    while (a.rowptr[last] == a.rowptr[last + 1]) last--;
    for (uint64_t row : {uint64_t{2}, uint64_t{4}, uint64_t{9}, uint64_t{10}, last})
        planted(forward, reference::dense(y), row);
    for (uint64_t row : {uint64_t{0}, uint64_t{1}, a.cols - 1}) planted(backward, values(dx), row);
}

// An edge left out of the product is out of bound, too.
TEST(MaxkSpmm, OneEdgeLessIsSeen) {
    std::mt19937_64 random(5);
    const Sparse a = mixed(true, random);
    const csaw_sparse full = a.view();
    for (uint64_t row : {2, 10, 99}) { // of 1500 edges, of one, of a few
        Sparse less = a;
        ASSERT_GT(a.rowptr[row + 1], a.rowptr[row]);
        less.col.erase(less.col.begin() + static_cast<int64_t>(a.rowptr[row]));
        less.weight.erase(less.weight.begin() + static_cast<int64_t>(a.rowptr[row]));
        for (uint64_t r = row + 1; r <= a.rows; r++) less.rowptr[r]--;
        const csaw_sparse short_of = less.view();
        const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 64, 16, CSAW_F32, random);
        Dense y(a.rows, 64);
        ASSERT_EQ(csaw_maxk_spmm(&short_of, x.get(), nullptr, &y), CSAW_OK);
        EXPECT_GT(out_of_bound(reference::product(full, reference::dense(*x), false), reference::dense(y), CSAW_F32),
                  0u);
    }
}

// Chunks of 256 in order, from +0; the sums of the chunks to the first.
float in_chunks(const std::vector<float> &products) {
    float total = 0;
    for (size_t begin = 0; begin < products.size(); begin += 256) {
        float chunk = 0;
        for (size_t i = begin; i < std::min(products.size(), begin + 256); i++) chunk += products[i];
        total = begin ? total + chunk : chunk;
    }
    return total;
}

uint32_t bits_of(float x) { return csaw__float_bits(x); }

TEST(MaxkSpmm, TheOrderOfAddingIsThePromisedOne) {
    std::mt19937_64 random(6);
    const Sparse matrix = mixed(true, random);
    const csaw_sparse a = matrix.view();
    const uint64_t n = 48, k = 19;
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, n, k, CSAW_F32, random);
    Dense dense_x(a.cols, n), dy(a.rows, n), y(a.rows, n);
    fill_normal(dy, random);
    Cbsr dx(a.cols, n, k);
    dx.index_memory = x->index_memory;
    std::vector<float> dweight(a.num_edges, NAN);
    for (bool mean : {false, true}) {
        const csaw_maxk_spmm_options chosen = with(mean), *options = &chosen;
        ASSERT_EQ(csaw_maxk_dense(x.get(), nullptr, &dense_x), CSAW_OK);
        ASSERT_EQ(csaw_maxk_spmm(&a, x.get(), options, &y), CSAW_OK);
        ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, options, &dx), CSAW_OK);
        ASSERT_EQ(csaw_maxk_spmm_backward_weight(&a, &dy, x.get(), options, dweight.data()), CSAW_OK);
        auto at = [](const Dense &m, uint64_t r, uint64_t c) { return csaw__float_of_bits(m.bits(r, c)); };
        for (uint64_t i = 0; i < a.rows; i++) // of all columns, as if x were dense
            for (uint64_t c = 0; c < n; c++) {
                std::vector<float> products;
                for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++)
                    products.push_back(a.weight[e] * at(dense_x, a.col[e], c));
                float sum = in_chunks(products);
                if (mean && !products.empty()) sum /= static_cast<float>(products.size());
                ASSERT_EQ(y.bits(i, c), bits_of(sum)) << i << " " << c;
            }
        for (uint64_t j = 0; j < a.cols; j++)
            for (uint64_t t = 0; t < k; t++) {
                std::vector<float> products;
                for (uint64_t i = 0; i < a.rows; i++)
                    for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++)
                        if (a.col[e] == j) {
                            const float share = mean ? static_cast<float>(a.rowptr[i + 1] - a.rowptr[i]) : 1;
                            products.push_back(a.weight[e] / share * at(dy, i, dx.column(j, t)));
                        }
                ASSERT_EQ(dx.bits(j, t), bits_of(in_chunks(products))) << j << " " << t;
            }
        for (uint64_t i = 0; i < a.rows; i++)
            for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++) {
                float sum[16] = {};
                for (uint64_t t = 0; t < k; t++)
                    sum[t % 16] += at(dy, i, x->column(a.col[e], t)) * csaw__float_of_bits(x->bits(a.col[e], t));
                for (int half : {8, 4, 2, 1})
                    for (int l = 0; l < half; l++) sum[l] += sum[l + half];
                const float share = mean ? static_cast<float>(a.rowptr[i + 1] - a.rowptr[i]) : 1;
                ASSERT_EQ(bits_of(dweight[e]), bits_of(sum[0] / share)) << e;
            }
    }
}

// loss = half the sum of squares of A MaxK(x), in float64, by its definition.
double loss(const csaw_sparse &a, const reference::Matrix &x, uint64_t k) {
    reference::Matrix h(x.rows, x.cols);
    for (uint64_t r = 0; r < x.rows; r++)
        for (uint16_t c : reference::largest({&x.at[r * x.cols], &x.at[r * x.cols] + x.cols}, k)) h(r, c) = x(r, c);
    double sum = 0;
    for (double y : reference::product(a, h, false).value.at) sum += y * y / 2;
    return sum;
}

TEST(MaxkSpmm, GradientsAreThoseOfFiniteDifferences) {
    std::mt19937_64 random(9);
    Sparse matrix = with_lengths({3, 0, 5, 1, 8, 2}, 7, true, random);
    const csaw_sparse a = matrix.view();
    const uint64_t n = 12, k = 4;
    Dense x(a.cols, n), y(a.rows, n), dx(a.cols, n);
    for (uint64_t r = 0; r < a.cols; r++) { // no two of a row within 1/16: a small step changes no choice
        std::vector<float> row(n);
        for (uint64_t c = 0; c < n; c++)
            row[c] = static_cast<float>(c) / 4 - 1 + static_cast<float>(random() % 100) / 1000;
        std::shuffle(row.begin(), row.end(), random);
        for (uint64_t c = 0; c < n; c++) x.set(r, c, row[c]);
    }
    Cbsr h(a.cols, n, k), dh(a.cols, n, k);
    std::vector<float> dweight(a.num_edges, NAN);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &h), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm(&a, &h, nullptr, &y), CSAW_OK);
    dh.index_memory = h.index_memory;
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &y, nullptr, &dh), CSAW_OK); // the gradient of y is y
    ASSERT_EQ(csaw_maxk_dense(&dh, nullptr, &dx), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm_backward_weight(&a, &y, &h, nullptr, dweight.data()), CSAW_OK);

    const reference::Matrix at = reference::dense(x), gradient = reference::dense(dx);
    const double step = 0x1p-10; // the loss is quadratic, so the difference has no error but that of rounding
    for (uint64_t i = 0; i < at.at.size(); i++) {
        reference::Matrix more = at, less = at;
        more.at[i] += step, less.at[i] -= step;
        const double slope = (loss(a, more, k) - loss(a, less, k)) / (2 * step);
        EXPECT_NEAR(gradient.at[i], slope, 1e-5 * (1 + std::abs(slope))) << i;
    }
    for (uint64_t e = 0; e < a.num_edges; e++) {
        const float weight = matrix.weight[e];
        float up = weight + 0x1p-6f, down = weight - 0x1p-6f; // as float32 has them
        matrix.weight[e] = up;
        const double above = loss(a, at, k);
        matrix.weight[e] = down;
        const double below = loss(a, at, k);
        matrix.weight[e] = weight;
        const double slope = (above - below) / (static_cast<double>(up) - down);
        EXPECT_NEAR(dweight[e], slope, 1e-4 * (1 + std::abs(slope))) << e;
    }
}

// One NaN and one infinity that are kept reach the rows that they should, and no other element.
TEST(MaxkSpmm, NotANumberAndInfinity) {
    Sparse matrix = {3, 3, {0, 2, 3, 3}, {0, 1, 2}, {}};
    const csaw_sparse a = matrix.view();
    Dense x(3, 4), y(3, 4);
    for (uint64_t r = 0; r < 3; r++)
        for (uint64_t c = 0; c < 4; c++) x.set(r, c, static_cast<float>(c));
    x.set(0, 1, NAN);
    x.set(2, 2, INFINITY);
    Cbsr h(3, 4, 2);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &h), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm(&a, &h, nullptr, &y), CSAW_OK);
    const reference::Matrix got = reference::dense(y);
    EXPECT_TRUE(std::isnan(got(0, 1)));
    EXPECT_EQ(got(0, 0), 0);
    EXPECT_EQ(got(0, 2), 2);
    EXPECT_EQ(got(0, 3), 6);
    EXPECT_EQ(got(1, 2), INFINITY);
    EXPECT_EQ(got(1, 3), 3);
    for (uint64_t c = 0; c < 4; c++) EXPECT_EQ(got(2, c), 0);
}

} // namespace
