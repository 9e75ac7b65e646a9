/* SPDX-License-Identifier: MIT */
/* tests/reducer_gpu_test.cu - csaw_spmm() on a GPU by a reduction of the caller's: the CPU's bits, of files compiled
 * with this program and at run time; streams; what is refused. Outputs are poisoned. */
#include "tests/spmm_product.cuh"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

CSAW_DECLARE_REDUCER(times_all);
CSAW_DECLARE_REDUCER(alternate);
CSAW_DECLARE_REDUCER(three_norm);
CSAW_DECLARE_REDUCER(log_sum_exp);

namespace {

using namespace spmm_product;

const csaw_reducer *const with_kernels[] = {&times_all, &alternate};
const csaw_reducer *const all_reducers[] = {&times_all, &alternate, &three_norm, &log_sum_exp};

class ReducerGpu : public testing::Test { // a fresh folder, and a cache in it
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
        char name[] = "/tmp/csaw-reducer-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
        if (const char *before = getenv("CSAW_CACHE_DIR")) before_ = before;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", (folder_ + "/cache").c_str(), 1), 0);
    }
    void TearDown() override {
        if (folder_.empty()) return;
        std::filesystem::remove_all(folder_);
        if (before_.empty())
            unsetenv("CSAW_CACHE_DIR");
        else
            setenv("CSAW_CACHE_DIR", before_.c_str(), 1);
    }
    size_t CachedKernels() const {
        size_t count = 0;
        for (const auto &entry : std::filesystem::directory_iterator(folder_ + "/cache"))
            count += entry.path().extension() == ".cubin";
        return count;
    }
    std::string folder_, before_;
};

TEST_F(ReducerGpu, EveryMatrixAndReducer) {
    std::vector<Sparse> all = sparse_list();
    all.push_back(Rmat(12, 1));
    all.push_back(Hubs(1));
    for (const Sparse &a : all) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (const csaw_reducer *by : with_kernels)
            for (uint64_t cols : {7, 64}) {
                Ask ask;
                ask.cols = cols;
                ask.reducer = by;
                ExpectCpuBits(a, there, ask, {cols == 7 ? nullptr : plan.get()});
            }
    }
}

TEST_F(ReducerGpu, WorkBytesAreWhatThePoolGives) {
    uint64_t most = 0;
    for (const Sparse &a : {Rmat(12, 1), Hubs(1)}) {
        const OnDevice there(a);
        const Plan plan(there.view, "cuda:0");
        for (const csaw_spmm_plan *of : {plan.get(), static_cast<const csaw_spmm_plan *>(nullptr)}) {
            Ask ask;
            ask.cols = 64;
            ask.reducer = &alternate;
            const Product product(a, there, ask);
            uint64_t bytes = 0;
            ASSERT_EQ(product.WorkBytes(of, &bytes), CSAW_OK) << csaw_last_error();
            EXPECT_TRUE(AreTaken(bytes, of, [&] { return product.Run(of); })) << product.Name();
            most = std::max(most, bytes);
        }
    }
    EXPECT_GT(most, 0u);
}

TEST_F(ReducerGpu, EveryWidth) {
    const Sparse a = random_sparse("a few hubs", {3, 2048, 0, 2049, 255, 7000, 256, 257, 1, 384, 385, 40}, 300, true);
    const OnDevice there(a);
    for (uint64_t cols :
         {0, 1, 2, 3, 4, 8, 9, 15, 16, 31, 32, 33, 48, 63, 65, 96, 100, 128, 129, 256, 257, 1000, 1024}) {
        Ask ask;
        ask.cols = cols;
        ask.reducer = &alternate;
        ExpectCpuBits(a, there, ask, {nullptr});
    }
}

