/* SPDX-License-Identifier: MIT */
/* bench/selection_on_device.c - C-SAW's figures 10 to 12 on a GPU: each search with each way to know what is taken. The
 * figures' own setting, neighbour sampling by 2,000 instances with fanouts of 2, is among the rows. */
#include "bench/selection_on_device.h"

#include <csaw/samplers.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/selection_device.h"

enum { REPEAT = 11, INSTANCES = 2000, HOPS = 2, MANY_ROWS = 10 * BINS /* enough for chi-square */ };
static const char *const looking_name[] = {"linear", "contiguous", "strided"};

typedef struct job {
    csaw_csr csr;
    const char *from;
    csaw_vertex *vertex; /* [rows] */
    uint64_t rows;
    uint32_t k;
    bool biased;
    uint64_t *upto; /* [widest] */
    row row;        /* the same in double, for the law */
    uint32_t *picks, *host;
    selection_device *device;
} job;

static void *memory(uint64_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

static uint64_t degree_of(const csaw_csr *csr, csaw_vertex v) { return csr->rowptr[v + 1] - csr->rowptr[v]; }

static void load_row(job *j, uint64_t place) {
    const csaw_vertex v = j->vertex[place];
    uint64_t sum = 0;
    j->row.n = (uint32_t)degree_of(&j->csr, v);
    for (uint32_t i = 0; i < j->row.n; i++) {
        sum += j->biased ? degree_of(&j->csr, j->csr.col[j->csr.rowptr[v] + i]) : 1;
        j->upto[i] = sum;
        j->row.upto[i] = (double)sum;
    }
}

/* What the device has is what the host makes of the same numbers: picks and counts. */
static void verify(job *j, way way, looking looking, const round_counts *got) {
    round_counts want = {0};
    for (uint64_t r = 0; r < j->rows; r++) {
        load_row(j, r);
        pick_in_rounds(j->upto, j->row.n, r, way, looking, j->k, j->host, &want);
        if (memcmp(j->host, j->picks + r * j->k, j->k * sizeof *j->host) == 0) continue;
        fprintf(stderr, "selection_bench: %s, %s: the GPU's picks of row %llu are not the host's\n", way_name[way],
                looking_name[looking], (unsigned long long)r);
        exit(3);
    }
    if (memcmp(&want, got, sizeof want) == 0) return;
    fprintf(stderr, "selection_bench: %s, %s: the GPU's counts are not the host's\n", way_name[way],
            looking_name[looking]);
    exit(3);
}

static double law(job *j) {
    uint64_t bin[BINS] = {0};
    seed_numbers(1);
    for (uint64_t r = 0; r < j->rows; r++) {
        load_row(j, r);
        place(&j->row, j->picks + r * j->k, j->k, bin);
    }
    return z_of(bin);
}

static figure time_of(job *j, way way, looking looking) {
    double seconds[REPEAT];
    for (int r = 0; r < REPEAT; r++) seconds[r] = selection_device_run(j->device, way, looking);
    return figure_of(seconds, REPEAT);
}

static void put_time(FILE *json, const char *name, figure t, double picks) {
    fprintf(json, "\"%s\": [%.4g, %.4g, %.4g]", name, t.median / picks * 1e9, t.least / picks * 1e9,
            t.most / picks * 1e9);
}

static bool report(job *j, bool first, FILE *json) {
    const double picks = (double)j->rows * j->k;
    bool good = true;
    j->picks = memory(j->rows * j->k * sizeof *j->picks);
    j->host = memory(j->k * sizeof *j->host);
    selection_device_rows(j->device, j->vertex, j->rows, j->k, j->biased);
    selection_device_run(j->device, NUM_WAYS, LINEAR); /* warms up */
    const figure sums = time_of(j, NUM_WAYS, LINEAR);
    fprintf(json, "%s\n{\"from\": \"%s\", \"bias\": \"%s\", \"k\": %u, \"rows\": %llu, ", first ? "" : ",", j->from,
            j->biased ? "degree" : "none", j->k, (unsigned long long)j->rows);
    put_time(json, "sums_ns", sums, picks);
    fputs(", \"ways\": {", json);
    for (int way = 0; way < NUM_WAYS; way++) {
        for (int looking = 0; looking < NUM_LOOKINGS; looking++) {
            selection_device_run(j->device, (enum way)way, (enum looking)looking);
            const round_counts c = selection_device_get(j->device, j->picks);
            verify(j, (enum way)way, (enum looking)looking, &c);
            const figure t = time_of(j, (enum way)way, (enum looking)looking);
            if (looking == 0) {
                const double z = law(j), rows = (double)j->rows;
                good &= fabs(z) < Z_THRESHOLD || way == PRINTED;
                printf("%-9s %-6s %3u %8.0f %-8s %8.3f %8.3f %8.3f %8.1f %-4s", j->from, j->biased ? "degree" : "none",
                       j->k, rows, way_name[way], (double)c.trials / picks, (double)c.rounds / rows,
                       (double)c.searches / picks, z, fabs(z) < Z_THRESHOLD ? "" : "OFF");
                fprintf(json,
                        "%s\n \"%s\": {\"trials\": %.6g, \"rounds_of_row\": %.6g, \"searches\": %.6g, \"z\": %.4g",
                        way ? "," : "", way_name[way], (double)c.trials / picks, (double)c.rounds / rows,
                        (double)c.searches / picks, z);
            }
            printf(" %9.3f %8.3f", (double)c.looks / picks, t.median / picks * 1e9);
            fprintf(json, ", \"%s\": {\"looks\": %.6g, ", looking_name[looking], (double)c.looks / picks);
            put_time(json, "ns", t, picks);
            fputs("}", json);
        }
        putchar('\n');
        fputs("}", json);
    }
    fputs("}}", json);
    printf("%-9s %-6s %3u sums alone: %.3f ns a pick\n", j->from, j->biased ? "degree" : "none", j->k,
           sums.median / picks * 1e9);
    fflush(stdout);
    free(j->picks);
    free(j->host);
    return good;
}

/* The rows of more than k arcs that neighbour sampling picks k of, each as often as an instance does. Freed by the
 * caller. */
static uint64_t sampled_rows(const job *j, const csaw_vertex *drawn, uint64_t num_drawn, csaw_vertex **out) {
    const uint64_t seeds = num_drawn < INSTANCES ? num_drawn : INSTANCES;
    const uint32_t fanout[HOPS] = {j->k, j->k};
    float *weight = memory(j->csr.num_edges * sizeof *weight);
    csaw_csr csr = j->csr;
    csaw_graph *graph = NULL;
    csaw_plan *plan = NULL;
    csaw_samples *samples = NULL;
    csaw_arcs view;
    uint64_t rows = 0;
    for (csaw_edge e = 0; e < csr.num_edges; e++) weight[e] = j->biased ? (float)degree_of(&csr, csr.col[e]) : 1;
    csr.weight = weight;
    csr.type = NULL;
    csr.time = NULL;
    must(csaw_graph_borrow_csr(&csr, &graph));
    must(csaw_plan_create(graph, NULL, &plan));
    must(csaw_sample(plan, &csaw_neighbor_biased, NULL, &(csaw_seeds){.vertex = drawn, .count = seeds},
                     CSAW_RUN(.depth = HOPS, .fanout = fanout, .seed = 1), &samples));
    must(csaw_samples_arcs(samples, CSAW_HOST, &view));
    *out = memory(view.offset[view.num_instances] * sizeof **out);
    for (uint64_t i = 0; i < view.num_instances; i++)
        for (uint64_t a = view.offset[i]; a < view.offset[i + 1]; a++)
            if ((a == view.offset[i] || view.src[a] != view.src[a - 1] || view.depth[a] != view.depth[a - 1]) &&
                degree_of(&csr, view.src[a]) > j->k)
                (*out)[rows++] = view.src[a];
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    free(weight);
    return rows;
}

bool selection_on_device(const char *device, const csaw_csr *csr, const csaw_vertex *drawn, uint64_t num_drawn,
                         uint64_t spare, FILE *json) {
    static const uint32_t ks[] = {2, 4, 8, 16, 32};
    job j = {.csr = *csr, .device = selection_device_open(csr, device)};
    csaw_vertex *wide = memory(num_drawn * sizeof *wide);
    uint64_t widest = 0;
    bool first = true, good = true;
    for (uint64_t v = 0; v < csr->num_vertices; v++)
        widest = degree_of(csr, (csaw_vertex)v) > widest ? degree_of(csr, (csaw_vertex)v) : widest;
    j.upto = memory(widest * sizeof *j.upto);
    j.row.upto = memory(widest * sizeof *j.row.upto);
    printf("%-9s %-6s %3s %8s %-8s %8s %8s %8s %8s %-4s %9s %8s %9s %8s %9s %8s\n", "rows of", "bias", "k", "rows",
           "way", "trials", "rounds", "searches", "z of law", "", "linear", "ns", "contig.", "ns", "strided", "ns");
    for (int biased = 1; biased >= 0; biased--)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            j.k = ks[i];
            j.biased = biased;
            if (ks[i] == 2) {
                j.from = "instances";
                j.rows = sampled_rows(&j, drawn, num_drawn, &j.vertex);
                if (j.rows >= MANY_ROWS) {
                    good &= report(&j, first, json);
                    first = false;
                }
                free(j.vertex);
            }
            j.from = "vertices";
            j.vertex = wide;
            j.rows = 0;
            for (uint64_t d = 0; d < num_drawn; d++)
                if (degree_of(csr, drawn[d]) >= j.k + spare && degree_of(csr, drawn[d]) > j.k)
                    wide[j.rows++] = drawn[d];
            if (j.rows < MANY_ROWS) continue;
            good &= report(&j, first, json);
            first = false;
        }
    selection_device_close(j.device);
    free(wide);
    free(j.upto);
    free(j.row.upto);
    return good;
}
