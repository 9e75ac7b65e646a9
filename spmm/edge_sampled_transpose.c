/* SPDX-License-Identifier: MIT */
/* spmm/edge_sampled_transpose.c - see edge_sampled_transpose.h.
 *
 * Method: counting sort by column. The rows are cut into ranges of about equal work, one a thread; each range counts
 * its columns, sums over (column, range) give every range its places, and each range puts its entries there. The
 * sort is stable, so how many ranges there are changes nothing. Entries are sampled once to count and once to place:
 * that is cheaper than to keep them. Ranges are few enough that their counters take no more than the result. */
#include "spmm/edge_sampled_transpose.h"

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"

typedef struct sorting {
    const csaw_sparse *a;
    const csaw__edge_rule *rule;
    uint64_t *taken;  /* [rows + 1] entries taken of the rows before */
    uint64_t ranges;  /* range k: rows cut(k) .. cut(k + 1) - 1 */
    uint64_t *count;  /* [ranges, cols]: counts, then places */
    uint64_t *bad;    /* [ranges] the first row with a fault, or UINT64_MAX */
    csaw_vertex *row; /* the result's; NULL = count */
    float *weight;
} sorting;

/* The first row before which at least k / ranges of all entries are taken. */
static uint64_t cut(const sorting *s, uint64_t k) {
    const uint64_t total = s->taken[s->a->rows];
    const uint64_t goal = k == s->ranges ? total : total / s->ranges * k;
    uint64_t low = 0, high = s->a->rows;
    if (k == s->ranges) return high;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (s->taken[middle] < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool sort_row(const sorting *s, uint64_t r, uint64_t *count) {
    const csaw__edge_row row = csaw__edge_row_at(s->a, s->rule, r);
    csaw__edge_slots slots;
    for (uint32_t first = 0; first < row.taken; first += slots.count) {
        csaw__edge_slots_fill(s->a, s->rule, &row, r, first, &slots);
        if (!csaw__edge_columns(s->a, &slots)) return false;
        for (uint32_t i = 0; i < slots.count; i++) {
            const uint64_t place = count[slots.col[i]]++;
            if (!s->row) continue;
            s->row[place] = (csaw_vertex)r;
            s->weight[place] = slots.weight[i];
        }
    }
    return true;
}

static void sort_ranges(const sorting *s) {
    CSAW__OMP(parallel for schedule(static, 1) if (s->ranges > 1))
    for (uint64_t k = 0; k < s->ranges; k++) {
        s->bad[k] = UINT64_MAX;
        for (uint64_t r = cut(s, k), end = cut(s, k + 1); r < end && s->bad[k] == UINT64_MAX; r++)
            if (!sort_row(s, r, s->count + k * s->a->cols)) s->bad[k] = r;
    }
}

static void places_of_counts(const sorting *s, uint64_t *first) {
    uint64_t sum = 0;
    for (uint64_t c = 0; c < s->a->cols; c++) {
        first[c] = sum;
        for (uint64_t k = 0; k < s->ranges; k++) {
            uint64_t *const place = &s->count[k * s->a->cols + c], here = *place;
            *place = sum;
            sum += here;
        }
    }
    first[s->a->cols] = sum;
}

static uint64_t ranges_of(const csaw_sparse *a, uint64_t taken) {
    const uint64_t threads = (uint64_t)csaw__max_threads(), few = 1 + (a->cols ? taken / a->cols : 0);
    if (!csaw__is_long(a->rows + taken)) return 1;
    return threads < few ? threads : few;
}

csaw_status csaw__edge_transpose_create(const csaw_sparse *a, const csaw__edge_rule *rule, csaw__edge_transpose *out) {
    sorting s = {.a = a, .rule = rule};
    csaw__edge_transpose t = {0};
    csaw_status status = CSAW_OK;
    for (uint64_t r = 0; r < a->rows; r++)
        if (!csaw__edge_row_stands(a, r)) return csaw__edge_fault(a, rule, r);
    CSAW_TRY_DONE(csaw__alloc(&s.taken, a->rows + 1, "rows of the sampled matrix"));
    s.taken[0] = 0;
    for (uint64_t r = 0; r < a->rows; r++)
        s.taken[r + 1] = s.taken[r] + csaw__edges_taken(rule, a->rowptr[r + 1] - a->rowptr[r]);
    s.ranges = ranges_of(a, s.taken[a->rows]);
    CSAW_TRY_DONE(csaw__alloc_zero(&s.count, s.ranges * a->cols, "columns of the sampled matrix"));
    CSAW_TRY_DONE(csaw__alloc(&s.bad, s.ranges, "columns of the sampled matrix"));
    CSAW_TRY_DONE(csaw__alloc(&t.first, a->cols + 1, "columns of the sampled matrix"));
    sort_ranges(&s);
    for (uint64_t k = 0; k < s.ranges; k++)
        if (s.bad[k] != UINT64_MAX) CSAW_TRY_DONE(csaw__edge_fault(a, rule, s.bad[k]));
    places_of_counts(&s, t.first);
    CSAW_TRY_DONE(csaw__alloc(&t.row, s.taken[a->rows], "the sampled matrix by columns"));
    CSAW_TRY_DONE(csaw__alloc(&t.weight, s.taken[a->rows], "the sampled matrix by columns"));
    s.row = t.row;
    s.weight = t.weight;
    sort_ranges(&s);
    *out = t;
done:
    if (status != CSAW_OK) csaw__edge_transpose_free(&t);
    csaw__free(s.bad);
    csaw__free(s.count);
    csaw__free(s.taken);
    return status;
}

void csaw__edge_transpose_free(csaw__edge_transpose *t) {
    csaw__free(t->weight);
    csaw__free(t->row);
    csaw__free(t->first);
}
