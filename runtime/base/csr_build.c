/* SPDX-License-Identifier: MIT */
/* runtime/base/csr_build.c - edge list -> CSR, in parallel, stable, the same for any number of threads.
 *
 * 1. Arcs are distributed to buckets of consecutive rows. Each thread takes a contiguous part of the list and knows,
 *    from a count made before, where its arcs of each bucket begin: so a bucket holds its arcs in input order.
 * 2. One thread turns a bucket into rows by a counting sort, sorts every row by destination with a stable merge sort,
 *    and merges arcs that are alike. The bucket's own part of the distributed arcs, read by then, is the scratch space.
 * 3. Buckets move together, closing the gaps that merged arcs left.
 *
 * Buckets of about m / 512 arcs keep the counting sort within a cache, where one counting sort of the whole graph
 * would miss on every arc. Beyond the input it takes 12 bytes an arc, 8 more with weights;
 * 4 more with types or times, and 8 and 16 more for these themselves. */
#include "runtime/base/csr_build.h"

#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/row_merge.h"
#include "runtime/base/row_sort.h"
#include "runtime/base/watch.h"

#include <float.h>
#include <string.h>

enum { MAX_BUCKETS = 512 };

typedef struct builder {
    const csaw__edge_segment *segments;
    uint64_t num_segments, num_vertices;
    csaw__watch *watch; /* looked at for each segment and each bucket */
    bool undirected, keep_loops, keep_duplicates;
    bool team;      /* enough work for several threads */
    uint32_t shift; /* bucket of a row = row >> shift */
    uint64_t num_buckets, num_groups;
    uint64_t *place;      /* [num_groups, num_buckets]: where a group's next arc of a bucket goes */
    uint64_t *begin;      /* [num_buckets + 1]: arcs of a bucket as distributed */
    uint64_t *kept;       /* [num_buckets + 1]: arcs left after merging, then where they begin */
    csaw_vertex *from;    /* [num_arcs] sources as distributed; later scratch */
    csaw__columns spread; /* [num_arcs] the arcs as distributed; later scratch */
    uint32_t *scratch;    /* [num_arcs] if arcs have types or times */
    csaw_edge *rowptr;    /* [num_vertices + 1] */
    csaw__columns arcs;   /* [num_arcs] row by row */
} builder;

static inline csaw__columns columns_of_segment(const csaw__edge_segment *segment) {
    return (csaw__columns){(csaw_vertex *)segment->dst, (float *)segment->weight, (uint32_t *)segment->type,
                           (int64_t *)segment->time};
}

/* Calls ARC(row, destination, edge) for every arc of a group, in input order. */
#define FOR_ARCS(B, GROUP, ARC)                                               \
    for (uint64_t s = (B)->num_segments * (GROUP) / (B)->num_groups,          \
                  last = (B)->num_segments * ((GROUP) + 1) / (B)->num_groups; \
         s < last; s++) {                                                     \
        const csaw__edge_segment segment = (B)->segments[s];                  \
        if (csaw__stopped((B)->watch)) break;                                 \
        const csaw__columns edges = columns_of_segment(&segment);             \
        (void)edges;                                                          \
        for (uint64_t i = 0; i < segment.count; i++) {                        \
            csaw_vertex u = segment.src[i], v = segment.dst[i];               \
            if (u == v && !(B)->keep_loops) continue;                         \
            ARC(u, v, i);                                                     \
            if ((B)->undirected && u != v) ARC(v, u, i);                      \
        }                                                                     \
    }

static void count_group(builder *b, uint64_t group) {
    uint64_t *count = b->place + group * b->num_buckets;
#define COUNT(ROW, TO, EDGE) count[(ROW) >> b->shift]++
    FOR_ARCS(b, group, COUNT)
#undef COUNT
}

static void distribute_group(builder *b, uint64_t group) {
    uint64_t *place = b->place + group * b->num_buckets;
#define PLACE(ROW, TO, EDGE)                                     \
    do {                                                         \
        uint64_t at = place[(ROW) >> b->shift]++;                \
        b->from[at] = (ROW);                                     \
        csaw__columns_put(&b->spread, at, (TO), &edges, (EDGE)); \
    } while (0)
    FOR_ARCS(b, group, PLACE)
#undef PLACE
}

/* From counts to places: bucket by bucket, and in a bucket group by group. */
static void counts_to_places(builder *b) {
    uint64_t sum = 0;
    for (uint64_t bucket = 0; bucket < b->num_buckets; bucket++) {
        b->begin[bucket] = sum;
        for (uint64_t group = 0; group < b->num_groups; group++) {
            uint64_t *place = b->place + group * b->num_buckets + bucket, count = *place;
            *place = sum;
            sum += count;
        }
    }
    b->begin[b->num_buckets] = sum;
}

