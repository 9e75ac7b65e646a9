/* SPDX-License-Identifier: MIT */
/* bench/selection.c - ways to pick k neighbours without replacement, counted, timed, and held to the law: C-SAW's
 * figures 10 to 12 (Pandey et al., SC'20, section VI-B) again, on any graph file, biased by the degree of the
 * neighbour, or not.
 *
 *   selection_bench GRAPH [--vertices 20000] [--spare 1] [--name TEXT] [--commit TEXT] [--json FILE]
 *                   [--device cpu] [--instances 2000]
 *
 * GRAPH is read as undirected. Rows: those of k + --spare neighbours or more among --vertices random vertices,
 * with repetitions. `repeated` throws a taken candidate away and draws again; `updated` takes it out and sums again;
 * `printed` is the bipartite region search as the paper prints it; `fresh` is csaw's, with a fresh number beside the
 * region. They are written in selection_ways.c, apart from the library, one pick after the other, so that nothing but
 * the search differs. Exits non-zero if a way but `printed` seems to miss the law: |z| of chi-square 4 or more.
 *
 * With --device cuda:N it is selection_on_device.c that runs: the same ways by warps, k lanes at once, on those rows
 * and on what neighbour, forest fire and layer sampling pick from by so many --instances (2000,20000,200000,2000000).
 *
 * For a round of k lanes that set their bits at once, as on a GPU, it is counted how many wait for another that sets a
 * bit in the same 8-bit word, with neighbouring candidates' bits in one word (contiguous) or scattered (strided). */
#include <csaw/csaw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "bench/selection_on_device.h"
#include "bench/selection_ways.h"

enum { REPEAT = 5 };

typedef struct result {
    double trials, error, searches, linear; /* a pick; error: of the mean number of trials, standard, by rows */
    double z;
    figure time; /* of sums and picks, a whole pass, of the CPU */
} result;

typedef struct waits {
    uint64_t same, contiguous, strided; /* lanes that name the candidate of an earlier lane; a bit in its word */
} waits;

typedef struct job {
    csaw_csr csr;
    const csaw_vertex *vertex; /* [num_rows] */
    uint64_t num_rows;
    uint32_t k;
    bool biased;
    row row;
} job;

static void load_row(job *j, csaw_vertex v) {
    const csaw_csr *csr = &j->csr;
    double sum = 0;
    j->row.n = (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]);
    for (uint32_t i = 0; i < j->row.n; i++) {
        const csaw_vertex u = csr->col[csr->rowptr[v] + i];
        j->row.upto[i] = sum += j->biased ? (double)(csr->rowptr[u + 1] - csr->rowptr[u]) : 1;
    }
}

static result count(job *j, way way) {
    uint32_t picks[MOST_PICKS];
    uint64_t bin[BINS] = {0};
    counts c = {0};
    double squares = 0;
    seed_numbers(1);
    for (uint64_t i = 0; i < j->num_rows; i++) {
        const uint64_t trials = c.trials;
        load_row(j, j->vertex[i]);
        pick(&j->row, way, j->k, picks, &c);
        squares += pow((double)(c.trials - trials), 2);
        place(&j->row, picks, j->k, bin);
    }
    const double rows = (double)j->num_rows, picked = rows * j->k, mean = (double)c.trials / rows;
    return (result){.trials = mean / j->k,
                    .error = sqrt(fmax(squares / rows - mean * mean, 0) / rows) / j->k,
                    .searches = (double)c.searches / picked,
                    .linear = (double)c.linear / picked,
                    .z = z_of(bin)};
}

static figure time_of(job *j, way way) { /* NUM_WAYS: of the sums alone */
    uint32_t picks[MOST_PICKS];
    double seconds[REPEAT];
    counts unused = {0};
    for (uint32_t pass = 0; pass <= REPEAT; pass++) { /* the first warms up */
        const clock_t begin = clock();                /* of the CPU, as others may use the machine */
        seed_numbers(1);
        for (uint64_t i = 0; i < j->num_rows; i++) {
            load_row(j, j->vertex[i]);
            if (way < NUM_WAYS) pick(&j->row, way, j->k, picks, &unused);
        }
        if (pass) seconds[pass - 1] = (double)(clock() - begin) / CLOCKS_PER_SEC;
    }
    return figure_of(seconds, REPEAT);
}

