/* SPDX-License-Identifier: MIT */
/* runtime/engine/host_kernels.h - the CPU's loops, compiled around one sampler: included after the sampler file, it
 * defines the functions that CSAW_SAMPLER lists.
 *
 * Method: walks advance in groups, a step at a time, so that the memory reads of a group overlap: one pass reads row
 * bounds, draws and prefetches what the pick will read, a second pass picks and prefetches the next row (ThunderRW's
 * step interleaving, Sun et al., VLDB 2021). */
#ifndef CSAW_ENGINE_HOST_KERNELS_H
#define CSAW_ENGINE_HOST_KERNELS_H

#include "runtime/engine/step.h"
#include "samplers/select/its.h"

enum { CSAW__GROUP = 64 };

static uint32_t csaw__traits(void) {
    return (csaw__hooks.static_bias ? CSAW__TRAIT_STATIC : 0u) |
           (csaw__hooks.static_bias == csaw_weight ? CSAW__TRAIT_WEIGHT : 0u) |
           (csaw__hooks.edge_bias ? CSAW__TRAIT_EDGE : 0u) | (csaw__hooks.bounds ? CSAW__TRAIT_BOUNDS : 0u) |
           (csaw__hooks.flags & CSAW_SECOND_ORDER ? CSAW__TRAIT_SECOND_ORDER : 0u);
}

static csaw_bounds csaw__bounds(const void *params) {
    csaw_bounds none = {0, 0, 0};
    return csaw__hooks.bounds ? csaw__hooks.bounds(params) : none;
}

CSAW_FN csaw_site csaw__site_of(const csaw__job *job, uint64_t instance, csaw_vertex root) {
    csaw_site site = {job, instance, root, CSAW_NONE, root, 0, 0, 0, 0, 0};
    return site;
}

static void csaw__tabulate(const csaw__job *job, csaw_vertex first, csaw_vertex count, float *out) {
    csaw_site site = csaw__site_of(job, 0, first);
    for (csaw_vertex v = first; v < first + count; v++) {
        csaw__site_row(&site, v);
        for (uint32_t rank = 0; rank < site.degree; rank++) {
            csaw_arc arc = csaw__arc_at(&site, rank);
            *out++ = csaw__static_bias(&site, &arc);
        }
    }
}

/* ---- walks in groups ---- */

typedef struct csaw__group {
    csaw_site site[CSAW__GROUP];
    csaw_block block[CSAW__GROUP]; /* UNIFORM, ALIAS: of two steps; REJECT: of the first attempt */
} csaw__group;

CSAW_FN void csaw__prepare(csaw__group *group, uint32_t i, uint32_t kernel) {
    csaw_site *site = &group->site[i];
    const csaw__rows *rows = &site->job->rows;
    csaw__site_row(site, site->at);
    if (kernel == CSAW__KERNEL_ITS || site->degree == 0) return;
    if (kernel == CSAW__KERNEL_REJECT || kernel == CSAW__KERNEL_REJECT_ALIAS)
        group->block[i] = csaw__attempt_block(site, 0);
    const bool odd = (kernel == CSAW__KERNEL_UNIFORM || kernel == CSAW__KERNEL_ALIAS) && (site->depth & 1);
    const uint64_t place = site->row + csaw_below(csaw_half(&group->block[i], odd), site->degree);
    if (kernel == CSAW__KERNEL_ALIAS || kernel == CSAW__KERNEL_REJECT_ALIAS)
        __builtin_prefetch(rows->alias + place);
    else
        __builtin_prefetch(rows->col + place);
}

CSAW_FN int csaw__pick(csaw__group *group, uint32_t i, uint32_t kernel, csaw_arc *arc, csaw__fault *fault) {
    csaw_site *site = &group->site[i];
    if (kernel == CSAW__KERNEL_UNIFORM)
        return csaw__uniform_pick(site, csaw_half(&group->block[i], site->depth & 1), arc);
    if (kernel == CSAW__KERNEL_ALIAS) return csaw__alias_pick(site, csaw_half(&group->block[i], site->depth & 1), arc);
    int picked = CSAW__UNDECIDED;
    if (kernel != CSAW__KERNEL_ITS) {
        uint32_t attempt = 0;
        picked = csaw__reject_pick(site, kernel == CSAW__KERNEL_REJECT_ALIAS, &attempt, group->block[i], 0, arc, fault);
    }
    return picked == CSAW__UNDECIDED ? csaw__its_pick(site, 0, arc, fault) : picked;
}

