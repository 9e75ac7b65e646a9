/* SPDX-License-Identifier: MIT */
/* tests/schedule_test.cc - what the scheduler of partitions asks of its device, step by step, on a device that follows
 * a script: what is begun ends in the order in which it began, and a launch does what the script says. */
#include "partition/schedule.h"

#include <gtest/gtest.h>

#include <ctime>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace {

// A launch empties its partition's queue, then `effect` may put entries anywhere.
class Scripted {
  public:
    Scripted(std::vector<uint64_t> active, uint32_t resident, uint32_t streams) : active(std::move(active)) {
        schedule.parts = static_cast<uint32_t>(this->active.size());
        schedule.resident = resident;
        schedule.streams = streams;
        schedule.blocks = 120;
        view.self = this;
        view.allocate = Allocate;
        view.copy = Copy;
        view.launch = Launch;
        view.wait = Wait;
        view.counts = Counts;
        view.stop = Stop;
        view.need = Need;
    }
    ~Scripted() { csaw__schedule_end(&schedule); }

    std::vector<std::string> Run() {
        if (!schedule.slot) {
            EXPECT_EQ(CSAW_OK, csaw__schedule_start(&schedule, &view));
        }
        log.clear();
        status = csaw__schedule_run(&schedule, &view);
        return log;
    }

    std::vector<uint64_t> active;
    std::function<void(uint32_t part)> effect = [](uint32_t) {};
    int fail_at = -1; // the so manieth call fails
    int stopped = 0;
    csaw_status status = CSAW_OK;
    uint32_t need_each = 1000; // blocks that an entry has work for: more than there are
    csaw__schedule schedule = {};
    csaw__part_device view = {};

  private:
    struct Operation {
        uint32_t stream;
        int64_t part; // that runs; -1: a copy
    };
    static Scripted *Of(void *self) { return static_cast<Scripted *>(self); }
    csaw_status Note(const std::string &what) {
        log.push_back(what);
        return fail_at >= 0 && fail_at-- == 0 ? CSAW_ECUDA : CSAW_OK;
    }
    static csaw_status Allocate(void *, uint32_t, uint32_t) { return CSAW_OK; }
    static csaw_status Copy(void *self, uint32_t part, uint32_t slot, uint32_t stream) {
        Of(self)->under_way.push_back({stream, -1});
        return Of(self)->Note("copy " + std::to_string(part) + " to " + std::to_string(slot));
    }
    static csaw_status Launch(void *self, uint32_t part, uint32_t slot, uint32_t stream, uint32_t blocks) {
        Of(self)->under_way.push_back({stream, part});
        return Of(self)->Note("run " + std::to_string(part) + " in " + std::to_string(slot) + " by " +
                              std::to_string(blocks));
    }
    static csaw_status Wait(void *self, uint32_t *stream) {
        Scripted *s = Of(self);
        EXPECT_FALSE(s->under_way.empty()) << "there is nothing to wait for";
        const Operation ended = s->under_way.front();
        s->under_way.pop_front();
        *stream = ended.stream;
        if (ended.part >= 0) {
            s->active[static_cast<size_t>(ended.part)] = 0;
            s->effect(static_cast<uint32_t>(ended.part));
        }
        return s->Note("wait");
    }
    static csaw_status Counts(void *self, uint64_t *out) {
        std::copy(Of(self)->active.begin(), Of(self)->active.end(), out);
        return CSAW_OK;
    }
    static uint32_t Need(void *self, uint64_t entries) { return static_cast<uint32_t>(Of(self)->need_each * entries); }
    static void Stop(void *self) {
        Of(self)->under_way.clear();
        Of(self)->stopped++;
    }

    std::deque<Operation> under_way;
    std::vector<std::string> log;
};

using Log = std::vector<std::string>;

TEST(Schedule, NothingWaitsNothingIsDone) {
    Scripted device({0, 0, 0}, 2, 2);
    EXPECT_EQ(device.Run(), Log());
}

TEST(Schedule, MostEntriesFirst) {
    Scripted device({2, 7, 0, 5}, 1, 1);
    EXPECT_EQ(device.Run(), (Log{"copy 1 to 0", "wait", "run 1 in 0 by 120", "wait", //
                                 "copy 3 to 0", "wait", "run 3 in 0 by 120", "wait", //
                                 "copy 0 to 0", "wait", "run 0 in 0 by 120", "wait"}));
}

