/* SPDX-License-Identifier: MIT */
/* runtime/base/load_gr.c - the heading of a .gr file, in two dialects: shortest paths of the 9th DIMACS challenge
 * (`p sp n m`, then `a u v w`, each arc), and PACE 2016 (`p tw n m`, then `u v`, each undirected edge once). Comments
 * begin with c, ids with 1. Sources: diag.uniroma1.it/challenge9/format.shtml, pacechallenge.org/2016/treewidth. */
#include "runtime/base/load_formats.h"

#include "runtime/base/graph.h"

#include <stdio.h>
#include <string.h>

bool csaw__is_gr(const char *text, const char *end) {
    const csaw__line_rules comments = {.comments = "c"};
    const char *at = csaw__lines_first(&comments, text, end);
    return end - at > 5 && (memcmp(at, "p sp ", 5) == 0 || memcmp(at, "p tw ", 5) == 0);
}

csaw_status csaw__begin_gr(csaw__load *load) {
    const char *path = load->blocks->path;
    load->rules = (csaw__line_rules){.comments = "c", .plain = load->rules.plain};
    const char *at = csaw__lines_first(&load->rules, load->text, load->end);
    unsigned long long vertices = 0, edges = 0, place = csaw__lines_before(load->blocks, at) + 1;
    char line[256], kind[8] = "";
    snprintf(line, sizeof line, "%.*s", (int)(at < load->end ? strcspn(at, "\r\n") : 0), at);
    int words = sscanf(line, "p %7s %llu %llu", kind, &vertices, &edges);
    const bool shortest = strcmp(kind, "sp") == 0;
    CSAW_REQUIRE(words == 3 && (shortest || strcmp(kind, "tw") == 0) && !strchr(line, '-'), CSAW_EFORMAT,
                 "%s:%llu: '%.60s' is not the heading of a .gr file, `p sp n m` or `p tw n m`; fix it", path, place,
                 line);
    CSAW_REQUIRE(vertices < CSAW__MAX_VERTICES, CSAW_EUNSUPPORTED,
                 "%s:%llu: the file has %llu vertices, but a graph from .gr holds at most %llu; split the graph", path,
                 place, vertices, CSAW__MAX_VERTICES - 1);
    load->from = (const char *)memchr(at, '\n', (size_t)(load->end - at)) + 1;
    load->rules.fields[0] = CSAW__FIELD_SRC;
    load->rules.fields[1] = CSAW__FIELD_DST;
    load->rules.fields[2] = CSAW__FIELD_WEIGHT;
    load->rules.num_fields = shortest ? 3 : 2;
    load->rules.prefix = shortest ? 'a' : 0;
    load->rules.lowest = 1;
    load->rules.highest = (int64_t)vertices;
    load->rules.range_remedy = "fix the line or the heading";
    load->list.declared = true;
    load->list.first = 1;
    load->list.num_declared = vertices;
    load->undirected = !shortest;
    load->one_line_per_edge = true;
    load->num_lines = edges;
    return CSAW_OK;
}
