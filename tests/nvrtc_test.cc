/* SPDX-License-Identifier: MIT */
/* tests/nvrtc_test.cc - kernels compiled at run time; NVRTC needs no GPU, a build without CUDA skips. */
#include <csaw/csaw.h>
#include <csaw/samplers.h>

#include <gtest/gtest.h>

#ifdef CSAW_WITH_CUDA

#include "runtime/base/job.h"
#include "runtime/base/memory.h"
#include "runtime/engine/nvrtc.h"
#include "runtime/engine/nvrtc_library.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr int kHopper = 90;
#define KERNEL_NAME(NAME) #NAME,
const char *const kKernelName[CSAW__NUM_KERNELS] = {CSAW__DEVICE_KERNELS(KERNEL_NAME)};

class Nvrtc : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/csaw-nvrtc-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", (folder_ + "/cache").c_str(), 1), 0);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string Write(const std::string &name, const std::string &text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }

    size_t CachedKernels() const {
        size_t count = 0;
        for (const auto &entry : fs::directory_iterator(folder_ + "/cache"))
            count += entry.path().extension() == ".cubin";
        return count;
    }

    std::string folder_;
};

#define ASSERT_OK(CALL) ASSERT_EQ(CALL, CSAW_OK) << csaw_last_error()
#define EXPECT_SAYS(MESSAGE, PART) EXPECT_NE((MESSAGE).find(PART), std::string::npos) << (MESSAGE)

/* An ELF file with that kernel's code and no other's. */
void ExpectOnly(int kernel, const void *cubin, size_t size) {
    std::string bytes(static_cast<const char *>(cubin), size);
    EXPECT_EQ(bytes.substr(0, 4), "\x7f"
                                  "ELF");
    static const std::regex section("\\.text\\._Z[0-9]+(csaw__[a-z_]+)ILi0EE");
    std::set<std::string> names;
    for (std::sregex_iterator at(bytes.begin(), bytes.end(), section), end; at != end; ++at) names.insert((*at)[1]);
    EXPECT_EQ(names, std::set<std::string>{kKernelName[kernel]});
}

void ExpectCompiles(const std::string &name, int kernel) {
    const std::string path = CSAW_SOURCE_DIR "/" + name;
    char *text = nullptr, *cubin = nullptr;
    size_t size = 0;
    ASSERT_OK(csaw__read_file(path.c_str(), &text, &size));
    ASSERT_OK(csaw__nvrtc_compile(path.c_str(), text, csaw__sampler_ending(kernel), kHopper, &cubin, &size));
    ExpectOnly(kernel, cubin, size);
    csaw__free(cubin);
    csaw__free(text);
}

TEST_F(Nvrtc, ExamplesCompile) {
    ExpectCompiles("examples/my_node2vec.c", CSAW__KERNEL_REJECT);
    ExpectCompiles("examples/biased_by_degree.c", CSAW__KERNEL_ITS);
    ExpectCompiles("examples/ladies.c", CSAW__KERNEL_LAYER_CHOOSE);
}

TEST_F(Nvrtc, EveryKernelCompilesByItself) {
    for (int kernel = 0; kernel < CSAW__NUM_KERNELS; kernel++) ExpectCompiles("samplers/uniform.c", kernel);
}

TEST_F(Nvrtc, OnlyKernelsThatAreAskedForAreMade) {
    const csaw_sampler *sampler = nullptr;
    const void *uniform = nullptr, *its = nullptr, *again = nullptr;
    size_t size = 0, its_size = 0;
    ASSERT_OK(csaw_sampler_compile(CSAW_SOURCE_DIR "/samplers/uniform.c", &sampler));
    EXPECT_EQ(CachedKernels(), 0u);
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_UNIFORM, kHopper, &uniform, &size));
    ExpectOnly(CSAW__KERNEL_UNIFORM, uniform, size);
    EXPECT_EQ(CachedKernels(), 1u);
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &its, &its_size));
    ExpectOnly(CSAW__KERNEL_ITS, its, its_size);
    EXPECT_EQ(CachedKernels(), 2u);
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_UNIFORM, kHopper, &again, &size));
    EXPECT_EQ(again, uniform);
    EXPECT_EQ(CachedKernels(), 2u);
    csaw_sampler_unload(sampler);
}

