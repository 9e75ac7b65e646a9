/* SPDX-License-Identifier: MIT */
/* tests/emulated_gpu.h - a block of a GPU on one thread of the CPU, so that device code of csaw runs where there is no
 * GPU: to be included after headers of the system and before that code. Lanes take turns: one runs until it meets the
 * others, in an intrinsic of its warp, all lanes of which take part (as csaw's device code has it), or of its block.
 * Blocks run one after the other. For code in which no lane waits for what another writes. What a GPU does with memory,
 * and lanes that do not meet, it does not show. */
#ifndef CSAW_TESTS_EMULATED_GPU_H
#define CSAW_TESTS_EMULATED_GPU_H

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace emulated {

struct Place {
    uint32_t x, y, z; // y, z: of blocks, as the test has set them
};
} // namespace emulated

inline thread_local emulated::Place blockDim, gridDim; // by name, no macros: launches have fields that are called so

namespace emulated {

inline bool backwards = false; // the last block comes first, and of each the last lane

// Lanes that take turns on one thread of the CPU; at most one such block at a time on each. A lane is a stack of its
// own, which is kept for blocks to come; to change lanes is a jump, without a call of the system.
class Turns {
  public:
    // Calls body() once for every t < count, each until it passes or is done, and enter(t) before each turn of it.
    template <class ENTER, class BODY> void Run(uint32_t count, const ENTER &enter, const BODY &body) {
        body_ = &body;
        call_ = [](const void *of) { (*static_cast<const BODY *>(of))(); };
        while (lanes_.size() < count) lanes_.emplace_back(new Lane);
        for (uint32_t t = 0; t < count; t++) lanes_[t]->done = false;
        for (uint32_t left = count; left > 0;)
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t t = backwards ? count - 1 - i : i;
                if (lanes_[t]->done) continue;
                at_ = t;
                enter(t);
                Enter(*lanes_[t]);
                left -= lanes_[t]->done;
            }
    }
    __attribute__((noinline)) void Pass() {
        if (!__builtin_setjmp(lanes_[at_]->place)) Jump(home_);
    }
    static Turns &Now() {
        static thread_local Turns turns;
        return turns;
    }

  private:
    static constexpr size_t kStack = 1 << 16;
    struct Lane {
        void *place[5]; // where it goes on
        bool begun = false, done;
        std::unique_ptr<char[]> stack{new char[kStack]};
    };
    // A function of its own: the compiler takes a place to be out of reach of a jump beside it.
    __attribute__((noinline)) static void Jump(void **place) {
        __asm__ volatile("" ::: "memory"); // other lanes write
        __builtin_longjmp(place, 1);
    }
    __attribute__((noinline)) void Enter(Lane &lane) {
        if (__builtin_setjmp(home_)) return;
        if (lane.begun) Jump(lane.place);
        lane.begun = true;
        ucontext_t start;
        getcontext(&start);
        start.uc_stack.ss_sp = lane.stack.get();
        start.uc_stack.ss_size = kStack;
        makecontext(&start, Work, 0);
        setcontext(&start);
    }
    static void Work() { // of one lane, block after block
        for (;;) {
            Turns &turns = Now();
            turns.call_(turns.body_);
            turns.lanes_[turns.at_]->done = true;
            turns.Pass();
        }
    }
    std::vector<std::unique_ptr<Lane>> lanes_;
    void *home_[5];
    const void *body_;
    void (*call_)(const void *);
    uint32_t at_;
};

class Warp {
  public:
    explicit Warp(uint32_t lanes = 32) : lanes_(lanes) {}
    void Wait() {
        const uint64_t met = met_;
        if (++here_ == lanes_) {
            here_ = 0;
            met_++;
        }
        while (met == met_) Turns::Now().Pass();
    }
    uint64_t met() const { return met_; } // how often its lanes have
    // Every lane's value, once all have given theirs, in the same intrinsic.
    template <class T> std::vector<T> Exchange(uint32_t lane, T value, const char *intrinsic) {
        static_assert(sizeof value <= sizeof *value_, "a lane's value has 8 bytes at most");
        std::memcpy(value_[lane], &value, sizeof value);
        at_[lane] = intrinsic;
        Wait();
        std::vector<T> all(32);
        for (uint32_t l = 0; l < 32; l++) {
            std::memcpy(&all[l], value_[l], sizeof value);
            if (std::strcmp(at_[l], intrinsic) == 0) continue;
            std::fprintf(stderr, "lane %u is at %s, but lane %u at %s\n", lane, intrinsic, l, at_[l]);
            std::abort();
        }
        Wait();
        return all;
    }

