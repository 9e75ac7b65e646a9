/* SPDX-License-Identifier: MIT */
/* bench/spmm_gpu.cu - aggregation on a GPU: csaw_spmm() by AUTO and by each method by name, with a plan and without,
 * MAX, a reduction of the user's, gradients, what attention needs, and cuSPARSE's algorithms, in one run. Results are
 * verified by bench/spmm_check.h before they are timed: csaw's must be right, and cuSPARSE's are marked where they are
 * not.
 *
 *   spmm_gpu_bench [--graph rmat|reddit|products|arxiv|FILE] [--share 1] [--scale 18] [--edge-factor 16]
 *                  [--undirected 0] [--columns 64,256] [--storage float32,float16,bfloat16] [--ways auto,crc,...]
 *                  [--planned 1] [--ops sum,dx,...] [--device cuda:0] [--repeat 20] [--commit TEXT] [--json FILE]
 *
 * --ways: methods of sum and max, by their names, with a plan unless --planned 0; auto is run always. --ops: of sum,
 * dx, dweight, mean, dx-of-mean, max, dx-of-max, dweight-of-max, sddmm, softmax, dscore-of-softmax, reducer and
 * cusparse; sum by auto is run always. All of them unless given. A gradient brings the product along that it belongs
 * to.
 *
 * Graphs: bench/graph_choice.h.
 * Features of 16 bits meet weights rounded to the same format, since cuSPARSE has one storage for both. Times are of
 * one call among many that follow each other, between CUDA events; what is prepared stands on lines of its own, timed
 * three times by the host's clock. Beside each time stands its floor: every array once (least_bytes) at the rate of a
 * copy measured in this run, and its ratio to the product that it belongs to: that by AUTO, of gradients of MEAN, MAX
 * and softmax theirs. Arrays that stay in the L2 cache from call to call can be faster. Rates as in bench/spmm.c. */
#include "bench/gpu_bench.cuh"
extern "C" {
#include "bench/spmm_check.h"
#include "spmm/element.h"
}

CSAW_DECLARE_REDUCER(add_up);

enum { CHECKED = 300 /* rows */, PREPARED = 3 /* times */ };

struct settings {
    graph_choice graph = GRAPH_CHOICE;
    const char *columns = "64,256", *device = "cuda:0", *commit = "", *json = nullptr;
    const char *storage = nullptr, *ways = nullptr, *ops = nullptr; /* NULL = all */
    uint32_t repeat = 20, planned = 1;
};

struct product_time { /* that others are compared with */
    const char *op = nullptr;
    double seconds = 0;
};

struct bench {
    settings set;
    csaw_sparse a, there; /* on the host, with the weights at hand; on the GPU */
    csaw_dense x, y, there_x, there_y;
    std::vector<char> x_bytes, y_bytes;
    std::vector<float> weight, dweight, mean_weight, softmax;
    std::vector<csaw_edge> arg;
    csaw_edge *there_arg = nullptr;
    float *there_dweight = nullptr, *there_softmax = nullptr;
    csaw_spmm_plan *plan = nullptr, *with_hubs = nullptr;
    product_time sum;
    FILE *json = nullptr;
    bool first = true;
    double copy_rate = 0; /* bytes a second */
};

/* Whether a word stands in a list with commas; all do in NULL. */
static bool is_in(const char *list, const char *word) {
    const size_t length = strlen(word);
    if (!list) return true;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
    return false;
}

/* ---- running and reporting ---- */

struct moved {       /* bytes */
    double gathered; /* rows of x that edges name, or numbers of edges where there is no x; 0 = none */
    double least;    /* every array once */
};

/* Of a product of any kind; picks: with arg. */
static moved of_rows(const bench *b, bool picks) {
    const double cols = (double)b->x.cols, row = cols * (b->x.dtype == CSAW_F32 ? 4 : 2);
    const double rows = (double)b->a.rows, edges = (double)b->a.num_edges;
    return {edges * row, 8 * rows + 8 * edges + (rows + (double)b->a.cols) * row + (picks ? 8 * rows * cols : 0)};
}

/* Of so many numbers an edge, read and written, and the ends of rows. */
static moved of_edges(const bench *b, double numbers) {
    const double bytes = 4 * numbers * (double)b->a.num_edges;
    return {bytes, 8 * (double)b->a.rows + bytes};
}

