// SPDX-License-Identifier: MIT
// maxk_test.cc - MaxK against sorting, for rows of every kind; CBSR to and from dense; what is refused.
#include "maxk_cases.h"
#include "reference/maxk.h"

extern "C" {
#include "spmm/maxk_convert.h"
}

namespace {

using namespace maxk_cases;

std::vector<double> row_of(const Dense &m, uint64_t r) {
    std::vector<double> row(m.cols);
    for (uint64_t c = 0; c < m.cols; c++) row[c] = reference::element(m.dtype, m.data, m.place(r, c));
    return row;
}

// What is wrong with row r of kept as the k largest of x, or nothing.
std::string fault(const Dense &x, const Cbsr &kept, uint64_t r) {
    const std::vector<uint16_t> expected = reference::largest(row_of(x, r), kept.k);
    for (uint64_t t = 0; t < kept.k; t++) {
        if (kept.column(r, t) != expected[t])
            return "entry " + std::to_string(t) + " is column " + std::to_string(kept.column(r, t)) + ", not " +
                   std::to_string(expected[t]);
        if (kept.bits(r, t) != x.bits(r, expected[t])) return "entry " + std::to_string(t) + " has another value";
    }
    return "";
}

class TopK : public testing::TestWithParam<csaw_dtype> {};

TEST_P(TopK, IsThatOfSorting) {
    std::mt19937_64 random(1);
    for (uint64_t n : {1, 7, 32, 64, 255, 256, 257, 384, 1000}) {
        std::vector<uint64_t> sizes = {1, 2, 4, 8, 16, 31, 32, 33, 64, 96, 128, 192, 256, n - 1, n};
        Dense x(2 * KINDS + 1, n, GetParam(), n % 2 ? 3 : 0);
        for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(r % KINDS), random);
        for (uint64_t k : sizes) {
            if (k == 0 || k > n) continue;
            Cbsr kept(x.rows, n, k, GetParam());
            ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK) << csaw_last_error();
            EXPECT_EQ(csaw_cbsr_check(&kept), CSAW_OK) << csaw_last_error();
            for (uint64_t r = 0; r < x.rows; r++)
                ASSERT_EQ(fault(x, kept, r), "") << "kind " << r % KINDS << ", n " << n << ", k " << k;
        }
    }
}

TEST_P(TopK, OfTheMostColumns) {
    std::mt19937_64 random(2);
    Dense x(KINDS, 65536, GetParam());
    for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(r), random);
    for (uint64_t k : {1, 1000, 65535, 65536}) {
        Cbsr kept(x.rows, x.cols, k, GetParam());
        ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK) << csaw_last_error();
        for (uint64_t r = 0; r < x.rows; r++) ASSERT_EQ(fault(x, kept, r), "") << "kind " << r << ", k " << k;
    }
}

INSTANTIATE_TEST_SUITE_P(Storage, TopK, testing::Values(CSAW_F32, CSAW_F16, CSAW_BF16),
                         [](const auto &info) { return name_of(info.param); });

// Rows that are hard for a search by value: neighbours in float32 around the k-th, and scales that differ by 2^200.
TEST(TopK, OfNeighboursAndOfScalesFarApart) {
    std::mt19937_64 random(3);
    Dense x(200, 256);
    for (uint64_t r = 0; r < x.rows; r++)
        for (uint64_t c = 0; c < x.cols; c++)
            if (r % 2)
                x.set_bits(r, c, 0x3f800000u + static_cast<uint32_t>(random() % 64));
            else
                x.set(r, c, std::ldexp(1.0f, static_cast<int>(random() % 250) - 125) * (random() % 2 ? 1 : -1));
    for (uint64_t k : {1, 32, 100, 255}) {
        Cbsr kept(x.rows, x.cols, k);
        ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK);
        for (uint64_t r = 0; r < x.rows; r++) ASSERT_EQ(fault(x, kept, r), "") << r << " k " << k;
    }
}

