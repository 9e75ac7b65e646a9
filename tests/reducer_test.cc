/* SPDX-License-Identifier: MIT */
/* tests/reducer_test.cc - csaw_spmm() by a reduction of the caller's (csaw/reducer.h): to the bit the plain loop over
 * the edges of each row, for every storage, width, head and number of threads; and what is refused. */
#include "tests/spmm_cases.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

extern "C" {
#include "spmm/reducer.h"
}

CSAW_DECLARE_REDUCER(times_all);
CSAW_DECLARE_REDUCER(alternate);

namespace {

using namespace spmm_cases;

struct Reducer {
    const csaw_reducer *reducer;
    float begin;
    float (*reduce)(float, float);
};
const Reducer reducers[] = {{&times_all, 1, [](float so_far, float product) { return so_far * product; }},
                            {&alternate, -3, [](float so_far, float product) { return product - so_far * 0.5f; }}};

csaw_spmm_options OptionsOf(const csaw_reducer *reducer, uint32_t heads) {
    csaw_spmm_options options = options_of(CSAW_SUM, heads);
    options.reducer = reducer;
    return options;
}

// The plain loop; x as stored.
Dense Expected(const Sparse &a, Dense *x, uint64_t cols, csaw_dtype dtype, uint64_t gap, uint32_t heads,
               const Reducer &by) {
    Dense y(a.rows, cols, dtype, gap);
    for (uint64_t r = 0; r < a.rows; r++)
        for (uint64_t c = 0; c < cols; c++) {
            volatile float value = by.begin;
            for (uint64_t e = a.rowptr[r]; e < a.rowptr[r + 1]; e++) {
                const float w = a.weight.empty() ? 1.0f : a.weight[e * heads + c / (cols / heads)];
                const volatile float product = w * static_cast<float>(x->get(a.col[e], c));
                value = by.reduce(value, product);
            }
            y.set(r, c, value);
        }
    return y;
}

void ExpectLoop(const Sparse &a, uint64_t cols, csaw_dtype of_x, csaw_dtype of_y, uint64_t gap = 0,
                uint32_t heads = 1) {
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.cols, cols, 3), of_x, gap);
    for (const Reducer &by : reducers) {
        Dense want = Expected(a, &x, cols, of_y, gap, heads, by), got(a.rows, cols, of_y, gap);
        const csaw_spmm_options options = OptionsOf(by.reducer, heads);
        ASSERT_EQ(csaw_spmm(&view, x.view(), &options, got.view()), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(got.raw(), want.raw()) << a.name << ", " << by.reducer->name << ", " << cols << " columns, storage "
                                         << of_x << " to " << of_y << ", heads " << heads;
    }
}

TEST(Reducer, IsThePlainLoop) {
    for (const Sparse &a : sparse_list())
        for (uint64_t cols : {1, 7, 256, 300}) ExpectLoop(a, cols, CSAW_F32, CSAW_F32, cols == 7 ? 5 : 0);
}

TEST(Reducer, EveryStorageAndHeads) {
    for (csaw_dtype of_x : dtypes)
        for (csaw_dtype of_y : dtypes) ExpectLoop(power_law(true), 33, of_x, of_y, 2);
    for (uint32_t heads : {2, 3}) {
        Sparse a = power_law(false);
        give_weights(&a, heads, 4);
        ExpectLoop(a, heads * 130, CSAW_F32, CSAW_F32, 0, heads);
    }
}

TEST(Reducer, SameBitsForAnyNumberOfThreads) {
    const Sparse a = random_sparse("long", std::vector<uint64_t>(3000, 5), 200, true);
    for (int threads : {1, 2, 5}) {
        use_threads(threads);
        ExpectLoop(a, 20, CSAW_F32, CSAW_F32);
    }
    use_threads(2);
}

TEST(Reducer, WithAPlan) {
    const Sparse a = power_law(true);
    const csaw_sparse view = a.view();
    csaw_spmm_plan *plan = nullptr;
    ASSERT_EQ(csaw_spmm_prepare(&view, nullptr, &plan), CSAW_OK);
    Dense x(random_matrix(a.cols, 9, 3), CSAW_F32), got(a.rows, 9, CSAW_F32);
    Dense want = Expected(a, &x, 9, CSAW_F32, 0, 1, reducers[1]);
    csaw_spmm_options options = OptionsOf(&alternate, 1);
    options.plan = plan;
    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, got.view()), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(got.raw(), want.raw());
    csaw_spmm_plan_free(plan);
}

