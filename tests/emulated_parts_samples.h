/* SPDX-License-Identifier: MIT */
/* tests/emulated_parts_samples.h - samples on a GPU to which partitions come and go, all of it on the CPU: the GPU's
 * engine runs against a fake CUDA (tests/fake_cuda), kernels on an emulated GPU. Included after tests/emulated_gpu.h
 * and a sampler file, around which the kernels are compiled. */
#ifndef CSAW_TESTS_EMULATED_PARTS_SAMPLES_H
#define CSAW_TESTS_EMULATED_PARTS_SAMPLES_H

#include "tests/emulated_parts.h"
#include "tests/sample_equality.h"

namespace emulated_parts {

using reference::Method;
using reference::Sample;
using reference::SampleRequest;

using equality::rmat;

// So many instances of a seed each, all over the vertices that have arcs.
inline SampleRequest one_seed_each(const csaw_csr &csr, size_t instances, std::vector<uint32_t> fanout) {
    SampleRequest request = sample_equality::request_on(csr, fanout, static_cast<uint32_t>(fanout.size()), false);
    request.pools.clear();
    request.samples_per_pool = 1;
    for (uint64_t i = 0; request.pools.size() < instances; i++) {
        const auto v = static_cast<csaw_vertex>(i * 2654435761u % csr.num_vertices);
        if (csr.rowptr[v] < csr.rowptr[v + 1]) request.pools.push_back({v});
    }
    return request;
}

// Batches of this many bytes hold so many of its instances: csaw_run_options.batch_bytes.
inline uint64_t bytes_for(const SampleRequest &request, uint64_t instances) {
    const bool one_each =
        std::all_of(request.pools.begin(), request.pools.end(), [](const auto &pool) { return pool.size() == 1; });
    uint64_t arcs = 1, frontier = one_each ? 1 : request.pools[0].size() + 1;
    for (uint32_t k : request.fanout) arcs += frontier *= k;
    return instances * 24 * arcs;
}

// As a request says, two instances in a batch.
inline csaw_run_options two_at_a_time(const SampleRequest &request) {
    csaw_run_options run = {};
    run.size = sizeof run;
    run.seed = request.seed;
    run.depth = request.depth;
    run.fanout = request.fanout.data();
    run.batch_bytes = bytes_for(request, 2);
    return run;
}

inline std::vector<Sample> in_batches(const Library &library, const csaw_sampler *sampler, const void *params,
                                      Method method, const SampleRequest &request, uint64_t bytes, int *batches) {
    return library.samples_in_batches(sampler, params, method, request, 0, bytes, batches);
}

// Batches of a few instances, so that several are under way; copies and launches end in an order that differs with the
// plan.
inline void ExpectTheCpusSamples(const csaw_csr &csr, const csaw_sampler &of, const std::vector<Method> &methods,
                                 const std::vector<SampleRequest> &requests) {
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (const auto &plan : {on_gpu(2, 1), on_gpu(5, 2), on_gpu(4, 0)}) {
        fake_cuda::Reset();
        fake_cuda::Seed(static_cast<uint64_t>(plan.partitions));
        {
            const Library gpu(csr, plan);
            for (const SampleRequest &request : requests)
                for (Method method : methods) {
                    SCOPED_TRACE(std::string(csaw_sampler_name(&of)) + ", " + reference::name_of(method) + ", " +
                                 sample_equality::name_of(request) + ", " + equality::name_of(plan));
                    int batches = 0;
                    EXPECT_TRUE(sample_equality::same(
                        cpu.samples(&of, nullptr, method, request),
                        in_batches(gpu, sampler.get(), nullptr, method, request, bytes_for(request, 3), &batches)));
                    EXPECT_GT(batches, 2);
                }
            EXPECT_GE(inside(gpu)->use.copies, static_cast<uint64_t>(plan.partitions) / 2) << "nothing was brought";
        }
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }
}

// Vertices without arcs stand at 3 of 4 partitions, which nobody brings, in one batch or several.
inline void ExpectNoSamplesWithoutArcs(const csaw_sampler &of) {
    const reference::Graph graph = equality::one_row(300, 100);
    const csaw_csr csr = graph.csr();
    const Library cpu(csr, reference::plan_on("cpu", 1, 0));
    const Sampler sampler(of);
    for (const csaw_vertex first : {0, 1})
        for (const uint64_t at_a_time : {100, 2}) {
            SampleRequest request = one_seed_each(csr, 1, {3, 2});
            request.pools = {{250}, {first}, {299}, {70}, {first}, {2}};
            fake_cuda::Reset();
            {
                const Library gpu(csr, on_gpu(4, 1));
                int batches = 0;
                EXPECT_TRUE(sample_equality::same(cpu.samples(&of, nullptr, Method::its, request),
                                                  in_batches(gpu, sampler.get(), nullptr, Method::its, request,
                                                             bytes_for(request, at_a_time), &batches)))
                    << csaw_sampler_name(&of);
                EXPECT_EQ(batches, at_a_time == 2 ? 3 : 1);
                EXPECT_EQ(inside(gpu)->use.copies, first == 0);
            }
            EXPECT_TRUE(fake_cuda::AllGivenBack());
        }
}

} // namespace emulated_parts

#endif
