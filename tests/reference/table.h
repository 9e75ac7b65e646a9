/* SPDX-License-Identifier: MIT */
/* tests/reference/table.h - integer masses of a row, and its alias table, by docs/stream.md, "Masses" and "Methods". */
#ifndef CSAW_REFERENCE_TABLE_H
#define CSAW_REFERENCE_TABLE_H

#include <cstdint>
#include <vector>

namespace reference {

struct Masses {
    std::vector<uint64_t> mass; // one per arc
    uint64_t sum = 0;           // 0: a dead end
    int exponent = 0;           // mass is about bias * 2^exponent
};
Masses masses_of(const std::vector<double> &bias);

struct AliasTable {
    std::vector<uint32_t> threshold, alias; // one per arc
};
AliasTable alias_table_of(const Masses &masses);

// The first arc whose inclusive prefix sum exceeds x < sum.
uint32_t search(const Masses &masses, uint64_t x);

} // namespace reference

#endif
