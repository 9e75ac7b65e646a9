/* SPDX-License-Identifier: MIT */
/* bench/maxk_gpu_check.cuh - results of maxk_gpu_bench against the CPU's: the k largest and what goes to and from dense
 * rows whole, products on some hundred rows; to the bit, or where sums have another order by the bound. A wrong one
 * ends the program. */
#ifndef CSAW_BENCH_MAXK_GPU_CHECK_CUH
#define CSAW_BENCH_MAXK_GPU_CHECK_CUH

#include "bench/maxk_gpu.cuh"

enum { CHECKED = 300 /* rows */ };

static void wrong(const char *what, uint64_t k, uint64_t row) {
    fprintf(stderr, "maxk_gpu_bench: %s, k %llu: wrong at row %llu\n", what, (unsigned long long)k,
            (unsigned long long)row);
    exit(3);
}

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
    for (uint64_t r = 0; r < some.row.size(); r++) {
        const uint64_t from = some.row[r];
        must_cuda(cudaMemcpy(&here[r * cols], (const float *)there + from * cols, cols * sizeof(float),
                             cudaMemcpyDeviceToHost));
    }
    return here;
}

/* What must be written whole is NaN before. */
static void poison(const csaw_dense &there) {
    must_cuda(cudaMemset(there.data, 0xff, there.rows * there.cols * sizeof(float)));
}
static void poison(const csaw_cbsr &there) {
    must_cuda(cudaMemset(there.values, 0xff, there.rows * there.k * sizeof(float)));
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

/* Of the dense matrix that `there` stands for, and the entries of a dense one: both those of h. */
static void verify_to_dense(const bench *b) {
    const csaw_cbsr &h = b->h;
    const std::vector<float> got = back<float>(b->there_dx.data, h.rows * h.cols);
    std::vector<float> want(h.cols);
    for (uint64_t r = 0; r < h.rows; r++) {
        const csaw_cbsr row = {1,
                               h.cols,
                               h.k,
                               h.dtype,
                               (float *)h.values + r * h.k,
                               (char *)h.index + r * h.k * csaw_cbsr_index_bytes(h.cols)};
        const csaw_dense dense = {1, h.cols, 0, CSAW_F32, want.data()};
        must(csaw_maxk_dense(&row, nullptr, &dense));
        if (memcmp(&got[r * h.cols], want.data(), h.cols * sizeof(float)) != 0) wrong("to dense", h.k, r);
    }
}

static void verify_from_dense(const bench *b) {
    const csaw_cbsr &h = b->h;
    const std::vector<float> got = back<float>(b->there_dh.values, h.rows * h.k);
    for (uint64_t r = 0; r < h.rows; r++)
        if (memcmp(&got[r * h.k], (float *)h.values + r * h.k, h.k * sizeof(float)) != 0) wrong("from dense", h.k, r);
}

/* a x, dense; exact: to the bit of the CPU's, else by the bound of the sums' terms. */
static void verify_dense(const char *what, const csaw_sparse &a, const csaw_dense &x, const csaw_dense &there,
                         bool exact) {
    const rows_of some = some_rows(&a);
    const csaw_sparse rows = some.view(a.cols);
    std::vector<float> want(rows.rows * x.cols);
    const csaw_dense y = {rows.rows, x.cols, 0, CSAW_F32, want.data()};
    must(csaw_spmm(&rows, &x, nullptr, &y));
    const std::vector<float> got = rows_back(some, there.data, x.cols);
    for (uint64_t r = 0; r < rows.rows; r++)
        for (uint64_t c = 0; c < x.cols; c++) {
            const float *const is = &got[r * x.cols + c], *const should = &want[r * x.cols + c];
            double size = 0;
            if (exact && memcmp(is, should, sizeof *is) != 0) wrong(what, x.cols, some.row[r]);
            if (exact) continue;
            for (uint64_t e = some.rowptr[r]; e < some.rowptr[r + 1]; e++)
                size += std::fabs((double)some.weight[e] * ((const float *)x.data)[some.col[e] * x.cols + c]);
            const double terms = (double)(some.rowptr[r + 1] - some.rowptr[r]);
            if (!(std::fabs((double)*is - *should) <= 4 * terms * 0x1p-24 * size)) wrong(what, x.cols, some.row[r]);
        }
}

static void verify_weights(const bench *b) {
    const rows_of some = some_rows(&b->a);
    const csaw_sparse a = some.view(b->a.cols);
    const uint64_t cols = b->cols;
    std::vector<float> dy, want(a.num_edges), got(a.num_edges);
    for (uint64_t r : some.row)
        dy.insert(dy.end(), (const float *)b->dy.data + r * cols, (const float *)b->dy.data + (r + 1) * cols);
    const csaw_dense rows = {a.rows, cols, 0, CSAW_F32, dy.data()};
    must(csaw_maxk_spmm_backward_weight(&a, &rows, &b->h, nullptr, want.data()));
    must_cuda(cudaDeviceSynchronize());
    for (uint64_t r = 0; r < a.rows; r++) {
        const uint64_t first = some.rowptr[r], bytes = (some.rowptr[r + 1] - first) * sizeof(float);
        must_cuda(
            cudaMemcpy(got.data() + first, b->there_dweight + b->a.rowptr[some.row[r]], bytes, cudaMemcpyDeviceToHost));
        if (memcmp(got.data() + first, want.data() + first, bytes) != 0)
            wrong("the gradient of weights", b->h.k, some.row[r]);
    }
}

static void verify_forward(const bench *b) {
    const rows_of some = some_rows(&b->a);
    const csaw_sparse a = some.view(b->a.cols);
    std::vector<float> want(a.rows * b->cols);
    const csaw_dense y = {a.rows, b->cols, 0, CSAW_F32, want.data()};
    must(csaw_maxk_spmm(&a, &b->h, nullptr, &y));
    const std::vector<float> got = rows_back(some, b->there_y.data, b->cols);
    for (uint64_t r = 0; r < a.rows; r++)
        if (memcmp(&want[r * b->cols], &got[r * b->cols], b->cols * 4) != 0) wrong("the product", b->h.k, some.row[r]);
}

/* exact: to the bit of the CPU's; else by the bound of the sum's terms. */
static void verify_backward(const bench *b, bool exact) {
    const rows_of some = some_rows(&b->turned);
    const csaw_sparse turned = some.view(b->a.rows);
    const uint64_t k = b->h.k, cols = b->cols, of_index = csaw_cbsr_index_bytes(cols);
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

#endif
