/* SPDX-License-Identifier: MIT */
/* bench/molecules.c - see the header. */
#include "bench/molecules.h"

#include <inttypes.h>
#include <stdlib.h>

static void stop(const char *why) {
    fprintf(stderr, "molecules: %s\n", why);
    exit(1);
}

static void *memory(void *old, uint64_t count, size_t size) {
    void *p = realloc(old, (count + 1) * size);
    if (!p) stop("out of memory");
    return p;
}

typedef struct list { /* of numbers, that grows */
    uint32_t *at;
    uint64_t count, size;
} list;

static void append(list *l, uint64_t value) {
    if (l->count == l->size) l->at = memory(l->at, l->size = 2 * l->size + 1024, sizeof *l->at);
    l->at[l->count++] = (uint32_t)value;
}

static molecules allocate(uint64_t count) {
    molecules m = {.count = count};
    m.row_offset = memory(NULL, count, sizeof *m.row_offset);
    m.edge_offset = memory(NULL, count, sizeof *m.edge_offset);
    m.row_offset[0] = m.edge_offset[0] = 0;
    return m;
}

static molecules with_entries(molecules m, const list *row, const list *col) {
    m.row = memory(row->at, row->count, sizeof *m.row);
    m.col = memory(col->at, col->count, sizeof *m.col);
    m.weight = memory(NULL, row->count, sizeof *m.weight);
    for (uint64_t k = 0; k < row->count; k++) m.weight[k] = 1;
    return m;
}

static uint64_t random_number(void) { /* splitmix64 */
    static uint64_t state = 1;
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

molecules molecules_random(uint64_t count, uint32_t least, uint32_t most, uint32_t per_row) {
    molecules m = allocate(count);
    list row = {0}, col = {0};
    for (uint64_t g = 0; g < count; g++) {
        const uint32_t rows = least == most ? most : least + (uint32_t)(random_number() % (most - least + 1));
        for (uint32_t entry = 0; entry < rows * per_row; entry++) {
            append(&row, entry / per_row);
            append(&col, random_number() % rows);
        }
        m.row_offset[g + 1] = m.row_offset[g] + rows;
        m.edge_offset[g + 1] = row.count;
    }
    m = with_entries(m, &row, &col);
    for (uint64_t k = 0; k < row.count; k++) m.weight[k] = (float)(random_number() >> 40) * 0x1p-23f - 1;
    return m;
}

static uint64_t read_number(FILE *file) {
    uint64_t n;
    if (fscanf(file, "%" SCNu64, &n) != 1) stop("a number is missing");
    return n;
}

molecules molecules_read_gin(FILE *file) {
    molecules m = allocate(read_number(file));
    list row = {0}, col = {0};
    for (uint64_t g = 0; g < m.count; g++) {
        const uint64_t vertices = read_number(file);
        read_number(file); /* the graph's label */
        for (uint64_t v = 0; v < vertices; v++) {
            read_number(file); /* the vertex's tag */
            for (uint64_t left = read_number(file); left; left--) {
                append(&row, v);
                append(&col, read_number(file));
            }
        }
        m.row_offset[g + 1] = m.row_offset[g] + vertices;
        m.edge_offset[g + 1] = row.count;
    }
    return with_entries(m, &row, &col);
}

/* m's graphs by the indicator; the graph of each vertex, from 0. */
static list read_indicator(FILE *file, molecules *m) {
    list graph = {0};
    uint64_t last = 0;
    for (uint64_t g; fscanf(file, "%" SCNu64, &g) == 1; last = g) {
        if (g != last && g != last + 1) stop("the graphs of the indicator do not follow each other");
        append(&graph, g - 1);
    }
    *m = allocate(last);
    for (uint64_t v = 0; v < graph.count; v++) m->row_offset[graph.at[v] + 1] = v + 1;
    return graph;
}

molecules molecules_read_tu(FILE *edges, FILE *indicator) {
    molecules m;
    const list graph = read_indicator(indicator, &m);
    list row = {0}, col = {0};
    uint64_t last = 0;
    for (uint64_t from, to; fscanf(edges, "%" SCNu64 " , %" SCNu64, &from, &to) == 2;) {
        if (!from || !to || from > graph.count || to > graph.count) stop("an edge has no such vertex");
        const uint64_t g = graph.at[from - 1];
        if (g < last || graph.at[to - 1] != g) stop("edges do not stand graph after graph");
        for (; last < g; last++) m.edge_offset[last + 1] = row.count;
        append(&row, from - 1 - m.row_offset[g]);
        append(&col, to - 1 - m.row_offset[g]);
    }
    for (; last < m.count; last++) m.edge_offset[last + 1] = row.count;
    free(graph.at);
    return with_entries(m, &row, &col);
}

void molecules_free(molecules *m) {
    free(m->row_offset);
    free(m->edge_offset);
    free(m->row);
    free(m->col);
    free(m->weight);
}
