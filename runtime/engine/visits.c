/* SPDX-License-Identifier: MIT */
/* runtime/engine/visits.c - neighbours by visit counts: walks from each seed, their vertices sorted and counted, the
 * most frequent kept.
 *
 * Source: Ying, He, Chen, Eksombatchai, Hamilton, Leskovec, "Graph convolutional neural networks for web-scale
 * recommender systems", KDD 2018, section 3.2 (importance-based neighbourhoods). */
#include "runtime/base/graph.h"
#include "runtime/base/grow.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/run.h"
#include "runtime/engine/subgraph.h"
#include "runtime/engine/training.h"

struct csaw_visits {
    uint64_t num_seeds;
    uint64_t *offset; /* arrays as in csaw_visits_view, owned */
    csaw_vertex *vertex;
    uint32_t *count;
    float *weight;
    uint64_t vertex_room, count_room, weight_room;
};

/* Seeds are worked on in chunks of about so many places of walks. */
static const uint64_t chunk_places = (uint64_t)1 << 21;

typedef struct counting {
    csaw_plan *plan;
    csaw_visit_options options;
    const csaw_vertex *seed; /* NULL = every vertex */
    uint64_t num_seeds;
    uint64_t chunk;    /* seeds of one */
    csaw_vertex *root; /* [chunk, walks]: each seed so often; walk number w begins at place w mod their count */
    uint64_t *visit;   /* [chunk, walks, depth] */
    uint64_t *kept;    /* [chunk] */
} counting;

static csaw_vertex seed_of(const counting *c, uint64_t i) { return c->seed ? c->seed[i] : (csaw_vertex)i; }

/* Of one seed: visits, each a vertex, become entries (2^32 - 1 - count) << 32 | vertex, in their order; how many. */
static uint64_t count_visits(uint64_t *visit, uint64_t count) {
    uint64_t different = 0;
    csaw__sort_arcs(NULL, visit, count);
    for (uint64_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && visit[end] == visit[i];) end++;
        visit[different++] = (UINT32_MAX - (end - i)) << 32 | visit[i];
    }
    csaw__sort_arcs(NULL, visit, different);
    return different;
}

/* Seeds first .. first + count - 1. */
static csaw_status walk_and_count(counting *c, csaw_visits *out, uint64_t first, uint64_t count) {
    const csaw_visit_options *o = &c->options;
    const csaw_run_options run = {.size = sizeof run, .seed = o->seed, .depth = o->depth, .select = o->select};
    const uint64_t all = (uint64_t)o->walks * o->depth;
    const int threads = c->plan->threads > 0 ? c->plan->threads : 1;
    csaw_samples *samples = NULL;
    csaw_walks walks;
    csaw_status status = CSAW_OK;
    const uint64_t begin = (o->first + first) * o->walks, of_all = count * o->walks; /* walks, by their numbers */
    for (uint64_t w = 0; w < of_all; w++) c->root[(begin + w) % of_all] = seed_of(c, first + w / o->walks);
    CSAW_TRY(csaw__sample_from(c->plan, o->sampler, o->params, &(csaw_seeds){.vertex = c->root, .count = of_all}, &run,
                               begin, of_all, &samples));
    CSAW_TRY_DONE(csaw_samples_walks(samples, CSAW_HOST, &walks));
    (void)threads; /* of a build without OpenMP */
    CSAW__OMP(parallel for num_threads(threads) schedule(dynamic, 16))
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *const visit = c->visit + i * all, found = 0;
        for (uint64_t w = i * o->walks; w < (i + 1) * o->walks; w++) {
            const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
            for (uint32_t s = 1; s <= o->depth && path[s] != CSAW_NONE; s++)
                if (path[s] != path[0]) visit[found++] = path[s];
        }
        found = count_visits(visit, found);
        c->kept[i] = found < o->top ? found : o->top;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = out->offset[first + i], end = at + c->kept[i], *visit = c->visit + i * all;
        double sum = 0; /* of whole numbers below 2^53: exact */
        CSAW_TRY_DONE(CSAW__GROW(&out->vertex, &out->vertex_room, end, "neighbours by visits"));
        CSAW_TRY_DONE(CSAW__GROW(&out->count, &out->count_room, end, "neighbours by visits"));
        CSAW_TRY_DONE(CSAW__GROW(&out->weight, &out->weight_room, end, "neighbours by visits"));
        for (uint64_t k = at; k < end; k++) {
            out->vertex[k] = (csaw_vertex)visit[k - at];
            out->count[k] = UINT32_MAX - (uint32_t)(visit[k - at] >> 32);
            sum += out->count[k];
        }
        for (uint64_t k = at; k < end; k++) out->weight[k] = (float)(out->count[k] / sum);
        out->offset[first + i + 1] = end;
    }
