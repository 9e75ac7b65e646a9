/* SPDX-License-Identifier: MIT */
/* runtime/base/load_text.c - which columns an edge list has: by option, by the heading of a CSV file, by the comment
 * that csaw_graph_save() writes, or by the number of columns of the first edge. */
#include "runtime/base/load_formats.h"

#include "runtime/base/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

csaw_status csaw__fields_parse(const char *path, const char *columns, csaw__line_rules *rules) {
    bool seen[6] = {false};
    int wanted = 0;
    rules->num_fields = 0;
    for (const char *at = columns;; at++) {
        size_t length = strcspn(at, ",");
        int field = 0;
        while (field < 6 && !(strlen(csaw__field_name((csaw__field)field)) == length &&
                              strncmp(at, csaw__field_name((csaw__field)field), length) == 0))
            field++;
        CSAW_REQUIRE(field < 6, CSAW_EINVAL,
                     "%s: columns \"%s\": '%.*s' is not a column; use src, dst, weight, type, time, and - to skip one",
                     path, columns, (int)(length < 40 ? length : 40), at);
        CSAW_REQUIRE(field == CSAW__FIELD_SKIP || !seen[field], CSAW_EINVAL,
                     "%s: columns \"%s\" has %s twice; name it once, and use - to skip a column", path, columns,
                     csaw__field_name((csaw__field)field));
        CSAW_REQUIRE(rules->num_fields < CSAW__MAX_FIELDS, CSAW_EINVAL,
                     "%s: columns names more than %d columns, the most that are read; leave out the last ones", path,
                     CSAW__MAX_FIELDS);
        seen[field] = true;
        rules->fields[rules->num_fields++] = (unsigned char)field;
        if (field != CSAW__FIELD_SKIP) wanted = rules->num_fields;
        at += length;
        if (!*at) break;
    }
    CSAW_REQUIRE(seen[CSAW__FIELD_SRC] && seen[CSAW__FIELD_DST], CSAW_EINVAL,
                 "%s: columns \"%s\" lacks %s; name both src and dst", path, columns,
                 seen[CSAW__FIELD_SRC] ? "dst" : "src");
    rules->num_fields = wanted;
    return CSAW_OK;
}

static int column_of(const csaw__line_rules *rules, csaw__field field) {
    int column = 0;
    while (rules->fields[column] != field) column++;
    return column;
}

/* Are source and destination of the line at `at` both numbers (true) or both words (false)? */
static bool both_are(const csaw__line_rules *rules, const char *at, const char *end, bool numbers) {
    int64_t value;
    if (at == end) return false;
    for (csaw__field field = CSAW__FIELD_SRC; field <= CSAW__FIELD_DST; field++) {
        uint64_t length;
        const char *text = csaw__line_column(rules, at, column_of(rules, field), &length);
        if (!text || length == 0 || csaw__is_number(text, length, &value) != numbers) return false;
    }
    return true;
}

static const char *next_line(const csaw__line_rules *rules, const char *at, const char *end) {
    if (at == end) return end;
    return csaw__lines_first(rules, (const char *)memchr(at, '\n', (size_t)(end - at)) + 1, end);
}

/* A line of words before a line of numbers. */
static bool is_heading(const csaw__load *load, const char *line) {
    return both_are(&load->rules, line, load->end, false) &&
           both_are(&load->rules, next_line(&load->rules, line, load->end), load->end, true);
}

/* The columns that a heading names; false if it does not name both ends. */
static bool fields_of_heading(csaw__line_rules *rules, const char *line) {
    static const struct {
        const char *name;
        csaw__field field;
    } known[] = {{"src", CSAW__FIELD_SRC},         {"source", CSAW__FIELD_SRC},    {"from", CSAW__FIELD_SRC},
                 {"u", CSAW__FIELD_SRC},           {"dst", CSAW__FIELD_DST},       {"target", CSAW__FIELD_DST},
                 {"destination", CSAW__FIELD_DST}, {"to", CSAW__FIELD_DST},        {"v", CSAW__FIELD_DST},
                 {"weight", CSAW__FIELD_WEIGHT},   {"w", CSAW__FIELD_WEIGHT},      {"type", CSAW__FIELD_TYPE},
                 {"time", CSAW__FIELD_TIME},       {"timestamp", CSAW__FIELD_TIME}};
    csaw__line_rules made = *rules;
    bool seen[6] = {false};
    uint64_t length;
    made.num_fields = 0;
    for (int column = 0; column < CSAW__MAX_FIELDS; column++) {
        const char *text = csaw__line_column(rules, line, column, &length);
        if (!text) break;
        csaw__field field = CSAW__FIELD_SKIP;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            if (strlen(known[k].name) == length && strncasecmp(text, known[k].name, length) == 0)
                field = known[k].field;
        if (seen[field]) field = CSAW__FIELD_SKIP;
        seen[field] = true;
        made.fields[column] = (unsigned char)field;
        if (field != CSAW__FIELD_SKIP) made.num_fields = column + 1;
    }
    if (!seen[CSAW__FIELD_SRC] || !seen[CSAW__FIELD_DST]) return false;
    *rules = made;
    return true;
}

