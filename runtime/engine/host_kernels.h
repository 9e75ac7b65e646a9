/* SPDX-License-Identifier: MIT */
/* runtime/engine/host_kernels.h - the CPU's loops, compiled around one sampler: included after the sampler file, it
 * defines the functions that CSAW_SAMPLER lists.
 *
 * Method: walks advance in groups, a step at a time, so that the memory reads of a group overlap: one pass reads row
 * bounds, draws and prefetches what the pick will read, a second pass picks and prefetches the next row (ThunderRW's
 * step interleaving, Sun et al., VLDB 2021). */
#ifndef CSAW_ENGINE_HOST_KERNELS_H
#define CSAW_ENGINE_HOST_KERNELS_H

#include "runtime/engine/expand.h"
#include "runtime/engine/step.h"
#include "runtime/engine/step_numbers.h"
#include "samplers/select/its.h"
#include "samplers/select/race.h"

enum { CSAW__GROUP = 64 };

static uint32_t csaw__traits(void) {
    return (csaw__hooks.static_bias ? CSAW__TRAIT_STATIC : 0u) |
           (csaw__hooks.static_bias == csaw_weight ? CSAW__TRAIT_WEIGHT : 0u) |
           (csaw__hooks.edge_bias ? CSAW__TRAIT_EDGE : 0u) | (csaw__hooks.bounds ? CSAW__TRAIT_BOUNDS : 0u) |
           (csaw__hooks.flags & CSAW_SECOND_ORDER ? CSAW__TRAIT_SECOND_ORDER : 0u) |
           (csaw__hooks.user_bytes ? CSAW__TRAIT_USER : 0u) | (csaw__hooks.fanout ? CSAW__TRAIT_FANOUT : 0u) |
           (csaw__hooks.frontier_size ? CSAW__TRAIT_SIZE : 0u) | (csaw__hooks.vertex_bias ? CSAW__TRAIT_VERTEX : 0u) |
           (csaw__hooks.update ? CSAW__TRAIT_UPDATE : 0u) | (csaw__hooks.dead_end ? CSAW__TRAIT_DEAD_END : 0u) |
           csaw__hooks.flags << CSAW__TRAIT_FLAGS;
}

static csaw_bounds csaw__bounds(const void *params) {
    csaw_bounds none = {0, 0, 0};
    return csaw__hooks.bounds ? csaw__hooks.bounds(params) : none;
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
    csaw__step_numbers numbers;      /* UNIFORM, ALIAS */
    uint64_t number[2][CSAW__GROUP]; /* REJECT: r1 and r2 of the attempt under way, of the walks in open */
    csaw__trial trial[CSAW__GROUP];  /* the proposal */
    uint8_t near[CSAW__GROUP];       /* csaw_arc.near_prev of that */
    uint8_t attempt[CSAW__GROUP];
    uint8_t open[CSAW__GROUP]; /* walks whose step is not decided yet */
    uint8_t asks[CSAW__GROUP]; /* those of them whose proposal edge_bias must judge */
    const csaw__job *job;
    uint64_t first;
    uint32_t count;
} csaw__group;

CSAW_FN void csaw__group_start(csaw__group *group, const csaw__job *job, uint64_t first, uint32_t count) {
    group->job = job;
    group->first = first;
    group->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t instance = job->first + first + i;
        group->site[i] = csaw__site_of(job, instance, csaw__root_of(job, instance));
        job->path[(first + i) * ((size_t)job->length + 1)] = group->site[i].root;
        csaw__prefetch_row(&job->rows, group->site[i].root);
    }
}

/* The step of walk i is decided: move it and write it down. */
CSAW_FN void csaw__group_move(csaw__group *group, uint32_t i, int picked, const csaw_arc *arc, csaw__fault *fault) {
    const csaw__job *job = group->job;
    csaw_site *site = &group->site[i];
    csaw_edge edge;
    const csaw_vertex next = csaw__move(site, picked, arc, &edge, fault);
    const uint64_t walk = group->first + i;
    job->path[walk * ((size_t)job->length + 1) + site->depth + 1] = next;
    if (job->edge) job->edge[walk * job->length + site->depth] = edge;
    site->prev = site->at;
    site->prev_row = site->row;
    site->prev_degree = site->degree;
    site->at = next;
    site->depth++;
    if (next == CSAW_NONE) return;
    csaw__prefetch_row(&job->rows, next);
    if (job->rows.bias) csaw__soon(job->rows.bias + next);
}

