/* SPDX-License-Identifier: MIT */
/* runtime/engine/sampling.c - the sampling model (C-SAW, SC'20, figure 2) for a batch of instances: frontier, picks,
 * updates, next pool, depth by depth. What a sampler's hooks decide is compiled with it (expand.h); the pools are kept
 * here. Different batches never meet, so that threads share nothing. */
#include "runtime/engine/sampling.h"

#include "runtime/base/grow.h"
#include "runtime/base/vertex_set_add.h"
#include "runtime/engine/fault.h"

void csaw__worker_start(csaw__worker *w, csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                        bool check) {
    const uint32_t traits = sampler->traits();
    w->plan = plan;
    w->sampler = sampler;
    w->job = job;
    w->check = check;
    w->flags = traits >> CSAW__TRAIT_FLAGS;
    w->has_user = traits & CSAW__TRAIT_USER;
    w->has_vertex_bias = traits & CSAW__TRAIT_VERTEX;
    w->has_size = traits & CSAW__TRAIT_SIZE;
    w->frontier_size = sampler->frontier_size(job->params);
    w->fault = (csaw__fault){.kind = CSAW__FAULT_NONE};
    w->num_records = w->num_seeds = 0;
}

static void lists_free(csaw__worker *w) {
    for (uint64_t i = 0; i < w->num_lists; i++) csaw__pool_free(&w->list[i]);
    w->num_lists = 0;
}

void csaw__worker_free(csaw__worker *w) {
    void *const arrays[] = {
        w->root,     w->user,     w->pool,         w->next,         w->selected,      w->list,         w->f.degree,
        w->f.fanout, w->f.offset, w->f.got,        w->f.dead_end,   w->f.dst,         w->f.next,       w->f.edge,
        w->f.arc,    w->f.bias,   w->all,          w->f.pick_rank,  w->owner_pick,    w->upto,         w->f.pick_entry,
        w->record,   w->seed,     w->scratch.upto, w->scratch.tree, w->scratch.taken, w->scratch.pick, w->scratch.open};
    lists_free(w);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) csaw__free(arrays[i]);
    csaw__vertex_set_free(&w->in_next);
    csaw__vertex_set_free(&w->visited);
}

csaw_status csaw__worker_scratch(csaw__worker *w, uint64_t n, uint64_t k) {
    csaw__scratch *s = &w->scratch;
    if (n > w->scratch_n) {
        csaw__free(s->upto);
        csaw__free(s->tree);
        s->upto = s->tree = NULL;
        w->scratch_n = 0;
        n += n / 2;
        CSAW_TRY(csaw__alloc(&s->upto, n, "sums over a row"));
        CSAW_TRY(csaw__alloc(&s->tree, n + 1, "sums over a row"));
        w->scratch_n = n;
    }
    if (k > w->scratch_k) {
        csaw__free(s->taken);
        csaw__free(s->pick);
        csaw__free(s->open);
        s->taken = s->pick = NULL;
        s->open = NULL;
        w->scratch_k = 0;
        k += k / 2;
        CSAW_TRY(csaw__alloc(&s->taken, 4 * k + 8, "picks of a row"));
        CSAW_TRY(csaw__alloc(&s->pick, k, "picks of a row"));
        CSAW_TRY(csaw__alloc(&s->open, k, "picks of a row"));
        w->scratch_k = k;
    }
    return CSAW_OK;
}

csaw_status csaw__worker_all(csaw__worker *w, uint64_t count) {
    CSAW_TRY(CSAW__GROW(&w->all, &w->all_room, count, "a list of entries"));
    for (; w->all_count < count; w->all_count++) w->all[w->all_count] = w->all_count;
    return CSAW_OK;
}

static uint64_t instance_of(const csaw__worker *w, uint32_t owner) { return w->f.first + owner; }

/* ---- pools ---- */

static csaw_status push(csaw__entry **array, uint64_t *count, uint64_t *room, csaw__entry entry) {
    CSAW_TRY(CSAW__GROW(array, room, *count + 1, "a pool"));
    (*array)[(*count)++] = entry;
    return CSAW_OK;
}

/* Adds to the pool that is being made, unless its vertex is there. */
static csaw_status push_new(csaw__worker *w, csaw__entry entry) {
    bool added;
    CSAW_TRY(csaw__vertex_set_add(&w->in_next, entry.owner, entry.at, &added));
    return added ? push(&w->next, &w->next_count, &w->next_room, entry) : CSAW_OK;
}

