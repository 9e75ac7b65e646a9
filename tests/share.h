/* SPDX-License-Identifier: MIT */
/* tests/share.h - a share of a test's cases, for tools under which all of them would take hours: with CSAW_TEST_EVERY=n
 * in the environment a test takes every n-th of its cases, beginning at a place that depends on its name, so that tests
 * alike take different ones. Without it a test takes all. */
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

inline bool takes_case() {
    static std::string name;
    static uint64_t next = 0;
    if (every_case() == 1) return true;
    const ::testing::TestInfo *const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string now = test ? std::string(test->test_suite_name()) + "." + test->name() : "";
    if (now != name) {
        name = now;
        next = 0;
        for (char c : name) next = next * 31 + static_cast<unsigned char>(c);
    }
    return next++ % every_case() == 0;
}

} // namespace reference

#endif
