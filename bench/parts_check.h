/* SPDX-License-Identifier: MIT */
/* bench/parts_check.h - results of a run on partitions, held against the CPU's. */
#ifndef CSAW_BENCH_PARTS_CHECK_H
#define CSAW_BENCH_PARTS_CHECK_H

#include <csaw/csaw.h>

/* Ends the program unless the run from these seeds, and no more, by the CPU comes to the same: path: of walks [kept,
 * depth + 1]; of samples, if run->fanout is given, [kept] first destinations, or all. */
void parts_check(const csaw_graph *graph, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                 const csaw_run_options *run, const csaw_vertex *path, uint64_t kept);

/* Copies the paths of instances below `kept`, as far as they are of this batch, to path: [kept, length + 1]. */
void parts_keep_first(const csaw_walks *batch, uint64_t kept, csaw_vertex *path);

#endif
