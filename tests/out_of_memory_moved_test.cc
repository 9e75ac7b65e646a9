/* SPDX-License-Identifier: MIT */
/* tests/out_of_memory_moved_test.cc - what partitions that come and go move: batches of whole rounds, fewer bytes than
 * in cyclic order, about as many as foretold. */
#include "runtime/engine/run.h"
#include "tests/out_of_memory_cases.h"

using namespace out_of_memory;
using reference::Graph;
using reference::Method;
using sample_equality::SampleRequest;

namespace {

// ---- batches -------------------------------------------------------------------------

struct Sizes { // of the batches of a run
    std::vector<uint64_t> walks;
    csaw__parts *parts;
    uint64_t together; // walks of a round
};

csaw_status note_size(void *user, csaw_samples *samples) {
    auto *sizes = static_cast<Sizes *>(user);
    csaw_walks walks;
    const csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &walks);
    if (status != CSAW_OK) return status;
    sizes->walks.push_back(walks.num_walks);
    if (sizes->parts)
        sizes->together = sizes->parts->fit.instances / csaw__parts_walk_bytes(walks.length, walks.edge != nullptr);
    return CSAW_OK;
}

Sizes sizes_of(const csaw_graph *graph, const csaw_plan_options &options, const csaw_seeds *seeds,
               const csaw_run_options &run) {
    csaw_plan *plan = nullptr;
    reference::require(csaw_plan_create(graph, &options, &plan));
    Sizes out = {{}, plan->parts, 0};
    reference::require(csaw_sample_each(plan, csaw_sampler_find("uniform"), nullptr, seeds, &run, note_size, &out));
    csaw_plan_free(plan);
    return out;
}

csaw_run_options run_of(uint32_t depth, uint32_t walks_per_seed, uint64_t batch_bytes) {
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = depth;
    run.walks_per_seed = walks_per_seed;
    run.batch_bytes = batch_bytes;
    return run;
}

// 300 walks of 2^16 places, 79 MB, from a vertex without arcs: more than the 64 MiB of a batch.
struct LongWalks {
    const csaw_edge rowptr[3] = {0, 0, 0};
    const csaw_vertex seed = 1;
    Sizes sizes(const csaw_plan_options &options) const {
        csaw_csr csr = {};
        csr.num_vertices = 2;
        csr.rowptr = rowptr;
        const csaw_seeds seeds = {&seed, 1, nullptr};
        return sizes_of(reference::borrow(csr).get(), options, &seeds, run_of((1 << 16) - 1, 300, 0));
    }
};

// They are less than 1 GiB leaves for instances. Where parts come and go, they are one round and one batch; where none
// does, a larger batch is worth nothing.
TEST(Batches, HoldARoundWherePartsComeAndGo) {
    const LongWalks lasting;
    csaw_plan_options come_and_go = in_memory(1 << 30);
    come_and_go.partitions = 2;
    come_and_go.resident = 1;
    EXPECT_EQ(lasting.sizes(come_and_go).walks, (std::vector<uint64_t>{300}));
    for (const csaw_plan_options &stays : {in_memory(1 << 30), reference::plan_on("cpu", 1, 0)})
        EXPECT_EQ(lasting.sizes(stays).walks, (std::vector<uint64_t>{256, 44})); // of 2^18 bytes
}

void expect_whole_rounds(const Sizes &got, uint64_t walks, uint64_t most) {
    uint64_t sum = 0;
    ASSERT_GT(got.walks.size(), 1u);
    ASSERT_GT(most, 2 * got.together) << "several rounds are to fit a batch";
    ASSERT_NE(most % got.together, 0u) << "it would be whole rounds anyway";
    for (size_t i = 0; i + 1 < got.walks.size(); i++) {
        EXPECT_EQ(got.walks[i] % got.together, 0u) << i;
        EXPECT_LE(got.walks[i], most);
        EXPECT_GT(got.walks[i] + got.together, most) << "one more round would do";
    }
    for (uint64_t count : got.walks) sum += count;
    EXPECT_EQ(sum, walks);
}

