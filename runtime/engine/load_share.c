/* SPDX-License-Identifier: MIT */
/* runtime/engine/load_share.c - a rank's share of an edge list, and vertex numbers that are those of the whole file.
 *
 * Each rank numbers the names of its share for itself, ascending; the names of all ranks, joined in turn, are those of
 * the file, and a number among a rank's own becomes that among all. So a rank holds all names, which it needs anyway,
 * and never more edges than its share.
 *
 * A fault is told as one process tells it: its line is counted from the file's beginning. How many lines the ranks
 * before have is known once all have read theirs, so the rank with the fault then reads its share up to there again. */
#include "runtime/engine/load_split.h"

#include "runtime/base/checksum.h"
#include "runtime/base/csaw_file.h"
#include "runtime/base/load_formats.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/protocol.h"

#include <string.h>
#include <sys/stat.h>

enum { TEXT_BYTES = 1024 };

/* ---- reading ---- */

typedef struct share {
    csaw__blocks blocks;
    csaw__load load;
    bool whole;          /* not read by shares */
    bool packed;         /* one share is all of it, rank 0's */
    uint64_t first, end; /* bytes of the file that are edges; of a packed one's text */
    uint64_t lines;      /* before them */
} share;

/* Nor a pipe, which can be read once. */
static bool is_of_lines(const csaw__split_load *l) {
    struct stat about;
    if (stat(l->path, &about) == 0 && !S_ISREG(about.st_mode)) return false;
    return (!l->options.format || strcmp(l->options.format, "csaw") != 0) && !csaw__is_csaw_file(l->path);
}

static csaw_status begin(csaw__split_load *l, share *s) {
    const char *format;
    CSAW_TRY(l->arguments);
    CSAW_REQUIRE(l->path, CSAW_EINVAL, "the path of the graph is NULL; pass the name of a file");
    s->load = (csaw__load){.blocks = &s->blocks, .options = &l->options};
    s->whole = !is_of_lines(l);
    if (s->whole) return CSAW_OK;
    CSAW_TRY(csaw__blocks_open(l->path, &s->blocks));
    s->packed = !csaw__text_is_plain(s->blocks.input);
    CSAW_TRY(csaw__load_begin(&s->load, &format));
    s->whole = strcmp(format, "text") != 0 && strcmp(format, "csv") != 0;
    s->end = csaw__text_bound(s->blocks.input);
    s->first = (uint64_t)(s->load.from - csaw__blocks_now(&s->blocks)->text);
    if (s->first > s->end) s->first = s->end; /* behind a heading without a line feed */
    s->lines = csaw__lines_before(&s->blocks, s->load.from);
    return CSAW_OK;
}

/* The bytes of this rank's lines; of a packed file the first block is there already. */
static csaw_status cut(const csaw__split_load *l, share *s) {
    uint64_t bounds[2];
    if (s->packed) return CSAW_OK;
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t at = s->first + csaw__share_begin(s->end - s->first, l->rank + i, l->size);
        bounds[i] = at;
        if (at > s->first) CSAW_TRY(csaw__text_line_from(s->blocks.input, at, &bounds[i]));
    }
    return csaw__blocks_range(&s->blocks, bounds[0], bounds[1]);
}

static csaw_status read_lines(csaw__split_load *l, share *s, uint64_t before, uint64_t *lines, bool *words) {
    const char *const text = csaw__blocks_now(&s->blocks)->text;
    *words = false;
    *lines = before;
    if (s->packed && l->rank) {
        l->list.columns = csaw__columns_of_rules(&s->load.rules);
        l->list.largest = -1;
        return CSAW_OK;
    }
    return csaw__edge_list_read_share(&s->blocks, s->packed ? text + s->first : text, &s->load.rules, before, &l->list,
                                      lines, words);
}

static bool is_fault(csaw_status status) { return status == CSAW_EFORMAT || status == CSAW_EIO; }

/* Rank `who` found the lowest fault, the others say nothing of theirs. */
static csaw_status tell_fault(csaw__split_load *l, share *s, uint32_t who) {
    struct {
        int32_t status;
        char text[TEXT_BYTES];
    } said = {CSAW_OK, ""};
    uint64_t lines = s->lines;
    for (uint32_t r = 0; r < who; r++) lines += csaw__ranks_said(l->ranks, r, 1);
    if (l->rank == who) {
        bool words;
        csaw__edge_list_free(&l->list);
        said.status = csaw__blocks_rewind(&s->blocks);
        if (said.status == CSAW_OK) said.status = read_lines(l, s, lines, &lines, &words);
        if (said.status != CSAW_OK) strncpy(said.text, csaw_last_error(), sizeof said.text - 1);
    }
    CSAW_TRY(csaw__ranks_broadcast(l->ranks, who, &said, sizeof said));
    return said.status == CSAW_OK ? csaw__fail(CSAW_EIO, "%s: changed while it was read; load it again", l->path)
                                  : csaw__fail((csaw_status)said.status, "%s", said.text);
}