  private:
    uint32_t lanes_, here_ = 0;
    uint64_t met_ = 0; // how often
    unsigned char value_[32][8];
    const char *at_[32];
};

inline thread_local Place thread, block;
inline thread_local Warp *warp, *whole_block; // of whole_block, Wait() alone

inline uint32_t Lane() { return thread.x & 31; }
template <class T> std::vector<T> OfAllLanes(uint32_t mask, T value, const char *intrinsic) {
    if (mask != 0xffffffffu) {
        std::fprintf(stderr, "%s of some lanes alone, %08x; csaw's device code has it of all\n", intrinsic, mask);
        std::abort();
    }
    return warp->Exchange(Lane(), value, intrinsic);
}

// Of a warp of the last launch and thread, how often its lanes met in a block, at most: what the others wait for.
inline thread_local uint64_t most_met;

// threads: a multiple of 32
template <class BODY> void RunBlocks(uint32_t blocks, uint32_t threads, const BODY &body) {
    std::vector<std::unique_ptr<Warp>> warps;
    Warp whole(threads);
    for (uint32_t w = 0; w < threads / 32; w++) warps.emplace_back(new Warp);
    blockDim.x = threads;
    gridDim.x = blocks;
    const auto enter = [&](uint32_t t) {
        thread.x = t;
        warp = warps[t / 32].get();
        whole_block = &whole;
    };
    most_met = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        std::vector<uint64_t> before;
        for (const auto &w : warps) before.push_back(w->met());
        block.x = backwards ? blocks - 1 - b : b;
        Turns::Now().Run(threads, enter, body);
        for (size_t w = 0; w < warps.size(); w++) most_met = std::max(most_met, warps[w]->met() - before[w]);
    }
}

} // namespace emulated

#define __CUDACC__ 1 // from here on
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(BYTES) __attribute__((aligned(BYTES)))
#define threadIdx emulated::thread
#define blockIdx emulated::block

inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return static_cast<uint32_t>((uint64_t{a} * b) >> 32); }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((Wide{a} * b) >> 64);
}
inline unsigned long long __float2ull_rz(float x) {
    return x < 18446744073709551616.0f ? static_cast<unsigned long long>(x) : ~0ull;
}
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline uint32_t __float_as_uint(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float __uint_as_float(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __syncthreads() { emulated::whole_block->Wait(); }
inline int __syncthreads_or(int x) {
    static thread_local int any = 0; // of the block, whose lanes are on one thread of the CPU
    any |= x;
    __syncthreads();
    const int all = any;
    __syncthreads();
    any = 0;
    __syncthreads();
    return all != 0;
}
inline void __syncwarp() { emulated::OfAllLanes(0xffffffffu, 0, "syncwarp"); }
template <class T> uint32_t __match_any_sync(uint32_t mask, T x) {
    const auto all = emulated::OfAllLanes(mask, x, sizeof x == 8 ? "match of 8 bytes" : "match");
    uint32_t alike = 0;
    for (uint32_t l = 0; l < 32; l++) alike |= static_cast<uint32_t>(all[l] == x) << l;
    return alike;
}
template <class T> uint32_t __match_all_sync(uint32_t mask, T x, int *alike) {
    const auto all = emulated::OfAllLanes(mask, x, "match of all");
    *alike = 1;
    for (uint32_t l = 0; l < 32; l++) *alike &= all[l] == all[0];
    return *alike ? mask : 0;
}
inline uint32_t __ballot_sync(uint32_t mask, bool x) {
    const auto all = emulated::OfAllLanes(mask, static_cast<uint8_t>(x), "ballot, any or all");
    uint32_t set = 0;
    for (uint32_t l = 0; l < 32; l++) set |= static_cast<uint32_t>(all[l] != 0) << l;
    return set;
}
inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t x) {
    uint32_t sum = 0;
    for (uint32_t value : emulated::OfAllLanes(mask, x, "reduce_add")) sum += value;
    return sum;
}
inline uint32_t __reduce_or_sync(uint32_t mask, uint32_t x) {
    uint32_t any = 0;
    for (uint32_t value : emulated::OfAllLanes(mask, x, "reduce_or")) any |= value;
    return any;
}
inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t x) {
    uint32_t most = x;
    for (uint32_t value : emulated::OfAllLanes(mask, x, "reduce_max")) most = value > most ? value : most;
    return most;
}
inline uint32_t __reduce_min_sync(uint32_t mask, uint32_t x) {
    uint32_t least = x;
    for (uint32_t value : emulated::OfAllLanes(mask, x, "reduce_min")) least = value < least ? value : least;
    return least;
}
inline bool __any_sync(uint32_t mask, bool x) { return __ballot_sync(mask, x) != 0; }
inline bool __all_sync(uint32_t mask, bool x) { return __ballot_sync(mask, x) == 0xffffffffu; }
template <class T> T __shfl_sync(uint32_t mask, T x, int from, int width = 32) {
    const uint32_t part = static_cast<uint32_t>(width) - 1, first = emulated::Lane() & ~part;
    return emulated::OfAllLanes(
        mask, x, sizeof x == 8 ? "shfl of 8 bytes" : "shfl")[first + (static_cast<uint32_t>(from) & part)];
}
template <class T> T __shfl_up_sync(uint32_t mask, T x, uint32_t delta, int width = 32) {
    const auto all = emulated::OfAllLanes(mask, x, sizeof x == 8 ? "shfl_up of 8 bytes" : "shfl_up");
    return (emulated::Lane() & (static_cast<uint32_t>(width) - 1)) >= delta ? all[emulated::Lane() - delta] : x;
}
template <class T> T __shfl_xor_sync(uint32_t mask, T x, int bits, int = 32) {
    const auto all = emulated::OfAllLanes(mask, x, sizeof x == 8 ? "shfl_xor of 8 bytes" : "shfl_xor");
    return all[emulated::Lane() ^ static_cast<uint32_t>(bits)];
}

