/* SPDX-License-Identifier: MIT */
/* runtime/engine/expand.h - what the CPU does with the rows of a frontier, compiled around one sampler: fanouts, picks,
 * updates, biases of layers. Included after the sampler file by host_kernels.h.
 *
 * Method: entries of the frontier advance in groups, so that their reads overlap: first all their numbers are drawn and
 * the arcs that they name asked for, then the selections are made, then destinations are read. */
#ifndef CSAW_ENGINE_EXPAND_H
#define CSAW_ENGINE_EXPAND_H

#include "runtime/engine/step.h"
#include "samplers/select/row_picks.h"

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
    site.visited = f->visited;
    if (csaw__hooks.user_bytes) __builtin_memcpy(site.user, f->user[entry->owner], sizeof site.user);
    return site;
}

static void csaw__vertex_biases(const csaw__job *job, const csaw_vertex *vertex, uint64_t count, float *out) {
    csaw_site site = csaw__site_of(job, 0, CSAW_NONE);
    for (uint64_t i = 0; i < count; i++) {
        site.at = vertex[i];
        out[i] = csaw__hooks.vertex_bias ? csaw__hooks.vertex_bias(&site, vertex[i]) : 1.0f;
    }
}

static void csaw__fanouts(const csaw__job *job, csaw__frontier *f) {
    for (uint64_t i = 0; i < f->count; i++) {
        csaw_site site = csaw__site_of_entry(job, f, &f->entry[i]);
        f->degree[i] = csaw_degree(&site, site.at);
        if (csaw__hooks.flags & CSAW_LAYER) site.at = site.prev = CSAW_NONE;
        f->fanout[i] = csaw__hooks.fanout ? csaw__hooks.fanout(&site) : csaw_fanout(&site);
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

enum { CSAW__EXPAND_GROUP = 16, CSAW__EXPAND_SLOTS = 256 /* numbers drawn together */ };

typedef struct csaw__expansion {
    csaw_site site[CSAW__EXPAND_GROUP];
    uint32_t first[CSAW__EXPAND_GROUP]; /* of the entry's slots below; CSAW__EXPAND_SLOTS: not drawn beforehand */
    uint32_t word[4][CSAW__EXPAND_SLOTS];
    uint64_t even[CSAW__EXPAND_SLOTS], odd[CSAW__EXPAND_SLOTS];
} csaw__expansion;

/* The numbers of round 0 of all slots of the group, and a request to memory for the arcs that they name. */
CSAW_FN void csaw__expand_draw(csaw__expansion *x, const csaw__job *job, const csaw__frontier *f, const uint64_t *entry,
                               uint32_t count, bool alias) {
    const uint32_t *const word[4] = {x->word[0], x->word[1], x->word[2], x->word[3]};
    uint32_t slots = 0;
    for (uint32_t i = 0; i < count; i++) {
        const csaw_site *site = &x->site[i];
        const uint32_t k = f->fanout[entry[i]];
        x->first[i] = CSAW__EXPAND_SLOTS;
        if (k >= site->degree || k > CSAW__EXPAND_SLOTS - slots) continue;
        x->first[i] = slots;
        for (uint32_t slot = 0; slot < k; slot++, slots++) {
            x->word[0][slots] = (uint32_t)site->instance;
            x->word[1][slots] = (uint32_t)(site->instance >> 32) << 24 | site->depth;
            x->word[2][slots] = csaw__key(site);
            x->word[3][slots] = (uint32_t)CSAW_DRAW_PICK << 28 | slot * CSAW__SLOT_DRAWS;
        }
    }
    job->numbers(job->seed, word, slots, x->even, x->odd);
    for (uint32_t i = 0; i < count; i++) {
        const csaw_site *site = &x->site[i];
        if (x->first[i] == CSAW__EXPAND_SLOTS) continue;
        for (uint32_t slot = 0; slot < f->fanout[entry[i]]; slot++) {
            const uint64_t place = site->row + csaw_below(x->even[x->first[i] + slot], site->degree);
            __builtin_prefetch(alias ? (const void *)(job->rows.alias + place) : (const void *)(job->rows.col + place));
        }
    }
}

/* The picks of one entry, as ranks in f->dst. */
CSAW_FN void csaw__expand_pick(csaw__expansion *x, csaw__frontier *f, uint64_t entry, uint32_t i, uint32_t kernel,
                               csaw__scratch *scratch, csaw__fault *fault) {
    const csaw_site *site = &x->site[i];
    const csaw__job *job = site->job;
    const uint32_t k = f->fanout[entry];
    const bool drawn = x->first[i] < CSAW__EXPAND_SLOTS;
    uint32_t got = 0;
    if (k && site->degree)
        got = csaw__row_picks(site, kernel, k, job->replace, drawn ? x->even + x->first[i] : 0,
                              drawn ? x->odd + x->first[i] : 0, f->answer ? f->answer[entry] : 0, scratch, fault);
    f->got[entry] = got == CSAW__BROKEN_PICKS ? 0 : got;
    for (uint32_t j = 0; j < f->got[entry]; j++) {
        f->dst[f->offset[entry] + j] = (csaw_vertex)scratch->pick[j];
        __builtin_prefetch(job->rows.col + site->row + scratch->pick[j]);
    }
}

/* From ranks to arcs, and where updates lead. */
CSAW_FN void csaw__expand_update(csaw_site *site, csaw__frontier *f, uint64_t entry, csaw__fault *fault) {
    const uint64_t first = f->offset[entry];
    for (uint64_t p = first; p < first + f->got[entry]; p++) {
        const uint32_t rank = f->dst[p];
        csaw_arc arc = csaw__arc_at(site, rank);
        if (f->answer && f->answer[entry]) arc.near_prev = 1u + f->answer[entry][rank];
        f->next[p] = csaw__update(site, &arc, fault);
        f->dst[p] = arc.dst;
        f->edge[p] = arc.id;
    }
    f->dead_end[entry] = f->got[entry] == 0 && f->fanout[entry] ? csaw__dead_end(site, fault) : CSAW_NONE;
    if (site->undeclared) {
        const csaw_arc none = csaw__no_arc();
        csaw__fault_at(site, &none, CSAW__FAULT_UNDECLARED, 0, 0, fault);
    }
    if (csaw__hooks.user_bytes) __builtin_memcpy(f->user[site->owner], site->user, sizeof site->user);
}

CSAW_FN void csaw__expand_by(const csaw__job *job, csaw__frontier *f, const uint64_t *entry, uint64_t count,
                             uint32_t kernel, csaw__scratch *scratch, csaw__fault *fault) {
    const bool quick = kernel == CSAW__KERNEL_UNIFORM || kernel == CSAW__KERNEL_ALIAS;
    csaw__expansion x;
    for (uint64_t done = 0; done < count; done += CSAW__EXPAND_GROUP) {
        const uint32_t n = count - done < CSAW__EXPAND_GROUP ? (uint32_t)(count - done) : CSAW__EXPAND_GROUP;
        const uint64_t *const these = entry + done;
        for (uint32_t i = 0; i < n && done + n + i < count; i++) /* of the next group */
            csaw__prefetch_row(&job->rows, f->entry[entry[done + n + i]].at - job->rows.first);
        for (uint32_t i = 0; i < n; i++) {
            x.site[i] = csaw__site_of_entry(job, f, &f->entry[these[i]]);
            csaw__site_rows(&x.site[i]);
            x.first[i] = CSAW__EXPAND_SLOTS;
        }
        if (quick && !job->replace) csaw__expand_draw(&x, job, f, these, n, kernel == CSAW__KERNEL_ALIAS);
        for (uint32_t i = 0; i < n; i++) csaw__expand_pick(&x, f, these[i], i, kernel, scratch, fault);
        for (uint32_t i = 0; i < n; i++) csaw__expand_update(&x.site[i], f, these[i], fault);
    }
}

static void csaw__expand(const csaw__job *job, csaw__frontier *f, const uint64_t *entry, uint64_t count,
                         csaw__scratch *scratch, csaw__fault *fault) {
    const bool dynamic = csaw__hooks.edge_bias != 0, bounds = dynamic && csaw__hooks.bounds;
    switch (job->kernel) { /* only what the sampler's hooks allow is compiled */
    case CSAW__KERNEL_UNIFORM:
        if (!dynamic) csaw__expand_by(job, f, entry, count, CSAW__KERNEL_UNIFORM, scratch, fault);
        break;
    case CSAW__KERNEL_ALIAS:
        if (!dynamic && csaw__hooks.static_bias)
            csaw__expand_by(job, f, entry, count, CSAW__KERNEL_ALIAS, scratch, fault);
        break;
    case CSAW__KERNEL_REJECT:
        if (bounds) csaw__expand_by(job, f, entry, count, CSAW__KERNEL_REJECT, scratch, fault);
        break;
    case CSAW__KERNEL_REJECT_ALIAS:
        if (bounds && csaw__hooks.static_bias)
            csaw__expand_by(job, f, entry, count, CSAW__KERNEL_REJECT_ALIAS, scratch, fault);
        break;
    case CSAW__KERNEL_RACE: csaw__expand_by(job, f, entry, count, CSAW__KERNEL_RACE, scratch, fault); break;
    default: csaw__expand_by(job, f, entry, count, CSAW__KERNEL_ITS, scratch, fault);
    }
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
        if (site.undeclared) {
            const csaw_arc none = csaw__no_arc();
            csaw__fault_at(&site, &none, CSAW__FAULT_UNDECLARED, 0, 0, fault);
        }
    }
}

/* Arcs and updates of picks, which f->pick_entry and f->pick_rank name, to f->dst, edge and next. */
static void csaw__layer_updates(const csaw__job *job, csaw__frontier *f, const uint64_t *pick, uint64_t count,
                                csaw__fault *fault) {
    for (uint64_t p = 0; p < count; p++) {
        const uint64_t entry = f->pick_entry[pick[p]];
        const uint32_t rank = f->pick_rank[pick[p]];
        csaw_site site = csaw__site_of_entry(job, f, &f->entry[entry]);
        csaw__site_rows(&site);
        csaw_arc arc = csaw__arc_at(&site, rank);
        if (f->answer && f->answer[entry]) arc.near_prev = 1u + f->answer[entry][rank];
        f->next[pick[p]] = csaw__update(&site, &arc, fault);
        if (site.undeclared) csaw__fault_at(&site, &arc, CSAW__FAULT_UNDECLARED, 0, 0, fault);
        f->dst[pick[p]] = arc.dst;
        f->edge[pick[p]] = arc.id;
    }
}

#endif
