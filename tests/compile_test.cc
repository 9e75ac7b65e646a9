/* SPDX-License-Identifier: MIT */
/* tests/compile_test.cc - samplers compiled at run time: what loads, what is cached, what is refused and how it is
 * said. */
#include <csaw/csaw.h>
#include <csaw/samplers.h>

#include "runtime/base/memory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

/* A fresh folder and a fresh cache for each test. */
class Compile : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/csaw-compile-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder_ = name;
        ASSERT_EQ(setenv("CSAW_CACHE_DIR", cache().c_str(), 1), 0);
        unsetenv("CC");
    }
    void TearDown() override {
        unsetenv("CC");
        fs::permissions(folder_, fs::perms::owner_all);
        fs::remove_all(folder_);
    }

    std::string cache() const { return folder_ + "/a cache/inside"; }

    std::string Write(const std::string &name, const std::string &text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }

    /* Names in the cache that end so. */
    std::vector<fs::path> Cached(const std::string &suffix) const {
        std::vector<fs::path> found;
        for (const auto &entry : fs::directory_iterator(cache()))
            if (entry.path().extension() == suffix) found.push_back(entry.path());
        return found;
    }

    /* Compiles what must fail; the message. */
    static std::string Failure(const std::string &path, csaw_status expected) {
        const csaw_sampler *sampler = nullptr;
        EXPECT_EQ(csaw_sampler_compile(path.c_str(), &sampler), expected) << csaw_last_error();
        EXPECT_EQ(sampler, nullptr);
        return csaw_last_error();
    }

    std::string folder_;
};

#define ASSERT_OK(CALL) ASSERT_EQ(CALL, CSAW_OK) << csaw_last_error()
#define EXPECT_SAYS(MESSAGE, PART) EXPECT_NE((MESSAGE).find(PART), std::string::npos) << (MESSAGE)

const char kMinimal[] = "#include <csaw/sampler.h>\nCSAW_SAMPLER(minimal, csaw_no_params, .flags = 0);\n";

TEST_F(Compile, AGoodFileWithItsParameters) {
    const csaw_sampler *sampler = nullptr;
    ASSERT_OK(csaw_sampler_compile(CSAW_SOURCE_DIR "/examples/my_node2vec.c", &sampler));
    EXPECT_STREQ(csaw_sampler_name(sampler), "my_node2vec");
    uint32_t count = 0;
    const csaw_param *params = csaw_sampler_params(sampler, &count);
    ASSERT_EQ(count, 2u);
    EXPECT_STREQ(params[0].name, "p");
    EXPECT_STREQ(params[1].name, "q");
    EXPECT_EQ(params[1].offset, sizeof(float));
    struct {
        float p, q;
    } values = {0, 0};
    ASSERT_EQ(csaw_sampler_params_size(sampler), sizeof values);
    csaw_sampler_defaults(sampler, &values);
    EXPECT_EQ(values.p, 1);
    ASSERT_OK(csaw_sampler_set(sampler, &values, "q", "0.5"));
    EXPECT_EQ(values.q, 0.5);
    EXPECT_EQ(csaw_sampler_set(sampler, &values, "p", "-1"), CSAW_EINVAL);
    csaw_sampler_unload(sampler);
}

