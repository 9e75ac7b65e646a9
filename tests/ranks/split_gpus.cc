// SPDX-License-Identifier: MIT
// tests/ranks/split_gpus.cc - ranks that each hold a part of the graph on a GPU, where walks step: bytes are those of
// one process. The library's own code against a fake CUDA (tests/fake_cuda/spread.cc), with the kernels of node2vec on
// an emulated GPU (tests/emulated_gpu.h); other samplers, and what goes wrong on the way: tests/emulated_spread.h.
// Each test twice: walkers staged in the host's memory, and straight from GPU to GPU. A fake GPU's memory is the
// host's, which any MPI moves; that it says it can move a GPU's is put into its mouth.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "ranks.h"

#include "partition/exchange_mpi.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/spread_gpu.h"

#include "tests/emulated_gpu.h"
#define csaw_node2vec_params emulated_node2vec_params // samplers.h has it, too
#include SAMPLER_FILE
#undef csaw_node2vec_params
#include "tests/emulated_kernels.h"

namespace {

using namespace ranks;

bool yes() { return true; }
bool no() { return false; }

bool straight_of(const Plan &plan) { return csaw__spread_straight(plan->spread); }

// What stands between a rank and the batches that go straight: counts them, and makes some of them go wrong.
namespace between {

csaw__exchange inner;
uint64_t out, there, here; // batches sent, and come to a GPU's memory or the host's
uint64_t no_place = 0;     // every so manieth finds no place in the GPU's memory; 0 = none
uint64_t failing = 0;      // the so manieth call from now on fails
struct Spoil {             // of the first message that came: a 4-byte word
    size_t word;
    uint32_t value;
} const *spoil = nullptr;
bool late = false; // a batch is not there until some calls after it began to come
csaw__straight_place *place;
void *at;
csaw__straight held;
std::string bytes_held;
int calls_left = 0;
std::map<const void *, std::string> under_way; // what was sent, as it was then
uint64_t changed;                              // of it

std::string copy_of(const void *from, uint64_t bytes) { return {static_cast<const char *>(from), bytes}; }

void look() {
    for (const auto &[from, bytes] : under_way) changed += copy_of(from, bytes.size()) != bytes;
}
csaw_status may(const char *what) {
    return failing && --failing == 0 ? csaw__fail(CSAW_EMPI, "%s failed, as told", what) : CSAW_OK;
}
csaw_status send_from(void *self, uint32_t to, uint32_t kind, const void *from, uint64_t bytes, bool *taken) {
    CSAW_TRY(may("sending"));
    look();
    CSAW_TRY(inner.send_from(self, to, kind, from, bytes, taken));
    out += *taken;
    if (*taken) under_way[from] = copy_of(from, bytes);
    return CSAW_OK;
}
csaw_status sent(void *self, bool *all) {
    CSAW_TRY(may("asking"));
    look();
    CSAW_TRY(inner.sent(self, all));
    if (*all) under_way.clear();
    return CSAW_OK;
}
void *place_of(void *user, uint32_t kind, uint64_t bytes) {
    return at = no_place && (here + there) % no_place == 0 ? nullptr : place(user, kind, bytes);
}
// Until it is there its place holds what is no walker.
void hold(csaw__straight *came) {
    held = *came;
    bytes_held = copy_of(at, came->bytes);
    memset(at, 0xff, came->bytes);
    came->bytes = 0;
    calls_left = 5;
}
bool release(csaw__straight *came) {
    came->bytes = 0;
    if (--calls_left) return false;
    memcpy(at, bytes_held.data(), bytes_held.size());
    *came = held;
    return true;
}
csaw_status receive_to(void *self, csaw__straight_place *given, void *user, csaw__straight *came) {
    place = given;
    CSAW_TRY(may("receiving"));
    if (calls_left) {
        there += release(came);
        return CSAW_OK;
    }
    CSAW_TRY(inner.receive_to(self, place_of, user, came));
    if (late && came->bytes && !came->own) hold(came);
    if (!came->bytes) return CSAW_OK;
    ++*(came->own ? &here : &there);
    if (!spoil) return CSAW_OK;
    void *const message = came->own ? const_cast<void *>(came->own) : at;
    memcpy(static_cast<char *>(message) + 4 * spoil->word, &spoil->value, 4);
    spoil = nullptr;
    return CSAW_OK;
}
void put(const Plan &plan) {
    inner = plan->spread->on;
    plan->spread->on.send_from = send_from;
    plan->spread->on.sent = sent;
    plan->spread->on.receive_to = receive_to;
    out = there = here = no_place = failing = changed = 0;
    late = false;
    calls_left = 0;
    under_way.clear();
    spoil = nullptr;
}

} // namespace between

class SplitGpus : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        fake_cuda::Reset();
        library_says = csaw__mpi_moves_device_memory;
        csaw__mpi_moves_device_memory = GetParam() ? yes : no;
        if (size_of() < 2) GTEST_SKIP() << "one rank has no other to split a graph with";
        if (size_of() > 3) GTEST_SKIP() << "many ranks need not do all that few have done";
    }
    void TearDown() override { csaw__mpi_moves_device_memory = library_says; }
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

    bool (*library_says)() = nullptr;
    const csaw_sampler *const node2vec = csaw_sampler_find("node2vec");
    const emulated_kernels::Sampler on_gpu{*node2vec};
    const Graph graph = rmat(1, true);
    const uint64_t vertices = csaw_graph_csr(graph.get()).num_vertices;
    const uint64_t walks = vertices - (vertices + 1) % 6; // ranks have unequal shares
};

