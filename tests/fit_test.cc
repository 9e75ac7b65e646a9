/* SPDX-License-Identifier: MIT */
/* tests/fit_test.cc - the division of device memory among partitions, queues and instances: decisions worked out by
 * hand from the rules that partition/fit.c states, and what must hold whatever is asked. */
#include "partition/fit.h"

#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>

namespace {

const uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

csaw__fit_request ask(uint64_t rows, uint64_t arcs, uint64_t longest_row, uint32_t row_bytes, uint32_t arc_bytes,
                      uint64_t memory, uint32_t parts = 0, uint32_t resident = 0, uint32_t streams = 0) {
    csaw__fit_request out = {};
    out.rows = rows;
    out.arcs = arcs;
    out.longest_row = longest_row;
    out.row_bytes = row_bytes;
    out.arc_bytes = arc_bytes;
    out.memory = memory;
    out.parts = parts;
    out.resident = resident;
    out.streams = streams;
    return out;
}

struct Situation {
    const char *name;
    csaw__fit_request request;
    uint32_t parts, resident, streams;
    uint64_t part; // bytes of a slot
    bool whole;
};

// The graph of most: 2^20 rows of 8 bytes and 2^24 - 1 arcs of 4 take 8 + 64 MiB, less 4 bytes and 8 more: 72 MiB + 4.
// Its longest row, 2^16 - 4 arcs, takes 256 KiB - 16 and 16 more for itself and the offset behind it: 256 KiB.
const uint64_t rows = 1 << 20, arcs = (1 << 24) - 1, longest = (1 << 16) - 4, graph = 72 * MiB + 4;

const Situation situations[] = {
    // Without a limit all partitions stay; 4 streams are enough.
    {"no limit", ask(rows, arcs, longest, 8, 4, 0, 0, 0, 0), 1, 1, 1, graph, true},
    {"no limit, 3 parts", ask(rows, arcs, longest, 8, 4, 0, 3, 0, 0), 3, 3, 3, 24 * MiB + 2 + 256 * KiB, false},
    {"no limit, 17 parts", ask(rows, arcs, longest, 8, 4, 0, 17, 0, 0), 17, 17, 4, 4441028 + 256 * KiB, false},
    {"no limit, 4 parts, 2 resident", ask(rows, arcs, longest, 8, 4, 0, 4, 2, 0), 4, 2, 2, 18 * MiB + 1 + 256 * KiB,
     false},
    {"no limit, 4 parts, 2 resident, 1 stream", ask(rows, arcs, longest, 8, 4, 0, 4, 2, 1), 4, 2, 1,
     18 * MiB + 1 + 256 * KiB, false},
    {"more resident than there are", ask(rows, arcs, longest, 8, 4, 0, 4, 9, 9), 4, 4, 4, 18 * MiB + 1 + 256 * KiB,
     false},
    // 3/4 of 100 MiB are 75, of 96 MiB 72: four bytes too few.
    {"fits", ask(rows, arcs, longest, 8, 4, 100 * MiB, 0, 0, 0), 1, 1, 1, graph, true},
    {"fits by a hair", ask(rows, arcs, longest, 8, 4, 96 * MiB + 8, 0, 0, 0), 1, 1, 1, graph, true},
    // 72 MiB less 4 of degrees are 2 slots of 34 MiB; less a row 33.75: 72 MiB are in 2.01 of them, 3. Each is brought
    // once, which costs 4 MiB beside its own bytes: 3 slots, 22.4 MiB without a row, would cost it 4 times.
    {"does not fit by a hair", ask(rows, arcs, longest, 8, 4, 96 * MiB, 0, 0, 0), 3, 2, 2, 25165826 + 256 * KiB, false},
    // 18 MiB less 4: 2 slots of 7 MiB, 6.75 without a row: 10.67.
    {"a quarter of it", ask(rows, arcs, longest, 8, 4, 24 * MiB, 0, 0, 0), 11, 2, 2, 6863407 + 256 * KiB, false},
    // 4 slots of 3.5 MiB, 3.25 without a row: 22.15.
    {"a quarter, 4 resident", ask(rows, arcs, longest, 8, 4, 24 * MiB, 0, 4, 0), 23, 4, 4, 3282499 + 256 * KiB, false},
    {"a quarter, 2 resident, 1 stream", ask(rows, arcs, longest, 8, 4, 24 * MiB, 0, 2, 1), 11, 2, 1,
     6863407 + 256 * KiB, false},
    // 32 parts of 2.25 MiB and a row, 2.5 MiB: 14 MiB hold 5.6 of them.
    {"a quarter, 32 parts", ask(rows, arcs, longest, 8, 4, 24 * MiB, 32, 0, 0), 32, 5, 4, 2359297 + 256 * KiB, false},
    {"a quarter, 32 parts, 3 resident", ask(rows, arcs, longest, 8, 4, 24 * MiB, 32, 3, 0), 32, 3, 3,
     2359297 + 256 * KiB, false},
    // A row of 2^20 - 4 arcs takes 4 MiB, more than half of 3.5 or 4.67 MiB, but not of 14 / 1: 10 without it, 7.2.
    // Two slots of 7 MiB would not do either.
    {"a hub", ask(rows, arcs, (1 << 20) - 4, 8, 4, 24 * MiB, 0, 0, 0), 8, 1, 1, 9437185 + 4 * MiB, false},
    // One of 3 MiB fills less than half of 7 MiB: 4 MiB are left for 18 of them, and 4 bytes for one more.
    {"a smaller hub", ask(rows, arcs, 3 * (1 << 18) - 4, 8, 4, 24 * MiB, 0, 0, 0), 19, 2, 2, 3973552 + 3 * MiB, false},
    // Alias tables: 24 bytes a row, 20 an arc: 24 + 320 MiB less 20 and 8 more. 96 MiB: 68 for 2 slots of 34; the row
    // takes 65532 * 20 + 24 + 8 = 1310672 bytes of one: 34340912 are left, 10.5 of them.
    {"with tables", ask(rows, arcs, longest, 24, 20, 96 * MiB, 0, 0, 0), 11, 2, 2, 32791831 + 1310672, false},
    // Billions: 2^26 rows, 2^31 arcs: 8.5 GiB and 8 bytes. 3 GiB less 0.25 of degrees: 2 slots of 1408 MiB, 6.2.
    {"billions", ask(1 << 26, 1ull << 31, 1 << 20, 8, 4, 4 * GiB, 0, 0, 0), 7, 2, 2, 1303829359 + 4 * MiB + 16, false},
    {"billions fit", ask(1 << 26, 1ull << 31, 1 << 20, 8, 4, 16 * GiB, 0, 0, 0), 1, 1, 1, 8 * GiB + 512 * MiB + 8,
     true},
    {"no vertex", ask(0, 0, 0, 8, 4, 1 * MiB, 0, 0, 0), 1, 1, 1, 8, true},
};
static_assert(sizeof situations / sizeof *situations == 20, "twenty of them");

TEST(Fit, TwentySituations) {
    for (const Situation &s : situations) {
        SCOPED_TRACE(s.name);
        csaw__fit fit;
        ASSERT_EQ(CSAW_OK, csaw__fit_memory(&s.request, &fit)) << csaw_last_error();
        EXPECT_EQ(fit.parts, s.parts);
        EXPECT_EQ(fit.resident, s.resident);
        EXPECT_EQ(fit.streams, s.streams);
        EXPECT_EQ(fit.part, s.part);
        EXPECT_EQ(fit.whole, s.whole);
        EXPECT_EQ(fit.degrees, s.whole ? 0 : 4 * s.request.rows);
    }
}

// 24 MiB: a sixteenth is 1.5 MiB, 98304 entries; a 64th is 384 KiB, 24576 entries. Instances have what all else leaves.
TEST(Fit, QueuesAndInstances) {
    const csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB, 0, 0, 0);
    csaw__fit fit;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_EQ(fit.queue_room, 8936u); // of 11
    EXPECT_EQ(fit.queues, 8936u * 11 * 16);
    EXPECT_EQ(fit.spill_room, 12288u); // of 2
    EXPECT_EQ(fit.spills, 384 * KiB);
    const uint64_t left = 24 * MiB - 2 * (6863407 + 256 * KiB) - 4 * MiB - 8936u * 11 * 16 - 384 * KiB;
    EXPECT_EQ(fit.instances, left);
    EXPECT_EQ(fit.tables, 0u);
    csaw__fit_request on_gpu = request;
    on_gpu.table_bytes = 100;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&on_gpu, &fit));
    EXPECT_EQ(fit.tables, 1100u);
    EXPECT_EQ(fit.instances, left - 1100);
}

