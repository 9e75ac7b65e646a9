/* SPDX-License-Identifier: MIT */
/* tests/loader_owner_test.cc - who has what of a loader: its plan, while it is open; batches that the caller takes;
 * what it has when it begins anew; and, after fork(), nothing in the child. */
#include "tests/failing_allocations.h"
#include "tests/loader_cases.h"
#include "tests/reference/graphs.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace loader_cases;
using graph_cases::message_has;
using reference::plan_on;

namespace {

const uint32_t fanout[] = {3, 2};

struct Karate {
    reference::Graph graph = reference::small_graph("karate");
    csaw_csr csr = graph.csr();
    reference::Library library{csr, plan_on("cpu", 0, 0)};
    std::vector<float> x;
    std::vector<int64_t> label;
    csaw_dense features = {};
    csaw_loader_options options = {};
    Karate() {
        for (int i = 0; i < 34 * 3; i++) x.push_back(static_cast<float>(i));
        for (int i = 0; i < 34; i++) label.push_back(i);
        features = {34, 3, 0, CSAW_F32, x.data()};
        options.size = sizeof options;
        options.batch_size = 8;
        options.seed = 41;
        options.depth = 2;
        options.fanout = fanout;
        options.features = &features;
        options.label = label.data();
    }
    csaw_plan *plan() const { return library.get(); }
};

// ---- the plan --------------------------------------------------------------------

csaw_status sample(csaw_plan *plan) {
    csaw_samples *samples = nullptr;
    const csaw_status status = csaw_sample(plan, &csaw_uniform, nullptr, nullptr, nullptr, &samples);
    csaw_samples_free(samples);
    return status;
}

csaw_status sample_each(csaw_plan *plan) {
    const auto ignore = [](void *, csaw_samples *) { return CSAW_OK; };
    return csaw_sample_each(plan, &csaw_uniform, nullptr, nullptr, nullptr, ignore, nullptr);
}

csaw_status saint(csaw_plan *plan) {
    csaw_saint_options o = {};
    o.size = sizeof o;
    o.budget = 3;
    csaw_subgraph *subgraph = nullptr;
    const csaw_status status = csaw_saint_sample(plan, &o, &subgraph);
    csaw_subgraph_free(subgraph);
    return status;
}

csaw_status visit(csaw_plan *plan) {
    csaw_visits *visits = nullptr;
    const csaw_status status = csaw_visits_create(plan, nullptr, nullptr, &visits);
    csaw_visits_free(visits);
    return status;
}

csaw_status load(csaw_plan *plan) {
    csaw_loader_options o = {};
    o.size = sizeof o;
    o.depth = 1;
    csaw_loader *loader = nullptr;
    const csaw_status status = csaw_loader_open(plan, nullptr, &o, &loader);
    csaw_loader_close(loader);
    return status;
}

TEST(LoaderOwner, ThePlanIsTheLoadersAlone) {
    const Karate karate;
    csaw_loader_options refused = karate.options;
    refused.epochs = uint64_t{1} << 60;
    csaw_loader *none = nullptr;
    EXPECT_EQ(csaw_loader_open(karate.plan(), nullptr, &refused, &none), CSAW_EINVAL); // and lends nothing
    const std::vector<Batch> expected = all_of(open(karate.plan(), {}, karate.options).get());
    for (const auto use : {sample, sample_each, saint, visit, load}) {
        EXPECT_EQ(use(karate.plan()), CSAW_OK) << csaw_last_error();
        const Loader loader = open(karate.plan(), {}, karate.options);
        EXPECT_EQ(use(karate.plan()), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"lent to a loader", "another plan"}));
        EXPECT_TRUE(all_of(loader.get()) == expected);
        EXPECT_EQ(use(karate.plan()), CSAW_EINVAL) << "until it is closed";
    }
    EXPECT_EQ(sample(karate.plan()), CSAW_OK);
}

TEST(LoaderOwner, NoneIsOpenedWithinABatchFunction) {
    const Karate karate;
    const auto open_one = [](void *plan, csaw_samples *) { return load(static_cast<csaw_plan *>(plan)); };
    EXPECT_EQ(csaw_sample_each(karate.plan(), &csaw_uniform, nullptr, nullptr, nullptr, open_one, karate.plan()),
              CSAW_EINVAL);
    EXPECT_TRUE(message_has({"a plan of its own"}));
    EXPECT_EQ(load(karate.plan()), CSAW_OK);
}

// ---- batches ----------------------------------------------------------------------

