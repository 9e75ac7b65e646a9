/* SPDX-License-Identifier: MIT */
/* samplers/select/reject.h - REJECT: propose by static_bias, accept by edge_bias under its bounds.
 *
 * Source: rejection sampling as in KnightKing (Yang et al., SOSP 2019, section 4): acceptance without a look below the
 * lower bound, and the one outlier, node2vec's arc back to prev, folded apart so that the bound of the others stays
 * tight. Law: one number y is uniform on an area that holds one box per arc, as wide as its static bias and as high as
 * its factor; an attempt that lands outside every box fails. Attempts carry no information on each other, so after 64
 * of them the row may go to ITS and the law stays exact. docs/stream.md fixes the arithmetic. */
#ifndef CSAW_SELECT_REJECT_H
#define CSAW_SELECT_REJECT_H

#include "samplers/select/alias.h"
#include "samplers/select/bias.h"
#include "samplers/select/uniform.h"

enum { CSAW__ATTEMPTS = 64 };

CSAW_FN csaw_block csaw__attempt_block(const csaw_site *site, uint32_t attempt) {
    return csaw_draw(site->job->seed, site->instance, site->depth, site->at, CSAW_DRAW_ATTEMPT, attempt);
}

/* by_alias is known when compiled. block is that of *attempt. answer: one byte, for the arc that attempt proposes; NULL
 * = not asked yet, or prev's row is in sight. */
CSAW_FN int csaw__reject_pick(const csaw_site *site, bool by_alias, uint32_t *attempt, csaw_block block,
                              const uint8_t *answer, csaw_arc *arc, csaw__fault *fault) {
    const csaw__job *job = site->job;
    double total = site->degree, top = 1;
    if (by_alias && site->degree) {
        const csaw__row_bias row = job->rows.bias[site->at - job->rows.first];
        total = row.total;
        top = row.top;
    }
    if (!(total > 0)) return CSAW__NOTHING;
    const bool second = csaw__second_order(site);
    const bool folded = second && job->fold && job->back > job->hi;
    const double height = second && !folded && job->back > job->hi ? job->back : job->hi;
    const double excess = folded ? ((double)job->back - job->hi) * top : 0;
    const double area = height * total + excess;

    for (;; block = csaw__attempt_block(site, *attempt)) {
        double y = csaw_unit(csaw_half(&block, 1)) * area;
        const bool in_fold = folded && y < excess;
        bool proposed = true;
        if (in_fold) {
            const csaw_vertex *col = job->rows.col + site->row;
            uint32_t rank = csaw__lower_bound(col, site->degree, site->prev);
            proposed = rank < site->degree && col[rank] == site->prev;
            if (proposed) *arc = csaw__arc_to(site, rank, site->prev);
        } else {
            y -= excess;
            if (by_alias)
                csaw__alias_pick(site, csaw_half(&block, 0), arc);
            else
                csaw__uniform_pick(site, csaw_half(&block, 0), arc);
            if (y < job->lo * total) return CSAW__PICKED;
        }
        if (proposed) {
            if (second && job->remote) {
                if (!answer) return CSAW__ASKS;
                arc->near_prev = 1u + *answer;
                answer = 0;
            }
            const float factor = csaw__hooks.edge_bias(site, arc);
            const bool is_back = second && arc->dst == site->prev;
            const float limit = is_back ? job->back : job->hi;
            if (!(factor >= job->lo && factor <= limit)) {
                csaw__fault_at(site, arc, csaw__is_bias(factor) ? CSAW__FAULT_BOUND : CSAW__FAULT_EDGE, factor,
                               factor < job->lo ? job->lo : limit, fault);
                return CSAW__BROKEN;
            }
            double box = factor * total;
            if (in_fold) box = ((double)factor - job->hi) * (by_alias ? csaw__static_bias(site, arc) : 1);
            if (y < box) return CSAW__PICKED;
        }
        if (++*attempt == CSAW__ATTEMPTS) return CSAW__UNDECIDED;
    }
}

#endif
