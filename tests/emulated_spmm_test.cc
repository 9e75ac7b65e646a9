/* SPDX-License-Identifier: MIT */
/* tests/emulated_spmm_test.cc - kernels of csaw_spmm() as the GPU has them (spmm/device_reduce.cuh, device_hubs.cuh,
 * device_stretch.cuh, device_long.cuh): every method gives csaw_spmm()'s bits, and nothing else is written to. AUTO's
 * choice: emulated_spmm_auto_test.cc. */
#include "tests/spmm_cases.h"

#include "tests/emulated_gpu.h"
#include "tests/emulated_reorder.h"
#include "tests/emulated_units.h"
#include "tests/share.h"

#include <algorithm>
#include <optional>

#include "spmm/device_auto.h"
#include "spmm/device_hubs.cuh"
#include "spmm/device_long.cuh"
#include "spmm/device_reduce.cuh"
#include "spmm/device_stretch.cuh"

namespace {

using namespace spmm_cases;
using emulated_reorder::kThreads;
using emulated_reorder::Launch;
using emulated_reorder::ReorderedRows;

const std::vector<csaw_spmm_method> methods = {CSAW_SPMM_AUTO,     CSAW_SPMM_CRC,       CSAW_SPMM_CWM2,
                                               CSAW_SPMM_CWM4,     CSAW_SPMM_SUBWARP16, CSAW_SPMM_SUBWARP8,
                                               CSAW_SPMM_SUBWARP4, CSAW_SPMM_HUBS,      CSAW_SPMM_STRETCHES};

// The long rows of a matrix, in memory sized by the bounds, or, with a plan, as many as there are.
struct LongRows {
    LongRows(const csaw_sparse &a, bool planned) : count(2) {
        found.count = count.data();
        if (planned) {
            Launch(a.rows, csaw__find_long, a.rowptr, a.rows, found);
            found.most_chunks = count[0];
            found.most_rows = count[1];
            count.assign(2, 0);
        } else {
            found.most_rows = csaw__most_long_rows(a.num_edges, a.rows);
            found.most_chunks = csaw__most_chunks(a.num_edges, a.rows);
        }
        chunk.resize(found.most_chunks + 1, {~uint64_t{0} >> 20, CSAW_CHUNK, 0}); // no edges that there are
        row.resize(found.most_rows + 1);
        found.chunk = chunk.data();
        found.row = row.data();
        Launch(a.rows, csaw__find_long, a.rowptr, a.rows, found);
    }
    std::vector<uint64_t> count;
    std::vector<csaw__chunk> chunk;
    std::vector<csaw__long_row> row;
    csaw__long_rows found = {};
};

// As csaw__device_hubs_find(), at most so many.
struct HubColumns {
    HubColumns(const csaw_sparse &a, uint64_t most) {
        std::vector<uint64_t> rowptr(a.cols + 1); // of the transpose
        for (uint64_t e = 0; e < a.num_edges; e++) rowptr[a.col[e] + 1]++;
        for (uint64_t j = 0; j < a.cols; j++) rowptr[j + 1] += rowptr[j];
        std::vector<uint32_t> edges(a.cols), number(a.cols, ~0u);
        column.resize(a.cols);
        Launch(a.cols, csaw__count_edges, rowptr.data(), a.cols, edges.data(), column.data());
        std::stable_sort(column.begin(), column.end(),
                         [&](csaw_vertex i, csaw_vertex j) { return edges[i] > edges[j]; });
        column.resize(std::min(most, a.cols));
        code.resize(a.num_edges);
        Launch(column.size(), csaw__number_hubs, column.data(), static_cast<uint32_t>(column.size()), number.data());
        Launch(a.num_edges, csaw__recode, a, number.data(), code.data());
        found = {code.data(), column.data(), static_cast<uint32_t>(column.size()), static_cast<uint32_t>(a.cols)};
    }
    std::vector<csaw_vertex> code, column;
    csaw__hubs found = {};
};

csaw__hubs_kernel *HubsKernel(const csaw__product &p) {
    const bool extreme = csaw__is_extreme(p.reduce);
    return p.x.dtype == CSAW_F32   ? csaw__hubs_kernel_of<CSAW_F32>(p.vector, extreme)
           : p.x.dtype == CSAW_F16 ? csaw__hubs_kernel_of<CSAW_F16>(p.vector, extreme)
                                   : csaw__hubs_kernel_of<CSAW_BF16>(p.vector, extreme);
}

csaw__resident_kernel *ResidentKernel(const csaw__product &p) {
    return p.x.dtype == CSAW_F16 ? csaw__resident_kernel_of<CSAW_F16>(p.vector)
                                 : csaw__resident_kernel_of<CSAW_BF16>(p.vector);
}

int residents = 0; // launches of blocks that stay

csaw__stretch_kernel *StretchKernel(const csaw__product &p) {
    const bool extreme = csaw__is_extreme(p.reduce);
    return p.x.dtype == CSAW_F32   ? csaw__stretch_kernel_of<CSAW_F32>(p.vector, extreme)
           : p.x.dtype == CSAW_F16 ? csaw__stretch_kernel_of<CSAW_F16>(p.vector, extreme)
                                   : csaw__stretch_kernel_of<CSAW_BF16>(p.vector, extreme);
}

int stretches = 0; // launches by these

csaw_spmm_method AutoFor(csaw__product p) {
    csaw__lay_vectors(&p);
    return csaw__auto_way_of(&p, false, 0).method;
}

// As csaw__device_run::run(), `slices` a launch.
void Run(csaw__product p, csaw_spmm_method method, bool resident, uint64_t slices, const csaw__hubs &hubs) {
    csaw__lay_vectors(&p);
    csaw__lay_out(&p, method, kThreads);
    const uint64_t all = p.slices_of_head * p.heads;
    std::vector<float> partial(slices * p.split.most_chunks * p.width + 4, NAN);
    std::vector<uint32_t> place(partial.size(), ~0u);
    p.partial = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(partial.data() + 3) & ~uintptr_t{15});
    p.place = reinterpret_cast<uint32_t *>(reinterpret_cast<uintptr_t>(place.data() + 3) & ~uintptr_t{15});
    csaw__kernel *const kernel =
        p.x.dtype == CSAW_F32   ? csaw__kernel_of<CSAW_F32>(method, p.vector, csaw__is_extreme(p.reduce))
        : p.x.dtype == CSAW_F16 ? csaw__kernel_of<CSAW_F16>(method, p.vector, csaw__is_extreme(p.reduce))
                                : csaw__kernel_of<CSAW_BF16>(method, p.vector, csaw__is_extreme(p.reduce));
    for (p.first_slice = 0; p.first_slice < all; p.first_slice += slices) {
        p.slices = std::min(slices, all - p.first_slice);
        std::vector<uint32_t> next(p.slices);
        if (method == CSAW_SPMM_HUBS) {
            Launch(3 * kThreads, HubsKernel(p), p, hubs, next.data());
        } else if (resident) {
            Launch(3 * kThreads, ResidentKernel(p), p, next.data());
            residents++;
        } else {
            Launch(p.slices * p.blocks * kThreads, kernel, p);
        }
        Launch(p.slices * p.split.most_rows * CSAW__MERGE_LANES, csaw__merge, p);
    }
}

