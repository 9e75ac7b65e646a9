/* SPDX-License-Identifier: MIT */
/* cli/picture_sample.c - draws a sample: its arcs as arrows coloured by depth, its vertices tinted by the depth that
 * reached them first, seeds ringed.
 *
 * A graph of up to MOST_VERTICES vertices is drawn whole, in grey, below the sample. Of a larger one only the sample is
 * shown, the vertices visited first if there are too many. Arrows bend to the right of their direction, so that neither
 * of a pair there and back hides the other. */
#include "picture_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "find_arc.h"
#include "layout.h"
#include "picture.h"
#include "report.h"

enum { MOST_VERTICES = 80, MOST_ARCS = 2000, HUES = 5, WIDTH = 1000, HEIGHT = 760, FOOT = 40, RADIUS = 12 };

/* Okabe, Ito, 2008: for all eyes. The last one is of all deeper hops. */
static const char *const colors[HUES] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#666666"};
static const char *const tints[HUES] = {"#fbe3d3", "#d6e8f3", "#d3efe6", "#f5e4ed", "#e4e4e4"};

typedef struct drawn_arc {
    size_t a, b; /* places in vertex */
    uint32_t depth;
} drawn_arc;

struct sample_picture {
    const csaw_graph *graph;
    csaw_csr csr;
    bool whole, induced;
    size_t num_vertices;
    csaw_vertex vertex[MOST_VERTICES];
    bool visited[MOST_VERTICES], seed[MOST_VERTICES];
    uint32_t depth[MOST_VERTICES]; /* that reached it first */
    size_t num_arcs;
    drawn_arc arc[MOST_ARCS];
    uint64_t arcs_in_all;
    uint32_t deepest;
};

/* ---- what to show ---- */

/* The place of v, which is made where there is room; MOST_VERTICES: none. */
static size_t place_of(sample_picture *picture, csaw_vertex v) {
    size_t i = 0;
    while (i < picture->num_vertices && picture->vertex[i] != v) i++;
    if (i == picture->num_vertices && i < MOST_VERTICES) picture->vertex[picture->num_vertices++] = v;
    return i;
}

static void visit(sample_picture *picture, size_t i, uint32_t depth) {
    if (i == MOST_VERTICES || picture->visited[i]) return;
    picture->visited[i] = true;
    picture->depth[i] = depth;
}

sample_picture *sample_picture_begin(const csaw_graph *graph, bool induced) {
    sample_picture *picture = allocate(1, sizeof *picture);
    picture->graph = graph;
    picture->csr = csaw_graph_csr(graph);
    picture->induced = induced;
    picture->whole = picture->csr.num_vertices <= MOST_VERTICES;
    for (uint64_t v = 0; picture->whole && v < picture->csr.num_vertices; v++) place_of(picture, (csaw_vertex)v);
    return picture;
}

void sample_picture_take(sample_picture *picture, const csaw_arcs *arcs, uint64_t instances) {
    for (uint64_t s = 0; s < arcs->seed_offset[instances]; s++) {
        const size_t i = place_of(picture, arcs->seed[s]);
        visit(picture, i, 0);
        if (i < MOST_VERTICES) picture->seed[i] = true;
    }
    picture->arcs_in_all = arcs->offset[instances];
    for (uint64_t k = 0; k < arcs->offset[instances] && picture->num_arcs < MOST_ARCS; k++) {
        const size_t a = place_of(picture, arcs->src[k]), b = place_of(picture, arcs->dst[k]);
        visit(picture, a, arcs->depth[k]);
        visit(picture, b, arcs->depth[k]);
        if (a == MOST_VERTICES || b == MOST_VERTICES) continue;
        bool there = false;
        for (size_t i = 0; i < picture->num_arcs && !there; i++)
            there = picture->arc[i].a == a && picture->arc[i].b == b;
        if (there) continue;
        picture->arc[picture->num_arcs++] = (drawn_arc){a, b, arcs->depth[k]};
        if (arcs->depth[k] > picture->deepest) picture->deepest = arcs->depth[k];
    }
}

