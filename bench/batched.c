/* SPDX-License-Identifier: MIT */
/* bench/batched.c - batched SpMM on the CPU: csaw from CSR and COO, forward and backward, beside a loop over graphs
 * written by hand. The cases of Nagasaka et al. (CCGrid 2019), and real molecules. Results are verified against double
 * before they are timed; ways take turns.
 *
 *   batched_bench [--repeat 21] [--scale 1] [--gin FILE]... [--tu PREFIX]... [--cols 64] [--commit TEXT]
 *                 [--json FILE]
 *
 * --scale divides the number of graphs of the random cases. --gin reads a text of GIN ("-" = standard input), --tu the
 * files PREFIX_A.txt and PREFIX_graph_indicator.txt; --cols is the width of the features of both. */
#include <csaw/batched.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/measure.h"
#include "bench/molecules.h"

enum { MOST_FILES = 16, WAYS = 6 };

typedef struct settings {
    uint32_t repeat, scale, cols, num_files;
    const char *json, *commit, *file[MOST_FILES];
    bool tu[MOST_FILES]; /* PREFIX, not FILE */
} settings;

typedef struct bench {
    molecules m;
    uint64_t *rowptr; /* one through all rows: the same as CSR, each row in the order of its entries */
    uint32_t *col;
    float *weight;
    uint64_t cols, elements;
    csaw_batch *csr, *coo;
    float *x, *y, *dx, *dw; /* [rows, cols], but dw [edges]; y is dy of the gradients */
} bench;

static void *memory(size_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) exit(1);
    return p;
}

static csaw_batched_dense dense(const bench *b, float *data) {
    return (csaw_batched_dense){.rows = b->m.row_offset[b->m.count], .cols = b->cols, .data = data};
}

/* ---- the ways -------------------------------------------------------------------- */

static void by_hand(bench *b) {
    const molecules *const m = &b->m;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (uint64_t g = 0; g < m->count; g++) {
        const float *const x = b->x + m->row_offset[g] * b->cols;
        for (uint64_t i = m->row_offset[g]; i < m->row_offset[g + 1]; i++) {
            float *const restrict y = b->y + i * b->cols;
            for (uint64_t c = 0; c < b->cols; c++) y[c] = 0;
            for (uint64_t k = b->rowptr[i]; k < b->rowptr[i + 1]; k++) {
                const float w = b->weight[k], *const restrict from = x + b->col[k] * b->cols;
                for (uint64_t c = 0; c < b->cols; c++) y[c] += w * from[c];
            }
        }
    }
}

static csaw_batch *make(const bench *b, csaw_format format) {
    csaw_batch *batch = NULL;
    must(csaw_batch_join(&(csaw_small_graphs){.num_graphs = b->m.count,
                                              .format = format,
                                              .row_offset = b->m.row_offset,
                                              .edge_offset = b->m.edge_offset,
                                              .row = b->m.row,
                                              .rowptr = b->rowptr,
                                              .col = format == CSAW_CSR ? b->col : b->m.col,
                                              .weight = format == CSAW_CSR ? b->weight : b->m.weight},
                         NULL, &batch));
    return batch;
}

static void create(bench *b) { csaw_batch_free(make(b, CSAW_COO)); }

static void forward(bench *b, const csaw_batch *batch) {
    const csaw_batched_dense x = dense(b, b->x), y = dense(b, b->y);
    must(csaw_batched_spmm(batch, &x, NULL, &y));
}
static void forward_csr(bench *b) { forward(b, b->csr); }
static void forward_coo(bench *b) { forward(b, b->coo); }

static void backward_x(bench *b) {
    const csaw_batched_dense dy = dense(b, b->y), dx = dense(b, b->dx);
    must(csaw_batched_spmm_backward(b->coo, NULL, &dy, NULL, &dx, NULL));
}
static void backward_w(bench *b) {
    const csaw_batched_dense x = dense(b, b->x), dy = dense(b, b->y);
    must(csaw_batched_spmm_backward(b->coo, &x, &dy, NULL, NULL, b->dw));
}