/* An ended walk takes its steps too. */
CSAW_FN void csaw__group_pad(csaw__group *group, uint32_t i) {
    const csaw__job *job = group->job;
    const uint64_t walk = group->first + i;
    const uint32_t depth = group->site[i].depth++;
    job->path[walk * ((size_t)job->length + 1) + depth + 1] = CSAW_NONE;
    if (job->edge) job->edge[walk * job->length + depth] = CSAW_NO_EDGE;
}

/* UNIFORM, ALIAS with hooks that need the site. */
CSAW_FN void csaw__walk_numbers(const csaw__job *job, uint64_t first, uint32_t count, bool by_alias,
                                csaw__fault *fault) {
    csaw__group group;
    csaw__group_start(&group, job, first, count);
    csaw__step_numbers_start(&group.numbers, job, job->first + first, count);
    for (uint32_t depth = 0; depth < job->length; depth++) {
        if (depth) csaw__step_numbers_need(&group.numbers, depth);
        const uint64_t *const number = csaw__step_numbers_at(&group.numbers, depth);
        for (uint32_t i = 0; i < count; i++) {
            csaw_site *site = &group.site[i];
            if (site->at == CSAW_NONE) continue;
            csaw__site_row(site, site->at);
            if (site->degree == 0) continue;
            const uint64_t place = site->row + csaw_below(number[i], site->degree);
            csaw__soon(by_alias ? (const void *)(job->rows.alias + place) : (const void *)(job->rows.col + place));
        }
        for (uint32_t i = 0; i < count; i++) {
            const csaw_site *site = &group.site[i];
            csaw_arc arc = csaw__no_arc();
            if (site->at == CSAW_NONE) {
                csaw__group_pad(&group, i);
                continue;
            }
            const int picked =
                by_alias ? csaw__alias_pick(site, number[i], &arc) : csaw__uniform_pick(site, number[i], &arc);
            csaw__group_move(&group, i, picked, &arc, fault);
        }
    }
}

/* ITS, RACE: the whole row is read. */
CSAW_FN void csaw__walk_rows(const csaw__job *job, uint64_t first, uint32_t count, csaw__fault *fault) {
    csaw__group group;
    csaw__group_start(&group, job, first, count);
    for (uint32_t depth = 0; depth < job->length; depth++) {
        for (uint32_t i = 0; i < count; i++)
            if (group.site[i].at != CSAW_NONE) csaw__site_row(&group.site[i], group.site[i].at);
        for (uint32_t i = 0; i < count; i++) {
            const csaw_site *site = &group.site[i];
            csaw_arc arc = csaw__no_arc();
            if (site->at == CSAW_NONE) {
                csaw__group_pad(&group, i);
                continue;
            }
            const int picked = job->kernel == CSAW__KERNEL_RACE ? csaw__race_pick(site, 0, &arc, fault)
                                                                : csaw__its_pick(site, 0, &arc, fault);
            csaw__group_move(&group, i, picked, &arc, fault);
        }
    }
}

/* ---- REJECT: the attempts of a group advance together ---- */

