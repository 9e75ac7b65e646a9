/* SPDX-License-Identifier: MIT */
/* tests/samples_law_gpu_test.cc - the law is right (P1) on a GPU for every built-in sampler of samples that it runs,
 * under every method that it allows, with 100 times the samples of samples_law_test.cc; and wrong samplers, drawn and
 * counted alike, are rejected.
 *
 * Method: equal samples are gathered first, so that tests/samples_law.h looks at each only once, with its count. On
 * tiny graphs these are whole samples of two depths, whose probabilities are enumerated, and what every vertex picked
 * in them; on larger ones what every vertex picks at the first depth: later depths there are too many to gather, and
 * nothing new (samples_law_test.cc has them, and the bits are the same). Threshold as in tests/law.h: |z| < 4, both
 * ways; wrong samplers must reach z > 10. There are 580 or so values of z: 0.04 false alarms were to be expected; the
 * seeds are fixed. */
#include "tests/gpu_cases.h"

#include <thread>
#include <unordered_map>

using namespace gpu_cases;
using namespace samples_law;

namespace {

// ---- equal samples, gathered -----------------------------------------------------

struct Gathered {
    uint64_t first; // one of them: its instance
    uint64_t count;
};
using Gathering = std::unordered_map<uint64_t, Gathered>; // by hash of pool, arcs and depths

// Two of a million different samples have the same 64 bits with a probability below 1e-7, and fixed seeds repeat it.
uint64_t mixed(uint64_t hash, uint64_t with) {
    hash = (hash ^ with) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

void gather_some(const csaw_arcs &arcs, uint64_t pools, uint64_t begin, uint64_t end, Gathering *out) {
    for (uint64_t i = begin; i < end; i++) {
        uint64_t hash = mixed(0x243f6a8885a308d3, i % pools);
        for (uint64_t a = arcs.offset[i]; a < arcs.offset[i + 1]; a++)
            hash = mixed(mixed(mixed(hash, arcs.edge[a]), arcs.depth[a]), uint64_t{arcs.src[a]} << 32 | arcs.dst[a]);
        Gathered &found = out->try_emplace(hash, Gathered{i, 0}).first->second;
        found.count++;
    }
}

Gathering gather(const csaw_arcs &arcs, uint64_t pools) {
    const uint64_t parts = std::min(16u, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<Gathering> part(parts);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < parts; t++)
        threads.emplace_back(gather_some, std::cref(arcs), pools, arcs.num_instances * t / parts,
                             arcs.num_instances * (t + 1) / parts, &part[t]);
    for (std::thread &thread : threads) thread.join();
    for (uint64_t t = 1; t < parts; t++) // in order, so that first is the lowest instance
        for (const auto &[hash, more] : part[t])
            part[0].try_emplace(hash, Gathered{more.first, 0}).first->second.count += more.count;
    return part[0];
}

Many draw_many(csaw_plan *plan, const Case &each, Method method, const Ask &ask) {
    const Outcome drawn = draw(plan, each, method, ask);
    if (drawn.status != CSAW_OK) throw std::runtime_error(each.name + ": " + drawn.message);
    csaw_arcs arcs = {};
    reference::require(csaw_samples_arcs(drawn.samples.get(), CSAW_HOST, &arcs));
    if (arcs.num_instances != ask.pools.size() * ask.each) throw std::runtime_error("other samples than asked for");
    Many out;
    for (const auto &[hash, found] : gather(arcs, ask.pools.size())) {
        Sample sample;
        for (uint64_t a = arcs.offset[found.first]; a < arcs.offset[found.first + 1]; a++)
            sample.arcs.push_back({arcs.src[a], arcs.dst[a], arcs.edge[a], arcs.depth[a]});
        out.samples.push_back(sample);
        out.count.push_back(found.count);
        out.pool.push_back(found.first % ask.pools.size());
    }
    return out;
}

// ---- the library ---------------------------------------------------------------------

class OnGpu {
  public:
    explicit OnGpu(const csaw_csr &csr) : graph(reference::borrow(csr)) {
        const csaw_plan_options options = reference::plan_on("cuda:0", 0, 0);
        csaw_plan *created = nullptr;
        reference::require(csaw_plan_create(graph.get(), &options, &created));
        plan.reset(created);
    }
    csaw_plan *get() const { return plan.get(); }

  private:
    std::unique_ptr<csaw_graph, reference::Free> graph;
    std::unique_ptr<csaw_plan, reference::Free> plan;
};

Case run_of(const sample_cases::Case &each) {
    return {each.name, each.sampler, each.params, each.reference, false, each.replace, {}};
}

Ask ask_for(const Case &run, const Pools &pools, const std::vector<uint32_t> &fanout, uint64_t samples, uint64_t seed) {
    Ask out = ask_of(run, pools, 0, fanout);
    out.seed = seed;
    out.each = static_cast<uint32_t>(samples / pools.size() + 1);
    return out;
}

Pools every_vertex_of(const Graph &graph) {
    Pools out;
    for (csaw_vertex v : graph.vertices()) out.push_back({v});
    return out;
}

std::vector<Method> methods_for(const sample_cases::Case &each, const csaw_csr &csr) {
    std::vector<Method> out = sample_cases::methods_of(each.reference, each.replace, csr);
    out.erase(std::remove(out.begin(), out.end(), Method::automatic), out.end()); // one of the others
    return out;
}

class OfSampleOnGpu : public ::testing::TestWithParam<size_t> {};

// Three depths where it takes them to come back to a vertex that was expanded.
std::vector<uint32_t> whole_of(const sample_cases::Case &each) {
    if (each.name == "neighbor_once") return {1, 2, 2};
    if (each.name == "snowball") return {CSAW_ALL, CSAW_ALL, CSAW_ALL};
    return each.whole;
}

// Without those of samples_law_test.cc on which the law has little to say.
std::vector<Graph> graphs_for(const sample_cases::Case &each) {
    std::vector<Graph> out;
    for (const Graph &graph : sample_cases::graphs_of(each)) {
        const std::set<std::string> left_out = {"path", "isolated", "directed_weighted"};
        const bool timed = each.name.find("temporal") == 0;
        if (!left_out.count(graph.name) && (timed || graph.name != "epochs")) out.push_back(graph);
    }
    return out;
}

// 20,000 on a CPU.
TEST_P(OfSampleOnGpu, WholeSamplesHaveTheLaw) {
    SKIP_WITHOUT_GPU();
    const sample_cases::Case each = sample_cases::cases()[GetParam()];
    uint64_t seed = 0xa987654300000000 + (GetParam() << 16);
    for (const Graph &graph : {sample_cases::crumb(true), sample_cases::crumb(false)}) {
        const csaw_csr csr = graph.csr();
        const OnGpu gpu(csr);
        const std::vector<uint32_t> whole = whole_of(each);
        const Pools one = {sample_cases::whole_pool(each.law)}, two = {{2, 0}};
        for (Method method : methods_for(each, csr)) {
            if (!reference::takes_case()) continue;
            const std::string what = each.name + ", " + reference::name_of(method) + ", " + graph.name;
            const uint64_t samples = each.chance ? reference::share_of(2000000) : 100;
            const Many many =
                draw_many(gpu.get(), run_of(each), method, ask_for(run_of(each), one, whole, samples, ++seed));
            sample_cases::expect_small(whole_fit(csr, each.law, one, whole, many), what + ", whole");
            const Fit fit = fit_of(csr, each.law, one, whole, many);
            sample_cases::expect_small(fit.first, what + ", first depth");
            sample_cases::expect_small(fit.later, what + ", later depths");
            if (one[0].size() > 1) continue;
            const std::vector<uint32_t> once = {each.fanout[0]}; // what two seeds pick is independent
            const Many of_two =
                draw_many(gpu.get(), run_of(each), method, ask_for(run_of(each), two, once, samples, ++seed));
            sample_cases::expect_small(whole_fit(csr, each.law, two, once, of_two), what + ", two seeds");
        }
    }
}

// 10,000 on a CPU.
TEST_P(OfSampleOnGpu, PicksHaveTheLaw) {
    SKIP_WITHOUT_GPU();
    const sample_cases::Case each = sample_cases::cases()[GetParam()];
    uint64_t seed = 0xb987654300000000 + (GetParam() << 16);
    for (const Graph &graph : graphs_for(each)) {
        const csaw_csr csr = graph.csr();
        const OnGpu gpu(csr);
        const Pools pools = each.law.together ? Pools{graph.vertices(), {1, 2}} : every_vertex_of(graph);
        const std::vector<uint32_t> fanout = {each.fanout[0]};
        for (Method method : methods_for(each, csr)) {
            if (!reference::takes_case()) continue;
            const Many many = draw_many(
                gpu.get(), run_of(each), method,
                ask_for(run_of(each), pools, fanout, each.chance ? reference::share_of(1000000) : 100, ++seed));
            sample_cases::expect_small(fit_of(csr, each.law, pools, fanout, many).first,
                                       each.name + ", " + reference::name_of(method) + ", " + graph.name);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SamplesLaw, OfSampleOnGpu, ::testing::Range(size_t{0}, sample_cases::cases().size()),
                         [](const auto &info) { return sample_cases::cases()[info.param].name; });

// ---- random nodes ----------------------------------------------------------------------

sample_cases::Frontiers first_frontiers(csaw_plan *plan, const csaw_random_node_params &params, const Vertices &pool,
                                        uint64_t samples, uint64_t seed) {
    const uint64_t offset[] = {0, pool.size()};
    const csaw_seeds seeds = {pool.data(), 1, offset};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.seed = seed;
    run.depth = 3; // the run ends after the first all the same
    run.walks_per_seed = static_cast<uint32_t>(samples);
    csaw_samples *drawn = nullptr;
    reference::require(csaw_sample(plan, &csaw_random_node, &params, &seeds, &run, &drawn));
    const std::unique_ptr<csaw_samples, reference::Free> owned(drawn);
    csaw_arcs arcs = {};
    reference::require(csaw_samples_arcs(drawn, CSAW_HOST, &arcs));
    EXPECT_EQ(arcs.num_instances, samples);
    EXPECT_EQ(arcs.offset[arcs.num_instances], 0u);
    sample_cases::Frontiers out;
    for (uint64_t i = 0; i < arcs.num_instances; i++)
        out[Sequence(arcs.seed + arcs.seed_offset[i], arcs.seed + arcs.seed_offset[i + 1])]++;
    return out;
}

// 60,000 on a CPU: samples_property_test.cc.
TEST(RandomNodeOnGpu, EverySequenceIsEquallyLikely) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("isolated"); // arcs do not matter
    const csaw_csr csr = graph.csr();
    const OnGpu gpu(csr);
    const uint64_t samples = reference::share_of(6000000);
    for (const Vertices &pool : {graph.vertices(), Vertices{7, 1, 3, 4}})
        for (uint32_t size : {1u, 3u, 4u, 1000u}) {
            const csaw_random_node_params params = {size};
            const auto seen = first_frontiers(gpu.get(), params, pool, samples, size);
            sample_cases::expect_small(sample_cases::frontier_fit(seen, pool, size),
                                       std::to_string(size) + " of " + std::to_string(pool.size()));
        }
}

// One drawn by its degree: samples_property_test.cc. Here, frontiers that have lost their order.
TEST(RandomNodeOnGpu, SetsAreRejected) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("isolated");
    const csaw_csr csr = graph.csr();
    const csaw_random_node_params params = {2};
    sample_cases::Frontiers sets;
    for (const auto &[sequence, count] : first_frontiers(OnGpu(csr).get(), params, graph.vertices(), 100000, 7)) {
        Sequence sorted = sequence;
        std::sort(sorted.begin(), sorted.end());
        sets[sorted] += count;
    }
    EXPECT_GT(sample_cases::frontier_fit(sets, graph.vertices(), 2).z(), law::wrong);
}

// ---- wrong samplers ------------------------------------------------------------------

struct Wrong {
    const char *right; // the case whose law it is held against
    const csaw_sampler *sampler;
    std::vector<char> params;
    reference::Sampler reference;
    bool replace;
};

// Other samplers, or the same with a parameter that is a little off.
std::vector<Wrong> wrong_samplers() {
    namespace r = reference;
    using sample_cases::bytes_of;
    return {
        {"neighbor", &csaw_neighbor_biased, {}, r::neighbor_biased(), false},
        {"neighbor", &csaw_neighbor, {}, r::neighbor(), true},
        {"neighbor_replace", &csaw_neighbor, {}, r::neighbor(), false},
        {"neighbor_biased", &csaw_neighbor, {}, r::neighbor(), false},
        {"neighbor_biased", &csaw_neighbor_biased, {}, r::neighbor_biased(), true},
        {"neighbor_once", &csaw_neighbor_biased, {}, r::neighbor_biased(), false},
        {"metapath", &csaw_metapath, bytes_of(csaw_metapath_params{2, 1, 0, 0, 0, 0, 0, 0, 0}), r::metapath({1, 0}),
         false},
        {"temporal_neighbor", &csaw_temporal_neighbor, bytes_of(csaw_temporal_neighbor_params{-1, 3}),
         r::temporal_neighbor(-1, 3), false},
        {"forest_fire", &csaw_forest_fire, bytes_of(csaw_forest_fire_params{.61f}), r::forest_fire(.61f), false},
        {"forest_fire", &csaw_forest_fire_all, bytes_of(csaw_forest_fire_all_params{.6f}), r::forest_fire_all(.6f),
         false},
        {"forest_fire_all", &csaw_forest_fire_all, bytes_of(csaw_forest_fire_all_params{.46f}),
         r::forest_fire_all(.46f), false},
        {"snowball", &csaw_neighbor, {}, r::neighbor(), false},
    };
}

TEST(WrongOnGpu, SamplesAreRejected) {
    SKIP_WITHOUT_GPU();
    const Graph graph = sample_cases::crumb(true);
    const csaw_csr csr = graph.csr();
    const OnGpu gpu(csr);
    for (const Wrong &wrong : wrong_samplers()) {
        const std::vector<sample_cases::Case> cases = sample_cases::cases();
        const auto each =
            std::find_if(cases.begin(), cases.end(), [&](const auto &c) { return c.name == wrong.right; });
        ASSERT_NE(each, cases.end()) << wrong.right;
        const Case run = {
            "wrong " + each->name, wrong.sampler, wrong.params, wrong.reference, false, wrong.replace, {}};
        const Many many = draw_many(gpu.get(), run, Method::its, ask_for(run, {{0}}, whole_of(*each), 2000000, 99));
        EXPECT_GT(whole_fit(csr, each->law, {{0}}, whole_of(*each), many).z(), law::wrong) << wrong.right;
    }
}

// Picks that are right one by one, but where vertices share a number, are not: samples_law_wrong_test.cc. Here, counts
// that are gathered wrongly are: one pool's samples taken for another's.
TEST(WrongOnGpu, SamplesOfAnotherPoolAreRejected) {
    SKIP_WITHOUT_GPU();
    const Graph graph = reference::small_graph("complete");
    const csaw_csr csr = graph.csr();
    const sample_cases::Case each = sample_cases::cases()[0];
    Many many = draw_many(OnGpu(csr).get(), run_of(each), Method::uniform,
                          ask_for(run_of(each), every_vertex_of(graph), {2}, 100000, 1));
    EXPECT_LT(fit_of(csr, each.law, every_vertex_of(graph), {2}, many).first.z(), law::threshold);
    for (uint64_t &pool : many.pool) pool = (pool + 1) % graph.vertices().size();
    EXPECT_GT(fit_of(csr, each.law, every_vertex_of(graph), {2}, many).first.z(), law::wrong);
}

} // namespace
