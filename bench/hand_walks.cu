/* SPDX-License-Identifier: MIT */
/* bench/hand_walks.cu - the host side of the hand-written GPU walks: uploads the graph, makes the tables, launches the
 * kernels of hand_walks.cuh and reads the clock between two events. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "bench/hand_walks.cuh"
#include "bench/hand_walks_gpu.h"

#define MUST(CALL)                                                                                             \
    do {                                                                                                       \
        const cudaError_t error = (CALL);                                                                      \
        if (error != cudaSuccess) {                                                                            \
            fprintf(stderr, "%s: %s (line %d of %s)\n", #CALL, cudaGetErrorString(error), __LINE__, __FILE__); \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

struct hand_gpu {
    const csaw_csr *csr;
    bool wide;
    hand::graph graph;
    hand::classes classes;
};

namespace {

template <typename T> T *take(uint64_t count) {
    void *memory = nullptr;
    MUST(cudaMalloc(&memory, count * sizeof(T) + 16));
    return (T *)memory;
}

template <typename T> T *upload(const T *from, uint64_t count) {
    T *memory = take<T>(count);
    MUST(cudaMemcpy(memory, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return memory;
}

template <typename T> void drop(T **memory) {
    MUST(cudaFree((void *)*memory));
    *memory = nullptr;
}

unsigned blocks_for(uint64_t threads, unsigned block) { return (unsigned)((threads + block - 1) / block); }

/* CALL(OFFSET) with the type of the graph's offsets. */
#define BY_OFFSET(GPU, CALL)      \
    do {                          \
        if ((GPU)->wide)          \
            CALL(uint64_t);       \
        else                      \
            CALL(uint32_t);       \
        MUST(cudaGetLastError()); \
    } while (0)

uint32_t degree_of(const csaw_csr *csr, uint64_t v) { return (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]); }

/* The last MOST_CLASSES classes; none if degrees do not fall. */
void build_classes(hand_gpu *gpu) {
    const csaw_csr *csr = gpu->csr;
    std::vector<hand::degree_class> table;
    std::vector<uint16_t> cell(hand::CELLS);
    for (uint64_t v = 1; v < csr->num_vertices; v++)
        if (degree_of(csr, v) > degree_of(csr, v - 1)) {
            fputs("walk_bench: the kernel with degree classes needs vertices by falling degree; give --order degree\n",
                  stderr);
            exit(1);
        }
    uint64_t first = csr->num_vertices;
    while (first > 0 && table.size() < hand::MOST_CLASSES) {
        const uint32_t degree = degree_of(csr, first - 1);
        uint64_t low = 0, high = first; /* the first vertex of this degree */
        while (low < high) {
            const uint64_t middle = (low + high) / 2;
            if (degree_of(csr, middle) > degree)
                low = middle + 1;
            else
                high = middle;
        }
        table.insert(table.begin(), {csr->rowptr[low], (uint32_t)low, degree});
        first = low;
    }
    std::vector<bool> seen(hand::CELLS);
    uint32_t k = 0;
    for (uint64_t v = first; v < csr->num_vertices; v++) {
        const uint32_t c = hand::cell_of((uint32_t)v);
        while (k + 1 < table.size() && v >= table[k + 1].first) k++;
        if (!seen[c]) cell[c] = (uint16_t)k;
        seen[c] = true;
    }
    gpu->classes.table = upload(table.data(), table.size());
    gpu->classes.cell = upload(cell.data(), cell.size());
    gpu->classes.count = (uint32_t)table.size();
    gpu->classes.first = (uint32_t)first;
}

void build_tables(hand_gpu *gpu) {
    const csaw_csr *csr = gpu->csr;
    hand::alias_entry *alias = take<hand::alias_entry>(csr->num_edges);
    float *sum = take<float>(csr->num_vertices);
    gpu->graph.weight = upload(csr->weight, csr->num_edges);
#define BUILD(OFFSET) \
    hand::build_alias<OFFSET><<<blocks_for(csr->num_vertices, 256), 256>>>(gpu->graph, csr->num_vertices, alias, sum)
    BY_OFFSET(gpu, BUILD);
    MUST(cudaDeviceSynchronize());
    gpu->graph.alias = alias;
    gpu->graph.sum = sum;
    gpu->graph.largest = 0;
    for (uint64_t e = 0; e < csr->num_edges; e++)
        if (csr->weight[e] > gpu->graph.largest) gpu->graph.largest = csr->weight[e];
}

