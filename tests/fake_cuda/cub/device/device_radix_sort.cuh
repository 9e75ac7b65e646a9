// SPDX-License-Identifier: MIT
// tests/fake_cuda/cub/device/device_radix_sort.cuh - a stable sort by some bits, of CUB's name, on a stream of the fake
// CUDA.
#ifndef CSAW_TESTS_FAKE_CUB_SORT_CUH
#define CSAW_TESTS_FAKE_CUB_SORT_CUH

#include <algorithm>

#include <cuda_runtime.h>

namespace cub {

// Two arrays, one of which holds what counts.
template <class T> class DoubleBuffer {
  public:
    DoubleBuffer(T *current, T *alternate) : current_(current), alternate_(alternate) {}
    T *Current() const { return current_; }
    T *Alternate() const { return alternate_; }
    void Turn() { std::swap(current_, alternate_); }

  private:
    T *current_, *alternate_;
};

struct DeviceRadixSort {
    template <class KEY, class VALUE>
    static cudaError_t SortPairs(void *room, size_t &bytes, DoubleBuffer<KEY> &key, DoubleBuffer<VALUE> &value,
                                 int64_t count, int begin, int end, cudaStream_t stream) {
        const bool sorts = room != nullptr;
        const cudaError_t status = SortPairs(room, bytes, key.Current(), key.Alternate(), value.Current(),
                                             value.Alternate(), count, begin, end, stream);
        if (sorts) key.Turn();
        if (sorts) value.Turn();
        return status;
    }
    template <class KEY, class VALUE>
    static cudaError_t SortPairs(void *room, size_t &bytes, const KEY *key, KEY *key_out, const VALUE *value,
                                 VALUE *value_out, int64_t count, int begin, int end, cudaStream_t stream) {
        if (!room) {
            bytes = 8;
            return cudaSuccess;
        }
        return fake_cuda::Launch(stream, [=] {
            const auto bits = [=](int64_t i) { return uint64_t{key[i]} >> begin << (64 - end + begin); };
            std::vector<int64_t> order(static_cast<size_t>(count));
            for (int64_t i = 0; i < count; i++) order[static_cast<size_t>(i)] = i;
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return bits(a) < bits(b); });
            for (int64_t i = 0; i < count; i++) {
                key_out[i] = key[order[static_cast<size_t>(i)]];
                value_out[i] = value[order[static_cast<size_t>(i)]];
            }
        });
    }
};

} // namespace cub

#endif