// Of so many bytes, and of 64 MiB where nobody says how many.
TEST(Batches, AreWholeRounds) {
    const equality::OwnedGraph graph = rmat(10, false);
    const uint64_t walks = 30 * csaw_graph_csr(graph.get()).num_vertices;
    for (uint64_t bytes : {100000, 300000}) {
        SCOPED_TRACE(bytes);
        const Sizes got = sizes_of(graph.get(), in_memory(60 << 10), nullptr, run_of(80, 30, bytes));
        expect_whole_rounds(got, walks, bytes / (81 * 4));
    }
    const LongWalks lasting;
    csaw_plan_options come_and_go = in_memory(16 << 20);
    come_and_go.partitions = 2;
    come_and_go.resident = 1;
    expect_whole_rounds(lasting.sizes(come_and_go), 300, 256);
}

// A batch that host memory bounds is part of one round.
TEST(Batches, MayBeSmallerThanARound) {
    const equality::OwnedGraph graph = rmat(10, false);
    const uint64_t vertices = csaw_graph_csr(graph.get()).num_vertices;
    const Sizes got = sizes_of(graph.get(), in_memory(60 << 10), nullptr, run_of(80, 1, 10 * 81 * 4));
    EXPECT_GT(got.together, 10u);
    EXPECT_EQ(got.walks, [&] {
        std::vector<uint64_t> tens(vertices / 10, 10);
        if (vertices % 10) tens.push_back(vertices % 10);
        return tens;
    }());
}

// Walks of 1 MiB, of which a million would be under way together.
TEST(Batches, TakeAtMost4GiBUnlessMoreIsGiven) {
    EXPECT_EQ(csaw__most_in_batch(1 << 20), 4096u);
    EXPECT_EQ(csaw__walks_in_batch(1 << 20, 1 << 20, 0), 4096u);
    EXPECT_EQ(csaw__walks_in_batch(1 << 20, 3000, 0), 3000u);
    EXPECT_EQ(csaw__walks_in_batch(1 << 20, 1 << 20, uint64_t{8} << 30), 8192u);
}

TEST(Batches, OneWalkFitsOrTheRunIsRefused) {
    const equality::OwnedGraph graph = rmat(10, false);
    const csaw_plan_options options = in_memory(60 << 10);
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    reference::require(csaw_plan_create(graph.get(), &options, &plan));
    csaw_run_options run = run_of(20000, 1, 0); // 80 kB
    EXPECT_EQ(CSAW_EDEVMEM, csaw_sample(plan, csaw_sampler_find("uniform"), nullptr, nullptr, &run, &samples));
    EXPECT_NE(std::string(csaw_last_error()).find("an instance of 20000 steps takes 80"), std::string::npos)
        << csaw_last_error();
    EXPECT_EQ(samples, nullptr);
    run.depth = 80;
    EXPECT_EQ(CSAW_OK, csaw_sample(plan, csaw_sampler_find("uniform"), nullptr, nullptr, &run, &samples));
    csaw_samples_free(samples);
    csaw_plan_free(plan);
}

// ---- progress --------------------------------------------------------------------------

struct Asked {
    std::vector<uint64_t> done;
    uint64_t stop_at = UINT64_MAX;
};

bool note_progress(void *user, uint64_t done, uint64_t) {
    auto *asked = static_cast<Asked *>(user);
    asked->done.push_back(done);
    return done < asked->stop_at;
}

csaw_status no_batch(void *, csaw_samples *) { return CSAW_OK; }

