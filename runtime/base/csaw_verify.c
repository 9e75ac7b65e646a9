/* SPDX-License-Identifier: MIT */
/* runtime/base/csaw_verify.c - reads a .csaw file in full: the checksum of every section, that the arrays are a CSR and
 * names in order, and that the header says of them what is true. */
#include "runtime/base/checksum.h"
#include "runtime/base/csaw_file.h"
#include "runtime/base/csaw_layout.h"
#include "runtime/base/names.h"
#include "runtime/base/parallel.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long number;

static csaw_status verify_sections(const char *path, const csaw_graph *graph) {
    const csaw__file_header *header = graph->mapping;
    for (uint64_t s = 0; s < header->num_sections; s++) {
        const csaw__file_section *section = &header->section[s];
        uint64_t found = csaw__checksum((const char *)graph->mapping + section->offset, section->bytes);
        CSAW_REQUIRE(
            found == section->checksum, CSAW_EFORMAT,
            "%s: damaged between bytes %llu and %llu: the checksum is %016llx instead of %016llx; copy or make "
            "the file again",
            path, (number)section->offset, (number)(section->offset + section->bytes), (number)found,
            (number)section->checksum);
    }
    return CSAW_OK;
}

/* The message of csaw__csr_check(), with the file's name before it. */
static csaw_status verify_rows(const char *path, const csaw_graph *graph) {
    char wrong[1024];
    csaw_graph *true_graph = NULL;
    const csaw_status checked = csaw__csr_check(&graph->csr);
    if (checked == CSAW_ESTOPPED) return checked;
    if (checked != CSAW_OK) {
        snprintf(wrong, sizeof wrong, "%s", csaw_last_error());
        return csaw__fail(CSAW_EFORMAT, "%s: its arrays are no graph: %s", path, wrong);
    }
    CSAW_TRY(csaw__graph_adopt(&graph->csr, false, &true_graph));
    bool same = true_graph->max_degree == graph->max_degree && true_graph->parallel_arcs == graph->parallel_arcs;
    uint32_t max_degree = true_graph->max_degree;
    csaw_graph_free(true_graph);
    CSAW_REQUIRE(same, CSAW_EFORMAT,
                 "%s: the header says a longest row of %u arcs and %s arcs, but the longest is %u; make the file again",
                 path, graph->max_degree, graph->parallel_arcs ? "parallel" : "no parallel", max_degree);
    return CSAW_OK;
}

/* Strictly ascending names in the order that is given: then each vertex is in it once. */
static csaw_status verify_names(const char *path, const csaw_graph *graph) {
    const uint64_t n = graph->csr.num_vertices, *offset = graph->names.offset;
    const csaw_vertex *order = graph->name_order;
    uint64_t wrong = n;
    if (!graph->names.number && !offset) return CSAW_OK;
    CSAW__OMP(parallel for reduction(min : wrong) if (csaw__is_long(n)))
    for (uint64_t v = 0; v < n; v++)
        if (((offset && offset[v] > offset[v + 1]) || (order && order[v] >= n)) && v < wrong) wrong = v;
    CSAW_REQUIRE(wrong == n, CSAW_EFORMAT, "%s: the %s of vertex %llu is out of bounds; make the file again", path,
                 order && order[wrong] >= n ? "order" : "name", (number)wrong);
    CSAW__OMP(parallel for reduction(min : wrong) if (csaw__is_long(n)))
    for (uint64_t i = 1; i < n; i++) {
        csaw_vertex a = order ? order[i - 1] : (csaw_vertex)(i - 1), b = order ? order[i] : (csaw_vertex)i;
        if (csaw__names_compare(&graph->names, a, b) >= 0 && i < wrong) wrong = i;
    }
    CSAW_REQUIRE(wrong == n, CSAW_EFORMAT, "%s: names %llu and %llu do not ascend; make the file again", path,
                 (number)wrong - 1, (number)wrong);
    return CSAW_OK;
}

csaw_status csaw_graph_verify_file(const char *path) {
    csaw_graph *graph = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__csaw_open(path, NULL, &graph));
    CSAW_TRY_DONE(verify_sections(path, graph));
    CSAW_TRY_DONE(verify_rows(path, graph));
    CSAW_TRY_DONE(verify_names(path, graph));
    CSAW_REQUIRE_DONE(csaw__graph_checksum(graph) == graph->checksum, CSAW_EFORMAT,
                      "%s: the header says another checksum of the graph than its arrays have; make the file again",
                      path);
done:
    csaw_graph_free(graph);
    return status;
}