typedef enum writes { Y, DX, DW, NOTHING } writes;

static const struct way {
    const char *name;
    void (*run)(bench *b);
    writes writes;
} ways[WAYS] = {{"hand, CSR", by_hand, Y},    {"csaw, CSR", forward_csr, Y}, {"csaw, COO", forward_coo, Y},
                {"csaw, dx", backward_x, DX}, {"csaw, dw", backward_w, DW},  {"csaw, batch made", create, NOTHING}};

/* ---- verification ------------------------------------------------------------------ */

static void wrong(const char *by, uint64_t count, uint64_t of) {
    if (!count) return;
    fprintf(stderr, "%s: %llu of %llu numbers are wrong\n", by, (unsigned long long)count, (unsigned long long)of);
    exit(3);
}

/* out[to] = sum of w * in[from] in double, and the sum of sizes and number of products behind each. */
static void verify_sums(const bench *b, const char *by, const float *in, const float *out, bool transposed) {
    double *sum = memory(b->elements * sizeof *sum), *size = memory(b->elements * sizeof *size);
    uint64_t *terms = memory(b->m.row_offset[b->m.count] * sizeof *terms), count = 0;
    for (uint64_t g = 0; g < b->m.count; g++)
        for (uint64_t k = b->m.edge_offset[g]; k < b->m.edge_offset[g + 1]; k++) {
            const uint64_t row = b->m.row_offset[g] + b->m.row[k], col = b->m.row_offset[g] + b->m.col[k];
            const uint64_t to = transposed ? col : row, from = transposed ? row : col;
            terms[to]++;
            for (uint64_t c = 0; c < b->cols; c++) {
                const double v = (double)b->m.weight[k] * in[from * b->cols + c];
                sum[to * b->cols + c] += v;
                size[to * b->cols + c] += fabs(v);
            }
        }
    for (uint64_t i = 0; i < b->elements; i++)
        count += !(fabs(out[i] - sum[i]) <= 2 * (double)terms[i / b->cols] * 0x1p-24 * size[i]);
    free(sum);
    free(size);
    free(terms);
    wrong(by, count, b->elements);
}

static void verify_dw(const bench *b, const char *by) {
    uint64_t count = 0;
    for (uint64_t g = 0; g < b->m.count; g++)
        for (uint64_t k = b->m.edge_offset[g]; k < b->m.edge_offset[g + 1]; k++) {
            const float *dy = b->y + (b->m.row_offset[g] + b->m.row[k]) * b->cols;
            const float *x = b->x + (b->m.row_offset[g] + b->m.col[k]) * b->cols;
            double sum = 0, size = 0;
            for (uint64_t c = 0; c < b->cols; c++) sum += (double)dy[c] * x[c], size += fabs((double)dy[c] * x[c]);
            count += !(fabs(b->dw[k] - sum) <= 2 * (double)b->cols * 0x1p-24 * size);
        }
    wrong(by, count, b->m.edge_offset[b->m.count]);
}

static void poison(float *data, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) data[i] = NAN;
}

/* Runs every way once; those that write y come first, and y is what the gradients take for dy. */
static void verify(bench *b) {
    for (size_t w = 0; w < WAYS; w++) {
        const char *const by = ways[w].name;
        if (ways[w].writes == Y) poison(b->y, b->elements);
        poison(b->dx, b->elements);
        poison(b->dw, b->m.edge_offset[b->m.count]);
        ways[w].run(b);
        if (ways[w].writes == Y) verify_sums(b, by, b->x, b->y, false);
        if (ways[w].writes == DX) verify_sums(b, by, b->y, b->dx, true);
        if (ways[w].writes == DW) verify_dw(b, by);
    }
}

/* ---- times --------------------------------------------------------------------------- */

