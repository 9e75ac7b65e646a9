/* SPDX-License-Identifier: MIT */
/* cli/picture.c - draws the first steps of a few walks as coloured arrows over the graph, in grey.
 *
 * A graph of up to MOST_VERTICES vertices is drawn whole, with walks from start vertices far apart. Of a larger one the
 * picture shows the vertices that the walks of the first start vertex touch, a few of their neighbours as dots, and the
 * arcs between them. Steps bend to the right of their direction, and a repeated step bends further, so that none hides
 * another. */
#include "picture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "find_arc.h"
#include "graph_options.h"
#include "layout.h"
#include "report.h"

enum { MOST_VERTICES = 80, MOST_WALKS = 3, MOST_STEPS = 12, WIDTH = 1000, HEIGHT = 760, LEGEND = 90, DOTS_EACH = 2 };

static const char *const colors[MOST_WALKS] = {"#0072b2", "#d55e00", "#009e73"}; /* Okabe, Ito, 2008: for all eyes */
static const char *const tints[MOST_WALKS] = {"#d6e8f3", "#fbe3d3", "#d3efe6"};

typedef struct drawn_walk {
    uint64_t instance;
    uint32_t count; /* vertices kept; 0 = the walk was not seen */
    bool longer;    /* it goes on after them */
    csaw_vertex path[MOST_STEPS + 1];
} drawn_walk;

struct picture {
    csaw_csr csr;
    bool whole, symmetric;
    drawn_walk walk[MOST_WALKS];
    size_t num_vertices; /* shown; the first num_named are those of the walks, or all of a whole graph */
    size_t num_named;
    csaw_vertex vertex[MOST_VERTICES];
    size_t chosen_by[MOST_VERTICES]; /* of a dot: the place of the vertex whose neighbour it is */
};

/* ---- what to show ---- */

picture *picture_begin(const csaw_csr *csr, uint64_t num_seeds) {
    picture *picture = allocate(1, sizeof *picture);
    picture->csr = *csr;
    picture->whole = csr->num_vertices <= MOST_VERTICES;
    for (uint64_t i = 0; i < MOST_WALKS; i++)
        picture->walk[i].instance =
            picture->whole && num_seeds >= MOST_WALKS ? i * num_seeds / MOST_WALKS : i * num_seeds;
    return picture;
}

void picture_take(picture *picture, const csaw_walks *walks) {
    for (int i = 0; i < MOST_WALKS; i++) {
        drawn_walk *walk = &picture->walk[i];
        if (walk->instance < walks->first || walk->instance - walks->first >= walks->num_walks) continue;
        const csaw_vertex *path = walks->path + (walk->instance - walks->first) * walks->path_walk_stride;
        uint32_t s = 0;
        for (; s <= walks->length && path[s * walks->path_step_stride] != CSAW_NONE; s++)
            if (s <= MOST_STEPS) walk->path[s] = path[s * walks->path_step_stride];
        walk->longer = s > MOST_STEPS + 1;
        walk->count = walk->longer ? MOST_STEPS + 1 : s;
    }
}

static size_t place_of(const picture *picture, csaw_vertex v) {
    size_t i = 0;
    while (i < picture->num_vertices && picture->vertex[i] != v) i++;
    return i;
}

static void show_vertex(picture *picture, csaw_vertex v) {
    if (picture->num_vertices < MOST_VERTICES && place_of(picture, v) == picture->num_vertices)
        picture->vertex[picture->num_vertices++] = v;
}

static void choose_vertices(picture *picture) {
    picture->num_vertices = 0;
    for (uint64_t v = 0; picture->whole && v < picture->csr.num_vertices; v++) show_vertex(picture, (csaw_vertex)v);
    for (int i = 0; i < MOST_WALKS; i++)
        for (uint32_t s = 0; s < picture->walk[i].count; s++) show_vertex(picture, picture->walk[i].path[s]);
    picture->num_named = picture->num_vertices;
    for (size_t i = 0; i < picture->num_named; i++) { /* neighbours evenly spaced in the row */
        const csaw_edge *row = &picture->csr.rowptr[picture->vertex[i]];
        uint64_t degree = row[1] - row[0];
        for (uint64_t k = 0; k < DOTS_EACH && degree; k++) {
            size_t before = picture->num_vertices;
            show_vertex(picture, picture->csr.col[row[0] + (2 * k + 1) * degree / (2 * DOTS_EACH)]);
            if (picture->num_vertices > before) picture->chosen_by[before] = i;
        }
    }
}

/* One line per pair of shown vertices with an arc between them; the arc goes from a to b, and perhaps back. Of a dot
 * only the line to the vertex that chose it. lines: [MOST_VERTICES^2 / 2]. */
