/* SPDX-License-Identifier: MIT */
/* tests/reference/select.cc - see select.h. */
#include "tests/reference/select.h"

#include <csaw/math.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace reference {

uint64_t Numbers::arrival(uint32_t i) const {
    const uint32_t word = 3u << 30 | i >> 1;
    return half(draw(seed, instance, depth, key, word >> 28, word & 0xfffffff), i & 1);
}

Candidates alike(uint32_t count) {
    Candidates out;
    out.masses.mass.assign(count, 1);
    out.masses.sum = count;
    return out;
}

namespace {

std::vector<Pick> all_of(const Candidates &from) {
    std::vector<Pick> out;
    for (uint32_t i = 0; i < from.count(); i++)
        if (from.masses.mass[i] > 0) out.push_back({i, 0, i});
    return out;
}

int64_t picked_by(Method method, const Candidates &from, uint64_t number) {
    if (method == Method::alias) return from.alias(number);
    return search(from.masses, below(number, from.masses.sum));
}

// Of round 0, or of the only one: two slots share a block.
uint64_t first_number(const Numbers &numbers, uint32_t s) { return half(numbers.trial(16 * (s - s % 2)), s % 2); }

// short(s, n)
uint64_t short_number(const Numbers &numbers, uint32_t s, uint64_t n) {
    const uint64_t all = uint64_t{1} << 32, p = numbers.trial(16 * (s - s % 4))[s % 4] * n;
    if (n < all && p % all >= all % n) return p / all;
    return below(half(numbers.trial(16 * s + 1), 0), n);
}

std::vector<Pick> shuffled(uint32_t n, uint32_t k, const Numbers &numbers) {
    std::vector<Pick> out;
    std::vector<uint32_t> list(n);
    for (uint32_t i = 0; i < n; i++) list[i] = i;
    for (uint32_t s = 0; s < k; s++) {
        std::swap(list[s], list[s + short_number(numbers, s, n - s)]);
        out.push_back({list[s], 0, s});
    }
    return out;
}

std::vector<Pick> with_replacement(Method method, const Candidates &from, uint32_t k, const Numbers &numbers) {
    std::vector<Pick> out;
    for (uint32_t s = 0; s < k; s++) {
        int64_t i = failed;
        if (method == Method::uniform) {
            i = static_cast<int64_t>(short_number(numbers, s, from.count()));
        } else if (method == Method::reject) {
            for (uint32_t t = 0; t < 16 && i == failed; t++) i = from.attempt(numbers.attempt(16 * s + t));
            if (i == failed) i = picked_by(Method::its, from, half(numbers.trial(16 * s + 8), 0));
        } else {
            i = picked_by(method, from, first_number(numbers, s));
        }
        out.push_back({static_cast<uint32_t>(i), 0, s});
    }
    return out;
}

// A candidate that is not taken, or failed.
int64_t trial(Method method, const Candidates &from, const std::vector<bool> &taken, uint32_t s, uint32_t t,
              const Numbers &numbers) {
    const auto unless_taken = [&](int64_t i) { return i != failed && taken[static_cast<size_t>(i)] ? failed : i; };
    if (method == Method::reject) return unless_taken(from.attempt(numbers.attempt(16 * s + t)));

    if (t == 0) return picked_by(method, from, first_number(numbers, s));
    const Block block = numbers.trial(16 * s + t);
    const uint64_t r1 = half(block, 0), r2 = half(block, 1);
    const int64_t i = picked_by(method, from, r1);
    if (!taken[static_cast<size_t>(i)]) return i;
    if (method == Method::alias) return unless_taken(from.alias(r2));
    const uint64_t M = from.masses.sum, m = from.masses.mass[static_cast<size_t>(i)];
    if (M == m) return failed;
    uint64_t l = 0; // where the region of i begins
    for (int64_t j = 0; j < i; j++) l += from.masses.mass[static_cast<size_t>(j)];
    const uint64_t y = below(r2, M - m);
    return unless_taken(search(from.masses, y >= l ? y + m : y));
}

std::vector<Pick> without_replacement(Method method, const Candidates &from, uint32_t k, const Numbers &numbers) {
    const uint32_t rounds = method == Method::reject ? 16 : 8;
    std::vector<Pick> out;
    std::vector<bool> taken(from.count(), false);
    std::vector<uint32_t> open;
    for (uint32_t s = 0; s < k; s++) open.push_back(s);
    for (uint32_t t = 0; t < rounds; t++) {
        std::vector<bool> taken_now = taken;
        std::vector<uint32_t> still_open;
        for (uint32_t s : open) {
            const int64_t i = trial(method, from, taken, s, t, numbers);
            if (i == failed || taken_now[static_cast<size_t>(i)]) {
                still_open.push_back(s);
                continue;
            }
            taken_now[static_cast<size_t>(i)] = true;
            out.push_back({static_cast<uint32_t>(i), t, s});
        }
        taken = taken_now;
        open = still_open;
    }
    Masses left = from.masses;
    for (uint32_t i = 0; i < from.count(); i++) {
        if (!taken[i]) continue;
        left.sum -= left.mass[i];
        left.mass[i] = 0;
    }
    for (uint32_t s : open) {
        if (left.sum == 0) break;
        const uint32_t i = search(left, below(half(numbers.trial(16 * s + 8), 0), left.sum));
        out.push_back({i, rounds, s});
        left.sum -= left.mass[i];
        left.mass[i] = 0;
    }
    return out;
}

std::vector<Pick> race(const Candidates &from, uint32_t k, const Numbers &numbers) {
    struct Arrival {
        double time;
        uint32_t candidate;
    };
    std::vector<Arrival> arrivals;
    for (uint32_t i = 0; i < from.count(); i++) {
        if (from.bias[i] == 0) continue;
        const double u = std::ldexp(static_cast<double>(numbers.arrival(i)), -64);
        arrivals.push_back({-csaw_log1p(-u) / from.bias[i], i});
    }
    std::stable_sort(arrivals.begin(), arrivals.end(), [](Arrival a, Arrival b) { return a.time < b.time; });
    std::vector<Pick> out;
    for (uint32_t s = 0; s < k && s < arrivals.size(); s++) out.push_back({arrivals[s].candidate, 0, s});
    return out;
}

} // namespace

std::vector<Pick> select(Method method, const Candidates &from, uint32_t k, bool replace, const Numbers &numbers) {
    if (replace && method == Method::race) throw std::invalid_argument("RACE does not select with replacement");
    if (from.masses.sum == 0) return {};
    if (k == CSAW_ALL || (!replace && k >= from.count())) return all_of(from);
    if (replace) return with_replacement(method, from, k, numbers);
    if (method == Method::race) return race(from, k, numbers);
    if (method == Method::uniform) return shuffled(from.count(), k, numbers);
    return without_replacement(method, from, k, numbers);
}

} // namespace reference
