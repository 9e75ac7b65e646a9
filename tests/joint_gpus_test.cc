/* SPDX-License-Identifier: MIT */
/* tests/joint_gpus_test.cc - GPUs that hold a graph together, where there is little or something wrong with it: a graph
 * without arcs, without vertices, and one whose weights are no static biases. What comes of it is the CPU's, to the
 * message, and the plan is good for other runs. The GPUs are tests/host_gpu.h; real ones: multi_gpu_test.cc. */
#include "tests/host_gpu.h"

#include "tests/fault_cases.h"

#include <limits>
#include <stdexcept>

namespace {

using namespace fault_cases;

std::unique_ptr<csaw_plan, reference::Free> together(const Plans &plans, const char *list) {
    csaw_plan_options options = reference::plan_on(list, 0, 0);
    csaw_plan *plan = nullptr;
    options.split = true;
    reference::require(csaw_plan_create(plans.graph.get(), &options, &plan));
    return std::unique_ptr<csaw_plan, reference::Free>(plan);
}

Case called(const std::string &name) {
    for (const Case &each : all())
        if (each.name == name) return each;
    throw std::out_of_range(name);
}

class JointGpus : public ::testing::TestWithParam<const char *> {
  protected:
    void SetUp() override { host_gpu::gpus = 3; }
    void TearDown() override {
        host_gpu::gpus = 1;
        host_gpu::forget();
        EXPECT_EQ(0u, host_gpu::used) << "device memory is left";
        EXPECT_EQ(0u, host_gpu::joints);
    }
    // What the CPU comes to, and says.
    csaw_status expect_the_cpus(csaw_plan *cpu, csaw_plan *gpus, const Case &each, Method method, const Ask &ask) {
        SCOPED_TRACE(each.name + ", " + reference::name_of(method));
        const Outcome a = draw(cpu, each, method, ask), b = draw(gpus, each, method, ask);
        EXPECT_EQ(a.status, b.status);
        EXPECT_EQ(a.message, b.message);
        if (a.samples && b.samples) {
            EXPECT_TRUE(equal_bits(a.samples.get(), b.samples.get(), each.walk));
        }
        said = a.message;
        return a.status;
    }
    std::string said;
};

// Every walk ends where it begins, and no sample has an arc but those that name none.
TEST_P(JointGpus, HoldAGraphWithoutArcs) {
    for (csaw_vertex vertices : {0u, 1u, 101u})
        for (bool weighted : {false, true}) {
            SCOPED_TRACE(std::to_string(vertices) + (weighted ? " vertices, weighted" : " vertices"));
            const Graph graph = reference::graph_of("no arcs", vertices, {}, weighted);
            const Plans plans = {graph.csr()};
            const auto cpu = plans.on("cpu"), gpus = together(plans, GetParam());
            ASSERT_EQ(1u, host_gpu::joints);
            uint64_t runs = 0;
            for (const Case &each : all())
                for (Method method : methods_of(each, plans.csr)) {
                    Ask ask = ask_on_starlet(each);
                    if (vertices < 101) ask.pools = Pools(vertices, {0});
                    runs += expect_the_cpus(cpu.get(), gpus.get(), each, method, ask) == CSAW_OK;
                }
            EXPECT_GT(runs, 20u);
        }
}

// Alias tables meet it whoever goes there, ITS at the first instance that does.
TEST_P(JointGpus, TellOfAStaticBiasThatBreaksItsRules) {
    const Graph graph = starlet();
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    const Plans whole = {graph.csr()};
    for (float wrong : {-1.0f, nan, infinite})
        for (csaw_edge at : {csaw_edge{0}, csaw_edge{150}, whole.csr.num_edges - 1}) {
            SCOPED_TRACE(std::to_string(wrong) + " on arc " + std::to_string(at));
            std::vector<float> weight(whole.csr.weight, whole.csr.weight + whole.csr.num_edges);
            weight[at] = wrong;
            csaw_csr csr = whole.csr;
            csr.weight = weight.data();
            const Plans bad = {csr};
            const auto cpu = bad.on("cpu"), gpus = together(bad, GetParam());
            for (bool walk : {true, false}) {
                const Case each = called(walk ? "biased" : "neighbor_biased"),
                           uniform = called(walk ? "uniform" : "neighbor");
                Ask ask = ask_on_starlet(each);
                ask.each = 40;
                EXPECT_EQ(CSAW_EBIAS, expect_the_cpus(cpu.get(), gpus.get(), each, Method::alias, ask));
                EXPECT_NE(std::string::npos, said.find("on edge " + std::to_string(at) + " (")) << said;
                const csaw_status status = expect_the_cpus(cpu.get(), gpus.get(), each, Method::its, ask);
                EXPECT_TRUE(at > 0 || status == CSAW_EBIAS) << "in the row where most instances begin";
                EXPECT_EQ(CSAW_OK, expect_the_cpus(cpu.get(), gpus.get(), uniform, Method::uniform, ask));
                EXPECT_EQ(CSAW_EBIAS, expect_the_cpus(cpu.get(), gpus.get(), each, Method::alias, ask)) << "again";
            }
        }
}

// What the first makes all of them read, until it makes others.
TEST_P(JointGpus, HaveTablesThatTheFirstMakes) {
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
    const auto cpu = plans.on("cpu"), gpus = together(plans, GetParam());
    host_gpu::made_tables = host_gpu::shared_tables = 0;
    uint32_t runs = 0;
    for (int i = 0; i < 2; i++)
        for (const char *name : {"biased", "biased_by_degree", "neighbor_biased"})
            for (Method method : {Method::alias, Method::its}) {
                const Case each = called(name);
                EXPECT_EQ(CSAW_OK, expect_the_cpus(cpu.get(), gpus.get(), each, method, ask_on_starlet(each)));
                runs++;
            }
    EXPECT_EQ(runs / 2, host_gpu::made_tables);
    EXPECT_EQ(runs * gpus->gpus->count, host_gpu::shared_tables) << "at each run, by the first with each";
}

INSTANTIATE_TEST_SUITE_P(Lists, JointGpus, ::testing::Values("cuda:0,cuda:1", "cuda:2,cuda:0,cuda:2"),
                         [](const auto &info) { return std::string(info.index ? "three" : "two"); });

} // namespace
