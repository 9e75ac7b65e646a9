/* SPDX-License-Identifier: MIT */
/* bench/selection_device.cu - C-SAW's ways of picking without replacement on a GPU (Pandey et al., SC'20, sections IV-B
 * and VI-B): a warp sums the biases of a list (Kogge, Stone) into scratch memory of its own, then k lanes pick from it.
 * Bits are set by atomic operations on words of 32 bits, by lanes that have their pick for sure, so that no result
 * depends on the order of threads. Apart from the library: only the search and the look differ from way to way. */
#include "bench/selection_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

constexpr uint32_t all_lanes = 0xffffffffu, warps_of_block = 4;
constexpr uint64_t most_warps = 4096;

struct lists_of {
    const uint64_t *rowptr, *begin, *pick; /* begin, pick: [count + 1] as selection_lists */
    const uint32_t *col, *vertex;
    uint64_t lists, longest;
    bool biased;
    uint64_t *sums;            /* [warps, 2, longest] inclusive sums; those of what is left */
    uint32_t *bits;            /* [warps, longest / 32 + 1] */
    uint32_t *picks;           /* [pick[count]] */
    unsigned long long *count; /* [4] as round_counts */
};

struct selection_device {
    lists_of job;        /* its arrays are of device memory */
    const csaw_csr *csr; /* host */
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

template <int WAY, int LOOKING>
static __global__ void __launch_bounds__(32 * warps_of_block) select_lists(lists_of job) {
    __shared__ uint32_t list[warps_of_block][MOST_PICKS];
    const uint32_t lane = threadIdx.x % 32, in_block = threadIdx.x / 32;
    const uint64_t warp = (uint64_t)blockIdx.x * warps_of_block + in_block,
                   warps = (uint64_t)gridDim.x * warps_of_block;
    uint64_t *upto = job.sums + warp * 2 * job.longest, *left = upto + job.longest;
    uint64_t trials = 0, rounds = 0, searches = 0, looks = 0;
    for (uint64_t which = warp; which < job.lists; which += warps) {
        const uint32_t k = (uint32_t)(job.pick[which + 1] - job.pick[which]);
        uint32_t n = 0;
        uint64_t sum = 0, sum_left = 0;
        for (uint64_t v = job.begin[which]; v < job.begin[which + 1]; v++) {
            const uint64_t begin = job.rowptr[job.vertex[v]];
            const uint32_t degree = (uint32_t)(job.rowptr[job.vertex[v] + 1ull] - begin);
            for (uint64_t base = 0; base < degree; base += 32) {
                const uint64_t i = base + lane;
                uint64_t mass = i < degree;
                if (i < degree && job.biased) {
                    const uint32_t u = job.col[begin + i];
                    mass = job.rowptr[u + 1ull] - job.rowptr[u];
                }
                const uint64_t here = sum + sum_up_to(mass, lane);
                if (i < degree) upto[n + i] = here;
                sum = __shfl_sync(all_lanes, (unsigned long long)here, 31);
            }
            n += degree;
        }
        taken_set<LOOKING> set = {job.bits + warp * (job.longest / 32 + 1), list[in_block], (n + 31) / 32, 0};
        if constexpr (LOOKING != LINEAR)
            for (uint32_t w = lane; w < set.words; w += 32) set.bits[w] = 0;
        __syncwarp();
        if constexpr (WAY == NUM_WAYS) continue;
        bool open = lane < k;
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
                const uint64_t first = round_number(which, lane, round, 0);
                candidate = first_above(of_left ? left : upto, n, __umul64hi(first, of_left ? sum_left : sum));
                trials++;
                searches++;
                if (!of_left && set.has(candidate, &looks)) {
                    if constexpr (WAY == PRINTED || WAY == FRESH) {
                        const uint64_t low = candidate ? upto[candidate - 1] : 0, mass = upto[candidate] - low;
                        uint64_t x =
                            __umul64hi(WAY == PRINTED ? first : round_number(which, lane, round, 1), sum - mass);
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
        if (lane < k) job.picks[job.pick[which] + lane] = set.pick[lane];
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

template <class T> static T *copied(const T *from, uint64_t count) {
    T *const to = on_device<T>(count);
    MUST(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

selection_device *selection_device_open(const csaw_csr *csr, const char *device) {
    selection_device *s = (selection_device *)calloc(1, sizeof *s);
    if (!s) must(CSAW_ENOMEM);
    if (strncmp(device, "cuda:", 5) != 0) {
        fprintf(stderr, "selection_bench: --device '%s'; give cuda:N, or leave it out for the CPU\n", device);
        exit(2);
    }
    MUST(cudaSetDevice(atoi(device + 5)));
    s->csr = csr;
    s->job.rowptr = copied(csr->rowptr, csr->num_vertices + 1);
    s->job.col = copied(csr->col, csr->num_edges);
    s->job.count = on_device<unsigned long long>(4);
    MUST(cudaEventCreate(&s->begin));
    MUST(cudaEventCreate(&s->end));
    return s;
}

static void free_lists(const lists_of *job) {
    const void *const memory[] = {job->begin, job->pick, job->vertex, job->sums, job->bits, job->picks};
    for (const void *p : memory) MUST(cudaFree((void *)p));
}

void selection_device_close(selection_device *s) {
    if (!s) return;
    MUST(cudaEventDestroy(s->begin));
    MUST(cudaEventDestroy(s->end));
    MUST(cudaFree((void *)s->job.rowptr));
    MUST(cudaFree((void *)s->job.col));
    MUST(cudaFree(s->job.count));
    free_lists(&s->job);
    free(s);
}

void selection_device_lists(selection_device *s, const selection_lists *lists, bool biased) {
    lists_of *const job = &s->job;
    free_lists(job);
    job->longest = longest_list(s->csr, lists);
    s->warps = most_warps;
    while (s->warps > warps_of_block && s->warps * job->longest * 16 > 4ull << 30) s->warps /= 2; /* 4 GiB of sums */
    job->begin = copied(lists->begin, lists->count + 1);
    job->pick = copied(lists->pick, lists->count + 1);
    job->vertex = copied(lists->vertex, lists->begin[lists->count]);
    job->sums = on_device<uint64_t>(s->warps * 2 * job->longest);
    job->bits = on_device<uint32_t>(s->warps * (job->longest / 32 + 1));
    job->picks = on_device<uint32_t>(lists->pick[lists->count]);
    job->lists = lists->count;
    job->biased = biased;
}

typedef void (*kernel)(lists_of);
static const kernel kernels[NUM_WAYS + 1][NUM_LOOKINGS] = {
    {select_lists<REPEATED, LINEAR>, select_lists<REPEATED, CONTIGUOUS>, select_lists<REPEATED, STRIDED>},
    {select_lists<UPDATED, LINEAR>, select_lists<UPDATED, CONTIGUOUS>, select_lists<UPDATED, STRIDED>},
    {select_lists<PRINTED, LINEAR>, select_lists<PRINTED, CONTIGUOUS>, select_lists<PRINTED, STRIDED>},
    {select_lists<FRESH, LINEAR>, select_lists<FRESH, CONTIGUOUS>, select_lists<FRESH, STRIDED>},
    {select_lists<NUM_WAYS, LINEAR>, select_lists<NUM_WAYS, CONTIGUOUS>, select_lists<NUM_WAYS, STRIDED>}};

double selection_device_run(selection_device *s, way way, looking looking) {
    const uint64_t warps = s->job.lists < s->warps ? s->job.lists : s->warps;
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

round_counts selection_device_get(selection_device *s, uint64_t begin, uint64_t end, uint32_t *picks) {
    unsigned long long c[4];
    MUST(cudaMemcpy(picks, s->job.picks + begin, (end - begin) * sizeof *picks, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(c, s->job.count, sizeof c, cudaMemcpyDeviceToHost));
    return (round_counts){c[0], c[1], c[2], c[3]};
}