struct Ask {
    csaw_reduce reduce = CSAW_SUM;
    uint64_t cols = 1;
    csaw_dtype of_x = CSAW_F32, of_y = CSAW_F32;
    uint32_t heads = 1;
    uint64_t gap = 0; // of strides
    bool planned = false;
    emulated_units::Order units = emulated_units::AS_NUMBERED; // else a list of them
    bool reordered = false;                                    // stretches of rows that were brought near
    bool fixed = false;                                        // of these, weights were moved along
    uint64_t slices = 3;                                       // of a launch
    bool nans = false;                                         // among the results
    bool picks = true;                                         // of MAX and MIN: arg is asked for
    uint64_t hubs = 5;
    bool stay = false;                       // AUTO by blocks that stay
    uint32_t stretch = CSAW__STRETCH_PLACES; // places
    uint64_t l2_bytes = UINT64_MAX;
};

// As csaw__device_run::run() by stretches, of the matrix whose long rows p has.
void RunStretches(csaw__product p, const Ask &ask) {
    csaw__lay_vectors(&p);
    std::optional<ReorderedRows> reordered;
    std::vector<float> weight;
    if (ask.reordered) {
        reordered.emplace(csaw_sparse{p.rows, p.x.rows, p.num_edges, p.rowptr, p.col, nullptr});
        p.rowptr = reordered->rowptr.data(), p.col = reordered->col.data();
        if (ask.fixed && p.weight) weight = reordered->Weights(p.weight, p.heads), p.weight = weight.data();
    }
    const LongRows moved({p.rows, p.x.rows, p.num_edges, p.rowptr, p.col, nullptr}, true);
    const csaw__long_rows known = ask.reordered ? moved.found : p.split;
    csaw__lay_stretches(&p, ask.planned ? &known : nullptr, ask.l2_bytes);
    csaw__deal_stretches(&p, ask.stretch);
    const uint64_t all = p.slices_of_head * p.heads;
    std::vector<uint32_t> first_rows(csaw__stretches_of(p.rows, p.num_edges, CSAW__STRETCH_GRAIN));
    Launch(first_rows.size() * 32, csaw__find_first_rows, p.rowptr, p.rows, p.num_edges, first_rows.data());
    const csaw__stretch_deal deal = {ask.stretch, 3, ask.planned ? first_rows.data() : nullptr,
                                     ask.reordered ? reordered->moved.data() : nullptr, ask.reordered && !ask.fixed};
    std::vector<float> partial(ask.slices * p.split.most_chunks * p.width + 4, NAN);
    std::vector<uint32_t> place(partial.size(), ~0u);
    p.partial = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(partial.data() + 3) & ~uintptr_t{15});
    p.place = reinterpret_cast<uint32_t *>(reinterpret_cast<uintptr_t>(place.data() + 3) & ~uintptr_t{15});
    for (p.first_slice = 0; p.first_slice < all; p.first_slice += ask.slices) {
        p.slices = std::min(ask.slices, all - p.first_slice);
        emulated::RunBlocks(p.slices * p.blocks, CSAW__STRETCH_THREADS, [&] { StretchKernel(p)(p, deal); });
        emulated::RunBlocks(csaw__stretch_merging_blocks(&p, p.slices), CSAW__THREADS, [&] {
            if (csaw__is_extreme(p.reduce))
                csaw__merge_stretches<true>(p, deal.moved);
            else
                csaw__merge_stretches<false>(p, deal.moved);
        });
        stretches++;
    }
}

