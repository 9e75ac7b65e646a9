/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_line.c - parses `src dst [weight]` lines.
 *
 * By hand, because a graph is parsed at memory speed or the reader waits for its text: strtoul and strtof cost several
 * times this. Ids saturate instead of wrapping. Weights up to 2^53 with a power of ten up to 10^22 are exact in
 * double, so one division rounds them correctly (Clinger, "How to read floating point numbers accurately", PLDI 1990);
 * the others go to strtod. The final line feed stops every loop, so no loop looks for the end of the text. */
#include "runtime/base/edge_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }
static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Past blanks, one comma, and blanks. */
static inline const char *skip_separator(const char *at) {
    while (is_blank(*at)) at++;
    if (*at != ',') return at;
    at++;
    while (is_blank(*at)) at++;
    return at;
}

static inline bool ends_line(const char *at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }
static inline bool ends_column(const char *at) { return is_blank(*at) || *at == ',' || ends_line(at); }

/* Ids saturate at 2^32 - 1, which is above the limit. */
static inline const char *read_id(const char *at, csaw_vertex *id) {
    uint64_t value = 0;
    for (; is_digit(*at); at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX) value = UINT32_MAX;
    }
    *id = (csaw_vertex)value;
    return at;
}

/* Why there is no id from start to at. */
static csaw__line_fault id_fault(const char *start, const char *at, bool first) {
    bool nothing = at == start;
    if (nothing && !first && ends_line(at)) return CSAW__LINE_ONE_COLUMN;
    if (nothing && *at == '-' && is_digit(at[1])) return CSAW__LINE_NEGATIVE;
    if (*at == '\r') return CSAW__LINE_LONE_RETURN;
    return first ? CSAW__LINE_NO_SOURCE : CSAW__LINE_NO_TARGET;
}

/* To the line feed; NULL if a carriage return stands before it and not right before it: a file whose lines end in
 * carriage returns alone would otherwise be one comment, or one edge. */
static inline const char *skip_rest(const char *at) {
    for (; *at != '\n'; at++)
        if (*at == '\r' && at[1] != '\n') return NULL;
    return at;
}

/* A decimal number: its digits as an integer (up to 19 of them; `exact` says whether that is all), times 10^exponent.
 */
typedef struct decimal {
    bool negative, exact;
    uint64_t digits;
    int exponent;
} decimal;

/* NULL if the text is not [+-] digits [. digits] [e [+-] digits], with a digit before the e. */
static const char *read_decimal(const char *at, decimal *out) {
    decimal number = {.exact = true};
    int count = 0; /* significant digits */
    bool any = false;
    number.negative = *at == '-';
    at += *at == '-' || *at == '+';
    for (bool point = false;; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*at)) break;
        any = true;
        if (count < 19) {
            number.digits = number.digits * 10 + (uint64_t)(*at - '0');
            count += number.digits > 0;
            number.exponent -= point;
        } else {
            number.exact = false;
        }
    }
    if (!any) return NULL;
    if (*at == 'e' || *at == 'E') {
        at++;
        bool minus = *at == '-';
        at += *at == '-' || *at == '+';
        if (!is_digit(*at)) return NULL;
        int exponent = 0;
        for (; is_digit(*at); at++)
            if (exponent < 100000) exponent = exponent * 10 + (*at - '0');
        number.exponent += minus ? -exponent : exponent;
    }
    *out = number;
    return at;
}

static csaw__line_fault read_weight(const char **place, locale_t plain, float *weight) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal number;
    const char *end = read_decimal(*place, &number);
    double value;
    if (!end || !ends_column(end)) return CSAW__LINE_BAD_WEIGHT;
    if (number.exact && number.digits <= (uint64_t)1 << 53 && number.exponent >= -22 && number.exponent <= 22) {
        value = (double)number.digits;
        value = number.exponent < 0 ? value / power[-number.exponent] : value * power[number.exponent];
        if (number.negative) value = -value;
    } else {
        value = strtod_l(*place, NULL, plain);
    }
    *weight = (float)value;
    if (!isfinite(*weight) || (*weight == 0 && number.digits != 0)) return CSAW__LINE_WEIGHT_RANGE;
    *place = end;
    return CSAW__LINE_NONE;
}

/* One line that holds an edge, from its first column; *place moves to its end, past columns that are not wanted. */
static inline csaw__line_fault read_edge(const char **place, bool weighted, locale_t plain, csaw_vertex *src,
                                         csaw_vertex *dst, float *weight) {
    const char *start = *place, *at = read_id(start, src);
    if (at == start || !ends_column(at)) return id_fault(start, at, true);
    start = skip_separator(at);
    at = read_id(start, dst);
    if (at == start || !ends_column(at)) return id_fault(start, at, false);
    if (*src >= UINT32_MAX - 1 || *dst >= UINT32_MAX - 1) return CSAW__LINE_TOO_LARGE;
    if (weighted) {
        at = skip_separator(at);
        if (ends_line(at)) return CSAW__LINE_NO_WEIGHT;
        csaw__line_fault fault = read_weight(&at, plain, weight);
        if (fault) return fault;
    }
    *place = *at == '\n' ? at : skip_rest(at);
    return *place ? CSAW__LINE_NONE : CSAW__LINE_LONE_RETURN;
}

static inline const char *skip_blanks(const char *at) {
    while (is_blank(*at)) at++;
    return at;
}

static inline bool holds_no_edge(const char *at) { return *at == '#' || *at == '%' || ends_line(at); }

void csaw__lines_read(csaw__lines *lines) {
    const char *at = lines->text;
    uint64_t edge = 0, line = 0;
    csaw_vertex largest = 0;
    lines->fault = CSAW__LINE_NONE;
    while (at < lines->end) {
        const char *start = at;
        line++;
        at = skip_blanks(at);
        csaw_vertex u = 0, v = 0;
        float weight = 1;
        if (holds_no_edge(at)) {
            at = skip_rest(at);
            if (at) {
                at++;
                continue;
            }
            lines->fault = CSAW__LINE_LONE_RETURN;
        } else {
            lines->fault = read_edge(&at, lines->weighted, lines->plain, &u, &v, &weight);
        }
        if (lines->fault) {
            lines->fault_line = start;
            break;
        }
        at++;
        lines->src[edge] = u;
        lines->dst[edge] = v;
        if (lines->weighted) lines->weight[edge] = weight;
        edge++;
        if (u > largest) largest = u;
        if (v > largest) largest = v;
    }
    lines->num_edges = edge;
    lines->num_lines = line;
    lines->num_vertices = edge ? (uint64_t)largest + 1 : 0;
}

int csaw__lines_columns(const char *at, const char *end) {
    for (; at < end; at++) {
        at = skip_blanks(at);
        if (!holds_no_edge(at)) break;
        while (*at != '\n') at++;
    }
    int columns = 0;
    for (; at < end && !ends_line(at) && columns < 3; columns++) {
        while (!ends_column(at)) at++;
        at = skip_separator(at);
    }
    return columns;
}
