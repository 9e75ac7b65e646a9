/* SPDX-License-Identifier: MIT */
/* runtime/base/load_names.c - gaps between ids are closed up, and names put in order.
 *
 * Three ways, by what the names are. Declared by the file (MatrixMarket, DIMACS): a subtraction. Numbers that lie close
 * together: a bit for each that occurs, and the new id is the number of bits below. All others, words and scattered
 * numbers: the distinct names of each part are joined by sorting. Numbers are sorted as the eight bytes whose order is
 * theirs, so one sort serves both. */
#include "runtime/base/load_names.h"

#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_PER_EDGE = 64, BITS_AT_LEAST = 1 << 20, NUMBER_BYTES = 8, RUN_AT_LEAST = 4096 };

static int64_t number_at(const csaw__edge_part *part, const void *ids, uint64_t i) {
    return part->kind == CSAW__IDS_NARROW ? (int64_t)((const csaw_vertex *)ids)[i] : ((const int64_t *)ids)[i];
}

/* Runs STATEMENT for every array `ids` of `count` names of a part. */
#define FOR_IDS(PART, STATEMENT)                                                            \
    for (int csaw__a = 0; csaw__a < 3; csaw__a++) {                                         \
        void *ids = csaw__a == 0 ? (PART)->src : csaw__a == 1 ? (PART)->dst : (PART)->lone; \
        const uint64_t count = csaw__a < 2 ? (PART)->count : (PART)->num_lone;              \
        STATEMENT                                                                           \
    }

/* ---- declared ------------------------------------------------------------ */

static csaw_status number_names(int64_t first, uint64_t count, csaw_names *names) {
    int64_t *number = NULL;
    CSAW_TRY(csaw__alloc(&number, count, "the names of vertices"));
    CSAW__OMP(parallel for if (csaw__is_long(count)))
    for (uint64_t v = 0; v < count; v++) number[v] = first + (int64_t)v;
    names->number = number;
    return CSAW_OK;
}

static csaw_status number_declared(csaw__edge_list *list, csaw__numbered_edges *out) {
    const csaw_vertex first = (csaw_vertex)list->first;
    out->num_vertices = list->num_declared;
    if (first == 0) return CSAW_OK;
    CSAW__OMP(parallel for schedule(dynamic, 1) if (list->num_parts > 1))
    for (uint64_t p = 0; p < list->num_parts; p++)
        FOR_IDS(&list->parts[p], for (uint64_t i = 0; i < count; i++)((csaw_vertex *)ids)[i] -= first;)
    return number_names(list->first, list->num_declared, &out->names);
}

/* ---- a bit for each number ------------------------------------------------ */

static void mark(uint64_t *bits, const csaw_vertex *ids, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *word = bits + ids[i] / 64, seen, bit = (uint64_t)1 << ids[i] % 64;
        CSAW__OMP(atomic read)
        seen = *word;
        if (seen & bit) continue;
        CSAW__OMP(atomic)
        *word |= bit;
    }
}

/* rank: [num_words] ones in the words before */
static csaw_status renumber(csaw__edge_list *list, const uint64_t *bits, const uint64_t *rank, uint64_t num_words,
                            csaw__numbered_edges *out) {
    int64_t *number = NULL;
    CSAW_TRY(csaw__alloc(&number, out->num_vertices, "the names of vertices"));
    out->names.number = number;
    CSAW__OMP(parallel for schedule(dynamic, 1024) if (csaw__is_long(num_words)))
    for (uint64_t w = 0; w < num_words; w++)
        for (uint64_t left = bits[w], v = rank[w]; left; left &= left - 1)
            number[v++] = (int64_t)(w * 64 + (uint64_t)__builtin_ctzll(left));
    CSAW__OMP(parallel for schedule(dynamic, 1) if (list->num_parts > 1))
    for (uint64_t p = 0; p < list->num_parts; p++)
        FOR_IDS(
            &list->parts[p], for (uint64_t i = 0; i < count; i++) {
                csaw_vertex *id = (csaw_vertex *)ids + i;
                uint64_t below = bits[*id / 64] & (((uint64_t)1 << *id % 64) - 1);
                *id = (csaw_vertex)(rank[*id / 64] + (uint64_t)__builtin_popcountll(below));
            })
    return CSAW_OK;
}

