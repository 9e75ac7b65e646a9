/* SPDX-License-Identifier: MIT */
/* bench/batched_gpu.cu - batched SpMM on a GPU: csaw from CSR and COO, by each number of lanes a row and by blocks that
 * copy x to shared memory, with weights of the batch and of the call, by SUM, MEAN and MAX, and gradients, dots by each
 * number of lanes, beside csaw_spmm() and cuSPARSE on the same graphs as one matrix of blocks. The cases of Nagasaka et
 * al. (CCGrid 2019), graphs of mixed sizes, 100,000 small ones, and real molecules. Results are verified by
 * bench/spmm_check.h before they are timed.
 *
 *   batched_gpu_bench [--repeat 7] [--places 5] [--calls 100] [--gin FILE]... [--tu PREFIX]... [--columns 64]
 *                     [--commit TEXT] [--json FILE]
 *
 * Times are of one call, as the share of a CUDA graph of --calls calls: median, least and most of --repeat launches of
 * the graph on each of --places copies of all arrays. Beside each stand its floor, every array once (least_bytes) at
 * the rate of a copy measured in this run, and the rate of the bytes that its entries ask for (moved_bytes: features of
 * every entry, and the output). Arrays of most cases stay in the L2 cache from call to call, so that they can be faster
 * than the floor. --gin and --tu: molecules as in bench/batched.c; --columns is the width of their features. float32.
 * Exits 3 if a result of csaw's is wrong. */
#include <memory>
#include <string>

#include "bench/gpu_bench.cuh"
extern "C" {
#include "bench/molecules.h"
#include "bench/spmm_check.h"
#include "spmm/device.h"
}

enum {
    CHECKED = 2000, /* rows, or entries */
    LAUNCHED = 64   /* before anything is timed */
};

struct settings {
    uint32_t repeat = 7, places = 5, calls = 100, columns = 64;
    const char *commit = "", *json = nullptr;
    std::vector<std::pair<const char *, bool>> files; /* whether it is a prefix of TU's */
};

struct bench {
    settings set;
    cudaStream_t stream;
    FILE *json = nullptr;
    bool first = true;
    double copy_rate = 0; /* bytes a second */
};

/* What a case has on the GPU, at one place: a matrix of blocks, batches, and what they are multiplied by and into. */
struct arrays {
    csaw_sparse a;
    csaw_batch *csr = nullptr, *coo = nullptr;
    csaw_batched_dense x, y;
    float *dw;
    uint32_t *arg;
    std::unique_ptr<cusparse_product> product; /* of blocks */
};

/* The graphs of one case, on the host as one matrix of blocks. */
struct graphs {
    std::string name;
    csaw_sparse a, means;                           /* means: weights divided by the number of their row's entries */
    std::vector<uint64_t> rowptr, first_edge;       /* first_edge: of a row's graph */
    std::vector<csaw_vertex> col, local, local_row; /* local: of its graph */
    std::vector<float> weight, mean_weight, x_data, y_data, dw;
    std::vector<csaw_edge> arg;
    csaw_dense x, y;
    std::vector<arrays> there; /* [places] */
};

/* ---- times -------------------------------------------------------------------------- */

/* Adds the seconds of every launch of a graph of calls of run(there). */
template <typename RUN>
static void time_in_graph(bench *b, const arrays &there, RUN run, std::vector<double> *seconds) {
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    cudaEvent_t begin, end;
    must_cuda(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeGlobal));
    for (uint32_t i = 0; i < b->set.calls; i++) run(there);
    must_cuda(cudaStreamEndCapture(b->stream, &graph));
    must_cuda(cudaGraphInstantiate(&runs, graph, 0));
    must_cuda(cudaEventCreate(&begin));
    must_cuda(cudaEventCreate(&end));
    must_cuda(cudaGraphLaunch(runs, b->stream)); /* warm-up */
    for (uint32_t i = 0; i < b->set.repeat; i++) {
        float ms = 0;
        must_cuda(cudaEventRecord(begin, b->stream));
        must_cuda(cudaGraphLaunch(runs, b->stream));
        must_cuda(cudaEventRecord(end, b->stream));
        must_cuda(cudaEventSynchronize(end));
        must_cuda(cudaEventElapsedTime(&ms, begin, end));
        seconds->push_back(ms * 1e-3 / b->set.calls);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaGraphExecDestroy(runs);
    cudaGraphDestroy(graph);
}

static __global__ void nothing() {}

/* Kernels of graphs begin about 0.17 us later on a stream that seven others were launched on before (an H200): many are
 * launched on ours, so that the first lines are timed like the last. */
