/* SPDX-License-Identifier: MIT */
/* examples/plot.h - the lines of a small plot as an SVG file: values in [0, 1] by epoch, a line for each run. */
#ifndef CSAW_EXAMPLES_PLOT_H
#define CSAW_EXAMPLES_PLOT_H

#include <stdio.h>

enum { PLOT_LINES = 4, PLOT_POINTS = 256 };

typedef struct plot {
    const char *title, *value; /* what the values are */
    int lines, points[PLOT_LINES];
    char name[PLOT_LINES][32];
    double at[PLOT_LINES][PLOT_POINTS], y[PLOT_LINES][PLOT_POINTS];
} plot;

/* To the line begun last; points beyond PLOT_POINTS are left out. */
static inline void plot_add(plot *p, double at, double y) {
    const int line = p->lines - 1;
    if (p->points[line] == PLOT_POINTS) return;
    p->at[line][p->points[line]] = at;
    p->y[line][p->points[line]++] = y;
}

/* 1, or 0 where the file cannot be written. */
static inline int plot_save(const plot *p, const char *path) {
    static const char *const color[PLOT_LINES] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"};
    const double left = 50, top = 30, width = 400, height = 240;
    double most = 1;
    FILE *f = fopen(path, "w");
    if (!f) return 0;
    for (int l = 0; l < p->lines; l++)
        for (int i = 0; i < p->points[l]; i++) most = p->at[l][i] > most ? p->at[l][i] : most;
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"320\" font-family=\"sans-serif\" "
               "font-size=\"11\">\n<rect width=\"480\" height=\"320\" fill=\"white\"/>\n");
    fprintf(f, "<text x=\"%g\" y=\"18\">%s</text>\n<text x=\"%g\" y=\"310\">epoch</text>\n", left, p->title,
            left + width / 2);
    for (int i = 0; i <= 4; i++) {
        const double x = left + width * i / 4, y = top + height * (4 - i) / 4;
        fprintf(f, "<path d=\"M%g %gh%g\" stroke=\"#ddd\"/>\n", left, y, width);
        fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g</text>\n", left - 5, y + 4, 0.25 * i);
        fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%g</text>\n", x, top + height + 15, most * i / 4);
    }
    for (int l = 0; l < p->lines; l++) {
        fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" points=\"", color[l]);
        for (int i = 0; i < p->points[l]; i++)
            fprintf(f, "%s%.2f,%.2f", i ? " " : "", left + width * p->at[l][i] / most, top + height * (1 - p->y[l][i]));
        fprintf(f, "\"/>\n<text x=\"%g\" y=\"%g\" text-anchor=\"end\" fill=\"%s\">%s, %s</text>\n", left + width - 5,
                top + height - 10 - 14 * l, color[l], p->value, p->name[l]);
    }
    fprintf(f, "</svg>\n");
    return fclose(f) == 0;
}

#endif
