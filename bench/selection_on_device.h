/* SPDX-License-Identifier: MIT */
/* bench/selection_on_device.h - the ways of selection_rounds.h on a GPU, verified, counted and timed. */
#ifndef CSAW_BENCH_SELECTION_ON_DEVICE_H
#define CSAW_BENCH_SELECTION_ON_DEVICE_H

#include <csaw/csaw.h>
#include <stdio.h>

/* Prints a table, and to json objects with commas between. drawn: [num_drawn] random vertices; picked from are, for
 * each number of instances ("2000,20000"), the lists of selection_lists.h's applications, then those of drawn that have
 * k + spare neighbours or more. False if a way but `printed` is off the law; ends the program with status 3 if picks or
 * counts are not the host's. */
bool selection_on_device(const char *device, const csaw_csr *csr, const csaw_vertex *drawn, uint64_t num_drawn,
                         uint64_t spare, const char *instances, FILE *json);

#endif
