/* SPDX-License-Identifier: MIT */
/* bench/edge_sampled.c - edge-sampled aggregation on the CPU: how far the estimates of each method are off on a row
 * sorted by community, and what a product costs by S, beside the full one.
 *
 *   edge_sampled_bench [--scale 16] [--edge-factor 16] [--cols 64] [--repeat 5] [--epochs 20000] [--commit TEXT]
 *
 * The row: 1,000 entries, ten communities of 100 one after the other, S = 32. Estimated is how many entries community c
 * has, that is the row's sum over features that are 1 in c and 0 elsewhere, as 1,000 times the mean of what was taken;
 * the truth is 100. Given is the mean square error: `stratified` exactly, as the sum over strata of size^2 * variance
 * within, and by the library, as an average over --epochs; `stride` exactly, over all strides 1 .. 999 of
 * place(i) = i * stride mod 1000; `independent`, with replacement, exactly; `bucket` and `fastrand` by the library,
 * where all of it is bias.
 *
 * Times: forward and dX on R-MAT (symmetric, weighted, seed 1) in float32; `full` is csaw_spmm() of the whole matrix,
 * without a plan and, `full, prepared`, with one. First every method's Y, and of its dX every so many rows, are checked
 * against a plain product in double. Exits 3, at once, if one is off its bound, or if the library's error on the row is
 * off the exact one by more than 5 standard errors. Writes JSON. */
#include <csaw/edge_sampled.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/measure.h"

enum {
    ROW = 1000,
    COMMUNITIES = 10,
    EACH = ROW / COMMUNITIES,
    S = 32,
    MOST_REPEATS = 100,
    CHECKED = 300 /* rows of dX */
};
static const char *const method_name[] = {"stratified", "bucket", "fastrand"};

static void *memory(uint64_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p) exit(1);
    return p;
}

/* ---- the row sorted by community ---- */

static double error_of_strata(uint32_t c) {
    double sum = 0;
    for (uint32_t i = 0; i < S; i++) {
        const uint32_t first = i * ROW / S, end = (i + 1) * ROW / S, size = end - first;
        uint32_t in = 0;
        for (uint32_t k = first; k < end; k++) in += k / EACH == c;
        const double share = (double)in / size;
        sum += (double)size * size * share * (1 - share);
    }
    return sum;
}

static double error_of_strides(uint32_t c) {
    double sum = 0;
    for (uint32_t stride = 1; stride < ROW; stride++) {
        uint32_t in = 0;
        for (uint32_t i = 0; i < S; i++) in += i * stride % ROW / EACH == c;
        sum += pow((double)ROW / S * in - EACH, 2);
    }
    return sum / (ROW - 1);
}

typedef struct spread { /* of the square errors over epochs: mean, and its standard error */
    double mean, error;
} spread;

static void errors_by_library(csaw_edges_method method, uint32_t epochs, spread out[COMMUNITIES]) {
    const uint64_t rowptr[] = {0, ROW};
    csaw_vertex col[ROW];
    float x[ROW][COMMUNITIES] = {{0}}, y[COMMUNITIES];
    double sum[COMMUNITIES] = {0}, squares[COMMUNITIES] = {0};
    for (uint32_t i = 0; i < ROW; i++) {
        col[i] = i;
        x[i][i / EACH] = 1;
    }
    const csaw_sparse a = {1, ROW, ROW, rowptr, col, NULL};
    const csaw_dense features = {ROW, COMMUNITIES, 0, CSAW_F32, x}, result = {1, COMMUNITIES, 0, CSAW_F32, y};
    for (uint32_t e = 0; e < epochs; e++) {
        must(csaw_es_spmm(&a, &features,
                          CSAW_ES(.method = method, .width = S, .reduce = CSAW_MEAN, .exact = true, .epoch = e),
                          &result));
        for (int c = 0; c < COMMUNITIES; c++) {
            const double square = pow((double)ROW * (double)y[c] - EACH, 2);
            sum[c] += square;
            squares[c] += square * square;
        }
    }
    for (int c = 0; c < COMMUNITIES; c++) {
        const double mean = sum[c] / epochs;
        out[c] = (spread){mean, sqrt(fmax(squares[c] / epochs - mean * mean, 0) / epochs)};
    }
}

