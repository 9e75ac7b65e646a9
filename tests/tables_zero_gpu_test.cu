/* SPDX-License-Identifier: MIT */
/* tests/tables_zero_gpu_test.cu - one static bias of 0 in a graph of more arcs than the GPU tabulates at once: in its
 * first row, in its last, or nowhere. The arcs of small instances are counted by degrees only where there is none
 * (runtime/engine/device_each.cu). The CPU engine says what is right. */
#include "runtime/engine/device_private.h"
#include "tests/gpu_cases.h"

using namespace gpu_cases;
using reference::Graph;

namespace {

const csaw_vertex last_row = 1 << 18;

// Row v: to 0, to 15 vertices somewhere, to the last one. Rows 0 and last_row: to 1 and 2.
Graph graph_of_two_stretches() {
    Graph out;
    out.name = "two stretches";
    out.rowptr = {0};
    for (csaw_vertex v = 0; v <= last_row; v++) {
        const csaw_vertex somewhere = 1 + static_cast<csaw_vertex>(uint64_t{v} * 7919 % (last_row - 16));
        const bool ends = v == 0 || v == last_row;
        if (ends) {
            out.col.insert(out.col.end(), {1, 2});
        } else {
            out.col.push_back(0);
            for (csaw_vertex i = 0; i < 15; i++) out.col.push_back(somewhere + i);
            out.col.push_back(last_row);
        }
        for (uint64_t e = out.rowptr.back(); e < out.col.size(); e++)
            out.weight.push_back(out.col[e] == 0 || out.col[e] == last_row ? 16.0f : static_cast<float>(1 + e % 8));
        out.rowptr.push_back(out.col.size());
    }
    return out;
}

// Instances that get to the vertex at the last depth: its arcs there are those that degrees would count.
uint64_t visits_of(csaw_plan *cpu, const Case &each, Method method, const Ask &ask, csaw_vertex vertex) {
    const Outcome drawn = draw(cpu, each, method, ask);
    csaw_arcs arcs = {};
    uint64_t visits = 0;
    reference::require(csaw_samples_arcs(drawn.samples.get(), CSAW_HOST, &arcs));
    for (uint64_t i = 0; i < arcs.num_instances; i++)
        for (uint64_t a = arcs.offset[i]; a < arcs.offset[i + 1]; a++)
            visits += arcs.src[a] == vertex && arcs.depth[a] == 1 && arcs.dst[a] == 1;
    return visits;
}

TEST(TablesOfAZero, InAnyRowGiveTheBitsOfTheCpu) {
    SKIP_WITHOUT_GPU();
    const Case each = {"neighbor_biased", &csaw_neighbor_biased, {}, reference::neighbor_biased(), false};
    Pools pools;
    for (csaw_vertex i = 0; i < 2000; i++) pools.push_back({i * (last_row / 2000)});
    const Ask ask = ask_of(each, pools, 0, {3, 2});
    Graph graph = graph_of_two_stretches();
    const csaw_edge in_first = graph.rowptr[0] + 1, in_last = graph.rowptr[last_row] + 1, nowhere = CSAW_NO_EDGE;
    ASSERT_LT(uint64_t{1} << 22, graph.rowptr[last_row]); // so the last row is in another stretch than the first
    for (csaw_edge zero : {nowhere, in_first, in_last}) {
        if (zero != nowhere) graph.weight[zero] = 0;
        for (Method method : {Method::alias, Method::its}) {
            SCOPED_TRACE(std::string(reference::name_of(method)) + ", zero at arc " + std::to_string(zero));
            Pair pair(graph.csr());
            EXPECT_TRUE(pair.same(each, method, ask));
            EXPECT_EQ(CSAW_OK, pair.last_status) << pair.last_message;
            const csaw__device *device = pair.gpu_plan()->device;
            EXPECT_TRUE(method == Method::alias ? device->rows.alias != nullptr : device->rows.upto != nullptr);
            EXPECT_EQ(zero == nowhere, device->tables.positive);
            EXPECT_LT(100u, visits_of(pair.cpu_plan(), each, method, ask, zero == in_first ? 0 : last_row));
        }
        if (zero != nowhere) graph.weight[zero] = 1;
    }
}

} // namespace
