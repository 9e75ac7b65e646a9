/* SPDX-License-Identifier: MIT */
/* tests/emulated_maxima_test.cc - kernels of the gradients of MAX and MIN as the GPU has them, gathered and around a
 * sort of the host's: the bits of csaw_spmm_backward(). */
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

extern "C" {
#include "spmm/plan.h"
}
#include "tests/spmm_cases.h"

#include "tests/emulated_reorder.h"
#include "tests/emulated_spmm_backward.h"
#include "tests/share.h"

#include "spmm/device_scatter.cuh"
#include "spmm/device_winners.cuh"

namespace {

using namespace spmm_cases;
using namespace emulated_spmm_backward;

// dweight as spmm/device_backward.cu has it, or with edges that are counted in 64 bits.
void ScatterWeights(csaw__device_scatter s, bool wide = false) {
    s.width = static_cast<uint32_t>(s.dy.cols / s.heads);
    s.lane_bits = csaw__weight_lane_bits(&s);
    ASSERT_TRUE(!wide || (s.x.dtype == CSAW_F32 && s.dy.dtype == CSAW_F32));
    const auto kernel =
        wide ? csaw__scatter_weights_by<CSAW_F32, CSAW_F32, uint64_t>(&s) : csaw__scatter_weights_at(&s);
    emulated::RunBlocks((((s.a.rows * s.heads) << s.lane_bits) + CSAW__THREADS - 1) / CSAW__THREADS, CSAW__THREADS,
                        [&] { kernel(s); });
}

// dx as spmm/device_backward.cu has it, `width` columns at a time.
void Scatter(csaw__device_scatter s, uint32_t width) {
    csaw__transpose t = {};
    ASSERT_EQ(csaw__transpose_create(&s.a, &t), CSAW_OK);
    s.by_column = t.a.rowptr, s.edge = t.edge;
    for (s.first = 0; s.first < s.dy.cols; s.first += s.width) {
        s.width = static_cast<uint32_t>(std::min<uint64_t>(width, s.dy.cols - s.first));
        const uint64_t count = s.a.rows * s.width;
        std::vector<uint32_t> key(count), sorted_key(count);
        std::vector<uint64_t> order;
        const uint64_t slots = csaw__scatter_slots(s.a.num_edges, s.a.cols);
        std::vector<float> product(count, NAN), sorted(count), sum(slots * s.width);
        Launch(count, csaw__scatter_products, s, key.data(), product.data());
        for (uint64_t k : key) EXPECT_EQ(k >> csaw__scatter_bits(&s), 0u);
        StableSort(key, &order);
        for (uint64_t i = 0; i < count; i++) sorted_key[i] = key[order[i]], sorted[i] = product[order[i]];
        Launch(count, csaw__scatter_sums, s, sorted_key.data(), sorted.data(), sum.data());
        Launch(s.a.cols * s.width, csaw__scatter_merge, s, sum.data());
    }
    csaw__transpose_free(&t);
}

// What a plan has of the long rows of a matrix.
struct Split {
    std::vector<csaw__chunk> chunk;
    std::vector<csaw__long_row> row;
    uint64_t count[2];
    csaw__long_rows of;
    explicit Split(const csaw_sparse &a) {
        for (uint64_t r = 0; r < a.rows; r++) {
            const uint64_t begin = a.rowptr[r], end = a.rowptr[r + 1];
            if (end - begin <= CSAW_CHUNK) continue;
            row.push_back({r, chunk.size()});
            for (uint64_t k = begin; k < end; k += CSAW_CHUNK)
                chunk.push_back({k, static_cast<uint32_t>(std::min<uint64_t>(CSAW_CHUNK, end - k)),
                                 static_cast<uint32_t>(row.size() - 1)});
        }
        count[0] = chunk.size(), count[1] = row.size();
        of = {count, chunk.data(), row.data(), count[0], count[1]};
    }
};

struct How {                // dx as spmm/device_winners.cu has it
    uint64_t slices = 1;    // of a launch
    bool planned = false;   // long rows and where stretches begin are known
    bool reordered = false; // rows of the transpose were brought near
    bool fixed = false;     // by weights that a plan has
    bool wide = false;      // edges are counted in 64 bits
    uint32_t multiprocessors = 3;
};

void Gather(const csaw__device_scatter &s, const How &how) {
    csaw__transpose t = {};
    ASSERT_EQ(csaw__transpose_create(&s.a, &t), CSAW_OK);
    csaw__winners w = {};
    csaw__product &p = w.turned;
    w.rowptr = s.a.rowptr, w.rows = s.a.rows, w.arg = s.arg;
    std::vector<float> kept(s.a.num_edges * s.heads);
    if (how.fixed) csaw__transpose_weights(&s.a, &t, s.heads, false, nullptr, kept.data());
    p.rowptr = t.a.rowptr, p.col = t.a.col, p.weight = how.fixed ? kept.data() : s.a.weight;
    p.rows = s.a.cols, p.num_edges = s.a.num_edges;
    p.x = s.dy, p.y = s.dx, p.heads = s.heads;
    std::optional<emulated_reorder::ReorderedRows> reordered;
    if (how.reordered && csaw__reorders(s.a.rows, s.a.cols, s.a.num_edges)) {
        reordered.emplace(csaw_sparse{p.rows, s.a.rows, p.num_edges, p.rowptr, p.col, nullptr});
        p.rowptr = reordered->rowptr.data(), p.col = reordered->col.data();
        w.deal.moved = reordered->moved.data();
    }
    const Split split({p.rows, s.a.rows, p.num_edges, p.rowptr, p.col, nullptr});
    std::vector<uint32_t> first_rows(csaw__stretches_of(p.rows, p.num_edges, CSAW__STRETCH_GRAIN));
    Launch(first_rows.size() * 32, csaw__find_first_rows, p.rowptr, p.rows, p.num_edges, first_rows.data());
    if (how.planned) w.deal.first_rows = first_rows.data();
    w.deal.multiprocessors = how.multiprocessors;
    csaw__winners_lay_out(&w, how.planned ? &split.of : nullptr);
    const uint64_t all = p.slices_of_head * s.heads;
    EXPECT_EQ(w.at_once, all);
    w.edge = t.edge, w.weights = how.fixed;
    const uint64_t words = (how.slices * p.num_edges * w.bytes + 3) / 4;
    std::vector<uint32_t> won(words + 8, 0xdeadbeef);
    uint32_t *const first_word = won.data() + (16 - reinterpret_cast<uintptr_t>(won.data()) % 16) / 4;
    w.won = first_word;
    std::vector<float> partial(how.slices * p.split.most_chunks * p.width + 4, NAN);
    p.partial = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(partial.data() + 3) & ~uintptr_t{15});
    const auto find = how.wide ? csaw__find_winners_of<uint64_t>(w.bytes) : csaw__find_winners_at(&w);
    const auto gather = csaw__winners_kernel_at(&w);
    for (p.first_slice = 0; p.first_slice < all; p.first_slice += how.slices) {
        p.slices = std::min(how.slices, all - p.first_slice);
        std::fill(first_word, first_word + words, 0xfeedf00d); // all of them are stored
        emulated::RunBlocks(p.slices * w.find_blocks, CSAW__THREADS, [&] { find(w); });
        emulated::RunBlocks(p.slices * p.blocks, CSAW__STRETCH_THREADS, [&] { gather(w); });
        emulated::RunBlocks(csaw__stretch_merging_blocks(&p, p.slices), CSAW__THREADS,
                            [&] { csaw__merge_stretches<false>(p, w.deal.moved); });
    }
    EXPECT_EQ(first_word[words], 0xdeadbeef);
    csaw__transpose_free(&t);
}

