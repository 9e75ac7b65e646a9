/* SPDX-License-Identifier: MIT */
/* bench/strata.c - bench/strata.h in memory. */
#include "bench/strata.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/base/parallel.h"

/* Without a promise of pages, which a machine whose memory grows as it is used would refuse. */
static void *take(uint64_t bytes, const char *what) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "%.3f GiB for %s are refused; give fewer rows, or a smaller share of memory: ",
                (double)bytes / 1073741824.0, what);
        perror("mmap");
        exit(1);
    }
    madvise(memory, bytes, MADV_HUGEPAGE); /* advice: what comes of it is no matter */
    return memory;
}

csaw_csr strata_make(const strata *s) {
    const uint64_t rows = s->rows, degree = s->degree;
    csaw_edge *const rowptr = take((rows + 1) * sizeof *rowptr, "row offsets");
    csaw_vertex *const col = take(rows * degree * sizeof *col, "arcs");
    CSAW__OMP(parallel for schedule(static))
    for (uint64_t row = 0; row < rows; row++) { /* rowptr[0] is 0 already */
        rowptr[row + 1] = (row + 1) * degree;
        for (uint64_t place = 0; place < degree; place++) col[row * degree + place] = strata_neighbor(s, row, place);
    }
    return (csaw_csr){.num_vertices = rows, .num_edges = rows * degree, .rowptr = rowptr, .col = col};
}

void strata_free(const csaw_csr *csr) {
    munmap((void *)csr->rowptr, (csr->num_vertices + 1) * sizeof *csr->rowptr);
    munmap((void *)csr->col, csr->num_edges * sizeof *csr->col);
}
