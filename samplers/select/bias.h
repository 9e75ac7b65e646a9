/* SPDX-License-Identifier: MIT */
/* samplers/select/bias.h - the biases of an arc from the sampler's hooks, checked. Included after a sampler file, whose
 * hooks stand in csaw__hooks. */
#ifndef CSAW_SELECT_BIAS_H
#define CSAW_SELECT_BIAS_H

#include "runtime/base/mass.h"
#include "runtime/base/site.h"

#if !defined(__CUDACC__)
/* Keeps the lower one. */
CSAW__RARE void csaw__fault_keep(const csaw__fault *found, csaw__fault *fault) {
    if (fault->kind != CSAW__FAULT_NONE) {
        if (fault->instance != found->instance) {
            if (fault->instance < found->instance) return;
        } else if (fault->depth != found->depth) {
            if (fault->depth < found->depth) return;
        } else if (fault->edge < found->edge || (fault->edge == found->edge && fault->src <= found->src)) {
            return;
        }
    }
    *fault = *found;
}
#endif

/* Keeps the lowest fault. On the device only its instance and depth: the host walks that instance again for the rest.
 */
CSAW_FN void csaw__fault_at(const csaw_site *site, const csaw_arc *arc, uint32_t kind, double value, double limit,
                            csaw__fault *fault) {
#if defined(__CUDACC__)
    (void)arc, (void)kind, (void)value, (void)limit, (void)fault;
    atomicMin(site->job->fault, (unsigned long long)(site->instance << 24 | site->depth));
#else
    const csaw__fault found = {site->instance, site->depth, kind, arc->id, site->at, arc->dst, value, limit};
    csaw__fault_keep(&found, fault);
#endif
}

#if !defined(__CUDACC__)
/* Whether the hooks allow a method; known when compiled, so that the others are not compiled at all. */
CSAW_FN bool csaw__allows(uint32_t kernel) {
    const bool dynamic = csaw__hooks.edge_bias != 0, bounds = csaw__hooks.bounds != 0;
    const bool fixed = csaw__hooks.static_bias != 0;
    switch (kernel) {
    case CSAW__KERNEL_UNIFORM: return !dynamic;
    case CSAW__KERNEL_ALIAS: return !dynamic && fixed;
    case CSAW__KERNEL_REJECT: return dynamic && bounds;
    case CSAW__KERNEL_REJECT_ALIAS: return dynamic && bounds && fixed;
    default: return true;
    }
}
#endif

CSAW_FN bool csaw__second_order(const csaw_site *site) {
    return (csaw__hooks.flags & CSAW_SECOND_ORDER) != 0 && site->prev != CSAW_NONE;
}

/* The same, and prev's row is elsewhere. */
CSAW_FN bool csaw__second_remote(const csaw_site *site) {
    return site->job->remote && !site->prev_here && csaw__second_order(site);
}

/* update may ask csaw_adjacent() of the picked arc, and prev's row is elsewhere. */
CSAW_FN bool csaw__update_may_ask(const csaw_site *site) {
    return csaw__hooks.update != 0 && csaw__second_remote(site);
}

CSAW_FN float csaw__static_bias(const csaw_site *site, const csaw_arc *arc) {
    return csaw__hooks.static_bias ? csaw__hooks.static_bias(site, arc) : 1.0f;
}

CSAW_FN bool csaw__is_bias(double x) { return x >= 0 && x <= 3.4028234663852886e38; /* FLT_MAX */ }

/* static_bias * edge_bias; negative if a hook broke its rules, which is not told: so that a loop over a row loads many
 * arcs before it looks at the first. */
CSAW_FN double csaw__bias_of_arc(const csaw_site *site, const csaw_arc *arc) {
    const float fixed = csaw__static_bias(site, arc),
                factor = csaw__hooks.edge_bias ? csaw__hooks.edge_bias(site, arc) : 1.0f;
    const bool good = fixed >= 0 && fixed <= 3.402823466e38f && factor >= 0 && factor <= 3.402823466e38f;
    return good ? (double)fixed * factor : -1;
}

/* The same of the arc at a place of the row. */
CSAW_FN double csaw__bias_of(const csaw_site *site, uint32_t rank) {
    const csaw_arc arc = csaw__arc_at(site, rank);
    return csaw__bias_of_arc(site, &arc);
}

/* static_bias * edge_bias of the arc at a place of the row; -1 if a hook broke its rules. answer: [degree], whether
 * each arc's destination is a neighbour of prev; NULL where prev's row is in sight. */
CSAW_FN double csaw__bias_at(const csaw_site *site, uint32_t rank, const uint8_t *answer, csaw__fault *fault) {
    csaw_arc arc = csaw__arc_at(site, rank);
    if (answer) arc.near_prev = 1u + answer[rank];
    double bias = 1;
    if (csaw__hooks.static_bias) {
        float value = csaw__hooks.static_bias(site, &arc);
        if (!csaw__is_bias(value)) {
            csaw__fault_at(site, &arc, CSAW__FAULT_STATIC, value, 0, fault);
            return -1;
        }
        bias = value;
    }
    if (csaw__hooks.edge_bias) {
        float value = csaw__hooks.edge_bias(site, &arc);
        if (!csaw__is_bias(value)) {
            csaw__fault_at(site, &arc, CSAW__FAULT_EDGE, value, 0, fault);
            return -1;
        }
        bias *= value;
    }
    return bias;
}

/* The number by which ITS decides the row that the site stands at. */
CSAW_FN uint64_t csaw__its_number(const csaw_site *site) {
    csaw_block block = csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site), CSAW_DRAW_PICK, 0);
    return csaw_half(&block, 0);
}

#endif
