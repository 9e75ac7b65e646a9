/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_classes.cu - finds out whether vertices stand by falling degree, and makes the classes of
 * runtime/base/degree_classes.h: those of the smallest degrees. */
#include "runtime/base/degree_classes.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_private.h"

namespace {

struct classes {
    csaw__class table[CSAW__MOST_CLASSES]; /* from place MOST_CLASSES - count on */
    uint16_t cell[CSAW__CELLS];
    uint32_t count;
};

uint32_t degree_of(const csaw_csr *csr, uint64_t v) { return (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]); }

bool falls(const csaw_csr *csr) {
    for (uint64_t v = 1; v < csr->num_vertices; v++)
        if (degree_of(csr, v) > degree_of(csr, v - 1)) return false;
    return true;
}

/* The first vertex of this degree; `end`: the first of a smaller one. */
uint64_t first_of(const csaw_csr *csr, uint32_t degree, uint64_t end) {
    uint64_t low = 0, high = end;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (degree_of(csr, middle) > degree)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the first vertex that is of a class. */
uint64_t fill(classes *c, const csaw_csr *csr) {
    uint64_t end = csr->num_vertices;
    c->count = 0;
    while (end > 0 && c->count < CSAW__MOST_CLASSES) {
        const uint32_t degree = degree_of(csr, end - 1);
        const uint64_t first = first_of(csr, degree, end);
        c->table[CSAW__MOST_CLASSES - ++c->count] = {csr->rowptr[first], (csaw_vertex)first, degree};
        end = first;
    }
    const csaw__class *table = c->table + CSAW__MOST_CLASSES - c->count;
    for (uint32_t k = 0; k < c->count; k++) { /* the last class with a vertex in a cell has its last vertex */
        const uint64_t last = (k + 1 < c->count ? table[k + 1].first : csr->num_vertices) - 1;
        for (uint32_t i = csaw__cell_of(table[k].first); i <= csaw__cell_of((csaw_vertex)last); i++)
            c->cell[i] = (uint16_t)k;
    }
    return end;
}

csaw_status upload(csaw__device *device, const classes *c) {
    CSAW_TRY(csaw__device_upload(device, (const void **)&device->rows.cells, c->cell, sizeof c->cell,
                                 "cells of degree classes"));
    return csaw__device_upload(device, (const void **)&device->rows.classes, c->table + CSAW__MOST_CLASSES - c->count,
                               c->count * sizeof *c->table, "degree classes");
}

} // namespace

csaw_status csaw__device_classes(csaw__device *device, const csaw_csr *csr) {
    classes *c = nullptr;
    if (csr->num_vertices == 0 || !falls(csr)) return CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&c, 1, "degree classes"));
    device->rows.first_classed = (csaw_vertex)fill(c, csr);
    const csaw_status status = upload(device, c);
    csaw__free(c);
    return status;
}
