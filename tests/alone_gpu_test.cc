/* SPDX-License-Identifier: MIT */
/* tests/alone_gpu_test.cc - few instances run each by a block of the GPU (runtime/engine/device_alone.cu), many
 * together, depth by depth: on both sides of that number, and with instances that are too large to run alone among
 * others, the bits of every sampler whose depths follow each other are those of the CPU engine. */
#include "tests/equality.h"
#include "tests/gpu_cases.h"

using namespace gpu_cases;

namespace {

// Samplers whose depths follow each other.
std::vector<Case> by_depth() {
    std::vector<Case> out;
    for (const Case &each : samples()) {
        for (const csaw_sampler *one :
             {&csaw_forest_fire, &csaw_forest_fire_all, &csaw_snowball, &csaw_neighbor_once, &csaw_neighbor_again,
              &csaw_layer, &csaw_random_edge, &csaw_random_node, &csaw_saint_edge, &csaw_saint_node, &csaw_shadow})
            if (each.sampler == one) out.push_back(each);
    }
    return out;
}

void expect_the_cpus(uint32_t scale, size_t pools, uint32_t each_pool, uint32_t depth) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = scale;
    rmat.edge_factor = 8;
    rmat.weighted = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    const equality::OwnedGraph graph(made);
    const csaw_csr csr = csaw_graph_csr(made);
    Pools of;
    for (size_t i = 0; i < pools; i++)
        of.push_back({static_cast<csaw_vertex>(i * 2654435761u % csr.num_vertices),
                      static_cast<csaw_vertex>(i * 40503u % csr.num_vertices)});
    Pair pair(csr);
    const std::vector<Case> cases = by_depth();
    ASSERT_GE(cases.size(), 12u); // layers with replacement, too
    for (const Case &each : cases)
        for (Method method : methods_of(each, csr)) {
            if (!reference::takes_case()) continue;
            Ask ask = ask_of(each, of, 0, std::vector<uint32_t>(depth, 3));
            ask.each = each_pool;
            EXPECT_TRUE(pair.same(each, method, ask)) << each.name << ", " << reference::name_of(method);
            EXPECT_EQ(CSAW_OK, pair.last_status) << pair.last_message;
        }
}

TEST(Alone, OneInstance) {
    SKIP_WITHOUT_GPU();
    expect_the_cpus(10, 1, 1, 3);
}

// Of snowball and deep fires many have more arcs than a block has room for.
TEST(Alone, SmallOnesAndLargeOnes) {
    SKIP_WITHOUT_GPU();
    expect_the_cpus(10, 100, 5, 4);
}

// 16,384 run alone, one more do not.
TEST(Alone, AsManyAsRunAloneAndOneMore) {
    SKIP_WITHOUT_GPU();
    expect_the_cpus(12, 128, 128, 1);
    expect_the_cpus(12, 5, 3277, 1);
}

} // namespace
