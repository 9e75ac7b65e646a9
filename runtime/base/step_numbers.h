/* SPDX-License-Identifier: MIT */
/* runtime/base/step_numbers.h - the numbers of O(1) steps for many walks at once. */
#ifndef CSAW_BASE_STEP_NUMBERS_H
#define CSAW_BASE_STEP_NUMBERS_H

#include <csaw/types.h>

/* For instances first .. first + count - 1: the two halves of the STEP block that serves depths 2 * pair and 2 * pair +
 * 1, to even[count] and odd[count]. The same numbers as csaw_draw(), by the widest instructions of this processor. */
void csaw__step_numbers(uint64_t seed, uint64_t first, uint32_t count, uint32_t pair, uint64_t *even, uint64_t *odd);

#endif
