/* SPDX-License-Identifier: MIT */
/* bench/maxk.c - MaxK on the CPU: the k largest of each row beside copying as many bytes, and aggregation forward and
 * backward beside a dense product written by hand, on one R-MAT graph. All results are verified before they are timed.
 *
 *   maxk_bench [--scale 16] [--edge-factor 16] [--cols 256] [--k 8,16,32,64] [--repeat 5] [--json FILE] [--commit TEXT]
 *
 * Bytes: "paper" is the formula of MaxK-GNN, section 4.3: dense 4 n E; forward (4 + i) k E; backward 4 N n +
 * (4 + i) k E read and 4 k E written; i = bytes of an index. "moved" is the elements that our loops read and write, not
 * the cache lines that these stand in: of dy, backward names k elements a row, which may lie in k lines. Forward also
 * reads the edges and writes y; backward reads edges and 4 k E of dy, the index once, and writes the values once. The
 * graph is undirected, so a is its own transpose: "made" times the call that does not know that.
 */
#include <csaw/maxk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "runtime/base/parallel.h"

typedef struct bench {
    uint32_t scale, edge_factor, cols, repeat;
    const char *k, *json_path, *commit;
    csaw_sparse a;
    csaw_dense x, y, dy;
    csaw_cbsr h, dh;
    float *dweight;
    char *from, *to; /* [copied] */
    uint64_t copied; /* bytes that a copy reads, and writes */
    FILE *json;
    bool first;
} bench;

static void *memory(uint64_t bytes) {
    void *m = malloc(bytes ? bytes : 1);
    if (m) return memset(m, 0xff, bytes); /* NaN, and pages that are there */
    fputs("maxk_bench: no memory left; lower --scale or --cols\n", stderr);
    exit(1);
}

static void wrong(const char *what, uint64_t row) {
    fprintf(stderr, "maxk_bench: %s is wrong at row %llu\n", what, (unsigned long long)row);
    exit(3);
}

/* ---- by hand ------------------------------------------------------------ */

static void dense_product(bench *b) { /* y = A x, row by row, in y itself */
    const uint64_t cols = b->cols;
    CSAW__OMP(parallel for schedule(dynamic, 64))
    for (uint64_t i = 0; i < b->a.rows; i++) {
        float *const restrict y = (float *)b->y.data + i * cols;
        memset(y, 0, cols * sizeof *y);
        for (uint64_t e = b->a.rowptr[i]; e < b->a.rowptr[i + 1]; e++) {
            const float *const restrict x = (const float *)b->x.data + b->a.col[e] * cols;
            const float weight = b->a.weight[e];
            for (uint64_t c = 0; c < cols; c++) y[c] += weight * x[c];
        }
    }
}

static void copy(bench *b) {
    const uint64_t parts = 64, part = b->copied / parts + 1;
    CSAW__OMP(parallel for schedule(static))
    for (uint64_t p = 0; p < parts; p++) {
        const uint64_t at = p * part, end = at + part < b->copied ? at + part : b->copied;
        if (at < end) memcpy(b->to + at, b->from + at, end - at);
    }
}

/* ---- csaw --------------------------------------------------------------- */

static void maxk(bench *b) { must(csaw_maxk(&b->x, NULL, &b->h)); }
static void forward(bench *b) { must(csaw_maxk_spmm(&b->a, &b->h, NULL, &b->y)); }
static void backward(bench *b) {
    must(csaw_maxk_spmm_backward(&b->a, &b->dy, CSAW_MAXK_SPMM(.transpose = &b->a), &b->dh));
}
static void backward_made(bench *b) { must(csaw_maxk_spmm_backward(&b->a, &b->dy, NULL, &b->dh)); }
static void backward_weight(bench *b) { must(csaw_maxk_spmm_backward_weight(&b->a, &b->dy, &b->h, NULL, b->dweight)); }

/* ---- verified ------------------------------------------------------------ */

static uint64_t entry(const csaw_cbsr *m, uint64_t at) {
    return m->cols <= 256 ? ((const uint8_t *)m->index)[at] : ((const uint16_t *)m->index)[at];
}

