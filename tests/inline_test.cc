/* SPDX-License-Identifier: MIT */
/* tests/inline_test.cc - a sampler's hooks become part of the engine's loops: in the machine code of a sampler compiled
 * at run time no hook is left as a function of its own, and the walk's loop calls nothing through a pointer. On the GPU
 * the kernels call nothing at all in PTX, for samplers with every kind of hook between them, and in machine code (SASS)
 * nothing but CUDA's own division. The same tests see the calls of a sampler whose hook may not be inlined. Needs
 * objdump and readelf, and for SASS nvdisasm, of the CUDA Toolkit or of pip's nvidia-cuda-nvdisasm; skipped without.
 * (cuobjdump does not name what is called.) */
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
#include "runtime/base/job.h"
#include "runtime/engine/nvrtc.h"
#include <nvrtc.h>
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
/* Writes the code of one kernel to a file, and names its functions: one that is called, directly or through a pointer,
 * has a symbol of its own. */
std::set<std::string> DeviceFunctions(const csaw_sampler *sampler, int kernel, const std::string &path) {
    const void *cubin = nullptr;
    size_t size = 0;
    EXPECT_EQ(csaw__nvrtc_cubin(sampler, kernel, 90, &cubin, &size), CSAW_OK) << csaw_last_error();
    std::ofstream(path, std::ios::binary).write(static_cast<const char *>(cubin), static_cast<std::streamsize>(size));
    return Functions(path);
}

TEST_F(Inline, DeviceCodeOfAnExample) {
    Library(CSAW_SOURCE_DIR "/examples/my_node2vec.c");
    std::set<std::string> functions = DeviceFunctions(sampler_, CSAW__KERNEL_REJECT, folder_ + "/cubin");
    EXPECT_TRUE(Holds(functions, "csaw__kernel_reject"));
    EXPECT_FALSE(Holds(functions, "hop"));
}

TEST_F(Inline, DeviceCodeOfAHookThatMayNotBeInlined) {
    Library(folder_ + "/apart.c");
    EXPECT_TRUE(Holds(DeviceFunctions(sampler_, CSAW__KERNEL_ITS, folder_ + "/cubin"), "hop"));
}

// ---- what the kernels call -----------------------------------------------------

struct Calls {
    std::set<std::string> targets; // a register where it is a pointer
    int kernels = 0;
};

/* "call.uni (retval0), NAME, (param0);" on one line or several; without what is returned in parentheses. */
Calls CallsInPtx(const std::string &text) {
    Calls calls;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        const size_t word = text.find_first_not_of(" \t{", at);
        calls.kernels += text.substr(at, end - at).find(".entry ") != std::string::npos;
        if (word >= end || text.compare(word, 4, "call") != 0) continue;
        size_t name = text.find_first_of(" \t", word);
        name = text.find_first_not_of(" \t\n", name);
        if (text[name] == '(') name = text.find_first_not_of(" \t\n,", text.find(')', name) + 1);
        calls.targets.insert(text.substr(name, text.find_first_of(" \t\n,;", name) - name));
    }
    return calls;
}

