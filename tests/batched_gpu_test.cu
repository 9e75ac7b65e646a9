/* SPDX-License-Identifier: MIT */
/* tests/batched_gpu_test.cu - batched products on a GPU through the public API: the CPU's bits, forward and backward,
 * in every form of a batch, storage and width; 100,000 graphs in a call; products recorded in a CUDA graph; what is
 * refused. Outputs are poisoned. */
#include "tests/batched_cases.h"
#include "tests/gpu_memory.cuh"
#include "tests/share.h"

extern "C" {
#include "spmm/device.h"
}
#include "spmm/device_batched.h"

namespace {

using namespace batched;
using gpu_memory::Array;
using gpu_memory::NoGpu;
using gpu_memory::Require;

class BatchedGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

// The arrays of a batch in the memory of the GPU, and structs that name them there.
class ArraysThere {
  public:
    ArraysThere(const Arrays &a, Form form)
        : row(a.row), col(a.col), row_offset(a.row_offset), col_offset(a.col_offset), edge_offset(a.edge_offset),
          rowptr(a.rowptr), own_rowptr(a.own_rowptr), weight(a.weight), list(a.list), joined(a.joined), form(form) {
        for (csaw_small &s : list) {
            if (s.col) s.col = form == Form::list_pairs ? Moved(s.col, a.row, row) : Moved(s.col, a.col, col);
            if (s.row) s.row = Moved(s.row, a.row, row);
            if (s.rowptr) s.rowptr = Moved(s.rowptr, a.own_rowptr, own_rowptr);
            if (s.weight) s.weight = Moved(s.weight, a.weight, weight);
        }
        joined.row_offset = row_offset.get(), joined.col_offset = col_offset.get();
        if (joined.edge_offset) joined.edge_offset = edge_offset.get();
        if (joined.row) joined.row = row.get();
        if (joined.rowptr) joined.rowptr = rowptr.get();
        joined.col = col.get();
        if (joined.weight) joined.weight = weight.get();
    }
    csaw_status create(csaw_batch **out) const {
        csaw_batch_options options = {};
        options.size = sizeof options;
        options.device = "cuda:0";
        return is_list(form) ? csaw_batch_list(list.data(), list.size(), &options, out)
                             : csaw_batch_join(&joined, &options, out);
    }
    Batch batch() const {
        csaw_batch *out = nullptr;
        EXPECT_EQ(create(&out), CSAW_OK) << csaw_last_error();
        return Batch(out);
    }

    Array<csaw_vertex> row, col;
    Array<uint64_t> row_offset, col_offset, edge_offset, rowptr, own_rowptr;
    Array<float> weight;
    std::vector<csaw_small> list;
    csaw_small_graphs joined;

  private:
    template <class T> static const T *Moved(const T *at, const std::vector<T> &from, const Array<T> &to) {
        return to.get() + (at - from.data());
    }
    Form form;
};

class FeaturesThere { // the same bytes: poison of outputs, and padding
  public:
    explicit FeaturesThere(Features &f) : data_(f.bytes) {
        view = f.view();
        if (!view.each) {
            view.data = data_.get();
            return;
        }
        std::vector<void *> pointer;
        for (size_t g = 0; g < f.rows.size(); g++)
            pointer.push_back(data_.get() + f.begin[g] * f.stride * (f.dtype == CSAW_F32 ? 4 : 2)); // f may be a copy
        each_ = Array<void *>(pointer);
        view.each = each_.get();
    }
    std::vector<char> back() const { return data_.back(); }
    csaw_batched_dense view;

