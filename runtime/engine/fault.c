/* SPDX-License-Identifier: MIT */
/* runtime/engine/fault.c - faults of hooks. */
#include "runtime/engine/fault.h"

#include <stdio.h>

static bool lower(const csaw__fault *a, const csaw__fault *b) {
    if (a->instance != b->instance) return a->instance < b->instance;
    if (a->depth != b->depth) return a->depth < b->depth;
    return a->edge != b->edge ? a->edge < b->edge : a->src < b->src;
}

void csaw__fault_merge(csaw__fault *into, const csaw__fault *other) {
    if (other->kind == CSAW__FAULT_NONE) return;
    if (into->kind == CSAW__FAULT_NONE || lower(other, into)) *into = *other;
}

csaw_status csaw__fault_status(const csaw__fault *fault, const char *sampler) {
    char where[256], arc[96];
    if (fault->kind == CSAW__FAULT_NONE) return CSAW_OK;
    if (fault->edge != CSAW_NO_EDGE)
        snprintf(arc, sizeof arc, "edge %llu (%u -> %u)", (unsigned long long)fault->edge, fault->src, fault->dst);
    else
        snprintf(arc, sizeof arc, "at vertex %u", fault->src);
    snprintf(where, sizeof where, "sampler '%s', instance %llu, depth %u, %s", sampler,
             (unsigned long long)fault->instance, fault->depth, arc);
    switch (fault->kind) {
    case CSAW__FAULT_STATIC:
    case CSAW__FAULT_EDGE:
        return csaw__fail(CSAW_EBIAS, "%s: %s is %g; a bias must be >= 0 and finite: mend the weight or the hook",
                          where, fault->kind == CSAW__FAULT_EDGE ? "edge_bias" : "static_bias", fault->value);
    case CSAW__FAULT_BOUND:
        return csaw__fail(CSAW_EBIAS,
                          "%s: edge_bias is %.9g, outside the bound %.9g that the bounds hook gives; mend one of them",
                          where, fault->value, fault->limit);
    case CSAW__FAULT_CHANGED:
        return csaw__fail(
            CSAW_EBIAS,
            "%s: static_bias is %.9g here and was %.9g when tabulated; it may use the arc and params alone: "
            "what depends on the walk belongs in edge_bias",
            where, fault->value, fault->limit);
    case CSAW__FAULT_UNDECLARED:
        return csaw__fail(CSAW_EBIAS, "%s: a hook called %s, but the sampler lacks %s; add the flag", where,
                          fault->value == CSAW__ASKED_PREV       ? "csaw_prev() in a sample"
                          : fault->value == CSAW__ASKED_ADJACENT ? "csaw_adjacent()"
                                                                 : "csaw_visited()",
                          fault->value == CSAW__ASKED_VISITED ? "CSAW_VISITED" : "CSAW_SECOND_ORDER");
    case CSAW__FAULT_POOL:
        return csaw__fail(CSAW_EBIAS, "%s: vertex_bias is %g; a bias must be >= 0 and finite: mend the hook", where,
                          fault->value);
    case CSAW__FAULT_FANOUT:
        return csaw__fail(
            CSAW_EINVAL,
            "%s: fanout is %.0f, but at most %.0f can be picked here; ask for fewer, or, unless the pool is a list "
            "whose vertices are replaced, for all by CSAW_ALL",
            where, fault->value, fault->limit);
    default:
        return csaw__fail(
            CSAW_EBIAS,
            "%s: update or dead_end returned vertex %.0f, but the graph has vertices 0 .. %.0f; return one of "
            "them, or CSAW_NONE to end the walk",
            where, fault->value, fault->limit - 1);
    }
}
