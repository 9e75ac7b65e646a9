/* SPDX-License-Identifier: MIT */
/* tests/reference/laws.h - what a walk's step should be distributed as, by enumeration, and how far counts are off.
 *
 * Method: probabilities of every arc of a row from the sampler's formula, in long double; Pearson's chi-square over
 * many independent rows, cells of expectation below 5 pooled, turned into a standard normal z by Wilson and Hilferty,
 * "The distribution of chi-square", PNAS 17, 1931. */
#ifndef CSAW_REFERENCE_LAWS_H
#define CSAW_REFERENCE_LAWS_H

#include <csaw/csaw.h>

#include <string>
#include <vector>

namespace reference {

struct Law {
    bool node2vec; // else uniform
    float p, q;
    std::string name() const;
};

// P of each arc of v's row for a walk that came from t (CSAW_NONE: that starts at v); all 0 at a dead end.
std::vector<long double> step_law(const csaw_csr &graph, const Law &law, csaw_vertex t, csaw_vertex v);

class ChiSquare {
  public:
    // One row: how often each cell was seen, and its probability. The probabilities sum to 1.
    void add(const std::vector<uint64_t> &seen, const std::vector<long double> &probability);
    double freedom() const { return cells_free; }
    // Standard normal under the law; infinite if something of probability 0 was seen.
    double z() const;

  private:
    long double sum = 0;
    double cells_free = 0;
    bool impossible = false;
};

} // namespace reference

#endif
