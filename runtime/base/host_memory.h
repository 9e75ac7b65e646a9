/* SPDX-License-Identifier: MIT */
/* runtime/base/host_memory.h - how much of the host's memory a program may still take, and how much of that locking
 * pages takes. */
#ifndef CSAW_BASE_HOST_MEMORY_H
#define CSAW_BASE_HOST_MEMORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes: MemAvailable of /proc/meminfo, or what the control groups of this process leave, if that is less; 0: the
 * system does not tell. proc, cgroup: "/proc" and "/sys/fs/cgroup". A machine whose memory grows as it is used tells
 * less than it may come to have. */
uint64_t csaw__host_memory_left(const char *proc, const char *cgroup);

/* Bytes of the pages at begin that are still part of what is left: those that nobody has written yet, and those of
 * files, which the system may drop and read again. Locked pages stay, so locking takes as much of what is left. Memory
 * that processes share counts as a file's. begin: of a page. Counts no further than above most; 0 where the system does
 * not tell. */
uint64_t csaw__host_memory_locking_takes(const void *begin, uint64_t bytes, uint64_t most);

#ifdef __cplusplus
}
#endif

#endif
