/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_walk.c - walks on a graph that is split over ranks: a walker goes to the rank that holds its
 * vertex; a second-order step asks the rank that holds prev which candidates are prev's neighbours, and is finished
 * where it was begun. What a step led to is sent to the walk's home, which writes it into the path.
 *
 * Records come to a home in any order. A walk's last record says how many there are, so a home is done when that many
 * came. runtime/engine/spread.h says why nothing here waits for ever, and what bounds its memory. */
#include "runtime/engine/spread_walk.h"

#include <stddef.h>
#include <string.h>

#include "runtime/base/grow.h"

_Static_assert(offsetof(csaw__walker_message, user) == CSAW__WALKER_BYTES, "as a plan foretells");
_Static_assert(offsetof(csaw__record_message, edge) == CSAW__RECORD_BYTES, "as a plan foretells");
_Static_assert(sizeof(csaw__walker_question) % 8 == 0, "messages are 8-byte words");

/* ---- slots ---- */

static csaw_status take_slot(csaw__walks_here *w, uint32_t *out) {
    if (w->num_free) {
        *out = w->free[--w->num_free];
    } else {
        const uint64_t need = w->num_slots + 1;
        CSAW_TRY(CSAW__GROW(&w->slot, &w->slot_room, need, "walkers at a rank"));
        CSAW_TRY(CSAW__GROW(&w->free, &w->free_room, need, "walkers at a rank"));
        CSAW_TRY(CSAW__GROW(&w->ready, &w->ready_room, need, "walkers at a rank"));
        *out = (uint32_t)w->num_slots++;
    }
    memset(&w->slot[*out], 0, sizeof *w->slot);
    const uint64_t here = w->num_slots - w->num_free;
    if (here > w->s->counts.most_here) w->s->counts.most_here = here;
    return CSAW_OK;
}

static void give_slot(csaw__walks_here *w, uint32_t number) { w->free[w->num_free++] = number; }

csaw_status csaw__walk_arrive(csaw__walks_here *w, const csaw__walker *walker) {
    uint32_t number;
    CSAW_TRY(take_slot(w, &number));
    w->slot[number].walker = *walker;
    w->ready[w->num_ready++] = number;
    return CSAW_OK;
}

/* ---- the home's side ---- */

static void record(csaw__walks_here *w, uint64_t walk, uint32_t depth, csaw_vertex at, csaw_edge edge) {
    const csaw__job *const job = w->mine;
    const uint64_t place = walk - w->first;
    job->path[place * ((uint64_t)job->length + 1) + depth] = at;
    if (w->edges) job->edge[place * job->length + depth - 1] = edge;
    w->records++;
    if (at != CSAW_NONE && depth < job->length) return;
    w->due += depth;
    w->ended++;
}

void csaw__walk_record(csaw__walks_here *w, const void *message) {
    const csaw__record_message *const m = message;
    record(w, csaw__message_number(m->head), m->depth, m->at, w->edges ? m->edge : CSAW_NO_EDGE);
}

static bool is_done(const csaw__walks_here *w) { return w->ended == w->mine->num_walks && w->records == w->due; }

/* ---- what comes ---- */

static bool has_user(const csaw__walks_here *w) {
    return w->forms.bytes[CSAW__LIST_WALKERS] > offsetof(csaw__walker_message, user);
}

static csaw_status take_walker(csaw__walks_here *w, uint64_t head, const csaw__walker_message *m) {
    csaw__walker walker = {.walk = csaw__message_number(head),
                           .at = m->at,
                           .prev = m->prev,
                           .root = m->root,
                           .depth = m->depth,
                           .edge = CSAW_NO_EDGE};
    if (w->s->gpu) return csaw__walk_gpu_take(w, head, m);
    if (has_user(w)) memcpy(walker.user, m->user, sizeof walker.user);
    return csaw__walk_arrive(w, &walker);
}

static csaw_status take(void *user, uint32_t from, uint64_t head, const unsigned char *message) {
    csaw__walks_here *const w = user;
    const void *const m = message;
    CSAW_TRY(csaw__walk_check(w, from, head, m));
    switch (csaw__message_kind(head)) {
    case CSAW__WALKER: return take_walker(w, head, m);
    case CSAW__ASKING: return csaw__walk_gpu_take(w, head, m);
    case CSAW__QUESTION: return csaw__walk_take_question(w, from, m);
    case CSAW__ANSWER: return csaw__walk_take_answer(w, from, m);
    default: break;
    }
    csaw__walk_record(w, m);
    return CSAW_OK;
}

