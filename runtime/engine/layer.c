/* SPDX-License-Identifier: MIT */
/* runtime/engine/layer.c - layers: one selection among the arcs of an instance's whole frontier, or among the distinct
 * vertices that they lead to (LADIES: Zou et al., NeurIPS 2019).
 *
 * Method: biases of all candidates side by side, made integer masses, summed, and picked from as from one long row. */
#include <stdlib.h>

#include "runtime/base/grow.h"
#include "runtime/base/mass.h"
#include "runtime/engine/fault.h"
#include "runtime/engine/sampling.h"

/* The entries of one owner, first .. end - 1, and their arcs. */
typedef struct layer {
    uint64_t first, end;
    uint64_t arcs, k;
    csaw__choice choice;
} layer;

/* Masses in place of the biases: upto[i] = mass of candidate i. Returns their sum. */
static uint64_t masses_of(const double *bias, uint64_t n, uint64_t *mass) {
    double largest = 0;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) largest = bias[i] > largest ? bias[i] : largest;
    if (largest == 0) return 0;
    const double scale = csaw__power_of_two(csaw__mass_exponent(n, largest));
    for (uint64_t i = 0; i < n; i++) {
        mass[i] = csaw__mass(bias[i], scale);
        sum += mass[i];
    }
    return sum;
}

static void sums_of(uint64_t *mass, uint64_t n) {
    for (uint64_t i = 1; i < n; i++) mass[i] += mass[i - 1];
}

static csaw_status add_pick(csaw__worker *w, uint64_t picks, uint64_t entry, uint32_t rank) {
    CSAW_TRY(CSAW__GROW(&w->f.pick_entry, &w->pick_entry_room, picks + 1, "sampled arcs"));
    CSAW_TRY(CSAW__GROW(&w->f.pick_rank, &w->pick_rank_room, picks + 1, "sampled arcs"));
    w->f.pick_entry[picks] = entry;
    w->f.pick_rank[picks] = rank;
    return CSAW_OK;
}

/* The entry whose arcs hold candidate c of the layer. */
static uint64_t entry_of(const csaw__frontier *f, const layer *l, uint64_t candidate) {
    const uint64_t arc = f->arc[l->first] + candidate;
    uint64_t entry = l->first, end = l->end;
    while (end - entry > 1) {
        const uint64_t middle = entry + (end - entry) / 2;
        if (f->arc[middle] <= arc)
            entry = middle;
        else
            end = middle;
    }
    return entry;
}

/* More picks than there are numbers for: false, and the fault is noted. */
static bool check_picks(csaw__worker *w, const layer *l, bool all) {
    if (all || l->k <= CSAW__MAX_SLOTS) return true;
    const csaw__fault fault = {.instance = l->choice.instance,
                               .depth = w->f.depth,
                               .kind = CSAW__FAULT_FANOUT,
                               .edge = CSAW_NO_EDGE,
                               .src = w->f.entry[l->first].at,
                               .value = (double)l->k,
                               .limit = CSAW__MAX_SLOTS};
    csaw__fault_merge(&w->fault, &fault);
    return false;
}

static csaw_status pick_arcs(csaw__worker *w, layer *l, uint64_t *picks) {
    const csaw__frontier *f = &w->f;
    uint64_t got;
    const bool all = l->k == CSAW_ALL || (!w->job->replace && l->k >= l->arcs);
    if (!check_picks(w, l, all)) return CSAW_OK;
    CSAW_TRY(csaw__worker_scratch(w, l->arcs, all ? 0 : l->k, l->arcs));
    if (w->job->kernel == CSAW__KERNEL_UNIFORM) {
        l->choice.sum = l->arcs;
    } else {
        l->choice.sum = masses_of(f->bias + f->arc[l->first], l->arcs, w->upto);
        if (l->choice.sum == 0) return CSAW_OK;
        sums_of(w->upto, l->arcs);
        l->choice.upto = w->upto;
    }
    got = all ? csaw__pick_all(&l->choice, &w->scratch)
              : csaw__pick_of(&l->choice, &w->scratch, (uint32_t)l->k, w->job->replace);
    for (uint64_t j = 0; j < got; j++) {
        const uint64_t candidate = w->scratch.pick[j], entry = entry_of(f, l, candidate);
        CSAW_TRY(add_pick(w, (*picks)++, entry, (uint32_t)(f->arc[l->first] + candidate - f->arc[entry])));
    }
    return CSAW_OK;
}

