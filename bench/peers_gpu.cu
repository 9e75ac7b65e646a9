/* SPDX-License-Identifier: MIT */
/* bench/peers_gpu.cu - what a pair of GPUs can do for a graph that both hold: bytes a second of copies from the memory
 * of one to the other's, one way and both ways at once, and random 4-byte reads a second of the peer's memory and of
 * its own, by the kernel that docs/gpu.md holds walks against. Copies are verified byte by byte, reads by their sum,
 * which the host makes of the same indices.
 *
 *   peer_bench [--first 0] [--second 1] [--copy-mib 256] [--read-mib 8192] [--repeat 9] [--json FILE] [--commit TEXT]
 *
 * --first, --second: numbers of GPUs, which may be equal; --read-mib: of the array that is read at random, far beyond
 * any cache. */
#include <cuda_runtime.h>

#include <vector>

#include "bench/measure.h"
#include "bench/options.h"

namespace {

enum {
    THREADS = 256,
    BLOCKS = 132 * 16,
    READS = 64 /* of a thread, each on its own */,
    MOST_REPEATS = 100,
    MOST_READ_MIB = 16383 /* fewer than 2^32 words */
};

struct settings {
    uint32_t first = 0, second = 1, copy_mib = 256, read_mib = 8192, repeat = 9;
    const char *json = nullptr, *commit = "not given";
};

void must_cuda(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "peer_bench: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* ---- what the host can reckon, too ---- */

/* SplitMix64's finalizer (Steele et al. 2014). */
__host__ __device__ uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

__host__ __device__ uint32_t word_at(uint64_t place) { return (uint32_t)mixed(place); }

__host__ __device__ uint64_t place_of(uint64_t thread, uint32_t read, uint64_t words) {
    return (mixed(~(thread * READS + read)) >> 32) * words >> 32;
}

/* ---- device ---- */

__global__ void fill(uint32_t *to, uint64_t words, uint64_t from) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < words; i += (uint64_t)gridDim.x * blockDim.x)
        to[i] = word_at(from + i);
}

__global__ void count_wrong(const uint32_t *at, uint64_t words, uint64_t from, unsigned long long *wrong) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < words; i += (uint64_t)gridDim.x * blockDim.x)
        if (at[i] != word_at(from + i)) atomicAdd(wrong, 1ull);
}

/* sum: [threads of the grid] */
__global__ void read_at_random(const uint32_t *at, uint64_t words, uint32_t *sum) {
    const uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint32_t all = 0;
#pragma unroll 8
    for (uint32_t read = 0; read < READS; read++) all += __ldg(&at[place_of(thread, read, words)]);
    sum[thread] = all;
}

/* ---- the pair ---- */

struct gpu {
    int ordinal;
    cudaStream_t stream;
    uint32_t *from, *to; /* of copies: bytes of its own, the other's */
    uint32_t *table;     /* of reads */
    uint32_t *sum;
    unsigned long long *wrong;
};

struct bench {
    settings set;
    gpu side[2];
    uint64_t copy_bytes, words;
    FILE *json;
    const char *between;
};

/* Where both are one GPU there is nothing to enable. */
void reach(int reader, int holder) {
    int can = 0;
    if (reader == holder) return;
    must_cuda(cudaDeviceCanAccessPeer(&can, reader, holder));
    if (!can) {
        fprintf(stderr, "peer_bench: cuda:%d does not reach the memory of cuda:%d; see nvidia-smi topo -p2p r\n",
                reader, holder);
        exit(1);
    }
    must_cuda(cudaSetDevice(reader));
    must_cuda(cudaDeviceEnablePeerAccess(holder, 0));
}

