/* SPDX-License-Identifier: MIT */
/* bench/maxk_gpu.cu - MaxK on a GPU (csaw/maxk.h): the k largest of each row, in every storage, beside a copy of as
 * many bytes; aggregation forward and backward, by rows of the transpose and by atomic additions, beside csaw_spmm()
 * and cuSPARSE on the dense rows, and beside what fetching the sectors of the entries takes, in one run. Results are
 * verified before they are timed: the k largest whole, products on some hundred rows, to the bit of the CPU's; atomic
 * additions by the bound.
 *
 *   maxk_gpu_bench [--graph rmat|reddit|products|arxiv] [--share 1] [--scale 18] [--edge-factor 16] [--cols 256]
 *                  [--k 8,16,32,64] [--what all|figure] [--device cuda:0] [--repeat 20] [--commit TEXT] [--json FILE]
 *
 * --what figure: those products alone that bench/plot_maxk.py draws.
 *
 * "paper" is the formula of MaxK-GNN, section 4.3 and Table 2, as in bench/maxk.c. "sectors": for every edge all
 * 32-byte sectors that the entries of its column would take if they stood side by side, values and index, fetched and
 * thrown away: what limits the forward product. Times as in bench/spmm_gpu.cu. */
#include "bench/gpu_bench.cuh"
extern "C" {
#include "spmm/element.h"
#include "spmm/maxk_transpose.h"
}
#include <csaw/maxk.h>

#include <cmath>
#include <string>

enum { CHECKED = 300 /* rows */ };

struct settings {
    graph_choice graph;
    const char *k = "8,16,32,64", *device = "cuda:0", *commit = "", *json = nullptr;
    uint32_t cols = 256, repeat = 20;
    bool figure = false; /* alone */
};

struct bench {
    settings set;
    csaw_sparse a, turned, there, there_turned; /* on the host, and its transpose; on the GPU */
    csaw_dense x, dy, there_x, there_y, there_dy, there_dx;
    csaw_cbsr h, there_h, there_dh; /* of this k */
    float *there_dweight;
    csaw_spmm_plan *plan = nullptr;
    FILE *json = nullptr;
    bool first = true;
};

/* ---- reporting ---- */

/* beside: what the time is set against, NULL = nothing. */
static double report(bench *b, uint64_t k, const char *what, const figure &f, double paper, const char *beside,
                     double beside_s) {
    printf("k %3llu  %-34s %9.4f ms  (%.4f .. %.4f)", (unsigned long long)k, what, f.median * 1e3, f.least * 1e3,
           f.most * 1e3);
    if (paper > 0) printf("  paper %8.3f GB %8.1f GB/s", paper / 1e9, paper / f.median / 1e9);
    if (beside) printf("  %.2f of %s", f.median / beside_s, beside);
    putchar('\n');
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"k\": %llu, \"what\": \"%s\", \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, "
                "\"paper_bytes\": %.6g, \"beside\": \"%s\", \"beside_s\": %.6g}",
                b->first ? "" : ",", (unsigned long long)k, what, f.median, f.least, f.most, paper,
                beside ? beside : "", beside_s);
    b->first = false;
    return f.median;
}

static void wrong(const char *what, uint64_t k, uint64_t row) {
    fprintf(stderr, "maxk_gpu_bench: %s, k %llu: wrong at row %llu\n", what, (unsigned long long)k,
            (unsigned long long)row);
    exit(3);
}

/* ---- what a gather of sectors takes ---- */

/* Item i: 16 bytes of edge i / parts. of_row: 16-byte parts of a row of table. */
static __global__ void __launch_bounds__(256)
    fetch_sectors(const csaw_vertex *col, uint64_t items, uint32_t parts, const uint4 *table, uint32_t *out) {
    constexpr int ON_THE_WAY = 8;
    const uint64_t first = (uint64_t)blockIdx.x * (blockDim.x * ON_THE_WAY) + threadIdx.x;
    uint4 part[ON_THE_WAY];
    uint32_t all = 0;
#pragma unroll
    for (int n = 0; n < ON_THE_WAY; n++) {
        const uint64_t i = first + (uint64_t)n * blockDim.x, at = i < items ? i : items - 1;
        const uint64_t edge = at >> 32 ? at / parts : (uint32_t)at / parts;
        part[n] = table[col[edge] * (uint64_t)parts + (at - edge * parts)];
    }
#pragma unroll
    for (int n = 0; n < ON_THE_WAY; n++) all |= part[n].x | part[n].y | part[n].z | part[n].w;
    if (all) *out = all; /* never: the table is zero */
}

