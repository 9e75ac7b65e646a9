/* SPDX-License-Identifier: MIT */
/* partition/fit.c - the division of device memory.
 *
 * A quarter of it is for instances under way: a sixteenth for queues, a 64th for what overflows them, the rest for the
 * instances themselves. Degrees stay, 4 bytes a vertex. All else is divided into slots: 2 to 4, so that partitions run
 * while others arrive, or 1 where the longest row would take more than half of each. Slots are larger than their share
 * of the graph by one row, since a row is never cut. What a graph leaves that fits as it is, instances have.
 *
 * Every round of instances brings the partitions anew. So where a quarter does not hold all instances of a batch, up to
 * three are tried, each with 4, 3 and 2 slots, and the division that costs least is taken: bytes to move, and something
 * for each transfer (CSAW__TRANSFER_COST). Fewer slots are larger, so that the same bytes move by fewer transfers.
 * Without queues, exactly what the instances of so many rounds take is tried, too.
 *
 * Walks that read few bytes a step may read them where the graph lies, if the device can: then no partition is brought.
 * That is done where it costs less, and nobody said how many partitions, resident ones or streams. */
#include "partition/fit.h"

#include <stdio.h>

#include "runtime/base/size_text.h"

enum {
    OFFSET_BYTES = 8, /* a partition has one row offset more than rows */
    DEGREE_BYTES = 4,
    FREE_QUEUES = 1 << 20,
    MOST_ROUNDS = 8 /* that memory is divided for exactly */
};

static uint64_t at_least(uint64_t value, uint64_t least) { return value > least ? value : least; }
static uint64_t at_most(uint64_t value, uint64_t most) { return value < most ? value : most; }
static uint64_t times(uint64_t a, uint64_t b) { return a < UINT64_MAX / b ? a * b : UINT64_MAX; }
static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static uint64_t longest_bytes(const csaw__fit_request *q) {
    return q->row_bytes + q->longest_row * q->arc_bytes + OFFSET_BYTES;
}

static uint64_t graph_bytes(const csaw__fit_request *q) {
    return q->rows * q->row_bytes + q->arcs * q->arc_bytes + OFFSET_BYTES;
}

/* Bytes of a partition, at most. */
static uint64_t part_bytes(const csaw__fit_request *q, uint64_t graph, uint64_t parts) {
    return parts == 1 ? graph : divide_up(graph, parts) + longest_bytes(q);
}

/* ---- partitions ---- */

/* Partitions for so many slots, where nobody said how many. False: they would be too small. */
static bool choose_parts(const csaw__fit_request *q, uint64_t slots_bytes, uint32_t resident, csaw__fit *fit) {
    const uint64_t longest = longest_bytes(q), slot = slots_bytes / resident;
    if (slot <= longest || (!q->resident && resident > 1 && longest > slot / 2)) return false;
    const uint64_t parts = divide_up(fit->graph, slot - longest);
    if (parts > CSAW__MOST_PARTS) return false;
    fit->parts = (uint32_t)parts;
    fit->resident = (uint32_t)at_most(resident, parts);
    return true;
}

/* Slots where the number of partitions is given. */
static bool choose_resident(const csaw__fit_request *q, uint64_t slots_bytes, csaw__fit *fit) {
    const uint64_t part = part_bytes(q, fit->graph, q->parts), fitting = part ? slots_bytes / part : q->parts;
    fit->parts = q->parts;
    fit->resident = (uint32_t)at_most(q->resident ? q->resident : fitting, q->parts);
    return fit->resident && fit->resident <= fitting;
}

/* ---- one division ---- */

typedef enum outcome { FITS, NO_SLOTS, NO_QUEUES, NO_INSTANCE } outcome;

static void choose_queues(const csaw__fit_request *q, csaw__fit *fit) {
    if (q->no_queues) return;
    const uint64_t queues = q->memory ? q->memory / 16 : FREE_QUEUES, spills = q->memory ? q->memory / 64 : FREE_QUEUES;
    fit->queue_room = at_least(queues / CSAW__ENTRY_BYTES / fit->parts, 1);
    fit->spill_room = at_least(spills / CSAW__ENTRY_BYTES / fit->streams, 2);
    fit->queues = fit->queue_room * fit->parts * CSAW__ENTRY_BYTES;
    fit->spills = fit->spill_room * fit->streams * CSAW__ENTRY_BYTES;
}

/* So many bytes for instances, their queues and tables at least; the rest for the graph, in so many slots if nobody
 * said how many partitions; and what the graph leaves for instances too. */
