// SPDX-License-Identifier: MIT
// fuzz/load.h - one input of a fuzzer as a graph file: loads it in one format, with options taken from its first byte,
// and walks over what comes out. Any answer is right but a crash, a leak, or a graph that breaks csaw.h's rules.
#ifndef CSAW_FUZZ_LOAD_H
#define CSAW_FUZZ_LOAD_H

#include <csaw/csaw.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" {
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
}

// A vertex number of ten digits is a legal wish for 32 GiB: such wishes are refused.
extern "C" inline __attribute__((used, visibility("default"))) const char *__asan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

inline void fuzz_check(const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    csaw_names names = csaw_graph_names(graph);
    if (csr.rowptr[0] != 0 || csr.rowptr[csr.num_vertices] != csr.num_edges) abort();
    for (uint64_t v = 0; v < csr.num_vertices; v++) {
        if (csr.rowptr[v + 1] < csr.rowptr[v]) abort();
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++)
            if (csr.col[e] >= csr.num_vertices || (e > csr.rowptr[v] && csr.col[e] < csr.col[e - 1])) abort();
        if (names.number && v && names.number[v] <= names.number[v - 1]) abort();
        if (names.offset && names.offset[v + 1] < names.offset[v]) abort();
    }
}

// A file in memory that stays open: every input is written over the one before.
inline int fuzz_load(const char *format, const char *columns, const uint8_t *data, size_t size) {
    static const int file = memfd_create("graph", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(file);
    if (omp_set_num_threads) omp_set_num_threads(1);
    if (size == 0) return 0;
    if (ftruncate(file, 0) != 0 || pwrite(file, data + 1, size - 1, 0) != static_cast<ssize_t>(size - 1)) return 0;
    csaw_load_options options = {};
    options.size = sizeof options;
    options.format = format;
    options.columns = data[0] & 16 ? columns : nullptr;
    options.undirected = data[0] & 1;
    options.keep_loops = data[0] & 2;
    options.keep_duplicates = data[0] & 4;
    options.keep_gaps = data[0] & 8;
    csaw_graph *graph = nullptr;
    if (csaw_graph_load(path.c_str(), &options, &graph) != CSAW_OK) return 0;
    fuzz_check(graph);
    csaw_graph_free(graph);
    return 0;
}

#define CSAW_FUZZ(FORMAT, COLUMNS)                                            \
    extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { \
        return fuzz_load(FORMAT, COLUMNS, data, size);                        \
    }

#endif