std::string Name(const Sparse &a, csaw_spmm_method method, const Ask &ask) {
    return a.name + ", " + csaw_spmm_method_name(method) + ", reduce " + std::to_string(ask.reduce) + ", " +
           std::to_string(ask.cols) + " columns, storage " + std::to_string(ask.of_x) + " to " +
           std::to_string(ask.of_y) + ", heads " + std::to_string(ask.heads) + ", gap " + std::to_string(ask.gap);
}

// NaNs in the same places: payloads and signs may differ between machines.
bool SameNumbers(Dense *a, Dense *b, uint64_t rows, uint64_t cols) {
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++) {
            const double u = a->get(r, c), v = b->get(r, c);
            if (std::isnan(u) != std::isnan(v) || (!std::isnan(u) && (u != v || std::signbit(u) != std::signbit(v))))
                return false;
        }
    return a->gaps_untouched();
}

// Whether every method gives the CPU's bits of y and arg, and leaves what is beside them.
void ExpectCpuBits(const Sparse &a, const Ask &ask, const Matrix &values, const std::vector<csaw_spmm_method> &by) {
    const csaw_sparse view = a.view();
    Dense x(values, ask.of_x, ask.gap), want(a.rows, ask.cols, ask.of_y, ask.gap);
    const bool picks = ask.picks && csaw__is_extreme(ask.reduce),
               odd = ask.gap; // odd: arg is aligned to one element alone
    std::vector<csaw_edge> want_arg(a.rows * ask.cols + 1, 12345);
    const csaw_spmm_options options = options_of(ask.reduce, ask.heads, picks ? want_arg.data() : nullptr);
    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, want.view()), CSAW_OK) << csaw_last_error();
    LongRows split(view, ask.planned);
    const HubColumns hubs(view, ask.hubs);
    for (csaw_spmm_method method : by) {
        Dense y(a.rows, ask.cols, ask.of_y, ask.gap);
        std::vector<csaw_edge> arg(want_arg.size() + odd, 12345);
        csaw__product p = {};
        p.rowptr = view.rowptr, p.col = view.col, p.weight = view.weight;
        p.rows = view.rows, p.num_edges = view.num_edges;
        p.x = *x.view(), p.y = *y.view();
        p.x.stride = csaw__stride(&p.x), p.y.stride = csaw__stride(&p.y);
        p.arg = picks ? arg.data() + odd : nullptr;
        p.reduce = ask.reduce;
        p.heads = ask.heads;
        p.split = split.found;
        const auto units = emulated_units::ListOf(p, ask.units);
        if (ask.units != emulated_units::AS_NUMBERED) p.units = units.data();
        const bool stays = ask.stay && method == CSAW_SPMM_AUTO;
        const csaw_spmm_method way = stays ? CSAW_SPMM_SUBWARP8 : method == CSAW_SPMM_AUTO ? AutoFor(p) : method;
        if (way == CSAW_SPMM_STRETCHES && csaw__takes_stretches(&p))
            RunStretches(p, ask);
        else
            Run(p, way == CSAW_SPMM_STRETCHES ? CSAW_SPMM_CRC : way, stays, ask.slices, hubs.found);
        EXPECT_TRUE(y.raw() == want.raw() || (ask.nans && SameNumbers(&y, &want, a.rows, ask.cols)))
            << Name(a, method, ask);
        if (odd) EXPECT_EQ(arg.front(), 12345);
        arg.erase(arg.begin(), arg.begin() + odd);
        EXPECT_EQ(arg, want_arg) << Name(a, method, ask);
    }
}

