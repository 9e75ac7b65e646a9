/* SPDX-License-Identifier: MIT */
/* bench/maxk_gpu.cu - MaxK on a GPU (csaw/maxk.h): the k largest of each row, in every storage, beside a copy of as
 * many bytes; aggregation forward and backward, by rows of the transpose and by atomic additions, beside csaw_spmm()
 * and cuSPARSE on the dense rows, and beside what fetching the sectors of the entries takes, in one run. Everything is
 * verified before it is timed (bench/maxk_gpu_check.cuh).
 *
 *   maxk_gpu_bench [--graph rmat|reddit|products|arxiv|FILE] [--share 1] [--scale 18] [--edge-factor 16]
 *                  [--undirected 0] [--cols 256,...] [--k 8,16,32,64] [--rows normal|relu|tied|constant]
 *                  [--what all|rows|figure] [--device cuda:0] [--repeat 20] [--commit TEXT] [--json FILE]
 *
 * Graphs: bench/graph_choice.h.
 * --rows: what the k largest are looked for in. --what rows: these, and what goes to and from dense rows, alone;
 * figure: those products alone that bench/plot_maxk.py draws. Of every number of --cols all of --k up to it.
 *
 * "paper_bytes" are by the formula of MaxK-GNN, section 4.3 and Table 2, as in bench/maxk.c, of rows and copies what
 * they read and write; floor: every array once at the rate of a copy measured in this run. "sectors": for every edge
 * all 32-byte sectors that the entries of its column would take if they stood side by side, values and index, fetched
 * and thrown away: what limits the forward product. Times as in bench/spmm_gpu.cu. bench/launches_ncu.sh measures what
 * the kernels move, and what limits them. */
#include "bench/maxk_gpu_check.cuh"
extern "C" {
#include "spmm/device_maxk.h"
#include "spmm/maxk_transpose.h"
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
    const uint64_t bytes = k * (4 + csaw_cbsr_index_bytes(b->cols)), sectors = (bytes + 31) / 32;
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
    const moved fetched = {(double)b->a.num_edges * (double)sectors * 32,
                           (double)b->a.num_edges * 4 + (double)b->a.cols * (double)sectors * 32};
    return report(b, k, "sectors", f, fetched, nullptr, 0);
}

/* ---- what is timed ---- */

static csaw_maxk_spmm_options options_of(const bench *b, bool given, const csaw_spmm_plan *plan, bool deterministic) {
    csaw_maxk_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.transpose = given ? &b->there_turned : nullptr;
    o.plan = plan;
    o.deterministic = deterministic;
    return o;
}

