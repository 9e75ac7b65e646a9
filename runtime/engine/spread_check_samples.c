/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_check_samples.c - whether a message of samples that came from another rank can be one of the
 * batch at hand, as spread_check.c does it for walks. What it names is used as a place: in the frontier and behind it,
 * in rows that came home, in rows and degrees here. An instance is no place, but what draws are made of: any will do.
 */
#include <string.h>

#include "runtime/engine/spread_sample.h"

/* Rows come home for such samplers; entries of others go where rows are. */
static bool rows_come_home(const csaw__spread_samples *r) {
    return r->server.flags & (CSAW_VISITED | CSAW_SECOND_ORDER | CSAW_LAYER);
}

static csaw_status check_kind(const csaw__spread_samples *r, uint32_t from, uint32_t kind) {
    const bool rows = kind == CSAW__WANTED || kind == CSAW__ROW;
    const bool entries = kind == CSAW__ENTRY || kind == CSAW__PICKS || kind == CSAW__FAULT;
    CSAW_REQUIRE(rows_come_home(r) ? rows : entries, CSAW_EINVAL,
                 "rank %u sent a message of kind %u, which samples of this sampler have not; " CSAW__SPOILED, from,
                 kind);
    return CSAW_OK;
}

/* bytes: that such a message takes; of one that says itself how long it is, at least. */
static csaw_status check_bytes(uint32_t from, uint64_t head, uint64_t bytes, bool at_least, const char *what) {
    const uint64_t came = csaw__message_bytes(head), whole = (bytes + 7) & ~(uint64_t)7;
    CSAW_REQUIRE(at_least ? came >= whole : came == whole, CSAW_EINVAL,
                 "rank %u sent %s of %llu bytes, but here it takes %llu%s; " CSAW__SPOILED, from, what,
                 (unsigned long long)came, (unsigned long long)whole, at_least ? " at least" : "");
    return CSAW_OK;
}

static csaw_status check_awaited(const csaw__spread_samples *r, uint32_t from, const char *what) {
    CSAW_REQUIRE(r->out_at[from], CSAW_EINVAL, "rank %u sent %s, but nothing was asked of it; " CSAW__SPOILED, from,
                 what);
    return CSAW_OK;
}

static bool is_place(csaw_vertex v, csaw_vertex num_vertices) { return v < num_vertices || v == CSAW_NONE; }

/* ---- what others ask for ---- */

static csaw_status check_entry(const csaw__spread_samples *r, uint32_t from, uint64_t head,
                               const csaw__entry_message *m) {
    const csaw__job *const job = r->job;
    CSAW_TRY(check_bytes(from, head, csaw__bytes_of_entry(&r->server), false, "an entry"));
    const uint32_t depth = (uint32_t)(m->instance_depth & 0xffffff);
    CSAW_REQUIRE(m->at - job->rows.first < job->rows.count && m->root < job->num_vertices && depth < job->length,
                 CSAW_EINVAL,
                 "rank %u sent an entry at vertex %u, root %u, depth %u, to the rows of %u vertices from %u on; "
                 "vertices are below %u, depths below %u; " CSAW__SPOILED,
                 from, m->at, m->root, depth, job->rows.count, job->rows.first, job->num_vertices, job->length);
    return CSAW_OK;
}

/* A row without arcs is not asked for: nothing would come back. */
static csaw_status check_wanted(const csaw__spread_samples *r, uint32_t from, uint64_t head,
                                const csaw__wanted_message *m) {
    const csaw__job *const job = r->job;
    CSAW_TRY(check_bytes(from, head, sizeof *m, false, "what it wants"));
    CSAW_REQUIRE(m->at - job->rows.first < job->rows.count && job->degree[m->at], CSAW_EINVAL,
                 "rank %u wants the row of vertex %u; here are those of %u vertices from %u on, and rows without arcs "
                 "are not asked for; " CSAW__SPOILED,
                 from, m->at, job->rows.count, job->rows.first);
    return CSAW_OK;
}

/* ---- what comes back ---- */

static csaw_status check_picked(const csaw__spread_samples *r, uint32_t from, const csaw__picks_message *m) {
    const csaw__worker *const w = r->home;
    const csaw_vertex n = r->job->num_vertices;
    const csaw_edge edges = w->plan->graph->csr.num_edges;
    const csaw_edge *const edge = (const void *)((const char *)m + csaw__bytes_before_picks(w));
    const csaw_vertex *const dst = (const void *)(edge + m->count);
    const csaw_vertex *const next = w->has_update ? dst + m->count : dst;
    for (uint32_t i = 0; i < m->count; i++)
        CSAW_REQUIRE(edge[i] < edges && dst[i] < n && is_place(next[i], n), CSAW_EINVAL,
                     "rank %u sent a pick of edge %llu to vertex %u, update %u; edges are below %llu, vertices below "
                     "%u; " CSAW__SPOILED,
                     from, (unsigned long long)edge[i], dst[i], next[i], (unsigned long long)edges, n);
    return CSAW_OK;
}

