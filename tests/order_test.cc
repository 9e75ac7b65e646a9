// SPDX-License-Identifier: MIT
// order_test.cc - graphs made from graphs (reversed, renumbered by degree), their names and their checksums.
#include "graph_cases.h"

#include "runtime/base/checksum.h"

namespace {

using namespace graph_cases;

Graph transposed(const csaw_graph *graph) {
    csaw_graph *out = nullptr;
    EXPECT_EQ(csaw_graph_transpose(graph, &out), CSAW_OK) << csaw_last_error();
    return Graph(out, csaw_graph_free);
}

Graph by_degree(const csaw_graph *graph) {
    csaw_graph *out = nullptr;
    EXPECT_EQ(csaw_graph_by_degree(graph, &out), CSAW_OK) << csaw_last_error();
    return Graph(out, csaw_graph_free);
}

TEST(Transpose, ReversesEveryArcAndTwiceIsTheSame) {
    for (int columns = 0; columns < 8; columns++)
        for (Names names : {NONE, NUMBERS, WORDS}) {
            Graph graph = make(columns, names);
            Graph reversed = transposed(graph.get());
            ASSERT_EQ(csaw__csr_check(&reversed->csr), CSAW_OK) << csaw_last_error();
            EXPECT_EQ(in_order_of_names(arcs_by_name(reversed.get(), true)),
                      in_order_of_names(arcs_by_name(graph.get())));
            EXPECT_FALSE(equal(graph.get(), reversed.get()));
            EXPECT_TRUE(equal(graph.get(), transposed(reversed.get()).get()));
        }
}

TEST(ByDegree, IsTheSameGraphByNames) {
    for (int columns = 0; columns < 8; columns++)
        for (Names names : {NONE, NUMBERS, WORDS})
            for (int threads : {1, 3}) {
                use_threads(threads);
                Graph graph = make(columns, names), sorted = by_degree(graph.get());
                csaw_csr csr = csaw_graph_csr(sorted.get()), before = csaw_graph_csr(graph.get());
                ASSERT_EQ(csaw__csr_check(&csr), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(in_order_of_names(arcs_by_name(sorted.get())), in_order_of_names(arcs_by_name(graph.get())));
                std::vector<std::string> all;
                csaw_vertex last_old = 0;
                for (uint64_t v = 0; v < csr.num_vertices; v++) {
                    csaw_vertex old = CSAW_NONE, found = CSAW_NONE;
                    all.push_back(name_of(sorted.get(), v));
                    ASSERT_EQ(csaw_graph_find(graph.get(), all.back().c_str(), &old), CSAW_OK) << csaw_last_error();
                    ASSERT_EQ(csaw_graph_find(sorted.get(), all.back().c_str(), &found), CSAW_OK) << csaw_last_error();
                    EXPECT_EQ(found, v);
                    uint64_t degree = csr.rowptr[v + 1] - csr.rowptr[v];
                    EXPECT_EQ(degree, before.rowptr[old + 1] - before.rowptr[old]);
                    if (v > 0) {
                        uint64_t above = csr.rowptr[v] - csr.rowptr[v - 1];
                        EXPECT_TRUE(above > degree || (above == degree && last_old < old)) << v;
                    }
                    last_old = old;
                }
                std::sort(all.begin(), all.end());
                EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
            }
    use_threads(2);
}

TEST(ByDegree, AgainChangesNothing) {
    Graph sorted = by_degree(make(WEIGHT, WORDS).get());
    EXPECT_TRUE(equal(sorted.get(), by_degree(sorted.get()).get()));
    EXPECT_TRUE(equal(sorted.get(), transposed(transposed(sorted.get()).get()).get()));
}

// Degrees that differ in their high digits alone, and in their low ones alone.
TEST(ByDegree, SortsDegreesOfSeveralDigits) {
    Edges edges;
    edges.num_vertices = 3000;
    const std::vector<std::pair<csaw_vertex, uint32_t>> degrees = {{5, 2048}, {1, 2049}, {7, 4096}, {2, 1}, {9, 2047}};
    for (auto [v, degree] : degrees)
        for (uint32_t i = 0; i < degree; i++) {
            edges.src.push_back(v);
            edges.dst.push_back(i % 3000);
        }
    csaw_load_options options = {};
    options.keep_loops = options.keep_duplicates = true;
    Graph sorted = by_degree(build(edges, options).get());
    const std::vector<std::string> expected = {"7", "1", "5", "9", "2", "0", "3", "4", "6", "8", "10"};
    for (size_t v = 0; v < expected.size(); v++) EXPECT_EQ(name_of(sorted.get(), v), expected[v]);
}

TEST(Order, EmptyGraphs) {
    for (uint64_t n : {0, 3}) {
        Edges edges;
        edges.num_vertices = n;
        Graph graph = build(edges, {});
        EXPECT_EQ(transposed(graph.get())->csr.num_vertices, n);
        EXPECT_EQ(by_degree(graph.get())->csr.num_vertices, n);
    }
    csaw_graph *out = nullptr;
    EXPECT_EQ(csaw_graph_transpose(nullptr, &out), CSAW_EINVAL);
    EXPECT_EQ(csaw_graph_by_degree(nullptr, &out), CSAW_EINVAL);
}

TEST(Find, NumbersByValueWordsByBytes) {
    csaw_vertex v = 77;
    Graph plain = make(0, NONE), numbers = make(0, NUMBERS), words = make(0, WORDS);
    EXPECT_EQ(csaw_graph_find(plain.get(), "049", &v), CSAW_OK);
    EXPECT_EQ(v, 49u);
    EXPECT_EQ(csaw_graph_find(numbers.get(), "-10", &v), CSAW_OK);
    EXPECT_EQ(v, 0u);
    EXPECT_EQ(csaw_graph_find(numbers.get(), "+6", &v), CSAW_OK);
    EXPECT_EQ(v, 4u);
    EXPECT_EQ(csaw_graph_find(words.get(), "zb", &v), CSAW_OK);
    EXPECT_EQ(v, 1u);
    v = 77;
    for (const char *name : {"50", "-1", "", "+", "-", "1x", " 1", "9223372036854775808", "99999999999999999999"})
        EXPECT_EQ(csaw_graph_find(plain.get(), name, &v), CSAW_EINVAL) << name;
    for (const char *name : {"0", "-11", "9223372036854775807", "-9223372036854775808", "-9223372036854775809", "x"})
        EXPECT_EQ(csaw_graph_find(numbers.get(), name, &v), CSAW_EINVAL) << name;
    for (const char *name : {"", "z", "za ", "zzzzzzzzzz", "0"})
        EXPECT_EQ(csaw_graph_find(words.get(), name, &v), CSAW_EINVAL) << name;
    message_has({"'0'", "no vertex"});
    EXPECT_EQ(v, 77u);
    EXPECT_EQ(csaw_graph_find(nullptr, "0", &v), CSAW_EINVAL);
    EXPECT_EQ(csaw_graph_find(plain.get(), nullptr, &v), CSAW_EINVAL);
}

// Known answers of the xxHash project (seed 0).
TEST(Checksum, Xxh64) {
    EXPECT_EQ(csaw__xxh64("", 0), 0xef46db3751d8e999u);
    EXPECT_EQ(csaw__xxh64("a", 1), 0xd24ec4f1a98c6e5bu);
    EXPECT_EQ(csaw__xxh64("abc", 3), 0x44bc2cf5ad770999u);
    const std::string long_text = "Nobody inspects the spammish repetition";
    EXPECT_EQ(csaw__xxh64(long_text.data(), long_text.size()), 0xfbcea83c8a378bf1u);
}

TEST(Checksum, DependsOnEveryArrayAndNotOnThreads) {
    std::vector<uint64_t> seen;
    for (int columns = 0; columns < 8; columns++)
        for (Names names : {NONE, NUMBERS, WORDS}) {
            Graph graph = make(columns, names), again = make(columns, names);
            uint64_t sum = csaw_graph_checksum(graph.get());
            EXPECT_EQ(sum, csaw_graph_checksum(again.get()));
            seen.push_back(sum);
            auto changed = [&](const void *array, size_t at) { // one bit of it
                if (!array) return;
                unsigned char *byte = static_cast<unsigned char *>(const_cast<void *>(array)) + at;
                *byte ^= 1;
                EXPECT_NE(csaw_graph_checksum(graph.get()), sum);
                *byte ^= 1;
            };
            changed(graph->csr.rowptr, 17);
            changed(graph->csr.col, 401);
            changed(graph->csr.weight, 1599);
            changed(graph->csr.type, 1);
            changed(graph->csr.time, 3199);
            changed(graph->names.number, 399);
            changed(graph->names.text, 1);
            changed(graph->names.offset, 8);
        }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());

    std::vector<unsigned char> large((uint64_t{70} << 20) + 5); // more than a window of blocks
    for (size_t i = 0; i < large.size(); i += 4093) large[i] = static_cast<unsigned char>(i);
    use_threads(1);
    uint64_t alone = csaw__checksum(large.data(), large.size());
    use_threads(3);
    EXPECT_EQ(csaw__checksum(large.data(), large.size()), alone);
    std::swap_ranges(large.begin(), large.begin() + (1 << 20), large.begin() + (5 << 20)); // order counts
    EXPECT_NE(csaw__checksum(large.data(), large.size()), alone);
    use_threads(2);
}

TEST(Memory, EveryAllocationFailsInTurn) {
    for (Names names : {NONE, NUMBERS, WORDS}) {
        Graph graph = make(7, names);
        for (auto function : {csaw_graph_transpose, csaw_graph_by_degree}) {
            csaw_graph *out = nullptr;
            csaw__fail_allocations_from(0);
            ASSERT_EQ(function(graph.get(), &out), CSAW_OK);
            csaw_graph_free(out);
            uint64_t count = csaw__allocations_counted();
            for (uint64_t n = 1; n <= count; n++) {
                out = nullptr;
                csaw__fail_allocations_from(n);
                EXPECT_EQ(function(graph.get(), &out), CSAW_ENOMEM) << n;
                EXPECT_EQ(out, nullptr);
            }
            csaw__fail_allocations_from(0);
        }
    }
}

} // namespace