// Queues take 64 MiB of 1 GiB and what overflows them 16; the graph, which is whole, takes 72 MiB and 4 bytes.
TEST(Fit, WhatAWholeGraphLeavesIsForInstances) {
    const csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 1 * GiB);
    csaw__fit fit;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_TRUE(fit.whole);
    EXPECT_EQ(fit.instances, 1 * GiB - graph - 64 * MiB - 16 * MiB);
}

// The same memory, and instances of 80 steps and 1 KiB that together want 4 or 16 MiB of it. A quarter of the memory
// leaves 4.5 MiB for them beside 2 slots: one round, or 4. One round of 11 partitions and 9 more every two steps,
// of 6.5 MiB and 4 more, costs 3.8 GiB; of 23 partitions, 4 resident, 5.5 GiB. So 4 rounds cost 15.3. With
//      9 MiB  14 partitions, 7.3 MiB for instances: 3 rounds of 494 * 9.1 MiB, 13.2 GiB
//     12 MiB  20 partitions, 10.4 MiB:              2 rounds of 740 * 7.6 MiB, 11.0 GiB
//     15 MiB  33 partitions, 13.3 MiB:              2 rounds of 1273 * 6.2 MiB, 15.4 GiB
//     18 MiB  97 partitions, 16.1 MiB:              1 round of 3897 * 4.7 MiB, 18.0 GiB
// of which the second is best for 16 GiB, too.
TEST(Fit, RoundsOfInstancesAreWeighedAgainstSlots) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB);
    csaw__fit fit;
    request.steps = 80;
    request.one = 1 * KiB;
    request.wanted = 4 * MiB;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_EQ(fit.parts, 11u);
    EXPECT_EQ(csaw__fit_rounds(&request, &fit), 1u);
    for (uint64_t wanted : {16 * MiB, 16 * GiB}) {
        request.wanted = wanted;
        ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
        EXPECT_EQ(fit.parts, 20u);
        EXPECT_EQ(fit.resident, 2u);
        EXPECT_EQ(fit.part, 3774874 + 256 * KiB);
        if (wanted == 16 * MiB) {
            EXPECT_EQ(csaw__fit_rounds(&request, &fit), 2u);
        }
    }
}