// Of a run in one batch, before and after each round; and it stops there.
TEST(Progress, IsAskedForBetweenRounds) {
    const equality::OwnedGraph graph = rmat(10, false);
    const uint64_t vertices = csaw_graph_csr(graph.get()).num_vertices;
    const csaw_plan_options options = in_memory(60 << 10);
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    reference::require(csaw_plan_create(graph.get(), &options, &plan));
    csaw_run_options run = run_of(80, 1, 0);
    Asked asked;
    run.progress = note_progress;
    run.user = &asked;
    ASSERT_EQ(CSAW_OK, csaw_sample(plan, csaw_sampler_find("uniform"), nullptr, nullptr, &run, &samples));
    const uint64_t round = plan->parts->fit.instances / csaw__parts_walk_bytes(80, false),
                   copies = plan->parts->device.copies;
    csaw_samples_free(samples);
    std::vector<uint64_t> expected;
    for (uint64_t done = 0; done < vertices; done += round) expected.push_back(done);
    expected.push_back(vertices);
    ASSERT_GT(expected.size(), 3u);
    EXPECT_EQ(asked.done, expected);
    asked = {{}, 2 * round};
    EXPECT_EQ(CSAW_ESTOPPED, csaw_sample(plan, csaw_sampler_find("uniform"), nullptr, nullptr, &run, &samples));
    EXPECT_EQ(asked.done, (std::vector<uint64_t>{0, round, 2 * round}));
    EXPECT_LT(plan->parts->device.copies - copies, copies);
    csaw_plan_free(plan);
}

// What is refused is refused before anybody is asked.
TEST(Progress, IsNotAskedForByARunThatIsRefused) {
    const equality::OwnedGraph graph = rmat(10, false);
    const csaw_plan_options options = in_memory(60 << 10);
    csaw_plan *plan = nullptr;
    reference::require(csaw_plan_create(graph.get(), &options, &plan));
    csaw_run_options deep = run_of(20000, 1, 0), late = run_of(8, 1, 0);
    late.first = 1 << 20;
    for (csaw_run_options *run : {&deep, &late}) {
        Asked asked;
        run->progress = note_progress;
        run->user = &asked;
        EXPECT_EQ(run == &deep ? CSAW_EDEVMEM : CSAW_EINVAL,
                  csaw_sample_each(plan, csaw_sampler_find("uniform"), nullptr, nullptr, run, no_batch, nullptr));
        EXPECT_TRUE(asked.done.empty());
    }
    csaw_plan_free(plan);
}

// ---- bytes moved ---------------------------------------------------------------------

struct Moved {
    uint64_t transfers, bytes;
    double expected; // transfers
};

template <class Draw>
Moved moved(const csaw_csr &csr, const csaw_plan_options &options, bool in_turn, bool one_at_a_time, const Draw &draw,
            bool asks = false) {
    const Library library(csr, options);
    csaw__parts *const parts = inside(library);
    parts->schedule.in_turn = in_turn;
    parts->one_at_a_time = one_at_a_time;
    draw(library);
    EXPECT_EQ(parts->device.copies, parts->schedule.transfers);
    return {parts->device.copies, parts->device.copied_bytes, csaw__fit_transfers(&parts->fit, 80, asks)};
}

TEST(Moved, LessThanInCyclicOrder) {
    const equality::OwnedGraph graph = rmat(12, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 80);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    const auto node2vec = [&](const Library &library) { library.walks({true, .25f, 4}, Method::automatic, one_each); };
    SampleRequest hops = sample_equality::request_on(csr, {10, 5}, 2, false);
    hops.pools.clear();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) hops.pools.push_back({v});
    const auto sample = [&](const Library &library) {
        library.samples(csaw_sampler_find("neighbor"), nullptr, Method::automatic, hops);
    };
    for (const csaw_plan_options &plan : {simulated(4, 2), simulated(12, 3), simulated(16, 4)}) {
        SCOPED_TRACE(equality::name_of(plan));
        EXPECT_LT(moved(csr, plan, false, false, walk).bytes, moved(csr, plan, true, false, walk).bytes);
        EXPECT_LT(moved(csr, plan, false, false, node2vec).bytes, moved(csr, plan, true, false, node2vec).bytes);
        // Two hops ask for all partitions once and for those that left once more, in any order.
        EXPECT_LE(moved(csr, plan, false, false, sample).transfers, moved(csr, plan, true, false, sample).transfers);
    }
}