static csaw_status check_picks(const csaw__spread_samples *r, uint32_t from, uint64_t head,
                               const csaw__picks_message *m) {
    const uint64_t entry = csaw__message_number(head);
    CSAW_TRY(check_bytes(from, head, csaw__bytes_before_picks(&r->server), true, "picks"));
    CSAW_TRY(check_bytes(from, head, csaw__bytes_before_picks(&r->server) + m->count * csaw__bytes_of_pick(&r->server),
                         false, "picks"));
    CSAW_TRY(check_awaited(r, from, "picks"));
    const csaw__frontier *const f = &r->home->f;
    CSAW_REQUIRE(entry < f->count && csaw__range_of(&r->s->share.ranges, f->entry[entry].at) == from, CSAW_EINVAL,
                 "rank %u sent picks of entry %llu, but of the %llu here that one is not there; " CSAW__SPOILED, from,
                 (unsigned long long)entry, (unsigned long long)f->count);
    const uint64_t most = f->offset[entry + 1] - f->offset[entry];
    CSAW_REQUIRE(m->of <= most && m->first <= m->of && m->count <= m->of - m->first &&
                     m->count <= m->of - (uint64_t)f->got[entry] && f->got[entry] <= m->of &&
                     (m->count || m->of == 0) && is_place(m->dead_end, r->job->num_vertices),
                 CSAW_EINVAL,
                 "rank %u sent %u picks from %u on, of %u, dead end %u; %u came before, the entry has %llu at most, "
                 "vertices are below %u; " CSAW__SPOILED,
                 from, m->count, m->first, m->of, m->dead_end, f->got[entry], (unsigned long long)most,
                 r->job->num_vertices);
    return check_picked(r, from, m);
}

static csaw_status check_fault(const csaw__spread_samples *r, uint32_t from, uint64_t head,
                               const csaw__fault_message *m) {
    CSAW_TRY(check_bytes(from, head, sizeof *m, false, "a fault"));
    CSAW_TRY(check_awaited(r, from, "a fault"));
    CSAW_REQUIRE(m->fault.kind - 1 < CSAW__FAULT_FANOUT, CSAW_EINVAL,
                 "rank %u sent a fault of kind %u; they are 1 .. %d; " CSAW__SPOILED, from, m->fault.kind,
                 (int)CSAW__FAULT_FANOUT);
    return CSAW_OK;
}

/* Where arcs lead, and of alias tables the places in the row. */
static csaw_status check_arcs(const csaw__spread_samples *r, uint32_t from, const csaw__home_row *row,
                              const csaw__row_message *m) {
    const csaw_vertex n = r->job->num_vertices;
    const csaw_vertex *const col = (const void *)(m + 1);
    const uint64_t behind = csaw__bytes_of_arc(&r->job->rows) - sizeof(csaw__alias);
    for (uint32_t i = 0; i < m->count; i++) {
        csaw__alias alias = {0, 0, 0, 0};
        if (r->job->rows.alias)
            memcpy(&alias, (const char *)(m + 1) + m->count * behind + i * sizeof alias, sizeof alias);
        CSAW_REQUIRE(col[i] < n && is_place(alias.own, n) && is_place(alias.other, n) && alias.other_rank < row->degree,
                     CSAW_EINVAL,
                     "rank %u sent an arc to vertex %u, alias of place %u to %u or %u, of a row of %u; vertices are "
                     "below %u; " CSAW__SPOILED,
                     from, col[i], alias.other_rank, alias.own, alias.other, row->degree, n);
    }
    return CSAW_OK;
}

static csaw_status check_row(const csaw__spread_samples *r, uint32_t from, uint64_t head, const csaw__row_message *m) {
    const csaw__home_rows *const h = &r->rows;
    const uint64_t number = csaw__message_number(head);
    CSAW_TRY(check_bytes(from, head, sizeof *m, true, "a row"));
    CSAW_TRY(check_bytes(from, head, sizeof *m + m->count * csaw__bytes_of_arc(&r->job->rows), false, "a row"));
    CSAW_TRY(check_awaited(r, from, "a row"));
    CSAW_REQUIRE(number < h->count && csaw__range_of(&r->s->share.ranges, h->row[number].at) == from, CSAW_EINVAL,
                 "rank %u sent row %llu, but of the %llu wanted here that one is not there; " CSAW__SPOILED, from,
                 (unsigned long long)number, (unsigned long long)h->count);
    const csaw__home_row *const row = &h->row[number];
    const csaw_edge edges = r->server.plan->graph->csr.num_edges;
    CSAW_REQUIRE(m->count && m->first < row->degree && m->count <= row->degree - m->first &&
                     m->count <= row->degree - row->came && row->degree <= edges && m->first_arc <= edges - row->degree,
                 CSAW_EINVAL,
                 "rank %u sent %u arcs from %u on, edge %llu the first of the row, which has %u, of which %u came "
                 "before; edges are below %llu; " CSAW__SPOILED,
                 from, m->count, m->first, (unsigned long long)m->first_arc, row->degree, row->came,
                 (unsigned long long)edges);
    return check_arcs(r, from, row, m);
}

csaw_status csaw__samples_check(const csaw__spread_samples *r, uint32_t from, uint64_t head, const void *message) {
    const uint32_t kind = csaw__message_kind(head);
    CSAW_TRY(check_kind(r, from, kind));
    switch (kind) {
    case CSAW__ENTRY: return check_entry(r, from, head, message);
    case CSAW__WANTED: return check_wanted(r, from, head, message);
    case CSAW__PICKS: return check_picks(r, from, head, message);
    case CSAW__FAULT: return check_fault(r, from, head, message);
    default: return check_row(r, from, head, message);
    }
}
