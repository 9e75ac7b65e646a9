/* SPDX-License-Identifier: MIT */
/* bench/maxk_gpu.cuh - what the files of maxk_gpu_bench share: settings, matrices here and on the GPU, and how a time
 * is reported. */
#ifndef CSAW_BENCH_MAXK_GPU_CUH
#define CSAW_BENCH_MAXK_GPU_CUH

#include "bench/gpu_bench.cuh"
extern "C" {
#include "spmm/element.h"
}
#include <csaw/maxk.h>

#include <cmath>
#include <string>

struct settings {
    graph_choice graph = GRAPH_CHOICE;
    const char *k = "8,16,32,64", *device = "cuda:0", *commit = "", *json = nullptr;
    std::string rows = "normal", what = "all";
    uint32_t cols = 256, repeat = 20;
};

struct bench {
    settings set;
    csaw_sparse a, turned, there, there_turned; /* on the host, and its transpose; on the GPU */
    csaw_dense x, dy, there_x, there_y, there_dy, there_dx;
    csaw_cbsr h, there_h, there_dh; /* of this k */
    float *there_dweight;
    csaw_spmm_plan *plan = nullptr;
    FILE *json = nullptr;
    bool first = true;
};

/* ---- reporting ---- */

/* beside: what the time is set against, NULL = nothing. */
static double report(bench *b, uint64_t k, const char *what, const figure &f, double paper, const char *beside,
                     double beside_s) {
    printf("k %3llu  %-34s %9.4f ms  (%.4f .. %.4f)", (unsigned long long)k, what, f.median * 1e3, f.least * 1e3,
           f.most * 1e3);
    if (paper > 0) printf("  paper %8.3f GB %8.1f GB/s", paper / 1e9, paper / f.median / 1e9);
    if (beside) printf("  %.2f of %s", f.median / beside_s, beside);
    putchar('\n');
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"k\": %llu, \"what\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, "
                "\"paper_bytes\": %.6g, \"beside\": \"%s\", \"beside_s\": %.6g}",
                b->first ? "" : ",", (unsigned long long)k, what, f.median, f.least, f.most, paper,
                beside ? beside : "", beside_s);
    b->first = false;
    return f.median;
}

#endif