static double run_dense(bench *b) { /* returns the time of csaw_spmm() */
    const double row = 4.0 * (double)b->cols;
    const moved paper = {row * (double)b->a.num_edges, least_of(b, row, row)};
    csaw_spmm_options o = {};
    o.size = sizeof o;
    o.device = b->set.device;
    o.plan = b->plan;
    const auto forward = [&] { must(csaw_spmm(&b->there, &b->there_x, &o, &b->there_y)); };
    const auto backward = [&] {
        must(csaw_spmm_backward(&b->there, nullptr, &b->there_dy, &o, &b->there_dx, nullptr));
    };
    poison(b->there_y), poison(b->there_dx);
    forward();
    verify_dense("csaw_spmm", b->a, b->x, b->there_y, true);
    const double best = report(b, b->cols, "csaw_spmm, dense", time_of(b->set.repeat, forward), paper, nullptr, 0);
    backward();
    verify_dense("csaw_spmm_backward", b->turned, b->dy, b->there_dx, true);
    report(b, b->cols, "csaw_spmm_backward, dense", time_of(b->set.repeat, backward), paper, nullptr, 0);
    const cusparseSpMMAlg_t algs[] = {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
    for (int i = 0; i < 3 && b->a.num_edges <= INT32_MAX; i++) {
        cusparse_product product(&b->there, &b->there_x, &b->there_y, algs[i]);
        const std::string name = "cuSPARSE ALG" + std::to_string(i + 1) + ", dense";
        product.preprocess();
        poison(b->there_y);
        product.run();
        verify_dense(name.c_str(), b->a, b->x, b->there_y, false);
        const figure f = time_of(b->set.repeat, [&] { product.run(); });
        report(b, b->cols, name.c_str(), f, paper, "csaw_spmm", best);
    }
    return best;
}

/* Rows of a matrix and of its k largest, read and written, or as many bytes copied. */
static moved bytes_of_rows(const csaw_cbsr &h) {
    const uint64_t element = element_bytes(h.dtype);
    const double bytes = (double)(h.rows * (element * h.cols + (element + csaw_cbsr_index_bytes(h.cols)) * h.k));
    return {bytes, bytes};
}

static double time_copy(bench *b, const char *what, uint64_t k, const moved &bytes) {
    const size_t half = (size_t)bytes.counted / 2;
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
    const moved bytes = bytes_of_rows(b->h);
    const double gathered = (double)b->h.rows * (double)(b->h.k * (8 + csaw_cbsr_index_bytes(b->cols)));
    const csaw_maxk_options o = maxk_options(b);
    const double copying = time_copy(b, "copy of as many bytes", k, bytes);
    const auto largest = [&] { must(csaw_maxk(&b->there_x, &o, &b->there_h)); };
    report(b, k, "MaxK", time_of(b->set.repeat, largest), bytes, "the copy", copying);
    run_halves(b, CSAW_F16);
    run_halves(b, CSAW_BF16);
    const auto to_dense = [&] { must(csaw_maxk_dense(&b->there_h, &o, &b->there_dx)); };
    const auto from_dense = [&] { must(csaw_maxk_gather(&b->there_x, &o, &b->there_dh)); };
    poison(b->there_dx), poison(b->there_dh);
    to_dense();
    verify_to_dense(b);
    report(b, k, "to dense", time_of(b->set.repeat, to_dense), bytes, "the copy", copying);
    from_dense();
    verify_from_dense(b);
    report(b, k, "from dense", time_of(b->set.repeat, from_dense), {gathered, gathered}, "the copy", copying);
}

/* Returns the time that the sectors of the entries take. */
static void run_products(bench *b, double dense) {
    const double edges = (double)b->a.num_edges, rows = (double)b->a.rows, k = (double)b->h.k;
    const double i = (double)csaw_cbsr_index_bytes(b->cols), row = 4 * (double)b->cols;
    const moved forward = {(4 + i) * k * edges, least_of(b, row, (4 + i) * k)};
    const moved backward = {row * rows + forward.counted + 4 * k * edges, forward.least};
    const bool whole = b->set.what == "all", many = b->h.k * 4 > b->cols, made_by_default = b->h.k >= b->cols / 4 + 64;
    const csaw__where where = {atoi(b->set.device + 5), nullptr};
    const csaw_maxk_spmm_options alone = options_of(b, false, nullptr, false),
                                 planned = options_of(b, false, b->plan, false),
                                 exact = options_of(b, false, b->plan, true),
                                 made = options_of(b, false, nullptr, true), given = options_of(b, true, nullptr, true);
    printf("k %3llu  by the paper's formulas forward moves %.3f GB, backward %.3f GB\n", (unsigned long long)b->h.k,
           forward.counted / 1e9, backward.counted / 1e9);
    const double sectors = time_sectors(b, b->h.k);
    for (const csaw_maxk_spmm_options *o : {&planned, &alone}) {
        const auto run = [&] { must(csaw_maxk_spmm(&b->there, &b->there_h, o, &b->there_y)); };
        if (o == &alone && !whole) continue;
        poison(b->there_y);
        watched(run);
        verify_forward(b);
        const figure f = time_of(b->set.repeat, run);
        report(b, b->h.k, o == &alone ? "forward, not prepared" : "forward", f, forward, "sectors", sectors);
        if (o == &planned) report(b, b->h.k, "forward", f, forward, "csaw_spmm", dense);
    }
    const struct {
        const char *name;
        const csaw_maxk_spmm_options *options;
        bool exact, always; /* to the bit; also where not all is asked for */
        bool atomic;        /* by additions, whatever the default is */
    } ways[] = {{"backward, atomic", &alone, false, true, true},
                {"backward, not prepared", &alone, made_by_default, many, false},
                {"backward, prepared", &planned, many, true, false},
                {"backward, deterministic", &exact, true, true, false},
                {"backward, transpose given", &given, true, false, false},
                {"backward, transpose made", &made, true, false, false}};
    for (const auto &way : ways) {
        const auto run = [&] {
            must(way.atomic ? csaw__device_maxk_backward_by(&where, CSAW__MAXK_ATOMIC, &b->there, &b->there_dy,
                                                            way.options, &b->there_dh)
                            : csaw_maxk_spmm_backward(&b->there, &b->there_dy, way.options, &b->there_dh));
        };
        if (!way.always && !whole) continue;
        poison(b->there_dh);
        watched(run);
        verify_backward(b, way.exact);
        report(b, b->h.k, way.name, time_of(b->set.repeat, run), backward, "sectors", sectors);
    }
    if (!whole) return;
    const auto weights = [&] {
        must(csaw_maxk_spmm_backward_weight(&b->there, &b->there_dy, &b->there_h, &alone, b->there_dweight));
    };
    must_cuda(cudaMemset(b->there_dweight, 0xff, b->a.num_edges * sizeof(float)));
    weights();
    verify_weights(b);
    report(b, b->h.k, "gradient of weights", time_of(b->set.repeat, weights), {forward.counted, forward.least},
           "csaw_spmm", dense);
}

static void run_k(bench *b, uint64_t k, double dense) {
    const uint64_t index_bytes = csaw_cbsr_index_bytes(b->cols);
    std::vector<float> values(b->a.cols * k);
    std::vector<uint8_t> index(b->a.cols * k * index_bytes);
    b->h = csaw_cbsr{b->a.cols, b->cols, k, CSAW_F32, values.data(), index.data()};
    must(csaw_maxk(&b->x, nullptr, &b->h));
    b->there_h = b->there_dh = b->h;
    b->there_h.values = upload<float>(nullptr, values.size());
    b->there_h.index = upload<uint8_t>(nullptr, index.size());
    b->there_dh.values = upload<float>(nullptr, values.size());
    b->there_dh.index = b->there_h.index;
    const csaw_maxk_options o = maxk_options(b);
    watched([&] { must(csaw_maxk(&b->there_x, &o, &b->there_h)); });
    verify_maxk(b->h, b->there_h);
    if (b->set.what == "all" || b->set.what == "rows") run_rows(b);
    if (b->set.what != "rows") run_products(b, dense);
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

/* Rows for the search of the k largest: many zeros, few different numbers, one. */
static void shape(float *x, uint64_t count, const std::string &rows) {
    for (uint64_t i = 0; i < count; i++)
        x[i] = rows == "relu"       ? (x[i] > 0 ? x[i] : 0)
               : rows == "tied"     ? std::rint(x[i] * 2)
               : rows == "constant" ? 1
                                    : x[i];
}

static csaw_sparse uploaded(const csaw_sparse &a) {
    csaw_sparse there = a;
    there.rowptr = upload(a.rowptr, a.rows + 1);
    there.col = upload(a.col, a.num_edges);
    there.weight = upload(a.weight, a.num_edges);
    return there;
}

static bool one_of(const char *value, std::initializer_list<const char *> known) {
    for (const char *name : known)
        if (strcmp(value, name) == 0) return true;
    return false;
}

static settings read_settings(int argc, char **argv) {
    settings s;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "", *name = argv[i];
        const uint32_t number = (uint32_t)strtoul(value, nullptr, 10);
        if (reads_graph(&s.graph, name, value)) continue;
        if (strcmp(name, "--k") == 0)
            s.k = value;
        else if (strcmp(name, "--what") == 0 && one_of(value, {"all", "rows", "figure"}))
            s.what = value;
        else if (strcmp(name, "--rows") == 0 && one_of(value, {"normal", "relu", "tied", "constant"}))
            s.rows = value;
        else if (strcmp(name, "--device") == 0)
            s.device = value;
        else if (strcmp(name, "--commit") == 0)
            s.commit = value;
        else if (strcmp(name, "--json") == 0)
            s.json = value;
        else if (strcmp(name, "--cols") == 0)
            s.cols = value;
        else if (strcmp(name, "--repeat") == 0)
            s.repeat = number;
        else {
            fprintf(stderr, "maxk_gpu_bench: unknown option '%s %s'; see the head of bench/maxk_gpu.cu\n", name, value);
            exit(2);
        }
    }
    if (!s.repeat || strncmp(s.device, "cuda:", 5) != 0) exit(2);
    for (uint64_t cols : numbers(s.cols))
        for (uint64_t k : numbers(s.k))
            if (cols < 1 || cols > 65536 || k < 1 || k > 65536) {
                fprintf(stderr, "maxk_gpu_bench: --cols '%s', --k '%s': numbers from 1 to 65536, with commas between\n",
                        s.cols, s.k);
                exit(2);
            }
    return s;
}

/* The matrix, its transpose and a plan; of rows alone nothing. */
static void prepare(bench *b) {
    csaw_prepare_options o = {};
    must(csaw__maxk_transpose(&b->a, &b->turned));
    b->there = uploaded(b->a), b->there_turned = uploaded(b->turned);
    b->there_dweight = upload<float>(nullptr, b->a.num_edges);
    o.size = sizeof o;
    o.device = b->set.device;
    must(csaw_spmm_prepare(&b->there, &o, &b->plan));
}

/* All counts that are asked for of dense rows of so many columns. */
static void run_columns(bench *b, uint64_t cols) {
    const uint64_t elements = b->a.rows * cols;
    std::vector<float> x(elements), dy(elements);
    b->cols = cols;
    fill(x.data(), elements, 1);
    shape(x.data(), elements, b->set.rows);
    fill(dy.data(), elements, 2);
    b->x = csaw_dense{b->a.rows, cols, 0, CSAW_F32, x.data()};
    b->dy = csaw_dense{b->a.rows, cols, 0, CSAW_F32, dy.data()};
    b->there_x = b->there_y = b->there_dy = b->there_dx = b->x;
    b->there_x.data = upload(x.data(), elements), b->there_dy.data = upload(dy.data(), elements);
    b->there_y.data = upload<float>(nullptr, elements), b->there_dx.data = upload<float>(nullptr, elements);
    const double dense = b->set.what == "rows" ? 0 : run_dense(b);
    for (uint64_t k : numbers(b->set.k))
        if (k <= cols) run_k(b, k, dense);
    for (const csaw_dense *there : {&b->there_x, &b->there_y, &b->there_dy, &b->there_dx}) cudaFree(there->data);
}

int main(int argc, char **argv) {
    bench b;
    b.set = read_settings(argc, argv);
    cudaDeviceProp props;
    const int ordinal = atoi(b.set.device + 5);
    must_cuda(cudaSetDevice(ordinal));
    must_cuda(cudaGetDeviceProperties(&props, ordinal));
    csaw_graph *graph = graph_of(&b.set.graph);
    b.a = csaw_graph_sparse(graph);
    if (b.set.what != "rows") prepare(&b);
    b.copy_rate = copy_rate();
    if (b.set.json && !(b.json = fopen(b.set.json, "w"))) {
        perror(b.set.json);
        return 1;
    }
    printf("csaw %s on %s, %s: %llu vertices, %llu edges, %s columns, %s rows; median of %u groups of calls\n",
           csaw_version(), props.name, b.set.graph.name, (unsigned long long)b.a.rows,
           (unsigned long long)b.a.num_edges, b.set.cols, b.set.rows.c_str(), b.set.repeat);
    if (b.json) {
        fprintf(b.json, "{\"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"graph\": ", csaw_version(),
                b.set.commit, props.name);
        print_graph(b.json, &b.set.graph, graph);
        fprintf(b.json, ", \"of\": \"%s\", \"copy_bytes_per_s\": %.4g, \"repeat\": %u, \"rows\": [", b.set.rows.c_str(),
                b.copy_rate, b.set.repeat);
    }
    for (uint64_t cols : numbers(b.set.cols)) run_columns(&b, cols);
    const bool written = !b.json || (fputs("]}\n", b.json) >= 0 && fclose(b.json) == 0);
    csaw_spmm_plan_free(b.plan);
    csaw__maxk_transpose_free(&b.turned);
    csaw_graph_free(graph);
    return written ? 0 : 1;
}
