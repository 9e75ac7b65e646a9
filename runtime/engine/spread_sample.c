/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_sample.c - samples on a graph that is split over ranks. Each rank advances its own instances,
 * depth by depth, as everywhere (sampling.c): pools, frontiers, order of delivery and visited vertices are its own, and
 * no rank waits for the depth of another. What takes a row goes where the row is:
 *
 *   - an entry of the frontier is sent to the rank that holds its vertex, which picks, asks update, and sends back the
 *     picks: a few numbers, however long the row;
 *   - where hooks look at what a rank does not have - visited vertices, prev's row, all rows of a layer - the rows come
 *     home instead (spread_rows.c). */
#include "runtime/engine/spread_sample.h"

#include "runtime/base/grow.h"
#include "runtime/base/vertex_set_add.h"
#include "runtime/engine/fault.h"

/* ---- the owner's side ---- */

/* Picks first .. first + count - 1 of the server's one entry. */
static csaw_status send_some(csaw__spread_samples *r, const csaw__waiting_request *to, uint32_t first, uint32_t count,
                             const uint64_t user[4]) {
    const csaw__worker *const w = &r->server;
    const csaw__frontier *const f = &w->f;
    const uint64_t bytes = csaw__bytes_before_picks(w) + count * csaw__bytes_of_pick(w);
    csaw__picks_message *out;
    CSAW_TRY(csaw__post(r->s, to->from, bytes, (void **)&out));
    out->head = csaw__message(CSAW__PICKS, bytes, csaw__message_number(to->entry.head));
    out->first = first;
    out->count = count;
    out->of = f->got[0];
    out->dead_end = w->has_dead_end ? f->dead_end[0] : CSAW_NONE;
    if (w->has_user) memcpy(out->user, user, sizeof out->user);
    char *at = (char *)out + csaw__bytes_before_picks(w);
    if (count) memcpy(at, f->edge + first, count * sizeof *f->edge);
    at += count * sizeof *f->edge;
    if (count) memcpy(at, f->dst + first, count * sizeof *f->dst);
    at += count * sizeof *f->dst;
    if (w->has_update && count) memcpy(at, f->next + first, count * sizeof *f->next);
    r->s->counts.messages[CSAW__PICKS]++;
    return CSAW_OK;
}

static csaw_status send_fault(csaw__spread_samples *r, const csaw__waiting_request *to) {
    csaw__fault_message *out;
    if (r->server.fault.kind == CSAW__FAULT_NONE) return CSAW_OK;
    CSAW_TRY(csaw__post(r->s, to->from, sizeof *out, (void **)&out));
    out->head = csaw__message(CSAW__FAULT, sizeof *out, 0);
    out->fault = r->server.fault;
    r->server.fault.kind = CSAW__FAULT_NONE;
    return CSAW_OK;
}

static csaw_status serve_entry(csaw__spread_samples *r, const csaw__waiting_request *request) {
    csaw__worker *const w = &r->server;
    const csaw__entry_message *const m = &request->entry;
    const csaw__entry entry = {m->at, CSAW_NONE, 0, m->place};
    uint64_t user[1][4];
    memcpy(user[0], m->user, sizeof user[0]);
    w->f.entry = &entry;
    w->f.count = 1;
    w->f.ahead = 0;
    w->f.first = m->instance_depth >> 24;
    w->f.depth = (uint32_t)(m->instance_depth & 0xffffff);
    w->f.root = &m->root;
    w->f.user = w->has_user ? user : NULL;
    CSAW_TRY(csaw__worker_pick(w));
    CSAW_TRY(send_fault(r, request));
    const uint64_t most = (r->s->on.batch - csaw__bytes_before_picks(w)) / csaw__bytes_of_pick(w);
    const uint32_t got = w->f.got[0];
    uint32_t done = 0;
    r->s->counts.steps += got;
    do {
        const uint32_t count = got - done < most ? got - done : (uint32_t)most;
        CSAW_TRY(send_some(r, request, done, count, user[0]));
        done += count;
    } while (done < got);
    return CSAW_OK;
}