/* The built-in node2vec and the same text compiled at run time are two samplers that give the same walks. */
TEST_F(Compile, WalksEqualThoseOfTheBuiltInSampler) {
    const csaw_sampler *sampler = nullptr;
    ASSERT_OK(csaw_sampler_compile(CSAW_SOURCE_DIR "/samplers/node2vec.c", &sampler));
    ASSERT_NE(sampler, &csaw_node2vec);
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat, rmat.scale = 8, rmat.weighted = true;
    csaw_graph *graph = nullptr;
    csaw_plan *plan = nullptr;
    ASSERT_OK(csaw_graph_rmat(&rmat, &graph));
    ASSERT_OK(csaw_plan_create(graph, nullptr, &plan));
    csaw_node2vec_params params = {0.25f, 4};
    csaw_run_options run = {};
    run.size = sizeof run, run.seed = 7, run.depth = 20;
    csaw_walks walks[2];
    csaw_samples *samples[2] = {nullptr, nullptr};
    const csaw_sampler *samplers[2] = {sampler, &csaw_node2vec};
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(csaw_sample(plan, samplers[i], &params, nullptr, &run, &samples[i]));
        ASSERT_OK(csaw_samples_walks(samples[i], CSAW_HOST, &walks[i]));
    }
    const uint64_t size = walks[0].num_walks * (walks[0].length + 1);
    ASSERT_GT(size, 1000u);
    EXPECT_TRUE(std::equal(walks[0].path, walks[0].path + size, walks[1].path));
    csaw_samples_free(samples[0]);
    csaw_samples_free(samples[1]);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    csaw_sampler_unload(sampler);
}

TEST_F(Compile, ErrorsCarryTheFilesOwnLines) {
    std::string path = Write("bad.c", "#include <csaw/sampler.h>\n\n"
                                      "CSAW_FN float hop(const csaw_site *site, const csaw_arc *arc) {\n"
                                      "    return arc->nowhere;\n}\n"
                                      "CSAW_SAMPLER(bad, csaw_no_params, .edge_bias = hop);\n");
    std::string message = Failure(path, CSAW_ECOMPILE);
    EXPECT_SAYS(message, path + ":4:");
    EXPECT_SAYS(message, "nowhere");
    EXPECT_SAYS(Failure(Write("include.c", "\n\n#include \"absent.h\"\n"), CSAW_ECOMPILE), "include.c:3:");
    EXPECT_TRUE(Cached(".so").empty());
}

TEST_F(Compile, AFileWithoutSampler) {
    EXPECT_SAYS(Failure(Write("none.c", "#include <csaw/sampler.h>\n"), CSAW_ECOMPILE), "CSAW_SAMPLER(");
}

TEST_F(Compile, ParametersBeyondTheLimit) {
    std::string text = "#include <csaw/sampler.h>\ntypedef struct large { double x[40]; } large;\n"
                       "static const csaw_param large_table[1] = {{0, CSAW_TYPE_FLOAT, 0, 0, 0, 0, 0}};\n"
                       "CSAW_SAMPLER(large_one, large, .flags = 0);\n";
    std::string message = Failure(Write("large.c", text), CSAW_ECOMPILE);
    EXPECT_SAYS(message, "320");
    EXPECT_SAYS(message, "256");
}

TEST_F(Compile, FilesThatAreNotThere) {
    EXPECT_SAYS(Failure(folder_ + "/absent.c", CSAW_EIO), "absent.c");
    EXPECT_SAYS(Failure(folder_, CSAW_EIO), "not a file");
    const csaw_sampler *sampler = nullptr;
    EXPECT_EQ(csaw_sampler_compile(nullptr, &sampler), CSAW_EINVAL);
    EXPECT_EQ(csaw_sampler_compile("x.c", nullptr), CSAW_EINVAL);
    csaw_sampler_unload(nullptr);
    csaw_sampler_unload(&csaw_node2vec); /* not a loaded one: nothing happens */
}

TEST_F(Compile, NamesNeedNoQuoting) {
    for (const char *name : {"with blank.c", "with\"quote.c", "$(touch x); `touch y`.c", "-dash.c", "line\nend.c"}) {
        const csaw_sampler *sampler = nullptr;
        ASSERT_OK(csaw_sampler_compile(Write(name, kMinimal).c_str(), &sampler));
        csaw_sampler_unload(sampler);
    }
    EXPECT_EQ(Cached(".so").size(), 1u); // one content, however the file is called
}

/* ---- the compiler ---- */

