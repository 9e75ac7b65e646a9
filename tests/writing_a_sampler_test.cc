/* SPDX-License-Identifier: MIT */
/* tests/writing_a_sampler_test.cc - docs/writing-a-sampler.md: every block of C on it compiles as it stands, every
 * sampler has the law that its first line says, its commands run, and so does its program. For each sampler one change
 * to its text makes it wrong, and the same test rejects it. */
#include "tests/sample_cases.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace sample_cases;

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path &path) {
    std::ifstream in(path);
    EXPECT_TRUE(in.good()) << path;
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
}

// Texts between ```LANGUAGE and ```, in the page's order.
std::vector<std::string> blocks_of(const std::string &language) {
    const std::string page = read(CSAW_SOURCE_DIR "/docs/writing-a-sampler.md"), begin = "```" + language + "\n";
    std::vector<std::string> out;
    for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
        at += begin.size();
        const size_t end = page.find("```", at);
        out.push_back(page.substr(at, end - at));
        at = end + 3;
    }
    return out;
}

// A block begins with "/* NAME.c - ...".
std::string name_of(const std::string &block) {
    EXPECT_EQ(block.substr(0, 3), "/* ") << block;
    return block.substr(3, block.find(".c - ") - 3);
}

std::string block_called(const std::string &name) {
    for (const std::string &block : blocks_of("c"))
        if (name_of(block) == name) return block;
    throw std::runtime_error("no block is called " + name);
}

class Page : public ::testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/csaw-page-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder = name;
    }
    void TearDown() override {
        for (const csaw_sampler *sampler : compiled) csaw_sampler_unload(sampler);
        fs::remove_all(folder);
    }

    // The block called so; if `from` is given, with that part of it replaced.
    const csaw_sampler *compile(const std::string &name, const std::string &from = "", const std::string &to = "") {
        std::string text = block_called(name);
        if (!from.empty()) {
            const size_t at = text.find(from);
            if (at == std::string::npos) throw std::runtime_error(name + " holds no " + from);
            text.replace(at, from.size(), to);
        }
        const std::string path = folder / (name + ".c");
        std::ofstream(path) << text;
        const csaw_sampler *sampler = nullptr;
        reference::require(csaw_sampler_compile(path.c_str(), &sampler));
        compiled.push_back(sampler);
        return sampler;
    }

    int run(const std::string &command) const {
        const int status = std::system(("cd " + folder.string() + " && (" + command + ") >log 2>&1").c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    fs::path folder;
    std::vector<const csaw_sampler *> compiled;
};

// ---- walks: every step, given the arc before ----------------------------------------

// P of an arc is (1 - stop) * bias / sum; the walk ends with probability stop, or where every bias is 0.
struct StepLaw {
    std::function<long double(const csaw_csr &, csaw_edge before, csaw_edge)> bias; // before: CSAW_NO_EDGE at first
    long double stop = 0;
};

double z_of(const Graph &graph, const StepLaw &law, const csaw_sampler *sampler, const std::vector<char> &params) {
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 0, 0));
    const law::Request request = law::request_on(graph, 60000, 23);
    const law::Walks walks =
        library.walks(sampler, params.empty() ? nullptr : params.data(), Method::automatic, request);
    std::map<std::pair<csaw_edge, csaw_vertex>, std::vector<uint64_t>> rows; // arcs of the row, then the end
    for (uint64_t w = 0; w < walks.count; w++) {
        csaw_edge before = CSAW_NO_EDGE;
        csaw_vertex at = walks.path[w * (walks.length + uint64_t{1})];
        for (uint32_t s = 0; s < walks.length && at != CSAW_NONE; s++) {
            const csaw_edge e = walks.edge[w * walks.length + s];
            std::vector<uint64_t> &row = rows[{before, at}];
            row.resize(degree_of(csr, at) + 1);
            row[e == CSAW_NO_EDGE ? degree_of(csr, at) : e - csr.rowptr[at]]++;
            before = e;
            at = walks.path[w * (walks.length + uint64_t{1}) + s + 1];
        }
    }
    ChiSquare fit;
    for (const auto &[context, seen] : rows) {
        std::vector<long double> p;
        long double sum = 0;
        for (size_t i = 0; i + 1 < seen.size(); i++) {
            p.push_back(law.bias(csr, context.first, csr.rowptr[context.second] + i));
            sum += p.back();
        }
        for (long double &each : p) each *= sum > 0 ? (1 - law.stop) / sum : 0;
        p.push_back(sum > 0 ? law.stop : 1);
        fit.add(seen, p);
    }
    EXPECT_GT(fit.freedom(), 50);
    return fit.z();
}