static void settle(bench *b) {
    for (int i = 0; i < LAUNCHED; i++) nothing<<<1, 1, 0, b->stream>>>();
    must_cuda(cudaGetLastError());
    must_cuda(cudaStreamSynchronize(b->stream));
}

enum operation { SUMS, MEANS, LARGEST, SUMS_BACK, MEANS_BACK, LARGEST_BACK, DOTS };

struct traffic {
    double moved, least; /* bytes */
};

/* Rows have records of 16 bytes, transposed 20, entries 8, with their weight or by number, divisors 8; dots read an
 * entry, its row, and no more. given: weights of the call. */
static traffic traffic_of(const graphs &g, operation what, bool given) {
    const double edges = (double)g.a.num_edges, row = (double)g.x.cols * 4, rows = (double)g.a.rows;
    const bool best = what == LARGEST || what == LARGEST_BACK;
    const bool back = what == SUMS_BACK || what == MEANS_BACK || what == LARGEST_BACK;
    const double weight = given ? 4 : best ? 8 : 0, divisor = given && what == MEANS_BACK ? 8 : 0;
    const double entries = edges * (8 + weight + divisor) + rows * (back ? 20 : 16);
    if (what == DOTS) return {edges * (2 * row + 16), 2 * rows * row + edges * 16};
    const double arg = best ? rows * row : 0;
    const double gathered = edges * row * (what == LARGEST_BACK ? 2 : 1);
    return {gathered + rows * row + (what == LARGEST ? arg : 0) + entries, 2 * rows * row + arg + entries};
}

static void report(bench *b, const graphs &g, const char *by, const traffic &t, const figure &f, uint64_t wrong) {
    const double floor_s = t.least / b->copy_rate;
    printf("  %-26s %10.2f us (%.2f .. %.2f)  floor %8.2f us  %8.1f MB moved  %8.1f GB/s%s\n", by, f.median * 1e6,
           f.least * 1e6, f.most * 1e6, floor_s * 1e6, t.moved * 1e-6, t.moved / f.median / 1e9,
           wrong ? "  WRONG" : "");
    fflush(stdout);
    if (b->json)
        fprintf(b->json,
                "%s\n  {\"case\": \"%s\", \"rows\": %llu, \"edges\": %llu, \"columns\": %llu, \"by\": \"%s\", "
                "\"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, \"moved_bytes\": %.0f, \"least_bytes\": %.0f, "
                "\"floor_s\": %.6g, \"wrong\": %llu}",
                b->first ? "" : ",", g.name.c_str(), (unsigned long long)g.a.rows, (unsigned long long)g.a.num_edges,
                (unsigned long long)g.x.cols, by, f.median, f.least, f.most, t.moved, t.least, floor_s,
                (unsigned long long)wrong);
    b->first = false;
}

