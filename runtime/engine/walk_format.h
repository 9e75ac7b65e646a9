/* SPDX-License-Identifier: MIT */
/* runtime/engine/walk_format.h - walks as bytes. */
#ifndef CSAW_ENGINE_WALK_FORMAT_H
#define CSAW_ENGINE_WALK_FORMAT_H

#include "runtime/base/output_file.h"

enum csaw__format_kind { CSAW__FORMAT_TEXT, CSAW__FORMAT_NPY, CSAW__FORMAT_BIN };

typedef struct csaw__walk_format {
    enum csaw__format_kind kind;
    bool edges; /* the arcs followed instead of the vertices */
    uint64_t num_walks;
    uint32_t length;  /* steps */
    csaw_names names; /* text: of vertices; both NULL = by number */
} csaw__walk_format;

extern const char *const csaw__format_names[]; /* by csaw__format_kind; NULL ends */
/* name: one of those, or NULL = by the path's suffix. */
csaw_status csaw__format_find(const char *name, const char *path, enum csaw__format_kind *out);
/* Names that stand in text must not hold what separates them there. */
csaw_status csaw__format_check_names(const csaw_names *names, uint64_t num_vertices);
csaw_status csaw__format_head(const csaw__walk_format *format, csaw__output *output);
/* Walk w of the view, in host memory. */
csaw_status csaw__format_walk(const csaw__walk_format *format, const csaw_walks *walks, uint64_t w,
                              csaw__output *output);

#endif
