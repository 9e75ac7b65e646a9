/* SPDX-License-Identifier: MIT */
/* tests/reference/public_api.h - the same requests, answered by the library through its public functions. A failure
 * throws with the library's own message, so that the test at hand fails and shows it. */
#ifndef CSAW_REFERENCE_PUBLIC_API_H
#define CSAW_REFERENCE_PUBLIC_API_H

#include "tests/reference/laws.h"
#include "tests/reference/sample.h"
#include "tests/reference/walk.h"

#include <csaw/samplers.h>

#include <memory>
#include <stdexcept>

namespace reference {

inline void require(csaw_status status) {
    if (status != CSAW_OK) throw std::runtime_error(std::string(csaw_status_text(status)) + ": " + csaw_last_error());
}

inline csaw_select select_of(Method method) {
    switch (method) {
    case Method::uniform: return CSAW_SELECT_UNIFORM;
    case Method::its: return CSAW_SELECT_ITS;
    case Method::alias: return CSAW_SELECT_ALIAS;
    case Method::reject: return CSAW_SELECT_REJECT;
    case Method::race: return CSAW_SELECT_RACE;
    default: return CSAW_SELECT_AUTO;
    }
}

inline const char *name_of(Method method) { return csaw_select_name(select_of(method)); }

inline std::vector<Method> methods_of(const Law &law) {
    if (law.node2vec) return {Method::automatic, Method::its, Method::reject, Method::race};
    return {Method::automatic, Method::uniform, Method::its, Method::alias, Method::race};
}

inline csaw_plan_options plan_on(const char *device, int threads, int partitions) {
    csaw_plan_options out = {};
    out.size = sizeof(out);
    out.device = device;
    out.threads = threads;
    out.partitions = partitions;
    return out;
}

struct Free {
    void operator()(csaw_graph *graph) const { csaw_graph_free(graph); }
    void operator()(csaw_plan *plan) const { csaw_plan_free(plan); }
    void operator()(csaw_samples *samples) const { csaw_samples_free(samples); }
};

inline std::unique_ptr<csaw_graph, Free> borrow(const csaw_csr &csr) {
    csaw_graph *graph = nullptr;
    require(csaw_graph_borrow_csr(&csr, &graph));
    return std::unique_ptr<csaw_graph, Free>(graph);
}

// Pools as the library takes them.
class Seeds {
  public:
    explicit Seeds(const std::vector<std::vector<csaw_vertex>> &pools) {
        for (const auto &pool : pools) {
            vertex.insert(vertex.end(), pool.begin(), pool.end());
            offset.push_back(vertex.size());
        }
    }
    csaw_seeds view() const { return {vertex.data(), offset.size() - 1, offset.data()}; }

  private:
    std::vector<csaw_vertex> vertex;
    std::vector<uint64_t> offset = {0};
};

// A plan and the graph that it borrows, which borrows the arrays of csr.
class Library {
  public:
    Library(const csaw_csr &csr, const csaw_plan_options &options) : graph(borrow(csr)) {
        csaw_plan *created = nullptr;
        require(csaw_plan_create(graph.get(), &options, &created));
        plan.reset(created);
    }

    csaw_plan *get() const { return plan.get(); }

    Walks walks(const Law &law, Method method, const Request &request) const {
        const csaw_node2vec_params node2vec = {law.p, law.q};
        return walks(sampler_of(law), law.node2vec ? &node2vec : nullptr, method, request);
    }

    Walks walks(const csaw_sampler *sampler, const void *params, Method method, const Request &request) const {
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        const csaw_run_options run = run_of(method, request);
        csaw_samples *drawn = nullptr;
        require(csaw_sample(plan.get(), sampler, params, &seeds, &run, &drawn));
        const std::unique_ptr<csaw_samples, Free> samples(drawn);
        Walks out;
        out.length = request.depth;
        require(append(samples.get(), &out));
        return out;
    }

    // By csaw_sample_each, in batches of at most batch_bytes; batches counts them.
    Walks walks_in_batches(const Law &law, Method method, const Request &request, uint64_t batch_bytes,
                           int *batches) const {
        const csaw_node2vec_params node2vec = {law.p, law.q};
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        csaw_run_options run = run_of(method, request);
        run.batch_bytes = batch_bytes;
        struct Sink {
            Walks walks;
            int batches;
        } sink = {Walks(), 0};
        sink.walks.length = request.depth;
        const auto take = [](void *user, csaw_samples *samples) {
            static_cast<Sink *>(user)->batches++;
            return append(samples, &static_cast<Sink *>(user)->walks);
        };
        require(csaw_sample_each(plan.get(), sampler_of(law), law.node2vec ? &node2vec : nullptr, &seeds, &run, take,
                                 &sink));
        *batches = sink.batches;
        return sink.walks;
    }

    std::vector<Sample> samples(const csaw_sampler *sampler, const void *params, Method method,
                                const SampleRequest &request) const {
        const Seeds seeds(request.pools);
        const csaw_seeds view = seeds.view();
        const csaw_run_options run = run_of(method, request);
        csaw_samples *drawn = nullptr;
        require(csaw_sample(plan.get(), sampler, params, &view, &run, &drawn));
        const std::unique_ptr<csaw_samples, Free> samples(drawn);
        std::vector<Sample> out;
        require(append(samples.get(), 0, &out));
        return out;
    }

