/* SPDX-License-Identifier: MIT */
/* runtime/base/row_sort.h - a stable sort of one row by destination, weights along.
 *
 * Runs of 16 by insertion, then merged bottom up between the row and a scratch space of equal length. Stable, because
 * parallel arcs keep their input order; and at once done with a row that is ascending already, as most files are. */
#ifndef CSAW_BASE_ROW_SORT_H
#define CSAW_BASE_ROW_SORT_H

#include <csaw/types.h>
#include <string.h>

enum { CSAW__SORT_RUN = 16 };

static inline void csaw__insertion_sort(csaw_vertex *col, float *weight, uint64_t length) {
    for (uint64_t i = 1; i < length; i++) {
        csaw_vertex key = col[i];
        float value = weight ? weight[i] : 0;
        uint64_t at = i;
        for (; at > 0 && col[at - 1] > key; at--) {
            col[at] = col[at - 1];
            if (weight) weight[at] = weight[at - 1];
        }
        col[at] = key;
        if (weight) weight[at] = value;
    }
}

/* Merges [0, middle) and [middle, length), each ascending, into `to`. */
static inline void csaw__merge_runs(const csaw_vertex *col, const float *weight, csaw_vertex *to, float *to_weight,
                                    uint64_t middle, uint64_t length) {
    uint64_t left = 0, right = middle;
    for (uint64_t at = 0; at < length; at++) {
        if (left == middle || right == length) { /* one side is used up: the rest is a copy */
            uint64_t rest = left == middle ? right : left;
            memcpy(to + at, col + rest, (length - at) * sizeof *to);
            if (weight) memcpy(to_weight + at, weight + rest, (length - at) * sizeof *to_weight);
            return;
        }
        bool second = col[right] < col[left];
        uint64_t from = second ? right : left;
        to[at] = col[from];
        if (weight) to_weight[at] = weight[from];
        right += second;
        left += !second;
    }
}

/* weight: [length] or NULL; scratch of the same shapes. */
static inline void csaw__sort_row(csaw_vertex *col, float *weight, csaw_vertex *scratch, float *scratch_weight,
                                  uint64_t length) {
    uint64_t ascending = 1;
    while (ascending < length && col[ascending - 1] <= col[ascending]) ascending++;
    if (ascending >= length) return;
    for (uint64_t i = 0; i < length; i += CSAW__SORT_RUN)
        csaw__insertion_sort(col + i, weight ? weight + i : NULL,
                             length - i < CSAW__SORT_RUN ? length - i : CSAW__SORT_RUN);
    csaw_vertex *from = col, *to = scratch;
    float *from_weight = weight, *to_weight = scratch_weight;
    for (uint64_t run = CSAW__SORT_RUN; run < length; run *= 2) {
        for (uint64_t i = 0; i < length; i += 2 * run) {
            uint64_t count = length - i < 2 * run ? length - i : 2 * run;
            csaw__merge_runs(from + i, weight ? from_weight + i : NULL, to + i, weight ? to_weight + i : NULL,
                             run < count ? run : count, count);
        }
        csaw_vertex *other = from;
        float *other_weight = from_weight;
        from = to, to = other;
        from_weight = to_weight, to_weight = other_weight;
    }
    if (from == col) return;
    memcpy(col, from, length * sizeof *col);
    if (weight) memcpy(weight, from_weight, length * sizeof *weight);
}

#endif