/* Draws for an attempt of every open walk, all together, and asks memory for what they propose. */
CSAW__ONCE void csaw__group_draw(csaw__group *group, uint32_t num_open, bool by_alias) {
    const csaw__job *job = group->job;
    const csaw__rows *rows = &job->rows;
    uint32_t low[CSAW__GROUP], high[CSAW__GROUP], vertex[CSAW__GROUP], draw[CSAW__GROUP]; /* as csaw_draw() has them */
    const uint32_t *const word[4] = {low, high, vertex, draw};
    for (uint32_t k = 0; k < num_open; k++) {
        const csaw_site *site = &group->site[group->open[k]];
        low[k] = (uint32_t)site->instance;
        high[k] = (uint32_t)(site->instance >> 32) << 24 | site->depth;
        vertex[k] = csaw__key(site);
        draw[k] = (uint32_t)CSAW_DRAW_ATTEMPT << 28 | group->attempt[group->open[k]];
    }
    job->numbers(job->seed, word, num_open, group->number[0], group->number[1]);
    for (uint32_t k = 0; k < num_open; k++) {
        const csaw_site *site = &group->site[group->open[k]];
        const uint64_t place = site->row + csaw_below(group->number[0][k], site->degree);
        csaw__soon(by_alias ? (const void *)(rows->alias + place) : (const void *)(rows->col + place));
    }
}

/* For the walks that ask: is the proposal a neighbour of prev? The searches go level by level, all together, so that
 * their reads overlap. */
CSAW__ONCE void csaw__group_search(csaw__group *group, uint32_t num_asks) {
    uint32_t low[CSAW__GROUP], left[CSAW__GROUP], going = 0;
    for (uint32_t a = 0; a < num_asks; a++) {
        const csaw_site *site = &group->site[group->asks[a]];
        low[a] = 0;
        left[a] = csaw__second_order(site) && group->trial[group->asks[a]].dst != site->prev ? site->prev_degree : 0;
        going |= left[a];
    }
    while (going) {
        going = 0;
        for (uint32_t a = 0; a < num_asks; a++) {
            if (!left[a]) continue;
            const csaw_vertex *row = group->job->rows.col + group->site[group->asks[a]].prev_row;
            const uint32_t half = left[a] >> 1, below = row[low[a] + half] < group->trial[group->asks[a]].dst;
            low[a] += (half + 1) & (0u - below); /* no branch: half of them would be foretold wrongly */
            left[a] = half - (below & ~left[a] & 1);
            csaw__soon(row + low[a] + (left[a] >> 1));
            going |= left[a];
        }
    }
    for (uint32_t a = 0; a < num_asks; a++) {
        const csaw_site *site = &group->site[group->asks[a]];
        const csaw_vertex dst = group->trial[group->asks[a]].dst;
        if (!csaw__second_order(site) || dst == site->prev) continue;
        const csaw_vertex *row = group->job->rows.col + site->prev_row;
        group->near[group->asks[a]] = 1u + (low[a] < site->prev_degree && row[low[a]] == dst);
    }
}

/* The arc that walk i proposes. Two calls where one would do: what a hook does not look at is then not read, and a
 * weight is a read from far memory. */
CSAW_FN csaw_arc csaw__group_arc(const csaw__group *group, uint32_t i) {
    csaw_arc arc = csaw__arc_to(&group->site[i], group->trial[i].rank, group->trial[i].dst);
    arc.near_prev = group->near[i];
    return arc;
}

CSAW_FN int csaw__group_judge(const csaw__group *group, uint32_t i, csaw__fault *fault) {
    const csaw_arc arc = csaw__group_arc(group, i);
    return csaw__reject_judge(&group->site[i], &group->trial[i], &arc, fault);
}

/* The attempts are used up: ITS decides. */
CSAW_FN void csaw__group_rest(csaw__group *group, uint32_t i, csaw__fault *fault) {
    csaw_arc arc = csaw__no_arc();
    const int picked = csaw__its_pick(&group->site[i], 0, &arc, fault);
    csaw__group_move(group, i, picked, &arc, fault);
}

