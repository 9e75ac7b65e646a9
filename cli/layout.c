/* SPDX-License-Identifier: MIT */
/* cli/layout.c - force-directed placement: edges pull, all pairs push, and a cooling limit on each move makes it
 * settle.
 *
 * Source: Fruchterman, Reingold, "Graph drawing by force-directed placement", Software: Practice and Experience 21(11),
 * 1991. Three additions for small pictures of dense graphs: a weak pull to the centre keeps separate components on the
 * page; half of each coordinate is its rank, so that neither a far vertex nor a dense core decides the scale; and at
 * last vertices that overlap are pushed apart. The start is a spiral and the number of rounds is fixed: equal graphs
 * give equal pictures, and the work is some hundred times count^2. */
#include "layout.h"

#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { ROUNDS = 500, SPREAD_ROUNDS = 200 };

/* In units of the ideal edge length. The pull of an edge is weaker where both its ends have many. */
static void add_forces(size_t count, const line *lines, size_t num_lines, const double *degree, const point *place,
                       point *force) {
    const double gravity = 0.1;
    for (size_t i = 0; i < count; i++) force[i] = (point){-gravity * place[i].x, -gravity * place[i].y};
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double dx = place[i].x - place[j].x, dy = place[i].y - place[j].y;
            double square = dx * dx + dy * dy + 1e-4;
            force[i].x += dx / square, force[i].y += dy / square;
            force[j].x -= dx / square, force[j].y -= dy / square;
        }
    for (size_t k = 0; k < num_lines; k++) {
        size_t a = lines[k].a, b = lines[k].b;
        double dx = place[a].x - place[b].x, dy = place[a].y - place[b].y;
        double pull = sqrt(dx * dx + dy * dy) / sqrt(fmin(degree[a], degree[b]));
        force[a].x -= dx * pull, force[a].y -= dy * pull;
        force[b].x += dx * pull, force[b].y += dy * pull;
    }
}

static void settle(size_t count, const line *lines, size_t num_lines, point *place) {
    const double golden_angle = 2.399963229728653;
    point *force = allocate(count, sizeof *force);
    double *degree = allocate(count, sizeof *degree);
    for (size_t k = 0; k < num_lines; k++) degree[lines[k].a]++, degree[lines[k].b]++;
    for (size_t i = 0; i < count; i++) {
        double radius = sqrt((double)i + 0.5), angle = golden_angle * (double)i;
        place[i] = (point){radius * cos(angle), 0.8 * radius * sin(angle)};
    }
    for (int round = 0; round < ROUNDS; round++) {
        double limit = 1.0 * (ROUNDS - round) / ROUNDS + 0.01;
        add_forces(count, lines, num_lines, degree, place, force);
        for (size_t i = 0; i < count; i++) {
            double length = 0.1 * sqrt(force[i].x * force[i].x + force[i].y * force[i].y);
            double part = length > limit ? 0.1 * limit / length : 0.1;
            place[i].x += part * force[i].x;
            place[i].y += part * force[i].y;
        }
    }
    free(degree);
    free(force);
}

/* 0 .. 1: half the place between the lowest and the highest, half the rank. */
static double even_out(size_t count, const double *values, size_t i) {
    double low = values[0], high = values[0];
    size_t below = 0;
    for (size_t j = 0; j < count; j++) {
        low = fmin(low, values[j]);
        high = fmax(high, values[j]);
        below += values[j] < values[i] || (values[j] == values[i] && j < i);
    }
    if (count == 1) return 0.5;
    double linear = high > low ? (values[i] - low) / (high - low) : 0.5;
    return 0.5 * linear + 0.5 * (double)below / (double)(count - 1);
}

static void stretch(size_t count, point top_left, point bottom_right, point *place) {
    double *x = allocate(count, sizeof *x), *y = allocate(count, sizeof *y);
    for (size_t i = 0; i < count; i++) x[i] = place[i].x, y[i] = place[i].y;
    for (size_t i = 0; i < count; i++)
        place[i] = (point){top_left.x + even_out(count, x, i) * (bottom_right.x - top_left.x),
                           top_left.y + even_out(count, y, i) * (bottom_right.y - top_left.y)};
    free(x);
    free(y);
}

static void push_apart(size_t count, double distance, point top_left, point bottom_right, point *place) {
    for (int round = 0; round < SPREAD_ROUNDS; round++)
        for (size_t i = 0; i < count; i++) {
            for (size_t j = i + 1; j < count; j++) {
                double dx = place[i].x - place[j].x, dy = place[i].y - place[j].y, now = sqrt(dx * dx + dy * dy) + 1e-9;
                double move = now < distance ? 0.25 * (distance - now) / now : 0;
                place[i].x += move * dx, place[i].y += move * dy;
                place[j].x -= move * dx, place[j].y -= move * dy;
            }
            place[i].x = fmin(fmax(place[i].x, top_left.x), bottom_right.x);
            place[i].y = fmin(fmax(place[i].y, top_left.y), bottom_right.y);
        }
}

void layout_place(size_t count, const line *lines, size_t num_lines, double distance, point top_left,
                  point bottom_right, point *place) {
    settle(count, lines, num_lines, place);
    stretch(count, top_left, bottom_right, place);
    push_apart(count, distance, top_left, bottom_right, place);
}