/* Every kept element is larger than each that was left, or as large and stands before it. */
static void verify_maxk(const bench *b) {
    must(csaw_cbsr_check(&b->h));
    for (uint64_t r = 0; r < b->h.rows; r++) {
        const float *const x = (const float *)b->x.data + r * b->cols, *const value = (const float *)b->h.values;
        float least = INFINITY;
        uint64_t last = 0, t = 0;
        for (uint64_t i = 0; i < b->h.k; i++) {
            const uint64_t at = r * b->h.k + i;
            if (value[at] != x[entry(&b->h, at)]) wrong("a value of MaxK", r);
            if (value[at] <= least) least = value[at], last = entry(&b->h, at);
        }
        for (uint64_t c = 0; c < b->cols; c++)
            if (t < b->h.k && entry(&b->h, r * b->h.k + t) == c)
                t++;
            else if (x[c] > least || (x[c] == least && c < last))
                wrong("MaxK", r);
    }
}

/* |got - sum| <= 2 n 2^-24 size, of a sum of n terms. */
static void verify_sum(double got, double sum, double size, uint64_t n, const char *what, uint64_t row) {
    if (!(fabs(got - sum) <= 2 * (double)n * 0x1p-24 * size)) wrong(what, row);
}

/* One row of y: of the dense x, or of h. */
static void verify_row(const bench *b, bool dense, uint64_t i) {
    const uint64_t begin = b->a.rowptr[i], end = b->a.rowptr[i + 1], width = dense ? b->cols : b->h.k;
    double *const sum = calloc(2 * (uint64_t)b->cols, sizeof *sum), *const size = sum + b->cols;
    if (!sum) exit(1);
    for (uint64_t e = begin; e < end; e++)
        for (uint64_t t = 0; t < width; t++) {
            const uint64_t at = b->a.col[e] * width + t, c = dense ? t : entry(&b->h, at);
            const double term = b->a.weight[e] * (double)((const float *)(dense ? b->x.data : b->h.values))[at];
            sum[c] += term, size[c] += fabs(term);
        }
    for (uint64_t c = 0; c < b->cols; c++)
        verify_sum(((const float *)b->y.data)[i * b->cols + c], sum[c], size[c], end - begin, "the product", i);
    free(sum);
}

/* One row of dh and its weights' gradients. As a is symmetric, row j holds the edges into column j too. */
static void verify_gradients(const bench *b, uint64_t j) {
    const uint64_t begin = b->a.rowptr[j], end = b->a.rowptr[j + 1], k = b->dh.k;
    const float *const dy = b->dy.data;
    for (uint64_t t = 0; t < k; t++) {
        double sum = 0, size = 0;
        for (uint64_t e = begin; e < end; e++) {
            const double term = b->a.weight[e] * (double)dy[b->a.col[e] * b->cols + entry(&b->dh, j * k + t)];
            sum += term, size += fabs(term);
        }
        verify_sum(((const float *)b->dh.values)[j * k + t], sum, size, end - begin, "the gradient", j);
    }
    for (uint64_t e = begin; e < end; e++) {
        double sum = 0, size = 0;
        for (uint64_t t = 0; t < k; t++) {
            const uint64_t at = b->a.col[e] * k + t;
            const double term = (double)dy[j * b->cols + entry(&b->h, at)] * ((const float *)b->h.values)[at];
            sum += term, size += fabs(term);
        }
        verify_sum(b->dweight[e], sum, size, k, "the gradient of a weight", j);
    }
}

/* About 200 rows, the longest among them. */
static void each_row(const bench *b, void (*verify)(const bench *, uint64_t)) {
    uint64_t longest = 0;
    for (uint64_t i = 0; i < b->a.rows; i++)
        if (b->a.rowptr[i + 1] - b->a.rowptr[i] > b->a.rowptr[longest + 1] - b->a.rowptr[longest]) longest = i;
    verify(b, longest);
    for (uint64_t i = 0; i < b->a.rows; i += b->a.rows / 200 + 1) verify(b, i);
}

static void verify_dense(const bench *b, uint64_t i) { verify_row(b, true, i); }
static void verify_forward(const bench *b, uint64_t i) { verify_row(b, false, i); }

