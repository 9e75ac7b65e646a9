// SPDX-License-Identifier: MIT
// maxk_spmm_rules_test.cc - what the products of MaxK keep to whatever they compute: the same bits on any number of
// threads and with a transpose that is given, which way back is the default on a GPU, 64-bit places, arguments refused,
// failures that leave outputs alone.
#include "maxk_cases.h"
#include "spmm/device_maxk.h"

namespace {

using namespace maxk_cases;

TEST(MaxkSpmmRules, SameBitsForAnyNumberOfThreads) {
    std::mt19937_64 random(7);
    for (bool hub : {false, true}) {
        const Sparse matrix = hub ? with_hub(true, random) : mixed(true, random);
        const csaw_sparse a = matrix.view();
        const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 70, 9, CSAW_F32, random);
        Dense dy(a.rows, 70, CSAW_BF16);
        fill_normal(dy, random);
        std::vector<std::vector<uint8_t>> first;
        for (int threads : {1, 2, 5}) {
            use_threads(threads);
            Dense y(a.rows, 70);
            Cbsr dx(a.cols, 70, 9);
            dx.index_memory = x->index_memory;
            std::vector<float> dweight(a.num_edges, NAN);
            ASSERT_EQ(csaw_maxk_spmm(&a, x.get(), nullptr, &y), CSAW_OK);
            ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, nullptr, &dx), CSAW_OK);
            ASSERT_EQ(csaw_maxk_spmm_backward_weight(&a, &dy, x.get(), nullptr, dweight.data()), CSAW_OK);
            const auto *bytes = reinterpret_cast<const uint8_t *>(dweight.data());
            const std::vector<std::vector<uint8_t>> got = {
                y.memory, dx.value_memory, {bytes, bytes + dweight.size() * 4}};
            if (threads == 1) first = got;
            EXPECT_EQ(got, first) << threads << " threads, hub " << hub;
        }
        use_threads(2);
    }
}

// Products with 0 add nothing: what csaw_spmm() makes of the dense rows.
TEST(MaxkSpmmRules, BitsAreThoseOfTheDenseProduct) {
    std::mt19937_64 random(9);
    for (bool hub : {false, true}) {
        const Sparse matrix = hub ? with_hub(true, random) : mixed(true, random);
        const csaw_sparse a = matrix.view();
        const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 70, 9, CSAW_F32, random);
        Dense dense(a.cols, 70), y(a.rows, 70), expected(a.rows, 70);
        ASSERT_EQ(csaw_maxk_dense(x.get(), nullptr, &dense), CSAW_OK);
        for (bool mean : {false, true}) {
            const csaw_maxk_spmm_options options = with(mean);
            csaw_spmm_options spmm = {};
            spmm.size = sizeof spmm;
            spmm.reduce = options.reduce;
            ASSERT_EQ(csaw_maxk_spmm(&a, x.get(), &options, &y), CSAW_OK);
            ASSERT_EQ(csaw_spmm(&a, &dense, &spmm, &expected), CSAW_OK);
            EXPECT_EQ(y.memory, expected.memory) << (hub ? "hub" : "mixed") << (mean ? ", mean" : ", sum");
        }
    }
}

// Of 256 columns on an H200 (docs/measured/2026-11-23-gpu-9-figure-reddit.json): deterministic is the default where it
// costs less than a quarter more than atomic additions, the transpose made or at hand.
TEST(MaxkSpmmRules, DeterministicIsTheDefaultWhereItCostsLittle) {
    const struct {
        uint64_t k;
        double atomic, at_hand, made; // ms; with a transpose that is made from 64 on as of 64, by all columns
    } measured[] = {{8, 2.51, 11.4, 21.3},   {16, 3.07, 14.6, 24.7},   {32, 4.86, 15.6, 25.6},  {64, 10.95, 15.7, 26.4},
                    {96, 17.80, 15.7, 26.4}, {128, 24.96, 15.6, 26.4}, {192, 37.59, 15.7, 26.4}};
    for (const auto &m : measured) {
        const csaw_cbsr dx = {1, 256, m.k, CSAW_F32, nullptr, nullptr};
        for (bool turned : {false, true}) {
            const bool cheap = (turned ? m.at_hand : m.made) < 1.25 * m.atomic;
            EXPECT_EQ(csaw__maxk_backward_way(&dx, false, turned) != CSAW__MAXK_ATOMIC, cheap) << m.k << turned;
            EXPECT_NE(csaw__maxk_backward_way(&dx, true, turned), CSAW__MAXK_ATOMIC) << m.k << turned;
        }
    }
}