  private:
    Array<char> data_;
    Array<void *> each_;
};

struct Ask {
    Form form;
    Reduce reduce;
    uint64_t width;
    csaw_dtype from = CSAW_F32, to = CSAW_F32;
    uint64_t padding = 0;
    bool each = false, weights_of_the_call = false;
};

std::string Name(const Ask &ask) {
    return "form " + std::to_string(static_cast<int>(ask.form)) + ", reduce " +
           std::to_string(static_cast<int>(ask.reduce)) + ", " + std::to_string(ask.width) + " columns, storage " +
           std::to_string(ask.from) + " to " + std::to_string(ask.to) + ", padding " + std::to_string(ask.padding) +
           (ask.each ? ", an array each" : "") + (ask.weights_of_the_call ? ", weights of the call" : "");
}

void ExpectCpuBits(std::vector<SmallMatrix> graphs, const Ask &ask, const std::vector<uint32_t> &all_lanes = {0}) {
    if (is_csr(ask.form))
        for (SmallMatrix &a : graphs) sort_by_row(&a);
    const Arrays arrays(graphs, ask.form);
    const ArraysThere arrays_there(arrays, ask.form);
    const Batch batch = arrays.batch(), there = arrays_there.batch();
    ASSERT_TRUE(batch && there);
    const csaw_batch_totals total = csaw_batch_count(batch.get());
    const auto features = [&](const std::vector<uint32_t> &rows, csaw_dtype dtype) {
        return Features(rows, ask.width, dtype, ask.padding, ask.each);
    };
    Features x = features(cols_of(graphs), ask.from), want = features(rows_of(graphs), ask.to), poison(want);
    x.fill(ask.width, is_best(ask.reduce));
    std::vector<uint32_t> want_arg(is_best(ask.reduce) ? total.rows * ask.width + 1 : 0, 77);
    const Array<uint32_t> first_arg(want_arg);
    std::vector<float> other = arrays.weight;
    std::reverse(other.begin(), other.end());
    other.push_back(NAN); // never read
    const Array<float> other_there(other);
    csaw_batched_options options = options_of(ask.reduce, &want_arg);
    options.weight = ask.weights_of_the_call ? other.data() : nullptr;
    csaw_batched_options on_gpu = options;
    on_gpu.weight = ask.weights_of_the_call ? other_there.get() : nullptr;
    const csaw_batched_dense in = x.view(), out = want.view();
    const FeaturesThere there_x(x);
    ASSERT_EQ(csaw_batched_spmm(batch.get(), &in, &options, &out), CSAW_OK) << csaw_last_error();
    if (is_best(ask.reduce)) on_gpu.arg = first_arg.get();
    for (uint32_t lanes : all_lanes) { // 0: through the public API
        const FeaturesThere y(poison);
        ASSERT_EQ(lanes ? csaw__device_batched_spmm(there.get(), lanes, &there_x.view, &on_gpu, &y.view)
                        : csaw_batched_spmm(there.get(), &there_x.view, &on_gpu, &y.view),
                  CSAW_OK)
            << csaw_last_error();
        EXPECT_EQ(y.back(), want.bytes) << Name(ask) << ", lanes " << lanes;
        if (is_best(ask.reduce)) EXPECT_EQ(first_arg.back(), want_arg) << Name(ask) << ", lanes " << lanes;
    }
    if (!is_best(ask.reduce) && !ask.weights_of_the_call) {
        const FeaturesThere y(poison);
        ASSERT_EQ(csaw__device_batched_tiles(there.get(), &there_x.view, &on_gpu, &y.view), CSAW_OK)
            << csaw_last_error();
        EXPECT_EQ(y.back(), want.bytes) << Name(ask) << ", in shared memory";
    }
    Features dy = features(rows_of(graphs), ask.from), want_dx = features(cols_of(graphs), ask.to), no_dx(want_dx);
    dy.fill(ask.width + 1, false);
    std::vector<float> want_dw(total.edges + 1, -3);
    const Array<float> dw(want_dw);
    const csaw_batched_dense from = dy.view(), to = want_dx.view();
    const FeaturesThere there_dy(dy), dx(no_dx);
    ASSERT_EQ(csaw_batched_spmm_backward(batch.get(), &in, &from, &options, &to, want_dw.data()), CSAW_OK);
    ASSERT_EQ(csaw_batched_spmm_backward(there.get(), &there_x.view, &there_dy.view, &on_gpu, &dx.view, dw.get()),
              CSAW_OK)
        << csaw_last_error();
    EXPECT_EQ(dx.back(), want_dx.bytes) << Name(ask) << ", dx";
    EXPECT_EQ(dw.back(), want_dw) << Name(ask) << ", dw";
    for (uint32_t lanes : {4, 8, 16}) {
        const Array<float> again(std::vector<float>(total.edges + 1, -3));
        ASSERT_EQ(csaw__device_batched_backward(there.get(), lanes, &there_x.view, &there_dy.view, &on_gpu, nullptr,
                                                again.get()),
                  CSAW_OK)
            << csaw_last_error();
        EXPECT_EQ(again.back(), want_dw) << Name(ask) << ", dw by " << lanes << " lanes";
    }
}

TEST_F(BatchedGpu, EveryFormReductionAndWidth) {
    for (Form form : forms)
        for (Reduce reduce : reduces)
            for (uint64_t width : {1, 3, 8, 32, 64, 100, 512})
                if (reference::takes_case())
                    ExpectCpuBits(mixed(width, is_best(reduce)), {form, reduce, width}, {0, 4, 8, 16, 32});
}

TEST_F(BatchedGpu, EveryStorage) {
    for (csaw_dtype from : dtypes)
        for (csaw_dtype to : dtypes)
            for (Reduce reduce : reduces)
                for (uint64_t width : {3, 64, 100})
                    for (Form form : {Form::list_csr, Form::join_coo_global})
                        for (bool each : {false, true})
                            for (uint64_t padding : {0, 3, 4})
                                if (reference::takes_case())
                                    ExpectCpuBits(mixed(width + 7, is_best(reduce)),
                                                  {form, reduce, width, from, to, padding, each});
}

TEST_F(BatchedGpu, WeightsOfTheCall) {
    for (Form form : forms)
        for (Reduce reduce : reduces)
            for (uint64_t width : {3, 64, 100})
                for (csaw_dtype from : {CSAW_F32, CSAW_BF16})
                    if (reference::takes_case()) {
                        Ask ask = {form, reduce, width, from};
                        ask.weights_of_the_call = true;
                        ExpectCpuBits(mixed(width, is_best(reduce)), ask);
                    }
}

// float64 is the CPU's.
TEST_F(BatchedGpu, ExactIsRefused) {
    const std::vector<SmallMatrix> graphs = mixed(1, true);
    const Arrays arrays(graphs, Form::join_coo);
    const ArraysThere arrays_there(arrays, Form::join_coo);
    const Batch there = arrays_there.batch();
    ASSERT_TRUE(there);
    csaw_batched_options options = options_of(Reduce::sum, nullptr);
    options.exact = true;
    EXPECT_EQ(csaw_batched_spmm(there.get(), nullptr, &options, nullptr), CSAW_EUNSUPPORTED);
}

std::vector<SmallMatrix> WithLargeOnes() {
    std::mt19937_64 random(11);
    std::vector<SmallMatrix> graphs = mixed(5, true);
    graphs.insert(graphs.begin() + 5, random_matrix(random, 5000, 5000, 15000, true));
    graphs.push_back(random_matrix(random, 300, 2000, 4000, true));
    return graphs;
}

TEST_F(BatchedGpu, LargeGraphsAmongSmallOnes) {
    for (Form form : {Form::join_coo, Form::list_csr, Form::list_coo})
        for (Reduce reduce : reduces)
            for (uint64_t width : {1, 33, 64})
                if (reference::takes_case()) ExpectCpuBits(WithLargeOnes(), {form, reduce, width});
}

TEST_F(BatchedGpu, AHundredThousandGraphs) {
    std::mt19937_64 random(3);
    std::vector<SmallMatrix> graphs;
    for (uint64_t g = 0; g < reference::share_of(100000); g++) {
        const uint32_t rows = static_cast<uint32_t>(random() % 40);
        graphs.push_back(random_matrix(random, rows, rows, rows * 2, false));
    }
    for (Form form : {Form::join_csr, Form::join_coo}) ExpectCpuBits(graphs, {form, Reduce::mean, 16});
}

TEST_F(BatchedGpu, BatchesOfNothing) {
    for (Form form : forms)
        for (const std::vector<SmallMatrix> &graphs :
             {std::vector<SmallMatrix>{}, {{0, 0, {}}}, {{3, 0, {}}, {0, 2, {}}}})
            for (uint64_t width : {0, 5}) ExpectCpuBits(graphs, {form, Reduce::sum, width});
}

void ExpectNothingWon(std::vector<SmallMatrix> graphs, uint64_t width) {
    for (SmallMatrix &a : graphs) sort_by_row(&a);
    const Arrays arrays(graphs, Form::join_csr);
    const ArraysThere arrays_there(arrays, Form::join_csr);
    const Batch there = arrays_there.batch();
    ASSERT_TRUE(there);
    std::vector<uint32_t> arg;
    for (const SmallMatrix &a : graphs)
        for (uint32_t i = 0; i < a.rows; i++) {
            uint32_t before = 0; // entries of the rows before
            for (const auto &e : a.entries) before += e.row < i;
            for (uint64_t c = 0; c < width; c++)
                arg.push_back(c % 3 == 0 && before ? before - 1 : i % 2 ? 1u << 30 : CSAW_NONE);
        }
    const Array<uint32_t> arg_there(arg);
    Features dy(rows_of(graphs), width, CSAW_F32), dx(cols_of(graphs), width, CSAW_F32);
    dy.fill(width, true);
    const FeaturesThere from(dy), to(dx);
    csaw_batched_options options = options_of(Reduce::max, nullptr);
    options.arg = arg_there.get();
    ASSERT_EQ(csaw_batched_spmm_backward(there.get(), nullptr, &from.view, &options, &to.view, nullptr), CSAW_OK);
    EXPECT_EQ(to.back(), std::vector<char>(dx.bytes.size(), 0));
}

// As many as go by rows (spmm/device_batched_won.cuh) where they are in CSR.
std::vector<SmallMatrix> ManySmallOnes(uint64_t width) {
    std::mt19937_64 random(7);
    std::vector<SmallMatrix> graphs = {{0, 0, {}}, {0, 4, {}}, {4, 0, {}}, {5, 5, {}}};
    while (csaw__won_threads(graphs.size(), width) < CSAW__WON_LEAST) {
        const uint32_t rows = static_cast<uint32_t>(random() % (CSAW__WON_MOST + 1)),
                       cols = static_cast<uint32_t>(random() % (CSAW__WON_MOST + 1));
        graphs.push_back(random_matrix(random, rows, cols, 2 * rows, true));
    }
    return graphs;
}

// The arg of another batch: entries of other rows, and beyond the last.
TEST_F(BatchedGpu, EntriesOfOtherRowsWinNothing) {
    ExpectNothingWon(mixed(3, true), 1);
    ExpectNothingWon(ManySmallOnes(100), 100);
}

TEST_F(BatchedGpu, MaximaOfManySmallGraphs) {
    for (Form form : {Form::join_csr, Form::list_csr, Form::list_coo})
        for (Reduce reduce : {Reduce::max, Reduce::min})
            for (uint64_t width : {64, 100, 512})
                for (csaw_dtype from : dtypes)
                    for (csaw_dtype to : {CSAW_F32, from == CSAW_F32 ? CSAW_BF16 : from})
                        for (bool weights_of_the_call : {false, true}) {
                            if (!reference::takes_case()) continue;
                            Ask ask = {form, reduce, width, from, to};
                            ask.weights_of_the_call = weights_of_the_call;
                            ask.each = width == 100, ask.padding = width == 512 ? 3 : 0;
                            ExpectCpuBits(ManySmallOnes(width), ask);
                        }
}

// Of so many threads that every second block waits, by 8 and 16 lanes.
TEST_F(BatchedGpu, GradientsWhoseSecondBlocksWait) {
    std::mt19937_64 random(19);
    std::vector<SmallMatrix> graphs = {{0, 4, {}}, {4, 0, {}}};
    for (int i = 0; i < 320; i++) graphs.push_back(random_matrix(random, 40, 60, 130, true));
    for (uint64_t width : {64, 100, 17}) {
        csaw__batched_product p = {};
        p.transposed = true, p.cols = p.in.stride = p.out.stride = width;
        p.outputs = 4 + 320 * 60;
        csaw__batched_lay_out(&p, 0);
        ASSERT_EQ(p.vector, width == 17 ? 1u : 4u);
        ASSERT_EQ(p.lanes, width == 64 ? 8u : 16u);
        ASSERT_EQ(p.parts, 2u);
        for (Reduce reduce : {Reduce::sum, Reduce::mean})
            for (csaw_dtype from : dtypes)
                for (bool weights_of_the_call : {false, true}) {
                    Ask ask = {Form::list_csr, reduce, width, from, from};
                    ask.weights_of_the_call = weights_of_the_call;
                    ExpectCpuBits(graphs, ask);
                }
    }
}

TEST_F(BatchedGpu, RowsHave32BitsOfBytes) {
    const std::vector<SmallMatrix> graphs = {{1, 1, {{0, 0, 1}}}};
    const Arrays arrays(graphs, Form::join_csr);
    const ArraysThere arrays_there(arrays, Form::join_csr);
    const Batch there = arrays_there.batch();
    Features x({1}, 4, CSAW_F32), y({1}, 4, CSAW_F32);
    x.fill(1, false);
    FeaturesThere from(x), to(y);
    from.view.stride = CSAW__BATCHED_WIDEST;
    EXPECT_EQ(csaw_batched_spmm(there.get(), &from.view, nullptr, &to.view), CSAW_OK) << csaw_last_error();
    from.view.stride++;
    EXPECT_EQ(csaw_batched_spmm(there.get(), &from.view, nullptr, &to.view), CSAW_EINVAL);
    EXPECT_NE(strstr(csaw_last_error(), "1073741824"), nullptr) << csaw_last_error();
    EXPECT_EQ(csaw_batched_spmm_backward(there.get(), nullptr, &from.view, nullptr, &to.view, nullptr), CSAW_EINVAL);
}

TEST_F(BatchedGpu, ProductsCanBeRecordedInAGraph) {
    const std::vector<SmallMatrix> graphs = WithLargeOnes();
    const Arrays arrays(graphs, Form::join_coo);
    const ArraysThere arrays_there(arrays, Form::join_coo);
    const Batch batch = arrays.batch(), there = arrays_there.batch();
    Features x(cols_of(graphs), 40, CSAW_F32), want(rows_of(graphs), 40, CSAW_F32), poison(want);
    x.fill(1, false);
    const csaw_batched_dense in = x.view(), out = want.view();
    ASSERT_EQ(csaw_batched_spmm(batch.get(), &in, nullptr, &out), CSAW_OK);
    const FeaturesThere there_x(x), y(poison);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    csaw_batched_options options = options_of(Reduce::sum, nullptr);
    options.stream = stream;
    Require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const csaw_status status = csaw_batched_spmm(there.get(), &there_x.view, &options, &y.view);
    Require(cudaStreamEndCapture(stream, &graph));
    ASSERT_EQ(status, CSAW_OK) << csaw_last_error();
    Require(cudaGraphInstantiate(&runs, graph, 0));
    for (int i = 0; i < 3; i++) Require(cudaGraphLaunch(runs, stream));
    Require(cudaStreamSynchronize(stream));
    EXPECT_EQ(y.back(), want.bytes);
    Require(cudaGraphExecDestroy(runs));
    Require(cudaGraphDestroy(graph));
    Require(cudaStreamDestroy(stream));
}

// Before anything is read: that memory has one entry.
TEST_F(BatchedGpu, MoreEntriesThanNumbersAreRefused) {
    const std::vector<SmallMatrix> one = {{1, 1, {{0, 0, 1}}}};
    const Arrays arrays(one, Form::list_coo);
    const ArraysThere there(arrays, Form::list_coo);
    std::vector<csaw_small> graphs(2, there.list[0]);
    csaw_batch_options options = {};
    csaw_batch *batch = nullptr;
    options.size = sizeof options, options.device = "cuda:0";
    for (csaw_small &g : graphs) g.num_edges = uint64_t{1} << 31;
    EXPECT_EQ(csaw_batch_list(graphs.data(), 2, &options, &batch), CSAW_EINVAL);
    EXPECT_EQ(batch, nullptr);
    EXPECT_NE(strstr(csaw_last_error(), "4294967296 entries, but a GPU takes 4294967294"), nullptr)
        << csaw_last_error();
}

// The CPU's words for arrays with a fault.
TEST_F(BatchedGpu, FaultsAreToldAsOnTheCpu) {
    std::vector<SmallMatrix> graphs = mixed(2, true);
    for (SmallMatrix &a : graphs) sort_by_row(&a);
    for (Form form : forms)
        for (int fault = 0; fault < 5; fault++) {
            Arrays arrays(graphs, form);
            const uint64_t end = arrays.edge_offset[9] - 1; // the last entry of graph 8, which has 5 rows
            ASSERT_EQ(graphs[8].rows, 5u);
            const uint64_t own = arrays.own_begin[8], row = arrays.row_offset[8];
            if (fault == 0) arrays.col[end] = arrays.row[form == Form::list_pairs ? 2 * end + 1 : end] = ~0u;
            if (fault == 1) arrays.own_rowptr[own + 2] = arrays.rowptr[row + 2] = uint64_t{1} << 40;
            if (fault == 2) arrays.own_rowptr[own + 5]++;
            if (fault == 3) arrays.own_rowptr[own] = 1;
            if (fault == 4) arrays.row_offset[9] = arrays.row_offset[8] - 1;
            csaw_batch *batch = nullptr;
            const csaw_status want = arrays.create(&batch);
            const std::string words = want == CSAW_OK ? "" : csaw_last_error();
            csaw_batch_free(batch);
            batch = nullptr;
            const ArraysThere there(arrays, form);
            EXPECT_EQ(there.create(&batch), want) << words;
            if (want != CSAW_OK) EXPECT_EQ(csaw_last_error(), words);
            csaw_batch_free(batch);
        }
}

} // namespace