TEST(Schedule, InTurnByNumberFromTheOneThatCameLast) {
    Scripted device({2, 7, 0, 5}, 1, 1);
    device.schedule.in_turn = true;
    device.effect = [&](uint32_t part) {
        if (part == 1) device.active[0] = 9; // is not gone back for: 3 is next
    };
    EXPECT_EQ(device.Run(), (Log{"copy 0 to 0", "wait", "run 0 in 0 by 120", "wait", //
                                 "copy 1 to 0", "wait", "run 1 in 0 by 120", "wait", //
                                 "copy 3 to 0", "wait", "run 3 in 0 by 120", "wait", //
                                 "copy 0 to 0", "wait", "run 0 in 0 by 120", "wait"}));
}

TEST(Schedule, APartitionRunsUntilItsQueueIsEmpty) {
    Scripted device({1, 3}, 1, 1);
    int more = 2;
    device.effect = [&](uint32_t part) {
        if (part == 1 && more-- > 0) device.active[1] = 1, device.active[0] = 100;
    };
    EXPECT_EQ(device.Run(), (Log{"copy 1 to 0", "wait", "run 1 in 0 by 120", "wait", "run 1 in 0 by 120", "wait",
                                 "run 1 in 0 by 120", "wait", //
                                 "copy 0 to 0", "wait", "run 0 in 0 by 120", "wait"}));
    EXPECT_EQ(device.schedule.transfers, 2u);
    EXPECT_EQ(device.schedule.launches, 4u);
}

// Of 2 partitions, both of which may be resident, all that 8 entries lead to is or will be: 16 elsewhere are worth a
// copy beside their launch, twice as many, but not 3.
TEST(Schedule, ATransferOverlapsALaunchIfItServesMoreThanWhatIsResident) {
    Scripted patient({8, 3}, 2, 2);
    EXPECT_EQ(patient.Run(), (Log{"copy 0 to 0", "wait", "run 0 in 0 by 120", "wait", //
                                  "copy 1 to 1", "wait", "run 1 in 1 by 120", "wait"}));
    Scripted eager({8, 3}, 2, 2);
    eager.effect = [&](uint32_t part) {
        if (part == 0 && eager.schedule.launches == 1) eager.active[0] = 8, eager.active[1] = 16;
    };
    EXPECT_EQ(eager.Run(), (Log{"copy 0 to 0", "wait", "run 0 in 0 by 120", "wait", //
                                "run 0 in 0 by 120", "copy 1 to 1", "wait", "wait", //
                                "run 1 in 1 by 120", "wait"}));
}

// 16 are enough; one fewer, 15, are not.
TEST(Schedule, ATransferOverlapsALaunchIfItServesAsMany) {
    for (uint64_t elsewhere : {16, 15}) {
        Scripted device({8, 0}, 2, 2);
        device.effect = [&](uint32_t part) {
            if (part == 0 && device.schedule.launches == 1) device.active[0] = 8, device.active[1] = elsewhere;
        };
        const Log beside = {"run 0 in 0 by 120", "copy 1 to 1", "wait", "wait"};
        const Log behind = {"run 0 in 0 by 120", "wait", "copy 1 to 1", "wait"};
        Log expected = {"copy 0 to 0", "wait", "run 0 in 0 by 120", "wait"};
        for (const std::string &line : elsewhere == 16 ? beside : behind) expected.push_back(line);
        expected.push_back("run 1 in 1 by 120");
        expected.push_back("wait");
        EXPECT_EQ(device.Run(), expected) << elsewhere;
    }
}

// 20 partitions are more than four times 2 slots: both are filled at once, in turn.
TEST(Schedule, OfManyPartitionsBothSlotsAreFilledAtOnce) {
    std::vector<uint64_t> active(20, 0);
    active[3] = 40, active[7] = 39, active[9] = 38;
    Scripted device(active, 2, 2);
    EXPECT_EQ(device.Run(), (Log{"copy 3 to 0", "copy 7 to 1", "wait", "run 3 in 0 by 61", "wait", "run 7 in 1 by 59",
                                 "wait", "copy 9 to 0", "wait", "wait", "run 9 in 0 by 120", "wait"}));
}

// Of 8 partitions and 2 slots, four times as many, the one with most entries is first; of 9 they come in turn. The
// other one comes beside it: 2 * 2 * 40 / 8 = 20 would be enough.
TEST(Schedule, ManyPartitionsComeInTurn) {
    for (size_t parts : {8, 9}) {
        std::vector<uint64_t> active(parts, 0);
        active[3] = 38, active[7] = 40;
        Scripted device(active, 2, 2);
        EXPECT_EQ(device.Run(), parts == 8 ? (Log{"copy 7 to 0", "copy 3 to 1", "wait", "run 7 in 0 by 62", "wait",
                                                  "run 3 in 1 by 58", "wait", "wait"})
                                           : (Log{"copy 3 to 0", "copy 7 to 1", "wait", "run 3 in 0 by 58", "wait",
                                                  "run 7 in 1 by 62", "wait", "wait"}))
            << parts;
    }
}