TEST_P(SplitGpus, WalksWithSamplesBetweenThem) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    EXPECT_EQ(GetParam(), straight_of(all));
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

TEST_P(SplitGpus, TheFileIsThatOfOneProcess) {
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

TEST_P(SplitGpus, AStepThatFailsIsNamedAndTheNextRunIsRight) {
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

TEST_P(SplitGpus, OfSomeRanksAloneAreRefused) {
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

// Some find room in the GPU's memory, some only in the host's.
class StraightGpus : public SplitGpus {};

TEST_P(StraightGpus, WalkersPassTheHost) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    ASSERT_TRUE(straight_of(all));
    for (uint64_t no_place : {0, 3, 1}) {
        between::put(all);
        between::no_place = no_place;
        expect_equal(all, walk(on_gpu.get(), CSAW_SELECT_REJECT), one, walk(node2vec, CSAW_SELECT_REJECT));
        EXPECT_GT(between::out, 10u);
        EXPECT_EQ(no_place != 1, between::there > 0);
        EXPECT_EQ(no_place != 0, between::here > 0);
        EXPECT_EQ(sum(between::out), sum(between::there) + sum(between::here));
        EXPECT_EQ(0u, between::changed) << "bytes that were under way";
        all->spread->on = between::inner;
    }
}

TEST_P(StraightGpus, NoLaunchTakesWhatIsStillComing) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    between::put(all);
    between::late = true;
    expect_equal(all, walk(on_gpu.get(), CSAW_SELECT_REJECT), one, walk(node2vec, CSAW_SELECT_REJECT));
    EXPECT_GT(between::there, 10u);
    all->spread->on = between::inner;
}

TEST_P(StraightGpus, TheSameMessagesAsStaged) {
    const Plan straight = plan_on_gpus(graph, "cuda", true);
    csaw__mpi_moves_device_memory = no;
    const Plan staged = plan_on_gpus(graph, "cuda", true);
    for (const Plan &plan : {straight, staged}) {
        Results results;
        EXPECT_EQ(CSAW_OK, same_status(run(plan.get(), walk(on_gpu.get(), CSAW_SELECT_REJECT), &results)));
    }
    for (uint32_t kind : {CSAW__WALKER, CSAW__ASKING, CSAW__RECORD}) {
        EXPECT_EQ(staged->spread->counts.messages[kind], straight->spread->counts.messages[kind]) << kind;
        EXPECT_GT(sum(straight->spread->counts.messages[kind]), 0u) << kind;
    }
}

TEST_P(StraightGpus, AreStagedUnlessMpiOfAllRanksSaysSo) {
    csaw__mpi_moves_device_memory = rank_of() == 1 ? no : yes;
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    EXPECT_FALSE(straight_of(all));
    EXPECT_NE(nullptr, strstr(csaw_plan_explain(all.get()), "through the host's memory"))
        << csaw_plan_explain(all.get());
    expect_equal(all, walk(on_gpu.get(), CSAW_SELECT_REJECT), one, walk(node2vec, CSAW_SELECT_REJECT));
}

TEST_P(StraightGpus, CallsThatFailAreNamedAndTheNextRunIsRight) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    EXPECT_NE(nullptr, strstr(csaw_plan_explain(all.get()), "straight from GPU to GPU"))
        << csaw_plan_explain(all.get());
    const Ask ask = walk(on_gpu.get(), CSAW_SELECT_REJECT);
    for (uint64_t nth : {1, 2, 5, 9, 20, 41, 60}) {
        Results none;
        between::put(all);
        if (rank_of() == 1) between::failing = nth;
        EXPECT_EQ(CSAW_EMPI, same_status(run(all.get(), ask, &none))) << nth;
        EXPECT_EQ(0u, std::string(csaw_last_error()).find("rank 1 on ")) << csaw_last_error();
        EXPECT_NE(nullptr, strstr(csaw_last_error(), "failed, as told")) << csaw_last_error();
        EXPECT_TRUE(none.empty());
        all->spread->on = between::inner;
        expect_equal(all, ask, one, walk(node2vec, CSAW_SELECT_REJECT));
    }
}

