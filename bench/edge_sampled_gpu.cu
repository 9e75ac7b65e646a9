/* SPDX-License-Identifier: MIT */
/* bench/edge_sampled_gpu.cu - edge-sampled aggregation on a GPU by S and method, with the share of entries that was
 * taken, beside the full product by csaw_spmm() and by cuSPARSE, in one run: Fig. 8 and Table V of ES-SpMM. Products
 * and gradients are verified by bench/spmm_check.h against the CPU's sampled matrix before they are timed.
 *
 *   edge_sampled_gpu_bench [--graph rmat|reddit|products|arxiv|FILE] [--share 1] [--scale 18] [--edge-factor 16]
 *                          [--undirected 0] [--columns 64,256] [--storage f32,f16,bf16]
 *                          [--widths 16,32,64,128,256,512] [--lanes 0] [--repeat 20] [--commit TEXT] [--json FILE]
 *
 * Graphs: bench/graph_choice.h. --lanes: threads of a row, 8 to 128 by powers of two; several are compared; 0 = as many
 * as hold its columns. Features of 16 bits meet weights rounded to the same format, since cuSPARSE has one storage for
 * both. Times are of one call among many that follow each other, between CUDA events. Beside each stand the features
 * that it gathers and the rate at which it does; its floor, all arrays once (least_bytes: entries that were taken,
 * ends of rows, features, result) at the rate of a copy measured in this run; of products how many times as fast as
 * the best right one by cuSPARSE of this storage they are, of gradients how many times their product they take. Lines
 * "A' prepared" are csaw_spmm() and its gradient with the sampled matrix written out once and a plan of it, as where it
 * stays from epoch to epoch; making the plan is a line of its own. Exits 3 if a result of csaw's is wrong. */
#include <string>

#include "bench/gpu_bench.cuh"
extern "C" {
#include "bench/spmm_check.h"
#include "spmm/call.h"
#include "spmm/device.h"
}

enum { CHECKED = 300 /* rows */ };
static const char *const method_name[] = {"stratified", "bucket", "fastrand"};
static const char *const storage_name[] = {"f32", "f16", "bf16"};

struct settings {
    graph_choice graph = GRAPH_CHOICE;
    const char *columns = "64,256", *widths = "16,32,64,128,256,512", *lanes = "0", *storage = "f32,f16,bf16";
    const char *commit = "", *json = nullptr;
    uint32_t repeat = 20;
};

struct bench {
    settings set;
    csaw_sparse a, there; /* on the host, with the weights at hand; on the GPU */
    csaw_dense x, y, there_x, there_y;
    std::vector<char> x_bytes, y_bytes;
    std::vector<float> weight;
    double copy_rate = 0; /* bytes a second */
    double cusparse = 0;  /* seconds of the best right product of this storage; 0 = none yet */
    double forward = 0;   /* of the product whose gradient comes next */
    FILE *json = nullptr;
    bool first = true;
};

static std::vector<uint32_t> numbers(const char *text) {
    std::vector<uint32_t> out;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
        out.push_back((uint32_t)strtoul(at, nullptr, 10));
    return out;
}

/* Whether a list with commas between has the word. */
static bool names(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || !at[length])) return true;
    return false;
}

enum output { Y, DX, PLAN };
static const char *const output_name[] = {"y", "dx", "prepare"};

