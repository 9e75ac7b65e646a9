/* SPDX-License-Identifier: MIT */
/* runtime/base/each_cpu.h - functions compiled for several CPUs. */
#ifndef CSAW_BASE_EACH_CPU_H
#define CSAW_BASE_EACH_CPU_H

/* A function compiled twice, for x86-64 as such and for AVX2; which one runs is settled when the library is loaded. The
 * bits are the same, since sums keep their order and nothing is contracted: AVX2 only takes more columns at a time. Not
 * with sanitizers, whose own set-up comes too late, and not by clang, which would settle it once for both compilations.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CSAW__EACH_CPU __attribute__((target_clones("avx2", "default")))
#else
#define CSAW__EACH_CPU
#endif

#endif