TEST_F(Compile, TheCompilerIsMissing) {
    setenv("CC", "/nonexistent/cc -m64", 1);
    std::string message = Failure(Write("a.c", kMinimal), CSAW_ECOMPILE);
    EXPECT_SAYS(message, "/nonexistent/cc");
    EXPECT_SAYS(message, "install");
    setenv("CC", "  ", 1);
    EXPECT_SAYS(Failure(Write("a.c", kMinimal), CSAW_EINVAL), "CC");
}

TEST_F(Compile, CompilerArgumentsTakePartInTheName) {
    std::string path = Write("a.c", kMinimal);
    for (const char *compiler : {"cc", "cc  -g0", "cc -g0"}) {
        setenv("CC", compiler, 1);
        const csaw_sampler *sampler = nullptr;
        ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
        csaw_sampler_unload(sampler);
    }
    EXPECT_EQ(Cached(".so").size(), 2u);
}

/* ---- the cache ---- */

TEST_F(Compile, TheSecondUseTakesWhatIsThere) {
    std::string path = Write("a.c", kMinimal);
    const csaw_sampler *first = nullptr, *second = nullptr;
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &first));
    ASSERT_EQ(Cached(".so").size(), 1u);
    struct stat before, after;
    ASSERT_EQ(stat(Cached(".so")[0].c_str(), &before), 0);
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &second));
    EXPECT_EQ(first, second); // the same library, loaded once
    ASSERT_EQ(Cached(".so").size(), 1u);
    ASSERT_EQ(stat(Cached(".so")[0].c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    csaw_sampler_unload(first);
    EXPECT_STREQ(csaw_sampler_name(second), "minimal"); // still loaded for the second
    csaw_sampler_unload(second);
}

TEST_F(Compile, AChangedHeaderOfTheFilesOwnIsSeen) {
    std::string path = Write("a.c", "#include <csaw/sampler.h>\n#include \"own.h\"\n"
                                    "CSAW_PARAMS(own, (float, p, USUAL, 1, \"\"));\n"
                                    "CSAW_SAMPLER(a, own, .flags = 0);\n");
    for (int usual : {3, 4}) {
        Write("own.h", "#define USUAL " + std::to_string(usual) + "\n");
        const csaw_sampler *sampler = nullptr;
        ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
        uint32_t count = 0;
        EXPECT_EQ(csaw_sampler_params(sampler, &count)->value, usual);
        csaw_sampler_unload(sampler);
    }
}

TEST_F(Compile, NothingIsLeftBesideTheResult) {
    const csaw_sampler *sampler = nullptr;
    ASSERT_OK(csaw_sampler_compile(Write("a.c", kMinimal).c_str(), &sampler));
    csaw_sampler_unload(sampler);
    Failure(Write("b.c", "#include <csaw/sampler.h>\nCSAW_SAMPLER(\n"), CSAW_ECOMPILE);
    size_t entries = 0;
    for (const auto &entry : fs::directory_iterator(cache())) {
        entries++;
        EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none)
            << entry.path();
    }
    EXPECT_EQ(entries, 2u); // the library and the folder of headers
}

TEST_F(Compile, ADirectoryThatOthersMayWriteIsRefused) {
    std::string path = Write("a.c", kMinimal);
    fs::create_directories(cache());
    ASSERT_EQ(chmod(cache().c_str(), 0775), 0);
    EXPECT_SAYS(Failure(path, CSAW_EIO), "chmod go-w");
    ASSERT_EQ(chmod(cache().c_str(), 0702), 0);
    EXPECT_SAYS(Failure(path, CSAW_EIO), "702");
    std::string link = folder_ + "/link"; // a link to such a directory is no better
    fs::create_directory_symlink(cache(), link);
    setenv("CSAW_CACHE_DIR", link.c_str(), 1);
    EXPECT_SAYS(Failure(path, CSAW_EIO), "702");
    setenv("CSAW_CACHE_DIR", path.c_str(), 1);
    EXPECT_SAYS(Failure(path, CSAW_EIO), "directory");
}