// Few values, so that many edges of a row have the largest: the first of them wins.
Matrix WithTies(Matrix m) {
    for (double &v : m.value) v = std::round(v);
    return m;
}

// Short rows, rows of chunks, and columns of more than one; empty rows and columns; parallel edges.
TEST(EmulatedMaxima, WinnersGatheredHaveTheCpusBits) {
    for (Sparse a : {random_sparse("rows", {0, 9, 300, 1, 0, 4, 20, 256, 257, 1100, 16, 17, 8, 15}, 7, true),
                     into_hub(), random_sparse("few columns", std::vector<uint64_t>(400, 3), 3, false),
                     power_law(false), random_sparse("long columns", std::vector<uint64_t>(600, 4), 3, true),
                     random_sparse("columns of many chunks", std::vector<uint64_t>(2500, 4), 2, true),
                     random_sparse("short", std::vector<uint64_t>(70, 7), 61, true)})
        for (uint64_t columns : {1, 8, 31, 33, 64, 65, 100, 128, 136, 256, 320})
            for (uint32_t heads : {1, 2})
                for (csaw_dtype dtype : dtypes) {
                    if (heads == 2 && columns != 33 && columns != 64 && columns != 136) continue;
                    if (dtype != CSAW_F32 && (columns < 31 || columns == 65)) continue;
                    if (a.rows > 2000 && columns != 8 && columns != 33 && columns != 64) continue;
                    if (columns > 65 && (a.rows > 100 || (a.cols < 10 && columns != 136))) continue;
                    if (!reference::takes_case()) continue;
                    const csaw_reduce reduce = (columns + heads) % 2 ? CSAW_MAX : CSAW_MIN;
                    if (heads > 1 && !a.weight.empty()) give_weights(&a, heads, 3);
                    Sparse of = a;
                    if (heads == 1 && !a.weight.empty()) give_weights(&of, 1, 4);
                    const csaw_sparse view = of.view();
                    const uint64_t cols = columns * heads, gap = columns % 4 ? 1 : 0;
                    Dense x(WithTies(random_matrix(a.cols, cols, 1)), dtype, gap),
                        dy(random_matrix(a.rows, cols, 2), dtype, gap), y(a.rows, cols, CSAW_F32),
                        want(a.cols, cols, dtype, 4);
                    std::vector<csaw_edge> arg(a.rows * cols);
                    const csaw_spmm_options options = options_of(reduce, heads, arg.data());
                    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
                    ASSERT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), &options, want.view(), nullptr), CSAW_OK);
                    csaw__device_scatter s = {};
                    s.a = view, s.dy = WithStride(dy.view());
                    s.heads = heads, s.arg = arg.data();
                    for (bool planned : {false, true}) {
                        Dense dx(a.cols, cols, dtype, 4);
                        s.dx = WithStride(dx.view());
                        How how;
                        how.slices = columns == 65 ? 2 : 4, how.planned = planned, how.wide = columns % 3 == 1;
                        how.multiprocessors = columns % 2 + columns / 64 % 2 * 2 + 1; // places of a stretch
                        how.reordered = planned && (columns + heads) % 4;
                        how.fixed = view.weight && (columns + dtype) % 2;
                        Gather(s, how);
                        EXPECT_EQ(dx.raw(), want.raw()) << a.name << ", " << columns << " columns, heads " << heads
                                                        << ", storage " << dtype << ", planned " << planned;
                    }
                }
}

