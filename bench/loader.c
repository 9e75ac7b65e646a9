/* SPDX-License-Identifier: MIT */
/* bench/loader.c - minibatches by csaw_loader_next(): batches a second by phase, and with the next batch made while
 * this one is aggregated.
 *
 *   loader_bench [--device cpu] [--scale 16] [--edge-factor 16] [--cols 128] [--batch 1024] [--batches 20]
 *                [--host-features 0] [--cache 0] [--threads 0] [--repeat 5] [--commit TEXT]
 *
 * R-MAT (symmetric, seed 1), fanout 15 and 10, float32 features. A batch's work is the mean over each of its two
 * blocks, forward and backward. Phases are what the loader does, called one after the other: `sample`, `blocks`,
 * `gather`, `aggregate`. `in turn` is the loader with in_flight 1 and the work, `overlapped` with 2. --threads: of the
 * loader; aggregation takes OMP_NUM_THREADS. Of a GPU: --host-features 1 leaves the features in page-locked memory of
 * the host, --cache is the loader's cache_bytes then, which `gather`, by csaw_gather(), does without;
 * phases are waited for, each by itself.
 *
 * `gpu_utilisation`, of a GPU: the loader goes on for UTILISATION_SECONDS, and what NVML then tells every 0.2 s, the
 * share of time in which any kernel ran, is averaged; a kernel that fills a corner of the GPU counts in full. null
 * where NVML does not tell. Nobody else is to use the GPU meanwhile.
 *
 * First every batch is checked: its rows are those of its vertices, and its digest is the same in turn and overlapped,
 * and on the CPU. Exits 3 if not. Writes JSON; seconds are those of all batches. */
#include <csaw/training.h>
#include <string.h>

#include "bench/loader_device.h"
#include "bench/measure.h"

enum { HOPS = 2, MOST_REPEATS = 100, UTILISATION_SECONDS = 3 };
static const uint32_t fanout[HOPS] = {15, 10};

typedef struct bench {
    csaw_plan *plan, *on_cpu;
    const char *device;   /* of the plan; NULL = the CPU */
    const float *on_host; /* [vertices, cols] */
    csaw_dense x;         /* the same, where the plan has it */
    uint64_t cols, batch, batches, cache;
    float *y, *dx; /* of the larger block */
    uint64_t y_room, dx_room;
} bench;

static void *memory(uint64_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p) exit(1);
    return p;
}

/* Where the plan is. */
static void *take(const bench *b, uint64_t bytes) { return b->device ? loader_device_take(bytes) : memory(bytes, 1); }
static void give(const bench *b, void *at) { (b->device ? loader_device_give : free)(at); }

/* To the host; freed with free(). */
static void *fetch(csaw_space space, const void *from, uint64_t bytes) {
    void *const out = memory(bytes, 1);
    if (space == CSAW_DEVICE)
        loader_device_copy(out, from, bytes);
    else
        memcpy(out, from, bytes);
    return out;
}

static csaw_dense room(const bench *b, float **array, uint64_t *has, uint64_t rows) {
    if (rows * b->cols > *has) {
        give(b, *array);
        *has = rows * b->cols * 5 / 4;
        *array = take(b, *has * sizeof **array);
    }
    return (csaw_dense){.rows = rows, .cols = b->cols, .data = *array};
}

/* The mean over block 1 of the features and over block 0 of as many first rows of them, and their gradients. */
static void aggregate(bench *b, const csaw_blocks *blocks, const csaw_dense *features) {
    const csaw_spmm_options mean = {.size = sizeof mean, .reduce = CSAW_MEAN, .device = b->device};
    for (uint32_t d = HOPS; d-- > 0;) {
        csaw_block_view block;
        must(csaw_blocks_look(blocks, 0, d, &block));
        const csaw_sparse a = csaw_block_sparse(&block, NULL);
        const csaw_dense x = {.rows = block.num_src, .cols = b->cols, .data = features->data};
        const csaw_dense y = room(b, &b->y, &b->y_room, block.num_dst);
        const csaw_dense dx = room(b, &b->dx, &b->dx_room, block.num_src);
        must(csaw_spmm(&a, &x, &mean, &y));
        must(csaw_spmm_backward(&a, NULL, &y, &mean, &dx, NULL));
    }
}

