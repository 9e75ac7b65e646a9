/* SPDX-License-Identifier: MIT */
/* tests/emulated_alone.h - few instances, each run to its end by a block (runtime/engine/device_alone.cu), on the CPU:
 * the GPU's engine runs against a fake CUDA (tests/fake_cuda), kernels on an emulated GPU. Their arcs are those of the
 * CPU engine, and so are those of instances that are too large and advance together. Included after
 * tests/emulated_gpu.h and a sampler file, around which the kernels are compiled. */
#ifndef CSAW_TESTS_EMULATED_ALONE_H
#define CSAW_TESTS_EMULATED_ALONE_H

#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_private.h"
#include "tests/emulated_kernels.h"
#include "tests/failing_allocations.h"
#include "tests/reference/sample.h"

namespace emulated_alone {

struct Arcs {
    std::vector<uint64_t> offset, seed_offset;
    std::vector<csaw_vertex> src, dst, seed;
    std::vector<csaw_edge> edge;
    std::vector<uint32_t> depth;
    bool operator==(const Arcs &o) const {
        return offset == o.offset && seed_offset == o.seed_offset && src == o.src && dst == o.dst && seed == o.seed &&
               edge == o.edge && depth == o.depth;
    }
};

inline Arcs copy_of(const csaw_arcs &view) {
    Arcs out;
    const uint64_t n = view.num_instances, arcs = view.offset[n], seeds = view.seed_offset[n];
    out.offset.assign(view.offset, view.offset + n + 1);
    out.seed_offset.assign(view.seed_offset, view.seed_offset + n + 1);
    out.src.assign(view.src, view.src + arcs);
    out.dst.assign(view.dst, view.dst + arcs);
    out.edge.assign(view.edge, view.edge + arcs);
    out.depth.assign(view.depth, view.depth + arcs);
    out.seed.assign(view.seed, view.seed + seeds);
    return out;
}

inline uint64_t alone = 0, together = 0; // launches that picked

inline int Launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    alone += kernel >= CSAW__KERNEL_ALONE && kernel < CSAW__KERNEL_EACH;
    together += kernel == CSAW__KERNEL_LAYER_UPDATES || (kernel >= CSAW__KERNEL_EXPAND && kernel < CSAW__KERNEL_LISTS);
    return emulated_kernels::Launch(kernel, blocks, threads, stream, job);
}

struct Method {
    uint32_t kernel;
    csaw_select select;
};

// A run of a sampler on a graph, by both engines.
class Both {
  public:
    Both(const csaw_graph *graph, const csaw_sampler &of, std::vector<std::vector<csaw_vertex>> pools,
         std::vector<uint32_t> fanout, uint32_t each)
        : graph_(graph), of_(of), sampler_(of), fanout_(std::move(fanout)), each_(each) {
        sampler_.device = &kernels_;
        seed_offset_.push_back(0);
        for (const auto &pool : pools) {
            seed_.insert(seed_.end(), pool.begin(), pool.end());
            seed_offset_.push_back(seed_.size());
        }
        fake_cuda::Reset();
        EXPECT_EQ(CSAW_OK, csaw__device_open_for_parts(0, 256 << 20, &device_));
        const csaw_csr csr = csaw_graph_csr(graph);
        device_->rows.offset = csr.rowptr;
        device_->rows.wide = 1;
        device_->rows.col = csr.col;
        device_->rows.weight = csr.weight;
        device_->rows.count = static_cast<csaw_vertex>(csr.num_vertices);
    }
    ~Both() {
        csaw__device_close(device_);
        EXPECT_TRUE(fake_cuda::AllGivenBack());
    }

    template <class PARAMS> void Give(const PARAMS &params) {
        const auto *bytes = reinterpret_cast<const unsigned char *>(&params);
        params_.assign(bytes, bytes + sizeof params);
    }

    csaw_status OnTheGpu(const Method &method, Arcs *out, csaw__fault *fault) {
        csaw_plan plan = {};
        csaw_samples samples = {};
        plan.graph = graph_;
        plan.device = samples.device = device_;
        samples.is_sample = true;
        csaw__job job = {};
        job.num_vertices = device_->rows.count;
        job.kernel = method.kernel;
        job.length = static_cast<uint32_t>(fanout_.size());
        job.hi = job.back = 1; // bounds of a factor that is 0 or 1
        job.seed = 11;
        job.fanout = fanout_.data();
        job.roots = seed_.data();
        job.num_roots = seed_offset_.size() - 1;
        job.seed_offset = seed_offset_.data();
        job.num_walks = job.num_roots * each_;
        job.replace = (of_.traits() >> CSAW__TRAIT_FLAGS & CSAW_WITH_REPLACEMENT) != 0;
        if (params_.empty())
            csaw_sampler_defaults(&of_, job.params);
        else
            std::memcpy(job.params, params_.data(), params_.size());
        const csaw_status status = csaw__device_sample(&plan, &sampler_, &job, &samples, fault);
        cudaStreamSynchronize(device_->stream);
        if (status == CSAW_OK && fault->kind == CSAW__FAULT_NONE) *out = copy_of(samples.device_arcs);
        csaw__device_release(&samples);
        return status;
    }

