/* SPDX-License-Identifier: MIT */
/* tests/sample_each_gpu_test.cc - csaw_sample_each() on a GPU, which draws a batch while the one before is delivered:
 * many small batches hold the bits of one large one, for every sampler and method; faults come when the CPU's plan
 * tells them; every allocation fails in turn. What it does with batches is tested without a GPU in sample_each_test.cc,
 * and runs that are stopped in stopped_gpu_test.cc. */
#include "tests/fault_cases.h"
#include "tests/sample_words.h"
#include "tests/share.h"

extern "C" {
#include "runtime/base/memory.h"
}

CSAW_DECLARE_SAMPLER(faulty);

using namespace fault_cases;

namespace {

struct FaultyParams { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

struct Taken {
    bool walk;
    uint64_t batches = 0;
    std::vector<uint64_t> words{};
};

using sample_words::take_words;

csaw_status take_batch(void *user, csaw_samples *samples) {
    Taken *t = static_cast<Taken *>(user);
    t->batches++;
    return take_words(samples, t->walk, &t->words);
}

csaw_status draw_each(csaw_plan *plan, const Case &each, Method method, const Ask &ask, uint64_t batch_bytes,
                      Taken *taken) {
    const reference::Seeds seeds(ask.pools);
    const csaw_seeds view = seeds.view();
    csaw_run_options options = options_of(ask, method);
    options.batch_bytes = batch_bytes;
    taken->walk = each.walk;
    return csaw_sample_each(plan, each.sampler, each.params.empty() ? nullptr : each.params.data(), &view, &options,
                            take_batch, taken);
}

// 100 instances.
Ask ask_for_many(const Case &each) {
    Ask out = ask_on_starlet(each);
    out.each = 100 / static_cast<uint32_t>(out.pools.size());
    return out;
}

class EachGpu : public ::testing::Test {
  protected:
    void SetUp() override { SKIP_WITHOUT_GPU(); }
    const Graph graph = starlet();
    const Plans plans = {graph.csr()};
};

TEST_F(EachGpu, ManyBatchesAreOne) {
    const auto cpu = plans.on("cpu"), gpu = plans.on("cuda:0");
    uint64_t most = 0;
    for (const Case &each : all())
        for (Method method : methods_of(each, plans.csr)) {
            if (!reference::takes_case()) continue;
            SCOPED_TRACE(each.name + ", " + reference::name_of(method));
            const Ask ask = ask_for_many(each);
            const Outcome whole = draw(cpu.get(), each, method, ask);
            ASSERT_EQ(CSAW_OK, whole.status) << whole.message;
            std::vector<uint64_t> expected;
            ASSERT_EQ(CSAW_OK, take_words(whole.samples.get(), each.walk, &expected));
            for (uint64_t bytes : {1, 3000}) { // an instance, and some
                Taken taken = {};
                ASSERT_EQ(CSAW_OK, draw_each(gpu.get(), each, method, ask, bytes, &taken)) << csaw_last_error();
                EXPECT_EQ(expected, taken.words);
                if (bytes == 1) {
                    EXPECT_GE(taken.batches, 98u);
                }
                most = std::max(most, taken.batches);
            }
            ASSERT_FALSE(HasFailure());
        }
    EXPECT_GT(most, 50u);
}

TEST_F(EachGpu, AFaultIsToldAfterTheBatchesBeforeIt) {
    const auto cpu = plans.on("cpu"), gpu = plans.on("cuda:0");
    for (bool walk : {true, false}) {
        std::set<uint64_t> batches;
        for (csaw_vertex vertex = 1; vertex <= 100; vertex += 3) {
            if (!reference::takes_case()) continue;
            const Case each = {"faulty", &faulty, sample_cases::bytes_of(FaultyParams{6, vertex, 1}), {}, walk,
                               false,    {}};
            Ask ask = ask_of(each, {{0}, {1}, {55}, {99}}, 4, {2, 2});
            ask.each = 25;
            Taken a = {}, b = {};
            const csaw_status status = draw_each(cpu.get(), each, Method::its, ask, 1000, &a);
            const std::string said = csaw_last_error();
            EXPECT_EQ(status, draw_each(gpu.get(), each, Method::its, ask, 1000, &b)) << csaw_last_error();
            if (status != CSAW_OK) {
                EXPECT_EQ(CSAW_EBIAS, status);
                EXPECT_EQ(said, csaw_last_error());
                batches.insert(b.batches);
            }
            EXPECT_EQ(a.batches, b.batches);
            EXPECT_EQ(a.words, b.words);
        }
        if (reference::every_case() == 1) {
            EXPECT_GE(batches.size(), 3u) << "in the first batch, and in later ones";
        }
        Taken after = {};
        const Case good = walk ? walks()[1] : samples()[0];
        EXPECT_EQ(CSAW_OK, draw_each(gpu.get(), good, Method::its, ask_for_many(good), 1000, &after));
    }
}

TEST_F(EachGpu, EveryAllocationFailsInTurn) {
    const auto cpu = plans.on("cpu");
    for (const auto &[each, method] :
         {std::pair<Case, Method>{walks()[1], Method::reject}, {samples()[0], Method::uniform}}) {
        SCOPED_TRACE(each.name);
        Ask ask = ask_on_starlet(each);
        ask.each = 3;
        Taken expected = {};
        ASSERT_EQ(CSAW_OK, draw_each(cpu.get(), each, method, ask, 150, &expected)) << csaw_last_error();
        EXPECT_GE(expected.batches, 5u);
        for (uint64_t n = 1;; n++) {
            if (!reference::takes_case()) continue;
            const auto plan = plans.on("cuda:0"); // keeps nothing yet
            Taken taken = {};
            csaw__fail_allocations_from(n);
            const csaw_status status = draw_each(plan.get(), each, method, ask, 150, &taken);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            ASSERT_LE(taken.words.size(), expected.words.size());
            EXPECT_TRUE(std::equal(taken.words.begin(), taken.words.end(), expected.words.begin()))
                << "finished batches are right";
            if (status != CSAW_OK) {
                EXPECT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            } else {
                EXPECT_EQ(expected.words, taken.words); // with less than it asked for, it may have gone one by one
            }
            Taken again = {};
            ASSERT_EQ(CSAW_OK, draw_each(plan.get(), each, method, ask, 150, &again)) << csaw_last_error();
            EXPECT_EQ(expected.words, again.words) << "on the same plan";
            if (asked < n) {
                EXPECT_EQ(CSAW_OK, status);
                EXPECT_GT(n, 10u);
                break;
            }
            ASSERT_LT(n, 3000u);
        }
    }
}

} // namespace