TEST(LoaderOwner, BatchesNameThePlacesOfTheirSeeds) {
    Karate karate;
    karate.options.epochs = 3;
    const std::vector<csaw_vertex> seeds = {30, 2, 17, 9, 4, 33, 0, 21, 5, 11};
    for (bool all : {false, true})
        for (bool keep : {false, true}) {
            karate.options.keep_order = keep;
            const Loader loader = open(karate.plan(), all ? std::vector<csaw_vertex>() : seeds, karate.options);
            uint64_t place = 0, moved = 0, batches = 0;
            for (const csaw_minibatch *m = nullptr;; batches++) {
                reference::require(csaw_loader_next(loader.get(), &m));
                if (!m) break;
                for (uint64_t i = 0; i < m->num_seeds; i++, place++) {
                    ASSERT_LT(m->input[i], all ? 34 : seeds.size());
                    EXPECT_EQ(m->vertex[i], all ? m->input[i] : seeds[m->input[i]]);
                    moved += m->input[i] != place % (all ? 34 : seeds.size());
                }
            }
            EXPECT_EQ(batches, all ? 15u : 6u);
            EXPECT_EQ(moved > 0, !keep);
        }
}

TEST(LoaderOwner, BatchesTakenStay) {
    Karate karate;
    karate.options.epochs = 2;
    const std::vector<Batch> expected = all_of(open(karate.plan(), {}, karate.options).get());
    ASSERT_EQ(expected.size(), 10u);
    for (uint32_t in_flight : {1u, 2u, 5u})
        for (unsigned every : {1u, 2u}) { // all batches, or every other one
            karate.options.in_flight = in_flight;
            std::vector<std::pair<unsigned, csaw_minibatch *>> taken;
            {
                const Loader loader = open(karate.plan(), {}, karate.options);
                const csaw_minibatch *m = nullptr;
                for (unsigned b = 0; b < 10; b++) {
                    ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
                    EXPECT_TRUE(value_of(*m) == expected[b]);
                    csaw_minibatch *own = nullptr, *again = nullptr;
                    if (b % every) continue;
                    const void *const rows = m->features.data;
                    ASSERT_EQ(csaw_loader_take(loader.get(), &own), CSAW_OK);
                    EXPECT_EQ(own->features.data, rows) << "copied";
                    taken.emplace_back(b, own);
                    EXPECT_EQ(csaw_loader_take(loader.get(), &again), CSAW_EINVAL);
                    EXPECT_TRUE(message_has({"no batch to take", "once"}));
                    EXPECT_EQ(again, nullptr);
                }
                ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
                EXPECT_EQ(m, nullptr);
            }
            for (const auto &[b, own] : taken) {
                EXPECT_TRUE(value_of(*own) == expected[b]) << b << " of " << in_flight << " in flight";
                for (uint64_t i = 0; i < own->num_seeds; i++) EXPECT_EQ(own->vertex[i], own->input[i]);
                csaw_minibatch_free(own);
            }
        }
    csaw_minibatch_free(nullptr);
}

TEST(LoaderOwner, NothingToTake) {
    const Karate karate;
    const Loader loader = open(karate.plan(), {}, karate.options);
    csaw_minibatch *own = nullptr;
    EXPECT_EQ(csaw_loader_take(loader.get(), &own), CSAW_EINVAL); // before the first
    EXPECT_TRUE(message_has({"csaw_loader_next()"}));
    EXPECT_EQ(csaw_loader_take(loader.get(), nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_loader_take(nullptr, &own), CSAW_EINVAL);
    EXPECT_EQ(all_of(loader.get()).size(), 5u);
    EXPECT_EQ(csaw_loader_take(loader.get(), &own), CSAW_EINVAL); // after the last
}

TEST(LoaderOwner, EveryAllocationOfATakeMayFail) {
    const Karate karate;
    EXPECT_GT(fail_every_allocation([&] {
                  csaw_loader *loader = nullptr;
                  csaw_status status = csaw_loader_open(karate.plan(), nullptr, &karate.options, &loader);
                  const csaw_minibatch none = {}, *m = &none;
                  while (status == CSAW_OK && m) {
                      csaw_minibatch *own = nullptr;
                      status = csaw_loader_next(loader, &m);
                      if (status == CSAW_OK && m) status = csaw_loader_take(loader, &own);
                      csaw_minibatch_free(own);
                  }
                  csaw_loader_close(loader);
                  return status;
              }),
              20u);
}

// ---- begun anew -------------------------------------------------------------------

// Whenever it is, with whatever number of seeds: the batches of a loader that was opened so.
TEST(LoaderOwner, ARestartIsAsIfItWereOpened) {
    Karate karate;
    const std::vector<csaw_vertex> few = {7, 3, 30, 1, 2, 9, 33, 4, 5}; // 2 batches; of all vertices there are 5
    const csaw_seeds view = {few.data(), few.size(), nullptr};
    karate.options.seed = 97;
    const std::vector<Batch> of_few = all_of(open(karate.plan(), few, karate.options).get());
    const std::vector<Batch> of_all = all_of(open(karate.plan(), {}, karate.options).get());
    ASSERT_EQ(of_few.size(), 2u);
    karate.options.seed = 41;
    for (uint32_t in_flight : {1u, 3u})
        for (int before : {0, 1, 3, 6}) { // the last: all 5 and the end
            karate.options.in_flight = in_flight;
            const Loader loader = open(karate.plan(), {}, karate.options);
            const csaw_minibatch *m = nullptr;
            csaw_minibatch *own = nullptr;
            for (int i = 0; i < before; i++) ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
            if (before == 3) reference::require(csaw_loader_take(loader.get(), &own));
            const Batch taken = own ? value_of(*own) : Batch{};
            ASSERT_EQ(csaw_loader_restart(loader.get(), &view, 97), CSAW_OK) << csaw_last_error();
            EXPECT_EQ(csaw_loader_batches(loader.get()), 2u);
            EXPECT_TRUE(all_of(loader.get()) == of_few) << before;
            ASSERT_EQ(csaw_loader_restart(loader.get(), nullptr, 97), CSAW_OK);
            EXPECT_TRUE(all_of(loader.get()) == of_all) << before;
            EXPECT_TRUE(!own || value_of(*own) == taken);
            csaw_minibatch_free(own);
        }
}

TEST(LoaderOwner, ARestartThatIsRefusedChangesNothing) {
    const Karate karate;
    const std::vector<Batch> expected = all_of(open(karate.plan(), {}, karate.options).get());
    const Loader loader = open(karate.plan(), {}, karate.options);
    const csaw_vertex twice[] = {3, 0, 3}, beyond[] = {34};
    for (const csaw_seeds &seeds : {csaw_seeds{twice, 3, nullptr}, csaw_seeds{beyond, 1, nullptr}})
        EXPECT_EQ(csaw_loader_restart(loader.get(), &seeds, 1), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"seed 0 is vertex 34", "34 vertices"}));
    EXPECT_EQ(csaw_loader_restart(nullptr, nullptr, 1), CSAW_EINVAL);
    EXPECT_TRUE(all_of(loader.get()) == expected);
}

