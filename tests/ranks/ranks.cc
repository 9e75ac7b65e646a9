// SPDX-License-Identifier: MIT
// tests/ranks/ranks.cc - the program that runs the tests of ranks under mpirun: rank 0 prints, others what failed
// there.
#include "ranks.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace ranks {

Folder::Folder() {
    char name[512] = "";
    if (rank_of() == 0) {
        snprintf(name, sizeof name, "%s/csaw_ranks_XXXXXX", std::filesystem::temp_directory_path().c_str());
        EXPECT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    path = name;
}

Folder::~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) std::filesystem::remove_all(path);
}

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return file ? text.str() : "(no file)";
}

static Graph owned(csaw_graph *graph) { return Graph(graph, csaw_graph_free); }

Graph rmat(uint64_t seed, bool weighted) {
    csaw_graph *graph = nullptr;
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = 6;
    options.edge_factor = 6;
    options.seed = seed;
    options.weighted = weighted;
    EXPECT_EQ(csaw_graph_rmat(&options, &graph), CSAW_OK) << csaw_last_error();
    return owned(graph);
}

Graph mixed() {
    std::mt19937_64 random(5);
    std::vector<csaw_vertex> src, dst;
    std::vector<float> weight;
    std::vector<uint32_t> type;
    std::vector<int64_t> time;
    for (int i = 0; i < 600; i++) {
        src.push_back(static_cast<csaw_vertex>(random() % 90 * (random() % 2)));
        dst.push_back(static_cast<csaw_vertex>(random() % 90));
        weight.push_back(static_cast<float>(random() % 4));
        type.push_back(static_cast<uint32_t>(random() % 2));
        time.push_back(static_cast<int64_t>(random() % 50));
    }
    const csaw_edges edges = {101, src.size(), src.data(), dst.data(), weight.data(), type.data(), time.data()};
    csaw_load_options options = {};
    options.size = sizeof options;
    options.keep_loops = options.keep_duplicates = true;
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_from_edges(&edges, &options, &graph), CSAW_OK) << csaw_last_error();
    return owned(graph);
}

static Plan plan_on(const Graph &graph, int partitions, const void *communicator, bool split = false) {
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.partitions = partitions;
    options.threads = size_of() > 1 || split ? 1 : 2; // ranks are threads enough
    options.split = split;
    options.communicator = communicator;
    csaw_plan *plan = nullptr;
    EXPECT_EQ(csaw_plan_create(graph.get(), &options, &plan), CSAW_OK) << csaw_last_error();
    return Plan(plan, csaw_plan_free);
}

Plan plan_alone(const Graph &graph, int partitions) { return plan_on(graph, partitions, nullptr); }
Plan plan_of_all(const Graph &graph, int partitions, MPI_Comm comm) { return plan_on(graph, partitions, &comm); }
Plan plan_of_split(const Graph &graph) {
    const MPI_Comm world = MPI_COMM_WORLD;
    return plan_on(graph, 0, &world, true);
}

Plan plan_on_gpus(const Graph &graph, const char *device, bool split) {
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.device = device;
    options.split = split;
    options.communicator = &world;
    csaw_plan *plan = nullptr;
    EXPECT_EQ(csaw_plan_create(graph.get(), &options, &plan), CSAW_OK) << csaw_last_error();
    return Plan(plan, csaw_plan_free);
}

static void add_walks(const csaw_walks &walks, Results *results) {
    for (uint64_t w = 0; w < walks.num_walks; w++) {
        std::vector<uint64_t> &one = (*results)[walks.first + w];
        for (uint64_t s = 0; s <= walks.length; s++)
            one.push_back(walks.path[w * walks.path_walk_stride + s * walks.path_step_stride]);
        for (uint64_t s = 0; walks.edge && s < walks.length; s++)
            one.push_back(walks.edge[w * walks.edge_walk_stride + s * walks.edge_step_stride]);
    }
}

static void add_arcs(const csaw_arcs &arcs, Results *results) {
    for (uint64_t i = 0; i < arcs.num_instances; i++) {
        std::vector<uint64_t> &one = (*results)[arcs.first + i];
        for (uint64_t k = arcs.offset[i]; k < arcs.offset[i + 1]; k++)
            one.insert(one.end(), {arcs.src[k], arcs.dst[k], arcs.edge[k], arcs.depth[k]});
        for (uint64_t s = arcs.seed_offset[i]; s < arcs.seed_offset[i + 1]; s++) one.push_back(arcs.seed[s]);
    }
}

void add_results(csaw_samples *samples, Results *results) {
    csaw_walks walks;
    csaw_arcs arcs;
    if (csaw_samples_walks(samples, CSAW_HOST, &walks) == CSAW_OK)
        add_walks(walks, results);
    else if (csaw_samples_arcs(samples, CSAW_HOST, &arcs) == CSAW_OK)
        add_arcs(arcs, results);
    else
        ADD_FAILURE() << csaw_last_error();
}

csaw_status run(csaw_plan *plan, const Ask &ask, Results *results) {
    csaw_samples *samples = nullptr;
    const csaw_status status = csaw_sample(plan, ask.sampler, params_of(ask), seeds_of(ask), &ask.options, &samples);
    if (status == CSAW_OK) add_results(samples, results);
    csaw_samples_free(samples);
    return status;
}

csaw_status run_each(csaw_plan *plan, const Ask &ask, Results *results, uint64_t *batches) {
    struct Stream {
        Results *results;
        uint64_t batches;
    } stream = {results, 0};
    const auto take = [](void *user, csaw_samples *samples) {
        auto *to = static_cast<Stream *>(user);
        to->batches++;
        add_results(samples, to->results);
        return CSAW_OK;
    };
    const csaw_status status =
        csaw_sample_each(plan, ask.sampler, params_of(ask), seeds_of(ask), &ask.options, take, &stream);
    *batches = stream.batches;
    return status;
}

} // namespace ranks

namespace {

class Failures : public testing::EmptyTestEventListener { // of a rank that does not print
    void OnTestStart(const testing::TestInfo &test) override { name = test.name(); }
    void OnTestPartResult(const testing::TestPartResult &result) override {
        if (!result.failed()) return;
        fprintf(stderr, "rank %d: %s: %s:%d: %s\n", ranks::rank_of(), name.c_str(), result.file_name(),
                result.line_number(), result.message());
    }
    std::string name;
};

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    if (ranks::rank_of() > 0) {
        auto &listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new Failures);
    }
    int failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
