/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_line.c - parses one edge a line.
 *
 * By hand, because a graph is parsed at memory speed or the reader waits for its text: strtoul and strtof cost several
 * times this. Up to eight digits are read at once, as the bytes of a word (Lemire, "Quickly parsing eight digits",
 * 2022, after Muła). Weights up to 2^53 with a power of ten up to 10^22 are exact in double, so one division rounds
 * them correctly (Clinger, "How to read floating point numbers accurately", PLDI 1990); the others go to strtod. The
 * final line feed stops every loop, so no loop looks for the end of the text. */
#include "runtime/base/edge_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are read as the bytes of a little-endian word");

#define INLINE static inline __attribute__((always_inline))

INLINE bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }
INLINE bool is_blank(char c) { return c == ' ' || c == '\t'; }
INLINE bool ends_line(const char *at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }

/* Blanks that are not themselves the separator. */
INLINE const char *skip_blanks(const char *at, char separator) {
    while (is_blank(*at) && *at != separator) at++;
    return at;
}

/* Does the field end here? */
INLINE bool ends_field(const char *at, char separator) {
    if (separator) return *at == separator || ends_line(at);
    return is_blank(*at) || *at == ',' || ends_line(at);
}

/* Past blanks, one separator, and blanks. */
INLINE const char *skip_separator(const char *at, char separator) {
    at = skip_blanks(at, separator);
    if (*at != (separator ? separator : ',')) return at;
    return skip_blanks(at + 1, separator);
}

/* Up to eight digits; returns how many. */
INLINE int eight_digits(const char *at, uint64_t *value) {
    const uint64_t pairs = 0x000000ff000000ffu;
    uint64_t word;
    memcpy(&word, at, 8);
    word ^= 0x3030303030303030u;
    uint64_t others = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
    int count = others ? __builtin_ctzll(others) >> 3 : 8;
    if (count == 0) return 0;
    word <<= 64 - 8 * count;
    word = word * 10 + (word >> 8);
    *value = ((word & pairs) * (100 + (1000000ull << 32)) + ((word >> 16 & pairs) * (1 + (10000ull << 32)))) >> 32;
    return count;
}

/* A whole number of at most 64 bits, with `-` before it or not. NULL if there is none. */
INLINE const char *read_whole(const char *at, int64_t *out) {
    bool negative = *at == '-';
    at += negative;
    uint64_t value = 0;
    int count = eight_digits(at, &value);
    if (count == 0) return NULL;
    at += count;
    if (count == 8) {
        for (; is_digit(*at); at++) {
            uint64_t digit = (uint64_t)(*at - '0');
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) return NULL;
        }
        if (value > (uint64_t)INT64_MAX + negative) return NULL;
    }
    *out = (int64_t)(negative ? 0 - value : value);
    return at;
}

/* To the line feed; NULL if a carriage return stands before it and not right before it: a file whose lines end in
 * carriage returns alone would otherwise be one comment, or one edge. */
INLINE const char *skip_rest(const char *at) {
    for (; *at != '\n'; at++)
        if (*at == '\r' && at[1] != '\n') return NULL;
    return at;
}

/* From behind an opening quote to the closing one; NULL if the line ends before. */
static const char *closing_quote(const char *at) {
    for (;; at++) {
        if (*at == '\n') return NULL;
        if (*at != '"') continue;
        if (at[1] != '"') return at;
        at++;
    }
}

/* Does a quoted field of CSV go on in the next line? Such fields are refused, for lines are what threads share out. */
static bool odd_quotes(const char *at) {
    bool odd = false;
    for (; *at != '\n'; at++) odd ^= *at == '"';
    return odd;
}