static csaw_loader *open(const bench *b, uint32_t in_flight, uint64_t epochs) {
    csaw_loader *loader = NULL;
    must(csaw_loader_open(b->plan, &(csaw_seeds){.count = b->batch * b->batches},
                          CSAW_LOADER(.batch_size = b->batch, .depth = HOPS, .fanout = fanout, .features = &b->x,
                                      .epochs = epochs, .seed = 1, .in_flight = in_flight, .cache_bytes = b->cache),
                          &loader));
    return loader;
}

/* ---- verify ---- */

static uint64_t mix(uint64_t digest, uint64_t value) { return (digest ^ value) * 0x9e3779b97f4a7c15u + (digest >> 29); }

static uint64_t digest_of(const bench *b, const csaw_minibatch *batch) {
    uint64_t digest = mix(batch->number, batch->num_vertices);
    csaw_vertex *const vertex = fetch(batch->space, batch->vertex, batch->num_vertices * sizeof *vertex);
    float *const rows = fetch(batch->space, batch->features.data, batch->num_vertices * b->cols * sizeof *rows);
    for (uint64_t i = 0; i < batch->num_vertices; i++) {
        if (memcmp(rows + i * b->cols, b->on_host + vertex[i] * b->cols, b->cols * sizeof *rows) != 0) {
            fprintf(stderr, "loader_bench: row %llu of batch %llu is not that of its vertex\n", (unsigned long long)i,
                    (unsigned long long)batch->number);
            exit(3);
        }
        digest = mix(digest, vertex[i]);
    }
    free(vertex);
    free(rows);
    for (uint32_t d = 0; d < HOPS; d++) {
        csaw_block_view block;
        must(csaw_blocks_look(batch->blocks, 0, d, &block));
        uint64_t *const rowptr = fetch(block.space, block.rowptr, (block.num_dst + 1) * sizeof *rowptr);
        csaw_vertex *const col = fetch(block.space, block.col, block.num_edges * sizeof *col);
        csaw_edge *const edge = fetch(block.space, block.edge, block.num_edges * sizeof *edge);
        for (uint64_t r = 0; r <= block.num_dst; r++) digest = mix(digest, rowptr[r]);
        for (uint64_t k = 0; k < block.num_edges; k++) digest = mix(mix(digest, col[k]), edge[k]);
        free(rowptr);
        free(col);
        free(edge);
    }
    return digest;
}

typedef struct totals {
    uint64_t vertices, arcs, cached;
} totals;

static void digests_of(const bench *b, uint32_t in_flight, uint64_t *digest, totals *of) {
    csaw_loader *const loader = open(b, in_flight, 1);
    const csaw_minibatch *batch = NULL;
    *of = (totals){0};
    for (uint64_t t = 0; t < b->batches; t++) {
        must(csaw_loader_next(loader, &batch));
        digest[t] = digest_of(b, batch);
        of->vertices += batch->num_vertices;
        of->cached += batch->cached;
        for (uint32_t d = 0; d < HOPS; d++) {
            csaw_block_view block;
            must(csaw_blocks_look(batch->blocks, 0, d, &block));
            of->arcs += block.num_edges;
        }
    }
    csaw_loader_close(loader);
}

static totals verify(const bench *b) {
    bench cpu = *b;
    uint64_t *const want = memory(b->batches, sizeof *want), *const got = memory(b->batches, sizeof *got);
    totals out;
    cpu.plan = b->on_cpu;
    cpu.device = NULL;
    cpu.cache = 0;
    cpu.x.data = (void *)(uintptr_t)b->on_host;
    digests_of(&cpu, 1, want, &out);
    for (uint32_t in_flight = 1; in_flight <= 2; in_flight++) {
        digests_of(b, in_flight, got, &out);
        for (uint64_t t = 0; t < b->batches; t++) {
            if (got[t] == want[t]) continue;
            fprintf(stderr, "loader_bench: batch %llu is another one with %u in flight\n", (unsigned long long)t,
                    in_flight);
            exit(3);
        }
    }
    free(want);
    free(got);
    return out;
}

/* ---- time ---- */

typedef struct phases {
    double sample[MOST_REPEATS], blocks[MOST_REPEATS], gather[MOST_REPEATS], aggregate[MOST_REPEATS];
    double in_turn[MOST_REPEATS], overlapped[MOST_REPEATS];
} phases;

static void wait_for(const bench *b) {
    if (b->device) loader_device_wait();
}

/* Adds the time since *begun, which is then now. */
static void lap(const bench *b, double *begun, double *seconds) {
    wait_for(b);
    const double end = now();
    *seconds += end - *begun;
    *begun = end;
}