// The same without queues, 16 MiB wanted. Exactly half of it leaves 12 MiB for 2 slots of 6, 5.75 without a row: 12.5
// of them, so 13 partitions in 2 rounds of 453 * 9.5 MiB, 8.4 GiB. All of it leaves 4 MiB, 42 partitions: 9.2 GiB; a
// third 11 partitions in 3 rounds, 11.5 GiB; of eighths 9 MiB are best, 14 partitions in 2 rounds, 8.8 GiB.
TEST(Fit, WithoutQueuesRoundsAreExact) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB);
    csaw__fit fit;
    request.steps = 80;
    request.one = 1 * KiB;
    request.wanted = 16 * MiB;
    request.no_queues = true;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_EQ(fit.parts, 13u);
    EXPECT_EQ(fit.resident, 2u);
    EXPECT_EQ(fit.queues + fit.spills, 0u);
    EXPECT_EQ(csaw__fit_rounds(&request, &fit), 2u);
}

// Two batches of 8 MiB. Memory for more than a batch is worth no more than a batch; with 7 MiB the batches are whole
// rounds, so that 3 rounds do for both, though one batch takes 2.
TEST(Fit, RoundsAreOfAllBatches) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB);
    csaw__fit fit = {};
    request.one = 1 * KiB;
    request.wanted = 8 * MiB;
    request.all = 16 * MiB;
    fit.instances = 12 * MiB; // more than a batch
    EXPECT_EQ(csaw__fit_rounds(&request, &fit), 2u);
    fit.instances = 7 * MiB;
    EXPECT_EQ(csaw__fit_rounds(&request, &fit), 3u);
    request.all = 0;
    EXPECT_EQ(csaw__fit_rounds(&request, &fit), 2u);
    fit.instances = 8 * MiB;
    EXPECT_EQ(csaw__fit_rounds(&request, &fit), 1u);
}