TEST(TopK, SameBitsForAnyNumberOfThreads) {
    std::mt19937_64 random(4);
    Dense x(1001, 96, CSAW_F16, 1);
    for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(random() % KINDS), random);
    Cbsr first(x.rows, x.cols, 17, CSAW_F16);
    use_threads(1);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &first), CSAW_OK);
    for (int threads : {2, 5}) {
        use_threads(threads);
        Cbsr kept(x.rows, x.cols, 17, CSAW_F16);
        ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK);
        EXPECT_EQ(kept.index_memory, first.index_memory);
        EXPECT_EQ(kept.value_memory, first.value_memory);
    }
    use_threads(2);
}

// A fixed number of halvings and then the first k, as in the code of the paper's authors, is not top-k: `fault` says
// so. How often: of random rows of 256 with k = 32, 10 halvings leave more than a twentieth wrong, 5 more than half.
TEST(WrongTopK, IsRejected) {
    std::mt19937_64 random(5);
    const uint64_t rows = 1000;
    Dense x(rows, 256);
    for (uint64_t r = 0; r < rows; r++) fill_row(x, r, NORMAL, random);
    for (auto [halvings, least] : {std::pair<int, int>{10, 50}, {5, 500}}) {
        int wrong = 0;
        for (uint64_t r = 0; r < rows; r++) {
            Cbsr kept(rows, 256, 32);
            const std::vector<uint16_t> columns = reference::largest_by_halving(row_of(x, r), 32, halvings);
            for (uint64_t t = 0; t < 32; t++) {
                const uint32_t bits = x.bits(r, columns[t]);
                kept.index_memory[r * 32 + t] = static_cast<uint8_t>(columns[t]);
                memcpy(&kept.value_memory[(r * 32 + t) * 4], &bits, 4);
            }
            wrong += fault(x, kept, r) != "";
        }
        printf("%d halvings: %d of %d rows are wrong\n", halvings, wrong, static_cast<int>(rows));
        EXPECT_GE(wrong, least) << halvings;
    }
}

// An entry moved, a value changed by one bit, a tie broken to the higher column: each is seen.
TEST(WrongTopK, OneEntryIsSeen) {
    Dense x(1, 4);
    for (uint64_t c = 0; c < 4; c++) x.set(0, c, c == 3 ? 0.0f : 1.0f);
    Cbsr kept(1, 4, 2);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK);
    EXPECT_EQ(fault(x, kept, 0), "");
    kept.index_memory[1] = 2;
    EXPECT_NE(fault(x, kept, 0), "");
    kept.index_memory[1] = 1;
    kept.value_memory[4] ^= 1;
    EXPECT_NE(fault(x, kept, 0), "");
}

TEST(Cbsr, DenseAndBack) {
    std::mt19937_64 random(6);
    for (csaw_dtype dtype : {CSAW_F32, CSAW_F16, CSAW_BF16})
        for (uint64_t n : {5, 256, 300}) {
            Dense x(33, n, dtype, 2), out(33, n, dtype, 1);
            for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, r % 2 ? ANY_BITS : NORMAL, random);
            Cbsr kept(x.rows, n, 5, dtype), again(x.rows, n, 5, dtype);
            ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK);
            ASSERT_EQ(csaw_maxk_dense(&kept, nullptr, &out), CSAW_OK) << csaw_last_error();
            for (uint64_t r = 0; r < x.rows; r++) {
                std::vector<uint32_t> expected(n, 0);
                for (uint64_t t = 0; t < 5; t++) expected[kept.column(r, t)] = x.bits(r, kept.column(r, t));
                for (uint64_t c = 0; c < n; c++) ASSERT_EQ(out.bits(r, c), expected[c]) << r << " " << c;
                const uint64_t gap = out.place(r, n) * out.bytes(); // between rows: not written
                EXPECT_EQ(out.memory[gap], 0xff);
            }
            again.index_memory = kept.index_memory;
            ASSERT_EQ(csaw_maxk_gather(&x, nullptr, &again), CSAW_OK) << csaw_last_error();
            EXPECT_EQ(again.value_memory, kept.value_memory);
        }
}

