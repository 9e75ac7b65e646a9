/* SPDX-License-Identifier: MIT */
/* spmm/edge_sampled_slots.c - see edge_sampled_slots.h. Equation 2 of ES-SpMM and the strata are in
 * edge_sampled_rule.h; here they are only gathered into blocks. */
#include "spmm/edge_sampled_slots.h"

#include "runtime/base/numbers.h"

static void draw(const csaw__edge_rule *rule, uint64_t r, uint32_t first, uint32_t count,
                 uint64_t number[2][CSAW__SLOTS / 2]) {
    uint32_t word[4][CSAW__SLOTS / 2];
    const uint32_t *const words[4] = {word[0], word[1], word[2], word[3]}, pairs = (count + 1) / 2;
    for (uint32_t p = 0; p < pairs; p++) {
        uint32_t counter[4];
        csaw__edge_counter(rule, r, first / 2 + p, counter);
        for (int w = 0; w < 4; w++) word[w][p] = counter[w];
    }
    csaw__numbers(rule->seed, words, pairs, number[0], number[1]);
}

void csaw__edge_slots_fill(const csaw_sparse *a, const csaw__edge_rule *rule, const csaw__edge_row *row, uint64_t r,
                           uint32_t first, csaw__edge_slots *out) {
    const uint64_t start = a->rowptr[r];
    const uint32_t left = row->taken - first, count = left < CSAW__SLOTS ? left : CSAW__SLOTS;
    uint64_t number[2][CSAW__SLOTS / 2];
    const bool drawn = csaw__edge_is_drawn(rule, row);
    if (drawn) draw(rule, r, first, count, number);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t n = drawn ? number[i & 1][i >> 1] : 0;
        const uint64_t e = start + csaw__edge_place(rule, row, first + i, n, &out->factor[i]);
        out->edge[i] = e;
        out->weight[i] = csaw__edge_weight(a->weight ? a->weight[e] : 1, out->factor[i]);
    }
    out->count = count;
}