/* ---- CSAW_LAYER_DISTINCT ---- */

typedef struct target {
    uint64_t mass; /* of an arc, then of all arcs to dst */
    csaw_vertex dst;
    bool chosen;
} target;

static int by_dst(const void *a, const void *b) {
    const csaw_vertex x = ((const target *)a)->dst, y = ((const target *)b)->dst;
    return (x > y) - (x < y);
}

static const csaw_vertex *row_of(const csaw__worker *w, uint64_t entry) {
    const csaw_csr *csr = &w->plan->graph->csr;
    if (w->plan->spread) return w->candidate + w->f.arc[entry];
    return csr->col + csr->rowptr[w->f.entry[entry].at];
}

static target *find_target(target *targets, uint64_t n, csaw_vertex dst) {
    const target key = {.dst = dst};
    return bsearch(&key, targets, n, sizeof *targets, by_dst);
}

/* The distinct destinations of arcs of positive mass, ascending. */
static uint64_t targets_of(const csaw__worker *w, const layer *l, target *out) {
    const csaw__frontier *f = &w->f;
    uint64_t n = 0, distinct = 0;
    for (uint64_t entry = l->first; entry < l->end; entry++)
        for (uint32_t rank = 0; rank < f->degree[entry]; rank++) {
            const uint64_t mass = w->upto[f->arc[entry] - f->arc[l->first] + rank];
            if (mass) out[n++] = (target){mass, row_of(w, entry)[rank], false};
        }
    qsort(out, n, sizeof *out, by_dst);
    for (uint64_t i = 0; i < n; i++) {
        if (distinct && out[distinct - 1].dst == out[i].dst)
            out[distinct - 1].mass += out[i].mass;
        else
            out[distinct++] = out[i];
    }
    return distinct;
}

static csaw_status pick_targets(csaw__worker *w, layer *l, target *targets, uint64_t *picks) {
    const csaw__frontier *f = &w->f;
    l->choice.sum = masses_of(f->bias + f->arc[l->first], l->arcs, w->upto);
    if (l->choice.sum == 0) return CSAW_OK;
    const uint64_t n = targets_of(w, l, targets);
    const bool all = l->k == CSAW_ALL || (!w->job->replace && l->k >= n);
    if (!check_picks(w, l, all)) return CSAW_OK;
    CSAW_TRY(csaw__worker_scratch(w, n, all ? 0 : l->k, n));
    /* the masses of arcs are needed once more below, so sums of the targets' stand behind them */
    uint64_t *const upto = w->upto + l->arcs;
    for (uint64_t i = 0; i < n; i++) upto[i] = targets[i].mass;
    sums_of(upto, n);
    l->choice.n = n;
    l->choice.upto = upto;
    const uint64_t got = all ? csaw__pick_all(&l->choice, &w->scratch)
                             : csaw__pick_of(&l->choice, &w->scratch, (uint32_t)l->k, w->job->replace);
    for (uint64_t j = 0; j < got; j++) targets[w->scratch.pick[j]].chosen = true;
    for (uint64_t entry = l->first; entry < l->end; entry++)
        for (uint32_t rank = 0; rank < f->degree[entry]; rank++) {
            if (w->upto[f->arc[entry] - f->arc[l->first] + rank] == 0) continue;
            if (find_target(targets, n, row_of(w, entry)[rank])->chosen) CSAW_TRY(add_pick(w, (*picks)++, entry, rank));
        }
    return CSAW_OK;
}