static waits waits_of(job *j) {
    uint32_t candidate[MOST_PICKS];
    waits out = {0};
    seed_numbers(2);
    for (uint64_t i = 0; i < j->num_rows; i++) {
        load_row(j, j->vertex[i]);
        const row *r = &j->row;
        const uint32_t words = (r->n + 7) / 8;
        for (uint32_t l = 0; l < j->k; l++) {
            bool same = false, contiguous = false, strided = false;
            candidate[l] = find(r->upto, r->n, number() * r->upto[r->n - 1]);
            for (uint32_t m = 0; m < l; m++) {
                same |= candidate[l] == candidate[m];
                contiguous |= candidate[l] / 8 == candidate[m] / 8;
                strided |= candidate[l] % words == candidate[m] % words;
            }
            out.same += same;
            out.contiguous += contiguous;
            out.strided += strided;
        }
    }
    return out;
}

/* ---- the report ---- */

static void put_time(FILE *json, const char *name, figure time, double picks) {
    fprintf(json, ", \"%s\": [%.4g, %.4g, %.4g]", name, time.median / picks * 1e9, time.least / picks * 1e9,
            time.most / picks * 1e9);
}

/* False if a way that has the law seems to miss it. */
static bool report(job *j, bool first, FILE *json) {
    const double rows = (double)j->num_rows, picks = rows * j->k;
    const waits w = waits_of(j);
    bool good = true;
    fprintf(json,
            "%s\n{\"bias\": \"%s\", \"k\": %u, \"rows\": %.0f, \"same\": %.5g, \"contiguous\": %.5g, \"strided\": %.5g",
            first ? "" : ",", j->biased ? "degree" : "none", j->k, rows, (double)w.same / rows,
            (double)w.contiguous / rows, (double)w.strided / rows);
    put_time(json, "sums_ns", time_of(j, NUM_WAYS), picks);
    fputs(", \"ways\": {", json);
    for (int way = 0; way < NUM_WAYS; way++) {
        result r = count(j, (enum way)way);
        r.time = time_of(j, (enum way)way);
        const bool follows = fabs(r.z) < Z_THRESHOLD;
        good &= follows || way == PRINTED;
        printf("%-6s %3u %7.0f %-8s %8.3f +- %-6.3f %8.3f %10.3f %8.1f %-4s %8.1f\n", j->biased ? "degree" : "none",
               j->k, rows, way_name[way], r.trials, r.error, r.searches, r.linear, r.z, follows ? "" : "OFF",
               r.time.median / picks * 1e9);
        fprintf(json,
                "%s\n \"%s\": {\"trials\": %.6g, \"error\": %.3g, \"searches\": %.6g, \"linear\": %.6g, \"z\": %.4g",
                way ? "," : "", way_name[way], r.trials, r.error, r.searches, r.linear, r.z);
        put_time(json, "ns", r.time, picks);
        fputs("}", json);
    }
    fputs("}}", json);
    printf("       lanes that wait in a round of %u: %.3f contiguous, %.3f strided, %.3f for the same candidate\n",
           j->k, (double)w.contiguous / rows, (double)w.strided / rows, (double)w.same / rows);
    return good;
}

typedef struct settings {
    const char *path, *name, *commit, *json, *device, *instances;
    uint32_t vertices, spare;
} settings;

static settings read_settings(int argc, char **argv) {
    settings s = {.vertices = 20000, .spare = 1, .name = "graph", .commit = "not given", .device = "cpu"};
    s.json = "/dev/null";
    s.instances = "2000";
    const bench_option options[] = {{"--vertices", &s.vertices, NULL}, {"--spare", &s.spare, NULL},
                                    {"--name", NULL, &s.name},         {"--commit", NULL, &s.commit},
                                    {"--device", NULL, &s.device},     {"--instances", NULL, &s.instances},
                                    {"--json", NULL, &s.json}};
    if (argc > 1)
        bench_options_read(argc - 1, argv + 1, options, sizeof options / sizeof *options, "selection_bench",
                           "bench/selection.c");
    if (argc < 2 || s.vertices < 1000 || s.vertices > 10000000) {
        fputs("selection_bench: give a graph file first, --vertices from 1,000 to 10,000,000\n", stderr);
        exit(2);
    }
    s.path = argv[1];
    return s;
}