// Of many partitions, 16 of which 2 are resident, those at which anything waits come in turn, which is cyclic order: as
// many bytes, to less than one partition.
TEST(Moved, OfManyPartitionsAsInCyclicOrder) {
    const equality::OwnedGraph graph = rmat(12, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 80);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    const csaw_plan_options plan = simulated(16, 2);
    ASSERT_TRUE(csaw__parts_are_many(16, 2));
    const Moved turn = moved(csr, plan, true, false, walk), own = moved(csr, plan, false, false, walk);
    const uint64_t of_one = turn.bytes / turn.transfers;
    EXPECT_LT(own.bytes, turn.bytes + of_one);
    EXPECT_LT(turn.bytes, own.bytes + of_one);
}

equality::OwnedGraph random_graph(uint64_t vertices, uint64_t edges) {
    csaw_random_graph_options options = {};
    options.size = sizeof options;
    options.num_vertices = vertices;
    options.num_edges = edges;
    csaw_graph *graph = nullptr;
    reference::require(csaw_graph_erdos_renyi(&options, &graph));
    return equality::OwnedGraph(graph);
}

// 1000 walks, 100 a batch: memory is divided for 100 of them, not for 1000 that are never under way together.
TEST(Moved, ByABatchAsIfItWereTheJob) {
    const equality::OwnedGraph graph = random_graph(4096, 65536);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    reference::Request hundred;
    hundred.depth = 80;
    hundred.walks_per_seed = 1;
    for (csaw_vertex v = 0; v < 100; v++) hundred.roots.push_back(40 * v);
    reference::Request thousand = hundred;
    thousand.walks_per_seed = 10;
    const auto one_batch = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, hundred); };
    const auto in_batches = [&](const Library &library) {
        int batches = 0;
        library.walks_in_batches({false, 1, 1}, Method::automatic, thousand, 100 * (81 * 4 + 80 * 8), &batches);
        EXPECT_EQ(batches, 10);
    };
    const csaw_plan_options plan = in_memory(608 << 10);
    const Moved one = moved(csr, plan, false, false, one_batch), all = moved(csr, plan, false, false, in_batches);
    EXPECT_LT(static_cast<double>(all.bytes), 1.3 * 10 * static_cast<double>(one.bytes));
    EXPECT_LT(static_cast<double>(all.transfers), 1.3 * 10 * static_cast<double>(one.transfers));
}

// Steps by ITS ask about whole rows. With a quarter of the room that they would take, up to half as many transfers
// more.
TEST(Moved, LittleMoreWhereQuestionsWaitForRoom) {
    const equality::OwnedGraph graph = rmat(10, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 20);
    uint64_t peak = 0;
    const auto within = [&](uint64_t most) {
        return moved(csr, simulated(8, 2), false, false, [&](const Library &library) {
            inside(library)->questions.most = most;
            library.walks({true, .25f, 4}, Method::its, one_each);
            peak = inside(library)->questions.peak;
        });
    };
    const Moved free = within(UINT64_MAX);
    const uint64_t demand = peak;
    const Moved quarter = within(demand / 4);
    EXPECT_LE(peak, demand / 4);
    EXPECT_GT(quarter.transfers, free.transfers) << "nothing waited";
    EXPECT_LT(quarter.transfers, 4 * free.transfers) << demand;
    EXPECT_EQ(csaw__question_most(0), uint64_t{64} << 20);
    EXPECT_EQ(csaw__question_most(uint64_t{80} << 30), uint64_t{10} << 30);
}