/* Parallel arcs of an ascending row become one, weights added in double in input order; returns how many are left. */
static uint64_t merge_row(csaw_vertex *to_col, float *to_weight, const csaw_vertex *col, const float *weight,
                          uint64_t length, bool *beyond) {
    uint64_t left = 0;
    for (uint64_t i = 0, next; i < length; i = next, left++) {
        double sum = weight ? weight[i] : 0;
        for (next = i + 1; next < length && col[next] == col[i]; next++)
            if (weight) sum += weight[next];
        to_col[left] = col[i];
        if (weight) to_weight[left] = csaw__merged_weight(sum, beyond);
    }
    return left;
}

/* Sorts and merges the row at arcs[row ..] and leaves it at arcs[to ..]; returns how many arcs are left. */
static uint64_t build_row(builder *b, uint64_t row, uint64_t length, uint64_t to, bool *beyond) {
    const csaw__columns arcs = csaw__columns_from(b->arcs, row), spare = csaw__columns_from(b->spread, row);
    const csaw__columns target = csaw__columns_from(b->arcs, to);
    if (b->scratch)
        return csaw__merge_row(&target, &arcs, &spare, b->from + row, b->scratch + row, length, !b->keep_duplicates,
                               beyond);
    csaw__sort_row(arcs.dst, arcs.weight, spare.dst, spare.weight, length);
    return b->keep_duplicates ? length : merge_row(target.dst, target.weight, arcs.dst, arcs.weight, length, beyond);
}

/* Leaves the length of each row in rowptr and the rows close together from begin[bucket] on. Returns the first row that
 * is too long, or num_vertices; *beyond: the first with a weight that no float holds, if that is before it. */
static uint64_t build_bucket(builder *b, uint64_t bucket, uint64_t *beyond) {
    const uint64_t first = bucket << b->shift, begin = b->begin[bucket], end = b->begin[bucket + 1];
    const uint64_t next = (bucket + 1) << b->shift, last = next < b->num_vertices ? next : b->num_vertices;
    csaw_edge *rowptr = b->rowptr;
    memset(rowptr + first, 0, (last - first) * sizeof *rowptr);
    for (uint64_t e = begin; e < end; e++) rowptr[b->from[e]]++;
    uint64_t sum = begin;
    for (uint64_t v = first; v < last; v++) {
        uint64_t length = rowptr[v];
        if (length > CSAW__MAX_DEGREE) return v;
        rowptr[v] = sum;
        sum += length;
    }
    for (uint64_t e = begin; e < end; e++) {
        uint64_t at = rowptr[b->from[e]]++; /* so that rowptr[v] ends up as the end of row v */
        csaw__columns_put(&b->arcs, at, b->spread.dst[e], &b->spread, e);
    }
    uint64_t row = begin, to = begin;
    for (uint64_t v = first; v < last; v++) {
        bool is_beyond = false;
        uint64_t left = build_row(b, row, rowptr[v] - row, to, &is_beyond);
        if (is_beyond && v < *beyond) *beyond = v;
        row = rowptr[v];
        rowptr[v] = left;
        to += left;
    }
    b->kept[bucket] = to - begin;
    return b->num_vertices;
}

/* From lengths to offsets, and the rows of a bucket to their final place. */
static void close_bucket(builder *b, uint64_t bucket, const csaw__columns *arcs) {
    const uint64_t next = (bucket + 1) << b->shift, last = next < b->num_vertices ? next : b->num_vertices;
    uint64_t sum = b->kept[bucket], count = b->kept[bucket + 1] - sum;
    if (arcs->dst != b->arcs.dst) {
        const csaw__columns from = csaw__columns_from(b->arcs, b->begin[bucket]), to = csaw__columns_from(*arcs, sum);
        csaw__columns_copy(&to, &from, count);
    }
    for (uint64_t v = bucket << b->shift; v < last; v++) {
        uint64_t length = b->rowptr[v];
        b->rowptr[v] = sum;
        sum += length;
    }
}

static csaw_status build_rows(builder *b) {
    uint64_t too_long = b->num_vertices, beyond = b->num_vertices;
    CSAW__OMP(parallel for schedule(dynamic, 1) reduction(min : too_long, beyond) if (b->team))
    for (uint64_t bucket = 0; bucket < b->num_buckets; bucket++) {
        if (csaw__stopped(b->watch)) continue;
        uint64_t v = build_bucket(b, bucket, &beyond);
        if (v < too_long) too_long = v;
    }
    CSAW_REQUIRE(too_long == b->num_vertices, CSAW_EINVAL,
                 "vertex %llu has more than %llu arcs, the most that a row holds; merge parallel edges beforehand",
                 (unsigned long long)too_long, CSAW__MAX_DEGREE);
    CSAW_REQUIRE(beyond == b->num_vertices, CSAW_EINVAL,
                 "the weights of parallel edges of vertex %llu add up to more than %g, the largest weight; scale the "
                 "weights, or keep parallel edges apart (keep_duplicates)",
                 (unsigned long long)beyond, (double)FLT_MAX);
    CSAW_TRY(csaw__go_on());
    uint64_t sum = 0;
    for (uint64_t bucket = 0; bucket <= b->num_buckets; bucket++) {
        uint64_t count = bucket < b->num_buckets ? b->kept[bucket] : 0;
        b->kept[bucket] = sum;
        sum += count;
    }
    b->rowptr[b->num_vertices] = sum;
    return CSAW_OK;
}

