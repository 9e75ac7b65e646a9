/* SPDX-License-Identifier: MIT */
/* tests/loader_test.cc - minibatches made ahead: what each holds, from csaw_sample(), csaw_blocks_create() and the
 * features themselves; epochs; the same batches whatever the timing, the threads and the number in flight; failures in
 * their place; early ends; what is refused. */
#include <csaw/descriptor.h>

#include "tests/failing_allocations.h"
#include "tests/loader_cases.h"
#include "tests/reference/graphs.h"
#include "tests/reference/philox.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <thread>

using namespace loader_cases;
using graph_cases::message_has;
using reference::plan_on;

namespace {

const uint32_t fanout[] = {3, 2};

csaw_loader_options usual() {
    csaw_loader_options o = {};
    o.size = sizeof o;
    o.batch_size = 8;
    o.seed = 41;
    o.depth = 2;
    o.fanout = fanout;
    return o;
}

struct Karate {
    reference::Graph graph = reference::small_graph("karate");
    csaw_csr csr = graph.csr();
    reference::Library library{csr, plan_on("cpu", 0, 0)};
    csaw_plan *plan() const { return library.get(); }
};

// docs/stream.md: the seeds of an epoch in their order.
std::vector<csaw_vertex> shuffled(std::vector<csaw_vertex> seeds, uint64_t seed, uint64_t epoch) {
    for (size_t i = 0; i + 1 < seeds.size(); i++) {
        const reference::Block block = reference::draw(seed, epoch, 0, static_cast<uint32_t>(i / 2), 0, (3u << 26) + 1);
        std::swap(seeds[i], seeds[i + reference::below(reference::half(block, i % 2), seeds.size() - i)]);
    }
    return seeds;
}

// Batch b is instance b of samples from its seeds alone, which this asks for as the last of b + 1.
std::vector<Block> blocks_by_hand(csaw_plan *plan, const std::vector<csaw_vertex> &seeds, uint32_t b,
                                  const csaw_sampler *sampler, uint64_t seed) {
    const uint64_t offset[] = {0, seeds.size()};
    const csaw_seeds pool = {seeds.data(), 1, offset};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.seed = seed;
    run.walks_per_seed = b + 1;
    run.depth = 2;
    run.fanout = fanout;
    run.first = b;
    std::vector<Block> out;
    const auto take = [](void *user, csaw_samples *samples) {
        csaw_blocks *blocks = nullptr;
        reference::require(csaw_blocks_create(samples, &blocks));
        *static_cast<std::vector<Block> *>(user) = blocks_of(blocks);
        csaw_blocks_free(blocks);
        return CSAW_OK;
    };
    reference::require(csaw_sample_each(plan, sampler, nullptr, &pool, &run, take, &out));
    return out;
}

TEST(Loader, BatchesAreSamplesOfTheirSeeds) {
    const Karate karate;
    const reference::Library other(karate.csr, plan_on("cpu", 0, 0));
    std::vector<csaw_vertex> seeds = karate.graph.vertices();
    seeds.erase(seeds.begin() + 5);
    std::vector<float> x(34 * 5);
    std::vector<int64_t> label(34);
    for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
    for (size_t i = 0; i < label.size(); i++) label[i] = static_cast<int64_t>(i) * 1000000007 - 5;
    const csaw_dense features = {34, 4, 5, CSAW_F32, x.data()}; // a column is left out
    for (const csaw_sampler *sampler : {static_cast<const csaw_sampler *>(nullptr), &csaw_neighbor_once, &csaw_layer}) {
        csaw_loader_options o = usual();
        o.sampler = sampler;
        o.epochs = 3;
        o.features = &features;
        o.label = label.data();
        const Loader loader = open(karate.plan(), seeds, o);
        EXPECT_EQ(csaw_loader_batches(loader.get()), 5u);
        const std::vector<Batch> batches = all_of(loader.get());
        ASSERT_EQ(batches.size(), 15u);
        for (uint32_t b = 0; b < 15; b++) {
            const Batch &batch = batches[b];
            const std::vector<csaw_vertex> order = shuffled(seeds, 41, b / 5);
            const size_t first = b % 5 * 8, end = std::min<size_t>(first + 8, 33);
            EXPECT_EQ(batch.epoch, b / 5);
            EXPECT_EQ(batch.number, b % 5);
            ASSERT_EQ(batch.seeds, std::vector<csaw_vertex>(order.begin() + first, order.begin() + end));
            EXPECT_TRUE(batch.blocks ==
                        blocks_by_hand(other.get(), batch.seeds, b, sampler ? sampler : &csaw_neighbor_again, 41))
                << b;
            EXPECT_EQ(batch.vertices.size(), batch.blocks[1].num_src);
            const float *row = reinterpret_cast<const float *>(batch.features.data());
            for (csaw_vertex v : batch.vertices)
                for (size_t c = 0; c < 4; c++) EXPECT_EQ(*row++, x[v * 5 + c]);
            for (size_t i = 0; i < batch.seeds.size(); i++) EXPECT_EQ(batch.label[i], label[batch.seeds[i]]);
        }
        const csaw_minibatch none = {}, *after = &none;
        EXPECT_EQ(csaw_loader_next(loader.get(), &after), CSAW_OK); // it stays over
        EXPECT_EQ(after, nullptr);
    }
}

// The orders of 4 seeds, by epoch: 24, equally likely, and those of epochs side by side independent (|z| < 4, wrong
// shuffles z > 10: tests/law.h).
TEST(Loader, EveryOrderIsEquallyLikely) {
    const Karate karate;
    csaw_loader_options o = usual();
    o.depth = 1;
    o.epochs = 24000;
    std::vector<std::vector<csaw_vertex>> orders;
    for (const Batch &batch : all_of(open(karate.plan(), {4, 9, 2, 30}, o).get())) orders.push_back(batch.seeds);
    const auto z = [](const std::vector<std::vector<csaw_vertex>> &seen, double cells) {
        std::map<std::vector<csaw_vertex>, uint64_t> count;
        for (const auto &order : seen) count[order]++;
        double sum = 0, mean = static_cast<double>(seen.size()) / cells;
        for (const auto &[order, n] : count) sum += (static_cast<double>(n) - mean) * (static_cast<double>(n) - mean);
        sum += (cells - static_cast<double>(count.size())) * mean * mean;
        return (sum / mean - (cells - 1)) / std::sqrt(2 * (cells - 1));
    };
    EXPECT_LT(std::fabs(z(orders, 24)), 4);
    std::vector<std::vector<csaw_vertex>> pairs, wrong;
    for (size_t i = 0; i + 1 < orders.size(); i += 2) {
        pairs.push_back(orders[i]);
        pairs.back().insert(pairs.back().end(), orders[i + 1].begin(), orders[i + 1].end());
    }
    EXPECT_LT(std::fabs(z(pairs, 576)), 4);
    std::mt19937_64 random(5);
    for (int i = 0; i < 24000; i++) { // swaps with any place, not with those that are left
        std::vector<csaw_vertex> order = {4, 9, 2, 30};
        for (csaw_vertex &v : order) std::swap(v, order[random() % 4]);
        wrong.push_back(order);
    }
    EXPECT_GT(z(wrong, 24), 10);
}

TEST(Loader, OrderAndLastBatch) {
    const Karate karate;
    csaw_loader_options o = usual();
    o.keep_order = o.drop_last = true;
    const std::vector<Batch> kept = all_of(open(karate.plan(), {}, o).get());
    ASSERT_EQ(kept.size(), 4u); // 34 = 4 * 8 + 2
    for (csaw_vertex i = 0; i < 32; i++) EXPECT_EQ(kept[i / 8].seeds[i % 8], i);
    o.batch_size = 17;
    EXPECT_EQ(all_of(open(karate.plan(), {}, o).get()).size(), 2u);
    o.batch_size = 35;
    EXPECT_EQ(all_of(open(karate.plan(), {}, o).get()).size(), 0u);
    o.batch_size = 0; // 1024
    o.drop_last = false;
    o.fanout = nullptr; // one arc each
    const std::vector<Batch> whole = all_of(open(karate.plan(), {}, o).get());
    ASSERT_EQ(whole.size(), 1u);
    EXPECT_EQ(whole[0].seeds.size(), 34u);
    EXPECT_EQ(whole[0].blocks[0].col.size(), 34u);
    EXPECT_TRUE(whole[0].features.empty() && whole[0].label.empty());
}

TEST(Loader, OfNothing) {
    const Karate karate;
    const csaw_loader_options o = usual();
    const csaw_seeds none = {nullptr, 0, nullptr};
    csaw_loader *loader = nullptr;
    ASSERT_EQ(csaw_loader_open(karate.plan(), &none, &o, &loader), CSAW_OK);
    EXPECT_EQ(csaw_loader_batches(loader), 0u);
    EXPECT_TRUE(all_of(loader).empty());
    csaw_loader_close(loader);
    const csaw_edge rowptr[] = {0, 0, 0};
    const csaw_csr empty = {0, 0, rowptr, nullptr, nullptr, nullptr, nullptr},
                   lonely = {2, 0, rowptr, nullptr, nullptr, nullptr, nullptr};
    EXPECT_TRUE(all_of(open(reference::Library(empty, plan_on("cpu", 0, 0)).get(), {}, o).get()).empty());
    const reference::Library on_lonely(lonely, plan_on("cpu", 0, 0));
    const std::vector<Batch> alone = all_of(open(on_lonely.get(), {}, o).get());
    ASSERT_EQ(alone.size(), 1u); // seeds without arcs
    EXPECT_EQ(alone[0].vertices.size(), 2u);
    EXPECT_TRUE(alone[0].blocks[1].col.empty());
}

// Fanouts that the graph does not have: all arcs, once.
TEST(Loader, FanoutsBeyondTheDegrees) {
    const Karate karate;
    const uint32_t many[] = {1000, CSAW_ALL};
    csaw_loader_options o = usual();
    o.fanout = many;
    for (const Batch &batch : all_of(open(karate.plan(), {}, o).get()))
        for (size_t i = 0; i < batch.seeds.size(); i++)
            EXPECT_EQ(batch.blocks[0].rowptr[i + 1] - batch.blocks[0].rowptr[i], karate.graph.degree(batch.seeds[i]));
}

TEST(Loader, TheSameWhateverTheTiming) {
    const Karate karate;
    csaw_loader_options o = usual();
    o.epochs = 4;
    const std::vector<Batch> expected = all_of(open(karate.plan(), {}, o).get());
    ASSERT_EQ(expected.size(), 20u);
    EXPECT_NE(expected[0].seeds, expected[5].seeds); // another order
    std::mt19937 random(1);
    const auto sleep = [&](const Batch &) { std::this_thread::sleep_for(std::chrono::microseconds(random() % 500)); };
    for (uint32_t in_flight : {1u, 2u, 3u, 7u, 100u})
        for (const auto &options : {plan_on("cpu", 1, 0), plan_on("cpu", 3, 0), plan_on("cpu", 0, 3)}) {
            const reference::Library library(karate.csr, options);
            o.in_flight = in_flight;
            EXPECT_TRUE(all_of(open(library.get(), {}, o).get()) == expected) << in_flight;
            EXPECT_TRUE(all_of(open(library.get(), {}, o).get(), sleep) == expected) << in_flight;
        }
    o.seed++;
    EXPECT_FALSE(all_of(open(karate.plan(), {}, o).get()) == expected);
}

// Depths begun, by a sampler that counts them and else is csaw_neighbor_again.
std::atomic<uint64_t> depths_begun;

void count_and_fan_out(const struct csaw__job *job, struct csaw__frontier *frontier, struct csaw__fault *fault) {
    depths_begun++;
    csaw_neighbor_again.fanouts(job, frontier, fault);
}

// The thread has made, or is at, all batches that may exist while the caller has asked for some: none less, and none
// more.
TEST(Loader, AsManyBatchesAheadAsMayBeInFlight) {
    const Karate karate;
    csaw_sampler counting = csaw_neighbor_again;
    counting.fanouts = count_and_fan_out;
    csaw_loader_options o = usual();
    o.sampler = &counting;
    o.epochs = 4;
    depths_begun = 0;
    ASSERT_EQ(all_of(open(karate.plan(), {}, o).get()).size(), 20u);
    const uint64_t of_batch = depths_begun / 20;
    ASSERT_EQ(depths_begun, 20 * of_batch);
    ASSERT_GT(of_batch, 0u);
    for (uint32_t in_flight : {1u, 2u, 3u, 7u}) {
        o.in_flight = in_flight;
        depths_begun = 0;
        const Loader loader = open(karate.plan(), {}, o);
        for (uint64_t asked = 0; asked < 8; asked++) {
            const uint64_t given_back = asked ? asked - 1 : 0, most = (given_back + in_flight) * of_batch;
            for (int wait = 0; wait < 10000 && depths_begun < most; wait++)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::this_thread::sleep_for(std::chrono::milliseconds(10)); // for one too many
            EXPECT_EQ(depths_begun, most) << asked << " asked for, " << in_flight << " in flight";
            const csaw_minibatch *m = nullptr;
            ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
            ASSERT_EQ(m->number + 5 * m->epoch, asked);
        }
    }
}

// ---- failures and ends ------------------------------------------------------------

// The row of vertex 20 has a bad weight, which a run by ITS finds where it looks at that row.
TEST(Loader, AFailureComesInItsPlace) {
    reference::Graph graph = reference::small_graph("karate");
    graph.weight.assign(graph.col.size(), 1);
    graph.weight[graph.rowptr[20]] = -1;
    const csaw_csr csr = graph.csr();
    const reference::Library library(csr, plan_on("cpu", 0, 0));
    csaw_loader_options o = usual();
    const uint32_t one[] = {1};
    o.depth = 1;
    o.fanout = one;
    o.keep_order = true;
    o.select = CSAW_SELECT_ITS;
    for (uint32_t in_flight : {1u, 2u, 5u}) {
        o.in_flight = in_flight;
        const Loader loader = open(library.get(), {}, o);
        std::this_thread::sleep_for(std::chrono::milliseconds(30)); // the thread is ahead, as far as it may
        expect_the_third_to_fail(loader.get());
    }
}

TEST(Loader, MayBeClosedAtAnyTime) {
    const Karate karate;
    csaw_loader_options o = usual();
    o.epochs = 50;
    for (int taken : {0, 1, 2, 7}) {
        const Loader loader = open(karate.plan(), {}, o);
        const csaw_minibatch *m = nullptr;
        for (int i = 0; i < taken; i++) ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
    }
    csaw_loader_close(nullptr);
    EXPECT_EQ(all_of(open(karate.plan(), {}, usual()).get()).size(), 5u); // the plan is free again
}

TEST(Loader, EveryAllocationMayFail) {
    const Karate karate;
    std::vector<float> x(34 * 3);
    std::vector<int64_t> label(34);
    const csaw_dense features = {34, 3, 0, CSAW_F32, x.data()};
    const auto graph = reference::borrow(karate.csr);
    const csaw_vertex vertex[] = {1, 5, 9};
    const csaw_seeds seeds = {vertex, 3, nullptr};
    csaw_loader_options o = usual();
    o.batch_size = 2;
    o.features = &features;
    o.label = label.data();
    EXPECT_GT(fail_every_allocation([&] { return run_through(graph.get(), nullptr, &seeds, o); }), 20u);
}

TEST(Loader, RefusesWhatCannotBe) {
    const Karate karate;
    csaw_loader *out = nullptr;
    const auto refused = [&](csaw_loader_options o, const csaw_seeds *seeds, const std::vector<std::string> &parts) {
        EXPECT_EQ(csaw_loader_open(karate.plan(), seeds, &o, &out), CSAW_EINVAL);
        EXPECT_TRUE(message_has(parts));
        EXPECT_EQ(out, nullptr);
    };
    const csaw_vertex beyond[] = {0, 34}, twice[] = {3, 0, 3};
    const uint64_t offset[] = {0, 2};
    const csaw_seeds wrong = {beyond, 2, nullptr}, again = {twice, 3, nullptr}, pools = {beyond, 1, offset},
                     many = {nullptr, 35, nullptr};
    csaw_loader_options o = usual();
    refused(o, &wrong, {"seed 1 is vertex 34", "34 vertices"});
    refused(o, &again, {"seed 2 is vertex 3", "a seed already"});
    refused(o, &pools, {"without offset"});
    refused(o, &many, {"35 seeds", "34"});
    o.depth = 0;
    refused(o, nullptr, {"depth is 0", "layers"});
    o = usual();
    o.epochs = uint64_t{1} << 39;
    refused(o, nullptr, {"549755813888 epochs of 5 batches", "2^40"});
    o = usual();
    std::vector<float> x(33);
    csaw_dense features = {33, 1, 0, CSAW_F32, x.data()};
    o.features = &features;
    refused(o, nullptr, {"features is 33 x 1", "34 x 1"});
    features.rows = 34;
    features.data = nullptr;
    refused(o, nullptr, {"data of features is NULL"});
    o = usual();
    o.size = 4000;
    refused(o, nullptr, {"4000"});
    EXPECT_EQ(csaw_loader_open(nullptr, nullptr, nullptr, &out), CSAW_EINVAL);
    o = usual();
    EXPECT_EQ(csaw_loader_open(karate.plan(), nullptr, &o, nullptr), CSAW_EINVAL);
    o.sampler = &csaw_multidimensional; // whose first frontier is one of the seeds
    const uint32_t one[] = {1, 1};
    o.fanout = one;
    const Loader loader = open(karate.plan(), {}, o);
    const csaw_minibatch *m = nullptr;
    EXPECT_EQ(csaw_loader_next(loader.get(), &m), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"'multidimensional'", "8 seeds"}));
    EXPECT_EQ(csaw_loader_next(loader.get(), nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_loader_next(nullptr, &m), CSAW_EINVAL);
}

} // namespace
