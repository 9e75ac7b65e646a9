/* SPDX-License-Identifier: MIT */
/* runtime/engine/parts_simulated.c - partitions that come to a simulated device: its queues, and walks as entries that
 * a function of the host works on (parts_walk.c has their steps). */
#include "runtime/base/memory.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/parts_walk.h"

static uint64_t ring_bytes(const csaw__parts *parts) {
    return parts->fit.queue_room * parts->fit.parts * sizeof *parts->ring;
}

static csaw_status arrange(csaw__parts *parts) {
    csaw__simulated *const device = &parts->device;
    if (parts->queue_room) parts->fit.queue_room = parts->queue_room;
    if (parts->spill_room) parts->fit.spill_room = parts->spill_room;
    device->csr = parts->graph->csr;
    device->ranges = &parts->ranges;
    device->queues = &parts->queues;
    device->slot_bytes = parts->fit.part;
    device->spill_room = parts->fit.spill_room;
    device->memory = parts->request.memory;
    parts->on = csaw__simulated_device(device);
    CSAW_TRY(csaw__simulated_alloc(device, ring_bytes(parts), "queues of partitions", (void **)&parts->ring));
    return csaw__queues_create(&parts->ranges, parts->ring, parts->fit.queue_room, &parts->queues);
}

static void clear(csaw__parts *parts) {
    csaw__simulated_close(&parts->device);
    csaw__simulated_free(&parts->device, parts->ring, ring_bytes(parts));
    if (parts->queues.queue) csaw__queues_free(&parts->queues);
    parts->ring = NULL;
}

static csaw_status take_tables(csaw__parts *parts, const csaw__alias *alias, const csaw__row_bias *bias) {
    parts->device.alias = alias;
    parts->device.bias = bias;
    return CSAW_OK;
}

static uint64_t walk_state(const csaw_sampler *sampler) {
    (void)sampler; /* any walker has room for all that one may need */
    return sizeof(csaw__walker);
}

static csaw__parts_use use(const csaw__parts *parts) {
    const csaw__simulated *const device = &parts->device;
    return (csaw__parts_use){
        .used = device->used, .peak = device->peak, .copies = device->copies, .copied_bytes = device->copied_bytes};
}

static void destroy(csaw__parts *parts) { (void)parts; /* it has nothing that clear() leaves */ }

/* Nothing waits in queues. A step that still waited to ask would be lost without a word. */
static csaw_status all_asked(csaw__question_room *room) {
    const uint64_t parked = room->num_parked;
    room->num_parked = 0;
    CSAW_REQUIRE(parked == 0, CSAW_EINVAL,
                 "%llu steps of second order still wait to ask, beside %llu of %llu bytes of questions, though no work "
                 "is left; this is an error of csaw, please report it",
                 (unsigned long long)parked, (unsigned long long)room->used, (unsigned long long)room->most);
    return CSAW_OK;
}

csaw_status csaw__parts_run(csaw__parts *parts, csaw__part_work work) {
    parts->device.work = work;
    const csaw_status status = csaw__schedule_run(&parts->schedule, &parts->on);
    if (status == CSAW_OK) return all_asked(&parts->questions);
    csaw__queues_clear(&parts->queues);
    parts->questions.num_parked = 0;
    return status;
}

const csaw__parts_kind csaw__parts_simulated = {.has_queues = true,
                                                .arrange = arrange,
                                                .clear = clear,
                                                .take_tables = take_tables,
                                                .walk_state = walk_state,
                                                .walk = csaw__parts_walk_on_host,
                                                .use = use,
                                                .destroy = destroy};