// What the GPU finds, the rank that sent it is named for, in the words of a message that was staged.
TEST_P(StraightGpus, ASpoiledMessageIsRefused) {
    const Plan one = plan_alone(graph), all = plan_on_gpus(graph, "cuda", true);
    const Ask ask = walk(on_gpu.get(), CSAW_SELECT_REJECT);
    const uint32_t n = static_cast<uint32_t>(vertices);
    const std::vector<std::pair<between::Spoil, std::string>> spoils = {
        {{0, ~0u}, " sent walk "},
        {{1, 0}, " sent a walker of 0 bytes, but those of this run have 24; "}, // the head's upper half
        {{1, CSAW__QUESTION << 28 | 3 << 12}, " sent a message of kind 2 among walkers; "},
        {{2, n}, ", at vertex " + std::to_string(n) + " after "},
        {{4, n}, ", root " + std::to_string(n) + ", to the rows"},
        {{5, 6}, ", depth 6, at vertex"}};
    for (uint64_t no_place : {0, 1})
        for (const auto &[spoil, said] : spoils) {
            Results none;
            between::put(all);
            between::no_place = no_place;
            if (rank_of() == 0) between::spoil = &spoil;
            EXPECT_EQ(CSAW_EINVAL, same_status(run(all.get(), ask, &none))) << said;
            EXPECT_EQ(0u, std::string(csaw_last_error()).find("rank 0 on ")) << csaw_last_error();
            EXPECT_NE(nullptr, strstr(csaw_last_error(), ": rank ")) << csaw_last_error();
            EXPECT_EQ(nullptr, strstr(csaw_last_error(), ": rank 0 sent")) << csaw_last_error();
            if (no_place == 0 || spoil.word != 1) { // the host looks at the head first
                EXPECT_NE(nullptr, strstr(csaw_last_error(), said.c_str())) << csaw_last_error();
            }
            all->spread->on = between::inner;
            expect_equal(all, ask, one, walk(node2vec, CSAW_SELECT_REJECT));
        }
}

INSTANTIATE_TEST_SUITE_P(Ways, SplitGpus, testing::Bool(),
                         [](const auto &of) { return std::string(of.param ? "Straight" : "Staged"); });
INSTANTIATE_TEST_SUITE_P(Ways, StraightGpus, testing::Values(true), [](const auto &) { return "Straight"; });

} // namespace
