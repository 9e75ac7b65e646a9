/* SPDX-License-Identifier: MIT */
/* partition/ranges.h - contiguous vertex ranges with all their neighbour lists, balanced by bytes (C-SAW, SC'20,
 * section V-A); owner in constant time.
 *
 * Owners (partition/owner.h): a table with a slot for every 2^shift vertices. Where at most one range begins within a
 * slot, behind its first vertex, it names the range of that vertex, and one comparison decides; else it leads to a
 * table of its own, in which 2^CSAW__OWNER_BITS slots share its vertices. */
#ifndef CSAW_PARTITION_RANGES_H
#define CSAW_PARTITION_RANGES_H

#include "partition/owner.h"
#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__ranges {
    uint32_t count;
    csaw_vertex *first; /* [count + 1]: range r holds vertices first[r] .. first[r + 1] - 1 */
    uint32_t shift;     /* of the first table, whose CSAW__OWNER_SLOTS + 1 slots stand at owner[0] */
    uint32_t *owner;    /* [num_owners]: all tables */
    uint64_t num_owners, owner_room;
} csaw__ranges;

/* Bytes of the tables, at most: of all partitions together, and of each. A table below the first has 32 slots and
 * stands where two ranges begin at least, at each of 4 levels, so that a range has 64 slots. */
enum { CSAW__RANGES_BYTES = 4 * (CSAW__OWNER_SLOTS + 2), CSAW__RANGE_BYTES = 4 * (1 + 64) };

/* Bytes that each row and each arc takes in all arrays together. A range may be empty where the graph has fewer
 * vertices. No range takes more than its share by more than one row. */
csaw_status csaw__ranges_create(const csaw_csr *csr, uint32_t count, uint32_t bytes_per_row, uint32_t bytes_per_arc,
                                csaw__ranges *out);
/* bounds: [count + 1] */
csaw_status csaw__ranges_from(const csaw_vertex *bounds, uint32_t count, csaw__ranges *out);
void csaw__ranges_clear(csaw__ranges *ranges);
uint32_t csaw__range_of(const csaw__ranges *ranges, csaw_vertex v);

#ifdef __cplusplus
}
#endif

#endif
