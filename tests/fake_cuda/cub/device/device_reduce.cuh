// SPDX-License-Identifier: MIT
// tests/fake_cuda/cub/device/device_reduce.cuh - reductions of CUB's names on a stream of the fake CUDA.
#ifndef CSAW_TESTS_FAKE_CUB_REDUCE_CUH
#define CSAW_TESTS_FAKE_CUB_REDUCE_CUH

#include <cuda_runtime.h>

namespace cub {

struct DeviceReduce {
    // Of each stretch of equal keys the key and what its values come to; *stretches: how many there are.
    template <class KEY, class VALUE, class COUNT, class ADD>
    static cudaError_t ReduceByKey(void *room, size_t &bytes, const KEY *key, KEY *key_out, const VALUE *value,
                                   VALUE *value_out, COUNT *stretches, ADD add, int64_t count, cudaStream_t stream) {
        if (!room) {
            bytes = 8;
            return cudaSuccess;
        }
        return fake_cuda::Launch(stream, [=] {
            int64_t n = 0;
            for (int64_t i = 0; i < count; i++) {
                const bool more = i && key[i - 1] == key[i];
                n += !more;
                value_out[n - 1] = more ? add(value_out[n - 1], value[i]) : value[i];
                key_out[n - 1] = key[i];
            }
            *stretches = static_cast<COUNT>(n);
        });
    }
};

} // namespace cub

#endif
