/* SPDX-License-Identifier: MIT */
/* tests/emulated_maxk_test.cc - kernels of csaw_maxk(), csaw_maxk_dense() and csaw_maxk_gather() as the GPU has them
 * (spmm/device_maxk_select.cuh, device_maxk_wide.cuh, device_maxk_block.cuh, device_maxk_move.cuh): the CPU's bits for
 * rows of every kind, and nothing else is written to. */
#include "tests/maxk_cases.h"

#include "tests/emulated_gpu.h"
#include "tests/share.h"

#include "spmm/device_maxk_choice.cuh"
#include "spmm/device_maxk_move.cuh"

namespace {

using namespace maxk_cases;

template <class KERNEL, class... ARGUMENTS>
void Launch(uint64_t blocks, uint32_t threads, KERNEL kernel, const ARGUMENTS &...arguments) {
    emulated::RunBlocks(static_cast<uint32_t>(blocks), threads, [&] { kernel(arguments...); });
}

csaw__maxk_rows JobOf(const csaw_dense &x, const csaw_cbsr &m) {
    csaw__maxk_rows job = {x, m};
    job.x.stride = csaw__stride(&x);
    return job;
}

template <csaw_dtype T> void SelectBy(const csaw__maxk_rows &job) {
    csaw__maxk_blocks blocks;
    const uint64_t most_shared = (job.m.k % 2 ? 120 : 24) << 10; // how many warps a block has; whether it keeps keys
    csaw__maxk_rows_kernel *const kernel = csaw__maxk_kernel_of<T>(&job, most_shared, &blocks);
    ASSERT_LE(blocks.shared, most_shared);
    const uint64_t most = (job.m.rows + blocks.rows - 1) / blocks.rows;
    Launch(blocks.resident ? most / 3 + 1 : most, blocks.threads, kernel, job); // fewer than a GPU has at once
}

void Select(const csaw_dense &x, const csaw_cbsr &out) {
    const csaw__maxk_rows job = JobOf(x, out);
    if (x.dtype == CSAW_F32) SelectBy<CSAW_F32>(job);
    if (x.dtype == CSAW_F16) SelectBy<CSAW_F16>(job);
    if (x.dtype == CSAW_BF16) SelectBy<CSAW_BF16>(job);
}

// Outputs with room behind them that must stay as it was.
struct Guarded : Cbsr {
    Guarded(uint64_t r, uint64_t c, uint64_t per_row, csaw_dtype type) : Cbsr(r, c, per_row, type) {
        value_memory.resize(value_memory.size() + 64, 0xee);
        index_memory.resize(index_memory.size() + 64, 0xee);
        values = value_memory.data(), index = index_memory.data();
    }
};

void ExpectCpuBits(const Dense &x, uint64_t k) {
    Guarded want(x.rows, x.cols, k, x.dtype), got(x.rows, x.cols, k, x.dtype);
    ASSERT_EQ(csaw_maxk(&x, nullptr, &want), CSAW_OK) << csaw_last_error();
    Select(x, got);
    EXPECT_TRUE(got.index_memory == want.index_memory) << name_of(x.dtype) << ", n " << x.cols << ", k " << k;
    EXPECT_TRUE(got.value_memory == want.value_memory) << name_of(x.dtype) << ", n " << x.cols << ", k " << k;
}

const csaw_dtype dtypes[] = {CSAW_F32, CSAW_F16, CSAW_BF16};

// Rows of every kind side by side, so that the search of one begins where that of another ended; with a gap between
// rows, and so without vectors, if n is odd or k is.
TEST(EmulatedMaxk, EveryWidthAndCount) {
    std::mt19937_64 random(1);
    for (uint64_t n : {1, 7, 8, 16, 24, 31, 32, 33, 64, 65, 128, 200, 255, 256, 257, 384, 512, 1000, 1024})
        for (csaw_dtype dtype : dtypes)
            for (uint64_t gap : {0, 3}) {
                if (n > 33 && n != 256 && (n + static_cast<uint64_t>(dtype)) % 2 == gap % 2) continue;
                Dense x(n <= 64 ? 210 : KINDS + 5, n, dtype, gap); // several tiles, the last not full
                for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(r * 5 % KINDS), random);
                for (uint64_t k : {1, 2, 4, 8, 16, 24, 31, 32, 33, 64, 96, 128, 192, 256})
                    if (k < n && (n <= 33 || (k + n + gap) % 3 == static_cast<uint64_t>(dtype))) ExpectCpuBits(x, k);
                ExpectCpuBits(x, n);
                if (n > 1) ExpectCpuBits(x, n - 1);
            }
}

