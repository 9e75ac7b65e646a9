/* SPDX-License-Identifier: MIT */
/* tests/math_bits.c - one function, named by the build: see math_bits.h. */
#include "math_bits.h"

void MATH_BITS_NAME(uint64_t first, uint64_t count, math_bits *out) {
    for (uint64_t i = 0; i < count; i++) out[i] = math_bits_at(first + i);
}