/* ---- timed ---------------------------------------------------------------- */

/* yardstick: seconds; 0 = none. Returns the median. */
static double report(bench *b, const char *what, void (*run)(bench *), double moved, double paper, double yardstick) {
    double seconds[100];
    run(b);
    for (uint32_t i = 0; i < b->repeat; i++) {
        const double start = now();
        run(b);
        seconds[i] = now() - start;
    }
    const figure f = figure_of(seconds, b->repeat);
    printf("k %3llu  %-26s %10.3f ms  (%.3f .. %.3f)  moved %8.3f GB  %6.2f GB/s  paper %8.3f GB",
           (unsigned long long)b->h.k, what, f.median * 1e3, f.least * 1e3, f.most * 1e3, moved / 1e9,
           moved / f.median / 1e9, paper / 1e9);
    if (yardstick > 0) printf("  %.2f of the yardstick's time", f.median / yardstick);
    putchar('\n');
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"what\": \"%s\", \"k\": %llu, \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, "
                "\"moved_bytes\": %.6g, \"paper_bytes\": %.6g, \"yardstick_s\": %.6g}",
                b->first ? "" : ",", what, (unsigned long long)b->h.k, f.median, f.least, f.most, moved, paper,
                yardstick);
    b->first = false;
    return f.median;
}

static void bench_k(bench *b, uint64_t k, double dense) {
    const double rows = (double)b->a.rows, edges = (double)b->a.num_edges, n = b->cols;
    const double i = (double)csaw_cbsr_index_bytes(b->cols), kept = (double)k;
    const double product = (4 + i) * kept * edges, edge_bytes = 8 * edges + 8 * rows;
    b->h = (csaw_cbsr){.rows = b->a.rows,
                       .cols = b->cols,
                       .k = k,
                       .values = memory(b->a.rows * k * 4),
                       .index = memory(b->a.rows * k * (uint64_t)i)};
    b->dh = b->h;
    b->dh.values = memory(b->a.rows * k * 4);
    b->copied = (uint64_t)((4 * n + (4 + i) * kept) * rows / 2);
    b->from = memory(b->copied), b->to = memory(b->copied);
    maxk(b);
    verify_maxk(b);
    forward(b);
    each_row(b, verify_forward);
    backward_made(b);
    backward_weight(b);
    each_row(b, verify_gradients);
    backward(b);
    each_row(b, verify_gradients);
    const double of_maxk = (4 * n + (4 + i) * kept) * rows,
                 copying = report(b, "copy of as many bytes", copy, of_maxk, of_maxk, 0);
    report(b, "MaxK", maxk, of_maxk, of_maxk, copying);
    report(b, "forward", forward, product + edge_bytes + 4 * rows * n, product, dense);
    const double gathered = 4 * kept * edges + edge_bytes + (4 + i) * kept * rows,
                 paper = 4 * rows * n + product + 4 * kept * edges;
    report(b, "backward", backward, gathered, paper, dense);
    report(b, "backward, transpose made", backward_made, gathered + 20 * edges, paper, dense);
    report(b, "gradient of weights", backward_weight, product + 4 * kept * edges + edge_bytes + 4 * edges, 0, dense);
    free(b->h.values);
    free(b->h.index);
    free(b->dh.values);
    free(b->from);
    free(b->to);
}

static void read_settings(bench *b, int argc, char **argv) {
    struct {
        const char *name;
        uint32_t *number;
        const char **text;
    } option[] = {{"--scale", &b->scale, NULL},  {"--edge-factor", &b->edge_factor, NULL},
                  {"--cols", &b->cols, NULL},    {"--repeat", &b->repeat, NULL},
                  {"--k", NULL, &b->k},          {"--json", NULL, &b->json_path},
                  {"--commit", NULL, &b->commit}};
    const size_t count = sizeof option / sizeof *option;
    for (int i = 1; i < argc; i += 2) {
        size_t o = 0;
        while (o < count && strcmp(argv[i], option[o].name) != 0) o++;
        if (o < count && i + 1 < argc && option[o].text) *option[o].text = argv[i + 1];
        if (o < count && i + 1 < argc && option[o].number) *option[o].number = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        if (o == count || i + 1 == argc || !b->cols || b->cols > 65536 || b->repeat < 1 || b->repeat > 100) {
            fprintf(stderr, "maxk_bench: '%s': see the head of bench/maxk.c\n", argv[i]);
            exit(2);
        }
    }
}

