/* SPDX-License-Identifier: MIT */
/* runtime/base/csaw_save.c - writes a graph as a .csaw file (csaw_layout.h), and the checksum of a graph, which is made
 * of those of its sections: so a file knows its graph's checksum. */
#include "runtime/base/checksum.h"
#include "runtime/base/csaw_file.h"
#include "runtime/base/csaw_layout.h"
#include "runtime/base/output_file.h"

#include <string.h>

_Static_assert(sizeof(csaw__file_header) == CSAW__FILE_PAGE, "the header is one page");

uint32_t csaw__graph_sections(const csaw_graph *graph, csaw__section out[CSAW__FILE_SECTIONS]) {
    const csaw_csr *csr = &graph->csr;
    const csaw_names *names = &graph->names;
    const uint64_t n = csr->num_vertices, m = csr->num_edges;
    const csaw__section all[] = {
        {CSAW__SECTION_ROWPTR, 8, csr->rowptr, n + 1},
        {CSAW__SECTION_COL, 4, csr->col ? (const void *)csr->col : "", m}, /* of no arcs: may be NULL */
        {CSAW__SECTION_WEIGHT, 4, csr->weight, m},
        {CSAW__SECTION_TYPE, 4, csr->type, m},
        {CSAW__SECTION_TIME, 8, csr->time, m},
        {CSAW__SECTION_NAME_NUMBER, 8, names->number, n},
        {CSAW__SECTION_NAME_OFFSET, 8, names->offset, n + 1},
        {CSAW__SECTION_NAME_TEXT, 1, names->text, names->offset ? names->offset[n] : 0},
        {CSAW__SECTION_NAME_ORDER, 4, graph->name_order, n},
    };
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].data) out[count++] = all[i];
    return count;
}

uint64_t csaw__checksum_of_sections(const csaw_csr *csr, const csaw__section *sections, const uint64_t *checksums,
                                    uint32_t count) {
    uint64_t said[2 + 2 * CSAW__FILE_SECTIONS] = {csr->num_vertices, csr->num_edges}, words = 2;
    for (uint32_t s = 0; s < count; s++) {
        if (sections[s].kind == CSAW__SECTION_NAME_ORDER) continue; /* follows from the names */
        said[words++] = sections[s].kind;
        said[words++] = checksums[s];
    }
    return csaw__xxh64(said, words * sizeof *said);
}

static uint64_t sum_sections(const csaw_graph *graph, const csaw__section *sections, uint32_t count,
                             uint64_t *checksums) {
    for (uint32_t s = 0; s < count; s++)
        checksums[s] = csaw__checksum(sections[s].data, sections[s].count * sections[s].width);
    return csaw__checksum_of_sections(&graph->csr, sections, checksums, count);
}

uint64_t csaw__graph_checksum(const csaw_graph *graph) {
    csaw__section sections[CSAW__FILE_SECTIONS];
    uint64_t checksums[CSAW__FILE_SECTIONS];
    uint32_t count = csaw__graph_sections(graph, sections);
    return sum_sections(graph, sections, count, checksums);
}

uint64_t csaw_graph_checksum(const csaw_graph *graph) {
    return graph->mapping || graph->held ? graph->checksum : csaw__graph_checksum(graph);
}

static void fill_header(const csaw_graph *graph, const csaw__section *sections, uint32_t count,
                        csaw__file_header *header) {
    uint64_t checksums[CSAW__FILE_SECTIONS], end = CSAW__FILE_PAGE;
    *header = (csaw__file_header){.order = CSAW__FILE_ORDER,
                                  .version = CSAW__FILE_VERSION,
                                  .num_vertices = graph->csr.num_vertices,
                                  .num_edges = graph->csr.num_edges,
                                  .max_degree = graph->max_degree,
                                  .flags = graph->parallel_arcs ? CSAW__FILE_PARALLEL_ARCS : 0,
                                  .num_sections = count};
    memcpy(header->magic, CSAW__FILE_MAGIC, sizeof header->magic);
    header->graph_checksum = sum_sections(graph, sections, count, checksums);
    for (uint32_t s = 0; s < count; s++) {
        uint64_t begin = (end + CSAW__FILE_PAGE - 1) / CSAW__FILE_PAGE * CSAW__FILE_PAGE;
        uint64_t bytes = sections[s].count * sections[s].width;
        header->section[s] = (csaw__file_section){sections[s].kind, sections[s].width, begin, bytes, checksums[s]};
        end = begin + bytes;
    }
    header->file_bytes = end;
    header->checksum = csaw__xxh64(header, sizeof *header - sizeof header->checksum);
}

static csaw_status put_sections(const csaw__file_header *header, const csaw__section *sections, uint32_t count,
                                csaw__output *output) {
    static const char zeros[CSAW__FILE_PAGE];
    uint64_t end = sizeof *header;
    CSAW_TRY(csaw__output_put(output, header, sizeof *header));
    for (uint32_t s = 0; s < count; s++) {
        CSAW_TRY(csaw__output_put(output, zeros, header->section[s].offset - end));
        CSAW_TRY(csaw__output_put(output, sections[s].data, header->section[s].bytes));
        end = header->section[s].offset + header->section[s].bytes;
    }
    return CSAW_OK;
}

csaw_status csaw__csaw_save(const csaw_graph *graph, const char *path) {
    csaw__section sections[CSAW__FILE_SECTIONS];
    csaw__file_header header;
    csaw__output *output = NULL;
    CSAW_REQUIRE(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, CSAW_EUNSUPPORTED,
                 "%s: .csaw files are little-endian, this machine is not; save as text", path);
    CSAW_TRY(csaw__output_open(path, false, &output));
    uint32_t count = csaw__graph_sections(graph, sections);
    fill_header(graph, sections, count, &header);
    csaw_status status = put_sections(&header, sections, count, output);
    if (status == CSAW_OK) return csaw__output_close(output);
    csaw__output_discard(output);
    return status;
}