static void report(const bench *b, const char *name, const struct way *way, figure f, FILE *json, bool *first) {
    const double edges = (double)b->m.edge_offset[b->m.count], operations = 2 * edges * (double)b->cols;
    const double bytes = 2.0 * (double)b->elements * 4 + edges * 12; /* each array once */
    printf("  %-18s %10.3f ms (%.3f .. %.3f)", way->name, f.median * 1e3, f.least * 1e3, f.most * 1e3);
    if (way->writes != NOTHING)
        printf("  %6.2f GFLOP/s  %6.2f GB/s", operations / f.median * 1e-9, bytes / f.median * 1e-9);
    putchar('\n');
    if (!json) return;
    fprintf(
        json,
        "%s\n  {\"case\": \"%s\", \"graphs\": %llu, \"rows\": %llu, \"edges\": %llu, \"cols\": %llu, \"by\": \"%s\", "
        "\"seconds\": %.9f, \"least\": %.9f, \"most\": %.9f, \"bytes\": %.0f}",
        *first ? "" : ",", name, (unsigned long long)b->m.count, (unsigned long long)b->m.row_offset[b->m.count],
        (unsigned long long)b->m.edge_offset[b->m.count], (unsigned long long)b->cols, way->name, f.median, f.least,
        f.most, bytes);
    *first = false;
}

/* The matrices of b as CSR; whether their entries stand by row. */
static bool fill_csr(bench *b) {
    const molecules *const m = &b->m;
    const uint64_t rows = m->row_offset[m->count], edges = m->edge_offset[m->count];
    uint64_t *next = memory((rows + 1) * sizeof *next);
    bool sorted = true;
    b->rowptr = memory((rows + 1) * sizeof *b->rowptr);
    b->col = memory(edges * sizeof *b->col);
    b->weight = memory(edges * sizeof *b->weight);
    for (uint64_t g = 0; g < m->count; g++)
        for (uint64_t k = m->edge_offset[g]; k < m->edge_offset[g + 1]; k++)
            b->rowptr[m->row_offset[g] + m->row[k] + 1]++;
    for (uint64_t i = 0; i < rows; i++) next[i + 1] = b->rowptr[i + 1] += b->rowptr[i];
    for (uint64_t g = 0; g < m->count; g++)
        for (uint64_t k = m->edge_offset[g]; k < m->edge_offset[g + 1]; k++) {
            const uint64_t at = next[m->row_offset[g] + m->row[k]]++;
            sorted = sorted && at == k;
            b->col[at] = m->col[k];
            b->weight[at] = m->weight[k];
        }
    free(next);
    return sorted;
}

/* Takes m over. */
static void run_case(const settings *s, const char *name, molecules m, uint64_t cols, FILE *json, bool *first) {
    const uint64_t rows = m.row_offset[m.count], edges = m.edge_offset[m.count];
    bench b = {.m = m, .cols = cols, .elements = rows * cols};
    const bool sorted = fill_csr(&b);
    double *seconds = memory(WAYS * s->repeat * sizeof *seconds);
    b.x = memory(b.elements * sizeof *b.x);
    b.y = memory(b.elements * sizeof *b.y);
    b.dx = memory(b.elements * sizeof *b.dx);
    b.dw = memory(edges * sizeof *b.dw);
    for (uint64_t i = 0; i < b.elements; i++) b.x[i] = (float)(i * 2654435761u % 1000003) * 2e-6f - 1;
    b.csr = make(&b, CSAW_CSR);
    b.coo = make(&b, CSAW_COO);
    verify(&b);
    printf("%s: %llu graphs, %llu rows, %llu entries%s, N = %llu\n", name, (unsigned long long)m.count,
           (unsigned long long)rows, (unsigned long long)edges, sorted ? "" : " not by row", (unsigned long long)cols);
    for (uint32_t r = 0; r < s->repeat; r++)
        for (size_t w = 0; w < WAYS; w++) {
            const double start = now();
            ways[w].run(&b);
            seconds[w * s->repeat + r] = now() - start;
        }
    for (size_t w = 0; w < WAYS; w++)
        report(&b, name, &ways[w], figure_of(seconds + w * s->repeat, s->repeat), json, first);
    csaw_batch_free(b.csr);
    csaw_batch_free(b.coo);
    void *all[] = {b.rowptr, b.col, b.weight, b.x, b.y, b.dx, b.dw, seconds};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    molecules_free(&b.m);
}

