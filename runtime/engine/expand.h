/* SPDX-License-Identifier: MIT */
/* runtime/engine/expand.h - what the CPU does with the rows of a frontier, compiled around one sampler: fanouts, picks,
 * updates, biases of layers. Included after the sampler file by host_kernels.h.
 *
 * Method: first the picks of all entries, then their updates; no pick depends on an update of the same depth. */
#ifndef CSAW_ENGINE_EXPAND_H
#define CSAW_ENGINE_EXPAND_H

#include "runtime/engine/step.h"
#include "samplers/select/row_picks.h"

enum { CSAW__AHEAD = 16 /* entries whose arcs are on their way from memory */ };

static uint32_t csaw__frontier_size(const void *params) {
    return csaw__hooks.frontier_size ? csaw__hooks.frontier_size(params) : CSAW_ALL;
}

CSAW_FN csaw_site csaw__site_of_entry(const csaw__job *job, const csaw__frontier *f, const csaw__entry *entry) {
    csaw_site site = csaw__site_of(job, f->first + entry->owner, f->root[entry->owner]);
    site.at = entry->at;
    site.prev = entry->prev;
    site.depth = f->depth;
    site.place = entry->place;
    site.owner = entry->owner;
    site.in_sample = 1;
    site.visited = f->visited;
    if (csaw__hooks.user_bytes) __builtin_memcpy(site.user, f->user[entry->owner], sizeof site.user);
    return site;
}

/* Notes that a hook asked what its sampler did not declare. */
CSAW_FN void csaw__tell_undeclared(const csaw_site *site, csaw__fault *fault) {
    const csaw_arc none = csaw__no_arc();
    if (site->undeclared) csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, site->undeclared, 0, fault);
}

static void csaw__vertex_biases(const csaw__job *job, const csaw_vertex *vertex, uint64_t count, float *out) {
    csaw_site site = csaw__site_of(job, 0, CSAW_NONE);
    for (uint64_t i = 0; i < count; i++) {
        site.at = vertex[i];
        out[i] = csaw__hooks.vertex_bias ? csaw__hooks.vertex_bias(&site, vertex[i]) : 1.0f;
    }
}

/* Asks memory for the first arcs of the row of v, which is in sight. */
CSAW_FN void csaw__prefetch_arcs(const csaw__job *job, csaw_vertex v) {
    const uint64_t row = csaw__offset(&job->rows, v - job->rows.first);
    csaw__soon(job->rows.col + row);
    csaw__soon(job->rows.col + row + 15); /* they seldom begin with a line of memory */
    if (csaw__hooks.static_bias == csaw_weight && job->rows.weight) csaw__soon(job->rows.weight + row);
}

static void csaw__fanouts(const csaw__job *job, csaw__frontier *f, csaw__fault *fault) {
    for (uint64_t i = 0; i < f->count; i++) {
        csaw_site site = csaw__site_of_entry(job, f, &f->entry[i]);
        if (i < f->ahead && !job->degree) csaw__prefetch_row(&job->rows, f->entry[f->count + i].at);
        f->degree[i] = csaw_degree(&site, site.at);
        if (csaw__hooks.flags & CSAW_LAYER) site.at = site.prev = CSAW_NONE;
        f->fanout[i] = csaw__hooks.fanout ? csaw__hooks.fanout(&site) : csaw_fanout(&site);
        site.at = f->entry[i].at;
        csaw__tell_undeclared(&site, fault);
    }
}

/* Puts the site at its row; prev's row too where it is in sight. */
CSAW_FN void csaw__site_rows(csaw_site *site) {
    const csaw_vertex at = site->at;
    if (csaw__second_order(site) && !site->job->remote) {
        csaw__site_row(site, site->prev);
        site->prev_row = site->row;
        site->prev_degree = site->degree;
    }
    csaw__site_row(site, at);
}

/* ---- per vertex ---- */

/* The picks of one entry, by the job's method. */
CSAW__ONCE void csaw__expand_one(const csaw__job *job, csaw__frontier *f, uint64_t entry, csaw__scratch *scratch,
                                 csaw__fault *fault) {
    const uint32_t k = f->fanout[entry];
    const uint64_t first = f->offset[entry];
    csaw_site site = csaw__site_of_entry(job, f, &f->entry[entry]);
    uint32_t got = 0;
    csaw__site_rows(&site);
    if (k && site.degree)
        got = csaw__row_picks(&site, job->kernel, k, job->replace, f->answer ? f->answer[entry] : 0, scratch, fault);
    f->got[entry] = got == CSAW__BROKEN_PICKS ? 0 : got;
    for (uint32_t j = 0; j < f->got[entry]; j++) {
        const uint64_t place = site.row + scratch->pick[j];
        f->src[first + j] = site.at;
        f->dst[first + j] = job->rows.col[place];
        f->edge[first + j] = job->rows.first_arc + place;
    }
    csaw__tell_undeclared(&site, fault);
}