TEST_F(ReducerGpu, EveryStorageAndHeads) {
    for (uint32_t heads : {1, 3}) {
        const Sparse a = Rmat(9, heads);
        const OnDevice there(a);
        for (csaw_dtype of_x : dtypes)
            for (csaw_dtype of_y : dtypes)
                for (uint64_t columns : {1, 12, 33, 40}) {
                    Ask ask;
                    ask.cols = heads * columns;
                    ask.of_x = of_x, ask.of_y = of_y;
                    ask.heads = heads;
                    ask.gap = columns == 12 ? 4 : 0;
                    ask.reducer = &alternate;
                    ExpectCpuBits(a, there, ask, {nullptr});
                }
    }
}

TEST_F(ReducerGpu, CompiledAtRunTime) {
    const Sparse a = Hubs(1);
    const OnDevice there(a);
    Ask ask;
    ask.cols = 33;
    for (const csaw_reducer *by : all_reducers) {
        if (!reference::takes_case()) continue;
        const std::string path = CSAW_SOURCE_DIR "/tests/reducers/" + std::string(by->name) + ".c";
        const csaw_reducer *reducer = nullptr;
        ASSERT_EQ(csaw_reducer_compile(path.c_str(), &reducer), CSAW_OK) << csaw_last_error();
        const size_t before = CachedKernels();
        ask.reducer = by;
        for (csaw_dtype of_x : dtypes) {
            ask.of_x = of_x;
            for (int again = 0; again < 2; again++) {
                const Product product(a, there, ask);
                ASSERT_EQ(product.RunBy(reducer), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(product.IsTheCpus());
            }
        }
        EXPECT_EQ(CachedKernels(), before + 6); // of each storage one for short rows and one for long ones
        csaw_reducer_unload(reducer);
    }
}

TEST_F(ReducerGpu, StreamsAtOnce) {
    const Sparse a = Rmat(12, 1);
    const OnDevice there(a);
    std::vector<std::unique_ptr<Product>> products;
    cudaStream_t streams[4];
    Ask ask;
    ask.cols = 40;
    for (int i = 0; i < 4; i++) {
        Require(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        ask.reducer = with_kernels[i % 2];
        products.emplace_back(new Product(a, there, ask));
    }
    for (int i = 0; i < 4; i++) ASSERT_EQ(products[i]->Run(nullptr, streams[i]), CSAW_OK);
    for (const auto &product : products) EXPECT_TRUE(product->IsTheCpus());
    for (cudaStream_t stream : streams) Require(cudaStreamDestroy(stream));
}

TEST_F(ReducerGpu, WhatIsRefused) {
    const Sparse a = random_sparse("few", {2, 3}, 4, true);
    const OnDevice there(a);
    Ask ask;
    ask.reducer = &alternate;
    const Product product(a, there, ask);
    csaw_reducer bare = alternate;
    bare.device = nullptr;
    EXPECT_EQ(product.RunBy(&bare), CSAW_EUNSUPPORTED);
    EXPECT_NE(std::string(csaw_last_error()).find("no kernels for the GPU"), std::string::npos) << csaw_last_error();

    EXPECT_EQ(product.RunBy(CSAW_SPMM_CRC, nullptr), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("method 'crc' is of csaw's own reductions"), std::string::npos);

    const std::string path = folder_ + "/host.c";
    std::ofstream(path) << "#include <csaw/reducer.h>\n"
                           "CSAW_FN float one(void) { return 1; }\n"
                           "static float add(float so_far, float product) { return so_far + product; }\n"
                           "CSAW_REDUCER(hosts, one, add);\n";
    const csaw_reducer *reducer = nullptr;
    ASSERT_EQ(csaw_reducer_compile(path.c_str(), &reducer), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(product.RunBy(reducer), CSAW_ECOMPILE);
    EXPECT_NE(std::string(csaw_last_error()).find("host.c(3): error"), std::string::npos) << csaw_last_error();
    csaw_reducer_unload(reducer);
    EXPECT_EQ(product.Run(nullptr), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(product.IsTheCpus());
}

} // namespace
