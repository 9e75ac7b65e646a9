/* SPDX-License-Identifier: MIT */
/* tests/emulated_each.h - instances that run each by itself (runtime/engine/device_each.cuh), on an emulated GPU: their
 * arcs are those of the CPU engine, to the end and, where counts are known, with the last depth apart. Included after
 * tests/emulated_gpu.h and a sampler file, around which the device code is compiled. */
#ifndef CSAW_TESTS_EMULATED_EACH_H
#define CSAW_TESTS_EMULATED_EACH_H

#include "runtime/engine/device_last.cuh"

namespace emulated_each {

struct Arcs {
    std::vector<uint64_t> offset{0}, seed_offset{0};
    std::vector<csaw_vertex> src, dst, seed;
    std::vector<csaw_edge> edge;
    std::vector<uint32_t> depth;
    bool operator==(const Arcs &o) const {
        return offset == o.offset && seed_offset == o.seed_offset && src == o.src && dst == o.dst && seed == o.seed &&
               edge == o.edge && depth == o.depth;
    }
};

struct Case {
    std::vector<uint32_t> fanout;
    uint32_t seeds; // of a pool
    bool replace;
};

inline std::vector<Case> Cases() {
    return {{{15, 10}, 1, false}, {{2, 2}, 1, false},   {{3}, 4, false},       {{4, 3, 2}, 2, false},
            {{32, 1}, 1, false},  {{5, 7, 1}, 1, true}, {{2, 0, 3}, 3, false}, {{6, 5}, 1, true}};
}

// Graphs: short rows and longer ones; two hubs that all others lead to; parallel arcs, loops and isolated vertices.
// zeros: a small one alone, where some weights are 0 or -0.
inline std::vector<csaw_graph *> Graphs(bool weighted, bool zeros = false) {
    std::vector<csaw_graph *> graphs(3);
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 8;
    rmat.edge_factor = 12;
    rmat.seed = 3;
    rmat.weighted = weighted;
    EXPECT_EQ(csaw_graph_rmat(&rmat, &graphs[0]), CSAW_OK);
    const std::vector<csaw_vertex> src = {0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 4, 5, 5, 6, 6, 6, 6},
                                   dst = {1, 2, 2, 4, 0, 0, 1, 0, 4, 5, 6, 8, 0, 2, 2, 0, 1, 2, 6};
    std::vector<float> weight;
    for (size_t i = 0; i < src.size(); i++)
        weight.push_back(zeros && i % 3 == 0 ? (i % 2 ? -0.0f : 0.0f) : static_cast<float>(i % 5) + .5f);
    csaw_edges edges = {9, src.size(), src.data(), dst.data(), weighted ? weight.data() : nullptr, nullptr, nullptr};
    csaw_load_options keep = {};
    keep.size = sizeof keep;
    keep.keep_loops = keep.keep_duplicates = true;
    EXPECT_EQ(csaw_graph_from_edges(&edges, &keep, &graphs[1]), CSAW_OK);
    if (zeros) {
        csaw_graph_free(graphs[0]);
        return {graphs[1]};
    }
    std::vector<csaw_vertex> from, to;
    std::vector<float> share;
    for (csaw_vertex v = 2; v < 8002; v++)
        for (bool out : {true, false}) {
            from.push_back(out ? v : v < 5002);
            to.push_back(out ? v < 5002 : v);
            share.push_back(std::ldexp(1.0f + static_cast<float>(v % 7), static_cast<int>(v % 40) - 20));
        }
    edges = {8002, from.size(), from.data(), to.data(), weighted ? share.data() : nullptr, nullptr, nullptr};
    EXPECT_EQ(csaw_graph_from_edges(&edges, &keep, &graphs[2]), CSAW_OK);
    return graphs;
}

class Job {
  public:
    Job(const csaw_graph *graph, const Case &of, uint32_t kernel, uint64_t pools, uint64_t instances) {
        const csaw_csr csr = csaw_graph_csr(graph);
        for (uint64_t i = 0; i < pools * of.seeds; i++) // the last two of a pool are one vertex
            seed_.push_back(static_cast<csaw_vertex>((i - (i > 0 && (i + 1) % of.seeds == 0 && of.seeds > 1)) *
                                                     2654435761u % csr.num_vertices));
        for (uint64_t i = 0; i <= pools; i++) seed_offset_.push_back(i * of.seeds);
        fanout_ = of.fanout;
        job_.rows.offset = csr.rowptr;
        job_.rows.wide = 1;
        job_.rows.col = csr.col;
        job_.rows.weight = csr.weight;
        job_.rows.count = job_.num_vertices = static_cast<csaw_vertex>(csr.num_vertices);
        job_.kernel = kernel;
        while (job_.length < of.fanout.size() && of.fanout[job_.length]) job_.length++;
        job_.seed = 11;
        job_.fanout = fanout_.data();
        job_.replace = of.replace;
        job_.roots = seed_.data();
        job_.num_roots = pools;
        job_.seed_offset = seed_offset_.data();
        job_.num_walks = instances;
        job_.fault = &fault_;
        uint64_t pool = of.seeds, largest = pool, places = 0;
        for (uint32_t d = 0; d < job_.length; d++) {
            largest = std::max(largest, pool); // the last depth's picks enter no pool
            last_room_ = pool;
            pool *= of.fanout[d];
            places += pool;
        }
        uint32_t cells = 4;
        while (cells < 2 * largest) cells *= 2;
        job_.each.pool_room = static_cast<uint32_t>(largest);
        job_.each.table_mask = cells - 1;
        job_.regions.count = instances;
        job_.regions.places = places;
        job_.regions.seed_places = of.seeds;
    }