#include "runtime/engine/expand_drawn.h"

CSAW_FN void csaw__expand_each(const csaw__job *job, csaw__frontier *f, const uint64_t *entry, uint64_t count,
                               csaw__scratch *scratch, csaw__fault *fault) {
    for (uint64_t i = 0; i < count; i++) {
        if (i + CSAW__AHEAD < count) csaw__prefetch_arcs(job, f->entry[entry[i + CSAW__AHEAD]].at);
        csaw__expand_one(job, f, entry[i], scratch, fault);
    }
}

/* Where the updates of an entry's picks lead, or its dead end. */
CSAW_FN void csaw__expand_update(const csaw__job *job, csaw__frontier *f, uint64_t entry, csaw__fault *fault) {
    const uint64_t first = f->offset[entry];
    csaw_site site = csaw__site_of_entry(job, f, &f->entry[entry]);
    csaw__site_rows(&site);
    for (uint64_t p = first; p < first + f->got[entry] && csaw__hooks.update; p++) {
        const uint32_t rank = (uint32_t)(f->edge[p] - job->rows.first_arc - site.row);
        csaw_arc arc = csaw__arc_to(&site, rank, f->dst[p]);
        if (f->answer && f->answer[entry]) arc.near_prev = 1u + f->answer[entry][rank];
        f->next[p] = csaw__update(&site, &arc, fault);
    }
    f->dead_end[entry] = f->got[entry] == 0 && f->fanout[entry] ? csaw__dead_end(&site, fault) : CSAW_NONE;
    csaw__tell_undeclared(&site, fault);
    if (csaw__hooks.user_bytes) __builtin_memcpy(f->user[site.owner], site.user, sizeof site.user);
}

static void csaw__expand(const csaw__job *job, csaw__frontier *f, const uint64_t *entry, uint64_t count,
                         csaw__scratch *scratch, csaw__fault *fault) {
    const uint32_t kernel = job->kernel;
    if (csaw__allows(CSAW__KERNEL_UNIFORM) && kernel == CSAW__KERNEL_UNIFORM)
        csaw__expand_drawn(job, f, entry, count, CSAW__KERNEL_UNIFORM, scratch, fault);
    else if (csaw__allows(CSAW__KERNEL_ALIAS) && kernel == CSAW__KERNEL_ALIAS)
        csaw__expand_drawn(job, f, entry, count, CSAW__KERNEL_ALIAS, scratch, fault);
    else
        csaw__expand_each(job, f, entry, count, scratch, fault);
    if (!csaw__hooks.update && !csaw__hooks.dead_end) return;
    for (uint64_t i = 0; i < count; i++) csaw__expand_update(job, f, entry[i], fault);
}

/* ---- per layer ---- */

/* Biases of all arcs of the entries, to f->bias. */
static void csaw__layer_biases(const csaw__job *job, const csaw__frontier *f, const uint64_t *entry, uint64_t count,
                               csaw__fault *fault) {
    for (uint64_t e = 0; e < count; e++) {
        csaw_site site = csaw__site_of_entry(job, f, &f->entry[entry[e]]);
        const uint8_t *answer = f->answer ? f->answer[entry[e]] : 0;
        csaw__site_rows(&site);
        for (uint32_t rank = 0; rank < site.degree; rank++) {
            const double bias = csaw__bias_at(&site, rank, answer, fault);
            f->bias[f->arc[entry[e]] + rank] = bias < 0 ? 0 : bias;
        }
        csaw__tell_undeclared(&site, fault);
    }
}

/* Arcs and updates of so many picks, which f->pick_entry and f->pick_rank name, to f->dst, edge and next. Their rows
 * are in sight. */
static void csaw__layer_updates(const csaw__job *job, csaw__frontier *f, uint64_t picks, csaw__fault *fault) {
    for (uint64_t p = 0; p < picks; p++) {
        csaw_site site = csaw__site_of_entry(job, f, &f->entry[f->pick_entry[p]]);
        csaw__site_rows(&site);
        csaw_arc arc = csaw__arc_at(&site, f->pick_rank[p]);
        const uint8_t *answer = f->answer ? f->answer[f->pick_entry[p]] : 0;
        if (answer) arc.near_prev = 1u + answer[arc.rank];
        if (csaw__hooks.update) f->next[p] = csaw__update(&site, &arc, fault);
        if (site.undeclared) csaw__fault_at(&site, &arc, CSAW__FAULT_UNDECLARED, site.undeclared, 0, fault);
        f->src[p] = arc.src;
        f->dst[p] = arc.dst;
        f->edge[p] = arc.id;
    }
}

#endif
