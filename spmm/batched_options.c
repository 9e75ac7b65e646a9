/* SPDX-License-Identifier: MIT */
/* spmm/batched_options.c - see the header. */
#include "spmm/batched_options.h"

#include <string.h>

#include "runtime/base/status.h"
#include "spmm/batched_run.h"
#include "spmm/check.h"

typedef unsigned long long number;

csaw_status csaw__batched_options_check(const csaw_batch *batch, const csaw_batched_options *given,
                                        csaw_batched_options *out) {
    CSAW_OPTIONS(csaw_batched_options, given, options)
    CSAW_TRY(csaw__stream_check(options.stream, batch->ordinal));
    const bool best = options.reduce == CSAW_MAX || options.reduce == CSAW_MIN;
    CSAW_REQUIRE(best || options.reduce == CSAW_SUM || options.reduce == CSAW_MEAN, CSAW_EINVAL,
                 "reduce is %d; give CSAW_SUM, CSAW_MEAN, CSAW_MAX or CSAW_MIN", (int)options.reduce);
    CSAW_REQUIRE(best || !options.arg, CSAW_EINVAL, "arg is of MAX and MIN, but reduce is %s; leave it NULL",
                 options.reduce == CSAW_SUM ? "SUM" : "MEAN");
    CSAW_REQUIRE(!options.exact || !batch->device, CSAW_EUNSUPPORTED,
                 "exact sums are taken on the CPU alone, but the batch is on cuda:%d; make one on the CPU, or leave "
                 "exact out",
                 batch->ordinal);
    *out = options;
    return CSAW_OK;
}

csaw_status csaw__batched_widths_check(const char *a_name, const csaw__batched_dense *a, const char *b_name,
                                       const csaw__batched_dense *b) {
    CSAW_REQUIRE(a->d.cols == b->d.cols, CSAW_EINVAL, "%s has %llu columns, but %s has %llu; give them the same",
                 a_name, (number)a->d.cols, b_name, (number)b->d.cols);
    return CSAW_OK;
}

csaw__small csaw__batched_graph(const csaw_batch *batch, const csaw_batched_options *options, uint64_t number) {
    csaw__small g = batch->graph[number];
    const int64_t first = g.rowptr && options->weight ? (int64_t)g.rowptr[0] : 0;
    if (options->weight) g.weight = options->weight + ((int64_t)g.num_begin - first);
    return g;
}

void csaw__batch_count_entries(const csaw__small *g, uint32_t *count) {
    for (uint64_t i = 0; i < g->rows; i++) count[i] = g->rowptr ? (uint32_t)(g->rowptr[i + 1] - g->rowptr[i]) : 0;
    for (uint64_t k = 0; !g->rowptr && k < g->num_edges; k++) count[csaw__row(g, k)]++;
}
