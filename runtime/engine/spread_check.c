/* SPDX-License-Identifier: MIT */
/* runtime/engine/spread_check.c - whether a message of walks that came from another rank can be one of the batch at
 * hand. What it names is used as a place: in paths, in rows and their degrees, in tables of ranks, by kernels too.
 * Ranks compare version, graph and run before the first message, so a wrong one is another build of the same version,
 * or was spoiled on its way; it would be written into other walks, or end the job without a word. To look costs a few
 * comparisons of what is about to be read anyway. What was spoiled and is still possible goes unseen. What questions
 * and answers name: spread_ask.c. */
#include "runtime/engine/spread_walk.h"

enum { LEAST_ASKED = 24 }; /* bytes of a question or an answer about one vertex */

static csaw_status check_bytes(const csaw__walks_here *w, uint32_t from, uint64_t head, uint32_t list,
                               const char *what) {
    CSAW_REQUIRE(csaw__message_bytes(head) == w->forms.bytes[list], CSAW_EINVAL,
                 "rank %u sent %s of %llu bytes, but those of this run have %llu; " CSAW__SPOILED, from, what,
                 (unsigned long long)csaw__message_bytes(head), (unsigned long long)w->forms.bytes[list]);
    return CSAW_OK;
}

static csaw_status check_record(const csaw__walks_here *w, uint32_t from, uint64_t head,
                                const csaw__record_message *m) {
    const csaw__job *const job = w->mine;
    const uint64_t walk = csaw__message_number(head);
    CSAW_TRY(check_bytes(w, from, head, CSAW__LIST_RECORDS, "a record"));
    CSAW_REQUIRE(walk - w->first < job->num_walks && m->depth - 1 < job->length &&
                     (m->at < job->num_vertices || m->at == CSAW_NONE),
                 CSAW_EINVAL,
                 "rank %u sent a record of walk %llu, depth %u, vertex %u, but here are %llu walks from %llu on, of "
                 "depths 1 .. %u, and vertices below %u; " CSAW__SPOILED,
                 from, (unsigned long long)walk, m->depth, m->at, (unsigned long long)job->num_walks,
                 (unsigned long long)w->first, job->length, job->num_vertices);
    return CSAW_OK;
}

static csaw_status check_walker(const csaw__walks_here *w, uint32_t from, uint64_t head, const csaw__walker_message *m,
                                csaw_vertex whose) {
    const csaw__job *const job = w->whole;
    const csaw__walker_limits limits = {job->num_walks, job->length, job->num_vertices, job->rows.first,
                                        job->rows.count};
    CSAW_REQUIRE(csaw__walker_fits(&limits, m, whose), CSAW_EINVAL,
                 "rank %u sent walk %llu, depth %u, at vertex %u after %u, root %u, to the rows of %u vertices from %u "
                 "on; walks are below %llu, depths below %u, vertices below %u; " CSAW__SPOILED,
                 from, (unsigned long long)csaw__message_number(head), m->depth, m->at, m->prev, m->root,
                 job->rows.count, job->rows.first, (unsigned long long)job->num_walks, job->length, job->num_vertices);
    return CSAW_OK;
}

static csaw_status check_asking(const csaw__walks_here *w, uint32_t from, uint64_t head,
                                const csaw__walker_message *m) {
    const void *const behind = (const char *)m + w->forms.bytes[CSAW__LIST_WALKERS];
    const csaw__walker_question *const q = behind;
    CSAW_REQUIRE(w->s->gpu && w->sampler->traits() & CSAW__TRAIT_SECOND_ORDER, CSAW_EINVAL,
                 "rank %u sent a walker with a question, which walks of first order and ranks without GPUs have "
                 "not; " CSAW__SPOILED,
                 from);
    CSAW_TRY(check_bytes(w, from, head, CSAW__LIST_ASKING, "a walker with a question"));
    CSAW_REQUIRE(csaw__question_fits(q), CSAW_EINVAL,
                 "rank %u sent a question of %u vertices in state %u; there are %d at most; " CSAW__SPOILED, from,
                 q->question.known & 0xff, q->state, (int)CSAW__MOST_ASKED);
    return check_walker(w, from, head, m, q->state == CSAW__PART_ASKS ? m->prev : m->at);
}

csaw_status csaw__walk_check(const csaw__walks_here *w, uint32_t from, uint64_t head, const void *message) {
    switch (csaw__message_kind(head)) {
    case CSAW__RECORD: return check_record(w, from, head, message);
    case CSAW__WALKER:
        CSAW_TRY(check_bytes(w, from, head, CSAW__LIST_WALKERS, "a walker"));
        return check_walker(w, from, head, message, ((const csaw__walker_message *)message)->at);
    case CSAW__ASKING: return check_asking(w, from, head, message);
    case CSAW__QUESTION:
    case CSAW__ANSWER:
        CSAW_REQUIRE(csaw__message_bytes(head) >= LEAST_ASKED, CSAW_EINVAL,
                     "rank %u sent a question or an answer of %llu bytes, but they have %d at least; " CSAW__SPOILED,
                     from, (unsigned long long)csaw__message_bytes(head), (int)LEAST_ASKED);
        return CSAW_OK;
    default: break;
    }
    return csaw__fail(CSAW_EINVAL, "rank %u sent a message of kind %u, which walks have not; " CSAW__SPOILED, from,
                      csaw__message_kind(head));
}
