/* SPDX-License-Identifier: MIT */
/* tests/spread_cases.h - runs on a graph that is split over ranks, which are threads of the test. Each rank has a graph
 * of its own, in whose arrays nothing but its own rows is true: what it reads beyond them shows. */
#ifndef CSAW_SPREAD_CASES_H
#define CSAW_SPREAD_CASES_H

#include "partition/exchange_local.h"
#include "runtime/engine/spread.h"
#include "tests/sample_equality.h"

#include <functional>
#include <thread>

namespace spread {

using reference::require;

struct Split {
    uint32_t ranks = 2;
    uint64_t batch = 0, window = 0, room = 0; // 0 = default
    uint32_t under_way = 0;
    bool by_visits = false;
    int gpus = 0;         // the ranks', in turn, whose GPUs step; 0 = their threads do
    uint64_t at_once = 0; // walkers of a launch there; 0 = default
};

inline std::string name_of(const Split &split) {
    return std::to_string(split.ranks) + " ranks, batches of " + std::to_string(split.batch) + " bytes, " +
           std::to_string(split.under_way) + " under way, windows of " + std::to_string(split.window) + ", room for " +
           std::to_string(split.room) + (split.by_visits ? ", by visits" : "") + (split.gpus ? ", on GPUs" : "");
}

// A share of a graph as a rank of another machine would have it.
class Share {
  public:
    Share(const csaw_csr &csr, uint32_t ranks, uint32_t rank, bool by_visits) : whole(reference::borrow(csr)) {
        csaw__share share;
        require(csaw__share_create(whole.get(), ranks, rank, by_visits, &share));
        first = share.rows.first_arc;
        count = share.offset[share.rows.count];
        csaw__share_clear(&share);
        mine = *whole;
        mine.csr.col = only(csr.col, csr.num_edges, csaw_vertex{0x7fffffff}, &col);
        mine.csr.weight = only(csr.weight, csr.num_edges, -1e30f, &weight);
        mine.csr.type = only(csr.type, csr.num_edges, 0xdeadu, &type);
        mine.csr.time = only(csr.time, csr.num_edges, int64_t{-77}, &time);
    }
    const csaw_graph *get() const { return &mine; }

