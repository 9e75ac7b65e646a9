// SPDX-License-Identifier: MIT
// tests/emulated_upload_test.cc - uploads by way of page-locked blocks (runtime/engine/device_upload.cu), against a
// fake CUDA whose streams run when they like: the bytes come as they were when they were handed over.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/reference/graphs.h"

#include "runtime/base/crew.h"
#include "runtime/engine/device_private.h"

namespace {

const uint64_t mib = 1 << 20;

class EmulatedUpload : public ::testing::Test {
  public:
    void SetUp() override {
        const reference::Graph path = reference::small_graph("path");
        const csaw_csr csr = path.csr();
        char why[256];
        fake_cuda::Reset();
        ASSERT_EQ(CSAW_OK, csaw_graph_from_csr(&csr, &graph));
        ASSERT_EQ(CSAW_OK, csaw__device_open(graph, 0, nullptr, why, sizeof why, &device));
    }
    void TearDown() override {
        csaw__device_close(device);
        csaw_graph_free(graph);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
    // Puts random bytes, spoils them at once, and has those that came: `early` as soon as that was done, `late` at the
    // end.
    void put(uint64_t bytes) {
        void *there = nullptr;
        want.resize(bytes);
        for (unsigned char &byte : want) byte = static_cast<unsigned char>(random());
        std::vector<unsigned char> from = want;
        ASSERT_EQ(CSAW_OK, csaw__device_alloc(device, &there, bytes + 1, "bytes"));
        std::memset(there, 0, bytes + 1);
        const uint64_t copies = fake_cuda::copies;
        ASSERT_EQ(CSAW_OK, csaw__device_put(device, there, from.data(), bytes));
        pieces = fake_cuda::copies - copies;
        const auto *const at = static_cast<const unsigned char *>(there);
        early.assign(at, at + bytes);
        std::fill(from.begin(), from.end(), static_cast<unsigned char>(0));
        ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(device->stream));
        late.assign(at, at + bytes);
        EXPECT_EQ(0, at[bytes]) << "behind them";
        csaw__device_free(device, there);
    }
    csaw_graph *graph = nullptr;
    csaw__device *device = nullptr;
    std::vector<unsigned char> want, early, late;
    uint64_t pieces = 0;
    std::minstd_rand random;
};

TEST_F(EmulatedUpload, BringsWhatWasHandedOver) {
    for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, 7 * mib / 4 - 1, 7 * mib / 4, 7 * mib / 2 - 1, 7 * mib / 2,
                           uint64_t{8000000}, 21 * mib + 13}) {
        put(bytes);
        EXPECT_TRUE(late == want) << bytes;
    }
}

// A block holds less than 3.5 MiB, and what is split is split alike, into pieces of 1.75 MiB at least.
TEST_F(EmulatedUpload, InPiecesOfLikeSize) {
    put(7 * mib / 4 - 1);
    EXPECT_EQ(1u, pieces);
    put(7 * mib / 2 - 1);
    EXPECT_EQ(1u, pieces);
    put(4000000);
    EXPECT_EQ(2u, pieces);
    put(8000000);
    EXPECT_EQ(4u, pieces);
    put(21 * mib + 13);
    EXPECT_EQ(12u, pieces);
}

// A thread that works beside those of other devices copies alone, unless it is much: in halves of such pieces, or in so
// many as there are blocks of 224 KiB at least.
TEST_F(EmulatedUpload, OfSeveralDevicesInSmallPieces) {
    csaw__crew *crew = nullptr;
    ASSERT_EQ(CSAW_OK, csaw__crew_create(2, &crew));
    const auto run = [](void *user, uint32_t member) {
        auto *const test = static_cast<EmulatedUpload *>(user);
        if (member != 0) return CSAW_OK;
        const std::vector<std::pair<uint64_t, uint64_t>> bytes_and_pieces = {
            {7 * mib / 16 - 1, 1}, {7 * mib / 16, 2}, {7 * mib / 8 - 1, 3}, {7 * mib / 8, 4}, {2000000, 4},
            {7 * mib / 2, 4},      {8000000, 8},      {16 * mib - 1, 18},   {16 * mib, 9}};
        for (const auto &[bytes, pieces] : bytes_and_pieces) {
            test->put(bytes);
            EXPECT_EQ(pieces, test->pieces) << bytes;
            EXPECT_TRUE(test->late == test->want) << bytes;
        }
        return CSAW_OK;
    };
    const csaw__crew_work work = {run, nullptr, static_cast<EmulatedUpload *>(this)};
    EXPECT_EQ(CSAW_OK, csaw__crew_run(crew, &work));
    csaw__crew_free(crew);
    put(2000000);
    EXPECT_EQ(1u, pieces);
}