TEST(EmulatedMaxima, SlicesOfWinnersAreAsWideAsAWarpAndWorkMemoryHold) {
    const auto laid_out = [](uint64_t columns, csaw_dtype dtype, uint64_t edges, uint32_t heads, uint64_t rows = 1000) {
        csaw__winners w = {};
        w.rows = w.turned.rows = rows, w.turned.num_edges = edges, w.turned.heads = heads;
        w.turned.x = {rows, columns * heads, columns * heads, dtype, nullptr}, w.turned.y = w.turned.x;
        csaw__winners_lay_out(&w, nullptr);
        const uint64_t room = std::max<uint64_t>(CSAW__ROOM_BYTES, rows * columns * heads * sizeof(csaw_edge));
        EXPECT_LE(w.bytes * w.at_once, std::max<uint64_t>(room / edges, w.bytes));
        return std::vector<uint64_t>{w.turned.width, w.bytes, w.turned.slices_of_head, w.at_once};
    };
    typedef std::vector<uint64_t> V; // columns of a slice, bytes of its words, slices of a head, slices of a launch
    EXPECT_EQ(laid_out(64, CSAW_F32, 100, 1), (V{64, 8, 1, 1}));
    EXPECT_EQ(laid_out(256, CSAW_F32, 100, 1), (V{128, 16, 2, 2}));
    EXPECT_EQ(laid_out(260, CSAW_F32, 100, 2), (V{128, 16, 3, 6}));
    EXPECT_EQ(laid_out(20, CSAW_F32, 100, 1), (V{32, 4, 1, 1}));
    EXPECT_EQ(laid_out(17, CSAW_F32, 100, 1), (V{32, 4, 1, 1}));
    EXPECT_EQ(laid_out(16, CSAW_F16, 100, 1), (V{32, 2, 1, 1}));
    EXPECT_EQ(laid_out(66, CSAW_F32, 100, 1), (V{32, 4, 3, 3}));
    EXPECT_EQ(laid_out(6, CSAW_F32, 100, 1), (V{32, 2, 1, 1}));
    EXPECT_EQ(laid_out(64, CSAW_BF16, 100, 1), (V{64, 8, 1, 1}));
    EXPECT_EQ(laid_out(512, CSAW_F16, 100, 1), (V{128, 16, 4, 4}));
    EXPECT_EQ(laid_out(256, CSAW_F32, 12ull << 20, 1), (V{128, 16, 2, 1}));
    EXPECT_EQ(laid_out(256, CSAW_F32, 32ull << 20, 1), (V{64, 8, 4, 1}));
    EXPECT_EQ(laid_out(256, CSAW_F16, 64ull << 20, 1), (V{32, 4, 8, 1}));
    EXPECT_EQ(laid_out(256, CSAW_F32, 1ull << 30, 1), (V{32, 4, 8, 1}));
    EXPECT_EQ(laid_out(64, CSAW_F32, 123718280, 1, 2449029), (V{64, 8, 1, 1})); // as many bytes as arg has
    EXPECT_EQ(laid_out(8, CSAW_F32, 60000000, 8, 1000000), (V{32, 2, 1, 4}));   // words of four heads, of eight
}

