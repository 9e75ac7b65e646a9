/* SPDX-License-Identifier: MIT */
/* runtime/base/names.c - names of vertices: found by binary search, through a list of the vertices by name where they
 * do not ascend; carried along when vertices are renumbered. */
#include "runtime/base/names.h"

#include "runtime/base/memory.h"

#include <inttypes.h>
#include <string.h>

void csaw__graph_adopt_names(csaw_graph *graph, const csaw_names *names, const csaw_vertex *order) {
    graph->names = *names;
    graph->name_order = order;
}

void csaw__names_free(csaw_names *names) {
    csaw__free((void *)names->number);
    csaw__free((void *)names->text);
    csaw__free((void *)names->offset);
    *names = (csaw_names){0};
}

csaw_names csaw_graph_names(const csaw_graph *graph) { return graph->names; }

/* ---- finding ---- */

static int compare_bytes(const char *a, uint64_t a_bytes, const char *b, uint64_t b_bytes) {
    uint64_t shared = a_bytes < b_bytes ? a_bytes : b_bytes;
    int difference = shared ? memcmp(a, b, shared) : 0;
    return difference ? difference : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

int csaw__names_compare(const csaw_names *names, csaw_vertex a, csaw_vertex b) {
    if (names->number) return (names->number[a] > names->number[b]) - (names->number[a] < names->number[b]);
    const uint64_t *offset = names->offset;
    return compare_bytes(names->text + offset[a], offset[a + 1] - offset[a], names->text + offset[b],
                         offset[b + 1] - offset[b]);
}

/* A whole number of 64 bits, with or without a sign. */
static bool parse_number(const char *text, int64_t *out) {
    bool negative = *text == '-';
    uint64_t value = 0, limit = (uint64_t)INT64_MAX + negative;
    text += negative || *text == '+';
    if (!*text) return false;
    for (; *text; text++) {
        uint64_t digit = (uint64_t)*text - '0';
        if (*text < '0' || *text > '9' || value > (limit - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* As strcmp(): the name of vertex v against the one that is sought. */
static int compare_with(const csaw_names *names, csaw_vertex v, const char *text, uint64_t bytes, int64_t number) {
    if (names->number) return (names->number[v] > number) - (names->number[v] < number);
    return compare_bytes(names->text + names->offset[v], names->offset[v + 1] - names->offset[v], text, bytes);
}

csaw_status csaw_graph_find(const csaw_graph *graph, const char *name, csaw_vertex *out) {
    CSAW_REQUIRE(graph && name, CSAW_EINVAL, "the %s is NULL; pass a graph and a name", graph ? "name" : "graph");
    const uint64_t num_vertices = graph->csr.num_vertices, bytes = strlen(name);
    const csaw_names *names = &graph->names;
    int64_t number = 0;
    CSAW_REQUIRE(names->offset || parse_number(name, &number), CSAW_EINVAL,
                 "there is no vertex '%.100s': vertices of this graph have whole numbers as names; give one of them",
                 name);
    if (!names->offset && !names->number) {
        CSAW_REQUIRE(number >= 0 && (uint64_t)number < num_vertices, CSAW_EINVAL,
                     "there is no vertex %" PRId64 ": the graph has %" PRIu64 " vertices, numbered from 0", number,
                     num_vertices);
        *out = (csaw_vertex)number;
        return CSAW_OK;
    }
    uint64_t low = 0, high = num_vertices;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        csaw_vertex v = graph->name_order ? graph->name_order[middle] : (csaw_vertex)middle;
        int difference = compare_with(names, v, name, bytes, number);
        if (difference == 0) {
            *out = v;
            return CSAW_OK;
        }
        if (difference < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return csaw__fail(CSAW_EINVAL, "there is no vertex named '%.100s' in this graph; names are as in its file", name);
}

/* ---- carrying along ---- */

static csaw_status carry_numbers(const csaw_graph *from, const csaw_vertex *old_of, uint64_t n, csaw_names *out) {
    int64_t *number = NULL;
    CSAW_TRY(csaw__alloc(&number, n, "the names of vertices"));
    for (uint64_t v = 0; v < n; v++) {
        uint64_t old = old_of ? old_of[v] : v;
        number[v] = from->names.number ? from->names.number[old] : (int64_t)old;
    }
    out->number = number;
    return CSAW_OK;
}

static csaw_status carry_words(const csaw_graph *from, const csaw_vertex *old_of, uint64_t n, csaw_names *out) {
    const uint64_t *old_offset = from->names.offset;
    uint64_t *offset = NULL, bytes_in_all = 0, sum = 0;
    char *text = NULL;
    for (uint64_t v = 0; v < n; v++) {
        const uint64_t old = old_of ? old_of[v] : v;
        bytes_in_all += old_offset[old + 1] - old_offset[old];
    }
    CSAW_TRY(csaw__alloc(&offset, n + 1, "the names of vertices"));
    out->offset = offset;
    CSAW_TRY(csaw__alloc(&text, bytes_in_all, "the names of vertices"));
    out->text = text;
    for (uint64_t v = 0; v < n; v++) {
        uint64_t old = old_of ? old_of[v] : v, bytes = old_offset[old + 1] - old_offset[old];
        offset[v] = sum;
        if (bytes) memcpy(text + sum, from->names.text + old_offset[old], bytes);
        sum += bytes;
    }
    offset[n] = sum;
    return CSAW_OK;
}

csaw_status csaw__names_carry(const csaw_graph *from, const csaw_vertex *old_of, const csaw_vertex *rank,
                              csaw_graph *to) {
    const uint64_t n = from->csr.num_vertices;
    csaw_names names = {0};
    csaw_vertex *order = NULL;
    csaw_status status = CSAW_OK;
    if (!from->names.number && !from->names.offset && !old_of) return CSAW_OK;
    CSAW_TRY_DONE(from->names.offset ? carry_words(from, old_of, n, &names) : carry_numbers(from, old_of, n, &names));
    if (old_of || from->name_order) {
        CSAW_TRY_DONE(csaw__alloc(&order, n, "the order of names"));
        for (uint64_t i = 0; i < n; i++) {
            csaw_vertex old = from->name_order ? from->name_order[i] : (csaw_vertex)i;
            order[i] = rank ? rank[old] : old;
        }
    }
    csaw__graph_adopt_names(to, &names, order);
    return CSAW_OK;
done:
    csaw__names_free(&names);
    return status;
}

/* Sifts order[at] down a heap with the last name on top. */
static void sift(const csaw_names *names, csaw_vertex *order, uint64_t at, uint64_t count) {
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && csaw__names_compare(names, order[child], order[child + 1]) < 0) child++;
        if (csaw__names_compare(names, order[at], order[child]) >= 0) return;
        const csaw_vertex v = order[at];
        order[at] = order[child];
        order[child] = v;
    }
}

csaw_status csaw__names_pick(const csaw_graph *from, const csaw_vertex *old_of, csaw_graph *to) {
    const uint64_t n = to->csr.num_vertices;
    csaw_names names = {0};
    csaw_vertex *order = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(from->names.offset ? carry_words(from, old_of, n, &names) : carry_numbers(from, old_of, n, &names));
    CSAW_TRY_DONE(csaw__alloc(&order, n, "the order of names"));
    for (uint64_t i = 0; i < n; i++) order[i] = (csaw_vertex)i;
    for (uint64_t i = n / 2; i-- > 0;) sift(&names, order, i, n);
    for (uint64_t i = n; i-- > 1;) { /* heapsort: in place */
        const csaw_vertex last = order[0];
        order[0] = order[i];
        order[i] = last;
        sift(&names, order, 0, i);
    }
    csaw__graph_adopt_names(to, &names, order);
    return CSAW_OK;
done:
    csaw__names_free(&names);
    return status;
}
