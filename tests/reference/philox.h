/* SPDX-License-Identifier: MIT */
/* tests/reference/philox.h - Philox4x32-10 and csaw's counters, a second time.
 *
 * Method: the rounds as printed in Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11,
 * section 4.3; the counters as in docs/stream.md. Shares nothing with csaw/philox.h, so each checks the other. */
#ifndef CSAW_REFERENCE_PHILOX_H
#define CSAW_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace reference {

using Block = std::array<uint32_t, 4>;

Block philox(Block counter, std::array<uint32_t, 2> key);
Block draw(uint64_t seed, uint64_t instance, uint32_t depth, uint32_t vertex, uint32_t purpose, uint32_t number);
uint64_t half(const Block &block, unsigned which);
uint64_t below(uint64_t number, uint64_t n); // uniform on 0 .. n-1
double unit(uint64_t number);                // uniform on [0, 1)

} // namespace reference

#endif
