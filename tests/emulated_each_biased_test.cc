/* SPDX-License-Identifier: MIT */
/* tests/emulated_each_biased_test.cc - tests/emulated_each.h, by methods that weights decide. */
#include <csaw/samplers.h>
#include <gtest/gtest.h>

#include <algorithm>

extern "C" {
#include "samplers/select/alias_table.h"
}

#include "tests/emulated_gpu.h"
#include SAMPLER_FILE
#include "tests/emulated_each.h"

using namespace emulated_each;

namespace {

// Tables of a graph's weights, row by row.
struct Tables {
    std::vector<csaw__alias> alias;
    std::vector<csaw__row_bias> bias;
    std::vector<uint64_t> upto;
    explicit Tables(const csaw_csr &csr) : alias(csr.num_edges), bias(csr.num_vertices), upto(csr.num_edges) {
        for (uint64_t v = 0; v < csr.num_vertices; v++) {
            const uint64_t begin = csr.rowptr[v], end = csr.rowptr[v + 1];
            csaw__alias_row(csr.weight + begin, csr.col + begin, static_cast<uint32_t>(end - begin),
                            alias.data() + begin, &bias[v]);
            float largest = 0;
            for (uint64_t e = begin; e < end; e++) largest = std::max(largest, csr.weight[e]);
            uint64_t sum = 0;
            for (uint64_t e = begin; e < end; e++) {
                if (largest > 0)
                    sum += csaw__mass(csr.weight[e], csaw__power_of_two(csaw__mass_exponent(end - begin, largest)));
                upto[e] = sum;
            }
        }
    }
};

template <uint32_t KERNEL> void ExpectMethod(csaw_select select, bool may_count, uint32_t least_width) {
    for (bool zeros : {false, true})
        for (csaw_graph *graph : Graphs(true, zeros)) {
            const Tables tables(csaw_graph_csr(graph));
            uint32_t number = 0;
            for (const Case &of : Cases()) {
                Job job(graph, of, KERNEL, 2, 2);
                const std::string name = "case " + std::to_string(number++) + (zeros ? ", zeros" : "");
                if (select == CSAW_SELECT_RACE && of.replace) continue;
                const Arcs expected = job.OfTheCpu(graph, &csaw_neighbor_biased, select);
                EXPECT_GT(expected.src.size(), 0u);
                if (KERNEL == CSAW__KERNEL_ALIAS) job.rows()->alias = tables.alias.data();
                if (KERNEL == CSAW__KERNEL_ITS_STORED) job.rows()->upto = tables.upto.data();
                ExpectTheCpus<KERNEL>(&job, expected, may_count && !zeros, least_width, name);
            }
            csaw_graph_free(graph);
        }
}

} // namespace

TEST(EmulatedEach, AliasIsTheCpus) { ExpectMethod<CSAW__KERNEL_ALIAS>(CSAW_SELECT_ALIAS, true, 2); }
TEST(EmulatedEach, StoredItsIsTheCpus) { ExpectMethod<CSAW__KERNEL_ITS_STORED>(CSAW_SELECT_ITS, true, 2); }
TEST(EmulatedEach, ItsIsTheCpus) { ExpectMethod<CSAW__KERNEL_ITS>(CSAW_SELECT_ITS, false, 5); }
TEST(EmulatedEach, RaceIsTheCpus) { ExpectMethod<CSAW__KERNEL_RACE>(CSAW_SELECT_RACE, false, 5); }