// Instances that share a transfer, and instances that do not.
TEST(Moved, LessByBatchesOfInstances) {
    const equality::OwnedGraph graph = rmat(8, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 10);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    const SampleRequest hops = sample_equality::request_on(csr, {4, 3}, 2, false);
    const auto sample = [&](const Library &library) {
        library.samples(csaw_sampler_find("neighbor"), nullptr, Method::automatic, hops);
    };
    EXPECT_LT(10 * moved(csr, simulated(4, 2), false, false, walk).bytes,
              moved(csr, simulated(4, 2), false, true, walk).bytes);
    const auto by_depth = [&](const Library &library) {
        library.samples(csaw_sampler_find("neighbor_once"), nullptr, Method::automatic, hops);
    };
    EXPECT_LT(3 * moved(csr, simulated(4, 2), false, false, sample).bytes,
              moved(csr, simulated(4, 2), false, true, sample).bytes);
    EXPECT_LT(3 * moved(csr, simulated(4, 2), false, false, by_depth).bytes,
              moved(csr, simulated(4, 2), false, true, by_depth).bytes);
}

// What `csaw plan` foretells of walks of 80 steps, where arcs lead anywhere.
TEST(Moved, AboutAsForetold) {
    const equality::OwnedGraph graph = random_graph(4096, 65536);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 80);
    const auto walk = [&](const Library &library) { library.walks({false, 1, 1}, Method::automatic, one_each); };
    const auto node2vec = [&](const Library &library) { library.walks({true, .25f, 4}, Method::automatic, one_each); };
    for (const csaw_plan_options &plan : {simulated(4, 2), simulated(16, 2), simulated(16, 4), simulated(8, 6)})
        for (bool asks : {false, true}) {
            SCOPED_TRACE(equality::name_of(plan) + (asks ? ", node2vec" : ", uniform"));
            const Moved got =
                asks ? moved(csr, plan, false, false, node2vec, true) : moved(csr, plan, false, false, walk);
            EXPECT_LT(static_cast<double>(got.transfers), 1.3 * got.expected);
            EXPECT_GT(static_cast<double>(got.transfers), (asks && plan.resident == 6 ? 0.25 : 0.65) * got.expected);
        }
}

// A layer asks partitions for its largest bias, then for sums, then for the arcs that are hit, and a few of them for
// those that are drawn once more: 6 transfers, and 4 a pass where 2 stay. Those that are picked are read on the host.
TEST(Moved, ThriceForALayer) {
    const equality::OwnedGraph graph = rmat(8, true);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SampleRequest all = sample_equality::request_on(csr, {50}, 1, false);
    all.pools.assign(1, {});
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) all.pools[0].push_back(v);
    all.samples_per_pool = 1;
    const auto by_weight = [&](const Library &library) {
        EXPECT_TRUE(sample_equality::same(
            Library(csr, reference::plan_on("cpu", 1, 0)).samples(&csaw_layer, nullptr, Method::its, all),
            library.samples(&csaw_layer, nullptr, Method::its, all)));
    };
    const uint64_t transfers = moved(csr, simulated(6, 2), false, false, by_weight).transfers;
    EXPECT_GE(transfers, 14u);
    EXPECT_LE(transfers, 16u);
}

// At the first depth nobody came from anywhere, so that nothing is asked of any partition.
TEST(Moved, OnceWhereNothingIsAsked) {
    const equality::OwnedGraph graph = rmat(8, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const csaw_node2vec_params params = {.25f, 4};
    SampleRequest hop = sample_equality::request_on(csr, {2}, 1, false);
    hop.pools.clear();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++) hop.pools.push_back({v});
    const auto sample = [&](const Library &library) { library.samples(&csaw_node2vec, &params, Method::its, hop); };
    EXPECT_EQ(moved(csr, simulated(6, 2), false, false, sample).transfers, 6u);
}