/* edges: that the product takes; wrong: elements out of bound, of others' results alone */
static void report(bench *b, output what, const char *by, uint32_t width, uint32_t lanes, uint64_t edges,
                   const figure &f, uint64_t wrong) {
    const char *const op = output_name[what], *const storage = storage_name[b->x.dtype];
    const double cols = (double)b->x.cols, bytes = csaw__dtype_bytes(b->x.dtype);
    const double taken = (double)edges / (double)b->a.num_edges;
    const double gathered = what == PLAN ? 0 : (double)edges * cols * bytes;
    const double least = 8 * (double)b->a.rows + 8 * (double)edges + (double)(b->a.rows + b->a.cols) * cols * bytes;
    const double floor_s = what == PLAN ? 0 : least / b->copy_rate;
    const double times = what == Y && b->cusparse > 0 ? b->cusparse / f.median : 0;
    const double of_forward = what == DX && b->forward > 0 ? f.median / b->forward : 0;
    if (what == Y) b->forward = f.median;
    printf("%-7s %-22s %-4s S %3u, lanes %3u, taken %.4f, %4.0f columns %9.4f ms  (%.4f .. %.4f)", op, by, storage,
           width, lanes, taken, cols, f.median * 1e3, f.least * 1e3, f.most * 1e3);
    if (what != PLAN)
        printf("  floor %.4f ms  %.3f GB at %.1f GB/s gathered", floor_s * 1e3, gathered / 1e9,
               gathered / f.median / 1e9);
    if (times > 0) printf("  %.2f x cuSPARSE", times);
    if (of_forward > 0) printf("  %.3f of y", of_forward);
    puts(wrong ? "  WRONG" : "");
    fflush(stdout);
    if (b->json)
        fprintf(
            b->json,
            "%s\n  {\"op\": \"%s\", \"by\": \"%s\", \"storage\": \"%s\", \"S\": %u, \"lanes\": %u, \"taken\": %.6f, "
            "\"columns\": %.0f, \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, \"gathered_bytes\": %.0f, "
            "\"gathered_bytes_per_s\": %.6g, \"least_bytes\": %.0f, \"floor_s\": %.6g, \"times_cusparse\": %.6g, "
            "\"of_forward\": %.4g, \"wrong\": %llu}",
            b->first ? "" : ",", op, by, storage, width, lanes, taken, cols, f.median, f.least, f.most, gathered,
            gathered / f.median, least, floor_s, times, of_forward, (unsigned long long)wrong);
    b->first = false;
}

struct result {
    figure seconds;
    uint64_t wrong; /* elements */
};

/* Runs on a poisoned output, checks it against the product with m, and times. ours: must be right. */
template <typename RUN>
static result measure(bench *b, output what, const char *by, uint32_t width, const csaw_sparse *m, bool ours, RUN run) {
    must_cuda(cudaMemset(b->there_y.data, 0xff, b->y_bytes.size()));
    run();
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaMemcpy(b->y_bytes.data(), b->there_y.data, b->y_bytes.size(), cudaMemcpyDeviceToHost));
    const uint64_t wrong = what == Y ? wrong_products(m, &b->x, &b->y, false, CHECKED)
                                     : wrong_transposed(m, &b->x, &b->y, nullptr, CHECKED);
    if (wrong && ours) {
        fprintf(stderr, "edge_sampled_gpu_bench: %s by %s, S = %u: %llu elements are out of bound\n", output_name[what],
                by, width, (unsigned long long)wrong);
        exit(3);
    }
    return {time_of(b->set.repeat, run), wrong};
}

/* The same, with its line. */
template <typename RUN>
static void measure_ours(bench *b, output what, const char *by, uint32_t width, uint32_t lanes, const csaw_sparse *m,
                         RUN run) {
    report(b, what, by, width, lanes, m->num_edges, measure(b, what, by, width, m, true, run).seconds, 0);
}

struct sampled { /* on the host */
    std::vector<uint64_t> rowptr;
    std::vector<csaw_edge> edge;
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
    csaw_sparse view;
};

static void sample(const csaw_sparse &a, const csaw_es_options &options, sampled *out) {
    out->rowptr.resize(a.rows + 1);
    must(csaw_edge_sample(&a, &options, out->rowptr.data(), nullptr, nullptr));
    const uint64_t count = out->rowptr[a.rows];
    out->edge.resize(count);
    out->col.resize(count);
    out->weight.resize(count);
    must(csaw_edge_sample(&a, &options, out->rowptr.data(), out->edge.data(), out->weight.data()));
    for (uint64_t k = 0; k < count; k++) out->col[k] = a.col[out->edge[k]];
    out->view = csaw_sparse{a.rows, a.cols, count, out->rowptr.data(), out->col.data(), out->weight.data()};
}