static csaw_status read_share(csaw__split_load *l, share *s) {
    enum { OUTCOME, LINES };
    enum { IS_READ, HAS_WORDS, HAS_FAULT };
    uint64_t values[CSAW__RANK_VALUES] = {0};
    bool words = false;
    csaw_status status = cut(l, s);
    if (status == CSAW_OK) status = read_lines(l, s, 0, &values[LINES], &words);
    values[OUTCOME] = is_fault(status) ? HAS_FAULT : words ? HAS_WORDS : IS_READ;
    CSAW_TRY(csaw__load_meet(l, is_fault(status) ? CSAW_OK : status, values));
    for (uint32_t r = 0; r < l->size; r++) {
        const uint64_t outcome = csaw__ranks_said(l->ranks, r, OUTCOME);
        if (outcome == HAS_FAULT) return tell_fault(l, s, r);
        s->whole = outcome == HAS_WORDS;
        if (s->whole) return CSAW_OK;
    }
    return CSAW_OK;
}

/* ---- numbers ---- */

/* Ascending numbers of all ranks so far. */
typedef struct numbers {
    int64_t *number;
    uint64_t count;
} numbers;

static csaw_status join(numbers *all, const int64_t *more, uint64_t count) {
    int64_t *joined;
    uint64_t a = 0, b = 0, n = 0;
    CSAW_TRY(csaw__alloc(&joined, all->count + count, "the names of vertices"));
    while (a < all->count || b < count) {
        const bool first = b == count || (a < all->count && all->number[a] <= more[b]);
        const int64_t next = first ? all->number[a] : more[b];
        a += first;
        b += b < count && more[b] == next;
        joined[n++] = next;
    }
    csaw__free(all->number);
    *all = (numbers){joined, n};
    return CSAW_OK;
}

/* The names of this rank's vertices. */
static csaw_status own_numbers(const csaw__numbered_edges *edges, int64_t **out) {
    CSAW_TRY(csaw__alloc(out, edges->num_vertices, "the names of vertices"));
    for (uint64_t v = 0; v < edges->num_vertices; v++)
        (*out)[v] = edges->names.number ? edges->names.number[v] : (int64_t)v;
    return CSAW_OK;
}

/* Each rank's in turn to all. */
static csaw_status join_all(csaw__split_load *l, const int64_t *own, const uint64_t *count, numbers *all) {
    int64_t *came = NULL;
    csaw_status status = CSAW_OK;
    for (uint32_t r = 0; r < l->size && status == CSAW_OK; r++) {
        status = csaw__alloc(&came, count[r], "the names of vertices");
        if (status == CSAW_OK && r == l->rank && count[r]) memcpy(came, own, count[r] * sizeof *own);
        status = csaw__load_meet(l, status, NULL);
        if (status == CSAW_OK) status = csaw__ranks_broadcast(l->ranks, r, came, count[r] * sizeof *came);
        if (status == CSAW_OK) status = join(all, came, count[r]);
        status = csaw__load_meet(l, status, NULL);
        csaw__free(came);
        came = NULL;
    }
    return status;
}

/* Own vertices become those of all: both ascend. */
static csaw_status renumber(csaw__split_load *l, const int64_t *own, const numbers *all) {
    csaw_vertex *map;
    CSAW_TRY(csaw__alloc(&map, l->edges.num_vertices, "the names of vertices"));
    for (uint64_t v = 0, g = 0; v < l->edges.num_vertices; v++) {
        while (all->number[g] != own[v]) g++;
        map[v] = (csaw_vertex)g;
    }
    CSAW__OMP(parallel for schedule(dynamic, 1) if (l->edges.num_segments > 1))
    for (uint64_t s = 0; s < l->edges.num_segments; s++) {
        const csaw__edge_segment *const segment = &l->edges.segments[s];
        csaw_vertex *const src = (csaw_vertex *)segment->src, *const dst = (csaw_vertex *)segment->dst; /* the list's */
        for (uint64_t i = 0; i < segment->count; i++) {
            src[i] = map[src[i]];
            dst[i] = map[dst[i]];
        }
    }
    csaw__free(map);
    return CSAW_OK;
}

