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

/* The vertex that update or dead_end gave, checked: CSAW_NONE if it is none of the graph. arc: csaw__no_arc() at a dead
 * end. */
CSAW_FN csaw_vertex csaw__checked(const csaw_site *site, const csaw_arc *arc, csaw_vertex made_up, csaw__fault *fault) {
    if (made_up == CSAW_NONE || made_up < site->job->num_vertices) return made_up;
    csaw__fault_at(site, arc, CSAW__FAULT_VERTEX, made_up, site->job->num_vertices, fault);
    return CSAW_NONE;
}

/* Where a picked arc leads, by update. */
CSAW_FN csaw_vertex csaw__update(const csaw_site *site, const csaw_arc *arc, csaw__fault *fault) {
    return csaw__hooks.update ? csaw__checked(site, arc, csaw__hooks.update(site, arc), fault) : arc->dst;
}

CSAW_FN csaw_vertex csaw__dead_end(const csaw_site *site, csaw__fault *fault) {
    const csaw_arc none = csaw__no_arc();
    return csaw__hooks.dead_end ? csaw__checked(site, &none, csaw__hooks.dead_end(site), fault) : CSAW_NONE;
}

/* Where a walk goes from a picked arc, or from a dead end (picked == CSAW__NOTHING, and arc is csaw__no_arc()).
 * CSAW_NONE: it ends. */
CSAW_FN csaw_vertex csaw__move(const csaw_site *site, int picked, const csaw_arc *arc, csaw_edge *edge,
                               csaw__fault *fault) {
    csaw_vertex next = CSAW_NONE;
    *edge = CSAW_NO_EDGE;
    if (picked == CSAW__PICKED)
        next = csaw__update(site, arc, fault);
    else if (picked == CSAW__NOTHING)
        next = csaw__dead_end(site, fault);
    if (site->undeclared) { /* by any hook of this step */
        csaw__fault_at(site, arc, CSAW__FAULT_UNDECLARED, site->undeclared, 0, fault);
        return CSAW_NONE;
    }
    if (picked == CSAW__PICKED && next == arc->dst) *edge = arc->id;
    return next;
}

#endif
