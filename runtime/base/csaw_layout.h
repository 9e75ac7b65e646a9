/* SPDX-License-Identifier: MIT */
/* runtime/base/csaw_layout.h - the .csaw file, version 1: a header of one page, then the graph's arrays as they are in
 * memory, each from a new page on, so that a file is opened by mapping it. All numbers are little-endian, and nothing
 * in it depends on the machine that wrote it.
 *
 *   bytes           what
 *   0 - 4095        csaw__file_header
 *   4096 - ...      sections, in the order of their kinds, each from a multiple of 4096 on, zeros between
 *
 * A section's checksum is csaw__checksum() of its bytes, the header's is XXH64 of what stands before it. */
#ifndef CSAW_BASE_CSAW_LAYOUT_H
#define CSAW_BASE_CSAW_LAYOUT_H

#include "runtime/base/graph.h"

#define CSAW__FILE_MAGIC \
    "\x89"               \
    "CSAW\r\n\x1a" /* as PNG's: shows a copy in text mode */

enum {
    CSAW__FILE_VERSION = 1,
    CSAW__FILE_PAGE = 4096,
    CSAW__FILE_SECTIONS = 16,      /* room in the table */
    CSAW__FILE_ORDER = 0x0a0b0c0d, /* as a machine of the other byte order reads it: 0x0d0c0b0a */
    CSAW__FILE_PARALLEL_ARCS = 1   /* flag: some row holds a destination twice */
};

enum csaw__section_kind {                            /* elements */
                          CSAW__SECTION_ROWPTR = 1,  /* uint64_t [num_vertices + 1] */
                          CSAW__SECTION_COL,         /* uint32_t [num_edges] */
                          CSAW__SECTION_WEIGHT,      /* float [num_edges]; optional, as all below */
                          CSAW__SECTION_TYPE,        /* uint32_t [num_edges] */
                          CSAW__SECTION_TIME,        /* int64_t [num_edges] */
                          CSAW__SECTION_NAME_NUMBER, /* int64_t [num_vertices] */
                          CSAW__SECTION_NAME_OFFSET, /* uint64_t [num_vertices + 1] */
                          CSAW__SECTION_NAME_TEXT,   /* char [offset[num_vertices]] */
                          CSAW__SECTION_NAME_ORDER,  /* uint32_t [num_vertices] */
                          CSAW__NUM_SECTION_KINDS
};

typedef struct csaw__file_section {
    uint32_t kind, width;   /* width: bytes of an element */
    uint64_t offset, bytes; /* in the file */
    uint64_t checksum;
} csaw__file_section;

typedef struct csaw__file_header {
    unsigned char magic[8];
    uint32_t order, version;
    uint64_t file_bytes, num_vertices, num_edges, max_degree, flags;
    uint64_t graph_checksum; /* csaw_graph_checksum() */
    uint64_t num_sections;
    csaw__file_section section[CSAW__FILE_SECTIONS];
    unsigned char zero[CSAW__FILE_PAGE - 8 - 8 - 7 * 8 - CSAW__FILE_SECTIONS * 32 - 8];
    uint64_t checksum;
} csaw__file_header;

/* An array of a graph as a section holds it. */
typedef struct csaw__section {
    uint32_t kind, width;
    const void *data;
    uint64_t count;
} csaw__section;

/* The arrays that a graph has, in the order of their kinds; returns how many. */
uint32_t csaw__graph_sections(const csaw_graph *graph, csaw__section out[CSAW__FILE_SECTIONS]);
/* The checksum of a graph whose sections have these checksums. */
uint64_t csaw__checksum_of_sections(const csaw_csr *csr, const csaw__section *sections, const uint64_t *checksums,
                                    uint32_t count);

#endif
