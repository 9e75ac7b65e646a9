/* SPDX-License-Identifier: MIT */
/* bench/gpu_bench.cuh - what benchmarks of aggregation on a GPU share: arrays there, times by CUDA events. */
#ifndef CSAW_BENCH_GPU_BENCH_CUH
#define CSAW_BENCH_GPU_BENCH_CUH

#include <cuda_profiler_api.h>

#include <cstring>
#include <string>
#include <vector>

#include "bench/cusparse.cuh"
#include "bench/graph_choice.h"

template <typename T> static T *upload(const T *from, uint64_t count) {
    T *to = nullptr;
    must_cuda(cudaMalloc(&to, (count ? count : 1) * sizeof(T)));
    if (from) must_cuda(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

/* GPU time of so many runs, one after the other. */
template <typename RUN> static double seconds_of(uint32_t calls, RUN run) {
    cudaEvent_t begin, end;
    float ms = 0;
    must_cuda(cudaEventCreate(&begin));
    must_cuda(cudaEventCreate(&end));
    must_cuda(cudaEventRecord(begin));
    for (uint32_t i = 0; i < calls; i++) run();
    must_cuda(cudaEventRecord(end));
    must_cuda(cudaEventSynchronize(end));
    must_cuda(cudaEventElapsedTime(&ms, begin, end));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return ms * 1e-3;
}

/* One run, of `repeat` groups of runs that follow each other, each group about 5 ms long: so the host prepares a run
 * while the GPU is busy with those before it, and what it takes for the first is a small share. */
template <typename RUN> static figure time_of(uint32_t repeat, RUN run) {
    std::vector<double> seconds(repeat);
    const double share = 5e-3 / seconds_of(1, run); /* warm-up */
    const uint32_t calls = share < 1 ? 1 : share > 1000 ? 1000 : (uint32_t)share;
    for (double &s : seconds) s = seconds_of(calls, run) / calls;
    return figure_of(seconds.data(), repeat);
}

/* A run whose kernels a profiler sees that was told to wait for that (bench/launches_ncu.sh). */
template <typename RUN> static void watched(RUN run) {
    must_cuda(cudaProfilerStart());
    run();
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaProfilerStop());
}

/* Bytes that a copy within the GPU reads and writes a second, of arrays far larger than its caches. */
static double copy_rate() {
    const uint64_t bytes = 1ull << 30;
    char *const from = upload<char>(nullptr, bytes), *const to = upload<char>(nullptr, bytes);
    must_cuda(cudaMemset(from, 0, bytes));
    const figure f = time_of(9, [&] { must_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    cudaFree(from);
    cudaFree(to);
    return 2 * (double)bytes / f.median;
}

/* What a report begins with, up to its rows; json: NULL, or where it goes as well. */
static void begin_report(FILE *json, const char *device, const char *commit, const graph_choice *choice,
                         const csaw_graph *graph, double copy_rate, uint32_t repeat) {
    const csaw_csr csr = csaw_graph_csr(graph);
    printf("copy: %.1f GB/s, read and written\n", copy_rate / 1e9);
    printf("csaw %s on %s, %s: %llu vertices, %llu edges; median of %u groups of calls\n", csaw_version(), device,
           choice->name, (unsigned long long)csr.num_vertices, (unsigned long long)csr.num_edges, repeat);
    if (!json) return;
    fprintf(json, "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"graph\": ", csaw_version(), commit,
            device);
    print_graph(json, choice, graph);
    fprintf(json, ", \"copy_bytes_per_s\": %.4g, \"repeat\": %u, \"rows\": [", copy_rate, repeat);
}

#endif