/* The pool that was made is the pool now. */
static void turn(csaw__worker *w) {
    csaw__entry *const pool = w->pool;
    const uint64_t room = w->pool_room;
    w->pool = w->next;
    w->pool_room = w->next_room;
    w->pool_count = w->next_count;
    w->next = pool;
    w->next_room = room;
    w->next_count = 0;
}

static void pool_fault(csaw__worker *w, uint32_t owner, csaw_vertex v, float bias) {
    const csaw__fault fault = {.instance = instance_of(w, owner),
                               .depth = w->f.depth,
                               .kind = CSAW__FAULT_POOL,
                               .edge = CSAW_NO_EDGE,
                               .src = v,
                               .dst = CSAW_NONE,
                               .value = (double)bias};
    csaw__fault_merge(&w->fault, &fault);
}

static csaw_status make_list(csaw__worker *w, uint64_t first, uint64_t count) {
    uint64_t bad;
    CSAW_REQUIRE(count < UINT32_MAX, CSAW_EINVAL, "a pool of %llu seeds; a pool that is a list has at most 2^32 - 2",
                 (unsigned long long)count);
    CSAW_TRY(CSAW__GROW(&w->list, &w->list_room, w->num_lists + 1, "pools"));
    CSAW_TRY(csaw__pool_create(w->sampler, w->job, w->next + first, count, &w->list[w->num_lists], &bad));
    w->num_lists++;
    if (bad == count) return CSAW_OK;
    float bias;
    w->sampler->vertex_biases(w->job, &w->next[first + bad].at, 1, &bias);
    pool_fault(w, w->next[first + bad].owner, w->next[first + bad].at, bias);
    return CSAW_OK;
}

/* Seeds of all owners. */
static csaw_status first_pools(csaw__worker *w) {
    const csaw__job *job = w->job;
    CSAW_TRY(csaw__vertex_set_clear(&w->in_next));
    CSAW_TRY(CSAW__GROW(&w->root, &w->owner_room, w->num_owners, "roots"));
    w->next_count = 0;
    for (uint64_t owner = 0; owner < w->num_owners; owner++) {
        const uint64_t pool = (w->f.first + owner) % job->num_roots;
        const uint64_t first = job->seed_offset ? job->seed_offset[pool] : pool;
        const uint64_t end = job->seed_offset ? job->seed_offset[pool + 1] : pool + 1;
        const uint64_t start = w->next_count;
        w->root[owner] = CSAW_NONE;
        for (uint64_t s = first; s < end; s++) {
            const csaw_vertex v = job->roots ? job->roots[s] : (csaw_vertex)s;
            const csaw__entry entry = {v, CSAW_NONE, (uint32_t)owner, (uint32_t)(s - first)};
            if (s == first) w->root[owner] = v;
            if (w->flags & CSAW_REPLACE_POOL)
                CSAW_TRY(push(&w->next, &w->next_count, &w->next_room, entry));
            else
                CSAW_TRY(push_new(w, entry));
        }
        if (w->flags & CSAW_REPLACE_POOL) CSAW_TRY(make_list(w, start, w->next_count - start));
    }
    turn(w);
    return CSAW_OK;
}

/* What the pools hold now has been visited. */
static csaw_status visit(csaw__worker *w) {
    bool added;
    for (uint64_t i = 0; i < w->pool_count; i++)
        CSAW_TRY(csaw__vertex_set_add(&w->visited, w->pool[i].owner, w->pool[i].at, &added));
    return CSAW_OK;
}

/* ---- frontiers ---- */

/* Places of a pool that is a set, from pool[first .. first + count - 1]. */
static csaw_status select_from_set(csaw__worker *w, uint64_t first, uint64_t count) {
    const csaw__entry *pool = w->pool + first;
    const uint32_t k = w->frontier_size < count ? w->frontier_size : (uint32_t)count;
    csaw__choice c = {.seed = w->job->seed,
                      .instance = instance_of(w, pool->owner),
                      .depth = w->f.depth,
                      .first_draw = CSAW__POOL_DRAWS,
                      .n = count,
                      .sum = count};
    CSAW_TRY(csaw__worker_scratch(w, count, k));
    if (w->has_vertex_bias) {
        double largest = 0;
        CSAW_TRY(CSAW__GROW(&w->upto, &w->upto_room, count, "sums over a pool"));
        for (uint64_t i = 0; i < count; i++) {
            float bias;
            w->sampler->vertex_biases(w->job, &pool[i].at, 1, &bias);
            if (!(bias >= 0 && bias <= 3.4028234663852886e38f)) {
                pool_fault(w, pool[i].owner, pool[i].at, bias);
                bias = 0;
            }
            w->upto[i] = csaw__bits((double)bias);
            largest = (double)bias > largest ? (double)bias : largest;
        }
        if (largest == 0) return CSAW_OK;
        const double scale = csaw__power_of_two(csaw__mass_exponent(count, largest));
        c.sum = 0;
        for (uint64_t i = 0; i < count; i++) {
            c.sum += csaw__mass(csaw__from_bits(w->upto[i]), scale);
            w->upto[i] = c.sum;
        }
        c.upto = w->upto;
    }
    const uint64_t got =
        k == count ? csaw__pick_all(&c, &w->scratch) : csaw__pick_by_mass(&c, &w->scratch, k, false, NULL, NULL);
    for (uint64_t j = 0; j < got; j++)
        CSAW_TRY(push(&w->selected, &w->selected_count, &w->selected_room, pool[w->scratch.pick[j]]));
    return CSAW_OK;
}