TEST_F(Nvrtc, KernelsOfALoadedSamplerAreCached) {
    const csaw_sampler *sampler = nullptr;
    const void *first = nullptr, *again = nullptr;
    size_t size = 0, size_again = 0;
    Write("own.h", "#define FACTOR 2\n");
    std::string path = Write("a.c", "#include <csaw/sampler.h>\n#include \"own.h\"\n"
                                    "CSAW_FN float f(const csaw_site *s, const csaw_arc *a) { return FACTOR; }\n"
                                    "CSAW_SAMPLER(a, csaw_no_params, .static_bias = f);\n");
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &first, &size));
    ExpectOnly(CSAW__KERNEL_ITS, first, size);
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &again, &size_again));
    EXPECT_EQ(first, again);
    std::string kept(static_cast<const char *>(first), size);
    csaw_sampler_unload(sampler);

    /* what is in the cache is what is handed out: change it, and see the change */
    fs::path cubin;
    for (const auto &entry : fs::directory_iterator(folder_ + "/cache"))
        if (entry.path().extension() == ".cubin") cubin = entry.path();
    ASSERT_EQ(fs::file_size(cubin), size);
    std::ofstream(cubin) << "from the cache";
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &again, &size));
    EXPECT_EQ(std::string(static_cast<const char *>(again), size), "from the cache");
    csaw_sampler_unload(sampler);

    /* and a file that includes something else has another place in it */
    Write("own.h", "#define FACTOR 3\n");
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
    ASSERT_OK(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &again, &size));
    ExpectOnly(CSAW__KERNEL_ITS, again, size);
    csaw_sampler_unload(sampler);
}

/* Text that C accepts and CUDA C++ does not: a void * that is not cast. */
TEST_F(Nvrtc, ErrorsCarryTheFilesOwnLines) {
    std::string path = Write("bad.c", "#include <csaw/sampler.h>\n\n"
                                      "CSAW_PARAMS(bad_params, (float, p, 1, 1, \"\"));\n"
                                      "CSAW_FN float f(const csaw_site *s, const csaw_arc *a) {\n"
                                      "    const bad_params *n = csaw_params(s);\n"
                                      "    return n->p * a->weight;\n}\n"
                                      "CSAW_SAMPLER(bad, bad_params, .static_bias = f);\n");
    const csaw_sampler *sampler = nullptr;
    const void *cubin = nullptr;
    size_t size = 0;
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
    EXPECT_EQ(csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &cubin, &size), CSAW_ECOMPILE);
    EXPECT_EQ(cubin, nullptr);
    EXPECT_SAYS(std::string(csaw_last_error()), "bad.c(5): error");
    csaw_sampler_unload(sampler);
}

TEST_F(Nvrtc, OnlyForSamplersThatWereCompiledAtRunTime) {
    const void *cubin = nullptr;
    size_t size = 0;
    EXPECT_EQ(csaw__nvrtc_cubin(&csaw_uniform, CSAW__KERNEL_UNIFORM, kHopper, &cubin, &size), CSAW_EUNSUPPORTED);
}

TEST_F(Nvrtc, LibrariesThatAreNotHere) {
    const char *const none[] = {"/nowhere/libnvrtc.so", "libnvrtc.so.0", nullptr}, *const other[] = {"libm.so.6",
                                                                                                     nullptr};
    csaw__nvrtc nvrtc = {};
    EXPECT_EQ(csaw__nvrtc_load(none, &nvrtc), CSAW_ECUDA);
    const std::string message = csaw_last_error();
    for (const char *part : {"NVRTC", "not here", "install libnvrtc.so.0", "csaw_add_sampler", "'cpu'"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(csaw__nvrtc_load(other, &nvrtc), CSAW_ECUDA);
    EXPECT_NE(std::string(csaw_last_error()).find("no function nvrtcGetErrorString"), std::string::npos);
}

TEST_F(Nvrtc, AnArchitectureThatDoesNotExist) {
    char *cubin = nullptr;
    size_t size = 0;
    EXPECT_EQ(csaw__nvrtc_compile("a.c", "", csaw__sampler_ending(CSAW__KERNEL_UNIFORM), 1, &cubin, &size), CSAW_ECUDA);
    EXPECT_EQ(cubin, nullptr);
}

TEST_F(Nvrtc, EveryAllocationFailsInTurn) {
    const csaw_sampler *sampler = nullptr;
    const void *cubin = nullptr;
    size_t size = 0;
    uint64_t n = 0;
    csaw_status status = CSAW_ENOMEM;
    ASSERT_OK(csaw_sampler_compile(CSAW_SOURCE_DIR "/samplers/uniform.c", &sampler));
    while (status != CSAW_OK && n < 100) {
        csaw__fail_allocations_from(++n);
        status = csaw__nvrtc_cubin(sampler, CSAW__KERNEL_ITS, kHopper, &cubin, &size);
        csaw__fail_allocations_from(0);
        ASSERT_TRUE(status == CSAW_OK || status == CSAW_ENOMEM) << n << ": " << csaw_last_error();
    }
    ASSERT_EQ(status, CSAW_OK);
    EXPECT_GT(n, 3u);
    ExpectOnly(CSAW__KERNEL_ITS, cubin, size);
    csaw_sampler_unload(sampler);
}

} // namespace

#else

TEST(Nvrtc, IsPartOfTheBuild) { GTEST_SKIP() << "this build has no CUDA"; }

#endif