void ExpectCpuBits(const Sparse &a, const Ask &ask, const std::vector<csaw_spmm_method> &by = methods) {
    ExpectCpuBits(a, ask, random_matrix(a.cols, ask.cols, ask.cols + 1), by);
}

// Rows on both sides of every limit: a chunk, rows taken whole, hubs of several chunks; parallel edges.
Sparse Hubs(bool weighted) {
    return random_sparse("hubs", {3, 1024, 0, 1025, 255, 2500, 256, 257, 0, 1, 1536, 18 * 256 + 1}, 30, weighted);
}

TEST(EmulatedSpmm, EveryWidth) {
    const Sparse hubs = Hubs(true), few = random_sparse("few", {0, 9, 300, 1, 0, 4, 2, 2, 1030}, 30, false);
    for (uint64_t cols : {1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 100, 128})
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MAX}) {
            if (!reference::takes_case()) continue;
            Ask ask;
            ask.reduce = reduce;
            ask.cols = cols;
            ExpectCpuBits(cols % 2 ? hubs : few, ask);
        }
}

TEST(EmulatedSpmm, EveryMatrix) {
    for (const Sparse &a : sparse_list())
        for (csaw_reduce reduce : reduces) {
            Ask ask;
            ask.reduce = reduce;
            ask.cols = reduce == CSAW_SUM ? 20 : 5;
            ask.planned = reduce == CSAW_MEAN || reduce == CSAW_MIN;
            ExpectCpuBits(a, ask);
        }
}