/* Pairs of shown vertices with an arc between them. lines: [MOST_VERTICES^2 / 2] */
static size_t find_lines(const sample_picture *picture, line *lines) {
    size_t count = 0;
    if (!picture->whole && !picture->induced) return 0;
    for (size_t b = 0; b < picture->num_vertices; b++)
        for (size_t a = 0; a < b; a++)
            if (find_arc(&picture->csr, picture->vertex[a], picture->vertex[b]) != CSAW_NO_EDGE ||
                find_arc(&picture->csr, picture->vertex[b], picture->vertex[a]) != CSAW_NO_EDGE)
                lines[count++] = (line){a, b};
    return count;
}

/* ---- drawing ---- */

static int hue(uint32_t depth) { return depth < HUES ? (int)depth : HUES - 1; }

static void draw_head(FILE *out) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<defs>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (int i = 0; i < HUES; i++)
        fprintf(out,
                "<marker id=\"head%d\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerUnits=\"userSpaceOnUse\" "
                "markerWidth=\"11\" markerHeight=\"11\" orient=\"auto\"><path d=\"M0 0.5L10 5L0 9.5z\" fill=\"%s\"/>"
                "</marker>\n",
                i, colors[i]);
    fputs("</defs>\n", out);
}

static void draw_lines(FILE *out, const line *lines, size_t count, const point *place) {
    fputs("<g stroke=\"#dcdcdc\" stroke-width=\"1.2\">\n", out);
    for (size_t k = 0; k < count; k++)
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", place[lines[k].a].x,
                place[lines[k].a].y, place[lines[k].b].x, place[lines[k].b].y);
    fputs("</g>\n", out);
}

static void draw_arc(FILE *out, const drawn_arc *arc, const point *place) {
    const point a = place[arc->a], b = place[arc->b];
    const double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy) + 1e-9;
    const int color = hue(arc->depth);
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\" marker-end=\"url(#head%d)\" d=\"",
            colors[color], color);
    if (length < 1) { /* a loop */
        fprintf(out, "M%.1f %.1fc-30 -40 30 -40 8 -2\"/>\n", a.x - 5, a.y - 11);
        return;
    }
    const point control = {(a.x + b.x) / 2 - 14 * dy / length, (a.y + b.y) / 2 + 14 * dx / length};
    const double to_a = hypot(control.x - a.x, control.y - a.y), to_b = hypot(control.x - b.x, control.y - b.y);
    fprintf(out, "M%.1f %.1fQ%.1f %.1f %.1f %.1f\"/>\n", a.x + (RADIUS + 1) * (control.x - a.x) / to_a,
            a.y + (RADIUS + 1) * (control.y - a.y) / to_a, control.x, control.y,
            b.x + (RADIUS + 1) * (control.x - b.x) / to_b, b.y + (RADIUS + 1) * (control.y - b.y) / to_b);
}

/* A short name inside its circle, a longer one below. */
static void draw_name(FILE *out, const csaw_graph *graph, csaw_vertex v, point at, bool visited) {
    const csaw_names names = csaw_graph_names(graph);
    char text[64];
    if (names.text) {
        const uint64_t bytes = names.offset[v + 1] - names.offset[v];
        snprintf(text, sizeof text, "%.*s", bytes < 24 ? (int)bytes : 24, names.text + names.offset[v]);
    } else if (names.number) {
        snprintf(text, sizeof text, "%" PRId64, names.number[v]);
    } else {
        snprintf(text, sizeof text, "%" PRIu32, v);
    }
    const bool inside = strlen(text) <= 3;
    fprintf(out,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\" text-anchor=\"middle\" stroke=\"#ffffff\" "
            "stroke-width=\"%d\" paint-order=\"stroke\" fill=\"%s\">",
            at.x, at.y + (inside ? 4 : 25), inside ? 0 : 3, visited ? "#222222" : "#aaaaaa");
    picture_text(out, text);
    fputs("</text>\n", out);
}