// A build without CUDA makes no kernels; one with CUDA does, of files compiled with the program.
TEST(Reducer, KernelsForTheGpuAreAskedForThereAlone) {
    csaw_reducer bare = alternate, with = alternate;
    const csaw__device_reducer device = {};
    const csaw_spmm_options options = OptionsOf(&alternate, 1);
#ifdef CSAW_WITH_CUDA
    EXPECT_NE(alternate.device, nullptr);
#else
    EXPECT_EQ(alternate.device, nullptr);
#endif
    bare.device = nullptr;
    with.device = &device;
    EXPECT_EQ(csaw__reducer_check(&bare, &options, -1), CSAW_OK);
    EXPECT_EQ(csaw__reducer_check(&with, &options, 0), CSAW_OK);
    EXPECT_EQ(csaw__reducer_check(&bare, &options, 0), CSAW_EUNSUPPORTED);
    EXPECT_NE(std::string(csaw_last_error()).find("'alternate' has no kernels for the GPU"), std::string::npos)
        << csaw_last_error();
}

class CompiledReducer : public testing::Test { // a fresh folder, and a cache in it
  protected:
    void SetUp() override {
        char name[] = "/tmp/csaw-reducer-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder = name;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", (folder + "/cache").c_str(), 1), 0);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    std::string Refused(const std::string &text) const {
        const csaw_reducer *reducer = nullptr;
        const std::string path = folder + "/wrong.c";
        std::ofstream(path) << text;
        EXPECT_EQ(csaw_reducer_compile(path.c_str(), &reducer), CSAW_ECOMPILE);
        EXPECT_EQ(reducer, nullptr);
        return csaw_last_error();
    }
    std::string folder;
};

TEST_F(CompiledReducer, IsThatOfTheProgram) {
    const Sparse a = power_law(true);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.cols, 40, 3), CSAW_F16), want(a.rows, 40, CSAW_F32);
    csaw_spmm_options options = OptionsOf(&alternate, 1);
    ASSERT_EQ(csaw_spmm(&view, x.view(), &options, want.view()), CSAW_OK);
    for (int again = 0; again < 2; again++) { // the second from the cache
        Dense got(a.rows, 40, CSAW_F32);
        const csaw_reducer *reducer = nullptr;
        ASSERT_EQ(csaw_reducer_compile(CSAW_SOURCE_DIR "/tests/reducers/alternate.c", &reducer), CSAW_OK)
            << csaw_last_error();
        EXPECT_NE(reducer, &alternate);
        EXPECT_STREQ(reducer->name, "alternate");
        options.reducer = reducer;
        ASSERT_EQ(csaw_spmm(&view, x.view(), &options, got.view()), CSAW_OK);
        EXPECT_EQ(got.raw(), want.raw());
        csaw_reducer_unload(reducer);
    }
    csaw_reducer_unload(nullptr);
}

TEST_F(CompiledReducer, FilesThatAreNone) {
    EXPECT_NE(Refused("#include <csaw/reducer.h>\n").find("defines no reducer; end it with CSAW_REDUCER"),
              std::string::npos)
        << csaw_last_error();
    EXPECT_NE(Refused("#include <csaw/reducer.h>\nCSAW_REDUCER(a, b, c);\n").find("did not compile"),
              std::string::npos);
    EXPECT_NE(Refused("#include <csaw/reducer.h>\nfloat nowhere(float, float);\nCSAW_FN float z(void) { return 0; }\n"
                      "CSAW_REDUCER(a, z, nowhere);\n")
                  .find("only what csaw/reducer.h offers"),
              std::string::npos)
        << csaw_last_error();
    const csaw_reducer *reducer = nullptr;
    EXPECT_EQ(csaw_reducer_compile("/nothing/here.c", &reducer), CSAW_ECOMPILE);
    EXPECT_EQ(csaw_reducer_compile(nullptr, &reducer), CSAW_EINVAL);
}

TEST(Reducer, WhatIsRefused) {
    const Sparse a = power_law(true);
    const csaw_sparse view = a.view();
    Dense x(random_matrix(a.cols, 3, 3), CSAW_F32), y(a.rows, 3, CSAW_F32), dx(a.cols, 3, CSAW_F32);
    std::vector<csaw_edge> arg(a.rows * 3);
    const auto refused = [&](const csaw_spmm_options &options, const char *word) {
        EXPECT_EQ(csaw_spmm(&view, x.view(), &options, y.view()), CSAW_EINVAL);
        EXPECT_NE(std::string(csaw_last_error()).find(word), std::string::npos) << csaw_last_error();
    };
    csaw_spmm_options options = OptionsOf(&times_all, 1);
    options.exact = true;
    refused(options, "'times_all' stands in place of reduce");
    options = OptionsOf(&times_all, 1);
    options.reduce = CSAW_MEAN;
    refused(options, "leave reduce");
    options = OptionsOf(&times_all, 1);
    options.arg = arg.data();
    refused(options, "arg");
    csaw_reducer old = times_all;
    old.abi++;
    refused(OptionsOf(&old, 1), "compile it again");
    options = OptionsOf(&times_all, 1);
    EXPECT_EQ(csaw_spmm_backward(&view, nullptr, y.view(), &options, dx.view(), nullptr), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("no gradient"), std::string::npos);
}

} // namespace
