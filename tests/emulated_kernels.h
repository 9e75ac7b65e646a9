/* SPDX-License-Identifier: MIT */
/* tests/emulated_kernels.h - a sampler whose kernels for walks on partitions run on the emulated GPU. Included after
 * tests/emulated_gpu.h and a sampler file, around which they are compiled. */
#ifndef CSAW_TESTS_EMULATED_KERNELS_H
#define CSAW_TESTS_EMULATED_KERNELS_H

#include "runtime/engine/device_parts.cuh"

namespace emulated_kernels {

template <uint32_t KERNEL> void Walk(const csaw__job &job) {
    if constexpr (csaw__allowed<KERNEL>) csaw__parts_walk<KERNEL>(job);
}

inline void Run(int kernel, const csaw__job &job) {
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

inline int Launch(int kernel, unsigned blocks, unsigned threads, void *stream, const csaw__job *job) {
    const csaw__job copy = *job;
    return fake_cuda::Launch(stream,
                             [=] { emulated::RunBlocks(blocks, threads, [&copy, kernel] { Run(kernel, copy); }); });
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
