/* SPDX-License-Identifier: MIT */
/* tests/nvrtc_reducer_test.cc - kernels of reducers compiled at run time; NVRTC needs no GPU, a build without CUDA
 * skips.
 */
#include <csaw/spmm.h>

#include <gtest/gtest.h>

#ifdef CSAW_WITH_CUDA

#include "runtime/base/memory.h"
#include "runtime/engine/nvrtc.h"
#include "spmm/device_reducer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr int kHopper = 90;

struct Shape { // of a kernel, as its name has it
    int storage, lanes, vector;
};
#define SHAPE(STORAGE, LANES, VECTOR) {CSAW_##STORAGE, LANES, VECTOR},
const Shape kShape[] = {CSAW__REDUCER_KERNELS(SHAPE)};

class NvrtcReducer : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/csaw-nvrtc-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", (folder_ + "/cache").c_str(), 1), 0);
    }
    void TearDown() override {
        csaw__source_free(&source_);
        fs::remove_all(folder_);
    }
    csaw_status Read(const std::string &path) { return csaw__source_read(path.c_str(), &source_); }
    std::string Write(const std::string &name, const std::string &text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    csaw_status Make(int kernel) {
        return csaw__nvrtc_make(&source_, csaw__reducer_ending(kernel), kHopper, &cubin_, &size_);
    }
    // The names of what code there is.
    std::set<std::string> Kernels() const {
        static const std::regex section("\\.text\\.(_Z[0-9]+[A-Za-z0-9_]+)");
        const std::string bytes(static_cast<const char *>(cubin_), size_);
        std::set<std::string> names;
        for (std::sregex_iterator at(bytes.begin(), bytes.end(), section), end; at != end; ++at) names.insert((*at)[1]);
        return names;
    }
    void ExpectOnly(int kernel) const {
        const Shape &shape = kShape[kernel];
        const std::set<std::string> names = Kernels();
        ASSERT_EQ(names.size(), 1u);
        EXPECT_NE(names.begin()->find("csaw__reduce_byI23csaw__reducer_functionsL10csaw_dtype" +
                                      std::to_string(shape.storage) + "ELi" + std::to_string(shape.lanes) + "ELi" +
                                      std::to_string(shape.vector) + "EE"),
                  std::string::npos)
            << *names.begin();
    }
    std::string folder_;
    csaw__source source_ = {};
    const void *cubin_ = nullptr;
    size_t size_ = 0;
};

#define ASSERT_OK(CALL) ASSERT_EQ(CALL, CSAW_OK) << csaw_last_error()

TEST_F(NvrtcReducer, EveryKernelCompilesByItself) {
    ASSERT_OK(Read(CSAW_SOURCE_DIR "/tests/reducers/alternate.c"));
    for (int kernel = 0; kernel < CSAW__NUM_REDUCER_KERNELS; kernel++) {
        ASSERT_OK(Make(kernel));
        ExpectOnly(kernel);
    }
}

TEST_F(NvrtcReducer, FilesThatCallMathCompile) {
    ASSERT_OK(Read(CSAW_SOURCE_DIR "/tests/reducers/log_sum_exp.c"));
    ASSERT_OK(Make(0));
    ExpectOnly(0);
}

TEST_F(NvrtcReducer, WhatWasMadeIsKeptAndCached) {
    const std::string path = CSAW_SOURCE_DIR "/tests/reducers/times_all.c";
    ASSERT_OK(Read(path));
    ASSERT_OK(Make(2));
    const void *const first = cubin_;
    const size_t size = size_;
    ASSERT_OK(Make(2));
    EXPECT_EQ(cubin_, first);
    csaw__source_free(&source_);

    // what is in the cache is what is handed out: change it, and see the change
    fs::path cubin;
    for (const auto &entry : fs::directory_iterator(folder_ + "/cache"))
        if (entry.path().extension() == ".cubin") cubin = entry.path();
    ASSERT_EQ(fs::file_size(cubin), size);
    std::ofstream(cubin) << "from the cache";
    source_ = {};
    ASSERT_OK(Read(path));
    ASSERT_OK(Make(2));
    EXPECT_EQ(std::string(static_cast<const char *>(cubin_), size_), "from the cache");
}

// Functions that are not CSAW_FN are the host's alone: C does not mind, CUDA C++ does.
TEST_F(NvrtcReducer, ErrorsCarryTheFilesOwnLines) {
    ASSERT_OK(Read(Write("host.c", "#include <csaw/reducer.h>\n\n"
                                   "CSAW_FN float one(void) { return 1; }\n"
                                   "static float half(float x) { return x / 2; }\n"
                                   "CSAW_FN float add(float so_far, float product) {\n"
                                   "    return so_far + half(product);\n}\n"
                                   "CSAW_REDUCER(halves, one, add);\n")));
    EXPECT_EQ(Make(0), CSAW_ECOMPILE);
    EXPECT_NE(std::string(csaw_last_error()).find("host.c(4): error"), std::string::npos) << csaw_last_error();
}

TEST_F(NvrtcReducer, AFunctionThatIsNotThere) {
    ASSERT_OK(Read(Write("none.c", "#include <csaw/reducer.h>\n"
                                   "CSAW_FN float one(void) { return 1; }\n"
                                   "CSAW_REDUCER(none, one, absent);\n")));
    EXPECT_EQ(Make(0), CSAW_ECOMPILE);
    EXPECT_NE(std::string(csaw_last_error()).find("\"absent\" is undefined"), std::string::npos) << csaw_last_error();
}

} // namespace

#else

TEST(NvrtcReducer, IsPartOfTheBuild) { GTEST_SKIP() << "this build has no CUDA"; }

#endif
