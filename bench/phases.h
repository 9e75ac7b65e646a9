/* SPDX-License-Identifier: MIT */
/* bench/phases.h - parts of a long run, told as each ends, so that a run that was killed tells what it came to. */
#ifndef CSAW_BENCH_PHASES_H
#define CSAW_BENCH_PHASES_H

#include <stdio.h>

#include "bench/measure.h"

enum { MOST_PHASES = 32 };
typedef struct phases {
    double start; /* of the run, by now() */
    int count;
    struct {
        char name[64];
        double seconds;
    } of[MOST_PHASES];
} phases;

/* way: of several, or NULL. */
static inline void phases_add(phases *p, const char *name, const char *way, double seconds) {
    if (p->count == MOST_PHASES) return;
    snprintf(p->of[p->count].name, sizeof p->of->name, "%s%s%s", name, way ? ", " : "", way ? way : "");
    p->of[p->count].seconds = seconds;
    printf("%8.1f s  %-40s %9.3f s\n", now() - p->start, p->of[p->count].name, seconds);
    fflush(stdout);
    p->count++;
}

#endif
