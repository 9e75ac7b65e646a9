/* SPDX-License-Identifier: MIT */
/* spmm/batched_arg.c - arg comes from the caller, and decides where memory is written: so it is read first, graph by
 * graph as products are dealt out. Of several faults the first is named, whichever thread finds it. */
#include "spmm/batched_arg.h"

#include "runtime/base/parallel.h"
#include "runtime/base/status.h"
#include "spmm/batched_options.h"
#include "spmm/batched_run.h"

typedef unsigned long long number;

typedef struct checking {
    const csaw_batch *batch;
    const uint32_t *arg;
    uint64_t cols;
    uint64_t *bad; /* the first place of arg that is wrong, or UINT64_MAX */
} checking;

/* length: entries of the row. */
static bool is_of_row(const csaw__small *g, uint64_t row, uint32_t length, uint32_t entry) {
    if (!length || entry >= g->num_edges) return !length && entry == CSAW_NONE;
    return g->rowptr ? entry - (g->rowptr[row] - g->rowptr[0]) < length : csaw__row(g, entry) == row;
}

static void check_graph(const void *job, uint64_t graph, uint64_t part, uint64_t parts, const csaw__scratch *scratch) {
    const checking *const c = job;
    const csaw__small *const g = &c->batch->graph[graph];
    const uint64_t end = g->rows * (part + 1) / parts;
    uint64_t bad = UINT64_MAX;
    csaw__batch_count_entries(g, scratch->count);
    for (uint64_t row = g->rows * part / parts; row < end && bad == UINT64_MAX; row++) {
        const uint64_t begin = (g->row_begin + row) * c->cols;
        for (uint64_t i = 0; i < c->cols && bad == UINT64_MAX; i++)
            if (!is_of_row(g, row, scratch->count[row], c->arg[begin + i])) bad = begin + i;
    }
    if (bad == UINT64_MAX) return;
    CSAW__OMP(critical(csaw__batched_arg))
    if (bad < *c->bad) *c->bad = bad;
}

csaw_status csaw__batched_arg_check(const csaw_batch *batch, const uint32_t *arg, uint64_t cols) {
    uint64_t bad = UINT64_MAX, g = 0;
    if (!cols) return CSAW_OK;
    const checking job = {batch, arg, cols, &bad};
    CSAW_TRY(csaw__batch_run(batch, cols, (csaw__needs){.count = true}, check_graph, &job));
    if (bad == UINT64_MAX) return CSAW_OK;
    while (batch->graph[g].row_begin + batch->graph[g].rows <= bad / cols) g++;
    return csaw__fail(CSAW_EINVAL,
                      "graph %llu of %llu: arg[%llu, %llu] is %u, which is no entry of that row; give arg as "
                      "csaw_batched_spmm() wrote it",
                      (number)g, (number)batch->total.graphs, (number)(bad / cols - batch->graph[g].row_begin),
                      (number)(bad % cols), arg[bad]);
}
