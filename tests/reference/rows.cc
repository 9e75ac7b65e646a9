/* SPDX-License-Identifier: MIT */
/* tests/reference/rows.cc - see rows.h. */
#include "tests/reference/rows.h"

#include <algorithm>
#include <cmath>

namespace reference {

Rows::Rows(const csaw_csr &graph, const Sampler &sampler, bool parallel_arcs)
    : graph(graph), sampler(sampler), parallel_arcs(parallel_arcs),
      is_constant(!sampler.static_bias || (sampler.static_is_weight && !graph.weight)) {}

Method Rows::method_of(Method asked) const {
    if (asked == Method::automatic && sampler.edge_bias) return sampler.has_bounds ? Method::reject : Method::its;
    if (asked == Method::automatic || asked == Method::alias) return is_constant ? Method::uniform : Method::alias;
    return asked;
}

Arc Rows::arc_of(csaw_vertex v, uint32_t rank) const {
    const csaw_edge id = graph.rowptr[v] + rank;
    return {v,
            graph.col[id],
            graph.weight ? graph.weight[id] : 1.0f,
            rank,
            id,
            graph.type ? graph.type[id] : 0,
            graph.time ? graph.time[id] : 0};
}

float Rows::static_of(const Arc &arc) const { return sampler.static_bias ? sampler.static_bias(graph, arc) : 1.0f; }

float Rows::factor_of(const Site &site, const Arc &arc) const {
    return sampler.edge_bias ? sampler.edge_bias(site, arc) : 1.0f;
}

std::vector<double> Rows::biases_of(const Site &site) const {
    std::vector<double> bias;
    for (uint32_t i = 0; i < degree(site.at); i++) {
        const Arc arc = arc_of(site.at, i);
        bias.push_back(static_cast<double>(static_of(arc)) * static_cast<double>(factor_of(site, arc)));
    }
    return bias;
}

const Rows::StaticRow &Rows::static_row(csaw_vertex v) {
    const auto found = rows.find(v);
    if (found != rows.end()) return found->second;
    StaticRow row;
    std::vector<double> bias;
    for (uint32_t i = 0; i < degree(v); i++) bias.push_back(static_of(arc_of(v, i)));
    for (double b : bias) row.top = std::max(row.top, b);
    row.masses = masses_of(bias);
    row.table = alias_table_of(row.masses);
    return rows.emplace(v, std::move(row)).first->second;
}

int64_t Rows::propose(csaw_vertex v, uint64_t number) {
    const uint64_t n = degree(v);
    const uint64_t i = below(number, n);
    if (is_constant) return static_cast<int64_t>(i);
    const StaticRow &row = static_row(v);
    if (row.masses.sum == 0) return no_arc;
    const uint64_t fraction = (number * n) >> 32; // of the product modulo 2^64
    return static_cast<int64_t>(fraction < row.table.threshold[i] ? i : row.table.alias[i]);
}

// The rank of the arc to prev in the row, or no_arc.
int64_t Rows::find_back(const Site &site) const {
    for (uint32_t i = 0; i < degree(site.at); i++)
        if (arc_of(site.at, i).dst == site.prev) return i;
    return no_arc;
}

int64_t Rows::attempt(const Site &site, const Block &block) {
    double S = degree(site.at), top = 1;
    if (!is_constant) {
        const StaticRow &row = static_row(site.at);
        S = std::ldexp(static_cast<double>(row.masses.sum), -row.masses.exponent);
        top = row.top;
    }
    if (S == 0) return no_arc;
    const double lo = sampler.lo, hi = sampler.hi, back = sampler.back;
    const bool has_back = sampler.second_order && site.prev != CSAW_NONE;
    const bool folded = has_back && back > hi && !parallel_arcs;
    const double H = folded || !has_back ? hi : std::max(hi, back);
    const double B = folded ? (back - hi) * top : 0;
    const double A = H * S;
    const double y = unit(half(block, 1)) * (A + B);
    if (y < B) {
        const int64_t rank = find_back(site);
        if (rank == no_arc) return no_arc;
        const Arc arc = arc_of(site.at, static_cast<uint32_t>(rank));
        const double s = static_of(arc), f = factor_of(site, arc);
        return y < (f - H) * s ? rank : no_arc;
    }
    const double z = y - B;
    const int64_t rank = propose(site.at, half(block, 0));
    if (z < lo * S) return rank;
    const double f = factor_of(site, arc_of(site.at, static_cast<uint32_t>(rank)));
    return z < f * S ? rank : no_arc; // z is below H * S, so what the arc back has above H does not count
}

} // namespace reference
