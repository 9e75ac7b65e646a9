/* SPDX-License-Identifier: MIT */
/* partition/ranges.c - contiguous vertex ranges balanced by bytes. */
#include "partition/ranges.h"

#include <string.h>

#include "runtime/base/memory.h"

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

csaw_status csaw__ranges_create(const csaw_csr *csr, uint32_t count, uint32_t bytes_per_row, uint32_t bytes_per_arc,
                                csaw__ranges *out) {
    csaw__ranges ranges = {.count = count};
    CSAW_TRY(csaw__alloc(&ranges.first, (uint64_t)count + 1, "bounds of partitions"));
    const double total =
        (double)bytes_per_row * (double)csr->num_vertices + (double)bytes_per_arc * (double)csr->num_edges;
    for (uint32_t r = 0; r < count; r++)
        ranges.first[r] = first_after(csr, bytes_per_row, bytes_per_arc, total * r / count);
    ranges.first[count] = (csaw_vertex)csr->num_vertices;
    while (csr->num_vertices >> ranges.shift > CSAW__OWNER_SLOTS) ranges.shift++;
    uint32_t r = 0;
    for (uint64_t s = 0; s <= CSAW__OWNER_SLOTS; s++) {
        while (r + 1 < count && s << ranges.shift >= ranges.first[r + 1]) r++;
        ranges.slot[s] = r;
    }
    *out = ranges;
    return CSAW_OK;
}

void csaw__ranges_clear(csaw__ranges *ranges) {
    csaw__free(ranges->first);
    memset(ranges, 0, sizeof *ranges);
}

uint32_t csaw__range_of(const csaw__ranges *ranges, csaw_vertex v) {
    uint32_t r = ranges->slot[v >> ranges->shift];
    while (v >= ranges->first[r + 1]) r++;
    return r;
}
