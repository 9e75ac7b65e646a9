/* SPDX-License-Identifier: MIT */
/* runtime/base/graph_load.c - csaw_graph_load(): which format, then its reader, then numbers for names, then the CSR.
 */
#include "runtime/base/csaw_file.h"
#include "runtime/base/csaw_layout.h"
#include "runtime/base/graph.h"
#include "runtime/base/load_formats.h"
#include "runtime/base/load_names.h"
#include "runtime/base/memory.h"
#include "runtime/base/names.h"
#include "runtime/base/parallel.h"

#include <string.h>

typedef csaw_status begin_function(csaw__load *load);

/* Does the path end in this, whatever packing comes after? */
static bool has_suffix(const char *path, const char *suffix) {
    uint64_t length = strlen(path), wanted = strlen(suffix);
    if (length > 3 && (strcmp(path + length - 3, ".gz") == 0 || strcmp(path + length - 3, ".xz") == 0)) length -= 3;
    return length > wanted && strncmp(path + length - wanted, suffix, wanted) == 0;
}

/* "npz" is handled by the caller. */
static csaw_status find_format(const csaw__load *load, const char **format) {
    static const char *const known[] = {"text", "csv", "mtx", "npz", "gr", "csaw"};
    const char *path = load->blocks->path, *given = load->options->format;
    const csaw__block *block = csaw__blocks_now(load->blocks);
    if (given) {
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            if (strcmp(given, known[k]) == 0) *format = known[k];
        CSAW_REQUIRE(
            *format, CSAW_EINVAL,
            "%s: format \"%s\" is not known; use \"text\", \"csv\", \"mtx\", \"npz\", \"gr\", \"csaw\" or none", path,
            given);
    } else if (block->count >= 4 && (memcmp(block->text, "PK\3\4", 4) == 0 || memcmp(block->text, "PK\5\6", 4) == 0)) {
        *format = "npz";
    } else if (block->count >= 14 && memcmp(block->text, "%%MatrixMarket", 14) == 0) {
        *format = "mtx";
    } else if (has_suffix(path, ".gr") || csaw__is_gr(load->text, load->end)) {
        *format = "gr";
    } else {
        *format = has_suffix(path, ".csv") || has_suffix(path, ".tsv") ? "csv" : "text";
    }
    bool columns = strcmp(*format, "text") == 0 || strcmp(*format, "csv") == 0;
    CSAW_REQUIRE(columns || !load->options->columns, CSAW_EINVAL,
                 "%s: columns \"%s\" were given, but format %s says itself what its columns are; leave them out", path,
                 load->options->columns, *format);
    return CSAW_OK;
}

static csaw_status read_npz(csaw__load *load) {
    char *bytes = NULL;
    uint64_t count = 0;
    CSAW_TRY(csaw__blocks_all(load->blocks, &bytes, &count));
    csaw_status status = csaw__npz_read(load->blocks->path, bytes, count, &load->list);
    csaw__free(bytes);
    return status;
}

static csaw_status check_count(const csaw__load *load) {
    uint64_t edges = 0;
    for (uint64_t p = 0; p < load->list.num_parts; p++) edges += load->list.parts[p].count;
    CSAW_REQUIRE(!load->one_line_per_edge || edges == load->num_lines, CSAW_EFORMAT,
                 "%s: the heading says %llu edges, but %llu follow; fetch the file again, or fix the heading",
                 load->blocks->path, (unsigned long long)load->num_lines, (unsigned long long)edges);
    return CSAW_OK;
}

/* The other triangle of a skew-symmetric matrix, as parts of their own. */
static csaw_status add_negated(csaw__edge_list *list) {
    csaw__edge_part *parts = NULL;
    const uint64_t count = list->num_parts;
    CSAW_TRY(csaw__alloc_zero(&parts, 2 * count, "an edge list"));
    if (count) memcpy(parts, list->parts, count * sizeof *parts);
    csaw__free(list->parts);
    list->parts = parts;
    list->capacity = 2 * count;
    for (uint64_t p = 0; p < count; p++) {
        const csaw__edge_part *part = &parts[p];
        csaw_vertex *block = NULL;
        CSAW_TRY(csaw__alloc(&block, 3 * part->count, "the edges of a file"));
        csaw__edge_part *other = &parts[list->num_parts++];
        *other = (csaw__edge_part){.block = block,
                                   .src = block,
                                   .dst = block + part->count,
                                   .lone = block,
                                   .weight = (float *)(block + 2 * part->count),
                                   .count = part->count};
        memcpy(other->src, part->dst, part->count * sizeof *block);
        memcpy(other->dst, part->src, part->count * sizeof *block);
        for (uint64_t i = 0; i < part->count; i++) other->weight[i] = -part->weight[i];
    }
    return CSAW_OK;
}