// As many places as end at the same time on all multiprocessors, by turns of no more than 256.
TEST(EmulatedMaxima, StretchesOfWinnersEndTogether) {
    for (uint64_t vector : {1, 2, 4})
        for (uint64_t edges : {1, 100, 5000, 100000, 777777, 20000000}) {
            csaw__product p = {};
            p.vector = static_cast<uint32_t>(vector), p.slices_of_head = 2, p.heads = 3;
            p.rows = edges / 3, p.num_edges = edges;
            const uint64_t places = csaw__won_places(&p, 10), all = 6 * (p.rows + p.num_edges);
            const uint64_t warps = 10 * 4 * csaw__won_shape_of(p.vector).blocks, most = warps * CSAW_CHUNK;
            EXPECT_EQ(places % CSAW__STRETCH_GRAIN, 0u);
            EXPECT_GE(places, 64u);
            EXPECT_LE(places, 256u);
            EXPECT_LE((all + places - 1) / places, (all + most - 1) / most * warps) << edges << " edges";
        }
}

// Eight lanes a row, eight entries of arg or more a lane.
TEST(EmulatedMaxima, RowsOfABlockThatFindsWinners) {
    const auto blocks = [](uint64_t columns, uint64_t rows = 1000) {
        csaw__winners w = {};
        w.rows = w.turned.rows = rows, w.turned.num_edges = 100, w.turned.heads = 1;
        w.turned.x = {1000, columns, columns, CSAW_F16, nullptr}, w.turned.y = w.turned.x;
        csaw__winners_lay_out(&w, nullptr);
        return w.find_blocks;
    };
    EXPECT_EQ(blocks(1), 16u); // of 4 * 16 rows
    EXPECT_EQ(blocks(16), 16u);
    EXPECT_EQ(blocks(32), 32u);
    EXPECT_EQ(blocks(64), 63u);
    EXPECT_EQ(blocks(128), 63u);
    EXPECT_EQ(blocks(256), 63u);
    EXPECT_EQ(blocks(16, 0), 1u);
    csaw__winners w = {};
    for (uint32_t bytes : {2, 4, 8, 16}) { // edges counted in 32 bits, and a warp more, or in 64
        w.bytes = bytes, w.turned.num_edges = UINT32_MAX - 32;
        EXPECT_EQ(csaw__find_winners_at(&w), csaw__find_winners_of<uint32_t>(bytes));
        w.turned.num_edges++;
        EXPECT_EQ(csaw__find_winners_at(&w), csaw__find_winners_of<uint64_t>(bytes));
    }
}

