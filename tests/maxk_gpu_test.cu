/* SPDX-License-Identifier: MIT */
/* tests/maxk_gpu_test.cu - csaw/maxk.h on a GPU through the public API: the CPU's bits for every function, count, width
 * and storage, again in a second run; by atomic additions the bound of float64; streams, memory that is refused, places
 * beyond 2^32. Outputs are poisoned, and guarded behind their ends. */
#include "tests/failing_allocations.h"
#include "tests/gpu_memory.cuh"
#include "tests/maxk_cases.h"
#include "tests/reference/maxk.h"
#include "tests/share.h"

#include "spmm/device_maxk.h"

namespace {

using namespace gpu_memory;
using namespace maxk_cases;

const csaw_dtype dtypes[] = {CSAW_F32, CSAW_F16, CSAW_BF16};
enum { GUARD = 64 }; // bytes behind an array

class MaxkGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (NoGpu()) GTEST_SKIP() << "this machine has no GPU";
    }
};

class Bytes { // on the GPU, with a guard
  public:
    explicit Bytes(std::vector<uint8_t> from) : count_(from.size()) {
        from.resize(count_ + GUARD, 0xee);
        data_ = Array<uint8_t>(from);
    }
    void *get() const { return data_.get(); }
    std::vector<uint8_t> back() const {
        std::vector<uint8_t> all = data_.back();
        for (size_t i = count_; i < all.size(); i++) EXPECT_EQ(all[i], 0xee) << "written past the end";
        all.resize(count_);
        return all;
    }

  private:
    size_t count_;
    Array<uint8_t> data_;
};

struct DenseThere : csaw_dense {
    Bytes bytes;
    explicit DenseThere(const Dense &m) : csaw_dense(m), bytes(m.memory) { data = bytes.get(); }
};

struct CbsrThere : csaw_cbsr {
    Bytes value_bytes, index_bytes;
    explicit CbsrThere(const Cbsr &m) : csaw_cbsr(m), value_bytes(m.value_memory), index_bytes(m.index_memory) {
        values = value_bytes.get(), index = index_bytes.get();
    }
};

struct SparseThere : csaw_sparse {
    Array<uint64_t> rowptr_there;
    Array<csaw_vertex> col_there;
    Array<float> weight_there;
    explicit SparseThere(const Sparse &a)
        : csaw_sparse(a.view()), rowptr_there(a.rowptr), col_there(a.col), weight_there(a.weight) {
        rowptr = rowptr_there.get(), col = col_there.get(), weight = a.weight.empty() ? nullptr : weight_there.get();
    }
};

csaw_maxk_options There(cudaStream_t stream = nullptr) {
    csaw_maxk_options options = {};
    options.size = sizeof options;
    options.device = "cuda:0";
    options.stream = stream;
    return options;
}

csaw_maxk_spmm_options There(bool mean, const csaw_sparse *transpose = nullptr, bool deterministic = true,
                             cudaStream_t stream = nullptr) {
    csaw_maxk_spmm_options options = with(mean, transpose);
    options.device = "cuda:0";
    options.deterministic = deterministic;
    options.stream = stream;
    return options;
}

Sparse Turned(const Sparse &a) {
    Sparse out = {a.cols, a.rows, {0}, {}, {}};
    std::vector<std::vector<std::pair<csaw_vertex, uint64_t>>> edges(a.cols);
    for (uint64_t r = 0; r < a.rows; r++)
        for (uint64_t e = a.rowptr[r]; e < a.rowptr[r + 1]; e++)
            edges[a.col[e]].push_back({static_cast<csaw_vertex>(r), e});
    for (const auto &of : edges) {
        for (const auto &[row, e] : of) {
            out.col.push_back(row);
            if (!a.weight.empty()) out.weight.push_back(a.weight[e]);
        }
        out.rowptr.push_back(out.col.size());
    }
    return out;
}

// ---- the k largest ------------------------------------------------------------

