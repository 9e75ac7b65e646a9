/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_list.c - parses the lines of a file in chunks, each by one thread, and keeps the edges of a chunk
 * as one part, in file order. One of the threads first reads and unpacks the block that comes after.
 *
 * A chunk's lines are counted before it is parsed, at ten times the speed of parsing: so its arrays are made to
 * measure, the thread that fills them is the first to touch them, and nothing is copied. Ids are 32 bits wide unless
 * one does not fit; if a name is no number, the file is read again from its beginning with names as words. The lowest
 * faulty line is the one reported, whatever the number of threads. */
#include "runtime/base/edge_list.h"

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 256 << 10, SHOWN_BYTES = 60 };

typedef struct chunk {
    csaw__lines lines;
    csaw__edge_part part;
    csaw_status status;
    char message[256];
} chunk;

typedef struct reader {
    csaw__blocks *blocks;
    const csaw__line_rules *rules;
    csaw__edge_list *list;
    bool words;
    uint64_t num_lines; /* in the blocks before */
    chunk *chunks;      /* as many as a block has */
    int num_chunks;
} reader;

static bool has_field(const csaw__line_rules *rules, csaw__field field) {
    return memchr(rules->fields, (int)field, (size_t)rules->num_fields) != NULL;
}

/* One block of memory, the arrays with the widest entries first. */
static csaw_status make_arrays(chunk *c, csaw__id_kind kind) {
    csaw__lines *lines = &c->lines;
    const csaw__line_rules *rules = lines->rules;
    const uint64_t count = lines->capacity, width = kind == CSAW__IDS_WIDE ? 8 : 4;
    const bool time = has_field(rules, CSAW__FIELD_TIME), weight = has_field(rules, CSAW__FIELD_WEIGHT),
               type = has_field(rules, CSAW__FIELD_TYPE);
    char *block = NULL;
    CSAW_TRY(csaw__alloc(&block, count * (2 * width + (time ? 8 : 0) + (weight ? 4 : 0) + (type ? 4 : 0)),
                         "the edges of a file"));
    c->part.block = block;
    lines->kind = kind;
    lines->time = time ? (int64_t *)block : NULL;
    block += time ? count * 8 : 0;
    lines->src = block;
    block += count * width;
    lines->dst = block;
    block += count * width;
    lines->weight = weight ? (float *)block : NULL;
    block += weight ? count * 4 : 0;
    lines->type = type ? (uint32_t *)block : NULL;
    return CSAW_OK;
}

static csaw_status parse(chunk *c, csaw__id_kind kind) {
    csaw__lines *lines = &c->lines;
    CSAW_TRY(make_arrays(c, kind));
    if (kind == CSAW__IDS_WORDS) {
        CSAW_TRY(csaw__words_open(&c->part.words, 2 * lines->capacity, (uint64_t)(lines->end - lines->text)));
        lines->words = &c->part.words;
    }
    csaw__lines_read(lines);
    if (lines->fault == CSAW__LINE_WIDE) {
        csaw__free(c->part.block);
        c->part.block = NULL;
        return parse(c, CSAW__IDS_WIDE);
    }
    if (kind == CSAW__IDS_WORDS) CSAW_TRY(csaw__words_shut(&c->part.words));
    return CSAW_OK;
}

static void parse_chunk(chunk *c, bool words) {
    csaw__lines *lines = &c->lines;
    uint64_t feeds = 0;
    for (const char *at = lines->text; at < lines->end; at++) feeds += *at == '\n';
    lines->capacity = feeds;
    c->status = parse(c, words ? CSAW__IDS_WORDS : CSAW__IDS_NARROW);
    if (c->status != CSAW_OK) snprintf(c->message, sizeof c->message, "%s", csaw_last_error());
    const uint64_t width = lines->kind == CSAW__IDS_WIDE ? 8 : 4;
    c->part.kind = lines->kind;
    c->part.src = lines->src;
    c->part.dst = lines->dst;
    c->part.num_lone = lines->num_lone;
    c->part.lone = (char *)lines->src + (lines->capacity - lines->num_lone) * width;
    c->part.weight = lines->weight;
    c->part.type = lines->type;
    c->part.time = lines->time;
    c->part.count = lines->num_edges;
}

