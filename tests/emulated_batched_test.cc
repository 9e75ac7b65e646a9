// SPDX-License-Identifier: MIT
// tests/emulated_batched_test.cc - batched products as the GPU has them (spmm/device_batch.cuh, device_batched.cuh,
// device_batched_dots.cuh, device_batched_tiles.cuh, device_batched_won.cuh): the bits of csaw_batched_spmm() and of
// its backward pass, in every form of a batch; the checks of a batch; and quotients (device_divide.cuh).
#include <sys/mman.h>

#include <algorithm>
#include <cfloat>

#include "tests/batched_cases.h"

#include "tests/emulated_gpu.h"

#include "spmm/device_batch.cuh"
#include "spmm/device_batched_dots.cuh"
#include "spmm/device_batched_tiles.cuh"
#include "spmm/device_batched_won.cuh"

namespace {

using namespace batched;

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t threads, uint32_t of_block, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks(static_cast<uint32_t>((threads + of_block - 1) / of_block), of_block,
                        [&] { kernel(arguments...); });
}

// As spmm/device_batch.cu.
struct There {
    explicit There(const csaw_batch *batch) : batch(batch) {
        const csaw_batch_totals t = batch->total;
        std::vector<uint32_t> row(t.edges + 1), col(t.edges + 1), sorted_col;
        std::vector<float> weight(t.edges + 1);
        std::vector<csaw__batched_row> cols(t.cols + 1);
        uint32_t by_col_moved = 0;
        output.resize(t.cols + 1);
        row_of_row.resize(t.rows + 1), row_of_col.resize(t.cols + 1);
        named.resize(t.edges + 1), named_by_col.resize(t.edges + 1);
        for (auto *entries : {&by_row, &by_col, &mean}) entries->resize(t.edges + 1);
        divided.resize(t.edges + 1);
        Launch(t.edges, 64, csaw__batch_spread, batch->graph, t.graphs, t.edges, row.data(), col.data(), weight.data());
        std::vector<uint64_t> order = Sort(row, t.edges, &row_of);
        Launch(t.rows, 64, csaw__batch_rows<CSAW__BY_ROW>, batch->graph, t.graphs, row_of.data(), t.edges, t.rows,
               row_of_row.data());
        Launch(t.edges, 64, csaw__batch_entries, order.data(), col.data(), weight.data(), t.edges, by_row.data(),
               named.data(), &moved);
        order = Sort(col, t.edges, &sorted_col);
        Launch(t.cols, 64, csaw__batch_rows<CSAW__BY_COL>, batch->graph, t.graphs, sorted_col.data(), t.edges, t.cols,
               cols.data());
        Launch(t.cols, 64, csaw__batch_level, static_cast<const csaw__batched_row *>(cols.data()), t.cols,
               row_of_col.data(), output.data());
        Launch(t.edges, 64, csaw__batch_entries, order.data(), row.data(), weight.data(), t.edges, by_col.data(),
               named_by_col.data(), &by_col_moved);
        Launch(t.edges, 64, csaw__batch_means, by_col.data(), named_by_col.data(), row_of_row.data(), t.edges,
               mean.data(), divided.data());
    }
    static std::vector<uint64_t> Sort(const std::vector<uint32_t> &key, uint64_t edges, std::vector<uint32_t> *sorted) {
        std::vector<uint64_t> order(edges + 1);
        for (uint64_t i = 0; i < edges; i++) order[i] = i;
        std::stable_sort(order.begin(), order.end() - 1, [&](uint64_t a, uint64_t b) { return key[a] < key[b]; });
        for (uint64_t i = 0; i < edges; i++) sorted->push_back(key[order[i]]);
        sorted->push_back(~0u);
        return order;
    }
    csaw__batched_product product(bool transposed, csaw_reduce reduce, const float *weight = nullptr) const {
        csaw__batched_product p = {};
        p.graph = batch->graph;
        p.a = transposed ? csaw__batched_side{Mutable(row_of_col), Mutable(output),
                                              Mutable(reduce == CSAW_MEAN ? mean : by_col), Mutable(named_by_col)}
                         : csaw__batched_side{Mutable(row_of_row), nullptr, Mutable(by_row), Mutable(named)};
        p.weight = weight;
        if (transposed && reduce == CSAW_MEAN && weight) p.divided = divided.data();
        p.outputs = transposed ? batch->total.cols : batch->total.rows;
        p.transposed = transposed;
        p.reduce = transposed && reduce == CSAW_MEAN ? CSAW_SUM : reduce;
        return p;
    }
    template <class T> static T *Mutable(const std::vector<T> &v) { return const_cast<T *>(v.data()); }
    const csaw_batch *batch;
    std::vector<csaw__batched_row> row_of_row, row_of_col; // records
    std::vector<csaw__batched_entry> by_row, by_col, mean;
    std::vector<csaw__batched_named> named, named_by_col;
    std::vector<csaw__batched_divided> divided;
    std::vector<uint32_t> row_of, output;
    uint32_t moved = 0;
};

