/* SPDX-License-Identifier: MIT */
/* tests/batched_test.cc - csaw_batched_spmm() against double: every form of a batch, reduction and storage, widths from
 * 1 to 512, graphs of all sizes at once; CSR and COO, and 1, 2 and 5 threads, to the bit; 100,000 graphs in a call. */
#include <sys/mman.h>

#include "tests/batched_cases.h"

using namespace batched;

namespace {

struct Product {
    Features y;
    std::vector<uint32_t> arg;
};

// With every second width rows are padded, and with every third kind of storage each graph has a pointer of its own.
Product multiply(const csaw_batch *batch, const std::vector<SmallMatrix> &graphs, Features &x, Reduce reduce,
                 csaw_dtype dtype, bool with_arg = true, const float *weight = nullptr) {
    const uint64_t width = x.width;
    Product out = {Features(rows_of(graphs), width, dtype, width % 2 ? 3 : 0, dtype == CSAW_F16), {}};
    out.arg.assign(is_best(reduce) ? out.y.begin.back() * width : 0, 12345678);
    csaw_batched_options options = options_of(reduce, with_arg ? &out.arg : nullptr);
    options.weight = weight;
    const csaw_batched_dense from = x.view(), to = out.y.view();
    EXPECT_EQ(csaw_batched_spmm(batch, &from, &options, &to), CSAW_OK) << csaw_last_error();
    return out;
}

// "" or the first graph that is not what the reference has.
std::string differ_from_reference(const std::vector<SmallMatrix> &graphs, const Features &x, Reduce reduce,
                                  const Product &product) {
    uint64_t at = 0;
    for (size_t g = 0; g < graphs.size(); g++) {
        const auto expected = reference::batched_forward(graphs[g], x.of(g), x.width, reduce);
        std::string fault = differ(expected.y, product.y.of(g), product.y.dtype);
        const uint64_t elements = graphs[g].rows * x.width;
        if (is_best(reduce) && !std::equal(expected.arg.begin(), expected.arg.end(), product.arg.begin() + at))
            fault += " arg differs";
        at += elements;
        if (!fault.empty()) return "graph " + std::to_string(g) + ": " + fault;
    }
    return product.y.padding_untouched() ? "" : "padding was written to";
}

void check(std::vector<SmallMatrix> graphs, Form form, uint64_t width, Reduce reduce, csaw_dtype from, csaw_dtype to) {
    SCOPED_TRACE("form " + std::to_string(static_cast<int>(form)) + " width " + std::to_string(width) + " reduce " +
                 std::to_string(static_cast<int>(reduce)) + " storage " + std::to_string(from) + std::to_string(to));
    if (is_csr(form))
        for (SmallMatrix &a : graphs) sort_by_row(&a);
    const Arrays arrays(graphs, form);
    const Batch batch = arrays.batch();
    ASSERT_TRUE(batch);
    Features x(cols_of(graphs), width, from, width % 3 ? 0 : 5, to == CSAW_BF16);
    x.fill(width, is_best(reduce));
    const Product product = multiply(batch.get(), graphs, x, reduce, to);
    EXPECT_EQ(differ_from_reference(graphs, x, reduce, product), "");
}

TEST(Batched, EveryFormAndReduction) {
    for (Form form : forms)
        for (Reduce reduce : reduces)
            for (uint64_t width : {1, 3, 8, 32, 64, 100, 512})
                check(mixed(width, is_best(reduce)), form, width, reduce, CSAW_F32, CSAW_F32);
}

TEST(Batched, EveryStorage) {
    for (csaw_dtype from : dtypes)
        for (csaw_dtype to : dtypes)
            for (Reduce reduce : reduces)
                for (uint64_t width : {3, 64, 100})
                    for (Form form : {Form::list_csr, Form::join_coo_global})
                        check(mixed(width + 7, is_best(reduce)), form, width, reduce, from, to);
}

// One graph of 5,000 is dealt out in slices of columns, the others as they are.
std::vector<SmallMatrix> with_a_large_one(bool exact) {
    std::vector<SmallMatrix> graphs = mixed(5, exact);
    std::mt19937_64 random(11);
    graphs.insert(graphs.begin() + 5, random_matrix(random, 5000, 5000, 15000, exact));
    return graphs;
}

TEST(Batched, ALargeGraphAmongSmallOnes) {
    for (Reduce reduce : reduces)
        for (Form form : {Form::list_csr, Form::list_coo}) {
            check(with_a_large_one(is_best(reduce)), form, 100, reduce, CSAW_F32, CSAW_F32);
            check(with_a_large_one(is_best(reduce)), form, 33, reduce, CSAW_BF16, CSAW_BF16);
        }
    check(with_a_large_one(false), Form::join_csr, 512, Reduce::sum, CSAW_F32, CSAW_F32);
}

TEST(Batched, NoWeightsAreOnes) {
    std::vector<SmallMatrix> graphs = mixed(3, true);
    for (SmallMatrix &a : graphs) sort_by_row(&a);
    for (Form form : forms) {
        const Arrays arrays(graphs, form, false);
        Features x(cols_of(graphs), 8, CSAW_F32);
        x.fill(1, true);
        for (Reduce reduce : reduces) {
            std::vector<SmallMatrix> ones = graphs;
            for (SmallMatrix &a : ones)
                for (auto &entry : a.entries) entry.weight = 1;
            EXPECT_EQ(
                differ_from_reference(ones, x, reduce, multiply(arrays.batch().get(), graphs, x, reduce, CSAW_F32)),
                "");
        }
    }
}

// Weights of one product, of a batch that has none or others: the bits of a batch made with them.
TEST(Batched, WeightsOfTheCallAreExchanged) {
    std::vector<SmallMatrix> graphs = with_a_large_one(false);
    for (SmallMatrix &a : graphs) sort_by_row(&a);
    Features x(cols_of(graphs), 33, CSAW_F32);
    x.fill(6, false);
    for (Form form : forms) {
        const Arrays arrays(graphs, form);
        const std::vector<float> weight = arrays.weight;
        for (Reduce reduce : reduces) {
            const Product own = multiply(arrays.batch().get(), graphs, x, reduce, CSAW_F32);
            const Arrays without(graphs, form, false);
            const Product given = multiply(without.batch().get(), graphs, x, reduce, CSAW_F32, true, weight.data());
            EXPECT_EQ(given.y.bytes, own.y.bytes);
            EXPECT_EQ(given.arg, own.arg);
            const std::vector<float> zeros(weight.size());
            EXPECT_NE(multiply(arrays.batch().get(), graphs, x, reduce, CSAW_F32, true, zeros.data()).y.bytes,
                      own.y.bytes);
        }
    }
}

// Rows in any order, each row's entries in theirs: COO gives the bits of CSR.
TEST(Batched, CooOfAnyRowsHasTheBitsOfCsr) {
    std::vector<SmallMatrix> coo = with_a_large_one(false), csr = coo;
    for (SmallMatrix &a : csr) sort_by_row(&a);
    const Arrays arrays_coo(coo, Form::list_coo), arrays_csr(csr, Form::list_csr);
    Features x(cols_of(coo), 100, CSAW_F32);
    x.fill(2, false);
    for (Reduce reduce : reduces)
        EXPECT_EQ(multiply(arrays_coo.batch().get(), coo, x, reduce, CSAW_F32).y.bytes,
                  multiply(arrays_csr.batch().get(), csr, x, reduce, CSAW_F32).y.bytes);
}

TEST(Batched, EqualBitsOnAnyNumberOfThreads) {
    const std::vector<SmallMatrix> graphs = with_a_large_one(false);
    const Arrays arrays(graphs, Form::join_coo);
    Features x(cols_of(graphs), 100, CSAW_F16);
    x.fill(4, false);
    for (Reduce reduce : reduces) {
        use_threads(1);
        const Product one = multiply(arrays.batch().get(), graphs, x, reduce, CSAW_F32);
        for (int threads : {2, 5}) {
            use_threads(threads);
            const Product many = multiply(arrays.batch().get(), graphs, x, reduce, CSAW_F32);
            EXPECT_EQ(one.y.bytes, many.y.bytes) << threads;
            EXPECT_EQ(one.arg, many.arg) << threads;
        }
    }
    use_threads(2);
}

TEST(Batched, ArgIsNotNeeded) {
    const std::vector<SmallMatrix> graphs = with_a_large_one(true);
    const Arrays arrays(graphs, Form::list_coo);
    for (csaw_dtype dtype : dtypes) {
        Features x(cols_of(graphs), 33, dtype);
        x.fill(9, true);
        for (Reduce reduce : {Reduce::max, Reduce::min})
            EXPECT_EQ(multiply(arrays.batch().get(), graphs, x, reduce, dtype, true).y.bytes,
                      multiply(arrays.batch().get(), graphs, x, reduce, dtype, false).y.bytes);
    }
}

TEST(Batched, NanAndInfinity) {
    const float inf = INFINITY;
    const float rows[][4] = {{NAN, 1, inf, -inf}, {1, NAN, -inf, 2}, {2, NAN, 3, 4}, {-1, 0, 5, -inf}};
    std::vector<SmallMatrix> graphs = {{3, 4, {{0, 0, 1}, {0, 1, 1}, {0, 2, -1}, {1, 3, 1}, {1, 2, 2}, {2, 3, -0.5}}}};
    for (csaw_dtype dtype : dtypes)
        for (Reduce reduce : reduces) {
            Features x({4}, 4, dtype);
            for (uint64_t i = 0; i < 16; i++) x.put(i, rows[i / 4][i % 4]);
            const Arrays arrays(graphs, Form::list_coo);
            const Product product = multiply(arrays.batch().get(), graphs, x, reduce, dtype);
            EXPECT_EQ(differ_from_reference(graphs, x, reduce, product), "");
        }
}

TEST(Batched, AHundredThousandGraphs) {
    std::mt19937_64 random(1);
    std::vector<SmallMatrix> graphs;
    for (int g = 0; g < 100000; g++) {
        const uint32_t n = static_cast<uint32_t>(3 + random() % 28);
        graphs.push_back(random_matrix(random, n, n, 2 * n, false));
        sort_by_row(&graphs.back());
    }
    for (Form form : {Form::join_csr_global, Form::list_pairs}) {
        const Arrays arrays(graphs, form);
        const Batch batch = arrays.batch();
        const csaw_batch_totals total = csaw_batch_count(batch.get());
        EXPECT_EQ(total.graphs, 100000u);
        EXPECT_EQ(total.rows, arrays.row_offset.back());
        EXPECT_EQ(total.cols, arrays.col_offset.back());
        EXPECT_EQ(total.edges, arrays.weight.size());
        Features x(cols_of(graphs), 4, CSAW_F32);
        x.fill(8, false);
        EXPECT_EQ(
            differ_from_reference(graphs, x, Reduce::sum, multiply(batch.get(), graphs, x, Reduce::sum, CSAW_F32)), "");
    }
}

// 40 rows with 2^25 elements from one to the next: 5 GiB, of which a page a row is touched.
TEST(Batched, OffsetsBeyond32Bits) {
    const uint64_t stride = 1 << 25, width = 8;
    std::vector<SmallMatrix> graphs(8, {5, 5, {{0, 4, 1}, {1, 0, 2}, {4, 4, -1}, {4, 2, 1}}});
    const Arrays arrays(graphs, Form::join_csr);
    Features x(cols_of(graphs), width, CSAW_F32), y(rows_of(graphs), width, CSAW_F32);
    x.fill(1, false);
    void *map[2];
    for (void *&m : map) {
        m = mmap(nullptr, 40 * stride * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (m == MAP_FAILED) GTEST_SKIP() << "no 5 GiB of addresses";
        madvise(m, 40 * stride * 4, MADV_NOHUGEPAGE);
    }
    csaw_batched_dense from = {40, width, stride, CSAW_F32, map[0], nullptr};
    csaw_batched_dense to = {40, width, stride, CSAW_F32, map[1], nullptr};
    for (uint64_t i = 0; i < 40; i++)
        memcpy(static_cast<float *>(map[0]) + i * stride, &x.bytes[i * width * 4], width * 4);
    EXPECT_EQ(csaw_batched_spmm(arrays.batch().get(), &from, nullptr, &to), CSAW_OK) << csaw_last_error();
    for (uint64_t i = 0; i < 40; i++)
        memcpy(&y.bytes[i * width * 4], static_cast<float *>(map[1]) + i * stride, width * 4);
    EXPECT_EQ(differ_from_reference(graphs, x, Reduce::sum, {y, {}}), "");
    for (void *m : map) munmap(m, 40 * stride * 4);
}

TEST(Batched, NothingAtAll) {
    for (Form form : {Form::list_coo, Form::join_csr}) {
        const Arrays arrays({}, form);
        const Batch batch = arrays.batch();
        Features x({}, 7, CSAW_F32), y({}, 7, CSAW_F32);
        const csaw_batched_dense from = x.view(), to = y.view();
        EXPECT_EQ(csaw_batched_spmm(batch.get(), &from, nullptr, &to), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(csaw_batch_count(batch.get()).graphs, 0u);
    }
    const std::vector<SmallMatrix> graphs = mixed(1, false);
    const Arrays arrays(graphs, Form::list_coo);
    for (Reduce reduce : reduces) { // no columns of features
        Features x(cols_of(graphs), 0, CSAW_BF16);
        EXPECT_TRUE(multiply(arrays.batch().get(), graphs, x, reduce, CSAW_F32).y.bytes.empty());
    }
    const std::vector<SmallMatrix> large = {{9000, 9000, {{8999, 1, 2}}}}; // of slices, if it had columns
    const Arrays of_large(large, Form::list_coo);
    Features x({9000}, 0, CSAW_F32), dx({9000}, 0, CSAW_F32);
    const csaw_batched_dense from = x.view(), to = dx.view();
    for (Reduce reduce : reduces) {
        EXPECT_TRUE(multiply(of_large.batch().get(), large, x, reduce, CSAW_F32).y.bytes.empty());
        const csaw_batched_options options = options_of(reduce, nullptr);
        float dw = NAN;
        EXPECT_EQ(csaw_batched_spmm_backward(of_large.batch().get(), &from, &from, &options, &to, &dw), CSAW_OK)
            << csaw_last_error();
        EXPECT_EQ(dw, 0);
    }
    csaw_batch_free(nullptr);
}

// Subgraphs of csaw's own sampling, as csaw_subgraph_look() shows them.
TEST(Batched, SampledSubgraphsAsTheyAre) {
    csaw_graph *graph = nullptr;
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    csaw_subgraph *subgraph = nullptr;
    csaw_batch *batch = nullptr;
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 8;
    const uint32_t fanout[] = {5, 3};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 2;
    run.fanout = fanout;
    csaw_subgraph_options each = {};
    each.size = sizeof each;
    each.per_instance = true;
    ASSERT_EQ(csaw_graph_rmat(&rmat, &graph), CSAW_OK) << csaw_last_error();
    ASSERT_EQ(csaw_plan_create(graph, nullptr, &plan), CSAW_OK) << csaw_last_error();
    ASSERT_EQ(csaw_sample(plan, csaw_sampler_find("neighbor"), nullptr, nullptr, &run, &samples), CSAW_OK);
    ASSERT_EQ(csaw_subgraph_create(graph, samples, &each, &subgraph), CSAW_OK) << csaw_last_error();
    const csaw_subgraph_view view = csaw_subgraph_look(subgraph);
    csaw_small_graphs joined = {};
    joined.num_graphs = view.num_graphs;
    joined.format = CSAW_CSR;
    joined.row_offset = view.vertex_offset;
    joined.rowptr = view.rowptr;
    joined.col = view.col;
    ASSERT_EQ(csaw_batch_join(&joined, nullptr, &batch), CSAW_OK) << csaw_last_error();

    std::vector<SmallMatrix> graphs;
    for (uint64_t g = 0; g < view.num_graphs; g++) {
        const uint64_t first = view.vertex_offset[g], n = view.vertex_offset[g + 1] - first;
        graphs.push_back({static_cast<uint32_t>(n), static_cast<uint32_t>(n), {}});
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t k = view.rowptr[first + i]; k < view.rowptr[first + i + 1]; k++)
                graphs[g].entries.push_back({static_cast<uint32_t>(i), view.col[k], 1});
    }
    ASSERT_GT(graphs.size(), 100u);
    Features x(cols_of(graphs), 16, CSAW_F32);
    x.fill(8, false);
    EXPECT_EQ(differ_from_reference(graphs, x, Reduce::mean, multiply(batch, graphs, x, Reduce::mean, CSAW_F32)), "");
    csaw_batch_free(batch);
    csaw_subgraph_free(subgraph);
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
}

// The check itself: an entry left out, moved, or with a weight a little off is seen, and so is a wrong arg.
TEST(BatchedCheck, SeesAnEntryThatIsWrong) {
    std::mt19937_64 random(3);
    const std::vector<SmallMatrix> graphs = {random_matrix(random, 50, 50, 150, true)};
    const Arrays arrays(graphs, Form::list_coo);
    Features x({50}, 8, CSAW_F32);
    x.fill(3, true);
    const Product sum = multiply(arrays.batch().get(), graphs, x, Reduce::sum, CSAW_F32);
    std::vector<SmallMatrix> dropped = graphs, moved = graphs, off = graphs;
    dropped[0].entries.pop_back();
    moved[0].entries[7].col = (moved[0].entries[7].col + 1) % 50;
    off[0].entries[9].weight *= 1.001;
    EXPECT_EQ(differ_from_reference(graphs, x, Reduce::sum, sum), "");
    for (const auto &wrong : {dropped, moved, off}) EXPECT_NE(differ_from_reference(wrong, x, Reduce::sum, sum), "");

    Product max = multiply(arrays.batch().get(), graphs, x, Reduce::max, CSAW_F32);
    EXPECT_EQ(differ_from_reference(graphs, x, Reduce::max, max), "");
    max.arg[17]++;
    EXPECT_NE(differ_from_reference(graphs, x, Reduce::max, max), "");
}

} // namespace
