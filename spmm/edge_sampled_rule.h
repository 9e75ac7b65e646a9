/* SPDX-License-Identifier: MIT */
/* spmm/edge_sampled_rule.h - which entries of a row are taken, one text for CPU and GPU.
 *
 * Method: the table in csaw/edge_sampled.h. Bucket and FastRand as printed in ES-SpMM (Lin, Luo, Ceze), algorithm 1,
 * lines 6 to 8, with get_sample_index() of section IV-D: the first S entries, or, equation 2,
 *
 *   sample_idx = (shmem_idx * P') mod row_nnz,   P' = 577,   shmem_idx = 0 .. min(row_nnz, S) - 1
 *
 * with no threshold on the row's length but S. Stratified is csaw's own: one uniform entry of each of S strata. Their
 * boundaries i n / S need no product above 64 bits: with n = q S + r they are i q + i r / S, and i r < 2^56. So a
 * stratum holds q or q + 1 entries, and a row has two factors at most.
 * Random numbers: docs/stream.md, "Edge-sampled aggregation". */
#ifndef CSAW_SPMM_EDGE_SAMPLED_RULE_H
#define CSAW_SPMM_EDGE_SAMPLED_RULE_H

#include <csaw/edge_sampled.h>
#include <csaw/philox.h>

typedef struct csaw__edge_rule { /* what the options say, defaults filled in */
    csaw_edges_method method;
    uint32_t width;
    bool mean, exact;
    uint64_t seed, epoch;
} csaw__edge_rule;

typedef struct csaw__edge_row {
    uint64_t n; /* entries */
    uint32_t taken;
    uint64_t quotient, rest; /* n = quotient * taken + rest */
    double factor[2];        /* of an entry that stands for quotient, or quotient + 1, entries */
} csaw__edge_row;

/* Entries taken of a row of n. */
CSAW_FN uint32_t csaw__edges_taken(const csaw__edge_rule *rule, uint64_t n) {
    return n < rule->width ? (uint32_t)n : rule->width;
}

CSAW_FN csaw__edge_row csaw__edge_row_of(const csaw__edge_rule *rule, uint64_t n) {
    const bool stratified = rule->method == CSAW_EDGES_STRATIFIED;
    csaw__edge_row row;
    row.n = n;
    row.taken = csaw__edges_taken(rule, n);
    row.quotient = row.taken ? n / row.taken : 0;
    row.rest = row.taken ? n % row.taken : 0;
    const double divisor = !rule->mean || n == 0 ? 1 : stratified ? (double)n : (double)row.taken;
    row.factor[0] = (stratified ? (double)row.quotient : 1) / divisor;
    row.factor[1] = (double)(row.quotient + 1) / divisor;
    return row;
}

/* Slots i and i + period take the same entry, and of period slots each takes another: FastRand is back at its start
 * after n / 577 slots if the prime divides n; no other row repeats. At least 1 if n is. */
CSAW_FN uint64_t csaw__edge_period(const csaw__edge_rule *rule, uint64_t n) {
    return rule->method == CSAW_EDGES_FASTRAND && n % CSAW_ES_PRIME == 0 ? n / CSAW_ES_PRIME : n;
}

/* Do slots need random numbers? */
CSAW_FN bool csaw__edge_is_drawn(const csaw__edge_rule *rule, const csaw__edge_row *row) {
    return rule->method == CSAW_EDGES_STRATIFIED && row->n > row->taken;
}

/* The block whose halves are the numbers of slots 2 pair and 2 pair + 1: its counter words. */
CSAW_FN void csaw__edge_counter(const csaw__edge_rule *rule, uint64_t r, uint32_t pair, uint32_t word[4]) {
    word[0] = (uint32_t)r;
    word[1] = (uint32_t)(r >> 32) << 24 | (uint32_t)(rule->epoch >> 32);
    word[2] = (uint32_t)rule->epoch;
    word[3] = (uint32_t)CSAW_DRAW_STRATUM << 28 | (1 + pair);
}

/* Slot i < taken: its entry's place in the row, and the factor of its weight. number: uniform 64 bits, any if the row
 * is not drawn. */
CSAW_FN uint64_t csaw__edge_place(const csaw__edge_rule *rule, const csaw__edge_row *row, uint32_t i, uint64_t number,
                                  double *factor) {
    *factor = row->factor[0];
    if (rule->method == CSAW_EDGES_FASTRAND) return (uint64_t)i * CSAW_ES_PRIME % row->n;
    if (!csaw__edge_is_drawn(rule, row)) return i;
    const uint64_t extra = i * row->rest / row->taken; /* longer strata before this one */
    const uint64_t larger = i * row->rest - extra * row->taken + row->rest >= row->taken;
    *factor = row->factor[larger];
    return i * row->quotient + extra + csaw_below(number, row->quotient + larger);
}

CSAW_FN float csaw__edge_weight(float weight, double factor) { return (float)((double)weight * factor); }

#endif
