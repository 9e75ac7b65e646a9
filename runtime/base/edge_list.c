/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_list.c - reads an edge list file in chunks of whole lines, as many at a time as there are threads,
 * and keeps the edges of each chunk as one segment in file order. Memory beyond the edges is 4 MiB a thread, however
 * long the file. The first faulty line of the file is the one reported, whatever the number of threads. */
#include "runtime/base/edge_list.h"

#include "runtime/base/edge_line.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/text_input.h"

#include <string.h>

enum { CHUNK_BYTES = 1 << 20, MAX_CHUNKS = 64, SHOWN_BYTES = 60 };

typedef struct reader {
    const char *path;
    csaw__text_input *input;
    int num_chunks; /* read and parsed at a time */
    csaw__lines lines[MAX_CHUNKS];
    char *text[MAX_CHUNKS];         /* [CHUNK_BYTES + 1] */
    csaw_vertex *edges[MAX_CHUNKS]; /* [3 * CHUNK_EDGES]: sources, destinations, weights */
    char *rest;                     /* [CHUNK_BYTES]: the begun line after the last chunk */
    uint64_t rest_bytes;
    uint64_t num_lines; /* in the chunks before */
    bool ended;
    int columns; /* that make an edge; 0 = not known yet */
    locale_t plain;
} reader;

#define CHUNK_EDGES ((uint64_t)CHUNK_BYTES / 4 + 1)

/* The next whole lines into chunk c; an empty chunk at the end of the file. */
static csaw_status fill_chunk(reader *r, int c) {
    char *text = r->text[c];
    uint64_t count = r->rest_bytes, got = 0;
    memcpy(text, r->rest, count);
    r->rest_bytes = 0;
    if (!r->ended) CSAW_TRY(csaw__text_read(r->input, text + count, CHUNK_BYTES - count, &got));
    count += got;
    uint64_t whole = count;
    if (count < CHUNK_BYTES) {
        r->ended = true;
        if (count && text[count - 1] != '\n') text[whole++] = '\n';
    } else {
        const char *last = memrchr(text, '\n', count);
        uint64_t lines = r->num_lines + 1;
        if (!last)
            for (int before = 0; before < c; before++)
                for (const char *at = r->text[before]; at < r->lines[before].end; at++) lines += *at == '\n';
        CSAW_REQUIRE(last, CSAW_EFORMAT,
                     "%s:%llu: the line is longer than %d bytes, the most that is read; is it an edge list, with line "
                     "feeds?",
                     r->path, (unsigned long long)lines, CHUNK_BYTES);
        whole = (uint64_t)(last - text) + 1;
        r->rest_bytes = count - whole;
        memcpy(r->rest, last + 1, r->rest_bytes);
    }
    r->lines[c].text = text;
    r->lines[c].end = text + whole;
    return CSAW_OK;
}

/* Skips a byte order mark, and refuses a format that would be misread: MatrixMarket's size line looks like an edge. */
static csaw_status check_beginning(const reader *r, csaw__lines *lines) {
    static const char mark[] = "\xef\xbb\xbf", matrix_market[] = "%%MatrixMarket";
    uint64_t count = (uint64_t)(lines->end - lines->text);
    CSAW_REQUIRE(count < sizeof matrix_market || memcmp(lines->text, matrix_market, sizeof matrix_market - 1) != 0,
                 CSAW_EUNSUPPORTED,
                 "%s: is a MatrixMarket file, not an edge list; drop its header and size line, and mind that its ids "
                 "begin at 1",
                 r->path);
    if (count > 3 && memcmp(lines->text, mark, 3) == 0) lines->text += 3;
    return CSAW_OK;
}

static csaw_status fail_line(const reader *r, const csaw__lines *lines) {
    static const struct {
        const char *wrong, *remedy;
    } faults[] = {
#define X(name, wrong, remedy) {wrong, remedy},
        CSAW__LINE_FAULTS(X)
#undef X
    };
    char shown[SHOWN_BYTES + 4];
    uint64_t count = 0;
    const char *at = lines->fault_line;
    while (*at == ' ' || *at == '\t') at++;
    for (; *at != '\n' && count < SHOWN_BYTES; at++)
        shown[count++] = *at >= ' ' && *at <= '~' ? *at : *at == '\t' ? ' ' : '?';
    if (count && at[-1] == '\r') count--; /* of the line's end */
    strcpy(shown + count, *at == '\n' ? "" : "...");
    return csaw__fail(CSAW_EFORMAT, "%s:%llu: '%s': %s; %s", r->path,
                      (unsigned long long)(r->num_lines + lines->num_lines), shown, faults[lines->fault].wrong,
                      faults[lines->fault].remedy);
}

