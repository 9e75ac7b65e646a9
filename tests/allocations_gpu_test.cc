/* SPDX-License-Identifier: MIT */
/* tests/allocations_gpu_test.cc - memory that runs out on a GPU: every allocation, of host and of device memory, fails
 * in turn, while a plan is made and while it draws and delivers, with every walk and method, samples, tables, and
 * kernels of a sampler compiled at run time; and a run that is really too large. Each time the call says why, and the
 * same plan then gives the bits of the CPU engine. */
#include "tests/fault_cases.h"

extern "C" {
#include "runtime/base/memory.h"
}

using namespace fault_cases;

namespace {

// Allocations fail from the nth on while a new plan draws and delivers. True once n is more than there are.
bool survives_from(uint64_t n, const Plans &plans, const Case &each, Method method, const Ask &ask,
                   csaw_samples *expected) {
    const auto plan = plans.on("cuda:0");
    csaw__fail_allocations_from(n);
    Outcome drawn = draw(plan.get(), each, method, ask);
    csaw_status status = drawn.status;
    csaw_walks walks;
    csaw_arcs arcs;
    if (status == CSAW_OK)
        status = each.walk ? csaw_samples_walks(drawn.samples.get(), CSAW_HOST, &walks)
                           : csaw_samples_arcs(drawn.samples.get(), CSAW_HOST, &arcs);
    const uint64_t asked = csaw__allocations_counted();
    csaw__fail_allocations_from(0);
    if (status == CSAW_OK) {
        EXPECT_LT(asked, n) << "a failed allocation went unnoticed";
        EXPECT_GT(n, 3u);
        EXPECT_TRUE(equal_bits(expected, drawn.samples.get(), each.walk));
        return true;
    }
    EXPECT_GE(asked, n);
    EXPECT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_status_text(status) << csaw_last_error();
    EXPECT_NE(std::string::npos, std::string(csaw_last_error()).find("memory")) << csaw_last_error();
    if (drawn.samples) { // it was the delivery that failed
        EXPECT_TRUE(equal_bits(expected, drawn.samples.get(), each.walk)) << "delivered at last";
    }
    const Outcome again = draw(plan.get(), each, method, ask);
    EXPECT_EQ(CSAW_OK, again.status) << again.message;
    if (!again.samples) return false;
    EXPECT_TRUE(equal_bits(expected, again.samples.get(), each.walk)) << "on the same plan";
    return false;
}

// Samples that take different paths through the engine; the other ones differ in hooks alone.
std::vector<Case> cases() {
    std::vector<Case> out = walks();
    const std::set<std::string> of_samples = {"neighbor",        "neighbor_replace", "neighbor_biased",
                                              "neighbor_again",  "forest_fire",      "layer",
                                              "multidimensional"};
    for (const Case &each : samples())
        if (of_samples.count(each.name)) out.push_back(each);
    return out;
}

class OfCase : public ::testing::TestWithParam<size_t> {};

TEST_P(OfCase, EveryAllocationFailsInTurn) {
    SKIP_WITHOUT_GPU();
    const Case each = cases()[GetParam()];
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const auto cpu = plans.on("cpu");
    for (Method method : methods_of(each, plans.csr)) {
        if (method == Method::automatic) continue; // one of the others
        SCOPED_TRACE(each.name + ", " + reference::name_of(method));
        const Ask ask = ask_on_starlet(each);
        const Outcome expected = draw(cpu.get(), each, method, ask);
        ASSERT_EQ(CSAW_OK, expected.status) << expected.message;
        uint64_t n = 1;
        while (n < 1000 && !HasFailure() && !survives_from(n, plans, each, method, ask, expected.samples.get()))
            n += reference::step_of_share();
        EXPECT_LT(n, 1000u);
    }
}

INSTANTIATE_TEST_SUITE_P(Allocations, OfCase, ::testing::Range(size_t{0}, cases().size()), [](const auto &info) {
    std::string name = cases()[info.param].name;
    for (char &c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

// A sampler of a file: its kernels are read, loaded and kept, anew each time, from the cache.
TEST(Allocations, EveryAllocationOfARunTimeSamplerFailsInTurn) {
    SKIP_WITHOUT_GPU();
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const auto cpu = plans.on("cpu");
    for (bool walk : {true, false}) {
        Case built_in = walks()[1];
        built_in.walk = walk;
        const Ask ask = ask_on_starlet(built_in);
        for (Method method : {Method::its, Method::reject}) {
            SCOPED_TRACE(std::string(walk ? "walk, " : "sample, ") + reference::name_of(method));
            const Outcome expected = draw(cpu.get(), built_in, method, ask);
            ASSERT_EQ(CSAW_OK, expected.status) << expected.message;
            uint64_t n = 1;
            for (bool over = false; !over && n < 1000 && !HasFailure(); n += reference::step_of_share()) {
                Case each = built_in;
                reference::require(csaw_sampler_compile(CSAW_SOURCE_DIR "/examples/my_node2vec.c", &each.sampler));
                over = survives_from(n, plans, each, method, ask, expected.samples.get());
                csaw_sampler_unload(each.sampler);
            }
            EXPECT_LT(n, 1000u);
        }
    }
}

TEST(Allocations, EveryAllocationOfAPlanFailsInTurn) {
    SKIP_WITHOUT_GPU();
    const Graph graph = starlet(); // with weights, types and times
    const Plans plans = {graph.csr()};
    const csaw_plan_options options = reference::plan_on("cuda:0", 0, 0);
    const Case each = walks()[1];
    const Ask ask = ask_on_starlet(each);
    const Outcome expected = draw(plans.on("cpu").get(), each, Method::reject, ask);
    for (uint64_t n = 1;; n++) {
        csaw_plan *made = nullptr;
        csaw__fail_allocations_from(n);
        const csaw_status status = csaw_plan_create(plans.graph.get(), &options, &made);
        const uint64_t asked = csaw__allocations_counted();
        csaw__fail_allocations_from(0);
        const std::unique_ptr<csaw_plan, reference::Free> plan(made);
        if (status == CSAW_OK) {
            EXPECT_LT(asked, n);
            EXPECT_GT(n, 6u); // offsets, arcs, weights, types, times, and the plan itself
            const Outcome drawn = draw(plan.get(), each, Method::reject, ask);
            ASSERT_EQ(CSAW_OK, drawn.status) << drawn.message;
            EXPECT_TRUE(equal_bits(expected.samples.get(), drawn.samples.get(), true));
            break;
        }
        ASSERT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
        ASSERT_FALSE(made);
        ASSERT_LT(n, 1000u);
    }
}

// Really more than a GPU has, not only a test's word for it.
TEST(Allocations, APlanOutlivesARunThatIsTooLarge) {
    SKIP_WITHOUT_GPU();
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const auto cpu = plans.on("cpu"), gpu = plans.on("cuda:0");
    const Case each = walks()[0];
    Ask large = ask_of(each, {{0}, {1}}, 1 << 23, {});
    large.each = 1 << 20; // 2^44 places of 4 bytes
    for (int i = 0; i < 3; i++) {
        const Outcome refused_run = draw(gpu.get(), each, Method::uniform, large);
        EXPECT_EQ(CSAW_EDEVMEM, refused_run.status);
        EXPECT_NE(std::string::npos, refused_run.message.find("csaw_sample_each")) << refused_run.message;
        const Ask ask = ask_on_starlet(each);
        const Outcome a = draw(cpu.get(), each, Method::uniform, ask), b = draw(gpu.get(), each, Method::uniform, ask);
        ASSERT_EQ(CSAW_OK, b.status) << b.message;
        EXPECT_TRUE(equal_bits(a.samples.get(), b.samples.get(), true));
    }
}

} // namespace