// The words themselves: of rows that windows hold whole, that end where one does, and that are many; those which begin
// in the middle of a word; entries that name edges of other rows, or none.
TEST(EmulatedMaxima, WordsSayWhereArgNamesAnEdge) {
    const std::vector<uint64_t> lengths = {5,   1, 0, 2, 120, 3,   1,   0, 128, 1, 7, 127, 384, 1,  512,
                                           513, 1, 4, 0, 1,   897, 126, 2, 385, 0, 0, 3,   700, 11, 5000,
                                           2,   1, 9, 0, 33,  64,  65,  1, 0,   1, 2, 600, 3,   251};
    const Sparse a = random_sparse("windows", lengths, 50, false);
    const csaw_sparse view = a.view();
    ASSERT_TRUE(view.num_edges % 2); // so that words of 2 bytes of another head begin in the middle of one of 4
    for (uint64_t columns : {3, 16, 17, 32, 64, 100, 128, 256})
        for (uint32_t heads : {1, 2})
            for (bool wide : {false, true}) {
                std::mt19937_64 random(columns + heads);
                csaw__winners w = {};
                csaw__product &p = w.turned;
                const uint64_t cols = columns * heads;
                std::vector<csaw_edge> arg(view.rows * cols);
                for (uint64_t i = 0; i < arg.size(); i++) {
                    const uint64_t row = i / cols, begin = view.rowptr[row], length = view.rowptr[row + 1] - begin;
                    const uint64_t which = random() % 16;
                    arg[i] = which == 0             ? CSAW_NO_EDGE
                             : which == 1           ? random() % view.num_edges
                             : which == 2           ? begin + length
                             : which == 3           ? (uint64_t{1} << 32) + begin
                             : which < 6 && length  ? begin
                             : which == 6 && length ? begin + length - 1
                             : which < 9 && length  ? begin + random() % std::min<uint64_t>(length, 4)
                             : length               ? begin + random() % length
                                                    : CSAW_NO_EDGE;
                }
                w.rowptr = view.rowptr, w.rows = view.rows, w.arg = arg.data();
                p.rows = view.cols, p.num_edges = view.num_edges, p.heads = heads;
                p.x = {view.rows, cols, cols, CSAW_F16, nullptr}, p.y = {view.cols, cols, cols, CSAW_F16, nullptr};
                csaw__winners_lay_out(&w, nullptr);
                p.slices = p.slices_of_head * heads;
                std::vector<csaw__pack<uint32_t, 4>> room(p.slices * view.num_edges * w.bytes / 16 + 2);
                std::memset(room.data(), 0xa5, room.size() * sizeof room[0]);
                w.won = room.data();
                const auto find = wide ? csaw__find_winners_of<uint64_t>(w.bytes) : csaw__find_winners_at(&w);
                emulated::RunBlocks(p.slices * w.find_blocks, CSAW__THREADS, [&] { find(w); });
                std::vector<uint8_t> want(room.size() * sizeof room[0], 0xa5);
                std::fill(want.begin(), want.begin() + p.slices * view.num_edges * w.bytes, 0);
                for (uint64_t row = 0; row < view.rows; row++)
                    for (uint64_t c = 0; c < cols; c++) {
                        const csaw_edge e = arg[row * cols + c];
                        if (e < view.rowptr[row] || e >= view.rowptr[row + 1]) continue;
                        const uint64_t slice = c / columns * p.slices_of_head + c % columns / p.width,
                                       bit = c % columns % p.width;
                        want[(slice * view.num_edges + e) * w.bytes + bit / 8] |= 1 << bit % 8;
                    }
                EXPECT_EQ(std::memcmp(room.data(), want.data(), want.size()), 0)
                    << columns << " columns, " << heads << " heads, wide " << wide;
            }
}

