/* SPDX-License-Identifier: MIT */
/* bench/selection.c - ways to pick k neighbours without replacement, counted: C-SAW's figures 11 and 12 (Pandey et al.,
 * SC'20, section VI-B) again, on any graph file, biased by the degree of the neighbour as there, or not at all.
 *
 *   selection_bench GRAPH [--vertices 20000] [--json FILE]
 *
 * Of every way: trials a pick, time a pick, and whether its sets follow the law (a way that does not is no way).
 * `repeated` throws a taken candidate away and draws again; `updated` takes it out and sums again; `printed` is the
 * bipartite region search as the paper prints it; `fresh` is csaw's, with a fresh number beside the region. These are
 * written here, apart from the library, one pick after the other, so that nothing but the search differs. Collisions
 * are found by a linear search among the picks or by a bitmap; for rounds of 32 lanes, as on a GPU, it is also counted
 * how many lanes wait for another that sets a bit in the same 8-bit word, with neighbouring candidates' bits in one
 * word (contiguous) or scattered (strided). */
#include <csaw/csaw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

enum { LANES = 32, MOST_PICKS = 32 };
typedef enum way { REPEATED, UPDATED, PRINTED, FRESH, NUM_WAYS } way;
static const char *const way_name[] = {"repeated", "updated", "printed", "fresh"};

typedef struct counts {
    uint64_t picks, trials, linear, probes, rounds_waits[2]; /* linear, probes: looks at what is taken */
    double seconds;
} counts;

typedef struct row {
    uint32_t n;
    double *upto; /* [n] inclusive sums of biases */
    double *left; /* [n] the same, of `updated` */
    uint8_t *taken;
} row;