/* csaw_spmm() and its gradient by a plan of m, which is `there` on the GPU. */
static void run_prepared(bench *b, const char *by, uint32_t width, const csaw_sparse &m, const csaw_sparse &there) {
    csaw_spmm_plan *plan = nullptr;
    csaw_prepare_options prepare = {};
    csaw_spmm_options options = {};
    prepare.size = sizeof prepare, options.size = sizeof options;
    prepare.device = options.device = "cuda:0";
    prepare.fixed_weights = true;
    const double start = now();
    must(csaw_spmm_prepare(&there, &prepare, &plan)); /* which waits for the GPU */
    const double once = now() - start;
    options.plan = plan;
    measure_ours(b, Y, by, width, 0, &m, [&] { must(csaw_spmm(&there, &b->there_x, &options, &b->there_y)); });
    measure_ours(b, DX, by, width, 0, &m,
                 [&] { must(csaw_spmm_backward(&there, nullptr, &b->there_x, &options, &b->there_y, nullptr)); });
    report(b, PLAN, by, width, 0, m.num_edges, figure{once, once, once}, 0);
    csaw_spmm_plan_free(plan);
}

static void run_sampled(bench *b, csaw_edges_method method, uint32_t width) {
    csaw_es_options options = {};
    sampled s;
    options.size = sizeof options;
    options.method = method, options.width = width, options.seed = 1;
    sample(b->a, options, &s);
    options.device = "cuda:0";
    csaw__edge_rule rule = {};
    rule.method = method, rule.width = width, rule.seed = 1;
    const csaw__where where = {0, nullptr};
    for (uint32_t lanes : numbers(b->set.lanes))
        measure_ours(b, Y, method_name[method], width, lanes, &s.view,
                     [&] { must(csaw__device_es_spmm(&where, &rule, lanes, &b->there, &b->there_x, &b->there_y)); });
    measure_ours(b, DX, method_name[method], width, 0, &s.view,
                 [&] { must(csaw_es_spmm_backward(&b->there, nullptr, &b->there_x, &options, &b->there_y, nullptr)); });
    csaw_sparse there = s.view;
    there.rowptr = upload(s.view.rowptr, s.view.rows + 1);
    there.col = upload(s.view.col, s.view.num_edges), there.weight = upload(s.view.weight, s.view.num_edges);
    run_prepared(b, (std::string(method_name[method]) + ", A' prepared").c_str(), width, s.view, there);
    cudaFree((void *)there.rowptr), cudaFree((void *)there.col), cudaFree((void *)there.weight);
}

static void run_cusparse(bench *b) {
    static const struct {
        const char *name;
        cusparseSpMMAlg_t alg;
    } algs[] = {{"cuSPARSE ALG1", CUSPARSE_SPMM_CSR_ALG1},
                {"cuSPARSE ALG2", CUSPARSE_SPMM_CSR_ALG2},
                {"cuSPARSE ALG3", CUSPARSE_SPMM_CSR_ALG3}};
    b->cusparse = 0;
    if (b->a.num_edges > INT32_MAX) return;
    std::vector<result> results;
    for (const auto &alg : algs) {
        cusparse_product product(&b->there, &b->there_x, &b->there_y, alg.alg);
        product.preprocess();
        results.push_back(measure(b, Y, alg.name, 0, &b->a, false, [&] { product.run(); }));
        const result &r = results.back();
        if (!r.wrong && !(b->cusparse > 0 && b->cusparse < r.seconds.median)) b->cusparse = r.seconds.median;
    }
    for (size_t i = 0; i < results.size(); i++)
        report(b, Y, algs[i].name, 0, 0, b->a.num_edges, results[i].seconds, results[i].wrong);
}