static void wrong(const char *what) {
    fprintf(stderr, "edge_sampled_bench: %s\n", what);
    exit(3);
}

static void report_row(uint32_t epochs) {
    spread library[3][COMMUNITIES];
    bool right = true;
    for (int m = 0; m < 3; m++)
        errors_by_library((csaw_edges_method)m, m == CSAW_EDGES_STRATIFIED ? epochs : 1, library[m]);
    printf("  \"row\": {\"entries\": %d, \"S\": %d, \"epochs\": %u, \"mean_square_error\": [\n", ROW, S, epochs);
    for (uint32_t c = 0; c < COMMUNITIES; c++) {
        const spread *ours = &library[CSAW_EDGES_STRATIFIED][c];
        const double exact = error_of_strata(c), share = 1.0 / COMMUNITIES;
        /* 0.01: y is rounded to float32 */
        if (fabs(ours->mean - exact) > 5 * ours->error + 0.01) right = false;
        printf("    {\"community\": %u, \"stratified\": %.1f, \"stratified_library\": %.1f, \"standard_error\": %.1f, "
               "\"stride\": %.1f, \"independent\": %.1f, \"bucket\": %.1f, \"fastrand\": %.1f}%s\n",
               c, exact, ours->mean, ours->error, error_of_strides(c), (double)ROW * ROW / S * share * (1 - share),
               library[CSAW_EDGES_BUCKET][c].mean, library[CSAW_EDGES_FASTRAND][c].mean,
               c + 1 < COMMUNITIES ? "," : "");
    }
    printf("  ]},\n");
    if (!right) wrong("stratified sampling misses its variance");
}

/* ---- times on R-MAT ---- */

typedef struct job {
    csaw_sparse a;
    csaw_dense x, y, dx;
    uint32_t repeat;
} job;

typedef struct way {
    const char *name;
    const csaw_es_options *sampled; /* NULL: all of a */
    const csaw_spmm_plan *plan;     /* of a, or NULL */
} way;

static void forward(const job *j, const way *w) {
    if (w->sampled)
        must(csaw_es_spmm(&j->a, &j->x, w->sampled, &j->y));
    else
        must(csaw_spmm(&j->a, &j->x, CSAW_SPMM(.plan = w->plan), &j->y));
}

static void backward(const job *j, const way *w) { /* y as dY */
    if (w->sampled)
        must(csaw_es_spmm_backward(&j->a, NULL, &j->y, w->sampled, &j->dx, NULL));
    else
        must(csaw_spmm_backward(&j->a, NULL, &j->y, CSAW_SPMM(.plan = w->plan), &j->dx, NULL));
}

/* The matrix that a way multiplies by; freed with its three arrays unless it is a itself. */
static csaw_sparse matrix_of(const job *j, const way *w) {
    if (!w->sampled) return j->a;
    uint64_t *const rowptr = memory(j->a.rows + 1, sizeof *rowptr);
    must(csaw_edge_sample(&j->a, w->sampled, rowptr, NULL, NULL));
    const uint64_t count = rowptr[j->a.rows];
    csaw_edge *const edge = memory(count, sizeof *edge);
    csaw_vertex *const col = memory(count, sizeof *col);
    float *const weight = memory(count, sizeof *weight);
    must(csaw_edge_sample(&j->a, w->sampled, rowptr, edge, weight));
    for (uint64_t k = 0; k < count; k++) col[k] = j->a.col[edge[k]];
    free(edge);
    return (csaw_sparse){j->a.rows, j->a.cols, count, rowptr, col, weight};
}