static void report(bench *b, const char *op, const char *by, const figure &f, const moved &bytes, uint64_t wrong,
                   const product_time &of = product_time()) {
    static const char *const storage[] = {"f32", "f16", "bf16"};
    const double floor_s = bytes.least / b->copy_rate, rate = bytes.gathered / f.median;
    printf("%-17s %-20s %-5s %5.0f columns %10.4f ms  (%.4f .. %.4f)", op, by, storage[b->x.dtype], (double)b->x.cols,
           f.median * 1e3, f.least * 1e3, f.most * 1e3);
    if (bytes.least > 0)
        printf("  floor %.4f ms  %8.3f GB at %8.1f GB/s", floor_s * 1e3, bytes.gathered / 1e9, rate / 1e9);
    if (of.op) printf("  %.3f of %s", f.median / of.seconds, of.op);
    printf("%s\n", wrong ? "  WRONG" : "");
    fflush(stdout);
    if (b->json) {
        fprintf(b->json,
                "%s\n  {\"op\": \"%s\", \"by\": \"%s\", \"storage\": \"%s\", \"columns\": %.0f, \"median_s\": %.6g, "
                "\"min_s\": %.6g, \"max_s\": %.6g, \"gathered_bytes\": %.0f, \"gathered_bytes_per_s\": %.6g, "
                "\"least_bytes\": %.0f, \"floor_s\": %.6g, \"wrong\": %llu",
                b->first ? "" : ",", op, by, storage[b->x.dtype], (double)b->x.cols, f.median, f.least, f.most,
                bytes.gathered, rate, bytes.least, floor_s, (unsigned long long)wrong);
        if (of.op) fprintf(b->json, ", \"of\": \"%s\", \"ratio\": %.4g", of.op, f.median / of.seconds);
        fputs("}", b->json);
    }
    b->first = false;
}

enum check { PRODUCTS, MEANS, LARGEST, TRANSPOSED, MEANS_BACK, PICKED, DOTS, PICKED_DOTS, SOFTMAX, SOFTMAX_BACK };

/* Whether numbers of edges come of it, not rows. */
static bool is_of_edges(check what) { return what >= DOTS; }

/* What a run left, on the host, and how much of it is wrong. */
static uint64_t wrong_of(bench *b, check what) {
    csaw_sparse means = b->a;
    means.weight = b->mean_weight.data();
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaMemcpy(b->y_bytes.data(), b->there_y.data, b->y_bytes.size(), cudaMemcpyDeviceToHost));
    if (what == LARGEST) must_cuda(cudaMemcpy(b->arg.data(), b->there_arg, b->arg.size() * 8, cudaMemcpyDeviceToHost));
    if (is_of_edges(what))
        must_cuda(cudaMemcpy(b->dweight.data(), b->there_dweight, b->dweight.size() * 4, cudaMemcpyDeviceToHost));
    switch (what) {
    case PRODUCTS: return wrong_products(&b->a, &b->x, &b->y, false, CHECKED);
    case MEANS: return wrong_products(&b->a, &b->x, &b->y, true, CHECKED);
    case LARGEST: return wrong_largest(&b->a, &b->x, &b->y, b->arg.data(), CHECKED);
    case TRANSPOSED: return wrong_transposed(&b->a, &b->x, &b->y, nullptr, CHECKED);
    case MEANS_BACK: return wrong_transposed(&means, &b->x, &b->y, nullptr, CHECKED);
    case PICKED: return wrong_transposed(&b->a, &b->x, &b->y, b->arg.data(), CHECKED);
    case DOTS: return wrong_dots(&b->a, &b->x, b->dweight.data(), CHECKED);
    case PICKED_DOTS: return wrong_picked_dots(&b->a, &b->x, b->arg.data(), b->dweight.data(), CHECKED);
    case SOFTMAX_BACK:
        return wrong_softmax_gradient(&b->a, b->softmax.data(), b->weight.data(), b->dweight.data(), CHECKED);
    default: return wrong_softmax(&b->a, b->weight.data(), b->dweight.data(), CHECKED);
    }
}

/* Runs once on a poisoned output and checks it, then times; the median. ours: must be right. */
template <typename RUN>
static double measure(bench *b, const char *op, const char *by, check what, bool ours, const product_time &of,
                      RUN run) {
    must_cuda(cudaMemset(b->there_y.data, 0xff, b->y_bytes.size()));
    if (is_of_edges(what)) must_cuda(cudaMemset(b->there_dweight, 0xff, b->dweight.size() * 4));
    if (what == LARGEST) must_cuda(cudaMemset(b->there_arg, 0x5a, b->arg.size() * 8));
    watched(run);
    const uint64_t wrong = wrong_of(b, what);
    if (wrong && ours) {
        fprintf(stderr, "spmm_gpu_bench: %s by %s: %llu elements are out of bound\n", op, by,
                (unsigned long long)wrong);
        exit(3);
    }
    const figure f = time_of(b->set.repeat, run);
    const bool picks = what == LARGEST || what == PICKED || what == PICKED_DOTS;
    const moved bytes = what == SOFTMAX ? of_edges(b, 2) : what == SOFTMAX_BACK ? of_edges(b, 3) : of_rows(b, picks);
    report(b, op, by, f, bytes, wrong, of);
    return f.median;
}