CSAW_FN void csaw__advance(csaw_site *site, csaw_vertex next) {
    site->prev = site->at;
    site->prev_row = site->row;
    site->prev_degree = site->degree;
    site->at = next;
    site->depth++;
    if (next == CSAW_NONE) return;
    const csaw__rows *rows = &site->job->rows;
    __builtin_prefetch((const char *)rows->offset + (uint64_t)next * (rows->wide ? 8 : 4));
    if (rows->bias) __builtin_prefetch(rows->bias + next);
}

CSAW_FN void csaw__walk_group(const csaw__job *job, uint64_t first, uint32_t count, uint32_t kernel,
                              csaw__fault *fault) {
    csaw__group group;
    const size_t stride = (size_t)job->length + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t instance = job->first + first + i;
        group.site[i] = csaw__site_of(job, instance, csaw__root_of(job, instance));
        job->path[(first + i) * stride] = group.site[i].root;
        __builtin_prefetch((const char *)job->rows.offset + (uint64_t)group.site[i].root * (job->rows.wide ? 8 : 4));
    }
    for (uint32_t depth = 0; depth < job->length; depth++) {
        if ((kernel == CSAW__KERNEL_UNIFORM || kernel == CSAW__KERNEL_ALIAS) && !(depth & 1))
            for (uint32_t i = 0; i < count; i++) group.block[i] = csaw__step_block(job, job->first + first + i, depth);
        for (uint32_t i = 0; i < count; i++)
            if (group.site[i].at != CSAW_NONE) csaw__prepare(&group, i, kernel);
        for (uint32_t i = 0; i < count; i++) {
            csaw_site *site = &group.site[i];
            csaw_vertex next = CSAW_NONE;
            csaw_edge edge = CSAW_NO_EDGE;
            if (site->at != CSAW_NONE) {
                csaw_arc arc = csaw__no_arc();
                int picked = csaw__pick(&group, i, kernel, &arc, fault);
                next = csaw__move(site, picked, &arc, &edge, fault);
                csaw__advance(site, next);
            }
            job->path[(first + i) * stride + depth + 1] = next;
            if (job->edge) job->edge[(first + i) * job->length + depth] = edge;
        }
    }
}

static void csaw__walk(const csaw__job *job, uint64_t first, uint64_t count, csaw__fault *fault) {
    for (uint64_t done = 0; done < count; done += CSAW__GROUP) {
        uint32_t n = count - done < CSAW__GROUP ? (uint32_t)(count - done) : CSAW__GROUP;
        switch (job->kernel) { /* only those that the sampler's hooks allow are compiled */
        case CSAW__KERNEL_UNIFORM:
            if (!csaw__hooks.edge_bias) csaw__walk_group(job, first + done, n, CSAW__KERNEL_UNIFORM, fault);
            break;
        case CSAW__KERNEL_ALIAS:
            if (!csaw__hooks.edge_bias && csaw__hooks.static_bias)
                csaw__walk_group(job, first + done, n, CSAW__KERNEL_ALIAS, fault);
            break;
        case CSAW__KERNEL_REJECT:
            if (csaw__hooks.edge_bias && csaw__hooks.bounds)
                csaw__walk_group(job, first + done, n, CSAW__KERNEL_REJECT, fault);
            break;
        case CSAW__KERNEL_REJECT_ALIAS:
            if (csaw__hooks.edge_bias && csaw__hooks.bounds && csaw__hooks.static_bias)
                csaw__walk_group(job, first + done, n, CSAW__KERNEL_REJECT_ALIAS, fault);
            break;
        default: csaw__walk_group(job, first + done, n, CSAW__KERNEL_ITS, fault);
        }
    }
}

