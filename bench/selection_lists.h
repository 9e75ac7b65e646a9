/* SPDX-License-Identifier: MIT */
/* bench/selection_lists.h - what is picked from without replacement where C-SAW measures it (Pandey et al., SC'20,
 * section VI-B, figures 10 to 12): neighbour sampling biased and not, forest fire and layer sampling. */
#ifndef CSAW_BENCH_SELECTION_LISTS_H
#define CSAW_BENCH_SELECTION_LISTS_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists of arcs: those of one vertex, or of several one after the other. */
typedef struct selection_lists {
    uint64_t count;
    uint64_t *begin;     /* [count + 1] of each list's vertices */
    csaw_vertex *vertex; /* [begin[count]] */
    uint64_t *pick;      /* [count + 1] of its picks: fewer than it has arcs, from 1 to MOST_PICKS */
} selection_lists;

typedef struct application {
    const char *name;
    const csaw_sampler *sampler;
    bool biased;     /* by the degree of the neighbour */
    bool own_fanout; /* the sampler's hook says how many; else 2 */
    bool layer;      /* one list of a whole frontier */
} application;
enum { NUM_APPLICATIONS = 4 };
extern const application applications[NUM_APPLICATIONS];

/* Those that so many instances pick from at two hops, from one seed each, which are drawn: [num_drawn] again and again.
 * Where all arcs are taken nothing is picked, and of a vertex from which forest fire wants more than MOST_PICKS there
 * is none. device: that samples, as csaw_plan_options has it. */
selection_lists lists_of_application(const application *a, const csaw_csr *csr, const char *device,
                                     const csaw_vertex *drawn, uint64_t num_drawn, uint64_t instances);
/* One for each of drawn that has k + spare arcs or more, and more than k. */
selection_lists lists_of_vertices(const csaw_csr *csr, const csaw_vertex *drawn, uint64_t num_drawn, uint32_t k,
                                  uint64_t spare);
void lists_free(selection_lists *lists);

/* Arcs of a list, or of the longest. */
uint64_t list_length(const csaw_csr *csr, const selection_lists *lists, uint64_t list);
uint64_t longest_list(const csaw_csr *csr, const selection_lists *lists);

#ifdef __cplusplus
}
#endif
#endif