/* g->arg as edges of the matrix of blocks. */
static void read_arg(graphs *g, const arrays &there) {
    std::vector<uint32_t> of_graph(g->arg.size());
    must_cuda(cudaMemcpy(of_graph.data(), there.arg, of_graph.size() * 4, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < of_graph.size(); i++)
        g->arg[i] = of_graph[i] == CSAW_NONE ? CSAW_NO_EDGE : g->first_edge[i / g->x.cols] + of_graph[i];
}

static uint64_t wrong_of(graphs *g, const arrays &there, operation what) {
    must_cuda(cudaMemcpy(g->y_data.data(), there.y.data, g->y_data.size() * 4, cudaMemcpyDeviceToHost));
    must_cuda(cudaMemcpy(g->dw.data(), there.dw, g->dw.size() * 4, cudaMemcpyDeviceToHost));
    switch (what) {
    case SUMS: return wrong_products(&g->a, &g->x, &g->y, false, CHECKED);
    case MEANS: return wrong_products(&g->a, &g->x, &g->y, true, CHECKED);
    case LARGEST: read_arg(g, there); return wrong_largest(&g->a, &g->x, &g->y, g->arg.data(), CHECKED);
    case SUMS_BACK: return wrong_transposed(&g->a, &g->x, &g->y, nullptr, CHECKED);
    case MEANS_BACK: return wrong_transposed(&g->means, &g->x, &g->y, nullptr, CHECKED);
    case LARGEST_BACK: read_arg(g, there); return wrong_transposed(&g->a, &g->x, &g->y, g->arg.data(), CHECKED);
    case DOTS: break;
    }
    return wrong_dots(&g->a, &g->x, g->dw.data(), CHECKED);
}

/* At every place: runs on a poisoned output, checks it, and times. */
template <typename RUN>
static void measure(bench *b, graphs *g, operation what, const std::string &by, bool ours, RUN run,
                    bool given = false) {
    std::vector<double> seconds;
    uint64_t wrong = 0;
    for (const arrays &there : g->there) {
        must_cuda(cudaMemset(there.y.data, 0xff, g->y_data.size() * 4));
        must_cuda(cudaMemset(there.dw, 0xff, g->dw.size() * 4));
        must_cuda(cudaDeviceSynchronize());
        run(there);
        must_cuda(cudaDeviceSynchronize());
        wrong += wrong_of(g, there, what);
        if (wrong && ours) {
            fprintf(stderr, "batched_gpu_bench: %s, %s: %llu numbers are wrong\n", g->name.c_str(), by.c_str(),
                    (unsigned long long)wrong);
            exit(3);
        }
        time_in_graph(b, there, run, &seconds);
    }
    report(b, *g, by.c_str(), traffic_of(*g, what, given), figure_of(seconds.data(), (uint32_t)seconds.size()), wrong);
}

/* ---- a case --------------------------------------------------------------------------- */

static void read_graphs(const molecules &m, uint64_t cols, graphs *g) {
    const uint64_t rows = m.row_offset[m.count], edges = m.edge_offset[m.count];
    std::vector<uint64_t> next;
    g->rowptr.assign(rows + 1, 0);
    g->col.resize(edges), g->local.resize(edges), g->local_row.resize(edges), g->weight.resize(edges);
    for (uint64_t i = 0; i < m.count; i++)
        for (uint64_t k = m.edge_offset[i]; k < m.edge_offset[i + 1]; k++) g->rowptr[m.row_offset[i] + m.row[k] + 1]++;
    for (uint64_t i = 0; i < rows; i++) g->rowptr[i + 1] += g->rowptr[i];
    next = g->rowptr;
    for (uint64_t i = 0; i < m.count; i++)
        for (uint64_t k = m.edge_offset[i]; k < m.edge_offset[i + 1]; k++) {
            const uint64_t at = next[m.row_offset[i] + m.row[k]]++;
            g->local[at] = m.col[k], g->local_row[at] = m.row[k];
            g->col[at] = (csaw_vertex)(m.row_offset[i] + m.col[k]);
            g->weight[at] = m.weight[k];
        }
    g->mean_weight = g->weight;
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++)
            g->mean_weight[e] /= (float)(g->rowptr[i + 1] - g->rowptr[i]);
    for (uint64_t i = 0; i < m.count; i++)
        g->first_edge.insert(g->first_edge.end(), m.row_offset[i + 1] - m.row_offset[i], m.edge_offset[i]);
    g->a = csaw_sparse{rows, rows, edges, g->rowptr.data(), g->col.data(), g->weight.data()};
    g->means = g->a, g->means.weight = g->mean_weight.data();
    g->x_data.resize(rows * cols), g->y_data.resize(rows * cols), g->dw.resize(edges), g->arg.resize(rows * cols);
    for (uint64_t i = 0; i < rows * cols; i++) g->x_data[i] = (float)(i * 2654435761u % 4001) * 1e-3f - 2;
    g->x = csaw_dense{rows, cols, 0, CSAW_F32, g->x_data.data()};
    g->y = csaw_dense{rows, cols, 0, CSAW_F32, g->y_data.data()};
}

/* CSR, and COO of the same entries in the same order, so that dw and arg of both stand alike. */
static arrays upload_graphs(const molecules &m, const graphs &g) {
    const uint64_t rows = g.a.rows, edges = g.a.num_edges, cols = g.x.cols;
    csaw_small_graphs s = {};
    csaw_batch_options options = {};
    arrays to;
    options.size = sizeof options;
    options.device = "cuda:0";
    to.a = g.a;
    to.a.rowptr = upload(g.rowptr.data(), rows + 1);
    to.a.col = upload(g.col.data(), edges);
    to.a.weight = upload(g.weight.data(), edges);
    s.num_graphs = m.count;
    s.row_offset = upload(m.row_offset, m.count + 1);
    s.edge_offset = upload(m.edge_offset, m.count + 1);
    s.format = CSAW_CSR, s.rowptr = to.a.rowptr, s.weight = to.a.weight;
    s.col = upload(g.local.data(), edges);
    must(csaw_batch_join(&s, &options, &to.csr));
    s.format = CSAW_COO, s.row = upload(g.local_row.data(), edges);
    const double start = now();
    must(csaw_batch_join(&s, &options, &to.coo));
    if (g.there.empty()) printf("  batch made of COO: %.3f ms, once\n", (now() - start) * 1e3);
    to.x = csaw_batched_dense{rows, cols, 0, CSAW_F32, upload(g.x_data.data(), rows * cols), nullptr};
    to.y = csaw_batched_dense{rows, cols, 0, CSAW_F32, upload<float>(nullptr, rows * cols), nullptr};
    to.dw = upload<float>(nullptr, edges);
    to.arg = upload<uint32_t>(nullptr, rows * cols);
    return to;
}