static void fill(csaw_dense *m, uint64_t rows, uint64_t cols,
                 uint64_t seed) { /* sums of uniform numbers: bell-shaped */
    *m = (csaw_dense){.rows = rows, .cols = cols, .data = memory(rows * cols * sizeof(float))};
    for (uint64_t i = 0, state = seed; i < rows * cols; i++) {
        float sum = -6;
        for (int j = 0; j < 12; j++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            sum += (float)(state >> 40) * 0x1p-24f;
        }
        ((float *)m->data)[i] = sum;
    }
}

int main(int argc, char **argv) {
    bench b = {
        .scale = 16, .edge_factor = 16, .cols = 256, .repeat = 5, .k = "8,16,32,64", .commit = "", .first = true};
    csaw_graph *graph = NULL;
    read_settings(&b, argc, argv);
    must(csaw_graph_rmat(CSAW_RMAT(.scale = b.scale, .edge_factor = b.edge_factor, .seed = 1, .weighted = true),
                         &graph));
    const csaw_csr csr = csaw_graph_csr(graph);
    b.a = (csaw_sparse){csr.num_vertices, csr.num_vertices, csr.num_edges, csr.rowptr, csr.col, csr.weight};
    fill(&b.x, b.a.rows, b.cols, 1);
    fill(&b.dy, b.a.rows, b.cols, 2);
    b.y = (csaw_dense){.rows = b.a.rows, .cols = b.cols, .data = memory(b.a.rows * b.cols * sizeof(float))};
    b.dweight = memory(b.a.num_edges * sizeof(float));
    printf("csaw %s, R-MAT scale %u, edge factor %u: %llu vertices, %llu arcs; %u columns, float32, device cpu, %d "
           "threads, "
           "1 warm-up, median of %u; bytes are of elements, not of cache lines\n",
           csaw_version(), b.scale, b.edge_factor, (unsigned long long)b.a.rows, (unsigned long long)b.a.num_edges,
           b.cols, csaw__max_threads(), b.repeat);
    if (b.json_path && !(b.json = fopen(b.json_path, "w"))) {
        perror(b.json_path);
        return 1;
    }
    if (b.json)
        fprintf(b.json,
                "{\"version\": \"%s\", \"commit\": \"%s\", \"graph\": {\"kind\": \"rmat\", \"scale\": %u, "
                "\"edge_factor\": %u, "
                "\"seed\": 1, \"vertices\": %llu, \"arcs\": %llu}, \"cols\": %u, \"device\": \"cpu\", \"threads\": %d, "
                "\"warm_up\": 1, \"repeat\": %u, \"rows\": [",
                csaw_version(), b.commit, b.scale, b.edge_factor, (unsigned long long)b.a.rows,
                (unsigned long long)b.a.num_edges, b.cols, csaw__max_threads(), b.repeat);
    dense_product(&b);
    each_row(&b, verify_dense);
    const double moved = 4.0 * b.cols * (double)b.a.num_edges;
    const double dense = report(&b, "dense product by hand", dense_product, moved, moved, 0);
    for (const char *k = b.k; *k;) {
        char *end;
        const uint64_t value = strtoull(k, &end, 10);
        if (end == k || value < 1 || value > b.cols) {
            fprintf(stderr, "maxk_bench: --k '%s': numbers from 1 to %u, with commas between\n", b.k, b.cols);
            return 2;
        }
        bench_k(&b, value, dense);
        k = *end ? end + 1 : end;
    }
    bool written = !b.json || fputs("]}\n", b.json) >= 0;
    written = (!b.json || fclose(b.json) == 0) && written;
    free(b.x.data);
    free(b.y.data);
    free(b.dy.data);
    free(b.dweight);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
