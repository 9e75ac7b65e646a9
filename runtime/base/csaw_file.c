/* SPDX-License-Identifier: MIT */
/* runtime/base/csaw_file.c - opens a .csaw file (csaw_layout.h) by mapping it, so that a graph of any size is there at
 * once and its pages are read when walks come to them. Everything that the header says is checked against the file's
 * size and csaw's limits; what the arrays hold is not, since that would read them all: csaw_graph_verify_file() does.
 */
#include "runtime/base/csaw_file.h"

#include "runtime/base/checksum.h"
#include "runtime/base/csaw_layout.h"
#include "runtime/base/memory.h"
#include "runtime/base/names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long long number;

static const char *const section_names[CSAW__NUM_SECTION_KINDS] = {
    "",      "row offsets",      "arcs",         "weights", "types",
    "times", "numbers as names", "name offsets", "names",   "order of names"};

/* Reads as far as the file goes. */
static uint64_t read_beginning(int file, void *to, uint64_t bytes) {
    uint64_t got = 0;
    while (got < bytes) {
        ssize_t count = pread(file, (char *)to + got, bytes - got, (off_t)got);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        got += (uint64_t)count;
    }
    return got;
}

bool csaw__is_csaw_file(const char *path) {
    struct stat about;
    char magic[5];
    size_t length = path ? strlen(path) : 0;
    if (length == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    if (length >= 5 && strcmp(path + length - 5, ".csaw") == 0) return true;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    uint64_t got = read_beginning(file, magic, sizeof magic);
    close(file);
    return got == sizeof magic && memcmp(magic, CSAW__FILE_MAGIC, sizeof magic) == 0;
}

/* ---- the header ---- */

static csaw_status check_beginning(const char *path, const csaw__file_header *header, uint64_t file_bytes) {
    CSAW_REQUIRE(file_bytes >= sizeof header->magic && memcmp(header->magic, CSAW__FILE_MAGIC, 8) == 0, CSAW_EFORMAT,
                 "%s: is not a .csaw file; make one with csaw convert", path);
    CSAW_REQUIRE(file_bytes >= sizeof *header, CSAW_EFORMAT,
                 "%s: is cut short: it has %llu bytes, and the header alone takes %zu; copy or make it again", path,
                 (number)file_bytes, sizeof *header);
    CSAW_REQUIRE(header->order != 0x0d0c0b0a, CSAW_EUNSUPPORTED,
                 "%s: its byte order is the other of this machine's; make it on a little-endian machine", path);
    CSAW_REQUIRE(header->version <= CSAW__FILE_VERSION, CSAW_EUNSUPPORTED,
                 "%s: is of version %u, and this csaw reads up to %d; use a newer csaw, or make the file again", path,
                 header->version, CSAW__FILE_VERSION);
    CSAW_REQUIRE(header->checksum == csaw__xxh64(header, sizeof *header - sizeof header->checksum) &&
                     header->order == CSAW__FILE_ORDER && header->version > 0,
                 CSAW_EFORMAT, "%s: the header is damaged: its checksum is wrong; copy or make the file again", path);
    CSAW_REQUIRE(header->file_bytes == file_bytes, CSAW_EFORMAT,
                 "%s: has %llu bytes, but was written with %llu: it %s; copy or make it again", path,
                 (number)file_bytes, (number)header->file_bytes,
                 file_bytes < header->file_bytes ? "is cut short" : "was added to");
    return CSAW_OK;
}

static csaw_status check_counts(const char *path, const csaw__file_header *header) {
    CSAW_REQUIRE(header->num_vertices <= CSAW__MAX_VERTICES, CSAW_EFORMAT,
                 "%s: says %llu vertices, but a graph holds at most %llu; make the file again", path,
                 (number)header->num_vertices, CSAW__MAX_VERTICES);
    CSAW_REQUIRE(header->num_edges <= header->file_bytes / 4, CSAW_EFORMAT,
                 "%s: says %llu arcs, more than its %llu bytes hold; make the file again", path,
                 (number)header->num_edges, (number)header->file_bytes);
    CSAW_REQUIRE(header->max_degree <= CSAW__MAX_DEGREE && header->max_degree <= header->num_edges, CSAW_EFORMAT,
                 "%s: says a row of %llu arcs, of %llu in all; make the file again", path, (number)header->max_degree,
                 (number)header->num_edges);
    CSAW_REQUIRE((header->flags & ~(uint64_t)CSAW__FILE_PARALLEL_ARCS) == 0, CSAW_EUNSUPPORTED,
                 "%s: has flags 0x%llx, which this csaw does not know; use a newer csaw", path, (number)header->flags);
    CSAW_REQUIRE(header->num_sections <= CSAW__FILE_SECTIONS, CSAW_EFORMAT,
                 "%s: says %llu sections, but a header holds at most %d; make the file again", path,
                 (number)header->num_sections, CSAW__FILE_SECTIONS);
    return CSAW_OK;
}

/* Bytes that a section of this kind must have; NAME_TEXT may have any number. */
static uint64_t bytes_due(const csaw__file_header *header, const csaw__file_section *section) {
    static const unsigned char width[CSAW__NUM_SECTION_KINDS] = {0, 8, 4, 4, 4, 8, 8, 8, 1, 4};
    const uint64_t n = header->num_vertices, m = header->num_edges;
    const uint64_t count[CSAW__NUM_SECTION_KINDS] = {0, n + 1, m, m, m, m, n, n + 1, section->bytes, n};
    return section->width == width[section->kind] ? count[section->kind] * width[section->kind] : UINT64_MAX;
}

static csaw_status check_section(const char *path, const csaw__file_header *header, const csaw__file_section *section) {
    CSAW_REQUIRE(section->kind > 0 && section->kind < CSAW__NUM_SECTION_KINDS, CSAW_EUNSUPPORTED,
                 "%s: has a section of kind %u, which this csaw does not know; use a newer csaw", path, section->kind);
    const char *name = section_names[section->kind];
    CSAW_REQUIRE(section->offset % CSAW__FILE_PAGE == 0 && section->offset >= CSAW__FILE_PAGE, CSAW_EFORMAT,
                 "%s: the %s begin at byte %llu, which is not a page's; make the file again", path, name,
                 (number)section->offset);
    CSAW_REQUIRE(section->offset <= header->file_bytes && section->bytes <= header->file_bytes - section->offset,
                 CSAW_EFORMAT,
                 "%s: the %s, %llu bytes from byte %llu on, go beyond the file's end at %llu; make the file again",
                 path, name, (number)section->bytes, (number)section->offset, (number)header->file_bytes);
    CSAW_REQUIRE(section->bytes == bytes_due(header, section), CSAW_EFORMAT,
                 "%s: the %s take %llu bytes, which is not what %llu vertices and %llu arcs need; make the file again",
                 path, name, (number)section->bytes, (number)header->num_vertices, (number)header->num_edges);
    return CSAW_OK;
}

/* place[kind]: where the section begins in memory, or NULL; text_bytes: of the names */
static csaw_status place_sections(const char *path, const csaw__file_header *header, const char *mapping,
                                  const void *place[CSAW__NUM_SECTION_KINDS], uint64_t *text_bytes) {
    for (uint64_t s = 0; s < header->num_sections; s++) {
        const csaw__file_section *section = &header->section[s];
        CSAW_TRY(check_section(path, header, section));
        CSAW_REQUIRE(!place[section->kind], CSAW_EFORMAT, "%s: has the %s twice; make the file again", path,
                     section_names[section->kind]);
        place[section->kind] = mapping + section->offset;
        if (section->kind == CSAW__SECTION_NAME_TEXT) *text_bytes = section->bytes;
    }
    CSAW_REQUIRE(place[CSAW__SECTION_ROWPTR] && place[CSAW__SECTION_COL], CSAW_EFORMAT,
                 "%s: lacks its %s; make the file again", path,
                 section_names[place[CSAW__SECTION_ROWPTR] ? CSAW__SECTION_COL : CSAW__SECTION_ROWPTR]);
    const bool words = place[CSAW__SECTION_NAME_OFFSET] != NULL, numbers = place[CSAW__SECTION_NAME_NUMBER] != NULL;
    CSAW_REQUIRE(words == (place[CSAW__SECTION_NAME_TEXT] != NULL) && !(words && numbers) &&
                     (words || numbers || !place[CSAW__SECTION_NAME_ORDER]),
                 CSAW_EFORMAT, "%s: has some of the names' sections without the others; make the file again", path);
    return CSAW_OK;
}

/* The ends of both lists of offsets, one page each. */
static csaw_status check_ends(const char *path, const csaw_csr *csr, const csaw_names *names, uint64_t text_bytes) {
    const uint64_t n = csr->num_vertices;
    CSAW_REQUIRE(csr->rowptr[0] == 0 && csr->rowptr[n] == csr->num_edges, CSAW_EFORMAT,
                 "%s: the row offsets run from %llu to %llu instead of 0 to %llu: they are damaged; copy or make the "
                 "file again",
                 path, (number)csr->rowptr[0], (number)csr->rowptr[n], (number)csr->num_edges);
    CSAW_REQUIRE(!names->offset || (names->offset[0] == 0 && names->offset[n] == text_bytes), CSAW_EFORMAT,
                 "%s: the name offsets do not run from 0 to %llu: they are damaged; copy or make the file again", path,
                 (number)text_bytes);
    return CSAW_OK;
}

/* ---- the graph ---- */

static csaw_status graph_of_mapping(const char *path, void *mapping, csaw_graph **out) {
    const csaw__file_header *header = mapping;
    const void *place[CSAW__NUM_SECTION_KINDS] = {NULL};
    uint64_t text_bytes = 0;
    csaw_graph *graph = NULL;
    CSAW_TRY(place_sections(path, header, mapping, place, &text_bytes));
    const csaw_csr csr = {header->num_vertices,     header->num_edges,           place[CSAW__SECTION_ROWPTR],
                          place[CSAW__SECTION_COL], place[CSAW__SECTION_WEIGHT], place[CSAW__SECTION_TYPE],
                          place[CSAW__SECTION_TIME]};
    const csaw_names names = {place[CSAW__SECTION_NAME_NUMBER], place[CSAW__SECTION_NAME_TEXT],
                              place[CSAW__SECTION_NAME_OFFSET]};
    CSAW_TRY(check_ends(path, &csr, &names, text_bytes));
    CSAW_TRY(csaw__alloc(&graph, 1, "a graph handle"));
    *graph = (csaw_graph){.csr = csr,
                          .names = names,
                          .name_order = place[CSAW__SECTION_NAME_ORDER],
                          .parallel_arcs = (header->flags & CSAW__FILE_PARALLEL_ARCS) != 0,
                          .max_degree = (uint32_t)header->max_degree,
                          .mapping = mapping,
                          .mapping_bytes = header->file_bytes,
                          .checksum = header->graph_checksum};
    *out = graph;
    return CSAW_OK;
}

static csaw_status fail_system(const char *path, const char *what) {
    return csaw__fail(CSAW_EIO, "%s: %s failed: %s; check the path and its permissions", path, what, strerror(errno));
}

static csaw_status map_file(const char *path, int file, csaw_graph **out) {
    csaw__file_header header;
    struct stat about;
    if (fstat(file, &about) != 0) return fail_system(path, "reading");
    CSAW_REQUIRE(S_ISREG(about.st_mode), CSAW_EUNSUPPORTED,
                 "%s: a .csaw graph is mapped, which takes a plain file; write it to a disk first", path);
    memset(&header, 0, sizeof header);
    uint64_t got = read_beginning(file, &header, sizeof header);
    CSAW_TRY(check_beginning(path, &header, got < sizeof header ? got : (uint64_t)about.st_size));
    CSAW_TRY(check_counts(path, &header));
    void *mapping = mmap(NULL, header.file_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping == MAP_FAILED) return fail_system(path, "mapping");
    csaw_status status = graph_of_mapping(path, mapping, out);
    if (status != CSAW_OK) munmap(mapping, header.file_bytes);
    return status;
}

csaw_status csaw__csaw_open(const char *path, const csaw_load_options *options, csaw_graph **out) {
    CSAW_REQUIRE(path, CSAW_EINVAL, "the path of the graph is NULL; pass the name of a file");
    const char *given = !options                   ? NULL
                        : options->undirected      ? "undirected"
                        : options->keep_loops      ? "keep_loops"
                        : options->keep_duplicates ? "keep_duplicates"
                        : options->keep_gaps       ? "keep_gaps"
                        : options->columns         ? "columns"
                                                   : NULL;
    CSAW_REQUIRE(!given, CSAW_EINVAL,
                 "%s: option %s counts when a .csaw file is made; drop it here, and give it to csaw convert", path,
                 given);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail_system(path, "opening");
    csaw_status status = map_file(path, file, out);
    close(file);
    return status;
}
