/* SPDX-License-Identifier: MIT */
/* runtime/engine/saint.c - GraphSAINT: the subgraphs induced by what its samplers draw, and the coefficients that make
 * training on them unbiased, from counts over subgraphs.
 *
 * Source: Zeng, Zhou, Srivastava, Kannan, Prasanna, "GraphSAINT: graph sampling based inductive learning method", ICLR
 * 2020, algorithm 2 and section 3.2. The samplers are samplers/saint_*.c and samplers/multidimensional.c; what is here
 * draws roots and turns samples into sets of vertices, which csaw_subgraph_create() takes for first frontiers. */
#include "runtime/base/graph.h"
#include "runtime/base/grow.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/training.h"

typedef unsigned long long number;

/* Subgraphs are drawn in chunks, since the samples of NODE and EDGE name the whole pool, every vertex, each time. */
static const uint64_t chunk_vertices = (uint64_t)1 << 22;

typedef struct drawing {
    csaw_plan *plan;
    csaw_saint_options options;
    bool from_roots;
    csaw_seeds pools;      /* of the chunk at hand */
    csaw_vertex *root;     /* [pools.count, budget] of them, where they begin at roots */
    uint64_t *pool_offset; /* [pools.count + 1] of them */
    csaw_vertex *vertex;   /* [offset[done]] drawn so far, in order of subgraph */
    uint64_t *offset;      /* [count + 1] */
    uint64_t done, vertex_room;
} drawing;

static csaw_status check(const csaw_plan *plan, csaw_saint_options *o) {
    const csaw_csr *csr = &plan->graph->csr;
    const bool from_roots = o->kind == CSAW_SAINT_WALK || o->kind == CSAW_SAINT_FRONTIER;
    CSAW_REQUIRE((unsigned)o->kind <= CSAW_SAINT_FRONTIER, CSAW_EINVAL,
                 "kind is %d, but csaw_saint_kind ends with CSAW_SAINT_FRONTIER (%d)", (int)o->kind,
                 (int)CSAW_SAINT_FRONTIER);
    CSAW_REQUIRE(o->budget && o->budget <= 1u << 23, CSAW_EINVAL,
                 "budget is %u; give the number of %s of a subgraph, 1 .. 2^23", o->budget,
                 from_roots ? "roots" : "arcs drawn");
    CSAW_REQUIRE(!from_roots || (o->depth && o->depth < CSAW_MAX_DEPTH), CSAW_EINVAL,
                 "depth is %u, but walks from roots need a number of steps: give 1 .. 2^24 - 1", o->depth);
    CSAW_REQUIRE(from_roots || !o->depth, CSAW_EINVAL,
                 "depth is %u, but CSAW_SAINT_NODE and CSAW_SAINT_EDGE take no steps; leave it 0", o->depth);
    CSAW_REQUIRE(from_roots ? csr->num_vertices : csr->num_edges, CSAW_EINVAL,
                 "the graph has %llu vertices and %llu arcs, so there is nothing to draw; load a graph that has some",
                 (number)csr->num_vertices, (number)csr->num_edges);
    if (!o->count) o->count = 1;
    CSAW_REQUIRE(o->count <= CSAW_MAX_INSTANCES && o->first <= CSAW_MAX_INSTANCES - o->count, CSAW_EINVAL,
                 "subgraphs %llu and the %llu after it are beyond 2^40; begin at 0 with another seed", (number)o->first,
                 (number)o->count);
    return CSAW_OK;
}

