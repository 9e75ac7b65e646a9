/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_array.cuh - arrays on the GPU that free themselves, launches over them, their sums, and the way
 * back to the host. */
#ifndef CSAW_ENGINE_DEVICE_ARRAY_CUH
#define CSAW_ENGINE_DEVICE_ARRAY_CUH

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <utility>

#include "runtime/base/device_copy.h"
#include "runtime/base/device_launch.cuh"
#include "runtime/base/memory.h"
#include "runtime/engine/device_private.h"

namespace csaw_device { /* of the GPU engine's files, which use it whole */

/* Device memory, freed with it. */
template <typename T, auto ALLOC = csaw__device_alloc, auto FREE = csaw__device_free> class array {
  public:
    array() = default;
    array(const array &) = delete;
    ~array() { drop(); }
    csaw_status take(csaw__device *device, uint64_t count, const char *what) {
        drop();
        device_ = device;
        return ALLOC(device, (void **)&at_, count * sizeof(T), what);
    }
    csaw_status fill(int byte, uint64_t count) {
        CSAW_CUDA(cudaMemsetAsync(at_, byte, count * sizeof(T), device_->stream));
        return CSAW_OK;
    }
    csaw_status upload(csaw__device *device, const T *from, uint64_t count, const char *what) {
        CSAW_TRY(take(device, count, what));
        return csaw__device_put(device, at_, from, count * sizeof(T));
    }
    void swap(array &other) {
        std::swap(device_, other.device_);
        std::swap(at_, other.at_);
    }
    T *get() const { return at_; }
    T *leave() { /* it is the caller's to free now */
        return std::exchange(at_, nullptr);
    }

  private:
    void drop() {
        if (at_) FREE(device_, at_);
        at_ = nullptr;
    }
    csaw__device *device_ = nullptr;
    T *at_ = nullptr;
};

/* Host memory, likewise. */
template <typename T> class host_array {
  public:
    host_array() = default;
    host_array(const host_array &) = delete;
    ~host_array() { csaw__free(at_); }
    csaw_status take(uint64_t count, const char *what) { return csaw__alloc(&at_, count, what); }
    T *get() const { return at_; }
    T &operator[](uint64_t i) const { return at_[i]; }

  private:
    T *at_ = nullptr;
};

/* One thread each of so many, in the order of the device's stream. */
template <typename... PARAMETERS, typename... ARGUMENTS>
csaw_status launch_over(csaw__device *device, uint64_t threads, void (*kernel)(PARAMETERS...),
                        ARGUMENTS &&...arguments) {
    const uint64_t blocks = (threads + 255) / 256;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu threads in one launch; take fewer instances at a time (csaw_sample_each)",
                 (unsigned long long)threads);
    if (blocks == 0) return CSAW_OK;
    return csaw__device_launch(device->stream, (unsigned)blocks, 256, kernel, std::forward<ARGUMENTS>(arguments)...);
}
#define LAUNCH(...) CSAW_TRY(launch_over(__VA_ARGS__))

/* out[i] = in[0] + .. + in[i - 1]; both [count]. */
template <typename T> csaw_status sums(csaw__device *device, const T *in, T *out, uint64_t count) {
    array<char> room;
    size_t bytes = 0;
    CSAW_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, (int64_t)count, device->stream));
    CSAW_TRY(room.take(device, bytes, "prefix sums"));
    CSAW_CUDA(cub::DeviceScan::ExclusiveSum(room.get(), bytes, in, out, (int64_t)count, device->stream));
    return CSAW_OK;
}

/* The same in 64 bits. */
inline csaw_status wide_sums(csaw__device *device, const uint32_t *in, uint64_t *out, uint64_t count) {
    array<char> room;
    size_t bytes = 0;
    const cuda::std::plus<> add;
    const uint64_t none = 0;
    CSAW_CUDA(cub::DeviceScan::ExclusiveScan(nullptr, bytes, in, out, add, none, (int64_t)count, device->stream));
    CSAW_TRY(room.take(device, bytes, "prefix sums"));
    CSAW_CUDA(cub::DeviceScan::ExclusiveScan(room.get(), bytes, in, out, add, none, (int64_t)count, device->stream));
    return CSAW_OK;
}

template <typename T> csaw_status read(csaw__device *device, const T *from, T *to, uint64_t count) {
    CSAW_CUDA(csaw__copy_async(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, device->stream));
    CSAW_CUDA(cudaStreamSynchronize(device->stream));
    return CSAW_OK;
}

} // namespace csaw_device
using namespace csaw_device;

#endif