int main(int argc, char **argv) {
    static const uint32_t ks[] = {2, 4, 8, 16, 32};
    const settings s = read_settings(argc, argv);
    csaw_graph *graph = NULL;
    must(csaw_graph_load(s.path, CSAW_LOAD(.undirected = true), &graph));
    job j = {.csr = csaw_graph_csr(graph)};
    uint64_t widest = 0;
    for (uint64_t v = 0; v < j.csr.num_vertices; v++) {
        const uint64_t n = j.csr.rowptr[v + 1] - j.csr.rowptr[v];
        widest = n > widest ? n : widest;
    }
    const csaw_csr *csr = &j.csr;
    csaw_vertex *drawn = malloc(s.vertices * sizeof *drawn), *wide = malloc(s.vertices * sizeof *wide);
    j.row =
        (row){0, malloc((widest + 1) * sizeof(double)), malloc((widest + 1) * sizeof(double)), calloc(widest + 1, 1)};
    if (!drawn || !wide || !j.row.upto || !j.row.left || !j.row.taken) must(CSAW_ENOMEM);
    FILE *json = fopen(s.json, "w");
    if (!json) {
        perror(s.json);
        return 1;
    }
    const bool on_device = strcmp(s.device, "cpu") != 0;
    seed_numbers(3);
    for (uint32_t i = 0; i < s.vertices; i++) drawn[i] = (csaw_vertex)(number() * (double)csr->num_vertices);
    fprintf(json, "{\"kind\": \"%s\", \"device\": \"%s\", \"version\": \"%s\", \"commit\": \"%s\", ",
            on_device ? "selection_device" : "selection", s.device, csaw_version(), s.commit);
    machine_put(json, s.device);
    fprintf(json,
            ", \"name\": \"%s\", \"vertices\": %llu, "
            "\"arcs\": %llu, \"widest\": %llu, \"drawn\": %llu, \"spare\": %llu, \"bins\": %d, \"rows\": [",
            s.name, (unsigned long long)csr->num_vertices, (unsigned long long)csr->rowptr[csr->num_vertices],
            (unsigned long long)widest, (unsigned long long)s.vertices, (unsigned long long)s.spare, BINS);
    printf("%s, csaw %s, %s; a pick:\n", s.name, csaw_version(), s.device);
    if (!on_device)
        printf("%-6s %3s %7s %-8s %18s %8s %10s %8s %-4s %8s\n", "bias", "k", "rows", "way", "trials", "searches",
               "linear", "z of law", "", "ns");
    bool first = true, good = true;
    if (on_device) good = selection_on_device(s.device, csr, drawn, s.vertices, s.spare, s.instances, json);
    for (int biased = 1; biased >= 0 && !on_device; biased--)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            j.vertex = wide;
            j.num_rows = 0;
            j.k = ks[i];
            j.biased = biased;
            for (uint64_t d = 0; d < s.vertices; d++)
                if (csr->rowptr[drawn[d] + 1] - csr->rowptr[drawn[d]] >= j.k + s.spare) wide[j.num_rows++] = drawn[d];
            if (j.num_rows < 10 * BINS) continue; /* too few for chi-square */
            good &= report(&j, first, json);
            first = false;
        }
    if (fputs("]}\n", json) < 0 || fclose(json) != 0) return 1;
    if (!good) fputs("selection_bench: repeated, updated or fresh is off the law\n", stderr);
    free(drawn);
    free(wide);
    free(j.row.upto);
    free(j.row.left);
    free(j.row.taken);
    csaw_graph_free(graph);
    return good ? 0 : 1;
}
