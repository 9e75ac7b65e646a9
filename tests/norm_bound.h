// SPDX-License-Identifier: MIT
// tests/norm_bound.h - the bound of a whole result, in norms of Frobenius: |got - exact| <= 2 |sqrt(n) 2^-24 size| and
// the rounding of the storage; n products of an element, size the sum of their magnitudes. Roundings that do not lean
// to one side keep to it (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
// Comput. 41, 2019), where the bound of each element has n for sqrt(n).
#ifndef CSAW_TESTS_NORM_BOUND_H
#define CSAW_TESTS_NORM_BOUND_H

#include <cmath>

class NormBound {
  public:
    // rounded: how far the storage may move it.
    void add(double got, double exact, double size, double terms, double rounded) {
        const double off = got - exact, sum = 2 * std::sqrt(terms) * 0x1p-24 * size;
        if (std::isnan(exact) || std::isinf(exact)) return; // a matter of the element alone
        error_ += off * off, sums_ += sum * sum, stored_ += rounded * rounded;
    }
    bool holds() const { return std::sqrt(error_) <= std::sqrt(sums_) + std::sqrt(stored_); } // false for NaN

  private:
    double error_ = 0, sums_ = 0, stored_ = 0; // squares
};

#endif
