/* SPDX-License-Identifier: MIT */
/* tests/emulated_spmm_backward_test.cc - kernels of the transpose and of SDDMM as the GPU has them, around a sort of
 * the host's: the CPU's transpose, and the bits of csaw_spmm_backward() and csaw_sddmm(). */
#include <algorithm>

extern "C" {
#include "spmm/plan.h"
}
#include "tests/spmm_cases.h"

#include "tests/emulated_spmm_backward.h"
#include "tests/share.h"

#include "spmm/device_dots.cuh"
#include "spmm/device_transpose.cuh"

namespace {

using namespace spmm_cases;
using namespace emulated_spmm_backward;

TEST(EmulatedBackward, TransposeAndItsWeights) {
    for (Sparse a : sparse_list()) {
        give_weights(&a, 2, 5);
        const csaw_sparse view = a.view();
        csaw__transpose want = {};
        ASSERT_EQ(csaw__transpose_create(&view, &want), CSAW_OK);
        std::vector<csaw_edge> edge;
        StableSort(a.col, &edge);
        std::vector<csaw_vertex> sorted(edge.size()), row(edge.size() + 1, ~0u);
        for (size_t k = 0; k < edge.size(); k++) sorted[k] = a.col[edge[k]];
        std::vector<uint64_t> rowptr(a.cols + 2, 777);
        Launch(a.cols + 1, csaw__find_starts, sorted.data(), view.num_edges, view.cols, rowptr.data());
        Launch(view.num_edges, csaw__find_rows, view, edge.data(), row.data());
        EXPECT_TRUE(std::equal(edge.begin(), edge.end(), want.edge)) << a.name;
        for (uint64_t j = 0; j <= a.cols; j++) EXPECT_EQ(rowptr[j], want.a.rowptr[j]) << a.name;
        for (size_t k = 0; k < edge.size(); k++) EXPECT_EQ(row[k], want.a.col[k]) << a.name;
        EXPECT_EQ(rowptr.back(), 777u);
        EXPECT_EQ(row.back(), ~0u);
        std::vector<float> kept(edge.size() * 2 + 1, 99), divisor(a.rows + 1, 99);
        Launch(a.rows, csaw__count_edges_of_rows, a.rowptr.data(), view.rows, divisor.data());
        EXPECT_EQ(divisor.back(), 99.0f);
        for (bool mean : {false, true})
            for (bool fixed : {false, true}) {
                std::vector<float> out(kept.size(), 99), expected(kept.size(), 99);
                csaw__transpose_weights(&view, &want, 2, mean, nullptr, expected.data());
                if (!mean && !fixed) kept = expected;
                Launch(2 * view.num_edges, csaw__weigh, view, edge.data(), row.data(), 2u, mean,
                       fixed ? kept.data() : nullptr, fixed ? divisor.data() : nullptr, out.data());
                EXPECT_EQ(out, expected) << a.name;
            }
        csaw__transpose_free(&want);
    }
}

TEST(EmulatedBackward, ChecksTheMatrix) {
    Sparse a = random_sparse("faulty", {3, 0, 70, 2, 5}, 9, false);
    const auto check = [&] {
        std::vector<unsigned long long> bad(2, ~0ull);
        const csaw_sparse view = a.view();
        Launch(std::max(view.rows, view.num_edges), csaw__check_matrix, view, bad.data());
        return bad;
    };
    EXPECT_EQ(check(), (std::vector<unsigned long long>{~0ull, ~0ull}));
    a.col[75] = a.col[41] = 9;
    EXPECT_EQ(check()[1], 41u);
    a.rowptr[3] = 2;
    EXPECT_EQ(check()[0], 2u);
}

// Groups by the column of their first edge, as csaw__device_dots_order() has them.
struct Order {
    std::vector<csaw_vertex> key, row;
    std::vector<uint64_t> group;
    csaw__dots_order of;
    explicit Order(const csaw_sparse &a)
        : key(csaw__dots_groups(a.num_edges)), row(key.size()), group(key.size()), of{group.data(), row.data()} {
        Launch(key.size(), csaw__dots_keys, a, key.data(), group.data());
        std::stable_sort(group.begin(), group.end(), [&](uint64_t i, uint64_t j) { return key[i] < key[j]; });
        Launch(key.size(), csaw__dots_rows, a, static_cast<const uint64_t *>(group.data()), row.data());
    }
};

// The row of an edge by a whole warp, and by one thread from `before` rows before it.
void FindRows(const uint64_t *rowptr, uint64_t rows, uint64_t before, uint64_t *by_warp, uint64_t *on) {
    const uint64_t i = csaw__thread_number(), e = i / 32;
    if (e >= rowptr[rows]) return; // whole warps
    const uint64_t row = csaw__row_by_warp(rowptr, rows, e);
    by_warp[i] = row;
    on[i] = csaw__row_on(rowptr, row > before ? row - before : 0, rows, e);
}

TEST(EmulatedBackward, FindsRowsOfEdges) {
    for (uint64_t rows : {1, 2, 33, 5000}) {
        std::mt19937_64 random(rows);
        std::vector<uint64_t> rowptr(1);
        std::vector<uint64_t> want;
        for (uint64_t r = 0; r < rows; r++) { // empty ones, and the first and the last by chance
            const uint64_t count = rows == 1 ? 9 : random() % 5 ? 0 : random() % 4;
            want.insert(want.end(), count, r);
            rowptr.push_back(want.size());
        }
        for (uint64_t before : {0, 1, 6, 1 << 20}) {
            std::vector<uint64_t> by_warp(32 * want.size()), on(by_warp.size());
            Launch(by_warp.size(), FindRows, static_cast<const uint64_t *>(rowptr.data()), rows, before, by_warp.data(),
                   on.data());
            for (size_t i = 0; i < on.size(); i++) {
                ASSERT_EQ(by_warp[i], want[i / 32]) << "edge " << i / 32 << " of " << rows << " rows";
                ASSERT_EQ(on[i], want[i / 32])
                    << "edge " << i / 32 << " of " << rows << " rows, " << before << " before";
            }
        }
    }
}

TEST(EmulatedBackward, DotsHaveTheCpusBits) {
    for (Sparse a : {random_sparse("rows", {0, 9, 300, 1, 0, 0, 4, 20}, 30, false), power_law(false)})
        for (uint32_t heads : {1, 3})
            for (uint64_t columns : {1, 7, 16, 20, 24, 47, 48, 64, 65, 96, 128, 200, 300, 301}) { // of each shape
                const bool small = a.rows < 100, padded = columns % 3 != 0; // padded: of 16 bits by 4 at once
                if (!small && columns != 20 && columns != 24) continue;
                for (csaw_dtype of_x : dtypes)
                    for (csaw_dtype of_y : dtypes) {
                        if (of_x != of_y && (!small || heads > 1)) continue;
                        if (!reference::takes_case()) continue;
                        const csaw_sparse view = a.view();
                        const uint64_t cols = columns * heads;
                        Dense x(random_matrix(a.rows, cols, 1), of_x, padded ? 4 : 0),
                            y(random_matrix(a.cols, cols, 2), of_y, 8);
                        std::vector<float> want(a.col.size() * heads + 1, 99), out(want.size(), 99);
                        csaw_edge_options options = {};
                        options.size = sizeof options;
                        options.heads = heads;
                        ASSERT_EQ(csaw_sddmm(&view, x.view(), y.view(), &options, want.data()), CSAW_OK);
                        csaw__device_dots_job d = {
                            view, WithStride(x.view()), WithStride(y.view()), heads, false, out.data(), {}, 0};
                        const Order order(view);
                        if ((columns + heads) % 3) d.order = order.of; // of vectors and of single columns, some in turn
                        uint64_t threads = 0;
                        csaw__dots_kernel *const kernel = csaw__dots_kernel_at(&d, &threads);
                        Launch(threads, kernel, d);
                        EXPECT_EQ(out, want)
                            << a.name << ", " << heads << " heads of " << columns << ", " << of_x << " and " << of_y;
                    }
            }
}

// The rows of edges between which there are more empty rows than lanes look at, and than there are edges.
TEST(EmulatedBackward, DotsBeyondEmptyRows) {
    std::vector<uint64_t> lengths(3000);
    lengths[1] = 5, lengths[40] = 2, lengths[41] = 1, lengths[60] = 4, lengths[2990] = 30;
    const Sparse a = random_sparse("gaps", lengths, 9, false);
    const csaw_sparse view = a.view();
    for (uint64_t columns : {3, 16, 48, 64})
        for (bool ordered : {false, true}) {
            Dense x(random_matrix(a.rows, columns, 1), CSAW_F16), y(random_matrix(9, columns, 2), CSAW_F16);
            std::vector<float> want(a.col.size()), out(want.size(), 99);
            csaw_edge_options options = {};
            options.size = sizeof options;
            ASSERT_EQ(csaw_sddmm(&view, x.view(), y.view(), &options, want.data()), CSAW_OK);
            csaw__device_dots_job d = {view, WithStride(x.view()), WithStride(y.view()), 1, false, out.data(), {}, 0};
            const Order order(view);
            if (ordered) d.order = order.of;
            uint64_t threads = 0;
            csaw__dots_kernel *const kernel = csaw__dots_kernel_at(&d, &threads);
            Launch(threads, kernel, d);
            EXPECT_EQ(out, want) << columns << " columns" << (ordered ? ", ordered" : "");
        }
}

// Of two float16 one rounding is as two, infinities, NaN, the least and the largest among them.
TEST(EmulatedBackward, DotsOfAnyFloat16) {
    const Sparse a = random_sparse("all", {40, 3}, 9, false);
    const csaw_sparse view = a.view();
    for (uint64_t columns : {7, 16, 64, 128}) {
        Dense x(Matrix(2, columns), CSAW_F16), y(Matrix(9, columns), CSAW_F16);
        std::mt19937_64 random(columns);
        for (Dense *m : {&x, &y})
            for (uint64_t i = 0; i < m->view()->rows * columns; i++) {
                const uint64_t bits = random();
                reinterpret_cast<uint16_t *>(m->view()->data)[i] =
                    static_cast<uint16_t>(bits >> 16 & 0xbfff); // up to 2
            }
        const auto put = [columns](Dense *m, uint64_t row, uint64_t column, uint16_t bits) {
            reinterpret_cast<uint16_t *>(m->view()->data)[row * columns + column] = bits;
        };
        put(&x, 1, 0, 0x7c00), put(&y, 4, 1, 0x7e00); // infinity in a row, NaN in a column
        put(&y, 5, 0, 0x7bff), put(&x, 0, 0, 0xfbff), put(&x, 0, 2, 0x0001), put(&y, 6, 2, 0x8001);
        std::vector<float> want(a.col.size()), out(want.size(), 99);
        csaw_edge_options options = {};
        options.size = sizeof options;
        ASSERT_EQ(csaw_sddmm(&view, x.view(), y.view(), &options, want.data()), CSAW_OK);
        csaw__device_dots_job d = {view, WithStride(x.view()), WithStride(y.view()), 1, false, out.data(), {}, 0};
        uint64_t threads = 0;
        csaw__dots_kernel *const kernel = csaw__dots_kernel_at(&d, &threads);
        Launch(threads, kernel, d);
        size_t finite = 0;
        for (size_t e = 0; e < out.size(); e++) {
            EXPECT_TRUE(out[e] == want[e] || (std::isnan(out[e]) && std::isnan(want[e]))) << columns << ", edge " << e;
            finite += std::isfinite(want[e]);
        }
        EXPECT_GE(finite, 20u);
        EXPECT_LT(finite, out.size());
    }
}

TEST(EmulatedBackward, DotsOfMeans) {
    const Sparse a = random_sparse("mean", {0, 9, 40, 1}, 30, false);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(30, 12, 1), CSAW_F32), dy(random_matrix(4, 12, 2), CSAW_F32);
    std::vector<float> want(50), out(50);
    const csaw_spmm_options options = options_of(CSAW_MEAN);
    ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, nullptr, want.data()), CSAW_OK);
    csaw__device_dots_job d = {view, WithStride(dy.view()), WithStride(x.view()), 1, true, out.data(), {}, 0};
    uint64_t threads = 0;
    csaw__dots_kernel *const kernel = csaw__dots_kernel_at(&d, &threads);
    Launch(threads, kernel, d);
    EXPECT_EQ(out, want);
}

// Sums begin with 0 (csaw/spmm.h), so products of -0 alone add up to 0.
TEST(EmulatedBackward, DotsOfZerosHaveNoSign) {
    const Sparse a = random_sparse("zeros", {3, 30}, 5, false);
    const csaw_sparse view = a.view();
    for (uint64_t columns : {1, 4, 64, 300})
        for (csaw_dtype dtype : dtypes) {
            Matrix zero(2, columns), negative(5, columns);
            std::fill(negative.value.begin(), negative.value.end(), -2.0);
            Dense x(zero, dtype), y(negative, dtype);
            std::vector<float> out(a.col.size(), -1.0f);
            csaw__device_dots_job d = {view, WithStride(x.view()), WithStride(y.view()), 1, false, out.data(), {}, 0};
            uint64_t threads = 0;
            csaw__dots_kernel *const kernel = csaw__dots_kernel_at(&d, &threads);
            Launch(threads, kernel, d);
            for (float value : out) EXPECT_TRUE(value == 0 && !std::signbit(value)) << columns << " columns";
        }
}

} // namespace