static double time_sectors(bench *b, uint64_t k) {
    const uint64_t bytes = k * (4 + csaw_cbsr_index_bytes(b->set.cols)), sectors = (bytes + 31) / 32;
    const uint64_t items = b->a.num_edges * sectors * 2, a_block = 256 * 8;
    uint4 *const table = upload<uint4>(nullptr, b->a.cols * sectors * 2);
    uint32_t *const out = upload<uint32_t>(nullptr, 1);
    must_cuda(cudaMemset(table, 0, b->a.cols * sectors * 32));
    const figure f = time_of(b->set.repeat, [&] {
        fetch_sectors<<<(unsigned)((items + a_block - 1) / a_block), 256>>>(b->there.col, items,
                                                                            (uint32_t)(sectors * 2), table, out);
    });
    must_cuda(cudaGetLastError());
    cudaFree(table);
    cudaFree(out);
    const double rate = (double)b->a.num_edges * (double)sectors * 32 / f.median;
    printf("k %3llu  %llu sectors an edge at %.1f GB/s\n", (unsigned long long)k, (unsigned long long)sectors,
           rate / 1e9);
    return report(b, k, "sectors", f, 0, nullptr, 0);
}

/* ---- verified ---- */

struct rows_of { /* some rows of a matrix, as a matrix */
    std::vector<uint64_t> row, rowptr = {0};
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
    csaw_sparse view(uint64_t cols) const {
        return {row.size(), cols, col.size(), rowptr.data(), col.data(), weight.data()};
    }
};

/* CHECKED rows, the longest among them. */
static rows_of some_rows(const csaw_sparse *a) {
    rows_of some;
    uint64_t longest = 0;
    for (uint64_t r = 0; r < a->rows; r++)
        if (a->rowptr[r + 1] - a->rowptr[r] > a->rowptr[longest + 1] - a->rowptr[longest]) longest = r;
    some.row.push_back(longest);
    for (uint64_t r = 0; r < a->rows; r += a->rows / CHECKED + 1) some.row.push_back(r);
    for (uint64_t r : some.row) {
        for (uint64_t e = a->rowptr[r]; e < a->rowptr[r + 1]; e++) {
            some.col.push_back(a->col[e]);
            some.weight.push_back(a->weight ? a->weight[e] : 1.0f);
        }
        some.rowptr.push_back(some.col.size());
    }
    return some;
}

template <typename T> static std::vector<T> back(const void *there, uint64_t count) {
    std::vector<T> here(count);
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaMemcpy(here.data(), there, count * sizeof(T), cudaMemcpyDeviceToHost));
    return here;
}

/* those of a matrix of so many columns */
static std::vector<float> rows_back(const rows_of &some, const void *there, uint64_t cols) {
    std::vector<float> here(some.row.size() * cols);
    must_cuda(cudaDeviceSynchronize());
    for (uint64_t r = 0; r < some.row.size(); r++)
        must_cuda(cudaMemcpy(&here[r * cols], (const float *)there + some.row[r] * cols, cols * sizeof(float),
                             cudaMemcpyDeviceToHost));
    return here;
}

static uint64_t element_bytes(csaw_dtype dtype) { return dtype == CSAW_F32 ? 4 : 2; }

static void verify_maxk(const csaw_cbsr &h, const csaw_cbsr &there) {
    const uint64_t value_row = h.k * element_bytes(h.dtype), index_row = h.k * csaw_cbsr_index_bytes(h.cols);
    const std::vector<uint8_t> values = back<uint8_t>(there.values, h.rows * value_row);
    const std::vector<uint8_t> index = back<uint8_t>(there.index, h.rows * index_row);
    for (uint64_t r = 0; r < h.rows; r++)
        if (memcmp(&values[r * value_row], (char *)h.values + r * value_row, value_row) != 0 ||
            memcmp(&index[r * index_row], (char *)h.index + r * index_row, index_row) != 0)
            wrong("the k largest", h.k, r);
}

