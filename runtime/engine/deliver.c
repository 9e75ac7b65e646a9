/* SPDX-License-Identifier: MIT */
/* runtime/engine/deliver.c - samples on their way from devices to the host's memory, where those of several GPUs come
 * together: each GPU copies its share to its place, all at the same time. */
#include <stdio.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/gpus.h"

/* What devices drew: shares, or samples themselves. */
static uint32_t count_of(const csaw_samples *samples) { return samples->share ? samples->num_shares : 1; }
static csaw_samples *piece_of(csaw_samples *samples, uint32_t i) {
    return samples->share ? samples->share[i] : samples;
}
static bool has_walks(const csaw_samples *piece) { return piece->device_path && piece->num_walks; }
static bool has_arcs(const csaw_samples *piece) { return piece->device_arcs.offset && piece->num_walks; }

/* The failure of a piece, by the name of its GPU where there are several. */
static csaw_status failed(const csaw_samples *whole, const csaw_samples *piece, csaw_status status) {
    char message[2048];
    if (status == CSAW_OK || !whole->share) return status;
    snprintf(message, sizeof message, "%s", csaw_last_error());
    return csaw__gpu_failed(piece->ordinal, status, message);
}

/* Waits for all copies, whatever came before; that failure, or the first of these. */
static csaw_status finish(csaw_samples *samples, csaw_status status) {
    char message[2048];
    if (status != CSAW_OK) snprintf(message, sizeof message, "%s", csaw_last_error());
    for (uint32_t i = 0; i < count_of(samples); i++) {
        csaw_samples *const piece = piece_of(samples, i);
        if (!piece->device || !(has_walks(piece) || has_arcs(piece))) continue;
        const csaw_status ended = failed(samples, piece, csaw__device_finish(piece));
        if (ended == CSAW_OK || status != CSAW_OK) continue;
        status = ended;
        snprintf(message, sizeof message, "%s", csaw_last_error());
    }
    return status == CSAW_OK ? CSAW_OK : csaw__fail(status, "%s", message);
}

/* ---- walks ---- */

csaw_status csaw__walks_room(csaw_samples *samples) {
    const uint64_t walks = samples->device_walks, length = samples->length;
    if (!samples->host_path)
        CSAW_TRY(csaw__block_take(samples->spare, walks * (length + 1) * sizeof *samples->host_path,
                                  "paths of walks (csaw_sample_each works in bounded memory)",
                                  (void **)&samples->host_path));
    if (samples->edges && !samples->host_edge)
        CSAW_TRY(csaw__block_take(samples->spare, walks * length * sizeof *samples->host_edge,
                                  "arcs of walks (csaw_sample_each works in bounded memory)",
                                  (void **)&samples->host_edge));
    return CSAW_OK;
}

csaw_status csaw__walks_to_host(csaw_samples *samples) {
    csaw_status status = CSAW_OK;
    uint64_t at = 0;
    CSAW_TRY(csaw__walks_room(samples));
    for (uint32_t i = 0; i < count_of(samples) && status == CSAW_OK; i++) {
        csaw_samples *const piece = piece_of(samples, i);
        csaw_vertex *const path = samples->host_path + at * ((uint64_t)samples->length + 1);
        csaw_edge *const edge = samples->edges ? samples->host_edge + at * samples->length : NULL;
        if (has_walks(piece)) status = failed(samples, piece, csaw__device_begin_walks(piece, path, edge));
        at += piece->num_walks;
    }
    CSAW_TRY(finish(samples, status));
    samples->host_current = true;
    return CSAW_OK;
}

/* ---- arcs ---- */

/* Where a piece begins among all. */
typedef struct place {
    uint64_t instances, arcs, seeds;
} place;

static csaw_arcs arcs_from(const csaw_arcs *all, place at) {
    csaw_arcs out = *all;
    out.offset += at.instances;
    out.src += at.arcs;
    out.dst += at.arcs;
    out.edge += at.arcs;
    out.depth += at.arcs;
    out.seed_offset += at.instances;
    out.seed += at.seeds;
    return out;
}

