/* SPDX-License-Identifier: MIT */
/* spmm_attention_test.cc - SDDMM and edge softmax against their definitions in float64. */
#include "tests/spmm_cases.h"

namespace {

using namespace spmm_cases;

csaw_edge_options edge_options(uint32_t heads, bool exact = false) {
    csaw_edge_options options = {};
    options.size = sizeof options;
    options.heads = heads;
    options.exact = exact;
    return options;
}

uint64_t wrong_dots(const Sparse &a, uint64_t cols, uint32_t heads, csaw_dtype of_x, csaw_dtype of_y, bool exact) {
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.rows, cols, 3), of_x, 1), y(random_matrix(a.cols, cols, 4), of_y, 2);
    std::vector<float> out(a.col.size() * heads + 1, NAN);
    const csaw_edge_options options = edge_options(heads, exact);
    EXPECT_EQ(csaw_sddmm(&view, x.view(), y.view(), &options, out.data()), CSAW_OK) << csaw_last_error();
    const reference::Dots want = reference::sddmm(view, x.values(), y.values(), heads);
    uint64_t wrong = !std::isnan(out.back());
    NormBound norm;
    for (size_t e = 0; e < want.out.size(); e++) {
        wrong += !within_bound(out[e], want.out[e], want.size[e], exact ? 1 : cols / heads, CSAW_F32);
        norm.add(out[e], want.out[e], want.size[e], exact ? 1 : cols / heads, 0);
    }
    return wrong + !norm.holds();
}

TEST(Sddmm, every_width_on_every_matrix) {
    for (const Sparse &a : sparse_list())
        for (uint64_t cols : widths)
            EXPECT_EQ(wrong_dots(a, cols, 1, CSAW_F32, CSAW_F32, false), 0u) << a.name << ", " << cols << " columns";
}

TEST(Sddmm, every_storage_and_heads) {
    const Sparse a = random_sparse("some", {0, 9, 300, 1, 0, 4}, 30, true);
    for (csaw_dtype of_x : dtypes)
        for (csaw_dtype of_y : dtypes)
            for (uint32_t heads : {1, 3, 8})
                for (bool exact : {false, true})
                    EXPECT_EQ(wrong_dots(a, heads * 17, heads, of_x, of_y, exact), 0u)
                        << of_x << of_y << heads << exact;
    EXPECT_EQ(wrong_dots(a, 0, 1, CSAW_F32, CSAW_F32, false), 0u); // no columns: 0
}

// Gradients as csaw/spmm.h says to take them: the product is bilinear, so differences are exact but for rounding.
TEST(Sddmm, gradients_by_spmm) {
    Sparse a = random_sparse("small", {4, 0, 7, 1, 3}, 6, false);
    const csaw_sparse plain = a.view();
    Dense x(random_matrix(5, 4, 3), CSAW_F32), y(random_matrix(6, 4, 4), CSAW_F32), dx(5, 4, CSAW_F32),
        dy(6, 4, CSAW_F32);
    give_weights(&a, 2, 5); // the gradient of out, two heads
    const csaw_sparse view = a.view();
    const csaw_spmm_options options = options_of(CSAW_SUM, 2);
    ASSERT_EQ(csaw_spmm(&view, y.view(), &options, dx.view()), CSAW_OK);
    ASSERT_EQ(csaw_spmm_backward(&view, nullptr, x.view(), &options, dy.view(), nullptr), CSAW_OK);
    const auto loss = [&] {
        const reference::Dots dots = reference::sddmm(plain, x.values(), y.values(), 2);
        double sum = 0;
        for (size_t e = 0; e < dots.out.size(); e++) sum += dots.out[e] * a.weight[e];
        return sum;
    };
    const auto slope = [&](Dense *m, uint64_t r, uint64_t c) {
        const double kept = m->get(r, c), step = 0.25;
        m->set(r, c, kept + step);
        const double up = loss(), above = m->get(r, c);
        m->set(r, c, kept - step);
        const double difference = (up - loss()) / (above - m->get(r, c));
        m->set(r, c, kept);
        return difference;
    };
    for (uint64_t c = 0; c < 4; c++) {
        for (uint64_t r = 0; r < 5; r++) EXPECT_NEAR(dx.get(r, c), slope(&x, r, c), 1e-5);
        for (uint64_t r = 0; r < 6; r++) EXPECT_NEAR(dy.get(r, c), slope(&y, r, c), 1e-5);
    }
}

