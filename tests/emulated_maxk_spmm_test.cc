/* SPDX-License-Identifier: MIT */
/* tests/emulated_maxk_spmm_test.cc - kernels of MaxK's products as the GPU has them (spmm/device_maxk_forward.cuh,
 * device_maxk_gathered.cuh, device_maxk_dots.cuh): the CPU's bits for every shape of a group, and nothing else is
 * written to; the outer product by atomic additions within its bound. */
#include "tests/maxk_cases.h"
#include "tests/reference/maxk.h"

#include "tests/emulated_gpu.h"
#include "tests/emulated_units.h"
#include "tests/share.h"

#include "spmm/device_long.cuh"
#include "spmm/device_maxk_dots.cuh"
#include "spmm/device_maxk_forward.cuh"
#include "spmm/device_maxk_gathered.cuh"
#include "spmm/device_maxk_outer.cuh"
#include "spmm/device_transpose.cuh"

namespace {

using namespace maxk_cases;

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t blocks, uint32_t threads, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks(static_cast<uint32_t>(blocks), threads, [&] { kernel(arguments...); });
}

// As csaw__maxk_run does, with poisoned work memory.
void Run(csaw__maxk_product m, uint64_t columns, bool merged, csaw__maxk_kernel *kernel) {
    csaw__product *const p = &m.p;
    p->heads = 1;
    p->columns = columns;
    p->width = static_cast<uint32_t>(std::min<uint64_t>((columns + 3) / 4 * 4, m.width));
    p->slices_of_head = (columns + p->width - 1) / p->width;
    p->slices = 1;
    p->split.most_rows = csaw__most_long_rows(p->num_edges, p->rows);
    p->split.most_chunks = csaw__most_chunks(p->num_edges, p->rows);
    p->blocks = (p->split.most_chunks + p->rows + m.groups - 1) / m.groups;
    std::vector<uint64_t> count(2);
    std::vector<csaw__chunk> chunk(p->split.most_chunks + 1, {~uint64_t{0} >> 20, CSAW_CHUNK, 0}); // no edges that are
    std::vector<csaw__long_row> row(p->split.most_rows + 1);
    std::vector<float> partial(p->split.most_chunks * p->width + 4, NAN);
    p->split.count = count.data(), p->split.chunk = chunk.data(), p->split.row = row.data();
    p->partial = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(partial.data() + 3) & ~uintptr_t{15});
    if (p->split.most_chunks) Launch((p->rows + 63) / 64, 64, csaw__find_long, p->rowptr, p->rows, p->split);
    const auto by = static_cast<emulated_units::Order>((m.m.k + p->rows) % 3);
    const auto units = emulated_units::ListOf(*p, by);
    if (by != emulated_units::AS_NUMBERED) p->units = units.data();
    for (p->first_slice = 0; p->first_slice < p->slices_of_head; p->first_slice++) {
        for (m.first_entry = 0; m.first_entry < m.m.k; m.first_entry += m.entries)
            Launch(p->blocks, CSAW__MAXK_THREADS, kernel, m);
        if (merged) Launch((p->split.most_rows * CSAW__MERGE_LANES + 63) / 64, 64, csaw__merge, *p);
    }
}

csaw__maxk_product ProductOf(const csaw_sparse &a, const csaw_cbsr &m, bool mean) {
    csaw__maxk_product out = {};
    out.p.rowptr = a.rowptr, out.p.col = a.col, out.p.weight = a.weight;
    out.p.rows = a.rows, out.p.num_edges = a.num_edges;
    out.p.reduce = mean ? CSAW_MEAN : CSAW_SUM;
    out.m = m;
    return out;
}

csaw_dense WithStride(csaw_dense m) {
    m.stride = csaw__stride(&m);
    return m;
}