// Three partitions of 9 fill each other again, four times in all: of few partitions the one that is quiet, 5, would
// wait until they end. Its turn comes behind 2.
TEST(Schedule, OfManyPartitionsAQuietOneIsNotLeftBehind) {
    Scripted device({100, 100, 100, 0, 0, 1, 0, 0, 0}, 1, 1);
    int left = 9;
    device.effect = [&](uint32_t part) {
        if (part < 3 && left-- > 0) device.active[(part + 2) % 3] += 100;
    };
    std::string order;
    for (const std::string &line : device.Run())
        if (line.rfind("copy", 0) == 0) order += line[5];
    EXPECT_EQ(order.substr(0, 4), "0125");
    EXPECT_EQ(device.active, std::vector<uint64_t>(9, 0));
}

// 3 entries of 1013 are few: they run nonetheless, once, beside the launch for the others, since their partition was
// brought for them; with its slot given up to 2, it would have been brought in vain.
TEST(Schedule, WhatWasBroughtRunsBeforeItGivesItsSlotUp) {
    std::vector<uint64_t> active(17, 0);
    active[0] = 10, active[1] = 3, active[2] = 1000;
    Scripted device(active, 2, 2);
    EXPECT_EQ(device.Run(), (Log{"copy 0 to 0", "copy 1 to 1", "wait", "run 0 in 0 by 92", "wait", "run 1 in 1 by 28",
                                 "wait", "copy 2 to 0", "wait", "wait", "run 2 in 0 by 120", "wait"}));
}

// 5 entries are worth a transfer, 4 are not; a resident partition runs whatever it has.
TEST(Schedule, WhatIsNotWorthATransferIsLeft) {
    Scripted device({5, 4, 9}, 1, 1);
    device.schedule.worth = 5;
    device.effect = [&](uint32_t part) {
        if (part == 0 && device.schedule.launches == 2) device.active[0] = 1;
    };
    EXPECT_EQ(device.Run(), (Log{"copy 2 to 0", "wait", "run 2 in 0 by 120", "wait", //
                                 "copy 0 to 0", "wait", "run 0 in 0 by 120", "wait", "run 0 in 0 by 120", "wait"}));
    EXPECT_EQ(device.active, (std::vector<uint64_t>{0, 4, 0}));
    EXPECT_EQ(device.schedule.active[1], 4u);
}

// Decisions that looked for every partition in every slot took 75 s of this; each looks once at each partition now.
TEST(Schedule, ManyResidentPartitionsAreDecidedInLinearTime) {
    Scripted device(std::vector<uint64_t>(4096, 1), 4096, 4);
    const std::clock_t begun = std::clock();
    device.Run();
    EXPECT_EQ(device.schedule.transfers, 4096u);
    EXPECT_EQ(device.schedule.launches, 4096u);
    EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, 20);
}

// In turn, whatever a transfer is worth: both slots are filled at once.
TEST(Schedule, InTurnFillsEverySlot) {
    Scripted device({8, 3, 1}, 2, 2);
    device.schedule.in_turn = true;
    EXPECT_EQ(device.Run(), (Log{"copy 0 to 0", "copy 1 to 1", "wait", "run 0 in 0 by 87", "wait", "run 1 in 1 by 33",
                                 "wait", "copy 2 to 0", "wait", "wait", "run 2 in 0 by 120", "wait"}));
}

// Figure 8 of the paper: 2 and 1 entries share the blocks 2 : 1. And the other way of sharing.
TEST(Schedule, BlocksInProportionToEntries) {
    for (bool equal : {false, true}) {
        Scripted device({1, 1, 1}, 3, 2);
        device.Run(); // all are resident now
        device.active = {2, 0, 1};
        device.schedule.equal_shares = equal;
        EXPECT_EQ(device.Run(), equal ? (Log{"run 0 in 0 by 60", "run 2 in 2 by 60", "wait", "wait"})
                                      : (Log{"run 0 in 0 by 80", "run 2 in 2 by 40", "wait", "wait"}));
    }
}

