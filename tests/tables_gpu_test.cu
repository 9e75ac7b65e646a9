/* SPDX-License-Identifier: MIT */
/* tests/tables_gpu_test.cu - tables of static biases as the GPU builds them: alias tables against the host's, stored
 * sums against sums made here, bit for bit; what happens without room, and with biases that are none. */
#include <csaw/samplers.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/device_private.h"
#include "tests/bias_rows.h"
#include "tests/equality.h"
#include "tests/reference/table.h"

extern "C" {
#include "runtime/base/memory.h"
CSAW_DECLARE_SAMPLER(wrong_bias);
}

namespace {

using OwnedPlan = std::unique_ptr<csaw_plan, reference::Free>;

struct WrongBiasParams { // as in tests/samplers/wrong_bias.c
    uint32_t rule, vertex;
};

OwnedPlan plan_of(const csaw_graph *graph, const char *device) {
    const csaw_plan_options options = reference::plan_on(device, 0, 0);
    csaw_plan *plan = nullptr;
    csaw_plan_create(graph, &options, &plan);
    return OwnedPlan(plan);
}

// One step from vertex 0: the tables are what is looked at.
csaw_status step(csaw_plan *plan, const csaw_sampler *sampler, csaw_select select) {
    const csaw_vertex root = 0;
    const csaw_seeds seeds = {&root, 1, nullptr};
    csaw_run_options run = {};
    run.size = sizeof run;
    run.depth = 1;
    run.select = select;
    csaw_samples *samples = nullptr;
    const csaw_status status = csaw_sample(plan, sampler, nullptr, &seeds, &run, &samples);
    csaw_samples_free(samples);
    return status;
}

template <typename T> std::vector<T> host_copy(const T *from, uint64_t count) {
    std::vector<T> to(count);
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(cudaSuccess, cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}

// Every entry, and every row's sums. cpu's tables are those of the same sampler.
void expect_same_alias(const csaw_plan *cpu, const csaw_plan *gpu, const char *what) {
    const csaw_csr &csr = cpu->graph->csr;
    const csaw__rows &rows = gpu->device->rows;
    ASSERT_TRUE(cpu->tables.alias && rows.alias && rows.bias) << what;
    EXPECT_EQ(nullptr, gpu->tables.alias); // the host has none
    const auto alias = host_copy(rows.alias, csr.num_edges);
    const auto bias = host_copy(rows.bias, csr.num_vertices);
    for (uint64_t e = 0; e < csr.num_edges; e++) {
        const csaw__alias &want = cpu->tables.alias[e], &have = alias[e];
        ASSERT_EQ(want.threshold, have.threshold) << what << ", arc " << e;
        ASSERT_EQ(want.own, have.own) << what << ", arc " << e;
        ASSERT_EQ(want.other, have.other) << what << ", arc " << e;
        ASSERT_EQ(want.other_rank, have.other_rank) << what << ", arc " << e;
    }
    for (uint64_t v = 0; v < csr.num_vertices; v++)
        ASSERT_EQ(0, memcmp(&cpu->tables.bias[v], &bias[v], sizeof bias[v])) << what << ", vertex " << v;
}

void expect_same_sums(const csaw_plan *cpu, const csaw_plan *gpu, const char *what) {
    const csaw_csr &csr = cpu->graph->csr;
    ASSERT_TRUE(cpu->tables.tabulated && gpu->device->rows.upto) << what;
    const auto upto = host_copy(gpu->device->rows.upto, csr.num_edges);
    for (uint64_t v = 0; v < csr.num_vertices; v++) {
        const uint64_t row = csr.rowptr[v], n = csr.rowptr[v + 1] - row;
        if (n == 0) continue;
        const reference::Masses masses =
            reference::masses_of(std::vector<double>(cpu->tables.tabulated + row, cpu->tables.tabulated + row + n));
        uint64_t sum = 0;
        for (uint64_t i = 0; i < n; i++)
            ASSERT_EQ(sum += masses.mass[i], upto[row + i]) << what << ", vertex " << v << ", arc " << i;
    }
}

void expect_same_tables(const csaw_graph *graph, const char *what) {
    const OwnedPlan cpu = plan_of(graph, "cpu"), gpu = plan_of(graph, "cuda:0");
    ASSERT_TRUE(cpu && gpu) << csaw_last_error();
    std::vector<const csaw_sampler *> samplers = {&csaw_biased_by_degree};
    if (graph->csr.weight) samplers.push_back(&csaw_biased);
    for (const csaw_sampler *sampler : samplers) {
        ASSERT_EQ(CSAW_OK, step(cpu.get(), sampler, CSAW_SELECT_ALIAS)) << what << csaw_last_error();
        ASSERT_EQ(CSAW_OK, step(gpu.get(), sampler, CSAW_SELECT_ALIAS)) << what << csaw_last_error();
        expect_same_alias(cpu.get(), gpu.get(), what);
        ASSERT_EQ(CSAW_OK, step(gpu.get(), sampler, CSAW_SELECT_ITS)) << what << csaw_last_error();
        expect_same_sums(cpu.get(), gpu.get(), what);
    }
}

void expect_same_tables(const reference::Graph &graph) {
    expect_same_tables(reference::borrow(graph.csr()).get(), graph.name.c_str());
}

class TablesGpu : public ::testing::Test {
  protected:
    void SetUp() override {
        const reference::Graph star = reference::small_graph("star");
        const std::string why = reference::no_gpu_because(star.csr());
        if (!why.empty()) GTEST_SKIP() << "no GPU: " << why;
    }
};

TEST_F(TablesGpu, OfSmallGraphs) {
    for (const std::string &name : reference::small_graph_names()) expect_same_tables(reference::small_graph(name));
}

TEST_F(TablesGpu, OfRmat) {
    csaw_rmat_options options = {};
    options.size = sizeof options;
    options.scale = 14;
    options.weighted = true;
    csaw_graph *graph = nullptr;
    ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&options, &graph)) << csaw_last_error();
    expect_same_tables(graph, "rmat");
    csaw_graph_free(graph);
}

