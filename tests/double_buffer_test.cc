/* SPDX-License-Identifier: MIT */
/* tests/double_buffer_test.cc - runtime/base/double_buffer.h does what a plain loop does, failures included, and fills
 * an item while the one before is drained. */
#include "runtime/base/double_buffer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t never = ~uint64_t{0};

// Threads that have filled and are not yet at their end.
std::atomic<int> alive{0};
struct Alive {
    Alive() { alive++; }
    ~Alive() { alive--; }
    void here() const {}
};
thread_local const Alive here;
const int alone = (here.here(), 1); // the caller's thread counts

csaw_status fail(csaw_status status, const char *what, uint64_t item) {
    return csaw__fail(status, "%s %d", what, static_cast<int>(item));
}

// Slots that notice what must not be: a slot filled before it was drained, items out of order, two fills at once.
struct Slots {
    uint64_t count = 0;
    uint64_t bad_fill = never, bad_drain = never; // the item that fails
    csaw_status bad_status = CSAW_ECUDA;
    uint64_t fails_beside = never; // the item that is refused while another one is drained
    csaw_status beside = CSAW_EDEVMEM;
    bool wide = true, widens = true; // whether it is asked for; whether it succeeds
    bool meet = false;               // a drain and the fill of the next item wait for each other to begin

    std::mutex lock;
    std::condition_variable changed;
    uint64_t holds[2] = {never, never}; // of each slot; never = drained
    uint64_t filled = 0, drained = 0;
    uint64_t fills_begun = 0, drains_begun = 0;
    bool filling = false, draining = false;
    int narrowed = -1;
    std::set<std::thread::id> fillers;
    std::vector<std::string> wrong;
    const std::thread::id caller = std::this_thread::get_id();

    void check(bool good, const char *what) {
        if (!good) wrong.push_back(what);
    }
    template <typename BEGUN> void wait(std::unique_lock<std::mutex> *hold, const BEGUN &begun) {
        check(changed.wait_for(*hold, std::chrono::seconds(5), begun), "an item is filled while one is drained");
    }
    csaw_status fill(uint64_t item, int slot) {
        here.here();
        std::unique_lock<std::mutex> hold(lock);
        check(!filling && item == filled, "fills in order, one at a time");
        check(holds[slot] == never, "a slot that is drained");
        check(narrowed < 0 || (slot == narrowed && std::this_thread::get_id() == caller), "after it was narrowed");
        filling = true;
        fills_begun = item + 1;
        fillers.insert(std::this_thread::get_id());
        changed.notify_all();
        const bool by_caller = std::this_thread::get_id() == caller;
        if (meet && item > 0) wait(&hold, [&] { return drains_begun == item; });
        hold.unlock();
        std::this_thread::yield();
        hold.lock();
        filling = false;
        if (item == bad_fill) return fail(bad_status, "fill", item);
        if (item == fails_beside && !by_caller) return fail(beside, "no memory beside", item);
        check(!by_caller || !draining, "the caller's thread fills while it drains");
        holds[slot] = item;
        filled++;
        return CSAW_OK;
    }
    csaw_status drain(uint64_t item, int slot) {
        std::unique_lock<std::mutex> hold(lock);
        check(std::this_thread::get_id() == caller, "drained by the caller's thread");
        check(item == drained && holds[slot] == item, "drained in order, from where it is");
        draining = true;
        drains_begun = item + 1;
        changed.notify_all();
        if (meet && item + 1 < count) wait(&hold, [&] { return fills_begun == item + 2; });
        hold.unlock();
        std::this_thread::yield();
        hold.lock();
        draining = false;
        holds[slot] = never;
        if (item == bad_drain) return fail(bad_status, "drain", item);
        drained++;
        return CSAW_OK;
    }
    csaw_status run() {
        csaw__double_buffer buffer = {};
        buffer.user = this;
        buffer.fill = [](void *u, uint64_t item, int slot) { return static_cast<Slots *>(u)->fill(item, slot); };
        buffer.drain = [](void *u, uint64_t item, int slot) { return static_cast<Slots *>(u)->drain(item, slot); };
        if (wide)
            buffer.widen = [](void *u) {
                auto *s = static_cast<Slots *>(u);
                s->check(s->filled == 1 && s->drained == 0 && s->count > 1, "widened where there is use for it");
                return s->widens ? CSAW_OK : csaw__fail(CSAW_EDEVMEM, "no room");
            };
        buffer.narrow = [](void *u, int slot) {
            auto *s = static_cast<Slots *>(u);
            const std::lock_guard<std::mutex> hold(s->lock);
            s->check(!s->filling && !s->draining && s->narrowed < 0, "narrowed once, in between");
            s->check(s->holds[0] == never && s->holds[1] == never, "narrowed when all is drained");
            s->narrowed = slot;
        };
        return csaw__double_buffer_run(&buffer, count);
    }
};

