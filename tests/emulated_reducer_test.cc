/* SPDX-License-Identifier: MIT */
/* tests/emulated_reducer_test.cc - kernels of csaw_spmm() by a reduction of the caller's as the GPU has them
 * (spmm/device_reducer.cuh), around the files of tests/reducers/: the bits of the CPU, for which the same files are
 * compiled as C, and nothing else is written to. */
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_gpu.h" // before csaw's headers: reducer files are device code here

#include "spmm/device_reducer.cuh"
#include "spmm/device_reducer.h"
#include "tests/spmm_cases.h"

CSAW_DECLARE_REDUCER(times_all);
CSAW_DECLARE_REDUCER(alternate);
CSAW_DECLARE_REDUCER(three_norm);
CSAW_DECLARE_REDUCER(log_sum_exp);

namespace of_times_all {
#include "tests/reducers/times_all.c"
}
namespace of_alternate {
#include "tests/reducers/alternate.c"
}
namespace of_three_norm {
#include "tests/reducers/three_norm.c"
}
namespace of_log_sum_exp {
#include "tests/reducers/log_sum_exp.c"
}

namespace {

using namespace spmm_cases;

constexpr uint32_t kThreads = 64;
using Kernel = void(csaw__product);

struct Reducer {
    const csaw_reducer *cpu;
    Kernel *kernels[CSAW__NUM_REDUCER_KERNELS];
};

template <class FUNCTIONS> Reducer Of(const csaw_reducer *cpu) {
#define KERNEL(STORAGE, LANES, VECTOR) csaw__reduce_by<FUNCTIONS, CSAW_##STORAGE, LANES, VECTOR>,
    return {cpu, {CSAW__REDUCER_KERNELS(KERNEL)}};
}

const Reducer kAlternate = Of<of_alternate::csaw__reducer_functions>(&alternate);
const Reducer kReducers[] = {Of<of_times_all::csaw__reducer_functions>(&times_all), kAlternate,
                             Of<of_three_norm::csaw__reducer_functions>(&three_norm),
                             Of<of_log_sum_exp::csaw__reducer_functions>(&log_sum_exp)};

struct Ask {
    uint64_t cols = 1;
    csaw_dtype of_x = CSAW_F32, of_y = CSAW_F32;
    uint32_t heads = 1;
    uint64_t gap = 0;    // of strides
    uint64_t slices = 3; // of a launch
};

void Launch(csaw__product p, Kernel *kernel, uint32_t threads, uint64_t slices) { // `slices` a launch
    const uint64_t all = p.slices_of_head * p.heads;
    for (; p.blocks && p.first_slice < all; p.first_slice += slices) {
        p.slices = std::min(slices, all - p.first_slice);
        emulated::RunBlocks(p.slices * p.blocks, threads, [&] { kernel(p); });
    }
}

// As csaw__device_reduce_by(), with more places for long rows than there are; returns the kernels.
std::pair<int, int> Run(csaw__product p, const Reducer &by, uint64_t slices) {
    std::vector<csaw__long_row> row(3);
    uint64_t count[2] = {};
    csaw__product hubs = p;
    for (uint64_t r = 0; r < p.rows; r++)
        if (p.rowptr[r + 1] - p.rowptr[r] > CSAW_CHUNK) row.insert(row.begin(), {r, 0}), count[1]++;
    hubs.split.count = count, hubs.split.row = row.data(), hubs.split.most_rows = row.size();
    const int of_rows = csaw__lay_out_reducer(&p, kThreads), of_hubs = csaw__lay_out_long_reducer(&hubs);
    Launch(hubs, by.kernels[of_hubs], CSAW__IN_ORDER_THREADS, slices);
    Launch(p, by.kernels[of_rows], kThreads, slices);
    return {of_rows, of_hubs};
}

std::pair<int, int> ExpectCpuBits(const Sparse &a, const Reducer &by, const Ask &ask) {
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.cols, ask.cols, ask.cols + 1), ask.of_x, ask.gap),
        want(a.rows, ask.cols, ask.of_y, ask.gap);
    csaw_spmm_options options = options_of(CSAW_SUM, ask.heads);
    options.reducer = by.cpu;
    EXPECT_EQ(csaw_spmm(&view, x.view(), &options, want.view()), CSAW_OK) << csaw_last_error();
    Dense y(a.rows, ask.cols, ask.of_y, ask.gap);
    csaw__product p = {};
    p.rowptr = view.rowptr, p.col = view.col, p.weight = view.weight;
    p.rows = view.rows, p.num_edges = view.num_edges;
    p.x = *x.view(), p.y = *y.view();
    p.x.stride = csaw__stride(&p.x), p.y.stride = csaw__stride(&p.y);
    p.heads = ask.heads;
    const auto kernels = Run(p, by, ask.slices);
    EXPECT_EQ(y.raw(), want.raw()) << a.name << ", " << by.cpu->name << ", " << ask.cols << " columns, storage "
                                   << ask.of_x << " to " << ask.of_y << ", heads " << ask.heads << ", gap " << ask.gap;
    return kernels;
}