/* The end of an unquoted name: before a separator and the blanks in front of it. */
static const char *name_end(const char *at, char separator) {
    const char *start = at;
    while (!ends_field(at, separator) && *at != '\n') at++;
    while (at > start && is_blank(at[-1])) at--;
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
    if (!end) return CSAW__LINE_BAD_WEIGHT;
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

/* A name as it is written, quoted or not, to its place among the words. */
static csaw__line_fault read_word(const char **place, bool quoted, char separator, csaw__words *words, uint32_t *id) {
    const char *start = *place, *end = quoted ? closing_quote(start) : name_end(start, separator);
    if (!end) return CSAW__LINE_OPEN_QUOTE;
    if (end == start) return CSAW__LINE_MISSING;
    uint64_t length = (uint64_t)(end - start);
    for (uint64_t i = 0; i < length; i++)
        if ((unsigned char)start[i] < ' ' || start[i] == 0x7f)
            return start[i] == '\r' ? CSAW__LINE_LONE_RETURN : CSAW__LINE_CONTROL;
    if (quoted && memchr(start, '"', length)) {
        char *to = words->text + words->offset[words->count];
        uint64_t left = 0;
        for (uint64_t i = 0; i < length; i++) {
            to[left++] = start[i];
            i += start[i] == '"';
        }
        *id = csaw__words_place(words, to, left);
    } else {
        *id = csaw__words_place(words, start, length);
    }
    *place = end;
    return CSAW__LINE_NONE;
}

/* Why there is no number at `at`, where an id should be. */
static csaw__line_fault id_fault(const csaw__line_rules *rules, const char *at) {
    const char *digit = at + (*at == '-');
    if (ends_field(at, rules->separator)) return CSAW__LINE_MISSING;
    if (*at == '\r') return CSAW__LINE_LONE_RETURN;
    while (is_digit(*digit)) digit++;
    if (*digit == '\r' && !ends_line(digit)) return CSAW__LINE_LONE_RETURN;
    if (rules->words_allowed) return CSAW__LINE_WORD;
    return digit > at + (*at == '-') && ends_field(digit, rules->separator) ? CSAW__LINE_RANGE : CSAW__LINE_NOT_ID;
}

INLINE bool holds_no_edge(const csaw__line_rules *rules, const char *at) {
    return ends_line(at) || (*at == rules->comments[0] && *at) || (*at == rules->comments[1] && *at);
}

/* The id at *place to ids[at]. */
INLINE csaw__line_fault read_id(csaw__lines *lines, csaw__id_kind kind, char separator, const char **place, bool quoted,
                                void *ids, uint64_t at, int64_t *largest) {
    const csaw__line_rules *rules = lines->rules;
    if (kind == CSAW__IDS_WORDS) return read_word(place, quoted, separator, lines->words, (uint32_t *)ids + at);
    int64_t id;
    const char *end = read_whole(*place, &id);
    if (__builtin_expect(!end || !(quoted ? *end == '"' : ends_field(end, separator) || is_blank(*end)), 0))
        return id_fault(rules, *place);
    if (__builtin_expect(id < rules->lowest || id > rules->highest, 0)) return CSAW__LINE_RANGE;
    if (kind == CSAW__IDS_NARROW) {
        if (__builtin_expect(id < 0 || id >= UINT32_MAX - 1, 0)) return CSAW__LINE_WIDE;
        ((csaw_vertex *)ids)[at] = (csaw_vertex)id;
    } else {
        ((int64_t *)ids)[at] = id;
    }
    if (id > *largest) *largest = id;
    *place = end;
    return CSAW__LINE_NONE;
}

static csaw__line_fault read_type(const char **place, uint32_t *type) {
    int64_t value;
    const char *end = read_whole(*place, &value);
    if (!end || value < 0 || value > UINT32_MAX) return CSAW__LINE_BAD_TYPE;
    *type = (uint32_t)value;
    *place = end;
    return CSAW__LINE_NONE;
}

static csaw__line_fault read_time(const char **place, int64_t *time) {
    const char *end = read_whole(*place, time);
    if (!end) return CSAW__LINE_BAD_TIME;
    *place = end;
    return CSAW__LINE_NONE;
}

static csaw__line_fault skip_field(const char **place, bool quoted, char separator) {
    *place = quoted ? closing_quote(*place) : name_end(*place, separator);
    return *place ? CSAW__LINE_NONE : CSAW__LINE_OPEN_QUOTE;
}

static csaw__line_fault after_field(const char *at, csaw__field field) {
    if (*at == '\r') return CSAW__LINE_LONE_RETURN;
    return field == CSAW__FIELD_WEIGHT ? CSAW__LINE_BAD_WEIGHT
           : field == CSAW__FIELD_TYPE ? CSAW__LINE_BAD_TYPE
           : field == CSAW__FIELD_TIME ? CSAW__LINE_BAD_TIME
                                       : CSAW__LINE_NOT_ID;
}

/* One line that holds an edge, from its first column; *place moves to its line feed, past columns that are not wanted.
 */
INLINE csaw__line_fault read_edge(csaw__lines *lines, csaw__id_kind kind, char separator, const char **place,
                                  uint64_t edge, int64_t *largest) {
    const csaw__line_rules *rules = lines->rules;
    const int num_fields = rules->num_fields;
    const char *at = *place;
    for (int column = 0; column < num_fields; column++) {
        const csaw__field field = (csaw__field)rules->fields[column];
        csaw__line_fault fault = CSAW__LINE_NONE;
        if (column) at = skip_separator(at, separator);
        lines->fault_column = column;
        if (__builtin_expect(field != CSAW__FIELD_SKIP && ends_line(at), 0)) return CSAW__LINE_MISSING;
        const bool quoted = *at == '"';
        at += quoted;
        switch (field) {
        case CSAW__FIELD_SRC: fault = read_id(lines, kind, separator, &at, quoted, lines->src, edge, largest); break;
        case CSAW__FIELD_DST: fault = read_id(lines, kind, separator, &at, quoted, lines->dst, edge, largest); break;
        case CSAW__FIELD_WEIGHT: fault = read_weight(&at, rules->plain, &lines->weight[edge]); break;
        case CSAW__FIELD_TYPE: fault = read_type(&at, &lines->type[edge]); break;
        case CSAW__FIELD_TIME: fault = read_time(&at, &lines->time[edge]); break;
        case CSAW__FIELD_SKIP: fault = skip_field(&at, quoted, separator); break;
        }
        if (__builtin_expect(fault, 0)) return fault;
        if (__builtin_expect(quoted, 0) && *at++ != '"') return CSAW__LINE_OPEN_QUOTE;
        if (separator) at = skip_blanks(at, separator);
        if (__builtin_expect(!ends_field(at, separator), 0)) return after_field(at, field);
    }
    if (separator && *at != '\n' && odd_quotes(at)) return CSAW__LINE_OPEN_QUOTE;
    *place = *at == '\n' ? at : skip_rest(at);
    return *place ? CSAW__LINE_NONE : CSAW__LINE_LONE_RETURN;
}

/* A comment, or `# csaw vertex NAME`, which csaw_graph_save() writes for a named vertex without an edge. */
static csaw__line_fault read_comment(csaw__lines *lines, const char **place) {
    static const char heading[] = "# csaw vertex ";
    const uint64_t length = sizeof heading - 1;
    if (lines->rules->lone_vertices && strncmp(*place, heading, length) == 0) {
        const char *at = *place + length;
        bool quoted = *at == '"';
        at += quoted;
        csaw__line_fault fault = read_id(lines, lines->kind, 0, &at, quoted, lines->src,
                                         lines->capacity - lines->num_lone - 1, &lines->largest);
        if (fault) return fault;
        lines->num_lone++;
    }
    *place = skip_rest(*place);
    return *place ? CSAW__LINE_NONE : CSAW__LINE_LONE_RETURN;
}

INLINE void read_lines(csaw__lines *lines, csaw__id_kind kind, char separator) {
    const csaw__line_rules *rules = lines->rules;
    const char *at = lines->text;
    uint64_t edge = 0, line = 0;
    int64_t largest = -1;
    while (at < lines->end) {
        const char *start = at;
        csaw__line_fault fault;
        line++;
        at = skip_blanks(at, separator);
        if (holds_no_edge(rules, at)) {
            fault = read_comment(lines, &at);
        } else {
            if (rules->prefix) {
                fault = *at == rules->prefix && is_blank(at[1]) ? CSAW__LINE_NONE : CSAW__LINE_PREFIX;
                at = skip_blanks(at + 1, separator);
            } else {
                fault = CSAW__LINE_NONE;
            }
            if (!fault) fault = read_edge(lines, kind, separator, &at, edge, &largest);
            edge += !fault;
        }
        if (!fault && at - start >= CSAW__LINE_BYTES) fault = CSAW__LINE_LONG;
        if (fault) {
            lines->fault = fault;
            lines->fault_line = start;
            break;
        }
        at++;
    }
    lines->num_edges = edge;
    lines->num_lines = line;
    if (largest > lines->largest) lines->largest = largest;
}

void csaw__lines_read(csaw__lines *lines) {
    const char separator = lines->rules->separator;
    lines->fault = CSAW__LINE_NONE;
    lines->num_lone = 0;
    lines->largest = -1;
    if (lines->kind == CSAW__IDS_NARROW && separator == 0)
        read_lines(lines, CSAW__IDS_NARROW, 0); /* the usual file, compiled for itself */
    else if (lines->kind == CSAW__IDS_NARROW)
        read_lines(lines, CSAW__IDS_NARROW, separator);
    else if (lines->kind == CSAW__IDS_WIDE)
        read_lines(lines, CSAW__IDS_WIDE, separator);
    else
        read_lines(lines, CSAW__IDS_WORDS, separator);
}

const char *csaw__lines_first(const csaw__line_rules *rules, const char *at, const char *end) {
    while (at < end) {
        at = skip_blanks(at, rules->separator);
        if (!holds_no_edge(rules, at)) return at;
        while (*at++ != '\n') {}
    }
    return end;
}

const char *csaw__line_column(const csaw__line_rules *rules, const char *at, int column, uint64_t *length) {
    for (int c = 0;; c++) {
        if (c) at = skip_separator(at, rules->separator);
        if (ends_line(at)) return NULL;
        const bool quoted = *at == '"';
        const char *start = at + quoted, *end = quoted ? closing_quote(start) : name_end(start, rules->separator);
        if (!end) return NULL;
        *length = (uint64_t)(end - start);
        if (c == column) return start;
        at = rules->separator ? skip_blanks(end + quoted, rules->separator) : end + quoted;
        if (!ends_field(at, rules->separator)) return NULL;
    }
}

bool csaw__is_number(const char *text, uint64_t length, int64_t *value) {
    char copy[40] = {0};
    if (length == 0 || length > 20) return false;
    memcpy(copy, text, length);
    return read_whole(copy, value) == copy + length;
}

const char *csaw__field_name(csaw__field field) {
    static const char *const names[] = {"-", "src", "dst", "weight", "type", "time"};
    return names[field];
}