static csaw_status select_from_list(csaw__worker *w, uint32_t owner) {
    const csaw__pool *pool = &w->list[owner];
    for (uint64_t i = 0; !w->has_size && i < pool->n; i++)
        if (pool->entry[i].at != CSAW_NONE)
            CSAW_TRY(push(&w->selected, &w->selected_count, &w->selected_room, pool->entry[i]));
    if (!w->has_size || pool->sum == 0) return CSAW_OK;
    const csaw__choice c = csaw__pool_choice(pool, w->job, instance_of(w, owner), w->f.depth);
    const uint32_t k = w->frontier_size < pool->n ? w->frontier_size : (uint32_t)pool->n;
    CSAW_TRY(csaw__worker_scratch(w, pool->n, k));
    const uint64_t got =
        k == pool->n ? csaw__pick_all(&c, &w->scratch) : csaw__pick_by_mass(&c, &w->scratch, k, false, NULL, NULL);
    for (uint64_t j = 0; j < got; j++)
        CSAW_TRY(push(&w->selected, &w->selected_count, &w->selected_room, pool->entry[w->scratch.pick[j]]));
    return CSAW_OK;
}

/* To f: all of it. */
static csaw_status choose_frontier(csaw__worker *w) {
    w->f.entry = w->pool;
    w->f.count = w->pool_count;
    if (!w->has_size && !(w->flags & CSAW_REPLACE_POOL)) return CSAW_OK;
    w->selected_count = 0;
    if (w->flags & CSAW_REPLACE_POOL) {
        for (uint64_t owner = 0; owner < w->num_owners && w->frontier_size; owner++)
            CSAW_TRY(select_from_list(w, (uint32_t)owner));
    } else {
        for (uint64_t first = 0, end; first < w->pool_count && w->frontier_size; first = end) {
            for (end = first; end < w->pool_count && w->pool[end].owner == w->pool[first].owner;) end++;
            CSAW_TRY(select_from_set(w, first, end - first));
        }
    }
    w->f.entry = w->selected;
    w->f.count = w->selected_count;
    return CSAW_OK;
}

/* ---- picks ---- */

static csaw_status check_fanout(csaw__worker *w, uint64_t entry) {
    const uint32_t k = w->f.fanout[entry];
    const bool list = w->flags & CSAW_REPLACE_POOL;
    if (list ? k <= 1 : k <= CSAW__MAX_SLOTS || k == CSAW_ALL || (!w->job->replace && k >= w->f.degree[entry]))
        return CSAW_OK;
    const csaw__fault fault = {.instance = instance_of(w, w->f.entry[entry].owner),
                               .depth = w->f.depth,
                               .kind = CSAW__FAULT_FANOUT,
                               .edge = CSAW_NO_EDGE,
                               .src = w->f.entry[entry].at,
                               .value = k,
                               .limit = list ? 1 : (int)CSAW__MAX_SLOTS};
    csaw__fault_merge(&w->fault, &fault);
    w->f.fanout[entry] = 0;
    return CSAW_OK;
}

/* Picks that an entry can have at most. */
static uint64_t most_picks(const csaw__worker *w, uint64_t entry) {
    const uint32_t k = w->f.fanout[entry], degree = w->f.degree[entry];
    if (w->job->replace && k != CSAW_ALL) return degree ? k : 0;
    return k < degree ? k : degree;
}