TEST(MaxkSpmmRules, ATransposeThatIsGivenMakesNoDifference) {
    std::mt19937_64 random(8);
    for (bool weighted : {false, true}) {
        const Sparse matrix = mixed(weighted, random);
        const csaw_sparse a = matrix.view();
        Sparse turned = {a.cols, a.rows, {0}, {}, {}};
        for (uint64_t j = 0; j < a.cols; j++) {
            for (uint64_t i = 0; i < a.rows; i++)
                for (uint64_t e = a.rowptr[i]; e < a.rowptr[i + 1]; e++)
                    if (a.col[e] == j) {
                        turned.col.push_back(static_cast<csaw_vertex>(i));
                        if (weighted) turned.weight.push_back(a.weight[e]);
                    }
            turned.rowptr.push_back(turned.col.size());
        }
        const csaw_sparse transpose = turned.view();
        Dense dy(a.rows, 32);
        fill_normal(dy, random);
        const std::unique_ptr<Cbsr> made = random_cbsr(a.cols, 32, 5, CSAW_F32, random);
        Cbsr given(a.cols, 32, 5);
        given.index_memory = made->index_memory;
        for (bool mean : {false, true}) {
            const csaw_maxk_spmm_options without = with(mean), options = with(mean, &transpose);
            ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, &without, made.get()), CSAW_OK);
            ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, &options, &given), CSAW_OK);
            EXPECT_EQ(made->value_memory, given.value_memory);
        }
        const csaw_maxk_spmm_options wrong = with(false, &a);
        EXPECT_EQ(csaw_maxk_spmm_backward(&a, &dy, &wrong, &given), CSAW_EINVAL);
        message_has({"is 101 x 67", "that of a is 67 x 101"});
    }
}

// A plan whose weights are fixed is asked with other weights too: it must not take its own for them.
TEST(MaxkSpmmRules, APlanMakesNoDifference) {
    std::mt19937_64 random(14);
    for (bool weighted : {false, true})
        for (bool fixed : {false, true}) {
            const Sparse matrix = mixed(weighted, random);
            const csaw_sparse a = matrix.view();
            csaw_prepare_options prepare = {};
            prepare.size = sizeof prepare;
            prepare.fixed_weights = fixed;
            csaw_spmm_plan *plan = nullptr;
            ASSERT_EQ(csaw_spmm_prepare(&a, &prepare, &plan), CSAW_OK) << csaw_last_error();
            std::vector<float> other = matrix.weight;
            std::reverse(other.begin(), other.end());
            const csaw_sparse reweighted = {a.rows,   a.cols, a.num_edges,
                                            a.rowptr, a.col,  weighted ? other.data() : nullptr};
            Dense dy(a.rows, 32), y(a.rows, 32), planned_y(a.rows, 32);
            fill_normal(dy, random);
            const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 32, 5, CSAW_F32, random);
            for (bool mean : {false, true})
                for (const csaw_sparse *m : {&a, &reweighted}) {
                    csaw_maxk_spmm_options without = with(mean), options = with(mean);
                    options.plan = plan;
                    Cbsr made(a.cols, 32, 5), planned(a.cols, 32, 5);
                    made.index_memory = planned.index_memory = x->index_memory;
                    ASSERT_EQ(csaw_maxk_spmm_backward(m, &dy, &without, &made), CSAW_OK);
                    ASSERT_EQ(csaw_maxk_spmm_backward(m, &dy, &options, &planned), CSAW_OK) << csaw_last_error();
                    EXPECT_EQ(made.value_memory, planned.value_memory) << weighted << fixed << mean;
                    ASSERT_EQ(csaw_maxk_spmm(m, x.get(), &without, &y), CSAW_OK);
                    ASSERT_EQ(csaw_maxk_spmm(m, x.get(), &options, &planned_y), CSAW_OK);
                    EXPECT_EQ(y.memory, planned_y.memory);
                }
            csaw_spmm_plan_free(plan);
        }
}