csaw__batched_matrix MatrixOf(const csaw_batched_dense &m) {
    return {m.each ? nullptr : static_cast<char *>(m.data), m.each, m.stride ? m.stride : m.cols, m.dtype};
}

// In launches of two slices at most. parts: as laid out, or, not 0, so many.
void RunRows(csaw__batched_product p, uint32_t lanes, uint32_t parts = 0) {
    csaw__batched_lay_out(&p, lanes);
    if (parts) {
        p.blocks = (p.blocks * p.parts + parts - 1) / parts;
        p.parts = parts;
    }
    for (; p.first_slice < p.slices; p.first_slice += 2)
        for (emulated::block.z = 0; emulated::block.z < p.parts; emulated::block.z++)
            for (emulated::block.y = 0; emulated::block.y < std::min(2u, p.slices - p.first_slice); emulated::block.y++)
                Launch(uint64_t{p.blocks} * CSAW__BATCHED_THREADS, CSAW__BATCHED_THREADS, csaw__batched_kernel_at(&p),
                       p);
    emulated::block.y = emulated::block.z = 0;
}

struct Ask {
    Form form;
    Reduce reduce;
    uint64_t width;
    csaw_dtype from = CSAW_F32, to = CSAW_F32;
    uint64_t padding = 0;
    bool each = false, weights_of_the_call = false;
};

std::string Name(const Ask &ask) {
    return "form " + std::to_string(static_cast<int>(ask.form)) + ", reduce " +
           std::to_string(static_cast<int>(ask.reduce)) + ", " + std::to_string(ask.width) + " columns, storage " +
           std::to_string(ask.from) + " to " + std::to_string(ask.to) + ", padding " + std::to_string(ask.padding) +
           (ask.each ? ", an array each" : "") + (ask.weights_of_the_call ? ", weights of the call" : "");
}

std::vector<SmallMatrix> InForm(std::vector<SmallMatrix> graphs, Form form) {
    if (is_csr(form))
        for (SmallMatrix &a : graphs) sort_by_row(&a);
    return graphs;
}

int by_rows_of_dy = 0; // gradients of MAX and MIN

