/* SPDX-License-Identifier: MIT */
/* tests/nvrtc_gpu_test.cc - a sampler compiled at run time makes, on a GPU, the kernels that a run launches and no
 * others: counted in a cache of the test's own. That the bits are those of the CPU engine, too. */
#include "tests/fault_cases.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

using namespace fault_cases;

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

class NvrtcGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_GPU();
        char name[] = "/tmp/csaw-nvrtc-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
        if (const char *before = std::getenv("CSAW_CACHE_DIR")) before_ = before;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", name, 1), 0);
        each_ = walks()[0];
        ASSERT_EQ(csaw_sampler_compile(CSAW_SOURCE_DIR "/samplers/uniform.c", &each_.sampler), CSAW_OK)
            << csaw_last_error();
    }
    void TearDown() override {
        if (folder_.empty()) return;
        csaw_sampler_unload(each_.sampler);
        fs::remove_all(folder_);
        if (before_.empty())
            unsetenv("CSAW_CACHE_DIR");
        else
            setenv("CSAW_CACHE_DIR", before_.c_str(), 1);
    }

    /* Of each file of the cache the kernel in it; its code has a section named for it. */
    Names Kernels() const {
        static const std::regex section("\\.text\\._Z[0-9]+(csaw__[a-z_]+)ILi0EE");
        Names names;
        for (const auto &entry : fs::directory_iterator(folder_)) {
            if (entry.path().extension() != ".cubin") continue;
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
            std::smatch found;
            EXPECT_TRUE(std::regex_search(bytes, found, section)) << entry.path();
            if (!found.empty()) names.insert(found[1]);
        }
        return names;
    }

    void ExpectEqual(csaw_plan *cpu, csaw_plan *gpu, Method method, const Ask &ask) const {
        const Outcome expected = draw(cpu, each_, method, ask), drawn = draw(gpu, each_, method, ask);
        ASSERT_EQ(CSAW_OK, expected.status) << expected.message;
        ASSERT_EQ(CSAW_OK, drawn.status) << drawn.message;
        EXPECT_TRUE(equal_bits(expected.samples.get(), drawn.samples.get(), each_.walk));
    }

    std::string folder_, before_;
    Case each_;
};

TEST_F(NvrtcGpu, ARunMakesTheKernelsThatItLaunches) {
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const auto cpu = plans.on("cpu"), gpu = plans.on("cuda:0"), other = plans.on("cuda:0");
    const Ask steps = ask_of(each_, {{0}, {1}, {55}}, 5, {});
    EXPECT_EQ(Kernels(), Names());
    for (csaw_plan *plan : {gpu.get(), gpu.get(), other.get()}) { // another plan takes what is there
        ExpectEqual(cpu.get(), plan, Method::uniform, steps);
        EXPECT_EQ(Kernels(), Names({"csaw__kernel_uniform"}));
    }
    ExpectEqual(cpu.get(), gpu.get(), Method::race, steps);
    EXPECT_EQ(Kernels(), Names({"csaw__kernel_uniform", "csaw__kernel_race"}));
    ExpectEqual(cpu.get(), gpu.get(), Method::uniform, steps); // the first one is there as before
    each_.walk = false;
    ExpectEqual(cpu.get(), gpu.get(), Method::uniform, ask_of(each_, {{0}, {7, 9}}, 0, {2, 2}));
    EXPECT_EQ(Kernels(),
              Names({"csaw__kernel_uniform", "csaw__kernel_race", "csaw__last_uniform", "csaw__tiles_uniform"}));
}

} // namespace