static void draw_vertices(FILE *out, const sample_picture *picture, const point *place) {
    for (size_t i = 0; i < picture->num_vertices; i++) {
        const bool seed = picture->seed[i], visited = picture->visited[i];
        const int color = hue(picture->depth[i]);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
                place[i].x, place[i].y, RADIUS,
                !visited ? "#ffffff"
                : seed   ? "#fff4c2"
                         : tints[color],
                seed      ? "#222222"
                : visited ? colors[color]
                          : "#cccccc",
                seed ? "3.5" : "1.2");
        draw_name(out, picture->graph, picture->vertex[i], place[i], visited);
    }
}

static void draw_legend(FILE *out, const sample_picture *picture, const char *graph_name, const char *sampler_name) {
    const char *slash = strrchr(graph_name, '/');
    double x = 30;
    fputs("<text x=\"20\" y=\"28\" font-size=\"17\" fill=\"#222222\">", out);
    picture_text(out, sampler_name);
    fputs(" sample of ", out);
    picture_text(out, slash ? slash + 1 : graph_name);
    fprintf(
        out,
        "</text>\n<text x=\"%d\" y=\"28\" font-size=\"12\" text-anchor=\"end\" fill=\"#666666\">%s of %s sampled arcs "
        "and %s of %s vertices shown</text>\n",
        WIDTH - 20, count_text(picture->num_arcs).text, count_text(picture->arcs_in_all).text,
        count_text(picture->num_vertices).text, count_text(picture->csr.num_vertices).text);
    fprintf(out,
            "<circle cx=\"%.0f\" cy=\"%d\" r=\"7\" fill=\"#fff4c2\" stroke=\"#222222\" stroke-width=\"3\"/>"
            "<text x=\"%.0f\" y=\"%d\" font-size=\"12\" fill=\"#222222\">seed</text>\n",
            x, HEIGHT - 20, x + 14, HEIGHT - 16);
    for (uint32_t d = 0; picture->num_arcs && d <= picture->deepest && d < HUES; d++) {
        x = 110 + 130 * d;
        fprintf(out,
                "<line x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\" "
                "marker-end=\"url(#head%" PRIu32 ")\"/><text x=\"%.0f\" y=\"%d\" font-size=\"12\" fill=\"#222222\">hop "
                "%" PRIu32 "%s</text>\n",
                x, HEIGHT - 20, x + 34, HEIGHT - 20, colors[d], d, x + 42, HEIGHT - 16, d + 1,
                d == HUES - 1 ? " and on" : "");
    }
}

int sample_picture_write(sample_picture *picture, const char *path, const char *graph_name, const char *sampler_name) {
    FILE *out = fopen(path, "w");
    if (!out) return report_failure("picture %s: %s", path, strerror(errno));
    line *lines = allocate(MOST_VERTICES * MOST_VERTICES / 2 + MOST_ARCS, sizeof *lines);
    point place[MOST_VERTICES];
    const size_t count = find_lines(picture, lines);
    size_t pulls = count;
    for (size_t k = 0; k < picture->num_arcs && !picture->whole; k++)
        lines[pulls++] = (line){picture->arc[k].a, picture->arc[k].b};
    layout_place(picture->num_vertices, lines, pulls, 34, (point){45, 70}, (point){WIDTH - 45, HEIGHT - FOOT - 30},
                 place);
    draw_head(out);
    draw_lines(out, lines, count, place);
    for (size_t k = picture->num_arcs; k-- > 0;) draw_arc(out, &picture->arc[k], place); /* first hops on top */
    draw_vertices(out, picture, place);
    draw_legend(out, picture, graph_name, sampler_name);
    free(lines);
    return picture_close(out, path);
}

void sample_picture_free(sample_picture *picture) { free(picture); }
