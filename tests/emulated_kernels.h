/* SPDX-License-Identifier: MIT */
/* tests/emulated_kernels.h - a sampler whose kernels for walks and samples on partitions run on the emulated GPU.
 * Included after tests/emulated_gpu.h and a sampler file, around which they are compiled. */
#ifndef CSAW_TESTS_EMULATED_KERNELS_H
#define CSAW_TESTS_EMULATED_KERNELS_H

#include <algorithm>
#include <map>
#include <set>

#include "runtime/engine/device_alone.cuh"
#include "runtime/engine/device_hubs.cuh"
#include "runtime/engine/device_layer.cuh"
#include "runtime/engine/device_parts.cuh"
#include "runtime/engine/device_select.cuh"

namespace emulated_kernels {

template <uint32_t KERNEL> void Walk(const csaw__job &job) {
    if constexpr (csaw__allowed<KERNEL>) csaw__parts_walk<KERNEL>(job);
}

template <uint32_t KERNEL> void Expand(const csaw__job &job) {
    if constexpr (csaw__allowed<KERNEL> && !(csaw__hooks.flags & CSAW_LAYER)) csaw__wave_expand<KERNEL>(job);
}

template <uint32_t KERNEL> void Hubs(const csaw__job &job) {
    if constexpr (csaw__allowed<KERNEL> && !(csaw__hooks.flags & CSAW_LAYER)) csaw__wave_hub<KERNEL>(job);
}

template <uint32_t KERNEL> void Alone(const csaw__job &job) {
    constexpr bool picks = csaw__allowed<KERNEL> && (!csaw__layered || KERNEL <= CSAW__KERNEL_ITS);
    if constexpr (csaw__runs_alone && picks) csaw__run_alone<KERNEL>(job);
}

inline void Fanouts(const csaw__job &job) {
    if constexpr (csaw__layered)
        csaw__layer_fanout(job);
    else
        csaw__wave_fanout(job);
}

inline void Layer(int kernel, const csaw__job &job) {
    if constexpr (csaw__layered) {
        if (kernel == CSAW__KERNEL_LAYER_BIASES) csaw__layer_biases(job);
        if (kernel == CSAW__KERNEL_LAYER_CHOOSE) csaw__layer_choose(job);
        if (kernel == CSAW__KERNEL_LAYER_UPDATES) csaw__layer_updates(job);
        if (kernel == CSAW__KERNEL_LAYER_FAR) csaw__layer_far(job);
    }
}

inline void Select(const csaw__job &job) {
    if constexpr (!(csaw__hooks.flags & CSAW_REPLACE_POOL) && csaw__given(csaw__hooks.frontier_size))
        csaw__select_places(job);
}

// Of samples; false: it is none of theirs.
inline bool RunSample(int kernel, const csaw__job &job) {
    switch (kernel) {
    case CSAW__KERNEL_FANOUTS: return Fanouts(job), true;
    case CSAW__KERNEL_LAYER_BIASES:
    case CSAW__KERNEL_LAYER_CHOOSE:
    case CSAW__KERNEL_LAYER_UPDATES:
    case CSAW__KERNEL_LAYER_FAR: return Layer(kernel, job), true;
    case CSAW__KERNEL_SELECT: return Select(job), true;
    case CSAW__KERNEL_HUBS_ITS: return Hubs<CSAW__KERNEL_ITS>(job), true;
    case CSAW__KERNEL_HUBS_RACE: return Hubs<CSAW__KERNEL_RACE>(job), true;
    }
    switch (kernel - CSAW__KERNEL_EXPAND) {
    case CSAW__KERNEL_UNIFORM: return Expand<CSAW__KERNEL_UNIFORM>(job), true;
    case CSAW__KERNEL_ITS: return Expand<CSAW__KERNEL_ITS>(job), true;
    case CSAW__KERNEL_RACE: return Expand<CSAW__KERNEL_RACE>(job), true;
    case CSAW__KERNEL_ALIAS: return Expand<CSAW__KERNEL_ALIAS>(job), true;
    case CSAW__KERNEL_REJECT: return Expand<CSAW__KERNEL_REJECT>(job), true;
    case CSAW__KERNEL_REJECT_ALIAS: return Expand<CSAW__KERNEL_REJECT_ALIAS>(job), true;
    }
    switch (kernel - CSAW__KERNEL_ALONE) {
    case CSAW__KERNEL_UNIFORM: return Alone<CSAW__KERNEL_UNIFORM>(job), true;
    case CSAW__KERNEL_ITS: return Alone<CSAW__KERNEL_ITS>(job), true;
    case CSAW__KERNEL_RACE: return Alone<CSAW__KERNEL_RACE>(job), true;
    case CSAW__KERNEL_ALIAS: return Alone<CSAW__KERNEL_ALIAS>(job), true;
    case CSAW__KERNEL_REJECT: return Alone<CSAW__KERNEL_REJECT>(job), true;
    case CSAW__KERNEL_REJECT_ALIAS: return Alone<CSAW__KERNEL_REJECT_ALIAS>(job), true;
    }
    return false;
}

inline void Run(int kernel, const csaw__job &job) {
    if (RunSample(kernel, job)) return;
    switch (kernel - CSAW__KERNEL_PARTS) {
    case CSAW__KERNEL_UNIFORM: return Walk<CSAW__KERNEL_UNIFORM>(job);
    case CSAW__KERNEL_ITS: return Walk<CSAW__KERNEL_ITS>(job);
    case CSAW__KERNEL_RACE: return Walk<CSAW__KERNEL_RACE>(job);
    case CSAW__KERNEL_ALIAS: return Walk<CSAW__KERNEL_ALIAS>(job);
    case CSAW__KERNEL_REJECT: return Walk<CSAW__KERNEL_REJECT>(job);
    case CSAW__KERNEL_REJECT_ALIAS: return Walk<CSAW__KERNEL_REJECT_ALIAS>(job);
    default: return csaw__parts_start(job);
    }
}

struct Expanded {
    uint64_t entries;
    unsigned blocks;
};

// Of a thread's own launches: ranks and GPUs of several are threads.
inline thread_local std::set<uint32_t> apart;       // csaw__job.log_apart of walks on partitions
inline thread_local std::map<int, uint64_t> met;    // by kernel: emulated::most_met, at most
inline thread_local std::vector<Expanded> expanded; // for a frontier's picks

inline int Launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    const csaw__job copy = *job;
    if (kernel >= CSAW__KERNEL_EXPAND && kernel < CSAW__KERNEL_LISTS)
        expanded.push_back({job->wave.count - job->wave.first, blocks});
    if (kernel >= CSAW__KERNEL_PARTS) apart.insert(job->log_apart);
    return fake_cuda::Launch(stream, [=] {
        emulated::RunBlocks(blocks, threads, [&copy, kernel] { Run(kernel, copy); });
        met[kernel] = std::max(met[kernel], emulated::most_met);
    });
}

// A sampler of the library, whose kernels are those compiled here.
class Sampler {
  public:
    explicit Sampler(const csaw_sampler &of) : sampler_(of) { sampler_.device = &device_; }
    const csaw_sampler *get() const { return &sampler_; }

  private:
    csaw__device_sampler device_ = {Launch};
    csaw_sampler sampler_;
};

} // namespace emulated_kernels

#endif
