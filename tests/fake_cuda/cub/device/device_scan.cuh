// SPDX-License-Identifier: MIT
// tests/fake_cuda/cub/device/device_scan.cuh - prefix sums of CUB's names on a stream of the fake CUDA.
#ifndef CSAW_TESTS_FAKE_CUB_SCAN_CUH
#define CSAW_TESTS_FAKE_CUB_SCAN_CUH

#include <cuda_runtime.h>

namespace cub {

struct DeviceScan {
    template <class IN, class OUT, class ADD, class FIRST>
    static cudaError_t ExclusiveScan(void *room, size_t &bytes, IN in, OUT out, ADD add, FIRST first, int64_t count,
                                     cudaStream_t stream) {
        if (!room) {
            bytes = 8;
            return cudaSuccess;
        }
        return fake_cuda::Launch(stream, [=] {
            FIRST sum = first;
            for (int64_t i = 0; i < count; i++) {
                const auto value = in[i];
                out[i] = sum;
                sum = add(sum, static_cast<FIRST>(value));
            }
        });
    }
    template <class T>
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, const T *in, T *out, int64_t count,
                                    cudaStream_t stream) {
        return ExclusiveScan(room, bytes, in, out, std::plus<>(), T{}, count, stream);
    }
    // Anew wherever the key is not `same` as the one before.
    template <class KEY, class IN, class T, class SAME>
    static cudaError_t InclusiveSumByKey(void *room, size_t &bytes, const KEY *key, const IN *in, T *out, int64_t count,
                                         SAME same, cudaStream_t stream) {
        if (!room) {
            bytes = 8;
            return cudaSuccess;
        }
        return fake_cuda::Launch(stream, [=] {
            for (int64_t i = 0; i < count; i++)
                out[i] = static_cast<T>(in[i] + (i && same(key[i - 1], key[i]) ? out[i - 1] : T{}));
        });
    }
};

} // namespace cub

#endif