/* ---- cases ------------------------------------------------------------------------------ */

static FILE *open_text(const char *prefix, const char *suffix) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", prefix, suffix);
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static molecules read_file(const char *name, bool tu) {
    FILE *const text = open_text(name, tu ? "_A.txt" : ""), *const more =
                                                                tu ? open_text(name, "_graph_indicator.txt") : NULL;
    const molecules m = tu ? molecules_read_tu(text, more) : molecules_read_gin(text);
    fclose(text);
    if (more) fclose(more);
    return m;
}

static void run_all(const settings *s, FILE *json) {
    static const struct {
        uint32_t graphs, rows, per_row, cols;
    } cases[] = {{50, 50, 2, 512}, {100, 50, 3, 512}, {100, 64, 3, 512}, {1000, 50, 3, 64}};
    bool first = true;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const uint32_t graphs = cases[c].graphs / s->scale;
        char name[64];
        snprintf(name, sizeof name, "%u of %u, %u a row", graphs, cases[c].rows, cases[c].per_row);
        run_case(s, name, molecules_random(graphs, cases[c].rows, cases[c].rows, cases[c].per_row), cases[c].cols, json,
                 &first);
    }
    for (uint32_t i = 0; i < s->num_files; i++) {
        const char *slash = strrchr(s->file[i], '/');
        run_case(s, slash ? slash + 1 : s->file[i], read_file(s->file[i], s->tu[i]), s->cols, json, &first);
    }
}

static settings read_settings(int argc, char **argv) {
    settings s = {.repeat = 21, .scale = 1, .cols = 64, .commit = ""};
    for (int i = 1; i < argc; i += 2) {
        const char *const name = argv[i], *const value = i + 1 < argc ? argv[i + 1] : "";
        const bool tu = strcmp(name, "--tu") == 0,
                   file = (tu || strcmp(name, "--gin") == 0) && s.num_files < MOST_FILES;
        uint32_t *const number = strcmp(name, "--repeat") == 0  ? &s.repeat
                                 : strcmp(name, "--scale") == 0 ? &s.scale
                                 : strcmp(name, "--cols") == 0  ? &s.cols
                                                                : NULL;
        if (number) *number = (uint32_t)strtoul(value, NULL, 10);
        if (strcmp(name, "--json") == 0) s.json = value;
        if (strcmp(name, "--commit") == 0) s.commit = value;
        if (file) s.tu[s.num_files] = tu, s.file[s.num_files++] = value;
        if (*value && (file || s.json == value || s.commit == value || (number && *number))) continue;
        fprintf(stderr, "batched_bench: '%s': see the head of bench/batched.c\n", name);
        exit(2);
    }
    return s;
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    FILE *json = NULL;
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    if (s.json && !(json = fopen(s.json, "w"))) {
        perror(s.json);
        return 1;
    }
    printf("csaw %s%s%s, %d threads, float32, sum; verified, then median of %u (least .. most)\n", csaw_version(),
           *s.commit ? ", commit " : "", s.commit, threads, s.repeat);
    if (json)
        fprintf(json,
                "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"cpu\", \"threads\": %d, \"repeat\": %u, "
                "\"rows\": [",
                csaw_version(), s.commit, threads, s.repeat);
    run_all(&s, json);
    const bool written = !json || fputs("]}\n", json) >= 0;
    return (!json || fclose(json) == 0) && written ? 0 : 1;
}
