/* SPDX-License-Identifier: MIT */
/* runtime/engine/pool.h - a pool that is a list (CSAW_REPLACE_POOL): places with masses, from which a frontier is
 * selected in O(log places) a pick. */
#ifndef CSAW_ENGINE_POOL_H
#define CSAW_ENGINE_POOL_H

#include <csaw/descriptor.h>

#include "runtime/base/frontier.h"
#include "runtime/base/status.h"
#include "samplers/select/rounds.h"

enum { CSAW__POOL_EXPONENTS = 278 }; /* of a float, denormal ones too: -149 .. 127; and 0 for the bias 0 */

typedef struct csaw__pool {
    uint64_t n;
    csaw__entry *entry; /* [n] */
    float *bias;        /* [n], 0 = closed or never picked */
    uint64_t *mass;     /* [n] */
    uint64_t *tree;     /* [n + 1] */
    uint64_t sum;
    uint64_t at_exponent[CSAW__POOL_EXPONENTS]; /* places by ilogb of their bias */
    uint32_t top;                               /* the largest of these that has one; 0 = every bias is 0 */
} csaw__pool;

/* A bias that breaks the rules is put down as 0 and told by *bad, the lowest such place (n = none). */
csaw_status csaw__pool_create(const csaw_sampler *sampler, const csaw__job *job, const csaw__entry *entry, uint64_t n,
                              csaw__pool *out, uint64_t *bad);
/* entry: what stands at its place from now on; at == CSAW_NONE closes the place. False: the bias breaks the rules. */
bool csaw__pool_set(csaw__pool *pool, const csaw_sampler *sampler, const csaw__job *job, csaw__entry entry);
csaw__choice csaw__pool_choice(const csaw__pool *pool, const csaw__job *job, uint64_t instance, uint32_t depth);
void csaw__pool_free(csaw__pool *pool);

#endif