static void verify_forward(const bench *b) {
    const rows_of some = some_rows(&b->a);
    const csaw_sparse a = some.view(b->a.cols);
    std::vector<float> want(a.rows * b->set.cols);
    const csaw_dense y = {a.rows, b->set.cols, 0, CSAW_F32, want.data()};
    must(csaw_maxk_spmm(&a, &b->h, nullptr, &y));
    const std::vector<float> got = rows_back(some, b->there_y.data, b->set.cols);
    for (uint64_t r = 0; r < a.rows; r++)
        if (memcmp(&want[r * b->set.cols], &got[r * b->set.cols], b->set.cols * 4) != 0)
            wrong("the product", b->h.k, some.row[r]);
}

/* exact: to the bit of the CPU's; else by the bound of the sum's terms. */
static void verify_backward(const bench *b, bool exact) {
    const rows_of some = some_rows(&b->turned);
    const csaw_sparse turned = some.view(b->a.rows);
    const uint64_t k = b->h.k, cols = b->set.cols, of_index = csaw_cbsr_index_bytes(cols);
    std::vector<uint64_t> all_in_last(b->a.rows + 1, 0); /* a transposed back has its edges somewhere: not read */
    std::vector<float> want(turned.rows * k);
    std::vector<uint8_t> index(turned.rows * k * of_index);
    all_in_last.back() = turned.num_edges;
    for (uint64_t r = 0; r < turned.rows; r++)
        memcpy(&index[r * k * of_index], (char *)b->h.index + some.row[r] * k * of_index, k * of_index);
    const csaw_sparse a = {b->a.rows, turned.rows, turned.num_edges, all_in_last.data(), turned.col, turned.weight};
    const csaw_cbsr dx = {turned.rows, cols, k, CSAW_F32, want.data(), index.data()};
    csaw_maxk_spmm_options options = {};
    options.size = sizeof options;
    options.transpose = &turned;
    must(csaw_maxk_spmm_backward(&a, &b->dy, &options, &dx));
    const std::vector<float> got = rows_back(some, b->there_dh.values, k);
    for (uint64_t r = 0; r < turned.rows; r++)
        for (uint64_t t = 0; t < k; t++) {
            const float is = got[r * k + t], should = want[r * k + t];
            const uint64_t at = r * k + t, c = of_index == 1 ? index[at] : ((const uint16_t *)index.data())[at];
            double size = 0;
            if (exact && memcmp(&is, &should, 4) != 0) wrong("the gradient", k, some.row[r]);
            if (exact) continue;
            for (uint64_t e = turned.rowptr[r]; e < turned.rowptr[r + 1]; e++)
                size += std::fabs((double)turned.weight[e] * ((const float *)b->dy.data)[turned.col[e] * cols + c]);
            const double terms = (double)(turned.rowptr[r + 1] - turned.rowptr[r]);
            if (!(std::fabs((double)is - should) <= 4 * terms * 0x1p-24 * size))
                wrong("the added gradient", k, some.row[r]);
        }
}

/* ---- what is timed ---- */

static csaw_maxk_spmm_options options_of(const bench *b, bool given, bool deterministic) {
    csaw_maxk_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.transpose = given ? &b->there_turned : nullptr;
    o.deterministic = deterministic;
    return o;
}

