/* SPDX-License-Identifier: MIT */
/* runtime/engine/walk_plain.c - walks that the graph alone decides (UNIFORM or ALIAS, no hook asked after the pick), on
 * the CPU.
 *
 * Method: a step has two halves. The first reads where the row stands, draws an arc and asks memory for it; the second
 * reads the arc and asks for the next row. A group of walks goes round in a ring: the second half of one walk is
 * followed at once by the first half of another, some places away. So requests to memory leave at an even pace. A
 * first pass over all walks, then a second one, lets memory idle during the second: loops written for the comparison,
 * two cores, R-MAT 20, 80 steps: 164 M steps/s by alias table in a ring of 32 against 124 M in two passes over 64
 * (uniform: 186 against 177). With requests into L2 a longer ring pays: uniform 279 M in a ring of 64, 181-191 in one
 * of 32. */
#include "runtime/engine/walk_plain.h"

#include <csaw/philox.h>

#include "runtime/base/row_place.h"
#include "runtime/engine/step_numbers.h"

enum {
    CSAW__RING = 64,
    CSAW__RING_LEAD = 16 /* walks between a second half and the next first half of the same walk */
};

typedef struct csaw__ring {
    csaw_vertex at[CSAW__RING];
    uint64_t place[CSAW__RING];    /* of the arc drawn */
    uint32_t fraction[CSAW__RING]; /* ALIAS */
    bool apart;                    /* some walk stands where no arc leads on */
} csaw__ring;

CSAW_FN void csaw__ring_draw(csaw__ring *ring, const csaw__rows *rows, uint32_t i, uint64_t number, bool alias,
                             bool wide) {
    const csaw_vertex at = ring->at[i];
    if (alias && at == CSAW_NONE) return;
    const uint64_t *const wide_offset = (const uint64_t *)rows->offset;
    const uint32_t *const narrow_offset = (const uint32_t *)rows->offset;
    const uint64_t row = wide ? wide_offset[at] : narrow_offset[at];
    const uint32_t degree = wide ? (uint32_t)(wide_offset[at + 1] - row) : narrow_offset[at + 1] - (uint32_t)row;
    ring->place[i] = row + csaw_below(number, degree);
    if (alias) ring->fraction[i] = (uint32_t)(number * degree >> 32);
    csaw__soon(alias ? (const void *)(rows->alias + ring->place[i]) : (const void *)(rows->col + ring->place[i]));
    ring->apart = ring->apart || degree == 0;
}

CSAW_FN void csaw__ring_go(csaw__ring *ring, const csaw__rows *rows, uint32_t i, csaw_vertex *path, bool alias,
                           bool wide) {
    csaw_vertex next;
    if (alias) {
        const csaw__alias *entry = &rows->alias[ring->place[i]];
        next = ring->fraction[i] < entry->threshold ? entry->own : entry->other;
        ring->apart = ring->apart || next == CSAW_NONE; /* a row without a positive bias */
    } else {
        next = rows->col[ring->place[i]];
    }
    *path = ring->at[i] = next;
    csaw__soon((const char *)rows->offset + (wide ? 8 : 4) * (size_t)next);
}