// Forward by every number of lanes given, 0 = as the library chooses; then gradients.
void ExpectCpuBits(const std::vector<SmallMatrix> &given, const Ask &ask, const std::vector<uint32_t> &all_lanes) {
    const std::vector<SmallMatrix> graphs = InForm(given, ask.form);
    const Arrays arrays(graphs, ask.form);
    const Batch batch = arrays.batch();
    ASSERT_TRUE(batch);
    const There there(batch.get());
    std::vector<float> other = arrays.weight;
    std::reverse(other.begin(), other.end());
    other.push_back(NAN); // never read
    const float *const weight = ask.weights_of_the_call ? other.data() : nullptr;
    const bool best = is_best(ask.reduce);
    Features x(cols_of(graphs), ask.width, ask.from, ask.padding, ask.each);
    x.fill(ask.width, best);
    const auto features = [&](const std::vector<uint32_t> &rows) {
        return Features(rows, ask.width, ask.to, ask.padding, ask.each);
    };
    Features want = features(rows_of(graphs));
    std::vector<uint32_t> want_arg(best ? batch->total.rows * ask.width + 1 : 0, 77);
    csaw_batched_options options = options_of(ask.reduce, &want_arg);
    options.weight = weight;
    const csaw_batched_dense in = x.view(), out = want.view();
    ASSERT_EQ(csaw_batched_spmm(batch.get(), &in, &options, &out), CSAW_OK) << csaw_last_error();
    for (uint32_t lanes : all_lanes) {
        Features y = features(rows_of(graphs));
        std::vector<uint32_t> arg(want_arg.size(), 77);
        csaw__batched_product p = there.product(false, reduce_of(ask.reduce), weight);
        p.cols = ask.width;
        const csaw_batched_dense view = y.view();
        p.in = MatrixOf(in), p.out = MatrixOf(view);
        p.arg = best ? arg.data() : nullptr;
        RunRows(p, lanes);
        EXPECT_EQ(y.bytes, want.bytes) << Name(ask) << ", lanes " << lanes;
        EXPECT_EQ(arg, want_arg) << Name(ask) << ", lanes " << lanes;
    }
    // gradients, with the features' storage for dy's
    Features dy(rows_of(graphs), ask.width, ask.from, ask.padding, ask.each), want_dx = features(cols_of(graphs));
    dy.fill(ask.width + 1, false);
    std::vector<float> want_dw(batch->total.edges + 1, -3), dw(want_dw);
    const csaw_batched_dense from = dy.view(), to = want_dx.view();
    ASSERT_EQ(csaw_batched_spmm_backward(batch.get(), &in, &from, &options, &to, want_dw.data()), CSAW_OK)
        << csaw_last_error();
    Features dx = features(cols_of(graphs));
    csaw__batched_product p = there.product(true, reduce_of(ask.reduce), weight);
    const csaw_batched_dense dx_view = dx.view();
    p.cols = ask.width, p.in = MatrixOf(from), p.out = MatrixOf(dx_view), p.arg = best ? want_arg.data() : nullptr;
    for (uint32_t parts : {1, 2}) {
        std::fill(dx.bytes.begin(), dx.bytes.end(), static_cast<char>(0xff));
        RunRows(p, 0, parts);
        EXPECT_EQ(dx.bytes, want_dx.bytes) << Name(ask) << ", dx in " << parts;
    }
    if (best && !there.moved) {
        Features by_rows = features(cols_of(graphs));
        const csaw_batched_dense view = by_rows.view();
        ASSERT_LE(csaw__won_bytes(batch->most), 227u << 10);
        p.a = there.product(false, CSAW_MAX).a, p.outputs = batch->total.graphs, p.out = MatrixOf(view);
        Launch(csaw__won_threads(p.outputs, p.cols), CSAW__WON_THREADS, csaw__batched_won_at(&p), p);
        EXPECT_EQ(by_rows.bytes, want_dx.bytes) << Name(ask) << ", dx by the rows of dy";
        by_rows_of_dy++;
    }
    csaw__batched_dots d = {};
    d.graph = batch->graph, d.a = there.product(false, CSAW_SUM).a;
    d.row_of = there.row_of.data();
    d.edges = batch->total.edges, d.cols = ask.width;
    d.mean = ask.reduce == Reduce::mean, d.in_order = !there.moved;
    d.arg = best ? want_arg.data() : nullptr;
    d.x = MatrixOf(in), d.dy = MatrixOf(from), d.dw = dw.data();
    for (uint32_t lanes : {4, 8, 16}) {
        if (lanes < 16 && csaw__batched_vector_of(d.cols, &d.x, &d.dy, d.arg) == 1) continue;
        dw.assign(dw.size(), -3);
        Launch(d.edges * lanes, 64, csaw__batched_dots_kernel_at(&d, lanes), d);
        EXPECT_EQ(dw, want_dw) << Name(ask) << ", dw by " << lanes << " lanes";
    }
}

