/* SPDX-License-Identifier: MIT */
/* runtime/engine/negatives.c - negative samples for link prediction: for a vertex others that it has no arc to, all
 * alike or by a power of their degree. The sums of masses, and the CPU's draws; negative_draw.h has the law, and the
 * GPU's are in device_negatives.cu. */
#include <csaw/training.h>

#include "runtime/base/graph.h"
#include "runtime/base/mass.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"
#include "runtime/engine/device_negatives.h"

#include <string.h>

typedef unsigned long long number;

struct csaw_negatives {
    csaw_negative_options options;
    csaw__negative_law law;        /* of the host's memory */
    uint64_t *upto;                /* law.upto, owned */
    csaw__device_negatives *there; /* which draws from a copy of the law; NULL = the CPU does */
};

static csaw_status make_sums(csaw_negatives *n, const csaw_csr *csr) {
    double largest = 0;
    csaw__negative_law *const law = &n->law;
    *law = (csaw__negative_law){csr->rowptr, csr->col, NULL, csr->num_vertices, csr->num_vertices, n->options.any};
    if (n->options.power == 0) return CSAW_OK;
    CSAW_TRY(csaw__alloc(&n->upto, csr->num_vertices, "sums over all vertices"));
    csaw__watch *const watch = csaw__watching();
    for (uint64_t v = 0; v < csr->num_vertices && !csaw__stopped(watch); v++) {
        const double degree = (double)(csr->rowptr[v + 1] - csr->rowptr[v]);
        const double bias = degree > 0 ? csaw_pow(degree, n->options.power) : 0;
        n->upto[v] = csaw__bits(bias);
        largest = bias > largest ? bias : largest;
    }
    CSAW_TRY(csaw__go_on());
    CSAW_REQUIRE(largest > 0, CSAW_EINVAL,
                 "none of the graph's %llu vertices has an arc, so by degree none can be drawn; give power 0",
                 (number)csr->num_vertices);
    const double scale = csaw__power_of_two(csaw__mass_exponent(csr->num_vertices, largest));
    law->sum = 0;
    for (uint64_t v = 0; v < csr->num_vertices; v++)
        n->upto[v] = law->sum += csaw__mass(csaw__from_bits(n->upto[v]), scale);
    law->upto = n->upto;
    return CSAW_OK;
}

csaw_status csaw_negatives_create(const csaw_graph *graph, const csaw_negative_options *given, csaw_negatives **out) {
    csaw_negatives *n = NULL;
    csaw__where where;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(graph && out, CSAW_EINVAL,
                 "csaw_negatives_create needs a graph and a place for the negatives; one is NULL");
    CSAW_TRY(csaw__graph_check_whole(graph, "csaw_negatives_create"));
    CSAW_OPTIONS(csaw_negative_options, given, options)
    CSAW_REQUIRE(options.power >= 0 && options.power <= 4, CSAW_EINVAL,
                 "power is %g; give 0 (all alike) .. 4, such as 0.75", options.power);
    CSAW_REQUIRE(options.threads >= 0, CSAW_EINVAL, "threads is %d; give 1 or more, or 0 for all cores",
                 options.threads);
    CSAW_TRY(csaw__where_of(options.device, options.stream, false, &where));
    CSAW_TRY(csaw__alloc_zero(&n, 1, "negative samples"));
    n->options = options;
    CSAW_TRY_DONE(make_sums(n, &graph->csr));
    if (where.ordinal >= 0)
        CSAW_TRY_DONE(csaw__device_negatives_create(&where, &n->law, graph->csr.num_edges, &n->there));
    if (n->there) { /* which has a copy */
        csaw__free(n->upto);
        n->upto = NULL;
    }
    *out = n;
    n = NULL;
done:
    csaw_negatives_free(n);
    return status;
}

void csaw_negatives_free(csaw_negatives *negatives) {
    if (!negatives) return;
    csaw__device_negatives_free(negatives->there);
    csaw__free(negatives->upto);
    csaw__free(negatives);
}

static csaw_status draw_here(const csaw_negatives *n, const csaw__negative_request *r, csaw__negative_faults *faults) {
    const int threads = n->options.threads ? n->options.threads : csaw__max_threads();
    unsigned long long without = UINT64_MAX;
    csaw__watch *const watch = csaw__watching();
    (void)threads; /* of a build without OpenMP */
    for (uint64_t i = 0; i < r->count; i++) {
        if (r->src[i] < n->law.num_vertices) continue;
        faults->beyond = i;
        faults->vertex = r->src[i];
        return CSAW_OK;
    }
    CSAW__OMP(parallel for num_threads(threads) schedule(dynamic, 256) reduction(min : without))
    for (uint64_t i = 0; i < r->count; i++) {
        if (csaw__stopped(watch)) continue;
        for (uint32_t j = 0; j < r->each; j++) {
            const csaw_vertex x = csaw__negative_draw(&n->law, r->seed, r->first + i, r->src[i], j);
            if (x == CSAW_NONE && i < without) without = i;
            r->dst[i * r->each + j] = x;
        }
    }
    CSAW_TRY(csaw__go_on());
    faults->without = without;
    if (without != UINT64_MAX) faults->vertex = r->src[without];
    return CSAW_OK;
}

csaw_status csaw_negatives_draw(const csaw_negatives *n, uint64_t seed, uint64_t first, const csaw_vertex *src,
                                uint64_t count, uint32_t each, csaw_vertex *dst) {
    const csaw__negative_request request = {src, dst, seed, first, count, each};
    csaw__negative_faults faults = {UINT64_MAX, UINT64_MAX, CSAW_NONE};
    CSAW_REQUIRE(n && ((src && (dst || !each)) || !count), CSAW_EINVAL,
                 "csaw_negatives_draw needs negatives, src and dst; one is NULL");
    CSAW_REQUIRE(count <= CSAW_MAX_INSTANCES && first <= CSAW_MAX_INSTANCES - count, CSAW_EINVAL,
                 "numbers %llu and the %llu after it are beyond 2^40; begin at 0 with another seed", (number)first,
                 (number)count);
    CSAW_REQUIRE(!n->there || !each || count <= ((uint64_t)1 << 39) / each, CSAW_EINVAL,
                 "%llu sources with %u negatives each are more than the 2^39 that a GPU draws in a call; split them",
                 (number)count, each);
    CSAW_TRY(n->there ? csaw__device_negatives_draw(n->there, &request, &faults) : draw_here(n, &request, &faults));
    CSAW_REQUIRE(faults.beyond == UINT64_MAX, CSAW_EINVAL,
                 "src[%llu] is vertex %u, but the graph has %llu vertices; leave it out or load the right graph",
                 faults.beyond, faults.vertex, (number)n->law.num_vertices);
    CSAW_REQUIRE(faults.without == UINT64_MAX, CSAW_EINVAL,
                 "src[%llu] is vertex %u, and no vertex is a negative for it: it has an arc to every other one of the "
                 "%llu%s; leave it out, or set any",
                 faults.without, faults.vertex, (number)n->law.num_vertices,
                 n->options.power > 0 ? " that has a degree" : "");
    return CSAW_OK;
}
