/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/parade.c - a pool that is a list, all of which goes on at every step: without frontier_size
 * its vertex_bias decides nothing. */
#include <csaw/sampler.h>

CSAW_FN float ignored(const csaw_site *site, csaw_vertex v) {
    (void)site;
    return (float)(v % 2);
}

CSAW_SAMPLER(parade, csaw_no_params, .vertex_bias = ignored, .static_bias = csaw_weight, .flags = CSAW_REPLACE_POOL);