/* The whole lines of a block from `from` on as chunks. */
static void cut_chunks(reader *r, const char *from, const char *end) {
    for (r->num_chunks = 0; from < end; r->num_chunks++) {
        const char *to = end;
        if (end - from > CHUNK_BYTES)
            to = (const char *)memchr(from + CHUNK_BYTES, '\n', (size_t)(end - from) - CHUNK_BYTES) + 1;
        r->chunks[r->num_chunks] = (chunk){.lines = {.rules = r->rules, .text = from, .end = to}};
        from = to;
    }
}

csaw__shown_line csaw__show_line(const char *line, const char *end) {
    csaw__shown_line shown = {{0}};
    uint64_t count = 0;
    while (line < end && (*line == ' ' || *line == '\t')) line++;
    for (; line < end && *line != '\n' && count < SHOWN_BYTES; line++)
        shown.text[count++] = *line >= ' ' && *line <= '~' ? *line : *line == '\t' ? ' ' : '?';
    if (count && line[-1] == '\r') count--; /* of the line's end */
    strcpy(shown.text + count, line < end && *line != '\n' ? "..." : "");
    return shown;
}

static csaw_status fail_line(const reader *r, const csaw__lines *lines) {
    static const struct {
        const char *wrong, *remedy;
    } faults[] = {
#define X(name, wrong, remedy) {wrong, remedy},
        CSAW__LINE_FAULTS(X)
#undef X
    };
    static const char *const columns[] = {"", "the source", "the destination", "the weight", "the type", "the time"};
    const csaw__line_rules *rules = r->rules;
    const unsigned long long line = r->num_lines + lines->num_lines;
    const char *path = r->blocks->path;
    csaw__shown_line shown = csaw__show_line(lines->fault_line, lines->end);
    if (lines->fault == CSAW__LINE_LONE_RETURN || lines->fault == CSAW__LINE_PREFIX || lines->fault == CSAW__LINE_LONG)
        return csaw__fail(CSAW_EFORMAT, "%s:%llu: '%s': %s; %s", path, line, shown.text, faults[lines->fault].wrong,
                          faults[lines->fault].remedy);
    const char *column = columns[rules->fields[lines->fault_column]];
    if (lines->fault == CSAW__LINE_RANGE)
        return csaw__fail(CSAW_EFORMAT,
                          "%s:%llu: '%s': column %d, %s, is not in the range of vertices, %lld to %lld; %s", path, line,
                          shown.text, lines->fault_column + 1, column, (long long)rules->lowest,
                          (long long)rules->highest, rules->range_remedy);
    return csaw__fail(CSAW_EFORMAT, "%s:%llu: '%s': column %d, %s%s%s; %s", path, line, shown.text,
                      lines->fault_column + 1, column, *column ? ", " : "", faults[lines->fault].wrong,
                      faults[lines->fault].remedy);
}

static csaw_status keep_part(csaw__edge_list *list, csaw__edge_part *part) {
    if (list->num_parts == list->capacity) {
        csaw__edge_part *more = NULL;
        uint64_t capacity = list->capacity ? 2 * list->capacity : 64;
        CSAW_TRY(csaw__alloc(&more, capacity, "an edge list"));
        if (list->num_parts) memcpy(more, list->parts, list->num_parts * sizeof *more);
        csaw__free(list->parts);
        list->parts = more;
        list->capacity = capacity;
    }
    list->parts[list->num_parts++] = *part;
    *part = (csaw__edge_part){0};
    return CSAW_OK;
}

/* In file order: the lowest fault comes first. *again: names turned out to be words. */
static csaw_status keep_chunks(reader *r, bool *again) {
    for (int c = 0; c < r->num_chunks && !*again; c++) {
        chunk *chunk = &r->chunks[c];
        CSAW_REQUIRE(chunk->status == CSAW_OK, chunk->status, "%s", chunk->message);
        *again = chunk->lines.fault == CSAW__LINE_WORD;
        if (*again) break;
        if (chunk->lines.fault) return fail_line(r, &chunk->lines);
        r->num_lines += chunk->lines.num_lines;
        if (chunk->lines.largest > r->list->largest) r->list->largest = chunk->lines.largest;
        if (chunk->part.count + chunk->part.num_lone) CSAW_TRY(keep_part(r->list, &chunk->part));
    }
    return CSAW_OK;
}

static void free_part(csaw__edge_part *part) {
    csaw__free(part->block);
    csaw__words_free(&part->words);
}

