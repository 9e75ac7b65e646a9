// SPDX-License-Identifier: MIT
// maxk_layer_test.cc - examples/maxk_layer.c: the three matrices against their definitions, and every gradient of a
// layer against finite differences of the layer in float64.
#include <maxk_layer.h> // of examples/, found as a user's program finds it

#include "maxk_cases.h"
#include "reference/maxk.h"

namespace {

using namespace maxk_cases;

struct Layer {
    csaw_graph *graph = nullptr;
    std::vector<uint64_t> rowptr;
    std::vector<csaw_vertex> col;
    std::vector<float> share;
    csaw_sparse a;
    explicit Layer(maxk_kind kind, float epsilon = 0) {
        // 0-1, 0-2, 0-3, 1-2, 3-4, and 5 alone
        static const csaw_vertex src[] = {0, 0, 0, 1, 3}, dst[] = {1, 2, 3, 2, 4};
        csaw_edges edges = {};
        edges.num_vertices = 6, edges.num_edges = 5, edges.src = src, edges.dst = dst;
        csaw_load_options options = {};
        options.size = sizeof options, options.undirected = true;
        EXPECT_EQ(csaw_graph_from_edges(&edges, &options, &graph), CSAW_OK) << csaw_last_error();
        const csaw_csr csr = csaw_graph_csr(graph);
        rowptr.resize(csr.num_vertices + 1), col.resize(csr.num_edges + csr.num_vertices), share.resize(col.size());
        a = maxk_matrix(&csr, kind, epsilon, rowptr.data(), col.data(), share.data());
    }
    ~Layer() { csaw_graph_free(graph); }
};

TEST(MaxkLayer, MatricesAreThoseOfTheModels) {
    const double d[] = {4, 3, 3, 3, 2, 1}; // neighbours, and the vertex itself
    const bool arc[6][6] = {{1, 1, 1, 1, 0, 0}, {1, 1, 1, 0, 0, 0}, {1, 1, 1, 0, 0, 0},
                            {1, 0, 0, 1, 1, 0}, {0, 0, 0, 1, 1, 0}, {0, 0, 0, 0, 0, 1}};
    for (maxk_kind kind : {MAXK_GCN, MAXK_SAGE_MEAN, MAXK_GIN}) {
        const Layer layer(kind, 0.25f);
        reference::Matrix unit(6, 6);
        for (int i = 0; i < 6; i++) unit(i, i) = 1;
        const reference::Matrix got = reference::product(layer.a, unit, false).value;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                const double expected = kind == MAXK_GCN         ? 1 / std::sqrt(d[i] * d[j])
                                        : kind == MAXK_SAGE_MEAN ? 1 / d[i]
                                        : i == j                 ? 1.25
                                                                 : 1;
                EXPECT_NEAR(got(i, j), arc[i][j] ? expected : 0, 1e-6) << kind << " " << i << " " << j;
            }
    }
}

const uint64_t vertices = 6, in = 5, out = 12, k = 4;

// Half the sum of squares of the layer's output, in float64 and by definition. p: x, then W, then b.
double loss(const csaw_sparse &a, const std::vector<double> &p) {
    const double *x = p.data(), *weight = x + vertices * in, *bias = weight + in * out;
    reference::Matrix h(vertices, out);
    for (uint64_t v = 0; v < vertices; v++) {
        std::vector<double> z(bias, bias + out);
        for (uint64_t i = 0; i < in; i++)
            for (uint64_t c = 0; c < out; c++) z[c] += x[v * in + i] * weight[i * out + c];
        for (uint16_t c : reference::largest(z, k)) h(v, c) = z[c];
    }
    double sum = 0;
    for (double y : reference::product(a, h, false).value.at) sum += y * y / 2;
    return sum;
}

TEST(MaxkLayer, GradientsAreThoseOfFiniteDifferences) {
    for (maxk_kind kind : {MAXK_GCN, MAXK_SAGE_MEAN, MAXK_GIN}) {
        const Layer matrix(kind, 0.25f);
        std::mt19937_64 random(static_cast<uint64_t>(kind) + 1);
        std::normal_distribution<float> normal;
        std::vector<float> parameters(vertices * in + in * out + out);
        for (float &p : parameters) p = normal(random);
        float *const x = parameters.data(), *const weight = x + vertices * in;
        maxk_layer layer;
        ASSERT_EQ(maxk_layer_create(&matrix.a, in, out, k, &layer), CSAW_OK);
        layer.weight = weight, layer.bias = weight + in * out;
        std::vector<float> y(vertices * out, NAN), gradient(parameters.size(), NAN);
        float *const dx = gradient.data(), *const dweight = dx + vertices * in, *const dbias = dweight + in * out;
        ASSERT_EQ(maxk_layer_forward(&layer, x, y.data()), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(maxk_layer_backward(&layer, x, y.data(), dweight, dbias, dx), CSAW_OK) << csaw_last_error();
        const std::vector<double> at(parameters.begin(), parameters.end());
        double half = 0;
        for (float element : y) half += static_cast<double>(element) * element / 2;
        EXPECT_NEAR(half, loss(matrix.a, at), 1e-4 * half);
        for (size_t i = 0; i < at.size(); i++) {
            std::vector<double> more = at, less = at;
            more[i] += 1e-6, less[i] -= 1e-6;
            const double slope = (loss(matrix.a, more) - loss(matrix.a, less)) / 2e-6;
            EXPECT_NEAR(gradient[i], slope, 1e-4 * (1 + std::abs(slope))) << kind << " " << i;
        }
        maxk_layer_free(&layer);
    }
}

} // namespace
