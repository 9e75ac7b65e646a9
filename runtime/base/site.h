/* SPDX-License-Identifier: MIT */
/* runtime/base/site.h - where an instance stands, and the accessors that hooks read it through. Included after the
 * sampler file, so that both inline. */
#ifndef CSAW_BASE_SITE_H
#define CSAW_BASE_SITE_H

#include <csaw/sampler.h>

#include "runtime/base/arc_filter.h"
#include "runtime/base/degree_classes.h"
#include "runtime/base/job.h"
#include "runtime/base/row_place.h"
#include "runtime/base/search_row.h"
#include "runtime/base/vertex_set.h"

struct csaw_site {
    const csaw__job *job;
    uint64_t instance;
    csaw_vertex at, prev, root;
    uint32_t depth;
    uint64_t row;      /* place of at's first arc in job->rows */
    uint64_t prev_row; /* the same of prev, where prev's row is in sight */
    uint32_t degree, prev_degree;
    uint64_t user[4];                /* CSAW_MAX_USER_BYTES */
    uint32_t undeclared;             /* what a sampler asked without its flag: a csaw__asked, 0 = nothing */
    uint32_t in_sample;              /* not of a walk */
    uint32_t place, owner;           /* of the frontier's vertex: in a pool that is a list; whose pool it is */
    uint32_t prev_here;              /* prev's row is in sight, though the job is remote */
    const csaw__vertex_set *visited; /* host: (owner, vertex); NULL without CSAW_VISITED */
};

CSAW_FN csaw_site csaw__site_of(const csaw__job *job, uint64_t instance, csaw_vertex root) {
    csaw_site site = {job, instance, root, CSAW_NONE, root, 0, 0, 0, 0, 0, {0}, 0, 0, 0, 0, 0, 0};
    return site;
}

/* Puts the site at vertex v of the rows in sight. */
CSAW_FN void csaw__site_row(csaw_site *site, csaw_vertex v) {
    csaw_vertex local = v - site->job->rows.first;
    site->at = v;
#if defined(__CUDACC__)
    if (site->job->rows.classes && local >= site->job->rows.first_classed) {
        const csaw__class c = csaw__class_of(&site->job->rows, local);
        site->row = c.base + (uint64_t)(local - c.first) * c.degree;
        site->degree = c.degree;
        return;
    }
#endif
    site->row = csaw__offset(&site->job->rows, local);
    site->degree = (uint32_t)(csaw__offset(&site->job->rows, local + 1) - site->row);
}

CSAW_FN csaw_arc csaw__no_arc(void) {
    csaw_arc arc;
    arc.src = arc.dst = CSAW_NONE;
    arc.weight = 0;
    arc.type = 0;
    arc.time = 0;
    arc.rank = arc.near_prev = 0;
    arc.id = CSAW_NO_EDGE;
    return arc;
}

CSAW_FN csaw_arc csaw__arc_to(const csaw_site *site, uint64_t rank, csaw_vertex dst) {
    const csaw__rows *rows = &site->job->rows;
    csaw_arc arc;
    arc.src = site->at;
    arc.dst = dst;
    arc.weight = rows->weight ? rows->weight[site->row + rank] : 1.0f;
    arc.type = rows->type ? rows->type[site->row + rank] : 0;
    arc.time = rows->time ? rows->time[site->row + rank] : 0;
    arc.rank = (uint32_t)rank;
    arc.id = rows->first_arc + site->row + rank;
    arc.near_prev = 0;
    return arc;
}

CSAW_FN csaw_arc csaw__arc_at(const csaw_site *site, uint64_t rank) {
    return csaw__arc_to(site, rank, site->job->rows.col[site->row + rank]);
}

CSAW_FN const void *csaw_params(const csaw_site *site) { return site->job->params; }
CSAW_FN csaw_vertex csaw_at(const csaw_site *site) { return site->at; }
/* A walk carries prev along. In a sample the pick that reaches a vertex first is known only where depths are in order,
 * which the flag asks for. */
