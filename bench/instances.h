/* SPDX-License-Identifier: MIT */
/* bench/instances.h - sampled arcs a second over numbers of instances, one seed each. */
#ifndef CSAW_BENCH_INSTANCES_H
#define CSAW_BENCH_INSTANCES_H

#include <csaw/csaw.h>
#include <stdio.h>

typedef struct instances_job {
    const csaw_graph *plain, *weighted; /* the same, without weights and with */
    const char *device;                 /* "cpu", "cuda:N", or several: "all", "cuda:0,cuda:1" */
    const char *numbers;                /* "2000,20000" */
    const char *only;                   /* samplers, commas between; NULL = all */
    const char *fanout;                 /* "8,8,8", up to four hops; NULL = 15, 10 and then 2, 2 */
    bool in_turn;                       /* vertices are the seeds, as often as it takes; false: a list of them */
    bool in_place;                      /* time until arcs lie in device memory alone */
    uint32_t repeat;
    FILE *json; /* NULL = none */
} instances_job;

/* Prints a row for each, and to json an array of them, with what else was measured before it: "key": value, ... Ends
 * the program with status 3 where a result is wrong. */
void bench_instances(const instances_job *job);

#endif