long double degree_of_dst(const csaw_csr &csr, csaw_edge, csaw_edge e) {
    return static_cast<long double>(degree_of(csr, csr.col[e]));
}

TEST_F(Page, ByDegreeHasTheLaw) {
    for (const char *name : {"karate", "directed", "multi"}) {
        const Graph graph = reference::small_graph(name);
        EXPECT_LT(std::fabs(z_of(graph, {degree_of_dst}, compile("by_degree"), {})), law::threshold) << name;
    }
    const csaw_sampler *wrong = compile("by_degree", "csaw_degree(site, arc->dst)", "csaw_degree(site, arc->src)");
    EXPECT_GT(z_of(reference::small_graph("karate"), {degree_of_dst}, wrong, {}), law::wrong);
}

TEST_F(Page, NoReturnHasTheLaw) {
    const auto law_with = [](long double back) {
        return StepLaw{[=](const csaw_csr &csr, csaw_edge before, csaw_edge e) {
            return before != CSAW_NO_EDGE && csr.col[e] == src_of(csr, before) ? back : 1.0L;
        }};
    };
    const csaw_sampler *right = compile("no_return");
    for (const char *name : {"karate", "directed", "multi"}) {
        const Graph graph = reference::small_graph(name);
        for (float back : {0.0f, .3f, 1.0f})
            EXPECT_LT(std::fabs(z_of(graph, law_with(back), right, bytes_of(back))), law::threshold) << name << back;
        EXPECT_LT(std::fabs(z_of(graph, law_with(.1f), right, {})), law::threshold) << name << ", by default";
    }
    const csaw_sampler *wrong =
        compile("no_return", ".edge_bias = onward, .bounds = onward_bounds, .flags = CSAW_SECOND_ORDER", ".flags = 0");
    EXPECT_GT(z_of(reference::small_graph("karate"), law_with(.3f), wrong, bytes_of(.3f)), law::wrong);
}

TEST_F(Page, RecentHasTheLaw) {
    const auto law_with = [](long double scale, long double stop) {
        return StepLaw{[=](const csaw_csr &csr, csaw_edge before, csaw_edge e) {
                           if (before == CSAW_NO_EDGE) return 1.0L;
                           if (csr.time[e] < csr.time[before]) return 0.0L;
                           return std::exp(static_cast<long double>(csr.time[before] - csr.time[e]) / scale);
                       },
                       stop};
    };
    struct {
        float scale, stop;
    } params = {3, .2f};
    const Graph events = reference::event_graph(false);
    EXPECT_LT(std::fabs(z_of(events, law_with(3, .2f), compile("recent"), bytes_of(params))), law::threshold);
    EXPECT_LT(std::fabs(z_of(events, law_with(10, .05f), compile("recent"), {})), law::threshold);
    const csaw_sampler *forgetful = compile("recent", "= arc->time;", "= 0;"); // measures from time 0
    EXPECT_GT(z_of(events, law_with(3, .2f), forgetful, bytes_of(params)), law::wrong);
    const csaw_sampler *endless = compile("recent", "< n->stop", "< 0");
    EXPECT_GT(z_of(events, law_with(3, .2f), endless, bytes_of(params)), law::wrong);
}

// ---- samples --------------------------------------------------------------------------

double z_of_samples(const Graph &graph, const Law &law, const csaw_sampler *sampler,
                    const std::vector<uint32_t> &fanout) {
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, law::plan_on("cpu", 0, 0));
    SampleRequest request;
    request.seed = 29;
    for (csaw_vertex v : graph.vertices()) request.pools.push_back({v});
    request.pools.push_back({2, 0});
    request.samples_per_pool = 600;
    request.depth = static_cast<uint32_t>(fanout.size());
    request.fanout = fanout;
    const Fit fit = fit_of(csr, law, request, fanout, library.samples(sampler, nullptr, Method::automatic, request));
    return std::fabs(fit.first.z()) > std::fabs(fit.later.z()) ? fit.first.z() : fit.later.z();
}

