/* SPDX-License-Identifier: MIT */
/* runtime/base/checksum.h - checksums of 64 bits. */
#ifndef CSAW_BASE_CHECKSUM_H
#define CSAW_BASE_CHECKSUM_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* XXH64, seed 0 (Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md). */
uint64_t csaw__xxh64(const void *from, uint64_t bytes);

/* Of long arrays, on all threads: XXH64 of every MiB in turn, and those folded in order. Of little-endian memory. */
enum { CSAW__CHECKSUM_BLOCK = 1 << 20 };
uint64_t csaw__checksum(const void *from, uint64_t bytes);
/* The same of hashes of blocks: begins with the number of bytes of all. */
uint64_t csaw__checksum_fold(uint64_t folded, const uint64_t *hash, uint64_t count);

/* Of a graph's contents; what csaw_graph_checksum() returns, read from the arrays whatever a file says. */
uint64_t csaw__graph_checksum(const csaw_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
