/* SPDX-License-Identifier: MIT */
/* bench/host_memory.h - how much of the host's memory a program may still take. */
#ifndef CSAW_BENCH_HOST_MEMORY_H
#define CSAW_BENCH_HOST_MEMORY_H

#include <stdint.h>

/* Bytes: MemAvailable of /proc/meminfo, or what the control groups of this process leave, if that is less; 0: the
 * system does not tell. proc, cgroup: "/proc" and "/sys/fs/cgroup". A machine whose memory grows as it is used tells
 * less than it may come to have. */
uint64_t host_memory_left(const char *proc, const char *cgroup);

#endif