// 24 MiB, 80 steps of 1 KiB in all, 5 MiB a batch. Of one batch one round does, with 9 MiB for instances and 14
// partitions, 4.4 GiB, where the quarter's 4.5 MiB need two, 7.6. Of 9 MiB in all the quarter needs 2 rounds as well,
// and so do 9 MiB: 8.8 GiB.
TEST(Fit, DividesForTheRoundsOfAllBatches) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB);
    csaw__fit fit;
    request.steps = 80;
    request.one = 1 * KiB;
    request.wanted = 5 * MiB;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_EQ(fit.parts, 14u);
    request.all = 9 * MiB;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_EQ(fit.parts, 11u);
}

// 24 MiB and 149,796 walks of 28 bytes and 80 steps: 11 partitions in one round, as above, cost 3.8 GiB. Steps that
// cost 180 bytes each come to 2.0 GiB, of 720 to 8.0.
TEST(Fit, StaysOnTheHostWhereThatCostsLess) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB);
    csaw__fit fit;
    request.steps = 80;
    request.one = 28;
    request.wanted = 4 * MiB;
    for (uint32_t cost : {0, 720}) {
        request.step_cost = cost;
        ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
        EXPECT_FALSE(fit.in_place);
        EXPECT_EQ(fit.parts, 11u);
    }
    request.step_cost = 180;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit));
    EXPECT_TRUE(fit.in_place && !fit.whole);
    EXPECT_EQ(fit.parts, 1u);
    EXPECT_EQ(fit.part + fit.degrees + fit.tables, 0u);
    EXPECT_EQ(fit.instances, 24 * MiB - 24 * MiB / 16 - 24 * MiB / 64);
    for (int given = 0; given < 4; given++) { // by who says how partitions are to come, and where the graph fits
        csaw__fit_request q = request;
        if (given == 0) q.parts = 11;
        if (given == 1) q.resident = 2;
        if (given == 2) q.streams = 2;
        if (given == 3) q.memory = 100 * MiB;
        ASSERT_EQ(CSAW_OK, csaw__fit_memory(&q, &fit));
        EXPECT_FALSE(fit.in_place) << given;
        EXPECT_EQ(fit.whole, given == 3);
    }
}

// It stays because somebody said so; no partition would hold a row of 352 KB.
TEST(Fit, StaysOnTheHostWhereItIsToldTo) {
    csaw__fit_request hub = ask(1000, 100000, 90000, 8, 4, 256 * KiB);
    csaw__fit fit;
    hub.step_cost = 180;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&hub, &fit));
    hub.stays = true;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&hub, &fit));
    EXPECT_TRUE(fit.in_place);
    EXPECT_EQ(fit.instances, 256 * KiB - 16 * KiB - 4 * KiB);
    hub.one = 237 * KiB;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&hub, &fit));
}

// Whatever the numbers, all that is handed out is within the memory, and the parts hold the graph.
TEST(Fit, NeverMoreThanThereIs) {
    uint64_t decided = 0;
    for (uint64_t memory = 4 * KiB; memory < 4 * GiB; memory = memory * 3 / 2)
        for (uint64_t arcs_of : {1000, 100000, 100000000})
            for (uint64_t longest_of : {1, 900, 70000})
                for (uint32_t parts : {0, 1, 2, 17, 500})
                    for (uint32_t resident : {0, 1, 3})
                        for (uint32_t streams : {0, 2})
                            for (uint64_t wanted : {uint64_t{0}, 64 * MiB, 65 * MiB}) {
                                csaw__fit_request q =
                                    ask(arcs_of / 10, arcs_of, longest_of, 8, 12, memory, parts, resident, streams);
                                csaw__fit fit;
                                q.one = wanted ? 428 : 0;
                                q.wanted = wanted;
                                q.steps = 80;
                                q.step_cost = wanted == 65 * MiB ? 180 : 0;
                                const csaw_status status = csaw__fit_memory(&q, &fit);
                                if (status != CSAW_OK) {
                                    ASSERT_EQ(status, CSAW_EDEVMEM);
                                    continue;
                                }
                                decided++;
                                ASSERT_LE(fit.resident * fit.part + fit.degrees + fit.queues + fit.spills +
                                              fit.instances,
                                          memory);
                                ASSERT_GE(fit.instances, q.one);
                                ASSERT_GE(fit.in_place ? fit.graph : fit.parts * fit.part, fit.graph);
                                ASSERT_FALSE(fit.in_place && (fit.part || fit.whole));
                                ASSERT_LE(fit.resident, fit.parts);
                                ASSERT_LE(fit.streams, fit.resident);
                                ASSERT_TRUE(parts == 0 || fit.parts == parts);
                                ASSERT_TRUE(resident == 0 || fit.resident == std::min(resident, fit.parts));
                            }
    EXPECT_GT(decided, 2000u);
}

