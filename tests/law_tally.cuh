/* SPDX-License-Identifier: MIT */
/* tests/law_tally.cuh - walks against their exact law, counted on the GPU where they were drawn: a hundred times as
 * many steps as the tests on the CPU take would be slow to carry to the host.
 *
 * Method: tests/walks_law.h gives the probability of everything that a step can do: follow an arc, go to a vertex along
 * no arc, end. One thread a walk adds 1 to the cell of each of its steps, for the vertex where it stood and what else
 * the law looks at (Look). Sums of integers do not depend on the order of the threads. The host takes the chi-squares.
 */
#ifndef CSAW_LAW_TALLY_CUH
#define CSAW_LAW_TALLY_CUH

#include "tests/walks_law.h"

#include <cuda_runtime.h>

namespace law_tally {

using law::ChiSquare;
using law::Graph;
using law::Method;
using law::Request;
using walks_law::Fit;

inline void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Device memory.
template <typename T> class Buffer {
  public:
    explicit Buffer(uint64_t count) : count(count) {
        check(cudaMalloc(&at, (count ? count : 1) * sizeof(T)));
        check(cudaMemset(at, 0, (count ? count : 1) * sizeof(T)));
    }
    Buffer(const T *from, uint64_t count) : Buffer(count) {
        check(cudaMemcpy(at, from, count * sizeof(T), cudaMemcpyHostToDevice));
        check(cudaDeviceSynchronize()); // cudaMemcpy() waits until it is read, not until it is there
    }
    Buffer(const Buffer &) = delete;
    ~Buffer() { cudaFree(at); }
    T *get() const { return at; }
    std::vector<T> host() const {
        std::vector<T> out(count);
        check(cudaMemcpy(out.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }

  private:
    T *at = nullptr;
    uint64_t count;
};

using Counter = unsigned long long;

// ---- walks on the device ------------------------------------------------------------

// A plan on the first GPU.
class Device {
  public:
    explicit Device(const csaw_csr &csr) : graph(reference::borrow(csr)) {
        const csaw_plan_options options = reference::plan_on("cuda:0", 0, 0);
        csaw_plan *created = nullptr;
        reference::require(csaw_plan_create(graph.get(), &options, &created));
        plan.reset(created);
    }
    // Calls look(walks): a view of device memory.
    template <typename Then>
    void draw(const csaw_sampler *sampler, const void *params, Method method, const Request &request, bool edges,
              const Then &then) const {
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        csaw_run_options run = {};
        run.size = sizeof run;
        run.seed = request.seed;
        run.walks_per_seed = request.walks_per_seed;
        run.depth = request.depth;
        run.select = reference::select_of(method);
        run.edges = edges;
        csaw_samples *drawn = nullptr;
        reference::require(csaw_sample(plan.get(), sampler, params, &seeds, &run, &drawn));
        const std::unique_ptr<csaw_samples, reference::Free> samples(drawn);
        csaw_walks walks;
        reference::require(csaw_samples_walks(drawn, CSAW_DEVICE, &walks));
        if (walks.num_walks != request.roots.size() * request.walks_per_seed || walks.length != request.depth)
            throw std::runtime_error("other walks than those that were asked for");
        then(walks);
    }

  private:
    std::unique_ptr<csaw_graph, reference::Free> graph;
    std::unique_ptr<csaw_plan, reference::Free> plan;
};

// Calls each(walk) for every walk, one thread each.
template <typename Each> __global__ void over(uint64_t walks, const Each each) {
    const uint64_t threads = gridDim.x * static_cast<uint64_t>(blockDim.x);
    for (uint64_t w = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; w < walks; w += threads) each(w);
}

template <typename Each> void for_each_walk(const csaw_walks &walks, const Each &each) {
    over<<<static_cast<unsigned>(std::min<uint64_t>((walks.num_walks + 255) / 256, 4096)), 256>>>(walks.num_walks,
                                                                                                  each);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

__device__ inline void add_one(Counter *counter) { atomicAdd(counter, Counter{1}); }

// ---- steps of small graphs ---------------------------------------------------------

// What a law looks at beside the vertex and whether the step is the first: the root; the place in a sequence that
// repeats; the vertex before; the arc before (for its time).
enum class Look { nothing, root, place, prev, arc };

struct Tally {
    csaw_walks walks;         // device
    const csaw_edge *rowptr;  // the same: [num_vertices + 1]
    const csaw_vertex *col;   // [num_edges]
    const csaw_vertex *roots; // [num_roots]
    uint64_t num_roots;
    csaw_vertex num_vertices;
    Look look;
    uint32_t period;   // of the sequence
    uint64_t contexts; // of look
    uint64_t cells;    // of a step: an arc of the longest row, a vertex, an end, and what is impossible
    Counter *count;    // [2][contexts][num_vertices][cells]
    Counter *strange;  // walks that do not begin at their seed or go on after their end

    __device__ uint64_t context(csaw_vertex root, csaw_vertex prev, csaw_edge arc, uint32_t depth) const {
        switch (look) {
        case Look::root: return root;
        case Look::place: return depth % period;
        case Look::prev: return prev == CSAW_NONE ? 0 : prev + uint64_t{1};
        case Look::arc: return arc == CSAW_NO_EDGE ? 0 : arc + 1;
        default: return 0;
        }
    }
    // As walks_law::cell_of().
    __device__ uint64_t cell(csaw_vertex at, csaw_vertex next, csaw_edge edge) const {
        const uint64_t first = rowptr[at], degree = rowptr[at + uint64_t{1}] - first;
        if (edge == CSAW_NO_EDGE) return degree + (next == CSAW_NONE ? num_vertices : next);
        const bool follows = edge >= first && edge < first + degree && col[edge] == next;
        return follows ? edge - first : degree + num_vertices + 1;
    }
    __device__ void operator()(uint64_t w) const {
        const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
        const csaw_edge *edge = walks.edge + w * walks.edge_walk_stride;
        const csaw_vertex root = *path;
        csaw_vertex at = root, prev = CSAW_NONE;
        csaw_edge last = CSAW_NO_EDGE;
        if (root != roots[w % num_roots]) {
            add_one(strange);
            return;
        }
        for (uint32_t s = 0; s < walks.length; s++) {
            const csaw_vertex next = path[(s + 1) * walks.path_step_stride];
            const csaw_edge e = edge[s * walks.edge_step_stride];
            if (at == CSAW_NONE ? next != CSAW_NONE || e != CSAW_NO_EDGE : next != CSAW_NONE && next >= num_vertices) {
                add_one(strange);
                return;
            }
            if (at == CSAW_NONE) continue;
            const uint64_t row = ((s > 0) * contexts + context(root, prev, last, s)) * num_vertices + at;
            add_one(count + row * cells + cell(at, next, e));
            prev = at;
            at = next;
            last = e;
        }
    }
};

// The state in which the law has the probabilities of that row of counters.
inline walks_law::State state_of(const csaw_csr &csr, const Tally &tally, bool later, uint64_t context,
                                 csaw_vertex at) {
    walks_law::State out = {at, at, later ? 1u : 0u, 0};
    if (tally.look == Look::root) out.root = static_cast<csaw_vertex>(context);
    if (tally.look == Look::place) out.depth = (later ? tally.period : 0) + static_cast<uint32_t>(context);
    if (tally.look == Look::prev && context > 0) out.prev = static_cast<csaw_vertex>(context - 1);
    if (tally.look == Look::arc && context > 0 && csr.time) out.last = csr.time[context - 1];
    return out;
}

inline Fit fit_of(const csaw_csr &csr, const walks_law::Law &law, const Tally &tally,
                  const std::vector<Counter> &count) {
    Fit fit;
    for (uint64_t row = 0; row < 2 * tally.contexts * csr.num_vertices; row++) {
        const auto begin = count.begin() + static_cast<std::ptrdiff_t>(row * tally.cells);
        std::vector<uint64_t> seen(begin, begin + static_cast<std::ptrdiff_t>(tally.cells));
        if (std::all_of(seen.begin(), seen.end(), [](uint64_t n) { return n == 0; })) continue;
        const auto at = static_cast<csaw_vertex>(row % csr.num_vertices);
        const bool later = row / csr.num_vertices >= tally.contexts;
        const uint64_t context = row / csr.num_vertices % tally.contexts;
        walks_law::Cells exact = law.cells(csr, state_of(csr, tally, later, context, at));
        exact.resize(tally.cells, 0); // of a step along an edge that does not lead there, and none
        (later ? fit.later : fit.first).add(seen, exact);
    }
    return fit;
}

struct Drawn {
    Fit fit;
    uint64_t steps, strange;
};

// Walks of a small graph, drawn and counted on the GPU.
inline Drawn draw_and_count(const Device &device, const csaw_csr &csr, const walks_law::Law &law, Look look,
                            uint32_t period, const csaw_sampler *sampler, const void *params, Method method,
                            const Request &request) {
    uint64_t longest = 0;
    for (uint64_t v = 0; v < csr.num_vertices; v++) longest = std::max(longest, csr.rowptr[v + 1] - csr.rowptr[v]);
    Tally tally = {};
    tally.num_vertices = static_cast<csaw_vertex>(csr.num_vertices);
    tally.num_roots = request.roots.size();
    tally.look = look;
    tally.period = period;
    tally.contexts = look == Look::root    ? csr.num_vertices
                     : look == Look::place ? period
                     : look == Look::prev  ? csr.num_vertices + 1
                     : look == Look::arc   ? csr.num_edges + 1
                                           : 1;
    tally.cells = longest + csr.num_vertices + 2;
    const Buffer<csaw_edge> rowptr(csr.rowptr, csr.num_vertices + 1);
    const Buffer<csaw_vertex> col(csr.col, csr.num_edges), roots(request.roots.data(), request.roots.size());
    const Buffer<Counter> count(2 * tally.contexts * csr.num_vertices * tally.cells), strange(1);
    tally.rowptr = rowptr.get();
    tally.col = col.get();
    tally.roots = roots.get();
    tally.count = count.get();
    tally.strange = strange.get();
    device.draw(sampler, params, method, request, true, [&](const csaw_walks &walks) {
        tally.walks = walks;
        for_each_walk(walks, tally);
    });
    const std::vector<Counter> counted = count.host();
    uint64_t steps = 0;
    for (Counter n : counted) steps += n;
    return {fit_of(csr, law, tally, counted), steps, strange.host()[0]};
}

} // namespace law_tally

#endif