TEST(MaxkSpmmRules, APlanOfAnotherMatrixIsRefused) {
    std::mt19937_64 random(15);
    const Sparse matrix = mixed(true, random);
    const csaw_sparse a = matrix.view();
    csaw_sparse fewer = a;
    fewer.cols = a.cols - 1;
    csaw_spmm_plan *plan = nullptr;
    ASSERT_EQ(csaw_spmm_prepare(&a, nullptr, &plan), CSAW_OK);
    Dense y(a.rows, 8);
    fill_normal(y, random);
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols - 1, 8, 2, CSAW_F32, random),
                                whole = random_cbsr(a.cols, 8, 2, CSAW_F32, random);
    const std::vector<uint8_t> before = y.memory, values = whole->value_memory;
    csaw_maxk_spmm_options options = with(false);
    options.plan = plan;
    EXPECT_EQ(csaw_maxk_spmm(&fewer, x.get(), &options, &y), CSAW_EINVAL);
    message_has({"101 x 67", "101 x 66", "prepare this one"});
    EXPECT_EQ(csaw_maxk_spmm_backward(&fewer, &y, &options, x.get()), CSAW_EINVAL);
    options.transpose = &a;
    EXPECT_EQ(csaw_maxk_spmm_backward(&a, &y, &options, whole.get()), CSAW_EINVAL);
    message_has({"a plan", "a transpose", "leave one"});
    EXPECT_TRUE(y.memory == before && whole->value_memory == values);
    csaw_spmm_plan_free(plan);
}

// Places past 2^32 bytes, on memory that the system hands out when it is touched.
TEST(MaxkSpmmRules, PlacesBeyond32Bits) {
    const uint64_t rows = (uint64_t{1} << 27) + 3, k = 16, stride = (uint64_t{1} << 30) + 5;
    std::unique_ptr<float[]> value(new (std::nothrow) float[rows * k]),
        large(new (std::nothrow) float[2 * stride + 64]);
    std::unique_ptr<uint8_t[]> index(new (std::nothrow) uint8_t[rows * k]);
    if (!value || !index || !large) GTEST_SKIP() << "no address space of 18 GiB";
    std::mt19937_64 random(10);
    const std::unique_ptr<Cbsr> few = random_cbsr(3, 64, k, CSAW_F32, random);
    memcpy(&value[(rows - 3) * k], few->values, 3 * k * 4);
    memcpy(&index[(rows - 3) * k], few->index, 3 * k);
    Sparse small = {3, 3, {0, 2, 3, 6}, {0, 1, 2, 0, 1, 2}, {}}, shifted = small;
    shifted.cols = rows;
    for (csaw_vertex &j : shifted.col) j += static_cast<csaw_vertex>(rows - 3);
    const csaw_sparse a = small.view(), far = shifted.view();
    const csaw_cbsr x = {rows, 64, k, CSAW_F32, value.get(), index.get()};
    const csaw_dense y = {3, 64, stride, CSAW_F32, large.get()};
    Dense expected(3, 64);
    ASSERT_EQ(csaw_maxk_spmm(&a, few.get(), nullptr, &expected), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm(&far, &x, nullptr, &y), CSAW_OK) << csaw_last_error();
    for (uint64_t r = 0; r < 3; r++) EXPECT_EQ(memcmp(&large[r * stride], &expected.memory[r * 256], 256), 0) << r;
    Cbsr near_dx(3, 64, k), far_dx(3, 64, k);
    near_dx.index_memory = far_dx.index_memory = few->index_memory;
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &expected, nullptr, &near_dx), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &y, nullptr, &far_dx), CSAW_OK);
    EXPECT_EQ(near_dx.value_memory, far_dx.value_memory);
}