/* The parsed edges of a chunk as a segment of its own size. */
static csaw_status keep_chunk(reader *r, const csaw__lines *lines, csaw__edge_list *list) {
    const uint64_t columns = lines->weighted ? 3 : 2, count = lines->num_edges;
    csaw_vertex *block = NULL;
    if (lines->fault) return fail_line(r, lines);
    r->num_lines += lines->num_lines;
    if (count == 0) return CSAW_OK;
    if (list->num_segments == list->capacity) {
        csaw__edge_segment *more = NULL;
        uint64_t capacity = list->capacity ? 2 * list->capacity : 64;
        CSAW_TRY(csaw__alloc(&more, capacity, "an edge list"));
        if (list->num_segments) memcpy(more, list->segments, list->num_segments * sizeof *more);
        csaw__free(list->segments);
        list->segments = more;
        list->capacity = capacity;
    }
    CSAW_TRY(csaw__alloc(&block, columns * count, "the edges of a file"));
    memcpy(block, lines->src, count * sizeof *block);
    memcpy(block + count, lines->dst, count * sizeof *block);
    if (lines->weighted) memcpy(block + 2 * count, lines->weight, count * sizeof *block);
    list->segments[list->num_segments++] =
        (csaw__edge_segment){block, block + count, lines->weighted ? (const float *)(block + 2 * count) : NULL, count};
    if (lines->num_vertices > list->num_vertices) list->num_vertices = lines->num_vertices;
    return CSAW_OK;
}

/* The next chunks of the file, up to one per thread. */
static csaw_status read_batch(reader *r, csaw__edge_list *list) {
    int filled = 0;
    for (; filled < r->num_chunks && !(r->ended && r->rest_bytes == 0); filled++) {
        csaw__lines *lines = &r->lines[filled];
        CSAW_TRY(fill_chunk(r, filled));
        if (r->num_lines == 0 && filled == 0) CSAW_TRY(check_beginning(r, lines));
        if (r->columns == 0) r->columns = csaw__lines_columns(lines->text, lines->end);
        lines->weighted = r->columns == 3;
        lines->plain = r->plain;
        lines->src = r->edges[filled];
        lines->dst = lines->src + CHUNK_EDGES;
        lines->weight = (float *)(lines->src + 2 * CHUNK_EDGES);
    }
    CSAW__OMP(parallel for schedule(dynamic, 1))
    for (int c = 0; c < filled; c++) csaw__lines_read(&r->lines[c]);
    for (int c = 0; c < filled; c++) CSAW_TRY(keep_chunk(r, &r->lines[c], list));
    return CSAW_OK;
}

csaw_status csaw__edge_list_read(const char *path, const char *format, csaw__edge_list *out) {
    csaw__edge_list list = {0};
    reader *r = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(path, CSAW_EINVAL, "the path of the graph is NULL; pass the name of a file");
    CSAW_REQUIRE(!format || !strcmp(format, "el") || !strcmp(format, "wel"), CSAW_EINVAL,
                 "%s: format \"%s\" is not known; use \"el\", \"wel\" or none", path, format);
    CSAW_TRY(csaw__alloc_zero(&r, 1, "a file reader"));
    r->path = path;
    r->columns = !format ? 0 : strcmp(format, "wel") == 0 ? 3 : 2;
    r->num_chunks = csaw__max_threads() < MAX_CHUNKS ? csaw__max_threads() : MAX_CHUNKS;
    r->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    CSAW_REQUIRE_DONE(r->plain != (locale_t)0, CSAW_ENOMEM, "no memory for the C locale; free memory");
    CSAW_TRY_DONE(csaw__text_open(path, &r->input));
    CSAW_TRY_DONE(csaw__alloc(&r->rest, CHUNK_BYTES, "a chunk of text"));
    for (int c = 0; c < r->num_chunks; c++) {
        CSAW_TRY_DONE(csaw__alloc(&r->text[c], CHUNK_BYTES + 1, "a chunk of text"));
        CSAW_TRY_DONE(csaw__alloc(&r->edges[c], 3 * CHUNK_EDGES, "the edges of a chunk"));
    }
    while (!(r->ended && r->rest_bytes == 0)) CSAW_TRY_DONE(read_batch(r, &list));
    list.weighted = r->columns == 3;
    *out = list;
    list = (csaw__edge_list){0};
done:
    csaw__edge_list_free(&list);
    for (int c = 0; c < r->num_chunks; c++) {
        csaw__free(r->edges[c]);
        csaw__free(r->text[c]);
    }
    csaw__free(r->rest);
    csaw__text_close(r->input);
    if (r->plain) freelocale(r->plain);
    csaw__free(r);
    return status;
}

void csaw__edge_list_free(csaw__edge_list *list) {
    for (uint64_t s = 0; s < list->num_segments; s++) csaw__free((void *)list->segments[s].src);
    csaw__free(list->segments);
    *list = (csaw__edge_list){0};
}

csaw_status csaw_graph_load(const char *path, const csaw_load_options *given, csaw_graph **out) {
    csaw__edge_list list = {0};
    csaw_csr csr = {0};
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_load_options, given, options);
    CSAW_TRY(csaw__edge_list_read(path, options.format, &list));
    CSAW_TRY_DONE(csaw__csr_build(list.segments, list.num_segments, list.num_vertices, list.weighted, &options, &csr));
    CSAW_TRY_DONE(csaw__graph_adopt(&csr, true, out));
    csr = (csaw_csr){0};
done:
    csaw__csr_free(&csr);
    csaw__edge_list_free(&list);
    return status;
}