static size_t find_lines(const picture *picture, line *lines) {
    size_t count = 0;
    for (size_t b = 0; b < picture->num_vertices; b++)
        for (size_t a = 0; a < b; a++) {
            if (b >= picture->num_named && a != picture->chosen_by[b]) continue;
            if (find_arc(&picture->csr, picture->vertex[a], picture->vertex[b]) != CSAW_NO_EDGE)
                lines[count++] = (line){a, b};
            else if (find_arc(&picture->csr, picture->vertex[b], picture->vertex[a]) != CSAW_NO_EDGE)
                lines[count++] = (line){b, a};
        }
    return count;
}

/* What pulls the vertices together: in a graph shown whole all its lines; in a part of a larger one, whose arcs are too
 * many to follow, the steps of the walks and the lines to dots. lines: [MOST_VERTICES^2 / 2]. */
static size_t find_pulls(const picture *picture, line *lines) {
    size_t count = 0;
    if (picture->whole) return find_lines(picture, lines);
    for (int i = 0; i < MOST_WALKS; i++)
        for (uint32_t s = 0; s + 1 < picture->walk[i].count; s++)
            lines[count++] =
                (line){place_of(picture, picture->walk[i].path[s]), place_of(picture, picture->walk[i].path[s + 1])};
    for (size_t b = picture->num_named; b < picture->num_vertices; b++)
        lines[count++] = (line){picture->chosen_by[b], b};
    return count;
}

/* ---- drawing ---- */

void picture_text(FILE *out, const char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"' || c < 0x20)
            fprintf(out, "&#%d;", c < 0x20 ? ' ' : c);
        else
            fputc(c, out);
    }
}

static double radius_of(const picture *picture, size_t i) { return i < picture->num_named ? 12 : 4; }

static void draw_head(FILE *out) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<defs>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (int i = 0; i <= MOST_WALKS; i++)
        fprintf(out,
                "<marker id=\"head%d\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerUnits=\"userSpaceOnUse\" "
                "markerWidth=\"%d\" markerHeight=\"%d\" orient=\"auto\"><path d=\"M0 0.5L10 5L0 9.5z\" fill=\"%s\"/>"
                "</marker>\n",
                i, i < MOST_WALKS ? 11 : 8, i < MOST_WALKS ? 11 : 8, i < MOST_WALKS ? colors[i] : "#b0b0b0");
    fputs("</defs>\n", out);
}

static void draw_lines(FILE *out, const picture *picture, const line *lines, size_t count, const point *place) {
    fputs(picture->whole ? "<g stroke=\"#cfcfcf\" stroke-width=\"1.2\">\n"
                         : "<g stroke=\"#e2e2e2\" stroke-width=\"1\">\n",
          out);
    for (size_t k = 0; k < count; k++) {
        point a = place[lines[k].a], b = place[lines[k].b];
        double length = hypot(b.x - a.x, b.y - a.y), cut = radius_of(picture, lines[k].b) / (length > 1 ? length : 1);
        bool one_way = !picture->symmetric && find_arc(&picture->csr, picture->vertex[lines[k].b],
                                                       picture->vertex[lines[k].a]) == CSAW_NO_EDGE;
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"%s/>\n", a.x, a.y, b.x - (b.x - a.x) * cut,
                b.y - (b.y - a.y) * cut, one_way ? " marker-end=\"url(#head3)\"" : "");
    }
    fputs("</g>\n", out);
}

static void draw_step(FILE *out, int color, point a, point b, int repeats, uint32_t number) {
    double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy) + 1e-9;
    if (length < 1) { /* a loop */
        double size = 30 + 6 * repeats;
        fprintf(out, "<path d=\"M%.1f %.1fc%.0f %.0f %.0f %.0f 8 -2\" marker-end=\"url(#head%d)\"/>\n", a.x - 5,
                a.y - 11, -size, -size - 10, size, -size - 10, color);
        return;
    }
    double bend = 16 + 15 * repeats, normal_x = -dy / length, normal_y = dx / length;
    point control = {(a.x + b.x) / 2 + bend * normal_x, (a.y + b.y) / 2 + bend * normal_y};
    double to_a = hypot(control.x - a.x, control.y - a.y), to_b = hypot(control.x - b.x, control.y - b.y);
    point from = {a.x + 13 * (control.x - a.x) / to_a, a.y + 13 * (control.y - a.y) / to_a};
    point to = {b.x + 13 * (control.x - b.x) / to_b, b.y + 13 * (control.y - b.y) / to_b};
    fprintf(out, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" marker-end=\"url(#head%d)\"/>\n", from.x, from.y,
            control.x, control.y, to.x, to.y, color);
    /* The number's place on the curve: the middle, then by turns before and after it. */
    double t = 0.5 + (repeats % 2 ? -0.08 : 0.08) * ((repeats + 1) / 2 % 4), u = 1 - t;
    point middle = {u * u * from.x + 2 * u * t * control.x + t * t * to.x,
                    u * u * from.y + 2 * u * t * control.y + t * t * to.y};
    fprintf(out,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"7\" fill=\"#ffffff\" stroke-width=\"1\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"9\" text-anchor=\"middle\" stroke=\"none\" fill=\"%s\">%" PRIu32
            "</text>\n",
            middle.x, middle.y, middle.x, middle.y + 3.2, colors[color], number);
}