/* src,dst and, if there is a third column, weight. */
static void fields_of_edge(csaw__line_rules *rules, const char *line, const char *end) {
    uint64_t length;
    rules->fields[0] = CSAW__FIELD_SRC;
    rules->fields[1] = CSAW__FIELD_DST;
    rules->fields[2] = CSAW__FIELD_WEIGHT;
    rules->num_fields = line < end && csaw__line_column(rules, line, 2, &length) && length ? 3 : 2;
}

static void default_rules(csaw__load *load, char separator) {
    const bool keep_gaps = load->options->keep_gaps;
    load->rules = (csaw__line_rules){.separator = separator,
                                     .comments = "#%",
                                     .words_allowed = !keep_gaps,
                                     .lone_vertices = true,
                                     .lowest = keep_gaps ? 0 : INT64_MIN,
                                     .highest = keep_gaps ? (int64_t)CSAW__MAX_VERTICES - 1 : INT64_MAX,
                                     .range_remedy = "renumber the vertices, or leave out keep_gaps",
                                     .plain = load->rules.plain};
    if (load->end - load->text >= 3 && memcmp(load->text, "\xef\xbb\xbf", 3) == 0)
        load->text += 3; /* byte order mark */
    load->from = load->text;
}

/* The first line of a file by csaw_graph_save(): `# csaw graph: columns src,dst,weight vertices 0 to 11`. The second
 * half is there if vertices have no names: all of them are there, whether they have an edge or not. */
static csaw_status read_saved_heading(csaw__load *load, bool *saved) {
    static const char begin[] = "# csaw graph: columns ";
    const char *at = load->text;
    char columns[64];
    if ((uint64_t)(load->end - at) < sizeof begin || memcmp(at, begin, sizeof begin - 1) != 0) return CSAW_OK;
    *saved = true;
    at += sizeof begin - 1;
    size_t length = strcspn(at, " \n");
    snprintf(columns, sizeof columns, "%.*s", (int)(length < 63 ? length : 63), at);
    if (!load->options->columns) CSAW_TRY(csaw__fields_parse(load->blocks->path, columns, &load->rules));
    unsigned long long last;
    char line[96];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at + length, "\n"), at + length);
    if (sscanf(line, " vertices 0 to %llu", &last) != 1) return CSAW_OK;
    CSAW_REQUIRE(last < CSAW__MAX_VERTICES, CSAW_EFORMAT,
                 "%s:1: the heading says vertices 0 to %llu, but a graph holds at most %llu; remove the line",
                 load->blocks->path, last, CSAW__MAX_VERTICES);
    load->list.declared = true;
    load->list.num_declared = last + 1;
    load->rules.words_allowed = false;
    load->rules.lowest = 0;
    load->rules.highest = (int64_t)last;
    load->rules.range_remedy = "fix the line, or remove the heading";
    return CSAW_OK;
}

csaw_status csaw__begin_text(csaw__load *load) {
    const char *columns = load->options->columns;
    default_rules(load, 0);
    const char *first = csaw__lines_first(&load->rules, load->from, load->end);
    fields_of_edge(&load->rules, first, load->end);
    if (columns) CSAW_TRY(csaw__fields_parse(load->blocks->path, columns, &load->rules));
    bool saved = false;
    CSAW_TRY(read_saved_heading(load, &saved));
    CSAW_REQUIRE(saved || !is_heading(load, first), CSAW_EFORMAT,
                 "%s:%llu: '%s': looks like a heading, words above numbers, and would become an edge; put # before it, "
                 "or load as \"csv\"",
                 load->blocks->path, (unsigned long long)csaw__lines_before(load->blocks, first) + 1,
                 csaw__show_line(first, load->end).text);
    return CSAW_OK;
}

/* Comma, semicolon or tab, whichever the first line has most of outside quotes. */
static char separator_of(const char *line, const char *end) {
    uint64_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;
    for (; line < end && *line != '\n'; line++) {
        quoted ^= *line == '"';
        commas += !quoted && *line == ',';
        semicolons += !quoted && *line == ';';
        tabs += !quoted && *line == '\t';
    }
    if (commas >= semicolons && commas >= tabs) return ',';
    return semicolons >= tabs ? ';' : '\t';
}

csaw_status csaw__begin_csv(csaw__load *load) {
    const char *columns = load->options->columns;
    default_rules(load, ',');
    const char *first = csaw__lines_first(&load->rules, load->from, load->end);
    load->rules.separator = separator_of(first, load->end);
    fields_of_edge(&load->rules, first, load->end);
    bool named = first < load->end && fields_of_heading(&load->rules, first);
    if (columns) CSAW_TRY(csaw__fields_parse(load->blocks->path, columns, &load->rules));
    if (named || is_heading(load, first))
        load->from = (const char *)memchr(first, '\n', (size_t)(load->end - first)) + 1;
    return CSAW_OK;
}