static csaw_status close_rows(builder *b, uint32_t columns) {
    csaw__columns arcs = b->arcs;
    uint64_t num_edges = b->kept[b->num_buckets];
    if (num_edges < b->begin[b->num_buckets]) CSAW_TRY(csaw__columns_alloc(columns, num_edges, &arcs));
    CSAW__OMP(parallel for schedule(dynamic, 1) if (b->team))
    for (uint64_t bucket = 0; bucket < b->num_buckets; bucket++)
        if (!csaw__stopped(b->watch)) close_bucket(b, bucket, &arcs);
    if (arcs.dst != b->arcs.dst) csaw__columns_free(&b->arcs);
    b->arcs = arcs;
    return csaw__go_on();
}

/* Is the work worth several threads? */
static bool is_large(const builder *b) {
    uint64_t items = b->num_vertices;
    for (uint64_t s = 0; s < b->num_segments; s++) items += b->segments[s].count;
    return csaw__is_long(items);
}

csaw_status csaw__csr_build(const csaw__edge_segment *segments, uint64_t num_segments, uint64_t num_vertices,
                            uint32_t columns, const csaw_load_options *options, csaw_csr *out) {
    builder b = {.segments = segments, .num_segments = num_segments, .num_vertices = num_vertices};
    csaw_status status = CSAW_OK;
    b.undirected = options->undirected;
    b.keep_loops = options->keep_loops;
    b.keep_duplicates = options->keep_duplicates;
    b.team = is_large(&b);
    b.watch = csaw__watching();
    while (num_vertices >> b.shift > MAX_BUCKETS) b.shift++;
    b.num_buckets = (num_vertices + ((uint64_t)1 << b.shift) - 1) >> b.shift;
    b.num_groups = (uint64_t)csaw__max_threads();
    CSAW_TRY_DONE(csaw__alloc_zero(&b.place, b.num_groups * b.num_buckets, "counts of arcs"));
    CSAW_TRY_DONE(csaw__alloc(&b.begin, b.num_buckets + 1, "counts of arcs"));
    CSAW_TRY_DONE(csaw__alloc(&b.kept, b.num_buckets + 1, "counts of arcs"));
    CSAW__OMP(parallel for schedule(static, 1) if (b.team))
    for (uint64_t group = 0; group < b.num_groups; group++) count_group(&b, group);
    CSAW_TRY_DONE(csaw__go_on());
    counts_to_places(&b);
    uint64_t num_arcs = b.begin[b.num_buckets];
    CSAW_TRY_DONE(csaw__alloc(&b.from, num_arcs, "the arcs of an edge list"));
    CSAW_TRY_DONE(csaw__columns_alloc(columns, num_arcs, &b.spread));
    CSAW__OMP(parallel for schedule(static, 1) if (b.team))
    for (uint64_t group = 0; group < b.num_groups; group++) distribute_group(&b, group);
    CSAW_TRY_DONE(csaw__go_on());
    CSAW_TRY_DONE(csaw__alloc(&b.rowptr, num_vertices + 1, "the row offsets of a graph"));
    CSAW_TRY_DONE(csaw__columns_alloc(columns, num_arcs, &b.arcs));
    if (columns & (CSAW__TYPE | CSAW__TIME)) CSAW_TRY_DONE(csaw__alloc(&b.scratch, num_arcs, "the order of arcs"));
    CSAW_TRY_DONE(build_rows(&b));
    csaw__free(b.scratch);
    csaw__free(b.from);
    csaw__columns_free(&b.spread);
    b.scratch = b.from = NULL;
    CSAW_TRY_DONE(close_rows(&b, columns));
    *out = (csaw_csr){.num_vertices = num_vertices,
                      .num_edges = b.rowptr[num_vertices],
                      .rowptr = b.rowptr,
                      .col = b.arcs.dst,
                      .weight = b.arcs.weight,
                      .type = b.arcs.type,
                      .time = b.arcs.time};
    b.rowptr = NULL;
    b.arcs = (csaw__columns){0};
done:
    csaw__columns_free(&b.arcs);
    csaw__columns_free(&b.spread);
    csaw__free(b.rowptr);
    csaw__free(b.scratch);
    csaw__free(b.from);
    csaw__free(b.kept);
    csaw__free(b.begin);
    csaw__free(b.place);
    return status;
}