TEST(EmulatedBatched, EveryFormAndReduction) {
    by_rows_of_dy = 0;
    for (Form form : forms)
        for (Reduce reduce : reduces)
            ExpectCpuBits(mixed(3, is_best(reduce)), {form, reduce, 5},
                          {form == Form::list_coo   ? 16u
                           : form == Form::list_csr ? 4u
                                                    : 32u});
    EXPECT_EQ(by_rows_of_dy, 2 * 3); // MAX and MIN of each form in CSR: entries of the others do not stand by row
}

TEST(EmulatedBatched, EveryWidth) {
    for (uint64_t width : {1, 4, 20, 28, 32, 36, 100})
        for (Form form : {Form::join_csr, Form::list_coo})
            ExpectCpuBits(mixed(width, true), {form, width % 5 == 1 ? Reduce::max : Reduce::mean, width}, {0});
}

TEST(EmulatedBatched, EveryStorage) {
    for (csaw_dtype from : dtypes)
        for (csaw_dtype to : dtypes)
            for (bool each : {false, true})
                ExpectCpuBits(mixed(9, true),
                              {each ? Form::list_pairs : Form::join_csr, Reduce::sum, 8, from, to,
                               uint64_t{each ? 4u : 0u}, each},
                              {0});
}

// Graphs that are copied to shared memory whole, in narrower slices, and not at all; to the bit.
TEST(EmulatedBatched, TilesInSharedMemory) {
    std::mt19937_64 random(13);
    std::vector<SmallMatrix> graphs = mixed(5, false);
    for (uint32_t n : {130, 700, 2000}) graphs.push_back(random_matrix(random, n, n - 20, 2 * n, false));
    bool narrower = false, not_copied = false; // than the widest slice
    for (uint64_t width : {3, 8, 36, 64, 132})
        for (csaw_dtype dtype : {CSAW_F32, CSAW_BF16})
            for (bool each : {false, true})
                for (Reduce reduce : {Reduce::sum, Reduce::mean}) {
                    const Form form = each ? Form::list_coo : Form::join_csr;
                    const std::vector<SmallMatrix> of = InForm(graphs, form);
                    const Arrays arrays(of, form);
                    const Batch batch = arrays.batch();
                    const There there(batch.get());
                    Features x(cols_of(of), width, dtype, 0, each), want(rows_of(of), width, CSAW_F32, 0, each),
                        y = want;
                    x.fill(width, false);
                    const csaw_batched_options options = options_of(reduce, nullptr);
                    const csaw_batched_dense in = x.view(), out = want.view(), to = y.view();
                    ASSERT_EQ(csaw_batched_spmm(batch.get(), &in, &options, &out), CSAW_OK) << csaw_last_error();
                    csaw__batched_product p = there.product(false, reduce_of(reduce));
                    p.cols = width, p.in = MatrixOf(in), p.out = MatrixOf(to);
                    csaw__batched_lay_out(&p, 0);
                    const uint64_t slices = (width + CSAW__TILE_COLUMNS - 1) / CSAW__TILE_COLUMNS;
                    Launch(of.size() * slices * CSAW__TILE_THREADS, CSAW__TILE_THREADS, csaw__batched_tiles_at(&p), p,
                           uint64_t{of.size()});
                    EXPECT_EQ(y.bytes, want.bytes) << width << " columns, storage " << dtype << ", each " << each;
                    for (uint32_t g = 0; g < of.size(); g++) {
                        emulated::block.x = g;
                        const csaw__tile t = p.vector > 1 ? csaw__tile_at<4>(p, of.size(), dtype == CSAW_F32 ? 4 : 2)
                                                          : csaw__tile_at<1>(p, of.size(), dtype == CSAW_F32 ? 4 : 2);
                        not_copied = not_copied || !t.copied;
                        narrower = narrower || (t.copied && t.width < t.columns);
                    }
                }
    EXPECT_TRUE(narrower && not_copied);
}

