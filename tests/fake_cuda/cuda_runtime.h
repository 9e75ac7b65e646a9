// SPDX-License-Identifier: MIT
// tests/fake_cuda/cuda_runtime.h - as much of the CUDA runtime as the GPU's side of partitions and of the loader calls,
// on the CPU: host code for a GPU is compiled against this header where there is none. What is put on a stream happens
// later, a little whenever somebody asks whether an event has come, streams in an order that a seed decides. So what
// the host does too early, or in the belief that streams wait for each other, shows. Memory is counted, and any copy,
// launch or registration can be made to fail.
#ifndef CSAW_TESTS_FAKE_CUDA_RUNTIME_H
#define CSAW_TESTS_FAKE_CUDA_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorUnknown,
    cudaErrorMemoryAllocation,
    cudaErrorLaunchFailure,
    cudaErrorNotReady,
    cudaErrorHostMemoryAlreadyRegistered
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrCanUseHostPointerForRegisteredMem };
enum {
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventDisableTiming = 2,
    cudaHostRegisterPortable = 1,
    cudaHostRegisterMapped = 2,
    cudaHostRegisterReadOnly = 8
};

namespace fake_cuda {

struct Event {
    uint64_t recorded = 0, happened = 0, at = 0; // at: kernels that had run
    int device;
    bool timed;
};
struct Stream {
    struct Step {
        std::function<bool()> ready;
        std::function<void()> act;
    };
    std::deque<Step> steps;
    int device;
};

struct Pool {
    size_t most, used = 0, peak = 0; // most: that it may take
};

inline std::recursive_mutex lock; // of everything
inline int devices = 1;
inline thread_local int current = 0; // device
inline std::map<void *, size_t> memory;
inline std::map<void *, Pool *> pooled; // of it
inline std::set<Pool *> pools;
inline std::map<uintptr_t, uintptr_t> registered; // begin, end
inline std::set<Stream *> streams;
inline std::set<Event *> events;
inline std::vector<std::unique_ptr<Event>> destroyed; // events, which steps to come may still name
inline size_t total = size_t{1} << 40, used = 0, peak = 0, granule = 1;
inline uint64_t seed = 1, copies = 0, launches = 0;
inline uint64_t clock = 0; // kernels that have run: each takes a millisecond, and nothing else takes time
inline uint64_t fail_copy = 0, fail_launch = 0; // the so manieth fails when it is put on a stream, counted from 1
inline bool refuse_pages = false;
inline cudaError_t last = cudaSuccess;  // of calls that were refused memory: who asks is told, once
inline cudaError_t fault = cudaSuccess; // what a kernel did: every call fails from then on
inline uint64_t fault_at = 0;           // the so manieth launch does so when it runs

inline void Seed(uint64_t of) {
    const std::lock_guard<std::recursive_mutex> guard(lock);
    seed = of;
}
inline uint64_t Random() {
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (seed * 0x2545f4914f6cdd1du) >> 32;
}

// One step of some stream; false: no stream can go on.
inline bool Advance() {
    std::vector<Stream *> ready;
    for (Stream *s : streams)
        if (!s->steps.empty() && s->steps.front().ready()) ready.push_back(s);
    if (ready.empty()) return false;
    Stream *const s = ready[Random() % ready.size()];
    const auto act = s->steps.front().act;
    s->steps.pop_front();
    act();
    return true;
}

inline cudaError_t Put(Stream *stream, std::function<void()> act) {
    const std::lock_guard<std::recursive_mutex> guard(lock);
    if (fault != cudaSuccess) return fault;
    if (!stream) { // the default one: at once
        act();
        return cudaSuccess;
    }
    stream->steps.push_back({[] { return true; }, std::move(act)});
    return cudaSuccess;
}

// A kernel: act runs it. The stream's device is the thread's.
inline cudaError_t Launch(void *stream, std::function<void()> act) {
    const std::lock_guard<std::recursive_mutex> guard(lock);
    if (static_cast<Stream *>(stream)->device != current) return cudaErrorInvalidValue;
    if (++launches == fail_launch) return cudaErrorInvalidValue;
    const bool faulty = launches == fault_at;
    return Put(static_cast<Stream *>(stream), [faulty, act = std::move(act)] {
        clock++;
        if (faulty)
            fault = cudaErrorLaunchFailure;
        else
            act();
    });
}

inline bool IsRegistered(const void *from, size_t bytes) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(from);
    auto next = registered.upper_bound(at);
    return next != registered.begin() && at + bytes <= std::prev(next)->second;
}

