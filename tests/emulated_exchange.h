/* SPDX-License-Identifier: MIT */
/* tests/emulated_exchange.h - walkers that several GPUs exchange, all of it on the CPU: the host's side runs against a
 * fake CUDA (tests/fake_cuda), kernels on emulated GPUs. Each GPU has a graph of its own, in whose arrays nothing but
 * the rows of its range is true, unless whole rows of others are asked about. Bits are those of the CPU engine.
 * Included after tests/emulated_gpu.h and a sampler file, around which the kernels are compiled. */
#ifndef CSAW_TESTS_EMULATED_EXCHANGE_H
#define CSAW_TESTS_EMULATED_EXCHANGE_H

#include "partition/ranges.h"
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/run.h"
#include "tests/emulated_kernels.h"
#include "tests/equality.h"

namespace emulated_exchange {

using emulated_kernels::Sampler;
using reference::Library;
using reference::Method;
using reference::Request;
using reference::require;
using reference::Walks;

// Of what a GPU has: its own rows of arrays with an entry an arc, and what the host has of the others'.
enum class Others { poisoned, there };

class Part {
  public:
    Part(const csaw_csr &csr, const csaw__rows &host, csaw_vertex first, csaw_vertex end, bool wide, Others others)
        : wide_(csr.rowptr, csr.rowptr + csr.num_vertices + 1), narrow_(wide_.begin(), wide_.end()) {
        const uint64_t from = csr.rowptr[first], to = csr.rowptr[end];
        const auto keep = [&](auto *array, auto poison, auto *copy) {
            if (!array) return;
            copy->assign(array, array + csr.num_edges);
            for (uint64_t arc = 0; arc < csr.num_edges && others == Others::poisoned; arc++)
                if (arc < from || arc >= to) (*copy)[arc] = poison;
        };
        keep(csr.col, csaw_vertex{0x7fffffff}, &col_);
        keep(csr.weight, -1e30f, &weight_);
        keep(csr.type, 0xdeadu, &type_);
        keep(csr.time, int64_t{-77}, &time_);
        keep(host.alias, csaw__alias{0, 0x7fffffff, 0x7fffffff, 0}, &alias_);
        rows.offset = wide ? static_cast<const void *>(wide_.data()) : narrow_.data();
        rows.wide = wide;
        rows.col = col_.data();
        rows.weight = csr.weight ? weight_.data() : nullptr;
        rows.type = csr.type ? type_.data() : nullptr;
        rows.time = csr.time ? time_.data() : nullptr;
        rows.alias = host.alias ? alias_.data() : nullptr;
        rows.bias = host.bias;
        rows.count = static_cast<csaw_vertex>(csr.num_vertices);
    }
    Part(const Part &) = delete;
    csaw__rows rows = {};