// Of rows of 3, 600, none, 256 and 257 edges: 600 are chunks of 256, 256 and 88, 257 of 256 and 1; a unit that has no
// edges, or is a long row, comes last, and the latter has no result of its own.
TEST(EmulatedSpmm, UnitsByFallingLength) {
    const Sparse a = random_sparse("units", {3, 600, 0, 256, 257}, 9, false);
    const LongRows split(a.view(), true);
    csaw__product p = {};
    p.rowptr = a.rowptr.data(), p.rows = a.rows;
    p.split = split.found;
    std::vector<uint32_t> lengths;
    uint32_t chunks = 0;
    std::vector<uint32_t> rows; // that are stored, by falling length
    for (const csaw__listed_unit &u : emulated_units::ListOf(p, emulated_units::BY_LENGTH)) {
        lengths.push_back(u.count);
        chunks += u.is_chunk;
        if (u.is_chunk) {
            EXPECT_TRUE(u.stored);
            EXPECT_EQ(u.first, split.chunk[u.row].first);
            EXPECT_EQ(u.count, split.chunk[u.row].count);
        } else if (u.stored) {
            EXPECT_EQ(u.first, a.rowptr[u.row]);
            EXPECT_EQ(u.count, a.rowptr[u.row + 1] - a.rowptr[u.row]);
            rows.push_back(u.row);
        }
    }
    EXPECT_EQ(lengths, (std::vector<uint32_t>{256, 256, 256, 256, 88, 3, 1, 0, 0, 0}));
    EXPECT_EQ(chunks, 5u);
    EXPECT_EQ(rows, (std::vector<uint32_t>{3, 0, 2}));
}

// Of every method and way to merge, with a plan's long rows and with room for more than there are.
TEST(EmulatedSpmm, ListedUnits) {
    const Sparse hubs = Hubs(true), few = random_sparse("few", {0, 9, 300, 1, 0, 4, 2, 2, 1030}, 30, false);
    const Sparse none = random_sparse("none", {0, 0, 0}, 30, false);
    for (const Sparse *a : {&hubs, &few, &none})
        for (emulated_units::Order by : {emulated_units::BY_LENGTH, emulated_units::ANY})
            for (csaw_reduce reduce : reduces)
                for (uint64_t cols : {1, 20, 72}) {
                    if (!reference::takes_case()) continue;
                    Ask ask;
                    ask.reduce = reduce;
                    ask.cols = cols;
                    ask.of_x = ask.of_y = dtypes[(cols + reduce) % 3];
                    ask.units = by;
                    ask.planned = cols != 20;
                    ExpectCpuBits(*a, ask);
                }
}

TEST(EmulatedSpmm, EveryStorage) {
    const Sparse a = random_sparse("some", {0, 9, 300, 1, 1100, 4}, 30, true);
    for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MIN})
        for (csaw_dtype of_x : dtypes)
            for (csaw_dtype of_y : dtypes)
                for (uint64_t cols : {uint64_t{7}, uint64_t{36}}) {
                    Ask ask;
                    ask.reduce = reduce;
                    ask.cols = cols;
                    ask.of_x = of_x, ask.of_y = of_y;
                    ExpectCpuBits(a, ask);
                }
}

TEST(EmulatedSpmm, StridesAndHeads) {
    for (uint32_t heads : {1, 2, 3})
        for (uint64_t columns : {1, 5, 12})
            for (uint64_t gap : {3, 4}) {
                Sparse a = random_sparse("heads", {0, 9, 300, 1, 1500, 4}, 30, false);
                give_weights(&a, heads, heads);
                Ask ask;
                ask.reduce = gap == 4 ? CSAW_MAX : CSAW_SUM;
                ask.cols = heads * columns;
                ask.heads = heads;
                ask.gap = gap;
                ask.slices = 1;
                ExpectCpuBits(a, ask);
            }
}