// CUDA refuses ranges that are registered in part, or by several calls.
inline bool Crosses(const void *from, size_t bytes) {
    if (bytes == 0 || IsRegistered(from, bytes)) return false;
    const uintptr_t at = reinterpret_cast<uintptr_t>(from);
    for (const auto &[begin, end] : registered)
        if (begin < at + bytes && at < end) return true;
    return false;
}

// Everything is as it was before the first call.
inline void Reset() {
    total = size_t{1} << 40;
    devices = 1;
    peak = used;
    seed = 1;
    copies = launches = clock = fail_copy = fail_launch = fault_at = 0;
    refuse_pages = false;
    fault = last = cudaSuccess;
}
inline bool AllGivenBack() {
    return memory.empty() && registered.empty() && streams.empty() && events.empty() && pools.empty();
}

} // namespace fake_cuda

using cudaStream_t = fake_cuda::Stream *;
using cudaEvent_t = fake_cuda::Event *;

#define FAKE_CUDA_GUARD                                                      \
    const std::lock_guard<std::recursive_mutex> fake_guard(fake_cuda::lock); \
    if (fake_cuda::fault != cudaSuccess) return fake_cuda::fault

inline const char *cudaGetErrorName(cudaError_t) { return "a fake error"; }
inline const char *cudaGetErrorString(cudaError_t) { return "of a fake GPU"; }
inline cudaError_t cudaGetLastError() {
    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
    return std::exchange(fake_cuda::last, cudaSuccess);
}
inline cudaError_t cudaGetDeviceCount(int *count) {
    *count = fake_cuda::devices;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= fake_cuda::devices) return cudaErrorInvalidValue;
    fake_cuda::current = device;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device) {
    *device = fake_cuda::current;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 1;
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    FAKE_CUDA_GUARD;
    *total = fake_cuda::total;
    *free_bytes = fake_cuda::total - fake_cuda::used;
    return cudaSuccess;
}

inline size_t fake_cuda_takes(size_t bytes) {
    return (bytes + fake_cuda::granule - 1) / fake_cuda::granule * fake_cuda::granule;
}
inline cudaError_t cudaMalloc(void **out, size_t bytes) {
    FAKE_CUDA_GUARD;
    if (fake_cuda_takes(bytes) > fake_cuda::total - fake_cuda::used) return fake_cuda::last = cudaErrorMemoryAllocation;
    *out = std::malloc(bytes);
    std::memset(*out, 0xa5, bytes); // whoever reads it too early, sees it
    fake_cuda::memory[*out] = bytes;
    fake_cuda::used += fake_cuda_takes(bytes);
    fake_cuda::peak = fake_cuda::used > fake_cuda::peak ? fake_cuda::used : fake_cuda::peak;
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *memory) {
    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
    const auto found = fake_cuda::memory.find(memory);
    if (found == fake_cuda::memory.end()) return cudaErrorInvalidValue;
    fake_cuda::used -= fake_cuda_takes(found->second);
    if (const auto of = fake_cuda::pooled.find(memory); of != fake_cuda::pooled.end()) {
        of->second->used -= found->second;
        fake_cuda::pooled.erase(of);
    }
    fake_cuda::memory.erase(found);
    std::free(memory);
    return cudaSuccess;
}