/* Products and gradients of one form of the batch. */
static void run_form(bench *b, graphs *g, bool csr, const csaw_batched_options &plain) {
    const std::string form = csr ? "csaw, CSR" : "csaw, COO";
    const auto batch = [csr](const arrays &at) { return csr ? at.csr : at.coo; };
    const auto options = [&](csaw_reduce reduce, bool given, const arrays &at) {
        csaw_batched_options o = plain;
        o.reduce = reduce;
        if (reduce == CSAW_MAX) o.arg = at.arg;
        if (given) o.weight = at.a.weight; /* by row, as entries of both forms are */
        return o;
    };
    const auto forward = [&](operation what, const char *by, csaw_reduce reduce, bool given = false) {
        const auto run = [&](const arrays &at) {
            const csaw_batched_options o = options(reduce, given, at);
            must(csaw_batched_spmm(batch(at), &at.x, &o, &at.y));
        };
        measure(b, g, what, form + by, true, run, given);
    };
    const auto backward = [&](operation what, const char *by, csaw_reduce reduce, bool given = false) {
        const auto run = [&](const arrays &at) {
            const csaw_batched_options o = options(reduce, given, at);
            must(csaw_batched_spmm_backward(batch(at), nullptr, &at.x, &o, &at.y, nullptr));
        };
        measure(b, g, what, form + by, true, run, given);
    };
    forward(SUMS, "", CSAW_SUM);
    for (uint32_t lanes : {4, 8, 16, 32})
        measure(b, g, SUMS, form + ", " + std::to_string(lanes) + " lanes", true,
                [&](const arrays &at) { must(csaw__device_batched_spmm(batch(at), lanes, &at.x, &plain, &at.y)); });
    measure(b, g, SUMS, form + ", shared memory", true,
            [&](const arrays &at) { must(csaw__device_batched_tiles(batch(at), &at.x, &plain, &at.y)); });
    forward(SUMS, ", weights given", CSAW_SUM, true);
    forward(MEANS, ", mean", CSAW_MEAN);
    forward(MEANS, ", mean, given", CSAW_MEAN, true);
    backward(SUMS_BACK, ", dx", CSAW_SUM);
    backward(SUMS_BACK, ", dx, weights given", CSAW_SUM, true);
    backward(MEANS_BACK, ", dx of mean", CSAW_MEAN);
    backward(MEANS_BACK, ", dx of mean, given", CSAW_MEAN, true);
    measure(b, g, DOTS, form + ", dw", true, [&](const arrays &at) {
        must(csaw_batched_spmm_backward(batch(at), &at.x, &at.x, &plain, nullptr, at.dw));
    });
    for (uint32_t lanes : {4, 8, 16})
        measure(b, g, DOTS, form + ", dw, " + std::to_string(lanes) + " lanes", true, [&](const arrays &at) {
            must(csaw__device_batched_backward(batch(at), lanes, &at.x, &at.x, &plain, nullptr, at.dw));
        });
    forward(LARGEST, ", max", CSAW_MAX);
    backward(LARGEST_BACK, ", dx of max", CSAW_MAX); /* by arg that the line before wrote */
}

static void run_ways(bench *b, graphs *g) {
    csaw_batched_options options = {};
    csaw_spmm_options whole = {};
    options.size = sizeof options, whole.size = sizeof whole;
    options.stream = whole.stream = b->stream;
    whole.device = "cuda:0";
    for (const bool csr : {true, false}) run_form(b, g, csr, options);
    const auto dense = [](const csaw_batched_dense &m) { return csaw_dense{m.rows, m.cols, 0, CSAW_F32, m.data}; };
    measure(b, g, SUMS, "csaw_spmm, blocks", true, [&](const arrays &at) {
        const csaw_dense x = dense(at.x), y = dense(at.y);
        must(csaw_spmm(&at.a, &x, &whole, &y));
    });
    for (arrays &at : g->there) {
        const csaw_dense x = dense(at.x), y = dense(at.y);
        at.product.reset(new cusparse_product(&at.a, &x, &y, CUSPARSE_SPMM_CSR_ALG2));
        at.product->in_stream(b->stream);
        at.product->preprocess();
    }
    measure(b, g, SUMS, "cuSPARSE ALG2, blocks", false, [&](const arrays &at) { at.product->run(); });
}