// One that fails leaves a loader as it was or without batches; the next one mends it.
TEST(LoaderOwner, EveryAllocationOfARestartMayFail) {
    const Karate karate;
    const std::vector<Batch> expected = all_of(open(karate.plan(), {}, karate.options).get());
    const Loader loader = open(karate.plan(), {}, karate.options);
    const csaw_vertex vertex[] = {1, 5, 9};
    const csaw_seeds seeds = {vertex, 3, nullptr};
    usleep(100000); // the thread has made batches, which are not to be had after a restart that failed
    EXPECT_GT(fail_every_allocation([&] {
                  const csaw_status status = csaw_loader_restart(loader.get(), &seeds, 4);
                  const csaw_minibatch *m = nullptr;
                  const csaw_status after = csaw_loader_next(loader.get(), &m);
                  EXPECT_TRUE(after == CSAW_ENOMEM || (after == CSAW_OK && m && status == CSAW_OK))
                      << csaw_last_error();
                  return status == CSAW_OK ? after : status;
              }),
              4u);
    ASSERT_EQ(csaw_loader_restart(loader.get(), nullptr, karate.options.seed), CSAW_OK);
    EXPECT_TRUE(all_of(loader.get()) == expected);
}

// ---- fork() -----------------------------------------------------------------------

// In the child, which ends with the number of the first check that fails. It ends itself if a call hangs.
int use_in_child(csaw_loader *loader, csaw_plan *plan) {
    const csaw_minibatch *m = nullptr;
    csaw_minibatch *own = nullptr;
    alarm(20);
    if (csaw_loader_next(loader, &m) != CSAW_EINVAL || m) return 1;
    if (!strstr(csaw_last_error(), "in the process that uses it")) return 2;
    if (csaw_loader_take(loader, &own) != CSAW_EINVAL || own) return 3;
    if (csaw_loader_restart(loader, nullptr, 1) != CSAW_EINVAL) return 5;
    csaw_loader_close(loader);
    return sample(plan) == CSAW_EINVAL ? 0 : 4;
}

TEST(LoaderOwner, AChildProcessIsToldToOpenItsOwn) {
    Karate karate;
    const std::vector<Batch> expected = all_of(open(karate.plan(), {}, karate.options).get());
    for (uint32_t in_flight : {1u, 3u}) {
        karate.options.in_flight = in_flight;
        const Loader loader = open(karate.plan(), {}, karate.options);
        const csaw_minibatch *m = nullptr;
        ASSERT_EQ(csaw_loader_next(loader.get(), &m), CSAW_OK);
        usleep(100000); // the thread waits for room: in the child no lock of malloc() is held
        const pid_t child = fork();
        if (child == 0) _exit(use_in_child(loader.get(), karate.plan()));
        ASSERT_GT(child, 0);
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
        EXPECT_EQ(WEXITSTATUS(status), 0);
        EXPECT_TRUE(value_of(*m) == expected[0]); // the parent's goes on
        EXPECT_EQ(all_of(loader.get()).size(), 4u);
    }
}

} // namespace
