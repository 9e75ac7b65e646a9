/* SPDX-License-Identifier: MIT */
/* tests/plan_test.cc - plans that are refused, and plans that explain themselves alone. */
#include "tests/reference/graphs.h"
#include "tests/reference/public_api.h"

#include <gtest/gtest.h>

#include <string>

namespace {

const reference::Graph &karate() {
    static const reference::Graph graph = reference::small_graph("karate");
    return graph;
}

struct Refused {
    csaw_status status;
    std::string message;
};

template <class Change> Refused create(const char *device, const Change &change, csaw_plan **out = nullptr) {
    static const auto graph = reference::borrow(karate().csr());
    csaw_plan_options options = reference::plan_on(device, 1, 0);
    csaw_plan *plan = nullptr;
    change(options);
    const csaw_status status = csaw_plan_create(graph.get(), &options, &plan);
    const Refused refused = {status, status == CSAW_OK ? "" : csaw_last_error()};
    if (out)
        *out = plan;
    else
        csaw_plan_free(plan);
    return refused;
}

bool holds(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

TEST(Plan, OptionsOfAGpuAreRefusedOnTheCpu) {
    for (int which = 0; which < 4; which++) {
        const Refused got = create("cpu", [&](csaw_plan_options &options) {
            if (which == 0) options.gpu_memory = 1 << 20;
            if (which == 1) options.resident = 1;
            if (which == 2) options.streams = 1;
            if (which == 3) options.described_memory = 1 << 20;
        });
        EXPECT_EQ(got.status, CSAW_EINVAL) << which;
        EXPECT_TRUE(holds(got.message, "the device is 'cpu'; give 'cuda:N' or 'simulated'")) << got.message;
    }
}

TEST(Plan, NumbersOutOfRangeAreRefused) {
    for (int resident : {-1, 65537}) {
        const Refused got = create("simulated", [&](csaw_plan_options &options) { options.resident = resident; });
        EXPECT_EQ(got.status, CSAW_EINVAL);
        EXPECT_TRUE(holds(got.message, "resident is ")) << got.message;
    }
    for (int streams : {-1, 65}) {
        const Refused got = create("simulated", [&](csaw_plan_options &options) { options.streams = streams; });
        EXPECT_EQ(got.status, CSAW_EINVAL);
        EXPECT_TRUE(holds(got.message, "streams is ")) << got.message;
    }
    for (int partitions : {-1, 65537}) {
        const Refused got = create("simulated", [&](csaw_plan_options &options) { options.partitions = partitions; });
        EXPECT_EQ(got.status, CSAW_EINVAL);
        EXPECT_TRUE(holds(got.message, "partitions is ")) << got.message;
    }
    const Refused got = create("cpu", [&](csaw_plan_options &options) { options.depth = 1 << 24; });
    EXPECT_EQ(got.status, CSAW_EINVAL);
    EXPECT_TRUE(holds(got.message, "depth is 16777216; walks have at most")) << got.message;
    for (const char *device :
         {"simulate", "simulated:1", "cudas", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999", ""}) {
        const Refused refused = create(device, [](csaw_plan_options &) {});
        EXPECT_EQ(refused.status, CSAW_EINVAL) << device;
        EXPECT_TRUE(holds(refused.message, "is not known; give 'cpu', 'simulated', 'cuda:N'")) << refused.message;
    }
    EXPECT_EQ(create("simulated", [](csaw_plan_options &options) { options.described_memory = 1; }).status,
              CSAW_EINVAL);
}

// Said before a GPU is looked for.
TEST(Plan, ListsThatAreNotOfGpusAreRefused) {
    std::string seventeen = "cuda:0";
    for (int i = 1; i < 17; i++) seventeen += ",cuda:" + std::to_string(i);
    const std::pair<std::string, const char *> wrong[] = {
        {"cuda:0,", "entry 2 is empty"},
        {",cuda:0", "entry 1 is empty"},
        {"cuda:0,,cuda:1", "entry 2 is empty"},
        {"cpu,cuda:0", "entry 1 is 'cpu', but a list is of GPUs"},
        {"cuda:0,cpu", "entry 2 is 'cpu', but a list is of GPUs"},
        {"cuda:0,simulated", "entry 2 is 'simulated', but"},
        {"cuda:0,all", "entry 2 is 'all', but"},
        {"cuda:0, cuda:1", "entry 2 is ' cuda:1', but"},
        {"cuda:0,cuda:1000000000000", "entry 2 is 'cuda:1000000000000'"},
        {seventeen, "lists more than 16 GPUs"}};
    for (const auto &[device, why] : wrong) {
        const Refused got = create(device.c_str(), [](csaw_plan_options &) {});
        EXPECT_EQ(got.status, CSAW_EINVAL) << device;
        EXPECT_TRUE(holds(got.message, why)) << got.message;
    }
    const Refused got = create("all", [](csaw_plan_options &options) { options.described_memory = 1ull << 30; });
    EXPECT_EQ(got.status, CSAW_EINVAL);
    EXPECT_TRUE(holds(got.message, "list them, such as 'cuda:0,cuda:1'")) << got.message;
}

TEST(Plan, OfSeveralDescribedGpusEachHasItsShareOfTheWalks) {
    for (const auto &[device, line] : {std::pair<const char *, const char *>{"cuda:0", "\nwalks       34 of them"},
                                       {"cuda:0,cuda:1,cuda:2", "\nwalks       12 of them"},
                                       {"cuda:5,cuda:5", "\nwalks       17 of them"}}) {
        csaw_plan *plan = nullptr;
        const Refused got = create(
            device, [](csaw_plan_options &options) { options.described_memory = 16ull << 30; }, &plan);
        ASSERT_EQ(got.status, CSAW_OK) << got.message;
        EXPECT_TRUE(holds(csaw_plan_explain(plan), line)) << csaw_plan_explain(plan);
        csaw_plan_free(plan);
    }
}

// Said before a GPU is looked for.
TEST(Plan, WhatNoGpuCanDoIsRefusedWithTheRemedy) {
    Refused got = create("cuda:0", [](csaw_plan_options &options) { options.gpu_memory = 16; });
    EXPECT_EQ(got.status, CSAW_EDEVMEM);
    EXPECT_TRUE(holds(got.message, "16 bytes of GPU memory are too little: ")) << got.message;
    EXPECT_TRUE(holds(got.message, "; give 1 KiB")) << got.message;
    for (int which = 0; which < 2; which++) {
        got = create("cuda:0", [&](csaw_plan_options &options) {
            options.gpu_memory = 1ull << 40;
            (which ? options.streams : options.resident) = 1;
        });
        EXPECT_EQ(got.status, CSAW_EINVAL);
        EXPECT_TRUE(holds(got.message, "leave them out, or give partitions, or less gpu_memory")) << got.message;
    }
}

TEST(Plan, OfADescribedGpuExplainsItselfAlone) {
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    const Refused got = create(
        "cuda:0", [](csaw_plan_options &options) { options.described_memory = 16ull << 30; }, &plan);
    ASSERT_EQ(got.status, CSAW_OK) << got.message;
    EXPECT_TRUE(holds(csaw_plan_explain(plan), "a GPU of 16384.0 MiB that need not be here"))
        << csaw_plan_explain(plan);
    EXPECT_EQ(CSAW_EUNSUPPORTED, csaw_sample(plan, &csaw_uniform, nullptr, nullptr, nullptr, &samples));
    EXPECT_TRUE(holds(csaw_last_error(), "described_memory")) << csaw_last_error();
    EXPECT_EQ(samples, nullptr);
    csaw_plan_free(plan);
}

TEST(Plan, PartitionsOnTheCpuTakeTurnsOnOneThread) {
    csaw_plan *plan = nullptr;
    const Refused got = create(
        "cpu",
        [](csaw_plan_options &options) {
            options.threads = 3;
            options.partitions = 2;
        },
        &plan);
    ASSERT_EQ(got.status, CSAW_OK) << got.message;
    EXPECT_TRUE(holds(csaw_plan_explain(plan), "cpu, 1 thread: partitions take turns\n")) << csaw_plan_explain(plan);
    csaw_plan_free(plan);
}

// 34 walks of 80 steps, 428 bytes each, where nobody says what for; a walk that does not fit is refused with its plan.
TEST(Plan, SaysForWhichJobAndRefusesOneThatDoesNotFit) {
    csaw_plan *plan = nullptr;
    ASSERT_EQ(create(
                  "cpu", [](csaw_plan_options &) {}, &plan)
                  .status,
              CSAW_OK);
    EXPECT_TRUE(holds(csaw_plan_explain(plan), "\njob         1 walk of 80 steps from each of 34 vertices: 34 walks, "))
        << csaw_plan_explain(plan);
    csaw_plan_free(plan);
    const auto of_7_walks = [](csaw_plan_options &options) {
        options.gpu_memory = 4096;
        options.depth = 20;
        options.walks_per_seed = 7;
    };
    ASSERT_EQ(create("simulated", of_7_walks, &plan).status, CSAW_OK);
    EXPECT_TRUE(
        holds(csaw_plan_explain(plan), "\njob         7 walks of 20 steps from each of 34 vertices: 238 walks, "))
        << csaw_plan_explain(plan);
    csaw_plan_free(plan);
    const Refused got = create("simulated", [](csaw_plan_options &options) {
        options.gpu_memory = 4096;
        options.depth = 1000; // 104 bytes and 1001 * 4
    });
    EXPECT_EQ(got.status, CSAW_EDEVMEM);
    EXPECT_TRUE(holds(got.message, "an instance of 1000 steps takes 4108 bytes")) << got.message;
    EXPECT_TRUE(holds(got.message, "KiB, or fewer steps")) << got.message;
}

// Every line of an explanation with partitions and tables is there in full.
TEST(Plan, ExplanationsAreWhole) {
    csaw_plan *plan = nullptr;
    ASSERT_EQ(create(
                  "simulated", [](csaw_plan_options &options) { options.gpu_memory = 1024; }, &plan)
                  .status,
              CSAW_OK);
    const std::string text = csaw_plan_explain(plan);
    for (const char *word : {"graph ", "select auto ", "tables ", "job ", "device ", "gpu memory ", "partitions ",
                             "resident ", "walks ", "transfers ", "with alias ", "questions "})
        EXPECT_TRUE(holds("\n" + text, (std::string("\n") + word).c_str())) << word << "\n" << text;
    EXPECT_EQ(text.back(), '\n');
    csaw_plan_free(plan);
}

} // namespace