// Slices of heads, of which a launch has one or several, by the widest vectors of each storage.
TEST(EmulatedSpmm, StretchesOfHeads) {
    for (csaw_dtype of_x : dtypes)
        for (uint64_t columns : {132, 264})
            for (uint64_t slices : {1, 3}) {
                if (!reference::takes_case()) continue;
                Sparse a = random_sparse("heads", {0, 9, 300, 1, 1500, 4, 0}, 30, false);
                give_weights(&a, 2, 2);
                for (csaw_reduce reduce : {CSAW_SUM, CSAW_MIN}) {
                    Ask ask;
                    ask.reduce = reduce;
                    ask.cols = 2 * columns;
                    ask.heads = 2;
                    ask.of_x = ask.of_y = of_x;
                    ask.slices = slices;
                    for (bool planned : {false, true}) {
                        ask.planned = planned;
                        ask.reordered = planned == (slices == 3);
                        for (bool fixed : {false, true}) {
                            if (fixed && !ask.reordered) continue;
                            ask.fixed = fixed;
                            ExpectCpuBits(a, ask, {CSAW_SPMM_STRETCHES});
                        }
                    }
                }
            }
}

TEST(EmulatedSpmm, TiesZerosAndInfinities) {
    const Sparse a = random_sparse("ties", {5, 300, 1100, 1, 2}, 4, false);
    const double of[] = {0.0, -0.0, -INFINITY, INFINITY, 1, 1};
    for (uint64_t cols : {6, 8, 40}) { // single elements, and vectors
        Matrix values(4, cols);
        for (size_t i = 0; i < values.value.size(); i++) values.value[i] = of[(i * 7 + i / 6) % 6];
        for (uint64_t c = 0; c < 4; c++) values.at(c, 5) = -INFINITY; // nothing beats the first
        for (csaw_reduce reduce : {CSAW_MAX, CSAW_MIN}) {
            Ask ask;
            ask.reduce = reduce;
            ask.cols = cols;
            ExpectCpuBits(a, ask, values, methods);
        }
    }
}

TEST(EmulatedSpmm, TheFirstNotANumberWins) {
    const Sparse a = random_sparse("not numbers", {1500, 40}, 60, true);
    for (uint64_t cols : {3, 4}) {
        Matrix values = random_matrix(60, cols, 1);
        values.at(17, 1) = values.at(4, 1) = NAN;
        Ask ask;
        ask.cols = cols;
        ask.nans = true;
        for (csaw_reduce reduce : reduces) {
            ask.reduce = reduce;
            ExpectCpuBits(a, ask, values, methods);
        }
    }
}

TEST(EmulatedSpmm, AnyNumberOfHubs) {
    const Sparse a = power_law(true);
    for (uint64_t hubs : {0, 1, 100, 1000}) // more than there are columns: all of them
        for (uint64_t cols : {31, 64}) {
            Ask ask;
            ask.cols = cols;
            ask.reduce = cols == 31 ? CSAW_MIN : CSAW_MEAN;
            ask.hubs = hubs;
            ExpectCpuBits(a, ask);
        }
}

TEST(EmulatedSpmm, HubsAreTheColumnsOfMostEdges) {
    Sparse a = random_sparse("hubs", {3, 3, 3}, 9, false);
    a.col = {7, 2, 5, 2, 7, 2, 8, 5, 2};
    const HubColumns hubs(a.view(), 3);
    EXPECT_EQ(hubs.column, (std::vector<csaw_vertex>{2, 5, 7}));
    EXPECT_EQ(hubs.code, (std::vector<csaw_vertex>{9 + 2, 9 + 0, 9 + 1, 9 + 0, 9 + 2, 9 + 0, 8, 9 + 1, 9 + 0}));
}