inline cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned) {
    FAKE_CUDA_GUARD;
    if (fake_cuda::refuse_pages) return cudaErrorMemoryAllocation;
    const uintptr_t at = reinterpret_cast<uintptr_t>(memory);
    const auto next = fake_cuda::registered.upper_bound(at);
    const bool meets_next = next != fake_cuda::registered.end() && next->first < at + bytes;
    if (meets_next || (next != fake_cuda::registered.begin() && std::prev(next)->second > at))
        return cudaErrorHostMemoryAlreadyRegistered;
    fake_cuda::registered[at] = at + bytes;
    return cudaSuccess;
}
inline cudaError_t cudaHostUnregister(void *memory) {
    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
    return fake_cuda::registered.erase(reinterpret_cast<uintptr_t>(memory)) ? cudaSuccess : cudaErrorInvalidValue;
}

enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *at) {
    FAKE_CUDA_GUARD;
    auto next = fake_cuda::memory.upper_bound(const_cast<void *>(at));
    const bool inside =
        next != fake_cuda::memory.begin() &&
        static_cast<const char *>(at) < static_cast<char *>(std::prev(next)->first) + std::prev(next)->second;
    out->type = inside                           ? cudaMemoryTypeDevice
                : fake_cuda::IsRegistered(at, 1) ? cudaMemoryTypeHost
                                                 : cudaMemoryTypeUnregistered;
    out->device = 0;
    out->devicePointer = out->type == cudaMemoryTypeUnregistered ? nullptr : const_cast<void *>(at);
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned) {
    FAKE_CUDA_GUARD;
    *out = new fake_cuda::Stream;
    (*out)->device = fake_cuda::current;
    fake_cuda::streams.insert(*out);
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    for (;;) {
        FAKE_CUDA_GUARD;
        if (stream->steps.empty()) return cudaSuccess;
        fake_cuda::Advance();
    }
}
inline cudaError_t cudaDeviceSynchronize() { // all streams of all devices: they may wait for each other
    FAKE_CUDA_GUARD;
    while (fake_cuda::Advance()) {}
    return fake_cuda::fault;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
    fake_cuda::streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    FAKE_CUDA_GUARD;
    *out = new fake_cuda::Event;
    (*out)->device = fake_cuda::current;
    (*out)->timed = !(flags & cudaEventDisableTiming);
    fake_cuda::events.insert(*out);
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
    fake_cuda::events.erase(event);
    fake_cuda::destroyed.emplace_back(event);
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    FAKE_CUDA_GUARD;
    if (stream && event->device != stream->device) return cudaErrorInvalidValue;
    const uint64_t number = ++event->recorded;
    return fake_cuda::Put(stream, [event, number] {
        event->happened = number;
        event->at = fake_cuda::clock;
    });
}
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
    FAKE_CUDA_GUARD;
    if (!begin->timed || !end->timed || !begin->recorded || !end->recorded) return cudaErrorInvalidValue;
    if (begin->happened != begin->recorded || end->happened != end->recorded) return cudaErrorNotReady;
    *ms = static_cast<float>(static_cast<double>(end->at) - static_cast<double>(begin->at));
    return cudaSuccess;
}
// As of what was recorded last.
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    FAKE_CUDA_GUARD;
    const uint64_t number = event->recorded;
    stream->steps.push_back({[event, number] { return event->happened >= number; }, [] {}});
    return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
    FAKE_CUDA_GUARD;
    if (event->happened == event->recorded) return cudaSuccess;
    fake_cuda::Advance();
    return cudaErrorNotReady;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    for (;;) {
        FAKE_CUDA_GUARD;
        if (event->happened == event->recorded) return cudaSuccess;
        fake_cuda::Advance();
    }
}

