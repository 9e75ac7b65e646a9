/* SPDX-License-Identifier: MIT */
/* runtime/engine/negative_draw.h - one negative sample: the code that CPU and GPU draw it by.
 *
 * Law: P(x | u) = m(x) / M(u) over the x that are allowed for u, M(u) the sum of their m; m(x) = 1, or the mass
 * (runtime/base/mass.h) of degree(x)^power. Attempts draw from all vertices and fail on one that is not allowed; after
 * 8 the draw is made among those allowed: the masses of the others, who stand in u's row, are cut out. Failed attempts
 * carry no information, so that this is exact, and bounded where u is joined to nearly all.
 * Source: Mikolov et al., "Distributed representations of words and phrases and their compositionality", NIPS 2013,
 * section 2.2 (the power 3/4). */
#ifndef CSAW_ENGINE_NEGATIVE_DRAW_H
#define CSAW_ENGINE_NEGATIVE_DRAW_H

#include "runtime/base/search_row.h"
#include "runtime/engine/training.h"

enum { CSAW__NEGATIVE_ATTEMPTS = 8 };

typedef struct csaw__negative_law {
    const csaw_edge *rowptr; /* [num_vertices + 1]; unless any */
    const csaw_vertex *col;  /* the rows' destinations, ascending; unless any */
    const uint64_t *upto;    /* [num_vertices] inclusive sums of masses; NULL = 1 each */
    uint64_t num_vertices;
    uint64_t sum; /* of all masses */
    bool any;     /* every vertex is allowed */
} csaw__negative_law;

CSAW_FN uint64_t csaw__negative_before(const csaw__negative_law *law, csaw_vertex v) {
    return law->upto ? (v ? law->upto[v - 1] : 0) : v;
}

CSAW_FN uint64_t csaw__negative_upto(const csaw__negative_law *law, csaw_vertex v) {
    return law->upto ? law->upto[v] : (uint64_t)v + 1;
}

/* The vertex in whose stretch of the sums x is. */
CSAW_FN csaw_vertex csaw__negative_at(const csaw__negative_law *law, uint64_t x) {
    uint64_t low = 0, high = law->num_vertices - 1;
    if (!law->upto) return (csaw_vertex)x;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (law->upto[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return (csaw_vertex)low;
}

/* The vertices that are not allowed for src, ascending, each once: src and its row. */
typedef struct csaw__barred {
    const csaw_vertex *col;
    uint64_t count, at;
    csaw_vertex src;
    bool src_done;
} csaw__barred;

CSAW_FN csaw__barred csaw__barred_for(const csaw__negative_law *law, csaw_vertex src) {
    const csaw_edge begin = law->rowptr[src];
    const csaw__barred out = {law->col + begin, law->rowptr[(uint64_t)src + 1] - begin, 0, src, false};
    return out;
}

CSAW_FN bool csaw__barred_next(csaw__barred *b, csaw_vertex *out) {
    while (b->at > 0 && b->at < b->count && b->col[b->at] == b->col[b->at - 1]) b->at++;
    if (!b->src_done && (b->at == b->count || b->src <= b->col[b->at])) {
        b->src_done = true;
        if (b->at < b->count && b->src == b->col[b->at]) b->at++;
        *out = b->src;
        return true;
    }
    if (b->at == b->count) return false;
    *out = b->col[b->at++];
    return true;
}

/* Among those allowed; CSAW_NONE if there is none. */
CSAW_FN csaw_vertex csaw__negative_allowed(const csaw__negative_law *law, csaw_vertex src, uint64_t random) {
    uint64_t left = law->sum;
    csaw_vertex v;
    for (csaw__barred b = csaw__barred_for(law, src); csaw__barred_next(&b, &v);)
        left -= csaw__negative_upto(law, v) - csaw__negative_before(law, v);
    if (left == 0) return CSAW_NONE;
    uint64_t x = csaw_below(random, left);
    for (csaw__barred b = csaw__barred_for(law, src); csaw__barred_next(&b, &v) && x >= csaw__negative_before(law, v);)
        x += csaw__negative_upto(law, v) - csaw__negative_before(law, v);
    return csaw__negative_at(law, x);
}

CSAW_FN bool csaw__negative_is(const csaw__negative_law *law, csaw_vertex src, csaw_vertex x) {
    if (law->any) return true;
    const csaw_edge begin = law->rowptr[src];
    return x != src && !csaw__row_has(law->col + begin, (uint32_t)(law->rowptr[(uint64_t)src + 1] - begin), x);
}

/* Number j of source number `place`. CSAW_NONE: there is none for src. */
CSAW_FN csaw_vertex csaw__negative_draw(const csaw__negative_law *law, uint64_t seed, uint64_t place, csaw_vertex src,
                                        uint32_t j) {
    csaw_block block = {{0}};
    for (uint32_t t = 0; t < CSAW__NEGATIVE_ATTEMPTS; t++) {
        if (t % 2 == 0) block = csaw_draw(seed, place, 0, j, CSAW_DRAW_TRAINING, CSAW__NEGATIVE_DRAWS + t / 2);
        const csaw_vertex x = csaw__negative_at(law, csaw_below(csaw_half(&block, t % 2), law->sum));
        if (csaw__negative_is(law, src, x)) return x;
    }
    block = csaw_draw(seed, place, 0, j, CSAW_DRAW_TRAINING, CSAW__NEGATIVE_DRAWS + CSAW__NEGATIVE_ATTEMPTS / 2);
    return csaw__negative_allowed(law, src, csaw_half(&block, 0));
}

#endif
