/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts.cuh - walks on a GPU to which partitions of the graph come and go, compiled around one
 * sampler.
 *
 * Method (C-SAW, SC'20, section V): a launch works on the walks that wait at one partition, until none is left. There
 * is no queue to fill: a walk is one entry at a time, so one word says at whose partition it waits, and the launch
 * reads the words of all walks, 32 a warp, or fewer where walks stand apart (csaw__log_apart). Warps are kept full: a
 * lane whose walk has left the partition takes up another one. That costs 4 bytes of reading a walk and launch, where
 * queues would need room for every walk at every partition, or a way out when they are full. Of a path the device keeps
 * the last vertices alone: as soon as 16 bytes of it are known they are written, to the host's memory if that is
 * page-locked, so that memory for walks under way is what they need to go on, and the way to the host, which copies do
 * not use, carries the paths.
 *
 * A second-order step reads prev's row where the launch sees it. Else the walk takes the vertices that REJECT asks
 * about to prev's partition and comes back with the answers; a whole row (ITS, RACE, REJECT out of attempts) is not
 * carried to and fro: prev's row is then read in place from the host's memory.
 *
 * A step from a vertex without arcs needs no partition: it is made where the walk comes from, so that none is brought
 * for such vertices.
 *
 * Other launches may hand walks over meanwhile: all of a walk is written before the word that says where it waits, and
 * read from L2, where others' writes are.
 *
 * Limit on an H100, R-MAT 20 in 64 MiB, 200,000 walks (csaw__parts_reject, _uniform, _alias): latency; 6 to 13% of the
 * issue slots, 11 to 27% of the warps, 11 to 17% of L2: a launch has the walks that wait at one partition.
 * docs/measured/2026-11-26-gpu-14.md. */
#ifndef CSAW_ENGINE_DEVICE_PARTS_CUH
#define CSAW_ENGINE_DEVICE_PARTS_CUH

#include "partition/owner.h"
#include "runtime/engine/device_expand.cuh"
#include "runtime/engine/step.h"
#include "samplers/select/scan_warp.cuh"

constexpr bool csaw__asks_prev = (csaw__hooks.flags & CSAW_SECOND_ORDER) != 0;
/* Walks may go on from vertices without arcs. */
constexpr bool csaw__leaves_dead_ends = csaw__given(csaw__hooks.dead_end);

/* A lane's walk. */
struct csaw__part_walk {
    csaw_site site;
    uint64_t walk, path;     /* path: where it begins (csaw__part_path) */
    uint32_t state, attempt; /* csaw__part_state; of REJECT */
    uint8_t answer[CSAW__MOST_ASKED + 1];
    bool busy;
    csaw__part_window window;
};

enum {
    CSAW__PART_WARPS = 8, /* of a block */
    CSAW__LOOKS = 4,      /* 32 words each, which a warp reads at a time */
    CSAW__MOST_FOUND = 32 * CSAW__LOOKS + 31
};

/* The walks that a warp has yet to look at, and those that it found to wait here but has had no lane for. */
struct csaw__part_search {
    uint64_t next;
    uint64_t *walk; /* [CSAW__MOST_FOUND] */
    uint32_t found; /* how many */
};

/* Registers: no index that is known only when it runs. */
CSAW_FN csaw_vertex csaw__window_get(const csaw__part_window *window, uint64_t place) {
    const uint32_t i = (uint32_t)place & (CSAW__WINDOW - 1);
    return i < 2 ? (i ? window->vertex[1] : window->vertex[0]) : i == 2 ? window->vertex[2] : window->vertex[3];
}

CSAW_FN void csaw__window_put(csaw__part_window *window, uint64_t place, csaw_vertex v) {
    const uint32_t i = (uint32_t)place & (CSAW__WINDOW - 1);
    window->vertex[0] = i == 0 ? v : window->vertex[0];
    window->vertex[1] = i == 1 ? v : window->vertex[1];
    window->vertex[2] = i == 2 ? v : window->vertex[2];
    window->vertex[3] = i == 3 ? v : window->vertex[3];
}

/* The vertex at a depth of the path that begins there goes to the window; a window that ends with it, or with the path,
 * to the path: 16 bytes at once, but where they are another walk's, too. */
CSAW_FN void csaw__parts_write(const csaw__job *job, uint64_t begin, csaw__part_window *window, uint32_t depth,
                               csaw_vertex v) {
    const uint64_t place = begin + depth, first = place / CSAW__WINDOW * CSAW__WINDOW;
    csaw__window_put(window, place, v);
    if (place - first < CSAW__WINDOW - 1 && depth < job->length) return;
    if (place - first == CSAW__WINDOW - 1 && first >= begin) {
        *(csaw__part_window *)(first * sizeof(csaw_vertex)) = *window;
        return;
    }
    for (uint64_t p = first > begin ? first : begin; p <= place; p++)
        *(csaw_vertex *)(p * sizeof(csaw_vertex)) = csaw__window_get(window, p);
}

/* known: as csaw__part_question has it. */
CSAW_FN void csaw__parts_learn(csaw__part_walk *w, uint32_t known) {
    const uint32_t count = known & 0xff;
    w->attempt = known >> 8 & 0xff;
    for (uint32_t i = 0; i < count; i++) w->answer[i] = known >> (16 + i) & 1;
    w->answer[count] = CSAW__NO_ANSWER;
}

CSAW_FN void csaw__parts_load(const csaw__job *job, uint64_t walk, csaw__part_walk *w) {
    const csaw__part_walks *p = &job->parts;
    const uint64_t path = csaw__part_path(job, walk);
    w->path = path;
    const uint32_t progress = __ldcg(&p->progress[walk]);
    csaw_site *site = &w->site;
    w->walk = walk;
    w->state = progress >> 24;
    w->attempt = 0;
    w->busy = true;
    site->job = job;
    site->instance = job->instance ? job->instance[walk] : job->first + walk;
    site->depth = progress & 0xffffffu;
    for (int i = 0; i < CSAW__WINDOW; i++) w->window.vertex[i] = __ldcg(&p->window[walk].vertex[i]);
    site->root = p->root ? p->root[walk] : csaw__root_of(job, site->instance);
    site->at = csaw__window_get(&w->window, path + site->depth);
    site->prev = site->depth ? csaw__window_get(&w->window, path + site->depth - 1) : CSAW_NONE;
    site->row = site->prev_row = 0;
    site->degree = site->prev_degree = 0;
    site->undeclared = site->in_sample = site->prev_here = 0;
    for (int i = 0; i < 4; i++)
        site->user[i] = csaw__hooks.user_bytes ? __ldcg((const unsigned long long *)&p->user[walk][i]) : 0;
    if constexpr (csaw__asks_prev) {
        if (w->state == CSAW__PART_KNOWS) csaw__parts_learn(w, __ldcg(&p->question[walk].known));
    }
}

/* Whether the vertex is of the launch's partition; not CSAW_NONE. */
CSAW_FN bool csaw__parts_here(const csaw__job *job, csaw_vertex v) {
    return v - job->parts.view[0].first < job->parts.view[0].count;
}

/* Adds those of the next walks that wait here. Of wide * warps words, side by side, `wide` are the warp's; its lanes
 * look at 32 / wide times as many at once. */
CSAW_FN void csaw__parts_look(const csaw__job *job, uint32_t wide, csaw__part_search *search) {
    const csaw__part_walks *p = &job->parts;
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const uint64_t apart = wide * p->warps, step = 32 / wide * apart;
    csaw_vertex wait[CSAW__LOOKS];
    uint64_t walk = search->next + lane / wide * apart + lane % wide;
    search->next += CSAW__LOOKS * step;
#pragma unroll
    for (int i = 0; i < CSAW__LOOKS; i++) {
        const uint64_t at = walk + i * step;
        wait[i] = at < job->num_walks ? __ldcg(&p->wait[at]) : CSAW_NONE;
    }
#pragma unroll
    for (int i = 0; i < CSAW__LOOKS; i++, walk += step) {
        const bool here = csaw__parts_here(job, wait[i]);
        const uint32_t all = __ballot_sync(CSAW__WARP, here);
        if (here) search->walk[search->found + (uint32_t)__popc(all & below)] = walk;
        search->found += (uint32_t)__popc(all);
    }
}

/* Gives walks that wait here to the lanes without one, as long as there are any of both. Walks are looked for until
 * there is one for each lane, and loaded together: a launch waits for memory more than for anything else. */
CSAW_FN void csaw__parts_take(const csaw__job *job, uint32_t wide, csaw__part_search *search, csaw__part_walk *w) {
    const uint32_t lane = threadIdx.x & 31, idle = __ballot_sync(CSAW__WARP, !w->busy), lanes = (uint32_t)__popc(idle);
    const uint32_t place = (uint32_t)__popc(idle & ((1u << lane) - 1));
    while (search->found < lanes && search->next < job->num_walks) csaw__parts_look(job, wide, search);
    const uint32_t taken = search->found < lanes ? search->found : lanes;
    if (!taken) return;
    __threadfence(); /* what others wrote before these words is read after them */
    __syncwarp();    /* and what other lanes have found */
    if (!w->busy && place < taken) csaw__parts_load(job, search->walk[search->found - taken + place], w);
    search->found -= taken;
    __syncwarp(); /* before more is found in its place */
}

/* Where the place of a row in another array is, counted from the job's col: as csaw_adjacent() reads it. */
CSAW_FN uint64_t csaw__parts_place(const csaw__job *job, const csaw_vertex *col, uint64_t place) {
    return place + (uint64_t)((int64_t)((uint64_t)col - (uint64_t)job->rows.col) / (int64_t)sizeof *col);
}

/* Prev's row is that one. */
CSAW_FN void csaw__parts_see_prev(csaw_site *site, const void *offset, const csaw_vertex *col, csaw_vertex local) {
    csaw__rows rows;
    rows.offset = offset;
    rows.wide = site->job->rows.wide;
    const uint64_t begin = csaw__offset(&rows, local);
    site->prev_row = csaw__parts_place(site->job, col, begin);
    site->prev_degree = (uint32_t)(csaw__offset(&rows, local + 1) - begin);
    site->prev_here = 1;
}

/* Prev's row, if it is on the device, or has no arcs. */
CSAW_FN void csaw__parts_find_prev(csaw_site *site) {
    const csaw__part_walks *p = &site->job->parts;
    site->prev_here = 0;
    site->prev_degree = 0;
    for (uint32_t i = 0; i < p->views && !site->prev_here; i++) {
        const csaw__part_view *view = &p->view[i];
        const csaw_vertex local = site->prev - view->first;
        if (local >= view->count) continue;
        csaw__parts_see_prev(site, view->offset, view->col, local);
    }
    if constexpr (csaw__leaves_dead_ends) {
        if (!site->prev_here && site->prev != CSAW_NONE && csaw_degree(site, site->prev) == 0) site->prev_here = 1;
    }
}

/* Prev's row where it is: many reads one after the other, from far away. Whether it is in sight then. */
CSAW_FN bool csaw__parts_prev_in_place(csaw_site *site) {
    const csaw__part_walks *p = &site->job->parts;
    if (!csaw__second_remote(site)) return true;
    if (!p->whole_col) return false;
    csaw__parts_see_prev(site, p->whole_offset, p->whole_col, site->prev);
    return true;
}

template <uint32_t KERNEL> CSAW_FN int csaw__parts_pick(csaw__part_walk *w, csaw_arc *arc) {
    csaw_site *site = &w->site;
    const uint8_t *answer = w->state == CSAW__PART_KNOWS ? w->answer : 0;
    if constexpr (KERNEL == CSAW__KERNEL_UNIFORM || KERNEL == CSAW__KERNEL_ALIAS) {
        const csaw_block block = csaw__step_block(site->job, site->instance, site->depth);
        const uint64_t number = csaw_half(&block, site->depth & 1);
        const int picked = KERNEL == CSAW__KERNEL_UNIFORM ? csaw__uniform_pick(site, number, arc)
                                                          : csaw__alias_pick(site, number, arc);
        if (picked != CSAW__PICKED || !csaw__update_may_ask(site)) return picked;
        if (!answer) return CSAW__ASKS;
        arc->near_prev = 1u + *answer;
        return picked;
    } else {
        int picked = CSAW__UNDECIDED;
        if constexpr (KERNEL != CSAW__KERNEL_ITS && KERNEL != CSAW__KERNEL_RACE)
            picked = csaw__reject_pick(site, KERNEL == CSAW__KERNEL_REJECT_ALIAS, &w->attempt, answer, arc, 0);
        if (picked != CSAW__UNDECIDED || csaw__parts_prev_in_place(site)) return picked;
        w->state = CSAW__PART_STOPS;
        return CSAW__ASKS;
    }
}

/* The walk goes to prev's partition with these vertices, or stops where it is. Where it waits then. */
template <uint32_t KERNEL> CSAW_FN csaw_vertex csaw__parts_ask(csaw__part_walk *w, const csaw_arc *arc) {
    csaw__part_question *question = &w->site.job->parts.question[w->walk];
    uint32_t count = 1;
    question->known = w->attempt << 8;
    if (w->state == CSAW__PART_STOPS) return w->site.at;
    question->vertex[0] = arc->dst;
    if constexpr (KERNEL == CSAW__KERNEL_REJECT || KERNEL == CSAW__KERNEL_REJECT_ALIAS)
        count = csaw__reject_asks(&w->site, KERNEL == CSAW__KERNEL_REJECT_ALIAS, w->attempt, question->vertex);
    question->known |= count;
    w->state = CSAW__PART_ASKS;
    return w->site.prev;
}

CSAW_FN void csaw__parts_answer(csaw__part_walk *w) {
    csaw__part_question *question = &w->site.job->parts.question[w->walk];
    const uint32_t known = __ldcg(&question->known), count = known & 0xff;
    csaw_site at_prev = w->site;
    uint32_t answers = 0;
    csaw__site_row(&at_prev, w->site.prev);
    const csaw_vertex *row = at_prev.job->rows.col + at_prev.row;
    for (uint32_t i = 0; i < count; i++)
        answers |= (uint32_t)csaw__row_has(row, at_prev.degree, __ldcg(&question->vertex[i])) << i;
    question->known = known | answers << 16;
    w->state = CSAW__PART_KNOWS;
    csaw__parts_learn(w, question->known);
}

/* What a walk needs to go on, to where csaw__parts_load() finds it. */
CSAW_FN void csaw__parts_keep(const csaw__part_walk *w) {
    const csaw__part_walks *p = &w->site.job->parts;
    p->window[w->walk] = w->window;
    p->progress[w->walk] = w->site.depth | w->state << 24;
    for (int i = 0; i < 4 && csaw__hooks.user_bytes; i++) p->user[w->walk][i] = w->site.user[i];
}

/* To the lanes with `leaves` their walks are done with here: each waits at the partition of `wait` from now on. It is
 * counted there before it is to be seen there, and no longer counted here after that. */
CSAW_FN void csaw__parts_hand_over(const csaw__job *job, const csaw__part_walk *w, bool leaves, csaw_vertex wait) {
    const csaw__part_walks *p = &job->parts;
    const uint32_t gone = __ballot_sync(CSAW__WARP, leaves), lane = threadIdx.x & 31;
    if (!gone) return;
    const uint32_t to = leaves && wait != CSAW_NONE ? csaw__owner_of(p->first, p->owner, p->shift, wait) : p->parts;
    const uint32_t alike = __match_any_sync(CSAW__WARP, to);
    if (to < p->parts && (uint32_t)__ffs((int)alike) == lane + 1)
        atomicAdd(&p->waiting[to], (unsigned long long)__popc(alike));
    if (leaves && wait != CSAW_NONE) csaw__parts_keep(w);
    __threadfence();
    __syncwarp();
    if (leaves) __stcg(&p->wait[w->walk], wait);
    if (lane == 0) atomicAdd(&p->waiting[p->part], 0ull - (unsigned long long)__popc(gone));
}

/* After a pick: where the walk is then. CSAW_NONE: it is done. */
CSAW_FN csaw_vertex csaw__parts_move(csaw__part_walk *w, int picked, const csaw_arc *arc) {
    csaw_site *site = &w->site;
    const csaw__job *job = site->job;
    csaw_edge edge;
    const csaw_vertex next = csaw__move(site, picked, arc, &edge, 0);
    const uint32_t last = next == CSAW_NONE ? job->length : site->depth + 1; /* an ended path is padded */
    for (uint32_t depth = site->depth; depth < last; depth++) {
        csaw__parts_write(job, w->path, &w->window, depth + 1, next);
        if (job->edge) csaw__part_edge(job, w->walk)[depth] = depth == site->depth ? edge : CSAW_NO_EDGE;
    }
    site->prev = site->at;
    site->at = next;
    site->depth++;
    w->state = CSAW__PART_STEPS;
    w->attempt = 0;
    return site->depth == job->length ? CSAW_NONE : next;
}

/* Steps from vertices elsewhere that have no arcs, for which no partition is needed. Where the walk is then. */
CSAW_FN csaw_vertex csaw__parts_step_off(csaw__part_walk *w, csaw_vertex at) {
    const csaw_arc none = csaw__no_arc();
    while (at != CSAW_NONE && !csaw__parts_here(w->site.job, at) && csaw_degree(&w->site, at) == 0) {
        w->site.row = 0;
        w->site.degree = 0;
        if constexpr (csaw__asks_prev && csaw__leaves_dead_ends) csaw__parts_find_prev(&w->site);
        at = csaw__parts_move(w, CSAW__NOTHING, &none);
    }
    return at;
}

template <uint32_t KERNEL> CSAW_FN void csaw__parts_walk(const csaw__job &job) {
    constexpr bool scans = KERNEL != CSAW__KERNEL_UNIFORM && KERNEL != CSAW__KERNEL_ALIAS;
    constexpr bool scans_all = KERNEL == CSAW__KERNEL_ITS || KERNEL == CSAW__KERNEL_RACE;
    const uint32_t wide = scans_all ? 32u >> job.log_apart : 32;
    const uint64_t warp = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) >> 5;
    __shared__ uint64_t found[CSAW__PART_WARPS][CSAW__MOST_FOUND];
    csaw__part_search search = {wide * warp, found[threadIdx.x / 32], 0};
    csaw__part_walk w;
    w.site.job = &job; /* a lane without a walk helps others to scan their rows */
    w.busy = false;
    for (;;) {
        csaw__parts_take(&job, wide, &search, &w);
        if (!__any_sync(CSAW__WARP, w.busy)) return;
        csaw_arc arc;
        csaw_vertex wait = CSAW_NONE;
        int picked = CSAW__NOTHING;
        const bool answers = csaw__asks_prev && w.busy && w.state == CSAW__PART_ASKS, steps = w.busy && !answers;
        if (steps) {
            csaw__site_row(&w.site, w.site.at);
            if constexpr (csaw__asks_prev) csaw__parts_find_prev(&w.site);
            picked = csaw__parts_pick<KERNEL>(&w, &arc);
        }
        if constexpr (scans) {
            const bool undecided = steps && picked == CSAW__UNDECIDED;
            const uint32_t decided = csaw__scan_warp<KERNEL == CSAW__KERNEL_RACE>(&w.site, undecided);
            if (undecided) picked = csaw__scan_take(&w.site, decided, &arc);
        }
        if constexpr (csaw__asks_prev) {
            if (answers) {
                csaw__parts_answer(&w);
                wait = w.site.at;
            } else if (steps && picked == CSAW__ASKS) {
                wait = csaw__parts_ask<KERNEL>(&w, &arc);
            }
        }
        const bool moves = steps && picked != CSAW__ASKS;
        if (moves) wait = csaw__parts_step_off(&w, csaw__parts_move(&w, picked, &arc));
        const bool stays = (moves || answers) && csaw__parts_here(&job, wait);
        csaw__parts_hand_over(&job, &w, w.busy && !stays, wait);
        w.busy = stays;
    }
}

