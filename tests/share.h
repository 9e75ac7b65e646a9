/* SPDX-License-Identifier: MIT */
/* tests/share.h - a share of a test's cases, for tools under which all of them would take hours: with CSAW_TEST_EVERY=n
 * in the environment a test takes every n-th of its cases, beginning at a place that depends on its name, so that tests
 * alike take different ones, and one of the first four. Without it a test takes all. */
#ifndef CSAW_TESTS_SHARE_H
#define CSAW_TESTS_SHARE_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace reference {

inline uint64_t every_case() {
    static const char *const text = std::getenv("CSAW_TEST_EVERY");
    static const uint64_t every = text ? std::strtoull(text, nullptr, 10) : 1;
    return every < 1 ? 1 : every;
}

// Of so many draws or elements of one case.
inline uint64_t share_of(uint64_t count) { return count < every_case() ? 1 : count / every_case(); }

// Of what is tried for n = 1, 2, and so on until it is enough: the step.
inline uint64_t step_of_share() { return every_case() < 100 ? every_case() : 100; }

inline bool takes_case() {
    static std::string name;
    static uint64_t hash = 0, next = 0;
    if (every_case() == 1) return true;
    const ::testing::TestInfo *const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string now = test ? std::string(test->test_suite_name()) + "." + test->name() : "";
    if (now != name) {
        name = now;
        hash = next = 0;
        for (char c : name) hash = hash * 31 + static_cast<unsigned char>(c);
    }
    const uint64_t place = next++;
    return place == hash % 4 || place % every_case() == hash % every_case();
}

} // namespace reference

#endif
