/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts.h - walks on a GPU to which partitions come and go, all of it on the CPU: the host's side runs
 * against a fake CUDA (tests/fake_cuda), kernels on an emulated GPU. Their bits are those of the CPU engine. Included
 * after tests/emulated_gpu.h and a sampler file, around which the kernels are compiled. */
#ifndef CSAW_TESTS_EMULATED_PARTS_H
#define CSAW_TESTS_EMULATED_PARTS_H

#include "runtime/engine/device_parts.h"
#include "tests/emulated_kernels.h"
#include "tests/equality.h"

namespace emulated_parts {

using reference::Library;
using reference::Request;
using reference::Walks;

using emulated_kernels::Sampler;

inline csaw_plan_options on_gpu(int partitions, int resident) {
    csaw_plan_options out = reference::plan_on("cuda:0", 1, partitions);
    out.resident = resident;
    return out;
}

inline csaw__cuda_parts *inside(const Library &library) { return library.get()->parts->cuda; }

// Copies and launches end in an order that differs with the plan.
inline void ExpectTheCpus(const csaw_csr &csr, const csaw_sampler &of, const void *params,
                          const std::vector<reference::Method> &methods, const Request &request) {
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (const auto &plan : {on_gpu(2, 1), on_gpu(5, 2), on_gpu(4, 0)}) {
        fake_cuda::Reset();
        fake_cuda::Seed(static_cast<uint64_t>(plan.partitions));
        {
            const Library gpu(csr, plan);
            for (reference::Method method : methods)
                EXPECT_TRUE(equality::same(cpu.walks(&of, params, method, request),
                                           gpu.walks(sampler.get(), params, method, request)))
                    << csaw_sampler_name(&of) << ", " << reference::name_of(method) << ", " << equality::name_of(plan);
            EXPECT_GE(inside(gpu)->use.copies, static_cast<uint64_t>(plan.partitions) / 2) << "nothing was brought";
        }
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
}

// A graph that does not fit the memory, on a plan that says no more than how much it is: it is read where it lies.
inline void ExpectReadInPlace(const csaw_sampler &of, const void *params,
                              const std::vector<reference::Method> &methods) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 9;
    rmat.weighted = true;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    const equality::OwnedGraph graph(made);
    const csaw_csr csr = csaw_graph_csr(made);
    Request request = equality::one_walk_each(csr, 4); // few and short: a lane is a thread of the CPU
    request.roots.resize(16);
    csaw_plan_options plan = on_gpu(0, 0);
    plan.gpu_memory = 64 << 10;
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    fake_cuda::Reset();
    {
        const Library gpu(csr, plan);
        for (reference::Method method : methods)
            EXPECT_TRUE(equality::same(cpu.walks(&of, params, method, request),
                                       gpu.walks(sampler.get(), params, method, request)))
                << csaw_sampler_name(&of) << ", " << reference::name_of(method);
        EXPECT_TRUE(gpu.get()->parts->fit.in_place);
        EXPECT_EQ(inside(gpu)->use.copies, 0u);
        for (const csaw__parts_way way : {CSAW__PARTS_BRING, CSAW__PARTS_STAY, CSAW__PARTS_BRING, CSAW__PARTS_CHOOSE}) {
            const uint64_t copies = inside(gpu)->use.copies;
            gpu.get()->parts->way = way;
            EXPECT_TRUE(equality::same(cpu.walks(&of, params, methods[0], request),
                                       gpu.walks(sampler.get(), params, methods[0], request)))
                << way;
            EXPECT_EQ(inside(gpu)->use.copies > copies, way == CSAW__PARTS_BRING);
        }
        EXPECT_TRUE(equality::same(cpu.walks(&of, params, reference::Method::its, request),
                                   gpu.walks(sampler.get(), params, reference::Method::its, request)));
        EXPECT_FALSE(gpu.get()->parts->fit.in_place) << "rows are scanned where they are resident";
        EXPECT_LE(fake_cuda::peak, plan.gpu_memory);
    }
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

// Partitions come as long as many walks wait at them; the last steps are made on the graph where it lies.
inline void ExpectTheLastInPlace(const csaw_sampler &of, const void *params, reference::Method method, uint32_t depth) {
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = 9;
    csaw_graph *made = nullptr;
    reference::require(csaw_graph_rmat(&rmat, &made));
    const equality::OwnedGraph graph(made);
    const csaw_csr csr = csaw_graph_csr(made);
    Request request = equality::one_walk_each(csr, depth);
    request.roots.resize(64);
    csaw_plan_options plan = on_gpu(0, 0);
    plan.gpu_memory = 48 << 10;
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    fake_cuda::Reset();
    {
        const Library gpu(csr, plan);
        csaw__parts *const parts = gpu.get()->parts;
        parts->way = CSAW__PARTS_BRING_MOST;
        EXPECT_TRUE(
            equality::same(cpu.walks(&of, params, method, request), gpu.walks(sampler.get(), params, method, request)));
        uint64_t left = 0;
        for (uint32_t p = 0; p < parts->fit.parts; p++) left += parts->schedule.active[p];
        EXPECT_GT(inside(gpu)->use.copies, 0u) << "all was read in place: " << parts->schedule.worth << " are worth it";
        EXPECT_GT(left, 0u) << "nothing was";
    }
    EXPECT_TRUE(fake_cuda::AllGivenBack());
}

// Vertices without arcs stand at 3 of 4 partitions, which nobody brings: neither for walks that end there, or come back
// from there, nor for those that start there.
inline void ExpectNothingWithoutArcs(const csaw_sampler &of, const std::vector<reference::Method> &methods) {
    const reference::Graph graph = equality::one_row(300, 100);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (const std::vector<csaw_vertex> &roots : {std::vector<csaw_vertex>{250, 0, 70, 0}, {250, 70, 299}})
        for (reference::Method method : methods) {
            Request request;
            request.roots = roots;
            request.walks_per_seed = 2;
            request.depth = 9;
            fake_cuda::Reset();
            {
                const Library gpu(csr, on_gpu(4, 1));
                EXPECT_TRUE(equality::same(cpu.walks(&of, nullptr, method, request),
                                           gpu.walks(sampler.get(), nullptr, method, request)))
                    << csaw_sampler_name(&of) << ", " << reference::name_of(method);
                EXPECT_EQ(inside(gpu)->use.copies, roots.size() == 4);
            }
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
}

// Few walks: a lane is a thread of the CPU.
inline Request few(const csaw_csr &csr, uint32_t depth) {
    Request request = equality::one_walk_each(csr, depth);
    if (request.roots.size() > 48) request.roots.resize(48);
    return request;
}

// Walks that scan rows stand as far apart as a launch's warps let them, from one a warp to 32: with the GPU's blocks,
// and with one, of many walks and of few. Others never do.
inline void ExpectTheCpusApart(const csaw_csr &csr, const csaw_sampler &of, const void *params,
                               const std::vector<reference::Method> &methods) {
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (reference::Method method : methods) {
        const bool scans = method == reference::Method::its || method == reference::Method::race;
        emulated_kernels::apart.clear();
        for (uint32_t walks_each : {1, 3, 9}) {
            Request request = few(csr, 3);
            request.walks_per_seed = walks_each;
            const Walks expected = cpu.walks(&of, params, method, request);
            for (const auto &plan : {on_gpu(9, 4), on_gpu(2, 1)}) {
                fake_cuda::Reset();
                const Library gpu(csr, plan);
                for (uint32_t blocks : {0, 1}) {
                    if (blocks) gpu.get()->parts->schedule.blocks = blocks;
                    EXPECT_TRUE(equality::same(expected, gpu.walks(sampler.get(), params, method, request)))
                        << csaw_sampler_name(&of) << ", " << reference::name_of(method) << ", "
                        << equality::name_of(plan) << ", " << blocks;
                }
            }
        }
        for (uint32_t log = 0; log <= 5; log++)
            EXPECT_EQ(emulated_kernels::apart.count(log), scans || log == 0)
                << reference::name_of(method) << ", " << log;
    }
}

} // namespace emulated_parts

#endif