/* Pools of subgraphs first .. first + count - 1: roots each, or every vertex. */
static csaw_status make_pools(drawing *d, uint64_t first, uint64_t count) {
    const uint64_t n = d->plan->graph->csr.num_vertices, budget = d->options.budget;
    if (!d->from_roots) {
        d->pool_offset[1] = n;
        d->pools = (csaw_seeds){.count = 1, .offset = d->pool_offset};
        return CSAW_OK;
    }
    for (uint64_t g = first; g < first + count; g++) {
        csaw_vertex *const root = d->root + g % count * budget;
        for (uint64_t i = 0; i < budget; i++)
            root[i] = (csaw_vertex)csaw_below(csaw__training_number(d->options.seed, g, i, CSAW__ROOT_DRAW), n);
    }
    for (uint64_t j = 0; j < count; j++) d->pool_offset[j + 1] = (j + 1) * budget;
    d->pools = (csaw_seeds){.vertex = d->root, .count = count, .offset = d->pool_offset};
    return CSAW_OK;
}

/* The vertices of subgraph d->done from the arcs of instance i. */
static csaw_status take_vertices(drawing *d, const csaw_arcs *arcs, uint64_t i) {
    const uint64_t num_arcs = arcs->offset[i + 1] - arcs->offset[i], budget = d->from_roots ? d->options.budget : 0;
    uint64_t at = d->offset[d->done];
    CSAW_TRY(CSAW__GROW(&d->vertex, &d->vertex_room, at + budget + 2 * num_arcs + 1, "vertices of subgraphs"));
    if (budget) memcpy(d->vertex + at, d->root + (arcs->first + i) % d->pools.count * budget, budget * sizeof *d->root);
    at += budget;
    for (uint64_t k = arcs->offset[i]; k < arcs->offset[i + 1]; k++) {
        if (d->options.kind == CSAW_SAINT_EDGE) d->vertex[at++] = arcs->src[k];
        d->vertex[at++] = arcs->dst[k];
    }
    d->offset[++d->done] = at;
    return CSAW_OK;
}

