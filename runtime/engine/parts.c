/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts.c - walks on a partitioned graph, on the CPU: walkers queue at the partition that holds their
 * vertex, and a second-order step asks the partition that holds prev which candidates are prev's neighbours.
 *
 * Each partition has arrays of its own, exactly as long as its rows, so that reading beyond it is an error a sanitizer
 * sees. The picks are those of the whole graph, since a draw depends on instance, depth and vertex alone; a step that
 * had to wait for an answer is taken up again where it stopped (DESIGN of partitions: C-SAW, SC'20, section V). */
#include <string.h>

#include "partition/ranges.h"
#include "runtime/base/memory.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/plan.h"

typedef struct part {
    csaw__rows rows;
    uint64_t *offset;
    csaw_vertex *col;
    float *weight;
    uint32_t *type;
    int64_t *time;
    csaw__alias *alias;
    csaw__row_bias *bias;
} part;

struct csaw__parts {
    csaw__ranges ranges;
    uint32_t *degree; /* [num_vertices], known everywhere */
    part *part;       /* [ranges.count] */
};

/* Copies array[first .. first + count - 1]. */
#define COPY(OUT, ARRAY, FIRST, COUNT, WHAT) \
    copy_part((void **)(OUT), (ARRAY) + (FIRST), (COUNT), sizeof *(ARRAY), WHAT)
static csaw_status copy_part(void **out, const void *from, uint64_t count, uint64_t size, const char *what) {
    CSAW_TRY(csaw__alloc_bytes(out, count, size, what));
    if (count) memcpy(*out, from, count * size);
    return CSAW_OK;
}

static csaw_status part_create(const csaw_csr *csr, csaw_vertex first, csaw_vertex count, part *out) {
    const csaw_edge row = csr->rowptr[first], arcs = csr->rowptr[first + count] - row;
    out->rows = (csaw__rows){.first_arc = row, .first = first, .count = count, .wide = 1};
    CSAW_TRY(csaw__alloc(&out->offset, (uint64_t)count + 1, "rows of a partition"));
    for (uint64_t i = 0; i <= count; i++) out->offset[i] = csr->rowptr[first + i] - row;
    CSAW_TRY(COPY(&out->col, csr->col, row, arcs, "arcs of a partition"));
    if (csr->weight) CSAW_TRY(COPY(&out->weight, csr->weight, row, arcs, "weights of a partition"));
    if (csr->type) CSAW_TRY(COPY(&out->type, csr->type, row, arcs, "types of a partition"));
    if (csr->time) CSAW_TRY(COPY(&out->time, csr->time, row, arcs, "times of a partition"));
    out->rows.offset = out->offset;
    out->rows.col = out->col;
    out->rows.weight = out->weight;
    out->rows.type = out->type;
    out->rows.time = out->time;
    return CSAW_OK;
}

csaw_status csaw__parts_create(const csaw_graph *graph, int count, csaw__parts **out) {
    const csaw_csr *csr = &graph->csr;
    csaw__parts *parts = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&parts, 1, "a partitioned graph"));
    CSAW_TRY_DONE(csaw__ranges_create(csr, (uint32_t)count, csaw__bytes_per_arc(csr), &parts->ranges));
    CSAW_TRY_DONE(csaw__alloc_zero(&parts->part, (uint64_t)count, "partitions"));
    CSAW_TRY_DONE(csaw__alloc(&parts->degree, csr->num_vertices, "degrees"));
    for (uint64_t v = 0; v < csr->num_vertices; v++) parts->degree[v] = (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]);
    for (int p = 0; p < count; p++) {
        csaw_vertex first = parts->ranges.first[p];
        CSAW_TRY_DONE(part_create(csr, first, parts->ranges.first[p + 1] - first, &parts->part[p]));
    }
    *out = parts;
    parts = NULL;
done:
    csaw__parts_free(parts);
    return status;
}

static void drop_tables(part *part) {
    csaw__free(part->alias);
    csaw__free(part->bias);
    part->rows.alias = part->alias = NULL;
    part->rows.bias = part->bias = NULL;
}

void csaw__parts_free(csaw__parts *parts) {
    if (!parts) return;
    for (uint32_t p = 0; parts->part && p < parts->ranges.count; p++) {
        drop_tables(&parts->part[p]);
        csaw__free(parts->part[p].offset);
        csaw__free(parts->part[p].col);
        csaw__free(parts->part[p].weight);
        csaw__free(parts->part[p].type);
        csaw__free(parts->part[p].time);
    }
    csaw__free(parts->part);
    csaw__free(parts->degree);
    csaw__ranges_clear(&parts->ranges);
    csaw__free(parts);
}

