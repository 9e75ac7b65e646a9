/* SPDX-License-Identifier: MIT */
/* runtime/engine/select_frontier.c - which vertices of the pools the instances go on from. */
#include "runtime/base/grow.h"
#include "runtime/engine/sampling.h"

/* It goes on. */
static csaw_status go_on(csaw__worker *w, csaw__entry entry) {
    CSAW_TRY(CSAW__GROW(&w->selected, &w->selected_room, w->selected_count + 1, "a frontier"));
    w->selected[w->selected_count++] = entry;
    return CSAW_OK;
}

/* Places of a pool that is a set, from pool[first .. first + count - 1]. */
static csaw_status select_from_set(csaw__worker *w, uint64_t first, uint64_t count) {
    const csaw__entry *pool = w->pool + first;
    const uint32_t k = w->frontier_size < count ? w->frontier_size : (uint32_t)count;
    csaw__choice c = {.seed = w->job->seed,
                      .instance = csaw__instance_of(w, pool->owner),
                      .depth = w->f.depth,
                      .first_draw = CSAW__POOL_DRAWS,
                      .n = count,
                      .sum = count};
    CSAW_TRY(csaw__worker_scratch(w, count, k, k));
    if (w->has_vertex_bias) {
        double largest = 0;
        CSAW_TRY(CSAW__GROW(&w->upto, &w->upto_room, count, "sums over a pool"));
        for (uint64_t i = 0; i < count; i++) {
            float bias;
            w->sampler->vertex_biases(w->job, &pool[i].at, 1, &bias);
            if (!(bias >= 0 && bias <= 3.4028234663852886e38f)) {
                csaw__pool_fault(w, pool[i].owner, pool[i].at, bias);
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
    const uint64_t got = k == count ? csaw__pick_all(&c, &w->scratch) : csaw__pick_of(&c, &w->scratch, k, false);
    for (uint64_t j = 0; j < got; j++) CSAW_TRY(go_on(w, pool[w->scratch.pick[j]]));
    return CSAW_OK;
}

static csaw_status select_from_list(csaw__worker *w, uint32_t owner) {
    const csaw__pool *pool = &w->list[owner];
    for (uint64_t i = 0; !w->has_size && i < pool->n; i++)
        if (pool->entry[i].at != CSAW_NONE) CSAW_TRY(go_on(w, pool->entry[i]));
    if (!w->has_size || pool->sum == 0) return CSAW_OK;
    const csaw__choice c = csaw__pool_choice(pool, w->job, csaw__instance_of(w, owner), w->f.depth);
    const uint32_t k = w->frontier_size < pool->n ? w->frontier_size : (uint32_t)pool->n;
    CSAW_TRY(csaw__worker_scratch(w, pool->n, k, k));
    const uint64_t got = k == pool->n ? csaw__pick_all(&c, &w->scratch) : csaw__pick_of(&c, &w->scratch, k, false);
    for (uint64_t j = 0; j < got; j++) CSAW_TRY(go_on(w, pool->entry[w->scratch.pick[j]]));
    return CSAW_OK;
}

csaw_status csaw__select_frontier(csaw__worker *w) {
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
