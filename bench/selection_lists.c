/* SPDX-License-Identifier: MIT */
/* bench/selection_lists.c - the lists out of samples that csaw draws: the arcs of one vertex at one depth, or in layers
 * of one depth, tell what was picked from, and how many. */
#include "bench/selection_lists.h"

#include <csaw/samplers.h>
#include <stdlib.h>

#include "bench/measure.h"
#include "bench/selection_ways.h"

enum { HOPS = 2, FANOUT = 2 };

const application applications[NUM_APPLICATIONS] = {
    {"neighbor", &csaw_neighbor_biased, true, false, false},
    {"forest_fire", &csaw_forest_fire_all, false, true, false},
    {"layer", &csaw_layer, true, false, true},
    {"neighbor", &csaw_neighbor, false, false, false},
};

static void *memory(uint64_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

static uint64_t degree_of(const csaw_csr *csr, csaw_vertex v) { return csr->rowptr[v + 1] - csr->rowptr[v]; }

uint64_t list_length(const csaw_csr *csr, const selection_lists *lists, uint64_t list) {
    uint64_t n = 0;
    for (uint64_t i = lists->begin[list]; i < lists->begin[list + 1]; i++) n += degree_of(csr, lists->vertex[i]);
    return n;
}

uint64_t longest_list(const csaw_csr *csr, const selection_lists *lists) {
    uint64_t longest = 0;
    for (uint64_t l = 0; l < lists->count; l++) {
        const uint64_t n = list_length(csr, lists, l);
        longest = n > longest ? n : longest;
    }
    return longest;
}

static selection_lists room_for(uint64_t lists, uint64_t vertices) {
    selection_lists out = {0};
    out.begin = memory((lists + 1) * sizeof *out.begin);
    out.pick = memory((lists + 1) * sizeof *out.pick);
    out.vertex = memory(vertices * sizeof *out.vertex);
    return out;
}

void lists_free(selection_lists *lists) {
    free(lists->begin);
    free(lists->vertex);
    free(lists->pick);
}

/* The vertices since the last list become one, if something is picked there. */
static void end_list(const csaw_csr *csr, selection_lists *out, uint64_t vertices, uint64_t picks) {
    out->begin[out->count + 1] = out->begin[out->count] + vertices;
    if (picks < 1 || picks > MOST_PICKS || list_length(csr, out, out->count) <= picks) return;
    out->pick[out->count + 1] = out->pick[out->count] + picks;
    out->count++;
}

/* Each vertex's arcs stand side by side: a list. */
static void add_rows(const csaw_csr *csr, const csaw_arcs *arcs, uint64_t begin, uint64_t end, selection_lists *out) {
    for (uint64_t a = begin, next; a < end; a = next) {
        for (next = a + 1; next < end && arcs->src[next] == arcs->src[a] && arcs->depth[next] == arcs->depth[a];)
            next++;
        out->vertex[out->begin[out->count]] = arcs->src[a];
        end_list(csr, out, 1, next - a);
    }
}

/* Each depth's arcs were picked from those of its pool: the seed, then where the arcs before led, each vertex once. */
static void add_layers(const csaw_csr *csr, const csaw_arcs *arcs, csaw_vertex seed, uint64_t begin, uint64_t end,
                       selection_lists *out) {
    csaw_vertex pool[FANOUT] = {seed};
    uint64_t size = 1;
    for (uint64_t a = begin, next; a < end; a = next) {
        for (next = a; next < end && arcs->depth[next] == arcs->depth[a];) next++;
        for (uint64_t i = 0; i < size; i++) out->vertex[out->begin[out->count] + i] = pool[i];
        end_list(csr, out, size, next - a);
        size = 1;
        pool[0] = arcs->dst[a];
        if (next - a > 1 && arcs->dst[a + 1] != pool[0]) pool[size++] = arcs->dst[a + 1];
    }
}

selection_lists lists_of_application(const application *a, const csaw_csr *csr, const char *device,
                                     const csaw_vertex *drawn, uint64_t num_drawn, uint64_t instances) {
    static const uint32_t fanout[HOPS] = {FANOUT, FANOUT};
    csaw_vertex *seed = memory(instances * sizeof *seed);
    float *weight = a->biased ? memory(csr->num_edges * sizeof *weight) : NULL;
    csaw_csr biased = *csr;
    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    csaw_samples *samples = NULL;
    csaw_arcs arcs;
    for (uint64_t i = 0; i < instances; i++) seed[i] = drawn[i % num_drawn];
    for (csaw_edge e = 0; a->biased && e < csr->num_edges; e++) weight[e] = (float)degree_of(csr, csr->col[e]);
    biased.weight = weight;
    biased.type = NULL;
    biased.time = NULL;
    must(csaw_graph_borrow_csr(&biased, &graph));
    must(csaw_plan_create(graph, CSAW_PLAN(.device = device), &plan));
    must(csaw_sample(plan, a->sampler, NULL, &(csaw_seeds){.vertex = seed, .count = instances},
                     CSAW_RUN(.depth = HOPS, .fanout = a->own_fanout ? NULL : fanout, .seed = 1), &samples));
    must(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    const uint64_t count = arcs.offset[instances];
    selection_lists out = room_for(count, instances + count + FANOUT); /* the last: of a list that becomes none */
    for (uint64_t i = 0; i < instances; i++) {
        if (a->layer)
            add_layers(csr, &arcs, seed[i], arcs.offset[i], arcs.offset[i + 1], &out);
        else
            add_rows(csr, &arcs, arcs.offset[i], arcs.offset[i + 1], &out);
    }
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    free(weight);
    free(seed);
    return out;
}

selection_lists lists_of_vertices(const csaw_csr *csr, const csaw_vertex *drawn, uint64_t num_drawn, uint32_t k,
                                  uint64_t spare) {
    selection_lists out = room_for(num_drawn, num_drawn + 1);
    for (uint64_t d = 0; d < num_drawn; d++) {
        if (degree_of(csr, drawn[d]) < k + spare) continue;
        out.vertex[out.begin[out.count]] = drawn[d];
        end_list(csr, &out, 1, k);
    }
    return out;
}