/* Some of what others wait for. */
static csaw_status serve(csaw__spread_samples *r, bool *any) {
    for (int i = 0; i < 64 && r->next_request < r->num_requests; i++) {
        const csaw__waiting_request request = r->request[r->next_request++]; /* requests may move while it is served */
        *any = true;
        if (csaw__message_kind(request.entry.head) == CSAW__ENTRY)
            CSAW_TRY(serve_entry(r, &request));
        else
            CSAW_TRY(csaw__home_rows_send(r, request.from, csaw__message_number(request.entry.head), request.wanted));
    }
    if (r->next_request == r->num_requests) r->next_request = r->num_requests = 0;
    return CSAW_OK;
}

/* ---- what comes ---- */

static csaw_status take_request(csaw__spread_samples *r, uint32_t from, uint64_t head, const unsigned char *message) {
    csaw__waiting_request *to;
    if (r->next_request * 2 > r->num_requests) { /* those that were served are dropped */
        r->num_requests -= r->next_request;
        memmove(r->request, r->request + r->next_request, r->num_requests * sizeof *r->request);
        r->next_request = 0;
    }
    CSAW_TRY(CSAW__GROW(&r->request, &r->request_room, r->num_requests + 1, "what other ranks ask for"));
    csaw__spread_note_kept(r->s, r->request_room * sizeof *r->request);
    to = &r->request[r->num_requests++];
    memset(to, 0, sizeof *to);
    to->from = from;
    to->entry.head = head;
    if (csaw__message_kind(head) == CSAW__ENTRY)
        memcpy(&to->entry, message, csaw__bytes_of_entry(&r->server));
    else
        to->wanted = ((const csaw__wanted_message *)(const void *)message)->at;
    return CSAW_OK;
}

/* To their places in the frontier of the home. */
static void take_picks(csaw__spread_samples *r, uint32_t from, uint64_t head, const csaw__picks_message *m) {
    csaw__worker *const w = r->home;
    csaw__frontier *const f = &w->f;
    const uint64_t entry = csaw__message_number(head), to = f->offset[entry] + m->first;
    const char *at = (const char *)m + csaw__bytes_before_picks(w);
    for (uint32_t i = 0; i < m->count; i++) f->src[to + i] = f->entry[entry].at;
    if (m->count) memcpy(f->edge + to, at, m->count * sizeof *f->edge);
    at += m->count * sizeof *f->edge;
    if (m->count) memcpy(f->dst + to, at, m->count * sizeof *f->dst);
    at += m->count * sizeof *f->dst;
    if (w->has_update && m->count) memcpy(f->next + to, at, m->count * sizeof *f->next);
    if (w->has_user) memcpy(f->user[f->entry[entry].owner], m->user, sizeof m->user);
    f->got[entry] += m->count;
    f->dead_end[entry] = m->dead_end;
    if (f->got[entry] == m->of) csaw__spread_came_back(r, from);
}

static csaw_status take(void *user, uint32_t from, uint64_t head, const unsigned char *message) {
    csaw__spread_samples *const r = user;
    const void *const m = message;
    CSAW_TRY(csaw__samples_check(r, from, head, message));
    switch (csaw__message_kind(head)) {
    case CSAW__PICKS: take_picks(r, from, head, m); return CSAW_OK;
    case CSAW__FAULT: csaw__fault_merge(&r->home->fault, &((const csaw__fault_message *)m)->fault); return CSAW_OK;
    case CSAW__ROW: return csaw__home_rows_take(r, from, head, message);
    default: return take_request(r, from, head, message);
    }
}

/* ---- the home's side ---- */

static csaw_status wait_for(csaw__spread_samples *r, const uint64_t *out, uint64_t most) {
    csaw__spread *const s = r->s;
    while (*out > most) {
        bool any;
        CSAW_TRY(csaw__post_take(s, &any));
        CSAW_TRY(serve(r, &any));
        CSAW_TRY(csaw__post_go_on(s));
        if (any) continue;
        CSAW_TRY(csaw__post_flush(s));
        if (*out > most) s->on.idle(s->on.self);
    }
    return CSAW_OK;
}