/* ---- what is sent ---- */

/* What the walker's last step led to. */
static csaw_status tell_home(csaw__walks_here *w, const csaw__walker *walker) {
    const uint64_t bytes = w->forms.bytes[CSAW__LIST_RECORDS];
    csaw__record_message *out;
    if (walker->walk - w->first < w->mine->num_walks) {
        record(w, walker->walk, walker->depth, walker->at, walker->edge);
        return CSAW_OK;
    }
    const csaw__walker at = *walker; /* slots may move while it is told */
    CSAW_TRY(csaw__post(w->s, csaw__home_of(&w->homes, at.walk), bytes, (void **)&out));
    out->head = w->forms.head[CSAW__LIST_RECORDS] | at.walk;
    out->depth = at.depth;
    out->at = at.at;
    if (w->edges) out->edge = at.edge;
    w->s->counts.messages[CSAW__RECORD]++;
    return CSAW_OK;
}

/* All that travels. */
static void write_walker(const csaw__walks_here *w, const csaw__walker *walker, csaw__walker_message *out) {
    out->head = w->forms.head[CSAW__LIST_WALKERS] | walker->walk;
    out->at = walker->at;
    out->prev = walker->prev;
    out->root = walker->root;
    out->depth = walker->depth;
    if (has_user(w)) memcpy(out->user, walker->user, sizeof out->user);
}

/* To the rank that holds its vertex. */
static csaw_status send_walker(csaw__walks_here *w, const csaw__walker *walker, uint32_t to) {
    csaw__walker_message *out;
    CSAW_TRY(csaw__post(w->s, to, w->forms.bytes[CSAW__LIST_WALKERS], (void **)&out));
    write_walker(w, walker, out);
    w->s->counts.messages[CSAW__WALKER]++;
    return CSAW_OK;
}

/* A walker that goes on here. */
static csaw_status stay(csaw__walks_here *w, const csaw__walker *walker) {
    csaw__walker_message message;
    if (!w->s->gpu) return csaw__walk_arrive(w, walker);
    write_walker(w, walker, &message);
    return csaw__walk_gpu_take(w, message.head, &message);
}

/* ---- steps ---- */

csaw_status csaw__walk_go(csaw__walks_here *w, uint32_t number) {
    const csaw__rows *const rows = &w->whole->rows;
    const csaw__walker *const at = &w->slot[number].walker;
    const bool ended = at->at == CSAW_NONE || at->depth == w->whole->length;
    w->s->counts.steps++;
    const bool stays = !ended && at->at - rows->first < rows->count;
    if (stays && !w->s->gpu) {
        w->ready[w->num_ready++] = number;
        return tell_home(w, at);
    }
    const csaw__walker walker = *at;
    give_slot(w, number);
    CSAW_TRY(tell_home(w, &walker));
    if (stays) return stay(w, &walker);
    return ended ? CSAW_OK : send_walker(w, &walker, csaw__range_of(&w->s->share.ranges, walker.at));
}

/* ---- a run ---- */

static csaw_status start_one(csaw__walks_here *w) {
    const uint64_t walk = w->first + w->started++, root = (w->whole->first + walk) % w->whole->num_roots;
    const csaw_vertex v = w->whole->roots ? w->whole->roots[root] : (csaw_vertex)root;
    const csaw__walker walker = {.walk = walk, .at = v, .root = v, .prev = CSAW_NONE, .edge = CSAW_NO_EDGE};
    const uint32_t to = csaw__range_of(&w->s->share.ranges, v);
    return to == w->s->on.rank ? stay(w, &walker) : send_walker(w, &walker, to);
}

/* Walkers here that can take a step. */
static uint64_t ready(const csaw__walks_here *w) { return w->s->gpu ? csaw__walk_gpu_here(w) : w->num_ready; }

/* A walk is started when there are no other walkers to step: those that are here stay in caches, and memory is taken as
 * needed. */
