/* SPDX-License-Identifier: MIT */
/* tests/crew_test.cc - runtime/base/crew.h: members have threads of their own, the same ones each time, the first one
 * the caller's; all run once, at the same time; the caller hears what they tell, on its own thread; each outcome has
 * its message. */
#include "runtime/base/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "runtime/base/memory.h"
}

namespace {

constexpr uint32_t members = 4;

struct Work {
    csaw__crew *crew = nullptr;
    std::mutex lock;
    std::condition_variable changed;
    std::vector<std::thread::id> thread = std::vector<std::thread::id>(members);
    std::vector<int> runs = std::vector<int>(members);
    uint32_t here = 0;      // members at work
    bool all_came = true;   // that many at the same time
    uint32_t at_work = 0;   // members that are told so
    int heard = 0;          // times
    bool waits = false;     // members go on when they were heard
    std::set<uint32_t> bad; // that fail
    const std::thread::id caller = std::this_thread::get_id();
};

csaw_status run(void *user, uint32_t member) {
    Work *w = static_cast<Work *>(user);
    std::unique_lock<std::mutex> hold(w->lock);
    w->thread[member] = std::this_thread::get_id();
    w->runs[member]++;
    w->at_work += csaw__crew_at_work();
    w->here++;
    w->changed.notify_all();
    if (!w->changed.wait_for(hold, std::chrono::seconds(5), [&] { return w->here >= members; })) w->all_came = false;
    if (w->waits) {
        const int before = w->heard;
        hold.unlock();
        csaw__crew_tell(w->crew);
        hold.lock();
        if (!w->changed.wait_for(hold, std::chrono::seconds(5), [&] { return w->heard > before; })) w->all_came = false;
    }
    if (w->bad.count(member)) return csaw__fail(CSAW_EIO, "member %u failed", member);
    return CSAW_OK;
}

void hear(void *user) {
    Work *w = static_cast<Work *>(user);
    EXPECT_EQ(w->caller, std::this_thread::get_id());
    const std::lock_guard<std::mutex> hold(w->lock);
    w->heard++;
    w->changed.notify_all();
}

class Crew : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(CSAW_OK, csaw__crew_create(members, &work.crew)) << csaw_last_error(); }
    void TearDown() override { csaw__crew_free(work.crew); }
    void run_once() {
        const csaw__crew_work what = {run, hear, &work};
        work.here = work.at_work = 0;
        EXPECT_FALSE(csaw__crew_at_work());
        ASSERT_EQ(CSAW_OK, csaw__crew_run(work.crew, &what)) << csaw_last_error();
        EXPECT_EQ(members, work.here);
        EXPECT_TRUE(work.all_came) << "one waited for the others in vain";
        EXPECT_EQ(members, work.at_work);
        EXPECT_FALSE(csaw__crew_at_work());
    }
    Work work;
};

TEST(OneMember, WorksBesideNobody) {
    csaw__crew *crew = nullptr;
    bool beside = true;
    const auto ask = [](void *user, uint32_t) {
        *static_cast<bool *>(user) = csaw__crew_at_work();
        return CSAW_OK;
    };
    ASSERT_EQ(CSAW_OK, csaw__crew_create(1, &crew)) << csaw_last_error();
    const csaw__crew_work what = {ask, nullptr, &beside};
    EXPECT_EQ(CSAW_OK, csaw__crew_run(crew, &what)) << csaw_last_error();
    csaw__crew_free(crew);
    EXPECT_FALSE(beside);
}

TEST_F(Crew, MembersAreTheSameThreadsEachTimeAndRunSideBySide) {
    run_once();
    const std::vector<std::thread::id> first = work.thread;
    const std::set<std::thread::id> all(first.begin(), first.end());
    EXPECT_EQ(members, all.size());
    EXPECT_EQ(work.caller, first[0]);
    for (int i = 0; i < 50; i++) run_once();
    EXPECT_EQ(first, work.thread);
    EXPECT_EQ(std::vector<int>(members, 51), work.runs);
    EXPECT_EQ(0, work.heard);
}

// Longer than they look: members and the caller sleep, and are woken.
TEST_F(Crew, SleepsWhileNothingIsToDo) {
    const auto sleep = [](void *, uint32_t member) {
        if (member == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return CSAW_OK;
    };
    const csaw__crew_work slow = {sleep, nullptr, nullptr};
    for (int i = 0; i < 5; i++) {
        run_once();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        run_once();
        ASSERT_EQ(CSAW_OK, csaw__crew_run(work.crew, &slow)) << csaw_last_error();
    }
}

TEST_F(Crew, TheCallerHearsWhileTheyRun) {
    work.waits = true;
    for (int i = 0; i < 20; i++) run_once();
    EXPECT_GE(work.heard, 20);
}

TEST_F(Crew, EachOutcomeHasItsMessage) {
    const char *message = nullptr;
    for (const std::set<uint32_t> &bad : {std::set<uint32_t>{1, 3}, {}, {0}}) {
        work.bad = bad;
        run_once();
        for (uint32_t i = 0; i < members; i++) {
            EXPECT_EQ(bad.count(i) ? CSAW_EIO : CSAW_OK, csaw__crew_outcome(work.crew, i, &message));
            EXPECT_EQ(bad.count(i) ? "member " + std::to_string(i) + " failed" : "", std::string(message));
        }
    }
}

TEST_F(Crew, IsRefusedWithoutMemory) {
    csaw__crew *crew = nullptr;
    csaw__fail_allocations_from(1);
    EXPECT_EQ(CSAW_ENOMEM, csaw__crew_create(members, &crew));
    csaw__fail_allocations_from(0);
    EXPECT_EQ(nullptr, crew);
    csaw__crew_free(nullptr);
}

} // namespace