/* A .csaw file that csaw__is_csaw_file() does not see, or that was to be read as something else. */
static csaw_status refuse_csaw(csaw__load *load) {
    const csaw__block *first = csaw__blocks_now(load->blocks);
    const size_t bytes = sizeof CSAW__FILE_MAGIC - 1;
    const char *format = load->options->format, *path = load->blocks->path;
    if (first->count < bytes || memcmp(first->text, CSAW__FILE_MAGIC, bytes) != 0) return CSAW_OK;
    CSAW_REQUIRE(!csaw__text_is_plain(load->blocks->input), CSAW_EFORMAT,
                 "%s: is a .csaw file, not of format \"%s\"; leave out the format", path, format ? format : "text");
    return csaw__fail(CSAW_EFORMAT,
                      "%s: holds a .csaw file, compressed or through a pipe, and that is read as it is; uncompress it "
                      "first (gunzip, or xz -d), into a file",
                      path);
}

csaw_status csaw__load_begin(csaw__load *load, const char **format) {
    static const struct {
        const char *format;
        begin_function *begin;
    } readers[] = {
        {"text", csaw__begin_text}, {"csv", csaw__begin_csv}, {"mtx", csaw__begin_mtx}, {"gr", csaw__begin_gr}};
    const csaw__block *first = csaw__blocks_now(load->blocks);
    *format = NULL;
    load->text = load->from = first->text;
    load->end = first->text + first->whole;
    CSAW_TRY(refuse_csaw(load));
    CSAW_TRY(find_format(load, format));
    if (strcmp(*format, "npz") == 0) return CSAW_OK;
    begin_function *begin = NULL;
    for (size_t r = 0; r < sizeof readers / sizeof readers[0]; r++)
        if (strcmp(*format, readers[r].format) == 0) begin = readers[r].begin;
    CSAW_REQUIRE(begin, CSAW_EFORMAT, "%s: is not a .csaw file, or is packed; unpack it, or leave out the format",
                 load->blocks->path);
    load->rules.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    CSAW_REQUIRE(load->rules.plain != (locale_t)0, CSAW_ENOMEM, "no memory for the C locale; free memory");
    return begin(load);
}

static csaw_status read_edges(csaw__load *load) {
    const char *format;
    csaw_status status = csaw__load_begin(load, &format);
    if (status == CSAW_OK && strcmp(format, "npz") == 0) return read_npz(load);
    const locale_t plain = load->rules.plain;
    if (status == CSAW_OK) status = csaw__edge_list_read(load->blocks, load->from, &load->rules, &load->list);
    if (plain != (locale_t)0) freelocale(plain);
    if (status == CSAW_OK) status = check_count(load);
    if (status == CSAW_OK && load->negate_reverse) status = add_negated(&load->list);
    return status;
}

/* Edges with numbers to a graph with names. */
static csaw_status build_graph(csaw__numbered_edges *edges, uint32_t columns, const csaw_load_options *options,
                               csaw_graph **out) {
    csaw_csr csr = {0};
    csaw_graph *graph = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__csr_build(edges->segments, edges->num_segments, edges->num_vertices, columns, options, &csr));
    CSAW_TRY_DONE(csaw__graph_adopt(&csr, true, &graph));
    csr = (csaw_csr){0};
    if (edges->names.number || edges->names.offset) csaw__graph_adopt_names(graph, &edges->names, NULL);
    edges->names = (csaw_names){0};
    *out = graph;
done:
    csaw__csr_free(&csr);
    return status;
}

csaw_status csaw_graph_load(const char *path, const csaw_load_options *given, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_load needs a place for the graph; out is NULL");
    csaw__blocks blocks = {0};
    csaw__numbered_edges edges = {0};
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_load_options, given, options);
    CSAW_REQUIRE(path, CSAW_EINVAL, "the path of the graph is NULL; pass the name of a file");
    if ((!options.format || strcmp(options.format, "csaw") == 0) && csaw__is_csaw_file(path))
        return csaw__csaw_open(path, &options, out);
    csaw__load load = {.blocks = &blocks, .options = &options};
    CSAW_TRY_DONE(csaw__blocks_open(path, &blocks));
    CSAW_TRY_DONE(read_edges(&load));
    csaw__blocks_close(&blocks);
    CSAW_TRY_DONE(csaw__number_edges(&load.list, options.keep_gaps, &edges));
    options.undirected = (options.undirected || load.undirected) && !load.negate_reverse;
    CSAW_TRY_DONE(build_graph(&edges, load.list.columns, &options, out));
done:
    csaw__numbered_edges_free(&edges);
    csaw__edge_list_free(&load.list);
    csaw__blocks_close(&blocks);
    return status;
}