TEST(EdgeSoftmax, forward_and_backward_on_every_matrix) {
    std::vector<Sparse> list = sparse_list();
    list.push_back(random_sparse("hub", {5, 70000, 0, 3}, 9, false));
    for (const Sparse &a : list)
        for (uint32_t heads : {1, 2, 5}) {
            if (a.name == "hub" && heads > 1) continue; // shared by threads; below
            const csaw_sparse view = a.view();
            const size_t count = a.col.size() * heads;
            std::mt19937_64 random(heads);
            std::vector<float> score(count), dout(count), out(count + 1, NAN), dscore(count + 1, NAN);
            for (float &s : score) s = std::uniform_real_distribution<float>(-90, 90)(random);
            for (float &d : dout) d = std::uniform_real_distribution<float>(-1, 1)(random);
            const csaw_edge_options options = edge_options(heads);
            ASSERT_EQ(csaw_edge_softmax(&view, score.data(), &options, out.data()), CSAW_OK) << csaw_last_error();
            ASSERT_EQ(csaw_edge_softmax_backward(&view, out.data(), dout.data(), &options, dscore.data()), CSAW_OK);
            const std::vector<double> want = reference::edge_softmax(view, {score.begin(), score.end()}, heads);
            uint64_t wrong = !std::isnan(out.back()) + !std::isnan(dscore.back());
            for (size_t e = 0; e < count; e++)
                wrong += !(std::fabs(out[e] - want[e]) <= want[e] * 0x1p-22 + 0x1p-148); // two roundings; subnormals
            EXPECT_EQ(wrong, 0u) << a.name << ", " << heads << " heads";
            if (a.name == "hub") continue; // the definition takes the square of the row
            const std::vector<double> gradient =
                reference::edge_softmax_backward(view, {out.begin(), out.end() - 1}, {dout.begin(), dout.end()}, heads);
            for (size_t e = 0; e < count; e++)
                EXPECT_NEAR(dscore[e], gradient[e], 4 * 0x1p-24 * out[e] + 1e-12) << a.name;
        }
}

// Gradients by themselves: the loss sum(dout * softmax(score)) moves as dscore says.
TEST(EdgeSoftmax, backward_agrees_with_finite_differences) {
    const Sparse a = random_sparse("small", {4, 0, 7, 1}, 6, false);
    const csaw_sparse view = a.view();
    std::mt19937_64 random(3);
    std::vector<float> score(24), dout(24), out(24), dscore(24);
    for (float &s : score) s = std::uniform_real_distribution<float>(-2, 2)(random);
    for (float &d : dout) d = std::uniform_real_distribution<float>(-1, 1)(random);
    const csaw_edge_options options = edge_options(2);
    ASSERT_EQ(csaw_edge_softmax(&view, score.data(), &options, out.data()), CSAW_OK);
    ASSERT_EQ(csaw_edge_softmax_backward(&view, out.data(), dout.data(), &options, dscore.data()), CSAW_OK);
    const auto loss = [&](std::vector<double> at) {
        const std::vector<double> p = reference::edge_softmax(view, at, 2);
        double sum = 0;
        for (size_t e = 0; e < p.size(); e++) sum += p[e] * dout[e];
        return sum;
    };
    double largest = 0;
    for (size_t e = 0; e < 24; e++) {
        std::vector<double> up(score.begin(), score.end()), down = up;
        up[e] += 1e-4, down[e] -= 1e-4;
        EXPECT_NEAR(dscore[e], (loss(up) - loss(down)) / 2e-4, 1e-6);
        largest = std::fmax(largest, std::fabs(dscore[e]));
    }
    EXPECT_GT(largest, 0.01);
}

TEST(EdgeSoftmax, extreme_scores) {
    const float inf = INFINITY, nan = NAN, most = 3e38f;
    const uint64_t rowptr[] = {0, 3, 5, 7, 9, 11, 12};
    const csaw_vertex col[12] = {0};
    const csaw_sparse a = {6, 1, 12, rowptr, col, nullptr};
    const float score[] = {most, most, -most, -inf, 1, -inf, -inf, nan, 1, inf, 1, -inf};
    float out[12];
    std::fill(out, out + 12, 7.0f);
    ASSERT_EQ(csaw_edge_softmax(&a, score, nullptr, out), CSAW_OK);
    EXPECT_EQ(out[0], 0.5f);
    EXPECT_EQ(out[1], 0.5f);
    EXPECT_EQ(out[2], 0.0f);
    EXPECT_EQ(out[3], 0.0f);
    EXPECT_EQ(out[4], 1.0f);
    for (int e : {5, 6, 7, 8, 9, 10, 11}) EXPECT_TRUE(std::isnan(out[e])) << e << " " << out[e];
}

TEST(EdgeSoftmax, same_bits_for_any_number_of_threads) {
    const Sparse a = random_sparse("hub", {5, 70000, 0, 3, 40000}, 9, false);
    const csaw_sparse view = a.view();
    const csaw_edge_options options = edge_options(2);
    std::vector<float> score(a.col.size() * 2), first, first_dscore;
    std::mt19937_64 random(3);
    for (float &s : score) s = std::uniform_real_distribution<float>(-5, 5)(random);
    for (int threads : {1, 2, 5}) {
        use_threads(threads);
        std::vector<float> out(score.size(), NAN), dscore = out;
        ASSERT_EQ(csaw_edge_softmax(&view, score.data(), &options, out.data()), CSAW_OK);
        ASSERT_EQ(csaw_edge_softmax_backward(&view, out.data(), score.data(), &options, dscore.data()), CSAW_OK);
        double sum = 0;
        for (uint64_t e = a.rowptr[1]; e < a.rowptr[2]; e++) sum += out[e * 2 + 1];
        EXPECT_NEAR(sum, 1, 1e-6);
        if (first.empty()) first = out, first_dscore = dscore;
        EXPECT_EQ(out, first);
        EXPECT_EQ(dscore, first_dscore);
    }
    use_threads(2);
}

} // namespace
