/* SPDX-License-Identifier: MIT */
/* bench/selection_device.cu - C-SAW's ways of picking without replacement on a GPU (Pandey et al., SC'20, sections IV-B
 * and VI-B): a warp sums the biases of a row (Kogge, Stone) into scratch memory of its own, then k lanes pick from it.
 * Bits are set by atomic operations on words of 32 bits, by lanes that have their pick for sure, so that no result
 * depends on the order of threads. Apart from the library: only the search and the look differ from way to way. */
#include "bench/selection_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

constexpr uint32_t all_lanes = 0xffffffffu, warps_of_block = 4;
constexpr uint64_t most_warps = 4096;

struct rows_of {
    const uint64_t *rowptr;
    const uint32_t *col, *vertex; /* vertex: [rows] */
    uint64_t rows, widest;
    uint32_t k;
    bool biased;
    uint64_t *sums;            /* [warps, 2, widest] inclusive sums; those of what is left */
    uint32_t *bits;            /* [warps, widest / 32 + 1] */
    uint32_t *picks;           /* [rows, k] */
    unsigned long long *count; /* [4] as round_counts */
};

struct selection_device {
    rows_of job;
    uint64_t *rowptr;
    uint32_t *col, *vertex;
    uint64_t warps;
    cudaEvent_t begin, end;
};

/* ---- device ---- */

static __device__ uint64_t sum_up_to(uint64_t mass, uint32_t lane) {
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint64_t before = __shfl_up_sync(all_lanes, (unsigned long long)mass, d);
        if (lane >= d) mass += before;
    }
    return mass;
}

template <int LOOKING> struct taken_set {
    uint32_t *bits, *pick;
    uint32_t words, got;

    static __device__ uint32_t shift(uint32_t i, uint32_t words) { return LOOKING == STRIDED ? i / words : i % 32; }
    static __device__ uint32_t word(uint32_t i, uint32_t words) { return LOOKING == STRIDED ? i % words : i / 32; }
    __device__ bool has(uint32_t i, uint64_t *looks) const {
        if constexpr (LOOKING == LINEAR) {
            for (uint32_t j = 0; j < got; j++) {
                ++*looks;
                if (pick[j] == i) return true;
            }
            return false;
        } else {
            ++*looks;
            return ((volatile uint32_t *)bits)[word(i, words)] >> shift(i, words) & 1;
        }
    }
    __device__ void add(uint32_t place, uint32_t i) {
        pick[place] = i;
        if constexpr (LOOKING != LINEAR) atomicOr(&bits[word(i, words)], 1u << shift(i, words));
    }
};

