// SPDX-License-Identifier: MIT
// tests/ranks/split_gpus.cc - ranks that each hold a part of the graph on a GPU, where walks step: bytes are those of
// one process. The library's own code against a fake CUDA (tests/fake_cuda/spread.cc), with the kernels of node2vec on
// an emulated GPU (tests/emulated_gpu.h); other samplers, and what goes wrong on the way: tests/emulated_spread.h.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "ranks.h"

#include "tests/emulated_gpu.h"
#define csaw_node2vec_params emulated_node2vec_params // samplers.h has it, too
#include SAMPLER_FILE
#undef csaw_node2vec_params
#include "tests/emulated_kernels.h"

namespace {

using namespace ranks;

class SplitGpus : public testing::Test {
  protected:
    void SetUp() override {
        fake_cuda::Reset();
        if (size_of() < 2) GTEST_SKIP() << "one rank has no other to split a graph with";
        if (size_of() > 3) GTEST_SKIP() << "many ranks need not do all that few have done";
    }
    ~SplitGpus() override { EXPECT_TRUE(fake_cuda::AllGivenBack()); }

    Ask walk(const csaw_sampler *sampler, csaw_select select) const {
        const csaw_node2vec_params params = {.25f, 4};
        const char *const begin = reinterpret_cast<const char *>(&params);
        Ask ask = {sampler, {begin, begin + sizeof params}, {nullptr, walks, nullptr}, {}};
        ask.options.size = sizeof ask.options;
        ask.options.depth = 6;
        ask.options.seed = 3;
        ask.options.select = select;
        ask.options.edges = true;
        ask.options.batch_bytes = 2000; // several rounds
        return ask;
    }
    Ask sample() const {
        static const uint32_t fanout[] = {3, 2};
        Ask ask = {&csaw_neighbor_biased, {}, {nullptr, 0, nullptr}, {}};
        ask.options.size = sizeof ask.options;
        ask.options.depth = 2;
        ask.options.fanout = fanout;
        ask.options.select = CSAW_SELECT_ALIAS;
        return ask;
    }
    // ask, of the ranks; alone: the same of one process.
    void expect_equal(const Plan &all, const Ask &ask, const Plan &one, const Ask &alone) const {
        Results whole, mine;
        EXPECT_EQ(CSAW_OK, run(one.get(), alone, &whole));
        EXPECT_EQ(CSAW_OK, same_status(run(all.get(), ask, &mine))) << csaw_last_error();
        for (const auto &[instance, result] : mine) EXPECT_EQ(whole[instance], result) << "instance " << instance;
        EXPECT_EQ(whole.size(), sum(mine.size()));
    }

    const csaw_sampler *const node2vec = csaw_sampler_find("node2vec");
    const emulated_kernels::Sampler on_gpu{*node2vec};
    const Graph graph = rmat(1, true);
    const uint64_t vertices = csaw_graph_csr(graph.get()).num_vertices;
    const uint64_t walks = vertices - (vertices + 1) % 6; // ranks have unequal shares
};

TEST_F(SplitGpus, WalksWithSamplesBetweenThem) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    for (csaw_select select : {CSAW_SELECT_REJECT, CSAW_SELECT_ITS, CSAW_SELECT_REJECT}) {
        const uint64_t launches = fake_cuda::launches;
        expect_equal(all, walk(on_gpu.get(), select), one, walk(node2vec, select));
        EXPECT_GE(fake_cuda::launches, launches + 4) << "no GPU made a step";
        expect_equal(all, sample(), one, sample());
    }
}

csaw_status write(csaw_plan *plan, const Ask &ask, const csaw_graph *graph, const MPI_Comm *comm,
                  const std::string &path) {
    csaw_write_options options = {};
    options.size = sizeof options;
    options.num_walks = ask.seeds.count;
    options.length = ask.options.depth;
    options.graph = graph;
    options.communicator = comm;
    csaw_writer *writer = nullptr;
    const auto take = [](void *to, csaw_samples *samples) {
        return csaw_writer_write(static_cast<csaw_writer *>(to), samples);
    };
    csaw_status status = csaw_writer_open(path.c_str(), &options, &writer);
    if (status != CSAW_OK) return status;
    status = csaw_sample_each(plan, ask.sampler, params_of(ask), seeds_of(ask), &ask.options, take, writer);
    if (status == CSAW_OK) return csaw_writer_close(writer);
    csaw_writer_discard(writer);
    return status;
}

TEST_F(SplitGpus, TheFileIsThatOfOneProcess) {
    const Folder folder;
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "all", true);
    const MPI_Comm world = MPI_COMM_WORLD;
    if (rank_of() == 0) {
        EXPECT_EQ(CSAW_OK, write(one.get(), walk(node2vec, CSAW_SELECT_AUTO), graph.get(), nullptr, folder / "one"));
    }
    EXPECT_EQ(CSAW_OK,
              same_status(write(all.get(), walk(on_gpu.get(), CSAW_SELECT_AUTO), graph.get(), &world, folder / "all")))
        << csaw_last_error();
    EXPECT_GT(read_file(folder / "one").size(), 1000u);
    EXPECT_EQ(read_file(folder / "one"), read_file(folder / "all"));
}

TEST_F(SplitGpus, AStepThatFailsIsNamedAndTheNextRunIsRight) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    const Ask ask = walk(on_gpu.get(), CSAW_SELECT_REJECT);
    for (uint64_t nth : {1, 2, 3, 4, 7}) {
        Results none;
        if (rank_of() == 1) fake_cuda::fail_launch = fake_cuda::launches + nth;
        EXPECT_EQ(CSAW_ECUDA, same_status(run(all.get(), ask, &none))) << nth;
        EXPECT_EQ(0u, std::string(csaw_last_error()).find("rank 1 on ")) << csaw_last_error();
        EXPECT_TRUE(none.empty());
        expect_equal(all, ask, one, walk(node2vec, CSAW_SELECT_REJECT));
    }
}

TEST_F(SplitGpus, OfSomeRanksAloneAreRefused) {
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.device = rank_of() == 1 ? "cpu" : "cuda";
    options.split = true;
    options.communicator = &world;
    csaw_plan *plan = nullptr;
    EXPECT_EQ(CSAW_EINVAL, same_status(csaw_plan_create(graph.get(), &options, &plan)));
    EXPECT_STREQ("rank 1 has another device for its part than rank 0; give a GPU to all ranks or to none",
                 csaw_last_error());
    EXPECT_EQ(nullptr, plan);
}

} // namespace