static csaw_status picks_room(csaw__worker *w, uint64_t picks) {
    csaw__frontier *f = &w->f;
    CSAW_TRY(CSAW__GROW(&f->dst, &w->dst_room, picks, "sampled arcs"));
    CSAW_TRY(CSAW__GROW(&f->next, &w->next_vertex_room, picks, "sampled arcs"));
    return CSAW__GROW(&f->edge, &w->edge_room, picks, "sampled arcs");
}

static csaw_status pick_per_vertex(csaw__worker *w) {
    csaw__frontier *f = &w->f;
    uint64_t widest = 1, most = 1;
    CSAW_TRY(CSAW__GROW(&f->offset, &w->offset_room, f->count + 1, "a frontier"));
    CSAW_TRY(CSAW__GROW(&f->got, &w->got_room, f->count, "a frontier"));
    CSAW_TRY(CSAW__GROW(&f->dead_end, &w->dead_room, f->count, "a frontier"));
    f->offset[0] = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        CSAW_TRY(check_fanout(w, i));
        const uint64_t picks = most_picks(w, i);
        f->offset[i + 1] = f->offset[i] + picks;
        most = picks > most ? picks : most;
        const bool all = f->fanout[i] == CSAW_ALL || (!w->job->replace && f->fanout[i] >= f->degree[i]);
        widest = !all && f->degree[i] > widest ? f->degree[i] : widest;
    }
    CSAW_TRY(csaw__worker_scratch(w, widest, most));
    CSAW_TRY(picks_room(w, f->offset[f->count]));
    CSAW_TRY(csaw__worker_all(w, f->count));
    return csaw__rows_expand(w);
}

/* ---- records and the next pools ---- */

static void keep(csaw__worker *w, uint64_t entry, uint64_t pick) {
    const csaw__entry *from = &w->f.entry[entry];
    w->record[w->num_records++] = (csaw__record){from->at, w->f.dst[pick], w->f.edge[pick], w->f.depth, from->owner};
}

/* u, by update or dead_end, from a frontier's entry. */
static csaw_status enter(csaw__worker *w, const csaw__entry *from, csaw_vertex u) {
    if (u == CSAW_NONE) return CSAW_OK;
    return push_new(w, (csaw__entry){u, from->at, from->owner, 0});
}

static void replace(csaw__worker *w, const csaw__entry *from, csaw_vertex u) {
    const csaw__entry entry = {u, from->at, from->owner, from->place};
    if (csaw__pool_set(&w->list[from->owner], w->sampler, w->job, entry)) return;
    float bias;
    w->sampler->vertex_biases(w->job, &u, 1, &bias);
    w->f.depth++; /* it is the next selection that would look at it */
    pool_fault(w, from->owner, u, bias);
    w->f.depth--;
}

static csaw_status collect_entry(csaw__worker *w, uint64_t i, bool last) {
    csaw__frontier *f = &w->f;
    const csaw__entry *entry = &f->entry[i];
    for (uint64_t p = f->offset[i]; p < f->offset[i] + f->got[i]; p++) keep(w, i, p);
    if (last) return CSAW_OK;
    if (w->flags & CSAW_REPLACE_POOL) {
        if (f->fanout[i]) replace(w, entry, f->got[i] ? f->next[f->offset[i]] : f->dead_end[i]);
        return CSAW_OK;
    }
    for (uint64_t p = f->offset[i]; p < f->offset[i] + f->got[i]; p++) CSAW_TRY(enter(w, entry, f->next[p]));
    return enter(w, entry, f->dead_end[i]);
}

/* A pool that stays: entries of an owner, in front of what the owner's frontier brings. */
static csaw_status stay(csaw__worker *w, uint32_t owner) {
    for (; w->staying < w->pool_count && w->pool[w->staying].owner <= owner; w->staying++)
        CSAW_TRY(push_new(w, w->pool[w->staying]));
    return CSAW_OK;
}

/* Of a depth, before anything is collected. */
static csaw_status begin_next(csaw__worker *w, bool last) {
    w->next_count = w->staying = 0;
    return last ? CSAW_OK : csaw__vertex_set_clear(&w->in_next);
}

static csaw_status collect_entries(csaw__worker *w, bool last) {
    const csaw__frontier *f = &w->f;
    const bool kept = w->flags & CSAW_KEEP_POOL && !last;
    CSAW_TRY(CSAW__GROW(&w->record, &w->record_room, w->num_records + f->offset[f->count], "sampled arcs"));
    for (uint64_t i = 0; i < f->count; i++) {
        if (kept) CSAW_TRY(stay(w, f->entry[i].owner));
        CSAW_TRY(collect_entry(w, i, last));
    }
    return CSAW_OK;
}

