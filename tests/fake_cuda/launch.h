// SPDX-License-Identifier: MIT
// tests/fake_cuda/launch.h - kernels launched by cudaLaunchKernelEx() on a fake CUDA, which an emulated GPU runs: to be
// included after headers of the system and before the code that launches them.
#ifndef CSAW_TESTS_FAKE_CUDA_LAUNCH_H
#define CSAW_TESTS_FAKE_CUDA_LAUNCH_H

#include <tuple>

#include "tests/emulated_gpu.h"

#include <cuda_runtime.h>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
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
    const dim3 blocks = config->gridDim;
    const unsigned threads = config->blockDim.x;
    return fake_cuda::Launch(config->stream, [=] {
        for (emulated::block.z = 0; emulated::block.z < blocks.z; emulated::block.z++)
            for (emulated::block.y = 0; emulated::block.y < blocks.y; emulated::block.y++)
                emulated::RunBlocks(blocks.x, threads, [&] { std::apply(kernel, given); });
        emulated::block.y = emulated::block.z = 0;
    });
}

#endif
