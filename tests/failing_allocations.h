/* SPDX-License-Identifier: MIT */
/* tests/failing_allocations.h - a call whose allocations, of host and of device memory, fail from the nth on, for n =
 * 1, 2, and so on, until it needs no more than n - 1. */
#ifndef CSAW_FAILING_ALLOCATIONS_H
#define CSAW_FAILING_ALLOCATIONS_H

#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include "tests/share.h"

extern "C" {
#include "runtime/base/memory.h"
}

// How many allocations the call makes. With CSAW_TEST_EVERY not each of them fails (tests/share.h). call: the same each
// time; returns a csaw_status and frees what it made.
template <class CALL> uint64_t fail_every_allocation(CALL call) {
    for (uint64_t n = 1; n < 1000; n += reference::step_of_share()) {
        csaw__fail_allocations_from(n);
        const csaw_status status = call();
        const uint64_t asked = csaw__allocations_counted();
        csaw__fail_allocations_from(0);
        if (status == CSAW_OK) {
            EXPECT_LT(asked, n) << "a failed allocation went unnoticed";
            return asked;
        }
        EXPECT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
        if (status != CSAW_ENOMEM && status != CSAW_EDEVMEM) return asked;
    }
    ADD_FAILURE() << "1000 allocations and more";
    return 1000;
}

#endif
