/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_neighbor_test.cc - tests/emulated_parts_samples.h: neighbour samples, batches of which share
 * what is brought. */
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "runtime/engine/gpus.h"
#include "tests/failing_allocations.h"
#include "tests/sample_equality.h"

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_parts_samples.h"

using namespace emulated_parts;

namespace {

class EmulatedPartsNeighbor : public ::testing::Test {
  protected:
    void SetUp() override { fake_cuda::Reset(); }
    void TearDown() override {
        EXPECT_TRUE(fake_cuda::AllGivenBack());
        fake_cuda::Reset();
    }
    const csaw_sampler *const built_in = csaw_sampler_find("neighbor");
    const Sampler sampler{*built_in};
};

TEST_F(EmulatedPartsNeighbor, SamplesAreTheCpus) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    ExpectTheCpusSamples(csr, *built_in, {Method::automatic, Method::its},
                         {one_seed_each(csr, 10, {3, 2}), one_seed_each(csr, 7, {2, 2, 2}),
                          one_seed_each(csr, 13, {2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})});
}

TEST_F(EmulatedPartsNeighbor, VerticesWithoutArcsBringNothing) { ExpectNoSamplesWithoutArcs(*built_in); }

// For comparison: nothing is brought.
TEST_F(EmulatedPartsNeighbor, TheGraphMayBeReadInPlace) {
    const reference::Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const SampleRequest request = one_seed_each(csr, 10, {3, 2});
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, on_gpu(4, 1));
    for (const csaw__parts_way way : {CSAW__PARTS_STAY, CSAW__PARTS_BRING, CSAW__PARTS_STAY}) {
        const uint64_t copies = inside(gpu)->use.copies;
        int batches = 0;
        gpu.get()->parts->way = way;
        EXPECT_TRUE(
            sample_equality::same(cpu.samples(built_in, nullptr, Method::automatic, request),
                                  in_batches(gpu, sampler.get(), nullptr, Method::automatic, request, 300, &batches)));
        EXPECT_EQ(inside(gpu)->use.copies > copies, way == CSAW__PARTS_BRING);
    }
}

// ---- bytes moved ---------------------------------------------------------------------

struct Moved {
    uint64_t transfers;
    int batches;
};

Moved moved(const csaw_csr &csr, const csaw_plan_options &plan, const csaw_sampler *sampler,
            const SampleRequest &request, uint64_t instances, bool in_turn, const std::vector<Sample> &expected) {
    fake_cuda::Reset();
    const Library gpu(csr, plan);
    Moved out = {};
    inside(gpu)->parts->schedule.in_turn = in_turn;
    EXPECT_TRUE(sample_equality::same(expected, in_batches(gpu, sampler, nullptr, Method::automatic, request,
                                                           bytes_for(request, instances), &out.batches)));
    out.transfers = inside(gpu)->use.copies;
    return out;
}