static void time_phases(bench *b, const csaw_vertex *seed, phases *out, uint32_t r) {
    const csaw_space space = b->device ? CSAW_DEVICE : CSAW_HOST;
    const csaw_gather_options how = {.size = sizeof how, .device = b->device};
    float *rows = NULL;
    uint64_t rows_room = 0;
    for (uint64_t t = 0; t < b->batches; t++) {
        const uint64_t offset[] = {0, b->batch};
        const csaw_seeds pool = {.vertex = seed + t * b->batch, .count = 1, .offset = offset};
        csaw_samples *samples = NULL;
        csaw_blocks *blocks = NULL;
        csaw_block_view block;
        double begun = now();
        must(csaw_sample(b->plan, &csaw_neighbor_again, NULL, &pool,
                         CSAW_RUN(.depth = HOPS, .fanout = fanout, .seed = t), &samples));
        lap(b, &begun, &out->sample[r]);
        must(csaw_blocks_create_in(samples, space, &blocks));
        csaw_samples_free(samples);
        must(csaw_blocks_look(blocks, 0, HOPS - 1, &block));
        lap(b, &begun, &out->blocks[r]);
        const csaw_dense x = room(b, &rows, &rows_room, block.num_src);
        begun = now();
        must(csaw_gather(&b->x, block.vertex, block.num_src, &how, &x));
        lap(b, &begun, &out->gather[r]);
        aggregate(b, blocks, &x);
        lap(b, &begun, &out->aggregate[r]);
        csaw_blocks_free(blocks);
    }
    give(b, rows);
}

static double time_loader(bench *b, uint32_t in_flight) {
    const csaw_minibatch *batch = NULL;
    csaw_loader *const loader = open(b, in_flight, 1);
    const double begun = now();
    for (uint64_t t = 0; t < b->batches; t++) {
        must(csaw_loader_next(loader, &batch));
        aggregate(b, batch->blocks, &batch->features);
    }
    wait_for(b);
    const double seconds = now() - begun;
    csaw_loader_close(loader);
    return seconds;
}

/* While the loader and the work go on, from their second second on; negative: not known. */
static double utilisation(bench *b, uint32_t in_flight) {
    const csaw_minibatch *batch = NULL;
    csaw_loader *const loader = open(b, in_flight, 1 << 20);
    const double begun = now();
    double asked = begun + 1, sum = 0;
    uint64_t answers = 0;
    for (double at = begun; sum >= 0 && at < begun + UTILISATION_SECONDS; at = now()) {
        must(csaw_loader_next(loader, &batch));
        aggregate(b, batch->blocks, &batch->features);
        if (at < asked) continue;
        const double busy = loader_device_busy();
        sum = busy < 0 ? busy : sum + busy;
        asked = at + 0.2;
        answers++;
    }
    wait_for(b);
    csaw_loader_close(loader);
    return answers ? sum / (double)answers : -1;
}

static void print_utilisation(bench *b) {
    const double in_turn = b->device ? utilisation(b, 1) : -1, overlapped = in_turn < 0 ? -1 : utilisation(b, 2);
    if (overlapped < 0)
        printf("  \"gpu_utilisation\": null\n");
    else
        printf("  \"gpu_utilisation\": {\"in turn\": %.2f, \"overlapped\": %.2f}\n", in_turn, overlapped);
}

static void print_figure(const char *name, double *seconds, uint32_t repeat, uint64_t batches, const char *end) {
    const figure f = figure_of(seconds, repeat);
    printf("  \"%s\": {\"median\": %.6f, \"least\": %.6f, \"most\": %.6f, \"batches_per_second\": %.1f}%s\n", name,
           f.median, f.least, f.most, (double)batches / f.median, end);
}

enum { SCALE, EDGE_FACTOR, COLS, BATCH, BATCHES, HOST_FEATURES, CACHE, THREADS, REPEAT, OPTIONS };
static const char *const option[OPTIONS] = {"--scale",         "--edge-factor", "--cols",    "--batch", "--batches",
                                            "--host-features", "--cache",       "--threads", "--repeat"};

