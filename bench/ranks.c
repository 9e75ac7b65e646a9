/* SPDX-License-Identifier: MIT */
/* bench/ranks.c - walks by the ranks of an MPI job on an R-MAT graph that each holds whole, or that is split over them:
 * steps a second by the slowest rank's time of csaw_sample(), and of a split graph what a step sends: messages of each
 * kind, bytes, and bytes of a batch. Every row is verified: a sum over the walks of all ranks is that of one process,
 * on the CPU.
 *
 *   mpirun -n 2 ranks_bench [--scale 20] [--edge-factor 16] [--seed 1] [--vertices 0] [--walks-per-vertex 1]
 *                           [--length 80] [--device cpu] [--threads 0] [--split 0] [--exchange 0] [--repeat 3]
 *                           [--only WALKS] [--json FILE] [--commit TEXT]
 *
 * --vertices: walks start from the first N, 0 = all; --device, --threads, --split, --exchange: as csaw_plan_options has
 * them, so that "all" is a GPU for each rank, and a list of GPUs those of one rank; --only: uniform, biased, node2vec,
 * with commas between. */
#include <csaw/samplers.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "runtime/engine/spread.h"

enum { MOST_REPEATS = 100 };

typedef struct settings {
    uint32_t scale, edge_factor, seed, vertices, walks_per_vertex, length, threads, split, exchange, repeat;
    const char *device, *only, *json, *commit;
} settings;

typedef struct walk {
    const char *name;
    const csaw_sampler *sampler;
    const void *params;
} walk;

typedef struct bench {
    const settings *settings;
    const csaw_graph *graph;
    csaw_seeds seeds;
    int rank, ranks;
    FILE *json; /* of rank 0 */
    const char *between;
} bench;

