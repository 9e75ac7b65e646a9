/* SPDX-License-Identifier: MIT */
/* partition/fit.c - the division of device memory.
 *
 * A quarter of it is for instances under way: a sixteenth for queues, a 64th for what overflows them, the rest for the
 * instances themselves. Degrees stay, 4 bytes a vertex. All else is divided into slots: 4, so that partitions run while
 * others arrive, or fewer where the longest row would take more than half of a slot. Slots are larger than their share
 * of the graph by one row, since a row is never cut.
 *
 * Every round of instances brings the partitions anew. So where a quarter does not hold all instances of a job, up to
 * three are tried, and the division with the fewest bytes to move is taken. */
#include "partition/fit.h"

enum { OFFSET_BYTES = 8 /* a partition has one row offset more than rows */, FREE_QUEUES = 1 << 20 };

static uint64_t at_least(uint64_t value, uint64_t least) { return value > least ? value : least; }
static uint64_t at_most(uint64_t value, uint64_t most) { return value < most ? value : most; }
static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static uint64_t longest_bytes(const csaw__fit_request *q) {
    return q->row_bytes + q->longest_row * q->arc_bytes + OFFSET_BYTES;
}

/* Bytes of a partition, at most. */
static uint64_t part_bytes(const csaw__fit_request *q, uint64_t graph, uint64_t parts) {
    return parts == 1 ? graph : divide_up(graph, parts) + longest_bytes(q);
}

/* Partitions and slots where nobody said how many. False: not even one slot would do. */
static bool choose_parts(const csaw__fit_request *q, uint64_t slots_bytes, csaw__fit *fit) {
    const uint64_t longest = longest_bytes(q);
    const uint32_t most = q->resident ? q->resident : CSAW__MOST_RESIDENT, least = q->resident ? q->resident : 1;
    for (uint32_t resident = most; resident >= least; resident--) {
        const uint64_t slot = slots_bytes / resident;
        if (slot <= longest || (resident > least && longest > slot / 2)) continue;
        const uint64_t parts = divide_up(fit->graph, slot - longest);
        if (parts > CSAW__MOST_PARTS) continue;
        fit->parts = (uint32_t)parts;
        fit->resident = (uint32_t)at_most(resident, parts);
        return true;
    }
    return false;
}

/* Slots where the number of partitions is given. */
static bool choose_resident(const csaw__fit_request *q, uint64_t slots_bytes, csaw__fit *fit) {
    const uint64_t part = part_bytes(q, fit->graph, q->parts), fitting = part ? slots_bytes / part : q->parts;
    fit->parts = q->parts;
    fit->resident = (uint32_t)at_most(q->resident ? q->resident : fitting, q->parts);
    return fit->resident && fit->resident <= fitting;
}

/* Memory with which a division like this works, in a message: 3/4 of it hold degrees and the least slots. */
static csaw_status too_little(const csaw__fit_request *q, const csaw__fit *fit) {
    const uint64_t parts = q->parts ? q->parts : CSAW__MOST_PARTS / 16, resident = q->resident ? q->resident : 1;
    const double slots = (double)resident * (double)part_bytes(q, fit->graph, parts);
    return csaw__fail(
        CSAW_EDEVMEM,
        "%.3f MiB of GPU memory are too little for a graph of %.3f MiB in %s partitions, %llu resident, whose "
        "longest row takes %.3f MiB: about %.3f MiB would do; give more, or more partitions, or fewer resident",
        (double)q->memory / 1048576, (double)fit->graph / 1048576, q->parts ? "so few" : "any number of",
        (unsigned long long)resident, (double)longest_bytes(q) / 1048576,
        (slots + 4.0 * (double)q->rows) / 0.75 / 1048576);
}

/* instances: bytes for them and their queues. */
static csaw_status divide_instances(const csaw__fit_request *q, uint64_t instances, csaw__fit *fit) {
    const uint64_t queues = q->memory ? q->memory / 16 : FREE_QUEUES, spills = q->memory ? q->memory / 64 : FREE_QUEUES;
    fit->queue_room = at_least(queues / CSAW__ENTRY_BYTES / fit->parts, 1);
    fit->spill_room = at_least(spills / CSAW__ENTRY_BYTES / fit->streams, 2);
    fit->queues = fit->queue_room * fit->parts * CSAW__ENTRY_BYTES;
    fit->spills = fit->spill_room * fit->streams * CSAW__ENTRY_BYTES;
    const uint64_t used = fit->queues + fit->spills;
    fit->instances = !q->memory ? UINT64_MAX : instances - at_most(used, instances);
    CSAW_REQUIRE(fit->instances, CSAW_EDEVMEM,
                 "%llu bytes of GPU memory are too little for the queues of %u partitions, which take %llu of the %llu "
                 "for instances; give more, or fewer partitions",
                 (unsigned long long)q->memory, fit->parts, (unsigned long long)used, (unsigned long long)instances);
    return CSAW_OK;
}

/* So many bytes for instances, the rest for the graph. */
static csaw_status divide(const csaw__fit_request *q, uint64_t instances, csaw__fit *out) {
    csaw__fit fit = {.graph = q->rows * q->row_bytes + q->arcs * q->arc_bytes + OFFSET_BYTES};
    const uint64_t for_graph = q->memory - instances;
    if (q->parts <= 1 && (!q->memory || fit.graph <= for_graph)) {
        fit.parts = fit.resident = 1;
        fit.whole = true;
    } else {
        fit.degrees = 4 * q->rows;
        const uint64_t slots_bytes = !q->memory ? UINT64_MAX : for_graph > fit.degrees ? for_graph - fit.degrees : 0;
        if (!(q->parts ? choose_resident(q, slots_bytes, &fit) : choose_parts(q, slots_bytes, &fit)))
            return too_little(q, &fit);
    }
    fit.part = part_bytes(q, fit.graph, fit.parts);
    fit.streams = (uint32_t)at_most(q->streams ? q->streams : CSAW__MOST_RESIDENT, fit.resident);
    CSAW_TRY(divide_instances(q, instances, &fit));
    *out = fit;
    return CSAW_OK;
}

/* Bytes of partitions that a job is expected to move. */
static double bytes_to_move(const csaw__fit_request *q, const csaw__fit *fit) {
    const double graph = (double)fit->graph;
    if (fit->resident == fit->parts) return graph;
    return (double)csaw__fit_rounds(q, fit) * csaw__fit_transfers(fit, q->steps) * graph / fit->parts;
}

csaw_status csaw__fit_memory(const csaw__fit_request *q, csaw__fit *out) {
    const uint64_t quarter = q->memory / 4;
    csaw__fit best, other;
    CSAW_TRY(divide(q, quarter, &best));
    for (uint64_t more = 1; q->memory && more <= 4 && !best.whole && csaw__fit_rounds(q, &best) > 1; more++)
        if (divide(q, quarter + more * (q->memory / 8), &other) == CSAW_OK &&
            bytes_to_move(q, &other) < bytes_to_move(q, &best))
            best = other;
    *out = best;
    return CSAW_OK;
}

uint64_t csaw__fit_rounds(const csaw__fit_request *q, const csaw__fit *fit) {
    return q->wanted ? divide_up(q->wanted, fit->instances) : 1;
}

double csaw__fit_transfers(const csaw__fit *fit, uint32_t steps) {
    return fit->parts + (double)(fit->parts - fit->resident) * steps / 2;
}
