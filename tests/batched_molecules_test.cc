/* SPDX-License-Identifier: MIT */
/* tests/batched_molecules_test.cc - batched products over real molecules: the GIN texts of MUTAG, PROTEINS and NCI1,
 * and Tox21_AHR of TU Dortmund, whose entries do not stand by row. Needs CSAW_DATA and unzip. */
#include <stdio.h>

#include <sstream>

#include "tests/batched_cases.h"
#include "tests/data_folder.h"

using namespace batched;

namespace {

std::string unpack(const std::string &name, const std::string &member) {
    const std::string zip = std::string(data_folder()) + "/molecules/" + name + ".zip";
    std::string text;
    std::vector<char> some(1 << 20);
    FILE *pipe = popen(("unzip -p '" + zip + "' '" + name + "/" + member + "'").c_str(), "r");
    for (size_t n; pipe && (n = fread(some.data(), 1, some.size(), pipe)) > 0;) text.append(some.data(), n);
    EXPECT_TRUE(pipe && pclose(pipe) == 0) << zip;
    return text;
}

// A number of graphs; of each "vertices label"; of each vertex "tag degree neighbour ...".
std::vector<SmallMatrix> read_gin(const std::string &text) {
    std::istringstream in(text);
    size_t graphs = 0;
    in >> graphs;
    std::vector<SmallMatrix> out(graphs);
    for (SmallMatrix &a : out) {
        uint32_t label, tag, degree, to;
        in >> a.rows >> label;
        a.cols = a.rows;
        for (uint32_t v = 0; v < a.rows; v++) {
            in >> tag >> degree;
            for (uint32_t i = 0; i < degree && in >> to; i++) a.entries.push_back({v, to, 1});
        }
    }
    EXPECT_FALSE(in.fail());
    return out;
}

// Which graph each vertex is of; lines "row, column" of vertices that count from 1 through all graphs.
std::vector<SmallMatrix> read_tu(const std::string &indicator, const std::string &edges) {
    std::istringstream vertices(indicator), pairs(edges);
    std::vector<SmallMatrix> out;
    std::vector<uint32_t> graph, number;
    for (uint32_t g; vertices >> g;) {
        if (g > out.size()) out.resize(g);
        graph.push_back(g - 1);
        number.push_back(out[g - 1].rows++);
        out[g - 1].cols++;
    }
    char comma;
    for (uint32_t from, to; pairs >> from >> comma >> to;)
        out[graph[from - 1]].entries.push_back({number[from - 1], number[to - 1], 1});
    return out;
}

// Every reduction and both gradients against double, weights left out, in one call over all graphs.
void check(const std::vector<SmallMatrix> &graphs, size_t count) {
    ASSERT_EQ(graphs.size(), count);
    const uint64_t width = 16;
    for (Form form : {Form::join_coo, Form::join_coo_global}) {
        const Arrays arrays(graphs, form, false);
        const Batch batch = arrays.batch();
        ASSERT_TRUE(batch);
        for (Reduce reduce : reduces) {
            Features x(cols_of(graphs), width, CSAW_F32), y(rows_of(graphs), width, CSAW_F32);
            Features dy(rows_of(graphs), width, CSAW_F32), dx(cols_of(graphs), width, CSAW_F32);
            x.fill(1, is_best(reduce));
            dy.fill(2, false);
            std::vector<uint32_t> arg(is_best(reduce) ? y.begin.back() * width : 0);
            std::vector<float> dw(arrays.weight.size(), NAN);
            const csaw_batched_options options = options_of(reduce, &arg);
            const csaw_batched_dense from = x.view(), to = y.view(), above = dy.view(), back = dx.view();
            ASSERT_EQ(csaw_batched_spmm(batch.get(), &from, &options, &to), CSAW_OK) << csaw_last_error();
            ASSERT_EQ(csaw_batched_spmm_backward(batch.get(), &from, &above, &options, &back, dw.data()), CSAW_OK)
                << csaw_last_error();
            for (size_t g = 0; g < graphs.size(); g++) {
                const auto forward = reference::batched_forward(graphs[g], x.of(g), width, reduce);
                const auto backward =
                    reference::batched_backward(graphs[g], x.of(g), dy.of(g), forward.arg, width, reduce);
                const std::vector<double> of_g(dw.begin() + static_cast<ptrdiff_t>(arrays.edge_offset[g]),
                                               dw.begin() + static_cast<ptrdiff_t>(arrays.edge_offset[g + 1]));
                ASSERT_EQ(differ(forward.y, y.of(g), CSAW_F32), "") << g;
                ASSERT_EQ(differ(backward.dx, dx.of(g), CSAW_F32), "") << g;
                ASSERT_EQ(differ(backward.dw, of_g, CSAW_F32), "") << g;
            }
        }
    }
}

class Molecules : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!data_folder()) GTEST_SKIP() << "CSAW_DATA is not set: no molecules";
        if (system("unzip -v >/dev/null 2>&1") != 0) GTEST_SKIP() << "no unzip";
    }
};

TEST_F(Molecules, Mutag) { check(read_gin(unpack("MUTAG", "MUTAG.txt")), 188); }
TEST_F(Molecules, Proteins) { check(read_gin(unpack("PROTEINS", "PROTEINS.txt")), 1113); }
TEST_F(Molecules, Nci1) { check(read_gin(unpack("NCI1", "NCI1.txt")), 4110); }
TEST_F(Molecules, Tox21) {
    check(read_tu(unpack("Tox21_AHR", "Tox21_AHR_graph_indicator.txt"), unpack("Tox21_AHR", "Tox21_AHR_A.txt")), 3935);
}

} // namespace