/* ---- what is timed ---- */

static csaw_spmm_options options_of(const bench *b, const csaw_spmm_plan *plan) {
    csaw_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.plan = plan;
    return o;
}

/* A product by AUTO, or by what the options name; the median. */
static double run_product(bench *b, const char *op, const char *by, check what, const csaw_spmm_options &options) {
    return measure(b, op, by, what, true, b->sum,
                   [&] { must(csaw_spmm(&b->there, &b->there_x, &options, &b->there_y)); });
}

/* The same otherwise: by methods, with hubs, and without a plan. */
static void run_product_otherwise(bench *b, const char *op, check what, csaw_spmm_options options) {
    options.plan = b->set.planned ? b->with_hubs : nullptr;
    for (int method = CSAW_SPMM_CRC; method <= CSAW_SPMM_STRETCHES; method++) {
        const char *const name = csaw_spmm_method_name((csaw_spmm_method)method);
        const std::string by = std::string(name) + (options.plan ? "" : ", not prepared");
        options.method = (csaw_spmm_method)method;
        if (method == CSAW_SPMM_HUBS && !options.plan) continue;
        if (is_in(b->set.ways, name)) run_product(b, op, by.c_str(), what, options);
    }
    options.method = CSAW_SPMM_AUTO;
    options.plan = b->with_hubs;
    run_product(b, op, "auto, with hubs", what, options);
    options.plan = nullptr;
    run_product(b, op, "auto, not prepared", what, options);
}

static void run_dx(bench *b, const char *by, const csaw_spmm_plan *plan) {
    const csaw_spmm_options options = options_of(b, plan);
    measure(b, "dx of sum", by, TRANSPOSED, true, b->sum,
            [&] { must(csaw_spmm_backward(&b->there, nullptr, &b->there_x, &options, &b->there_y, nullptr)); });
}

static void run_sums(bench *b) {
    const csaw_spmm_options planned = options_of(b, b->plan);
    b->sum = product_time();
    b->sum = product_time{"sum", run_product(b, "sum", "auto", PRODUCTS, planned)};
    if (is_in(b->set.ops, "sum")) run_product_otherwise(b, "sum", PRODUCTS, planned);
    if (is_in(b->set.ops, "dx")) {
        run_dx(b, "auto", b->plan);
        run_dx(b, "auto, with hubs", b->with_hubs);
    }
    if (is_in(b->set.ops, "dweight"))
        measure(b, "dweight of sum", "csaw", DOTS, true, b->sum, [&] {
            must(csaw_spmm_backward(&b->there, &b->there_x, &b->there_x, &planned, nullptr, b->there_dweight));
        });
    if (is_in(b->set.ops, "reducer")) {
        csaw_spmm_options options = options_of(b, nullptr);
        options.reducer = &add_up;
        measure(b, "sum", "a user's reducer", PRODUCTS, true, b->sum,
                [&] { must(csaw_spmm(&b->there, &b->there_x, &options, &b->there_y)); });
    }
}

static void run_means(bench *b) {
    const bool back = is_in(b->set.ops, "dx-of-mean");
    csaw_spmm_options options = options_of(b, b->plan);
    if (!is_in(b->set.ops, "mean") && !back) return;
    options.reduce = CSAW_MEAN;
    const auto forward = [&] { must(csaw_spmm(&b->there, &b->there_x, &options, &b->there_y)); };
    const product_time mean = {"mean", measure(b, "mean", "auto", MEANS, true, b->sum, forward)};
    if (!back) return;
    b->mean_weight.resize(b->a.num_edges);
    for (uint64_t r = 0; r < b->a.rows; r++)
        for (uint64_t e = b->a.rowptr[r]; e < b->a.rowptr[r + 1]; e++)
            b->mean_weight[e] = b->weight[e] / (float)(b->a.rowptr[r + 1] - b->a.rowptr[r]);
    measure(b, "dx of mean", "csaw", MEANS_BACK, true, mean,
            [&] { must(csaw_spmm_backward(&b->there, nullptr, &b->there_x, &options, &b->there_y, nullptr)); });
    b->mean_weight.clear();
}