/* Offsets of a piece count from its own first arc and seed. */
static void count_from_all(const csaw_arcs *all, place at, uint64_t instances) {
    uint64_t *const offset = (uint64_t *)(uintptr_t)all->offset + at.instances + 1, *const seed_offset =
                                                                                        (uint64_t *)(uintptr_t)
                                                                                            all->seed_offset +
                                                                                        at.instances + 1;
    if (at.instances == 0) return;
    CSAW__OMP(parallel for if (csaw__is_long(instances)))
    for (uint64_t i = 0; i < instances; i++) {
        offset[i] += at.arcs;
        seed_offset[i] += at.seeds;
    }
}

/* count: [pieces], arcs and seeds of each; all: of all. */
static csaw_status count_arcs(csaw_samples *samples, uint64_t (*count)[2], place *all) {
    *all = (place){.instances = samples->num_walks};
    for (uint32_t i = 0; i < count_of(samples); i++) {
        csaw_samples *const piece = piece_of(samples, i);
        count[i][0] = count[i][1] = 0;
        if (has_arcs(piece)) CSAW_TRY(failed(samples, piece, csaw__device_count_arcs(piece, count[i])));
        all->arcs += count[i][0];
        all->seeds += count[i][1];
    }
    return CSAW_OK;
}

static csaw_status begin_arcs(csaw_samples *samples, uint64_t (*count)[2], const csaw_arcs *to) {
    place at = {0, 0, 0};
    for (uint32_t i = 0; i < count_of(samples); i++) {
        csaw_samples *const piece = piece_of(samples, i);
        const csaw_arcs here = arcs_from(to, at);
        if (has_arcs(piece)) CSAW_TRY(failed(samples, piece, csaw__device_begin_arcs(piece, count[i], &here)));
        at.instances += piece->num_walks;
        at.arcs += count[i][0];
        at.seeds += count[i][1];
    }
    return CSAW_OK;
}

csaw_status csaw__arcs_to_host(csaw_samples *samples) {
    uint64_t count[CSAW__MOST_GPUS][2];
    place all, at = {0, 0, 0};
    csaw_arcs *const to = &samples->arcs;
    CSAW_TRY(count_arcs(samples, count, &all));
    CSAW_TRY(csaw__arcs_create(samples->spare, all.instances, all.arcs, all.seeds, to));
    const csaw_status status = finish(samples, begin_arcs(samples, count, to));
    if (status != CSAW_OK) csaw__arcs_free(samples->spare, to);
    CSAW_TRY(status);
    for (uint32_t i = 0; i < count_of(samples); i++) {
        count_from_all(to, at, piece_of(samples, i)->num_walks);
        at.instances += piece_of(samples, i)->num_walks;
        at.arcs += count[i][0];
        at.seeds += count[i][1];
    }
    to->first = samples->first;
    return CSAW_OK;
}

/* ---- what a run in batches keeps for delivery ---- */

csaw_status csaw__samples_reserve(csaw_samples *samples) {
    for (uint32_t i = 0; i < count_of(samples); i++) {
        csaw_samples *const piece = piece_of(samples, i);
        const csaw_status status = has_walks(piece) ? csaw__device_reserve(piece) : CSAW_OK;
        if (status == CSAW_OK) continue;
        csaw__samples_unreserve(samples);
        return status;
    }
    return CSAW_OK;
}

void csaw__samples_unreserve(csaw_samples *samples) {
    for (uint32_t i = 0; i < count_of(samples); i++) csaw__device_unreserve(piece_of(samples, i));
}

void csaw__samples_pass_on(csaw_samples *from, csaw_samples *to) {
    to->host_path = from->host_path;
    to->host_edge = from->host_edge;
    from->host_path = NULL;
    from->host_edge = NULL;
    for (uint32_t i = 0; i < count_of(from); i++) {
        csaw_samples *const before = piece_of(from, i), *const now = piece_of(to, i);
        if (!before->device_turned || !now->device_path) continue; /* whose device frees it? */
        now->device_turned = before->device_turned;
        before->device_turned = NULL;
    }
}