void open(bench *b, int side, uint32_t ordinal) {
    gpu *const g = &b->side[side];
    g->ordinal = (int)ordinal;
    must_cuda(cudaSetDevice(g->ordinal));
    must_cuda(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
    must_cuda(cudaMalloc(&g->from, b->copy_bytes));
    must_cuda(cudaMalloc(&g->to, b->copy_bytes));
    must_cuda(cudaMalloc(&g->table, b->words * sizeof(uint32_t)));
    must_cuda(cudaMalloc(&g->sum, (uint64_t)BLOCKS * THREADS * sizeof(uint32_t)));
    must_cuda(cudaMalloc(&g->wrong, sizeof *g->wrong));
    must_cuda(cudaMemset(g->wrong, 0, sizeof *g->wrong));
    fill<<<BLOCKS, THREADS>>>(g->from, b->copy_bytes / 4, (uint64_t)side << 40);
    fill<<<BLOCKS, THREADS>>>(g->table, b->words, 0);
    must_cuda(cudaGetLastError());
    must_cuda(cudaDeviceSynchronize());
}

void settle(const bench *b) {
    for (const gpu &g : b->side) {
        must_cuda(cudaSetDevice(g.ordinal));
        must_cuda(cudaDeviceSynchronize());
    }
}

void report(bench *b, const char *what, figure f, double amount, const char *unit, const char *key) {
    printf("%-44s %10.3f ms (%.3f .. %.3f) %9.2f %s\n", what, f.median * 1e3, f.least * 1e3, f.most * 1e3,
           amount / f.median / 1e9, unit);
    fflush(stdout);
    if (!b->json) return;
    fprintf(b->json, "%s\n  {\"what\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, \"%s\": %.6g}",
            b->between, what, f.median, f.least, f.most, key, amount / f.median);
    b->between = ",";
}

/* Copies of whole arrays, both ways or one; the clock runs over the wait for them. */
void copies(bench *b, bool both) {
    double seconds[MOST_REPEATS];
    const gpu *const g = b->side;
    for (uint32_t r = 0; r <= b->set.repeat; r++) {
        settle(b);
        const double start = now();
        for (int from = 0; from <= both; from++)
            must_cuda(cudaMemcpyPeerAsync(g[!from].to, g[!from].ordinal, g[from].from, g[from].ordinal, b->copy_bytes,
                                          g[from].stream));
        for (int from = 0; from <= both; from++) must_cuda(cudaStreamSynchronize(g[from].stream));
        if (r) seconds[r - 1] = now() - start; /* the first warms up */
    }
    for (int to = both ? 0 : 1; to < 2; to++) {
        unsigned long long wrong;
        must_cuda(cudaSetDevice(g[to].ordinal));
        count_wrong<<<BLOCKS, THREADS>>>(g[to].to, b->copy_bytes / 4, (uint64_t)!to << 40, g[to].wrong);
        must_cuda(cudaMemcpy(&wrong, g[to].wrong, sizeof wrong, cudaMemcpyDeviceToHost));
        if (wrong) {
            fprintf(stderr, "peer_bench: %llu words of a copy to cuda:%d are wrong\n", wrong, g[to].ordinal);
            exit(3);
        }
        must_cuda(cudaMemset(g[to].to, 0, b->copy_bytes));
    }
    report(b, both ? "copies both ways, a direction" : "copy one way", figure_of(seconds, b->set.repeat),
           (double)b->copy_bytes, "GB/s", "bytes_per_s");
}

uint32_t expected_sum(const bench *b, uint64_t thread) {
    uint32_t all = 0;
    for (uint32_t read = 0; read < READS; read++) all += word_at(place_of(thread, read, b->words));
    return all;
}

/* By one GPU, or by both at once; of the other's table or of its own. */
void reads(bench *b, bool peers, bool both) {
    const uint64_t threads = (uint64_t)BLOCKS * THREADS;
    double seconds[MOST_REPEATS];
    std::vector<uint32_t> sum(threads);
    char what[64];
    for (uint32_t r = 0; r <= b->set.repeat; r++) {
        settle(b);
        const double start = now();
        for (int by = 0; by <= both; by++) {
            const gpu *const g = &b->side[by];
            must_cuda(cudaSetDevice(g->ordinal));
            read_at_random<<<BLOCKS, THREADS, 0, g->stream>>>(b->side[peers ? !by : by].table, b->words, g->sum);
            must_cuda(cudaGetLastError());
        }
        for (int by = 0; by <= both; by++) must_cuda(cudaStreamSynchronize(b->side[by].stream));
        if (r) seconds[r - 1] = now() - start;
    }
    for (int by = 0; by <= both; by++) {
        must_cuda(cudaSetDevice(b->side[by].ordinal));
        must_cuda(cudaMemcpy(sum.data(), b->side[by].sum, threads * sizeof(uint32_t), cudaMemcpyDeviceToHost));
        for (uint64_t thread = 0; thread < threads; thread += 97) {
            if (sum[thread] == expected_sum(b, thread)) continue;
            fprintf(stderr, "peer_bench: reads of %s memory by cuda:%d: the sum of thread %llu is wrong\n",
                    peers ? "the peer's" : "its own", b->side[by].ordinal, (unsigned long long)thread);
            exit(3);
        }
    }
    snprintf(what, sizeof what, "4-byte reads of %s memory, %s", peers ? "the peer's" : "its own",
             both ? "both GPUs, each" : "one GPU");
    report(b, what, figure_of(seconds, b->set.repeat), (double)(threads * READS), "G reads/s", "reads_per_s");
}

void head(bench *b) {
    cudaDeviceProp one, other;
    const settings *const s = &b->set;
    must_cuda(cudaGetDeviceProperties(&one, (int)s->first));
    must_cuda(cudaGetDeviceProperties(&other, (int)s->second));
    printf("cuda:%u %s and cuda:%u %s, copies of %u MiB, reads from %u MiB, 1 warm-up, median of %u\n", s->first,
           one.name, s->second, other.name, s->copy_mib, s->read_mib, s->repeat);
    if (!s->json) return;
    b->json = fopen(s->json, "w");
    if (!b->json) {
        perror(s->json);
        exit(1);
    }
    fprintf(b->json,
            "{\"version\": \"%s\", \"commit\": \"%s\", \"machine\": {\"gpus\": [\"%s\", \"%s\"]},\n \"first\": %u, "
            "\"second\": %u, \"copy_mib\": %u, \"read_mib\": %u, \"repeat\": %u, \"rows\": [",
            csaw_version(), s->commit, one.name, other.name, s->first, s->second, s->copy_mib, s->read_mib, s->repeat);
}

} // namespace