TEST(EmulatedMaxk, OfManyColumns) {
    std::mt19937_64 random(2);
    for (uint64_t n : {1025, 2000, 2048, 2049, 4096, 5001, 8200, 16384, 16400})
        for (csaw_dtype dtype : dtypes) {
            if (n > 8192 && n / 8 % 3 != static_cast<uint64_t>(dtype)) continue;
            if (!reference::takes_case()) continue;
            Dense x(KINDS, n, dtype);
            for (uint64_t r = 0; r < x.rows; r++) fill_row(x, r, static_cast<Kind>(r), random);
            for (uint64_t k : {uint64_t{1}, uint64_t{100}, n - 1, n}) ExpectCpuBits(x, k);
        }
}

// The halves of a row as numbers of float32.
template <csaw_dtype T> std::vector<float> Halves(const Dense &x, uint64_t r) {
    std::vector<float> value;
    for (uint64_t c = 0; c < x.cols; c++) {
        const uint32_t bits = x.bits(r, c);
        value.push_back(csaw__maxk_half<T>::value_of(T == CSAW_F32 ? bits >> 16 : bits));
    }
    return value;
}

struct Guess {
    float at, spacing;
};

// What a warp guesses of a tile of such rows.
template <csaw_dtype T> Guess FirstGuess(const std::vector<float> &row, uint64_t k) {
    Guess guess = {0, 0};
    emulated::RunBlocks(1, 32, [&] {
        uint32_t words[CSAW__MAXK_WORDS];
        float at = 0, spacing = 0;
        for (uint32_t i = 0; i < CSAW__MAXK_WORDS; i++) {
            const uint64_t first = threadIdx.x * uint64_t{2 * CSAW__MAXK_WORDS} + 2 * i;
            const uint32_t lower = csaw__maxk_half<T>::bits_of(row[first % row.size()]);
            words[i] = (lower & 0xffff) | csaw__maxk_half<T>::bits_of(row[(first + 1) % row.size()]) << 16;
        }
        csaw__maxk_first_guess<T, CSAW__MAXK_WORDS>(words, static_cast<float>(k), static_cast<float>(row.size()), &at,
                                                    &spacing);
        guess = {at, spacing};
    });
    return guess;
}

// How many pivots are tried for a row, from a guess.
template <csaw_dtype T> uint32_t StepsFrom(const Guess &guess, const std::vector<float> &value, uint64_t k) {
    const float asked = static_cast<float>(k);
    csaw__maxk_cut<T> cut(static_cast<float>(value.size()), asked, guess.at, guess.spacing);
    uint32_t step = 0;
    for (; cut.open && step < 100; step++) {
        float count = 0, least = INFINITY, most = -INFINITY;
        for (float v : value) count += !(v < cut.at);
        cut.take(count - asked, step >= CSAW__MAXK_FAR);
        if (step <= CSAW__MAXK_FAR || step % 2 == 0) continue;
        for (float v : value) {
            if (v >= cut.low) least = std::min(least, v);
            if (!(v >= cut.high)) most = std::max(most, v);
        }
        cut.tighten(least, most);
    }
    return step;
}

template <csaw_dtype T> uint32_t Steps(const Dense &x, uint64_t r, uint64_t k) {
    const std::vector<float> value = Halves<T>(x, r);
    return StepsFrom<T>(FirstGuess<T>(value, k), value, k);
}

// 2 to 3 pivots; from 0, and a spacing that says nothing, 4 to 7.
TEST(EmulatedMaxk, TheFirstGuessOfNormalRowsIsNearTheCut) {
    std::mt19937_64 random(11);
    for (uint64_t n : {256, 1024, 2048})
        for (uint64_t k : {8, 32, 64}) {
            Dense x(60, n), halves(60, n, CSAW_BF16);
            double of_f32 = 0, of_bf16 = 0, of_nothing = 0;
            fill_normal(x, random);
            fill_normal(halves, random);
            for (uint64_t r = 0; r < x.rows; r++) {
                of_f32 += Steps<CSAW_F32>(x, r, k) / 60.0;
                of_bf16 += Steps<CSAW_BF16>(halves, r, k) / 60.0;
                of_nothing += StepsFrom<CSAW_F32>({0, 2.5f / static_cast<float>(n)}, Halves<CSAW_F32>(x, r), k) / 60.0;
            }
            EXPECT_LE(of_f32, 3.7) << "n " << n << ", k " << k;
            EXPECT_LE(of_bf16, 3.7) << "n " << n << ", k " << k;
            EXPECT_GT(of_nothing, of_f32 + (k * 8 <= n ? 1 : 0)) << "n " << n << ", k " << k;
        }
}