static csaw_status move_some(csaw__walks_here *w, bool *any) {
    const uint64_t enough = w->s->gpu ? w->at_once : CSAW__WALKERS_AT_ONCE;
    while (ready(w) < enough && w->mine->length && w->started < w->mine->num_walks &&
           w->started - w->ended < w->s->options.window) {
        CSAW_TRY(start_one(w));
        *any = true;
    }
    CSAW_TRY(csaw__walk_step_some(w, any));
    return w->s->gpu ? csaw__walk_gpu_move(w, any) : CSAW_OK;
}

/* Everything but to take in what came. */
static csaw_status go_on(void *user, bool *any) {
    csaw__walks_here *const w = user;
    CSAW_TRY(csaw__walk_send_answers(w, any));
    CSAW_TRY(csaw__walk_send_questions(w, any));
    return move_some(w, any);
}

static csaw_status run(csaw__walks_here *w) {
    csaw__spread *const s = w->s;
    while (!is_done(w)) {
        bool any;
        CSAW_TRY(csaw__post_take(s, &any));
        CSAW_TRY(go_on(w, &any));
        CSAW_TRY(csaw__post_go_on(s));
        if (any) continue;
        CSAW_TRY(csaw__post_flush(s));
        if (!is_done(w)) s->on.idle(s->on.self);
    }
    return CSAW_OK;
}

/* Paths are their roots and nothing, until records come. */
static void clear_paths(const csaw__walks_here *w) {
    const csaw__job *const job = w->mine;
    const uint64_t places = (uint64_t)job->length + 1;
    memset(job->path, 0xff, job->num_walks * places * sizeof *job->path); /* CSAW_NONE */
    if (w->edges) memset(job->edge, 0xff, job->num_walks * job->length * sizeof *job->edge);
    for (uint64_t i = 0; i < job->num_walks; i++) {
        const uint64_t root = (job->first + i) % job->num_roots;
        job->path[i * places] = job->roots ? job->roots[root] : (csaw_vertex)root;
    }
}

static void free_walks(csaw__walks_here *w) {
    for (uint64_t i = 0; i < w->num_slots; i++) csaw__free(w->slot[i].many);
    csaw__free(w->slot);
    csaw__free(w->free);
    csaw__free(w->ready);
    csaw__free(w->waiting);
    csaw__free(w->words);
    csaw__free(w->under_way);
    csaw__walk_gpu_end(w);
}

static csaw__message_forms forms_of(const csaw_sampler *sampler, bool edges) {
    const uint64_t walker = sampler->traits() & CSAW__TRAIT_USER ? sizeof(csaw__walker_message)
                                                                 : offsetof(csaw__walker_message, user),
                   asking = walker + sizeof(csaw__walker_question),
                   record = edges ? sizeof(csaw__record_message) : offsetof(csaw__record_message, edge);
    return (csaw__message_forms){.bytes = {walker, asking, record},
                                 .head = {csaw__message(CSAW__WALKER, walker, 0),
                                          csaw__message(CSAW__ASKING, asking, 0),
                                          csaw__message(CSAW__RECORD, record, 0)}};
}

csaw_status csaw__spread_walk(csaw__spread *s, const csaw_sampler *sampler, const csaw__job *whole,
                              const csaw__job *mine, bool edges, csaw__fault *fault) {
    csaw__walks_here w = {.s = s,
                          .sampler = sampler,
                          .whole = whole,
                          .mine = mine,
                          .fault = *fault,
                          .first = mine->first - whole->first,
                          .homes = csaw__homes_of(whole->num_walks, s->on.size),
                          .forms = forms_of(sampler, edges),
                          .edges = edges,
                          .first_asking = CSAW__NO_SLOT};
    s->take = take;
    s->user = &w;
    if (s->gpu) {
        s->place = csaw__walk_gpu_place;
        s->came = csaw__walk_gpu_came;
    }
    clear_paths(&w);
    if (mine->length == 0) w.ended = mine->num_walks;
    csaw_status status = csaw__alloc_zero(&w.under_way, s->on.size, "questions to other ranks");
    if (status == CSAW_OK && s->gpu) status = csaw__walk_gpu_begin(&w);
    if (status == CSAW_OK) status = run(&w);
    status = csaw__spread_end(s, status, &w.fault, go_on);
    s->take = NULL;
    s->place = NULL;
    s->came = NULL;
    *fault = w.fault;
    free_walks(&w);
    return status;
}
