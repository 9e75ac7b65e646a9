/* SPDX-License-Identifier: MIT */
/* runtime/engine/layer_exchange.c - layers whose rows come and go, a partition at a time: no memory for a bias of every
 * candidate, however many arcs a frontier has.
 *
 * Method: what the partitions know of a layer is exchanged for what it wants to know. How many candidates it has is
 * known from degrees. A pass over the partitions finds its largest bias, from which the exponent of its masses follows;
 * a second one the sum of the masses of each entry of the frontier, 64 bits, which no order of adding changes. Numbers
 * are drawn below the sum of those; a third pass, over the partitions of the entries that were hit alone, says on which
 * arcs they fall. Of picks without replacement the numbers that fell on the same arc, or on one that was taken, are
 * drawn again in a pass of their own, over the few that are hit then (samplers/select/far_rounds.h). The biases of one
 * row at a time are in memory, made by the same hook in every pass: the picks are those of layer.c. */
#include "runtime/engine/layer_exchange.h"

#include "runtime/base/grow.h"
#include "runtime/base/mass.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/sampling.h"

static bool takes_all(const csaw__worker *w, uint32_t k, uint64_t arcs) {
    return k == CSAW_ALL || (!w->job->replace && k >= arcs);
}

/* Where all is taken, as much is delivered; and what is too much is an error. */
static bool is_exchanged(const csaw__worker *w, uint32_t k, uint64_t arcs) {
    return !takes_all(w, k, arcs) && k <= CSAW__MAX_SLOTS;
}

/* Layers of distinct vertices need the masses of all arcs to a vertex at a time; those by UNIFORM need none. */
static bool may_exchange(const csaw__worker *w) {
    return w->plan->parts && w->plan->parts->degree && !w->plan->spread && !w->rows_in_sight &&
           w->job->kernel != CSAW__KERNEL_UNIFORM && !(w->flags & CSAW_LAYER_DISTINCT);
}

/* ---- passes over rows ---- */

/* Numbers of the layer that fall on the entry; its arcs from `below` on. */
static void answer(csaw__layer_exchange *x, csaw__far_layer *l, uint64_t entry, uint32_t degree) {
    csaw__far_choice *const c = &l->choice;
    uint64_t low = entry > l->first ? x->upto[entry - 1] : 0;
    uint32_t next = 0, n = c->num_hits;
    while (n > 0) { /* the first at the entry */
        const uint32_t half = n / 2;
        const bool before = c->hit[next + half].x < low;
        next = before ? next + half + 1 : next;
        n = before ? n - half - 1 : half;
    }
    uint32_t end = next; /* past the last at the entry */
    while (end < c->num_hits && c->hit[end].entry == entry) end++;
    for (uint32_t rank = 0; rank < degree && next < end; rank++) {
        const uint64_t mass = csaw__mass(x->row[rank], l->scale);
        for (; next < end && c->hit[next].x - low < mass; next++) {
            csaw__hit *const hit = &c->hit[next];
            hit->low = low;
            hit->mass = mass;
            hit->rank = rank;
        }
        low += mass;
    }
}

static void look_at_row(csaw__worker *w, const csaw__job *job, uint64_t entry) {
    csaw__layer_exchange *const x = &w->exchange;
    csaw__far_layer *const l = &x->layer[x->of[w->f.entry[entry].owner]];
    const uint32_t degree = w->f.degree[entry];
    const uint64_t first = 0;
    uint64_t arc = 0, sum = 0;
    csaw__frontier one = w->f;
    one.entry += entry;
    if (one.answer) one.answer += entry;
    one.arc = &arc;
    one.bias = x->row;
    w->sampler->layer_biases(job, &one, &first, 1, &w->fault);
    if (x->pass == CSAW__DRAWS) {
        answer(x, l, entry, degree);
        return;
    }
    for (uint32_t rank = 0; rank < degree; rank++) {
        if (x->pass == CSAW__LARGEST)
            l->largest = x->row[rank] > l->largest ? x->row[rank] : l->largest;
        else
            sum += csaw__mass(x->row[rank], l->scale);
    }
    x->upto[entry] = sum;
}

void csaw__layers_look(csaw__worker *w, const csaw__job *job, const uint64_t *entry, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) look_at_row(w, job, entry[i]);
}

static csaw_status pass(csaw__worker *w, csaw__layer_pass which) {
    w->exchange.pass = which;
    return csaw__rows_layer_look(w, w->exchange.item, w->exchange.num_items);
}

/* ---- draws ---- */