TEST_F(EmulatedUpload, OfFourBlocksWaitsForNothing) {
    const uint64_t least = 35 * mib / 4 - 1;
    put(least);
    EXPECT_TRUE(late == want);
    EXPECT_TRUE(early == std::vector<unsigned char>(least)) << "something ran, so it was waited for";
    put(9 * mib); // a block that is filled again has been fetched
    EXPECT_FALSE(early == std::vector<unsigned char>(9 * mib));
}

csaw__job job_of(const std::vector<csaw_vertex> &seed, csaw_vertex vertices) {
    csaw__job job = {};
    job.num_vertices = vertices;
    job.roots = seed.data();
    return job;
}

// Seeds come like any bytes, and the first that is no vertex is named, in whichever piece it stands.
TEST_F(EmulatedUpload, LooksAtSeeds) {
    for (bool refused : {false, true})
        for (uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{70000}, uint64_t{2000003}, uint64_t{6000000}}) {
            const uint64_t before = 5; // seeds of others, which are not looked at
            std::vector<csaw_vertex> seed(before + count + 1, 99);
            void *there = nullptr;
            const csaw__job job = job_of(seed, 99);
            fake_cuda::refuse_pages = refused;
            for (uint64_t i = 0; i < count; i++) seed[before + i] = static_cast<csaw_vertex>(i % 99);
            ASSERT_EQ(CSAW_OK, csaw__device_alloc(device, &there, count * 4, "seeds"));
            auto *const to = static_cast<csaw_vertex *>(there);
            EXPECT_EQ(CSAW_OK, csaw__device_put_seeds(device, &job, to, before, count, {})) << csaw_last_error();
            ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(device->stream));
            EXPECT_TRUE(std::equal(to, to + count, seed.data() + before)) << count;
            for (uint64_t at : {uint64_t{0}, count / 3 - 1, count / 3, count / 2, count - 1}) {
                if (at >= count) continue;
                const csaw_vertex was = std::exchange(seed[before + at], at % 2 ? 99u : ~0u);
                EXPECT_EQ(CSAW_EINVAL, csaw__device_put_seeds(device, &job, to, before, count, {})) << at;
                EXPECT_EQ(0u,
                          std::string(csaw_last_error()).find("seed " + std::to_string(before + at) + " is vertex "))
                    << csaw_last_error();
                seed[before + at] = was;
            }
            csaw__device_free(device, there);
            TearDown();
            SetUp();
        }
    fake_cuda::refuse_pages = false;
}

// What seeds are shown to: it has them read later, in the order of the stream, as a kernel does.
struct Shown {
    csaw__device *device;
    csaw_vertex *to;
    std::vector<std::pair<uint64_t, uint64_t>> pieces;
    uint64_t refuse_at = ~uint64_t{0}; // a piece, once it is to be read
    static csaw_status Came(void *user, const csaw_vertex *seed, uint64_t first, uint64_t count) {
        auto *const shown = static_cast<Shown *>(user);
        cudaPointerAttributes where;
        EXPECT_EQ(cudaSuccess, cudaPointerGetAttributes(&where, seed));
        EXPECT_NE(cudaMemoryTypeUnregistered, where.type) << "a GPU would not find it";
        shown->pieces.emplace_back(first, count);
        EXPECT_EQ(cudaSuccess, cudaMemcpyAsync(shown->to + first, seed, count * sizeof *seed, cudaMemcpyDeviceToDevice,
                                               shown->device->stream));
        if (shown->pieces.size() > shown->refuse_at) return csaw__fail(CSAW_ESTOPPED, "no more");
        return CSAW_OK;
    }
};

