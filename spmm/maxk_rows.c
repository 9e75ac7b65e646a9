/* SPDX-License-Identifier: MIT */
/* spmm/maxk_rows.c - see maxk_rows.h. */
#include "spmm/maxk_rows.h"

#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void clear(float *sum, uint64_t width) { memset(sum, 0, width * sizeof *sum); }

/* sum [width]: of row r; chunk [width]: room. */
static void sum_row(const csaw__row_sums *s, uint64_t r, float *restrict sum, float *restrict chunk) {
    const uint64_t begin = s->rowptr[r], end = s->rowptr[r + 1], width = s->width;
    clear(sum, width);
    uint64_t e = smaller(end, begin + CSAW_CHUNK);
    if (e > begin) s->add(s->job, r, begin, e, sum);
    while (e < end) {
        const uint64_t next = smaller(end, e + CSAW_CHUNK);
        clear(chunk, width);
        s->add(s->job, r, e, next, chunk);
        for (uint64_t c = 0; c < width; c++) sum[c] += chunk[c];
        e = next;
    }
}

/* The first row r with rowptr[r] + r >= place. */
static uint64_t row_at(const csaw__row_sums *s, uint64_t place) {
    uint64_t low = 0, high = s->rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (s->rowptr[middle] + middle < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A hub: `at_once` chunks at a time into chunks [at_once, width]; sum [width]. */
static void sum_hub(const csaw__row_sums *s, uint64_t r, uint64_t at_once, float *chunks, float *restrict sum) {
    const uint64_t begin = s->rowptr[r], end = s->rowptr[r + 1], width = s->width;
    const uint64_t count = (end - begin + CSAW_CHUNK - 1) / CSAW_CHUNK;
    for (uint64_t first = 0; first < count; first += at_once) {
        const uint64_t here = smaller(at_once, count - first);
        CSAW__OMP(parallel for schedule(dynamic, 1))
        for (uint64_t c = 0; c < here; c++) {
            const uint64_t from = begin + (first + c) * CSAW_CHUNK;
            clear(chunks + c * width, width);
            s->add(s->job, r, from, smaller(end, from + CSAW_CHUNK), chunks + c * width);
        }
        CSAW__OMP(parallel for if (csaw__is_long(here * width)))
        for (uint64_t part = 0; part < width; part += 64) {
            const uint64_t stop = smaller(width, part + 64);
            uint64_t c = 0;
            if (!first) memcpy(sum + part, chunks + part, (stop - part) * sizeof *sum), c = 1;
            for (; c < here; c++)
                for (uint64_t at = part; at < stop; at++) sum[at] += chunks[c * width + at];
        }
    }
    s->store(s->job, r, sum);
}

csaw_status csaw__sum_rows(const csaw__row_sums *s) {
    const uint64_t *const rowptr = s->rowptr, rows = s->rows, edges = rowptr[rows];
    if (!rows || !s->width) return CSAW_OK;
    uint64_t hubs = 0;
    for (uint64_t r = 0; r < rows; r++) hubs += rowptr[r + 1] - rowptr[r] > CSAW__MAXK_HUB;
    const bool team = csaw__is_long(edges + rows * s->width / 8);
    const uint64_t threads = team ? (uint64_t)csaw__max_threads() : 1, width = s->width;
    const uint64_t room = (2 * width + 15) / 16 * 16, at_once = hubs ? 4 * threads : 0;
    const uint64_t stretches = (edges + rows + CSAW__MAXK_STRETCH - 1) / CSAW__MAXK_STRETCH;
    float *space = NULL;
    CSAW_TRY(csaw__alloc(&space, threads * room + at_once * width, "the sums of rows"));
    CSAW__OMP(parallel for schedule(dynamic, 1) if (team))
    for (uint64_t t = 0; t < stretches; t++) {
        float *const sum = space + (team ? csaw__thread() : 0) * room;
        const uint64_t stop = row_at(s, (t + 1) * CSAW__MAXK_STRETCH);
        for (uint64_t r = row_at(s, t * CSAW__MAXK_STRETCH); r < stop; r++) {
            if (rowptr[r + 1] - rowptr[r] > CSAW__MAXK_HUB) continue;
            sum_row(s, r, sum, sum + width);
            s->store(s->job, r, sum);
        }
    }
    for (uint64_t r = 0; r < rows && hubs; r++)
        if (rowptr[r + 1] - rowptr[r] > CSAW__MAXK_HUB) {
            sum_hub(s, r, at_once, space + threads * room, space);
            hubs--;
        }
    csaw__free(space);
    return CSAW_OK;
}