static void run_largest(bench *b) {
    const bool dx = is_in(b->set.ops, "dx-of-max"), dweight = is_in(b->set.ops, "dweight-of-max");
    csaw_spmm_options options = options_of(b, b->plan);
    if (!is_in(b->set.ops, "max") && !dx && !dweight) return;
    b->arg.resize(b->a.rows * b->x.cols);
    b->there_arg = upload<csaw_edge>(nullptr, b->arg.size());
    options.reduce = CSAW_MAX;
    options.arg = b->there_arg;
    const product_time max = {"max", run_product(b, "max", "auto", LARGEST, options)};
    if (dx)
        measure(b, "dx of max", "csaw", PICKED, true, max,
                [&] { must(csaw_spmm_backward(&b->there, nullptr, &b->there_x, &options, &b->there_y, nullptr)); });
    if (dweight)
        measure(b, "dweight of max", "csaw", PICKED_DOTS, true, max, [&] {
            must(csaw_spmm_backward(&b->there, &b->there_x, &b->there_x, &options, nullptr, b->there_dweight));
        });
    if (is_in(b->set.ops, "max")) run_product_otherwise(b, "max", LARGEST, options);
    cudaFree(b->there_arg);
}

static void run_softmax(bench *b) {
    const bool back = is_in(b->set.ops, "dscore-of-softmax");
    csaw_edge_options options = {};
    options.size = sizeof options;
    options.device = b->set.device;
    if (!is_in(b->set.ops, "softmax") && !back) return;
    const auto forward = [&] { must(csaw_edge_softmax(&b->there, b->there.weight, &options, b->there_dweight)); };
    const product_time softmax = {"softmax", measure(b, "edge softmax", "csaw", SOFTMAX, true, b->sum, forward)};
    if (!back) return;
    b->softmax.swap(b->dweight); /* as forward left it */
    b->dweight.resize(b->a.num_edges);
    b->there_softmax = upload(b->softmax.data(), b->a.num_edges);
    measure(b, "dscore of softmax", "csaw", SOFTMAX_BACK, true, softmax, [&] {
        must(csaw_edge_softmax_backward(&b->there, b->there_softmax, b->there.weight, &options, b->there_dweight));
    });
    cudaFree(b->there_softmax);
}

static void run_dots(bench *b) {
    csaw_edge_options options = {};
    options.size = sizeof options;
    options.device = b->set.device;
    if (is_in(b->set.ops, "sddmm"))
        measure(b, "sddmm", "csaw", DOTS, true, b->sum,
                [&] { must(csaw_sddmm(&b->there, &b->there_x, &b->there_x, &options, b->there_dweight)); });
}

static void run_cusparse(bench *b) {
    static const struct {
        const char *name, *prepared;
        cusparseSpMMAlg_t alg;
    } algs[] = {{"cuSPARSE ALG1", "cuSPARSE ALG1 once", CUSPARSE_SPMM_CSR_ALG1},
                {"cuSPARSE ALG2", "cuSPARSE ALG2 once", CUSPARSE_SPMM_CSR_ALG2},
                {"cuSPARSE ALG3", "cuSPARSE ALG3 once", CUSPARSE_SPMM_CSR_ALG3}};
    if (!is_in(b->set.ops, "cusparse") || b->a.num_edges > INT32_MAX) return;
    for (const auto &alg : algs) {
        cusparse_product product(&b->there, &b->there_x, &b->there_y, alg.alg);
        const double start = now();
        product.preprocess();
        must_cuda(cudaDeviceSynchronize());
        const double once = now() - start;
        report(b, "prepare", alg.prepared, figure{once, once, once}, moved(), 0);
        measure(b, "sum", alg.name, PRODUCTS, false, b->sum, [&] { product.run(); });
    }
}

/* Times what is prepared, and keeps the last. */
static csaw_spmm_plan *prepare(bench *b, const char *by, bool hubs) {
    csaw_prepare_options o = {};
    csaw_spmm_plan *plan = nullptr;
    double seconds[PREPARED];
    o.size = sizeof o;
    o.device = b->set.device;
    o.fixed_weights = true;
    o.hubs = hubs;
    o.means = is_in(b->set.ops, "dx-of-mean");
    for (double &s : seconds) {
        csaw_spmm_plan_free(plan);
        const double start = now();
        must(csaw_spmm_prepare(&b->there, &o, &plan)); /* which waits for the GPU */
        s = now() - start;
    }
    report(b, "prepare", by, figure_of(seconds, PREPARED), moved(), 0);
    return plan;
}