    // The arcs that walks follow.
    std::vector<Sample> arcs_of_walks(const csaw_sampler *sampler, const void *params, const Request &request) const {
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        const csaw_run_options run = run_of(Method::automatic, request);
        csaw_samples *drawn = nullptr;
        require(csaw_sample(plan.get(), sampler, params, &seeds, &run, &drawn));
        const std::unique_ptr<csaw_samples, Free> samples(drawn);
        std::vector<Sample> out;
        require(append(samples.get(), 0, &out));
        return out;
    }

    // By csaw_sample_each, from instance `first` on, in batches of at most batch_bytes; batches counts them.
    std::vector<Sample> samples_in_batches(const csaw_sampler *sampler, const void *params, Method method,
                                           const SampleRequest &request, uint64_t first, uint64_t batch_bytes,
                                           int *batches) const {
        const Seeds seeds(request.pools);
        const csaw_seeds view = seeds.view();
        csaw_run_options run = run_of(method, request);
        run.first = first;
        run.batch_bytes = batch_bytes;
        struct Sink {
            std::vector<Sample> samples;
            uint64_t first;
            int batches;
        } sink = {{}, first, 0};
        const auto take = [](void *user, csaw_samples *samples) {
            Sink *sink = static_cast<Sink *>(user);
            sink->batches++;
            return append(samples, sink->first, &sink->samples);
        };
        require(csaw_sample_each(plan.get(), sampler, params, &view, &run, take, &sink));
        *batches = sink.batches;
        return sink.samples;
    }

  private:
    static const csaw_sampler *sampler_of(const Law &law) { return law.node2vec ? &csaw_node2vec : &csaw_uniform; }

    static csaw_run_options run_of(Method method, const Request &request) {
        csaw_run_options run = {};
        run.size = sizeof(run);
        run.seed = request.seed;
        run.walks_per_seed = request.walks_per_seed;
        run.depth = request.depth;
        run.select = select_of(method);
        run.edges = true;
        return run;
    }

    static csaw_run_options run_of(Method method, const SampleRequest &request) { // which lends its fanout
        csaw_run_options run = {};
        run.size = sizeof(run);
        run.seed = request.seed;
        run.walks_per_seed = request.samples_per_pool;
        run.depth = request.depth;
        run.fanout = request.fanout.empty() ? nullptr : request.fanout.data();
        run.replace = request.replace;
        run.select = select_of(method);
        run.edges = request.fanout.empty(); // it may be a walk
        return run;
    }

    // The samples that come after those that out has, which begin with instance first; a gap between them is an error.
    static csaw_status append(csaw_samples *samples, uint64_t first, std::vector<Sample> *out) {
        csaw_arcs arcs;
        const csaw_status status = csaw_samples_arcs(samples, CSAW_HOST, &arcs);
        if (status != CSAW_OK) return status;
        if (arcs.space != CSAW_HOST || arcs.first != first + out->size()) return CSAW_EINVAL;
        for (uint64_t i = 0; i < arcs.num_instances; i++) {
            Sample sample;
            sample.frontier.assign(arcs.seed + arcs.seed_offset[i], arcs.seed + arcs.seed_offset[i + 1]);
            for (uint64_t k = arcs.offset[i]; k < arcs.offset[i + 1]; k++)
                sample.arcs.push_back({arcs.src[k], arcs.dst[k], arcs.edge[k], arcs.depth[k]});
            out->push_back(sample);
        }
        return CSAW_OK;
    }

    // The walks of samples after those that out has; a gap between them is an error, and so are steps apart.
    static csaw_status append(csaw_samples *samples, Walks *out) {
        csaw_walks walks;
        const csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &walks);
        if (status != CSAW_OK) return status;
        if (walks.first != out->count || walks.length != out->length || !walks.edge) return CSAW_EINVAL;
        if (walks.path_step_stride != 1 || walks.edge_step_stride != 1) return CSAW_EINVAL;
        for (uint64_t w = 0; w < walks.num_walks; w++) {
            const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
            const csaw_edge *edge = walks.edge + w * walks.edge_walk_stride;
            out->path.insert(out->path.end(), path, path + walks.length + 1);
            out->edge.insert(out->edge.end(), edge, edge + walks.length);
        }
        out->count += walks.num_walks;
        return CSAW_OK;
    }

    std::unique_ptr<csaw_graph, Free> graph;
    std::unique_ptr<csaw_plan, Free> plan;
};

// Why a plan on the first GPU cannot be had, or "" if it can.
inline std::string no_gpu_because(const csaw_csr &csr) {
    const auto graph = borrow(csr);
    const csaw_plan_options options = plan_on("cuda:0", 0, 0);
    csaw_plan *plan = nullptr;
    const csaw_status status = csaw_plan_create(graph.get(), &options, &plan);
    if (status == CSAW_EUNSUPPORTED || status == CSAW_ECUDA) return csaw_last_error();
    require(status);
    csaw_plan_free(plan);
    return "";
}

} // namespace reference

#endif