TEST(EmulatedBatched, EveryStorageOfMaxima) {
    by_rows_of_dy = 0;
    for (csaw_dtype from : dtypes)
        for (csaw_dtype to : dtypes)
            for (bool each : {false, true})
                for (uint64_t width : {24, 40})
                    ExpectCpuBits(mixed(9, true),
                                  {each ? Form::list_csr : Form::join_csr, each ? Reduce::min : Reduce::max, width,
                                   from, to, uint64_t{each ? 4u : 0u}, each},
                                  {0});
    EXPECT_EQ(by_rows_of_dy, 3 * 3 * 2 * 2);
}

// Where gradients of MAX and MIN go by the rows of dy: many small graphs whose entries stand by row.
TEST(EmulatedBatched, SmallGraphsGoByRows) {
    csaw__batched_product p = {};
    p.reduce = CSAW_MAX, p.cols = 64, p.in.stride = 64;
    const auto takes = [&](uint64_t graphs, uint64_t most, bool in_order) {
        return csaw__goes_by_won(&p, graphs, most, in_order);
    };
    EXPECT_TRUE(takes(1000, 50, true));
    EXPECT_FALSE(takes(1000, 50, false));
    EXPECT_TRUE(takes(1000, CSAW__WON_MOST, true));
    EXPECT_FALSE(takes(1000, CSAW__WON_MOST + 1, true));
    EXPECT_LE(csaw__won_bytes(CSAW__WON_MOST), 48u << 10); // of a block that asks for no more
    EXPECT_TRUE(takes(CSAW__WON_LEAST / 64, 50, true));
    EXPECT_FALSE(takes(CSAW__WON_LEAST / 64 - 1, 50, true));
    EXPECT_FALSE(takes(1ull << 32, 50, true)); // 2^31 blocks
    EXPECT_TRUE(takes((1ull << 32) - 100, 50, true));
    p.reduce = CSAW_SUM;
    EXPECT_FALSE(takes(1000, 50, true));
    p.reduce = CSAW_MIN;
    for (uint64_t cols : {0, 31}) {
        p.cols = cols;
        EXPECT_FALSE(takes(100000, 50, true));
    }
    p.cols = 32;
    EXPECT_TRUE(takes(100000, 50, true));
}

// Gradients of so many threads, and no more, in two parts: every first block, then every second.
TEST(EmulatedBatched, SecondBlocksWait) {
    csaw__batched_product p = {};
    p.cols = 512, p.in.stride = p.out.stride = 512;
    const auto parts_of = [&](bool transposed, uint64_t outputs) {
        p.transposed = transposed, p.outputs = outputs;
        csaw__batched_lay_out(&p, 0);
        const uint64_t groups = CSAW__BATCHED_THREADS / p.lanes * p.parts;
        EXPECT_EQ(p.lanes, transposed ? 16u : 8u);
        EXPECT_EQ(p.slices, transposed ? 4u : 8u);
        EXPECT_TRUE(p.blocks * groups >= outputs && p.blocks * groups < outputs + groups);
        return p.parts;
    };
    EXPECT_EQ(parts_of(true, CSAW__BATCHED_WAVE / 64), 1u);
    EXPECT_EQ(parts_of(true, CSAW__BATCHED_WAVE / 64 + 1), 2u);
    EXPECT_EQ(parts_of(true, CSAW__BATCHED_WAVES / 64), 2u);
    EXPECT_EQ(parts_of(true, CSAW__BATCHED_WAVES / 64 + 1), 1u);
    EXPECT_EQ(parts_of(true, CSAW__BATCHED_MOST), 1u);
    EXPECT_EQ(parts_of(false, CSAW__BATCHED_WAVE / 64 + 1), 1u);
    p.transposed = true, p.cols = 4, p.outputs = CSAW__BATCHED_WAVE / 4 + 1; // 4 lanes: a block has 32 rows
    csaw__batched_lay_out(&p, 0);
    EXPECT_EQ(p.lanes, 4u);
    EXPECT_EQ(p.parts, 1u);
}

