/* SPDX-License-Identifier: MIT */
/* bench/measure.h - what every benchmark does: read the clock, stop at an error, sum up repeated times. */
#ifndef CSAW_BENCH_MEASURE_H
#define CSAW_BENCH_MEASURE_H

#include <csaw/csaw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct figure {
    double median, least, most; /* seconds */
} figure;

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void must(csaw_status status) {
    if (status == CSAW_OK) return;
    fprintf(stderr, "%s: %s\n", csaw_status_text(status), csaw_last_error());
    exit(1);
}

static inline int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline figure figure_of(double *seconds, uint32_t count) {
    qsort(seconds, count, sizeof *seconds, ascending);
    return (figure){seconds[count / 2], seconds[0], seconds[count - 1]};
}

#endif
