/* SPDX-License-Identifier: MIT */
/* tests/row_end_test.cc - no plan reads an array of the graph beyond its last arc. On the whole graph the arrays end
 * where memory ends, so that a read beyond ends the test program. Partitions copy theirs into blocks of 64 bytes, which
 * rows of 16 arcs fill, so that AddressSanitizer (preset asan) sees such a read. */
#include "tests/reference/public_api.h"

#include <csaw/samplers.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace {

// count elements with a page behind them that may not be read.
template <typename T> class AtTheEnd {
  public:
    explicit AtTheEnd(const std::vector<T> &from) {
        const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = from.size() * sizeof(T);
        size = (bytes + page - 1) / page * page + page;
        void *const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED || mprotect(static_cast<char *>(at) + size - page, page, PROT_NONE) != 0) std::abort();
        base = at;
        begin = reinterpret_cast<T *>(static_cast<char *>(at) + size - page - bytes);
        std::memcpy(begin, from.data(), bytes);
    }
    AtTheEnd(const AtTheEnd &) = delete;
    ~AtTheEnd() { munmap(base, size); }
    const T *get() const { return begin; }

  private:
    void *base;
    size_t size;
    T *begin;
};

const csaw_vertex num_vertices = 64, degree = 16;

// From v to the 16 vertices before it, round and round: no arc leads back, and most that a walk comes from are behind
// the end of the row.
csaw_vertex back_by(csaw_vertex v, csaw_vertex steps) { return (v + num_vertices - steps) % num_vertices; }

class RowEnd : public ::testing::Test {
  protected:
    RowEnd()
        : rowptr(rowptr_of()), col(col_of()), weight(weight_of()), type(std::vector<uint32_t>(arcs, 1)),
          time(std::vector<int64_t>(arcs, 5)) {
        csr.num_vertices = num_vertices;
        csr.num_edges = arcs;
        csr.rowptr = rowptr.get();
        csr.col = col.get();
        csr.weight = weight.get();
        csr.type = type.get();
        csr.time = time.get();
        run.size = sizeof run;
        run.seed = 11;
        run.walks_per_seed = 8;
    }
    static std::vector<uint64_t> rowptr_of() {
        std::vector<uint64_t> out;
        for (uint64_t v = 0; v <= num_vertices; v++) out.push_back(v * degree);
        return out;
    }
    static std::vector<csaw_vertex> col_of() {
        std::vector<csaw_vertex> out;
        for (csaw_vertex v = 0; v < num_vertices; v++) {
            for (csaw_vertex steps = 1; steps <= degree; steps++) out.push_back(back_by(v, steps));
            std::sort(out.end() - degree, out.end());
        }
        return out;
    }
    static std::vector<float> weight_of() {
        std::vector<float> out;
        for (uint64_t a = 0; a < arcs; a++) out.push_back(static_cast<float>(1 + a % 7));
        return out;
    }
    std::unique_ptr<csaw_samples, reference::Free> Draw(int partitions, const csaw_sampler *sampler,
                                                        const void *params) {
        const std::unique_ptr<csaw_graph, reference::Free> graph = reference::borrow(csr);
        const csaw_plan_options options = reference::plan_on("cpu", 2, partitions);
        csaw_plan *plan = nullptr;
        csaw_samples *out = nullptr;
        reference::require(csaw_plan_create(graph.get(), &options, &plan));
        const std::unique_ptr<csaw_plan, reference::Free> kept(plan);
        EXPECT_EQ(CSAW_OK, csaw_sample(plan, sampler, params, nullptr, &run, &out)) << csaw_last_error();
        return std::unique_ptr<csaw_samples, reference::Free>(out);
    }

    static constexpr uint64_t arcs = uint64_t{num_vertices} * degree;
    const AtTheEnd<uint64_t> rowptr;
    const AtTheEnd<csaw_vertex> col;
    const AtTheEnd<float> weight;
    const AtTheEnd<uint32_t> type;
    const AtTheEnd<int64_t> time;
    csaw_csr csr = {};
    csaw_run_options run = {};
};

// p so small that REJECT draws the fold most of the time, and there is never an arc back.
TEST_F(RowEnd, Walks) {
    const csaw_node2vec_params params = {0.01f, 2};
    run.depth = 20;
    for (csaw_select select : {CSAW_SELECT_REJECT, CSAW_SELECT_ITS, CSAW_SELECT_RACE}) {
        run.select = select;
        std::vector<csaw_vertex> want;
        for (int partitions : {1, 2, 3, 5}) {
            const auto samples = Draw(partitions, &csaw_node2vec, &params);
            csaw_walks walks;
            ASSERT_TRUE(samples);
            ASSERT_EQ(CSAW_OK, csaw_samples_walks(samples.get(), CSAW_HOST, &walks)) << csaw_last_error();
            const std::vector<csaw_vertex> path(walks.path, walks.path + walks.num_walks * (walks.length + 1));
            for (uint64_t w = 0; w < walks.num_walks; w++)
                for (uint64_t at = w * (walks.length + 1), s = 0; s < walks.length; s++) {
                    const csaw_vertex steps = (path[at + s] + num_vertices - path[at + s + 1]) % num_vertices;
                    ASSERT_TRUE(steps >= 1 && steps <= degree) << "walk " << w << ", step " << s;
                }
            if (want.empty()) want = path;
            EXPECT_TRUE(want == path) << csaw_select_name(select) << ", " << partitions << " partitions";
        }
    }
}

TEST_F(RowEnd, Samples) {
    static const uint32_t fanout[] = {degree - 1, 2};
    run.depth = 2;
    run.fanout = fanout;
    for (const csaw_sampler *sampler : {&csaw_neighbor_biased, &csaw_node2vec, &csaw_layer}) {
        std::vector<csaw_edge> want;
        for (int partitions : {1, 2, 3, 5}) {
            const auto samples = Draw(partitions, sampler, nullptr);
            csaw_arcs view;
            ASSERT_TRUE(samples);
            ASSERT_EQ(CSAW_OK, csaw_samples_arcs(samples.get(), CSAW_HOST, &view)) << csaw_last_error();
            const uint64_t count = view.offset[view.num_instances];
            ASSERT_LT(0u, count);
            for (uint64_t a = 0; a < count; a++) ASSERT_EQ(view.src[a], view.edge[a] / degree);
            const std::vector<csaw_edge> edge(view.edge, view.edge + count);
            if (want.empty()) want = edge;
            EXPECT_TRUE(want == edge) << csaw_sampler_name(sampler) << ", " << partitions << " partitions";
        }
    }
}

} // namespace
