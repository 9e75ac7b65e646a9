/* SPDX-License-Identifier: MIT */
/* spmm/device_order.cu - the list of a plan's units of work: by falling number of edges, equal ones as they were, by a
 * stable radix sort (CUB). */
#include "spmm/device_order.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "spmm/device_private.cuh"

csaw_status csaw__device_list_units(const place &where, const uint64_t *rowptr, uint64_t rows, uint64_t edges,
                                    const csaw__long_rows *split, csaw__listed_unit **out) {
    const uint64_t units = split->most_chunks + rows;
    csaw__product p = {};
    work<uint16_t> key, sorted;
    work<uint32_t> number, order;
    work<csaw__listed_unit> list;
    work<char> room;
    size_t bytes = 0;
    if (!rows || edges / rows < CSAW__LISTED_DEGREE || units > UINT32_MAX) return CSAW_OK;
    p.rowptr = rowptr, p.rows = rows, p.split = *split;
    CSAW_TRY(key.take(where, units, "units of work being sorted"));
    CSAW_TRY(sorted.take(where, units, "units of work being sorted"));
    CSAW_TRY(number.take(where, units, "units of work being sorted"));
    CSAW_TRY(order.take(where, units, "units of work being sorted"));
    CSAW_TRY(list.take(where, units, "the list of units of work"));
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key.get(), sorted.get(), number.get(), order.get(),
                                              (int64_t)units, 0, CSAW__ORDER_BITS, where.stream));
    CSAW_TRY(room.take(where, bytes, "units of work being sorted"));
    CSAW__LAUNCH(where, units, csaw__order_keys, p, units, key.get(), number.get());
    CSAW_CUDA(cub::DeviceRadixSort::SortPairs(room.get(), bytes, key.get(), sorted.get(), number.get(), order.get(),
                                              (int64_t)units, 0, CSAW__ORDER_BITS, where.stream));
    CSAW__LAUNCH(where, units, csaw__list_units, p, units, order.get(), list.get());
    *out = list.leave();
    return CSAW_OK;
}