static csaw_status read_block(reader *r, const char *from, bool *again) {
    csaw__block *block = csaw__blocks_now(r->blocks);
    cut_chunks(r, from, block->text + block->whole);
    CSAW__OMP(parallel for schedule(dynamic, 1) if (r->num_chunks > 1 || !block->last))
    for (int job = -1; job < r->num_chunks; job++) {
        if (job >= 0)
            parse_chunk(&r->chunks[job], r->words);
        else if (!block->last)
            csaw__blocks_fill_next(r->blocks);
    }
    csaw_status status = keep_chunks(r, again);
    for (int c = 0; c < r->num_chunks; c++) free_part(&r->chunks[c].part);
    CSAW_TRY(status);
    if (*again) return CSAW_OK;
    CSAW_REQUIRE(block->status == CSAW_OK, block->status, "%s", block->message);
    CSAW_REQUIRE(block->last || block->count - block->whole <= CSAW__LINE_BYTES - 1, CSAW_EFORMAT,
                 "%s:%llu: the line is longer than %d bytes, the most that is read; is it an edge list, with line "
                 "feeds?",
                 r->blocks->path, (unsigned long long)r->num_lines + 1, CSAW__LINE_BYTES);
    return CSAW_OK;
}

static csaw_status read_blocks(reader *r, const char *from, uint64_t lines_before, bool *again) {
    r->num_lines = lines_before;
    r->list->largest = -1;
    for (;;) {
        bool last = csaw__blocks_now(r->blocks)->last;
        CSAW_TRY(csaw__go_on());
        CSAW_TRY(read_block(r, from, again));
        if (last || *again) return CSAW_OK;
        csaw__blocks_turn(r->blocks);
        from = csaw__blocks_now(r->blocks)->text;
    }
}

uint32_t csaw__columns_of_rules(const csaw__line_rules *rules) {
    return (has_field(rules, CSAW__FIELD_WEIGHT) ? CSAW__WEIGHT : 0) |
           (has_field(rules, CSAW__FIELD_TYPE) ? CSAW__TYPE : 0) |
           (has_field(rules, CSAW__FIELD_TIME) ? CSAW__TIME : 0);
}

csaw_status csaw__edge_list_read_share(csaw__blocks *blocks, const char *from, const csaw__line_rules *rules,
                                       uint64_t lines_before, csaw__edge_list *list, uint64_t *num_lines, bool *words) {
    reader r = {.blocks = blocks, .rules = rules, .list = list};
    *words = false;
    list->columns = csaw__columns_of_rules(rules);
    CSAW_TRY(csaw__alloc(&r.chunks, blocks->block_bytes / CHUNK_BYTES + 2, "a file reader"));
    const csaw_status status = read_blocks(&r, from, lines_before, words);
    csaw__free(r.chunks);
    *num_lines = r.num_lines;
    return status;
}

csaw_status csaw__edge_list_read(csaw__blocks *blocks, const char *from, const csaw__line_rules *rules,
                                 csaw__edge_list *list) {
    reader r = {.blocks = blocks, .rules = rules, .list = list};
    const uint64_t begin = (uint64_t)(from - csaw__blocks_now(blocks)->text);
    csaw_status status = CSAW_OK;
    list->columns = csaw__columns_of_rules(rules);
    CSAW_TRY(csaw__alloc(&r.chunks, blocks->block_bytes / CHUNK_BYTES + 2, "a file reader"));
    bool again = false;
    CSAW_TRY_DONE(read_blocks(&r, from, csaw__lines_before(blocks, from), &again));
    if (again) {
        for (uint64_t p = 0; p < list->num_parts; p++) free_part(&list->parts[p]);
        list->num_parts = 0;
        r.words = true;
        again = false;
        /* the first block is as it was unless a second one was read */
        if (blocks->block[1].capacity) CSAW_TRY_DONE(csaw__blocks_rewind(blocks));
        from = csaw__blocks_now(blocks)->text + begin;
        CSAW_TRY_DONE(read_blocks(&r, from, csaw__lines_before(blocks, from), &again));
    }
done:
    csaw__free(r.chunks);
    return status;
}

void csaw__edge_list_free(csaw__edge_list *list) {
    for (uint64_t p = 0; p < list->num_parts; p++) free_part(&list->parts[p]);
    csaw__free(list->parts);
    *list = (csaw__edge_list){0};
}

uint64_t csaw__lines_before(csaw__blocks *blocks, const char *at) {
    uint64_t lines = 0;
    for (const char *before = csaw__blocks_now(blocks)->text; before < at; before++) lines += *before == '\n';
    return lines;
}