/* Alias tables travel with their partition. */
static csaw_status take_tables(csaw__parts *parts, const csaw__rows *whole) {
    for (uint32_t p = 0; p < parts->ranges.count; p++) {
        part *part = &parts->part[p];
        drop_tables(part);
        if (!whole->alias) continue;
        CSAW_TRY(COPY(&part->alias, whole->alias, part->rows.first_arc, part->offset[part->rows.count],
                      "alias tables of a partition"));
        CSAW_TRY(COPY(&part->bias, whole->bias, part->rows.first, part->rows.count, "bias sums of a partition"));
        part->rows.alias = part->alias;
        part->rows.bias = part->bias;
    }
    return CSAW_OK;
}

static bool has_arc(const part *part, csaw_vertex v, csaw_vertex to) {
    uint64_t lo = part->offset[v - part->rows.first], hi = part->offset[v - part->rows.first + 1], end = hi;
    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (part->col[middle] < to)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && part->col[lo] == to;
}

void csaw__parts_answer(const csaw__parts *parts, csaw_vertex v, csaw_vertex prev, uint8_t *answer) {
    const part *here = &parts->part[csaw__range_of(&parts->ranges, v)];
    const part *there = &parts->part[csaw__range_of(&parts->ranges, prev)];
    const uint64_t row = here->offset[v - here->rows.first], end = here->offset[v - here->rows.first + 1];
    for (uint64_t i = row; i < end; i++) answer[i - row] = has_arc(there, prev, here->col[i]);
}

csaw_status csaw__parts_tables(csaw__parts *parts, const csaw__rows *whole) { return take_tables(parts, whole); }

uint32_t csaw__parts_count(const csaw__parts *parts) { return parts->ranges.count; }

uint32_t csaw__parts_of(const csaw__parts *parts, csaw_vertex v) { return csaw__range_of(&parts->ranges, v); }

csaw__job csaw__parts_job(const csaw__parts *parts, uint32_t p, const csaw__job *whole) {
    csaw__job here = *whole;
    here.rows = parts->part[p].rows;
    here.degree = parts->degree;
    here.remote = 1;
    return here;
}

/* ---- queues of walks (of samples: parts_sample.c) ---- */

/* Which of these are neighbours of prev? Goes to prev's partition with the vertices, comes back with the answers. */
typedef struct question {
    uint64_t count;
    csaw_vertex *vertex; /* [count] */
    uint8_t *answer;     /* [count] */
} question;

/* A walker stands in one queue at a time, so one link each makes all of them. */
static const uint64_t nobody = ~(uint64_t)0;
typedef struct queues {
    csaw__walker *walker; /* [num_walks] */
    question *question;   /* [num_walks] */
    uint64_t *next;       /* [num_walks] */
    uint64_t *ready;      /* [parts]: first walker that may step here */
    uint64_t *asking;     /* [parts]: first walker that asks about a prev of here */
    uint64_t active;      /* walkers in any queue */
} queues;

static void push(const queues *queues, uint64_t *queue, uint64_t walker) {
    queues->next[walker] = *queue;
    *queue = walker;
}

static uint64_t pop(const queues *queues, uint64_t *queue) {
    uint64_t walker = *queue;
    if (walker != nobody) *queue = queues->next[walker];
    return walker;
}

static void question_clear(question *q) {
    csaw__free(q->vertex);
    csaw__free(q->answer);
    *q = (question){0};
}

static void queues_clear(queues *queues, uint64_t num_walks) {
    for (uint64_t w = 0; queues->question && w < num_walks; w++) question_clear(&queues->question[w]);
    csaw__free(queues->walker);
    csaw__free(queues->question);
    csaw__free(queues->next);
    csaw__free(queues->ready);
    csaw__free(queues->asking);
}

