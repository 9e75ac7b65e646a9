// SPDX-License-Identifier: MIT
// tests/emulated_gather_test.cc - csaw_gather() on a GPU, on the CPU: kernels on an emulated GPU, all else against a
// fake CUDA. Rows are the CPU's bytes by words of every width, from the GPU's memory and from page-locked memory; a
// cache changes no byte; what is refused.
#include <random>

#include "tests/graph_cases.h"

#include <csaw/training.h>

#include "tests/fake_cuda/launch.h"

#include "spmm/device_gather.cuh"

using graph_cases::message_has;

namespace {

// Bytes in the memory of the fake GPU, from so many bytes behind an address for words of 16 on.
class There {
  public:
    explicit There(const std::vector<unsigned char> &from, size_t offset = 0) : count_(from.size()) {
        EXPECT_EQ(cudaMalloc(&memory_, count_ + offset + 16), cudaSuccess);
        at_ = static_cast<unsigned char *>(memory_) + offset;
        std::copy(from.begin(), from.end(), at_);
    }
    There(const There &) = delete;
    ~There() { cudaFree(memory_); }
    unsigned char *get() const { return at_; }
    std::vector<unsigned char> back() const { return {at_, at_ + count_}; }

  private:
    void *memory_ = nullptr;
    unsigned char *at_;
    size_t count_;
};

class EmulatedGather : public ::testing::Test {
  protected:
    EmulatedGather() {
        fake_cuda::Reset();
        EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    }
    ~EmulatedGather() override {
        cudaStreamDestroy(stream);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    csaw_gather_options there() const { return {sizeof(csaw_gather_options), 0, "cuda:0", stream}; }
    cudaStream_t stream = nullptr;
};

std::vector<unsigned char> bytes_of(uint64_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<unsigned char> out(count);
    for (unsigned char &b : out) b = static_cast<unsigned char>(random());
    return out;
}

std::vector<csaw_vertex> vertices_of(uint64_t count, uint64_t rows) {
    std::mt19937_64 random(count);
    std::vector<csaw_vertex> out(count);
    for (csaw_vertex &v : out) v = static_cast<csaw_vertex>(random() % rows);
    return out;
}

TEST_F(EmulatedGather, RowsAreTheCpus) {
    struct Shape {
        csaw_dtype dtype;
        uint64_t cols, wide, step; // strides of x and y
        size_t offset;             // of the addresses
        uint64_t word;             // that this makes
    };
    for (const Shape &s :
         {Shape{CSAW_F32, 128, 128, 128, 0, 16}, Shape{CSAW_F32, 300, 304, 300, 0, 16}, Shape{CSAW_F32, 6, 8, 6, 0, 8},
          Shape{CSAW_F32, 4, 4, 4, 8, 8}, Shape{CSAW_F32, 7, 9, 8, 0, 4}, Shape{CSAW_BF16, 64, 64, 64, 4, 4},
          Shape{CSAW_F16, 5, 5, 6, 0, 2}, Shape{CSAW_F16, 1, 1, 1, 2, 2}})
        for (bool on_host : {false, true})
            for (uint64_t count : {uint64_t{1}, uint64_t{37}, uint64_t{400}}) {
                const uint64_t element = s.dtype == CSAW_F32 ? 4 : 2, rows = 90;
                std::vector<unsigned char> x = bytes_of(rows * s.wide * element + s.offset, 3);
                std::vector<unsigned char> expected(count * s.step * element, 0xee);
                const std::vector<csaw_vertex> vertex = vertices_of(count, rows);
                unsigned char *const begin = x.data() + s.offset;
                const There y(expected, s.offset),
                    list({reinterpret_cast<const unsigned char *>(vertex.data()),
                          reinterpret_cast<const unsigned char *>(vertex.data() + count)});
                const There copy({begin, begin + rows * s.wide * element}, s.offset);
                if (on_host) cudaHostRegister(x.data(), x.size(), 0);
                csaw_dense from = {rows, s.cols, s.wide, s.dtype, begin},
                           to = {count, s.cols, s.step, s.dtype, expected.data()};
                ASSERT_EQ(csaw_gather(&from, vertex.data(), count, nullptr, &to), CSAW_OK) << csaw_last_error();
                if (!on_host) from.data = copy.get();
                to.data = y.get();
                const csaw_gather_options how = there();
                EXPECT_EQ(csaw__gather_word(std::array<csaw__gathering, 1>{
                              csaw__gathering{static_cast<const char *>(from.data), static_cast<char *>(to.data),
                                              s.wide * element, s.step * element, s.cols * element}}
                                                .data()),
                          s.word);
                ASSERT_EQ(csaw_gather(&from, reinterpret_cast<const csaw_vertex *>(list.get()), count, &how, &to),
                          CSAW_OK)
                    << csaw_last_error();
                EXPECT_NE(y.back(), expected) << "it waited for the stream";
                EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
                EXPECT_EQ(y.back(), expected) << s.cols << " columns, " << count << " rows, host " << on_host;
                if (on_host) cudaHostUnregister(x.data());
            }
}

TEST_F(EmulatedGather, RowsOfACacheAndOfTheEnds) {
    const uint64_t rows = 60, count = 500, bytes = 24;
    const std::vector<unsigned char> x = bytes_of(rows * bytes, 5);
    const std::vector<csaw_vertex> vertex = vertices_of(count, rows);
    std::vector<csaw_vertex> place(rows, CSAW_NONE);
    std::vector<unsigned char> cache, expected, broken = x, y(count * bytes);
    csaw_vertex kept = 0;
    for (csaw_vertex v : {41u, 3u, 0u, 59u, 17u}) {
        cache.insert(cache.end(), x.begin() + v * bytes, x.begin() + (v + 1) * bytes);
        std::fill_n(broken.begin() + v * bytes, bytes, 0); // nobody may look there
        place[v] = kept++;
    }
    unsigned long long cached = 7, hits = 0;
    for (csaw_vertex v : vertex) {
        expected.insert(expected.end(), x.begin() + v * bytes, x.begin() + (v + 1) * bytes);
        hits += place[v] != CSAW_NONE;
    }
    ASSERT_GT(hits, 10u);
    const auto chars = [](const std::vector<unsigned char> &of) { return reinterpret_cast<const char *>(of.data()); };
    csaw__gathering g = {};
    g.x = chars(broken), g.y = reinterpret_cast<char *>(y.data());
    g.x_stride = g.y_stride = g.bytes = bytes;
    g.vertex = vertex.data(), g.count = count;
    g.place = place.data(), g.cache = chars(cache), g.cached = &cached;
    std::vector<unsigned char> head(x.begin(), x.begin() + 9 * bytes), tail(x.begin() + 50 * bytes, x.end());
    std::fill_n(broken.begin(), 9 * bytes, 0); // these stand elsewhere
    std::fill(broken.begin() + 50 * bytes, broken.end(), 0);
    g.head = chars(head), g.head_rows = 9;
    g.tail = chars(tail), g.tail_row = 50;
    const csaw__where where = {0, stream};
    ASSERT_EQ(csaw__device_gather(&where, &g), CSAW_OK) << csaw_last_error();
    cudaStreamSynchronize(stream);
    EXPECT_EQ(y, expected);
    EXPECT_EQ(cached, 7 + hits);
}

TEST_F(EmulatedGather, RefusesWhatCannotBe) {
    float x[6] = {}, y[6] = {};
    const csaw_vertex vertex[] = {1, 2};
    csaw_dense from = {3, 2, 0, CSAW_F32, x}, to = {2, 2, 0, CSAW_F32, y};
    csaw_gather_options how = there();
    EXPECT_EQ(csaw_gather(&from, vertex, 2, &how, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"x lies in memory of the host", "page-lock", "cuda:0"}));
    ASSERT_EQ(cudaHostRegister(x, 2 * sizeof *x, 0), cudaSuccess); // the first row of three
    EXPECT_EQ(csaw_gather(&from, vertex, 2, &how, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"x lies in memory of the host", "or not all of it", "as a whole"}));
    ASSERT_EQ(cudaHostUnregister(x), cudaSuccess);
    how.device = "cuda:1";
    EXPECT_EQ(csaw_gather(&from, vertex, 2, &how, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"cuda:1"}));
    how.device = "cpu";
    EXPECT_EQ(csaw_gather(&from, vertex, 2, &how, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"a stream is given", "CPU"}));
    how = there();
    to.rows = 0;
    EXPECT_EQ(csaw_gather(&from, nullptr, 0, &how, &to), CSAW_EINVAL) << "x is looked at all the same";
    from = {0, 2, 0, CSAW_F32, nullptr};
    EXPECT_EQ(csaw_gather(&from, nullptr, 0, &how, &to), CSAW_OK) << csaw_last_error();
}

} // namespace
