/* SPDX-License-Identifier: MIT */
/* runtime/base/edge_list.h - the edges of a text file, as they are named there. */
#ifndef CSAW_BASE_EDGE_LIST_H
#define CSAW_BASE_EDGE_LIST_H

#include "runtime/base/csr_build.h"
#include "runtime/base/edge_line.h"
#include "runtime/base/text_blocks.h"

/* The edges of some lines. */
typedef struct csaw__edge_part {
    void *block; /* the memory of all arrays */
    csaw__id_kind kind;
    void *src, *dst;   /* [count], as kind says */
    void *lone;        /* [num_lone] vertices without an edge */
    float *weight;     /* [count] or NULL */
    uint32_t *type;    /* [count] or NULL */
    int64_t *time;     /* [count] or NULL */
    csaw__words words; /* of CSAW__IDS_WORDS */
    uint64_t count, num_lone;
} csaw__edge_part;

typedef struct csaw__edge_list {
    csaw__edge_part *parts; /* [num_parts] in file order */
    uint64_t num_parts, capacity;
    uint32_t columns; /* set of CSAW__WEIGHT, CSAW__TYPE, CSAW__TIME */
    int64_t largest;  /* id, of numbers; -1 = none */
    bool declared;    /* the file says that vertices are called first .. first + num_declared - 1 */
    int64_t first;
    uint64_t num_declared;
} csaw__edge_list;

/* Reads all lines from `from` on, a place in the first block. The list's declaration is the caller's. */
csaw_status csaw__edge_list_read(csaw__blocks *blocks, const char *from, const csaw__line_rules *rules,
                                 csaw__edge_list *list);
/* The same of a share of a file, before which are so many lines. *num_lines: before and in it. *words: some name is a
 * word, which ends it; else names are numbers. */
csaw_status csaw__edge_list_read_share(csaw__blocks *blocks, const char *from, const csaw__line_rules *rules,
                                       uint64_t lines_before, csaw__edge_list *list, uint64_t *num_lines, bool *words);
/* The columns of a list by these rules. */
uint32_t csaw__columns_of_rules(const csaw__line_rules *rules);
void csaw__edge_list_free(csaw__edge_list *list);
/* How a line is shown in a message: from its first character that is not blank, cut short, `...` at a cut. */
typedef struct csaw__shown_line {
    char text[64];
} csaw__shown_line;
csaw__shown_line csaw__show_line(const char *line, const char *end);
/* The number of lines before `at` in the first block. */
uint64_t csaw__lines_before(csaw__blocks *blocks, const char *at);

#endif