void ExpectLargest(const Dense &x, const DenseThere &there_x, uint64_t k) {
    SCOPED_TRACE(std::string(name_of(x.dtype)) + ", n " + std::to_string(x.cols) + ", k " + std::to_string(k));
    Cbsr want(x.rows, x.cols, k, x.dtype);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &want), CSAW_OK) << csaw_last_error();
    const CbsrThere got(Cbsr(x.rows, x.cols, k, x.dtype));
    const csaw_maxk_options options = There();
    ASSERT_EQ(csaw_maxk(&there_x, &options, &got), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(got.index_bytes.back() == want.index_memory) << "index";
    EXPECT_TRUE(got.value_bytes.back() == want.value_memory) << "values";

    Dense dense(x.rows, x.cols, x.dtype, x.stride ? x.stride - x.cols : 0);
    const DenseThere there_dense(dense);
    ASSERT_EQ(csaw_maxk_dense(&want, nullptr, &dense), CSAW_OK);
    ASSERT_EQ(csaw_maxk_dense(&got, &options, &there_dense), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(there_dense.bytes.back() == dense.memory) << "dense";

    Cbsr empty(x.rows, x.cols, k, x.dtype);
    empty.index_memory = want.index_memory;
    const CbsrThere gathered(empty);
    ASSERT_EQ(csaw_maxk_gather(&there_x, &options, &gathered), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(gathered.value_bytes.back() == want.value_memory) << "gathered";
}

TEST_F(MaxkGpu, LargestOfRowsOfEveryKind) {
    std::mt19937_64 random(1);
    for (uint64_t n : {1, 7, 8, 16, 24, 31, 32, 33, 64, 65, 128, 255, 256, 257, 384, 512, 1000, 1024, 1025, 3000, 4096})
        for (csaw_dtype dtype : dtypes)
            for (uint64_t gap : {0, 3, 4}) {
                if (!reference::takes_case()) continue;
                Dense x(100 * KINDS + 5, n, dtype, gap);
                for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(r * 5 % KINDS), random);
                const DenseThere there(x);
                for (uint64_t k : {1, 2, 4, 8, 16, 31, 32, 33, 64, 96, 128, 192, 256})
                    if (k < n && (n == 256 || (k + n + gap) % 3 == static_cast<uint64_t>(dtype)))
                        ExpectLargest(x, there, k);
                ExpectLargest(x, there, n);
            }
}

TEST_F(MaxkGpu, LargestOfManyColumns) {
    std::mt19937_64 random(2);
    for (uint64_t n : {2000, 2048, 2049, 4096, 8200, 30000, 65536}) // by a warp, and by blocks of every size
        for (csaw_dtype dtype : dtypes)
            for (uint64_t gap : {0, 3}) {
                Dense x(KINDS, n, dtype, gap);
                for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(r), random);
                const DenseThere there(x);
                for (uint64_t k : {uint64_t{1}, uint64_t{1000}, n - 1, n}) ExpectLargest(x, there, k);
            }
}

TEST_F(MaxkGpu, LargestOfManyNormalRows) {
    std::mt19937_64 random(3);
    Dense x(50001, 256);
    fill_normal(x, random);
    const DenseThere there(x);
    for (uint64_t k : {8, 16, 32, 64}) ExpectLargest(x, there, k);
}

// ---- products -------------------------------------------------------------------

struct Case {
    uint64_t n, k;
    csaw_dtype of_x, of_y;
    bool mean;
};

uint64_t OutOfBound(const csaw_sparse &a, const Dense &dy, bool mean, const Cbsr &got) {
    const reference::Sums exact = reference::transposed_product(a, reference::dense(dy), mean);
    const double half_unit = got.dtype == CSAW_F32 ? 0 : got.dtype == CSAW_F16 ? 0x1p-11 : 0x1p-8;
    uint64_t wrong = 0;
    for (uint64_t j = 0; j < got.rows; j++)
        for (uint64_t t = 0; t < got.k; t++) {
            const uint64_t c = got.column(j, t);
            const double sum = 2 * exact.terms(j, c) * 0x1p-24 * exact.size(j, c), value = exact.value(j, c);
            const double bound = sum + half_unit * (std::abs(value) + sum) + (got.dtype == CSAW_F16 ? 0x1p-25 : 0);
            wrong += !(std::abs(reference::element(got.dtype, got.values, j * got.k + t) - value) <= bound);
        }
    return wrong;
}

class Products {
  public:
    Products(const Sparse &matrix, std::mt19937_64 *random)
        : matrix_(matrix), turned_(Turned(matrix)), a_(matrix_.view()), there_(matrix_), there_turned_(turned_),
          plan_(nullptr, csaw_spmm_plan_free), random_(random) {
        csaw_prepare_options prepare = {};
        csaw_spmm_plan *plan = nullptr;
        prepare.size = sizeof prepare;
        prepare.device = "cuda:0";
        EXPECT_EQ(csaw_spmm_prepare(&there_, &prepare, &plan), CSAW_OK) << csaw_last_error();
        plan_.reset(plan);
    }