// Whether they are shown where they are, or put somewhere and shown there; with page-locked memory or without.
TEST_F(EmulatedUpload, ShowsSeedsPieceByPiece) {
    const uint64_t before = 3;
    for (int way = 0; way < 4; way++)
        for (uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{2000003}, uint64_t{6000000}}) {
            const bool refused = way % 2, is_put = way / 2;
            std::vector<csaw_vertex> seed(before + count), to(count);
            void *there = nullptr;
            const csaw__job job = job_of(seed, 97);
            fake_cuda::refuse_pages = refused;
            for (uint64_t i = 0; i < count; i++) seed[before + i] = static_cast<csaw_vertex>(i % 97);
            ASSERT_EQ(CSAW_OK, csaw__device_alloc(device, &there, count * 4, "seeds"));
            Shown shown = {device, to.data(), {}};
            const csaw__seeds_come come = {Shown::Came, &shown};
            auto *const put_to = static_cast<csaw_vertex *>(there);
            EXPECT_EQ(CSAW_OK, is_put ? csaw__device_put_seeds(device, &job, put_to, before, count, come)
                                      : csaw__device_show_seeds(device, &job, before, count, come));
            const std::vector<csaw_vertex> want(seed.begin() + before, seed.end());
            std::fill(seed.begin(), seed.end(), 98u); // the caller's again
            ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(device->stream));
            EXPECT_TRUE(to == want) << count;
            if (is_put) EXPECT_TRUE(std::equal(want.begin(), want.end(), put_to)) << count;
            const uint64_t at_least_one = std::max<uint64_t>(count * 4 / (7 * mib / 4), count != 0);
            EXPECT_EQ(refused ? count != 0 : at_least_one, shown.pieces.size());
            uint64_t next = 0;
            for (const auto &[first, of_piece] : shown.pieces) {
                EXPECT_EQ(next, first);
                EXPECT_EQ(0u, first % 16);
                next = first + of_piece;
            }
            EXPECT_EQ(count, next);
            csaw__device_free(device, there);
            TearDown();
            SetUp();
        }
    fake_cuda::refuse_pages = false;
}

TEST_F(EmulatedUpload, ShowsNoSeedsAfterABadOneOrAFailure) {
    std::vector<csaw_vertex> seed(6000000), to(seed.size());
    const csaw__job job = job_of(seed, 97);
    for (size_t i = 0; i < seed.size(); i++) seed[i] = static_cast<csaw_vertex>(i % 97);
    Shown shown = {device, to.data(), {}};
    seed[1500000] = 97;
    EXPECT_EQ(CSAW_EINVAL, csaw__device_show_seeds(device, &job, 0, seed.size(), {Shown::Came, &shown}));
    EXPECT_EQ(0u, std::string(csaw_last_error()).find("seed 1500000 is vertex 97")) << csaw_last_error();
    EXPECT_GT(6u, shown.pieces.size());
    for (const auto &[first, of_piece] : shown.pieces) EXPECT_GE(1500000u, first + of_piece);
    seed[1500000] = 0;
    Shown refusing = {device, to.data(), {}, 2};
    EXPECT_EQ(CSAW_ESTOPPED, csaw__device_show_seeds(device, &job, 0, seed.size(), {Shown::Came, &refusing}));
    EXPECT_EQ(3u, refusing.pieces.size());
    put(21 * mib); // into the same blocks, while those pieces may still be read
    const auto &[last, of_last] = refusing.pieces.back();
    EXPECT_TRUE(std::equal(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(last + of_last), seed.begin()));
}

TEST_F(EmulatedUpload, KeepsFanoutsWhileTheyAreTheSame) {
    std::vector<uint32_t> fanout = {15, 10};
    const uint32_t *first = nullptr, *second = nullptr;
    ASSERT_EQ(CSAW_OK, csaw__device_fanouts(device, fanout.data(), 2, &first));
    ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(device->stream));
    EXPECT_TRUE(std::equal(fanout.begin(), fanout.end(), first));
    const uint64_t copies = fake_cuda::copies;
    const std::vector<uint32_t> alike = fanout; // elsewhere
    ASSERT_EQ(CSAW_OK, csaw__device_fanouts(device, alike.data(), 2, &second));
    EXPECT_EQ(first, second);
    EXPECT_EQ(copies, fake_cuda::copies);
    for (const std::vector<uint32_t> &other :
         {std::vector<uint32_t>{15, 11}, std::vector<uint32_t>{15}, std::vector<uint32_t>{15, 10, 5}, fanout}) {
        const uint64_t before = fake_cuda::copies;
        ASSERT_EQ(CSAW_OK, csaw__device_fanouts(device, other.data(), other.size(), &second));
        EXPECT_EQ(before + 1, fake_cuda::copies);
        ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(device->stream));
        EXPECT_TRUE(std::equal(other.begin(), other.end(), second));
    }
    csaw__device_give_up(device);
    const uint64_t before = fake_cuda::copies;
    ASSERT_EQ(CSAW_OK, csaw__device_fanouts(device, fanout.data(), 2, &second));
    EXPECT_EQ(before + 1, fake_cuda::copies);
}

TEST_F(EmulatedUpload, WithoutPageLockedMemory) {
    fake_cuda::refuse_pages = true;
    put(5 * mib);
    EXPECT_TRUE(late == want);
    fake_cuda::refuse_pages = false;
}

} // namespace