/* Takes the numbers of all as names, unless vertex v is called v. */
static csaw_status take_names(csaw__split_load *l, numbers *all) {
    bool same = true;
    for (uint64_t v = 0; v < all->count && same; v++) same = all->number[v] == (int64_t)v;
    CSAW_REQUIRE(all->count <= CSAW__MAX_VERTICES, CSAW_EUNSUPPORTED,
                 "the file names %llu vertices, but a graph holds at most %llu; split the graph",
                 (unsigned long long)all->count, CSAW__MAX_VERTICES);
    csaw__free((void *)l->edges.names.number);
    l->edges.names.number = NULL;
    l->edges.num_vertices = all->count;
    if (same) return CSAW_OK;
    l->edges.names.number = all->number;
    all->number = NULL;
    return CSAW_OK;
}

static csaw_status number_alike(csaw__split_load *l, const uint64_t *count) {
    int64_t *own = NULL;
    numbers all = {NULL, 0};
    csaw_status status = csaw__load_meet(l, own_numbers(&l->edges, &own), NULL);
    if (status == CSAW_OK) status = join_all(l, own, count, &all);
    if (status == CSAW_OK) status = csaw__load_meet(l, renumber(l, own, &all), NULL);
    if (status == CSAW_OK) status = take_names(l, &all); /* alike on all */
    csaw__free(all.number);
    csaw__free(own);
    return status;
}

/* Of names that are vertex numbers the largest counts. */
static csaw_status number(csaw__split_load *l) {
    const bool as_they_stand = l->options.keep_gaps || l->list.declared;
    uint64_t values[CSAW__RANK_VALUES] = {0}, most = 0, *count = NULL;
    csaw_status status = csaw__number_edges(&l->list, l->options.keep_gaps, &l->edges);
    values[0] = l->edges.num_vertices;
    CSAW_TRY(csaw__load_meet(l, status, values));
    status = csaw__alloc(&count, l->size, "counts of vertices");
    for (uint32_t r = 0; r < l->size && status == CSAW_OK; r++) {
        count[r] = csaw__ranks_said(l->ranks, r, 0);
        most = count[r] > most ? count[r] : most;
    }
    status = csaw__load_meet(l, status, NULL);
    if (status == CSAW_OK && as_they_stand)
        l->edges.num_vertices = most;
    else if (status == CSAW_OK)
        status = number_alike(l, count);
    csaw__free(count);
    return status;
}

/* ---- all ---- */

enum { VISITS = CSAW__SAYS_MORE, OPTIONS, WHOLE, FIRST, END, HEAD, COMPARED };
_Static_assert((int)COMPARED <= (int)CSAW__RANK_VALUES, "what ranks compare fits what they say");

/* Of columns as text, of which there are few. */
static uint64_t hash_of_options(const csaw_load_options *options) {
    const char *const columns = options->columns ? options->columns : "", *const format = options->format;
    const uint64_t about[] = {csaw__xxh64(columns, strlen(columns)),
                              format ? csaw__xxh64(format, strlen(format)) : 0,
                              options->undirected,
                              options->keep_loops,
                              options->keep_duplicates,
                              options->keep_gaps};
    return csaw__xxh64(about, sizeof about);
}

/* That ranks are about to read one file alike. */
static csaw_status compare(csaw__split_load *l, share *s, csaw_status status) {
    const csaw__block *const head = csaw__blocks_now(&s->blocks);
    uint64_t values[CSAW__RANK_VALUES] = {0};
    csaw__protocol_say(values); /* what follows is of the protocol, too */
    values[VISITS] = l->by_visits;
    values[OPTIONS] = hash_of_options(&l->options);
    values[WHOLE] = s->whole;
    values[FIRST] = s->first;
    values[END] = s->end;
    if (status == CSAW_OK && !s->whole) values[HEAD] = csaw__xxh64(head->text, head->count);
    CSAW_TRY(csaw__load_meet(l, status, values));
    CSAW_TRY(csaw__protocol_alike(l->ranks));
    CSAW_TRY(csaw__ranks_alike(l->ranks, VISITS, "choice of by_visits", "give it to all ranks or to none"));
    CSAW_TRY(csaw__ranks_alike(l->ranks, OPTIONS, "way to load the graph", "give all ranks the same options"));
    for (uint32_t v = WHOLE; v <= HEAD; v++)
        CSAW_TRY(csaw__ranks_alike(l->ranks, v, "graph", "give every rank the same file"));
    return CSAW_OK;
}

csaw_status csaw__load_share(csaw__split_load *l, bool *whole) {
    share s = {.whole = false};
    csaw_status status = begin(l, &s);
    const locale_t plain = s.load.rules.plain;
    status = compare(l, &s, status);
    if (status == CSAW_OK && !s.whole) {
        l->list.declared = s.load.list.declared;
        l->list.num_declared = s.load.list.num_declared;
        status = read_share(l, &s);
    }
    if (plain != (locale_t)0) freelocale(plain);
    csaw__blocks_close(&s.blocks);
    *whole = s.whole;
    l->columns = l->list.columns;
    return status == CSAW_OK && !s.whole ? number(l) : status;
}