/* A step of walks first .. count - 1 where some may have ended, or arcs are kept; path and edge: of the step. */
CSAW_FN void csaw__plain_step(csaw__ring *ring, const csaw__job *job, uint32_t first, uint32_t count,
                              const uint64_t *number, csaw_vertex *path, csaw_edge *edge, bool alias) {
    const csaw__rows *const rows = &job->rows;
    for (uint32_t i = first; i < count; i++) {
        if (ring->at[i] == CSAW_NONE) continue;
        const uint64_t row = csaw__offset(rows, ring->at[i]), end = csaw__offset(rows, ring->at[i] + 1);
        const uint64_t place = row + csaw_below(number[i], end - row);
        csaw__soon(alias ? (const void *)(rows->alias + place) : (const void *)(rows->col + place));
    }
    for (uint32_t i = first; i < count; i++) {
        csaw_vertex next = CSAW_NONE;
        csaw_edge arc = CSAW_NO_EDGE;
        if (ring->at[i] != CSAW_NONE) {
            const uint64_t row = csaw__offset(rows, ring->at[i]), degree = csaw__offset(rows, ring->at[i] + 1) - row;
            const uint64_t rank = csaw_below(number[i], degree);
            if (degree && alias) {
                const csaw__alias entry = rows->alias[row + rank];
                const bool own = (uint32_t)(number[i] * degree >> 32) < entry.threshold;
                next = own ? entry.own : entry.other;
                if (next != CSAW_NONE) arc = rows->first_arc + row + (own ? rank : entry.other_rank);
            } else if (degree) {
                next = rows->col[row + rank];
                arc = rows->first_arc + row + rank;
            }
        }
        ring->at[i] = next;
        path[i * ((size_t)job->length + 1)] = next;
        if (edge) edge[i * (size_t)job->length] = arc;
        if (next != CSAW_NONE) csaw__prefetch_row(rows, next);
    }
}

/* Walks first .. first + count - 1; count <= CSAW__RING. alias and wide are known when compiled. */
CSAW_FN void csaw__walk_ring(const csaw__job *job, uint64_t first, uint32_t count, bool alias, bool wide) {
    const csaw__rows *const rows = &job->rows;
    const size_t stride = (size_t)job->length + 1;
    const uint32_t lag = CSAW__RING - CSAW__RING_LEAD;
    csaw_vertex *path = job->path + first * stride;
    csaw_edge *edge = job->edge ? job->edge + first * job->length : 0;
    csaw__step_numbers numbers;
    csaw__ring ring;
    ring.apart = edge || count < CSAW__RING;
    csaw__step_numbers_start(&numbers, job, job->first + first, count);
    for (uint32_t i = 0; i < count; i++) path[i * stride] = ring.at[i] = csaw__root_of(job, job->first + first + i);
    for (uint32_t i = 0; i < lag && !ring.apart; i++)
        csaw__ring_draw(&ring, rows, i, csaw__step_number(&numbers, 0, i), alias, wide);
    for (uint32_t depth = 0; depth < job->length; depth++) {
        uint32_t done = 0; /* walks that took this step in the ring */
        path++;
        if (!ring.apart)
            for (; done < CSAW__RING_LEAD; done++) {
                csaw__ring_go(&ring, rows, done, path + done * stride, alias, wide);
                csaw__ring_draw(&ring, rows, done + lag, csaw__step_number(&numbers, depth, done + lag), alias, wide);
            }
        csaw__step_numbers_need(&numbers, depth + 1);
        if (!ring.apart)
            for (; done < CSAW__RING; done++) {
                csaw__ring_go(&ring, rows, done, path + done * stride, alias, wide);
                csaw__ring_draw(&ring, rows, done - CSAW__RING_LEAD,
                                csaw__step_number(&numbers, depth + 1, done - CSAW__RING_LEAD), alias, wide);
            }
        if (done < count)
            csaw__plain_step(&ring, job, done, count, csaw__step_numbers_at(&numbers, depth), path, edge, alias);
        if (edge) edge++;
    }
}

CSAW_FN void csaw__walk_rings(const csaw__job *job, uint64_t first, uint64_t count, bool alias) {
    for (uint64_t done = 0; done < count; done += CSAW__RING) {
        const uint32_t n = count - done < CSAW__RING ? (uint32_t)(count - done) : CSAW__RING;
        if (job->rows.wide)
            csaw__walk_ring(job, first + done, n, alias, true);
        else
            csaw__walk_ring(job, first + done, n, alias, false);
    }
}

void csaw__walk_plain(const csaw__job *job, uint64_t first, uint64_t count, bool alias) {
    if (alias)
        csaw__walk_rings(job, first, count, true);
    else
        csaw__walk_rings(job, first, count, false);
}