  private:
    template <class T> const T *only(const T *from, uint64_t n, T poison, std::vector<T> *to) const {
        if (!from) return nullptr;
        to->assign(n + 1, poison);
        std::copy(from + first, from + first + count, to->begin() + static_cast<ptrdiff_t>(first));
        return to->data();
    }
    std::unique_ptr<csaw_graph, reference::Free> whole;
    csaw_graph mine;
    uint64_t first, count;
    std::vector<csaw_vertex> col;
    std::vector<float> weight;
    std::vector<uint32_t> type;
    std::vector<int64_t> time;
};

struct Outcome {
    csaw_status status = CSAW_OK;
    std::string message;
    csaw__spread_counts counts = {};
};

// What a rank's plan is used for; rank by rank, all at once.
using Use = std::function<csaw_status(uint32_t rank, csaw_plan *plan)>;
// What stands between a rank and the others; none = nothing.
using Wrap = std::function<csaw__exchange(const csaw__exchange &)>;

// before: called when all is ready.
inline std::vector<Outcome> on_ranks(const csaw_csr &csr, const Split &split, const Use &use, const Wrap &wrap = {},
                                     const std::function<void()> &before = {}) {
    csaw__local *local = nullptr;
    require(csaw__local_create(split.ranks, split.batch, split.under_way, &local));
    std::vector<Outcome> out(split.ranks);
    std::vector<std::unique_ptr<Share>> shares;
    for (uint32_t rank = 0; rank < split.ranks; rank++)
        shares.push_back(std::make_unique<Share>(csr, split.ranks, rank, split.by_visits));
    std::vector<std::thread> threads;
    if (before) before();
    for (uint32_t rank = 0; rank < split.ranks; rank++)
        threads.emplace_back([&, rank] {
            const int ordinal = split.gpus ? static_cast<int>(rank) % split.gpus : 0;
            const csaw__spread_options options = {split.window,   split.room, split.by_visits,
                                                  split.gpus > 0, ordinal,    split.at_once};
            const csaw__exchange exchange = csaw__local_rank(local, rank);
            const csaw__exchange used = wrap ? wrap(exchange) : exchange;
            csaw_plan *plan = nullptr;
            csaw_status status = csaw__spread_plan(shares[rank]->get(), &used, &options, &plan);
            if (status == CSAW_OK) status = use(rank, plan);
            out[rank].status = status;
            if (status != CSAW_OK) out[rank].message = csaw_last_error();
            if (plan) out[rank].counts = plan->spread->counts;
            csaw_plan_free(plan);
        });
    for (std::thread &thread : threads) thread.join();
    csaw__local_free(local);
    return out;
}

struct Run {
    const csaw_sampler *sampler;
    const void *params;
    reference::Method method;
};

inline csaw_run_options options_of(const Run &run, const reference::Request &request) {
    csaw_run_options options = {};
    options.size = sizeof(options);
    options.seed = request.seed;
    options.walks_per_seed = request.walks_per_seed;
    options.depth = request.depth;
    options.select = reference::select_of(run.method);
    options.edges = true;
    return options;
}

// How many walks, or samples, a rank delivers, if they are those of one process; else 0.
inline uint64_t instances_as_in(csaw_samples *mine, csaw_samples *whole) {
    csaw_walks a, b;
    csaw_arcs c, d;
    const auto same = [](auto *here, uint64_t count, auto *there) { return std::equal(here, here + count, there); };
    if (csaw_samples_walks(mine, CSAW_HOST, &a) == CSAW_OK) {
        require(csaw_samples_walks(whole, CSAW_HOST, &b));
        const uint64_t places = a.length + uint64_t{1};
        return same(a.path, a.num_walks * places, b.path + a.first * places) &&
                       same(a.edge, a.num_walks * a.length, b.edge + a.first * b.length)
                   ? a.num_walks
                   : 0;
    }
    require(csaw_samples_arcs(mine, CSAW_HOST, &c));
    require(csaw_samples_arcs(whole, CSAW_HOST, &d));
    const uint64_t from = d.offset[c.first], count = c.offset[c.num_instances];
    return count == d.offset[c.first + c.num_instances] - from && same(c.src, count, d.src + from) &&
                   same(c.dst, count, d.dst + from) && same(c.edge, count, d.edge + from) &&
                   same(c.depth, count, d.depth + from)
               ? c.num_instances
               : 0;
}

// The walks that the ranks deliver, one after the other.
inline reference::Walks walks(const csaw_csr &csr, const Split &split, const Run &run,
                              const reference::Request &request, std::vector<Outcome> *outcomes = nullptr,
                              const Wrap &wrap = {}) {
    std::vector<reference::Walks> of(split.ranks);
    std::vector<uint64_t> firsts(split.ranks);
    const csaw_run_options options = options_of(run, request);
    const std::vector<Outcome> all = on_ranks(
        csr, split,
        [&](uint32_t rank, csaw_plan *plan) {
            const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
            csaw_samples *samples = nullptr;
            csaw_walks got;
            csaw_status status = csaw_sample(plan, run.sampler, run.params, &seeds, &options, &samples);
            if (status != CSAW_OK) return status;
            status = csaw_samples_walks(samples, CSAW_HOST, &got);
            if (status == CSAW_OK) {
                firsts[rank] = got.first;
                of[rank].count = got.num_walks;
                of[rank].path.assign(got.path, got.path + got.num_walks * (got.length + uint64_t{1}));
                of[rank].edge.assign(got.edge, got.edge + got.num_walks * got.length);
            }
            csaw_samples_free(samples);
            return status;
        },
        wrap);
    reference::Walks out;
    out.length = request.depth;
    for (uint32_t rank = 0; rank < split.ranks; rank++) {
        if (!outcomes && all[rank].status != CSAW_OK)
            throw std::runtime_error("rank " + std::to_string(rank) + ": " + all[rank].message);
        if (all[rank].status == CSAW_OK && firsts[rank] != out.count)
            throw std::runtime_error("rank " + std::to_string(rank) + " begins with walk " +
                                     std::to_string(firsts[rank]) + ", not " + std::to_string(out.count));
        out.count += of[rank].count;
        out.path.insert(out.path.end(), of[rank].path.begin(), of[rank].path.end());
        out.edge.insert(out.edge.end(), of[rank].edge.begin(), of[rank].edge.end());
    }
    if (outcomes) *outcomes = all;
    return out;
}

// Few and large, many and tiny: batches, what is under way, windows, room for questions.
inline std::vector<Split> splits() {
    return {{1, 0, 0, 0, 0, false},     {2, 0, 0, 0, 0, false},   {3, 96, 5, 1, 1, false},
            {5, 128, 0, 100, 1, false}, {8, 96, 1, 40, 2, false}, {3, 0, 0, 0, 0, true}};
}

} // namespace spread

#endif