// 12 and 6 blocks are fewer than 120: each launch has what it needs. 144 and 72 are more: 2 : 1.
TEST(Schedule, BlocksAsNeeded) {
    for (uint32_t each : {6, 72}) {
        Scripted device({1, 1, 1}, 3, 2);
        device.Run();
        device.active = {2, 0, 1};
        device.need_each = each;
        EXPECT_EQ(device.Run(), each == 6 ? (Log{"run 0 in 0 by 12", "run 2 in 2 by 6", "wait", "wait"})
                                          : (Log{"run 0 in 0 by 80", "run 2 in 2 by 40", "wait", "wait"}));
    }
}

// 3 of 1003 entries, at one of 100 partitions: 0.36 blocks.
TEST(Schedule, EveryLaunchHasABlock) {
    std::vector<uint64_t> active(100, 0);
    active[0] = active[1] = 1;
    Scripted device(active, 2, 2);
    device.Run();
    device.active[0] = 1000, device.active[1] = 3;
    EXPECT_EQ(device.Run(), (Log{"run 0 in 0 by 120", "run 1 in 1 by 1", "wait", "wait"}));
}

// Of 2 partitions a quarter of the mean of 100 and 14 entries is 14.25, of 100 and 15 14.4. In cyclic order nothing
// waits.
TEST(Schedule, ALaunchForFewEntriesWaitsForWhatIsUnderWay) {
    for (bool in_turn : {false, true})
        for (uint64_t few : {14, 15}) {
            Scripted device({1, 1}, 2, 2);
            device.schedule.in_turn = in_turn;
            device.schedule.equal_shares = true;
            device.Run();
            device.active = {100, few};
            const Log behind = {"run 0 in 0 by 60", "wait", "run 1 in 1 by 60", "wait"};
            const Log beside = {"run 0 in 0 by 60", "run 1 in 1 by 60", "wait", "wait"};
            EXPECT_EQ(device.Run(), few == 14 && !in_turn ? behind : beside) << few;
        }
}

// 1 entry at 0, few of 2101 at 3 partitions, does not keep its slot from the 2000 at 2; it waits until 0 is brought
// again.
TEST(Schedule, APartitionWithFewEntriesGivesItsSlotUp) {
    Scripted device({1, 1, 0}, 2, 2);
    device.Run();
    device.active = {1, 100, 2000};
    EXPECT_EQ(device.Run(), (Log{"run 1 in 1 by 119", "copy 2 to 0", "wait", "wait", "run 2 in 0 by 120", "wait", //
                                 "copy 0 to 1", "wait", "run 0 in 1 by 120", "wait"}));
}

// Of two with few entries, the one with fewer. A quarter of the mean of 1400 at 4 partitions is 87.5: 88 are not few.
TEST(Schedule, ThePartitionWithFewestEntriesGivesItsSlotUp) {
    for (uint64_t few : {7, 88}) {
        Scripted device({1, 1, 1, 0}, 3, 3);
        device.Run();
        device.active = {few, 100, 8, 1292 - few};
        const Log log = device.Run();
        ASSERT_GT(log.size(), 2u);
        EXPECT_EQ(log[few == 7 ? 1 : 2], few == 7 ? "copy 3 to 0" : "copy 3 to 2") << few;
    }
}

TEST(Schedule, TheSlotOfTheOneThatCameFirstIsGivenUp) {
    Scripted device({3, 2, 1, 0}, 2, 2);
    device.Run(); // 0 to slot 0, 1 to 1, 2 to 0
    device.active = {0, 0, 0, 4};
    EXPECT_EQ(device.Run(), (Log{"copy 3 to 1", "wait", "run 3 in 1 by 120", "wait"}));
    device.active = {0, 0, 5, 6};
    EXPECT_EQ(device.Run(), (Log{"run 3 in 1 by 65", "run 2 in 0 by 55", "wait", "wait"})) << "both are still there";
}

TEST(Schedule, AFailureStopsTheDeviceAndForgetsWhatIsThere) {
    for (int at = 0; at < 12; at++) {
        SCOPED_TRACE(at);
        Scripted device({2, 7, 0, 5}, 1, 1);
        device.fail_at = at;
        EXPECT_EQ(device.Run().size(), static_cast<size_t>(at) + 1) << "nothing is asked after the failure";
        EXPECT_EQ(device.status, CSAW_ECUDA);
        EXPECT_EQ(device.stopped, 1);
        device.active = {2, 0, 0, 0};
        EXPECT_EQ(device.Run(), (Log{"copy 0 to 0", "wait", "run 0 in 0 by 120", "wait"}));
        EXPECT_EQ(device.status, CSAW_OK);
    }
}

} // namespace