template <int WAY, int LOOKING> static __global__ void __launch_bounds__(32 * warps_of_block) select_rows(rows_of job) {
    __shared__ uint32_t list[warps_of_block][MOST_PICKS];
    const uint32_t lane = threadIdx.x % 32, in_block = threadIdx.x / 32;
    const uint64_t warp = (uint64_t)blockIdx.x * warps_of_block + in_block,
                   warps = (uint64_t)gridDim.x * warps_of_block;
    uint64_t *upto = job.sums + warp * 2 * job.widest, *left = upto + job.widest;
    uint64_t trials = 0, rounds = 0, searches = 0, looks = 0;
    for (uint64_t row = warp; row < job.rows; row += warps) {
        const uint64_t begin = job.rowptr[job.vertex[row]];
        const uint32_t n = (uint32_t)(job.rowptr[job.vertex[row] + 1] - begin);
        taken_set<LOOKING> set = {job.bits + warp * (job.widest / 32 + 1), list[in_block], (n + 31) / 32, 0};
        uint64_t sum = 0, sum_left = 0;
        for (uint64_t base = 0; base < n; base += 32) {
            const uint64_t i = base + lane;
            uint64_t mass = i < n;
            if (i < n && job.biased) {
                const uint32_t u = job.col[begin + i];
                mass = job.rowptr[u + 1ull] - job.rowptr[u];
            }
            const uint64_t here = sum + sum_up_to(mass, lane);
            if (i < n) upto[i] = here;
            sum = __shfl_sync(all_lanes, (unsigned long long)here, 31);
        }
        if constexpr (LOOKING != LINEAR)
            for (uint32_t w = lane; w < set.words; w += 32) set.bits[w] = 0;
        __syncwarp();
        if constexpr (WAY == NUM_WAYS) continue;
        bool open = lane < job.k;
        for (uint32_t round = 0; __any_sync(all_lanes, open); round++) {
            uint32_t candidate = NO_CANDIDATE;
            const bool of_left = WAY == UPDATED && round > 0;
            rounds += lane == 0;
            if (of_left) {
                uint64_t unused = 0;
                sum_left = 0;
                for (uint64_t base = 0; base < n; base += 32) {
                    const uint64_t i = base + lane;
                    uint64_t mass = 0;
                    if (i < n && !set.has((uint32_t)i, &unused)) mass = upto[i] - (i ? upto[i - 1] : 0);
                    const uint64_t here = sum_left + sum_up_to(mass, lane);
                    if (i < n) left[i] = here;
                    sum_left = __shfl_sync(all_lanes, (unsigned long long)here, 31);
                }
                __syncwarp();
            }
            if (open) {
                const uint64_t first = round_number(row, lane, round, 0);
                candidate = first_above(of_left ? left : upto, n, __umul64hi(first, of_left ? sum_left : sum));
                trials++;
                searches++;
                if (!of_left && set.has(candidate, &looks)) {
                    if constexpr (WAY == PRINTED || WAY == FRESH) {
                        const uint64_t low = candidate ? upto[candidate - 1] : 0, mass = upto[candidate] - low;
                        uint64_t x = __umul64hi(WAY == PRINTED ? first : round_number(row, lane, round, 1), sum - mass);
                        if (x >= low) x += mass;
                        candidate = first_above(upto, n, x);
                        searches++;
                        if (set.has(candidate, &looks)) candidate = NO_CANDIDATE;
                    } else {
                        candidate = NO_CANDIDATE;
                    }
                }
            }
            __syncwarp(); /* all have looked at what is written now */
            const bool names = open && candidate != NO_CANDIDATE;
            const uint32_t alike =
                __match_any_sync(all_lanes, names ? (unsigned long long)candidate : 1ull << 32 | lane);
            const bool wins = names && (uint32_t)__ffs((int)alike) - 1 == lane;
            const uint32_t winners = __ballot_sync(all_lanes, wins);
            if (wins) set.add(set.got + (uint32_t)__popc(winners & ((1u << lane) - 1)), candidate);
            set.got += (uint32_t)__popc(winners);
            open = open && !wins;
            __syncwarp();
        }
        if (lane < job.k) job.picks[row * job.k + lane] = set.pick[lane];
        __syncwarp();
    }
    if constexpr (WAY == NUM_WAYS) return;
    atomicAdd(job.count, (unsigned long long)trials);
    atomicAdd(job.count + 1, (unsigned long long)rounds);
    atomicAdd(job.count + 2, (unsigned long long)searches);
    atomicAdd(job.count + 3, (unsigned long long)looks);
}

/* ---- launches ---- */