int main(int argc, char **argv) {
    bench b = {};
    settings *const s = &b.set;
    *s = settings();
    const bench_option options[] = {{"--first", &s->first, nullptr},       {"--second", &s->second, nullptr},
                                    {"--copy-mib", &s->copy_mib, nullptr}, {"--read-mib", &s->read_mib, nullptr},
                                    {"--repeat", &s->repeat, nullptr},     {"--json", nullptr, &s->json},
                                    {"--commit", nullptr, &s->commit}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "peer_bench", "bench/peers_gpu.cu");
    if (!s->repeat || s->repeat > MOST_REPEATS || !s->copy_mib || !s->read_mib || s->read_mib > MOST_READ_MIB) {
        fprintf(stderr, "peer_bench: --repeat is 1 .. %d, --copy-mib at least 1, --read-mib 1 .. %d\n", MOST_REPEATS,
                MOST_READ_MIB);
        return 2;
    }
    b.between = "";
    b.copy_bytes = (uint64_t)s->copy_mib << 20;
    b.words = ((uint64_t)s->read_mib << 20) / 4;
    head(&b);
    open(&b, 0, s->first);
    open(&b, 1, s->second);
    reach((int)s->first, (int)s->second);
    reach((int)s->second, (int)s->first);
    copies(&b, false);
    copies(&b, true);
    reads(&b, false, false);
    reads(&b, true, false);
    reads(&b, true, true);
    if (b.json) fputs("]}\n", b.json);
    if (b.json && fclose(b.json) != 0) {
        perror(s->json);
        return 1;
    }
    return 0;
}