TEST(Cbsr, Check) {
    for (uint64_t n : {256, 257}) {
        Cbsr m(3, n, 2);
        auto set = [&](uint64_t at, uint16_t column) {
            if (n <= 256)
                static_cast<uint8_t *>(m.index)[at] = static_cast<uint8_t>(column);
            else
                static_cast<uint16_t *>(m.index)[at] = column;
        };
        const uint16_t good[] = {0, 1, 0, static_cast<uint16_t>(n - 1), 5, 6};
        for (uint64_t i = 0; i < 6; i++) set(i, good[i]);
        EXPECT_EQ(csaw_cbsr_check(&m), CSAW_OK) << csaw_last_error();
        set(3, 0); // a column twice
        EXPECT_EQ(csaw_cbsr_check(&m), CSAW_EINVAL);
        message_has({"row 1", "ascend"});
        set(3, 1);
        set(4, 7); // falls
        EXPECT_EQ(csaw_cbsr_check(&m), CSAW_EINVAL);
        message_has({"row 2"});
        if (n == 256) continue;
        set(4, 5);
        set(5, 257); // out of range
        EXPECT_EQ(csaw_cbsr_check(&m), CSAW_EINVAL);
    }
    EXPECT_EQ(csaw_cbsr_index_bytes(256), 1u);
    EXPECT_EQ(csaw_cbsr_index_bytes(257), 2u);
    EXPECT_EQ(csaw_cbsr_check(nullptr), CSAW_EINVAL);
}

// Strides past 2^32 bytes, on memory that the system hands out when it is touched.
TEST(TopK, StridesBeyond32Bits) {
    const uint64_t stride = (uint64_t{1} << 30) + 1;
    Dense small(3, 40);
    Cbsr expected(3, 40, 7), kept(3, 40, 7);
    std::mt19937_64 random(7);
    fill_normal(small, random);
    std::unique_ptr<float[]> large(new (std::nothrow) float[2 * stride + 40]);
    if (!large) GTEST_SKIP() << "no address space of 8 GiB";
    for (uint64_t r = 0; r < 3; r++) memcpy(&large[r * stride], &small.memory[r * 160], 160);
    const csaw_dense x = {3, 40, stride, CSAW_F32, large.get()};
    ASSERT_EQ(csaw_maxk(&small, nullptr, &expected), CSAW_OK);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &kept), CSAW_OK);
    EXPECT_EQ(kept.index_memory, expected.index_memory);
    EXPECT_EQ(kept.value_memory, expected.value_memory);
    ASSERT_EQ(csaw_maxk_dense(&kept, nullptr, &x), CSAW_OK);
    EXPECT_EQ(std::count_if(&large[2 * stride], &large[2 * stride + 40], [](float f) { return f != 0; }), 7);
}