// One column, of which so many of each 32 edges won: those kept fill their room, by one more than half of it, or none.
TEST(EmulatedMaxima, EdgesAreKeptUntilTheirRoomIsFull) {
    for (const std::vector<uint32_t> &won : std::vector<std::vector<uint32_t>>{
             {1, 32, 32, 32}, {32, 32, 32}, {32, 1, 32, 32}, {0, 0, 5, 0, 31, 31, 32, 3}})
        for (uint64_t columns : {16, 32, 64, 128}) {
            const uint64_t rows = won.size() * 32;
            Sparse a = random_sparse("two columns", std::vector<uint64_t>(rows, 2), 2, true);
            for (uint64_t e = 0; e < a.col.size(); e++) a.col[e] = e % 2;
            const csaw_sparse view = a.view();
            std::vector<csaw_edge> arg(rows * columns);
            for (uint64_t i = 0; i < arg.size(); i++) {
                const uint64_t row = i / columns;
                arg[i] = row * 2 + (row % 32 >= won[row / 32]);
            }
            Dense dy(random_matrix(rows, columns, 2), CSAW_F32), dx(2, columns, CSAW_F32), want(2, columns, CSAW_F32);
            const csaw_spmm_options options = options_of(CSAW_MAX, 1, arg.data());
            ASSERT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), &options, want.view(), nullptr), CSAW_OK);
            csaw__device_scatter s = {};
            s.a = view, s.dy = WithStride(dy.view()), s.dx = WithStride(dx.view()), s.heads = 1, s.arg = arg.data();
            How how;
            how.multiprocessors = 1;
            Gather(s, how);
            EXPECT_EQ(dx.raw(), want.raw()) << won[0] << ", " << won[1] << ", ... edges, " << columns << " columns";
        }
}

TEST(EmulatedMaxima, WinnersOfOtherRowsAreNone) {
    const Sparse a = random_sparse("rows", {2, 0, 3, 20}, 4, true);
    const std::vector<csaw_edge> none = {2,
                                         5,
                                         uint64_t{1} << 32,
                                         0,
                                         CSAW_NO_EDGE,
                                         3,
                                         1,
                                         ~uint64_t{1},
                                         (uint64_t{1} << 32) + 2,
                                         4,
                                         CSAW_NO_EDGE,
                                         (uint64_t{1} << 32) + 5};
    for (uint64_t columns : {3, 33, 64, 256})
        for (bool wide : {false, true}) {
            Dense dy(random_matrix(4, columns, 2), CSAW_F16), dx(4, columns, CSAW_F32),
                zeros(Matrix(4, columns), CSAW_F32);
            std::vector<csaw_edge> arg(4 * columns);
            for (uint64_t i = 0; i < arg.size(); i++) arg[i] = none[i / columns * 3 + i % columns % 3];
            csaw__device_scatter s = {};
            s.a = a.view(), s.dy = WithStride(dy.view()), s.dx = WithStride(dx.view()), s.heads = 1, s.arg = arg.data();
            How how;
            how.slices = 4, how.wide = wide;
            Gather(s, how);
            EXPECT_EQ(dx.raw(), zeros.raw()) << columns << " columns";
        }
}

