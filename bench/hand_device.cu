/* SPDX-License-Identifier: MIT */
/* bench/hand_device.cu - the graph, the room and the launches of the kernels in hand_uniform.cuh and hand_weighted.cuh.
 * Nothing is allocated while they are timed. Of the graph the kernels have a layout that suits them: first arc and
 * degree in one record of 8 bytes a row. */
#include "bench/hand_device.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cub/device/device_scan.cuh>

#include "bench/hand_pack.cuh"
#include "bench/hand_uniform.cuh"
#include "bench/hand_weighted.cuh"
#include "bench/measure.h"

struct hand_device {
    hand_graph graph;
    uint2 *row;
    uint32_t *col;
    float *weight;
    uint32_t *seed;  /* [instances] */
    hand_arc *arc;   /* [instances, K0 + K0 * K1] */
    uint32_t *count; /* [instances] of hop 0, then [instances] or, HAND_WEIGHTED, [instances, K0] of hop 1 */
    unsigned long long *total;
    hand_packed packed; /* room for every place */
    uint64_t *counts;   /* [instances + 1] */
    void *scan;
    size_t scan_bytes;
    uint64_t instances;
    uint32_t fanout[2];
    uint64_t *offset; /* host, of hand_device_get() */
    csaw_vertex *src, *dst;
    csaw_edge *edge;
    uint32_t *depth;
};

