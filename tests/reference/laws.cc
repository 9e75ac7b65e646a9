/* SPDX-License-Identifier: MIT */
/* tests/reference/laws.cc - see laws.h. */
#include "tests/reference/laws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace reference {

std::string Law::name() const {
    if (!node2vec) return "uniform";
    std::ostringstream out;
    out << "node2vec p=" << p << " q=" << q;
    return out.str();
}

std::vector<long double> step_law(const csaw_csr &graph, const Law &law, csaw_vertex t, csaw_vertex v) {
    const auto first = graph.col + graph.rowptr[v], last = graph.col + graph.rowptr[v + 1];
    std::vector<long double> out;
    for (auto x = first; x != last; x++) {
        if (!law.node2vec) {
            out.push_back(1);
            continue;
        }
        long double bias = graph.weight ? graph.weight[x - graph.col] : 1.0L;
        if (t == *x)
            bias /= law.p;
        else if (t != CSAW_NONE &&
                 !std::binary_search(graph.col + graph.rowptr[t], graph.col + graph.rowptr[t + 1], *x))
            bias /= law.q;
        out.push_back(bias);
    }
    long double sum = 0;
    for (long double bias : out) sum += bias;
    if (sum > 0)
        for (long double &bias : out) bias /= sum;
    return out;
}

void ChiSquare::add(const std::vector<uint64_t> &seen, const std::vector<long double> &probability) {
    uint64_t n = 0;
    for (uint64_t count : seen) n += count;
    struct Cell {
        long double expected, seen;
    };
    std::vector<Cell> cells;
    Cell pool = {0, 0};
    for (size_t i = 0; i < seen.size(); i++) {
        const Cell cell = {static_cast<long double>(n) * probability[i], static_cast<long double>(seen[i])};
        if (seen[i] > 0 && probability[i] == 0) impossible = true;
        if (cell.expected >= 5) {
            cells.push_back(cell);
        } else {
            pool.expected += cell.expected;
            pool.seen += cell.seen;
        }
    }
    if (pool.expected >= 5) {
        cells.push_back(pool);
    } else if (!cells.empty()) {
        const auto smallest =
            std::min_element(cells.begin(), cells.end(), [](Cell a, Cell b) { return a.expected < b.expected; });
        smallest->expected += pool.expected;
        smallest->seen += pool.seen;
    }
    if (cells.size() < 2) return;
    for (const Cell &cell : cells) sum += (cell.seen - cell.expected) * (cell.seen - cell.expected) / cell.expected;
    cells_free += static_cast<double>(cells.size() - 1);
}

double ChiSquare::z() const {
    if (impossible) return std::numeric_limits<double>::infinity();
    if (cells_free == 0) return 0;
    const double part = 2 / (9 * cells_free);
    return (std::cbrt(static_cast<double>(sum) / cells_free) - (1 - part)) / std::sqrt(part);
}

} // namespace reference
