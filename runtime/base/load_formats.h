/* SPDX-License-Identifier: MIT */
/* runtime/base/load_formats.h - what each format of graph file says before its first edge. */
#ifndef CSAW_BASE_LOAD_FORMATS_H
#define CSAW_BASE_LOAD_FORMATS_H

#include "runtime/base/edge_list.h"

/* What a beginning leads to: rules for the lines from `from` on. */
typedef struct csaw__load {
    csaw__blocks *blocks;
    const csaw_load_options *options;
    const char *text, *end; /* the whole lines of the first block */
    csaw__line_rules rules;
    const char *from;       /* the first line to be read as an edge */
    bool undirected;        /* the file stores each edge once */
    bool negate_reverse;    /* and the reverse has the negative weight */
    bool one_line_per_edge; /* the file says how many lines follow: num_lines */
    uint64_t num_lines;
    csaw__edge_list list; /* declarations */
} csaw__load;

/* What the first block says: the format, and, but for "npz", the rules of edges, whose `plain` is the caller's to free
 * if it is not 0, whatever comes out. */
csaw_status csaw__load_begin(csaw__load *load, const char **format);
csaw_status csaw__begin_text(csaw__load *load); /* load_text.c: SNAP style */
csaw_status csaw__begin_csv(csaw__load *load);  /* load_text.c */
csaw_status csaw__begin_mtx(csaw__load *load);  /* load_mtx.c */
csaw_status csaw__begin_gr(csaw__load *load);   /* load_gr.c */
bool csaw__is_gr(const char *text, const char *end);

/* load_npz.c: the edges of a scipy.sparse matrix in memory. */
csaw_status csaw__npz_read(const char *path, const char *bytes, uint64_t count, csaw__edge_list *list);

/* Rules with the columns of an option such as "src,dst,-,weight". */
csaw_status csaw__fields_parse(const char *path, const char *columns, csaw__line_rules *rules);

#endif
