/* SPDX-License-Identifier: MIT */
/* cli/times.h - at which times can a temporal walk have come along? A file of walks names vertices, and between two of
 * them there may be arcs of several times: kept is every time that the last arc can have had. */
#ifndef CSAW_CLI_TIMES_H
#define CSAW_CLI_TIMES_H

#include <csaw/csaw.h>

typedef struct times {
    int64_t *last; /* [count], ascending; none on the first step */
    size_t count;
} times;

void times_clear(times *times); /* at a walk's start */
void times_free(times *times);
/* Along the arcs first .. end - 1, all to one vertex. start: earliest time of the first step; window: longest time from
 * one step to the next, 0 = no limit. False, and times unchanged, if no choice of arcs is admissible. */
bool times_step(times *times, const csaw_csr *csr, csaw_edge first, csaw_edge end, int64_t start, int64_t window);
/* Can all arcs first .. end - 1 have been out of reach? */
bool times_stuck(const times *times, const csaw_csr *csr, csaw_edge first, csaw_edge end, int64_t start,
                 int64_t window);

#endif