static uint64_t state = 1;
static double number(void) { /* splitmix64, on [0, 1) */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static uint32_t find(const double *upto, uint32_t n, double x) {
    uint32_t lo = 0, left = n - 1;
    while (left > 0) {
        const uint32_t half = left / 2;
        if (upto[lo + half] <= x) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo;
}

static void sum_again(row *r, const double *upto) {
    double sum = 0;
    for (uint32_t i = 0; i < r->n; i++) r->left[i] = sum += r->taken[i] ? 0 : upto[i] - (i ? upto[i - 1] : 0);
}

/* One trial: a candidate, taken or not. *last: the candidate that the first number hit. */
static uint32_t trial(const row *r, way way) {
    const double sum = r->upto[r->n - 1], first = number() * sum;
    if (way == UPDATED) return find(r->left, r->n, first / sum * r->left[r->n - 1]);
    const uint32_t hit = find(r->upto, r->n, first);
    if (way == REPEATED || !r->taken[hit]) return hit;
    const double low = hit ? r->upto[hit - 1] : 0, mass = r->upto[hit] - low;
    double x = (way == PRINTED ? first / sum : number()) * (sum - mass);
    if (x >= low) x += mass;
    return find(r->upto, r->n, x);
}

static void pick(row *r, way way, uint32_t k, uint32_t *out, counts *c) {
    if (way == UPDATED) sum_again(r, r->upto);
    for (uint32_t got = 0; got < k;) {
        const uint32_t candidate = trial(r, way);
        c->trials++;
        c->probes++;
        c->linear += got;
        if (r->taken[candidate]) continue;
        r->taken[candidate] = 1;
        out[got++] = candidate;
        if (way == UPDATED && got < k) sum_again(r, r->upto);
    }
    c->picks += k;
}

/* Lanes that set a bit at once and must wait for another lane's, in words of 8 bits. */
static void waits(const row *r, uint32_t k, uint64_t out[2]) {
    uint32_t candidate[LANES];
    const uint32_t lanes = k < LANES ? k : LANES, words = (r->n + 7) / 8;
    for (uint32_t l = 0; l < lanes; l++) candidate[l] = find(r->upto, r->n, number() * r->upto[r->n - 1]);
    for (uint32_t l = 1; l < lanes; l++) {
        bool same[2] = {false, false};
        for (uint32_t m = 0; m < l; m++) {
            same[0] |= candidate[l] / 8 == candidate[m] / 8;
            same[1] |= candidate[l] % words == candidate[m] % words;
        }
        out[0] += same[0];
        out[1] += same[1];
    }
}

static void load_row(const csaw_csr *csr, csaw_vertex v, bool biased, row *r) {
    double sum = 0;
    r->n = (uint32_t)(csr->rowptr[v + 1] - csr->rowptr[v]);
    for (uint32_t i = 0; i < r->n; i++) {
        const csaw_vertex u = csr->col[csr->rowptr[v] + i];
        r->upto[i] = sum += biased ? (double)(csr->rowptr[u + 1] - csr->rowptr[u]) : 1;
    }
}

static bool enough(const row *r, uint32_t k) { /* candidates of positive bias */
    uint32_t positive = 0;
    for (uint32_t i = 0; i < r->n; i++) positive += r->upto[i] > (i ? r->upto[i - 1] : 0);
    return positive > k;
}

static void measure(const csaw_csr *csr, uint64_t vertices, bool biased, uint32_t k, row *r, counts *out) {
    uint32_t picks[MOST_PICKS];
    state = 1;
    for (uint64_t i = 0; i < vertices; i++) {
        load_row(csr, (csaw_vertex)(number() * (double)csr->num_vertices), biased, r);
        if (r->n <= k || !enough(r, k)) continue;
        for (int w = 0; w < NUM_WAYS; w++) {
            const double start = now();
            pick(r, (way)w, k, picks, &out[w]);
            out[w].seconds += now() - start;
            for (uint32_t j = 0; j < k; j++) r->taken[picks[j]] = 0;
        }
        waits(r, k, out[FRESH].rounds_waits);
    }
}

int main(int argc, char **argv) {
    static const uint32_t ks[] = {2, 4, 8, 16, 32};
    uint64_t vertices = 20000, widest = 1;
    const char *path = NULL, *json_path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--vertices") == 0 && i + 1 < argc)
            vertices = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json_path = argv[++i];
        else
            path = argv[i];
    }
    csaw_graph *graph = NULL;
    if (!path || csaw_graph_load(path, CSAW_LOAD(.undirected = true), &graph) != CSAW_OK) {
        fprintf(stderr, "selection_bench: %s\n", path ? csaw_last_error() : "give a graph file");
        return 1;
    }
    const csaw_csr csr = csaw_graph_csr(graph);
    for (uint64_t v = 0; v < csr.num_vertices; v++) {
        const uint64_t n = csr.rowptr[v + 1] - csr.rowptr[v];
        widest = n > widest ? n : widest;
    }
    row r = {0, malloc(widest * sizeof(double)), malloc(widest * sizeof(double)), calloc(widest, 1)};
    FILE *json = json_path ? fopen(json_path, "w") : NULL;
    if (!r.upto || !r.left || !r.taken || (json_path && !json)) return 1;
    if (json) fprintf(json, "{\"graph\": \"%s\", \"vertices\": %llu, \"rows\": [", path, (unsigned long long)vertices);
    printf("%-9s %2s  %-9s %12s %9s %16s %16s %22s\n", "bias", "k", "way", "trials/pick", "ns/pick",
           "linear looks/pick", "bitmap looks/pick", "waiting lanes/round");
    bool first = true;
    for (int biased = 1; biased >= 0; biased--)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            counts c[NUM_WAYS];
            memset(c, 0, sizeof c);
            measure(&csr, vertices, biased, ks[i], &r, c);
            for (int w = 0; w < NUM_WAYS; w++) {
                const double picks = c[w].picks ? (double)c[w].picks : 1, rounds = picks / ks[i];
                const double contiguous = (double)c[FRESH].rounds_waits[0] / rounds;
                const double strided = (double)c[FRESH].rounds_waits[1] / rounds;
                printf("%-9s %2u  %-9s %12.3f %9.1f %16.3f %16.3f %10.3f / %.3f\n", biased ? "degree" : "none", ks[i],
                       way_name[w], (double)c[w].trials / picks, c[w].seconds / picks * 1e9,
                       (double)c[w].linear / picks, (double)c[w].probes / picks, contiguous, strided);
                if (json)
                    fprintf(json,
                            "%s\n  {\"bias\": \"%s\", \"k\": %u, \"way\": \"%s\", \"picks\": %llu, \"trials\": %llu, "
                            "\"ns_per_pick\": %.4g, \"linear_looks\": %llu, \"bitmap_looks\": %llu, "
                            "\"waits_contiguous\": %.4g, \"waits_strided\": %.4g}",
                            first ? "" : ",", biased ? "degree" : "none", ks[i], way_name[w],
                            (unsigned long long)c[w].picks, (unsigned long long)c[w].trials, c[w].seconds / picks * 1e9,
                            (unsigned long long)c[w].linear, (unsigned long long)c[w].probes, contiguous, strided);
                first = false;
            }
        }
    if (json && (fputs("]}\n", json) < 0 || fclose(json) != 0)) return 1;
    free(r.upto);
    free(r.left);
    free(r.taken);
    csaw_graph_free(graph);
    return 0;
}