TEST_F(TablesGpu, OfAHub) { expect_same_tables(reference::hub_graph()); }

TEST_F(TablesGpu, OfRealGraphs) {
    for (const char *file : equality::data_files) {
        const equality::OwnedGraph graph = equality::data_graph(file);
        if (!graph) GTEST_SKIP() << "set CSAW_DATA to the data folder, for " << file;
        expect_same_tables(graph.get(), file);
    }
}

// A graph of the rows given, all arcs to vertex 0.
reference::Graph graph_of_rows(const std::vector<std::vector<float>> &rows) {
    reference::Graph graph;
    graph.name = "rows";
    graph.rowptr = {0};
    for (const std::vector<float> &row : rows) {
        graph.weight.insert(graph.weight.end(), row.begin(), row.end());
        graph.rowptr.push_back(graph.weight.size());
    }
    graph.col.assign(graph.weight.size(), 0);
    return graph;
}

TEST_F(TablesGpu, OfRowsWithTiesZerosAndExtremes) {
    std::mt19937_64 random(7);
    std::vector<std::vector<float>> rows = {{}, {0, 0, 0}, {}};
    for (size_t n : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 65537})
        for (auto &kind : bias_rows::of(n, random)) {
            rows.push_back(kind.second);
            if (random() % 3 == 0) rows.push_back(std::vector<float>(random() % 3, 0.0f));
            if (random() % 3 == 0) rows.push_back({-0.0f, 1.0f, -0.0f}); // zero has two signs
        }
    expect_same_tables(graph_of_rows(rows));
}

// More rows than are worked on at once, more arcs, and a row of more arcs.
TEST_F(TablesGpu, OfMoreThanIsBuiltAtOnce) {
    std::mt19937_64 random(8);
    std::vector<std::vector<float>> rows;
    const auto add_rows = [&](size_t count, size_t degree) {
        for (size_t r = 0; r < count; r++) {
            rows.push_back(std::vector<float>(random() % (2 * degree + 1)));
            for (float &bias : rows.back()) bias = static_cast<float>(random() % 1000) / 8;
        }
    };
    add_rows(200000, 15);
    rows.push_back(std::vector<float>(((size_t)1 << 22) + 12345));
    for (float &bias : rows.back())
        bias = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 60));
    add_rows(100000, 15);
    rows.resize(rows.size() + ((size_t)1 << 22) + 77);
    add_rows(1000, 3);
    expect_same_tables(graph_of_rows(rows));
}

// ---- what is drawn from them ----