TEST(EmulatedMaxima, MaxAndMinHaveTheCpusBits) {
    for (Sparse a : {random_sparse("rows", {0, 9, 300, 1, 0, 4, 20}, 7, true), into_hub(), power_law(false),
                     random_sparse("long columns", std::vector<uint64_t>(500, 8), 4, true)})
        for (uint32_t heads : {1, 2})
            for (csaw_dtype dtype : dtypes)
                for (csaw_reduce reduce : {CSAW_MAX, CSAW_MIN}) {
                    if (heads > 1) give_weights(&a, heads, 3);
                    const csaw_sparse view = a.view();
                    const uint64_t cols = 10;
                    Dense x(random_matrix(a.cols, cols, 1), dtype, 1), dy(random_matrix(a.rows, cols, 2), dtype),
                        y(a.rows, cols, CSAW_F32), want(a.cols, cols, dtype, 3);
                    std::vector<csaw_edge> arg(a.rows * cols);
                    std::vector<float> want_weight(a.col.size() * heads), dweight(want_weight.size(), 99.0f);
                    const csaw_spmm_options options = options_of(reduce, heads, arg.data());
                    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
                    ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, want.view(), want_weight.data()),
                              CSAW_OK);
                    Dense dx(a.cols, cols, dtype, 3);
                    csaw__device_scatter s = {};
                    s.a = view, s.x = WithStride(x.view()), s.dy = WithStride(dy.view()), s.dx = WithStride(dx.view());
                    s.heads = heads, s.arg = arg.data(), s.dweight = dweight.data();
                    Scatter(s, dtype == CSAW_F32 ? 10 : 4);
                    ScatterWeights(s);
                    EXPECT_EQ(dx.raw(), want.raw()) << a.name << ", heads " << heads << ", storage " << dtype;
                    EXPECT_EQ(dweight, want_weight) << a.name << ", heads " << heads << ", storage " << dtype;
                }
}

// Hubs, parallel edges, ties and NaN; heads whose columns are fewer than a warp's lanes, whole turns, and part of one.
TEST(EmulatedMaxima, WeightsOfWinnersHaveTheCpusBits) {
    for (Sparse a : {random_sparse("rows", {0, 9, 300, 1, 0, 4, 20, 1100, 2}, 7, true), into_hub()})
        for (uint64_t columns : {1, 2, 3, 8, 31, 32, 33, 64, 65, 130, 256})
            for (uint32_t heads : {1, 3})
                for (csaw_dtype of_x : dtypes)
                    for (csaw_dtype of_dy : dtypes) {
                        if (of_x != of_dy && (heads > 1 || columns != 33)) continue;
                        if (a.rows > 100 && (columns < 31 || columns > 33 || heads > 1)) continue;
                        if (!reference::takes_case()) continue;
                        give_weights(&a, heads, 3);
                        const csaw_sparse view = a.view();
                        const uint64_t cols = columns * heads;
                        Matrix features = random_matrix(a.cols, cols, 1);
                        if (columns % 2) features = WithTies(features);
                        features.value[features.value.size() / 2] = NAN;
                        Dense x(features, of_x, 1), dy(random_matrix(a.rows, cols, 2), of_dy, 2),
                            y(a.rows, cols, CSAW_F32);
                        std::vector<csaw_edge> arg(a.rows * cols);
                        std::vector<float> want(a.col.size() * heads), dweight(want.size(), 99.0f);
                        const csaw_spmm_options options = options_of(CSAW_MAX, heads, arg.data());
                        ASSERT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_OK);
                        ASSERT_EQ(csaw_spmm_backward(&view, x.view(), dy.view(), &options, nullptr, want.data()),
                                  CSAW_OK);
                        csaw__device_scatter s = {};
                        s.a = view, s.x = WithStride(x.view()), s.dy = WithStride(dy.view());
                        s.heads = heads, s.arg = arg.data(), s.dweight = dweight.data();
                        ScatterWeights(s, of_x == CSAW_F32 && of_dy == CSAW_F32 && columns % 3 == 1);
                        uint64_t nans = 0;
                        for (size_t k = 0; k < want.size(); k++) {
                            if (std::isnan(want[k])) {
                                EXPECT_TRUE(std::isnan(dweight[k]));
                                nans++;
                            } else {
                                EXPECT_EQ(std::memcmp(&dweight[k], &want[k], 4), 0) << a.name << ", edge " << k;
                            }
                        }
                        EXPECT_GT(nans, 0u);
                    }
}