// Rows around what a group and a block take, and whole turns of a block; short ones between them, and empty ones.
Sparse Hubs(bool weighted) {
    return random_sparse("hubs", {3, 256, 0, 257, 255, 1500, 384, 385, 0, 1, 64}, 30, weighted);
}

TEST(EmulatedReducer, EveryWidth) {
    const Sparse hubs = Hubs(true), few = random_sparse("few", {0, 9, 300, 1, 0, 4, 2, 2, 1030}, 30, false);
    for (uint64_t cols : {1, 2, 3, 4, 7, 8, 9, 16, 31, 32, 33, 36, 64, 65, 100})
        for (const Sparse *a : {&hubs, &few}) {
            if (a == &hubs && cols > 33) continue;
            Ask ask;
            ask.cols = cols;
            ExpectCpuBits(*a, kAlternate, ask);
        }
}

TEST(EmulatedReducer, EveryReducerAndMatrix) {
    for (const Sparse &a : sparse_list())
        for (const Reducer &by : kReducers)
            for (uint64_t cols : {5, 12}) {
                Ask ask;
                ask.cols = cols;
                ExpectCpuBits(a, by, ask);
            }
}

// In all, every kernel there is.
TEST(EmulatedReducer, EveryStorage) {
    const Sparse a = random_sparse("some", {0, 9, 300, 1, 1100, 4}, 30, true);
    bool met[CSAW__NUM_REDUCER_KERNELS] = {};
    for (csaw_dtype of_x : dtypes)
        for (csaw_dtype of_y : dtypes)
            for (uint64_t cols : {7, 33, 36, 72})
                for (const Reducer &by : kReducers) {
                    Ask ask;
                    ask.cols = cols;
                    ask.of_x = of_x, ask.of_y = of_y;
                    if (by.cpu != &alternate && (of_x == CSAW_F32 || cols == 36)) continue;
                    const auto [of_rows, of_hubs] = ExpectCpuBits(a, by, ask);
                    met[of_rows] = met[of_hubs] = true;
                }
    for (bool was_met : met) EXPECT_TRUE(was_met);
}

TEST(EmulatedReducer, StridesAndHeads) {
    for (uint32_t heads : {1, 2, 3})
        for (uint64_t columns : {1, 5, 12, 40})
            for (uint64_t gap : {3, 4}) {
                Sparse a = random_sparse("heads", {0, 9, 300, 1, 500, 4}, 30, false);
                give_weights(&a, heads, heads);
                Ask ask;
                ask.cols = heads * columns;
                ask.heads = heads;
                ask.gap = gap;
                ask.slices = 1;
                ExpectCpuBits(a, kAlternate, ask);
            }
}

// Were a long row taken in parts, or in another order, these would show it.
TEST(EmulatedReducer, TheReducersOfThisTestHangOnTheOrder) {
    Sparse a = random_sparse("one row", {40}, 30, true), turned = a;
    std::reverse(turned.col.begin(), turned.col.end());
    std::reverse(turned.weight.begin(), turned.weight.end());
    Dense x(random_matrix(30, 5, 6), CSAW_F32);
    for (const Reducer &by : kReducers) {
        Dense y(1, 5, CSAW_F32), of_turned(1, 5, CSAW_F32);
        const csaw_sparse view = a.view(), turned_view = turned.view();
        csaw_spmm_options options = options_of(CSAW_SUM);
        options.reducer = by.cpu;
        ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
        ASSERT_EQ(csaw_spmm(&turned_view, x.view(), &options, of_turned.view()), CSAW_OK);
        EXPECT_NE(y.raw(), of_turned.raw()) << by.cpu->name;
    }
}

} // namespace
