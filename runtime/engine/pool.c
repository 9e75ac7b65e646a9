/* SPDX-License-Identifier: MIT */
/* runtime/engine/pool.c - see pool.h.
 *
 * Masses are those of a selection from the pool as it stands (runtime/base/mass.h), so their scale depends on the
 * largest bias, but only on its exponent: a count of places per exponent tells when that changes, and then all masses
 * are made anew. */
#include "runtime/engine/pool.h"

#include "runtime/base/mass.h"
#include "runtime/base/memory.h"

/* 0 for 0, else ilogb + 150. */
static uint32_t exponent_of(float bias) {
    if (!(bias > 0)) return 0;
    return (uint32_t)((int)(csaw__bits((double)bias) >> 52 & 2047) - 1023 + 150);
}

static bool is_bias(float x) { return x >= 0 && x <= 3.4028234663852886e38f; }

static uint64_t mass_of(const csaw__pool *pool, float bias) {
    if (!(bias > 0)) return 0;
    const int exponent = 61 - (int)csaw__ceil_log2(pool->n) - ((int)pool->top - 150);
    return csaw__mass((double)bias, csaw__power_of_two(exponent));
}

static void rebuild(csaw__pool *pool) {
    for (uint64_t i = 0; i < pool->n; i++) pool->tree[i + 1] = pool->mass[i] = mass_of(pool, pool->bias[i]);
    pool->sum = csaw__mass_tree_build(pool->tree, pool->n);
}

csaw_status csaw__pool_create(const csaw_sampler *sampler, const csaw__job *job, const csaw__entry *entry, uint64_t n,
                              csaw__pool *out, uint64_t *bad) {
    csaw__pool pool = {.n = n};
    csaw_status status = CSAW_OK;
    *bad = n;
    CSAW_TRY_DONE(csaw__alloc(&pool.entry, n, "a pool"));
    CSAW_TRY_DONE(csaw__alloc(&pool.bias, n, "biases of a pool"));
    CSAW_TRY_DONE(csaw__alloc(&pool.mass, n, "masses of a pool"));
    CSAW_TRY_DONE(csaw__alloc(&pool.tree, n + 1, "sums of a pool"));
    for (uint64_t i = 0; i < n; i++) {
        pool.entry[i] = entry[i];
        sampler->vertex_biases(job, &entry[i].at, 1, &pool.bias[i]);
        if (!is_bias(pool.bias[i])) {
            *bad = *bad == n ? i : *bad;
            pool.bias[i] = 0;
        }
        pool.at_exponent[exponent_of(pool.bias[i])]++;
    }
    pool.top = CSAW__POOL_EXPONENTS - 1;
    while (pool.top && !pool.at_exponent[pool.top]) pool.top--;
    rebuild(&pool);
    *out = pool;
    pool = (csaw__pool){0};
done:
    csaw__pool_free(&pool);
    return status;
}

bool csaw__pool_set(csaw__pool *pool, const csaw_sampler *sampler, const csaw__job *job, csaw__entry entry) {
    const uint64_t place = entry.place;
    float bias = 0;
    if (entry.at != CSAW_NONE) sampler->vertex_biases(job, &entry.at, 1, &bias);
    const bool good = is_bias(bias);
    if (!good) bias = 0;
    pool->at_exponent[exponent_of(pool->bias[place])]--;
    pool->at_exponent[exponent_of(bias)]++;
    pool->entry[place] = entry;
    pool->bias[place] = bias;
    uint32_t top = exponent_of(bias) > pool->top ? exponent_of(bias) : pool->top;
    while (top && !pool->at_exponent[top]) top--;
    if (top != pool->top) {
        pool->top = top;
        rebuild(pool);
        return good;
    }
    const uint64_t mass = mass_of(pool, bias), change = mass - pool->mass[place];
    csaw__mass_tree_add(pool->tree, pool->n, place, change);
    pool->sum += change;
    pool->mass[place] = mass;
    return good;
}

csaw__choice csaw__pool_choice(const csaw__pool *pool, const csaw__job *job, uint64_t instance, uint32_t depth) {
    csaw__choice c = {.seed = job->seed,
                      .instance = instance,
                      .depth = depth,
                      .first_draw = CSAW__POOL_DRAWS,
                      .n = pool->n,
                      .tree = pool->tree,
                      .mass = pool->mass,
                      .sum = pool->sum};
    return c;
}

void csaw__pool_free(csaw__pool *pool) {
    csaw__free(pool->entry);
    csaw__free(pool->bias);
    csaw__free(pool->mass);
    csaw__free(pool->tree);
    *pool = (csaw__pool){0};
}