class TablesGpuRuns : public TablesGpu {
  protected:
    void SetUp() override {
        TablesGpu::SetUp();
        if (IsSkipped()) return;
        csaw_rmat_options rmat = {};
        rmat.size = sizeof rmat;
        rmat.scale = 12;
        rmat.weighted = true;
        ASSERT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph)) << csaw_last_error();
        gpu = plan_of(graph, "cuda:0");
        cpu = plan_of(graph, "cpu");
        ASSERT_TRUE(gpu && cpu) << csaw_last_error();
        run.size = sizeof run;
        run.depth = 7;
        run.seed = 9;
        run.edges = true;
    }
    void TearDown() override {
        cpu.reset();
        gpu.reset();
        csaw_graph_free(graph);
    }
    // Both succeed with the same walks or arcs, or both fail with the same words.
    void ExpectEqual(const csaw_sampler *sampler, const void *params, csaw_status want = CSAW_OK,
                     const csaw_seeds *seeds = nullptr) {
        csaw_samples *a = nullptr, *b = nullptr;
        ASSERT_EQ(want, csaw_sample(cpu.get(), sampler, params, seeds, &run, &a)) << csaw_last_error();
        const std::string words = csaw_last_error();
        ASSERT_EQ(want, csaw_sample(gpu.get(), sampler, params, seeds, &run, &b)) << csaw_last_error();
        if (want != CSAW_OK) EXPECT_EQ(words, csaw_last_error());
        if (want == CSAW_OK) EXPECT_EQ(Numbers(a), Numbers(b));
        csaw_samples_free(a);
        csaw_samples_free(b);
    }
    std::vector<uint64_t> Numbers(csaw_samples *samples) const {
        std::vector<uint64_t> out;
        csaw_walks w;
        csaw_arcs arcs;
        if (run.fanout) {
            EXPECT_EQ(CSAW_OK, csaw_samples_arcs(samples, CSAW_HOST, &arcs)) << csaw_last_error();
            for (uint64_t i = 0; i < arcs.num_instances; i++)
                for (uint64_t e = arcs.offset[i]; e < arcs.offset[i + 1]; e++)
                    out.insert(out.end(), {i, arcs.src[e], arcs.dst[e], arcs.edge[e], arcs.depth[e]});
        } else {
            EXPECT_EQ(CSAW_OK, csaw_samples_walks(samples, CSAW_HOST, &w)) << csaw_last_error();
            out.assign(w.path, w.path + w.num_walks * (w.length + 1));
            out.insert(out.end(), w.edge, w.edge + w.num_walks * w.length);
        }
        return out;
    }
    uint64_t UsedMemory() const {
        uint64_t used = 0;
        EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(gpu->device->stream));
        EXPECT_EQ(cudaSuccess, cudaMemPoolGetAttribute(gpu->device->pool, cudaMemPoolAttrUsedMemCurrent, &used));
        return used;
    }
    csaw_graph *graph = nullptr;
    OwnedPlan gpu, cpu;
    csaw_run_options run = {};
};

TEST_F(TablesGpuRuns, StoredSumsChangeNoBit) {
    static const uint32_t fanout[] = {3, 40, 2, CSAW_ALL};
    EXPECT_NE(nullptr, strstr(csaw_plan_explain(gpu.get()), "sums of masses"));
    EXPECT_TRUE(gpu->device->keeps_sums);
    run.select = CSAW_SELECT_ITS;
    for (bool keeps : {true, false}) {
        gpu->device->keeps_sums = keeps;
        run.depth = 7;
        run.fanout = nullptr;
        ExpectEqual(&csaw_biased, nullptr);
        EXPECT_EQ(keeps, gpu->device->rows.upto != nullptr);
        ExpectEqual(&csaw_biased_by_degree, nullptr);
        run.depth = 4;
        run.fanout = fanout;
        const csaw_vertex roots[] = {0, 1, 2, 3, 100, 3000};
        const csaw_seeds seeds = {roots, 6, nullptr};
        for (bool replace : {false, true}) {
            run.replace = replace;
            ExpectEqual(&csaw_neighbor_biased, nullptr, CSAW_OK, &seeds);
            EXPECT_EQ(keeps, gpu->device->rows.upto != nullptr);
        }
        run.replace = false;
    }
}

