/* SPDX-License-Identifier: MIT */
/* bench/shape_test.cc - degrees, clustering and distances against values worked out by hand on graphs of a few
 * vertices, against published ones of the karate club, and against a count over all triples of vertices on random
 * graphs. */
#include "bench/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace {

using Pairs = std::vector<std::pair<csaw_vertex, csaw_vertex>>;

struct Shape : shape {
    explicit Shape(csaw_graph *graph) : shape() {
        EXPECT_EQ(shape_of(graph, this), CSAW_OK) << csaw_last_error();
        csaw_graph_free(graph);
    }
    Shape(const Shape &) = delete;
    Shape &operator=(const Shape &) = delete;
    ~Shape() { shape_free(this); }
    std::vector<double> degrees() const { return {degree, degree + num_vertices}; }
    std::vector<double> coefficients() const { return {coefficient, coefficient + num_defined}; }
};

csaw_graph *undirected(uint64_t num_vertices, const Pairs &pairs) {
    std::vector<csaw_vertex> src, dst;
    for (const auto &[u, v] : pairs) {
        src.push_back(u);
        dst.push_back(v);
    }
    csaw_edges edges = {};
    edges.num_vertices = num_vertices;
    edges.num_edges = pairs.size();
    edges.src = src.data();
    edges.dst = dst.data();
    csaw_load_options options = {};
    options.size = sizeof options;
    options.undirected = true;
    csaw_graph *graph = nullptr;
    EXPECT_EQ(csaw_graph_from_edges(&edges, &options, &graph), CSAW_OK) << csaw_last_error();
    return graph;
}

// A triangle 0 1 2, with 3 hanging on 2, and 4 alone. Vertex 2 has three pairs of neighbours, one of them joined.
TEST(Shape, TriangleWithATail) {
    const Shape s(undirected(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}));
    EXPECT_EQ(s.num_vertices, 5u);
    EXPECT_EQ(s.num_edges, 4u);
    EXPECT_EQ(s.num_triangles, 1u);
    EXPECT_EQ(s.num_wedges, 5u);
    EXPECT_EQ(s.degrees(), (std::vector<double>{0, 1, 2, 2, 3}));
    EXPECT_EQ(s.coefficients(), (std::vector<double>{1.0 / 3, 1, 1}));
    EXPECT_DOUBLE_EQ(s.average, (1 + 1 + 1.0 / 3) / 5);
    EXPECT_DOUBLE_EQ(s.transitivity, 3.0 / 5);
    EXPECT_DOUBLE_EQ(shape_tail(&s, 1), 0.8);
    EXPECT_DOUBLE_EQ(shape_tail(&s, 2), 0.6);
    EXPECT_DOUBLE_EQ(shape_tail(&s, 4), 0);
    double degree, clustering;
    EXPECT_EQ(shape_bin(&s, 2, 4, &degree, &clustering), 3u);
    EXPECT_DOUBLE_EQ(degree, 7.0 / 3);
    EXPECT_DOUBLE_EQ(clustering, 7.0 / 9);
    EXPECT_EQ(shape_bin(&s, 4, 8, &degree, &clustering), 0u);
    EXPECT_TRUE(std::isnan(clustering));
}

// Four vertices, all joined but 0 and 3.
TEST(Shape, TwoTrianglesOnOneEdge) {
    const Shape s(undirected(4, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
    EXPECT_EQ(s.num_triangles, 2u);
    EXPECT_EQ(s.coefficients(), (std::vector<double>{2.0 / 3, 2.0 / 3, 1, 1}));
    EXPECT_DOUBLE_EQ(s.transitivity, 6.0 / 8);
}

TEST(Shape, NothingToCount) {
    const Shape s(undirected(3, {}));
    EXPECT_EQ(s.num_edges, 0u);
    EXPECT_EQ(s.num_defined, 0u);
    EXPECT_DOUBLE_EQ(s.average, 0);
    EXPECT_TRUE(std::isnan(s.transitivity));
}

// Zachary's data, as NetworkX 3.6 counts them in its own copy (karate_club_graph): triangles, average_clustering,
// transitivity.
TEST(Shape, KarateClub) {
    csaw_load_options options = {};
    options.size = sizeof options;
    options.undirected = true;
    csaw_graph *graph = nullptr;
    ASSERT_EQ(csaw_graph_load(CSAW_SOURCE_DIR "/data/karate.txt", &options, &graph), CSAW_OK) << csaw_last_error();
    const Shape s(graph);
    ASSERT_EQ(s.num_vertices, 34u);
    EXPECT_EQ(s.num_edges, 78u);
    EXPECT_EQ(s.num_triangles, 45u);
    EXPECT_NEAR(s.average, 0.5706, 0.00005);
    EXPECT_NEAR(s.transitivity, 0.2557, 0.00005);
    EXPECT_EQ(s.degree[0], 1);
    EXPECT_EQ(s.degree[33], 17);
}

TEST(Shape, EveryTripleOfRandomGraphs) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        csaw_random_graph_options options = {};
        options.size = sizeof options;
        options.num_vertices = 30;
        options.num_edges = 20 * seed;
        options.seed = seed;
        csaw_graph *graph = nullptr;
        ASSERT_EQ(csaw_graph_erdos_renyi(&options, &graph), CSAW_OK) << csaw_last_error();
        const csaw_csr csr = csaw_graph_csr(graph);
        std::set<std::pair<csaw_vertex, csaw_vertex>> joined;
        for (csaw_vertex v = 0; v < csr.num_vertices; v++)
            for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++) joined.insert({v, csr.col[e]});
        std::vector<double> expected;
        uint64_t corners = 0, wedges = 0;
        for (csaw_vertex v = 0; v < csr.num_vertices; v++) {
            uint64_t closed = 0, open = 0;
            for (csaw_vertex a = 0; a < csr.num_vertices; a++)
                for (csaw_vertex b = 0; b < a; b++) {
                    const bool wedge = joined.count({v, a}) && joined.count({v, b});
                    open += wedge;
                    closed += wedge && joined.count({a, b});
                }
            if (open) expected.push_back(static_cast<double>(closed) / static_cast<double>(open));
            corners += closed;
            wedges += open;
        }
        std::sort(expected.begin(), expected.end());
        const Shape s(graph);
        EXPECT_EQ(s.coefficients(), expected) << seed;
        EXPECT_EQ(s.num_triangles, corners / 3) << seed;
        EXPECT_EQ(s.num_wedges, wedges) << seed;
    }
}

// Distribution functions of {1, 1, 2, 4} and {1, 2, 3}: at 1 they are 1/2 and 1/3, at 2 3/4 and 2/3, at 3 3/4 and 1.
TEST(ShapeDistance, ByHand) {
    const double a[] = {1, 1, 2, 4}, b[] = {1, 2, 3}, c[] = {5, 6};
    EXPECT_DOUBLE_EQ(shape_distance(a, 4, b, 3), 0.25);
    EXPECT_DOUBLE_EQ(shape_distance(b, 3, a, 4), 0.25);
    EXPECT_DOUBLE_EQ(shape_distance(a, 4, a, 4), 0);
    EXPECT_DOUBLE_EQ(shape_distance(a, 4, c, 2), 1);
    EXPECT_DOUBLE_EQ(shape_distance(c, 2, a, 4), 1);
    EXPECT_TRUE(std::isnan(shape_distance(a, 4, b, 0)));
}

} // namespace