void Forward(const csaw_sparse &a, const csaw_cbsr &x, bool mean, const csaw_dense &y) {
    csaw__maxk_product m = ProductOf(a, x, mean);
    m.p.y = WithStride(y);
    m.p.vector = y.cols % CSAW__VECTOR == 0 && csaw__takes_vectors(&m.p.y) ? CSAW__VECTOR : 1;
    csaw__maxk_kernel *const kernel = x.dtype == CSAW_F32   ? csaw__maxk_forward_of<CSAW_F32>(&m)
                                      : x.dtype == CSAW_F16 ? csaw__maxk_forward_of<CSAW_F16>(&m)
                                                            : csaw__maxk_forward_of<CSAW_BF16>(&m);
    Run(m, y.cols, true, kernel);
}

// By rows of the transpose, of whose weights means are made first, as of one that is given.
void Gathered(const csaw_sparse &a, bool mean, csaw_sparse turned, const csaw_dense &dy, const csaw_cbsr &dx) {
    std::vector<float> weight(a.num_edges, NAN);
    if (mean) {
        const csaw_edge *const none = nullptr;
        const float *const divisor = nullptr;
        Launch((a.num_edges + 63) / 64, 64, csaw__weigh, a, none, turned.col, 1u, true, turned.weight, divisor,
               weight.data());
        turned.weight = weight.data();
    }
    csaw__maxk_product m = ProductOf(turned, dx, false);
    m.p.x = WithStride(dy);
    m.p.y = csaw_dense{dx.rows, dx.k, dx.k, dx.dtype, dx.values};
    csaw__maxk_kernel *const kernel = dy.dtype == CSAW_F32   ? csaw__maxk_gathered_of<CSAW_F32>(&m)
                                      : dy.dtype == CSAW_F16 ? csaw__maxk_gathered_of<CSAW_F16>(&m)
                                                             : csaw__maxk_gathered_of<CSAW_BF16>(&m);
    Run(m, dx.k, true, kernel);
}

// room: entries of all rows that the L2 cache has room for
void Outer(const csaw_sparse &a, bool mean, uint64_t room, const csaw_dense &dy, const csaw_cbsr &dx) {
    csaw__maxk_product m = ProductOf(a, dx, false);
    std::vector<csaw__pack<float, 4>> sums(dx.rows * dx.k / 4 + 1);
    m.p.x = WithStride(dy);
    m.mean = mean;
    m.sums = sums[0].at;
    const uint64_t l2_bytes = room * dx.rows * (4 + csaw_cbsr_index_bytes(dx.cols));
    csaw__maxk_kernel *const kernel = dy.dtype == CSAW_F32   ? csaw__maxk_outer_of<CSAW_F32>(&m, l2_bytes)
                                      : dy.dtype == CSAW_F16 ? csaw__maxk_outer_of<CSAW_F16>(&m, l2_bytes)
                                                             : csaw__maxk_outer_of<CSAW_BF16>(&m, l2_bytes);
    Run(m, dx.cols, false, kernel);
    Launch((dx.rows * dx.k + 63) / 64, 64, csaw__maxk_narrow, m);
}

Sparse Turned(const Sparse &a) {
    Sparse out = {a.cols, a.rows, {0}, {}, {}};
    std::vector<std::vector<uint64_t>> edges(a.cols);
    std::vector<csaw_vertex> row_of;
    for (uint64_t r = 0; r < a.rows; r++)
        for (uint64_t e = a.rowptr[r]; e < a.rowptr[r + 1]; e++) {
            edges[a.col[e]].push_back(e);
            row_of.push_back(static_cast<csaw_vertex>(r));
        }
    for (const std::vector<uint64_t> &of : edges) {
        for (uint64_t e : of) {
            out.col.push_back(row_of[e]);
            if (!a.weight.empty()) out.weight.push_back(a.weight[e]);
        }
        out.rowptr.push_back(out.col.size());
    }
    return out;
}

struct Case {
    uint64_t n, k;
    csaw_dtype of_x, of_y;
    bool mean;
};