/* One attempt of every open walk; returns how many stay open. */
CSAW_FN uint32_t csaw__group_attempt(csaw__group *group, uint32_t num_open, bool by_alias, csaw__fault *fault) {
    uint32_t num_asks = 0, num_left = 0;
    int8_t picked[CSAW__GROUP];
    csaw__group_draw(group, num_open, by_alias);
    for (uint32_t k = 0; k < num_open; k++) {
        const uint32_t i = group->open[k];
        group->near[i] = 0;
        picked[i] = (int8_t)csaw__reject_propose(&group->site[i], by_alias, group->number[0][k], group->number[1][k],
                                                 &group->trial[i]);
        if (picked[i] == CSAW__ASKS) group->asks[num_asks++] = (uint8_t)i;
    }
    csaw__group_search(group, num_asks);
    for (uint32_t k = 0; k < num_open; k++) {
        const uint32_t i = group->open[k];
        int outcome = picked[i];
        if (outcome == CSAW__ASKS) outcome = csaw__group_judge(group, i, fault);
        if (outcome == CSAW__UNDECIDED && ++group->attempt[i] < CSAW__ATTEMPTS) {
            group->open[num_left++] = (uint8_t)i;
            continue;
        }
        if (outcome == CSAW__UNDECIDED) {
            csaw__group_rest(group, i, fault);
            continue;
        }
        const csaw_arc arc = outcome == CSAW__PICKED ? csaw__group_arc(group, i) : csaw__no_arc();
        csaw__group_move(group, i, outcome, &arc, fault);
    }
    return num_left;
}

CSAW_FN void csaw__walk_reject(const csaw__job *job, uint64_t first, uint32_t count, bool by_alias,
                               csaw__fault *fault) {
    csaw__group group;
    csaw__group_start(&group, job, first, count);
    for (uint32_t depth = 0; depth < job->length; depth++) {
        uint32_t num_open = 0;
        for (uint32_t i = 0; i < count; i++) {
            csaw_site *site = &group.site[i];
            if (site->at == CSAW_NONE) {
                csaw__group_pad(&group, i);
                continue;
            }
            csaw__site_row(site, site->at);
            group.attempt[i] = 0;
            group.open[num_open++] = (uint8_t)i;
        }
        while (num_open) num_open = csaw__group_attempt(&group, num_open, by_alias, fault);
    }
}

static void csaw__walk(const csaw__job *job, uint64_t first, uint64_t count, csaw__fault *fault) {
    const bool plain = !csaw__hooks.update && !csaw__hooks.dead_end;
    const uint32_t kernel = job->kernel;
    if (plain && csaw__allows(CSAW__KERNEL_UNIFORM) &&
        (kernel == CSAW__KERNEL_UNIFORM || kernel == CSAW__KERNEL_ALIAS)) {
        job->walk_plain(job, first, count, kernel == CSAW__KERNEL_ALIAS);
        return;
    }
    for (uint64_t done = 0; done < count; done += CSAW__GROUP) {
        const uint32_t n = count - done < CSAW__GROUP ? (uint32_t)(count - done) : CSAW__GROUP;
        const uint64_t from = first + done;
        if (csaw__allows(CSAW__KERNEL_UNIFORM) && !plain && kernel == CSAW__KERNEL_UNIFORM)
            csaw__walk_numbers(job, from, n, false, fault);
        else if (csaw__allows(CSAW__KERNEL_ALIAS) && !plain && kernel == CSAW__KERNEL_ALIAS)
            csaw__walk_numbers(job, from, n, true, fault);
        else if (csaw__allows(CSAW__KERNEL_REJECT) && kernel == CSAW__KERNEL_REJECT)
            csaw__walk_reject(job, from, n, false, fault);
        else if (csaw__allows(CSAW__KERNEL_REJECT_ALIAS) && kernel == CSAW__KERNEL_REJECT_ALIAS)
            csaw__walk_reject(job, from, n, true, fault);
        else
            csaw__walk_rows(job, from, n, fault);
    }
}

/* ---- one walker, one step: partitions and the debug mode ---- */

CSAW_FN bool csaw__row_in_sight(const csaw__job *job, csaw_vertex v) {
    return v != CSAW_NONE && (!job->remote || v - job->rows.first < job->rows.count);
}