static csaw_status begin_draws(csaw__worker *w) {
    csaw__layer_exchange *const x = &w->exchange;
    uint64_t picks = 0, at = 0;
    for (uint64_t i = 0; i < x->num_layers; i++) picks += x->layer[i].choice.k;
    CSAW_TRY(CSAW__GROW(&x->hit, &x->hit_room, 2 * picks, "arcs of layers that are picked"));
    CSAW_TRY(CSAW__GROW(&x->taken, &x->taken_room, picks, "arcs of layers that are picked"));
    CSAW_TRY(CSAW__GROW(&x->open, &x->open_room, picks, "arcs of layers that are picked"));
    for (uint64_t i = 0; i < x->num_layers; i++) {
        csaw__far_layer *const l = &x->layer[i];
        csaw__far_choice *const c = &l->choice;
        for (uint64_t entry = l->first + 1; entry < l->end; entry++) x->upto[entry] += x->upto[entry - 1];
        c->choice = (csaw__choice){.seed = w->job->seed,
                                   .instance = csaw__instance_of(w, l->owner),
                                   .depth = w->f.depth,
                                   .sum = x->upto[l->end - 1]};
        c->replace = w->job->replace;
        c->hit = x->hit + 2 * at;
        c->pick = c->hit + c->k;
        c->taken = x->taken + at;
        c->open = x->open + at;
        at += c->k;
        csaw__far_begin(c);
    }
    return CSAW_OK;
}

/* The entries on which the layer's numbers fall, each once. Of a hook that does not say the same in every pass a number
 * may find no arc there: it keeps the first. */
static void want(csaw__layer_exchange *x, const csaw__far_layer *l) {
    uint64_t entry = l->first;
    for (uint32_t i = 0; i < l->choice.num_hits; i++) {
        csaw__hit *const hit = &l->choice.hit[i];
        const bool again = i && hit->x < x->upto[entry];
        for (uint64_t n = again ? 0 : l->end - 1 - entry; n > 0;) {
            const uint64_t half = n / 2;
            const bool before = x->upto[entry + half] <= hit->x;
            entry = before ? entry + half + 1 : entry;
            n = before ? n - half - 1 : half;
        }
        *hit = (csaw__hit){.x = hit->x, .low = hit->x, .mass = 1, .entry = entry, .slot = hit->slot};
        if (!again) x->item[x->num_items++] = entry;
    }
}

static csaw_status draw(csaw__worker *w) {
    csaw__layer_exchange *const x = &w->exchange;
    CSAW_TRY(begin_draws(w));
    for (;;) {
        x->num_items = 0;
        for (uint64_t i = 0; i < x->num_layers; i++)
            if (csaw__far_ask(&x->layer[i].choice)) want(x, &x->layer[i]);
        if (x->num_items == 0) return CSAW_OK;
        CSAW_TRY(pass(w, CSAW__DRAWS));
        for (uint64_t i = 0; i < x->num_layers; i++)
            if (x->layer[i].choice.num_hits) csaw__far_take(&x->layer[i].choice);
    }
}

/* ---- a batch ---- */

/* Which layers are exchanged, and the entries of the others. */
static csaw_status find_layers(csaw__worker *w) {
    csaw__layer_exchange *const x = &w->exchange;
    const csaw__frontier *const f = &w->f;
    uint64_t longest = 0;
    CSAW_TRY(CSAW__GROW(&x->item, &x->item_room, f->count, "layers"));
    CSAW_TRY(CSAW__GROW(&x->other, &x->other_room, f->count, "layers"));
    CSAW_TRY(CSAW__GROW(&x->upto, &x->upto_room, f->count, "sums over a layer"));
    CSAW_TRY(CSAW__GROW(&x->of, &x->of_room, w->num_owners, "layers"));
    CSAW_TRY(CSAW__GROW(&x->layer, &x->layer_room, w->num_owners, "layers"));
    for (uint64_t first = 0, end; first < f->count; first = end) {
        const uint32_t owner = f->entry[first].owner, k = f->fanout[first];
        uint64_t arcs = 0;
        for (end = first; end < f->count && f->entry[end].owner == owner; end++) arcs += f->degree[end];
        const bool exchanged = is_exchanged(w, k, arcs);
        for (uint64_t entry = first; entry < end; entry++) {
            if (exchanged)
                x->item[x->num_items++] = entry;
            else
                x->other[x->num_others++] = entry;
            if (exchanged && f->degree[entry] > longest) longest = f->degree[entry];
        }
        if (!exchanged) continue;
        x->of[owner] = (uint32_t)x->num_layers;
        x->layer[x->num_layers++] =
            (csaw__far_layer){.owner = owner, .first = first, .end = end, .arcs = arcs, .choice = {.k = k}};
    }
    return CSAW__GROW(&x->row, &x->row_room, longest, "biases of a row");
}

csaw_status csaw__layers_exchange(csaw__worker *w, bool *any) {
    csaw__layer_exchange *const x = &w->exchange;
    x->num_items = x->num_others = x->num_layers = 0;
    *any = may_exchange(w);
    if (!*any) return CSAW_OK;
    CSAW_TRY(find_layers(w));
    if (x->num_layers == 0) return CSAW_OK;
    CSAW_TRY(pass(w, CSAW__LARGEST));
    for (uint64_t i = 0; i < x->num_layers; i++) {
        csaw__far_layer *const l = &x->layer[i];
        l->scale = l->largest > 0 ? csaw__power_of_two(csaw__mass_exponent(l->arcs, l->largest)) : 0;
    }
    CSAW_TRY(pass(w, CSAW__SUMS));
    return draw(w);
}

void csaw__layer_exchange_free(csaw__layer_exchange *x) {
    void *const arrays[] = {x->layer, x->of, x->item, x->other, x->upto, x->row, x->hit, x->taken, x->open};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) csaw__free(arrays[i]);
}