static void must_cuda(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "sample_bench: %s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define MUST(call) must_cuda((call), #call)

static void *on_device(uint64_t bytes) {
    void *p = NULL;
    MUST(cudaMalloc(&p, bytes ? bytes : 1));
    return p;
}

template <class T> static T *on_host(uint64_t count) {
    T *p = (T *)malloc((count ? count : 1) * sizeof(T));
    if (!p) must(CSAW_ENOMEM);
    return p;
}

hand_device *hand_device_open(const csaw_csr *csr, const char *device) {
    hand_device *hand = (hand_device *)calloc(1, sizeof *hand);
    uint2 *row = on_host<uint2>(csr->num_vertices);
    float largest = 0, least = FLT_MAX;
    int exponent;
    if (!hand) must(CSAW_ENOMEM);
    if (strncmp(device, "cuda:", 5) != 0 || csr->num_edges >> 32) {
        fprintf(stderr,
                "sample_bench: the kernels written by hand need a device cuda:N and fewer than 2^32 arcs, but it is "
                "'%s' and the graph has %llu; choose another device or --scale\n",
                device, (unsigned long long)csr->num_edges);
        exit(2);
    }
    MUST(cudaSetDevice(atoi(device + 5)));
    for (uint64_t v = 0; v < csr->num_vertices; v++)
        row[v] = make_uint2((uint32_t)csr->rowptr[v], (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]));
    for (uint64_t e = 0; csr->weight && e < csr->num_edges; e++) {
        largest = fmaxf(largest, csr->weight[e]);
        least = fminf(least, csr->weight[e]);
    }
    if (csr->weight && !(least > 0)) {
        fprintf(stderr, "sample_bench: the kernels written by hand need positive weights, but one is %g\n",
                (double)least);
        exit(2);
    }
    hand->row = (uint2 *)on_device(csr->num_vertices * sizeof *row);
    hand->col = (uint32_t *)on_device(csr->num_edges * sizeof(uint32_t));
    hand->total = (unsigned long long *)on_device(2 * sizeof *hand->total);
    MUST(cudaMemcpy(hand->row, row, csr->num_vertices * sizeof *row, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(hand->col, csr->col, csr->num_edges * sizeof(uint32_t), cudaMemcpyHostToDevice));
    if (csr->weight) {
        hand->weight = (float *)on_device((csr->num_edges + 4) * sizeof(float));
        MUST(cudaMemset(hand->weight, 0, (csr->num_edges + 4) * sizeof(float)));
        MUST(cudaMemcpy(hand->weight, csr->weight, csr->num_edges * sizeof(float), cudaMemcpyHostToDevice));
    }
    frexpf(largest, &exponent);
    hand->graph = (hand_graph){hand->row, hand->col, hand->weight, ldexpf(1, 26 - exponent)};
    free(row);
    return hand;
}

static void drop_room(hand_device *hand) {
    MUST(cudaFree(hand->seed));
    MUST(cudaFree(hand->arc));
    MUST(cudaFree(hand->count));
    MUST(cudaFree(hand->packed.offset));
    MUST(cudaFree(hand->packed.src));
    MUST(cudaFree(hand->packed.dst));
    MUST(cudaFree(hand->packed.edge));
    MUST(cudaFree(hand->packed.depth));
    MUST(cudaFree(hand->counts));
    MUST(cudaFree(hand->scan));
}

static void drop_answer(hand_device *hand) {
    free(hand->offset);
    free(hand->src);
    free(hand->dst);
    free(hand->edge);
    free(hand->depth);
}

void hand_device_close(hand_device *hand) {
    if (!hand) return;
    drop_room(hand);
    drop_answer(hand);
    MUST(cudaFree(hand->row));
    MUST(cudaFree(hand->col));
    MUST(cudaFree(hand->weight));
    MUST(cudaFree(hand->total));
    free(hand);
}

bool hand_device_has(const uint32_t *fanout) {
    return (fanout[0] == 15 && fanout[1] == 10) || (fanout[0] == 2 && fanout[1] == 2);
}

static uint64_t room_of(const hand_device *hand) { return hand->fanout[0] * (1 + (uint64_t)hand->fanout[1]); }

void hand_device_seeds(hand_device *hand, const csaw_vertex *seed, uint64_t count, const uint32_t *fanout) {
    drop_room(hand);
    hand->instances = count;
    memcpy(hand->fanout, fanout, sizeof hand->fanout);
    hand->seed = (uint32_t *)on_device(count * sizeof *seed);
    hand->arc = (hand_arc *)on_device(count * room_of(hand) * sizeof(hand_arc));
    hand->count = (uint32_t *)on_device(count * (1 + hand->fanout[0]) * sizeof(uint32_t));
    hand->packed.offset = (uint64_t *)on_device((count + 1) * sizeof(uint64_t));
    hand->packed.src = (uint32_t *)on_device(count * room_of(hand) * sizeof(uint32_t));
    hand->packed.dst = (uint32_t *)on_device(count * room_of(hand) * sizeof(uint32_t));
    hand->packed.edge = (uint64_t *)on_device(count * room_of(hand) * sizeof(uint64_t));
    hand->packed.depth = (uint32_t *)on_device(count * room_of(hand) * sizeof(uint32_t));
    hand->counts = (uint64_t *)on_device((count + 1) * sizeof(uint64_t));
    MUST(cub::DeviceScan::ExclusiveSum(NULL, hand->scan_bytes, hand->counts, hand->packed.offset, (int64_t)count + 1));
    hand->scan = on_device(hand->scan_bytes);
    MUST(cudaMemcpy(hand->seed, seed, count * sizeof *seed, cudaMemcpyHostToDevice));
}

static uint32_t blocks_for(uint64_t tasks, uint64_t of_block) {
    const uint64_t blocks = (tasks + of_block - 1) / of_block;
    if (blocks < 1u << 31) return (uint32_t)blocks;
    fputs("sample_bench: too many instances for the kernels written by hand; give fewer\n", stderr);
    exit(2);
}

template <uint32_t K0, uint32_t K1> static void launch(hand_device *hand, hand_way way, uint64_t number) {
    const uint2 key = make_uint2((uint32_t)number, (uint32_t)(number >> 32));
    const uint64_t n = hand->instances;
    if (way == HAND_UNIFORM) {
        constexpr uint32_t of_block = uniform_warps * (32 / lanes_for(K0));
        uniform_two_hops<K0, K1><<<blocks_for(n, of_block), 32 * uniform_warps>>>(
            hand->graph, hand->seed, n, key, hand->arc, hand->count, hand->count + n);
    } else {
        weighted_hop<K0, K1, 0><<<blocks_for(n, weighted_warps), 32 * weighted_warps>>>(
            hand->graph, hand->seed, n, key, hand->arc, hand->count, hand->count);
        weighted_hop<K0, K1, 1><<<blocks_for(n * K0, weighted_warps), 32 * weighted_warps>>>(
            hand->graph, hand->seed, n, key, hand->arc, hand->count, hand->count + n);
    }
    MUST(cudaGetLastError());
}

static void launch_known(hand_device *hand, hand_way way, uint64_t number) {
    if (!hand->instances) return;
    if (hand->fanout[0] == 15)
        launch<15, 10>(hand, way, number);
    else
        launch<2, 2>(hand, way, number);
}

void hand_device_run(hand_device *hand, hand_way way, uint64_t number) {
    launch_known(hand, way, number);
    MUST(cudaDeviceSynchronize());
}

template <uint32_t K0, uint32_t MOST, uint32_t ROWS> static void pack(hand_device *hand) {
    const uint64_t n = hand->instances;
    const hand_places places = {hand->arc, hand->count, hand->count + n, n};
    count_places<ROWS><<<blocks_for(n + 1, 256), 256>>>(places, hand->counts);
    MUST(
        cub::DeviceScan::ExclusiveSum(hand->scan, hand->scan_bytes, hand->counts, hand->packed.offset, (int64_t)n + 1));
    if (n) pack_places<K0, MOST, ROWS><<<blocks_for(n * 32, 256), 256>>>(places, hand->packed);
    MUST(cudaGetLastError());
}

csaw_arcs hand_device_deliver(hand_device *hand, hand_way way, uint64_t number, const csaw_vertex *seed) {
    const uint64_t n = hand->instances;
    MUST(cudaMemcpyAsync(hand->seed, seed, n * sizeof *seed, cudaMemcpyHostToDevice));
    launch_known(hand, way, number);
    if (hand->fanout[0] == 15)
        way == HAND_WEIGHTED ? pack<15, 150, 15>(hand) : pack<15, 150, 1>(hand);
    else
        way == HAND_WEIGHTED ? pack<2, 4, 2>(hand) : pack<2, 4, 1>(hand);
    MUST(cudaDeviceSynchronize());
    csaw_arcs view = {};
    view.space = CSAW_DEVICE;
    view.num_instances = n;
    view.offset = hand->packed.offset;
    view.src = hand->packed.src;
    view.dst = hand->packed.dst;
    view.edge = hand->packed.edge;
    view.depth = hand->packed.depth;
    return view;
}

/* ---- of the last run, not timed ---- */

/* total[0]: arcs; total[1]: arcs of the rows that more arcs were in than picked. A thread an instance. */
static __global__ void add_up(hand_graph graph, const uint32_t *seed, const hand_arc *arc, const uint32_t *count,
                              uint64_t instances, uint32_t k0, uint32_t k1, uint32_t rows, unsigned long long *total) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= instances) return;
    const hand_arc *mine = arc + i * k0 * (1 + (uint64_t)k1);
    const uint32_t have = count[i], degree = graph.row[seed[i]].y;
    unsigned long long arcs = have, scanned = degree > k0 ? degree : 0;
    for (uint32_t r = 0; r < rows; r++) arcs += count[instances + i * rows + r];
    for (uint32_t r = 0; r < have; r++) {
        bool before = false;
        for (uint32_t other = 0; other < r; other++) before |= mine[other].y == mine[r].y;
        const uint32_t next = graph.row[mine[r].y].y;
        if (!before && next > k1) scanned += next;
    }
    atomicAdd(total, arcs);
    atomicAdd(total + 1, scanned);
}

