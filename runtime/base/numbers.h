/* SPDX-License-Identifier: MIT */
/* runtime/base/numbers.h - the blocks of many counters at once. */
#ifndef CSAW_BASE_NUMBERS_H
#define CSAW_BASE_NUMBERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Block i of csaw_philox() for counter word[0][i] .. word[3][i], i < count, by the widest instructions of this
 * processor: half 0 to even[i], half 1 to odd[i] (csaw_half()). */
void csaw__numbers(uint64_t seed, const uint32_t *const word[4], uint32_t count, uint64_t *even, uint64_t *odd);

#ifdef __cplusplus
}
#endif

#endif
