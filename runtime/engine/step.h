/* SPDX-License-Identifier: MIT */
/* runtime/engine/step.h - one step of a walk, the parts that every engine shares. */
#ifndef CSAW_ENGINE_STEP_H
#define CSAW_ENGINE_STEP_H

#include "samplers/select/alias.h"
#include "samplers/select/bias.h"
#include "samplers/select/reject.h"
#include "samplers/select/uniform.h"

/* Both numbers of an O(1) step at depth d and d + 1, d even. */
CSAW_FN csaw_block csaw__step_block(const csaw__job *job, uint64_t instance, uint32_t depth) {
    return csaw_draw(job->seed, instance, depth >> 1, 0, CSAW_DRAW_STEP, 0);
}

CSAW_FN csaw_vertex csaw__root_of(const csaw__job *job, uint64_t instance) {
    uint64_t root = instance % job->num_roots;
    return job->roots ? job->roots[root] : (csaw_vertex)root;
}

/* Where a walk goes from a picked arc, or from a dead end (picked == CSAW__NOTHING). CSAW_NONE: it ends. */
CSAW_FN csaw_vertex csaw__move(const csaw_site *site, int picked, const csaw_arc *arc, csaw_edge *edge,
                               csaw__fault *fault) {
    csaw_vertex next = CSAW_NONE;
    bool made_up = false; /* by a hook, which may return anything */
    *edge = CSAW_NO_EDGE;
    if (site->undeclared) {
        csaw__fault_at(site, picked == CSAW__PICKED ? arc : 0, CSAW__FAULT_UNDECLARED, 0, 0, fault);
        return CSAW_NONE;
    }
    if (picked == CSAW__PICKED) {
        made_up = csaw__hooks.update != 0;
        next = csaw__hooks.update ? csaw__hooks.update(site, arc) : arc->dst;
        if (next == arc->dst) *edge = arc->id;
    } else if (picked == CSAW__NOTHING && csaw__hooks.dead_end) {
        made_up = true;
        next = csaw__hooks.dead_end(site);
    }
    if (made_up && next != CSAW_NONE && next >= site->job->num_vertices) {
        csaw__fault_at(site, picked == CSAW__PICKED ? arc : 0, CSAW__FAULT_VERTEX, next, site->job->num_vertices,
                       fault);
        next = CSAW_NONE;
    }
    return next;
}

#endif