Law half_by_degree() {
    Law out = law_of([](const csaw_csr &csr, const State &, csaw_edge e) { return degree_of_dst(csr, 0, e); });
    out.fanout = [](uint64_t degree, uint32_t most) {
        return static_cast<uint32_t>(std::min(uint64_t{most}, (degree + 1) / 2));
    };
    return out;
}

TEST_F(Page, HalfHasTheLaw) {
    const csaw_sampler *right = compile("half");
    for (const Graph &graph : {crumb(false), reference::small_graph("complete"), reference::small_graph("directed")})
        for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>{2, 3}, std::vector<uint32_t>{3, 1, 0}})
            EXPECT_LT(std::fabs(z_of_samples(graph, half_by_degree(), right, fanout)), law::threshold) << graph.name;
    const Graph graph = crumb(false);
    EXPECT_GT(z_of_samples(graph, half_by_degree(), compile("half", ") + 1) / 2", ") + 0) / 2"), {2, 3}), law::wrong);
    EXPECT_GT(z_of_samples(graph, half_by_degree(), compile("half", ".static_bias = degree_of_dst, ", ""), {2, 3}),
              law::wrong);
}

TEST_F(Page, SelfAvoidingHasTheLaw) {
    Law law = law_of(if_unvisited);
    law.sees_visited = true;
    const csaw_sampler *right = compile("self_avoiding");
    for (const Graph &graph : {crumb(false), reference::small_graph("complete"), reference::small_graph("karate")})
        for (const std::vector<uint32_t> &fanout : {std::vector<uint32_t>(6, 1), std::vector<uint32_t>{2, 2}})
            EXPECT_LT(std::fabs(z_of_samples(graph, law, right, fanout)), law::threshold) << graph.name;
    const csaw_sampler *wrong = compile("self_avoiding", "csaw_visited(site, arc->dst)", "csaw_root(site) == arc->dst");
    EXPECT_GT(z_of_samples(reference::small_graph("complete"), law, wrong, std::vector<uint32_t>(6, 1)), law::wrong);
}

// ---- the page as a newcomer follows it ----------------------------------------------------

TEST_F(Page, HasFiveSamplersAndAProgram) {
    std::vector<std::string> names;
    for (const std::string &block : blocks_of("c")) names.push_back(name_of(block));
    EXPECT_EQ(names, (std::vector<std::string>{"by_degree", "no_return", "half", "self_avoiding", "recent", "main"}));
}

TEST_F(Page, CommandsAndProgramRun) {
    for (const std::string &block : blocks_of("c")) std::ofstream(folder / (name_of(block) + ".c")) << block;
    fs::copy(CSAW_SOURCE_DIR "/data/karate.txt", folder / "karate.txt");
    fs::create_symlink(CSAW_PROGRAM, folder / "csaw");
    const std::vector<std::string> commands = blocks_of("sh");
    EXPECT_EQ(commands.size(), 3u);
    for (const std::string &command : commands) {
        fs::remove(folder / "walks.txt");
        ASSERT_EQ(run("PATH=.:$PATH; set -e; " + command), 0) << command << read(folder / "log");
        EXPECT_GT(fs::file_size(folder / "walks.txt"), 10u) << command;
    }
    ASSERT_EQ(run(CSAW_C_COMPILER " -std=c11 -I" CSAW_SOURCE_DIR "/include main.c " CSAW_LIBRARY
                                  " -o program && LD_LIBRARY_PATH=$(dirname " CSAW_LIBRARY ") ./program"),
              0)
        << read(folder / "log");
    // karate's first vertex has degree 16, so 3 arcs at depth 0
    const std::string arcs = read(folder / "log");
    EXPECT_EQ(arcs.substr(0, 4), "0 0 ") << arcs;
    EXPECT_GE(std::count(arcs.begin(), arcs.end(), '\n'), 3 + 3) << arcs;
}

} // namespace
