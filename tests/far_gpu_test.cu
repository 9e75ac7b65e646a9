/* SPDX-License-Identifier: MIT */
/* tests/far_gpu_test.cu - rows of features that stand as far apart as 2^30 elements and 2^32 bytes, so that the last of
 * three passes 2^31 elements, in every function of aggregation on a GPU that reads or writes them (csaw_spmm():
 * spmm_gpu_test): the bits of the CPU's with rows side by side. Outputs are poisoned. */
#include "tests/spmm_device.cuh"

#include <csaw/batched.h>
#include <csaw/edge_sampled.h>

namespace {

using namespace spmm_device;

const uint64_t columns = 36;
const uint64_t within = (1ull << 30) - 8; // of whole vectors; a batch takes 2^30 - 1, whose bytes still take 32 bits
const uint64_t beyond = (1ull << 30) + 4;

class Far { // the same matrix on the GPU, its rows so far apart
  public:
    explicit Far(Dense *m, uint64_t stride = beyond)
        : here_(*m->view()), bytes_(here_.cols * csaw__dtype_bytes(here_.dtype)), stride_(stride) {
        Require(cudaMalloc(&view.data, (here_.rows - 1) * pitch() + bytes_));
        for (uint64_t r = 0; r < here_.rows; r++)
            Require(cudaMemcpy(at(r), (char *)here_.data + r * bytes_, bytes_, cudaMemcpyHostToDevice));
        Require(cudaDeviceSynchronize());
    }
    Far(const Far &) = delete;
    ~Far() { cudaFree(view.data); }
    std::vector<unsigned char> back() const { // as Dense::raw()
        std::vector<unsigned char> out(here_.rows * bytes_ + 1, 0xff);
        Require(cudaDeviceSynchronize());
        for (uint64_t r = 0; r < here_.rows; r++)
            Require(cudaMemcpy(&out[r * bytes_], at(r), bytes_, cudaMemcpyDeviceToHost));
        return out;
    }
    csaw_batched_dense batched() const { return {view.rows, view.cols, view.stride, view.dtype, view.data, nullptr}; }

  private:
    uint64_t pitch() const { return stride_ * csaw__dtype_bytes(here_.dtype); }
    char *at(uint64_t row) const { return (char *)view.data + row * pitch(); }
    csaw_dense here_;         // without a gap
    uint64_t bytes_, stride_; // of a row