void launch(const hand_gpu *gpu, const hand_run *run, const hand::job &job) {
    const unsigned blocks = blocks_for(run->num_walks, 256);
    const float back = 1 / run->p, out = 1 / run->q, high = out > 1 ? out : 1, far = out < 1 ? out : 1;
    const hand::second_order bias = {back, out, back < far ? back : far, high, back > high ? back - high : 0};
#define UNIFORM(OFFSET) hand::walk_uniform<OFFSET><<<blocks, 256>>>(gpu->graph, job)
#define CLASSES(OFFSET) \
    hand::walk_classes<OFFSET><<<blocks_for(run->num_walks, 512), 512>>>(gpu->graph, job, gpu->classes)
#define WEIGHTED(OFFSET) hand::walk_weighted<OFFSET><<<blocks, 256>>>(gpu->graph, job)
#define NODE2VEC(OFFSET) hand::walk_node2vec<OFFSET, false><<<blocks, 256>>>(gpu->graph, job, bias)
#define NODE2VEC_WEIGHTED(OFFSET) hand::walk_node2vec<OFFSET, true><<<blocks, 256>>>(gpu->graph, job, bias)
    switch (run->walk) {
    case HAND_UNIFORM: BY_OFFSET(gpu, UNIFORM); break;
    case HAND_UNIFORM_CLASSES: BY_OFFSET(gpu, CLASSES); break;
    case HAND_WEIGHTED: BY_OFFSET(gpu, WEIGHTED); break;
    case HAND_NODE2VEC: BY_OFFSET(gpu, NODE2VEC); break;
    case HAND_NODE2VEC_WEIGHTED: BY_OFFSET(gpu, NODE2VEC_WEIGHTED); break;
    }
}

bool needs_weights(hand_walk walk) { return walk == HAND_WEIGHTED || walk == HAND_NODE2VEC_WEIGHTED; }

} // namespace

hand_gpu *hand_gpu_open(const csaw_csr *csr, const char *device) {
    if (strncmp(device, "cuda:", 5) != 0) return nullptr;
    MUST(cudaSetDevice(atoi(device + 5)));
    hand_gpu *gpu = (hand_gpu *)calloc(1, sizeof *gpu);
    if (!gpu) exit(1);
    gpu->csr = csr;
    gpu->wide = csr->num_edges > UINT32_MAX;
    gpu->graph.col = upload(csr->col, csr->num_edges);
    if (gpu->wide) {
        gpu->graph.offset = upload(csr->rowptr, csr->num_vertices + 1);
    } else {
        const std::vector<uint32_t> narrow(csr->rowptr, csr->rowptr + csr->num_vertices + 1);
        gpu->graph.offset = upload(narrow.data(), narrow.size());
    }
    return gpu;
}

void hand_gpu_close(hand_gpu *gpu) {
    if (!gpu) return;
    drop(&gpu->graph.offset);
    drop(&gpu->graph.col);
    free(gpu);
}

uint64_t hand_gpu_run(hand_gpu *gpu, const hand_run *run, double *seconds) {
    const uint64_t places = run->num_walks * ((uint64_t)run->length + 1);
    hand::job job = {run->num_walks, run->num_seeds, run->length, run->seed, take<uint32_t>(places)};
    cudaEvent_t start, stop;
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&stop));
    if (needs_weights(run->walk)) build_tables(gpu);
    if (run->walk == HAND_UNIFORM_CLASSES) build_classes(gpu);
    for (uint32_t r = 0; r <= run->repeat; r++) {
        float milliseconds = 0;
        MUST(cudaEventRecord(start));
        launch(gpu, run, job);
        MUST(cudaEventRecord(stop));
        MUST(cudaEventSynchronize(stop));
        MUST(cudaEventElapsedTime(&milliseconds, start, stop));
        if (r) seconds[r - 1] = milliseconds * 1e-3;
    }
    drop(&gpu->graph.alias);
    drop(&gpu->graph.sum);
    drop(&gpu->graph.weight);
    drop(&gpu->classes.table);
    drop(&gpu->classes.cell);
    csaw_walks walks = {};
    walks.num_walks = run->num_walks;
    walks.length = run->length;
    walks.path = job.path;
    walks.path_walk_stride = 1;
    walks.path_step_stride = run->num_walks;
    const uint64_t wrong = hand_gpu_wrong_steps(gpu, &walks);
    drop(&job.path);
    MUST(cudaEventDestroy(start));
    MUST(cudaEventDestroy(stop));
    return wrong;
}

uint64_t hand_gpu_wrong_steps(const hand_gpu *gpu, const csaw_walks *walks) {
    unsigned long long *count = take<unsigned long long>(1), wrong = 0;
    MUST(cudaMemset(count, 0, sizeof *count));
#define WRONG(OFFSET)                                                                                      \
    hand::count_wrong<OFFSET><<<blocks_for(walks->num_walks, 256), 256>>>(                                 \
        gpu->graph, gpu->csr->num_vertices, walks->path, walks->path_walk_stride, walks->path_step_stride, \
        walks->num_walks, walks->length, count)
    BY_OFFSET(gpu, WRONG);
    MUST(cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost));
    drop(&count);
    return wrong;
}

void hand_gpu_fetch(const csaw_walks *walks, uint64_t count, csaw_vertex *path) {
    const uint64_t steps = (uint64_t)walks->length + 1;
    std::vector<csaw_vertex> turned(steps * count); /* [steps, count] */
    MUST(cudaMemcpy2D(turned.data(), count * sizeof *path, walks->path, walks->path_step_stride * sizeof *path,
                      count * sizeof *path, steps, cudaMemcpyDeviceToHost));
    for (uint64_t w = 0; w < count; w++)
        for (uint64_t s = 0; s < steps; s++) path[w * steps + s] = turned[s * count + w];
}