template <class T> T __ldcg(const T *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> T __ldg(const T *p) { return *p; }
template <class T> void __stcs(T *p, T value) { *p = value; }
template <class T> void __stcg(T *p, T value) { __atomic_store_n(p, value, __ATOMIC_RELAXED); }
inline uint32_t atomicCAS(uint32_t *p, uint32_t expected, uint32_t desired) {
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
inline unsigned long long atomicCAS(unsigned long long *p, unsigned long long expected, unsigned long long desired) {
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
inline unsigned long long atomicAdd(unsigned long long *p, unsigned long long value) {
    return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
}
inline uint32_t atomicAdd(uint32_t *p, uint32_t value) { return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST); }
inline float atomicAdd(float *p, float value) {
    const float before = *p;
    *p = before + value;
    return before;
}
inline uint32_t atomicOr(uint32_t *p, uint32_t value) {
    if (reinterpret_cast<uintptr_t>(p) % sizeof *p) std::abort(); // as a GPU does
    return __atomic_fetch_or(p, value, __ATOMIC_SEQ_CST);
}
inline uint32_t atomicExch(uint32_t *p, uint32_t value) { return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); }
inline uint32_t atomicMin(uint32_t *p, uint32_t value) {
    uint32_t before = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    while (before > value &&
           !__atomic_compare_exchange_n(p, &before, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return before;
}
inline unsigned long long atomicMin(unsigned long long *p, unsigned long long value) {
    unsigned long long before = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    while (before > value &&
           !__atomic_compare_exchange_n(p, &before, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return before;
}
inline unsigned long long atomicMax(unsigned long long *p, unsigned long long value) {
    unsigned long long before = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    while (before < value &&
           !__atomic_compare_exchange_n(p, &before, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return before;
}

#include <csaw/reducer.h>
#include <csaw/sampler.h>
// a sampler or reducer file compiled here has no kernels to export: the library has those
#undef CSAW__EXPORT_DEVICE
#define CSAW__EXPORT_DEVICE(NAME) static_assert(sizeof(#NAME) > 1, "a sampler needs a name")
#undef CSAW__EXPORT_DEVICE_REDUCER
#define CSAW__EXPORT_DEVICE_REDUCER(NAME) static_assert(sizeof(#NAME) > 1, "a reducer needs a name")

#endif
