// SPDX-License-Identifier: MIT
// fuzz/load.h - one input of a fuzzer as a graph file: loads it in one format, with options taken from its first byte,
// and walks over what comes out. Any answer is right but a crash, a leak, or a graph that breaks csaw.h's rules.
#ifndef CSAW_FUZZ_LOAD_H
#define CSAW_FUZZ_LOAD_H

#include <csaw/csaw.h>
#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/base/text_blocks.h"

extern "C" {
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

// Freed memory comes back soon: with the 256 MiB that are held by default, most of the time goes to fresh pages.
const char *__asan_default_options() { return "quarantine_size_mb=1"; }

// All memory that csaw takes. A vertex number of ten digits is a legal wish for 32 GiB, and a few thousand vertices
// show what many would: beyond those, wishes are refused. The first block of a packed file has its size whatever the
// file.
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    const bool first_block = bytes - CSAW__FIRST_BLOCK_BYTES < 4096;
    return bytes > 64 << 10 && !first_block ? nullptr : __real_aligned_alloc(alignment, bytes);
}
}

// A file in memory that stays open, at a short path: every input is written over the one before.
struct fuzz_file {
    std::string path = "/dev/shm/csaw_fuzz.XXXXXX";
    int file;
    fuzz_file() : file(mkstemp(&path[0])) {
        if (file < 0) perror(path.c_str()), abort();
        if (omp_set_num_threads) omp_set_num_threads(1);
    }
    ~fuzz_file() { unlink(path.c_str()); }
    void write(const void *bytes, size_t count) const {
        if (pwrite(file, bytes, count, 0) != static_cast<ssize_t>(count)) abort();
        if (ftruncate(file, static_cast<off_t>(count)) != 0) abort();
    }
};

inline const fuzz_file &fuzz_the_file() {
    static const fuzz_file file;
    return file;
}

// The vertex is found by its name.
inline void fuzz_check_name(const csaw_graph *graph, uint64_t v) {
    csaw_names names = csaw_graph_names(graph);
    std::string name = std::to_string(names.number ? names.number[v] : static_cast<int64_t>(v));
    if (names.offset) name.assign(names.text + names.offset[v], names.offset[v + 1] - names.offset[v]);
    csaw_vertex found = 0;
    if (memchr(name.data(), 0, name.size())) return; // which csaw_graph_find() cannot be asked for
    if (csaw_graph_find(graph, name.c_str(), &found) != CSAW_OK || found != v) abort();
}

inline void fuzz_check(const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    csaw_names names = csaw_graph_names(graph);
    if (csr.rowptr[0] != 0 || csr.rowptr[csr.num_vertices] != csr.num_edges) abort();
    for (uint64_t v = 0; v < csr.num_vertices; v++) {
        if (csr.rowptr[v + 1] < csr.rowptr[v]) abort();
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++)
            if (csr.col[e] >= csr.num_vertices || (e > csr.rowptr[v] && csr.col[e] < csr.col[e - 1])) abort();
        if (names.offset && names.offset[v + 1] < names.offset[v]) abort();
    }
    for (uint64_t v = 0; v < csr.num_vertices; v += 1 + csr.num_vertices / 4) fuzz_check_name(graph, v);
}

// The file as it is written, in this format or, with NULL, any.
inline void fuzz_load(const char *format, const char *columns, uint8_t bits) {
    csaw_load_options options = {};
    options.size = sizeof options;
    options.format = format;
    options.columns = bits & 16 ? columns : nullptr;
    options.undirected = bits & 1;
    options.keep_loops = bits & 2;
    options.keep_duplicates = bits & 4;
    options.keep_gaps = bits & 8;
    csaw_graph *graph = nullptr;
    if (csaw_graph_load(fuzz_the_file().path.c_str(), &options, &graph) != CSAW_OK) return;
    fuzz_check(graph);
    csaw_graph_free(graph);
}

#define CSAW_FUZZ(FORMAT, COLUMNS)                                            \
    extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { \
        if (size == 0) return 0;                                              \
        fuzz_the_file().write(data + 1, size - 1);                            \
        fuzz_load(FORMAT, COLUMNS, data[0]);                                  \
        return 0;                                                             \
    }

#endif