// One field spoilt at a time; the outputs stay as they were.
TEST(MaxkSpmmRules, Refused) {
    Sparse matrix = {3, 4, {0, 1, 1, 2}, {0, 3}, {}};
    std::mt19937_64 random(11);
    const std::unique_ptr<Cbsr> x = random_cbsr(4, 8, 2, CSAW_F32, random);
    Dense y(3, 8);
    std::vector<float> dweight(2);
    auto refuses = [&](auto spoil, csaw_status status, const std::vector<std::string> &parts) {
        csaw_sparse a = matrix.view();
        csaw_cbsr cbsr = *x;
        csaw_dense dense = y;
        csaw_maxk_spmm_options options = {};
        options.size = sizeof options;
        spoil(a, cbsr, dense, options);
        EXPECT_EQ(csaw_maxk_spmm(&a, &cbsr, &options, &dense), status);
        message_has(parts);
        EXPECT_EQ(csaw_maxk_spmm_backward(&a, &dense, &options, &cbsr), status);
        EXPECT_EQ(csaw_maxk_spmm_backward_weight(&a, &dense, &cbsr, &options, dweight.data()), status);
    };
    using A = csaw_sparse &;
    using C = csaw_cbsr &;
    using D = csaw_dense &;
    using O = csaw_maxk_spmm_options &;
    const uint64_t falling[] = {0, 2, 1, 2}, late[] = {1, 1, 1, 2}, early[] = {0, 1, 1, 1};
    refuses([](A a, C, D, O) { a.rowptr = nullptr; }, CSAW_EINVAL, {"rowptr"});
    refuses([](A a, C, D, O) { a.col = nullptr; }, CSAW_EINVAL, {"col", "NULL", "2 edges"});
    refuses([&](A a, C, D, O) { a.rowptr = falling; }, CSAW_EINVAL, {"falls from 2 to 1 at row 1"});
    refuses([&](A a, C, D, O) { a.rowptr = late; }, CSAW_EINVAL, {"from 1 to 2"});
    refuses([&](A a, C, D, O) { a.rowptr = early; }, CSAW_EINVAL, {"from 0 to 1", "edges, 2"});
    refuses([](A a, C c, D, O) { a.cols = c.rows = uint64_t{1} << 32; }, CSAW_EINVAL, {"2^32 - 1"});
    refuses([](A, C c, D, O) { c.rows = 3; }, CSAW_EINVAL, {"3 rows", "4 columns"});
    refuses([](A, C c, D, O) { c.k = 9; }, CSAW_EINVAL, {"k of"});
    refuses([](A, C c, D, O) { c.values = nullptr; }, CSAW_EINVAL, {"values"});
    refuses([](A, C, D d, O) { d.rows = 4; }, CSAW_EINVAL, {"4 x 8", "3 x 8"});
    refuses([](A, C, D d, O) { d.stride = 5; }, CSAW_EINVAL, {"stride", "5"});
    refuses([](A, C, D d, O) { d.data = nullptr; }, CSAW_EINVAL, {"data"});
    refuses([](A, C, D d, O) { d.dtype = static_cast<csaw_dtype>(7); }, CSAW_EINVAL, {"dtype", "7"});
    refuses([](A, C, D, O o) { o.device = "cuda:1"; }, CSAW_EUNSUPPORTED, {"built without CUDA"});
    refuses([](A, C, D, O o) { o.device = "cuda:x"; }, CSAW_EINVAL, {"'cuda:x' is not known"});
    refuses([](A, C, D, O o) { o.stream = &o; }, CSAW_EINVAL, {"a stream is given", "the CPU"});
    refuses([](A, C, D, O o) { o.reduce = CSAW_MIN; }, CSAW_EINVAL, {"reduce is 3"});
    refuses([](A, C, D, O o) { o.size = 3; }, CSAW_EINVAL, {"csaw_maxk_spmm_options", "3"});
    const csaw_sparse a = matrix.view();
    EXPECT_EQ(csaw_maxk_spmm(nullptr, x.get(), nullptr, &y), CSAW_EINVAL);
    EXPECT_EQ(csaw_maxk_spmm(&a, nullptr, nullptr, &y), CSAW_EINVAL);
    EXPECT_EQ(csaw_maxk_spmm(&a, x.get(), nullptr, nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_maxk_spmm_backward_weight(&a, &y, x.get(), nullptr, nullptr), CSAW_EINVAL);
    matrix.col[1] = 4; // the transpose reads every column, and says so
    EXPECT_EQ(csaw_maxk_spmm_backward(&a, &y, nullptr, x.get()), CSAW_EINVAL);
    message_has({"edge 1", "column 4", "4 columns"});
    for (uint8_t byte : y.memory) EXPECT_EQ(byte, 0xff);
}

// An output that begins where an input does is refused, and written by nobody.
TEST(MaxkSpmmRules, SharedMemoryIsRefused) {
    Sparse matrix = {4, 4, {0, 1, 1, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
    std::mt19937_64 random(13);
    const std::unique_ptr<Cbsr> x = random_cbsr(4, 8, 2, CSAW_F32, random);
    Dense y(4, 8);
    fill_normal(y, random);
    std::vector<float> dweight(4, NAN);
    const csaw_sparse a = matrix.view();
    csaw_cbsr values_in_y = *x, index_in_y = *x, one = *x;
    values_in_y.values = index_in_y.index = y.data;
    one.index = one.values;
    const std::vector<uint8_t> y_before = y.memory, values = x->value_memory, index = x->index_memory;
    const auto refused = [&](csaw_status status, const std::vector<std::string> &parts) {
        EXPECT_EQ(status, CSAW_EINVAL) << parts[0];
        message_has(parts);
        EXPECT_TRUE(y.memory == y_before && x->value_memory == values && x->index_memory == index);
        EXPECT_EQ(matrix.weight, (std::vector<float>{1, 2, 3, 4}));
    };
    for (const csaw_cbsr *m : {&values_in_y, &index_in_y}) {
        refused(csaw_maxk_spmm(&a, m, nullptr, &y), {"y and x share memory"});
        refused(csaw_maxk_spmm_backward(&a, &y, nullptr, m), {"dy and dx share memory"});
        refused(csaw_maxk(&y, nullptr, m), {"x and out share memory"});
        refused(csaw_maxk_gather(&y, nullptr, m), {"x and out share memory"});
        refused(csaw_maxk_dense(m, nullptr, &y), {"out and m share memory"});
    }
    refused(csaw_maxk_spmm_backward(&a, &y, nullptr, &one), {"values and index of dx share memory"});
    refused(csaw_maxk(&y, nullptr, &one), {"values and index of out share memory"});
    const auto weight_gradient = [&](void *to) {
        return csaw_maxk_spmm_backward_weight(&a, &y, x.get(), nullptr, static_cast<float *>(to));
    };
    refused(weight_gradient(y.data), {"dweight and dy share memory"});
    refused(weight_gradient(x->values), {"dweight and x share memory"});
    refused(weight_gradient(matrix.weight.data()), {"dweight and weight of a share memory"});
    EXPECT_EQ(weight_gradient(dweight.data()), CSAW_OK);
}

TEST(MaxkSpmmRules, EveryAllocationFailsInTurn) {
    std::mt19937_64 random(12);
    const Sparse matrix = mixed(true, random);
    const csaw_sparse a = matrix.view();
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 8, 2, CSAW_F32, random);
    Dense dy(a.rows, 8);
    fill_normal(dy, random);
    for (bool backward : {false, true}) {
        uint64_t count = 1;
        for (uint64_t n = 0; n <= count; n++) {
            Dense y(a.rows, 8);
            Cbsr dx(a.cols, 8, 2);
            dx.index_memory = x->index_memory;
            csaw__fail_allocations_from(n);
            const csaw_status status =
                backward ? csaw_maxk_spmm_backward(&a, &dy, nullptr, &dx) : csaw_maxk_spmm(&a, x.get(), nullptr, &y);
            EXPECT_EQ(status, n ? CSAW_ENOMEM : CSAW_OK) << n;
            if (n == 0) count = csaw__allocations_counted();
            if (n == 0) continue;
            for (uint8_t byte : backward ? dx.value_memory : y.memory) ASSERT_EQ(byte, 0xff);
        }
        EXPECT_EQ(count, backward ? 5u : 1u);
    }
    csaw__fail_allocations_from(0);
}

} // namespace
