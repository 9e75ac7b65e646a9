/* SPDX-License-Identifier: MIT */
/* tests/reference/table.cc - see table.h. The alias sweep is that of Huebschle-Schneider and Sanders, "Parallel
 * weighted random sampling", TOMS 2022, section 3, with 128-bit products in place of fractions. */
#include "tests/reference/table.h"

#include <algorithm>
#include <cmath>

namespace reference {

__extension__ typedef unsigned __int128 Wide;

Masses masses_of(const std::vector<double> &bias) {
    Masses out;
    out.mass.assign(bias.size(), 0);
    const double largest = bias.empty() ? 0 : *std::max_element(bias.begin(), bias.end());
    if (largest <= 0) return out;
    int log_n = 0;
    while ((uint64_t{1} << log_n) < bias.size()) log_n++;
    out.exponent = 61 - log_n - std::ilogb(largest);
    for (size_t i = 0; i < bias.size(); i++) {
        if (bias[i] == 0) continue;
        const double scaled = std::floor(std::ldexp(bias[i], out.exponent));
        out.mass[i] = std::max<uint64_t>(1, static_cast<uint64_t>(scaled));
        out.sum += out.mass[i];
    }
    return out;
}

uint32_t search(const Masses &masses, uint64_t x) {
    uint64_t prefix = 0;
    uint32_t i = 0;
    while ((prefix += masses.mass[i]) <= x) i++;
    return i;
}

AliasTable alias_table_of(const Masses &masses) {
    const size_t n = masses.mass.size();
    const Wide total = masses.sum;
    const auto scaled = [&](size_t k) { return Wide{masses.mass[k]} * n; };
    const auto threshold = [&](Wide x) { return static_cast<uint32_t>(std::min(Wide{0xffffffff}, (x << 32) / total)); };
    std::vector<uint32_t> light, heavy;
    AliasTable out;
    for (size_t k = 0; k < n; k++) {
        (scaled(k) > total ? heavy : light).push_back(static_cast<uint32_t>(k));
        out.threshold.push_back(0xffffffff);
        out.alias.push_back(static_cast<uint32_t>(k));
    }
    size_t i = 0, j = 0; // places in light and heavy
    Wide left = heavy.empty() ? 0 : scaled(heavy[0]);
    while (j < heavy.size()) {
        if (left > total) {
            if (i == light.size()) break;
            out.threshold[light[i]] = threshold(scaled(light[i]));
            out.alias[light[i]] = heavy[j];
            left -= total - scaled(light[i]);
            i++;
        } else {
            if (j + 1 == heavy.size()) break;
            out.threshold[heavy[j]] = threshold(left);
            out.alias[heavy[j]] = heavy[j + 1];
            left = scaled(heavy[j + 1]) - (total - left);
            j++;
        }
    }
    return out;
}

} // namespace reference