/* One rank's failure ends the job: the others may wait for it. */
static void all_must(const bench *b, csaw_status status) {
    if (status == CSAW_OK) return;
    fprintf(stderr, "ranks_bench: rank %d: %s: %s\n", b->rank, csaw_status_text(status), csaw_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static csaw_status draw(const bench *b, const walk *walk, csaw_plan *plan, csaw_samples **out) {
    const settings *const s = b->settings;
    return csaw_sample(plan, walk->sampler, walk->params, &b->seeds,
                       CSAW_RUN(.depth = s->length, .walks_per_seed = s->walks_per_vertex, .seed = s->seed), out);
}

/* A sum over walks, each with its number and the order of its vertices (FNV-1a, by words), so that shares add up. */
static uint64_t sum_of(const bench *b, csaw_samples *samples) {
    csaw_walks walks;
    uint64_t sum = 0;
    all_must(b, csaw_samples_walks(samples, CSAW_HOST, &walks));
    const uint64_t places = (uint64_t)walks.length + 1;
#pragma omp parallel for reduction(+ : sum)
    for (uint64_t w = 0; w < walks.num_walks; w++) {
        uint64_t hash = 0xcbf29ce484222325 ^ (walks.first + w);
        for (uint64_t i = 0; i < places; i++) hash = (hash ^ walks.path[w * places + i]) * 0x100000001b3;
        sum += hash ^ hash >> 29;
    }
    return sum;
}

static void verify(const bench *b, const walk *walk, csaw_samples *samples) {
    uint64_t mine = sum_of(b, samples), all = 0, one = 0;
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (b->rank == 0) {
        csaw_plan *cpu = NULL;
        csaw_samples *expected = NULL;
        all_must(b, csaw_plan_create(b->graph, NULL, &cpu));
        all_must(b, draw(b, walk, cpu, &expected));
        one = sum_of(b, expected);
        csaw_samples_free(expected);
        csaw_plan_free(cpu);
    }
    if (all != one) { /* elsewhere both are 0 */
        fprintf(stderr, "ranks_bench: %s: the walks of %d ranks differ from those of one process\n", walk->name,
                b->ranks);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What all ranks sent; on rank 0. */
static csaw__spread_counts sent_by_all(const csaw_plan *plan) {
    csaw__spread_counts mine = {0}, all = {0};
    if (plan->spread) mine = plan->spread->counts;
    MPI_Reduce(&mine.batches, &all.batches, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine.bytes, &all.bytes, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine.messages, all.messages, CSAW__MESSAGE_KINDS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine.most_here, &all.most_here, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
}

static void report(bench *b, const walk *walk, figure f, const csaw__spread_counts *sent) {
    const settings *const s = b->settings;
    const uint64_t steps = b->seeds.count * s->walks_per_vertex * s->length;
    const double per = 1 / (double)steps;
    const struct {
        const char *name;
        uint32_t kind;
    } kinds[] = {{"walkers", CSAW__WALKER},
                 {"asking", CSAW__ASKING},
                 {"records", CSAW__RECORD},
                 {"questions", CSAW__QUESTION},
                 {"answers", CSAW__ANSWER}};
    printf("%-9s %9.3f ms (%.3f .. %.3f) %9.2f M steps/s\n", walk->name, f.median * 1e3, f.least * 1e3, f.most * 1e3,
           (double)steps / f.median / 1e6);
    if (sent->batches) {
        printf("    %.2f bytes a step, in batches of %.0f; messages a step:", (double)sent->bytes * per,
               (double)sent->bytes / (double)sent->batches);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            printf("%s %.3f %s", i ? "," : "", (double)sent->messages[kinds[i].kind] * per, kinds[i].name);
        printf("; %llu walkers at a rank at most\n", (unsigned long long)sent->most_here);
    }
    fflush(stdout);
    if (!b->json) return;
    fprintf(b->json,
            "%s\n  {\"walk\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, \"steps\": %llu, "
            "\"steps_per_s\": %.6g, \"batches\": %llu, \"bytes\": %llu, \"bytes_per_step\": %.4g",
            b->between, walk->name, f.median, f.least, f.most, (unsigned long long)steps, (double)steps / f.median,
            (unsigned long long)sent->batches, (unsigned long long)sent->bytes, (double)sent->bytes * per);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(b->json, ", \"%s_per_step\": %.4g", kinds[i].name, (double)sent->messages[kinds[i].kind] * per);
    fputc('}', b->json);
    b->between = ",";
}

static void bench_walk(bench *b, const walk *walk) {
    const settings *const s = b->settings;
    MPI_Comm world = MPI_COMM_WORLD;
    double seconds[MOST_REPEATS];
    csaw__spread_counts sent = {0};
    csaw_plan *plan = NULL;
    all_must(b, csaw_plan_create(b->graph,
                                 CSAW_PLAN(.device = s->device, .threads = (int)s->threads, .communicator = &world,
                                           .split = s->split != 0, .exchange = s->exchange != 0),
                                 &plan));
    for (uint32_t r = 0; r <= s->repeat; r++) { /* run 0 warms up, is verified and counted */
        csaw_samples *samples = NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = now();
        all_must(b, draw(b, walk, plan, &samples));
        const double mine = now() - start;
        if (r) MPI_Reduce(&mine, &seconds[r - 1], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (!r) sent = sent_by_all(plan);
        if (!r) verify(b, walk, samples);
        csaw_samples_free(samples);
    }
    csaw_plan_free(plan);
    if (b->rank == 0) report(b, walk, figure_of(seconds, s->repeat), &sent);
}

static settings read_settings(int argc, char **argv) {
    settings s = {.scale = 20, .edge_factor = 16, .seed = 1, .walks_per_vertex = 1, .length = 80, .repeat = 3};
    s.device = "cpu";
    s.commit = "not given";
    const bench_option options[] = {
        {"--scale", &s.scale, NULL},       {"--edge-factor", &s.edge_factor, NULL},
        {"--seed", &s.seed, NULL},         {"--walks-per-vertex", &s.walks_per_vertex, NULL},
        {"--vertices", &s.vertices, NULL}, {"--length", &s.length, NULL},
        {"--repeat", &s.repeat, NULL},     {"--threads", &s.threads, NULL},
        {"--split", &s.split, NULL},       {"--exchange", &s.exchange, NULL},
        {"--device", NULL, &s.device},     {"--only", NULL, &s.only},
        {"--json", NULL, &s.json},         {"--commit", NULL, &s.commit}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "ranks_bench", "bench/ranks.c");
    if (s.repeat && s.repeat <= MOST_REPEATS && s.length && s.walks_per_vertex) return s;
    fprintf(stderr, "ranks_bench: --repeat is 1 .. %d, --length and --walks-per-vertex at least 1\n", MOST_REPEATS);
    exit(2);
}

/* Of rank 0. */
static void begin(bench *b) {
    const settings *const s = b->settings;
    const csaw_csr csr = csaw_graph_csr(b->graph);
    printf("csaw %s, %d ranks%s, R-MAT %u with weights, edge factor %u, seed %u: %llu vertices, %llu arcs; %u walks "
           "from each of %llu vertices, %u steps, device %s, 1 warm-up, median of %u\n",
           csaw_version(), b->ranks, s->split ? ", the graph split" : "", s->scale, s->edge_factor, s->seed,
           (unsigned long long)csr.num_vertices, (unsigned long long)csr.num_edges, s->walks_per_vertex,
           (unsigned long long)b->seeds.count, s->length, s->device, s->repeat);
    if (!s->json) return;
    b->json = fopen(s->json, "w");
    if (!b->json) {
        perror(s->json);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fprintf(b->json, "{\"version\": \"%s\", \"commit\": \"%s\", ", csaw_version(), s->commit);
    machine_put(b->json, s->device);
    fprintf(b->json,
            ",\n \"ranks\": %d, \"split\": %s, \"exchange\": %s, \"graph\": {\"kind\": \"rmat\", \"scale\": %u, "
            "\"edge_factor\": %u, \"seed\": %u, \"vertices\": %llu, \"arcs\": %llu},\n \"seed\": %u, "
            "\"walks_per_vertex\": %u, \"start_vertices\": %llu, \"length\": %u, \"device\": \"%s\", \"repeat\": %u, "
            "\"rows\": [",
            b->ranks, s->split ? "true" : "false", s->exchange ? "true" : "false", s->scale, s->edge_factor, s->seed,
            (unsigned long long)csr.num_vertices, (unsigned long long)csr.num_edges, s->seed, s->walks_per_vertex,
            (unsigned long long)b->seeds.count, s->length, s->device, s->repeat);
}

static void run(const settings *s, int rank, int ranks) {
    static const csaw_node2vec_params params = {.p = .25f, .q = 4};
    const walk walks[] = {
        {"uniform", &csaw_uniform, NULL}, {"biased", &csaw_biased, NULL}, {"node2vec", &csaw_node2vec, &params}};
    bench b = {.settings = s, .rank = rank, .ranks = ranks, .between = ""};
    csaw_graph *graph = NULL;
    all_must(&b, csaw_graph_rmat(
                     CSAW_RMAT(.scale = s->scale, .edge_factor = s->edge_factor, .seed = s->seed, .weighted = true),
                     &graph));
    const uint64_t vertices = csaw_graph_csr(graph).num_vertices;
    b.graph = graph;
    b.seeds.count = s->vertices && s->vertices < vertices ? s->vertices : vertices;
    if (rank == 0) begin(&b);
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++)
        if (!s->only || bench_list_names(s->only, ',', walks[i].name)) bench_walk(&b, &walks[i]);
    if (b.json) fputs("]}\n", b.json);
    if (b.json && fclose(b.json) != 0) {
        perror(s->json);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    csaw_graph_free(graph);
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    int rank = 0, ranks = 1, level;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    run(&s, rank, ranks);
    MPI_Finalize();
    return 0;
}