// Out of memory that is not page-locked a copy to the device is staged at once.
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    FAKE_CUDA_GUARD;
    if (++fake_cuda::copies == fake_cuda::fail_copy) return cudaErrorUnknown;
    if (kind == cudaMemcpyDeviceToDevice) return fake_cuda::Put(stream, [=] { std::memcpy(to, from, bytes); });
    if (fake_cuda::Crosses(kind == cudaMemcpyHostToDevice ? from : to, bytes)) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyHostToDevice && !fake_cuda::IsRegistered(from, bytes)) {
        const char *const begin = static_cast<const char *>(from);
        const auto staged = std::make_shared<std::vector<char>>(begin, begin + bytes);
        return fake_cuda::Put(stream, [to, staged] {
            if (!staged->empty()) std::memcpy(to, staged->data(), staged->size());
        });
    }
    return fake_cuda::Put(stream, [=] { std::memcpy(to, from, bytes); });
}
// Between GPUs, which may be one.
inline cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                       cudaStream_t stream) {
    FAKE_CUDA_GUARD;
    if (to_device >= fake_cuda::devices || from_device >= fake_cuda::devices) return cudaErrorInvalidValue;
    if (++fake_cuda::copies == fake_cuda::fail_copy) return cudaErrorUnknown;
    return fake_cuda::Put(stream, [=] { std::memcpy(to, from, bytes); });
}
// From a pool, NULL one without end: at once. Freed in the order of the stream, and spoiled, so that whoever reads it
// too late, sees it. What a stream is yet to free is there for what comes behind it.
using cudaMemPool_t = fake_cuda::Pool *;
enum cudaMemAllocationType { cudaMemAllocationTypePinned };
enum cudaMemLocationType { cudaMemLocationTypeDevice };
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    struct {
        cudaMemLocationType type;
        int id;
    } location;
    size_t maxSize; // 0: no limit
};
inline cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t) { return cudaMalloc(out, bytes); }
enum cudaMemPoolAttr {
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrUsedMemCurrent
};
inline cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *props) {
    FAKE_CUDA_GUARD;
    *out = new fake_cuda::Pool{props->maxSize ? props->maxSize : SIZE_MAX};
    fake_cuda::pools.insert(*out);
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    const std::lock_guard<std::recursive_mutex> guard(fake_cuda::lock);
    for (auto next = fake_cuda::pooled.begin(); next != fake_cuda::pooled.end();) {
        void *const memory = next->first;
        const bool is_its = next->second == pool;
        ++next;
        if (is_its) cudaFree(memory); // of a GPU that broke
    }
    fake_cuda::pools.erase(pool);
    delete pool;
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *out) {
    FAKE_CUDA_GUARD; // a pool keeps nothing that nobody uses
    const bool high = attribute == cudaMemPoolAttrReservedMemHigh;
    *static_cast<uint64_t *>(out) = pool ? (high ? pool->peak : pool->used) : fake_cuda::peak;
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
inline cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    FAKE_CUDA_GUARD;
    if (!pool) return cudaMalloc(out, bytes);
    if (bytes > pool->most - pool->used) cudaStreamSynchronize(stream);
    if (bytes > pool->most - pool->used) return fake_cuda::last = cudaErrorMemoryAllocation;
    const cudaError_t error = cudaMalloc(out, bytes);
    if (error != cudaSuccess) return error;
    fake_cuda::pooled[*out] = pool;
    pool->used += bytes;
    pool->peak = pool->used > pool->peak ? pool->used : pool->peak;
    return cudaSuccess;
}
inline cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
    FAKE_CUDA_GUARD;
    return fake_cuda::Put(stream, [memory] {
        const auto found = fake_cuda::memory.find(memory);
        if (found != fake_cuda::memory.end()) std::memset(memory, 0x5a, found->second);
        cudaFree(memory);
    });
}
inline cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
    FAKE_CUDA_GUARD;
    return fake_cuda::Put(stream, [=] { std::memset(to, byte, bytes); });
}

#endif