#define EXPECT_NOTHING_WRONG(SLOTS) \
    for (const std::string &what : (SLOTS).wrong) ADD_FAILURE() << what

TEST(DoubleBuffer, AllItemsInOrder) {
    for (uint64_t count : {0, 1, 2, 3, 4, 17, 1000}) {
        Slots s;
        s.count = count;
        EXPECT_EQ(CSAW_OK, s.run());
        EXPECT_NOTHING_WRONG(s);
        EXPECT_EQ(count, s.filled);
        EXPECT_EQ(count, s.drained);
        EXPECT_EQ(-1, s.narrowed);
        EXPECT_EQ(count < 2 ? count : 2, s.fillers.size()) << "the first by the caller, the others by one thread";
        EXPECT_TRUE(count == 0 || s.fillers.count(s.caller));
        EXPECT_EQ(alone, alive) << "a thread is left";
    }
}

TEST(DoubleBuffer, OneIsFilledWhileOneIsDrained) {
    Slots s;
    s.count = 9;
    s.meet = true;
    EXPECT_EQ(CSAW_OK, s.run());
    EXPECT_NOTHING_WRONG(s);
    EXPECT_EQ(9u, s.drained);
}

TEST(DoubleBuffer, OneSlotWhereTwoAreNotWanted) {
    for (bool wide : {false, true}) {
        Slots s;
        s.count = 5;
        s.wide = wide;
        s.widens = false;
        EXPECT_EQ(CSAW_OK, s.run());
        EXPECT_NOTHING_WRONG(s);
        EXPECT_EQ(5u, s.drained);
        EXPECT_EQ(std::set<std::thread::id>{s.caller}, s.fillers);
    }
}

// Of every item, by either side, the status and the message of the first failure in the order of a loop.
TEST(DoubleBuffer, FailuresComeAsFromALoop) {
    constexpr uint64_t count = 6;
    for (bool wide : {true, false})
        for (uint64_t fill = 0; fill <= count; fill++)
            for (uint64_t drain = 0; drain <= count; drain++) {
                if (fill == count && drain == count) continue; // neither fails
                Slots s;
                s.count = count;
                s.wide = wide;
                s.bad_fill = fill;
                s.bad_drain = drain;
                csaw__fail(CSAW_OK, "nothing");
                EXPECT_EQ(CSAW_ECUDA, s.run());
                EXPECT_NOTHING_WRONG(s);
                const bool by_fill = fill <= drain;
                EXPECT_EQ((by_fill ? "fill " : "drain ") + std::to_string(by_fill ? fill : drain), csaw_last_error());
                EXPECT_EQ(by_fill ? fill : drain, s.drained);
                EXPECT_EQ(-1, s.narrowed);
            }
    EXPECT_EQ(alone, alive) << "a thread is left";
}

TEST(DoubleBuffer, WithoutMemoryForTwoGoesOnWithOne) {
    constexpr uint64_t count = 6;
    for (csaw_status beside : {CSAW_EDEVMEM, CSAW_ENOMEM})
        for (uint64_t item = 1; item < count; item++) {
            Slots s;
            s.count = count;
            s.fails_beside = item;
            s.beside = beside;
            EXPECT_EQ(CSAW_OK, s.run());
            EXPECT_NOTHING_WRONG(s);
            EXPECT_EQ(count, s.drained);
            EXPECT_EQ(static_cast<int>((item - 1) & 1), s.narrowed) << "the slot of the one before is kept";
        }
}

TEST(DoubleBuffer, WithoutMemoryForOneEitherSaysSo) {
    constexpr uint64_t count = 6;
    for (csaw_status status : {CSAW_EDEVMEM, CSAW_ENOMEM})
        for (uint64_t item = 0; item < count; item++) {
            Slots s;
            s.count = count;
            s.bad_fill = item;
            s.bad_status = status;
            EXPECT_EQ(status, s.run());
            EXPECT_NOTHING_WRONG(s);
            EXPECT_EQ("fill " + std::to_string(item), csaw_last_error());
            EXPECT_EQ(item, s.drained);
        }
}

} // namespace
