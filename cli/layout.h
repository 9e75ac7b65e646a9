/* SPDX-License-Identifier: MIT */
/* cli/layout.h - places for the vertices of a small graph. */
#ifndef CSAW_CLI_LAYOUT_H
#define CSAW_CLI_LAYOUT_H

#include <stddef.h>

typedef struct point {
    double x, y;
} point;

typedef struct line { /* an edge between places of the array of points */
    size_t a, b;
} line;

/* Fills place [count] with points in the rectangle from top_left to bottom_right, about `distance` apart at least where
 * there is room. lines: [num_lines]. */
void layout_place(size_t count, const line *lines, size_t num_lines, double distance, point top_left,
                  point bottom_right, point *place);

#endif