// Vertices without arcs stand at 3 of 4 partitions, which nobody brings: for walks that end there, come back from there
// or start there, and for samples, whatever becomes of their picks.
TEST(Moved, NothingForVerticesWithoutArcs) {
    const Graph graph = equality::one_row(3000, 1000);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    for (const bool from_the_row : {true, false}) {
        reference::Request walks;
        walks.roots = from_the_row ? std::vector<csaw_vertex>{2500, 0, 700, 0} : std::vector<csaw_vertex>{2500, 700};
        walks.walks_per_seed = 3;
        walks.depth = 9;
        const csaw_sampler *roamer = nullptr; // second order, every hook: it comes back from dead ends
        reference::require(csaw_sampler_compile(CSAW_SOURCE_DIR "/tests/samplers/roamer.c", &roamer));
        for (const csaw_sampler *const sampler :
             {csaw_sampler_find("uniform"), csaw_sampler_find("biased"), csaw_sampler_find("node2vec"),
              csaw_sampler_find("jump"), csaw_sampler_find("restart"), roamer}) {
            SCOPED_TRACE(csaw_sampler_name(sampler));
            const Library parted(csr, simulated(4, 1));
            const reference::Walks expected = cpu.walks(sampler, nullptr, Method::its, walks);
            EXPECT_TRUE(equality::same(expected, parted.walks(sampler, nullptr, Method::its, walks)));
            bool steps_from_the_row = false; // jump goes anywhere
            for (uint64_t i = 0; i < expected.path.size(); i++)
                steps_from_the_row |= expected.path[i] == 0 && i % (walks.depth + 1) < walks.depth;
            EXPECT_EQ(inside(parted)->device.copies, steps_from_the_row);
        }
        csaw_sampler_unload(roamer);
        const csaw_sampler *const samplers[] = {csaw_sampler_find("neighbor"),    csaw_sampler_find("neighbor_again"),
                                                csaw_sampler_find("forest_fire"), csaw_sampler_find("layer"),
                                                csaw_sampler_find("node2vec"),    sample_equality::compile("ember")};
        for (const csaw_sampler *const sampler : samplers)
            for (const bool replace : {true, false}) {
                SCOPED_TRACE(csaw_sampler_name(sampler));
                SampleRequest samples = sample_equality::request_on(csr, {4, 3, 2}, 3, replace);
                samples.pools = {{2500, 700, 1}, walks.roots, {2999}};
                const Library parted(csr, simulated(4, 1));
                EXPECT_TRUE(sample_equality::same(cpu.samples(sampler, nullptr, Method::its, samples),
                                                  parted.samples(sampler, nullptr, Method::its, samples)));
                EXPECT_EQ(inside(parted)->device.copies, from_the_row);
            }
    }
}

// Samples of second order come back to the row from vertices without arcs, of which nothing is asked.
TEST(Moved, NothingForQuestionsAboutVerticesWithoutArcs) {
    const Graph graph = equality::one_row(3000, 1000);
    const csaw_csr csr = graph.csr();
    struct { // as in tests/samplers/asking.h
        uint32_t what, hook;
    } const home_if_prev_is_0 = {1, 3};
    const csaw_sampler *sampler = nullptr;
    reference::require(csaw_sampler_compile(CSAW_SOURCE_DIR "/tests/samplers/asking_declared.c", &sampler));
    SampleRequest request = sample_equality::request_on(csr, {4, 3, 2, 2}, 4, true);
    request.pools = {{0}, {0}};
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), parted(csr, simulated(4, 1));
    const std::vector<reference::Sample> expected = cpu.samples(sampler, &home_if_prev_is_0, Method::its, request);
    EXPECT_GT(expected[0].arcs.back().depth, 1u) << "it does not come back";
    EXPECT_TRUE(sample_equality::same(expected, parted.samples(sampler, &home_if_prev_is_0, Method::its, request)));
    EXPECT_EQ(inside(parted)->device.copies, 1u);
    csaw_sampler_unload(sampler);
}

TEST(Moved, NothingTwiceIfAllStays) {
    const equality::OwnedGraph graph = rmat(8, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const reference::Request one_each = equality::one_walk_each(csr, 10);
    const auto walk_twice = [&](const Library &library) {
        library.walks({true, .25f, 4}, Method::automatic, one_each);
        library.walks({false, 1, 1}, Method::automatic, one_each);
    };
    EXPECT_EQ(moved(csr, simulated(7, 0), false, false, walk_twice).transfers, 7u);
}

} // namespace
