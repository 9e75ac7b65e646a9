/* SPDX-License-Identifier: MIT */
/* cli/seeds.c - reads a list of vertices, line by line, naming the line that is wrong. */
#include "seeds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "report.h"
#include "text_line.h"

typedef struct vertex_list {
    csaw_vertex *vertex;
    size_t count, room;
} vertex_list;

static const char separators[] = " \t\r\n,";

/* The word that *at begins with, its end made a 0, and *at moved past it. Quotes as in edge lists: around a whole word,
 * doubled inside. NULL if one does not end its word. */
static char *take_word(char **at) {
    char *word = *at, *end = word + strcspn(word, separators), *to = end;
    if (*word == '"') {
        to = ++word;
        for (end = word; *end && (*end != '"' || end[1] == '"'); end++) {
            end += *end == '"';
            *to++ = *end;
        }
        if (!*end || (end[1] && !strchr(separators, end[1]))) return NULL;
    }
    *at = end + (*end != 0);
    *to = 0;
    return word;
}

static int read_line(vertex_list *list, char *line, const char *path, uint64_t number, const csaw_graph *graph) {
    const uint64_t num_vertices = csaw_graph_csr(graph).num_vertices;
    const csaw_names names = csaw_graph_names(graph);
    for (char *at = line + strspn(line, separators); *at; at += strspn(at, separators)) {
        char *const word = take_word(&at);
        uint64_t number_given;
        csaw_vertex vertex;
        if (!word)
            return report_failure("%s line %" PRIu64 ": a vertex begins with a quote that does not end it; close the "
                                  "quote in the same line, and double quotes inside",
                                  path, number);
        if (names.number || names.text) {
            if (csaw_graph_find(graph, word, &vertex) != CSAW_OK)
                return report_failure("%s line %" PRIu64 ": %s", path, number, csaw_last_error());
        } else if (!parse_count(word, &number_given)) {
            return report_failure("%s line %" PRIu64
                                  ": '%.40s' is not a vertex; give whole numbers with blanks between",
                                  path, number, word);
        } else if (number_given >= num_vertices) {
            return report_failure("%s line %" PRIu64 ": vertex %" PRIu64 ", but the graph has %" PRIu64
                                  " vertices, numbered from 0; drop or fix the line",
                                  path, number, number_given, num_vertices);
        } else {
            vertex = (csaw_vertex)number_given;
        }
        if (list->count == list->room) {
            list->room = list->room ? 2 * list->room : 1024;
            list->vertex = reallocate(list->vertex, list->room, sizeof *list->vertex);
        }
        list->vertex[list->count++] = vertex;
    }
    return -1;
}

int seeds_read(const char *path, const csaw_graph *graph, csaw_seeds *seeds) {
    vertex_list list = {0};
    char *line = NULL;
    size_t room = 0;
    int result = -1;
    FILE *file = fopen(path, "r");
    if (!file) return report_failure("seeds file %s: %s", path, strerror(errno));
    for (uint64_t number = 1; result < 0 && text_line(file, number == 1, &line, &room) >= 0; number++)
        if (line[0] != '#' && line[0] != '%') result = read_line(&list, line, path, number, graph);
    if (result < 0 && ferror(file)) result = report_failure("seeds file %s: %s", path, strerror(errno));
    if (result < 0 && list.count == 0)
        result = report_failure("seeds file %s holds no vertex; give at least one", path);
    fclose(file);
    free(line);
    if (result >= 0) {
        free(list.vertex);
        return result;
    }
    seeds->vertex = list.vertex;
    seeds->count = list.count;
    return -1;
}