static csaw_status collect_layers(csaw__worker *w, bool last) {
    const csaw__frontier *f = &w->f;
    const bool kept = w->flags & CSAW_KEEP_POOL && !last;
    const uint64_t picks = w->owner_pick[w->num_owners];
    CSAW_TRY(CSAW__GROW(&w->record, &w->record_room, w->num_records + picks, "sampled arcs"));
    for (uint64_t owner = 0; owner < w->num_owners; owner++) {
        if (kept) CSAW_TRY(stay(w, (uint32_t)owner));
        for (uint64_t p = w->owner_pick[owner]; p < w->owner_pick[owner + 1]; p++) {
            keep(w, f->pick_entry[p], p);
            if (!last) CSAW_TRY(enter(w, &f->entry[f->pick_entry[p]], f->next[p]));
        }
    }
    return CSAW_OK;
}

/* Of a depth, after everything was collected: the next pool is the pool. */
static csaw_status end_next(csaw__worker *w, bool last) {
    if (last || w->flags & CSAW_REPLACE_POOL) return CSAW_OK;
    if (w->flags & CSAW_KEEP_POOL) CSAW_TRY(stay(w, (uint32_t)w->num_owners));
    turn(w);
    return CSAW_OK;
}

static csaw_status keep_seeds(csaw__worker *w) {
    CSAW_TRY(CSAW__GROW(&w->seed, &w->seed_room, w->num_seeds + w->f.count, "first frontiers"));
    for (uint64_t i = 0; i < w->f.count; i++) {
        w->seed[w->num_seeds].vertex = w->f.entry[i].at;
        w->seed[w->num_seeds++].owner = w->f.entry[i].owner;
    }
    return CSAW_OK;
}

/* ---- a depth, a batch ---- */

static csaw_status ask_fanouts(csaw__worker *w) {
    CSAW_TRY(CSAW__GROW(&w->f.degree, &w->degree_room, w->f.count, "a frontier"));
    CSAW_TRY(CSAW__GROW(&w->f.fanout, &w->fanout_room, w->f.count, "a frontier"));
    w->sampler->fanouts(w->job, &w->f);
    return CSAW_OK;
}

static csaw_status run_layers(csaw__worker *w, bool last) {
    CSAW_TRY(ask_fanouts(w));
    CSAW_TRY(csaw__layer_pick(w));
    return collect_layers(w, last);
}

/* Some entries at a time, so that what is picked from them is still near when it is collected. */
static csaw_status run_entries(csaw__worker *w, bool last) {
    const uint64_t most = 128, count = w->f.count;
    const csaw__entry *const all = w->f.entry;
    for (uint64_t done = 0; done < count; done += most) {
        w->f.entry = all + done;
        w->f.count = count - done < most ? count - done : most;
        CSAW_TRY(ask_fanouts(w));
        CSAW_TRY(pick_per_vertex(w));
        if (w->fault.kind == CSAW__FAULT_NONE) CSAW_TRY(collect_entries(w, last)); /* else: look for a lower fault */
    }
    return CSAW_OK;
}

csaw_status csaw__worker_run(csaw__worker *w, uint64_t first, uint64_t count) {
    csaw__frontier *f = &w->f;
    lists_free(w);
    w->num_owners = count;
    f->first = first;
    f->depth = 0;
    CSAW_TRY(first_pools(w));
    f->root = w->root;
    if (w->has_user) {
        CSAW_TRY(CSAW__GROW(&w->user, &w->user_room, count, "user bytes"));
        memset(w->user, 0, count * sizeof *w->user);
    }
    f->user = w->user;
    if (w->flags & CSAW_VISITED) CSAW_TRY(csaw__vertex_set_clear(&w->visited));
    f->visited = w->flags & CSAW_VISITED ? &w->visited : NULL;
    for (; f->depth < w->job->length; f->depth++) {
        const bool last = f->depth + 1 == w->job->length;
        if (f->visited) CSAW_TRY(visit(w));
        CSAW_TRY(choose_frontier(w));
        if (f->depth == 0) CSAW_TRY(keep_seeds(w));
        if (f->count == 0) break;
        CSAW_TRY(begin_next(w, last));
        CSAW_TRY(w->flags & CSAW_LAYER ? run_layers(w, last) : run_entries(w, last));
        if (w->fault.kind != CSAW__FAULT_NONE) return CSAW_OK; /* what comes after a fault is not looked at */
        CSAW_TRY(end_next(w, last));
    }
    return CSAW_OK;
}
