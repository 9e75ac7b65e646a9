/* SPDX-License-Identifier: MIT */
/* tests/selection_law.h - the laws of k picks among n candidates, by exact enumeration, and how far picks are from
 * them.
 *
 * Method: without replacement the picks, as a sequence, are successive sampling: each is drawn in proportion to bias
 * among those that are left, until there are k or no bias is left. With replacement they are k independent draws. One
 * cell per sequence, or per set; Pearson's chi-square.
 *
 * Threshold as in tests/law.h: |z| < 4, both ways; wrong selections must reach z > 10. */
#ifndef CSAW_SELECTION_LAW_H
#define CSAW_SELECTION_LAW_H

#include "tests/reference/laws.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace selection_law {

const double threshold = 4, wrong = 10;

using Sequence = std::vector<uint32_t>;
using Law = std::map<Sequence, long double>;
using Selection = std::function<Sequence(uint64_t instance)>;

struct Case {
    const char *name;
    std::vector<double> bias; // each is a float's value
    uint32_t k;
};

// Figure 1 of C-SAW is the first. In "two giants" and "ratios" the rounds often end with open slots.
inline std::vector<Case> cases() {
    return {{"figure 1", {3, 6, 2, 2, 2}, 2},
            {"figure 1, all but one", {3, 6, 2, 2, 2}, 4},
            {"skewed", {100, 10, 5, 3, 2, 1, 1}, 3},
            {"skewed, all but one", {100, 10, 5, 3, 2, 1, 1}, 6},
            {"equal", {1, 1, 1, 1, 1, 1}, 3},
            {"equal, one", {1, 1, 1, 1, 1, 1, 1, 1}, 1},
            {"equal, all but one", {2, 2, 2, 2, 2}, 4},
            {"zeros", {0, 3, 0, 1, 2, 0, 5, 0}, 2},
            {"zeros, all the rest", {0, 3, 0, 1, 2, 0}, 3},
            {"zeros, more than the rest", {0, 3, 0, 1, 2, 0}, 5},
            {"one left", {0, 0, 7, 0}, 3},
            {"two giants", {1e6, 1, 1, 1e6, 1, 1}, 4},
            {"two giants, two picks", {1e6, 1, 1, 1e6, 1, 1}, 2},
            {"ratios", {1, 1e12f, 1e6f, 1, 1e12f, 1e6f, 3, 2}, 5}};
}

inline bool all_equal(const std::vector<double> &bias) {
    return std::all_of(bias.begin(), bias.end(), [&](double b) { return b == bias[0]; });
}

inline void extend(Law *law, const Case &of, bool replace, Sequence *head, long double probability) {
    long double left = 0;
    const auto free = [&](uint32_t i) { return replace || std::find(head->begin(), head->end(), i) == head->end(); };
    for (uint32_t i = 0; i < of.bias.size(); i++)
        if (free(i)) left += of.bias[i];
    if (head->size() == of.k || left == 0) {
        (*law)[*head] += probability;
        return;
    }
    for (uint32_t i = 0; i < of.bias.size(); i++) {
        if (!free(i) || of.bias[i] == 0) continue;
        head->push_back(i);
        extend(law, of, replace, head, probability * of.bias[i] / left);
        head->pop_back();
    }
}

// Of sequences.
inline Law law_of(const Case &of, bool replace) {
    Law law;
    Sequence head;
    extend(&law, of, replace, &head, 1);
    return law;
}

inline Sequence sorted(Sequence sequence) {
    std::sort(sequence.begin(), sequence.end());
    return sequence;
}

inline Law of_sets(const Law &law) {
    Law out;
    for (const auto &[sequence, probability] : law) out[sorted(sequence)] += probability;
    return out;
}

inline long double total_variation(const Law &a, const Law &b) {
    long double sum = 0;
    for (const auto &[sequence, probability] : a)
        sum += std::fabs(probability - (b.count(sequence) ? b.at(sequence) : 0));
    for (const auto &[sequence, probability] : b)
        if (!a.count(sequence)) sum += probability;
    return sum / 2;
}

using Counts = std::map<Sequence, uint64_t>;

inline double z_of(const Law &law, const Counts &counts) {
    std::vector<uint64_t> seen;
    std::vector<long double> probability;
    for (const auto &[sequence, p] : law) {
        seen.push_back(counts.count(sequence) ? counts.at(sequence) : 0);
        probability.push_back(p);
    }
    for (const auto &[sequence, count] : counts) { // what cannot be has a cell of its own
        if (law.count(sequence)) continue;
        seen.push_back(count);
        probability.push_back(0);
    }
    reference::ChiSquare fit;
    fit.add(seen, probability);
    return fit.z();
}

struct Fit {
    double sequences, sets; // z
};

inline Fit fit_of(const Law &law, const Selection &selection, uint64_t trials) {
    Counts sequences, sets;
    for (uint64_t instance = 0; instance < trials; instance++) {
        const Sequence picks = selection(instance);
        sequences[picks]++;
        sets[sorted(picks)]++;
    }
    return {z_of(law, sequences), z_of(of_sets(law), sets)};
}

} // namespace selection_law

#endif