    // Whether an instance of so many lanes has the memory that it needs.
    bool Fits(uint32_t log_width) const {
        const uint32_t width = 1u << log_width;
        const uint64_t words = 2 * width + job_.each.table_mask + 1 + 2 * job_.each.pool_room;
        return words <= width * CSAW__LANE_WORDS && *std::max_element(fanout_.begin(), fanout_.end()) <= width;
    }

    // Instances by themselves to their ends.
    template <uint32_t KERNEL, class TILE> Arcs Whole(uint32_t log_width) {
        const uint64_t n = job_.regions.count;
        Arcs room = Room(n * job_.regions.places, n * job_.regions.seed_places), out;
        std::vector<uint32_t> arcs(n), seeds(n);
        RunEach<KERNEL, TILE>(log_width, &room, &arcs, &seeds);
        for (uint64_t i = 0; i < n; i++) {
            Take(room, i, arcs[i], seeds[i], &out);
            out.offset.push_back(out.src.size());
        }
        return out;
    }

    // The last depth apart from them.
    template <uint32_t KERNEL, class TILE> Arcs LastApart(uint32_t log_width) {
        const uint64_t n = job_.regions.count;
        Arcs room = Room(n * job_.regions.places, n * job_.regions.seed_places);
        std::vector<uint32_t> arcs(n), seeds(n), all(n);
        const uint64_t of_a_warp = 32u >> log_width, warps = (n + of_a_warp - 1) / of_a_warp;
        std::vector<csaw__last_entry> entry(warps * of_a_warp * last_room_, csaw__last_entry{7, 7, 7, 7});
        std::vector<uint32_t> entries(warps);
        job_.last.entry = entry.data();
        job_.last.entries = entries.data();
        job_.last.warps = warps;
        job_.last.room = static_cast<uint32_t>(of_a_warp * last_room_);
        job_.last.arcs = all.data();
        RunEach<KERNEL, TILE>(log_width, &room, &arcs, &seeds);
        std::vector<uint64_t> offset(1);
        for (uint64_t i = 0; i < n; i++) offset.push_back(offset.back() + all[i]);
        Arcs out = Room(offset.back(), 0), of_seeds;
        job_.last.offset = offset.data();
        job_.last.src = out.src.data();
        job_.last.dst = out.dst.data();
        job_.last.edge = out.edge.data();
        job_.last.depth = out.depth.data();
        emulated::RunBlocks(static_cast<uint32_t>((warps + 1) / 2), 64, [&] { csaw__run_last<KERNEL>(job_); });
        EXPECT_EQ(fault_, ~0ull);
        for (uint64_t i = 0; i < n; i++) Take(room, i, 0, seeds[i], &of_seeds);
        out.offset = offset;
        out.seed = of_seeds.seed;
        out.seed_offset = of_seeds.seed_offset;
        job_.last = {};
        return out;
    }

