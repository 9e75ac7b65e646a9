/* SPDX-License-Identifier: MIT */
/* tests/samplers/noting.h - a sampler that notes the vertices it is asked about, in the order in which it is asked: the
 * fanout hook is called once for every vertex that is expanded. */
#ifndef CSAW_TESTS_NOTING_H
#define CSAW_TESTS_NOTING_H

#include <csaw/sampler.h>

typedef struct note {
    uint64_t instance;
    uint32_t depth;
    csaw_vertex vertex;
} note;

typedef struct notes {
    uint64_t count, room;
    note *note; /* [room] */
} notes;

CSAW_PARAMS(noting_params, (uint64_t, notes, 0, 1, "address of a notes, of one thread"));

CSAW_FN uint32_t noted(const csaw_site *site) {
    notes *to = (notes *)(size_t)((const noting_params *)csaw_params(site))->notes;
    if (to->count < to->room) {
        note *one = &to->note[to->count];
        one->instance = csaw_instance(site);
        one->depth = csaw_depth(site);
        one->vertex = csaw_at(site);
    }
    to->count++;
    return csaw_fanout(site);
}

#endif