/* Walks at their roots, or where those without arcs lead. Done from the start if they make no step. */
CSAW_FN void csaw__parts_start(const csaw__job &job) {
    const csaw__part_walks *p = &job.parts;
    const uint64_t walk = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const bool mine = walk < job.num_walks;
    uint32_t to = p->parts;
    if (mine) {
        const csaw_vertex root = p->root ? p->root[walk] : csaw__root_of(&job, job.first + walk);
        csaw__part_window window = {{0, 0, 0, 0}};
        csaw__parts_write(&job, csaw__part_path(&job, walk), &window, 0, root);
        p->window[walk] = window;
        p->progress[walk] = 0;
        for (int i = 0; i < 4 && csaw__hooks.user_bytes; i++) p->user[walk][i] = 0;
        csaw_vertex wait = root;
        if (job.length && job.degree && job.degree[root] == 0) {
            csaw__part_walk w;
            __threadfence(); /* what was written is read after it */
            csaw__parts_load(&job, walk, &w);
            wait = csaw__parts_step_off(&w, root);
            csaw__parts_keep(&w);
        }
        p->wait[walk] = wait;
        if (wait != CSAW_NONE) to = csaw__owner_of(p->first, p->owner, p->shift, wait);
    }
    const uint32_t alike = __match_any_sync(CSAW__WARP, to);
    if (mine && (uint32_t)__ffs((int)alike) == (threadIdx.x & 31) + 1)
        atomicAdd(&p->waiting[to], (unsigned long long)__popc(alike));
}

#endif