// No numbers, one, and such as are too large to be squared: a spacing that is a number, or a guess that is none.
TEST(EmulatedMaxk, TheFirstGuessOfAnything) {
    for (float x : {0.0f, 1.0f, -3e38f, 1e-40f, INFINITY, -INFINITY, NAN}) {
        const Guess guess = FirstGuess<CSAW_BF16>(std::vector<float>(64, x), 8);
        EXPECT_TRUE(std::isfinite(guess.at) && guess.spacing > 0 && std::isfinite(guess.spacing)) << x;
        EXPECT_EQ(guess.at, std::fabs(x) <= 1 ? csaw__maxk_half<CSAW_BF16>::value_of(csaw__to_bf16(x)) : 0) << x;
    }
}

// Zeros of a ReLU and few different numbers, where the k-th is one of many: halving alone takes 16 steps and more.
TEST(EmulatedMaxk, FewPivotsWhereManyAreEqual) {
    std::mt19937_64 random(7);
    for (uint64_t n : {64, 256, 1024, 2048}) {
        Dense x(60, n), halves(60, n, CSAW_F16);
        for (uint64_t r = 0; r < x.rows; r++) {
            const Kind kind = r % 3 == 0 ? RELU : r % 3 == 1 ? TIED : CONSTANT;
            fill_row(x, r, kind, random);
            fill_row(halves, r, kind, random);
            EXPECT_LE(Steps<CSAW_F32>(x, r, n / 2), 10u) << "row " << r << " of " << n;
            EXPECT_LE(Steps<CSAW_F16>(halves, r, n / 2), 10u) << "row " << r << " of " << n;
        }
    }
    Dense any(300, 256);
    for (uint64_t r = 0; r < any.rows; r++) {
        fill_row(any, r, static_cast<Kind>(r % KINDS), random);
        for (uint64_t k : {1, 8, 100, 255}) EXPECT_LE(Steps<CSAW_F32>(any, r, k), 40u) << "row " << r << ", k " << k;
    }
}

// Neighbours in float32 about the k-th, and scales 2^250 apart: hard for a search by value.
TEST(EmulatedMaxk, OfNeighboursAndOfScalesFarApart) {
    std::mt19937_64 random(3);
    Dense x(24, 256);
    for (uint64_t r = 0; r < x.rows; r++)
        for (uint64_t c = 0; c < x.cols; c++)
            if (r % 2)
                x.set_bits(r, c, 0x3f800000u + static_cast<uint32_t>(random() % 64));
            else
                x.set(r, c, std::ldexp(1.0f, static_cast<int>(random() % 250) - 125) * (random() % 2 ? 1 : -1));
    for (uint64_t k : {1, 32, 100, 255}) ExpectCpuBits(x, k);
}

TEST(EmulatedMaxk, ToDenseAndBack) {
    std::mt19937_64 random(5);
    for (uint64_t n : {1, 7, 32, 64, 256, 384, 600, 1100})
        for (csaw_dtype dtype : dtypes)
            for (uint64_t gap : {0, 3, 4})
                for (uint64_t k : {1, 3, 16, 17, 64}) {
                    if (k > n) continue;
                    const std::unique_ptr<Cbsr> m = random_cbsr(9, n, k, dtype, random);
                    Dense want(9, n, dtype, gap), got(9, n, dtype, gap);
                    ASSERT_EQ(csaw_maxk_dense(m.get(), nullptr, &want), CSAW_OK);
                    csaw__maxk_rows job = JobOf(got, *m);
                    Launch(3, CSAW__MAXK_THREADS, csaw__maxk_spread_of(&job), job);
                    EXPECT_TRUE(got.memory == want.memory) << n << " " << k << " " << name_of(dtype);
                    Guarded back(9, n, k, dtype);
                    memcpy(back.index, m->index, m->index_memory.size());
                    uint64_t lanes = 0;
                    job = JobOf(got, back);
                    csaw__maxk_rows_kernel *const pick = csaw__maxk_pick_of(&job, &lanes);
                    Launch((9 * lanes + 127) / 128, CSAW__MAXK_THREADS, pick, job);
                    EXPECT_EQ(memcmp(back.values, m->values, m->value_memory.size()), 0);
                    EXPECT_EQ(back.value_memory.back(), 0xee);
                }
}

} // namespace