TEST(Fit, SaysWhatIsTooLittle) {
    csaw__fit fit;
    const csaw__fit_request hub = ask(1000, 100000, 90000, 8, 4, 256 * KiB, 0, 0, 0);
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&hub, &fit));
    EXPECT_NE(std::string(csaw_last_error()).find("longest row takes 351.6 KiB"), std::string::npos)
        << csaw_last_error(); // 90000 * 4 + 16 bytes
    const csaw__fit_request few = ask(1000, 100000, 10, 8, 4, 256 * KiB, 2, 2, 0);
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&few, &fit));
    EXPECT_NE(std::string(csaw_last_error()).find("more partitions"), std::string::npos) << csaw_last_error();
    const csaw__fit_request queues = ask(1000, 2000, 10, 8, 4, 16 * KiB, 1000, 0, 0);
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&queues, &fit));
    EXPECT_NE(std::string(csaw_last_error()).find("queues of 1000 partitions"), std::string::npos) << csaw_last_error();
    EXPECT_NE(std::string(csaw_last_error()).find(", or fewer partitions"), std::string::npos) << csaw_last_error();
}

// The memory that a refusal names; 0 if it names none.
uint64_t named(const std::string &said) {
    unsigned long long number = 0;
    char unit[4] = "";
    const size_t at = said.rfind("; give ");
    if (at == std::string::npos || sscanf(said.c_str() + at, "; give %llu %3s", &number, unit) != 2) return 0;
    return number * (std::string(unit) == "KiB" ? KiB : std::string(unit) == "MiB" ? MiB : 0);
}

// 24 MiB: a quarter leaves 4826900 bytes for instances, as above, three quarters 16912620: one of 16 MiB fits, of 20
// not.
TEST(Fit, OneInstanceFitsOrIsRefused) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 24 * MiB);
    csaw__fit fit;
    request.steps = 80;
    request.one_step = 1 * KiB;
    request.one = request.wanted = 16 * MiB;
    ASSERT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit)) << csaw_last_error();
    EXPECT_GE(fit.instances, 16 * MiB);
    request.one = request.wanted = 20 * MiB;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&request, &fit));
    const std::string said = csaw_last_error();
    EXPECT_NE(said.find("an instance of 80 steps takes 20971520 bytes, but 4826900 are left"), std::string::npos)
        << said;
    EXPECT_EQ(said.find("fewer steps"), std::string::npos) << said << "\n79 KiB less are still too much";
    request.one_step = 256 * KiB;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&request, &fit));
    EXPECT_NE(std::string(csaw_last_error()).find(", or fewer steps"), std::string::npos) << csaw_last_error();
}

// Memory is what a GPU leaves to use: its own is named, of which a tenth goes.
TEST(Fit, ADescribedGpuIsNamedByItsOwnMemory) {
    csaw__fit_request request = ask(rows, arcs, longest, 8, 4, 4 * MiB, 4);
    csaw__fit fit;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&request, &fit));
    const uint64_t plain = named(csaw_last_error());
    request.described = true;
    EXPECT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&request, &fit));
    const std::string said = csaw_last_error();
    EXPECT_NE(said.find(", of which the driver has a tenth"), std::string::npos) << said;
    EXPECT_NEAR(static_cast<double>(named(said)), static_cast<double>(plain) * 10 / 9, 1024 * 1.12);
    request.memory = csaw__fit_usable(named(said));
    EXPECT_EQ(CSAW_OK, csaw__fit_memory(&request, &fit)) << csaw_last_error();
    EXPECT_EQ(csaw__fit_usable(100 * MiB), 90 * MiB);
}