    // Everything of one shape and storage, twice over.
    void Expect(const Case &c, uint64_t gap = 0) const {
        if (!reference::takes_case()) return;
        SCOPED_TRACE("n " + std::to_string(c.n) + ", k " + std::to_string(c.k) + ", " + name_of(c.of_x) + " to " +
                     name_of(c.of_y) + (c.mean ? ", mean" : ""));
        const std::unique_ptr<Cbsr> x = random_cbsr(a_.cols, c.n, c.k, c.of_x, *random_);
        Dense dy(a_.rows, c.n, c.of_x, gap);
        fill_normal(dy, *random_);
        for (int run = 0; run < 2; run++) {
            ExpectForward(c, *x, gap);
            ExpectBackward(c, *x, dy);
            ExpectWeights(c, *x, dy);
        }
    }

  private:
    void ExpectForward(const Case &c, const Cbsr &x, uint64_t gap) const {
        Dense want(a_.rows, c.n, c.of_y, gap);
        const DenseThere got(want), planned(want);
        const CbsrThere there_x(x);
        const csaw_maxk_spmm_options here = with(c.mean), there = There(c.mean);
        csaw_maxk_spmm_options by_plan = There(c.mean);
        by_plan.plan = plan_.get();
        ASSERT_EQ(csaw_maxk_spmm(&a_, &x, &here, &want), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm(&there_, &there_x, &there, &got), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm(&there_, &there_x, &by_plan, &planned), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(got.bytes.back() == want.memory) << "forward";
        EXPECT_TRUE(planned.bytes.back() == want.memory) << "forward, by a plan";
    }

    void ExpectBackward(const Case &c, const Cbsr &x, const Dense &dy) const {
        Cbsr want(a_.cols, c.n, c.k, c.of_y);
        want.index_memory = x.index_memory;
        const DenseThere there_dy(dy);
        const CbsrThere made(want), given(want), planned(want), added(want), chosen(want), alone(want);
        const csaw_maxk_spmm_options here = with(c.mean), by_made = There(c.mean),
                                     by_given = There(c.mean, &there_turned_), atomic = There(c.mean, nullptr, false);
        csaw_maxk_spmm_options by_plan = There(c.mean), any_by_plan = atomic;
        by_plan.plan = any_by_plan.plan = plan_.get();
        ASSERT_EQ(csaw_maxk_spmm_backward(&a_, &dy, &here, &want), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm_backward(&there_, &there_dy, &by_made, &made), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm_backward(&there_, &there_dy, &by_given, &given), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm_backward(&there_, &there_dy, &by_plan, &planned), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm_backward(&there_, &there_dy, &atomic, &alone), CSAW_OK) << csaw_last_error();
        const csaw__where where = {0, nullptr};
        ASSERT_EQ(csaw__device_maxk_backward_by(&where, CSAW__MAXK_ATOMIC, &there_, &there_dy, &atomic, &added),
                  CSAW_OK)
            << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm_backward(&there_, &there_dy, &any_by_plan, &chosen), CSAW_OK) << csaw_last_error();
        EXPECT_TRUE(made.value_bytes.back() == want.value_memory) << "backward, transpose made";
        EXPECT_TRUE(given.value_bytes.back() == want.value_memory) << "backward, transpose given";
        EXPECT_TRUE(planned.value_bytes.back() == want.value_memory) << "backward, by a plan";
        EXPECT_TRUE(given.index_bytes.back() == want.index_memory) << "index";
        const std::vector<uint8_t> bits = want.value_memory;
        const struct {
            const char *name;
            const CbsrThere *got;
            bool many; // entries, which come by the transpose
        } defaults[] = {{"added", &added, false},
                        {"by a plan", &chosen, c.k * 4 > c.n},
                        {"without one", &alone, c.k >= c.n / 4 + 64}};
        for (const auto &any : defaults) {
            want.value_memory = any.got->value_bytes.back();
            want.values = want.value_memory.data();
            EXPECT_EQ(OutOfBound(a_, dy, c.mean, want), 0u) << "backward, any order, " << any.name;
            if (any.many) {
                EXPECT_TRUE(want.value_memory == bits) << "many entries, " << any.name;
            }
        }
    }

