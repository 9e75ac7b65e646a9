// SPDX-License-Identifier: MIT
// tests/fake_cuda/launch.h - kernels launched by cudaLaunchKernelEx() on a fake CUDA, which an emulated GPU runs: to be
// included after headers of the system and before the code that launches them.
#ifndef CSAW_TESTS_FAKE_CUDA_LAUNCH_H
#define CSAW_TESTS_FAKE_CUDA_LAUNCH_H

#include <tuple>

#include "tests/emulated_gpu.h"

#include <cuda_runtime.h>

struct dim3 {
    unsigned x;
    explicit dim3(unsigned of = 1) : x(of) {}
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};
template <class... PARAMETERS, class... ARGUMENTS>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(PARAMETERS...),
                               ARGUMENTS &&...arguments) {
    const std::tuple<PARAMETERS...> given(std::forward<ARGUMENTS>(arguments)...);
    const unsigned blocks = config->gridDim.x, threads = config->blockDim.x;
    return fake_cuda::Launch(config->stream,
                             [=] { emulated::RunBlocks(blocks, threads, [&] { std::apply(kernel, given); }); });
}

#endif
