/* SPDX-License-Identifier: MIT */
/* tests/kernel_error_gpu_test.cc - a kernel that fails: a hook reads a wild address, or traps. The call says
 * CSAW_ECUDA; such an error stays with the process, so what follows on any GPU plan must say so too, without a crash,
 * and what is freed afterwards is freed; the CPU goes on as before. Each trial has a process of its own (GoogleTest's
 * death tests, which start this program again). A sanitizer rightly reports these errors: leave this file out there. */
#include "tests/gpu_cases.h"

#include <cstdio>
#include <cstdlib>

using namespace gpu_cases;
using reference::Graph;

namespace {

#define MUST(WHAT)                                                                                       \
    do {                                                                                                 \
        if (!(WHAT)) {                                                                                   \
            std::fprintf(stderr, "line %d: %s; last message: %s\n", __LINE__, #WHAT, csaw_last_error()); \
            std::exit(1);                                                                                \
        }                                                                                                \
    } while (0)

struct WildParams { // as in tests/samplers/wild.c
    uint32_t what, from;
};

Case wild_case(const csaw_sampler *sampler, uint32_t what, bool walk) {
    return {"wild", sampler, sample_cases::bytes_of(WildParams{what, 0}), {}, walk};
}

bool equal_bits(const Outcome &a, const Outcome &b, bool walk) {
    uint64_t items = 0;
    const bool drawn = a.status == CSAW_OK && b.status == CSAW_OK;
    return drawn &&
           (walk ? same_walks(a.samples.get(), b.samples.get(), &items)
                 : same_arcs(a.samples.get(), b.samples.get(), &items)) &&
           items > 0;
}

// A CUDA error by its name, as CSAW_CUDA() words it.
bool is_cuda_error(const Outcome &outcome) {
    return outcome.status == CSAW_ECUDA && !outcome.samples && outcome.message.find("cudaError") == 0;
}

// In a process of its own: exits with 0 if all is as it must be.
void run_wild(uint32_t what, Method method, bool walk) {
    const Graph graph = reference::small_graph("directed_weighted");
    const csaw_sampler *sampler = nullptr;
    MUST(csaw_sampler_compile(CSAW_SOURCE_DIR "/tests/samplers/wild.c", &sampler) == CSAW_OK);
    {
        Pair pair(graph.csr());
        Pools alone;
        for (csaw_vertex v : graph.vertices()) alone.push_back({v});
        const Case harmless = wild_case(sampler, 0, walk), wild = wild_case(sampler, what, walk);
        const Case uniform = walks()[0];
        const Ask ask = ask_of(harmless, alone, 5, {3, 2}), steps = ask_of(uniform, alone, 5, {});

        MUST(equal_bits(draw(pair.cpu_plan(), harmless, method, ask), draw(pair.gpu_plan(), harmless, method, ask),
                        walk)); // as long as it does nothing, all is well
        Outcome kept = draw(pair.gpu_plan(), uniform, Method::uniform, steps); // stays on the device
        MUST(kept.status == CSAW_OK);

        MUST(is_cuda_error(draw(pair.gpu_plan(), wild, method, ask)));
        for (int i = 0; i < 2; i++) { // and from now on
            MUST(draw(pair.gpu_plan(), uniform, Method::uniform, steps).status == CSAW_ECUDA);
            MUST(draw(pair.gpu_plan(), samples()[0], Method::alias, ask_of(samples()[0], alone, 0, {2})).status ==
                 CSAW_ECUDA);
            MUST(draw(pair.gpu_plan(), harmless, method, ask).status == CSAW_ECUDA);
        }
        csaw_walks walks = {};
        MUST(csaw_samples_walks(kept.samples.get(), CSAW_HOST, &walks) == CSAW_ECUDA);
        kept.samples.reset();

        const csaw_plan_options options = reference::plan_on("cuda:0", 0, 0);
        const auto other = reference::borrow(graph.csr());
        csaw_plan *plan = nullptr;
        MUST(csaw_plan_create(other.get(), &options, &plan) == CSAW_ECUDA && !plan);

        MUST(equal_bits(draw(pair.cpu_plan(), wild, method, ask), draw(pair.cpu_plan(), wild, method, ask), walk));
    }
    csaw_sampler_unload(sampler);
    std::exit(0);
}

class KernelError : public ::testing::TestWithParam<std::tuple<uint32_t, Method, bool>> {};

TEST_P(KernelError, IsReportedAndStays) {
    SKIP_WITHOUT_GPU();
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a new process, not a copy of this one with its threads
    const auto [what, method, walk] = GetParam();
    EXPECT_EXIT(run_wild(what, method, walk), ::testing::ExitedWithCode(0), "");
}

std::string name_of(const std::tuple<uint32_t, Method, bool> &trial) {
    const auto [what, method, walk] = trial;
    return std::string(what == 1 ? "address_" : "trap_") + reference::name_of(method) + (walk ? "_walk" : "_sample");
}

INSTANTIATE_TEST_SUITE_P(WildHooks, KernelError,
                         ::testing::Combine(::testing::Values(1u, 2u), ::testing::Values(Method::its, Method::race),
                                            ::testing::Bool()),
                         [](const auto &info) { return name_of(info.param); });

// The exit status of such a process can tell: one that finds something wrong leaves with 1.
TEST(KernelErrorTrial, NoticesWhatIsWrong) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(MUST(is_cuda_error({CSAW_OK, "", nullptr})), ::testing::ExitedWithCode(1), "is_cuda_error");
}

} // namespace
