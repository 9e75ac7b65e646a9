/* SPDX-License-Identifier: MIT */
/* bench/check_arcs_test.cc - check_arcs() lets samples of the library pass, and none that was tampered with. */
#include "bench/check_arcs.h"

#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <vector>

namespace {

const uint32_t fanout[2] = {3, 2};
const uint64_t instances = 40;

struct CheckArcs : ::testing::Test {
    csaw_graph *graph = nullptr;
    csaw_csr csr = {};
    std::vector<csaw_vertex> seed, src, dst;
    std::vector<uint64_t> offset;
    std::vector<csaw_edge> edge;
    std::vector<uint32_t> depth;

    void sample(const csaw_sampler *sampler) {
        csaw_rmat_options rmat = {};
        rmat.size = sizeof rmat;
        rmat.scale = 7;
        rmat.edge_factor = 8;
        ASSERT_EQ(csaw_graph_rmat(&rmat, &graph), CSAW_OK) << csaw_last_error();
        csr = csaw_graph_csr(graph);
        for (uint64_t i = 0; i < instances; i++) seed.push_back((csaw_vertex)(i % csr.num_vertices));
        csaw_plan *plan = nullptr;
        csaw_samples *samples = nullptr;
        csaw_arcs view;
        csaw_seeds seeds = {seed.data(), instances, nullptr};
        csaw_run_options run = {};
        run.size = sizeof run;
        run.depth = 2;
        run.fanout = fanout;
        ASSERT_EQ(csaw_plan_create(graph, nullptr, &plan), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_sample(plan, sampler, nullptr, &seeds, &run, &samples), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw_samples_arcs(samples, CSAW_HOST, &view), CSAW_OK) << csaw_last_error();
        const uint64_t arcs = view.offset[instances];
        offset.assign(view.offset, view.offset + instances + 1);
        src.assign(view.src, view.src + arcs);
        dst.assign(view.dst, view.dst + arcs);
        edge.assign(view.edge, view.edge + arcs);
        depth.assign(view.depth, view.depth + arcs);
        csaw_samples_free(samples);
        csaw_plan_free(plan);
    }
    uint64_t faults(arcs_rule rule) const {
        csaw_arcs view = {};
        view.num_instances = instances;
        view.offset = offset.data();
        view.src = src.data();
        view.dst = dst.data();
        view.edge = edge.data();
        view.depth = depth.data();
        return check_arcs(&csr, &view, instances, seed.data(), fanout, 2, rule);
    }
    void TearDown() override { csaw_graph_free(graph); }
};

TEST_F(CheckArcs, SamplesPassByTheirOwnRule) {
    sample(&csaw_neighbor);
    EXPECT_EQ(faults(ARCS_OF_VERTEX), 0u);
    EXPECT_EQ(faults(ARCS_OF_SOME), 0u);
    EXPECT_GT(faults(ARCS_OF_LAYER), 0u);
}

TEST_F(CheckArcs, LayersPassByTheirs) {
    sample(&csaw_layer);
    EXPECT_EQ(faults(ARCS_OF_LAYER), 0u);
    EXPECT_GT(faults(ARCS_OF_VERTEX), 0u);
}

TEST_F(CheckArcs, EachArcTamperedWithIsSeen) {
    sample(&csaw_neighbor);
    for (size_t k = 0; k < src.size(); k++) {
        const csaw_vertex old_src = src[k], old_dst = dst[k];
        const csaw_edge old_edge = edge[k];
        dst[k] = (old_dst + 1) % (csaw_vertex)csr.num_vertices;
        EXPECT_GT(faults(ARCS_OF_SOME), 0u) << "another dst, arc " << k;
        dst[k] = old_dst;
        edge[k] = csr.num_edges;
        EXPECT_GT(faults(ARCS_OF_SOME), 0u) << "an edge beyond the graph, arc " << k;
        edge[k] = old_edge;
        depth[k] ^= 1;
        EXPECT_GT(faults(ARCS_OF_VERTEX), 0u) << "another depth, arc " << k;
        depth[k] ^= 1;
        if (k && src[k - 1] == old_src && depth[k - 1] == depth[k]) {
            edge[k] = edge[k - 1];
            dst[k] = dst[k - 1];
            EXPECT_GT(faults(ARCS_OF_SOME), 0u) << "an arc twice, arc " << k;
            edge[k] = old_edge;
            dst[k] = old_dst;
        }
    }
    EXPECT_EQ(faults(ARCS_OF_VERTEX), 0u);
}

TEST_F(CheckArcs, AnArcThatIsMissingIsSeen) {
    sample(&csaw_neighbor);
    for (uint64_t i = 0; i < instances; i++)
        if (offset[i + 1] > offset[i]) {
            const uint64_t last = offset[i + 1] - 1;
            src.erase(src.begin() + (int64_t)last);
            dst.erase(dst.begin() + (int64_t)last);
            edge.erase(edge.begin() + (int64_t)last);
            depth.erase(depth.begin() + (int64_t)last);
            for (uint64_t j = i + 1; j <= instances; j++) offset[j]--;
            EXPECT_EQ(faults(ARCS_OF_SOME), 0u);
            EXPECT_GT(faults(ARCS_OF_VERTEX), 0u);
            return;
        }
    FAIL() << "no instance has an arc";
}

TEST_F(CheckArcs, ASeedThatIsNotTheInstancesIsSeen) {
    sample(&csaw_neighbor);
    seed[0] = (seed[0] + 1) % (csaw_vertex)csr.num_vertices;
    EXPECT_GT(faults(ARCS_OF_SOME), 0u);
}

} // namespace
