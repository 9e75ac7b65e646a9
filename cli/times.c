/* SPDX-License-Identifier: MIT */
/* cli/times.c - see times.h. An arc is admissible if its time is one of those that follow from any of the last times.
 */
#include "times.h"

#include <stdlib.h>

#include "report.h"

void times_clear(times *times) { times->count = 0; }

void times_free(times *times) { free(times->last); }

static bool follows(int64_t last, int64_t time, int64_t window) {
    return time >= last && (window == 0 || (uint64_t)time - (uint64_t)last <= (uint64_t)window);
}

static bool arc_open(const csaw_csr *csr, csaw_edge e) { return !csr->weight || csr->weight[e] > 0; }

static int64_t time_of(const csaw_csr *csr, csaw_edge e) { return csr->time ? csr->time[e] : 0; }

static int compare_times(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool times_step(times *times, const csaw_csr *csr, csaw_edge first, csaw_edge end, int64_t start, int64_t window) {
    int64_t *next = allocate(end - first, sizeof *next);
    size_t count = 0;
    for (csaw_edge e = first; e < end; e++) {
        const int64_t time = time_of(csr, e);
        bool admissible = times->count == 0 && time >= start;
        for (size_t i = 0; i < times->count && !admissible; i++) admissible = follows(times->last[i], time, window);
        if (admissible && arc_open(csr, e)) next[count++] = time;
    }
    if (count == 0) {
        free(next);
        return false;
    }
    qsort(next, count, sizeof *next, compare_times);
    free(times->last);
    times->last = next;
    times->count = count;
    return true;
}

static bool any_arc(const csaw_csr *csr, csaw_edge first, csaw_edge end, int64_t last, int64_t window) {
    for (csaw_edge e = first; e < end; e++)
        if (arc_open(csr, e) && follows(last, time_of(csr, e), window)) return true;
    return false;
}

bool times_stuck(const times *times, const csaw_csr *csr, csaw_edge first, csaw_edge end, int64_t start,
                 int64_t window) {
    if (times->count == 0) return !any_arc(csr, first, end, start, 0);
    for (size_t i = 0; i < times->count; i++)
        if (!any_arc(csr, first, end, times->last[i], window)) return true;
    return false;
}