static csaw_status pick_distinct(csaw__worker *w, layer *l, uint64_t *picks) {
    target *targets = NULL;
    CSAW_TRY(csaw__alloc(&targets, l->arcs, "vertices of a layer"));
    const csaw_status status = pick_targets(w, l, targets, picks);
    csaw__free(targets);
    return status;
}

/* ---- a batch ---- */

static csaw_status pick_layer(csaw__worker *w, uint32_t owner, uint64_t first, uint64_t end, uint64_t *picks) {
    const csaw__frontier *f = &w->f;
    layer l = {.first = first, .end = end, .arcs = f->arc[end] - f->arc[first], .k = f->fanout[first]};
    l.choice = (csaw__choice){.seed = w->job->seed, .instance = f->first + owner, .depth = f->depth, .n = l.arcs};
    if (l.arcs == 0 || l.k == 0) return CSAW_OK;
    CSAW_TRY(CSAW__GROW(&w->upto, &w->upto_room, 2 * l.arcs, "sums over a layer"));
    return w->flags & CSAW_LAYER_DISTINCT ? pick_distinct(w, &l, picks) : pick_arcs(w, &l, picks);
}

/* Picks of a layer that was exchanged. */
static csaw_status take_exchanged(csaw__worker *w, const csaw__far_choice *c, uint64_t *picks) {
    for (uint32_t j = 0; j < c->got; j++) CSAW_TRY(add_pick(w, (*picks)++, c->pick[j].entry, c->pick[j].rank));
    return CSAW_OK;
}

/* Candidates, and their biases, of the layers that are not exchanged; those that are have picked. */
static csaw_status find_candidates(csaw__worker *w) {
    csaw__frontier *f = &w->f;
    const csaw__layer_exchange *const x = &w->exchange;
    bool exchanges;
    CSAW_TRY(csaw__layers_exchange(w, &exchanges));
    const uint64_t *const entry = exchanges ? x->other : w->all, n = exchanges ? x->num_others : f->count;
    f->arc[0] = 0;
    for (uint64_t i = 0, next = 0; i < f->count; i++) {
        const bool here = next < n && entry[next] == i;
        f->arc[i + 1] = f->arc[i] + (here ? f->degree[i] : 0);
        next += here;
    }
    if (w->job->kernel == CSAW__KERNEL_UNIFORM) return CSAW_OK;
    CSAW_TRY(CSAW__GROW(&f->bias, &w->bias_room, f->arc[f->count], "biases of a layer"));
    return n ? csaw__rows_layer_biases(w, entry, n) : CSAW_OK;
}

csaw_status csaw__layer_pick(csaw__worker *w) {
    csaw__frontier *f = &w->f;
    const csaw__layer_exchange *const x = &w->exchange;
    uint64_t picks = 0, entry = 0, exchanged = 0;
    CSAW_TRY(CSAW__GROW(&f->arc, &w->arc_room, f->count + 1, "a layer"));
    CSAW_TRY(CSAW__GROW(&w->owner_pick, &w->owner_pick_room, w->num_owners + 1, "layers"));
    CSAW_TRY(csaw__worker_all(w, f->count));
    CSAW_TRY(find_candidates(w));
    for (uint64_t owner = 0; owner < w->num_owners; owner++) {
        uint64_t end = entry;
        w->owner_pick[owner] = picks;
        while (end < f->count && f->entry[end].owner == owner) end++;
        if (exchanged < x->num_layers && x->layer[exchanged].owner == owner)
            CSAW_TRY(take_exchanged(w, &x->layer[exchanged++].choice, &picks));
        else if (end > entry)
            CSAW_TRY(pick_layer(w, (uint32_t)owner, entry, end, &picks));
        entry = end;
    }
    w->owner_pick[w->num_owners] = picks;
    CSAW_TRY(csaw__worker_picks(w, picks));
    return csaw__rows_layer_updates(w, picks);
}