done:
    csaw_samples_free(samples);
    return status;
}

static csaw_status tell(const counting *c, uint64_t done) {
    const csaw_visit_options *o = &c->options;
    if (!o->progress) return CSAW_OK;
    c->plan->busy = true;
    const bool go_on = o->progress(o->user, done, c->num_seeds);
    c->plan->busy = false;
    CSAW_REQUIRE(go_on, CSAW_ESTOPPED, "stopped by the progress callback after %llu of %llu seeds",
                 (unsigned long long)done, (unsigned long long)c->num_seeds);
    return CSAW_OK;
}

static csaw_status check(counting *c, const csaw_seeds *seeds) {
    csaw_visit_options *o = &c->options;
    if (!o->sampler) o->sampler = &csaw_restart;
    if (!o->walks) o->walks = 10;
    if (!o->depth) o->depth = 10;
    if (!o->top) o->top = 10;
    CSAW_REQUIRE(o->depth < CSAW_MAX_DEPTH, CSAW_EINVAL, "depth is %u; walks have at most 2^24 - 1 = 16777215 steps",
                 o->depth);
    CSAW_REQUIRE((uint64_t)o->walks * o->depth < UINT32_MAX, CSAW_EINVAL,
                 "%u walks of %u steps from each seed are more than the 2^32 - 2 visits that can be counted; lower one",
                 o->walks, o->depth);
    CSAW_REQUIRE(!seeds || !seeds->offset, CSAW_EINVAL,
                 "neighbours by visits are those of single vertices; give seeds without offset");
    CSAW_TRY(csaw__seeds_check(c->plan, seeds));
    c->seed = seeds ? seeds->vertex : NULL;
    c->num_seeds = seeds ? seeds->count : c->plan->graph->csr.num_vertices;
    const uint64_t most = CSAW_MAX_INSTANCES / o->walks;
    CSAW_REQUIRE(c->num_seeds <= most && o->first <= most - c->num_seeds, CSAW_EINVAL,
                 "%llu seeds from number %llu on, %u walks from each, are beyond 2^40 walks; begin at 0 with another "
                 "seed of the random numbers",
                 (unsigned long long)c->num_seeds, (unsigned long long)o->first, o->walks);
    return CSAW_OK;
}

csaw_status csaw_visits_create(csaw_plan *plan, const csaw_seeds *seeds, const csaw_visit_options *given,
                               csaw_visits **out) {
    counting c = {.plan = plan};
    csaw_visits *v = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(plan && out, CSAW_EINVAL, "csaw_visits_create needs a plan and a place for the visits; one is NULL");
    CSAW_TRY(csaw__plan_check_alone(plan, "csaw_visits_create"));
    CSAW_TRY(csaw__plan_check_lent(plan));
    CSAW_OPTIONS(csaw_visit_options, given, options)
    c.options = options;
    CSAW_TRY(check(&c, seeds));
    const uint64_t of_one = (uint64_t)c.options.walks * (c.options.depth + 1);
    c.chunk = of_one < chunk_places ? chunk_places / of_one : 1;
    if (c.chunk > c.num_seeds) c.chunk = c.num_seeds;
    CSAW_TRY_DONE(csaw__alloc_zero(&v, 1, "neighbours by visits"));
    CSAW_TRY_DONE(csaw__alloc_zero(&v->offset, c.num_seeds + 1, "neighbours by visits"));
    CSAW_TRY_DONE(csaw__alloc(&c.root, c.chunk * c.options.walks, "roots of walks"));
    CSAW_TRY_DONE(csaw__alloc(&c.visit, c.chunk * c.options.walks * c.options.depth, "visits"));
    CSAW_TRY_DONE(csaw__alloc(&c.kept, c.chunk, "visits"));
    v->num_seeds = c.num_seeds;
    CSAW_TRY_DONE(tell(&c, 0));
    for (uint64_t first = 0, done; first < c.num_seeds; first = done) {
        done = c.num_seeds - first < c.chunk ? c.num_seeds : first + c.chunk;
        CSAW_TRY_DONE(walk_and_count(&c, v, first, done - first));
        CSAW_TRY_DONE(tell(&c, done));
    }
    *out = v;
    v = NULL;
done:
    csaw__free(c.root);
    csaw__free(c.visit);
    csaw__free(c.kept);
    csaw_visits_free(v);
    return status;
}

csaw_visits_view csaw_visits_look(const csaw_visits *v) {
    return (csaw_visits_view){v->num_seeds, v->offset, v->vertex, v->count, v->weight};
}

void csaw_visits_free(csaw_visits *visits) {
    if (!visits) return;
    csaw__free(visits->offset);
    csaw__free(visits->vertex);
    csaw__free(visits->count);
    csaw__free(visits->weight);
    csaw__free(visits);
}