    void ExpectWeights(const Case &c, const Cbsr &x, const Dense &dy) const {
        std::vector<float> want(a_.num_edges, NAN);
        const DenseThere there_dy(dy);
        const CbsrThere there_x(x);
        const Bytes got(std::vector<uint8_t>(a_.num_edges * 4, 0xff));
        const csaw_maxk_spmm_options here = with(c.mean), there = There(c.mean);
        ASSERT_EQ(csaw_maxk_spmm_backward_weight(&a_, &dy, &x, &here, want.data()), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_maxk_spmm_backward_weight(&there_, &there_dy, &there_x, &there, (float *)got.get()), CSAW_OK)
            << csaw_last_error();
        const std::vector<uint8_t> back = got.back();
        EXPECT_TRUE(back.empty() || memcmp(back.data(), want.data(), back.size()) == 0) << "weights";
    }

    Sparse matrix_, turned_;
    csaw_sparse a_;
    SparseThere there_, there_turned_;
    std::unique_ptr<csaw_spmm_plan, decltype(&csaw_spmm_plan_free)> plan_;
    std::mt19937_64 *random_;
};

TEST_F(MaxkGpu, ProductsOfEveryCountAndWidth) {
    std::mt19937_64 random(4);
    for (bool weighted : {false, true}) {
        const Products products(mixed(weighted, random), &random);
        for (uint64_t n : {32, 64, 256, 384, 1000})
            for (uint64_t k : {1, 2, 4, 8, 16, 31, 32, 33, 64, 96, 128, 192, 256})
                if (k <= n) products.Expect({n, k, CSAW_F32, CSAW_F32, (k + weighted) % 3 == 0});
    }
}

TEST_F(MaxkGpu, ProductsOfEveryStorage) {
    std::mt19937_64 random(5);
    const Products products(mixed(true, random), &random);
    for (csaw_dtype of_x : dtypes)
        for (csaw_dtype of_y : dtypes)
            for (auto [n, k] : {std::pair<uint64_t, uint64_t>{256, 32}, {300, 300}, {61, 13}, {1, 1}, {2500, 60}})
                products.Expect({n, k, of_x, of_y, k == 32}, of_x == of_y ? 3 : 4);
}

TEST_F(MaxkGpu, ProductsWithHubs) {
    std::mt19937_64 random(6);
    const Products products(with_hub(true, random), &random);
    for (uint64_t k : {7, 16, 40}) products.Expect({40, k, CSAW_F32, CSAW_F32, k == 16});
}

TEST_F(MaxkGpu, EmptyMatrices) {
    std::mt19937_64 random(7);
    Products(with_lengths({}, 3, false, random), &random).Expect({8, 2, CSAW_F32, CSAW_F32, true});
    Products(with_lengths({0, 0}, 0, true, random), &random).Expect({8, 2, CSAW_F32, CSAW_F32, true});
    Products(with_lengths({0, 0}, 5, false, random), &random).Expect({8, 2, CSAW_F16, CSAW_F32, false});
    Products(with_lengths({4, 0}, 5, false, random), &random).Expect({0, 0, CSAW_F32, CSAW_F32, false});
}

// ---- rules ------------------------------------------------------------------------

TEST_F(MaxkGpu, StreamsAtOnce) {
    std::mt19937_64 random(8);
    const Sparse matrix = mixed(true, random);
    const csaw_sparse a = matrix.view();
    const SparseThere there(matrix);
    std::vector<cudaStream_t> streams(4);
    std::vector<std::unique_ptr<Cbsr>> x;
    std::vector<CbsrThere> there_x;
    std::vector<DenseThere> y;
    for (cudaStream_t &stream : streams) {
        Require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        x.push_back(random_cbsr(a.cols, 128, 16, CSAW_F32, random));
        there_x.emplace_back(*x.back());
        y.emplace_back(Dense(a.rows, 128));
    }
    for (size_t i = 0; i < streams.size(); i++) {
        const csaw_maxk_spmm_options options = There(false, nullptr, true, streams[i]);
        ASSERT_EQ(csaw_maxk_spmm(&there, &there_x[i], &options, &y[i]), CSAW_OK) << csaw_last_error();
    }
    for (size_t i = 0; i < streams.size(); i++) {
        Dense want(a.rows, 128);
        ASSERT_EQ(csaw_maxk_spmm(&a, x[i].get(), nullptr, &want), CSAW_OK);
        EXPECT_TRUE(y[i].bytes.back() == want.memory) << i;
        Require(cudaStreamDestroy(streams[i]));
    }
}

