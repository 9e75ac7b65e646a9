/* SPDX-License-Identifier: MIT */
/* tests/hands_test.cc - runtime/base/hands.h: every piece is done once and before csaw__hands_share() returns, by
 * several threads, whether these are awake or asleep, for one work after the other, of several threads at once; nobody
 * to help is no error; copies and the largest of many vertices are the same with help. */
#include "runtime/base/hands.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "runtime/base/copy.h"
#include "runtime/base/largest.h"

extern "C" {
#include "runtime/base/memory.h"
}

namespace {

using Pieces = std::vector<std::atomic<int>>;

void count_piece(void *user, uint32_t i) { (*static_cast<Pieces *>(user))[i]++; }

void share_all(csaw__hands *hands, uint32_t count) {
    Pieces done(count);
    csaw__hands_share(hands, count, count_piece, &done);
    for (uint32_t i = 0; i < count; i++) ASSERT_EQ(1, done[i]) << i << " of " << count;
}

TEST(Hands, EveryPieceIsDoneOnce) {
    for (uint32_t threads : {0u, 1u, 3u, 7u}) {
        csaw__hands *const hands = csaw__hands_create(threads);
        EXPECT_EQ(threads == 0, hands == nullptr);
        csaw__hands_have(hands);
        for (int round = 0; round < 2000; round++) share_all(hands, static_cast<uint32_t>(round) % 19);
        share_all(hands, 100000);
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // they sleep, and are not called before
        for (int round = 0; round < 100; round++) share_all(hands, 8);
        csaw__hands_have(nullptr);
        csaw__hands_free(hands);
    }
}

// All are at a piece at the same time, which one thread alone could not bring about.
TEST(Hands, TheyDoHelp) {
    constexpr uint32_t threads = 3;
    struct Meeting {
        std::mutex lock;
        std::condition_variable changed;
        std::set<std::thread::id> here;
        bool all = true;
    } meeting;
    csaw__hands *const hands = csaw__hands_create(threads);
    const auto meet = [](void *user, uint32_t) {
        Meeting *const m = static_cast<Meeting *>(user);
        std::unique_lock<std::mutex> hold(m->lock);
        m->here.insert(std::this_thread::get_id());
        m->changed.notify_all();
        m->all =
            m->changed.wait_for(hold, std::chrono::seconds(20), [&] { return m->here.size() > threads; }) && m->all;
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // they sleep
    csaw__hands_share(hands, threads + 1, meet, &meeting);
    EXPECT_TRUE(meeting.all) << meeting.here.size() << " threads came";
    csaw__hands_free(hands);
}

TEST(Hands, OfSeveralThreads) {
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; t++)
        callers.emplace_back([] {
            csaw__hands *const hands = csaw__hands_create(2);
            csaw__hands_have(hands);
            EXPECT_EQ(hands, csaw__hands_mine());
            for (int round = 0; round < 500; round++) share_all(csaw__hands_mine(), 5);
            csaw__hands_have(nullptr);
            csaw__hands_free(hands);
        });
    EXPECT_EQ(nullptr, csaw__hands_mine());
    for (std::thread &caller : callers) caller.join();
}

TEST(Hands, CopiesAreTheSame) {
    csaw__hands *const hands = csaw__hands_create(3);
    for (uint64_t count : {0u, 1u, 65535u, 65536u, 65537u, 1000003u}) {
        std::vector<csaw_vertex> from(count), to(count + 1, 7), copy(count + 1, 7);
        for (uint64_t i = 0; i < count; i++) from[i] = static_cast<csaw_vertex>(i * 2654435761u % 1000000007u);
        if (count) from[count / 3] = 4000000000u;
        csaw__hands_have(hands);
        EXPECT_EQ(count ? 4000000000u : 0u, csaw__largest(from.data(), count, to.data()));
        csaw__copy(copy.data(), from.data(), count * sizeof(csaw_vertex));
        csaw__hands_have(nullptr);
        from.push_back(7); // what stood behind
        EXPECT_EQ(from, to) << count;
        EXPECT_EQ(from, copy) << count;
    }
    csaw__hands_free(hands);
}

TEST(Hands, NobodyHelpsWithoutMemory) {
    csaw__fail_allocations_from(1);
    EXPECT_EQ(nullptr, csaw__hands_create(3));
    csaw__fail_allocations_from(0);
    csaw__hands_have(nullptr);
    share_all(nullptr, 9);
    csaw__hands_free(nullptr);
}

} // namespace