static void draw_walks(FILE *out, const picture *picture, const point *place) {
    int used[MOST_VERTICES][MOST_VERTICES] = {{0}};
    for (int i = 0; i < MOST_WALKS; i++) {
        const drawn_walk *walk = &picture->walk[i];
        fprintf(out, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"2.4\">\n", colors[i]);
        for (uint32_t s = 0; s + 1 < walk->count; s++) {
            size_t a = place_of(picture, walk->path[s]), b = place_of(picture, walk->path[s + 1]);
            draw_step(out, i, place[a], place[b], used[a][b]++, s + 1);
        }
        fputs("</g>\n", out);
    }
}

static void draw_vertices(FILE *out, const picture *picture, const point *place) {
    for (size_t i = 0; i < picture->num_vertices; i++) {
        int visitor = -1, starter = -1;
        for (int w = MOST_WALKS - 1; w >= 0; w--)
            for (uint32_t s = 0; s < picture->walk[w].count; s++)
                if (picture->walk[w].path[s] == picture->vertex[i]) {
                    visitor = w;
                    if (s == 0) starter = w;
                }
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
                place[i].x, place[i].y, radius_of(picture, i), visitor < 0 ? "#ffffff" : tints[visitor],
                starter >= 0 ? colors[starter] : "#8a8a8a", starter >= 0 ? "4" : "1.2");
        if (i >= picture->num_named) continue;
        bool inside = picture->vertex[i] < 1000;
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"middle\" stroke=\"#ffffff\" "
                "stroke-width=\"%d\" paint-order=\"stroke\" fill=\"#222222\">%" PRIu32 "</text>\n",
                place[i].x, place[i].y + (inside ? 4 : 25), inside ? 0 : 3, picture->vertex[i]);
    }
}

static void draw_legend(FILE *out, const picture *picture, const char *graph_name, const char *sampler_name) {
    const char *slash = strrchr(graph_name, '/');
    fputs("<text x=\"20\" y=\"28\" font-size=\"17\" fill=\"#222222\">", out);
    picture_text(out, sampler_name);
    fputs(" walks on ", out);
    picture_text(out, slash ? slash + 1 : graph_name);
    fprintf(out,
            "</text>\n<text x=\"%d\" y=\"28\" font-size=\"12\" text-anchor=\"end\" fill=\"#666666\">%s of %s vertices "
            "shown; "
            "numbers on arrows count steps; a thick ring is a start</text>\n",
            WIDTH - 20, count_text(picture->num_vertices).text, count_text(picture->csr.num_vertices).text);
    double y = HEIGHT - LEGEND + 32;
    for (int i = 0; i < MOST_WALKS; i++) {
        const drawn_walk *walk = &picture->walk[i];
        if (!walk->count) continue;
        fprintf(
            out,
            "<line x1=\"20\" y1=\"%.0f\" x2=\"50\" y2=\"%.0f\" stroke=\"%s\" stroke-width=\"3\" "
            "marker-end=\"url(#head%d)\"/>\n<text x=\"60\" y=\"%.0f\" font-size=\"12\" fill=\"#222222\">walk %" PRIu64
            ":",
            y, y, colors[i], i, y + 4, walk->instance);
        for (uint32_t s = 0; s < walk->count; s++) fprintf(out, " %" PRIu32, walk->path[s]);
        fprintf(out, "%s</text>\n", walk->longer ? " ..." : "");
        y += 20;
    }
}

int picture_close(FILE *out, const char *path) {
    fputs("</svg>\n", out);
    const bool lost = ferror(out) != 0;
    if (!fclose(out) && !lost) return -1;
    const int result = report_failure("picture %s: %s", path, strerror(errno));
    remove(path);
    return result;
}

int picture_write(picture *picture, const char *path, const char *graph_name, const char *sampler_name) {
    FILE *out = fopen(path, "w");
    if (!out) return report_failure("picture %s: %s", path, strerror(errno));
    line *lines = allocate(MOST_VERTICES * MOST_VERTICES / 2, sizeof *lines);
    point place[MOST_VERTICES];
    picture->symmetric = graph_is_symmetric(&picture->csr);
    choose_vertices(picture);
    size_t count = find_pulls(picture, lines);
    layout_place(picture->num_vertices, lines, count, 34, (point){45, 70}, (point){WIDTH - 45, HEIGHT - LEGEND - 30},
                 place);
    count = find_lines(picture, lines);
    draw_head(out);
    draw_lines(out, picture, lines, count, place);
    draw_walks(out, picture, place);
    draw_vertices(out, picture, place);
    draw_legend(out, picture, graph_name, sampler_name);
    free(lines);
    return picture_close(out, path);
}

void picture_free(picture *picture) { free(picture); }