std::string Name(const Case &c) {
    return "n " + std::to_string(c.n) + ", k " + std::to_string(c.k) + ", " + name_of(c.of_x) + " to " +
           name_of(c.of_y) + (c.mean ? ", mean" : "");
}

void ExpectForward(const csaw_sparse &a, const Cbsr &x, const Case &c, uint64_t gap) {
    const csaw_maxk_spmm_options options = with(c.mean);
    Dense want(a.rows, c.n, c.of_y, gap), got(a.rows, c.n, c.of_y, gap);
    ASSERT_EQ(csaw_maxk_spmm(&a, &x, &options, &want), CSAW_OK) << csaw_last_error();
    Forward(a, x, c.mean, got);
    EXPECT_TRUE(got.memory == want.memory) << "forward, " << Name(c);
}

void ExpectBackward(const Sparse &matrix, const Cbsr &x, const Case &c, const Dense &dy) {
    const csaw_sparse a = matrix.view();
    const csaw_maxk_spmm_options options = with(c.mean);
    Cbsr want(a.cols, c.n, c.k, c.of_y), got(a.cols, c.n, c.k, c.of_y);
    want.index_memory = got.index_memory = x.index_memory;
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, &options, &want), CSAW_OK) << csaw_last_error();
    const Sparse turned = Turned(matrix);
    Gathered(a, c.mean, turned.view(), dy, got);
    EXPECT_TRUE(got.value_memory == want.value_memory) << "backward, " << Name(c);

    Cbsr added(a.cols, c.n, c.k, c.of_y);
    added.index_memory = x.index_memory;
    Outer(a, c.mean, c.k % 3 == 0 ? 40 : 64, dy, added);
    const reference::Sums exact = reference::transposed_product(a, reference::dense(dy), c.mean);
    const double half_unit = c.of_y == CSAW_F32 ? 0 : c.of_y == CSAW_F16 ? 0x1p-11 : 0x1p-8;
    uint64_t wrong = 0;
    for (uint64_t j = 0; j < a.cols; j++)
        for (uint64_t t = 0; t < c.k; t++) {
            const uint64_t at = added.column(j, t);
            const double sum = 2 * exact.terms(j, at) * 0x1p-24 * exact.size(j, at), value = exact.value(j, at);
            const double bound = sum + half_unit * (std::abs(value) + sum) + (c.of_y == CSAW_F16 ? 0x1p-25 : 0);
            wrong += !(std::abs(reference::element(c.of_y, added.values, j * c.k + t) - value) <= bound);
        }
    EXPECT_EQ(wrong, 0u) << "outer product, " << Name(c);
}

void ExpectWeights(const csaw_sparse &a, const Cbsr &x, const Case &c, const Dense &dy) {
    const csaw_maxk_spmm_options options = with(c.mean);
    std::vector<float> want(a.num_edges + 1, 99), got(a.num_edges + 1, 99);
    ASSERT_EQ(csaw_maxk_spmm_backward_weight(&a, &dy, &x, &options, want.data()), CSAW_OK) << csaw_last_error();
    csaw__maxk_dots d = {a, WithStride(dy), x, c.mean, got.data()};
    uint64_t threads = 0;
    csaw__maxk_dots_kernel *const kernel = csaw__maxk_dots_at(&d, &threads);
    Launch((threads + 63) / 64, 64, kernel, d);
    EXPECT_EQ(got, want) << "weights, " << Name(c);
}

void ExpectCpuBits(const Sparse &matrix, const Case &c, uint64_t gap, std::mt19937_64 &random) {
    const csaw_sparse a = matrix.view();
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, c.n, c.k, c.of_x, random);
    Dense dy(a.rows, c.n, c.of_x, gap);
    fill_normal(dy, random);
    ExpectForward(a, *x, c, gap);
    ExpectBackward(matrix, *x, c, dy);
    ExpectWeights(a, *x, c, dy);
}

