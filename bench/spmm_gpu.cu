/* SPDX-License-Identifier: MIT */
/* bench/spmm_gpu.cu - aggregation on a GPU: csaw_spmm() by AUTO and by each kernel by name, with a plan and without,
 * its gradients, and cuSPARSE's algorithms, in one run. Results are verified by bench/spmm_check.h before they are
 * timed: csaw's must be right, and cuSPARSE's are marked where they are not.
 *
 *   spmm_gpu_bench [--graph rmat|reddit|products|arxiv] [--share 1] [--scale 18] [--edge-factor 16] [--columns 64,256]
 *                  [--device cuda:0] [--repeat 20] [--commit TEXT] [--json FILE]
 *
 * Features of 16 bits meet weights rounded to the same format, since cuSPARSE has one storage for both. Times are of
 * one call among many that follow each other, between CUDA events; what is prepared stands on lines of its own. Beside
 * each time stands its floor: every array once (least_bytes) at the rate of a copy measured in this run. Arrays that
 * stay in the L2 cache from call to call can be faster. Rates as in bench/spmm.c. */
#include "bench/gpu_bench.cuh"
extern "C" {
#include "bench/spmm_check.h"
#include "spmm/call.h"
#include "spmm/device.h"
}

enum { CHECKED = 300 }; /* rows */

struct settings {
    graph_choice graph;
    const char *columns = "64,256", *device = "cuda:0", *commit = "", *json = nullptr;
    uint32_t repeat = 20;
};

struct bench {
    settings set;
    csaw_sparse a, there; /* on the host, with the weights at hand; on the GPU */
    csaw_dense x, y, there_x, there_y;
    std::vector<char> x_bytes, y_bytes;
    std::vector<float> weight, dweight;
    float *there_dweight = nullptr;
    csaw_spmm_plan *plan = nullptr;
    FILE *json = nullptr;
    bool first = true;
    double copy_rate = 0; /* bytes a second */
};

/* ---- running and reporting ---- */

static void report(bench *b, const char *op, const char *by, const figure &f, uint64_t wrong) {
    static const char *const storage[] = {"f32", "f16", "bf16"};
    const double bytes = b->x.dtype == CSAW_F32 ? 4 : 2, cols = (double)b->x.cols, edges = (double)b->a.num_edges;
    const double gathered = edges * cols * bytes;
    const double least = 8 * (double)b->a.rows + 8 * edges + (double)(b->a.rows + b->a.cols) * cols * bytes;
    const double floor_s = least / b->copy_rate;
    printf("%-16s %-20s %-5s %5.0f columns %10.4f ms  (%.4f .. %.4f)  floor %.4f ms  %8.1f GB/s gathered%s\n", op, by,
           storage[b->x.dtype], cols, f.median * 1e3, f.least * 1e3, f.most * 1e3, floor_s * 1e3,
           gathered / f.median / 1e9, wrong ? "  WRONG" : "");
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"op\": \"%s\", \"by\": \"%s\", \"storage\": \"%s\", \"columns\": %.0f, \"median_s\": %.6g, "
                "\"min_s\": %.6g, \"max_s\": %.6g, \"gathered_bytes\": %.0f, \"least_bytes\": %.0f, "
                "\"floor_s\": %.6g, \"wrong\": %llu}",
                b->first ? "" : ",", op, by, storage[b->x.dtype], cols, f.median, f.least, f.most, gathered, least,
                floor_s, (unsigned long long)wrong);
    b->first = false;
}

enum check { PRODUCTS, TRANSPOSED, DOTS };

/* Runs once on a poisoned output and checks it, then times. ours: must be right. */
template <typename RUN> static void measure(bench *b, const char *op, const char *by, check what, bool ours, RUN run) {
    uint64_t wrong = 0;
    must_cuda(cudaMemset(b->there_y.data, 0xff, b->y_bytes.size()));
    run();
    must_cuda(cudaDeviceSynchronize());
    must_cuda(cudaMemcpy(b->y_bytes.data(), b->there_y.data, b->y_bytes.size(), cudaMemcpyDeviceToHost));
    if (what == PRODUCTS) wrong = wrong_products(&b->a, &b->x, &b->y, false, CHECKED);
    if (what == TRANSPOSED) wrong = wrong_transposed(&b->a, &b->x, &b->y, nullptr, CHECKED);
    if (what == DOTS) {
        must_cuda(cudaMemcpy(b->dweight.data(), b->there_dweight, b->dweight.size() * 4, cudaMemcpyDeviceToHost));
        wrong = wrong_dots(&b->a, &b->x, b->dweight.data(), CHECKED);
    }
    if (wrong && ours) {
        fprintf(stderr, "spmm_gpu_bench: %s by %s: %llu elements are out of bound\n", op, by,
                (unsigned long long)wrong);
        exit(3);
    }
    report(b, op, by, time_of(b->set.repeat, run), wrong);
}

/* ---- what is timed ---- */

static csaw_spmm_options options_of(const bench *b, bool planned) {
    csaw_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.plan = planned ? b->plan : nullptr;
    return o;
}