    csaw_status OnTheCpu(const Method &method, Arcs *out) const {
        csaw_plan *plan = nullptr;
        csaw_samples *samples = nullptr;
        csaw_run_options run = {};
        csaw_seeds seeds = {};
        csaw_arcs view;
        run.size = sizeof run;
        run.depth = static_cast<uint32_t>(fanout_.size());
        run.fanout = fanout_.data();
        run.seed = 11;
        run.select = method.select;
        run.walks_per_seed = each_;
        seeds.vertex = seed_.data();
        seeds.count = seed_offset_.size() - 1;
        seeds.offset = seed_offset_.data();
        EXPECT_EQ(CSAW_OK, csaw_plan_create(graph_, nullptr, &plan)) << csaw_last_error();
        const csaw_status status =
            csaw_sample(plan, &of_, params_.empty() ? nullptr : params_.data(), &seeds, &run, &samples);
        if (status == CSAW_OK && csaw_samples_arcs(samples, CSAW_HOST, &view) == CSAW_OK) *out = copy_of(view);
        csaw_samples_free(samples);
        csaw_plan_free(plan);
        return status;
    }

    // The number of arcs of the largest instance. lots: 0 if all are known before to have no room.
    uint64_t ExpectTheCpus(const Method &method, uint64_t lots = 1) {
        Arcs a, b;
        csaw__fault fault = {};
        EXPECT_EQ(CSAW_OK, OnTheCpu(method, &a)) << csaw_last_error();
        alone = together = 0;
        EXPECT_EQ(CSAW_OK, OnTheGpu(method, &b, &fault)) << csaw_last_error();
        EXPECT_TRUE(a == b) << method.kernel;
        EXPECT_EQ(lots, alone);
        uint64_t most = 0;
        for (size_t i = 0; i + 1 < a.offset.size(); i++) most = std::max(most, a.offset[i + 1] - a.offset[i]);
        return most;
    }

    // The lowest instance and depth that the GPU notes are those that the CPU tells.
    void ExpectTheCpusFault(const Method &method, csaw_status status = CSAW_EBIAS) {
        Arcs none;
        csaw__fault fault = {};
        EXPECT_EQ(status, OnTheCpu(method, &none));
        const std::string message = csaw_last_error();
        EXPECT_EQ(CSAW_OK, OnTheGpu(method, &none, &fault)) << csaw_last_error();
        EXPECT_EQ(static_cast<uint32_t>(CSAW__FAULT_EDGE), fault.kind);
        const std::string place =
            "instance " + std::to_string(fault.instance) + ", depth " + std::to_string(fault.depth) + ",";
        EXPECT_NE(std::string::npos, message.find(place)) << message << "; on the GPU: " << place;
    }

    // A refused allocation or a launch that fails, the n-th for all n, is told or made up for, and the next run is
    // right.
    void ExpectFaultsAreTold(const Method &method) {
        Arcs expected, found;
        csaw__fault fault = {};
        EXPECT_EQ(CSAW_OK, OnTheCpu(method, &expected)) << csaw_last_error();
        alone = together = 0;
        fail_every_allocation([&] {
            const csaw_status status = OnTheGpu(method, &found, &fault);
            if (status == CSAW_OK) {
                EXPECT_TRUE(expected == found);
            }
            return status;
        });
        EXPECT_TRUE(expected == found);
        EXPECT_GT(alone, 0u);
        EXPECT_GT(together, 0u);
        csaw_status status = CSAW_ECUDA;
        uint64_t failed = 0;
        for (uint64_t n = 1; n < 1000 && status != CSAW_OK; n++) {
            fake_cuda::fail_launch = fake_cuda::launches + n;
            status = OnTheGpu(method, &found, &fault);
            fake_cuda::fail_launch = 0;
            failed += status != CSAW_OK;
        }
        EXPECT_GT(failed, 20u); // of both ways
        EXPECT_EQ(CSAW_OK, status);
        EXPECT_TRUE(expected == found);
    }

  private:
    const csaw_graph *graph_;
    const csaw_sampler &of_;
    csaw__device_sampler kernels_ = {Launch};
    csaw_sampler sampler_;
    std::vector<csaw_vertex> seed_;
    std::vector<uint64_t> seed_offset_;
    std::vector<uint32_t> fanout_;
    uint32_t each_;
    std::vector<unsigned char> params_; // empty: the sampler's own
    csaw__device *device_ = nullptr;
};

inline csaw_graph *Rmat(bool weighted, uint32_t scale = 8) {
    csaw_graph *graph = nullptr;
    csaw_rmat_options rmat = {};
    rmat.size = sizeof rmat;
    rmat.scale = scale;
    rmat.edge_factor = 8;
    rmat.seed = 3;
    rmat.weighted = weighted;
    EXPECT_EQ(CSAW_OK, csaw_graph_rmat(&rmat, &graph));
    return graph;
}

// Pools of one, two and three seeds, some of them twice.
inline std::vector<std::vector<csaw_vertex>> Pools(const csaw_graph *graph, uint32_t count) {
    std::vector<std::vector<csaw_vertex>> pools;
    const uint64_t n = csaw_graph_csr(graph).num_vertices;
    for (uint64_t j = 0; j < count; j++) {
        const auto a = static_cast<csaw_vertex>(j * 2654435761u % n), b = static_cast<csaw_vertex>((j * 77 + 5) % n);
        pools.push_back(j % 3 == 0   ? std::vector<csaw_vertex>{a}
                        : j % 3 == 1 ? std::vector<csaw_vertex>{a, b}
                                     : std::vector<csaw_vertex>{b, a, b});
    }
    return pools;
}

} // namespace emulated_alone

#endif
