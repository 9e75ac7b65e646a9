/* SPDX-License-Identifier: MIT */
/* runtime/base/row_merge.h - sorts a row whose arcs have types or times, and merges arcs that are alike in them.
 *
 * Places are sorted instead of arcs, which may be 20 bytes, and arcs gathered once. Arcs alike in destination, type and
 * time need not lie side by side, since parallel arcs keep input order: so each group of parallel arcs is sorted by
 * type and time, every run of equals is added up into its first, and the others are left out. */
#ifndef CSAW_BASE_ROW_MERGE_H
#define CSAW_BASE_ROW_MERGE_H

#include <math.h>

#include "runtime/base/columns.h"

typedef struct csaw__keys { /* compared in this order; NULL = not at all */
    const uint32_t *first;
    const int64_t *second;
} csaw__keys;

static inline bool csaw__key_below(const csaw__keys *keys, uint32_t a, uint32_t b) {
    if (keys->first && keys->first[a] != keys->first[b]) return keys->first[a] < keys->first[b];
    return keys->second && keys->second[a] < keys->second[b];
}

/* A stable merge sort of 0 .. count-1 by their keys, bottom up; at once done if they ascend. place, scratch: [count] */
static inline void csaw__sort_places(const csaw__keys *keys, uint32_t *place, uint32_t *scratch, uint64_t count) {
    uint64_t ascending = 1;
    for (uint64_t i = 0; i < count; i++) place[i] = (uint32_t)i;
    while (ascending < count && !csaw__key_below(keys, (uint32_t)ascending, (uint32_t)ascending - 1)) ascending++;
    if (ascending >= count) return;
    uint32_t *from = place, *to = scratch;
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t begin = 0; begin < count; begin += 2 * run) {
            uint64_t middle = begin + run < count ? begin + run : count;
            uint64_t end = begin + 2 * run < count ? begin + 2 * run : count;
            for (uint64_t at = begin, left = begin, right = middle; at < end; at++) {
                bool second = left == middle || (right < end && csaw__key_below(keys, from[right], from[left]));
                to[at] = second ? from[right++] : from[left++];
            }
        }
        uint32_t *other = from;
        from = to, to = other;
    }
    if (from != place) memcpy(place, from, count * sizeof *place);
}

/* The weight of arcs that become one. *beyond: set if it is more than a float holds, though none of theirs was. */
static inline float csaw__merged_weight(double sum, bool *beyond) {
    const float weight = (float)sum;
    *beyond = *beyond || (isfinite(sum) && !isfinite(weight));
    return weight;
}

/* Parallel arcs from[0 .. count-1] to to[0 ..], alike ones as one; returns how many are left. place, scratch: [count]
 */
static inline uint64_t csaw__merge_group(const csaw__columns *to, const csaw__columns *from, uint32_t *place,
                                         uint32_t *scratch, uint64_t count, bool *beyond) {
    const csaw__keys keys = {from->type, from->time};
    uint64_t left = 0;
    csaw__sort_places(&keys, place, scratch, count);
    for (uint64_t i = 0, next; i < count; i = next) { /* scratch: is this arc the first of its kind? */
        double sum = from->weight ? from->weight[place[i]] : 0;
        scratch[place[i]] = 1;
        for (next = i + 1; next < count && !csaw__key_below(&keys, place[i], place[next]); next++) {
            if (from->weight) sum += from->weight[place[next]];
            scratch[place[next]] = 0;
        }
        if (from->weight) from->weight[place[i]] = csaw__merged_weight(sum, beyond);
    }
    for (uint64_t i = 0; i < count; i++)
        if (scratch[i]) csaw__columns_put(to, left++, from->dst[i], from, i);
    return left;
}

/* The row arcs[0 .. count-1] to to[0 ..], which may begin at or before arcs; returns how many arcs are left. spare:
 * columns of the same kinds and length; place, scratch: [count] */
static inline uint64_t csaw__merge_row(const csaw__columns *to, const csaw__columns *arcs, const csaw__columns *spare,
                                       uint32_t *place, uint32_t *scratch, uint64_t count, bool merge, bool *beyond) {
    uint64_t left = 0;
    csaw__sort_places(&(csaw__keys){arcs->dst, NULL}, place, scratch, count);
    for (uint64_t i = 0; i < count; i++) csaw__columns_put(spare, i, arcs->dst[place[i]], arcs, place[i]);
    if (!merge) {
        csaw__columns_copy(to, spare, count);
        return count;
    }
    for (uint64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && spare->dst[next] == spare->dst[i];) next++;
        const csaw__columns group = csaw__columns_from(*spare, i), into = csaw__columns_from(*to, left);
        left += csaw__merge_group(&into, &group, place, scratch, next - i, beyond);
    }
    return left;
}

#endif