static double run_dense(bench *b) { /* returns the time of csaw_spmm() */
    csaw_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.plan = b->plan;
    const double best =
        report(b, b->set.cols, "csaw_spmm, dense",
               time_of(b->set.repeat, [&] { must(csaw_spmm(&b->there, &b->there_x, &o, &b->there_y)); }),
               4.0 * b->set.cols * (double)b->a.num_edges, nullptr, 0);
    report(b, b->set.cols, "csaw_spmm_backward, dense",
           time_of(b->set.repeat,
                   [&] { must(csaw_spmm_backward(&b->there, nullptr, &b->there_dy, &o, &b->there_dx, nullptr)); }),
           4.0 * b->set.cols * (double)b->a.num_edges, nullptr, 0);
    const cusparseSpMMAlg_t algs[] = {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
    for (int i = 0; i < 3 && b->a.num_edges <= INT32_MAX; i++) {
        cusparse_product product(&b->there, &b->there_x, &b->there_y, algs[i]);
        product.preprocess();
        const std::string name = "cuSPARSE ALG" + std::to_string(i + 1) + ", dense";
        const figure f = time_of(b->set.repeat, [&] { product.run(); });
        report(b, b->set.cols, name.c_str(), f, 4.0 * b->set.cols * (double)b->a.num_edges, "csaw_spmm", best);
    }
    return best;
}

/* Rows of a matrix and of its k largest, read and written, or as many bytes copied. */
static double bytes_of_rows(const csaw_cbsr &h) {
    const uint64_t element = element_bytes(h.dtype);
    return (double)(h.rows * (element * h.cols + (element + csaw_cbsr_index_bytes(h.cols)) * h.k));
}

static double time_copy(bench *b, const char *what, uint64_t k, double bytes) {
    const size_t half = (size_t)bytes / 2;
    char *const from = upload<char>(nullptr, half), *const to = upload<char>(nullptr, half);
    must_cuda(cudaMemset(from, 0, half));
    const double copying =
        report(b, k, what,
               time_of(b->set.repeat, [&] { must_cuda(cudaMemcpyAsync(to, from, half, cudaMemcpyDeviceToDevice)); }),
               bytes, nullptr, 0);
    cudaFree(from);
    cudaFree(to);
    return copying;
}

static csaw_maxk_options maxk_options(const bench *b) {
    csaw_maxk_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    return o;
}

/* The k largest of the same rows in 16 bits. */
static void run_halves(bench *b, csaw_dtype dtype) {
    const uint64_t count = b->x.rows * b->x.cols, k = b->h.k, index_bytes = csaw_cbsr_index_bytes(b->x.cols);
    const bool f16 = dtype == CSAW_F16;
    const csaw_maxk_options o = maxk_options(b);
    std::vector<uint16_t> element(count), value(b->x.rows * k);
    std::vector<uint8_t> index(b->x.rows * k * index_bytes);
    for (uint64_t i = 0; i < count; i++) {
        const float from = ((const float *)b->x.data)[i];
        element[i] = f16 ? csaw__to_f16(from) : csaw__to_bf16(from);
    }
    const csaw_dense x = {b->x.rows, b->x.cols, 0, dtype, element.data()};
    const csaw_cbsr h = {x.rows, x.cols, k, dtype, value.data(), index.data()};
    csaw_dense there_x = x;
    csaw_cbsr there_h = h;
    there_x.data = upload(element.data(), count);
    there_h.values = upload<uint16_t>(nullptr, value.size()), there_h.index = upload<uint8_t>(nullptr, index.size());
    must(csaw_maxk(&x, nullptr, &h));
    const auto largest = [&] { must(csaw_maxk(&there_x, &o, &there_h)); };
    largest();
    verify_maxk(h, there_h);
    const double copying =
        time_copy(b, f16 ? "copy of as many bytes, f16" : "copy of as many bytes, bf16", k, bytes_of_rows(h));
    report(b, k, f16 ? "MaxK, f16" : "MaxK, bf16", time_of(b->set.repeat, largest), bytes_of_rows(h), "the copy",
           copying);
    cudaFree(there_x.data);
    cudaFree(there_h.values);
    cudaFree(there_h.index);
}

static void run_rows(bench *b) { /* the k largest, and what goes to and from dense rows */
    const uint64_t k = b->h.k;
    const double bytes = bytes_of_rows(b->h);
    const csaw_maxk_options o = maxk_options(b);
    const double copying = time_copy(b, "copy of as many bytes", k, bytes);
    const auto largest = [&] { must(csaw_maxk(&b->there_x, &o, &b->there_h)); };
    report(b, k, "MaxK", time_of(b->set.repeat, largest), bytes, "the copy", copying);
    run_halves(b, CSAW_F16);
    run_halves(b, CSAW_BF16);
    report(b, k, "to dense", time_of(b->set.repeat, [&] { must(csaw_maxk_dense(&b->there_h, &o, &b->there_dx)); }),
           bytes, "the copy", copying);
    report(b, k, "from dense", time_of(b->set.repeat, [&] { must(csaw_maxk_gather(&b->there_x, &o, &b->there_dh)); }),
           0, "the copy", copying);
}

static void run_products(bench *b, double dense) {
    const double edges = (double)b->a.num_edges, rows = (double)b->a.rows, k = (double)b->h.k;
    const double i = (double)csaw_cbsr_index_bytes(b->set.cols), forward = (4 + i) * k * edges;
    const double backward = 4 * rows * b->set.cols + forward + 4 * k * edges;
    const csaw_maxk_spmm_options plain = options_of(b, false, true), given = options_of(b, true, true),
                                 atomic = options_of(b, false, false);
    csaw_maxk_spmm_options planned = options_of(b, false, false);
    const double sectors = time_sectors(b, b->h.k);
    planned.plan = b->plan; /* which has work memory, too */
    const auto run_forward = [&] { must(csaw_maxk_spmm(&b->there, &b->there_h, &planned, &b->there_y)); };
    const auto run_alone = [&] { must(csaw_maxk_spmm(&b->there, &b->there_h, &plain, &b->there_y)); };
    must_cuda(cudaMemset(b->there_y.data, 0xff, b->a.rows * b->set.cols * 4));
    run_forward();
    verify_forward(b);
    const figure f = time_of(b->set.repeat, run_forward);
    report(b, b->h.k, "forward", f, forward, "sectors", sectors);
    report(b, b->h.k, "forward", f, forward, "csaw_spmm", dense);
    if (!b->set.figure)
        report(b, b->h.k, "forward, not prepared", time_of(b->set.repeat, run_alone), forward, "sectors", sectors);
    const struct {
        const char *name;
        const csaw_maxk_spmm_options *options;
        bool exact;
    } ways[] = {{"backward, transpose given", &given, true},
                {"backward, transpose made", &plain, true},
                {"backward, atomic", &atomic, false}};
    for (const auto &way : ways) {
        if (b->set.figure && way.exact) continue;
        const auto run = [&] { must(csaw_maxk_spmm_backward(&b->there, &b->there_dy, way.options, &b->there_dh)); };
        must_cuda(cudaMemset(b->there_dh.values, 0xff, b->a.cols * b->h.k * 4));
        run();
        verify_backward(b, way.exact);
        report(b, b->h.k, way.name, time_of(b->set.repeat, run), backward, "sectors", sectors);
    }
    if (b->set.figure) return;
    report(b, b->h.k, "gradient of weights",
           time_of(b->set.repeat,
                   [&] {
                       must(csaw_maxk_spmm_backward_weight(&b->there, &b->there_dy, &b->there_h, &plain,
                                                           b->there_dweight));
                   }),
           0, "csaw_spmm", dense);
}

static void run_k(bench *b, uint64_t k, double dense) {
    const uint64_t index_bytes = csaw_cbsr_index_bytes(b->set.cols);
    std::vector<float> values(b->a.cols * k);
    std::vector<uint8_t> index(b->a.cols * k * index_bytes);
    b->h = csaw_cbsr{b->a.cols, b->set.cols, k, CSAW_F32, values.data(), index.data()};
    must(csaw_maxk(&b->x, nullptr, &b->h));
    b->there_h = b->there_dh = b->h;
    b->there_h.values = upload<float>(nullptr, values.size());
    b->there_h.index = upload<uint8_t>(nullptr, index.size());
    b->there_dh.values = upload<float>(nullptr, values.size());
    b->there_dh.index = b->there_h.index;
    const csaw_maxk_options o = maxk_options(b);
    must(csaw_maxk(&b->there_x, &o, &b->there_h));
    verify_maxk(b->h, b->there_h);
    if (!b->set.figure) run_rows(b);
    run_products(b, dense);
    cudaFree(b->there_h.values);
    cudaFree(b->there_h.index);
    cudaFree(b->there_dh.values);
}

/* ---- set up ---- */

static void fill(float *to, uint64_t count, uint64_t state) { /* sums of uniform numbers: bell-shaped */
    for (uint64_t i = 0; i < count; i++) {
        float sum = -2;
        for (int j = 0; j < 4; j++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            sum += (float)(state >> 40) * 0x1p-24f;
        }
        to[i] = sum;
    }
}

static csaw_sparse uploaded(const csaw_sparse &a) {
    csaw_sparse there = a;
    there.rowptr = upload(a.rowptr, a.rows + 1);
    there.col = upload(a.col, a.num_edges);
    there.weight = upload(a.weight, a.num_edges);
    return there;
}

static settings read_settings(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "", *name = argv[i];
        const uint32_t number = (uint32_t)strtoul(value, nullptr, 10);
        if (reads_graph(&s.graph, name, value)) continue;
        if (strcmp(name, "--k") == 0)
            s.k = value;
        else if (strcmp(name, "--what") == 0 && (strcmp(value, "all") == 0 || strcmp(value, "figure") == 0))
            s.figure = strcmp(value, "figure") == 0;
        else if (strcmp(name, "--device") == 0)
            s.device = value;
        else if (strcmp(name, "--commit") == 0)
            s.commit = value;
        else if (strcmp(name, "--json") == 0)
            s.json = value;
        else if (strcmp(name, "--cols") == 0)
            s.cols = number;
        else if (strcmp(name, "--repeat") == 0)
            s.repeat = number;
        else {
            fprintf(stderr, "maxk_gpu_bench: unknown option '%s'; see the head of bench/maxk_gpu.cu\n", name);
            exit(2);
        }
    }
    if (!s.repeat || !s.cols || s.cols > 65536 || strncmp(s.device, "cuda:", 5) != 0) exit(2);
    return s;
}