// B batches of D depths in lots of L need the graph B / L + D - 1 times, and one after the other B * D times; every
// time but the first, what is resident is there. Foretold for fanouts 15 and 10, 12 batches in 2 lots, 6 partitions of
// which 2 are resident: 6 + 2 * 4 = 14 and 6 + 23 * 4 = 98 transfers, a seventh.
TEST_F(EmulatedPartsNeighbor, BatchesShareWhatIsBrought) {
    const equality::OwnedGraph graph = rmat(9, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest two = one_seed_each(csr, 12 * 32, {15, 10}), three = one_seed_each(csr, 12 * 32, {6, 4, 3});
    for (const SampleRequest &request : {two, three}) {
        SCOPED_TRACE(sample_equality::name_of(request));
        const std::vector<Sample> expected =
            Library(csr, reference::plan_on("cpu", 1, 0)).samples(built_in, nullptr, Method::automatic, request);
        const csaw_plan_options plan = on_gpu(6, 2);
        const Moved own = moved(csr, plan, sampler.get(), request, 32, false, expected),
                    turn = moved(csr, plan, sampler.get(), request, 32, true, expected);
        const uint64_t batches = 12, depths = request.depth;
        ASSERT_EQ(own.batches, 12);
        ASSERT_EQ(turn.batches, 12);
        const uint64_t lots = (batches + CSAW__LOT - 1) / CSAW__LOT, most = 6 + (lots + depths - 2) * 4,
                       most_in_turn = 6 + (batches * depths - 1) * 4;
        EXPECT_LE(own.transfers, most);
        EXPECT_LE(turn.transfers, most_in_turn);
        EXPECT_GT(turn.transfers, most_in_turn * 9 / 10) << "all partitions are to be needed";
        EXPECT_LE(5 * own.transfers, turn.transfers);
    }
}

// Batches of a lot pick one after the other at a partition, each with all blocks that the launch was dealt, or as many
// as it needs: of 8 entries each.
TEST_F(EmulatedPartsNeighbor, ABatchOfALotHasAllBlocks) {
    const equality::OwnedGraph graph = rmat(9, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest request = one_seed_each(csr, 6 * 32, {3, 2});
    const Library cpu(csr, reference::plan_on("cpu", 1, 0)), gpu(csr, on_gpu(2, 1));
    const std::vector<Sample> expected = cpu.samples(built_in, nullptr, Method::automatic, request);
    for (const uint32_t blocks : {0, 4}) { // the first run opens the schedule
        int batches = 0;
        if (blocks) gpu.get()->parts->schedule.blocks = blocks;
        emulated_kernels::expanded.clear();
        EXPECT_TRUE(sample_equality::same(expected, in_batches(gpu, sampler.get(), nullptr, Method::automatic, request,
                                                               bytes_for(request, 32), &batches)));
        EXPECT_EQ(batches, 6);
    }
    uint64_t bounded = 0;
    for (const emulated_kernels::Expanded &launch : emulated_kernels::expanded) {
        const uint64_t needed = (launch.entries + 7) / 8;
        EXPECT_EQ(launch.blocks, std::min<uint64_t>(needed, 4)) << launch.entries;
        bounded += needed > 4;
    }
    EXPECT_GT(bounded, 6u);
}

// A number of what the plan says of samples, behind these words.
uint64_t foretold(const csaw_plan *plan, const char *words) {
    const char *const line = strstr(csaw_plan_explain(plan), "\nsamples     of 15 and 10 neighbours of each vertex: "),
                      *const at = line ? strstr(line, words) : nullptr;
    EXPECT_TRUE(at) << words << " is not in " << csaw_plan_explain(plan);
    return at ? strtoull(at + strlen(words), nullptr, 10) : 0;
}

// Batches as large as memory allows, of a seed at each vertex, in their order: a batch's first depth is at one
// partition, its second at all. Lots leave less memory for a batch, and bring a quarter of the bytes nonetheless. The
// plan foretells the batches, and no fewer transfers than there are, if no vertex is without arcs.
TEST_F(EmulatedPartsNeighbor, BytesAreAQuarterOfTheCyclicOrders) {
    const equality::OwnedGraph graph = rmat(10, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    SampleRequest request = one_seed_each(csr, 1, {15, 10});
    request.pools.clear();
    for (csaw_vertex v = 0; v < csr.num_vertices; v++)
        if (csr.rowptr[v] < csr.rowptr[v + 1]) request.pools.push_back({v});
    ASSERT_EQ(request.pools.size(), csr.num_vertices);
    const std::vector<Sample> expected =
        Library(csr, reference::plan_on("cpu", 1, 0)).samples(built_in, nullptr, Method::automatic, request);
    csaw_plan_options plan = on_gpu(8, 2);
    plan.gpu_memory = 160 << 10;
    uint64_t bytes[2] = {0, 0}, left[2] = {0, 0}, last = 0;
    int batches[2] = {0, 0};
    for (const Sample &sample : expected)
        for (const reference::SampledArc &arc : sample.arcs) last += arc.depth == 1;
    for (bool in_turn : {false, true}) {
        fake_cuda::Reset();
        {
            const Library gpu(csr, plan);
            gpu.get()->parts->schedule.in_turn = in_turn;
            EXPECT_TRUE(sample_equality::same(
                expected, in_batches(gpu, sampler.get(), nullptr, Method::automatic, request, 0, &batches[in_turn])));
            bytes[in_turn] = inside(gpu)->use.copied_bytes;
            left[in_turn] = inside(gpu)->use.left_bytes;
            if (!in_turn) {
                EXPECT_EQ(foretold(gpu.get(), " resident; "), static_cast<uint64_t>(batches[0]));
                EXPECT_GE(foretold(gpu.get(), ": about "), inside(gpu)->use.copies);
                EXPECT_LE(foretold(gpu.get(), ": about "), inside(gpu)->use.copies * 3 / 2);
            }
        }
        EXPECT_LE(fake_cuda::peak, plan.gpu_memory);
    }
    EXPECT_EQ(left[0], last * CSAW__LEAVING_BYTES) << "the arcs of the last depth, once each";
    EXPECT_EQ(left[1], 0u) << "batches in turn keep theirs";
    EXPECT_LE(4 * bytes[0], bytes[1]) << batches[0] << " and " << batches[1] << " batches";
}

// Instances that have room in one batch are one, in whatever order partitions come, since no lots bring less: none
// waits on the host. An instance of two depths takes 4 * 24 * (1 + 3 + 6 + 1) = 1,056 bytes alone at most, and 5,904 as
// one of a lot, so that of the 160 KiB there is no room for 48 so.
TEST_F(EmulatedPartsNeighbor, AllThatHaveRoomInOneBatchAreOne) {
    const equality::OwnedGraph graph = rmat(10, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest request = one_seed_each(csr, 48, {3, 2});
    const std::vector<Sample> expected =
        Library(csr, reference::plan_on("cpu", 1, 0)).samples(built_in, nullptr, Method::automatic, request);
    csaw_plan_options plan = on_gpu(8, 2);
    plan.gpu_memory = 160 << 10;
    uint64_t copies[2] = {0, 0};
    for (bool in_turn : {false, true}) {
        const Library gpu(csr, plan);
        int batches = 0;
        gpu.get()->parts->schedule.in_turn = in_turn;
        EXPECT_TRUE(sample_equality::same(
            expected, in_batches(gpu, sampler.get(), nullptr, Method::automatic, request, 0, &batches)));
        EXPECT_LT(csaw__parts_instance_bytes(gpu.get()->parts), 48u * 5904);
        EXPECT_EQ(batches, 1);
        EXPECT_EQ(inside(gpu)->use.left_bytes, 0u);
        copies[in_turn] = inside(gpu)->use.copies;
    }
    EXPECT_LE(copies[0], 8u + 6) << "each depth needs each partition once, the second those alone that are not there";
    EXPECT_LE(copies[0], copies[1]);
}

// So has each GPU its share, if that has room.
TEST_F(EmulatedPartsNeighbor, SharesThatHaveRoomAreOneBatch) {
    const equality::OwnedGraph graph = rmat(10, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest request = one_seed_each(csr, 96, {3, 2});
    const std::vector<Sample> expected =
        Library(csr, reference::plan_on("cpu", 1, 0)).samples(built_in, nullptr, Method::automatic, request);
    fake_cuda::devices = 2;
    csaw_plan_options plan = on_gpu(8, 2);
    plan.device = "cuda:0,cuda:1";
    plan.gpu_memory = 160 << 10;
    const Library gpus(csr, plan);
    int batches = 0;
    EXPECT_TRUE(sample_equality::same(
        expected, in_batches(gpus, sampler.get(), nullptr, Method::automatic, request, 0, &batches)));
    EXPECT_EQ(batches, 1);
}

// 400 vertices that have arcs to each of 20,000 which have none: the graph does not fit, but a sample of each vertex
// does, and the plan says so.
TEST_F(EmulatedPartsNeighbor, ThePlanTellsOfOneBatch) {
    const csaw_vertex hubs = 400, ends = 20000;
    std::vector<csaw_edge> rowptr(hubs + ends + 1, uint64_t{hubs} * ends);
    std::vector<csaw_vertex> col(uint64_t{hubs} * ends);
    for (csaw_vertex h = 0; h < hubs; h++) rowptr[h] = uint64_t{h} * ends;
    for (uint64_t i = 0; i < col.size(); i++) col[i] = hubs + static_cast<csaw_vertex>(i % ends);
    csaw_csr csr = {};
    csr.num_vertices = hubs + ends;
    csr.num_edges = col.size();
    csr.rowptr = rowptr.data();
    csr.col = col.data();
    csaw_plan_options plan = on_gpu(0, 0);
    plan.gpu_memory = 28 << 20;
    const Library gpu(csr, plan);
    EXPECT_EQ(foretold(gpu.get(), " resident; "), 1u);
    EXPECT_EQ(foretold(gpu.get(), " batch of at most "), hubs + ends);
    EXPECT_EQ(foretold(gpu.get(), " of at most 20400: "), 2u) << "times the graph, once a depth";
}

// Each GPU has its share of each batch, and its share of the next one under way.
TEST_F(EmulatedPartsNeighbor, SeveralGpusShareEachBatch) {
    const equality::OwnedGraph graph = rmat(9, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest request = one_seed_each(csr, 101, {4, 3});
    const std::vector<Sample> expected =
        Library(csr, reference::plan_on("cpu", 1, 0)).samples(built_in, nullptr, Method::automatic, request);
    uint64_t copies[2] = {0, 0};
    fake_cuda::devices = 2;
    for (bool in_turn : {false, true}) {
        csaw_plan_options plan = on_gpu(4, 1);
        plan.device = "cuda:1,cuda:0";
        const Library gpus(csr, plan);
        int batches = 0;
        for (int i = 0; i < 2; i++) gpus.get()->gpus->plan[i]->parts->schedule.in_turn = in_turn;
        EXPECT_TRUE(sample_equality::same(expected, in_batches(gpus, sampler.get(), nullptr, Method::automatic, request,
                                                               bytes_for(request, 20), &batches)));
        EXPECT_EQ(batches, 6);
        for (int i = 0; i < 2; i++) copies[in_turn] += gpus.get()->gpus->plan[i]->parts->cuda->use.copies;
    }
    EXPECT_LE(3 * copies[0], 2 * copies[1]) << copies[0] << " of " << copies[1];
}

// Memory of the host that arcs of the last depth leave to serves the runs that follow, and is given back with the
// engine (TearDown).
TEST_F(EmulatedPartsNeighbor, WhereArcsLeaveToServesTheNextRun) {
    const equality::OwnedGraph graph = rmat(9, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest request = one_seed_each(csr, 96, {4, 3});
    const Library gpu(csr, on_gpu(4, 1));
    const auto blocks = [&] {
        std::vector<void *> out;
        for (const csaw__host_block &block : inside(gpu)->away)
            if (block.at) out.push_back(block.at);
        return out;
    };
    std::vector<void *> first;
    for (int run = 0; run < 3; run++) {
        int batches = 0;
        const uint64_t left = inside(gpu)->use.left_bytes;
        in_batches(gpu, sampler.get(), nullptr, Method::automatic, request, bytes_for(request, 20), &batches);
        EXPECT_EQ(batches, 5);
        EXPECT_GT(inside(gpu)->use.left_bytes, left);
        if (run == 0) first = blocks();
        ASSERT_FALSE(first.empty()) << "given back though the engine is open";
        EXPECT_EQ(blocks(), first) << "made anew";
        for (const csaw__host_block &block : inside(gpu)->away) EXPECT_FALSE(block.taken);
        for (void *block : first) EXPECT_TRUE(fake_cuda::IsRegistered(block, 1));
    }
    csaw__parts *const parts = gpu.get()->parts;
    parts->way = CSAW__PARTS_STAY; // opens anew
    int batches = 0;
    in_batches(gpu, sampler.get(), nullptr, Method::automatic, request, bytes_for(request, 20), &batches);
    EXPECT_TRUE(blocks().empty()) << "kept though their engine was closed";
}

// ---- memory --------------------------------------------------------------------------

// Batches of any size that is asked for, a lot of them together; of fewer instances where a lot finds no room, so that
// what is brought serves a lot there as well. The budget is kept, and the bits stay.
TEST_F(EmulatedPartsNeighbor, AsManyTogetherAsThereIsMemoryFor) {
    const equality::OwnedGraph graph = rmat(9, false);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const SampleRequest request = one_seed_each(csr, 480, {6, 1});
    const std::vector<Sample> expected =
        Library(csr, reference::plan_on("cpu", 1, 0)).samples(built_in, nullptr, Method::automatic, request);
    csaw_plan_options plan = on_gpu(5, 2);
    plan.gpu_memory = 88 << 10;
    bool together = false, divided = false;
    for (uint64_t instances : {4, 8, 20, 50, 180}) {
        SCOPED_TRACE(instances);
        fake_cuda::Reset();
        {
            const Library gpu(csr, plan);
            int batches = 0;
            EXPECT_TRUE(sample_equality::same(expected, in_batches(gpu, sampler.get(), nullptr, Method::automatic,
                                                                   request, bytes_for(request, instances), &batches)));
            const bool fits = batches == static_cast<int>((480 + instances - 1) / instances);
            // what is not resident comes once a lot, and for the first and those that found no room, a pass each
            const uint64_t lots = (static_cast<uint64_t>(batches) + CSAW__LOT - 1) / CSAW__LOT;
            EXPECT_LE(inside(gpu)->use.copies, 5 + (lots + (fits ? 0 : 8)) * 3);
            together = together || fits;
            divided = divided || !fits;
            EXPECT_LE(gpu.get()->parts->kind->use(gpu.get()->parts).peak, plan.gpu_memory);
        }
        EXPECT_LE(fake_cuda::peak, plan.gpu_memory);
    }
    EXPECT_TRUE(together);
    EXPECT_TRUE(divided);
}

// ---- failures ------------------------------------------------------------------------

struct Drawn {
    csaw_status status;
    std::string why;
    std::vector<csaw_vertex> dst;
    int batches = 0, stop_at = -1;
};

csaw_status take(void *user, csaw_samples *samples) {
    Drawn *const drawn = static_cast<Drawn *>(user);
    csaw_arcs arcs;
    if (drawn->batches == drawn->stop_at) return CSAW_EIO;
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    drawn->dst.insert(drawn->dst.end(), arcs.dst, arcs.dst + arcs.offset[arcs.num_instances]);
    drawn->batches++;
    return CSAW_OK;
}

struct Case {
    reference::Graph graph = reference::small_graph("karate");
    csaw_csr csr = graph.csr();
    SampleRequest request = one_seed_each(csr, 8, {3, 2});
    Drawn draw(csaw_plan *plan, const csaw_sampler *sampler, int stop_at = -1) const {
        const reference::Seeds seeds(request.pools);
        const csaw_seeds view = seeds.view();
        csaw_run_options run = two_at_a_time(request);
        Drawn out;
        out.stop_at = stop_at;
        out.status = csaw_sample_each(plan, sampler, nullptr, &view, &run, take, &out);
        if (out.status != CSAW_OK) out.why = csaw_last_error();
        return out;
    }
    // On a plan of its own.
    csaw_status draw_anew(const csaw_sampler *sampler) const {
        csaw_graph *borrowed = nullptr;
        csaw_plan *plan = nullptr;
        const csaw_plan_options options = on_gpu(3, 1);
        csaw_status status = csaw_graph_borrow_csr(&csr, &borrowed);
        if (status == CSAW_OK) status = csaw_plan_create(borrowed, &options, &plan);
        if (status == CSAW_OK) status = draw(plan, sampler).status;
        csaw_plan_free(plan);
        csaw_graph_free(borrowed);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
        return status;
    }
};

TEST_F(EmulatedPartsNeighbor, EveryAllocationFailsInTurn) {
    const Case of;
    EXPECT_GT(fail_every_allocation([&] {
                  fake_cuda::Reset();
                  return of.draw_anew(sampler.get());
              }),
              200u);
}

// The first one fails, then the second, until a run has fewer.
uint64_t FailEachInTurn(const Case &of, const csaw_sampler *sampler, uint64_t *which, const uint64_t *count) {
    for (uint64_t n = 1;; n += reference::step_of_share()) {
        fake_cuda::Reset();
        *which = n;
        const csaw_status status = of.draw_anew(sampler);
        if (*count < n) {
            EXPECT_EQ(CSAW_OK, status) << csaw_last_error();
            return n - 1;
        }
        EXPECT_EQ(CSAW_ECUDA, status) << n;
    }
}

TEST_F(EmulatedPartsNeighbor, EveryCopyAndEveryLaunchFailsInTurn) {
    const Case of;
    EXPECT_GT(FailEachInTurn(of, sampler.get(), &fake_cuda::fail_copy, &fake_cuda::copies), 60u);
    EXPECT_GT(FailEachInTurn(of, sampler.get(), &fake_cuda::fail_launch, &fake_cuda::launches), 60u);
}

TEST_F(EmulatedPartsNeighbor, AKernelThatBreaksIsToldAndAllIsGivenBack) {
    const Case of;
    of.draw_anew(sampler.get());
    const uint64_t launches = fake_cuda::launches;
    for (uint64_t n = 1; n <= launches; n += 7) {
        fake_cuda::Reset();
        fake_cuda::fault_at = n;
        EXPECT_EQ(CSAW_ECUDA, of.draw_anew(sampler.get())) << n;
    }
}

// After a failure, and after a run that was stopped with a batch under way, the plan is as good as before.
TEST_F(EmulatedPartsNeighbor, APlanGoesOn) {
    const Case of;
    const Library cpu(of.csr, reference::plan_on("cpu", 1, 0)), gpu(of.csr, on_gpu(3, 1));
    const Drawn expected = of.draw(cpu.get(), built_in);
    ASSERT_EQ(expected.batches, 4);
    for (int stop_at = 0; stop_at < 4; stop_at++) {
        const Drawn stopped = of.draw(gpu.get(), sampler.get(), stop_at);
        EXPECT_EQ(CSAW_EIO, stopped.status);
        EXPECT_EQ(stopped.batches, stop_at);
        EXPECT_EQ(inside(gpu)->batches, 0u) << "what is under way is dropped";
    }
    for (uint64_t n = 1; n < 60; n += 6) {
        fake_cuda::fail_copy = fake_cuda::copies + n;
        EXPECT_EQ(CSAW_ECUDA, of.draw(gpu.get(), sampler.get()).status) << n;
        EXPECT_EQ(inside(gpu)->batches, 0u);
        const Drawn drawn = of.draw(gpu.get(), sampler.get());
        EXPECT_EQ(CSAW_OK, drawn.status) << drawn.why;
        EXPECT_EQ(expected.dst, drawn.dst);
    }
}

} // namespace
