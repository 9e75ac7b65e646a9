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
    const char *k = "8,16,32,64", *cols = "256", *device = "cuda:0", *commit = "", *json = nullptr;
    std::string rows = "normal", what = "all";
    uint32_t repeat = 20;
};

struct bench {
    settings set;
    csaw_sparse a, turned = {}, there, there_turned; /* on the host, and its transpose; on the GPU */
    uint64_t cols = 0;                               /* of the dense matrices below */
    csaw_dense x, dy, there_x, there_y, there_dy, there_dx;
    csaw_cbsr h, there_h, there_dh; /* of this k */
    float *there_dweight;
    csaw_spmm_plan *plan = nullptr;
    double copy_rate = 0; /* bytes a second, read and written */
    FILE *json = nullptr;
    bool first = true;
};

static std::vector<uint64_t> numbers(const char *text) {
    std::vector<uint64_t> out;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
        out.push_back(strtoull(at, nullptr, 10));
    return out;
}

/* ---- reporting ---- */

struct moved {      /* bytes of a line; 0 = none that says something */
    double counted; /* by the paper's formula, or what rows, copies and fetches move: printed with its rate */
    double least;   /* every array once: at the rate of a copy it is the line's floor */
};

/* A matrix with its weights, and so many bytes of rows for each of its rows and columns. */
static double least_of(const bench *b, double of_row, double of_col) {
    return 8 * (double)b->a.num_edges + (double)b->a.rows * (8 + of_row) + (double)b->a.cols * of_col;
}

/* beside: what the time is set against, NULL = nothing. */
static double report(bench *b, uint64_t k, const char *what, const figure &f, const moved &bytes, const char *beside,
                     double beside_s) {
    const double floor_s = bytes.least / b->copy_rate;
    printf("%3llu columns, k %3llu  %-34s %9.4f ms  (%.4f .. %.4f)", (unsigned long long)b->cols, (unsigned long long)k,
           what, f.median * 1e3, f.least * 1e3, f.most * 1e3);
    if (bytes.counted > 0) printf("  %8.3f GB at %8.1f GB/s", bytes.counted / 1e9, bytes.counted / f.median / 1e9);
    if (bytes.least > 0) printf("  floor %.4f ms", floor_s * 1e3);
    if (beside) printf("  %.2f of %s", f.median / beside_s, beside);
    putchar('\n');
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"cols\": %llu, \"k\": %llu, \"what\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, "
                "\"max_s\": %.6g, \"paper_bytes\": %.6g, \"paper_bytes_per_s\": %.6g, \"least_bytes\": %.6g, "
                "\"floor_s\": %.6g, \"beside\": \"%s\", \"beside_s\": %.6g}",
                b->first ? "" : ",", (unsigned long long)b->cols, (unsigned long long)k, what, f.median, f.least,
                f.most, bytes.counted, bytes.counted / f.median, bytes.least, floor_s, beside ? beside : "", beside_s);
    b->first = false;
    return f.median;
}

#endif
