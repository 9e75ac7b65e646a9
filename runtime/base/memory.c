/* SPDX-License-Identifier: MIT */
/* runtime/base/memory.c - host memory through one place. */
#include "runtime/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_uint_fast64_t csaw__counted;
static atomic_uint_fast64_t csaw__bytes;
static atomic_uint_fast64_t csaw__fail_from;

void csaw__fail_allocations_from(uint64_t n) {
    atomic_store(&csaw__counted, 0);
    atomic_store(&csaw__bytes, 0);
    atomic_store(&csaw__fail_from, n);
}

uint64_t csaw__allocations_counted(void) { return atomic_load(&csaw__counted); }
uint64_t csaw__bytes_counted(void) { return atomic_load(&csaw__bytes); }

void csaw__count_bytes(uint64_t bytes) { atomic_fetch_add(&csaw__bytes, bytes); }

bool csaw__alloc_allowed(void) {
    uint64_t number = atomic_fetch_add(&csaw__counted, 1) + 1, from = atomic_load(&csaw__fail_from);
    return from == 0 || number < from;
}

csaw_status csaw__alloc_bytes(void **out, uint64_t count, uint64_t size, const char *what) {
    const uint64_t alignment = 64, huge_page = 2 << 20;
    void *memory = NULL;
    if (csaw__alloc_allowed() && count <= (SIZE_MAX - huge_page) / size) {
        uint64_t bytes = count * size, aligned = bytes >= huge_page ? huge_page : alignment;
        bytes = (bytes + aligned - 1) / aligned * aligned;
        memory = aligned_alloc(aligned, bytes ? bytes : aligned);
        if (memory && aligned == huge_page)
            madvise(memory, bytes, MADV_HUGEPAGE); /* a hint: random reads miss fewer TLBs */
    }
    CSAW_REQUIRE(memory, CSAW_ENOMEM,
                 "no memory for %s: %.1f MiB (%llu x %llu bytes) were refused; free memory, or ask for less", what,
                 (double)count * (double)size / 1048576.0, (unsigned long long)count, (unsigned long long)size);
    csaw__count_bytes(count * size);
    *out = memory;
    return CSAW_OK;
}

csaw_status csaw__alloc_zero_bytes(void **out, uint64_t count, uint64_t size, const char *what) {
    CSAW_TRY(csaw__alloc_bytes(out, count, size, what));
    memset(*out, 0, count * size);
    return CSAW_OK;
}

void csaw__free(void *memory) { free(memory); }