    Arcs OfTheCpu(const csaw_graph *graph, const csaw_sampler *sampler, csaw_select select) {
        csaw_plan *plan = nullptr;
        csaw_samples *samples = nullptr;
        csaw_run_options run = {};
        csaw_arcs view;
        csaw_seeds seeds = {};
        run.size = sizeof run;
        run.depth = job_.length;
        run.fanout = fanout_.data();
        run.replace = job_.replace;
        run.seed = job_.seed;
        run.select = select;
        run.walks_per_seed = static_cast<uint32_t>(job_.num_walks / job_.num_roots);
        seeds.vertex = seed_.data();
        seeds.count = job_.num_roots;
        seeds.offset = seed_offset_.data();
        EXPECT_EQ(csaw_plan_create(graph, nullptr, &plan), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(csaw_sample(plan, sampler, nullptr, &seeds, &run, &samples), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(csaw_samples_arcs(samples, CSAW_HOST, &view), CSAW_OK);
        Arcs out;
        const uint64_t n = view.num_instances, arcs = view.offset[n];
        out.offset.assign(view.offset, view.offset + n + 1);
        out.seed_offset.assign(view.seed_offset, view.seed_offset + n + 1);
        out.src.assign(view.src, view.src + arcs);
        out.dst.assign(view.dst, view.dst + arcs);
        out.edge.assign(view.edge, view.edge + arcs);
        out.depth.assign(view.depth, view.depth + arcs);
        out.seed.assign(view.seed, view.seed + out.seed_offset.back());
        csaw_samples_free(samples);
        csaw_plan_free(plan);
        return out;
    }

    csaw__rows *rows() { return &job_.rows; }

  private:
    static Arcs Room(uint64_t arcs, uint64_t seeds) {
        Arcs room;
        room.src.assign(arcs, 0xdeadbeef);
        room.dst.assign(arcs, 0xdeadbeef);
        room.edge.assign(arcs, 0xdeadbeef);
        room.depth.assign(arcs, 0xdeadbeef);
        room.seed.assign(seeds, 0xdeadbeef);
        return room;
    }

    // What stands in the region of instance i.
    void Take(const Arcs &room, uint64_t i, uint32_t arcs, uint32_t seeds, Arcs *out) const {
        const uint64_t first = i * job_.regions.places;
        for (uint64_t j = first; j < first + arcs; j++) {
            out->src.push_back(room.src[j]);
            out->dst.push_back(room.dst[j]);
            out->edge.push_back(room.edge[j]);
            out->depth.push_back(room.depth[j]);
        }
        const auto from = room.seed.begin() + static_cast<ptrdiff_t>(i * job_.regions.seed_places);
        out->seed.insert(out->seed.end(), from, from + seeds);
        out->seed_offset.push_back(out->seed.size());
    }

    template <uint32_t KERNEL, class TILE>
    void RunEach(uint32_t log_width, Arcs *room, std::vector<uint32_t> *arcs, std::vector<uint32_t> *seeds) {
        job_.each.log_width = log_width;
        job_.regions.arcs = arcs->data();
        job_.regions.seeds = seeds->data();
        job_.regions.src = room->src.data();
        job_.regions.dst = room->dst.data();
        job_.regions.edge = room->edge.data();
        job_.regions.depth = room->depth.data();
        job_.regions.seed = room->seed.data();
        const uint64_t threads = job_.regions.count << log_width;
        emulated::RunBlocks(static_cast<uint32_t>((threads + CSAW__EACH_THREADS - 1) / CSAW__EACH_THREADS),
                            CSAW__EACH_THREADS, [&] { csaw__run_each<KERNEL, TILE>(job_); });
        EXPECT_EQ(fault_, ~0ull);
    }

    csaw__job job_ = {};
    unsigned long long fault_ = ~0ull;
    std::vector<csaw_vertex> seed_;
    std::vector<uint64_t> seed_offset_;
    std::vector<uint32_t> fanout_;
    uint64_t last_room_ = 0; // vertices of a last frontier
};

// By every width that fits. counted: every arc has a positive bias.
template <uint32_t KERNEL, class TILE>
void ExpectTheCpusBy(Job *job, const Arcs &expected, bool counted, uint32_t log_width, const std::string &name) {
    const std::string at = name + ", 2^" + std::to_string(log_width) + " lanes";
    EXPECT_TRUE((job->Whole<KERNEL, TILE>(log_width) == expected)) << at;
    if constexpr (KERNEL != CSAW__KERNEL_ITS && KERNEL != CSAW__KERNEL_RACE)
        if (counted) EXPECT_TRUE((job->LastApart<KERNEL, TILE>(log_width) == expected)) << at << ", last apart";
}

template <uint32_t KERNEL>
void ExpectTheCpus(Job *job, const Arcs &expected, bool counted, uint32_t least_width, const std::string &name) {
    for (uint32_t log_width = least_width; log_width < 5; log_width++)
        if (job->Fits(log_width)) ExpectTheCpusBy<KERNEL, csaw__tile>(job, expected, counted, log_width, name);
    if (job->Fits(5)) ExpectTheCpusBy<KERNEL, csaw__team>(job, expected, counted, 5, name);
}

} // namespace emulated_each

#endif