csaw_status csaw__spread_wait(csaw__spread_samples *r) { return wait_for(r, &r->under_way, 0); }

csaw_status csaw__spread_send_out(csaw__spread_samples *r, uint32_t to) {
    const uint64_t most = csaw__spread_room_at(r->s) / sizeof *r->request;
    CSAW_TRY(wait_for(r, &r->out_at[to], most ? most - 1 : 0));
    r->under_way++; /* before it can come back */
    r->out_at[to]++;
    return CSAW_OK;
}

static csaw_status send_entry(csaw__spread_samples *r, const csaw__worker *w, uint64_t number, uint32_t to) {
    const csaw__frontier *const f = &w->f;
    const csaw__entry *const entry = &f->entry[number];
    const uint64_t bytes = csaw__bytes_of_entry(w);
    csaw__entry_message *out;
    CSAW_TRY(csaw__post(r->s, to, bytes, (void **)&out));
    out->head = csaw__message(CSAW__ENTRY, bytes, number);
    out->instance_depth = (f->first + entry->owner) << 24 | f->depth;
    out->at = entry->at;
    out->root = f->root[entry->owner];
    out->place = entry->place;
    if (w->has_user) memcpy(out->user, f->user[entry->owner], sizeof out->user);
    r->s->counts.messages[CSAW__ENTRY]++;
    return CSAW_OK;
}

/* Entries of other ranks go there; meanwhile those of this one are expanded. */
static csaw_status expand_where_rows_are(csaw__spread_samples *r, csaw__worker *w) {
    const csaw__frontier *const f = &w->f;
    for (uint64_t i = 0; i < f->count; i++) {
        const uint32_t owner = csaw__range_of(&r->s->share.ranges, f->entry[i].at);
        if (owner == r->s->on.rank) continue;
        w->f.got[i] = 0;
        CSAW_TRY(csaw__spread_send_out(r, owner));
        CSAW_TRY(send_entry(r, w, i, owner));
    }
    CSAW_TRY(csaw__post_flush(r->s));
    for (uint64_t i = 0; i < f->count; i++) {
        if (csaw__range_of(&r->s->share.ranges, f->entry[i].at) != r->s->on.rank) continue;
        r->s->counts.steps++;
        w->sampler->expand(w->job, &w->f, &i, 1, &w->scratch, &w->fault);
    }
    return csaw__spread_wait(r);
}

csaw_status csaw__spread_expand(csaw__worker *w) {
    csaw__spread_samples *const r = w->plan->spread->user;
    r->home = w;
    if (w->flags & (CSAW_VISITED | CSAW_SECOND_ORDER)) return csaw__spread_over_rows(r, w, false);
    return expand_where_rows_are(r, w);
}

csaw_status csaw__spread_layer_biases(csaw__worker *w) {
    return csaw__spread_over_rows(w->plan->spread->user, w, true);
}

/* ---- a batch ---- */

static csaw_status go_on(void *user, bool *any) { return serve(user, any); }

csaw_status csaw__spread_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *mine,
                                csaw_samples *samples, csaw__fault *fault) {
    csaw__spread *const s = plan->spread;
    csaw__spread_samples r = {.s = s, .job = mine};
    csaw__worker_start(&r.server, plan, sampler, mine, false);
    r.server.rows_in_sight = true;
    s->take = take;
    s->user = &r;
    csaw_status status = csaw__alloc_zero(&r.out_at, s->on.size, "entries at other ranks");
    if (status == CSAW_OK) status = csaw__cpu_sample(plan, sampler, mine, false, NULL, samples, fault);
    status = csaw__spread_end(s, status, fault, go_on);
    s->take = NULL;
    s->user = NULL;
    csaw__home_rows_free(&r.rows);
    csaw__worker_free(&r.server);
    csaw__vertex_set_free(&r.at_home);
    csaw__free(r.request);
    csaw__free(r.out_at);
    return status;
}
