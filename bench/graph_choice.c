/* SPDX-License-Identifier: MIT */
/* bench/graph_choice.c - see graph_choice.h. */
#include "bench/graph_choice.h"

#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/zipf.h"

bool reads_graph(graph_choice *s, const char *name, const char *value) {
    if (strcmp(name, "--graph") == 0)
        s->name = value;
    else if (strcmp(name, "--share") == 0)
        s->share = strtod(value, NULL);
    else if (strcmp(name, "--scale") == 0)
        s->scale = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "--edge-factor") == 0)
        s->edge_factor = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "--undirected") == 0)
        s->undirected = strcmp(value, "1") == 0;
    else
        return false;
    return true;
}

static bool is_rmat(const graph_choice *s) { return strcmp(s->name, "rmat") == 0; }

static csaw_graph *zipf(const graph_choice *s, const zipf_shape *whole) {
    if (!(s->share > 0 && s->share <= 1)) {
        fprintf(stderr, "--share %g of graph '%s': give a number above 0 and up to 1\n", s->share, s->name);
        exit(2);
    }
    return zipf_graph(&(zipf_shape){whole->name, (uint64_t)((double)whole->num_vertices * s->share),
                                    (uint64_t)((double)whole->num_draws * s->share)},
                      0);
}

/* The same arcs, each of weight 1. */
static csaw_graph *weighted(csaw_graph *bare) {
    csaw_csr csr = csaw_graph_csr(bare);
    csaw_graph *out = NULL;
    float *const one = malloc((csr.num_edges + 1) * sizeof *one);
    if (!one) must(CSAW_ENOMEM);
    for (csaw_edge e = 0; e < csr.num_edges; e++) one[e] = 1;
    csr.weight = one;
    must(csaw_graph_from_csr(&csr, &out));
    free(one);
    csaw_graph_free(bare);
    return out;
}

static csaw_graph *file(const graph_choice *s) {
    csaw_graph *graph = NULL;
    if (csaw_graph_load(s->name, CSAW_LOAD(.undirected = s->undirected), &graph) != CSAW_OK) {
        fprintf(stderr, "--graph '%s' is neither rmat, reddit, products or arxiv nor a file that loads: %s\n", s->name,
                csaw_last_error());
        exit(2);
    }
    return csaw_graph_csr(graph).weight ? graph : weighted(graph);
}

csaw_graph *graph_of(const graph_choice *s) {
    const zipf_shape *const shape = zipf_shape_of(s->name);
    csaw_graph *graph = NULL;
    if (shape) return zipf(s, shape);
    if (!is_rmat(s)) return file(s);
    must(csaw_graph_rmat(CSAW_RMAT(.scale = s->scale, .edge_factor = s->edge_factor, .seed = 1, .weighted = true),
                         &graph));
    return graph;
}

void print_graph(FILE *json, const graph_choice *s, const csaw_graph *graph) {
    const csaw_csr csr = csaw_graph_csr(graph);
    fputs("{\"kind\": \"", json);
    for (const char *at = s->name; *at; at++)
        if ((unsigned char)*at >= ' ') fprintf(json, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fprintf(json,
            "\", \"scale\": %u, \"edge_factor\": %u, \"share\": %g, \"undirected\": %s, \"seed\": %d, \"vertices\": "
            "%llu, \"edges\": %llu}",
            is_rmat(s) ? s->scale : 0, is_rmat(s) ? s->edge_factor : 0, zipf_shape_of(s->name) ? s->share : 1,
            s->undirected ? "true" : "false", is_rmat(s), (unsigned long long)csr.num_vertices,
            (unsigned long long)csr.num_edges);
}