static csaw_status queues_create(const csaw__parts *parts, const csaw__job *job, queues *out) {
    const uint32_t count = parts->ranges.count;
    CSAW_TRY(csaw__alloc(&out->walker, job->num_walks, "walkers"));
    CSAW_TRY(csaw__alloc_zero(&out->question, job->num_walks, "questions of walkers"));
    CSAW_TRY(csaw__alloc(&out->next, job->num_walks, "queues of walkers"));
    CSAW_TRY(csaw__alloc(&out->ready, count, "queues of partitions"));
    CSAW_TRY(csaw__alloc(&out->asking, count, "queues of partitions"));
    for (uint32_t p = 0; p < count; p++) out->ready[p] = out->asking[p] = nobody;
    for (uint64_t w = 0; w < job->num_walks; w++) {
        uint64_t root = (job->first + w) % job->num_roots;
        csaw_vertex v = job->roots ? job->roots[root] : (csaw_vertex)root;
        out->walker[w] = (csaw__walker){.walk = w, .at = v, .root = v, .prev = CSAW_NONE, .edge = CSAW_NO_EDGE};
        job->path[w * ((uint64_t)job->length + 1)] = v;
        if (job->length) push(out, &out->ready[csaw__range_of(&parts->ranges, v)], w);
    }
    out->active = job->length ? job->num_walks : 0;
    return CSAW_OK;
}

/* ---- one walker at its partition ---- */

static csaw_status ask(const csaw__parts *parts, queues *queues, uint64_t w, enum csaw__outcome outcome,
                       const part *here) {
    csaw__walker *walker = &queues->walker[w];
    question *q = &queues->question[w];
    const csaw_vertex local = walker->at - here->rows.first;
    const csaw_vertex *row = outcome == CSAW__ASK_ROW ? here->col + here->offset[local] : &walker->asked;
    question_clear(q);
    q->count = outcome == CSAW__ASK_ROW ? here->offset[local + 1] - here->offset[local] : 1;
    CSAW_TRY(copy_part((void **)&q->vertex, row, q->count, sizeof *row, "a question to another partition"));
    CSAW_TRY(csaw__alloc(&q->answer, q->count, "answers from another partition"));
    push(queues, &queues->asking[csaw__range_of(&parts->ranges, walker->prev)], w);
    return CSAW_OK;
}

static void record(const csaw__job *job, const csaw__walker *walker) {
    job->path[walker->walk * ((uint64_t)job->length + 1) + walker->depth] = walker->at;
    if (job->edge) job->edge[walker->walk * job->length + walker->depth - 1] = walker->edge;
}

/* Steps until the walker leaves the partition, asks, or is done. */
static csaw_status run_walker(const csaw__parts *parts, queues *queues, const csaw_sampler *sampler,
                              const csaw__job *job, uint32_t p, uint64_t w, csaw__fault *fault) {
    csaw__walker *walker = &queues->walker[w];
    question *q = &queues->question[w];
    for (;;) {
        int outcome = sampler->step(job, walker, q->count ? q->answer : NULL, fault);
        if (outcome == CSAW__ASK_ARC || outcome == CSAW__ASK_ROW)
            return ask(parts, queues, w, (enum csaw__outcome)outcome, &parts->part[p]);
        question_clear(q);
        record(job, walker);
        while (walker->at == CSAW_NONE && walker->depth < job->length) { /* ended: pad */
            walker->depth++;
            walker->edge = CSAW_NO_EDGE;
            record(job, walker);
        }
        if (walker->depth == job->length) {
            queues->active--;
            return CSAW_OK;
        }
        uint32_t owner = csaw__range_of(&parts->ranges, walker->at);
        if (owner != p) {
            push(queues, &queues->ready[owner], w);
            return CSAW_OK;
        }
    }
}

static void answer_all(const csaw__parts *parts, queues *queues, uint32_t p) {
    for (uint64_t w; (w = pop(queues, &queues->asking[p])) != nobody;) {
        question *q = &queues->question[w];
        for (uint64_t i = 0; i < q->count; i++)
            q->answer[i] = has_arc(&parts->part[p], queues->walker[w].prev, q->vertex[i]);
        push(queues, &queues->ready[csaw__range_of(&parts->ranges, queues->walker[w].at)], w);
    }
}

csaw_status csaw__parts_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, csaw__fault *fault) {
    csaw__parts *parts = plan->parts;
    queues queues = {0};
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(take_tables(parts, &job->rows));
    CSAW_TRY_DONE(queues_create(parts, job, &queues));
    while (queues.active) {
        for (uint32_t p = 0; p < parts->ranges.count; p++) {
            const csaw__job here = csaw__parts_job(parts, p, job);
            answer_all(parts, &queues, p);
            for (uint64_t w; (w = pop(&queues, &queues.ready[p])) != nobody;)
                CSAW_TRY_DONE(run_walker(parts, &queues, sampler, &here, p, w, fault));
        }
    }
done:
    queues_clear(&queues, job->num_walks);
    return status;
}