// Rows as far apart as they may be: 4 GiB, of which two pages are there. Rows of the output are side by side.
TEST(EmulatedBatched, RowsFarApart) {
    const uint64_t apart = CSAW__BATCHED_WIDEST, bytes = (apart + 4) * sizeof(float);
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) GTEST_SKIP() << "no address space of 4 GiB";
    float *const x = static_cast<float *>(memory);
    const std::vector<SmallMatrix> graphs = {{2, 2, {{0, 1, 3}, {1, 0, 5}}}};
    const Arrays arrays(graphs, Form::list_coo);
    const Batch batch = arrays.batch();
    const There there(batch.get());
    x[0] = 7, x[apart] = 11;
    const float weight[] = {2, 4};
    for (bool transposed : {false, true})
        for (const float *given : {static_cast<const float *>(nullptr), weight}) {
            std::vector<float> y(2, NAN);
            csaw__batched_product p = there.product(transposed, CSAW_SUM, given);
            p.cols = 1;
            p.in = {reinterpret_cast<char *>(x), nullptr, apart, CSAW_F32};
            p.out = {reinterpret_cast<char *>(y.data()), nullptr, 1, CSAW_F32};
            RunRows(p, 0);
            const float first = given ? weight[0] : 3, second = given ? weight[1] : 5;
            EXPECT_EQ(y, transposed ? (std::vector<float>{second * 11, first * 7})
                                    : (std::vector<float>{first * 11, second * 7}));
        }
    munmap(memory, bytes);
}

// csaw__over(), and what it is for: a product by 1 / n alone is wrong, and so are quotients below 2^-126 that are
// rounded twice, and some by a 1 / n that is one bit off.
TEST(EmulatedBatched, QuotientsAreRoundedOnce) {
    std::mt19937_64 random(17);
    uint64_t products_wrong = 0, twice_wrong = 0;
    const auto bits_of = [](float x) { return __float_as_uint(x); };
    const auto expect = [&](float x, float n) {
        const float want = x / n;
        const float inverse = 1 / n, larger = csaw__quotient(x * 0x1p64f, n, inverse) * 0x1p-64f;
        ASSERT_EQ(bits_of(csaw__over(x, n, inverse)), bits_of(want)) << std::hexfloat << x << " / " << n;
        products_wrong += bits_of(x * inverse) != bits_of(want);
        twice_wrong += std::fabs(x) < 0x1p-90f && bits_of(larger) != bits_of(want);
    };
    for (float x : {0.0f, -0.0f, INFINITY, -INFINITY, 1.0f, -FLT_MAX, FLT_MIN, 0x1p-149f, -0x3p-149f, 0x1p-90f})
        for (float n : {1.0f, 2.0f, 3.0f, 6.0f, 255.0f, 16777215.0f, 4294967296.0f}) {
            const float edge = n * 0x1p-100f; // of what csaw__is_quotient() lets pass
            for (float near : {x, edge, std::nextafter(edge, 0.0f), std::nextafter(edge, 1.0f)}) expect(near, n);
        }
    EXPECT_TRUE(std::isnan(csaw__over(NAN, 3, 1.0f / 3)));
    EXPECT_NE(csaw__over(1, 16777215, 0x1p-24f), 1 / 16777215.0f);
    for (int i = 0; i < 100000; i++) {
        const uint64_t r = random();
        const uint32_t count = 1 + static_cast<uint32_t>(random() >> (32 + random() % 32));
        uint32_t bits = static_cast<uint32_t>(r);
        if (i % 2) bits = (bits & 0x80000000u) | (bits & 0x7fffffffu) % (40u << 23); // below 2^-87
        if ((bits & 0x7f800000u) == 0x7f800000u) continue;
        expect(__uint_as_float(bits), static_cast<float>(count ? count : 1));
    }
    EXPECT_GT(products_wrong, 5000u);
    EXPECT_GT(twice_wrong, 5u);
}

