/* SPDX-License-Identifier: MIT */
/* runtime/engine/tables.c - static biases of a sampler on a plan's graph, and alias tables made from them. */
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"
#include "runtime/engine/gpus.h"
#include "runtime/engine/spread.h"
#include "samplers/select/alias_table.h"

void csaw__tables_clear(csaw__tables *tables) {
    csaw__free(tables->tabulated);
    csaw__free(tables->alias);
    csaw__free(tables->bias);
    *tables = (csaw__tables){0};
}

/* The rows that tables are made of: all, or a rank's share. */
typedef struct held {
    csaw_csr csr; /* offsets count from its first arc */
    csaw_vertex first;
    csaw_edge first_arc;
} held;

static held held_by(const csaw_plan *plan) {
    if (!plan->spread) return (held){.csr = plan->graph->csr};
    const csaw__rows *const rows = &plan->spread->share.rows;
    const uint64_t *const offset = rows->offset;
    return (held){{.num_vertices = rows->count, .num_edges = offset[rows->count], .rowptr = offset, .col = rows->col},
                  rows->first,
                  rows->first_arc};
}

/* Place of the lowest arc whose bias is negative, infinite or not a number; num_edges if none. */
static csaw_edge lowest_bad(const float *bias, csaw_edge num_edges) {
    csaw_edge bad = num_edges;
CSAW__OMP(parallel for schedule(static) reduction(min : bad))
for (csaw_edge e = 0; e < num_edges; e++)
    if (!(bias[e] >= 0 && bias[e] <= 3.4028234663852886e38f) && e < bad) bad = e;
return bad;
}

/* The row that an arc stands in: the last one that starts at or before it. */
static uint64_t row_of(const csaw_csr *csr, csaw_edge arc) {
    uint64_t row = 0, end = csr->num_vertices;
    while (end - row > 1) {
        uint64_t middle = row + (end - row) / 2;
        if (csr->rowptr[middle] <= arc)
            row = middle;
        else
            end = middle;
    }
    return row;
}

static csaw_status tabulate(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    csaw__tables *tables = &plan->tables;
    const held held = held_by(plan);
    const csaw_csr *csr = &held.csr;
    csaw__watch *const watch = csaw__watching();
    const uint64_t chunk = 4096, chunks = (csr->num_vertices + chunk - 1) / chunk;
    CSAW_TRY(csaw__alloc(&tables->tabulated, csr->num_edges, "static biases, one per arc"));
CSAW__OMP(parallel for schedule(dynamic) num_threads(plan->threads))
for (uint64_t c = 0; c < chunks; c++) {
    uint64_t first = c * chunk, count = csr->num_vertices - first < chunk ? csr->num_vertices - first : chunk;
    if (csaw__stopped(watch)) continue;
    sampler->tabulate(job, held.first + (csaw_vertex)first, (csaw_vertex)count, tables->tabulated + csr->rowptr[first]);
}
CSAW_TRY(csaw__go_on());
csaw_edge bad = lowest_bad(tables->tabulated, csr->num_edges);
if (bad == csr->num_edges) return CSAW_OK;
return csaw__fail(CSAW_EBIAS,
                  "sampler '%s': static_bias is %g on edge %llu (%llu -> %u), found while tabulating it for every arc; "
                  "a bias must be >= 0 and finite: mend the weight or the hook",
                  csaw_sampler_name(sampler), (double)tables->tabulated[bad],
                  (unsigned long long)(held.first_arc + bad), (unsigned long long)held.first + row_of(csr, bad),
                  csr->col[bad]);
}

static csaw_status build_alias(csaw_plan *plan) {
    csaw__tables *tables = &plan->tables;
    const held held = held_by(plan);
    const csaw_csr *csr = &held.csr;
    csaw__row_bias *bias = NULL;
    csaw__alias *alias = NULL;
    csaw__watch *const watch = csaw__watching();
    CSAW_TRY(csaw__alloc(&bias, csr->num_vertices, "sums of static biases, one per vertex"));
    csaw_status status =
        csaw__alloc(&alias, csr->num_edges, "alias tables, 16 bytes an arc (selection 'its' needs none)");
    if (status != CSAW_OK) {
        csaw__free(bias);
        return status;
    }
CSAW__OMP(parallel for schedule(dynamic, 1024) num_threads(plan->threads))
for (uint64_t v = 0; v < csr->num_vertices; v++) {
    csaw_edge row = csr->rowptr[v];
    if (csaw__stopped(watch)) continue;
    csaw__alias_row(tables->tabulated + row, csr->col + row, (uint32_t)(csr->rowptr[v + 1] - row), alias + row,
                    &bias[v]);
}
status = csaw__go_on();
if (status != CSAW_OK) {
    csaw__free(alias);
    csaw__free(bias);
    return status;
}
tables->alias = alias;
tables->bias = bias;
return CSAW_OK;
}

csaw_status csaw__tables_prepare(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, bool alias) {
    csaw__tables *tables = &plan->tables;
    const uint64_t hash = csaw_sampler_hash(sampler);
    if (tables->sampler != sampler || tables->hash != hash ||
        memcmp(tables->params, job->params, sizeof tables->params) != 0) {
        if (plan->parts) csaw__parts_forget_tables(plan->parts);
        if (plan->gpus) csaw__gpus_forget_tables(plan->gpus);
        if (plan->spread) csaw__spread_forget_tables(plan->spread);
        csaw__tables_clear(tables);
        csaw_status status = tabulate(plan, sampler, job);
        if (status != CSAW_OK) {
            csaw__tables_clear(tables);
            return status;
        }
        tables->sampler = sampler;
        tables->hash = hash;
        memcpy(tables->params, job->params, sizeof tables->params);
    }
    return alias && !tables->alias ? build_alias(plan) : CSAW_OK;
}