// Sums of rows, chunks and several slices (heads) by blocks that stay, in storage of 16 bits, which alone has them.
TEST(EmulatedSpmm, BlocksThatStay) {
    Sparse heads = random_sparse("heads", {0, 9, 300, 1, 1500, 4}, 30, false);
    give_weights(&heads, 2, 2);
    residents = 0;
    for (csaw_dtype dtype : {CSAW_F16, CSAW_BF16})
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MEAN})
            for (uint32_t of : {1, 2}) {
                Ask ask;
                ask.reduce = reduce;
                ask.heads = of, ask.cols = of * (of == 1 ? 40 : 36); // 36 of two heads: four slices, two launches
                ask.of_x = dtype, ask.planned = of == 2, ask.stay = true;
                ask.units = (of == 1) == (dtype == CSAW_F16) ? emulated_units::BY_LENGTH : emulated_units::AS_NUMBERED;
                ExpectCpuBits(of == 2 ? heads : Hubs(true), ask);
            }
    EXPECT_EQ(residents, 12);
}

// Stretches shorter than a row and longer than many, rows and chunks that begin at their ends and beside them, more
// rows than a warp has lanes, empty ones among them.
TEST(EmulatedSpmm, StretchesOfEveryLength) {
    std::vector<uint64_t> many(200, 0);
    for (size_t r = 0; r < many.size(); r++) many[r] = r % 7 == 3 ? r % 5 : r % 50 == 49 ? 40 : 0;
    many[120] = 700, many.back() = 513;
    std::vector<uint64_t> hubs(300, 2); // in several blocks that merge
    for (size_t r = 9; r < hubs.size(); r += 40) hubs[r] = 257 + r;
    const Sparse matrices[] = {Hubs(true), random_sparse("many rows", many, 30, false),
                               random_sparse("many hubs", hubs, 30, true),
                               random_sparse("empty", std::vector<uint64_t>(100, 0), 30, false),
                               random_sparse("chunks alone", {256, 512, 256, 768, 0, 257, 255}, 30, true)};
    stretches = 0;
    int ran = 0;
    for (const Sparse &a : matrices)
        for (uint32_t places : {1u, 2u, 5u, 16u, 31u, 48u, 64u, 112u, 128u, 144u, 160u, 176u, 208u, 255u, 256u})
            for (uint64_t cols : {uint64_t{30}, uint64_t{36}, uint64_t{64}, uint64_t{264}, uint64_t{300}}) {
                if (!reference::takes_case()) continue;
                Ask ask;
                ask.reduce = reduces[ran / 2 % 4];
                ask.cols = cols;
                ask.gap = ran % 7 == 6 ? 8 : 0;
                ask.picks = ran % 9 != 5;
                ask.planned = ran % 2 && places % CSAW__STRETCH_GRAIN == 0;
                ask.reordered = ran % 3;
                ask.fixed = ran % 3 == 2;
                ask.stretch = places;
                ask.of_x = places == 48 ? CSAW_F16 : CSAW_F32;
                if (places == 144 || places == 48) ask.l2_bytes = a.cols * 64 * 4; // holds half of a slice
                ExpectCpuBits(a, ask, {CSAW_SPMM_STRETCHES});
                ran++;
            }
    EXPECT_GE(stretches, ran);
}