CSAW_FN csaw_vertex csaw_prev(const csaw_site *site) {
    if (!(csaw__hooks.flags & CSAW_SECOND_ORDER) && site->in_sample) ((csaw_site *)site)->undeclared = CSAW__ASKED_PREV;
    return site->prev;
}
CSAW_FN csaw_vertex csaw_root(const csaw_site *site) { return site->root; }
CSAW_FN uint32_t csaw_depth(const csaw_site *site) { return site->depth; }
CSAW_FN uint64_t csaw_instance(const csaw_site *site) { return site->instance; }
CSAW_FN uint32_t csaw_num_vertices(const csaw_site *site) { return site->job->num_vertices; }

CSAW_FN uint32_t csaw_fanout(const csaw_site *site) { return site->job->fanout ? site->job->fanout[site->depth] : 1; }

/* What stands in a counter for the vertex. */
CSAW_FN uint32_t csaw__key(const csaw_site *site) {
    return csaw__hooks.flags & CSAW_REPLACE_POOL ? site->place : site->at;
}

CSAW_FN bool csaw_visited(const csaw_site *site, csaw_vertex v) {
    if (!(csaw__hooks.flags & CSAW_VISITED)) {
        ((csaw_site *)site)->undeclared = CSAW__ASKED_VISITED;
        return false;
    }
#if defined(__CUDACC__)
    const csaw__wave *wave = &site->job->wave;
    if (!wave->visited) {
        ((csaw_site *)site)->undeclared = 1;
        return false;
    }
    const uint64_t key = (uint64_t)site->owner << 32 | v;
    uint64_t place = csaw__place_of(key) & wave->visited_mask;
    for (; wave->visited[place] != ~0ull; place = (place + 1) & wave->visited_mask)
        if (wave->visited[place] == key) return true;
    return false;
#else
    if (!site->visited) { /* a bias that may not look at the instance */
        ((csaw_site *)site)->undeclared = CSAW__ASKED_VISITED;
        return false;
    }
    return csaw__vertex_set_has(site->visited, site->owner, v);
#endif
}

CSAW_FN void *csaw_user(const csaw_site *site) { return (void *)site->user; }

CSAW_FN uint32_t csaw_degree(const csaw_site *site, csaw_vertex v) {
    const csaw__rows *rows = &site->job->rows;
    if (v >= site->job->num_vertices) return 0;
    if (site->job->degree) return site->job->degree[v];
    return (uint32_t)(csaw__offset(rows, v + 1) - csaw__offset(rows, v));
}

/* Where rows are searched: each search reads some ten places, one after the other. */
CSAW_FN const csaw_vertex *csaw__searched(const csaw__rows *rows) {
#if defined(__CUDACC__)
    if (rows->own_col) return rows->own_col;
#endif
    return rows->col;
}

/* near_prev: 0 = look, 1 = no, 2 = yes; filled where prev's row is elsewhere. prev's row is searched even where that of
 * dst is shorter (a symmetric graph would allow it): it is the hotter one. Measured on an H200, R-MAT 20, p = .25, q =
 * 4: 16.8 ms so, 20-25 ms with the shorter row. */
CSAW_FN bool csaw_adjacent(const csaw_site *site, const csaw_arc *arc) {
    if (!(csaw__hooks.flags & CSAW_SECOND_ORDER)) { /* known when compiled */
        ((csaw_site *)site)->undeclared = CSAW__ASKED_ADJACENT;
        return false;
    }
    if (arc->near_prev) return arc->near_prev == 2;
#if defined(__CUDACC__)
    if (site->job->rows.filter &&
        !csaw__filter_has(site->job->rows.filter, site->prev_row, site->prev_degree, arc->dst))
        return false;
#endif
    return csaw__row_has(csaw__searched(&site->job->rows) + site->prev_row, site->prev_degree, arc->dst);
}

CSAW_FN uint64_t csaw_random(const csaw_site *site, uint32_t n) {
    csaw_block block = csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site), CSAW_DRAW_HOOK, n >> 1);
    return csaw_half(&block, n & 1);
}

CSAW_FN uint64_t csaw_random_arc(const csaw_site *site, const csaw_arc *arc, uint32_t n) {
    csaw_block block = csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site),
                                 CSAW_DRAW_ARC | arc->rank >> 28, arc->rank & 0xfffffffu);
    return csaw_half(&block, n & 1);
}

#endif