  private:
    std::vector<uint64_t> wide_;
    std::vector<uint32_t> narrow_;
    std::vector<csaw_vertex> col_;
    std::vector<float> weight_;
    std::vector<uint32_t> type_;
    std::vector<int64_t> time_;
    std::vector<csaw__alias> alias_;
};

struct Asked {
    const csaw_sampler *sampler;
    const void *params;
    Method method;
    Request request;
};

struct Outcome {
    csaw_status status = CSAW_OK;
    std::string message{};
    csaw__fault fault = {};
    Walks walks{};
    csaw__exchange_counts counts = {};
};

inline csaw_run_options options_of(Method method, const Request &request) {
    csaw_run_options options = {};
    options.size = sizeof options;
    options.seed = request.seed;
    options.walks_per_seed = request.walks_per_seed;
    options.depth = request.depth;
    options.select = reference::select_of(method);
    options.edges = true;
    return options;
}

// As the host's plan prepares a run.
inline csaw__run prepared(const Library &cpu, const Asked &run, const csaw_seeds &seeds) {
    const csaw_run_options options = options_of(run.method, run.request);
    csaw__run out;
    require(csaw__run_create(cpu.get(), run.sampler, run.params, &seeds, &options, &out));
    return out;
}

// On the GPUs with these numbers, so many batches one after the other.
inline Outcome walk(const csaw_csr &csr, const std::vector<int> &ordinals, const Asked &run, Others others,
                    uint32_t times = 1) {
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const csaw_seeds seeds = {run.request.roots.data(), run.request.roots.size(), nullptr};
    csaw__run made = prepared(cpu, run, seeds);
    csaw__job job = made.job;
    const uint32_t gpus = static_cast<uint32_t>(ordinals.size());
    const uint64_t walks = made.total, places = job.length + uint64_t{1};
    job.num_walks = walks;
    csaw__ranges ranges = {};
    require(csaw__ranges_create(&csr, gpus, 0, 1, &ranges));
    std::vector<std::unique_ptr<Part>> parts;
    std::vector<std::vector<csaw_vertex>> path(gpus);
    std::vector<std::vector<csaw_edge>> edge(gpus);
    std::vector<csaw__exchange_gpu> at(gpus);
    const uint64_t bytes = csaw__gpu_exchange_bytes(run.sampler->traits(), walks);
    std::vector<std::vector<csaw__part_window>> memory(gpus); // which begins at multiples of 16
    const csaw__part_window beyond = {{0xcdcdcdcd, 0xcdcdcdcd, 0xcdcdcdcd, 0xcdcdcdcd}};
    for (uint32_t i = 0; i < gpus; i++) {
        parts.push_back(
            std::make_unique<Part>(csr, job.rows, ranges.first[i], ranges.first[i + 1], gpus % 2 != 0, others));
        const uint64_t first = walks * i / gpus, end = walks * (i + 1) / gpus;
        path[i].assign((end - first) * places + 8, 0xabababab);
        edge[i].assign((end - first) * job.length + 1, 0xabab);
        memory[i].assign(bytes / sizeof beyond + 64, beyond);
        at[i] = {parts[i]->rows, job.roots, end, path[i].data() + i % 4, edge[i].data(), memory[i].data(), nullptr};
    }
    csaw__ranges_clear(&ranges);
    Outcome out;
    csaw__gpu_exchange *exchange = nullptr;
    out.status = csaw__gpu_exchange_open(&csr, ordinals.data(), gpus, &exchange);
    for (uint32_t time = 0; time < times && exchange; time++) {
        out.status = csaw__gpu_exchange_walk(exchange, run.sampler, &job, at.data(), &out.fault);
        if (out.status != CSAW_OK) out.message = csaw_last_error();
        out.walks = {};
        out.walks.count = walks;
        out.walks.length = job.length;
        for (uint32_t i = 0; i < gpus; i++) {
            const uint64_t here = at[i].end - (i ? at[i - 1].end : 0);
            EXPECT_TRUE(std::all_of(path[i].data(), at[i].path, [](csaw_vertex v) { return v == 0xabababab; }));
            EXPECT_EQ(0xababababu, at[i].path[here * places]) << "beyond the last path";
            for (size_t k = (bytes + sizeof beyond - 1) / sizeof beyond; k < memory[i].size(); k++)
                EXPECT_EQ(0, std::memcmp(&beyond, &memory[i][k], sizeof beyond)) << "beyond the memory of walkers";
            out.walks.path.insert(out.walks.path.end(), at[i].path, at[i].path + here * places);
            out.walks.edge.insert(out.walks.edge.end(), at[i].edge, at[i].edge + here * job.length);
        }
    }
    if (exchange)
        out.counts = csaw__gpu_exchange_counted(exchange);
    else
        out.message = csaw_last_error();
    csaw__gpu_exchange_close(exchange);
    csaw__run_end(&made);
    return out;
}

// Two, three and five GPUs; one of them listed twice and thrice.
inline std::vector<std::vector<int>> lists() { return {{0, 1}, {0, 0}, {2, 0, 1}, {1, 1, 1}, {0, 1, 2, 1, 0}, {3}}; }

// Few walks: a lane is a thread of the CPU.
inline Request few(const csaw_csr &csr, uint32_t depth) {
    Request request = equality::one_walk_each(csr, depth);
    if (request.roots.size() > 40) request.roots.resize(40);
    return request;
}

inline void ExpectTheCpus(const csaw_csr &csr, const csaw_sampler &of, const void *params,
                          const std::vector<Method> &methods, const Request &request, Others others) {
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (const std::vector<int> &list : lists())
        for (Method method : methods) {
            fake_cuda::Reset();
            fake_cuda::devices = 4;
            fake_cuda::Seed(list.size() + static_cast<uint64_t>(method));
            const Walks expected = cpu.walks(&of, params, method, request);
            const Outcome got = walk(csr, list, {sampler.get(), params, method, request}, others);
            ASSERT_EQ(CSAW_OK, got.status) << got.message;
            EXPECT_TRUE(equality::same(expected, got.walks))
                << csaw_sampler_name(&of) << ", " << reference::name_of(method) << ", " << list.size() << " GPUs";
            EXPECT_EQ(list.size() > 1 && csr.num_edges > list.size(), got.counts.walkers > 0);
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
}

// Walks from two vertices that have arcs, on two GPUs, all of which lead to vertices that have none, of either GPU: no
// walker moves, nor does a question, for the step after that, or, where a hook leads it back, for any.
inline void ExpectNoneMovesWithoutArcs(const csaw_sampler &of, const std::vector<Method> &methods) {
    const reference::Graph graph = equality::two_rows(100);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (Method method : methods) {
        Request request;
        request.roots = {0, 50, 0, 50};
        request.walks_per_seed = 5;
        request.depth = 9;
        fake_cuda::Reset();
        fake_cuda::devices = 2;
        const Outcome got = walk(csr, {0, 1}, {sampler.get(), nullptr, method, request}, Others::there);
        ASSERT_EQ(CSAW_OK, got.status) << got.message;
        EXPECT_TRUE(equality::same(cpu.walks(&of, nullptr, method, request), got.walks)) << reference::name_of(method);
        EXPECT_EQ(0u, got.counts.walkers) << reference::name_of(method);
        EXPECT_EQ(0u, got.counts.questions) << reference::name_of(method);
    }
}

} // namespace emulated_exchange

#endif