static void must_cuda(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "selection_bench: %s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define MUST(call) must_cuda((call), #call)

template <class T> static T *on_device(uint64_t count) {
    T *p = NULL;
    MUST(cudaMalloc((void **)&p, (count ? count : 1) * sizeof(T)));
    return p;
}

selection_device *selection_device_open(const csaw_csr *csr, const char *device) {
    selection_device *s = (selection_device *)calloc(1, sizeof *s);
    if (!s) must(CSAW_ENOMEM);
    if (strncmp(device, "cuda:", 5) != 0) {
        fprintf(stderr, "selection_bench: --device '%s'; give cuda:N, or leave it out for the CPU\n", device);
        exit(2);
    }
    MUST(cudaSetDevice(atoi(device + 5)));
    s->rowptr = on_device<uint64_t>(csr->num_vertices + 1);
    s->col = on_device<uint32_t>(csr->num_edges);
    MUST(cudaMemcpy(s->rowptr, csr->rowptr, (csr->num_vertices + 1) * sizeof(uint64_t), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(s->col, csr->col, csr->num_edges * sizeof(uint32_t), cudaMemcpyHostToDevice));
    for (uint64_t v = 0; v < csr->num_vertices; v++) {
        const uint64_t n = csr->rowptr[v + 1] - csr->rowptr[v];
        s->job.widest = n > s->job.widest ? n : s->job.widest;
    }
    s->warps = most_warps;
    while (s->warps > warps_of_block && s->warps * s->job.widest * 16 > 4ull << 30) s->warps /= 2; /* 4 GiB of sums */
    s->job.rowptr = s->rowptr;
    s->job.col = s->col;
    s->job.sums = on_device<uint64_t>(s->warps * 2 * s->job.widest);
    s->job.bits = on_device<uint32_t>(s->warps * (s->job.widest / 32 + 1));
    s->job.count = on_device<unsigned long long>(4);
    MUST(cudaEventCreate(&s->begin));
    MUST(cudaEventCreate(&s->end));
    return s;
}

void selection_device_close(selection_device *s) {
    if (!s) return;
    MUST(cudaEventDestroy(s->begin));
    MUST(cudaEventDestroy(s->end));
    MUST(cudaFree(s->rowptr));
    MUST(cudaFree(s->col));
    MUST(cudaFree(s->vertex));
    MUST(cudaFree(s->job.sums));
    MUST(cudaFree(s->job.bits));
    MUST(cudaFree(s->job.picks));
    MUST(cudaFree(s->job.count));
    free(s);
}

void selection_device_rows(selection_device *s, const csaw_vertex *vertex, uint64_t rows, uint32_t k, bool biased) {
    MUST(cudaFree(s->vertex));
    MUST(cudaFree(s->job.picks));
    s->vertex = on_device<uint32_t>(rows);
    s->job.picks = on_device<uint32_t>(rows * k);
    MUST(cudaMemcpy(s->vertex, vertex, rows * sizeof *vertex, cudaMemcpyHostToDevice));
    s->job.vertex = s->vertex;
    s->job.rows = rows;
    s->job.k = k;
    s->job.biased = biased;
}

typedef void (*kernel)(rows_of);
static const kernel kernels[NUM_WAYS + 1][NUM_LOOKINGS] = {
    {select_rows<REPEATED, LINEAR>, select_rows<REPEATED, CONTIGUOUS>, select_rows<REPEATED, STRIDED>},
    {select_rows<UPDATED, LINEAR>, select_rows<UPDATED, CONTIGUOUS>, select_rows<UPDATED, STRIDED>},
    {select_rows<PRINTED, LINEAR>, select_rows<PRINTED, CONTIGUOUS>, select_rows<PRINTED, STRIDED>},
    {select_rows<FRESH, LINEAR>, select_rows<FRESH, CONTIGUOUS>, select_rows<FRESH, STRIDED>},
    {select_rows<NUM_WAYS, LINEAR>, select_rows<NUM_WAYS, CONTIGUOUS>, select_rows<NUM_WAYS, STRIDED>}};

double selection_device_run(selection_device *s, way way, looking looking) {
    const uint64_t warps = s->job.rows < s->warps ? s->job.rows : s->warps;
    const uint32_t blocks = (uint32_t)((warps + warps_of_block - 1) / warps_of_block);
    float milliseconds = 0;
    if (way != NUM_WAYS) MUST(cudaMemset(s->job.count, 0, 4 * sizeof *s->job.count));
    MUST(cudaEventRecord(s->begin));
    kernels[way][looking]<<<blocks, 32 * warps_of_block>>>(s->job);
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(s->end));
    MUST(cudaEventSynchronize(s->end));
    MUST(cudaEventElapsedTime(&milliseconds, s->begin, s->end));
    return (double)milliseconds * 1e-3;
}

round_counts selection_device_get(selection_device *s, uint32_t *picks) {
    unsigned long long c[4];
    MUST(cudaMemcpy(picks, s->job.picks, s->job.rows * s->job.k * sizeof *picks, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(c, s->job.count, sizeof c, cudaMemcpyDeviceToHost));
    return (round_counts){c[0], c[1], c[2], c[3]};
}
