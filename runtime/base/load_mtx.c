/* SPDX-License-Identifier: MIT */
/* runtime/base/load_mtx.c - the heading of a MatrixMarket file. Source: Boisvert, Pozo, Remington, "The Matrix Market
 * exchange formats", NISTIR 5935, 1996. Entry (i, j) is the arc from i to j; ids begin at 1. Of symmetric and
 * skew-symmetric matrices the file holds one triangle. */
#include "runtime/base/load_formats.h"

#include "runtime/base/graph.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct banner {
    char object[16], layout[16], field[16], symmetry[24];
} banner;

static csaw_status check_banner(const char *path, const banner *b, bool *weighted) {
    CSAW_REQUIRE(strcasecmp(b->object, "matrix") == 0, CSAW_EUNSUPPORTED,
                 "%s:1: the file holds a '%s', and only a 'matrix' is a graph; write the graph as a matrix", path,
                 b->object);
    CSAW_REQUIRE(strcasecmp(b->layout, "array") != 0, CSAW_EUNSUPPORTED,
                 "%s:1: the matrix is dense (array), and a graph is read from coordinate format; write it as "
                 "coordinate, as scipy.io.mmwrite does with a sparse matrix",
                 path);
    CSAW_REQUIRE(strcasecmp(b->layout, "coordinate") == 0, CSAW_EFORMAT,
                 "%s:1: the layout '%s' is neither coordinate nor array; fix the first line", path, b->layout);
    CSAW_REQUIRE(strcasecmp(b->field, "complex") != 0 && strcasecmp(b->symmetry, "hermitian") != 0, CSAW_EUNSUPPORTED,
                 "%s:1: the entries are complex, and a weight is one real number; write their absolute values as real",
                 path);
    bool pattern = strcasecmp(b->field, "pattern") == 0;
    CSAW_REQUIRE(pattern || strcasecmp(b->field, "real") == 0 || strcasecmp(b->field, "double") == 0 ||
                     strcasecmp(b->field, "integer") == 0,
                 CSAW_EFORMAT, "%s:1: the field '%s' is not one of pattern, real, integer; fix the first line", path,
                 b->field);
    CSAW_REQUIRE(!pattern || strcasecmp(b->symmetry, "skew-symmetric") != 0, CSAW_EFORMAT,
                 "%s:1: a pattern has no signs, so it cannot be skew-symmetric; write symmetric or general", path);
    *weighted = !pattern;
    return CSAW_OK;
}

csaw_status csaw__begin_mtx(csaw__load *load) {
    const char *path = load->blocks->path;
    banner b = {.object = ""};
    char line[256];
    bool weighted = false;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(load->text, "\r\n"), load->text);
    int words = sscanf(line, "%*s %15s %15s %15s %23s", b.object, b.layout, b.field, b.symmetry);
    CSAW_REQUIRE(strncmp(line, "%%MatrixMarket", 14) == 0 && words == 4, CSAW_EFORMAT,
                 "%s:1: '%s' is not a MatrixMarket heading, such as %%%%MatrixMarket matrix coordinate real general; "
                 "fix it",
                 path, csaw__show_line(load->text, load->end).text);
    CSAW_TRY(check_banner(path, &b, &weighted));
    const bool symmetric = strcasecmp(b.symmetry, "symmetric") == 0,
               skew = strcasecmp(b.symmetry, "skew-symmetric") == 0;
    CSAW_REQUIRE(symmetric || skew || strcasecmp(b.symmetry, "general") == 0, CSAW_EFORMAT,
                 "%s:1: the symmetry '%s' is not one of general, symmetric, skew-symmetric; fix the first line", path,
                 b.symmetry);

    load->rules = (csaw__line_rules){.comments = "%", .plain = load->rules.plain};
    const char *at = csaw__lines_first(&load->rules, load->text, load->end);
    unsigned long long rows = 0, columns = 0, entries = 0, place = csaw__lines_before(load->blocks, at) + 1;
    snprintf(line, sizeof line, "%.*s", (int)(at < load->end ? strcspn(at, "\r\n") : 0), at);
    CSAW_REQUIRE(sscanf(line, "%llu %llu %llu", &rows, &columns, &entries) == 3 && !strchr(line, '-'), CSAW_EFORMAT,
                 "%s:%llu: '%.60s' is not the size of a matrix, `rows columns entries`; fix it", path, place, line);
    CSAW_REQUIRE(rows == columns, CSAW_EUNSUPPORTED,
                 "%s:%llu: the matrix has %llu rows and %llu columns, and that of a graph is square; make it square, "
                 "for a bipartite graph by numbering both sides together",
                 path, place, rows, columns);
    CSAW_REQUIRE(rows < CSAW__MAX_VERTICES, CSAW_EUNSUPPORTED,
                 "%s:%llu: the matrix has %llu rows, but a graph from MatrixMarket holds at most %llu; split the graph",
                 path, place, rows, CSAW__MAX_VERTICES - 1);
    load->from = (const char *)memchr(at, '\n', (size_t)(load->end - at)) + 1;
    load->rules.fields[0] = CSAW__FIELD_SRC;
    load->rules.fields[1] = CSAW__FIELD_DST;
    load->rules.fields[2] = CSAW__FIELD_WEIGHT;
    load->rules.num_fields = weighted ? 3 : 2;
    load->rules.lowest = 1;
    load->rules.highest = (int64_t)rows;
    load->rules.range_remedy = "fix the entry or the size of the matrix";
    load->list.declared = true;
    load->list.first = 1;
    load->list.num_declared = rows;
    load->undirected = symmetric || skew;
    load->negate_reverse = skew;
    load->one_line_per_edge = true;
    load->num_lines = entries;
    return CSAW_OK;
}
