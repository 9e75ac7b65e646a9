/* SPDX-License-Identifier: MIT */
/* bench/hand_walks.c - walks written by hand for one algorithm each, for the CPU: groups of walks in flight with
 * software prefetch, a cheap generator (splitmix64) in place of Philox. Graphs without isolated vertices, symmetric, no
 * parallel arcs: that is all these loops can do. */
#include "bench/hand_walks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GROUP = 64 };

static inline uint64_t next_number(uint64_t *state) { /* Steele, Lea, Flood, OOPSLA 2014 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t below32(uint64_t number, uint64_t n) { return ((number >> 32) * n) >> 32; }

void *hand_alloc(uint64_t count, uint64_t size) {
    const uint64_t huge_page = 2 << 20, bytes = (count * size + huge_page) / huge_page * huge_page;
    void *memory = aligned_alloc(huge_page, bytes);
    if (memory) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

void hand_uniform(const csaw_csr *csr, uint64_t num_walks, uint32_t length, uint64_t seed, csaw_vertex *path) {
    const uint64_t n = num_walks, stride = (uint64_t)length + 1;
#pragma omp parallel for schedule(dynamic, 16)
    for (uint64_t first = 0; first < n; first += GROUP) {
        const uint32_t count = n - first < GROUP ? (uint32_t)(n - first) : GROUP;
        uint64_t state[GROUP], place[GROUP];
        csaw_vertex at[GROUP];
        for (uint32_t i = 0; i < count; i++) {
            state[i] = seed + (first + i) * 0x2545f4914f6cdd1du;
            at[i] = path[(first + i) * stride] = (csaw_vertex)(first + i);
        }
        for (uint32_t step = 1; step <= length; step++) {
            for (uint32_t i = 0; i < count; i++) {
                uint64_t row = csr->rowptr[at[i]], degree = csr->rowptr[at[i] + 1] - row;
                place[i] = row + below32(next_number(&state[i]), degree);
                __builtin_prefetch(csr->col + place[i]);
            }
            for (uint32_t i = 0; i < count; i++) {
                at[i] = path[(first + i) * stride + step] = csr->col[place[i]];
                __builtin_prefetch(csr->rowptr + at[i]);
            }
        }
    }
}

void hand_weighted(const csaw_csr *csr, const hand_alias *table, uint64_t num_walks, uint32_t length, uint64_t seed,
                   csaw_vertex *path) {
    const uint64_t n = num_walks, stride = (uint64_t)length + 1;
#pragma omp parallel for schedule(dynamic, 16)
    for (uint64_t first = 0; first < n; first += GROUP) {
        const uint32_t count = n - first < GROUP ? (uint32_t)(n - first) : GROUP;
        uint64_t state[GROUP], place[GROUP];
        uint32_t coin[GROUP];
        csaw_vertex at[GROUP];
        for (uint32_t i = 0; i < count; i++) {
            state[i] = seed + (first + i) * 0x2545f4914f6cdd1du;
            at[i] = path[(first + i) * stride] = (csaw_vertex)(first + i);
        }
        for (uint32_t step = 1; step <= length; step++) {
            for (uint32_t i = 0; i < count; i++) {
                uint64_t row = csr->rowptr[at[i]], degree = csr->rowptr[at[i] + 1] - row,
                         number = next_number(&state[i]);
                place[i] = row + below32(number, degree);
                coin[i] = (uint32_t)number;
                __builtin_prefetch(table + place[i]);
            }
            for (uint32_t i = 0; i < count; i++) {
                const hand_alias *entry = &table[place[i]];
                at[i] = path[(first + i) * stride + step] = coin[i] < entry->threshold ? entry->own : entry->other;
                __builtin_prefetch(csr->rowptr + at[i]);
            }
        }
    }
}

static void alias_row(const csaw_csr *csr, uint64_t row, uint32_t n, hand_alias *out, double *share, uint32_t *stack) {
    double sum = 0;
    uint32_t low = 0, high = n; /* stack[0 .. low): light, stack[high .. n): heavy */
    for (uint32_t i = 0; i < n; i++) sum += csr->weight[row + i];
    for (uint32_t i = 0; i < n; i++) {
        share[i] = csr->weight[row + i] * n / sum;
        out[i] = (hand_alias){0xffffffffu, csr->col[row + i], csr->col[row + i]};
        if (share[i] < 1)
            stack[low++] = i;
        else
            stack[--high] = i;
    }
    while (low > 0 && high < n) {
        uint32_t light = stack[--low], heavy = stack[high];
        out[light].threshold = (uint32_t)(share[light] * 4294967295.0);
        out[light].other = csr->col[row + heavy];
        share[heavy] -= 1 - share[light];
        if (share[heavy] < 1) {
            high++;
            stack[low++] = heavy;
        }
    }
}

