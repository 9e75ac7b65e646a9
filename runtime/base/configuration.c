/* SPDX-License-Identifier: MIT */
/* runtime/base/configuration.c - the configuration model: every vertex has as many stubs as its degree says, and all
 * pairings of stubs are equally likely. Source: Molloy, Reed, "A critical point for random graphs with a given degree
 * sequence", Random Structures & Algorithms 6, 1995.
 *
 * Neighbours in a random permutation of the stubs are a random pairing. The permutation in parallel: every stub goes to
 * a random bucket, and buckets are shuffled one by one (Rao, "Generation of random permutation of given number of
 * elements", Sankhya A 23, 1961; Sandelius 1962), which is exact. By place, purpose 7 of csaw/philox.h:
 *   depth 2   instance = stub: its bucket
 *   depth 3   instance = place after distribution: its swap (Fisher, Yates) */
#include "runtime/base/csr_build.h"
#include "runtime/base/generate_weights.h"
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <csaw/philox.h>
#include <string.h>

enum { DRAW_BUCKET = 2, DRAW_SWAP = 3, NUM_GROUPS = 64, MAX_BUCKETS = 1024, BUCKET_STUBS = 1 << 14, STRETCH = 1 << 16 };

typedef unsigned long long number;

typedef struct shuffle {
    uint64_t seed, count;
    csaw_vertex *from, *to; /* [count] stubs in order; shuffled */
    uint64_t num_buckets;
    uint64_t *place; /* [NUM_GROUPS, num_buckets]: where a group's next stub of a bucket goes */
    uint64_t *begin; /* [num_buckets + 1] */
} shuffle;

static uint64_t bucket_of(const shuffle *s, uint64_t stub) {
    csaw_block block = csaw_draw(s->seed, stub, DRAW_BUCKET, 0, CSAW_DRAW_GENERATE, 0);
    return csaw_below(csaw_half(&block, 0), s->num_buckets);
}

/* From counts to places: bucket by bucket, and in a bucket group by group. */
static void counts_to_places(shuffle *s) {
    uint64_t sum = 0;
    for (uint64_t bucket = 0; bucket < s->num_buckets; bucket++) {
        s->begin[bucket] = sum;
        for (uint64_t group = 0; group < NUM_GROUPS; group++) {
            uint64_t *at = &s->place[group * s->num_buckets + bucket], count = *at;
            *at = sum;
            sum += count;
        }
    }
    s->begin[s->num_buckets] = sum;
}

static void shuffle_bucket(const shuffle *s, uint64_t begin, uint64_t end) {
    for (uint64_t i = end; i-- > begin + 1;) {
        csaw_block block = csaw_draw(s->seed, i, DRAW_SWAP, 0, CSAW_DRAW_GENERATE, 0);
        uint64_t other = begin + csaw_below(csaw_half(&block, 0), i - begin + 1);
        csaw_vertex stub = s->to[i];
        s->to[i] = s->to[other];
        s->to[other] = stub;
    }
}

static csaw_status shuffle_stubs(shuffle *s) {
    csaw__watch *const watch = csaw__watching();
    csaw_status status = CSAW_OK;
    s->num_buckets = s->count / BUCKET_STUBS + 1 < MAX_BUCKETS ? s->count / BUCKET_STUBS + 1 : MAX_BUCKETS;
    CSAW_TRY_DONE(csaw__alloc_zero(&s->place, NUM_GROUPS * s->num_buckets, "counts of stubs"));
    CSAW_TRY_DONE(csaw__alloc(&s->begin, s->num_buckets + 1, "counts of stubs"));
    CSAW__OMP(parallel for schedule(dynamic, 1))
    for (uint64_t group = 0; group < NUM_GROUPS; group++) {
        if (csaw__stopped(watch)) continue;
        for (uint64_t i = s->count * group / NUM_GROUPS; i < s->count * (group + 1) / NUM_GROUPS; i++)
            s->place[group * s->num_buckets + bucket_of(s, i)]++;
    }
    CSAW_TRY_DONE(csaw__go_on());
    counts_to_places(s);
    CSAW__OMP(parallel for schedule(dynamic, 1))
    for (uint64_t group = 0; group < NUM_GROUPS; group++) {
        if (csaw__stopped(watch)) continue;
        for (uint64_t i = s->count * group / NUM_GROUPS; i < s->count * (group + 1) / NUM_GROUPS; i++)
            s->to[s->place[group * s->num_buckets + bucket_of(s, i)]++] = s->from[i];
    }
    CSAW__OMP(parallel for schedule(dynamic, 1))
    for (uint64_t bucket = 0; bucket < s->num_buckets; bucket++)
        if (!csaw__stopped(watch)) shuffle_bucket(s, s->begin[bucket], s->begin[bucket + 1]);
    status = csaw__go_on();
done:
    csaw__free(s->begin);
    csaw__free(s->place);
    return status;
}