static void run_csaw(bench *b) {
    const csaw_spmm_options planned = options_of(b, true), bare = options_of(b, false);
    for (int way = CSAW__AUTO; way < CSAW__WAYS; way++)
        measure(b, "sum", csaw__shape_of((csaw__way)way).name, PRODUCTS, true, [&] {
            csaw__call call;
            must(csaw__call_open(&b->there, &planned, b->x.cols, &call));
            must(csaw__device_spmm(&call, (csaw__way)way, &b->there, &b->there_x, &b->there_y));
            csaw__call_close(&call);
        });
    measure(b, "sum", "auto, not prepared", PRODUCTS, true,
            [&] { must(csaw_spmm(&b->there, &b->there_x, &bare, &b->there_y)); });
    measure(b, "dx of sum", "auto", TRANSPOSED, true,
            [&] { must(csaw_spmm_backward(&b->there, nullptr, &b->there_x, &planned, &b->there_y, nullptr)); });
    measure(b, "dweight of sum", "csaw", DOTS, true, [&] {
        must(csaw_spmm_backward(&b->there, &b->there_x, &b->there_x, &planned, nullptr, b->there_dweight));
    });
}

static void run_cusparse(bench *b) {
    static const struct {
        const char *name, *prepared;
        cusparseSpMMAlg_t alg;
    } algs[] = {{"cuSPARSE ALG1", "cuSPARSE ALG1 once", CUSPARSE_SPMM_CSR_ALG1},
                {"cuSPARSE ALG2", "cuSPARSE ALG2 once", CUSPARSE_SPMM_CSR_ALG2},
                {"cuSPARSE ALG3", "cuSPARSE ALG3 once", CUSPARSE_SPMM_CSR_ALG3}};
    if (b->a.num_edges > INT32_MAX) return;
    for (const auto &alg : algs) {
        cusparse_product product(&b->there, &b->there_x, &b->there_y, alg.alg);
        const double start = now();
        product.preprocess();
        must_cuda(cudaDeviceSynchronize());
        const double once = now() - start;
        report(b, "prepare", alg.prepared, figure{once, once, once}, 0);
        measure(b, "sum", alg.name, PRODUCTS, false, [&] { product.run(); });
    }
}

static void prepare(bench *b) {
    csaw_prepare_options o = {};
    o.fixed_weights = true;
    o.size = sizeof o;
    o.device = b->set.device;
    const double start = now();
    must(csaw_spmm_prepare(&b->there, &o, &b->plan));
    printf("csaw_spmm_prepare: %.3f ms, once, transpose and weights in its order\n", (now() - start) * 1e3);
    const double found = now();
    must(csaw__device_plan_hubs(b->plan, nullptr));
    printf("hubs found: %.3f ms, once\n", (now() - found) * 1e3);
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
    prepare(b);
    run_csaw(b);
    run_cusparse(b);
    csaw_spmm_plan_free(b->plan);
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
        else if (strcmp(name, "--device") == 0)
            s.device = value;
        else if (strcmp(name, "--commit") == 0)
            s.commit = value;
        else if (strcmp(name, "--json") == 0)
            s.json = value;
        else if (strcmp(name, "--repeat") == 0)
            s.repeat = number;
        else {
            fprintf(stderr, "spmm_gpu_bench: unknown option '%s'; see the head of bench/spmm_gpu.cu\n", name);
            exit(2);
        }
    }
    if (!s.repeat || strncmp(s.device, "cuda:", 5) != 0) exit(2);
    return s;
}

int main(int argc, char **argv) {
    bench b;
    b.set = read_settings(argc, argv);
    cudaDeviceProp props;
    const int ordinal = atoi(b.set.device + 5);
    must_cuda(cudaSetDevice(ordinal));
    must_cuda(cudaGetDeviceProperties(&props, ordinal));
    csaw_graph *graph = graph_of(b.set.graph);
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
    printf("copy: %.1f GB/s, read and written\n", b.copy_rate / 1e9);
    printf("csaw %s on %s, %s: %llu vertices, %llu edges; median of %u groups of calls\n", csaw_version(), props.name,
           b.set.graph.name, (unsigned long long)a.rows, (unsigned long long)a.num_edges, b.set.repeat);
    if (b.json)
        fprintf(
            b.json,
            "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"graph\": {\"kind\": \"%s\", \"share\": "
            "%g, \"vertices\": %llu, \"edges\": %llu}, \"copy_bytes_per_s\": %.4g, \"repeat\": %u, \"rows\": [",
            csaw_version(), b.set.commit, props.name, b.set.graph.name, b.set.graph.share, (unsigned long long)a.rows,
            (unsigned long long)a.num_edges, b.copy_rate, b.set.repeat);
    for (const char *at = b.set.columns; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
        for (int dtype = CSAW_F32; dtype <= CSAW_BF16; dtype++)
            run_storage(&b, a, strtoull(at, nullptr, 10), (csaw_dtype)dtype);
    const bool written = !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