TEST_F(Compile, ADirectoryOfAnotherUserIsRefused) {
    std::string other = folder_ + "/other";
    fs::create_directory(other);
    if (chown(other.c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0)
        GTEST_SKIP() << "only root can make a directory of another user";
    setenv("CSAW_CACHE_DIR", other.c_str(), 1);
    EXPECT_SAYS(Failure(Write("a.c", kMinimal), CSAW_EIO), "belongs to user");
}

TEST_F(Compile, AFileThatOthersMayWriteIsRefused) {
    std::string path = Write("a.c", kMinimal);
    const csaw_sampler *sampler = nullptr;
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
    csaw_sampler_unload(sampler);
    ASSERT_EQ(chmod(Cached(".so").at(0).c_str(), 0722), 0);
    EXPECT_SAYS(Failure(path, CSAW_EIO), "remove it");
}

TEST_F(Compile, WhereTheCacheIs) {
    std::string path = Write("a.c", kMinimal);
    auto use = [&] {
        const csaw_sampler *sampler = nullptr;
        ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler));
        csaw_sampler_unload(sampler);
    };
    const char *old_home = getenv("HOME"), *old_caches = getenv("XDG_CACHE_HOME");
    std::string home = old_home ? old_home : "", caches = old_caches ? old_caches : "";
    unsetenv("CSAW_CACHE_DIR");
    setenv("HOME", (folder_ + "/home").c_str(), 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    use();
    EXPECT_TRUE(fs::is_directory(folder_ + "/home/.cache/csaw"));
    EXPECT_FALSE(fs::exists("relative"));
    setenv("XDG_CACHE_HOME", (folder_ + "/xdg").c_str(), 1);
    use();
    EXPECT_TRUE(fs::is_directory(folder_ + "/xdg/csaw"));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    EXPECT_SAYS(Failure(path, CSAW_EIO), "CSAW_CACHE_DIR");
    if (old_home) setenv("HOME", home.c_str(), 1);
    if (old_caches) setenv("XDG_CACHE_HOME", caches.c_str(), 1);
}

TEST_F(Compile, ThreadsMayCompileTheSameFileAtOnce) {
    std::string path = Write("a.c", kMinimal);
    csaw_status status[4];
    const csaw_sampler *sampler[4] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] { status[i] = csaw_sampler_compile(path.c_str(), &sampler[i]); });
    for (auto &thread : threads) thread.join();
    for (int i = 0; i < 4; i++) {
        ASSERT_EQ(status[i], CSAW_OK);
        EXPECT_STREQ(csaw_sampler_name(sampler[i]), "minimal");
        csaw_sampler_unload(sampler[i]);
    }
    EXPECT_EQ(Cached(".so").size(), 1u);
}

TEST_F(Compile, EveryAllocationFailsInTurn) {
    std::string path = Write("a.c", kMinimal);
    const csaw_sampler *sampler = nullptr;
    ASSERT_OK(csaw_sampler_compile(path.c_str(), &sampler)); // from now on the library is cached
    csaw_sampler_unload(sampler);
    csaw_status status = CSAW_ENOMEM;
    uint64_t n = 0;
    while (status != CSAW_OK && n < 200) {
        sampler = nullptr;
        csaw__fail_allocations_from(++n);
        status = csaw_sampler_compile(path.c_str(), &sampler);
        csaw__fail_allocations_from(0);
        if (status != CSAW_OK) {
            ASSERT_EQ(status, CSAW_ENOMEM) << n << ": " << csaw_last_error();
            ASSERT_EQ(sampler, nullptr);
        }
    }
    EXPECT_EQ(status, CSAW_OK);
    EXPECT_GT(n, 10u);
    csaw_sampler_unload(sampler);
    EXPECT_EQ(Cached(".so").size(), 1u);
}

} // namespace
