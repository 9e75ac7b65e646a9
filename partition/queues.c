/* SPDX-License-Identifier: MIT */
/* partition/queues.c - queues of partitions: rings in device memory, lists on the host. */
#include "partition/queues.h"

#include "runtime/base/grow.h"

csaw_status csaw__queues_create(const csaw__ranges *ranges, csaw__active *ring, uint64_t room, csaw__queues *out) {
    csaw__queues queues = {.ranges = ranges, .ring = ring, .room = room};
    CSAW_TRY(csaw__alloc_zero(&queues.queue, ranges->count, "queues of partitions"));
    *out = queues;
    return CSAW_OK;
}

void csaw__queues_clear(csaw__queues *queues) {
    for (uint32_t p = 0; p < queues->ranges->count; p++)
        queues->queue[p].head = queues->queue[p].count = queues->queue[p].host_count = 0;
}

void csaw__queues_free(csaw__queues *queues) {
    for (uint32_t p = 0; queues->queue && p < queues->ranges->count; p++) csaw__free(queues->queue[p].host);
    csaw__free(queues->queue);
    *queues = (csaw__queues){0};
}

/* ---- the host's side ---- */

csaw_status csaw__queues_add(csaw__queues *queues, csaw__active entry) {
    csaw__queue *const q = &queues->queue[csaw__range_of(queues->ranges, entry.vertex)];
    CSAW_TRY(CSAW__GROW(&q->host, &q->host_room, q->host_count + 1, "entries of partitions"));
    q->host[q->host_count++] = entry;
    return CSAW_OK;
}

static bool add_to_ring(csaw__queues *queues, uint32_t part, csaw__active entry) {
    csaw__queue *const q = &queues->queue[part];
    if (q->count == queues->room) return false;
    queues->ring[part * queues->room + (q->head + q->count++) % queues->room] = entry;
    return true;
}

void csaw__queues_fill(csaw__queues *queues, uint32_t part) {
    csaw__queue *const q = &queues->queue[part];
    while (q->host_count && add_to_ring(queues, part, q->host[q->host_count - 1])) q->host_count--;
}

csaw_status csaw__queues_unload(csaw__queues *queues, csaw__spill *spill) {
    for (; spill->count; spill->count--, queues->num_spilled++)
        CSAW_TRY(csaw__queues_add(queues, spill->entry[spill->count - 1]));
    return CSAW_OK;
}

uint64_t csaw__queues_waiting(const csaw__queues *queues, uint32_t part) {
    return queues->queue[part].count + queues->queue[part].host_count;
}

/* ---- the device's side ---- */

uint64_t csaw__queues_take(csaw__queues *queues, uint32_t part, csaw__spill *spill, csaw__active *entry, uint64_t n) {
    csaw__queue *const q = &queues->queue[part];
    const uint64_t most = (spill->room - spill->count) / 2;
    n = n < most ? n : most;
    n = n < q->count ? n : q->count;
    for (uint64_t i = 0; i < n; i++) {
        entry[i] = queues->ring[part * queues->room + q->head];
        q->head = (q->head + 1) % queues->room;
    }
    q->count -= n;
    spill->in_hand = n;
    return n;
}

bool csaw__queues_push(csaw__queues *queues, csaw__spill *spill, csaw__active entry) {
    if (add_to_ring(queues, csaw__range_of(queues->ranges, entry.vertex), entry)) return true;
    if (spill->count + spill->in_hand == spill->room) return false;
    spill->entry[spill->count++] = entry;
    return true;
}

void csaw__queues_put(csaw__queues *queues, csaw__spill *spill, csaw__active entry) {
    spill->in_hand--;
    if (entry.state == CSAW__FINISHED) return;
    if (!add_to_ring(queues, csaw__range_of(queues->ranges, entry.vertex), entry)) spill->entry[spill->count++] = entry;
}
