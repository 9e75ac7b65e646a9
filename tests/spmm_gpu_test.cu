/* SPDX-License-Identifier: MIT */
/* tests/spmm_gpu_test.cu - csaw_spmm() on a GPU through the public API: the CPU's bits for every reduction, storage and
 * width, with a plan and without; every method by name; work memory; features beyond 2 GiB; streams. Outputs are
 * poisoned. */
#include "tests/spmm_product.cuh"

#include "runtime/base/device_status.h"
#include "spmm/device_auto.h"
#include "spmm/device_private.cuh"
#include "spmm/plan.h"
#include "tests/reorder_cases.h"

namespace {

using namespace spmm_product;

template <class T> std::vector<T> Back(const T *there, uint64_t count) {
    std::vector<T> out(count);
    Require(cudaMemcpy(out.data(), there, count * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
}

class SpmmGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

TEST_F(SpmmGpu, EveryMatrixAndReduction) {
    std::vector<Sparse> all = sparse_list();
    all.push_back(Rmat(12, 1));
    all.push_back(Hubs(1));
    for (const Sparse &a : all) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (uint64_t cols : {7, 64, 130})
            for (csaw_reduce reduce : reduces) {
                Ask ask;
                ask.reduce = reduce;
                ask.cols = cols;
                ExpectCpuBits(a, there, ask, {plan.get(), nullptr});
            }
    }
}

TEST_F(SpmmGpu, EveryWidth) {
    const Sparse a = random_sparse("a few hubs", {3, 512, 0, 513, 255, 3000, 256, 257, 1025, 1, 1536, 40}, 300, true);
    const OnDevice there(a);
    for (uint64_t cols :
         {0, 1, 2, 3, 4, 8, 15, 16, 31, 32, 33, 48, 63, 65, 96, 100, 127, 128, 129, 256, 257, 1000, 1024})
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MAX}) {
            Ask ask;
            ask.reduce = reduce;
            ask.cols = cols;
            ExpectCpuBits(a, there, ask, {nullptr});
        }
}

TEST_F(SpmmGpu, EveryStorageAndMethod) {
    for (const Sparse &a : {Rmat(9, 1), random_sparse("hubs", {3, 1024, 0, 1025, 5000, 1, 700}, 300, true)}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0", false, 1, true);
        for (uint64_t cols : {1, 20, 33, 64, 300})
            for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MAX})
                for (csaw_dtype of_x : dtypes)
                    for (csaw_dtype of_y : dtypes) {
                        if (!reference::takes_case()) continue;
                        Ask ask;
                        ask.reduce = reduce;
                        ask.cols = cols;
                        ask.of_x = of_x, ask.of_y = of_y;
                        ask.gap = cols == 20 ? 4 : 0;
                        const Product product(a, there, ask);
                        for (int i = CSAW_SPMM_AUTO; i <= CSAW_SPMM_STRETCHES; i++) {
                            const auto method = static_cast<csaw_spmm_method>(i);
                            if (of_x != of_y && method != CSAW_SPMM_AUTO) continue;
                            for (const csaw_spmm_plan *by :
                                 {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                                if (method == CSAW_SPMM_HUBS && !by) continue;
                                product.Poison();
                                ASSERT_EQ(product.RunBy(method, by), CSAW_OK) << csaw_last_error();
                                EXPECT_TRUE(product.IsTheCpus())
                                    << csaw_spmm_method_name(method) << (by ? ", planned" : "");
                            }
                        }
                    }
    }
}

// More rows than there are warps that merge, and more slices than partial results have memory for at a time.
TEST_F(SpmmGpu, StretchesOfManyRowsAndOfSeveralLaunches) {
    const std::pair<Sparse, uint64_t> products[] = {
        {Rmat(15, 1), 200}, {random_sparse("long rows", std::vector<uint64_t>(1000, 2100), 500, true), 4352}};
    for (const auto &[a, cols] : products) {
        if (!reference::takes_case()) continue;
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MAX}) {
            Ask ask;
            ask.reduce = reduce;
            ask.cols = cols;
            const Product product(a, there, ask);
            for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                product.Poison();
                ASSERT_EQ(product.RunBy(CSAW_SPMM_STRETCHES, of), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(product.IsTheCpus()) << (of ? "planned" : "");
            }
        }
    }
}

