/* SPDX-License-Identifier: MIT */
/* tests/reference/rows.h - the rows of a graph as a sampler sees them: its arcs, their biases, a proposal and an
 * attempt of REJECT, by docs/stream.md, "Methods". A row's masses and alias table of the static bias are kept once
 * built, since they never change; nothing else is. */
#ifndef CSAW_REFERENCE_ROWS_H
#define CSAW_REFERENCE_ROWS_H

#include "tests/reference/philox.h"
#include "tests/reference/table.h"
#include "tests/reference/walk.h"

#include <map>

namespace reference {

const int64_t no_arc = -1; // in place of a rank

class Rows {
  public:
    Rows(const csaw_csr &graph, const Sampler &sampler, bool parallel_arcs);
    bool constant() const { return is_constant; } // static_bias, on this graph
    Method method_of(Method asked) const;         // AUTO's table; ALIAS may be UNIFORM

    uint32_t degree(csaw_vertex v) const { return static_cast<uint32_t>(graph.rowptr[v + 1] - graph.rowptr[v]); }
    Arc arc_of(csaw_vertex v, uint32_t rank) const;
    std::vector<double> biases_of(const Site &site) const; // of the row of site.at
    // By static bias alone: UNIFORM's map if it is constant, else ALIAS's.
    int64_t propose(csaw_vertex v, uint64_t number);
    // One attempt of REJECT; no_arc if it fails.
    int64_t attempt(const Site &site, const Block &block);

  private:
    struct StaticRow {
        Masses masses;
        AliasTable table;
        double top = 0; // the largest static bias
    };
    const StaticRow &static_row(csaw_vertex v);
    float static_of(const Arc &arc) const;
    float factor_of(const Site &site, const Arc &arc) const;
    int64_t find_back(const Site &site) const;

    const csaw_csr &graph;
    const Sampler &sampler;
    bool parallel_arcs, is_constant;
    std::map<csaw_vertex, StaticRow> rows;
};

} // namespace reference

#endif