typedef struct sums { /* of some rows, in double: [rows, n] */
    double *sum, *size;
    uint64_t *terms; /* [rows] */
} sums;

static void add(sums *s, uint64_t to, double weight, const float *from, uint64_t n) {
    for (uint64_t c = 0; c < n; c++) {
        s->sum[to * n + c] += weight * (double)from[c];
        s->size[to * n + c] += fabs(weight * (double)from[c]);
    }
    s->terms[to]++;
}

/* Whether row `at` of the sums is within its bound of `got`; the sums become 0. */
static bool is_near(sums *s, uint64_t at, const float *got, uint64_t n) {
    bool right = true;
    for (uint64_t c = 0; c < n; c++) {
        const double bound = 2 * (double)s->terms[at] * 0x1p-24 * s->size[at * n + c];
        if (!(fabs((double)got[c] - s->sum[at * n + c]) <= bound)) right = false;
        s->sum[at * n + c] = s->size[at * n + c] = 0;
    }
    s->terms[at] = 0;
    return right;
}

static bool is_right(const job *j, const way *w, const csaw_sparse *m, sums *s) {
    const uint64_t n = j->x.cols, step = m->cols / CHECKED + 1;
    const float *const x = j->x.data, *const y = j->y.data, *const dx = j->dx.data;
    bool right = true;
    memset(j->y.data, 0xff, m->rows * n * sizeof *y); /* NaN */
    memset(j->dx.data, 0xff, m->cols * n * sizeof *dx);
    forward(j, w);
    for (uint64_t r = 0; r < m->rows; r++) {
        for (uint64_t k = m->rowptr[r]; k < m->rowptr[r + 1]; k++)
            add(s, 0, (double)m->weight[k], x + m->col[k] * n, n);
        right = is_near(s, 0, y + r * n, n) && right;
    }
    backward(j, w);
    for (uint64_t r = 0; r < m->rows; r++)
        for (uint64_t k = m->rowptr[r]; k < m->rowptr[r + 1]; k++)
            if (m->col[k] % step == 0) add(s, m->col[k] / step, (double)m->weight[k], y + r * n, n);
    for (uint64_t c = 0; c < m->cols; c += step) right = is_near(s, c / step, dx + c * n, n) && right;
    return right;
}

static void verify(const job *j, const way *w) {
    const csaw_sparse m = matrix_of(j, w);
    const uint64_t elements = (CHECKED + 1) * j->x.cols;
    sums s = {memory(elements, sizeof *s.sum), memory(elements, sizeof *s.size), memory(CHECKED + 1, sizeof *s.terms)};
    if (!is_right(j, w, &m, &s)) {
        fprintf(stderr, "S = %u: ", w->sampled ? w->sampled->width : 0);
        wrong(w->name);
    }
    void *all[] = {
        s.sum, s.size, s.terms, (void *)(uintptr_t)m.rowptr, (void *)(uintptr_t)m.col, (void *)(uintptr_t)m.weight};
    for (int i = 0; i < (w->sampled ? 6 : 3); i++) free(all[i]);
}

static figure time_of(const job *j, const way *w, void (*run)(const job *, const way *)) {
    double seconds[MOST_REPEATS];
    for (uint32_t i = 0; i < j->repeat; i++) {
        const double start = now();
        run(j, w);
        seconds[i] = now() - start;
    }
    return figure_of(seconds, j->repeat);
}

static double rate_of(const job *j, uint32_t width) {
    uint64_t taken = 0;
    for (uint64_t r = 0; r < j->a.rows; r++) {
        const uint64_t n = j->a.rowptr[r + 1] - j->a.rowptr[r];
        taken += n < width ? n : width;
    }
    return (double)taken / (double)j->a.num_edges;
}