/* As csaw__nvrtc_compile() compiles it, but all kernels at once: "compute_90": to PTX; "sm_90": to a cubin. */
std::string CodeOf(const std::string &path, const std::string &architecture) {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string source =
        text + "\n#include \"runtime/engine/device_kernels.cuh\"\nCSAW__DEVICE_KERNELS(CSAW__INSTANTIATE)\n";
    const bool ptx = architecture[0] == 'c';
    const std::string of = "--gpu-architecture=" + architecture;
    const char *const options[] = {of.c_str(),
                                   "--std=c++20",
                                   "--fmad=false",
                                   "--include-path=" CSAW_SOURCE_DIR "/include",
                                   "--include-path=" CSAW_SOURCE_DIR,
                                   "--split-compile=0"}; // all cores; it changes what PTX names, so not there
    const int count = sizeof options / sizeof *options - ptx;
    nvrtcProgram program = nullptr;
    size_t size = 0;
    EXPECT_EQ(nvrtcCreateProgram(&program, source.c_str(), path.c_str(), 0, nullptr, nullptr), NVRTC_SUCCESS);
    EXPECT_EQ(nvrtcCompileProgram(program, count, options), NVRTC_SUCCESS) << path;
    EXPECT_EQ(ptx ? nvrtcGetPTXSize(program, &size) : nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    std::string code(size, ' ');
    EXPECT_EQ(ptx ? nvrtcGetPTX(program, code.data()) : nvrtcGetCUBIN(program, code.data()), NVRTC_SUCCESS);
    nvrtcDestroyProgram(&program);
    return code;
}

std::string PtxOf(const std::string &path) { return CodeOf(path, "compute_90"); }

class InlineInPtx : public Inline, public testing::WithParamInterface<const char *> {};

TEST_P(InlineInPtx, KernelsCallNothing) {
    const Calls calls = CallsInPtx(PtxOf(std::string(CSAW_SOURCE_DIR "/") + GetParam()));
    EXPECT_EQ(calls.kernels, CSAW__NUM_KERNELS);
    EXPECT_EQ(calls.targets, std::set<std::string>());
}

/* edge_bias and bounds; update; fanout and csaw_visited(); dead_end; an instance's own bytes; numbers of an arc. */
INSTANTIATE_TEST_SUITE_P(EveryHook, InlineInPtx,
                         testing::Values("samplers/node2vec.c", "samplers/metropolis_hastings.c",
                                         "samplers/forest_fire.c", "samplers/jump.c", "samplers/temporal.c",
                                         "tests/samplers/by_degree.c"),
                         [](const auto &info) { return fs::path(info.param).stem().string(); });

TEST_F(Inline, PtxShowsCallsOfAHookThatMayNotBeInlined) {
    const Calls calls = CallsInPtx(PtxOf(folder_ + "/apart.c"));
    ASSERT_EQ(calls.targets.size(), 1u);
    EXPECT_NE(calls.targets.begin()->find("3hop"), std::string::npos) << *calls.targets.begin(); // _Z..3hop..
}

TEST_F(Inline, PtxShowsCallsThroughAPointer) {
    std::ofstream(folder_ + "/pointer.c")
        << "#include <csaw/sampler.h>\n"
           "static __device__ __noinline__ float one(uint32_t x) { return x; }\n"
           "static __device__ __noinline__ float two(uint32_t x) { return 2 * x; }\n"
           "__device__ float (*volatile const which[2])(uint32_t) = {one, two};\n"
           "CSAW_FN float hop(const csaw_site *s, const csaw_arc *a) { return which[a->rank & 1](a->dst); }\n"
           "CSAW_SAMPLER(pointer, csaw_no_params, .edge_bias = hop);\n";
    const Calls calls = CallsInPtx(PtxOf(folder_ + "/pointer.c"));
    ASSERT_FALSE(calls.targets.empty());
    for (const std::string &target : calls.targets) EXPECT_EQ(target[0], '%') << target;
}

/* "CALL.REL.NOINC `($kernel$function) ;", targets by the function's name; CUDA's own arithmetic is left out. */
Calls CallsInSass(const std::string &cubin) {
    Calls calls;
    std::istringstream lines(Output("nvdisasm -c '" + cubin + "'"));
    for (std::string line; std::getline(lines, line);) {
        calls.kernels += line.find(".text._Z") != std::string::npos && line.find(".section") != std::string::npos;
        const size_t call = line.find(" CALL.");
        if (call == std::string::npos) continue;
        const std::string target = line.substr(call + 1, line.find(';', call) - call - 1);
        if (target.find("$__cuda_sm") == std::string::npos) calls.targets.insert(target);
    }
    return calls;
}

const char kNoDisassembler[] = "nvdisasm (CUDA Toolkit, or pip install nvidia-cuda-nvdisasm) is not here";

TEST_F(Inline, KernelsCallNothingButDivisionInSass) {
    if (Output("command -v nvdisasm").empty()) GTEST_SKIP() << kNoDisassembler;
    std::ofstream(folder_ + "/cubin", std::ios::binary) << CodeOf(CSAW_SOURCE_DIR "/examples/my_node2vec.c", "sm_90");
    const Calls calls = CallsInSass(folder_ + "/cubin");
    EXPECT_EQ(calls.kernels, CSAW__NUM_KERNELS);
    EXPECT_EQ(calls.targets, std::set<std::string>());
}

TEST_F(Inline, SassShowsCallsOfAHookThatMayNotBeInlined) {
    if (Output("command -v nvdisasm").empty()) GTEST_SKIP() << kNoDisassembler;
    Library(folder_ + "/apart.c");
    DeviceFunctions(sampler_, CSAW__KERNEL_ITS, folder_ + "/cubin");
    EXPECT_TRUE(Holds(CallsInSass(folder_ + "/cubin").targets, "3hop"));
}
#endif

} // namespace