// So many products of one element, in the order of rows: chunks that are whole, and one more.
TEST(EmulatedMaxima, ColumnsThatWinOften) {
    for (uint64_t rows : {1, 32, 255, 256, 257, 511, 512, 513, 1000}) {
        const Sparse a = random_sparse("one column", std::vector<uint64_t>(rows, 1), 1, true);
        const csaw_sparse view = a.view();
        Dense dy(random_matrix(rows, 3, rows), CSAW_F32), want(1, 3, CSAW_F32), dx(1, 3, CSAW_F32);
        std::vector<csaw_edge> arg(rows * 3);
        for (uint64_t i = 0; i < arg.size(); i++) arg[i] = i / 3;
        const csaw_spmm_options options = options_of(CSAW_MAX, 1, arg.data());
        ASSERT_EQ(csaw_spmm_backward(&view, nullptr, dy.view(), &options, want.view(), nullptr), CSAW_OK);
        csaw__device_scatter s = {};
        s.a = view, s.dy = WithStride(dy.view()), s.dx = WithStride(dx.view()), s.heads = 1, s.arg = arg.data();
        Scatter(s, 2);
        EXPECT_EQ(dx.raw(), want.raw()) << rows << " rows";
    }
}

TEST(EmulatedMaxima, EdgesOfOtherRowsAreNoEdges) {
    const Sparse a = random_sparse("rows", {2, 0, 3}, 4, true);
    for (uint64_t columns : {2, 40, 130}) {
        Dense x(random_matrix(4, columns, 1), CSAW_F32), dy(random_matrix(3, columns, 2), CSAW_F32),
            dx(4, columns, CSAW_F32), zeros(Matrix(4, columns), CSAW_F32);
        const std::vector<csaw_edge> none = {2,           (uint64_t{1} << 32) + 1, 0, CSAW_NO_EDGE, 1,
                                             ~uint64_t{1}}; // none in its row
        std::vector<csaw_edge> arg(3 * columns);
        for (uint64_t i = 0; i < arg.size(); i++) arg[i] = none[i / columns * 2 + i % columns % 2];
        std::vector<float> dweight(5, 99.0f);
        csaw__device_scatter s = {};
        s.a = a.view(), s.x = WithStride(x.view()), s.dy = WithStride(dy.view()), s.dx = WithStride(dx.view());
        s.heads = 1, s.arg = arg.data(), s.dweight = dweight.data();
        Scatter(s, 2);
        ScatterWeights(s);
        EXPECT_EQ(dx.raw(), zeros.raw());
        EXPECT_EQ(dweight, std::vector<float>(5));
    }
}

TEST(EmulatedMaxima, ColumnsSortedTogether) {
    EXPECT_EQ(csaw__scatter_columns(0, 9, 64), 64u);
    EXPECT_EQ(csaw__scatter_columns(1000, 0, 64), 64u);
    EXPECT_EQ(csaw__scatter_columns(1000, 1000, 64), 64u);
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED, 9, 64), 1u);
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED / 3, 9, 64), 3u);
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED / 15, 9, 64), 15u);
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED / 17, 9, 64), 16u); // whole reads of 16 columns
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED / 63, 9, 64), 32u); // two rounds of as many
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED / 64, 9, 64), 64u);
    EXPECT_EQ(csaw__scatter_columns(CSAW__SCATTERED / 100, 9, 250), 96u);
    EXPECT_EQ(csaw__scatter_columns(~uint64_t{0} / 16, 9, 64), 1u);
    EXPECT_EQ(csaw__scatter_columns(1000, 0xffffffffu, 64), 1u); // keys of 32 bits, and one that is nowhere
    EXPECT_EQ(csaw__scatter_columns(1000, CSAW__SCATTERED_SUMS / 5, 64), 5u);
    EXPECT_EQ(csaw__scatter_columns(1000, CSAW__SCATTERED_SUMS / 5 + 1, 64), 4u);
    csaw__device_scatter s = {};
    s.a.cols = 0xffffffffu, s.width = 1;
    EXPECT_EQ(csaw__scatter_nowhere(&s), 0xffffffffu);
    EXPECT_EQ(csaw__scatter_bits(&s), 32);
}

} // namespace