// The rows of a plan, of the matrix and of its transpose, are those of the matrix in an order that brings communities
// together.
TEST_F(SpmmGpu, APlanReordersRows) {
    std::vector<uint32_t> community;
    const Sparse a = reorder_cases::Planted(&community);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    for (const csaw__device_known *known : {&plan.get()->device->matrix, &plan.get()->device->transposed}) {
        const bool turned = known == &plan.get()->device->transposed;
        const uint64_t rows = turned ? a.cols : a.rows;
        const csaw__device_transpose &t = plan.get()->device->transpose;
        const auto rowptr = Back(turned ? t.rowptr : there.view.rowptr, rows + 1);
        const auto col = Back(turned ? t.row : there.view.col, a.col.size());
        ASSERT_NE(known->stretches.moved, nullptr);
        const auto moved = Back(known->stretches.moved, rows);
        const auto new_rowptr = Back(known->stretches.rowptr, rows + 1);
        const auto new_col = Back(known->stretches.col, a.col.size());
        std::vector<uint32_t> order;
        for (uint64_t i = 0; i < rows; i++) {
            const uint64_t length = new_rowptr[i + 1] - new_rowptr[i];
            order.push_back(moved[i].row);
            ASSERT_EQ(moved[i].edge, rowptr[moved[i].row]);
            ASSERT_EQ(length, rowptr[moved[i].row + 1] - moved[i].edge);
            for (uint64_t k = 0; k < length; k++) ASSERT_EQ(new_col[new_rowptr[i] + k], col[moved[i].edge + k]);
        }
        if (!turned) EXPECT_GT(reorder_cases::TogetherIn(order, community), reorder_cases::kTogether);
        std::sort(order.begin(), order.end());
        for (uint32_t i = 0; i < rows; i++) ASSERT_EQ(order[i], i);
    }
}

TEST_F(SpmmGpu, ReorderedRowsHaveTheCpusBits) {
    for (uint32_t heads : {0, 1, 3}) {
        std::vector<uint32_t> community;
        const Sparse a = reorder_cases::Planted(&community, heads);
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0"), fixed(there.view, "cuda:0", true, heads ? heads : 1);
        ASSERT_NE(plan.get()->device->matrix.stretches.moved, nullptr);
        ASSERT_EQ(plan.get()->device->matrix.stretches.weight, nullptr);
        ASSERT_EQ(fixed.get()->device->matrix.stretches.weight != nullptr, heads != 0);
        for (csaw_reduce reduce : reduces)
            for (csaw_dtype dtype : dtypes)
                for (uint64_t columns : {7, 64, 128, 264}) {
                    Ask ask;
                    ask.reduce = reduce;
                    ask.heads = heads ? heads : 1, ask.cols = columns * ask.heads;
                    ask.of_x = ask.of_y = dtype;
                    const Product product(a, there, ask);
                    for (csaw_spmm_method method : {CSAW_SPMM_STRETCHES, CSAW_SPMM_AUTO}) {
                        for (const Plan *by : {&plan, &fixed}) {
                            product.Poison();
                            ASSERT_EQ(product.RunBy(method, by->get()), CSAW_OK) << csaw_last_error();
                            EXPECT_TRUE(product.IsTheCpus())
                                << csaw_spmm_method_name(method) << (by == &fixed ? ", fixed weights" : "");
                        }
                    }
                }
    }
}