TEST_F(MaxkGpu, MemoryThatIsRefusedLeavesOutputsAlone) {
    std::mt19937_64 random(9);
    const Sparse matrix = mixed(true, random);
    const SparseThere there(matrix);
    const std::unique_ptr<Cbsr> x = random_cbsr(matrix.cols, 64, 8, CSAW_F16, random);
    Dense dy(matrix.rows, 64);
    fill_normal(dy, random);
    const DenseThere there_dy(dy), y(Dense(matrix.rows, 64));
    Cbsr empty(matrix.cols, 64, 8, CSAW_F16);
    empty.index_memory = x->index_memory;
    const CbsrThere there_x(*x), dx(empty);
    const CbsrThere few(Cbsr(matrix.cols, 64, 4, CSAW_F16)); // gathered, where dx comes by way of all columns
    Require(cudaMemset(few.index, 0, matrix.cols * 4));
    const csaw_maxk_spmm_options plain = There(true), atomic = There(true, nullptr, false);
    const auto poison_stays = [&](csaw_status status, const Bytes &bytes) {
        if (status != CSAW_OK)
            for (uint8_t byte : bytes.back()) EXPECT_EQ(byte, 0xff);
        return status;
    };
    EXPECT_EQ(
        fail_every_allocation([&] { return poison_stays(csaw_maxk_spmm(&there, &there_x, &plain, &y), y.bytes); }), 4u);
    EXPECT_GT(fail_every_allocation([&] {
                  return poison_stays(csaw_maxk_spmm_backward(&there, &there_dy, &plain, &dx), dx.value_bytes);
              }),
              8u);
    EXPECT_GT(fail_every_allocation([&] {
                  return poison_stays(csaw_maxk_spmm_backward(&there, &there_dy, &plain, &few), few.value_bytes);
              }),
              8u);
    Require(cudaMemset(dx.values, 0xff, x->value_memory.size()));
    EXPECT_EQ(fail_every_allocation([&] {
                  return poison_stays(csaw_maxk_spmm_backward(&there, &there_dy, &atomic, &dx), dx.value_bytes);
              }),
              4u);
}

// Many entries come by all columns, whose memory is refused, or any that comes after: then they are added, which takes
// none in float32 where no row is long. The bytes given tell which way it was; a call that asks for one way is refused.
TEST_F(MaxkGpu, RefusedMemoryOfAllColumnsIsNoError) {
    std::mt19937_64 random(12);
    const uint64_t n = 128, k = 100;
    const Sparse matrix = with_lengths(std::vector<uint64_t>(48, CSAW_CHUNK / 48), 30, true, random);
    const csaw_sparse a = matrix.view();
    const SparseThere there(matrix);
    const std::unique_ptr<Cbsr> x = random_cbsr(a.cols, n, k, CSAW_F32, random);
    Dense dy(a.rows, n);
    fill_normal(dy, random);
    const DenseThere there_dy(dy);
    const csaw_maxk_spmm_options here = with(true), any = There(true, nullptr, false), one = There(true);
    Cbsr want(a.cols, n, k, CSAW_F32);
    want.index_memory = x->index_memory;
    const CbsrThere dx(want);
    ASSERT_EQ(csaw__maxk_backward_way(&dx, false, false), CSAW__MAXK_DENSE);
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &dy, &here, &want), CSAW_OK) << csaw_last_error();
    const std::vector<uint8_t> bits = want.value_memory;

    uint64_t refused = 0, asked = 0, from = 0;
    do {
        from++;
        Require(cudaMemset(dx.values, 0xff, bits.size()));
        csaw__fail_allocations_from(from);
        const csaw_status status = csaw_maxk_spmm_backward(&there, &there_dy, &any, &dx);
        asked = csaw__allocations_counted();
        const uint64_t given = csaw__bytes_counted();
        csaw__fail_allocations_from(0);
        ASSERT_EQ(status, CSAW_OK) << csaw_last_error();
        want.value_memory = dx.value_bytes.back();
        want.values = want.value_memory.data();
        EXPECT_EQ(OutOfBound(a, dy, true, want), 0u) << "from request " << from << " on";
        if (from == 1) EXPECT_EQ(given, 0u) << "added";
        refused += asked >= from;
        if (asked >= from) continue;
        EXPECT_TRUE(want.value_memory == bits) << "by all columns";
        EXPECT_GE(given, a.cols * n * sizeof(float));
    } while (asked >= from && from < 1000);
    EXPECT_GT(refused, 1u);

    Require(cudaMemset(dx.values, 0xff, bits.size()));
    csaw__fail_allocations_from(1);
    EXPECT_EQ(csaw_maxk_spmm_backward(&there, &there_dy, &one, &dx), CSAW_EDEVMEM);
    csaw__fail_allocations_from(0);
    for (uint8_t byte : dx.value_bytes.back()) EXPECT_EQ(byte, 0xff);
}