hand_totals hand_device_totals(hand_device *hand, hand_way way) {
    unsigned long long total[2];
    const uint32_t rows = way == HAND_WEIGHTED ? hand->fanout[0] : 1;
    MUST(cudaMemset(hand->total, 0, sizeof total));
    if (hand->instances)
        add_up<<<blocks_for(hand->instances, 256), 256>>>(hand->graph, hand->seed, hand->arc, hand->count,
                                                          hand->instances, hand->fanout[0], hand->fanout[1], rows,
                                                          hand->total);
    MUST(cudaGetLastError());
    MUST(cudaMemcpy(total, hand->total, sizeof total, cudaMemcpyDeviceToHost));
    return (hand_totals){total[0], way == HAND_WEIGHTED ? total[1] * sizeof(float) : 0};
}

csaw_arcs hand_device_get(hand_device *hand, hand_way way, uint64_t first, uint64_t count) {
    const uint64_t room = room_of(hand), rows = way == HAND_WEIGHTED ? hand->fanout[0] : 1;
    const uint64_t row_room = (room - hand->fanout[0]) / rows;
    hand_arc *arc = on_host<hand_arc>(count * room);
    uint32_t *count0 = on_host<uint32_t>(count), *count1 = on_host<uint32_t>(count * rows);
    uint64_t n = 0;
    drop_answer(hand);
    hand->offset = on_host<uint64_t>(count + 1);
    hand->src = on_host<csaw_vertex>(count * room);
    hand->dst = on_host<csaw_vertex>(count * room);
    hand->edge = on_host<csaw_edge>(count * room);
    hand->depth = on_host<uint32_t>(count * room);
    hand_device_to_host(arc, hand->arc + first * room, count * room * sizeof *arc);
    hand_device_to_host(count0, hand->count + first, count * sizeof *count0);
    hand_device_to_host(count1, hand->count + hand->instances + first * rows, count * rows * sizeof *count1);
    for (uint64_t i = 0; i < count; i++) {
        hand->offset[i] = n;
        for (uint64_t r = 0; r <= rows; r++) { /* hop 0, then the rows of hop 1 */
            const hand_arc *from = arc + i * room + (r ? hand->fanout[0] + (r - 1) * row_room : 0);
            const uint32_t have = r ? count1[i * rows + r - 1] : count0[i];
            if (have > (r ? row_room : hand->fanout[0])) {
                fprintf(stderr, "sample_bench: instance %llu has %u arcs by hand where there is room for %llu\n",
                        (unsigned long long)(first + i), have, (unsigned long long)(r ? row_room : hand->fanout[0]));
                exit(3);
            }
            for (uint32_t j = 0; j < have; j++, n++) {
                hand->src[n] = from[j].x;
                hand->dst[n] = from[j].y;
                hand->edge[n] = (uint64_t)from[j].w << 32 | from[j].z;
                hand->depth[n] = r > 0;
            }
        }
    }
    hand->offset[count] = n;
    free(arc);
    free(count0);
    free(count1);
    csaw_arcs view = {};
    view.first = first;
    view.num_instances = count;
    view.offset = hand->offset;
    view.src = hand->src;
    view.dst = hand->dst;
    view.edge = hand->edge;
    view.depth = hand->depth;
    return view;
}

void hand_device_to_host(void *to, const void *from, uint64_t bytes) {
    MUST(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

double hand_device_copy_rate(void) {
    const uint64_t bytes = 1ull << 30;
    double seconds[7];
    void *from = on_device(bytes), *to = on_device(bytes);
    MUST(cudaMemset(from, 0, bytes));
    for (int r = 0; r <= 7; r++) {
        MUST(cudaDeviceSynchronize());
        const double start = now();
        MUST(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0));
        MUST(cudaDeviceSynchronize());
        if (r) seconds[r - 1] = now() - start;
    }
    MUST(cudaFree(from));
    MUST(cudaFree(to));
    return 2 * (double)bytes / figure_of(seconds, 7).median;
}
