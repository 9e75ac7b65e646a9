/* SPDX-License-Identifier: MIT */
/* runtime/base/csaw_file.h - graphs in .csaw files. */
#ifndef CSAW_BASE_CSAW_FILE_H
#define CSAW_BASE_CSAW_FILE_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By its first bytes or, if these are damaged, its name. A pipe is not: nothing is read from it. */
bool csaw__is_csaw_file(const char *path);
/* Maps the file and checks its header, no more. options: as of csaw_graph_load(); those that count when a file is made
 * are refused. */
csaw_status csaw__csaw_open(const char *path, const csaw_load_options *options, csaw_graph **out);
csaw_status csaw__csaw_save(const csaw_graph *graph, const char *path);

#ifdef __cplusplus
}
#endif

#endif