static void report(const job *j, const way *w, const char *end) {
    verify(j, w);
    const figure y = time_of(j, w, forward), dx = time_of(j, w, backward);
    const uint32_t width = w->sampled ? w->sampled->width : 0;
    printf("    {\"method\": \"%s\", \"S\": %u, \"taken\": %.4f, \"forward_ms\": [%.3f, %.3f, %.3f], "
           "\"dx_ms\": [%.3f, %.3f, %.3f]}%s\n",
           w->name, width, width ? rate_of(j, width) : 1, y.median * 1e3, y.least * 1e3, y.most * 1e3, dx.median * 1e3,
           dx.least * 1e3, dx.most * 1e3, end);
}

static void report_times(const job *j) {
    const uint32_t widths[] = {16, 32, 64, 128, 256, 512};
    csaw_spmm_plan *plan = NULL;
    must(csaw_spmm_prepare(&j->a, CSAW_PREPARE(.fixed_weights = true), &plan));
    printf("  \"times\": [\n");
    for (int w = 0; w < 6; w++)
        for (int m = 0; m < 3; m++)
            report(j,
                   &(way){.name = method_name[m],
                          .sampled = CSAW_ES(.method = (csaw_edges_method)m, .width = widths[w], .seed = 1)},
                   ",");
    report(j, &(way){.name = "full"}, ",");
    report(j, &(way){.name = "full, prepared", .plan = plan}, "");
    printf("  ]\n");
    csaw_spmm_plan_free(plan);
}

int main(int argc, char **argv) {
    struct {
        const char *name;
        uint32_t value;
    } option[] = {{"--scale", 16}, {"--edge-factor", 16}, {"--cols", 64}, {"--repeat", 5}, {"--epochs", 20000}};
    const char *commit = "";
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    for (int i = 1; i < argc; i += 2) {
        size_t o = 0;
        if (strcmp(argv[i], "--commit") == 0 && i + 1 < argc) {
            commit = argv[i + 1];
            continue;
        }
        while (o < 5 && strcmp(argv[i], option[o].name) != 0) o++;
        if (o == 5 || i + 1 == argc || !(option[o].value = (uint32_t)strtoul(argv[i + 1], NULL, 10))) {
            fprintf(stderr, "edge_sampled_bench: '%s': see the head of bench/edge_sampled.c\n", argv[i]);
            return 2;
        }
    }
    csaw_graph *graph = NULL;
    must(csaw_graph_rmat(
        CSAW_RMAT(.scale = option[0].value, .edge_factor = option[1].value, .seed = 1, .weighted = true), &graph));
    const csaw_csr csr = csaw_graph_csr(graph);
    const uint64_t n = csr.num_vertices, cols = option[2].value;
    float *const x = memory(n * cols, sizeof *x), *const y = memory(n * cols, sizeof *y);
    float *const dx = memory(n * cols, sizeof *dx);
    for (uint64_t i = 0; i < n * cols; i++) x[i] = (float)(i * 2654435761u % 1021) / 1021 - 0.5f;
    const job j = {.a = {n, n, csr.num_edges, csr.rowptr, csr.col, csr.weight},
                   .x = {n, cols, 0, CSAW_F32, x},
                   .y = {n, cols, 0, CSAW_F32, y},
                   .dx = {n, cols, 0, CSAW_F32, dx},
                   .repeat = option[3].value < MOST_REPEATS ? option[3].value : MOST_REPEATS};
    printf("{\n  \"csaw\": \"%s\", \"commit\": \"%s\", \"seed\": 1,\n  \"graph\": {\"scale\": %u, \"edge_factor\": %u, "
           "\"vertices\": %llu, \"edges\": %llu}, \"cols\": %u, \"threads\": %d, \"repeat\": %u, \"ms\": \"median, "
           "least, most\",\n",
           csaw_version(), commit, option[0].value, option[1].value, (unsigned long long)n,
           (unsigned long long)csr.num_edges, option[2].value, threads, j.repeat);
    report_row(option[4].value);
    report_times(&j);
    printf("}\n");
    free(dx);
    free(y);
    free(x);
    csaw_graph_free(graph);
    return 0;
}