// Rows on both sides of every limit, hubs of several chunks, empty rows first and last, a number of units that leaves
// groups over. With weights the columns are few, so that those of the transpose have several chunks too.
Sparse Hubs(bool weighted, std::mt19937_64 &random) {
    const std::vector<uint64_t> lengths = {0, 3, 600, 0, 255, 256, 257, 1, 0, 513, 2, 9, 8, 31, 0};
    return with_lengths(lengths, weighted ? 5 : 23, weighted, random);
}

TEST(EmulatedMaxkSpmm, EveryCount) {
    std::mt19937_64 random(1);
    const Sparse plain = Hubs(false, random), weighted = Hubs(true, random);
    for (uint64_t n : {32, 64, 256, 384, 1000})
        for (uint64_t k : {1, 2, 4, 8, 16, 31, 32, 33, 64, 96, 128, 192, 256}) {
            if (k > n || (n == 32 && k == 4) || (n == 64 && k % 2)) continue;
            if (!reference::takes_case()) continue;
            const bool mean = (k + n / 32) % 3 == 0;
            ExpectCpuBits(k % 4 == 1 ? plain : weighted, {n, k, CSAW_F32, CSAW_F32, mean}, k == 32 ? 4 : 0, random);
        }
}

TEST(EmulatedMaxkSpmm, EveryStorage) {
    std::mt19937_64 random(2);
    const Sparse a = Hubs(true, random);
    for (csaw_dtype of_x : {CSAW_F32, CSAW_F16, CSAW_BF16})
        for (csaw_dtype of_y : {CSAW_F32, CSAW_F16, CSAW_BF16})
            for (auto [n, k] : {std::pair<uint64_t, uint64_t>{64, 12}, {61, 13}, {300, 20}, {257, 1}})
                if (reference::takes_case())
                    ExpectCpuBits(a, {n, k, of_x, of_y, k == 20}, of_x == of_y ? 3 : 0, random);
}

TEST(EmulatedMaxkSpmm, SlicesOfManyColumns) {
    std::mt19937_64 random(3);
    const Sparse a = with_lengths({2, 0, 300, 1}, 5, true, random);
    for (auto [n, k] : {std::pair<uint64_t, uint64_t>{1024, 9}, {1025, 1025}, {2500, 60}})
        ExpectCpuBits(a, {n, k, CSAW_F32, CSAW_F32, false}, 0, random);
}

TEST(EmulatedMaxkSpmm, NoEdgesAndOneRow) {
    std::mt19937_64 random(4);
    ExpectCpuBits(with_lengths({0, 0, 0}, 4, false, random), {40, 8, CSAW_F32, CSAW_F32, true}, 0, random);
    ExpectCpuBits(with_lengths({7}, 1, true, random), {40, 3, CSAW_F32, CSAW_F32, true}, 0, random);
}

// Values and index that begin between vectors: entries are loaded one by one.
TEST(EmulatedMaxkSpmm, ArraysThatAreNotAligned) {
    std::mt19937_64 random(5);
    const Sparse matrix = Hubs(true, random);
    const csaw_sparse a = matrix.view();
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, 64, 32, CSAW_F32, random);
    std::vector<uint8_t> values(x->value_memory.size() + 20), index(x->index_memory.size() + 20);
    for (uint64_t off : {4, 8, 16}) {
        csaw_cbsr moved = *x;
        moved.values = memcpy(values.data() + off, x->values, x->value_memory.size());
        moved.index = memcpy(index.data() + off / 4, x->index, x->index_memory.size());
        Dense want(a.rows, 64), got(a.rows, 64);
        ASSERT_EQ(csaw_maxk_spmm(&a, x.get(), nullptr, &want), CSAW_OK);
        Forward(a, moved, false, got);
        EXPECT_TRUE(got.memory == want.memory) << off;
    }
}

} // namespace