/* ---- one walker, one step: partitions and the debug mode ---- */

CSAW_FN csaw_site csaw__site_of_walker(const csaw__job *job, const csaw__walker *walker) {
    csaw_site site = csaw__site_of(job, job->first + walker->walk, walker->root);
    if (walker->prev != CSAW_NONE && !job->remote) {
        csaw__site_row(&site, walker->prev);
        site.prev_row = site.row;
        site.prev_degree = site.degree;
    }
    site.prev = walker->prev;
    site.depth = walker->depth;
    csaw__site_row(&site, walker->at);
    return site;
}

CSAW_FN int csaw__step_pick(const csaw_site *site, csaw__walker *walker, const uint8_t *answer, csaw_arc *arc,
                            csaw__fault *fault) {
    const csaw__job *job = site->job;
    if (job->kernel == CSAW__KERNEL_UNIFORM || job->kernel == CSAW__KERNEL_ALIAS) {
        csaw_block block = csaw__step_block(job, site->instance, site->depth);
        uint64_t number = csaw_half(&block, site->depth & 1);
        return job->kernel == CSAW__KERNEL_UNIFORM ? csaw__uniform_pick(site, number, arc)
                                                   : csaw__alias_pick(site, number, arc);
    }
    if (csaw__hooks.edge_bias && csaw__hooks.bounds && job->kernel != CSAW__KERNEL_ITS &&
        walker->attempt < CSAW__ATTEMPTS) {
        int picked = csaw__reject_pick(site, job->kernel == CSAW__KERNEL_REJECT_ALIAS, &walker->attempt,
                                       csaw__attempt_block(site, walker->attempt), answer, arc, fault);
        if (picked != CSAW__UNDECIDED) return picked;
        answer = 0;
    }
    if (job->remote && csaw__second_order(site) && site->degree && !answer) return CSAW__UNDECIDED;
    return csaw__its_pick(site, answer, arc, fault);
}

static int csaw__step(const csaw__job *job, csaw__walker *walker, const uint8_t *answer, csaw__fault *fault) {
    csaw_site site = csaw__site_of_walker(job, walker);
    csaw_arc arc = csaw__no_arc();
    int picked = csaw__step_pick(&site, walker, answer, &arc, fault);
    if (picked == CSAW__UNDECIDED) return CSAW__ASK_ROW;
    if (picked == CSAW__ASKS) {
        walker->asked = arc.dst;
        return CSAW__ASK_ARC;
    }
    csaw_vertex next = csaw__move(&site, picked, &arc, &walker->edge, fault);
    walker->prev = walker->at;
    walker->at = next;
    walker->depth++;
    walker->attempt = 0;
    return picked == CSAW__BROKEN ? CSAW__FAULTY : CSAW__MOVED;
}

/* Compare hooks with traits on every arc of the walker's row: 0 if they agree. */
static int csaw__check(const csaw__job *job, const csaw__walker *walker, csaw__fault *fault) {
    csaw_site site = csaw__site_of_walker(job, walker);
    for (uint32_t rank = 0; rank < site.degree; rank++) {
        csaw_arc arc = csaw__arc_at(&site, rank);
        if (csaw__bias_at(&site, rank, 0, fault) < 0) return 1;
        float value = csaw__static_bias(&site, &arc);
        if (job->tabulated && value != job->tabulated[site.row + rank]) {
            csaw__fault_at(&site, &arc, CSAW__FAULT_CHANGED, value, job->tabulated[site.row + rank], fault);
            return 1;
        }
        if (!csaw__hooks.edge_bias || !csaw__hooks.bounds) continue;
        float factor = csaw__hooks.edge_bias(&site, &arc);
        float limit = csaw__second_order(&site) && arc.dst == site.prev ? job->back : job->hi;
        if (factor < job->lo || factor > limit) {
            csaw__fault_at(&site, &arc, CSAW__FAULT_BOUND, factor, factor < job->lo ? job->lo : limit, fault);
            return 1;
        }
    }
    return 0;
}

#endif
