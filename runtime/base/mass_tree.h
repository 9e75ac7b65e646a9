/* SPDX-License-Identifier: MIT */
/* runtime/base/mass_tree.h - masses whose sums change: a Fenwick tree (Fenwick, Software: Practice and Experience 24,
 * 1994). Changing a mass and finding the place of a number take O(log n) each. tree: [n + 1], place i at i + 1. */
#ifndef CSAW_BASE_MASS_TREE_H
#define CSAW_BASE_MASS_TREE_H

#include <csaw/types.h>

/* tree[1 .. n] holds the masses themselves; makes a tree of them. Returns their sum. */
CSAW_FN uint64_t csaw__mass_tree_build(uint64_t *tree, uint64_t n) {
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= n; i++) {
        const uint64_t above = i + (i & (0 - i));
        if (above <= n) tree[above] += tree[i];
    }
    for (uint64_t i = n; i > 0; i -= i & (0 - i)) sum += tree[i];
    return sum;
}

/* Adds change, modulo 2^64, to the mass of a place. */
CSAW_FN void csaw__mass_tree_add(uint64_t *tree, uint64_t n, uint64_t place, uint64_t change) {
    for (uint64_t i = place + 1; i <= n; i += i & (0 - i)) tree[i] += change;
}

/* The first place whose inclusive sum exceeds x; x is below the sum of all. *below: the sum of the places before it. */
CSAW_FN uint64_t csaw__mass_tree_find(const uint64_t *tree, uint64_t n, uint64_t x, uint64_t *below) {
    uint64_t place = 0, step = 1;
    *below = 0;
    while (step <= n / 2) step *= 2;
    for (; step; step /= 2)
        if (place + step <= n && tree[place + step] <= x - *below) {
            place += step;
            *below += tree[place];
        }
    return place;
}

#endif
