/* SPDX-License-Identifier: MIT */
/* runtime/engine/hot.h - the vertices that a sample reaches most often, whose rows are worth a cache: those that most
 * arcs lead to. */
#ifndef CSAW_ENGINE_HOT_H
#define CSAW_ENGINE_HOT_H

#include <csaw/csaw.h>

#ifdef __cplusplus
extern "C" {
#endif

/* count: at most num_vertices. hot [count]: ascending; of vertices with as many arcs the lower come first to be chosen.
 * place [num_vertices]: where a vertex stands in hot, CSAW_NONE = it does not. */
csaw_status csaw__hot_vertices(const csaw_csr *csr, uint64_t count, csaw_vertex *hot, csaw_vertex *place);

#ifdef __cplusplus
}
#endif

#endif