// Weights that differ from the batch's, forward and backward.
TEST(EmulatedBatched, WeightsOfTheCall) {
    for (Form form : {Form::list_coo, Form::join_csr, Form::join_coo_global, Form::list_pairs})
        for (Reduce reduce : reduces)
            for (uint64_t width : {3, 8}) {
                Ask ask = {form, reduce, width};
                ask.weights_of_the_call = true;
                ask.each = width == 8;
                ExpectCpuBits(mixed(width, is_best(reduce)), ask, {0});
            }
}

// Those of a warp by falling number of entries, equal ones as they were; of other warps none.
TEST(EmulatedBatched, ColumnsOfAWarpAreLevel) {
    std::vector<csaw__batched_row> rows(70), out(70);
    std::vector<uint32_t> output(71, 777);
    for (uint32_t i = 0; i < 70; i++) rows[i] = {i * 10, i * 7 % 5, i, i + 1000};
    Launch(70, 64, csaw__batch_level, static_cast<const csaw__batched_row *>(rows.data()), uint64_t{70}, out.data(),
           output.data());
    for (uint32_t i = 0; i < 70; i++) {
        const uint32_t of = output[i];
        ASSERT_LT(of, 70u);
        EXPECT_EQ(of / 32, i / 32);
        EXPECT_EQ(out[i].first, rows[of].first);
        EXPECT_EQ(out[i].count, rows[of].count);
        EXPECT_EQ(out[i].graph, of);
        EXPECT_EQ(out[i].begin, of + 1000);
        if (i % 32 == 0) continue;
        EXPECT_TRUE(out[i - 1].count > out[i].count || (out[i - 1].count == out[i].count && output[i - 1] < of)) << i;
    }
    EXPECT_EQ(output[70], 777u);
}

// The arg of another batch: entries of other rows, and beyond the last.
TEST(EmulatedBatched, EntriesOfOtherRowsWinNothing) {
    const std::vector<SmallMatrix> graphs = {{3, 3, {{0, 1, 2}, {0, 1, 2}, {2, 0, 4}}}};
    const Arrays arrays(graphs, Form::list_coo);
    const Batch batch = arrays.batch();
    const There there(batch.get());
    std::vector<uint32_t> arg = {2, 1, CSAW_NONE - 1, CSAW_NONE, 0, 1u << 31, 7, 2, 1}; // [3, 3]
    std::vector<float> dy = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    const std::vector<float> want = {0, 512, 0, 0, 4, 0, 0, 0, 0}; // of arg[2, 1] and arg[0, 1] alone
    for (bool by_rows : {false, true}) {
        std::vector<float> dx(9, NAN);
        csaw__batched_product p = there.product(!by_rows, CSAW_MAX);
        p.transposed = true;
        p.cols = 3;
        p.in = {reinterpret_cast<char *>(dy.data()), nullptr, 3, CSAW_F32};
        p.out = {reinterpret_cast<char *>(dx.data()), nullptr, 3, CSAW_F32};
        p.arg = arg.data();
        if (by_rows) {
            p.outputs = 1;
            Launch(csaw__won_threads(1, 3), CSAW__WON_THREADS, csaw__batched_won_at(&p), p);
        } else {
            RunRows(p, 0);
        }
        EXPECT_EQ(dx, want) << by_rows;
    }
}

