/* SPDX-License-Identifier: MIT */
/* partition/ranges.c - contiguous vertex ranges balanced by bytes, and the tables of their owners. */
#include "partition/ranges.h"

#include <string.h>

#include "runtime/base/grow.h"

/* The first vertex before which rows take at least `bytes`. */
static csaw_vertex first_after(const csaw_csr *csr, double bytes_per_row, double bytes_per_arc, double bytes) {
    uint64_t lo = 0, hi = csr->num_vertices;
    while (lo < hi) {
        uint64_t v = lo + (hi - lo) / 2;
        if (bytes_per_row * (double)v + bytes_per_arc * (double)csr->rowptr[v] < bytes)
            lo = v + 1;
        else
            hi = v;
    }
    return (csaw_vertex)lo;
}

/* ---- owners ---- */

static csaw_status take_table(csaw__ranges *ranges, uint64_t slots, uint64_t *first) {
    *first = ranges->num_owners;
    ranges->num_owners += slots;
    return CSAW__GROW(&ranges->owner, &ranges->owner_room, ranges->num_owners, "owners of vertices");
}

/* The table at owner[first], whose slots share the vertices from v on, 2^shift each. r: the range of v. */
static csaw_status fill_table(csaw__ranges *ranges, uint64_t first, uint64_t slots, uint64_t v, uint32_t shift,
                              uint32_t r) {
    for (uint64_t s = 0; s < slots; s++, v += (uint64_t)1 << shift) {
        const uint64_t last = v + ((uint64_t)1 << shift) - 1;
        uint64_t below;
        while (r + 1 < ranges->count && ranges->first[r + 1] <= v) r++;
        ranges->owner[first + s] = r;
        if (r + 2 >= ranges->count || ranges->first[r + 2] > last) continue; /* one begins within it, or none */
        const uint32_t shift_of_below = csaw__owner_shift_below(shift);
        CSAW_TRY(take_table(ranges, (uint64_t)1 << (shift - shift_of_below), &below));
        ranges->owner[first + s] = CSAW__OWNER_LEADS_ON | (uint32_t)below;
        CSAW_TRY(fill_table(ranges, below, (uint64_t)1 << (shift - shift_of_below), v, shift_of_below, r));
    }
    return CSAW_OK;
}

uint32_t csaw__range_of(const csaw__ranges *ranges, csaw_vertex v) {
    return csaw__owner_of(ranges->first, ranges->owner, ranges->shift, v);
}

/* ---- ranges ---- */

csaw_status csaw__ranges_from(const csaw_vertex *bounds, uint32_t count, csaw__ranges *out) {
    csaw__ranges ranges = {.count = count};
    csaw_status status = CSAW_OK;
    uint64_t first;
    CSAW_TRY_DONE(csaw__alloc(&ranges.first, (uint64_t)count + 1, "bounds of partitions"));
    memcpy(ranges.first, bounds, ((uint64_t)count + 1) * sizeof *bounds);
    while (bounds[count] >> ranges.shift > CSAW__OWNER_SLOTS) ranges.shift++;
    CSAW_TRY_DONE(take_table(&ranges, CSAW__OWNER_SLOTS + 1, &first));
    CSAW_TRY_DONE(fill_table(&ranges, first, CSAW__OWNER_SLOTS + 1, 0, ranges.shift, 0));
    *out = ranges;
    return CSAW_OK;
done:
    csaw__ranges_clear(&ranges);
    return status;
}

csaw_status csaw__ranges_create(const csaw_csr *csr, uint32_t count, uint32_t bytes_per_row, uint32_t bytes_per_arc,
                                csaw__ranges *out) {
    csaw_vertex *bounds;
    const double total =
        (double)bytes_per_row * (double)csr->num_vertices + (double)bytes_per_arc * (double)csr->num_edges;
    CSAW_TRY(csaw__alloc(&bounds, (uint64_t)count + 1, "bounds of partitions"));
    for (uint32_t r = 0; r < count; r++) bounds[r] = first_after(csr, bytes_per_row, bytes_per_arc, total * r / count);
    bounds[count] = (csaw_vertex)csr->num_vertices;
    const csaw_status status = csaw__ranges_from(bounds, count, out);
    csaw__free(bounds);
    return status;
}

void csaw__ranges_clear(csaw__ranges *ranges) {
    csaw__free(ranges->first);
    csaw__free(ranges->owner);
    memset(ranges, 0, sizeof *ranges);
}