TEST_F(MaxkGpu, RefusedOnAGpu) {
    std::mt19937_64 random(10);
    const Sparse matrix = mixed(false, random);
    const SparseThere there(matrix);
    const CbsrThere dx(Cbsr(matrix.cols, 64, 8));
    const DenseThere dy(Dense(matrix.rows, 64));
    csaw_maxk_spmm_options options = There(false);
    options.device = "cuda:99";
    EXPECT_EQ(csaw_maxk_spmm(&there, &dx, &options, &dy), CSAW_EINVAL);
    message_has({"cuda:99"});
    for (uint8_t byte : dx.value_bytes.back()) ASSERT_EQ(byte, 0xff);
}

// Rows of x, dy and values at places beyond 2^32 bytes.
TEST_F(MaxkGpu, PlacesBeyond32Bits) {
    const uint64_t rows = (uint64_t{1} << 27) + 3, k = 16, n = 64;
    size_t free_bytes = 0, total = 0;
    Require(cudaMemGetInfo(&free_bytes, &total));
    if (free_bytes < 60ull << 30) GTEST_SKIP() << "60 GiB of device memory are not free";
    std::mt19937_64 random(11);
    Dense few(3, n);
    fill_normal(few, random);
    Cbsr want(3, n, k);
    ASSERT_EQ(csaw_maxk(&few, nullptr, &want), CSAW_OK);
    char *x = nullptr, *values = nullptr, *index = nullptr;
    Require(cudaMalloc(&x, rows * n * 4));
    Require(cudaMalloc(&values, rows * k * 4));
    Require(cudaMalloc(&index, rows * k));
    Require(cudaMemset(x, 0, rows * n * 4));
    Require(cudaMemcpy(x + (rows - 3) * n * 4, few.data, 3 * n * 4, cudaMemcpyHostToDevice));
    const csaw_dense far_x = {rows, n, 0, CSAW_F32, x};
    const csaw_cbsr far = {rows, n, k, CSAW_F32, values, index};
    const csaw_maxk_options options = There();
    ASSERT_EQ(csaw_maxk(&far_x, &options, &far), CSAW_OK) << csaw_last_error();
    Cbsr got(3, n, k);
    Require(cudaMemcpy(got.values, values + (rows - 3) * k * 4, 3 * k * 4, cudaMemcpyDeviceToHost));
    Require(cudaMemcpy(got.index, index + (rows - 3) * k, 3 * k, cudaMemcpyDeviceToHost));
    EXPECT_EQ(got.value_memory, want.value_memory);
    EXPECT_EQ(got.index_memory, want.index_memory);

    Sparse small = {3, 3, {0, 2, 3, 6}, {0, 1, 2, 0, 1, 2}, {}}, shifted = small;
    shifted.cols = rows;
    for (csaw_vertex &j : shifted.col) j += static_cast<csaw_vertex>(rows - 3);
    const csaw_sparse a = small.view();
    const SparseThere far_a(shifted);
    Dense y(3, n);
    const DenseThere there_y(y);
    const csaw_maxk_spmm_options products = There(false);
    ASSERT_EQ(csaw_maxk_spmm(&a, &want, nullptr, &y), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm(&far_a, &far, &products, &there_y), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(there_y.bytes.back() == y.memory);
    Cbsr dx(3, n, k);
    dx.index_memory = want.index_memory;
    ASSERT_EQ(csaw_maxk_spmm_backward(&a, &y, nullptr, &dx), CSAW_OK);
    ASSERT_EQ(csaw_maxk_spmm_backward(&far_a, &there_y, &products, &far), CSAW_OK) << csaw_last_error();
    Require(cudaMemcpy(got.values, values + (rows - 3) * k * 4, 3 * k * 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(got.value_memory, dx.value_memory);
    for (char *memory : {x, values, index}) Require(cudaFree(memory));
}

} // namespace