  public:
    csaw_dense view = {here_.rows, here_.cols, stride_, here_.dtype, nullptr};
};

class FarGpu : public testing::Test {
  protected:
    void SetUp() override {
        size_t free_bytes = 0, total = 0;
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
        Require(cudaMemGetInfo(&free_bytes, &total));
        if (free_bytes < 27ull << 30) GTEST_SKIP() << "27 GiB of device memory are not free";
    }
};

const Sparse &Matrix() { // 3 x 3, with a row of several chunks
    static const Sparse a = random_sparse("far", {5, 1100, 4}, 3, true);
    return a;
}

TEST_F(FarGpu, EdgeSampled) {
    const OnDevice there(Matrix());
    const csaw_sparse a = Matrix().view();
    csaw_es_options here = {};
    here.size = sizeof here;
    here.width = 300, here.seed = 2;
    csaw_es_options on_gpu = here;
    on_gpu.device = "cuda:0";
    for (csaw_dtype dtype : {CSAW_F32, CSAW_BF16}) {
        Dense x(random_matrix(3, columns, 8), dtype), dy(random_matrix(3, columns, 9), dtype), y(3, columns, dtype),
            dx(3, columns, dtype);
        std::vector<float> dw(a.num_edges, 99);
        const Array<float> there_dw(dw);
        const Far far_x(&x);
        {
            const Far far_y(&y);
            ASSERT_EQ(csaw_es_spmm(&a, x.view(), &here, y.view()), CSAW_OK);
            ASSERT_EQ(csaw_es_spmm(&there.view, &far_x.view, &on_gpu, &far_y.view), CSAW_OK) << csaw_last_error();
            EXPECT_EQ(far_y.back(), y.raw());
        }
        const Far far_dy(&dy), far_dx(&dx);
        ASSERT_EQ(csaw_es_spmm_backward(&a, x.view(), dy.view(), &here, dx.view(), dw.data()), CSAW_OK);
        ASSERT_EQ(csaw_es_spmm_backward(&there.view, &far_x.view, &far_dy.view, &on_gpu, &far_dx.view, there_dw.get()),
                  CSAW_OK)
            << csaw_last_error();
        EXPECT_EQ(far_dx.back(), dx.raw());
        EXPECT_EQ(there_dw.back(), dw);
    }
}

TEST_F(FarGpu, Gradients) {
    const OnDevice there(Matrix());
    const csaw_sparse a = Matrix().view();
    for (csaw_reduce reduce : {CSAW_MEAN, CSAW_MAX})
        for (csaw_dtype dtype : {CSAW_F32, CSAW_F16}) {
            Dense x(random_matrix(3, columns, 8), dtype), dy(random_matrix(3, columns, 9), dtype), y(3, columns, dtype),
                dx(3, columns, dtype);
            std::vector<csaw_edge> arg(3 * columns);
            std::vector<float> dw(a.num_edges, 99);
            const Array<float> there_dw(dw);
            const Far far_x(&x), far_dy(&dy), far_dx(&dx);
            const csaw_spmm_options here = options_of(reduce, 1, reduce == CSAW_MAX ? arg.data() : nullptr);
            ASSERT_EQ(csaw_spmm(&a, x.view(), &here, y.view()), CSAW_OK);
            ASSERT_EQ(csaw_spmm_backward(&a, x.view(), dy.view(), &here, dx.view(), dw.data()), CSAW_OK);
            const Array<csaw_edge> there_arg(arg);
            const csaw_spmm_options on_gpu = There(here, here.arg ? there_arg.get() : nullptr, nullptr);
            ASSERT_EQ(csaw_spmm_backward(&there.view, &far_x.view, &far_dy.view, &on_gpu, &far_dx.view, there_dw.get()),
                      CSAW_OK)
                << csaw_last_error();
            EXPECT_EQ(far_dx.back(), dx.raw()) << "reduce " << reduce;
            EXPECT_EQ(there_dw.back(), dw) << "reduce " << reduce;
        }
}

TEST_F(FarGpu, Sddmm) {
    const OnDevice there(Matrix());
    const csaw_sparse a = Matrix().view();
    for (uint64_t stride : {within, beyond})
        for (csaw_dtype dtype : {CSAW_F32, CSAW_BF16})
            for (uint32_t heads : {1, 3}) {
                csaw_edge_options here = {};
                here.size = sizeof here;
                here.heads = heads;
                csaw_edge_options on_gpu = here;
                on_gpu.device = "cuda:0";
                Dense x(random_matrix(3, columns, 8), dtype), y(random_matrix(3, columns, 9), dtype);
                std::vector<float> out(a.num_edges * heads, 99);
                const Array<float> there_out(out);
                const Far far_x(&x, stride), far_y(&y, stride);
                ASSERT_EQ(csaw_sddmm(&a, x.view(), y.view(), &here, out.data()), CSAW_OK);
                ASSERT_EQ(csaw_sddmm(&there.view, &far_x.view, &far_y.view, &on_gpu, there_out.get()), CSAW_OK)
                    << csaw_last_error();
                EXPECT_EQ(there_out.back(), out) << heads << " heads, " << stride << " apart";
            }
}

csaw_batched_dense Batched(Dense *m) {
    const csaw_dense *const v = m->view();
    return {v->rows, v->cols, v->stride, v->dtype, v->data, nullptr};
}

struct FreeBatch {
    void operator()(csaw_batch *batch) const { csaw_batch_free(batch); }
};

std::unique_ptr<csaw_batch, FreeBatch> Join(const csaw_small_graphs &graphs, const char *device) {
    csaw_batch_options options = {};
    csaw_batch *out = nullptr;
    options.size = sizeof options;
    options.device = device;
    EXPECT_EQ(csaw_batch_join(&graphs, &options, &out), CSAW_OK) << csaw_last_error();
    return std::unique_ptr<csaw_batch, FreeBatch>(out);
}

TEST_F(FarGpu, Batched) { // a graph of one vertex and one of two
    const std::vector<uint64_t> row_offset = {0, 1, 3}, rowptr = {0, 2, 42, 50};
    std::vector<csaw_vertex> col(50);
    std::vector<float> weight(50);
    for (uint64_t e = 0; e < 50; e++) {
        col[e] = e < 2 ? 0 : e * 5 % 7 % 2;
        weight[e] = static_cast<float>(e % 9) - 4;
    }
    const Array<uint64_t> there_offset(row_offset), there_rowptr(rowptr);
    const Array<csaw_vertex> there_col(col);
    const Array<float> there_weight(weight);
    csaw_small_graphs graphs = {};
    graphs.num_graphs = 2;
    graphs.format = CSAW_CSR;
    graphs.row_offset = row_offset.data(), graphs.rowptr = rowptr.data();
    graphs.col = col.data(), graphs.weight = weight.data();
    const auto here = Join(graphs, "cpu");
    graphs.row_offset = there_offset.get(), graphs.rowptr = there_rowptr.get();
    graphs.col = there_col.get(), graphs.weight = there_weight.get();
    const auto there = Join(graphs, "cuda:0");
    ASSERT_TRUE(here && there);
    for (csaw_reduce reduce : {CSAW_SUM, CSAW_MAX})
        for (csaw_dtype dtype : {CSAW_F32, CSAW_BF16}) {
            Dense x(random_matrix(3, columns, 8), dtype), dy(random_matrix(3, columns, 9), dtype), y(3, columns, dtype),
                dx(3, columns, dtype);
            std::vector<uint32_t> arg(3 * columns, 99);
            std::vector<float> dw(50, 99);
            const Array<uint32_t> there_arg(arg);
            const Array<float> there_dw(dw);
            csaw_batched_options options = {};
            options.size = sizeof options;
            options.reduce = reduce;
            csaw_batched_options on_gpu = options;
            if (reduce == CSAW_MAX) options.arg = arg.data(), on_gpu.arg = there_arg.get();
            const Far far_x(&x, within);
            const csaw_batched_dense bx = Batched(&x), bdy = Batched(&dy), there_x = far_x.batched();
            {
                const Far far_y(&y, within);
                const csaw_batched_dense by = Batched(&y), there_y = far_y.batched();
                ASSERT_EQ(csaw_batched_spmm(here.get(), &bx, &options, &by), CSAW_OK) << csaw_last_error();
                ASSERT_EQ(csaw_batched_spmm(there.get(), &there_x, &on_gpu, &there_y), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(far_y.back(), y.raw()) << "reduce " << reduce;
                EXPECT_EQ(there_arg.back(), arg);
            }
            const Far far_dy(&dy, within), far_dx(&dx, within);
            const csaw_batched_dense bdx = Batched(&dx), there_dy = far_dy.batched(), there_dx = far_dx.batched();
            ASSERT_EQ(csaw_batched_spmm_backward(here.get(), &bx, &bdy, &options, &bdx, dw.data()), CSAW_OK);
            ASSERT_EQ(csaw_batched_spmm_backward(there.get(), &there_x, &there_dy, &on_gpu, &there_dx, there_dw.get()),
                      CSAW_OK)
                << csaw_last_error();
            EXPECT_EQ(far_dx.back(), dx.raw()) << "reduce " << reduce;
            EXPECT_EQ(there_dw.back(), dw) << "reduce " << reduce;
        }
}

} // namespace