void hand_alias_build(const csaw_csr *csr, hand_alias *table) {
    uint64_t most = 1;
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        uint64_t degree = csr->rowptr[v + 1] - csr->rowptr[v];
        most = degree > most ? degree : most;
    }
    double *share = malloc(most * sizeof *share);
    uint32_t *stack = malloc(most * sizeof *stack);
    if (!share || !stack) abort();
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        uint64_t row = csr->rowptr[v];
        alias_row(csr, row, (uint32_t)(csr->rowptr[v + 1] - row), table + row, share, stack);
    }
    free(share);
    free(stack);
}

static inline uint64_t lower_bound(const csaw_vertex *col, uint64_t lo, uint64_t hi, csaw_vertex v) {
    while (lo < hi) {
        uint64_t middle = (lo + hi) / 2;
        if (col[middle] < v)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

typedef struct second_order {
    double back, out, high, low, fold;
    float largest;
} second_order;

static csaw_vertex hop(const csaw_csr *csr, const second_order *bias, csaw_vertex at, csaw_vertex prev,
                       uint64_t *state) {
    const uint64_t row = csr->rowptr[at], degree = csr->rowptr[at + 1] - row;
    for (;;) {
        uint64_t number = next_number(state), place = row + below32(number, degree);
        double coin = (double)(uint32_t)number * 0x1p-32 * bias->largest, weight = csr->weight ? csr->weight[place] : 1;
        if (prev == CSAW_NONE) {
            if (coin < weight) return csr->col[place];
            continue;
        }
        double area = (double)(next_number(state) >> 11) * 0x1p-53 * (bias->high * (double)degree + bias->fold);
        if (area < bias->fold) {
            uint64_t back = lower_bound(csr->col, row, row + degree, prev);
            if (coin < (csr->weight ? csr->weight[back] : 1)) return prev;
            continue;
        }
        csaw_vertex next = csr->col[place];
        if (coin >= weight) continue;
        double height = (area - bias->fold) / (double)degree;
        if (height < bias->low) return next;
        double factor = bias->out;
        if (next == prev) {
            factor = bias->back < bias->high ? bias->back : bias->high;
        } else {
            uint64_t end = csr->rowptr[prev + 1], found = lower_bound(csr->col, csr->rowptr[prev], end, next);
            if (found < end && csr->col[found] == next) factor = 1;
        }
        if (height < factor) return next;
    }
}

void hand_node2vec(const csaw_csr *csr, float p, float q, float largest, uint64_t num_walks, uint32_t length,
                   uint64_t seed, csaw_vertex *path) {
    const uint64_t n = num_walks, stride = (uint64_t)length + 1;
    second_order bias = {.back = 1 / p, .out = 1 / q, .largest = csr->weight ? largest : 1};
    bias.high = bias.out > 1 ? bias.out : 1;
    bias.low = bias.out < 1 ? bias.out : 1;
    bias.low = bias.back < bias.low ? bias.back : bias.low;
    bias.fold = bias.back > bias.high ? bias.back - bias.high : 0;
#pragma omp parallel for schedule(dynamic, 16)
    for (uint64_t first = 0; first < n; first += GROUP) {
        const uint32_t count = n - first < GROUP ? (uint32_t)(n - first) : GROUP;
        uint64_t state[GROUP];
        csaw_vertex at[GROUP], prev[GROUP];
        for (uint32_t i = 0; i < count; i++) {
            state[i] = seed + (first + i) * 0x2545f4914f6cdd1du;
            at[i] = path[(first + i) * stride] = (csaw_vertex)(first + i);
            prev[i] = CSAW_NONE;
        }
        for (uint32_t step = 1; step <= length; step++)
            for (uint32_t i = 0; i < count; i++) {
                csaw_vertex next = hop(csr, &bias, at[i], prev[i], &state[i]);
                prev[i] = at[i];
                at[i] = path[(first + i) * stride + step] = next;
                __builtin_prefetch(csr->rowptr + next);
            }
    }
}