static void run_case(bench *b, const std::string &name, molecules m, uint64_t cols) {
    graphs g;
    g.name = name;
    read_graphs(m, cols, &g);
    printf("%s: %llu graphs, %llu rows, %llu entries, N = %llu\n", name.c_str(), (unsigned long long)m.count,
           (unsigned long long)g.a.rows, (unsigned long long)g.a.num_edges, (unsigned long long)cols);
    for (uint32_t i = 0; i < b->set.places; i++) g.there.push_back(upload_graphs(m, g));
    run_ways(b, &g);
    for (const arrays &there : g.there) {
        csaw_batch_free(there.csr);
        csaw_batch_free(there.coo);
    }
    molecules_free(&m); /* arrays of the GPU go with the program */
}

static FILE *open_text(const std::string &path) {
    FILE *const file = path == "-" ? stdin : fopen(path.c_str(), "r");
    if (file) return file;
    perror(path.c_str());
    exit(1);
}

static void run_all(bench *b) {
    static const struct {
        uint32_t graphs, least, most, per_row, cols;
    } cases[] = {{50, 50, 50, 2, 512},  {100, 50, 50, 3, 512}, {100, 64, 64, 3, 512},  {1000, 50, 50, 3, 64},
                 {100, 4, 400, 3, 512}, {1000, 4, 400, 3, 64}, {100000, 20, 20, 2, 32}};
    for (const auto &c : cases)
        run_case(b,
                 std::to_string(c.graphs) + " of " + (c.least < c.most ? std::to_string(c.least) + " to " : "") +
                     std::to_string(c.most) + ", " + std::to_string(c.per_row) + " a row",
                 molecules_random(c.graphs, c.least, c.most, c.per_row), c.cols);
    for (const auto &file : b->set.files) {
        FILE *const text = open_text(std::string(file.first) + (file.second ? "_A.txt" : ""));
        FILE *const more = file.second ? open_text(std::string(file.first) + "_graph_indicator.txt") : nullptr;
        run_case(b, file.first, file.second ? molecules_read_tu(text, more) : molecules_read_gin(text), b->set.columns);
        fclose(text);
        if (more) fclose(more);
    }
}

static settings read_settings(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i += 2) {
        const char *const name = argv[i], *const value = i + 1 < argc ? argv[i + 1] : "";
        uint32_t *const number = strcmp(name, "--repeat") == 0    ? &s.repeat
                                 : strcmp(name, "--places") == 0  ? &s.places
                                 : strcmp(name, "--calls") == 0   ? &s.calls
                                 : strcmp(name, "--columns") == 0 ? &s.columns
                                                                  : nullptr;
        if (number && atoi(value) > 0)
            *number = (uint32_t)atoi(value);
        else if (*value && strcmp(name, "--gin") == 0)
            s.files.emplace_back(value, false);
        else if (*value && strcmp(name, "--tu") == 0)
            s.files.emplace_back(value, true);
        else if (*value && strcmp(name, "--commit") == 0)
            s.commit = value;
        else if (*value && strcmp(name, "--json") == 0)
            s.json = value;
        else {
            fprintf(stderr, "batched_gpu_bench: '%s': see the head of bench/batched_gpu.cu\n", name);
            exit(2);
        }
    }
    return s;
}

int main(int argc, char **argv) {
    bench b;
    cudaDeviceProp props;
    b.set = read_settings(argc, argv);
    must_cuda(cudaGetDeviceProperties(&props, 0));
    must_cuda(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    if (b.set.json && !(b.json = fopen(b.set.json, "w"))) {
        perror(b.set.json);
        return 1;
    }
    b.copy_rate = copy_rate();
    settle(&b);
    printf("copy: %.1f GB/s, read and written\n", b.copy_rate / 1e9);
    printf("csaw %s on %s; 1 warm-up, median of %u launches of %u calls at each of %u places\n", csaw_version(),
           props.name, b.set.repeat, b.set.calls, b.set.places);
    if (b.json)
        fprintf(b.json,
                "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"copy_bytes_per_s\": %.4g, "
                "\"warm_up\": 1, \"repeat\": %u, \"places\": %u, \"calls\": %u, \"rows\": [",
                csaw_version(), b.set.commit, props.name, b.copy_rate, b.set.repeat, b.set.places, b.set.calls);
    run_all(&b);
    return !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0) ? 0 : 1;
}