static outcome divide(const csaw__fit_request *q, uint64_t instances, uint32_t resident, csaw__fit *fit) {
    const uint64_t for_graph = q->memory - instances;
    *fit = (csaw__fit){.graph = graph_bytes(q)};
    if (q->parts <= 1 && (!q->memory || fit->graph <= for_graph)) {
        fit->parts = fit->resident = 1;
        fit->whole = true;
    } else {
        fit->degrees = DEGREE_BYTES * q->rows;
        const uint64_t slots_bytes = !q->memory ? UINT64_MAX : for_graph - at_most(fit->degrees, for_graph);
        if (!(q->parts ? choose_resident(q, slots_bytes, fit) : choose_parts(q, slots_bytes, resident, fit)))
            return NO_SLOTS;
        fit->tables = (uint64_t)fit->parts * q->table_bytes;
    }
    fit->part = part_bytes(q, fit->graph, fit->parts);
    fit->streams = (uint32_t)at_most(q->streams ? q->streams : CSAW__MOST_RESIDENT, fit->resident);
    choose_queues(q, fit);
    const uint64_t used = fit->resident * fit->part + fit->degrees + fit->tables + fit->queues + fit->spills;
    fit->instances = q->memory ? q->memory - at_most(used, q->memory) : UINT64_MAX;
    if (q->memory && used > q->memory) return NO_QUEUES;
    return fit->instances < q->one ? NO_INSTANCE : FITS;
}

/* ---- the best of several ---- */

/* Bytes of partitions that a job is expected to move, and what each transfer costs beside. */
static double cost(const csaw__fit_request *q, const csaw__fit *fit) {
    const double one = (double)fit->graph / fit->parts + (double)CSAW__TRANSFER_COST;
    if (fit->resident == fit->parts) return fit->parts * one;
    return (double)csaw__fit_rounds(q, fit) * csaw__fit_transfers(fit, q->steps, q->asks) * one;
}

/* No partition is brought: all memory is for instances. */
static outcome leave_on_host(const csaw__fit_request *q, csaw__fit *fit) {
    *fit = (csaw__fit){.graph = graph_bytes(q), .parts = 1, .resident = 1, .streams = 1, .in_place = true};
    choose_queues(q, fit);
    const uint64_t used = fit->queues + fit->spills;
    fit->instances = q->memory ? q->memory - at_most(used, q->memory) : UINT64_MAX;
    return fit->instances < q->one ? NO_INSTANCE : FITS;
}

static double cost_on_host(const csaw__fit_request *q) {
    return (double)(at_least(q->wanted, q->all) / q->one) * q->steps * q->step_cost;
}

/* The best of all numbers of slots, 1 only where no other would do; what the first that had slots came to, if none
 * fits.
 */
static outcome divide_best(const csaw__fit_request *q, uint64_t instances, csaw__fit *best) {
    const uint32_t most = q->resident ? q->resident : CSAW__MOST_RESIDENT, least = q->resident || q->parts ? most : 1;
    outcome found = divide(q, instances, most, best);
    for (uint32_t resident = most - 1; resident >= least; resident--) {
        csaw__fit fit;
        if (found == FITS && (best->whole || resident == 1)) break;
        const outcome outcome = divide(q, instances, resident, &fit);
        const bool better = outcome == FITS && found == FITS && cost(q, &fit) < cost(q, best);
        if (!better && (found == FITS || (found != NO_SLOTS && outcome != FITS))) continue;
        *best = fit;
        found = outcome;
    }
    return found;
}

/* All instances of a batch are under way together: more memory for them is worth nothing. */
static bool holds_all(const csaw__fit_request *q, const csaw__fit *fit) {
    return !q->one || fit->instances - fit->instances % q->one >= q->wanted;
}

static bool may_stay_on_host(const csaw__fit_request *q) {
    return q->step_cost && q->memory && q->one && !q->parts && !q->resident && !q->streams;
}

/* Memory for the instances of a batch in so many rounds, and for tables of a thousand partitions. */
static uint64_t exact_share(const csaw__fit_request *q, uint64_t rounds) {
    const uint64_t instances = divide_up(divide_up(q->wanted, q->one), rounds);
    return times(instances, q->one) + (uint64_t)1024 * q->table_bytes;
}

/* Where there are no queues, divisions that leave the graph all that the instances of 1, 2, .. rounds do not take. */
static bool divide_exactly(const csaw__fit_request *q, bool found, csaw__fit *best) {
    csaw__fit other;
    for (uint64_t rounds = 1; q->no_queues && q->memory && q->one && rounds <= MOST_ROUNDS; rounds++) {
        const uint64_t share = exact_share(q, rounds);
        if ((found && best->whole) || share >= q->memory || divide_best(q, share, &other) != FITS) continue;
        if (!found || cost(q, &other) < cost(q, best)) *best = other;
        found = true;
    }
    return found;
}

/* What the first division came to, in *first; the best of those that fit, in *best. */
static outcome choose(const csaw__fit_request *q, csaw__fit *first, csaw__fit *best) {
    csaw__fit other;
    if (q->stays) {
        const outcome outcome = leave_on_host(q, first);
        *best = *first;
        return outcome;
    }
    const outcome first_outcome = divide_best(q, q->memory / 4, first);
    bool found = first_outcome == FITS;
    *best = *first;
    for (uint64_t more = 1; q->memory && more <= 4; more++) {
        if (found && (best->whole || holds_all(q, best))) break;
        if (divide_best(q, q->memory / 4 + more * (q->memory / 8), &other) != FITS) continue;
        if (!found || cost(q, &other) < cost(q, best)) *best = other;
        found = true;
    }
    found = divide_exactly(q, found, best);
    if (found && may_stay_on_host(q) && !best->whole && cost_on_host(q) < cost(q, best) &&
        leave_on_host(q, &other) == FITS)
        *best = other;
    return found ? FITS : first_outcome;
}

