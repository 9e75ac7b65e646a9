/* SPDX-License-Identifier: MIT */
/* main.c - walks my_walk over 0 - 1 - 2 - 3 - 4 with a shortcut 0 - 4: the only way up by single hops is 0 1 2 3 4.
 * Then multiplies three features by my_product, on the CPU.
 * Usage: outside [device] */
#include <csaw/csaw.h>
#include <csaw/spmm.h>
#include <stdio.h>

CSAW_DECLARE_SAMPLER(my_walk);
CSAW_DECLARE_REDUCER(my_product);

static int failed(void) {
    fprintf(stderr, "%s\n", csaw_last_error());
    return 1;
}

static int multiply(void) {
    const uint64_t rowptr[] = {0, 3};
    const csaw_vertex col[] = {0, 1, 2};
    const csaw_sparse a = {.rows = 1, .cols = 3, .num_edges = 3, .rowptr = rowptr, .col = col};
    float in[] = {2, 3, 4}, out = 0;
    const csaw_dense x = {.rows = 3, .cols = 1, .data = in}, y = {.rows = 1, .cols = 1, .data = &out};
    if (csaw_spmm(&a, &x, CSAW_SPMM(.reducer = &my_product), &y)) return failed();
    if (out != 24) fprintf(stderr, "the product is %g, but 24 is right\n", (double)out);
    return out != 24;
}

int main(int argc, char **argv) {
    const csaw_vertex src[] = {0, 1, 2, 3, 0}, dst[] = {1, 2, 3, 4, 4}, start = 0;
    const csaw_edges edges = {.num_edges = 5, .src = src, .dst = dst};
    const csaw_seeds seeds = {.vertex = &start, .count = 1};
    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    csaw_samples *samples = NULL;
    csaw_walks walks;
    if (csaw_graph_from_edges(&edges, CSAW_LOAD(.undirected = true), &graph) ||
        csaw_plan_create(graph, CSAW_PLAN(.device = argc > 1 ? argv[1] : "cpu"), &plan) ||
        csaw_sample(plan, &my_walk, NULL, &seeds, CSAW_RUN(.depth = 6, .seed = 7), &samples) ||
        csaw_samples_walks(samples, CSAW_HOST, &walks))
        return failed();
    for (uint32_t step = 0; step <= walks.length && walks.path[step] != CSAW_NONE; step++)
        printf(step ? " %u" : "%u", (unsigned)walks.path[step]);
    printf("\n");
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    return multiply();
}