static csaw_status number_by_bits(csaw__edge_list *list, csaw__numbered_edges *out) {
    const uint64_t num_words = (uint64_t)list->largest / 64 + 1;
    uint64_t *bits = NULL, *rank = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&bits, num_words, "the ids of vertices"));
    CSAW_TRY_DONE(csaw__alloc(&rank, num_words, "the ids of vertices"));
    CSAW__OMP(parallel for schedule(dynamic, 1) if (list->num_parts > 1))
    for (uint64_t p = 0; p < list->num_parts; p++) FOR_IDS(&list->parts[p], mark(bits, ids, count);)
    uint64_t sum = 0;
    for (uint64_t w = 0; w < num_words; w++) {
        rank[w] = sum;
        sum += (uint64_t)__builtin_popcountll(bits[w]);
    }
    out->num_vertices = sum;
    if (sum <= (uint64_t)list->largest) status = renumber(list, bits, rank, num_words, out);
done:
    csaw__free(rank);
    csaw__free(bits);
    return status;
}

/* ---- names put in order ---------------------------------------------------- */

typedef struct entry {
    uint64_t prefix; /* the first eight bytes, as a number of their order */
    const char *text;
    uint64_t index; /* among the names of all parts */
    uint32_t length;
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static uint64_t prefix_of(const char *text, uint64_t length) {
    unsigned char bytes[8] = {0};
    uint64_t word;
    memcpy(bytes, text, length < 8 ? length : 8);
    memcpy(&word, bytes, 8);
    return __builtin_bswap64(word);
}

static void merge(const entry *from, uint64_t middle, uint64_t end, entry *to) {
    uint64_t left = 0, right = middle;
    for (uint64_t at = 0; at < end; at++) {
        bool second = left == middle || (right < end && compare_entries(&from[right], &from[left]) < 0);
        to[at] = from[second ? right++ : left++];
    }
}

/* Runs sorted by a thread each, then merged two by two. Returns where the result lies, in entries or in scratch. */
static entry *sort_entries(entry *entries, entry *scratch, uint64_t count) {
    const uint64_t runs = count < RUN_AT_LEAST ? 1 : (uint64_t)csaw__max_threads();
    uint64_t length = (count + runs - 1) / runs;
    CSAW__OMP(parallel for schedule(dynamic, 1) if (runs > 1))
    for (uint64_t run = 0; run < runs; run++) {
        uint64_t begin = run * length < count ? run * length : count, left = count - begin;
        qsort(entries + begin, left < length ? left : length, sizeof *entries, compare_entries);
    }
    for (; length < count; length *= 2) {
        CSAW__OMP(parallel for schedule(dynamic, 1))
        for (uint64_t begin = 0; begin < count; begin += 2 * length) {
            uint64_t left = count - begin, both = left < 2 * length ? left : 2 * length;
            merge(entries + begin, left < length ? left : length, both, scratch + begin);
        }
        entry *other = entries;
        entries = scratch;
        scratch = other;
    }
    return entries;
}

/* A part's numbers become places among its distinct numbers. */
static csaw_status list_numbers(csaw__edge_part *part) {
    const uint64_t names = 2 * part->count + part->num_lone;
    CSAW_TRY(csaw__words_open(&part->words, names, names * NUMBER_BYTES));
    FOR_IDS(
        part, for (uint64_t i = 0; i < count; i++) {
            uint64_t number = (uint64_t)number_at(part, ids, i) ^ (uint64_t)1 << 63;
            number = __builtin_bswap64(number);
            uint32_t place = csaw__words_place(&part->words, (const char *)&number, NUMBER_BYTES);
            memcpy((char *)ids + 4 * i, &place, 4); /* behind what was read, where the numbers are wider */
        })
    part->kind = CSAW__IDS_WORDS;
    return csaw__words_shut(&part->words);
}

static csaw_status list_all_numbers(csaw__edge_list *list) {
    int refused = 0;
    CSAW__OMP(parallel for schedule(dynamic, 1) reduction(| : refused) if (list->num_parts > 1))
    for (uint64_t p = 0; p < list->num_parts; p++)
        if (list->parts[p].kind != CSAW__IDS_WORDS) refused |= list_numbers(&list->parts[p]) != CSAW_OK;
    CSAW_REQUIRE(!refused, CSAW_ENOMEM, "no memory for the names of vertices; free memory, or load a smaller graph");
    return CSAW_OK;
}

/* Sorted entries to names; map[index] = vertex. */
static csaw_status keep_words(const entry *entries, uint64_t count, csaw_vertex *map, csaw__numbered_edges *out) {
    uint64_t vertices = 0, bytes = 0, *offset = NULL;
    char *text = NULL;
    for (uint64_t i = 0; i < count; i++) {
        bool fresh = i == 0 || compare_entries(&entries[i - 1], &entries[i]) != 0;
        vertices += fresh;
        bytes += fresh ? entries[i].length : 0;
        map[entries[i].index] = (csaw_vertex)(vertices - 1);
    }
    CSAW_REQUIRE(vertices <= CSAW__MAX_VERTICES, CSAW_EUNSUPPORTED,
                 "the file names %llu vertices, but a graph holds at most %llu; split the graph",
                 (unsigned long long)vertices, CSAW__MAX_VERTICES);
    out->num_vertices = vertices;
    CSAW_TRY(csaw__alloc(&text, bytes, "the names of vertices"));
    out->names.text = text;
    CSAW_TRY(csaw__alloc(&offset, vertices + 1, "the names of vertices"));
    out->names.offset = offset;
    offset[0] = 0;
    for (uint64_t i = 0, v = 0; i < count; i++) {
        if (i && map[entries[i].index] == map[entries[i - 1].index]) continue;
        memcpy(text + offset[v], entries[i].text, entries[i].length);
        offset[v + 1] = offset[v] + entries[i].length;
        v++;
    }
    return CSAW_OK;
}

/* Names of eight bytes back to numbers; none if vertex v is called v. */
static csaw_status words_to_numbers(csaw__numbered_edges *out) {
    int64_t *number = NULL;
    bool same = true;
    CSAW_TRY(csaw__alloc(&number, out->num_vertices, "the names of vertices"));
    for (uint64_t v = 0; v < out->num_vertices; v++) {
        number[v] = (int64_t)(prefix_of(out->names.text + v * NUMBER_BYTES, NUMBER_BYTES) ^ (uint64_t)1 << 63);
        same &= number[v] == (int64_t)v;
    }
    csaw__free((void *)out->names.text);
    csaw__free((void *)out->names.offset);
    if (same) csaw__free(number);
    out->names = (csaw_names){.number = same ? NULL : number};
    return CSAW_OK;
}

static void fill_entries(const csaw__edge_list *list, const uint64_t *base, entry *entries) {
    CSAW__OMP(parallel for schedule(dynamic, 1) if (list->num_parts > 1))
    for (uint64_t p = 0; p < list->num_parts; p++) {
        const csaw__words *words = &list->parts[p].words;
        for (uint32_t i = 0; i < words->count; i++) {
            const char *text = words->text + words->offset[i];
            uint32_t length = words->offset[i + 1] - words->offset[i];
            entries[base[p] + i] = (entry){prefix_of(text, length), text, base[p] + i, length};
        }
    }
}

static csaw_status number_by_order(csaw__edge_list *list, bool words, csaw__numbered_edges *out) {
    uint64_t *base = NULL, total = 0; /* base: [num_parts] first index of a part's names */
    entry *entries = NULL, *scratch = NULL;
    csaw_vertex *map = NULL;
    csaw_status status = CSAW_OK;
    if (!words) CSAW_TRY(list_all_numbers(list));
    CSAW_TRY(csaw__alloc(&base, list->num_parts, "the names of vertices"));
    for (uint64_t p = 0; p < list->num_parts; p++) {
        base[p] = total;
        total += list->parts[p].words.count;
    }
    CSAW_TRY_DONE(csaw__alloc(&entries, total, "the names of vertices"));
    CSAW_TRY_DONE(csaw__alloc(&scratch, total, "the names of vertices"));
    CSAW_TRY_DONE(csaw__alloc(&map, total, "the names of vertices"));
    fill_entries(list, base, entries);
    CSAW_TRY_DONE(csaw__go_on());
    const entry *const sorted = sort_entries(entries, scratch, total);
    CSAW_TRY_DONE(csaw__go_on());
    CSAW_TRY_DONE(keep_words(sorted, total, map, out));
    if (!words) CSAW_TRY_DONE(words_to_numbers(out));
    CSAW__OMP(parallel for schedule(dynamic, 1) if (list->num_parts > 1))
    for (uint64_t p = 0; p < list->num_parts; p++)
        FOR_IDS(&list->parts[p],
                for (uint64_t i = 0; i < count; i++)((csaw_vertex *)ids)[i] = map[base[p] + ((csaw_vertex *)ids)[i]];)
done:
    csaw__free(map);
    csaw__free(scratch);
    csaw__free(entries);
    csaw__free(base);
    return status;
}

/* ---- all -------------------------------------------------------------------- */

static csaw_status number_vertices(csaw__edge_list *list, bool keep_gaps, csaw__numbered_edges *out) {
    uint64_t edges = 0;
    bool wide = false, words = false;
    for (uint64_t p = 0; p < list->num_parts; p++) {
        edges += list->parts[p].count + list->parts[p].num_lone;
        wide |= list->parts[p].kind == CSAW__IDS_WIDE;
        words |= list->parts[p].kind == CSAW__IDS_WORDS;
    }
    if (keep_gaps) {
        uint64_t declared = list->declared ? (uint64_t)list->first + list->num_declared : 0;
        uint64_t needed = (uint64_t)(list->largest + 1);
        out->num_vertices = needed > declared ? needed : declared;
        return CSAW_OK;
    }
    if (list->declared) return number_declared(list, out);
    if (edges == 0) return CSAW_OK;
    if (words || wide || (uint64_t)list->largest > edges * BITS_PER_EDGE + BITS_AT_LEAST)
        return number_by_order(list, words, out);
    return number_by_bits(list, out);
}

csaw_status csaw__number_edges(csaw__edge_list *list, bool keep_gaps, csaw__numbered_edges *out) {
    csaw__numbered_edges made = {.num_segments = list->num_parts};
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(number_vertices(list, keep_gaps, &made));
    CSAW_TRY_DONE(csaw__alloc(&made.segments, list->num_parts, "an edge list"));
    for (uint64_t p = 0; p < list->num_parts; p++) {
        const csaw__edge_part *part = &list->parts[p];
        made.segments[p] = (csaw__edge_segment){.src = part->src,
                                                .dst = part->dst,
                                                .weight = part->weight,
                                                .type = part->type,
                                                .time = part->time,
                                                .count = part->count};
    }
    *out = made;
    return CSAW_OK;
done:
    csaw__numbered_edges_free(&made);
    return status;
}

void csaw__numbered_edges_free(csaw__numbered_edges *edges) {
    csaw__free(edges->segments);
    csaw__free((void *)edges->names.number);
    csaw__free((void *)edges->names.text);
    csaw__free((void *)edges->names.offset);
    *edges = (csaw__numbered_edges){0};
}