// Of 8 bytes a lane where the L2 cache holds x in so many columns, but not in twice as many.
TEST(EmulatedSpmm, StretchesHalveColumnsThatTheL2CacheDoesNotHold) {
    csaw__product p = {};
    p.x.rows = 1000;
    const auto vector = [&](csaw_dtype dtype, uint64_t columns, uint64_t l2_bytes) {
        p.x.dtype = dtype, p.columns = columns;
        p.vector = dtype == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16;
        return csaw__stretch_vector(&p, l2_bytes);
    };
    const uint64_t wide = 1000 * 512, narrow = wide / 2; // bytes of x in as many columns as a warp takes
    for (uint64_t columns : {65, 128, 256}) {
        EXPECT_EQ(vector(CSAW_F32, columns, wide), 4);
        EXPECT_EQ(vector(CSAW_F32, columns, wide - 1), 2);
        EXPECT_EQ(vector(CSAW_F32, columns, narrow), 2);
        EXPECT_EQ(vector(CSAW_F32, columns, narrow - 1), 4) << "neither fits";
        EXPECT_EQ(vector(CSAW_F16, 2 * columns, wide), 8);
        EXPECT_EQ(vector(CSAW_F16, 2 * columns, wide - 1), 4);
        EXPECT_EQ(vector(CSAW_F16, 2 * columns, narrow - 1), 8);
    }
    for (uint64_t l2_bytes : {wide, narrow, narrow - 1}) {
        EXPECT_EQ(vector(CSAW_F32, 64, l2_bytes), 2) << "as many as hold the columns";
        EXPECT_EQ(vector(CSAW_F16, 128, l2_bytes), 4);
        EXPECT_EQ(vector(CSAW_F32, 32, l2_bytes), 1);
    }
}

// A few more places than usual where all warps then are under way at once.
TEST(EmulatedSpmm, StretchesThatAreUnderWayAtOnce) {
    csaw__product p = {};
    p.x.dtype = CSAW_F32, p.vector = 2, p.slices_of_head = p.heads = 1;
    p.reduce = CSAW_MAX; // of which other blocks fit
    p.rows = 0, p.num_edges = 144 * 8 * 4 * 10;
    EXPECT_EQ(csaw__stretch_places(&p, 10), 144);
    p.reduce = CSAW_SUM; // six blocks of four warps
    const uint64_t warps = 6 * 4 * 10;
    const auto places = [&](uint64_t all) {
        p.rows = all / 10, p.num_edges = all - p.rows;
        return csaw__stretch_places(&p, 10);
    };
    for (uint64_t each = 1; each < 400; each++) {
        const uint32_t of = places(each * warps);
        EXPECT_EQ(of % CSAW__STRETCH_GRAIN, 0);
        const bool at_once = each > 128 && each <= 176;
        if (at_once)
            EXPECT_TRUE(of >= each && of < each + CSAW__STRETCH_GRAIN) << each;
        else
            EXPECT_EQ(of, CSAW__STRETCH_PLACES) << each;
    }
    p.slices_of_head = 2;
    EXPECT_EQ(places(75 * warps), 160);
    for (uint64_t slices : {2, 3, 5, 7, 11, 300}) // a whole number of warps each
        for (uint64_t each = 100; each < 200; each++) {
            p.slices_of_head = slices;
            const uint32_t of = places(each * warps / slices);
            if (of != CSAW__STRETCH_PLACES)
                EXPECT_LE(csaw__stretches_of(p.rows, p.num_edges, of) * slices, warps) << slices << ", " << each;
        }
}

// So many rows that a warp merges what is long of several.
TEST(EmulatedSpmm, StretchesOfManyRows) {
    std::vector<uint64_t> length(40000, 0);
    for (size_t r = 0; r < length.size(); r += 3) length[r] = 1;
    for (size_t r : {0, 1, 2, 3, 20000, 39998, 39999}) length[r] = 257 + r % 7;
    ASSERT_GT(csaw__stretch_merged_rows(length.size()), 1u);
    const Sparse a = random_sparse("many rows", length, 30, true);
    for (csaw_reduce reduce : {CSAW_SUM, CSAW_MAX})
        for (bool planned : {false, true}) {
            Ask ask;
            ask.reduce = reduce;
            ask.cols = 36;
            ask.planned = planned;
            ExpectCpuBits(a, ask, {CSAW_SPMM_STRETCHES});
        }
}

} // namespace