// Of a plan's fixed weights alone are there copies: others, or as many for other heads, are read where they stand.
TEST_F(SpmmGpu, ReorderedRowsOfOtherWeights) {
    std::vector<uint32_t> community;
    const Sparse a = reorder_cases::Planted(&community, 2);
    Sparse other = a;
    std::reverse(other.weight.begin(), other.weight.end());
    OnDevice there(a);
    const OnDevice there_other(other);
    const Plan fixed(there.view, "cuda:0", true, 2), of_one_head(there.view, "cuda:0", true, 1);
    Ask ask;
    ask.cols = 128, ask.heads = 2;
    const auto expect_cpu_bits = [&](const Sparse &of, const Plan &plan) {
        const Product product(of, there, ask);
        product.Poison();
        ASSERT_EQ(product.RunBy(CSAW_SPMM_STRETCHES, plan.get()), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(product.IsTheCpus());
    };
    expect_cpu_bits(a, of_one_head);
    there.view.weight = there_other.view.weight;
    expect_cpu_bits(other, fixed);
}

// Each allocation of a plan of everything, in turn, and all after it.
TEST_F(SpmmGpu, APlanWithoutMemoryIsRefused) {
    std::vector<uint32_t> community;
    const Sparse a = reorder_cases::Planted(&community, 1);
    const OnDevice there(a);
    csaw_prepare_options options = {};
    options.size = sizeof options;
    options.device = "cuda:0";
    options.fixed_weights = options.hubs = options.means = true;
    csaw_status status = CSAW_ENOMEM;
    uint64_t n = 0;
    for (csaw_spmm_plan *plan = nullptr; status != CSAW_OK; csaw_spmm_plan_free(plan)) {
        csaw__fail_allocations_from(++n);
        status = csaw_spmm_prepare(&there.view, &options, &plan);
        csaw__fail_allocations_from(0);
        if (status == CSAW_OK) continue;
        ASSERT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << n << ": " << csaw_last_error();
        ASSERT_EQ(plan, nullptr) << n;
    }
    EXPECT_GT(n, 40u) << "so few allocations";
}

// Of 16 edges a row and more on average, each unit once; of fewer, none. A matrix may be listed whose transpose is not.
TEST_F(SpmmGpu, APlanListsUnitsByFallingLength) {
    std::vector<uint64_t> lengths(1 << 15);
    for (size_t r = 0; r < lengths.size(); r++) lengths[r] = r % 100 == 7 ? 700 : r % 53;
    const Sparse a = random_sparse("listed", lengths, 1 << 15, true);
    ASSERT_GT(a.col.size(), CSAW__LISTED_EDGES);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    for (const csaw__device_known *known : {&plan.get()->device->matrix, &plan.get()->device->transposed}) {
        const bool turned = known == &plan.get()->device->transposed;
        const uint64_t rows = turned ? a.cols : a.rows, units = known->split.most_chunks + rows;
        const auto rowptr = Back(turned ? plan.get()->device->transpose.rowptr : there.view.rowptr, rows + 1);
        const auto chunks = Back(known->split.chunk, known->split.most_chunks);
        ASSERT_NE(known->units, nullptr);
        uint64_t edges = 0;
        std::vector<bool> row(rows), chunk(known->split.most_chunks);
        uint32_t last = CSAW_CHUNK;
        for (const csaw__listed_unit &u : Back(known->units, units)) {
            EXPECT_LE(u.count, last);
            last = u.count;
            edges += u.count;
            if (!u.stored) continue;
            std::vector<bool> &of = u.is_chunk ? chunk : row;
            ASSERT_LT(u.row, of.size());
            EXPECT_FALSE(of[u.row]);
            of[u.row] = true;
            EXPECT_EQ(u.first, u.is_chunk ? chunks[u.row].first : rowptr[u.row]);
            EXPECT_EQ(u.count, u.is_chunk ? chunks[u.row].count : rowptr[u.row + 1] - rowptr[u.row]);
        }
        EXPECT_EQ(edges, a.col.size());
        EXPECT_EQ(std::count(chunk.begin(), chunk.end(), true), static_cast<ptrdiff_t>(chunk.size()));
        EXPECT_EQ(std::count(row.begin(), row.end(), true), static_cast<ptrdiff_t>(rows - known->split.most_rows));
    }
    for (uint64_t cols : {64, 128})
        for (csaw_dtype dtype : dtypes) {
            Ask ask;
            ask.cols = cols;
            ask.of_x = ask.of_y = dtype;
            ask.reduce = cols == 64 ? CSAW_SUM : CSAW_MEAN;
            const Product product(a, there, ask);
            product.Poison();
            ASSERT_EQ(product.Run(plan.get()), CSAW_OK) << csaw_last_error();
            EXPECT_TRUE(product.IsTheCpus());
        }
    for (uint64_t degree : {15, 16}) {
        const Sparse wide = random_sparse("wide", std::vector<uint64_t>(100, degree), 200, true);
        const OnDevice wide_there(wide);
        const Plan of(wide_there.view, "cuda:0");
        EXPECT_EQ(of.get()->device->matrix.units != nullptr, degree == 16);
        EXPECT_EQ(of.get()->device->transposed.units, nullptr);
    }
}

// More edges than rows are brought near of.
TEST_F(SpmmGpu, StretchesOfManyEdges) {
    const Sparse a = random_sparse("many edges", std::vector<uint64_t>(1 << 16, 65), 1 << 16, true);
    ASSERT_GT(a.col.size(), CSAW__STRETCH_EDGES);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    ASSERT_EQ(plan.get()->device->matrix.stretches.moved, nullptr);
    Ask ask;
    ask.cols = 20;
    const Product product(a, there, ask);
    product.Poison();
    ASSERT_EQ(product.RunBy(CSAW_SPMM_STRETCHES, plan.get()), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(product.IsTheCpus());
}

// More edges than AUTO takes stretches of.
TEST_F(SpmmGpu, BlocksThatStay) {
    const Sparse a = random_sparse("blocks", std::vector<uint64_t>((1 << 19) + 1, 64), 1 << 12, true);
    const OnDevice there(a);
    for (csaw_dtype dtype : {CSAW_F16, CSAW_BF16}) {
        Ask ask;
        ask.cols = 64;
        ask.of_x = ask.of_y = dtype;
        csaw__product p = {};
        p.rows = a.rows, p.num_edges = a.col.size(), p.heads = 1;
        p.x = {a.cols, 64, 64, dtype, nullptr}, p.y = {a.rows, 64, 64, dtype, nullptr};
        csaw__lay_vectors(&p);
        ASSERT_TRUE(csaw__auto_way_of(&p, false, 50 << 20).resident);
        const Product product(a, there, ask);
        product.Poison();
        ASSERT_EQ(product.Run(nullptr), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(product.IsTheCpus());
    }
}

// Launches that begin early among them: AUTO takes stretches.
TEST_F(SpmmGpu, ProductsCanBeRecordedInAGraph) {
    const Sparse a = Rmat(12, 1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    Ask ask;
    ask.cols = 64;
    const Product product(a, there, ask);
    cudaStream_t stream;
    Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
        cudaGraph_t graph;
        cudaGraphExec_t runs;
        product.Poison();
        Require(cudaDeviceSynchronize());
        Require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        const csaw_status status = product.Run(of, stream);
        Require(cudaStreamEndCapture(stream, &graph));
        ASSERT_EQ(status, CSAW_OK) << csaw_last_error();
        Require(cudaGraphInstantiate(&runs, graph, 0));
        for (int i = 0; i < 3; i++) Require(cudaGraphLaunch(runs, stream));
        Require(cudaStreamSynchronize(stream));
        EXPECT_TRUE(product.IsTheCpus()) << (of ? "planned" : "");
        Require(cudaGraphExecDestroy(runs));
        Require(cudaGraphDestroy(graph));
    }
    Require(cudaStreamDestroy(stream));
}

// More columns than shared memory has room for, and none.
TEST_F(SpmmGpu, HubsInSharedMemory) {
    for (const Sparse &a : {Rmat(14, 1), Hubs(1), random_sparse("no edges", {0, 0, 0}, 4, false),
                            random_sparse("no columns", {0, 0}, 0, false)}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0", false, 1, true);
        for (csaw_reduce reduce : reduces)
            for (uint64_t cols : {1, 3, 36, 64, 200})
                for (csaw_dtype dtype : dtypes) {
                    if (!reference::takes_case()) continue;
                    Ask ask;
                    ask.reduce = reduce;
                    ask.cols = cols;
                    ask.of_x = ask.of_y = dtype;
                    const Product product(a, there, ask);
                    ASSERT_EQ(product.RunBy(CSAW_SPMM_HUBS, plan.get()), CSAW_OK) << csaw_last_error();
                    EXPECT_TRUE(product.IsTheCpus());
                }
    }
}

TEST_F(SpmmGpu, HubsAreFoundBeforehand) {
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    const Product product(a, there, Ask());
    for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
        EXPECT_EQ(product.RunBy(CSAW_SPMM_HUBS, of), CSAW_EINVAL);
        EXPECT_NE(std::string(csaw_last_error()).find("prepared with hubs"), std::string::npos);
    }
}

TEST_F(SpmmGpu, WorkBytesAreWhatThePoolGives) {
    uint64_t most = 0;
    for (const Sparse &a : {Rmat(12, 1), Hubs(1)}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0", false, 1, true);
        for (csaw_reduce reduce : reduces)
            for (uint64_t cols : {7, 64, 1000})
                for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
                    Ask ask;
                    ask.reduce = reduce;
                    ask.cols = cols;
                    const Product product(a, there, ask);
                    uint64_t bytes = 0;
                    ASSERT_EQ(product.WorkBytes(of, &bytes), CSAW_OK) << csaw_last_error();
                    EXPECT_TRUE(AreTaken(bytes, of, [&] { return product.Run(of); })) << product.Name();
                    EXPECT_TRUE(product.IsTheCpus());
                    most = std::max(most, bytes);
                }
    }
    EXPECT_GT(most, uint64_t{1} << 20);
}

TEST_F(SpmmGpu, Heads) {
    for (uint32_t heads : {2, 3, 8})
        for (uint64_t columns : {1, 5, 16, 64}) {
            const Sparse a = heads == 2 ? Hubs(heads) : Rmat(9, heads);
            const OnDevice there(a);
            for (csaw_reduce reduce : reduces) {
                Ask ask;
                ask.reduce = reduce;
                ask.cols = heads * columns;
                ask.heads = heads;
                const Product product(a, there, ask);
                ASSERT_EQ(product.Run(nullptr), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(product.IsTheCpus());
            }
        }
}

TEST_F(SpmmGpu, StreamsAtOnceWithOnePlan) {
    const Sparse a = Rmat(12, 1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    std::vector<std::unique_ptr<Product>> products;
    std::vector<cudaStream_t> streams(4);
    for (size_t i = 0; i < streams.size(); i++) {
        Require(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        Ask ask;
        ask.reduce = reduces[i];
        ask.cols = 40;
        products.emplace_back(new Product(a, there, ask));
    }
    for (size_t i = 0; i < streams.size(); i++) ASSERT_EQ(products[i]->Run(plan.get(), streams[i]), CSAW_OK);
    for (const auto &product : products) EXPECT_TRUE(product->IsTheCpus());
    for (cudaStream_t stream : streams) Require(cudaStreamDestroy(stream));
}

TEST_F(SpmmGpu, TheCurrentDeviceStays) {
    int before = -1, after = -1;
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    Require(cudaGetDevice(&before));
    ASSERT_EQ(Product(a, there, Ask()).Run(nullptr), CSAW_OK);
    Require(cudaGetDevice(&after));
    EXPECT_EQ(before, after);
}

csaw_status NoSuchDevice() {
    CSAW_CUDA(cudaSetDevice(1 << 20));
    return CSAW_OK;
}

// CUDA keeps the last error of a thread: the caller's own is not taken for a launch's, nor left by csaw for the caller.
TEST_F(SpmmGpu, ErrorsBelongToTheCallThatFailed) {
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    const Plan plan(there.view, "cuda:0");
    const Product product(a, there, Ask());
    void *memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, size_t{1} << 60), cudaErrorMemoryAllocation);
    for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
        product.Poison();
        ASSERT_EQ(product.Run(of), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(product.IsTheCpus());
    }
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(NoSuchDevice(), CSAW_ECUDA);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// x and y of strides so large that places beyond 2^31 elements and 2^33 bytes are used.
TEST_F(SpmmGpu, FeaturesBeyondTwoGigabytes) {
    const uint64_t stride = (1ull << 30) + 4, cols = 36;
    size_t free_bytes = 0, total = 0;
    Require(cudaMemGetInfo(&free_bytes, &total));
    if (free_bytes < 26ull << 30) GTEST_SKIP() << "26 GiB of device memory are not free";
    const Sparse a = random_sparse("far", {5, 1100, 4}, 3, true);
    const OnDevice there(a);
    const csaw_sparse view = a.view();
    for (csaw_dtype dtype : {CSAW_F32, CSAW_BF16})
        for (csaw_reduce reduce : {CSAW_SUM, CSAW_MIN}) {
            const uint64_t bytes = csaw__dtype_bytes(dtype), pitch = stride * bytes;
            Dense x(random_matrix(3, cols, 8), dtype), want(3, cols, dtype), got(3, cols, dtype);
            csaw_spmm_options options = options_of(reduce);
            ASSERT_EQ(csaw_spmm(&view, x.view(), &options, want.view()), CSAW_OK);
            char *far_x = nullptr, *far_y = nullptr;
            Require(cudaMalloc(&far_x, 3 * pitch));
            Require(cudaMalloc(&far_y, 3 * pitch));
            for (uint64_t r = 0; r < 3; r++) { // row by row: copies of matrices have a limit of 2 GiB a row
                Require(cudaMemcpy(far_x + r * pitch, (char *)x.view()->data + r * cols * bytes, cols * bytes,
                                   cudaMemcpyHostToDevice));
                Require(cudaMemset(far_y + r * pitch, 0xff, cols * bytes));
            }
            const csaw_dense in = {3, cols, stride, dtype, far_x}, out = {3, cols, stride, dtype, far_y};
            options = There(options, nullptr, nullptr);
            ASSERT_EQ(csaw_spmm(&there.view, &in, &options, &out), CSAW_OK) << csaw_last_error();
            for (uint64_t r = 0; r < 3; r++)
                Require(cudaMemcpy((char *)got.view()->data + r * cols * bytes, far_y + r * pitch, cols * bytes,
                                   cudaMemcpyDeviceToHost));
            EXPECT_EQ(got.raw(), want.raw());
            Require(cudaFree(far_x));
            Require(cudaFree(far_y));
        }
}

} // namespace