TEST(TopK, EmptyMatrices) {
    Dense no_rows(0, 5), no_cols(3, 0);
    Cbsr rows(0, 5, 2), cols(3, 0, 0);
    EXPECT_EQ(csaw_maxk(&no_rows, nullptr, &rows), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(csaw_maxk(&no_cols, nullptr, &cols), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(csaw_maxk_dense(&rows, nullptr, &no_rows), CSAW_OK);
    EXPECT_EQ(csaw_maxk_dense(&cols, nullptr, &no_cols), CSAW_OK);
    EXPECT_EQ(csaw_maxk_gather(&no_cols, nullptr, &cols), CSAW_OK);
    EXPECT_EQ(csaw_cbsr_check(&rows), CSAW_OK);
    EXPECT_EQ(csaw_cbsr_check(&cols), CSAW_OK);
}

// One field spoilt at a time; the outputs stay as they were.
TEST(TopK, Refused) {
    Dense x(3, 8);
    Cbsr out(3, 8, 2);
    std::mt19937_64 random(8);
    fill_normal(x, random);
    auto refuses = [&](auto spoil, csaw_status status, const std::vector<std::string> &parts) {
        csaw_dense dense = x;
        csaw_cbsr cbsr = out;
        csaw_maxk_options options = {};
        options.size = sizeof options;
        spoil(dense, cbsr, options);
        EXPECT_EQ(csaw_maxk(&dense, &options, &cbsr), status);
        message_has(parts);
        EXPECT_EQ(csaw_maxk_gather(&dense, &options, &cbsr), status);
        EXPECT_EQ(csaw_maxk_dense(&cbsr, &options, &dense), status);
    };
    using D = csaw_dense &;
    using C = csaw_cbsr &;
    using O = csaw_maxk_options &;
    refuses([](D, C c, O) { c.k = 9; }, CSAW_EINVAL, {"k of", "is 9", "1 to 8"});
    refuses([](D, C c, O) { c.k = 0; }, CSAW_EINVAL, {"k of", "is 0"});
    refuses([](D d, C c, O) { d.cols = c.cols = 65537, c.k = 2; }, CSAW_EINVAL, {"65537", "65,536"});
    refuses([](D d, C, O) { d.rows = 2; }, CSAW_EINVAL, {"2 x 8", "3 x 8"});
    refuses([](D d, C, O) { d.cols = 7; }, CSAW_EINVAL, {"3 x 7", "3 x 8"});
    refuses([](D d, C, O) { d.stride = 7; }, CSAW_EINVAL, {"stride", "7", "8 columns"});
    refuses([](D d, C, O) { d.dtype = static_cast<csaw_dtype>(3); }, CSAW_EINVAL, {"dtype", "3"});
    refuses([](D, C c, O) { c.dtype = static_cast<csaw_dtype>(-1); }, CSAW_EINVAL, {"dtype", "-1"});
    refuses([](D, C c, O) { c.dtype = CSAW_F16; }, CSAW_EINVAL, {"dtype", "the same"});
    refuses([](D d, C, O) { d.data = nullptr; }, CSAW_EINVAL, {"data", "NULL"});
    refuses([](D, C c, O) { c.values = nullptr; }, CSAW_EINVAL, {"values", "NULL"});
    refuses([](D, C c, O) { c.index = nullptr; }, CSAW_EINVAL, {"index", "NULL"});
    refuses([](D d, C c, O) { d.rows = c.rows = UINT64_MAX / 2; }, CSAW_EINVAL, {"address space"});
    refuses([](D, C, O o) { o.device = "cuda:0"; }, CSAW_EUNSUPPORTED, {"built without CUDA"});
    refuses([](D, C, O o) { o.size = 1000; }, CSAW_EINVAL, {"csaw_maxk_options", "1000"});
    EXPECT_EQ(csaw_maxk(nullptr, nullptr, &out), CSAW_EINVAL);
    EXPECT_EQ(csaw_maxk(&x, nullptr, nullptr), CSAW_EINVAL);
    for (uint8_t byte : out.value_memory) EXPECT_EQ(byte, 0xff);
    for (uint8_t byte : out.index_memory) EXPECT_EQ(byte, 0xff);
}

TEST(TopK, EveryAllocationFailsInTurn) {
    Dense x(3, 8);
    Cbsr out(3, 8, 2);
    std::mt19937_64 random(9);
    fill_normal(x, random);
    csaw__fail_allocations_from(0);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &out), CSAW_OK);
    const uint64_t count = csaw__allocations_counted();
    ASSERT_GT(count, 0u);
    for (uint64_t n = 1; n <= count; n++) {
        Cbsr untouched(3, 8, 2);
        csaw__fail_allocations_from(n);
        EXPECT_EQ(csaw_maxk(&x, nullptr, &untouched), CSAW_ENOMEM) << n;
        for (uint8_t byte : untouched.value_memory) EXPECT_EQ(byte, 0xff);
    }
    csaw__fail_allocations_from(0);
}

// The conversions without branches give the bits of spmm/element.h: every 16-bit element, and of float32 every exponent
// and sign with fractions on and about the places where rounding turns.
TEST(Convert, BitsOfElement) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const auto half = static_cast<uint16_t>(bits);
        ASSERT_EQ(csaw__float_bits(csaw__widen_f16(half)), csaw__float_bits(csaw__from_f16(half))) << bits;
    }
    std::mt19937_64 random(10);
    for (uint32_t high = 0; high < 65536; high++)
        for (uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu,
                             static_cast<uint32_t>(random() & 0xffff)}) {
            const float x = csaw__float_of_bits(high << 16 | low);
            ASSERT_EQ(csaw__narrow_f16(x), csaw__to_f16(x)) << std::hex << (high << 16 | low);
            ASSERT_EQ(csaw__narrow_bf16(x), csaw__to_bf16(x)) << std::hex << (high << 16 | low);
        }
}

} // namespace