int main(int argc, char **argv) {
    uint64_t value[OPTIONS] = {16, 16, 128, 1024, 20, 0, 0, 0, 5};
    const char *commit = "unknown", *device = NULL;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        while (o < OPTIONS && strcmp(argv[i], option[o]) != 0) o++;
        if (i + 1 < argc && o < OPTIONS) {
            value[o] = strtoull(argv[i + 1], NULL, 10);
        } else if (i + 1 < argc && !strcmp(argv[i], "--commit")) {
            commit = argv[i + 1];
        } else if (i + 1 < argc && !strcmp(argv[i], "--device")) {
            device = strcmp(argv[i + 1], "cpu") ? argv[i + 1] : NULL;
        } else {
            fprintf(stderr, "loader_bench: '%s': see the head of bench/loader.c\n", argv[i]);
            return 2;
        }
    }
    const uint32_t repeat = value[REPEAT] < MOST_REPEATS ? (uint32_t)value[REPEAT] : MOST_REPEATS;
    bench b = {.device = device, .cols = value[COLS], .batch = value[BATCH], .batches = value[BATCHES]};
    b.cache = value[CACHE];
    if (device) loader_device_use(device);
    csaw_graph *graph = NULL;
    must(csaw_graph_rmat(
        CSAW_RMAT(.scale = (uint32_t)value[SCALE], .edge_factor = (uint32_t)value[EDGE_FACTOR], .seed = 1), &graph));
    const csaw_csr csr = csaw_graph_csr(graph);
    if (!repeat || !b.cols || !b.batch || !b.batches || b.batch > csr.num_vertices / b.batches) {
        fprintf(stderr, "loader_bench: %llu batches of %llu seeds do not fit %llu vertices, or something is 0\n",
                (unsigned long long)b.batches, (unsigned long long)b.batch, (unsigned long long)csr.num_vertices);
        return 2;
    }
    must(csaw_plan_create(graph, CSAW_PLAN(.threads = (int)value[THREADS]), &b.on_cpu));
    must(csaw_plan_create(graph, CSAW_PLAN(.device = device, .threads = (int)value[THREADS]), &b.plan));
    const uint64_t elements = csr.num_vertices * b.cols;
    float *const x = memory(elements, sizeof *x);
    for (uint64_t i = 0; i < elements; i++) x[i] = (float)(i * 2654435761u % 65536) / 65536;
    b.on_host = x;
    b.x = (csaw_dense){.rows = csr.num_vertices, .cols = b.cols, .data = x};
    if (device) {
        b.x.data = (value[HOST_FEATURES] ? loader_device_take_pinned : loader_device_take)(elements * sizeof *x);
        loader_device_copy(b.x.data, x, elements * sizeof *x);
    }
    csaw_vertex *seed = memory(b.batch * b.batches, sizeof *seed);
    for (uint64_t i = 0; i < b.batch * b.batches; i++) seed[i] = (csaw_vertex)i;

    static phases p;
    const totals of = verify(&b);
    for (uint32_t r = 0; r < repeat; r++) {
        time_phases(&b, seed, &p, r);
        p.in_turn[r] = time_loader(&b, 1);
        p.overlapped[r] = time_loader(&b, 2);
    }
    printf("{\n  \"commit\": \"%s\", \"csaw\": \"%s\", \"device\": \"%s\",\n", commit, csaw_version(),
           device ? device : "cpu");
    printf("  \"vertices\": %llu, \"arcs\": %llu, \"cols\": %llu,\n", (unsigned long long)csr.num_vertices,
           (unsigned long long)csr.num_edges, (unsigned long long)b.cols);
    printf("  \"batch\": %llu, \"batches\": %llu, \"threads\": %llu, \"repeat\": %u,\n", (unsigned long long)b.batch,
           (unsigned long long)b.batches, (unsigned long long)value[THREADS], repeat);
    printf("  \"host_features\": %llu, \"cache_bytes\": %llu, \"rows_cached\": %llu,\n",
           (unsigned long long)value[HOST_FEATURES], (unsigned long long)b.cache, (unsigned long long)of.cached);
    printf("  \"vertices_of_batches\": %llu, \"arcs_of_batches\": %llu,\n", (unsigned long long)of.vertices,
           (unsigned long long)of.arcs);
    print_figure("sample", p.sample, repeat, b.batches, ",");
    print_figure("blocks", p.blocks, repeat, b.batches, ",");
    print_figure("gather", p.gather, repeat, b.batches, ",");
    print_figure("aggregate", p.aggregate, repeat, b.batches, ",");
    print_figure("in turn", p.in_turn, repeat, b.batches, ",");
    print_figure("overlapped", p.overlapped, repeat, b.batches, ",");
    print_utilisation(&b);
    printf("}\n");
    csaw_plan_free(b.plan);
    csaw_plan_free(b.on_cpu);
    csaw_graph_free(graph);
    if (device) loader_device_give(b.x.data);
    give(&b, b.y);
    give(&b, b.dx);
    free(x);
    free(seed);
    return 0;
}