static void run_full(bench *b) { run_prepared(b, "csaw, full", 0, b->a, b->there); }

static void run_storage(bench *b, const csaw_sparse &a, uint64_t cols, csaw_dtype dtype) {
    const uint64_t bytes = a.rows * cols * csaw__dtype_bytes(dtype);
    b->x_bytes.assign(bytes, 0);
    b->y_bytes.assign(bytes, 0);
    b->x = csaw_dense{a.rows, cols, 0, dtype, b->x_bytes.data()};
    b->y = csaw_dense{a.rows, cols, 0, dtype, b->y_bytes.data()};
    for (uint64_t r = 0; r < a.rows; r++)
        for (uint64_t c = 0; c < cols; c++)
            set_element(&b->x, r, c, (float)((r * cols + c) * 2654435761u % 4001) * 1e-3f - 2);
    for (uint64_t e = 0; e < a.num_edges; e++)
        b->weight[e] = dtype == CSAW_F32   ? a.weight[e]
                       : dtype == CSAW_F16 ? csaw__from_f16(csaw__to_f16(a.weight[e]))
                                           : csaw__from_bf16(csaw__to_bf16(a.weight[e]));
    b->a.weight = b->weight.data();
    must_cuda(cudaMemcpy((void *)b->there.weight, b->weight.data(), a.num_edges * 4, cudaMemcpyHostToDevice));
    b->there_x = b->x, b->there_y = b->y;
    b->there_x.data = upload(b->x_bytes.data(), bytes);
    b->there_y.data = upload<char>(nullptr, bytes);
    run_cusparse(b);
    run_full(b);
    for (uint32_t width : numbers(b->set.widths))
        for (int method = 0; method < 3; method++) run_sampled(b, (csaw_edges_method)method, width);
    cudaFree(b->there_x.data);
    cudaFree(b->there_y.data);
}

static settings read_settings(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "", *name = argv[i];
        const char **const text = strcmp(name, "--columns") == 0   ? &s.columns
                                  : strcmp(name, "--widths") == 0  ? &s.widths
                                  : strcmp(name, "--lanes") == 0   ? &s.lanes
                                  : strcmp(name, "--storage") == 0 ? &s.storage
                                  : strcmp(name, "--commit") == 0  ? &s.commit
                                  : strcmp(name, "--json") == 0    ? &s.json
                                                                   : nullptr;
        if (reads_graph(&s.graph, name, value)) continue;
        if (text)
            *text = value;
        else if (strcmp(name, "--repeat") == 0 && atoi(value) > 0)
            s.repeat = (uint32_t)atoi(value);
        else {
            fprintf(stderr, "edge_sampled_gpu_bench: '%s': see the head of bench/edge_sampled_gpu.cu\n", name);
            exit(2);
        }
    }
    return s;
}

int main(int argc, char **argv) {
    bench b;
    b.set = read_settings(argc, argv);
    cudaDeviceProp props;
    must_cuda(cudaGetDeviceProperties(&props, 0));
    csaw_graph *graph = graph_of(&b.set.graph);
    const csaw_sparse a = csaw_graph_sparse(graph);
    b.a = b.there = a;
    b.weight.resize(a.num_edges);
    b.there.rowptr = upload(a.rowptr, a.rows + 1);
    b.there.col = upload(a.col, a.num_edges);
    b.there.weight = upload<float>(nullptr, a.num_edges);
    if (b.set.json && !(b.json = fopen(b.set.json, "w"))) {
        perror(b.set.json);
        return 1;
    }
    b.copy_rate = copy_rate();
    begin_report(b.json, props.name, b.set.commit, &b.set.graph, graph, b.copy_rate, b.set.repeat);
    for (uint32_t cols : numbers(b.set.columns))
        for (int dtype = CSAW_F32; dtype <= CSAW_BF16; dtype++)
            if (names(b.set.storage, storage_name[dtype])) run_storage(&b, a, cols, (csaw_dtype)dtype);
    const bool written = !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