static csaw_status draw_chunk(drawing *d, uint64_t count) {
    static const csaw_sampler *const samplers[] = {&csaw_saint_node, &csaw_saint_edge, &csaw_saint_walk,
                                                   &csaw_multidimensional};
    const uint64_t first = d->options.first + d->done;
    const csaw_run_options run = {.size = sizeof run,
                                  .seed = d->options.seed,
                                  .depth = d->from_roots ? d->options.depth : 1,
                                  .fanout = d->from_roots ? NULL : &d->options.budget};
    csaw_samples *samples = NULL;
    csaw_arcs arcs;
    csaw_status status = CSAW_OK;
    CSAW_TRY(make_pools(d, first, count));
    CSAW_TRY(csaw__sample_from(d->plan, samplers[d->options.kind], NULL, &d->pools, &run, first, count, &samples));
    CSAW_TRY_DONE(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    for (uint64_t i = 0; i < count; i++) CSAW_TRY_DONE(take_vertices(d, &arcs, i));
done:
    csaw_samples_free(samples);
    return status;
}

/* Samples without arcs, whose first frontiers are the vertices drawn. */
static csaw_status induce(const drawing *d, csaw_subgraph **out) {
    const uint64_t count = d->options.count;
    csaw_samples drawn = {.is_sample = true};
    CSAW_TRY(csaw__arcs_create(NULL, count, 0, d->offset[count], &drawn.arcs));
    drawn.arcs.first = d->options.first;
    memset((uint64_t *)(uintptr_t)drawn.arcs.offset, 0, (count + 1) * sizeof(uint64_t));
    memcpy((uint64_t *)(uintptr_t)drawn.arcs.seed_offset, d->offset, (count + 1) * sizeof(uint64_t));
    if (d->vertex) memcpy((csaw_vertex *)(uintptr_t)drawn.arcs.seed, d->vertex, d->offset[count] * sizeof(csaw_vertex));
    const csaw_status status =
        csaw_subgraph_create(d->plan->graph, &drawn, CSAW_SUBGRAPH(.per_instance = true, .induced = true), out);
    csaw__arcs_free(NULL, &drawn.arcs);
    return status;
}

csaw_status csaw_saint_sample(csaw_plan *plan, const csaw_saint_options *given, csaw_subgraph **out) {
    drawing d = {.plan = plan};
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(plan && out, CSAW_EINVAL, "csaw_saint_sample needs a plan and a place for the subgraphs; one is NULL");
    CSAW_TRY(csaw__plan_check_alone(plan, "csaw_saint_sample"));
    CSAW_TRY(csaw__plan_check_lent(plan));
    CSAW_OPTIONS(csaw_saint_options, given, options)
    CSAW_TRY(check(plan, &options));
    d.options = options;
    d.from_roots = options.kind == CSAW_SAINT_WALK || options.kind == CSAW_SAINT_FRONTIER;
    const uint64_t of_one = d.from_roots ? (uint64_t)options.budget * options.depth : plan->graph->csr.num_vertices;
    const uint64_t fit = of_one < chunk_vertices ? chunk_vertices / of_one : 1;
    const uint64_t chunk = fit < options.count ? fit : options.count;
    CSAW_TRY_DONE(csaw__alloc_zero(&d.offset, options.count + 1, "subgraphs"));
    CSAW_TRY_DONE(csaw__alloc_zero(&d.pool_offset, chunk + 1, "roots of subgraphs"));
    if (d.from_roots) CSAW_TRY_DONE(csaw__alloc(&d.root, chunk * options.budget, "roots of subgraphs"));
    while (d.done < options.count)
        CSAW_TRY_DONE(draw_chunk(&d, options.count - d.done < chunk ? options.count - d.done : chunk));
    status = induce(&d, out);
done:
    csaw__free(d.root);
    csaw__free(d.pool_offset);
    csaw__free(d.vertex);
    csaw__free(d.offset);
    return status;
}

/* ---- coefficients ---- */

void csaw_saint_count(const csaw_subgraph *subgraph, uint64_t *vertex_count, uint64_t *edge_count) {
    const csaw_subgraph_view view = csaw_subgraph_look(subgraph);
    const uint64_t vertices = view.vertex_offset[view.num_graphs];
    for (uint64_t i = 0; i < vertices; i++) vertex_count[view.vertex[i]]++;
    for (uint64_t k = 0; k < view.rowptr[vertices]; k++) edge_count[view.edge[k]]++;
}

static float ratio(uint64_t a, uint64_t b) { return (float)((double)(a ? a : 1) / (double)(b ? b : 1)); }

csaw_status csaw_saint_coefficients(const csaw_graph *graph, uint64_t num_subgraphs, const uint64_t *vertex_count,
                                    const uint64_t *edge_count, float *alpha, float *lambda) {
    CSAW_REQUIRE(graph, CSAW_EINVAL, "csaw_saint_coefficients needs the graph that was sampled; it is NULL");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_saint_coefficients"));
    const csaw_csr *csr = &graph->csr;
    CSAW_REQUIRE(((vertex_count && lambda) || !csr->num_vertices) && ((edge_count && alpha) || !csr->num_edges),
                 CSAW_EINVAL,
                 "csaw_saint_coefficients needs counts and coefficients of %llu vertices and %llu arcs; one is NULL",
                 (number)csr->num_vertices, (number)csr->num_edges);
    CSAW_REQUIRE(num_subgraphs, CSAW_EINVAL,
                 "coefficients come from counts over subgraphs, but there are 0; count 1 "
                 "or more with csaw_saint_count()");
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        CSAW_REQUIRE(vertex_count[v] <= num_subgraphs, CSAW_EINVAL,
                     "vertex %llu was counted %llu times, but there are %llu subgraphs; give the number of all that "
                     "were counted",
                     (number)v, (number)vertex_count[v], (number)num_subgraphs);
        lambda[v] = ratio(vertex_count[v], num_subgraphs);
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++) {
            CSAW_REQUIRE(edge_count[e] <= vertex_count[v], CSAW_EINVAL,
                         "arc %llu was counted %llu times, but vertex %llu, its row, %llu times; give counts of whole "
                         "subgraphs",
                         (number)e, (number)edge_count[e], (number)v, (number)vertex_count[v]);
            alpha[e] = ratio(edge_count[e], vertex_count[v]);
        }
    }
    return CSAW_OK;
}