static void run_storage(bench *b, const csaw_sparse &a, uint64_t cols, csaw_dtype dtype) {
    const uint64_t bytes = a.rows * cols * csaw__dtype_bytes(dtype);
    b->x_bytes.assign(bytes, 0);
    b->y_bytes.assign(bytes, 0);
    b->x = csaw_dense{a.rows, cols, 0, dtype, b->x_bytes.data()};
    b->y = csaw_dense{a.rows, cols, 0, dtype, b->y_bytes.data()};
    for (uint64_t r = 0; r < a.rows; r++)
        for (uint64_t c = 0; c < cols; c++)
            set_element(&b->x, r, c, (float)((r * 2654435761u + c * 40503u) % 4001) * 1e-3f - 2.0f);
    for (uint64_t e = 0; e < a.num_edges; e++) {
        const float w = a.weight ? a.weight[e] : 1.0f;
        b->weight[e] = dtype == CSAW_F32   ? w
                       : dtype == CSAW_F16 ? csaw__from_f16(csaw__to_f16(w))
                                           : csaw__from_bf16(csaw__to_bf16(w));
    }
    b->a = a;
    b->a.weight = b->weight.data();
    must_cuda(cudaMemcpy((void *)b->there.weight, b->weight.data(), a.num_edges * 4, cudaMemcpyHostToDevice));
    b->there_x = b->x, b->there_y = b->y;
    b->there_x.data = upload(b->x_bytes.data(), bytes);
    b->there_y.data = upload<char>(nullptr, bytes);
    b->plan = prepare(b, "csaw", false);
    b->with_hubs = prepare(b, "csaw, with hubs", true);
    run_sums(b);
    run_means(b);
    run_largest(b);
    run_dots(b);
    run_softmax(b);
    run_cusparse(b);
    csaw_spmm_plan_free(b->plan);
    csaw_spmm_plan_free(b->with_hubs);
    cudaFree(b->there_x.data);
    cudaFree(b->there_y.data);
}

static settings read_settings(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "", *name = argv[i];
        const uint32_t number = (uint32_t)strtoul(value, nullptr, 10);
        if (reads_graph(&s.graph, name, value)) continue;
        if (strcmp(name, "--columns") == 0)
            s.columns = value;
        else if (strcmp(name, "--storage") == 0)
            s.storage = value;
        else if (strcmp(name, "--ways") == 0)
            s.ways = value;
        else if (strcmp(name, "--ops") == 0)
            s.ops = value;
        else if (strcmp(name, "--device") == 0)
            s.device = value;
        else if (strcmp(name, "--commit") == 0)
            s.commit = value;
        else if (strcmp(name, "--json") == 0)
            s.json = value;
        else if (strcmp(name, "--repeat") == 0)
            s.repeat = number;
        else if (strcmp(name, "--planned") == 0)
            s.planned = number;
        else {
            fprintf(stderr, "spmm_gpu_bench: unknown option '%s'; see the head of bench/spmm_gpu.cu\n", name);
            exit(2);
        }
    }
    if (!s.repeat || strncmp(s.device, "cuda:", 5) != 0) exit(2);
    return s;
}

int main(int argc, char **argv) {
    static const char *const storages[] = {"float32", "float16", "bfloat16"};
    bench b;
    b.set = read_settings(argc, argv);
    cudaDeviceProp props;
    const int ordinal = atoi(b.set.device + 5);
    must_cuda(cudaSetDevice(ordinal));
    must_cuda(cudaGetDeviceProperties(&props, ordinal));
    csaw_graph *graph = graph_of(&b.set.graph);
    const csaw_sparse a = csaw_graph_sparse(graph);
    b.weight.resize(a.num_edges);
    b.dweight.resize(a.num_edges);
    b.there = a;
    b.there.rowptr = upload(a.rowptr, a.rows + 1);
    b.there.col = upload(a.col, a.num_edges);
    b.there.weight = upload<float>(nullptr, a.num_edges);
    b.there_dweight = upload<float>(nullptr, a.num_edges);
    if (b.set.json && !(b.json = fopen(b.set.json, "w"))) {
        perror(b.set.json);
        return 1;
    }
    b.copy_rate = copy_rate();
    begin_report(b.json, props.name, b.set.commit, &b.set.graph, graph, b.copy_rate, b.set.repeat);
    for (const char *at = b.set.columns; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
        for (int dtype = CSAW_F32; dtype <= CSAW_BF16; dtype++)
            if (is_in(b.set.storage, storages[dtype])) run_storage(&b, a, strtoull(at, nullptr, 10), (csaw_dtype)dtype);
    const bool written = !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