/* At a vertex in sight, or one without arcs, whose row is nowhere. */
CSAW_FN csaw_site csaw__site_of_walker(const csaw__job *job, const csaw__walker *walker) {
    csaw_site site = csaw__site_of(job, job->first + walker->walk, walker->root);
    if (csaw__row_in_sight(job, walker->prev)) {
        csaw__site_row(&site, walker->prev);
        site.prev_row = site.row;
        site.prev_degree = site.degree;
        site.prev_here = 1;
    } else if (csaw__hooks.flags & CSAW_SECOND_ORDER && csaw__hooks.dead_end && job->degree &&
               walker->prev < job->num_vertices && job->degree[walker->prev] == 0) {
        site.prev_here = 1; /* others never leave a vertex without arcs */
    }
    site.prev = walker->prev;
    site.depth = walker->depth;
    __builtin_memcpy(site.user, walker->user, sizeof site.user);
    site.at = walker->at;
    site.row = site.degree = 0;
    if (csaw__row_in_sight(job, walker->at)) csaw__site_row(&site, walker->at);
    return site;
}

CSAW_FN int csaw__step_pick(const csaw_site *site, csaw__walker *walker, const uint8_t *answer, csaw_arc *arc,
                            csaw__fault *fault) {
    const csaw__job *job = site->job;
    if (job->kernel == CSAW__KERNEL_UNIFORM || job->kernel == CSAW__KERNEL_ALIAS) {
        csaw_block block = csaw__step_block(job, site->instance, site->depth);
        uint64_t number = csaw_half(&block, site->depth & 1);
        int picked = job->kernel == CSAW__KERNEL_UNIFORM ? csaw__uniform_pick(site, number, arc)
                                                         : csaw__alias_pick(site, number, arc);
        if (picked == CSAW__PICKED && csaw__update_may_ask(site)) {
            if (!answer) return CSAW__ASKS;
            arc->near_prev = 1u + *answer;
        }
        return picked;
    }
    if (csaw__hooks.edge_bias && csaw__hooks.bounds && job->kernel != CSAW__KERNEL_ITS &&
        job->kernel != CSAW__KERNEL_RACE && walker->attempt < CSAW__ATTEMPTS) {
        int picked =
            csaw__reject_pick(site, job->kernel == CSAW__KERNEL_REJECT_ALIAS, &walker->attempt, answer, arc, fault);
        if (picked != CSAW__UNDECIDED) return picked;
        answer = 0;
    }
    if (csaw__second_remote(site) && site->degree && !answer) return CSAW__UNDECIDED;
    int picked = job->kernel == CSAW__KERNEL_RACE ? csaw__race_pick(site, answer, arc, fault)
                                                  : csaw__its_pick(site, answer, arc, fault);
    if (picked == CSAW__PICKED && answer) arc->near_prev = 1u + answer[arc->rank];
    return picked;
}

static int csaw__step(const csaw__job *job, csaw__walker *walker, const uint8_t *answer, csaw__fault *fault) {
    csaw_site site = csaw__site_of_walker(job, walker);
    csaw_arc arc = csaw__no_arc();
    int picked = csaw__step_pick(&site, walker, answer, &arc, fault);
    if (picked == CSAW__UNDECIDED) return CSAW__ASK_ROW;
    if (picked == CSAW__ASKS) {
        const bool rejects = job->kernel == CSAW__KERNEL_REJECT || job->kernel == CSAW__KERNEL_REJECT_ALIAS;
        walker->asked[0] = arc.dst;
        walker->num_asked = 1;
        if (csaw__hooks.edge_bias && csaw__hooks.bounds && rejects)
            walker->num_asked =
                csaw__reject_asks(&site, job->kernel == CSAW__KERNEL_REJECT_ALIAS, walker->attempt, walker->asked);
        return CSAW__ASK_ARC;
    }
    csaw_vertex next = csaw__move(&site, picked, &arc, &walker->edge, fault);
    __builtin_memcpy(walker->user, site.user, sizeof site.user);
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
        double limit = csaw__second_order(&site) && arc.dst == site.prev ? job->back : job->hi;
        if (factor < job->lo || factor > limit) {
            csaw__fault_at(&site, &arc, CSAW__FAULT_BOUND, factor, factor < job->lo ? job->lo : limit, fault);
            return 1;
        }
    }
    return 0;
}

#endif
