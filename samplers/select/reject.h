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
    return csaw_draw(site->job->seed, site->instance, site->depth, csaw__key(site), CSAW_DRAW_ATTEMPT, attempt);
}

/* An attempt under way. */
typedef struct csaw__trial {
    double y;     /* what is left of the number within the area of the boxes, or of the fold */
    double width; /* of all boxes together, the sum of static biases; in the fold, of the box of the arc back */
    csaw_vertex dst;
    uint32_t rank; /* of the proposal */
    bool in_fold;  /* the fold was drawn: the arc back to prev above the bound of the others */
} csaw__trial;

/* First half of an attempt by the numbers r1 and r2; by_alias is known when compiled. CSAW__PICKED: the proposal is
 * picked without a look at edge_bias; CSAW__ASKS: csaw__reject_judge() decides; CSAW__UNDECIDED: the attempt failed;
 * CSAW__NOTHING: a dead end. */
CSAW_FN int csaw__reject_propose(const csaw_site *site, bool by_alias, uint64_t r1, uint64_t r2, csaw__trial *trial) {
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
    trial->y = csaw_unit(r2) * (height * total + excess);
    trial->width = total;
    trial->in_fold = folded && trial->y < excess;
    if (trial->in_fold) {
        const csaw_vertex *col = csaw__searched(&job->rows) + site->row;
        trial->rank = csaw__lower_bound(col, site->degree, site->prev);
        trial->dst = site->prev;
        if (trial->rank == site->degree || col[trial->rank] != site->prev) return CSAW__UNDECIDED;
        const csaw_arc back = csaw__arc_to(site, trial->rank, site->prev); /* a weight is read here alone */
        trial->width = by_alias ? csaw__static_bias(site, &back) : 1;
        return CSAW__ASKS;
    }
    trial->y -= excess;
    trial->rank = by_alias ? csaw__alias_rank(site, r1, &trial->dst) : csaw__uniform_rank(site, r1, &trial->dst);
    return trial->y < job->lo * total ? CSAW__PICKED : CSAW__ASKS;
}

/* The same of attempt number `attempt`. */
CSAW__ONCE int csaw__reject_try(const csaw_site *site, bool by_alias, uint32_t attempt, csaw__trial *trial) {
    const csaw_block block = csaw__attempt_block(site, attempt);
    return csaw__reject_propose(site, by_alias, csaw_half(&block, 0), csaw_half(&block, 1), trial);
}

/* Second half: CSAW__PICKED, CSAW__UNDECIDED (the attempt failed) or CSAW__BROKEN. */
CSAW_FN int csaw__reject_judge(const csaw_site *site, const csaw__trial *trial, const csaw_arc *arc,
                               csaw__fault *fault) {
    const csaw__job *job = site->job;
    const float factor = csaw__hooks.edge_bias(site, arc);
    const double limit = csaw__second_order(site) && arc->dst == site->prev ? job->back : job->hi;
    if (!(factor >= job->lo && factor <= limit)) {
        csaw__fault_at(site, arc, csaw__is_bias(factor) ? CSAW__FAULT_BOUND : CSAW__FAULT_EDGE, factor,
                       factor < job->lo ? job->lo : limit, fault);
        return CSAW__BROKEN;
    }
    const double height = trial->in_fold ? (double)factor - job->hi : factor;
    return trial->y < height * trial->width ? CSAW__PICKED : CSAW__UNDECIDED;
}

/* Whether what an attempt came to needs an answer from prev's row, which is elsewhere. */
CSAW_FN bool csaw__reject_needs_answer(const csaw_site *site, int picked) {
    return picked == CSAW__ASKS ? csaw__second_remote(site) : picked == CSAW__PICKED && csaw__update_may_ask(site);
}

/* Attempts from *attempt on. answer: whether the arcs of those attempts that need an answer lead to a neighbour of
 * prev, in order, then CSAW__NO_ANSWER; NULL = not asked yet, or prev's row is in sight. CSAW__ASKS: one more is
 * needed. */
CSAW_FN int csaw__reject_pick(const csaw_site *site, bool by_alias, uint32_t *attempt, const uint8_t *answer,
                              csaw_arc *arc, csaw__fault *fault) {
    for (; *attempt < CSAW__ATTEMPTS; ++*attempt) {
        csaw__trial trial;
        int picked = csaw__reject_try(site, by_alias, *attempt, &trial);
        if (picked == CSAW__NOTHING) return picked;
        if (picked == CSAW__UNDECIDED) continue; /* no arc leads back, so there is none to read */
        *arc = csaw__arc_to(site, trial.rank, trial.dst);
        if (csaw__reject_needs_answer(site, picked)) {
            if (!answer || *answer == CSAW__NO_ANSWER) return CSAW__ASKS;
            arc->near_prev = 1u + *answer++;
        }
        if (picked == CSAW__ASKS) picked = csaw__reject_judge(site, &trial, arc, fault);
        if (picked != CSAW__UNDECIDED) return picked;
    }
    return CSAW__UNDECIDED;
}

/* What the attempts from `attempt` on ask about, until one needs no judgement, or there are CSAW__MOST_ASKED: all in
 * one question, since the way to prev's row is long. Returns how many. */
CSAW_FN uint32_t csaw__reject_asks(const csaw_site *site, bool by_alias, uint32_t attempt, csaw_vertex *asked) {
    uint32_t n = 0;
    for (; attempt < CSAW__ATTEMPTS && n < CSAW__MOST_ASKED; attempt++) {
        csaw__trial trial;
        const int picked = csaw__reject_try(site, by_alias, attempt, &trial);
        if (csaw__reject_needs_answer(site, picked)) asked[n++] = trial.dst;
        if (picked == CSAW__PICKED || picked == CSAW__NOTHING) break;
    }
    return n;
}

#endif