// Rows of whole vectors that begin one element off a vector's place.
TEST(EmulatedBatched, MatricesAtAnyAddress) {
    const std::vector<SmallMatrix> graphs = InForm(mixed(3, true), Form::list_csr);
    const Arrays arrays(graphs, Form::list_csr);
    const Batch batch = arrays.batch();
    Features x(cols_of(graphs), 8, CSAW_F32), want(rows_of(graphs), 8, CSAW_F32);
    x.fill(1, false);
    const csaw_batched_dense in = x.view(), out = want.view();
    ASSERT_EQ(csaw_batched_spmm(batch.get(), &in, nullptr, &out), CSAW_OK);
    std::vector<float> moved_x(x.bytes.size() / 4 + 4), y(want.bytes.size() / 4 + 4, NAN);
    std::vector<void *> each_x, each_y;
    memcpy(moved_x.data() + 1, x.bytes.data(), x.bytes.size());
    for (size_t g = 0; g < graphs.size(); g++) {
        each_x.push_back(moved_x.data() + 1 + x.begin[g] * 8);
        each_y.push_back(y.data() + 1 + want.begin[g] * 8);
    }
    const There there(batch.get());
    csaw__batched_product p = there.product(false, CSAW_SUM);
    p.cols = 8;
    p.in = {nullptr, each_x.data(), 8, CSAW_F32}, p.out = {nullptr, each_y.data(), 8, CSAW_F32};
    RunRows(p, 0);
    EXPECT_EQ(memcmp(y.data() + 1, want.bytes.data(), want.bytes.size()), 0);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[y.size() - 3]));
}

// Rows of no entry, of one, and of so many that all are in flight several times over.
TEST(EmulatedBatched, ALargeGraphAmongSmallOnes) {
    std::mt19937_64 random(11);
    std::vector<SmallMatrix> graphs = mixed(5, true);
    graphs.insert(graphs.begin() + 5, random_matrix(random, 300, 260, 900, true));
    graphs.push_back(random_matrix(random, 3, 70, 100, true));
    for (Form form : {Form::join_coo, Form::list_csr})
        for (Reduce reduce : reduces) ExpectCpuBits(graphs, {form, reduce, 8}, {0});
}

// Columns of several batches of loads, the last of them not full, in a lane's dot product.
TEST(EmulatedBatched, LongDotProducts) {
    for (uint64_t width : {64, 132, 200})
        for (Reduce reduce : {Reduce::mean, Reduce::max})
            for (csaw_dtype from : {CSAW_F32, CSAW_BF16})
                ExpectCpuBits(mixed(3, true), {Form::join_csr, reduce, width, from}, {0});
}

TEST(EmulatedBatched, EveryFaultIsFound) {
    const std::vector<SmallMatrix> graphs = InForm(mixed(2, true), Form::list_csr);
    for (Form form : {Form::list_csr, Form::list_coo, Form::join_coo_global}) {
        Arrays arrays(InForm(graphs, form), form);
        const Batch batch = arrays.batch();
        const uint64_t all = batch->total.graphs;
        const auto bad = [&] {
            unsigned long long first = ~0ull;
            Launch(all * 32, 64, csaw__batch_check, batch->graph, all, is_list(form), &first);
            return first;
        };
        EXPECT_EQ(bad(), ~0ull);
        const auto spoil = [&](auto &place, auto value, uint64_t graph, csaw__fault_kind kind) {
            const auto before = place;
            csaw__small_fault fault = {};
            place = value;
            EXPECT_EQ(bad(), graph);
            Launch(1, 32, csaw__batch_tell, batch->graph + graph, is_list(form), &fault);
            EXPECT_EQ(fault.kind, kind);
            place = before;
        };
        const uint64_t g = 8, end = arrays.edge_offset[g + 1] - 1; // 5 rows; the last entry
        ASSERT_EQ(graphs[g].rows, 5u);
        spoil(arrays.col[end], arrays.col[end] + 5 + graphs[g].cols, g, CSAW__FAULT_COL);
        if (!is_csr(form)) spoil(arrays.row[end], ~0u, g, CSAW__FAULT_ROW);
        if (!is_csr(form)) continue;
        spoil(arrays.own_rowptr[arrays.own_begin[g]], uint64_t{1}, g, CSAW__FAULT_ROWPTR_BEGIN);
        spoil(arrays.own_rowptr[arrays.own_begin[g] + 2], uint64_t{1} << 40, g, CSAW__FAULT_ROWPTR);
        spoil(arrays.own_rowptr[arrays.own_begin[g] + 5], graphs[g].entries.size() + 1, g, CSAW__FAULT_ROWPTR_END);
    }
}

} // namespace