/* ---- too little ---- */

static bool fits(const csaw__fit_request *q) {
    csaw__fit first, best;
    return choose(q, &first, &best) == FITS;
}

/* In the memory that a refusal names. */
static bool fits_in(csaw__fit_request q, uint64_t named) {
    q.memory = q.described ? csaw__fit_usable(named) : named;
    return fits(&q);
}

/* Memory that would do, in KiB: by doubling, then by halving what lies between. */
static uint64_t enough_kib(const csaw__fit_request *q) {
    uint64_t low = q->memory / 1024, high = low + 1;
    while (!fits_in(*q, high * 1024)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (fits_in(*q, middle * 1024))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static bool fits_with_fewer_steps(csaw__fit_request q) {
    if (q.steps <= 1) return false;
    q.one -= q.one_step * (q.steps - 1);
    q.wanted = q.all = q.one;
    q.steps = 1;
    return fits(&q);
}

static bool fits_with_parts(csaw__fit_request q, bool more) {
    const uint64_t given = q.parts, most = CSAW__MOST_PARTS;
    for (uint64_t parts = given; parts && parts <= most; parts = more ? 2 * parts : parts / 2) {
        q.parts = (uint32_t)parts;
        if (parts != given && fits(&q)) return true;
    }
    q.parts = CSAW__MOST_PARTS;
    return more && given && given < most && fits(&q);
}

static bool fits_with_fewer_resident(csaw__fit_request q) {
    if (q.resident <= 1) return false;
    q.resident = 1;
    return fits(&q);
}

/* What the first division came to. */
static void say_why(const csaw__fit_request *q, outcome outcome, const csaw__fit *fit, char *why, size_t room) {
    if (outcome == NO_INSTANCE)
        snprintf(why, room, "an instance of %u steps takes %llu bytes, but %llu are left for instances", q->steps,
                 (unsigned long long)q->one, (unsigned long long)fit->instances);
    else if (outcome == NO_QUEUES)
        snprintf(why, room, "queues of %u partitions take %s beside %s of partitions, degrees and tables", fit->parts,
                 csaw__size_text(fit->queues + fit->spills).text,
                 csaw__size_text(fit->resident * fit->part + fit->degrees + fit->tables).text);
    else
        snprintf(why, room,
                 "beside %s of degrees there is no place for %u resident of %s partitions of a graph of %s, whose "
                 "longest row takes %s",
                 csaw__size_text(fit->degrees).text, q->resident ? q->resident : 1,
                 q->parts ? "so few" : "any number of", csaw__size_text(fit->graph).text,
                 csaw__size_text(longest_bytes(q)).text);
}

/* What would do in place of more memory is offered only if it would. */
static csaw_status too_little(const csaw__fit_request *q, outcome outcome, const csaw__fit *fit) {
    const uint64_t kib = enough_kib(q), mib = divide_up(kib, 1024);
    const bool large = mib >= 64 && fits_in(*q, mib << 20);
    char why[256];
    say_why(q, outcome, fit, why, sizeof why);
    return csaw__fail(CSAW_EDEVMEM, "%s of GPU memory are too little: %s; give %llu %s%s%s%s%s%s",
                      csaw__size_text(q->memory).text, why, (unsigned long long)(large ? mib : kib),
                      large ? "MiB" : "KiB", q->described ? ", of which the driver has a tenth" : "",
                      fits_with_fewer_steps(*q) ? ", or fewer steps" : "",
                      fits_with_parts(*q, true) ? ", or more partitions" : "",
                      fits_with_parts(*q, false) ? ", or fewer partitions" : "",
                      fits_with_fewer_resident(*q) ? ", or fewer resident" : "");
}

csaw_status csaw__fit_memory(const csaw__fit_request *q, csaw__fit *out) {
    csaw__fit first, best;
    const outcome outcome = choose(q, &first, &best);
    if (outcome != FITS) return too_little(q, outcome, &first);
    *out = best;
    return CSAW_OK;
}

uint64_t csaw__fit_rounds(const csaw__fit_request *q, const csaw__fit *fit) {
    if (!q->one) return 1;
    const uint64_t together = at_least(at_most(fit->instances / q->one, q->wanted / q->one), 1);
    return at_least(divide_up(at_least(q->wanted, q->all) / q->one, together), 1);
}

uint64_t csaw__fit_usable(uint64_t gpu_memory) { return gpu_memory - gpu_memory / 10; }

double csaw__fit_transfers(const csaw__fit *fit, uint32_t steps, bool asks) {
    const double half_turns = asks && steps ? 3.0 * steps - 2 : steps;
    return fit->parts + (double)(fit->parts - fit->resident) * half_turns / 2;
}