static void prepare(bench *b, const csaw_graph *graph, std::vector<float> *x, std::vector<float> *dy) {
    csaw_prepare_options o = {};
    b->a = csaw_graph_sparse(graph);
    must(csaw__maxk_transpose(&b->a, &b->turned));
    const uint64_t cols = b->set.cols, elements = b->a.rows * cols;
    x->resize(elements), dy->resize(elements);
    fill(x->data(), elements, 1);
    fill(dy->data(), elements, 2);
    b->x = csaw_dense{b->a.rows, cols, 0, CSAW_F32, x->data()};
    b->dy = csaw_dense{b->a.rows, cols, 0, CSAW_F32, dy->data()};
    b->there_x = b->there_y = b->there_dy = b->there_dx = b->x;
    b->there_x.data = upload(x->data(), elements), b->there_dy.data = upload(dy->data(), elements);
    b->there_y.data = upload<float>(nullptr, elements), b->there_dx.data = upload<float>(nullptr, elements);
    b->there = uploaded(b->a), b->there_turned = uploaded(b->turned);
    b->there_dweight = upload<float>(nullptr, b->a.num_edges);
    o.size = sizeof o;
    o.device = b->set.device;
    must(csaw_spmm_prepare(&b->there, &o, &b->plan));
}

int main(int argc, char **argv) {
    bench b;
    b.set = read_settings(argc, argv);
    std::vector<float> x, dy;
    cudaDeviceProp props;
    const int ordinal = atoi(b.set.device + 5);
    must_cuda(cudaSetDevice(ordinal));
    must_cuda(cudaGetDeviceProperties(&props, ordinal));
    csaw_graph *graph = graph_of(b.set.graph);
    prepare(&b, graph, &x, &dy);
    if (b.set.json && !(b.json = fopen(b.set.json, "w"))) {
        perror(b.set.json);
        return 1;
    }
    printf("csaw %s on %s, %s: %llu vertices, %llu edges, %u columns; median of %u groups of calls\n", csaw_version(),
           props.name, b.set.graph.name, (unsigned long long)b.a.rows, (unsigned long long)b.a.num_edges, b.set.cols,
           b.set.repeat);
    if (b.json)
        fprintf(
            b.json,
            "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"graph\": {\"kind\": \"%s\", \"share\": "
            "%g, \"vertices\": %llu, \"edges\": %llu}, \"cols\": %u, \"repeat\": %u, \"rows\": [",
            csaw_version(), b.set.commit, props.name, b.set.graph.name, b.set.graph.share, (unsigned long long)b.a.rows,
            (unsigned long long)b.a.num_edges, b.set.cols, b.set.repeat);
    const double dense = run_dense(&b);
    for (const char *at = b.set.k; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr) {
        const uint64_t k = strtoull(at, nullptr, 10);
        if (k < 1 || k > b.set.cols) {
            fprintf(stderr, "maxk_gpu_bench: --k '%s': numbers from 1 to %u, with commas between\n", b.set.k,
                    b.set.cols);
            return 2;
        }
        run_k(&b, k, dense);
    }
    const bool written = !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0);
    csaw_spmm_plan_free(b.plan);
    csaw__maxk_transpose_free(&b.turned);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
