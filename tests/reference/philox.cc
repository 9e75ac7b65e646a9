/* SPDX-License-Identifier: MIT */
/* tests/reference/philox.cc - see philox.h. */
#include "tests/reference/philox.h"

#include <cmath>

namespace reference {

__extension__ typedef unsigned __int128 Wide;

static Block one_round(const Block &c, const std::array<uint32_t, 2> &key) {
    const uint64_t product0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * c[2];
    return {static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(product1),
            static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(product0)};
}

Block philox(Block counter, std::array<uint32_t, 2> key) {
    for (int round = 0; round < 10; round++) {
        if (round > 0) {
            key[0] += 0x9E3779B9; // golden ratio
            key[1] += 0xBB67AE85; // sqrt(3) - 1
        }
        counter = one_round(counter, key);
    }
    return counter;
}

Block draw(uint64_t seed, uint64_t instance, uint32_t depth, uint32_t vertex, uint32_t purpose, uint32_t number) {
    const uint64_t two32 = uint64_t{1} << 32;
    const uint64_t word1 = instance / two32 * (uint64_t{1} << 24) + depth;
    const uint64_t word3 = purpose * (uint64_t{1} << 28) + number;
    return philox(
        {static_cast<uint32_t>(instance % two32), static_cast<uint32_t>(word1), vertex, static_cast<uint32_t>(word3)},
        {static_cast<uint32_t>(seed % two32), static_cast<uint32_t>(seed / two32)});
}

uint64_t half(const Block &block, unsigned which) {
    const uint64_t high = block[2 * which + 1], low = block[2 * which];
    return high * (uint64_t{1} << 32) + low;
}

uint64_t below(uint64_t number, uint64_t n) { return static_cast<uint64_t>(Wide{number} * n >> 64); }

double unit(uint64_t number) { return std::ldexp(static_cast<double>(number >> 11), -53); }

} // namespace reference