// Each remedy that is offered beside memory would do, somewhere.
bool remedies_help(const csaw__fit_request &refused, const std::string &said, uint64_t *offered) {
    const char *const remedies[] = {", or fewer steps", ", or more partitions", ", or fewer partitions",
                                    ", or fewer resident"};
    for (int r = 0; r < 4; r++) {
        if (said.find(remedies[r]) == std::string::npos) continue;
        bool helps = false;
        offered[r]++;
        for (uint64_t number = r == 1 ? refused.parts + 1u : 1; number <= 65536 && !helps; number += number / 64 + 1) {
            csaw__fit_request q = refused;
            csaw__fit fit;
            if (r == 0) q.one = q.wanted = 112 + 4, q.steps = 1;
            if (r == 1 || r == 2) q.parts = static_cast<uint32_t>(r == 1 && number > 64512 ? 65536 : number);
            if (r == 3) q.resident = static_cast<uint32_t>(number);
            if ((r == 2 && number >= refused.parts) || (r == 3 && number >= refused.resident)) break;
            helps = csaw__fit_memory(&q, &fit) == CSAW_OK;
        }
        if (!helps) return false;
    }
    return true;
}

// Whatever was refused: given what the refusal names, it is accepted; and that is not far above the least that is.
TEST(Fit, WhatARefusalNamesIsAccepted) {
    std::mt19937_64 random(5);
    const auto up_to = [&](uint64_t most) { return random() % (most + 1); };
    const auto about = [&](int bits) { return random() >> 1 >> (63 - up_to(static_cast<uint64_t>(bits))); };
    uint64_t refused = 0, offered[4] = {};
    for (int i = 0; i < 20000; i++) {
        const uint64_t num_rows = about(28) + 1, degree = about(7), num_arcs = num_rows * degree;
        const bool tables = up_to(1);
        csaw__fit_request q = ask(num_rows, num_arcs, std::min(num_arcs, degree + about(24)), tables ? 24 : 8,
                                  tables ? 20 : 4, about(36) + 1);
        if (up_to(2) == 0) q.parts = static_cast<uint32_t>(about(16)) + 1;
        if (up_to(2) == 0) q.resident = static_cast<uint32_t>(about(8)) + 1;
        if (up_to(2) == 0) q.streams = static_cast<uint32_t>(up_to(63)) + 1;
        if (up_to(2)) {
            q.steps = static_cast<uint32_t>(about(24));
            q.one_step = 4;
            q.one = 112 + 4 * static_cast<uint64_t>(q.steps);
            q.wanted = q.one * (about(30) + 1);
        }
        csaw__fit fit;
        if (csaw__fit_memory(&q, &fit) == CSAW_OK) continue;
        const std::string said = csaw_last_error();
        const uint64_t memory = q.memory;
        const bool helps = remedies_help(q, said, offered);
        ASSERT_TRUE(helps) << said;
        q.memory = named(said);
        ASSERT_GT(q.memory, memory) << said;
        ASSERT_EQ(CSAW_OK, csaw__fit_memory(&q, &fit)) << said << "\n" << csaw_last_error();
        refused++;
        if (q.memory / 2 <= memory || q.memory < 64 * KiB) continue; // whole KiB are named
        q.memory /= 2;
        ASSERT_EQ(CSAW_EDEVMEM, csaw__fit_memory(&q, &fit)) << said << "\nhalf of it would do";
    }
    EXPECT_GT(refused, 5000u);
    for (uint64_t count : offered) EXPECT_GT(count, 20u);
}

// 12 of 16 are elsewhere, and each is asked for every second step of 80; where steps ask about prev, once more each
// step but the first.
TEST(Fit, ExpectedTransfers) {
    csaw__fit fit = {};
    fit.parts = 16;
    fit.resident = 4;
    EXPECT_EQ(csaw__fit_transfers(&fit, 80, false), 16 + 12 * 40);
    EXPECT_EQ(csaw__fit_transfers(&fit, 80, true), 16 + 12 * (40 + 79));
    EXPECT_EQ(csaw__fit_transfers(&fit, 0, true), 16);
    fit.resident = 16;
    EXPECT_EQ(csaw__fit_transfers(&fit, 80, false), 16);
    EXPECT_EQ(csaw__fit_transfers(&fit, 80, true), 16);
}

} // namespace
