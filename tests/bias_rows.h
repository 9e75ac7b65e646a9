/* SPDX-License-Identifier: MIT */
/* tests/bias_rows.h - rows of biases that show the corners of alias tables: ties, zeros, extreme ratios. */
#ifndef CSAW_BIAS_ROWS_H
#define CSAW_BIAS_ROWS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace bias_rows {

// A row of n of every kind. Each has a positive bias.
inline std::vector<std::pair<const char *, std::vector<float>>> of(size_t n, std::mt19937_64 &random) {
    const auto unit = [&] { return std::ldexp(static_cast<double>(random() >> 11), -53); };
    std::vector<float> equal(n, 0.1f), one(n, 0.0f), two(n, 0.0f), spread(n), wide(n), few(n), steps(n), means(n),
        rising(n), hub(n, 1e-30f);
    for (size_t i = 0; i < n; i++) {
        spread[i] = static_cast<float>(1 + 4 * unit());
        wide[i] = static_cast<float>(std::pow(10, 83 * unit() - 44.8));
        few[i] = random() % 4 ? 0.0f : spread[i];
        steps[i] = static_cast<float>(random() % 3); // many of exactly the mean, and sums that meet
        means[i] = static_cast<float>(1 + (i % 4 == 1) - (i % 4 == 2));
        rising[i] = static_cast<float>(i);
    }
    few[random() % n] = steps[random() % n] = rising[n - 1] = 2;
    one[random() % n] = 1e-45f;
    two[random() % n] = 3;
    two[random() % n] = 1;
    hub[random() % n] = 1e30f;
    std::vector<float> falling(rising.rbegin(), rising.rend()), wide_rising(wide);
    std::sort(wide_rising.begin(), wide_rising.end());
    std::vector<float> wide_falling(wide_rising.rbegin(), wide_rising.rend());
    return {{"equal", equal},
            {"one", one},
            {"two", two},
            {"spread", spread},
            {"wide", wide},
            {"few", few},
            {"steps", steps},
            {"means", means},
            {"rising", rising},
            {"falling", falling},
            {"hub", hub},
            {"wide, rising", wide_rising},
            {"wide, falling", wide_falling}};
}

} // namespace bias_rows

#endif
