/* SPDX-License-Identifier: MIT */
/* tests/inline_test.cc - a sampler's hooks become part of the engine's loops: in the machine code of a sampler compiled
 * at run time no hook is left as a function of its own, and the walk's loop calls nothing through a pointer. The same
 * test sees the calls of a sampler whose hook may not be inlined. Needs objdump and readelf; skipped without. */
#include <csaw/csaw.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#ifdef CSAW_WITH_CUDA
#include "runtime/engine/nvrtc.h"
#endif

namespace {

namespace fs = std::filesystem;

const char kNotInlined[] =
    "#include <csaw/sampler.h>\n"
    "#ifdef __CUDACC__\n"
    "static __device__ __noinline__\n"
    "#else\n"
    "static __attribute__((noinline, noclone))\n"
    "#endif\n"
    "float hop(const csaw_site *site, const csaw_arc *arc) { return csaw_prev(site) == arc->dst ? 2 : 1; }\n"
    "CSAW_SAMPLER(apart, csaw_no_params, .edge_bias = hop, .flags = CSAW_SECOND_ORDER);\n";

std::string Output(const std::string &command) {
    std::string text;
    char line[4096];
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) return text;
    while (fgets(line, sizeof line, pipe)) text += line;
    pclose(pipe);
    return text;
}

class Inline : public testing::Test {
  protected:
    void SetUp() override {
        if (Output("command -v objdump").empty() || Output("command -v readelf").empty())
            GTEST_SKIP() << "objdump and readelf (binutils) are not here";
        char name[] = "/tmp/csaw-inline-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", (folder_ + "/cache").c_str(), 1), 0);
        std::ofstream(folder_ + "/apart.c") << kNotInlined;
    }
    void TearDown() override {
        csaw_sampler_unload(sampler_);
        if (!folder_.empty()) fs::remove_all(folder_);
    }

    /* Compiles a file for the CPU; the library's name. */
    std::string Library(const std::string &path) {
        EXPECT_EQ(csaw_sampler_compile(path.c_str(), &sampler_), CSAW_OK) << csaw_last_error();
        for (const auto &entry : fs::directory_iterator(folder_ + "/cache"))
            if (entry.path().extension() == ".so") return entry.path();
        return "";
    }

    std::string folder_;
    const csaw_sampler *sampler_ = nullptr;
};

/* Names of the functions in an ELF file, whatever machine it is for. */
std::set<std::string> Functions(const std::string &path) {
    std::set<std::string> names;
    std::istringstream lines(Output("readelf --wide --symbols '" + path + "'"));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, value, size, type, word, name;
        words >> number >> value >> size >> type;
        while (words >> word) name = word; // the last word, after binding, visibility, section and sometimes flags
        if (type == "FUNC") names.insert(name);
    }
    return names;
}

bool Holds(const std::set<std::string> &names, const std::string &part) {
    for (const std::string &name : names)
        if (name.find(part) != std::string::npos) return true;
    return false;
}

TEST_F(Inline, HostCodeOfAnExample) {
    std::set<std::string> functions = Functions(Library(CSAW_SOURCE_DIR "/examples/my_node2vec.c"));
    EXPECT_TRUE(Holds(functions, "csaw__walk"));
    EXPECT_FALSE(Holds(functions, "hop"));
}

TEST_F(Inline, HostCodeOfAHookThatMayNotBeInlined) {
    EXPECT_TRUE(Holds(Functions(Library(folder_ + "/apart.c")), "hop"));
}

#if defined(__x86_64__)
/* `call *%rax`, `call *8(%rbx)`; calls into the library's own table of imports name their function instead. */
TEST_F(Inline, TheWalkCallsNothingThroughAPointer) {
    std::istringstream lines(
        Output("objdump -d --no-show-raw-insn '" + Library(CSAW_SOURCE_DIR "/examples/my_node2vec.c") + "'"));
    std::string line;
    bool in_walk = false;
    int instructions = 0;
    while (std::getline(lines, line)) {
        if (!line.empty() && line.back() == ':') in_walk = line.find("<csaw__walk") != std::string::npos;
        if (!in_walk) continue;
        instructions++;
        EXPECT_TRUE(line.find("call") == std::string::npos || line.find('*') == std::string::npos) << line;
    }
    EXPECT_GT(instructions, 100);
}
#endif

#ifdef CSAW_WITH_CUDA
/* A function that is called, directly or through a pointer, has a symbol of its own in device code. */
std::set<std::string> DeviceFunctions(const csaw_sampler *sampler, const std::string &path) {
    const void *cubin = nullptr;
    size_t size = 0;
    EXPECT_EQ(csaw__nvrtc_cubin(sampler, 90, &cubin, &size), CSAW_OK) << csaw_last_error();
    std::ofstream(path, std::ios::binary).write(static_cast<const char *>(cubin), static_cast<std::streamsize>(size));
    return Functions(path);
}

TEST_F(Inline, DeviceCodeOfAnExample) {
    Library(CSAW_SOURCE_DIR "/examples/my_node2vec.c");
    std::set<std::string> functions = DeviceFunctions(sampler_, folder_ + "/cubin");
    EXPECT_TRUE(Holds(functions, "csaw__kernel_reject"));
    EXPECT_FALSE(Holds(functions, "hop"));
}

TEST_F(Inline, DeviceCodeOfAHookThatMayNotBeInlined) {
    Library(folder_ + "/apart.c");
    EXPECT_TRUE(Holds(DeviceFunctions(sampler_, folder_ + "/cubin"), "hop"));
}
#endif

} // namespace
