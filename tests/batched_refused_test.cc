/* SPDX-License-Identifier: MIT */
/* tests/batched_refused_test.cc - what batches and batched products refuse, with the graph, the limit and the value in
 * the message; that a refusal touches no output; and every allocation failing in turn. */
#include "tests/batched_cases.h"

#include "runtime/base/memory.h"

using namespace batched;

namespace {

// Fifty graphs of 8 vertices and 16 entries, in every form.
std::vector<SmallMatrix> fifty() {
    std::mt19937_64 random(1);
    std::vector<SmallMatrix> out;
    for (int g = 0; g < 50; g++) out.push_back(random_matrix(random, 8, 8, 16, false));
    for (SmallMatrix &a : out) sort_by_row(&a);
    return out;
}

class Refused : public ::testing::Test {
  protected:
    void refuse(const Arrays &arrays, const std::string &message) {
        csaw_batch *batch = reinterpret_cast<csaw_batch *>(this); // stays
        EXPECT_EQ(arrays.create(&batch), CSAW_EINVAL);
        EXPECT_EQ(batch, reinterpret_cast<csaw_batch *>(this));
        EXPECT_EQ(csaw_last_error(), message);
    }
};

TEST_F(Refused, IndicesOutOfRange) {
    for (Form form : {Form::list_csr, Form::list_coo, Form::join_csr, Form::join_coo}) {
        Arrays arrays(fifty(), form);
        arrays.col[16 * 17 + 3] = 9;
        arrays.col[16 * 30 + 3] = 8;
        refuse(arrays, "graph 17 of 50: entry 3 has column 9, but the graph has 8 columns from 0 on; mend the entry");
    }
    for (Form form : {Form::join_csr_global, Form::join_coo_global}) {
        Arrays arrays(fifty(), form);
        arrays.col[16 * 17 + 3] = 8 * 17 - 1;
        refuse(arrays,
               "graph 17 of 50: entry 3 has column 135, but the graph has 8 columns from 136 on; mend the entry");
    }
    for (Form form : {Form::list_coo, Form::join_coo}) {
        Arrays arrays(fifty(), form);
        arrays.row[16 * 49 + 15] = 4294967295u;
        refuse(arrays,
               "graph 49 of 50: entry 15 has row 4294967295, but the graph has 8 rows from 0 on; mend the entry");
    }
    Arrays pairs(fifty(), Form::list_pairs);
    pairs.row[2 * (16 * 17 + 3) + 1] = 8;
    refuse(pairs, "graph 17 of 50: entry 3 has column 8, but the graph has 8 columns from 0 on; mend the entry");
    use_threads(5); // the first of several, whoever finds it
    std::vector<SmallMatrix> many(5000, fifty()[0]);
    Arrays arrays(many, Form::list_coo);
    for (size_t g : {4999, 4000, 3001, 2000, 1007}) arrays.col[16 * g + 15] = 77;
    refuse(arrays, "graph 1007 of 5000: entry 15 has column 77, but the graph has 8 columns from 0 on; mend the entry");
    use_threads(2);
}

TEST_F(Refused, Rowptr) {
    Arrays list(fifty(), Form::list_csr);
    list.own_rowptr[9 * 17 + 8] = 17;
    refuse(list, "graph 17 of 50: rowptr ends with 17, but num_edges is 16; the two agree");
    list.own_rowptr[9 * 17 + 3] = 20;
    list.own_rowptr[9 * 17 + 4] = 5;
    refuse(list, "graph 17 of 50: rowptr falls from 20 to 5 at row 3; a rowptr never falls");
    list.own_rowptr[9 * 2] = 1;
    refuse(list, "graph 2 of 50: rowptr begins with 1; it begins with 0");
    list.list[1].rowptr = nullptr;
    refuse(list, "graph 1 of 50: rowptr is NULL; CSR needs it");
    Arrays joined(fifty(), Form::join_csr);
    joined.rowptr[8 * 17 + 3] = joined.rowptr[8 * 17 + 4] + 1;
    refuse(joined, "graph 17 of 50: rowptr falls from " + std::to_string(joined.rowptr[8 * 17 + 3]) + " to " +
                       std::to_string(joined.rowptr[8 * 17 + 4]) + " at row 3; a rowptr never falls");
    joined.rowptr[8 * 5] = 1000;
    refuse(joined, "graph 5 of 50: rowptr falls from 1000 to 96; a rowptr never falls");
}

TEST_F(Refused, SizesAndArrays) {
    Arrays list(fifty(), Form::list_coo);
    list.list[9].cols = 4294967295u;
    refuse(list, "graph 9 of 50: 8 rows, 4294967295 columns and 16 entries, but 4294967294 of each is the limit; give "
                 "it to csaw_spmm() by itself");
    list.list[8].col = nullptr;
    refuse(list, "graph 8 of 50: col is NULL, but it has 16 entries; give its columns");
    list.list[7].row = nullptr;
    refuse(list, "graph 7 of 50: row is NULL, but it has 16 entries; COO needs it");
    list.list[6].format = static_cast<csaw_format>(2);
    refuse(list, "graph 6 of 50: format 2; give CSAW_COO or CSAW_CSR");

    Arrays joined(fifty(), Form::join_coo_global);
    joined.edge_offset[18] = 3;
    refuse(joined, "graph 17 of 50: edge_offset falls from 272 to 3; offsets never fall");
    joined.row_offset[4] = 1;
    refuse(joined, "graph 3 of 50: row_offset falls from 24 to 1; offsets never fall");
    joined.joined.col_offset = joined.col_offset.data();
    joined.col_offset[3] = 1;
    refuse(joined, "graph 2 of 50: col_offset falls from 16 to 1; offsets never fall");
    joined.joined.edge_offset = nullptr;
    refuse(joined, "edge_offset is NULL, but there are 50 graphs; give it");
    joined.joined.row_offset = nullptr;
    refuse(joined, "row_offset is NULL, but there are 50 graphs; give it");
    joined.joined.format = static_cast<csaw_format>(-1);
    refuse(joined, "format -1; give CSAW_COO or CSAW_CSR");
    const uint64_t far[] = {4294967290u, 4294967295u}, none[] = {0, 0};
    csaw_small_graphs wide = {};
    wide.num_graphs = 1;
    wide.row_offset = far;
    wide.edge_offset = none;
    csaw_batch *batch = nullptr;
    EXPECT_EQ(csaw_batch_join(&wide, nullptr, &batch), CSAW_OK) << csaw_last_error();
    csaw_batch_free(batch);
    wide.global = true;
    EXPECT_EQ(csaw_batch_join(&wide, nullptr, &batch), CSAW_EINVAL);
    EXPECT_STREQ(csaw_last_error(), "graph 0 of 1: its rows or columns count beyond 4294967294, which indices of 32 "
                                    "bits cannot say; count them from 0 in each graph");
}

TEST_F(Refused, CallsOfTheBatch) {
    csaw_batch *batch = nullptr;
    csaw_batch_options options = {};
    EXPECT_EQ(csaw_batch_list(nullptr, 3, nullptr, &batch), CSAW_EINVAL);
    EXPECT_EQ(csaw_batch_list(nullptr, 0, nullptr, nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_batch_join(nullptr, nullptr, &batch), CSAW_EINVAL);
    EXPECT_EQ(csaw_batch_list(nullptr, 0, &options, &batch), CSAW_EINVAL) << "size is 0";
    options.size = sizeof options;
    options.device = "cuda:0";
#ifndef CSAW_WITH_CUDA
    EXPECT_EQ(csaw_batch_list(nullptr, 0, &options, &batch), CSAW_EUNSUPPORTED);
#endif
    options.device = "gpu";
    EXPECT_EQ(csaw_batch_list(nullptr, 0, &options, &batch), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("'gpu' is not known"), std::string::npos);
    options.device = "cpu", options.stream = &options;
    EXPECT_EQ(csaw_batch_list(nullptr, 0, &options, &batch), CSAW_EINVAL);
    EXPECT_NE(std::string(csaw_last_error()).find("the device is the CPU"), std::string::npos);
    options.stream = nullptr;
    EXPECT_EQ(csaw_batch_list(nullptr, 0, &options, &batch), CSAW_OK) << csaw_last_error();
    csaw_batch_free(batch);
    batch = nullptr;
    std::vector<csaw_small> one(1);
    EXPECT_EQ(csaw_batch_list(one.data(), 4294967295u, nullptr, &batch), CSAW_EINVAL);
    EXPECT_EQ(batch, nullptr);
}

/* ---- products ---- */

class Products : public ::testing::Test {
  protected:
    Products()
        : graphs(fifty()), arrays(graphs, Form::list_coo), batch(arrays.batch()), x(cols_of(graphs), 4, CSAW_F32),
          y(rows_of(graphs), 4, CSAW_F32), from(x.view()), to(y.view()) {
        x.fill(1, false);
        options.size = sizeof options;
        untouched = y.bytes;
    }

    void refuse(const csaw_batched_dense *from, const csaw_batched_dense *to, const std::string &message) {
        EXPECT_EQ(csaw_batched_spmm(batch.get(), from, &options, to), CSAW_EINVAL);
        EXPECT_EQ(csaw_last_error(), message);
        EXPECT_EQ(y.bytes, untouched);
    }

    std::vector<SmallMatrix> graphs;
    Arrays arrays;
    Batch batch;
    Features x, y;
    csaw_batched_dense from, to;
    csaw_batched_options options = {};
    std::vector<char> untouched;
};

TEST_F(Products, Matrices) {
    refuse(nullptr, &to, "x is NULL; give a matrix");
    refuse(&from, nullptr, "y is NULL; give a matrix");
    csaw_batched_dense bad = from;
    bad.stride = 3;
    refuse(&bad, &to, "x has a stride of 3, but 4 columns; a stride is at least as long as a row");
    bad = from;
    bad.rows = 399;
    refuse(&bad, &to, "x has 399 rows, but the graphs of the batch have 400 columns");
    bad = to;
    bad.rows = 401;
    refuse(&from, &bad, "y has 401 rows, but the graphs of the batch have 400 rows");
    bad = to;
    bad.cols = 3;
    refuse(&from, &bad, "x has 4 columns, but y has 3; give them the same");
    bad = to;
    bad.dtype = static_cast<csaw_dtype>(3);
    refuse(&from, &bad, "y has dtype 3; give CSAW_F32, CSAW_F16 or CSAW_BF16");
    bad = to;
    bad.data = nullptr;
    refuse(&from, &bad, "y has neither data nor each; give one of them");
    bad = from;
    bad.stride = UINT64_MAX / 8;
    refuse(&bad, &to,
           "x has 400 rows with a stride of 2305843009213693951, more than memory can hold; mend the stride");
    Features each(rows_of(graphs), 4, CSAW_F32, 0, true);
    bad = each.view();
    std::vector<void *> pointers(bad.each, bad.each + 50);
    pointers[17] = nullptr;
    bad.each = pointers.data();
    refuse(&from, &bad, "graph 17 of 50: y->each is NULL there, but the matrix has 8 rows; give its data");
}

TEST_F(Products, Options) {
    std::vector<uint32_t> arg(400 * 4);
    options.arg = arg.data();
    refuse(&from, &to, "arg is of MAX and MIN, but reduce is SUM; leave it NULL");
    options.reduce = CSAW_MEAN;
    refuse(&from, &to, "arg is of MAX and MIN, but reduce is MEAN; leave it NULL");
    options.reduce = static_cast<csaw_reduce>(4);
    refuse(&from, &to, "reduce is 4; give CSAW_SUM, CSAW_MEAN, CSAW_MAX or CSAW_MIN");
    options.size = sizeof options + 1;
    EXPECT_EQ(csaw_batched_spmm(batch.get(), &from, &options, &to), CSAW_EINVAL);
    EXPECT_EQ(csaw_batched_spmm(nullptr, &from, nullptr, &to), CSAW_EINVAL);
    EXPECT_EQ(y.bytes, untouched);
}

TEST_F(Products, Backward) {
    std::vector<float> dw(arrays.weight.size(), 7);
    const auto back = [&](const csaw_batched_dense *x, const csaw_batched_dense *dy, const csaw_batched_dense *dx,
                          float *dw) {
        EXPECT_EQ(csaw_batched_spmm_backward(batch.get(), x, dy, &options, dx, dw), CSAW_EINVAL);
        return std::string(csaw_last_error());
    };
    csaw_batched_dense narrow = from;
    narrow.cols = 2;
    EXPECT_EQ(back(&narrow, &to, nullptr, nullptr), "x has 2 columns, but dy has 4; give them the same");
    EXPECT_EQ(back(nullptr, &to, &from, dw.data()), "x is NULL; give a matrix");
    EXPECT_EQ(back(&from, nullptr, &from, dw.data()), "dy is NULL; give a matrix");
    EXPECT_EQ(back(&narrow, &to, nullptr, dw.data()), "x has 2 columns, but dy has 4; give them the same");
    EXPECT_EQ(back(&from, &to, &narrow, nullptr), "dx has 2 columns, but dy has 4; give them the same");
    options.reduce = CSAW_MAX;
    EXPECT_EQ(back(&from, &to, nullptr, dw.data()), "arg is NULL; MAX and MIN need it as csaw_batched_spmm() wrote it");
    EXPECT_EQ(csaw_batched_spmm_backward(nullptr, &from, &to, nullptr, &from, dw.data()), CSAW_EINVAL);
    options.reduce = CSAW_SUM;
    options.weight = dw.data();
    EXPECT_EQ(back(&from, &to, nullptr, dw.data()),
              "dw and weight share memory, but an output must not overlap an input; give it memory of its own");
    EXPECT_EQ(dw, std::vector<float>(arrays.weight.size(), 7));
}

TEST_F(Products, OutputsThatAreInputs) {
    const std::string rest = " share memory, but an output must not overlap an input; give it memory of its own";
    refuse(&from, &from, "y and x" + rest);
    Features own(cols_of(graphs), 4, CSAW_F32, 0, true), other(cols_of(graphs), 4, CSAW_F32, 0, true);
    csaw_batched_dense one = own.view(), two = other.view();
    std::vector<void *> pointers(two.each, two.each + 50);
    pointers[17] = one.each[17];
    two.each = pointers.data();
    own.fill(1, false);
    refuse(&one, &two, "y and x" + rest); // in one graph of all
    pointers[17] = &x.bytes[17 * 8 * 4 * sizeof(float)];
    refuse(&from, &two, "y and x" + rest); // one of them graph by graph

    const std::vector<char> features = x.bytes;
    const std::vector<float> weight = arrays.weight;
    std::vector<float> dw(arrays.weight.size(), 7);
    const auto back = [&](const csaw_batched_dense *x, const csaw_batched_dense *dx, float *dw) {
        EXPECT_EQ(csaw_batched_spmm_backward(batch.get(), x, &to, nullptr, dx, dw), CSAW_EINVAL);
        return std::string(csaw_last_error());
    };
    EXPECT_EQ(back(nullptr, &to, nullptr), "dx and dy" + rest);
    EXPECT_EQ(back(&from, &from, dw.data()), "dx and x" + rest);
    EXPECT_EQ(back(&from, nullptr, arrays.weight.data()), "dw and weight" + rest);
    EXPECT_EQ(back(&from, nullptr, reinterpret_cast<float *>(x.bytes.data())), "dw and x" + rest);
    EXPECT_EQ(back(&from, nullptr, reinterpret_cast<float *>(y.bytes.data())), "dw and dy" + rest);
    EXPECT_EQ(x.bytes, features);
    EXPECT_EQ(arrays.weight, weight);
    EXPECT_EQ(y.bytes, untouched);
    EXPECT_EQ(dw, std::vector<float>(dw.size(), 7));
}

TEST_F(Products, EveryAllocationFailsInTurn) {
    uint64_t refused = 0;
    for (uint64_t n = 0;; n++) { // n = 0: none fails
        csaw_batch *made = nullptr;
        std::vector<float> dw(arrays.weight.size(), NAN);
        Features y(rows_of(graphs), 4, CSAW_BF16), dx(cols_of(graphs), 4, CSAW_F16);
        const csaw_batched_dense half = y.view(), back = dx.view();
        const std::vector<char> poison = y.bytes;
        options.reduce = CSAW_MEAN;
        csaw__fail_allocations_from(n);
        csaw_status status = arrays.create(&made);
        if (status == CSAW_OK) status = csaw_batched_spmm(made, &from, &options, &half);
        const bool multiplied = status == CSAW_OK;
        if (multiplied) status = csaw_batched_spmm_backward(made, &from, &half, &options, &back, dw.data());
        const uint64_t asked = csaw__allocations_counted();
        csaw__fail_allocations_from(0);
        csaw_batch_free(made);
        if (n == 0 || status == CSAW_OK) {
            EXPECT_EQ(status, CSAW_OK) << csaw_last_error();
            if (n == 0) continue;
            EXPECT_GT(n, asked);
            break;
        }
        refused++;
        EXPECT_EQ(status, CSAW_ENOMEM);
        EXPECT_NE(std::string(csaw_last_error()).find("batch"), std::string::npos) << csaw_last_error();
        EXPECT_EQ(y.bytes == poison, !multiplied);
        EXPECT_TRUE(dx.bytes == std::vector<char>(dx.bytes.size(), '\xff')); // as it began
        for (float v : dw) EXPECT_TRUE(isnan(v));
    }
    EXPECT_EQ(refused, 5u); // the batch, its descriptors and pieces; scratch of two products
}

} // namespace