static csaw_status check(const csaw_random_graph_options *o, uint64_t *stubs) {
    *stubs = 0;
    CSAW_REQUIRE(o->degree || o->num_degrees == 0, CSAW_EINVAL,
                 "degree is NULL, but num_degrees is %llu; pass one degree per vertex", (number)o->num_degrees);
    CSAW_REQUIRE(!o->num_vertices && !o->num_edges, CSAW_EINVAL,
                 "num_vertices or num_edges was given, but degrees decide them here; leave them 0");
    CSAW_REQUIRE(!o->directed, CSAW_EINVAL,
                 "a directed graph was asked for, but the configuration model is undirected; "
                 "leave directed out");
    CSAW_REQUIRE(o->num_degrees <= CSAW__MAX_VERTICES, CSAW_EINVAL,
                 "num_degrees is %llu, but a graph holds at most %llu vertices; pass fewer", (number)o->num_degrees,
                 CSAW__MAX_VERTICES);
    for (uint64_t v = 0; v < o->num_degrees; v++) *stubs += o->degree[v];
    CSAW_REQUIRE(*stubs % 2 == 0, CSAW_EINVAL,
                 "the sum of the degrees is %llu, but every edge takes two, so it must be even; change one degree by 1",
                 (number)*stubs);
    CSAW_REQUIRE(*stubs <= CSAW_MAX_INSTANCES, CSAW_EINVAL,
                 "the sum of the degrees is %llu, but at most 2^40; lower them", (number)*stubs);
    return CSAW_OK;
}

/* Stubs 2i and 2i + 1 of the permutation are an edge. `pairs` takes sources, then destinations. */
static csaw_status build(const csaw_random_graph_options *options, const csaw_vertex *stubs, csaw_vertex *pairs,
                         uint64_t count, csaw_csr *csr) {
    csaw__edge_segment *segments = NULL;
    const uint64_t num_segments = (count + STRETCH - 1) / STRETCH;
    CSAW__OMP(parallel for)
    for (uint64_t i = 0; i < count; i++) {
        pairs[i] = stubs[2 * i];
        pairs[count + i] = stubs[2 * i + 1];
    }
    CSAW_TRY(csaw__alloc(&segments, num_segments, "the edges of a random graph"));
    for (uint64_t s = 0; s < num_segments; s++) {
        uint64_t first = s * STRETCH, left = count - first;
        segments[s] = (csaw__edge_segment){
            .src = pairs + first, .dst = pairs + count + first, .count = left < STRETCH ? left : STRETCH};
    }
    csaw_status status =
        csaw__csr_build(segments, num_segments, options->num_degrees, 0, &(csaw_load_options){.undirected = true}, csr);
    csaw__free(segments);
    return status;
}

csaw_status csaw_graph_configuration(const csaw_random_graph_options *given, csaw_graph **out) {
    CSAW_REQUIRE(out, CSAW_EINVAL, "csaw_graph_configuration needs a place for the graph; out is NULL");
    shuffle s = {0};
    csaw_csr csr = {0};
    csaw_status status = CSAW_OK;
    CSAW_OPTIONS(csaw_random_graph_options, given, options);
    CSAW_TRY(check(&options, &s.count));
    s.seed = options.seed;
    CSAW_TRY_DONE(csaw__alloc(&s.from, s.count, "the stubs of a random graph"));
    CSAW_TRY_DONE(csaw__alloc(&s.to, s.count, "the stubs of a random graph"));
    for (uint64_t v = 0, at = 0; v < options.num_degrees; v++)
        for (uint32_t d = 0; d < options.degree[v]; d++) s.from[at++] = (csaw_vertex)v;
    CSAW_TRY_DONE(shuffle_stubs(&s));
    CSAW_TRY_DONE(build(&options, s.to, s.from, s.count / 2, &csr));
    if (options.weighted) CSAW_TRY_DONE(csaw__generate_weights(options.seed, &csr));
    CSAW_TRY_DONE(csaw__graph_adopt(&csr, true, out));
    csr = (csaw_csr){0};
done:
    csaw__csr_free(&csr);
    csaw__free(s.to);
    csaw__free(s.from);
    return status;
}
