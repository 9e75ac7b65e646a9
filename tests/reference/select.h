/* SPDX-License-Identifier: MIT */
/* tests/reference/select.h - k among n candidates, by docs/stream.md, "Selection of k among n candidates": one slot
 * after the other, every candidate looked at each time. */
#ifndef CSAW_REFERENCE_SELECT_H
#define CSAW_REFERENCE_SELECT_H

#include "tests/reference/philox.h"
#include "tests/reference/table.h"
#include "tests/reference/walk.h"

namespace reference {

// What decides one selection: a corner of the counter space.
struct Numbers {
    uint64_t seed, instance;
    uint32_t depth, key, first; // key is word 2; first is the first draw
    Block trial(uint32_t q) const { return draw(seed, instance, depth, key, 1, first + q); }
    Block attempt(uint32_t q) const { return draw(seed, instance, depth, key, 2, first + q); }
    uint64_t arrival(uint32_t i) const;
};

const int64_t failed = -1; // in place of a candidate

struct Candidates {
    Masses masses;                                 // all 1 for UNIFORM
    std::function<int64_t(uint64_t)> alias;        // ALIAS: its map
    std::function<int64_t(const Block &)> attempt; // REJECT: one attempt, or failed
    std::vector<double> bias;                      // RACE
    uint32_t count() const { return static_cast<uint32_t>(masses.mass.size()); }
};
Candidates alike(uint32_t count); // for UNIFORM

struct Pick {
    uint32_t candidate, round, slot; // round is the number of rounds where the slot picked after them all
};

// The picks in their order.
std::vector<Pick> select(Method method, const Candidates &from, uint32_t k, bool replace, const Numbers &numbers);

} // namespace reference

#endif