TEST_F(TablesGpuRuns, TablesFollowTheSampler) {
    const csaw_node2vec_params params = {0.25f, 4};
    for (int again = 0; again < 2; again++) {
        run.select = CSAW_SELECT_ALIAS;
        ExpectEqual(&csaw_biased, nullptr);
        ExpectEqual(&csaw_biased_by_degree, nullptr);
        run.select = CSAW_SELECT_ITS;
        ExpectEqual(&csaw_biased_by_degree, nullptr);
        ExpectEqual(&csaw_node2vec, &params); // edge_bias: no stored sums
        EXPECT_EQ(nullptr, gpu->device->rows.upto);
        run.select = CSAW_SELECT_REJECT;
        ExpectEqual(&csaw_node2vec, &params);
    }
}

TEST_F(TablesGpuRuns, WrongBiasesAreNamedAsOnTheCpu) {
    for (csaw_select select : {CSAW_SELECT_ALIAS, CSAW_SELECT_ITS})
        for (uint32_t rule : {1u, 2u, 3u, 0u}) {
            const WrongBiasParams params = {rule, 17};
            run.select = select;
            ExpectEqual(&wrong_bias, &params, rule == 0 ? CSAW_OK : CSAW_EBIAS);
        }
}

// ITS asks for the biases of rows where walks get to, whatever is stored.
TEST_F(TablesGpuRuns, ItsMindsNoBiasThatNoWalkMeets) {
    const csaw_csr &csr = graph->csr;
    const csaw_vertex last = csr.col[csr.num_edges - 1];
    csaw_vertex root = 0;
    const auto leads_to_last = [&](csaw_vertex v) {
        return std::count(csr.col + csr.rowptr[v], csr.col + csr.rowptr[v + 1], last) > 0;
    };
    while (csr.rowptr[root] == csr.rowptr[root + 1] || leads_to_last(root)) root++;
    const csaw_seeds seeds = {&root, 1, nullptr};
    const WrongBiasParams params = {1, last};
    run.select = CSAW_SELECT_ITS;
    run.depth = 1;
    ExpectEqual(&wrong_bias, &params, CSAW_OK, &seeds);
    EXPECT_EQ(nullptr, gpu->device->rows.upto);
    run.select = CSAW_SELECT_ALIAS;
    ExpectEqual(&wrong_bias, &params, CSAW_EBIAS, &seeds);
}

TEST_F(TablesGpuRuns, ItsInSamplesRefusesWhatASampleDoesNotSay) {
    static const uint32_t fanout[] = {2, 2, 2};
    const WrongBiasParams params = {4, 17};
    run.select = CSAW_SELECT_ITS;
    run.depth = 3;
    run.fanout = fanout;
    ExpectEqual(&wrong_bias, &params, CSAW_EBIAS);
}

// ---- memory ----

TEST_F(TablesGpuRuns, EveryAllocationFailsAndNothingIsLost) {
    const csaw_vertex root = 3;
    const csaw_seeds seeds = {&root, 1, nullptr};
    for (csaw_select select : {CSAW_SELECT_ALIAS, CSAW_SELECT_ITS}) {
        bool remedy = false;
        run.select = select;
        gpu = plan_of(graph, "cuda:0");
        const uint64_t before = UsedMemory();
        for (uint64_t n = 1;; n++) {
            csaw_samples *samples = nullptr;
            csaw__fail_allocations_from(n);
            const csaw_status status = csaw_sample(gpu.get(), &csaw_biased, nullptr, &seeds, &run, &samples);
            const uint64_t asked = csaw__allocations_counted();
            csaw__fail_allocations_from(0);
            csaw_samples_free(samples);
            if (status == CSAW_OK) {
                EXPECT_LT(asked, n);
                EXPECT_LT(7u, n); // tables that an earlier run finished are not built again
                break;
            }
            ASSERT_TRUE(status == CSAW_ENOMEM || status == CSAW_EDEVMEM) << csaw_last_error();
            remedy = remedy || strstr(csaw_last_error(), "--select its");
            if (!gpu->device->tables.alias && !gpu->device->tables.upto) EXPECT_EQ(before, UsedMemory()) << n;
            ASSERT_LT(n, 1000u);
        }
        EXPECT_EQ(select == CSAW_SELECT_ALIAS, remedy);
        ExpectEqual(&csaw_biased, nullptr, CSAW_OK);
    }
}

} // namespace
