/* SPDX-License-Identifier: MIT */
/* tests/emulated_softmax_test.cc - the softmax over edges as the GPU has it: the bits of csaw_edge_softmax() and of its
 * backward pass. */
#include "tests/spmm_cases.h"

#include "tests/emulated_gpu.h"

#include "spmm/device_long.cuh"
#include "spmm/device_softmax.cuh"

namespace {

using namespace spmm_cases;

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t threads, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks((threads + 63) / 64, 64, [&] { kernel(arguments...); });
}

// As spmm/device_softmax.cu.
void OnDevice(const csaw_sparse &a, const csaw__softmax &of) {
    csaw__device_softmax_job j = {a.rowptr, a.rows, of, {}, nullptr, nullptr, 0};
    j.split.most_rows = csaw__most_long_rows(a.num_edges, a.rows);
    j.split.most_chunks = csaw__most_chunks(a.num_edges, a.rows);
    std::vector<uint64_t> count(2);
    std::vector<csaw__chunk> chunk(j.split.most_chunks);
    std::vector<csaw__long_row> row(j.split.most_rows);
    std::vector<double> partial(j.split.most_chunks * of.heads, NAN), before(j.split.most_rows * of.heads, NAN);
    j.split.count = count.data(), j.split.chunk = chunk.data(), j.split.row = row.data();
    j.partial = partial.data(), j.before = before.data();
    j.chunk_blocks = static_cast<uint32_t>((32 * partial.size() + CSAW__SOFTMAX_THREADS - 1) / CSAW__SOFTMAX_THREADS);
    uint64_t row_blocks = 0;
    const auto rows = csaw__softmax_rows_at(&j, a.num_edges, &row_blocks);
    const auto over_chunks = [&](auto kernel) {
        emulated::RunBlocks(j.chunk_blocks, CSAW__SOFTMAX_THREADS, [&] { kernel(j); });
    };
    Launch(a.rows, csaw__find_long, a.rowptr, a.rows, j.split);
    emulated::RunBlocks(j.chunk_blocks + row_blocks, CSAW__SOFTMAX_THREADS, [&] { rows(j); });
    if (of.dout) {
        Launch(32 * before.size(), csaw__softmax_merge<CSAW__PRODUCTS>, j);
        over_chunks(csaw__softmax_chunks<CSAW__GRADIENTS>);
        return;
    }
    Launch(32 * before.size(), csaw__softmax_merge<CSAW__LARGEST>, j);
    over_chunks(csaw__softmax_chunks<CSAW__EXPONENTIALS>);
    Launch(32 * before.size(), csaw__softmax_merge<CSAW__EXPONENTIALS>, j);
    over_chunks(csaw__softmax_chunks<CSAW__DIVIDE>);
}

bool SameBits(const std::vector<float> &a, const std::vector<float> &b) { // but for those of NaN
    for (size_t i = 0; i < a.size(); i++)
        if (std::isnan(a[i]) ? !std::isnan(b[i]) : std::memcmp(&a[i], &b[i], 4) != 0) return false;
    return true;
}

TEST(EmulatedSoftmax, HasTheCpusBits) {
    for (uint32_t heads : {1, 3})
        for (Sparse a : {random_sparse("hubs", {3, 1024, 0, 1025, 255, 3000, 256, 257}, 30, false), power_law(false),
                         random_sparse("short", {3, 15, 0, 16, 17, 1, 8, 9, 7, 40, 2, 2, 2}, 30, false)})
            for (bool special : {false, true}) {
                const csaw_sparse view = a.view();
                give_weights(&a, heads, 4); // scores
                std::vector<float> score = a.weight, want(score.size() + 1, 99), out(want), dout, back(want), got(want);
                give_weights(&a, heads, 5);
                dout = a.weight;
                if (special) score[7] = -INFINITY, score[score.size() / 3] = INFINITY, score[score.size() / 2] = NAN;
                csaw_edge_options options = {};
                options.size = sizeof options;
                options.heads = heads;
                ASSERT_EQ(csaw_edge_softmax(&view, score.data(), &options, want.data()), CSAW_OK);
                OnDevice(view, {score.data(), nullptr, out.data(), heads});
                EXPECT_TRUE(SameBits(want, out)) << a.name << ", heads " << heads;
                ASSERT_EQ(csaw_edge_softmax_backward(&view, want.data(), dout.data(), &options, back.data()), CSAW_OK);
                OnDevice(view, {want.data(), dout.data(), got.data(), heads});
                EXPECT_TRUE(SameBits(back, got)) << a.name << ", heads " << heads;
            }
}

// Gradients that cancel within a row, so that the order of their sum shows: of a hub's chunks, and of short rows, in
// turns that are full and not.
TEST(EmulatedSoftmax, SumsInOrder) {
    for (const Sparse &a : {random_sparse("hub", {3000, 7}, 30, false),
                            random_sparse("short", {14, 16, 9, 15, 17, 5, 0, 12, 31, 8}, 30, false)}) {
        const csaw_sparse view = a.view();
        std::vector<float> out(a.col.size(), 1), dout(out.size(), 1), want(out.size()), got(out.size());
        std::mt19937_64 random(8);
        for (uint64_t row = 0; row < a.rows; row++)
            for (uint64_t k = a.rowptr[row], other = a.rowptr[row + 1]; k + 1 < other; k += 2) {
                dout[k] =
                    std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), static_cast<int>(random() % 70));
                dout[other - 1] = -dout[k];
                other -= 2;
            }
        ASSERT_EQ(csaw_edge_softmax_backward(&view, out.data(), dout.data(), nullptr, want.data()), CSAW_OK);
        OnDevice(view, {out.data(), dout.data(), got.data(), 1});
        EXPECT_EQ(got, want) << a.name;
    }
}

} // namespace
